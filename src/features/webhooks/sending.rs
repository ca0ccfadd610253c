//! Sending deliveries: one try at a time for each webhook, at its agent's rate.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;
use stoa_db::{DbError, Tx};
use stoa_model::text::is_unprintable;
use stoa_model::webhooks::{Attempt, DeliveryStatus, DisabledReason, MAX_EXCERPT_BYTES, MAX_FAILURES, WebhookEvent};
use stoa_model::{DeliveryId, PrincipalId, Timestamp, WebhookId};
use stoa_outbound::{Answer, Request, Url};

use super::delivery_store::{self, DeliveryRow};
use super::signing::{self, Secrets};
use super::store::{self, Subscriber};
use super::{content, service};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::events::work::{self, NewItem, Rate};
use crate::events::{Settlement, WorkItem, Worker};
use crate::features::{acting, agents, users};
use crate::hub::{BoxFuture, Hub};

pub(super) const QUEUE: &str = "webhooks";
const WORKERS: usize = 8;
/// What one agent's webhooks are sent, and one host of all agents together.
const PER_AGENT: Rate = Rate { times: 60, per: Duration::from_secs(60) };
const PER_HOST: Rate = Rate { times: 300, per: Duration::from_secs(60) };
/// The pauses before the second try and those after it. Then the delivery is dead.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);
/// Tries that a delivery shows: the last ones.
const MAX_ATTEMPTS: usize = 20;
/// How often it is looked whether an agent sleeps that has deliveries.
const ASLEEP_PAUSE: Duration = Duration::from_secs(60);
/// How long deliveries wait for an agent that sleeps, or a receiver that is down.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(72 * 3600);
const INTERNAL_PAUSE: Duration = Duration::from_secs(10);
/// What is not public is not to be measured by how long it takes.
const COARSE_MS: i64 = 100;

/// Puts a delivery in the line of its webhook.
pub(super) fn enqueue(
    tx: &mut Tx<'_>,
    subscriber: &Subscriber,
    delivery: DeliveryId,
    due_at_ms: i64,
) -> Result<(), DbError> {
    let host = Url::parse(&subscriber.url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let (agent, host) = (format!("agent:{}", subscriber.agent), format!("host:{host}"));
    work::enqueue_in_lane(
        tx,
        NewItem {
            queue: QUEUE,
            subject: &delivery.to_string(),
            due_at_ms,
            lane: &lane(subscriber.owner, subscriber.webhook),
            meters: &[&agent, &host],
        },
    )
}

/// Takes a delivery out of its line.
pub(super) fn cancel(tx: &mut Tx<'_>, delivery: DeliveryId) -> Result<(), DbError> {
    work::cancel(tx, QUEUE, &delivery.to_string())
}

/// The line of a webhook. Lines of one owner share half of a hub's places.
pub(super) fn lane(owner: PrincipalId, webhook: WebhookId) -> String {
    format!("{owner}/{webhook}")
}

pub(super) struct Sender;

impl Worker for Sender {
    fn queue(&self) -> &'static str {
        QUEUE
    }

    fn concurrency(&self, _: &Hub) -> usize {
        WORKERS
    }

    fn lane_limit(&self) -> usize {
        1
    }

    fn rate(&self, meter: &str) -> Option<Rate> {
        Some(if meter.starts_with("agent:") { PER_AGENT } else { PER_HOST })
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let Ok(id) = item.subject.parse().map(DeliveryId) else { return Settlement::Done };
            match deliver(hub, id).await {
                Ok(settlement) => settlement,
                Err(error) => {
                    tracing::warn!(delivery = id.0, %error, "a delivery could not be tried and will be tried again");
                    Settlement::RetryAt(hub.clock().now_ms() + milliseconds(INTERNAL_PAUSE))
                }
            }
        })
    }
}

/// A delivery that can be sent now.
struct Ready {
    row: DeliveryRow,
    request: Outgoing,
}

