//! Looking at deliveries, and sending them again.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use stoa_db::Tx;
use stoa_model::machines::DeliveryEvidence;
use stoa_model::page::Page;
use stoa_model::webhooks::{
    DeliveryDetails, DeliveryRecord, DeliveryRequest, DeliveryStatus, MAX_WAITING, Retried, RetryDeadRequest,
    WebhookEvent,
};
use stoa_model::{DeliveryId, MessageId, Timestamp, WebhookId};
use utoipa::IntoParams;

use super::delivery_store::{self, DeliveryRow, Filter};
use super::sending::{self, KEPT_FOR, Outgoing};
use super::service::{find_filter, find_own, scope_of, scope_of_reader};
use super::store::{self, Scope};
use super::{content, signing};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::messages;
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

/// Dead letters can be retried for this long.
const DEAD_FOR: Duration = Duration::from_secs(30 * 24 * 3600);
/// What arrived, or was never to be sent, can be looked at for this long.
const SHOWN_FOR: Duration = Duration::from_secs(7 * 24 * 3600);
const BATCH: i64 = 500;
/// Characters of an answer in a list.
const MAX_LISTED_EXCERPT: usize = 160;
/// Dead letters that one call retries.
const MAX_RETRIED: i64 = 1000;

/// Which deliveries are listed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeliveryQuery {
    pub status: Option<DeliveryStatus>,
    pub event: Option<WebhookEvent>,
    /// Only this agent's webhooks.
    pub agent: Option<String>,
    /// Only for events since this time or date.
    #[param(value_type = Option<String>)]
    pub since: Option<Timestamp>,
    /// Only for events before this time or date.
    #[param(value_type = Option<String>)]
    pub until: Option<Timestamp>,
}

pub async fn list_deliveries(
    hub: &Hub,
    actor: &Actor,
    webhook: Option<WebhookId>,
    query: DeliveryQuery,
    list: ListQuery,
) -> Result<Page<DeliveryRecord>, HubError> {
    let scope = scope_of_reader(actor)?;
    let limit = list.limit()?;
    let words = [query.status.map_or("", DeliveryStatus::name), query.event.map_or("", WebhookEvent::name)];
    let agent = query.agent.as_deref().unwrap_or_default();
    let (since, until) = (query.since.map_or(0, Timestamp::as_ms), query.until.map_or(i64::MAX, Timestamp::as_ms));
    let of_webhook = webhook.map_or(0, |id| id.0);
    let name = format!("deliveries {of_webhook} {} {since} {until} {agent}", words.join(" "));
    let before: Option<i64> = list.position(hub, actor, &name)?;
    let actor_in = actor.clone();
    let rows = hub
        .read(move |tx| {
            if let Some(webhook) = webhook {
                find_own(tx, scope, webhook)?;
            }
            let agent = find_filter(tx, query.agent.as_deref())?;
            let filter = Filter { webhook, agent, status: query.status, event: query.event, since, until };
            let mut rows = delivery_store::list_deliveries(tx, scope, &filter, before.unwrap_or(i64::MAX), limit + 1)?;
            hide_answers(tx, &actor_in, &mut rows)?;
            Ok::<_, HubError>(rows)
        })
        .await?;
    page_of(hub, actor, &name, rows.into_iter().map(|row| (row.id.0, in_list(row))).collect(), limit)
}

/// A delivery as lists show it: with the beginnings of its answers, so that a page stays short.
fn in_list(row: DeliveryRow) -> DeliveryRecord {
    let mut record = DeliveryRecord::from(row);
    for excerpt in record.attempts.iter_mut().filter_map(|attempt| attempt.response_excerpt.as_mut()) {
        if let Some((end, _)) = excerpt.char_indices().nth(MAX_LISTED_EXCERPT) {
            excerpt.truncate(end);
        }
    }
    record
}

