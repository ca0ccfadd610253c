//! Source configs: how a principal wants its events to be routed.

use serde_json::json;
use stoa_db::Tx;
use stoa_model::machines::{MAX_SOURCE_CONFIGS, SourceConfigRequest, SourceConfigView, check_name};
use stoa_model::validation::{Faults, FieldError};
use stoa_registry::Scope;

use super::gate::require_scope;
use super::store;
use crate::actor::Actor;
use crate::error::{ErrorKind, HubError};
use crate::features::{audit, channels};
use crate::hub::Hub;

/// What the caller expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Anything,
    /// `If-None-Match: *`.
    Nothing,
    /// `If-Match: *`.
    Something,
    /// `If-Match` with an ETag.
    Version(i64),
}

/// A config, and whether it is new.
pub type Put = (SourceConfigView, bool);

/// Adds a source config or replaces it. One that says the same as before is not a new version.
pub async fn put_config(
    hub: &Hub,
    actor: &Actor,
    source: String,
    expected: Expected,
    request: SourceConfigRequest,
) -> Result<Put, HubError> {
    require_scope(hub, actor, Scope::SourceConfigWrite)?;
    require_own_name(actor, &source)?;
    let request = request.checked()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| put_in(&hub_in, tx, &actor_in, &source, expected, &request)).await
}

pub async fn get_config(hub: &Hub, actor: &Actor, source: String) -> Result<SourceConfigView, HubError> {
    require_scope(hub, actor, Scope::SourceConfigWrite)?;
    let id = actor.id();
    let found = hub.read(move |tx| store::find_config(tx, id, &source)).await?;
    found.ok_or_else(|| HubError::not_found("source config"))
}

/// A name that looks like a principal's must be the caller's own.
fn require_own_name(actor: &Actor, source: &str) -> Result<(), HubError> {
    check_name(source).map_err(|message| HubError::invalid_field("source", message))?;
    let own = actor.principal.handle.as_str();
    let is_own = source.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':']));
    if source.starts_with("svc:") && !is_own {
        return Err(HubError::forbidden("forbidden", "This name belongs to another principal.")
            .hint(format!("Use {own}, or a name that does not begin with svc:.")));
    }
    Ok(())
}

fn put_in(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    source: &str,
    expected: Expected,
    request: &SourceConfigRequest,
) -> Result<Put, HubError> {
    let id = actor.id();
    let found = store::find_config(tx, id, source)?;
    require_expected(expected, found.as_ref())?;
    if found.is_none() && store::count_configs(tx, id)? >= MAX_SOURCE_CONFIGS {
        return Err(HubError::conflict("too_many_source_configs", "A principal may have 100 source configs.")
            .hint("Put more routes into one of them."));
    }
    require_channels(hub, tx, actor, request)?;
    let is_same = |found: &SourceConfigView| found.routes == request.routes && found.description == request.description;
    if let Some(found) = found.clone().filter(is_same) {
        return Ok((found, false));
    }
    let version = found.as_ref().map_or(1, |found| found.version + 1);
    let config = serde_json::to_string(request).map_err(HubError::internal)?;
    store::upsert_config(tx, id, source, version, &config)?;
    let details = json!({"version": version, "routes": request.routes.iter().map(|route| {
        json!({"type": route.event_type, "channel": route.channel})
    }).collect::<Vec<_>>()});
    audit::record(tx, actor, "source_config.changed", Some(source), &details)?;
    let stored = store::find_config(tx, id, source)?.ok_or_else(|| HubError::internal("a source config is missing"))?;
    Ok((stored, found.is_none()))
}

fn require_expected(expected: Expected, found: Option<&SourceConfigView>) -> Result<(), HubError> {
    let holds = match expected {
        Expected::Anything => true,
        Expected::Nothing => found.is_none(),
        Expected::Something => found.is_some(),
        Expected::Version(version) => found.is_some_and(|found| found.version == version),
    };
    if holds {
        return Ok(());
    }
    let detail = match found {
        Some(found) => format!("The source config is at version {}.", found.version),
        None => "There is no such source config.".to_owned(),
    };
    Err(HubError::new(ErrorKind::PreconditionFailed, "precondition_failed", detail)
        .hint("Read it, and send its ETag as If-Match."))
}

/// Every route must lead somewhere where the principal may write. What it may not see is not there for it.
fn require_channels(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, request: &SourceConfigRequest) -> Result<(), HubError> {
    let mut faults = Faults::default();
    for (place, route) in request.routes.iter().enumerate() {
        match channels::find_for_posting(hub, tx, actor, &route.channel) {
            Ok(_) => {}
            Err(error) if error.kind == ErrorKind::Internal || error.kind == ErrorKind::Unavailable => {
                return Err(error);
            }
            Err(_) => faults.add(
                &format!("routes[{place}].channel"),
                "names no public channel, and no private one that this principal is a member of",
            ),
        }
    }
    faults.finish().map_err(|faults: Vec<FieldError>| HubError::invalid(faults))
}