/// What is found when a delivery's turn has come.
enum Found {
    Ready(Box<Ready>),
    /// It is not to be sent, or was sent before.
    Nothing,
    Never(&'static str),
    Later,
}

async fn deliver(hub: &Hub, id: DeliveryId) -> Result<Settlement, HubError> {
    let hub_in = hub.clone();
    let ready = match hub.read(move |tx| find(&hub_in, tx, id)).await? {
        Found::Ready(ready) => ready,
        Found::Nothing => return Ok(Settlement::Done),
        Found::Never(reason) => {
            hub.write(move |tx| delivery_store::update_dead(tx, id, reason)).await?;
            return Ok(Settlement::Done);
        }
        Found::Later => return Ok(Settlement::RetryAt(hub.clock().now_ms() + milliseconds(ASLEEP_PAUSE))),
    };
    let Ready { row, request } = *ready;
    let tried = request.send(hub).await;
    hub.metrics().webhook_attempts.with_label_values(&[tried.label()]).inc();
    let hub_in = hub.clone();
    hub.write(move |tx| settle(&hub_in, tx, &row, &tried)).await
}

fn find(hub: &Hub, tx: &mut Tx<'_>, id: DeliveryId) -> Result<Found, HubError> {
    let Some(row) = delivery_store::find_delivery(tx, id)?.filter(|row| row.status == DeliveryStatus::Pending) else {
        return Ok(Found::Nothing);
    };
    let webhook = store::find_webhook(tx, row.webhook)?.ok_or_else(|| HubError::not_found("webhook"))?;
    let is_test = row.event == WebhookEvent::WebhookPing;
    if !is_test && !webhook.is_enabled() {
        return Ok(Found::Never("disabled"));
    }
    if !users::is_enabled(tx, webhook.owner)? {
        return Ok(Found::Never("owner_disabled"));
    }
    if is_test && acting::is_off(hub, tx, webhook.owner)? {
        return Ok(Found::Never("acting_off"));
    }
    if !is_test && agents::is_halted(hub, tx, row.agent)? {
        let is_over = row.created_at + milliseconds(KEPT_FOR) < tx.now_ms();
        return Ok(if is_over { Found::Never("expired") } else { Found::Later });
    }
    let body = match content::body_of(tx, &row, webhook.owner)? {
        Ok(body) => body,
        Err(reason) => return Ok(Found::Never(reason)),
    };
    let secrets = signing::read(tx, &hub.keys(), row.webhook)?;
    let request = Outgoing::new(&webhook.url, &row.public_id, row.depth, &body, &secrets, tx.now_ms())?;
    Ok(Found::Ready(Box::new(Ready { row, request })))
}

/// A signed request.
pub struct Outgoing {
    pub(super) url: String,
    pub(super) headers: Vec<(&'static str, String)>,
    body: String,
}

/// What came of a try.
pub(super) struct Tried {
    pub(super) attempt: Attempt,
    retry_after: Option<Duration>,
}

impl Outgoing {
    pub fn new(
        url: &str,
        id: &str,
        depth: i64,
        body: &Value,
        secrets: &Secrets,
        now_ms: i64,
    ) -> Result<Self, HubError> {
        let (body, timestamp) = (body.to_string(), now_ms.div_euclid(1000));
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", secrets.sign(id, timestamp, body.as_bytes())?),
            ("webhook-loop-depth", depth.to_string()),
            ("user-agent", concat!("Stoa/", env!("CARGO_PKG_VERSION")).to_owned()),
        ];
        Ok(Self { url: url.to_owned(), headers, body })
    }

    pub fn request(&self) -> Request {
        let mut request = Request::post(self.url.clone(), self.body.clone());
        for (name, value) in &self.headers {
            if let Ok(value) = HeaderValue::try_from(value) {
                request = request.header(HeaderName::from_static(name), value);
            }
        }
        request
    }

    /// Sends it once.
    pub(super) async fn send(&self, hub: &Hub) -> Tried {
        let request = self.request();
        #[expect(clippy::disallowed_methods, reason = "measures how long a receiver takes")]
        let started = std::time::Instant::now();
        let at = hub.clock().now();
        let answer = match hub.outbound() {
            // One word only: it must not describe a network that the owner cannot see.
            Ok(client) => client.send(request).await.map_err(|error| error.code()),
            Err(error) => Err(error.code),
        };
        let took = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        Tried::new(at, took, answer)
    }
}

impl Tried {
    fn new(at: Timestamp, duration_ms: i64, answer: Result<Answer, &'static str>) -> Self {
        let attempt = Attempt { at, status: None, duration_ms, error: None, response_excerpt: None };
        match answer {
            Err(error) => Self { attempt: Attempt { error: Some(error.to_owned()), ..attempt }, retry_after: None },
            Ok(answer) => {
                let is_public = answer.is_from_public_address;
                let rounded = (duration_ms + COARSE_MS / 2) / COARSE_MS * COARSE_MS;
                Self {
                    attempt: Attempt {
                        status: Some(answer.status.as_u16()),
                        duration_ms: if is_public { duration_ms } else { rounded },
                        response_excerpt: is_public.then(|| excerpt(&answer.body)),
                        ..attempt
                    },
                    retry_after: retry_after(&answer.headers),
                }
            }
        }
    }

