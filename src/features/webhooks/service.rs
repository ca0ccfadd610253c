//! Registering webhooks, and what becomes of them.

use std::time::Duration;

use serde_json::{Map, json};
use stoa_db::Tx;
use stoa_model::page::Page;
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::webhooks::{
    CreateWebhookRequest, CreatedWebhook, DeliveryRecord, DeliveryStatus, DisabledReason, MAX_WEBHOOKS_OF_AGENT,
    MAX_WEBHOOKS_OF_OWNER, RotateSecretRequest, UpdateWebhookRequest, WebhookEvent, WebhookView, bits_of,
};
use stoa_model::{PrincipalId, WebhookId};
use stoa_outbound::Url;

use super::planner::{self, Occurrence};
use super::store::{self, NewWebhook, Scope, Subscriber, WebhookRow};
use super::{delivery_store, probing, sending, signing};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::config::AgentWebhooks;
use crate::error::{ErrorKind, HubError};
use crate::events::work;
use crate::features::messages::{self, Notice};
use crate::features::{acting, agents, audit, principals};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

/// How long the secret before the last rotation goes on signing.
const OLD_SECRET_FOR: Duration = Duration::from_secs(24 * 3600);

/// Whose webhooks the caller may look at: people at those of their agents, agents at their own. Deliveries show what messages say.
pub(super) fn scope_of_reader(actor: &Actor) -> Result<Scope, HubError> {
    actor.require(Permission::MessagesRead)?;
    actor.require_beyond_conversation()?;
    Ok(scope(actor))
}

/// Whose webhooks the caller may change.
pub(super) fn scope_of(actor: &Actor) -> Result<Scope, HubError> {
    actor.require(Permission::WebhooksWrite)?;
    Ok(scope(actor))
}

fn scope(actor: &Actor) -> Scope {
    match actor.principal.kind {
        _ if actor.is_operator() => Scope::Everybody,
        // A webhook tells of channels that such a key does not reach.
        _ if actor.principal.reach.is_limited() => Scope::Nobody,
        PrincipalKind::Agent => Scope::Agent(actor.id()),
        _ => Scope::Owner(actor.id()),
    }
}

/// A webhook that the caller may know of.
pub(super) fn find_own(tx: &mut Tx<'_>, scope: Scope, id: WebhookId) -> Result<WebhookRow, HubError> {
    let found = store::find_webhook(tx, id)?.filter(|row| match scope {
        Scope::Everybody => true,
        Scope::Owner(owner) => row.owner == owner,
        Scope::Agent(agent) => row.agent == agent,
        Scope::Nobody => false,
    });
    found.ok_or_else(|| HubError::not_found("webhook"))
}

/// Whether it is a person, or the operator, and not a program that acts for one.
fn is_trusted(actor: &Actor) -> bool {
    actor.is_person() || actor.is_operator()
}

/// Whether a person must enable what the caller registers or changes.
fn must_be_confirmed(hub: &Hub, actor: &Actor) -> bool {
    !is_trusted(actor) && hub.config().agent_webhooks == AgentWebhooks::Confirm
}

/// The URL as it is called, if the hub calls it at all.
fn check_url(hub: &Hub, actor: &Actor, url: &str) -> Result<String, HubError> {
    hub.check_receiver(&actor.call.base_url, "url", url)
}

pub async fn create_webhook(
    hub: &Hub,
    actor: &Actor,
    request: CreateWebhookRequest,
) -> Result<CreatedWebhook, HubError> {
    scope_of(actor)?;
    request.check()?;
    let url = check_url(hub, actor, &request.url)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let (agent, owner) = find_agent(tx, &actor_in, &request.agent)?;
        let (of_agent, of_owner) = store::count_webhooks(tx, agent, owner)?;
        if of_agent >= MAX_WEBHOOKS_OF_AGENT || of_owner >= MAX_WEBHOOKS_OF_OWNER {
            let (limit, whose) = if of_agent >= MAX_WEBHOOKS_OF_AGENT {
                (MAX_WEBHOOKS_OF_AGENT, "An agent")
            } else {
                (MAX_WEBHOOKS_OF_OWNER, "A person, with all agents,")
            };
            return Err(HubError::conflict("too_many_webhooks", format!("{whose} can have {limit} webhooks."))
                .hint("Delete one you no longer need."));
        }
        let must_wait = must_be_confirmed(&hub_in, &actor_in);
        let disabled_reason = must_wait.then_some(DisabledReason::Unconfirmed);
        let new = NewWebhook { agent, owner, url: &url, events: bits_of(&request.events), disabled_reason };
        let id = store::insert_webhook(tx, &new)?;
        let secret = signing::replace(tx, &hub_in.keys(), id, None)?;
        let row = find_own(tx, Scope::Everybody, id)?;
        record(tx, &actor_in, "webhook.created", &row)?;
        if !is_trusted(&actor_in) {
            tell_of_program(&hub_in, tx, &row, "registered")?;
        }
        Ok(CreatedWebhook { webhook: row.into(), secret })
    })
    .await
}