/// The first deliveries about a message, for a machine principal that wrote it.
pub fn list_evidence(tx: &mut Tx<'_>, message: MessageId, limit: i64) -> Result<Vec<DeliveryEvidence>, HubError> {
    Ok(delivery_store::list_of_message(tx, message, limit)?)
}

/// A delivery, with the request as it would be sent now, as far as the agent and the caller see what it is about.
pub async fn get_delivery(hub: &Hub, actor: &Actor, id: DeliveryId) -> Result<DeliveryDetails, HubError> {
    let scope = scope_of_reader(actor)?;
    let (hub_in, actor) = (hub.clone(), actor.clone());
    hub.read(move |tx| {
        let mut row = find_own_delivery(tx, scope, id)?;
        hide_answers(tx, &actor, std::slice::from_mut(&mut row))?;
        let request = request_of(&hub_in, tx, &actor, &row)?;
        Ok(DeliveryDetails { delivery: row.into(), request })
    })
    .await
}

/// Takes away answers to deliveries about messages that the caller does not see, or that were deleted: receivers may have
/// repeated what they were sent.
fn hide_answers(tx: &mut Tx<'_>, actor: &Actor, rows: &mut [DeliveryRow]) -> Result<(), HubError> {
    let asked: Vec<MessageId> = rows.iter().filter_map(|row| row.message).collect();
    let seen = if asked.is_empty() || actor.is_operator() {
        Vec::new()
    } else {
        messages::find_visible_among(tx, actor, &asked)?
    };
    let seen: HashSet<MessageId> =
        seen.into_iter().filter(|message| message.deleted_at.is_none()).map(|message| message.id).collect();
    for row in rows.iter_mut().filter(|row| row.message.is_some_and(|message| !seen.contains(&message))) {
        row.attempts.iter_mut().for_each(|attempt| attempt.response_excerpt = None);
    }
    Ok(())
}

fn find_own_delivery(tx: &mut Tx<'_>, scope: Scope, id: DeliveryId) -> Result<DeliveryRow, HubError> {
    let missing = || HubError::not_found("delivery");
    let row = delivery_store::find_delivery(tx, id)?.ok_or_else(missing)?;
    find_own(tx, scope, row.webhook).map_err(|_| missing())?;
    Ok(row)
}

fn request_of(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    row: &DeliveryRow,
) -> Result<Option<DeliveryRequest>, HubError> {
    if let Some(message) = row.message
        && (actor.is_operator() || messages::find_visible_among(tx, actor, &[message])?.is_empty())
    {
        return Ok(None);
    }
    let webhook = store::find_webhook(tx, row.webhook)?.ok_or_else(|| HubError::not_found("delivery"))?;
    let Ok(body) = content::body_of(tx, row, webhook.owner)? else { return Ok(None) };
    let secrets = signing::read(tx, &hub.keys(), row.webhook)?;
    let outgoing = Outgoing::new(&webhook.url, &row.public_id, row.depth, &body, &secrets, tx.now_ms())?;
    // A signature that nobody has sent is not shown: it would be good for five minutes.
    let headers = outgoing.headers.into_iter().filter(|(name, _)| *name != "webhook-signature");
    let headers = headers.map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(Some(DeliveryRequest { url: outgoing.url, headers, body }))
}

/// Sends a delivery again that failed for good.
pub async fn retry_delivery(hub: &Hub, actor: &Actor, id: DeliveryId) -> Result<DeliveryRecord, HubError> {
    let scope = scope_of(actor)?;
    hub.command(actor, move |tx| {
        let row = find_own_delivery(tx, scope, id)?;
        if row.status != DeliveryStatus::Dead {
            let detail = format!("Only dead letters can be retried; this delivery is {}.", row.status.name());
            return Err(HubError::conflict("not_dead", detail));
        }
        let is_test = row.event == WebhookEvent::WebhookPing;
        require_enabled(tx, row.webhook, is_test)?;
        if delivery_store::find_room(tx, row.webhook)? == 0 {
            let detail = format!("This webhook has {MAX_WAITING} pending deliveries, which is the limit.");
            return Err(HubError::conflict("backlog_full", detail).hint("Retry when some of them are delivered."));
        }
        repeat(tx, row.webhook, &[id])?;
        find_own_delivery(tx, scope, id).map(Into::into)
    })
    .await
}