    pub(super) fn is_success(&self) -> bool {
        self.attempt.status.is_some_and(|status| (200..300).contains(&status))
    }

    fn is_gone(&self) -> bool {
        self.attempt.status == Some(StatusCode::GONE.as_u16())
    }

    fn label(&self) -> &'static str {
        match self.attempt.status {
            _ if self.is_success() => "delivered",
            Some(_) => "refused",
            None => "failed",
        }
    }

    /// What was answered, in a few words for people.
    pub(super) fn in_words(&self) -> String {
        match (&self.attempt.status, &self.attempt.error) {
            (Some(status), _) => status.to_string(),
            (None, Some(error)) => error.clone(),
            (None, None) => "nothing".to_owned(),
        }
    }
}

/// The beginning of an answer, as text that changes neither a terminal nor its neighbours on a page.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body.get(..MAX_EXCERPT_BYTES).unwrap_or(body)).replace("\r\n", "\n");
    let is_harmless = |character: char| matches!(character, '\n' | '\t') || !is_unprintable(character);
    let text: String =
        text.chars().map(|each| if is_harmless(each) { each } else { char::REPLACEMENT_CHARACTER }).collect();
    let end = text.char_indices().map(|(at, character)| at + character.len_utf8());
    let end = end.take_while(|end| *end <= MAX_EXCERPT_BYTES).last().unwrap_or(0);
    text.get(..end).unwrap_or_default().to_owned()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// Notes what came of a try, and what follows from it for the webhook.
fn settle(hub: &Hub, tx: &mut Tx<'_>, row: &DeliveryRow, tried: &Tried) -> Result<Settlement, HubError> {
    // Somebody may have deleted it, or put it elsewhere, while it was on its way.
    let Some(now_there) = delivery_store::find_delivery(tx, row.id)? else { return Ok(Settlement::Done) };
    if now_there.status != DeliveryStatus::Pending {
        return Ok(Settlement::Done);
    }
    let mut attempts = now_there.attempts.clone();
    attempts.push(tried.attempt.clone());
    let attempts = attempts.split_off(attempts.len().saturating_sub(MAX_ATTEMPTS));
    let tries = now_there.tries + 1;
    let note = |tx: &mut Tx<'_>, status| delivery_store::update_tried(tx, row, &attempts, tries, status);
    if tried.is_success() {
        note(tx, DeliveryStatus::Delivered)?;
        service::note_success(tx, row.webhook)?;
        return Ok(Settlement::Done);
    }
    let is_test = row.event == WebhookEvent::WebhookPing;
    if tried.is_gone() && !is_test {
        note(tx, DeliveryStatus::Dead)?;
        service::disable_because(hub, tx, row.webhook, DisabledReason::Gone, &tried.in_words())?;
        return Ok(Settlement::Done);
    }
    let pause = usize::try_from(tries - 1).ok().and_then(|tries| PAUSES.get(tries)).filter(|_| !is_test);
    if let Some(pause) = pause {
        note(tx, DeliveryStatus::Pending)?;
        let pause = tried.retry_after.map_or(*pause, |wished| wished.max(*pause));
        return Ok(Settlement::RetryAt(tx.now_ms() + milliseconds(pause)));
    }
    note(tx, DeliveryStatus::Dead)?;
    if !is_test && store::update_failed(tx, row.webhook)?.is_some_and(|failures| failures >= MAX_FAILURES) {
        service::disable_because(hub, tx, row.webhook, DisabledReason::Failures, &tried.in_words())?;
    }
    Ok(Settlement::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_text() {
        assert_eq!(excerpt(b"ok"), "ok");
        assert_eq!(excerpt(b"a\0b\xff"), "a\u{fffd}b\u{fffd}");
        assert_eq!(excerpt("\u{202e}\u{1b}[2J\r\n\tok".as_bytes()), "\u{fffd}\u{fffd}[2J\n\tok");
        assert_eq!(excerpt(&[b'x'; 5000]).len(), MAX_EXCERPT_BYTES);
        assert!(excerpt(&[0xff; 5000]).len() <= MAX_EXCERPT_BYTES);
    }

    #[test]
    fn retry_after_is_believed_up_to_a_minute() {
        let of = |value: &str| retry_after(&HeaderMap::from_iter([(header::RETRY_AFTER, value.parse().unwrap())]));
        assert_eq!(of("7"), Some(Duration::from_secs(7)));
        assert_eq!(of("86400"), Some(MAX_RETRY_AFTER));
        assert_eq!(of("Fri, 15 Jan 2027 08:00:00 GMT"), None);
        assert_eq!(of("-1"), None);
    }
}