/// The agent that a webhook is for, and its owner.
fn find_agent(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<(PrincipalId, PrincipalId), HubError> {
    let not_yours = || HubError::invalid_field("agent", "is not an agent of yours");
    if actor.principal.reach.is_limited() {
        return Err(HubError::invalid_field("agent", "cannot get webhooks with a key limited to channels"));
    }
    if actor.principal.kind == PrincipalKind::Agent {
        let is_itself = stoa_model::handles::fold(name) == stoa_model::handles::fold(&actor.principal.handle);
        return if is_itself { Ok((actor.id(), actor.principal.human)) } else { Err(not_yours()) };
    }
    if actor.is_operator() {
        let found = principals::find(tx, name)?.filter(|row| row.kind == PrincipalKind::Agent && !row.is_deleted);
        let found = found.and_then(|row| Some((row.id, row.owner?)));
        return found.ok_or_else(|| HubError::not_found("agent"));
    }
    let agent = agents::require_owned(tx, actor.id(), name)
        .map_err(|error| if error.code == "not_found" { not_yours() } else { error })?;
    Ok((agent, actor.id()))
}

pub async fn list_webhooks(
    hub: &Hub,
    actor: &Actor,
    agent: Option<String>,
    list: ListQuery,
) -> Result<Page<WebhookView>, HubError> {
    let scope = scope_of_reader(actor)?;
    let limit = list.limit()?;
    let name = format!("webhooks {}", agent.as_deref().unwrap_or_default());
    let before: Option<i64> = list.position(hub, actor, &name)?;
    let rows = hub
        .read(move |tx| {
            let agent = find_filter(tx, agent.as_deref())?;
            Ok::<_, HubError>(store::list_webhooks(tx, scope, agent, before.unwrap_or(i64::MAX), limit + 1)?)
        })
        .await?;
    page_of(hub, actor, &name, rows.into_iter().map(|row| (row.id.0, row.into())).collect(), limit)
}

/// The agent that a list is narrowed to. One that is not there has nothing.
pub(super) fn find_filter(tx: &mut Tx<'_>, agent: Option<&str>) -> Result<Option<PrincipalId>, HubError> {
    let Some(name) = agent else { return Ok(None) };
    Ok(Some(principals::find(tx, name)?.map_or(PrincipalId(-1), |row| row.id)))
}

pub async fn get_webhook(hub: &Hub, actor: &Actor, id: WebhookId) -> Result<WebhookView, HubError> {
    let scope = scope_of_reader(actor)?;
    hub.read(move |tx| find_own(tx, scope, id).map(Into::into)).await
}

pub async fn update_webhook(
    hub: &Hub,
    actor: &Actor,
    id: WebhookId,
    request: UpdateWebhookRequest,
) -> Result<WebhookView, HubError> {
    let scope = scope_of(actor)?;
    request.check()?;
    let url = request.url.as_deref().map(|url| check_url(hub, actor, url)).transpose()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let before = find_own(tx, scope, id)?;
        let events = request.events.as_deref().map_or_else(|| bits_of(&before.events), bits_of);
        let is_moved = url.as_deref().is_some_and(|url| url != before.url);
        store::update_target(tx, id, url.as_deref().unwrap_or(&before.url), events)?;
        let is_widened = events & !bits_of(&before.events) != 0;
        match request.wants_enabled() {
            Some(true) => enable_in(&hub_in, tx, &actor_in, &before)?,
            // A program must not lift the wait for the owner by another reason.
            Some(false) if before.disabled_reason == Some(DisabledReason::Unconfirmed) => {}
            Some(false) => disable(tx, &before, DisabledReason::ByOwner)?,
            None => {}
        }
        if (is_moved || is_widened) && must_be_confirmed(&hub_in, &actor_in) {
            disable(tx, &before, DisabledReason::Unconfirmed)?;
        }
        let row = find_own(tx, scope, id)?;
        record(tx, &actor_in, "webhook.updated", &row)?;
        let is_enabled = row.is_enabled() && !before.is_enabled();
        if (is_moved || is_widened || is_enabled) && !is_trusted(&actor_in) {
            tell_of_program(&hub_in, tx, &row, "changed")?;
        }
        Ok(row.into())
    })
    .await
}

