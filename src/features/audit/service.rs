use serde::{Deserialize, Serialize};
use serde_json::Value;
use stoa_db::{DbError, Tx};
use stoa_model::audit::AuditEntry;
use stoa_model::page::Page;
use utoipa::IntoParams;

use super::store::{self, NewEntry};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

/// Which entries to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only this actor's handle.
    #[serde(default)]
    pub actor: Option<String>,
    /// Only this action, for example `agent.created`.
    #[serde(default)]
    pub action: Option<String>,
}

/// Adds an entry. `details` must not contain secrets.
pub fn record(
    tx: &mut Tx<'_>,
    actor: &Actor,
    action: &str,
    target: Option<&str>,
    details: &Value,
) -> Result<(), DbError> {
    let request_id = Some(actor.call.request_id.as_str()).filter(|id| !id.is_empty());
    let entry = NewEntry {
        actor: actor.audit_name(),
        action,
        target,
        details: &details.to_string(),
        remote_ip: actor.call.remote_ip.as_deref(),
        request_id,
    };
    store::insert_entry(tx, &entry)
}

pub async fn list_entries(
    hub: &Hub,
    actor: &Actor,
    query: AuditQuery,
    list: ListQuery,
) -> Result<Page<AuditEntry>, HubError> {
    actor.require_admin()?;
    let scope = format!("audit {:?} {:?}", query.actor, query.action);
    let before = list.position(hub, actor, &scope)?.unwrap_or(i64::MAX);
    let limit = list.limit()?;
    let entries = hub
        .read(move |tx| store::list_entries(tx, query.actor.as_deref(), query.action.as_deref(), before, limit + 1))
        .await?;
    page_of(hub, actor, &scope, entries, limit)
}
