//! Source configs: how a principal wants its events to be routed.

use std::collections::BTreeMap;

use serde_json::json;
use stoa_db::Tx;
use stoa_model::ChannelId;
use stoa_model::machines::{
    MAX_CONFIG_BYTES, MAX_SOURCE_CONFIGS, SourceConfigList, SourceConfigRequest, SourceConfigView, check_name,
};
use stoa_model::validation::{Faults, FieldError};
use stoa_registry::Scope;

use super::gate::require_scope;
use super::store::{self, SourceConfigRow};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::features::{audit, channels};
use crate::hub::Hub;

/// Of each template, in the audit log.
const AUDITED_CHARACTERS: usize = 200;

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

impl From<SourceConfigRow> for SourceConfigView {
    fn from(row: SourceConfigRow) -> Self {
        Self {
            source: row.source,
            principal: row.principal,
            version: row.version,
            description: row.description,
            deleted_channels: row
                .channels
                .iter()
                .filter(|(_, channel)| channel.is_deleted)
                .map(|(name, _)| name.clone())
                .collect(),
            routes: row.routes,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

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
    found.map(Into::into).ok_or_else(|| HubError::not_found("source config"))
}

/// All source configs of the caller, by name.
pub async fn list_configs(hub: &Hub, actor: &Actor) -> Result<SourceConfigList, HubError> {
    require_scope(hub, actor, Scope::SourceConfigWrite)?;
    let id = actor.id();
    // There are at most a hundred, of 256 KiB together.
    let items = hub.read(move |tx| store::list_configs(tx, id)).await?;
    Ok(SourceConfigList { items: items.into_iter().map(Into::into).collect() })
}

/// Takes a source config away. Events that it routed are kept from now on without telling anybody.
pub async fn delete_config(hub: &Hub, actor: &Actor, source: String, expected: Expected) -> Result<(), HubError> {
    require_scope(hub, actor, Scope::SourceConfigWrite)?;
    let actor_in = actor.clone();
    hub.command(actor, move |tx| {
        let id = actor_in.id();
        let found = store::find_config(tx, id, &source)?.ok_or_else(|| HubError::not_found("source config"))?;
        require_expected(expected, Some(&found))?;
        store::delete_config(tx, id, &source)?;
        let details = json!({"version": found.version});
        Ok(audit::record(tx, &actor_in, "source_config.deleted", Some(&source), &details)?)
    })
    .await
}

/// A name that looks like a principal's must be the caller's own.
fn require_own_name(actor: &Actor, source: &str) -> Result<(), HubError> {
    check_name(source).map_err(|message| HubError::invalid_field("source", message))?;
    let own = actor.principal.handle.as_str();
    let is_own = source.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':']));
    let is_principal = source.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("svc:"));
    if is_principal && !is_own {
        return Err(HubError::forbidden("forbidden", "This name belongs to another principal.")
            .hint(format!("Use {own}, or a name that does not start with svc:.")));
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
        return Err(HubError::conflict("too_many_source_configs", "A principal can have 100 source configs.")
            .hint("Put more routes into one of them."));
    }
    let channels = find_channels(hub, tx, actor, request)?;
    let is_same = |found: &SourceConfigRow| {
        let known: BTreeMap<_, _> = found.channels.iter().map(|(name, channel)| (name.clone(), channel.id)).collect();
        found.routes == request.routes && found.description == request.description && known == channels
    };
    if let Some(found) = found.clone().filter(is_same) {
        return Ok((found.into(), false));
    }
    let version = found.as_ref().map_or(1, |found| found.version + 1);
    let config = serde_json::to_string(request).map_err(HubError::internal)?;
    let bytes =
        store::count_config_bytes(tx, id, source)?.saturating_add(i64::try_from(config.len()).unwrap_or(i64::MAX));
    if bytes > MAX_CONFIG_BYTES {
        return Err(HubError::conflict(
            "source_configs_too_large",
            "All source configs of a principal together can be up to 256 KiB.",
        )
        .hint("Shorten templates, or delete configs you no longer need."));
    }
    store::upsert_config(tx, id, source, version, &config, &channels)?;
    let details = json!({"version": version, "routes": request.routes.iter().map(|route| {
        let template: Option<String> =
            route.template.as_ref().map(|template| template.chars().take(AUDITED_CHARACTERS).collect());
        json!({"type": route.event_type, "channel": route.channel, "template": template})
    }).collect::<Vec<_>>()});
    audit::record(tx, actor, "source_config.changed", Some(source), &details)?;
    let stored = store::find_config(tx, id, source)?.ok_or_else(|| HubError::internal("a source config is missing"))?;
    Ok((stored.into(), found.is_none()))
}

fn require_expected(expected: Expected, found: Option<&SourceConfigRow>) -> Result<(), HubError> {
    let holds = match expected {
        Expected::Anything => true,
        Expected::Nothing => found.is_none(),
        Expected::Something => found.is_some(),
        Expected::Version(version) => found.is_some_and(|found| found.version == version),
    };
    if holds {
        return Ok(());
    }
    let (detail, hint) = match found {
        Some(found) if expected == Expected::Nothing => (
            format!("The source config already exists, at version {}.", found.version),
            "Leave out If-None-Match to replace it.",
        ),
        Some(found) => {
            (format!("The source config is at version {}.", found.version), "Read it, and send its ETag as If-Match.")
        }
        None => ("No such source config.".to_owned(), "Leave out If-Match to create it."),
    };
    Err(HubError::new(ErrorKind::PreconditionFailed, "precondition_failed", detail).hint(hint))
}

/// Every route must lead somewhere where the principal may write. What it may not see is not there for it.
fn find_channels(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    request: &SourceConfigRequest,
) -> Result<BTreeMap<String, ChannelId>, HubError> {
    let mut faults = Faults::default();
    let mut found = BTreeMap::new();
    for (place, route) in request.routes.iter().enumerate() {
        match channels::find_for_posting(hub, tx, actor, &route.channel) {
            Ok(channel) => {
                found.insert(route.channel.clone(), channel.id);
            }
            Err(error) if error.kind == ErrorKind::Internal || error.kind == ErrorKind::Unavailable => {
                return Err(error);
            }
            Err(_) => faults.add(
                &format!("routes[{place}].channel"),
                "must be a public channel, or a private one that this principal is a member of",
            ),
        }
    }
    faults.finish().map_err(|faults: Vec<FieldError>| HubError::invalid(faults))?;
    Ok(found)
}