pub async fn enable_webhook(hub: &Hub, actor: &Actor, id: WebhookId) -> Result<WebhookView, HubError> {
    update_webhook(hub, actor, id, UpdateWebhookRequest { enabled: Some(true), ..Default::default() }).await
}

pub async fn disable_webhook(hub: &Hub, actor: &Actor, id: WebhookId) -> Result<WebhookView, HubError> {
    update_webhook(hub, actor, id, UpdateWebhookRequest { enabled: Some(false), ..Default::default() }).await
}

pub async fn delete_webhook(hub: &Hub, actor: &Actor, id: WebhookId) -> Result<(), HubError> {
    let scope = scope_of(actor)?;
    let actor_in = actor.clone();
    hub.command(actor, move |tx| {
        let row = find_own(tx, scope, id)?;
        record(tx, &actor_in, "webhook.deleted", &row)?;
        remove(tx, id)
    })
    .await
}

pub async fn rotate_secret(
    hub: &Hub,
    actor: &Actor,
    id: WebhookId,
    request: RotateSecretRequest,
) -> Result<CreatedWebhook, HubError> {
    let scope = scope_of(actor)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        find_own(tx, scope, id)?;
        let keeps_old = request.keep_old.unwrap_or(true);
        let old_until = keeps_old.then(|| tx.now_ms() + milliseconds(OLD_SECRET_FOR));
        let secret = signing::replace(tx, &hub_in.keys(), id, old_until)?;
        let row = find_own(tx, scope, id)?;
        record(tx, &actor_in, "webhook.secret_rotated", &row)?;
        Ok(CreatedWebhook { webhook: row.into(), secret })
    })
    .await
}

/// Sends a test, also if the webhook is disabled.
pub async fn test_webhook(hub: &Hub, actor: &Actor, id: WebhookId) -> Result<DeliveryRecord, HubError> {
    let scope = scope_of(actor)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let row = find_own(tx, scope, id)?;
        require_confirmed(&row, &actor_in)?;
        if acting::is_off(&hub_in, tx, row.owner)? {
            return Err(HubError::new(ErrorKind::Unavailable, "acting_off", "All automation is stopped.")
                .hint("Resume it first: POST /api/automation/resume, or `stoa admin acting on`."));
        }
        let subscriber = Subscriber { webhook: id, agent: row.agent, owner: row.owner, url: row.url, is_held: false };
        let what =
            Occurrence { event: WebhookEvent::WebhookPing, message: None, facts: json!({"webhook_id": id}), depth: 0 };
        let (delivery, _) = planner::add(tx, &subscriber, &what)?;
        let delivery = delivery_store::find_delivery(tx, delivery)?;
        Ok(delivery.ok_or_else(|| HubError::internal("the new delivery is missing"))?.into())
    })
    .await
}

/// Takes a webhook away, with all that waits for it.
pub(super) fn remove(tx: &mut Tx<'_>, id: WebhookId) -> Result<(), HubError> {
    if let Some(row) = store::find_webhook(tx, id)? {
        work::cancel_lane(tx, sending::QUEUE, &sending::lane(row.owner, id))?;
    }
    probing::end(tx, id)?;
    Ok(store::delete_webhook(tx, id)?)
}

fn enable_in(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, row: &WebhookRow) -> Result<(), HubError> {
    require_confirmed(row, actor)?;
    if row.disabled_reason == Some(DisabledReason::ByOwner) && must_be_confirmed(hub, actor) {
        return Err(unconfirmed());
    }
    enable(tx, row)
}

/// Refuses a program that would use a webhook before a person has enabled it.
fn require_confirmed(row: &WebhookRow, actor: &Actor) -> Result<(), HubError> {
    let is_unconfirmed = row.disabled_reason == Some(DisabledReason::Unconfirmed);
    if is_unconfirmed && !is_trusted(actor) { Err(unconfirmed()) } else { Ok(()) }
}

fn unconfirmed() -> HubError {
    let detail = "The owner of the agent must enable this webhook first.";
    HubError::new(ErrorKind::Forbidden, "confirmation_required", detail)
}

/// Turns a webhook on. If it was off because of failures, all that it could not deliver since is sent, oldest first.
fn enable(tx: &mut Tx<'_>, row: &WebhookRow) -> Result<(), HubError> {
    if row.holds() {
        delivery_store::hold_dead_since(tx, row.id, row.failing_since.unwrap_or(i64::MAX))?;
    }
    store::update_enabled(tx, row.id)?;
    Ok(probing::resume(tx, row.id)?)
}

