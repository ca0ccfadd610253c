use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::credentials::base62;
use stoa_model::hooks::{
    AUTHOR_PREFIX, CreateHookRequest, CreatedHook, HookKind, HookRequestList, HookTarget, HookView, MAX_HOOKS,
    STANDARD_SECRET_PREFIX, UpdateHookRequest,
};
use stoa_model::page::Page;
use stoa_model::principals::PrincipalKind;
use stoa_model::{PrincipalId, Secret};

use super::store::{self, HookRow, NewHook, Target};
use super::verify;
use crate::access::Actor;
use crate::error::HubError;
use crate::features::{audit, channels, principals, users};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};
use crate::storage::keys::{KeyRing, Purpose};

/// Creates a hook for the user of that name, or for the caller.
pub async fn create_hook(
    hub: &Hub,
    actor: &Actor,
    owner: Option<String>,
    request: CreateHookRequest,
) -> Result<CreatedHook, HubError> {
    actor.require_session()?;
    if owner.is_some() {
        actor.require_admin()?;
    }
    let request = request.checked()?;
    if let Some(secret) = request.secret.as_ref().filter(|_| request.kind == HookKind::Standard) {
        verify::check_standard_secret(secret)?;
    }
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let owner = match &owner {
            Some(owner) => users::find_user_id(tx, owner)?,
            None => actor_in.id(),
        };
        insert_hook(&hub_in, tx, &actor_in, owner, &request)
    })
    .await
}

fn insert_hook(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    owner: PrincipalId,
    request: &CreateHookRequest,
) -> Result<CreatedHook, HubError> {
    if store::count_hooks(tx, owner)? >= MAX_HOOKS {
        return Err(HubError::conflict("too_many_hooks", "A user can have at most 100 hooks.")
            .hint("Delete hooks that you no longer need."));
    }
    require_own_name(tx, &request.name)?;
    let target = find_target(tx, owner, &request.target)?;
    let id = hex(&tx.random_bytes::<16>());
    // The handle is public, so it must not tell the id.
    let author = format!("{AUTHOR_PREFIX}{}", hex(&tx.random_bytes::<6>()));
    let secret = match &request.secret {
        Some(secret) => secret.clone(),
        None => new_secret(tx, request.kind),
    };
    let sealed_secret = seal(&hub.keys(), tx, &id, secret.expose().as_bytes())?;
    let principal = principals::create(hub, tx, actor, PrincipalKind::Machine, &author, &request.name, None)?;
    store::insert_hook(
        tx,
        &NewHook {
            id: &id,
            principal,
            owner,
            kind: request.kind,
            target,
            events: &request.events,
            template: request.template.as_deref(),
            sealed_secret: &sealed_secret,
        },
    )?;
    let details = json!({"name": request.name, "kind": request.kind, "target": request.target});
    audit::record(tx, actor, "hook.created", Some(&author), &details)?;
    let row = store::find_hook(tx, &id)?.ok_or_else(|| HubError::internal("the new hook is missing"))?;
    let mut url = address(hub, actor, &id);
    if request.kind == HookKind::Url {
        url = format!("{url}/{}", secret.expose());
    }
    Ok(CreatedHook { hook: view(hub, actor, row), url: Secret::new(url), secret })
}

pub async fn list_hooks(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<HookView>, HubError> {
    actor.require_session()?;
    let before = list.position(hub, actor, "hooks")?.unwrap_or(i64::MAX);
    let limit = list.limit()?;
    let owner = (!actor.is_operator()).then_some(actor.id());
    let hooks = hub.read(move |tx| store::list_hooks(tx, owner, before, limit + 1)).await?;
    let hooks = hooks.into_iter().map(|hook| (hook.principal.0, view(hub, actor, hook))).collect();
    page_of(hub, actor, "hooks", hooks, limit)
}

pub async fn get_hook(hub: &Hub, actor: &Actor, id: String) -> Result<HookView, HubError> {
    actor.require_session()?;
    let actor_in = actor.clone();
    let hook = hub.read(move |tx| find_own(tx, &actor_in, &id)).await?;
    Ok(view(hub, actor, hook))
}

/// The latest requests of a hook, newest first.
pub async fn list_requests(hub: &Hub, actor: &Actor, id: String) -> Result<HookRequestList, HubError> {
    actor.require_session()?;
    let actor_in = actor.clone();
    hub.read(move |tx| {
        let hook = find_own(tx, &actor_in, &id)?;
        Ok(HookRequestList { items: store::list_requests(tx, &hook.id)? })
    })
    .await
}

pub async fn update_hook(
    hub: &Hub,
    actor: &Actor,
    id: String,
    request: UpdateHookRequest,
) -> Result<HookView, HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let mut hook = find_own(tx, &actor_in, &id)?;
        let request = request.clone().checked(hook.kind)?;
        if let Some(target) = &request.target {
            hook.target = find_target(tx, hook.owner, target)?;
        }
        if let Some(name) = request.name.as_ref().filter(|name| **name != hook.name) {
            require_own_name(tx, name)?;
            principals::set_display_name(&hub_in, tx, &actor_in, hook.principal, name)?;
        }
        hook.events = request.events.clone().unwrap_or(hook.events);
        hook.template = request.template.clone().unwrap_or(hook.template);
        hook.is_enabled = request.enabled.unwrap_or(hook.is_enabled);
        store::update_hook(tx, &hook)?;
        if let Some(secret) = &request.secret {
            if hook.kind == HookKind::Standard {
                verify::check_standard_secret(secret)?;
            }
            let sealed = seal(&hub_in.keys(), tx, &id, secret.expose().as_bytes())?;
            store::update_secret(tx, &id, &sealed)?;
        }
        let details = json!({"name": request.name, "target": request.target, "events": request.events,
            "enabled": request.enabled, "template": request.template.is_some(), "secret": request.secret.is_some()});
        audit::record(tx, &actor_in, "hook.updated", Some(&hook.author), &details)?;
        let hook = store::find_hook(tx, &id)?.ok_or_else(|| HubError::internal("the hook is missing"))?;
        Ok(view(&hub_in, &actor_in, hook))
    })
    .await
}

