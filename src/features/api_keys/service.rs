use serde_json::{Map, json};
use stoa_db::{DbError, Tx};
use stoa_model::api_keys::{ApiKeyStatus, ApiKeyView, CreateApiKeyRequest, CreatedApiKey};
use stoa_model::credentials::CredentialKind;
use stoa_model::page::Page;
use stoa_model::principals::PrincipalKind;
use stoa_model::users::Role;
use stoa_model::validation::Faults;
use stoa_model::{ApiKeyId, ChannelId, PrincipalId, Secret};

use super::store::{self, ApiKeyRow, NewKey};
use crate::access::auth_log::{self, AuthEvent};
use crate::access::identity::{CredentialForm, CredentialStore, Door, FoundIdentity, credential_hash};
use crate::access::{Actor, Credential, Principal};
use crate::error::HubError;
use crate::features::messages::{self, Notice};
use crate::features::{agents, audit, channels, principals, users};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

/// Owners of keys to whom the hub writes when a channel is deleted.
const MAX_NOTED: i64 = 2000;
/// Keys that one notice names. The rest is counted.
const MAX_NAMED: i64 = 20;

impl From<ApiKeyRow> for ApiKeyView {
    fn from(row: ApiKeyRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            agent: row.agent,
            permissions: row.permissions,
            limited: row.is_limited,
            deleted_channels: row
                .channels
                .iter()
                .filter(|channel| channel.is_deleted)
                .map(|channel| channel.name.clone())
                .collect(),
            channels: row.channels.into_iter().map(|channel| channel.name).collect(),
            status: if row.revoked_at.is_some() { ApiKeyStatus::Revoked } else { ApiKeyStatus::Active },
            expires_at: row.expires_at,
            last_used_at: row.last_used_at,
            created_at: row.created_at,
        }
    }
}