/// Turns a webhook off. What waits is dead, and can be retried.
fn disable(tx: &mut Tx<'_>, row: &WebhookRow, reason: DisabledReason) -> Result<(), HubError> {
    if row.disabled_reason == Some(reason) {
        return Ok(());
    }
    store::update_disabled(tx, row.id, reason)?;
    work::cancel_lane(tx, sending::QUEUE, &sending::lane(row.owner, row.id))?;
    probing::end(tx, row.id)?;
    for status in [DeliveryStatus::Pending, DeliveryStatus::Held] {
        delivery_store::update_all(tx, row.id, status, DeliveryStatus::Dead, Some("disabled"))?;
    }
    Ok(())
}

/// Turns a webhook off because of what its receiver answered, and tells the owner.
pub(super) fn disable_because(
    hub: &Hub,
    tx: &mut Tx<'_>,
    id: WebhookId,
    reason: DisabledReason,
    last_answer: &str,
) -> Result<(), HubError> {
    let Some(row) = store::find_webhook(tx, id)?.filter(WebhookRow::is_enabled) else { return Ok(()) };
    let (agent, host) = (&row.agent_name, host_of(&row.url));
    let text = if reason == DisabledReason::Failures {
        store::update_disabled(tx, id, reason)?;
        work::cancel_lane(tx, sending::QUEUE, &sending::lane(row.owner, id))?;
        delivery_store::update_all(tx, id, DeliveryStatus::Pending, DeliveryStatus::Held, None)?;
        probing::begin(tx, id)?;
        format!(
            "The webhook of @{agent} to {host} was disabled: {} deliveries failed one after another. Last answer: {last_answer}. New deliveries \
             are kept for 72 hours. The hub asks every 5 minutes whether the receiver answers again; then it enables the webhook and \
             sends what was kept.",
            row.failures
        )
    } else {
        disable(tx, &row, reason)?;
        format!(
            "The webhook of @{agent} to {host} was disabled: the receiver answered {last_answer}, which says that it is no longer there. Delete the \
             webhook, or change its address and enable it."
        )
    };
    let system = Actor::system();
    record(tx, &system, "webhook.disabled", &row)?;
    tell(hub, tx, &row, text)
}

/// Notes that the receiver answered well. A webhook that was disabled because of failures goes on.
pub(super) fn note_success(tx: &mut Tx<'_>, id: WebhookId) -> Result<(), HubError> {
    let Some(row) = store::find_webhook(tx, id)? else { return Ok(()) };
    if row.holds() {
        enable(tx, &row)?;
    }
    Ok(store::update_delivered(tx, id)?)
}

/// Stops waiting for a receiver. What was held is dead, and can be retried.
pub(super) fn give_up(tx: &mut Tx<'_>, id: WebhookId) -> Result<(), HubError> {
    let Some(row) = store::find_webhook(tx, id)?.filter(WebhookRow::holds) else { return Ok(()) };
    delivery_store::update_all(tx, id, DeliveryStatus::Held, DeliveryStatus::Dead, Some("expired"))?;
    Ok(store::update_disabled(tx, row.id, DisabledReason::Unreachable)?)
}

fn host_of(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_else(|| "its address".to_owned())
}

/// Tells the owner that a program has registered a webhook, or moved one: what it is sent leaves the hub.
fn tell_of_program(hub: &Hub, tx: &mut Tx<'_>, row: &WebhookRow, what: &str) -> Result<(), HubError> {
    let text = format!(
        "@{} {what} a webhook to {}. It is sent: {}. {} If you do not recognize it, delete it in the agent's Webhooks tab.",
        row.agent_name,
        host_of(&row.url),
        row.events.iter().map(|event| event.name()).collect::<Vec<_>>().join(", "),
        if row.is_enabled() { "The webhook is enabled." } else { "The webhook sends nothing until you enable it." },
    );
    tell(hub, tx, row, text)
}

fn tell(hub: &Hub, tx: &mut Tx<'_>, row: &WebhookRow, body: String) -> Result<(), HubError> {
    let Some(recipient) = principals::find_by_id(tx, row.owner)?.filter(|owner| owner.is_reachable()) else {
        return Ok(());
    };
    let metadata = Map::from_iter([("webhook".to_owned(), json!({"id": row.id, "agent": row.agent_name}))]);
    messages::notify(hub, tx, vec![Notice { recipient, body, metadata }])
}

/// Notes in the audit log what was done, without the path of the address: it may hold a secret.
fn record(tx: &mut Tx<'_>, actor: &Actor, action: &str, row: &WebhookRow) -> Result<(), HubError> {
    let details = json!({"agent": row.agent_name, "host": host_of(&row.url), "events": row.events});
    Ok(audit::record(tx, actor, action, Some(&row.id.to_string()), &details)?)
}