/// Deletes a hook. Its messages stay.
pub async fn delete_hook(hub: &Hub, actor: &Actor, id: String) -> Result<(), HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let hook = find_own(tx, &actor_in, &id)?;
        store::delete_hook(tx, &hook.id)?;
        principals::delete(&hub_in, tx, &actor_in, hook.principal)?;
        Ok(audit::record(tx, &actor_in, "hook.deleted", Some(&hook.author), &json!({"name": hook.name}))?)
    })
    .await
}

fn find_own(tx: &mut Tx<'_>, actor: &Actor, id: &str) -> Result<HookRow, HubError> {
    let hook = store::find_hook(tx, id)?.filter(|hook| actor.is_operator() || hook.owner == actor.id());
    hook.ok_or_else(|| HubError::not_found("hook"))
}

/// Messages of a hook must not look like messages of a person.
fn require_own_name(tx: &mut Tx<'_>, name: &str) -> Result<(), HubError> {
    if principals::is_name_of_user(tx, name)? {
        return Err(HubError::invalid_field("name", "is a user's name; use the name of the other service"));
    }
    Ok(())
}

/// The channel or agent of that name, if the owner may post there.
fn find_target(tx: &mut Tx<'_>, owner: PrincipalId, target: &HookTarget) -> Result<Target, HubError> {
    if let Some(name) = &target.channel {
        if let Some(channel) = channels::find_seen_by(tx, owner, name)?
            && channels::find_writable_by(tx, owner, channel.id)?.is_some()
        {
            return Ok(Target::Channel(channel.id));
        }
        return Err(HubError::invalid_field("target.channel", "is not a channel you can post to"));
    }
    let name = target.agent.as_deref().unwrap_or_default();
    let agent = principals::find(tx, name)?;
    match agent.filter(|agent| agent.kind == PrincipalKind::Agent && agent.is_reachable()) {
        Some(agent) => Ok(Target::Agent(agent.id)),
        None => Err(HubError::invalid_field("target.agent", "is not an agent that can receive messages")),
    }
}

fn view(hub: &Hub, actor: &Actor, row: HookRow) -> HookView {
    let target = match row.target {
        Target::Channel(_) => HookTarget { channel: Some(row.target_name), agent: None },
        Target::Agent(_) => HookTarget { channel: None, agent: Some(row.target_name) },
    };
    HookView {
        url: (row.kind != HookKind::Url).then(|| address(hub, actor, &row.id)),
        id: row.id,
        name: row.name,
        author: row.author,
        owner: row.owner_name,
        kind: row.kind,
        target,
        target_deleted: row.is_target_deleted,
        events: row.events,
        template: row.template,
        enabled: row.is_enabled,
        created_at: row.created_at,
        last_request_at: row.last_request_at,
    }
}

fn address(hub: &Hub, actor: &Actor, id: &str) -> String {
    let called = actor.call.base_url.as_str();
    let base = if called.is_empty() { hub.base_url() } else { called };
    format!("{}/hooks/{id}", base.trim_end_matches('/'))
}

fn new_secret(tx: &mut Tx<'_>, kind: HookKind) -> Secret {
    let random = tx.random_bytes::<32>();
    match kind {
        HookKind::Github | HookKind::Url => Secret::new(base62(random)),
        HookKind::Standard => Secret::new(format!("{STANDARD_SECRET_PREFIX}{}", STANDARD.encode(random))),
    }
}

fn seal(keys: &KeyRing, tx: &mut Tx<'_>, id: &str, secret: &[u8]) -> Result<Vec<u8>, HubError> {
    keys.seal(Purpose::HookSecret, id, tx.random_bytes(), secret).map_err(HubError::internal)
}

/// The secret of a hook.
pub(super) fn open_secret(keys: &KeyRing, hook: &HookRow) -> Result<Secret, HubError> {
    let opened = keys.open(Purpose::HookSecret, &hook.id, &hook.sealed_secret).map_err(HubError::internal)?;
    Ok(Secret::new(String::from_utf8_lossy(&opened)))
}

/// Seals the secrets with the current key, so that an older one can be removed.
pub(super) fn seal_again(tx: &mut Tx<'_>, keys: &KeyRing) -> Result<(), HubError> {
    for (id, sealed) in store::list_secrets(tx)? {
        let opened = keys.open(Purpose::HookSecret, &id, &sealed).map_err(HubError::internal)?;
        let sealed = seal(keys, tx, &id, &opened)?;
        store::update_secret(tx, &id, &sealed)?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A hook, for the list of everything that may start by itself.
pub struct OwnedHook {
    pub id: String,
    pub name: String,
    /// The agent that it writes to.
    pub agent: Option<String>,
    pub is_enabled: bool,
}

/// The hooks of a person, newest first.
pub fn list_of_owner(tx: &mut Tx<'_>, owner: PrincipalId) -> Result<Vec<OwnedHook>, DbError> {
    let rows = store::list_hooks(tx, Some(owner), i64::MAX, MAX_HOOKS)?;
    let owned = rows.into_iter().map(|row| OwnedHook {
        id: row.id,
        name: row.name,
        agent: matches!(row.target, Target::Agent(_)).then_some(row.target_name),
        is_enabled: row.is_enabled,
    });
    Ok(owned.collect())
}