/// Whose managed key this is, and how far it reaches.
pub fn find_by_key_hash(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<FoundIdentity>, DbError> {
    let found = store::find_identity(tx, hash)?;
    Ok(found.map(|found| FoundIdentity {
        principal: Principal {
            id: found.agent,
            kind: PrincipalKind::Agent,
            handle: found.agent_name,
            human: found.owner,
            role: Role::Member,
            credential: Credential::ApiKey(found.id),
            permissions: found.permissions,
            reach: found.reach,
            expires_at: found.expires_at,
            proof: None,
        },
        seen_at: found.last_used_at,
    }))
}

fn note_use(tx: &mut Tx<'_>, principal: &Principal) -> Result<(), DbError> {
    principals::note_seen(tx, principal.id)?;
    match principal.credential {
        Credential::ApiKey(key) => store::update_used(tx, key),
        _ => Ok(()),
    }
}

pub(super) const API_KEY: CredentialStore = CredentialStore {
    form: CredentialForm::Bearer(CredentialKind::ApiKey),
    doors: &[Door::RestBearer, Door::McpBearer],
    find: find_by_key_hash,
    note_use,
};

/// Puts every key of an agent out of force, as part of taking the agent away.
pub fn revoke_all_of_agent(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<(), DbError> {
    store::update_all_revoked(tx, agent)
}

pub async fn create_key(hub: &Hub, actor: &Actor, request: CreateApiKeyRequest) -> Result<CreatedApiKey, HubError> {
    create_key_for(hub, actor, None, request).await
}

/// Makes a key for the user of that name, or for the caller.
pub async fn create_key_for(
    hub: &Hub,
    actor: &Actor,
    owner: Option<String>,
    request: CreateApiKeyRequest,
) -> Result<CreatedApiKey, HubError> {
    actor.require_session()?;
    if owner.is_some() {
        actor.require_admin()?;
    }
    request.check(hub.clock().now())?;
    let actor_in = actor.clone();
    let created = hub
        .command(actor, move |tx| {
            let owner = match &owner {
                Some(owner) => users::find_user_id(tx, owner)?,
                None => actor_in.id(),
            };
            insert_key(tx, &actor_in, owner, &request)
        })
        .await?;
    let detail = format!("API key {} of agent {}", created.api_key.id, created.api_key.agent);
    auth_log::record(AuthEvent::TokenIssued, &actor.call, Some(actor.id().0), actor.audit_name(), Some(&detail));
    Ok(created)
}

fn insert_key(
    tx: &mut Tx<'_>,
    actor: &Actor,
    owner: PrincipalId,
    request: &CreateApiKeyRequest,
) -> Result<CreatedApiKey, HubError> {
    let agent = agents::require_owned(tx, owner, &request.agent).map_err(|error| {
        if error.code == "not_found" { HubError::invalid_field("agent", "is not an agent of yours") } else { error }
    })?;
    let channels = find_channels(tx, owner, &request.channels)?;
    let key = CredentialKind::ApiKey.render(tx.random_bytes());
    let id = store::insert_key(
        tx,
        &NewKey {
            owner,
            agent,
            name: &request.name,
            token_hash: &credential_hash(&key),
            permissions: request.permissions,
            channels: &channels,
            expires_at: request.expires_at,
        },
    )?;
    let details = json!({"agent": request.agent, "permissions": request.permissions, "channels": request.channels});
    audit::record(tx, actor, "key.created", Some(&id.to_string()), &details)?;
    let api_key = store::find_key(tx, owner, id)?.ok_or_else(|| HubError::internal("the new key is missing"))?;
    Ok(CreatedApiKey { api_key: api_key.into(), key: Secret::new(key) })
}

/// The channels of these names, as far as the owner of the key sees them.
fn find_channels(tx: &mut Tx<'_>, owner: PrincipalId, names: &[String]) -> Result<Vec<ChannelId>, HubError> {
    let mut faults = Faults::default();
    let mut channels = Vec::new();
    for (place, name) in names.iter().enumerate() {
        match channels::find_seen_by(tx, owner, name)? {
            Some(channel) => channels.push(channel.id),
            None => faults.add(&format!("channels[{place}]"), "is not a channel that you can see"),
        }
    }
    faults.finish().map_err(HubError::invalid)?;
    Ok(channels)
}

/// Tells the owners of keys that are limited to a channel that it was deleted, as far as they saw it. The keys no longer reach
/// anything under its name.
pub(super) fn note_deleted_channel(
    hub: &Hub,
    tx: &mut Tx<'_>,
    channel: ChannelId,
    name: &str,
    audience: Option<&[PrincipalId]>,
) -> Result<(), HubError> {
    let mut notices = Vec::new();
    for (owner, count) in store::list_owners_limited_to(tx, channel, MAX_NOTED)? {
        let saw = audience.is_none_or(|audience| audience.contains(&owner));
        let Some(recipient) = principals::find_by_id(tx, owner)?.filter(|known| saw && known.is_reachable()) else {
            continue;
        };
        let keys = store::list_limited_to(tx, channel, owner, MAX_NAMED)?;
        let named = keys.iter().map(|key| format!("\n- {key}")).collect::<String>();
        let more = count - keys.len() as i64;
        let rest = if more > 0 { format!("\n\nand {more} more.") } else { String::new() };
        let body = format!(
            "The channel #{name} was deleted. These API keys were limited to it and can no longer use it, even if a new channel \
             gets the same name. Revoke them, or create new keys if you need them:\n{named}{rest}"
        );
        let metadata = Map::from_iter([("deleted_channel".to_owned(), json!({"channel": name, "keys": count}))]);
        notices.push(Notice { recipient, body, metadata });
    }
    messages::notify(hub, tx, notices)
}

pub async fn list_keys(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<ApiKeyView>, HubError> {
    actor.require_session()?;
    let before = list.position(hub, actor, "keys")?.unwrap_or(i64::MAX);
    let limit = list.limit()?;
    let owner = (!actor.is_operator()).then_some(actor.id());
    let keys = hub.read(move |tx| store::list_keys(tx, owner, before, limit + 1)).await?;
    let keys = keys.into_iter().map(|key| (key.id.0, key.into())).collect();
    page_of(hub, actor, "keys", keys, limit)
}

pub async fn get_key(hub: &Hub, actor: &Actor, id: ApiKeyId) -> Result<ApiKeyView, HubError> {
    actor.require_session()?;
    let actor = actor.clone();
    hub.read(move |tx| find_visible(tx, &actor, id)).await
}

/// Puts a key out of force, for good. Doing it again changes nothing.
pub async fn revoke_key(hub: &Hub, actor: &Actor, id: ApiKeyId) -> Result<ApiKeyView, HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let (key, was_active) = hub
        .command(actor, move |tx| {
            let key = find_visible(tx, &actor_in, id)?;
            let was_active = key.status == ApiKeyStatus::Active;
            if was_active {
                store::update_revoked(tx, id)?;
                if let Some(agent) = principals::find(tx, &key.agent)? {
                    principals::withdraw_access(&hub_in, tx, &actor_in, agent.id)?;
                }
                audit::record(tx, &actor_in, "key.revoked", Some(&id.to_string()), &json!({"agent": key.agent}))?;
            }
            Ok((find_visible(tx, &actor_in, id)?, was_active))
        })
        .await?;
    if was_active {
        let detail = format!("API key {} of agent {}", key.id, key.agent);
        auth_log::record(AuthEvent::TokenRevoked, &actor.call, Some(actor.id().0), actor.audit_name(), Some(&detail));
    }
    Ok(key)
}

fn find_visible(tx: &mut Tx<'_>, actor: &Actor, id: ApiKeyId) -> Result<ApiKeyView, HubError> {
    let key = if actor.is_operator() { store::find_any_key(tx, id)? } else { store::find_key(tx, actor.id(), id)? };
    key.map(Into::into).ok_or_else(|| HubError::not_found("key"))
}