/// Sends the dead letters of a webhook again, oldest first.
pub async fn retry_dead(
    hub: &Hub,
    actor: &Actor,
    id: WebhookId,
    request: RetryDeadRequest,
) -> Result<Retried, HubError> {
    let scope = scope_of(actor)?;
    hub.command(actor, move |tx| {
        find_own(tx, scope, id)?;
        require_enabled(tx, id, false)?;
        let since = request.since.map_or(0, Timestamp::as_ms);
        let limit = MAX_RETRIED.min(delivery_store::find_room(tx, id)?);
        let dead = delivery_store::list_to_repeat(tx, id, DeliveryStatus::Dead, since, limit)?;
        let dead: Vec<DeliveryId> = dead.into_iter().map(|(id, _)| id).collect();
        repeat(tx, id, &dead)?;
        Ok(Retried { retried: i64::try_from(dead.len()).unwrap_or(i64::MAX) })
    })
    .await
}

fn require_enabled(tx: &mut Tx<'_>, id: WebhookId, is_test: bool) -> Result<(), HubError> {
    let is_enabled = store::find_webhook(tx, id)?.is_some_and(|row| row.is_enabled());
    if is_enabled || is_test {
        return Ok(());
    }
    Err(HubError::conflict("webhook_disabled", "The webhook is disabled.").hint("Enable it first."))
}

fn repeat(tx: &mut Tx<'_>, webhook: WebhookId, deliveries: &[DeliveryId]) -> Result<(), HubError> {
    let Some(subscriber) = store::find_subscriber(tx, webhook)? else { return Ok(()) };
    for delivery in deliveries {
        delivery_store::update_pending(tx, *delivery)?;
        sending::enqueue(tx, &subscriber, *delivery, tx.now_ms())?;
    }
    Ok(())
}

/// Deletes what is too old to be looked at or retried, and secrets whose time is over.
pub(super) fn prune(_: &Hub, tx: &mut Tx<'_>) -> Result<u64, HubError> {
    let now = tx.now_ms();
    let mut pruned = store::delete_old_secrets(tx)?;
    for (status, kept) in [
        (DeliveryStatus::Dead, DEAD_FOR),
        (DeliveryStatus::Delivered, SHOWN_FOR),
        (DeliveryStatus::SuppressedLoop, SHOWN_FOR),
    ] {
        pruned += delivery_store::delete_older(tx, status, now - milliseconds(kept), BATCH)?;
    }
    pruned += delivery_store::expire_held(tx, now - milliseconds(KEPT_FOR), BATCH)?;
    Ok(pruned)
}

/// Ends the newest deliveries of a webhook of which more wait than may. Sends do not count them: on PostgreSQL, sends that read what
/// others insert would have to be repeated.
pub(super) fn limit_backlogs(_: &Hub, tx: &mut Tx<'_>) -> Result<u64, HubError> {
    let mut ended = 0;
    for webhook in delivery_store::list_long_backlogs(tx, MAX_WAITING)? {
        for delivery in delivery_store::list_beyond(tx, webhook, MAX_WAITING, BATCH)? {
            delivery_store::update_dead(tx, delivery, "backlog")?;
            sending::cancel(tx, delivery)?;
            ended += 1;
        }
    }
    Ok(ended)
}

pub(super) fn update_gauges(hub: &Hub, tx: &mut Tx<'_>) -> Result<(), HubError> {
    let counts = delivery_store::count_by_status(tx)?;
    for status in DeliveryStatus::ALL {
        let count = counts.iter().find(|(counted, _)| *counted == status).map_or(0, |(_, count)| *count);
        hub.metrics().webhook_deliveries.with_label_values(&[status.name()]).set(count);
    }
    Ok(())
}
