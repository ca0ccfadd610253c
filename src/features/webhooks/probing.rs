//! Webhooks that were disabled because of failures: asking whether the receiver is back, and sending what was held.

use std::time::Duration;

use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::webhooks::{DeliveryStatus, WebhookEvent};
use stoa_model::{Timestamp, WebhookId};

use super::sending::{KEPT_FOR, Outgoing};
use super::{delivery_store, sending, service, signing, store};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::events::work;
use crate::events::{Settlement, WorkItem, Worker};
use crate::features::{agents, users};
use crate::hub::{BoxFuture, Hub};

const QUEUE: &str = "webhook_probes";
const EVERY: Duration = Duration::from_secs(5 * 60);
const RETRY: Duration = Duration::from_secs(10);
/// Held deliveries that one transaction puts in line.
const BATCH: i64 = 500;

/// Begins to ask every five minutes whether the receiver of a webhook is back.
pub(super) fn begin(tx: &mut Tx<'_>, webhook: WebhookId) -> Result<(), DbError> {
    work::enqueue(tx, QUEUE, &format!("probe:{webhook}"), tx.now_ms() + milliseconds(EVERY))
}

/// Sends what a webhook has held, oldest first.
pub(super) fn resume(tx: &mut Tx<'_>, webhook: WebhookId) -> Result<(), DbError> {
    end(tx, webhook)?;
    work::enqueue(tx, QUEUE, &format!("resume:{webhook}"), tx.now_ms())
}

/// Ends all of this for a webhook.
pub(super) fn end(tx: &mut Tx<'_>, webhook: WebhookId) -> Result<(), DbError> {
    work::cancel(tx, QUEUE, &format!("probe:{webhook}"))?;
    work::cancel(tx, QUEUE, &format!("resume:{webhook}"))
}

pub(super) struct Prober;

impl Worker for Prober {
    fn queue(&self) -> &'static str {
        QUEUE
    }

    fn concurrency(&self, _: &Hub) -> usize {
        4
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let Some((what, id)) = item.subject.split_once(':') else { return Settlement::Done };
            let Ok(id) = id.parse().map(WebhookId) else { return Settlement::Done };
            let done = if what == "probe" { probe(hub, id).await } else { send_held(hub, id).await };
            done.unwrap_or_else(|error| {
                tracing::warn!(webhook = id.0, what, %error, "a disabled webhook could not be looked after; trying again");
                Settlement::RetryAt(hub.clock().now_ms() + milliseconds(RETRY))
            })
        })
    }
}

async fn probe(hub: &Hub, id: WebhookId) -> Result<Settlement, HubError> {
    let hub_in = hub.clone();
    let found = hub.read(move |tx| find(&hub_in, tx, id)).await?;
    let Some((request, disabled_at)) = found else { return Ok(Settlement::Done) };
    if disabled_at + milliseconds(KEPT_FOR) <= hub.clock().now_ms() {
        hub.write(move |tx| service::give_up(tx, id)).await?;
        return Ok(Settlement::Done);
    }
    let is_there = match request {
        Some(request) => request.send(hub).await.is_success(),
        None => false,
    };
    if !is_there {
        return Ok(Settlement::RepeatAt(hub.clock().now_ms() + milliseconds(EVERY)));
    }
    hub.write(move |tx| service::note_success(tx, id)).await?;
    Ok(Settlement::Done)
}

/// The request that asks whether the receiver is there, and since when the webhook is disabled. None if it no longer is. There is no
/// request while the agent sleeps or its owner is disabled: then nothing acts for them.
fn find(hub: &Hub, tx: &mut Tx<'_>, id: WebhookId) -> Result<Option<(Option<Outgoing>, i64)>, HubError> {
    let Some(webhook) = store::find_webhook(tx, id)?.filter(store::WebhookRow::holds) else { return Ok(None) };
    let Some(disabled_at) = webhook.disabled_at else { return Ok(None) };
    if !users::is_enabled(tx, webhook.owner)? || agents::is_halted(hub, tx, webhook.agent)? {
        return Ok(Some((None, disabled_at)));
    }
    let public_id = super::planner::public_id(tx);
    let body = json!({
        "id": public_id,
        "type": WebhookEvent::WebhookPing,
        "timestamp": Timestamp::from_ms(tx.now_ms()),
        "agent": webhook.agent_name,
        "depth": 0,
        "data": {"webhook_id": id, "probe": true},
    });
    let secrets = signing::read(tx, &hub.keys(), id)?;
    let request = Outgoing::new(&webhook.url, &public_id, 0, &body, &secrets, tx.now_ms())?;
    Ok(Some((Some(request), disabled_at)))
}

async fn send_held(hub: &Hub, id: WebhookId) -> Result<Settlement, HubError> {
    while hub.write(move |tx| send_some_held(tx, id)).await? > 0 {}
    Ok(Settlement::Done)
}

/// Puts a batch of held deliveries in line, behind each other by their age and before all that is newer.
fn send_some_held(tx: &mut Tx<'_>, id: WebhookId) -> Result<usize, HubError> {
    let Some(subscriber) = store::find_subscriber(tx, id)?.filter(|subscriber| !subscriber.is_held) else {
        return Ok(0);
    };
    let held = delivery_store::list_to_repeat(tx, id, DeliveryStatus::Held, 0, BATCH)?;
    for (delivery, created_at) in &held {
        delivery_store::update_pending(tx, *delivery)?;
        sending::enqueue(tx, &subscriber, *delivery, *created_at)?;
    }
    Ok(held.len())
}
