//! Runtime status: what components say about themselves. The last word counts, and not for long.

use std::time::Duration;

use stoa_db::{DbError, Tx};
use stoa_model::machines::{MAX_COMPONENTS, RuntimeStatusRequest, RuntimeStatusView, check_name};
use stoa_registry::Scope;

use super::gate::require_scope;
use super::store::{self, RuntimeStatusRow};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::hub::Hub;

/// Who has said nothing for so long may be anything by now.
const STALE_AFTER: Duration = Duration::from_secs(90);

/// Words that the metrics tell apart; all others count as `other`, for a label must not have as many values as
/// callers can think of.
const COUNTED: [&str; 6] = ["ok", "degraded", "down", "starting", "stopping", "failed"];

pub(super) fn is_stale(reported_at: i64, now: i64) -> bool {
    now - reported_at > milliseconds(STALE_AFTER)
}

pub(super) fn view(row: RuntimeStatusRow, now: i64) -> RuntimeStatusView {
    RuntimeStatusView {
        principal: row.principal,
        component: row.component,
        status: row.status,
        message: row.message,
        version: row.version,
        details: row.details,
        reported_at: row.reported_at,
        stale: is_stale(row.reported_at.as_ms(), now),
    }
}

/// Takes down what a component says.
pub async fn put_status(
    hub: &Hub,
    actor: &Actor,
    component: String,
    report: RuntimeStatusRequest,
) -> Result<RuntimeStatusView, HubError> {
    require_scope(hub, actor, Scope::RuntimeStatusWrite)?;
    check_name(&component).map_err(|message| HubError::invalid_field("component", message))?;
    report.check()?;
    let id = actor.id();
    hub.command(actor, move |tx| {
        if !store::has_component(tx, id, &component)? && store::count_components_of(tx, id)? >= MAX_COMPONENTS {
            return Err(HubError::conflict("too_many_components", "A principal can report at most 200 components."));
        }
        store::upsert_status(tx, id, &component, &report)?;
        let status = store::find_status(tx, id, &component)?;
        status.map(|row| view(row, tx.now_ms())).ok_or_else(|| HubError::internal("a status is missing"))
    })
    .await
}

/// Forgets a component that is no more.
pub async fn delete_status(hub: &Hub, actor: &Actor, component: String) -> Result<(), HubError> {
    require_scope(hub, actor, Scope::RuntimeStatusWrite)?;
    let id = actor.id();
    hub.command(actor, move |tx| match store::delete_status(tx, id, &component)? {
        0 => Err(HubError::not_found("component")),
        _ => Ok(()),
    })
    .await
}

/// Sets the figures of the metrics.
pub fn count_components(hub: &Hub, tx: &mut Tx<'_>) -> Result<(), DbError> {
    let (fresh, stale) = store::count_status(tx, tx.now_ms() - milliseconds(STALE_AFTER))?;
    let gauge = &hub.metrics().machine_components;
    gauge.reset();
    for word in COUNTED.into_iter().chain(["other"]) {
        let is_meant = |status: &str| if word == "other" { !COUNTED.contains(&status) } else { status == word };
        let components = fresh.iter().filter(|(status, _)| is_meant(status)).map(|(_, components)| components).sum();
        gauge.with_label_values(&[word]).set(components);
    }
    gauge.with_label_values(&["stale"]).set(stale);
    Ok(())
}
