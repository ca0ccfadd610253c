//! Webhooks: signed requests that the hub sends when something happens to an agent.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::named::named_enum;
use crate::validation::{Faults, FieldError};
use crate::{DeliveryId, MessageId, Secret, Timestamp, WebhookId};

pub const MAX_WEBHOOKS_OF_AGENT: i64 = 10;
/// Of all agents of one person together.
pub const MAX_WEBHOOKS_OF_OWNER: i64 = 100;
/// Deliveries that fail for good, one after another, before a webhook is disabled.
pub const MAX_FAILURES: i64 = 50;
/// A delivery at this depth is noted and not sent.
pub const MAX_DEPTH: i64 = 5;
/// Deliveries of one webhook that wait, pending or held.
pub const MAX_WAITING: i64 = 10_000;
/// What is kept of an answer.
pub const MAX_EXCERPT_BYTES: usize = 4 * 1024;
/// What a delivery may be long.
pub const MAX_BODY_BYTES: usize = 20 * 1000;

named_enum! {
    pub enum WebhookEvent {
        /// The agent received a direct message.
        MessageReceived = "message.received",
        /// The agent was mentioned in a channel.
        MessageMentioned = "message.mentioned",
        /// Someone else posted in one of the agent's channels.
        ChannelMessage = "channel.message",
        /// Work that the agent can see changed state.
        WorkflowStateChanged = "workflow.state_changed",
        /// Accepted; sent once there are runs.
        RunFinished = "run.finished",
        /// Accepted; sent once there are goals.
        GoalChanged = "goal.changed",
        /// Accepted; sent once there is a wiki.
        WikiChanged = "wiki.changed",
        /// A test.
        WebhookPing = "webhook.ping",
    }
}

impl WebhookEvent {
    /// Its bit in the set of events that a row has.
    pub fn bit(self) -> i64 {
        1 << (self as u8)
    }
}

/// The bits of all these events.
pub fn bits_of(events: &[WebhookEvent]) -> i64 {
    events.iter().fold(0, |bits, event| bits | event.bit())
}

/// The events of these bits, in a fixed order.
pub fn events_of(bits: i64) -> Vec<WebhookEvent> {
    WebhookEvent::ALL.into_iter().filter(|event| bits & event.bit() != 0).collect()
}

named_enum! {
    pub enum WebhookStatus {
        Active = "active",
        /// Nothing is sent. If failures are the reason, deliveries are kept for 72 hours and the receiver is probed.
        Disabled = "disabled",
        /// Active, but the last delivery failed.
        Failing = "failing",
    }
}

named_enum! {
    pub enum DisabledReason {
        /// Disabled by its owner or the agent.
        ByOwner = "by_owner",
        /// 50 deliveries failed in a row.
        Failures = "failures",
        /// The receiver returned 410.
        Gone = "gone",
        /// Registered by an agent and not yet enabled by its owner.
        Unconfirmed = "unconfirmed",
        /// The receiver did not respond for 72 hours after the webhook was disabled because of failures.
        Unreachable = "unreachable",
    }
}

named_enum! {
    pub enum DeliveryStatus {
        /// Waiting to be sent or retried.
        Pending = "pending",
        Delivered = "delivered",
        /// All attempts failed. It can be retried for 30 days.
        Dead = "dead",
        /// The webhook is disabled because of failures. Sent when the receiver responds again.
        Held = "held",
        /// Stopped to prevent a loop.
        SuppressedLoop = "suppressed_loop",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WebhookView {
    pub id: WebhookId,
    pub agent: String,
    pub url: String,
    pub events: Vec<WebhookEvent>,
    pub status: WebhookStatus,
    pub disabled_reason: Option<DisabledReason>,
    pub disabled_at: Option<Timestamp>,
    /// Failed deliveries since the last success. At 50 the webhook is disabled.
    pub consecutive_failures: i64,
    /// When the old secret stops being used for signing.
    pub old_secret_until: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The last successful delivery.
    pub last_delivery_at: Option<Timestamp>,
    /// Pending and held deliveries; 10,000 means at least as many.
    pub waiting: i64,
    /// Dead letters that can be retried; 10,000 means at least as many.
    pub dead_letters: i64,
    /// The next probe of the receiver, if the webhook is disabled because of failures.
    pub next_probe_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateWebhookRequest {
    pub agent: String,
    #[schema(max_length = 4096, example = "https://ops.example.com/stoa")]
    pub url: String,
    #[schema(min_items = 1)]
    pub events: Vec<WebhookEvent>,
}

/// A new webhook and its signing secret, shown only once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedWebhook {
    pub webhook: WebhookView,
    #[schema(example = "whsec_…")]
    pub secret: Secret,
}

/// Updates only the given fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateWebhookRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<WebhookEvent>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The same as `enabled`, as the record has it: `active` or `disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<WebhookStatus>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateSecretRequest {
    /// Whether the old secret keeps signing for 24 hours. Default: true. A secret that has leaked is dropped at once
    /// with false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_old: Option<bool>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryDeadRequest {
    /// Only for events since this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// Number of deliveries queued for retry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Retried {
    pub retried: i64,
}

/// A delivery to a webhook and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryRecord {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub agent: String,
    pub url: String,
    /// The `webhook-id` header, the same for every attempt.
    pub event_id: String,
    pub event: WebhookEvent,
    pub status: DeliveryStatus,
    /// Why it is dead, if the receiver did not reject it.
    pub reason: Option<String>,
    pub depth: i64,
    pub attempts: Vec<Attempt>,
    pub next_attempt_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The message that it is about.
    pub message_id: Option<MessageId>,
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    pub at: Timestamp,
    /// The HTTP status of the response.
    pub status: Option<u16>,
    pub duration_ms: i64,
    /// Why there was no response.
    pub error: Option<String>,
    /// The beginning of the response: up to 4 KiB, in lists 160 characters.
    pub response_excerpt: Option<String>,
}

/// A delivery with the request as it would be sent now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryDetails {
    #[serde(flatten)]
    pub delivery: DeliveryRecord,
    /// Omitted if the caller or the agent cannot see the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<DeliveryRequest>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryRequest {
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

fn check_events(faults: &mut Faults, events: &[WebhookEvent]) {
    faults.require("events", !events.is_empty(), "must name at least one event");
}

impl CreateWebhookRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        check_events(&mut faults, &self.events);
        faults.finish()
    }
}

impl UpdateWebhookRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        if let Some(events) = &self.events {
            check_events(&mut faults, events);
        }
        faults.require("status", self.status != Some(WebhookStatus::Failing), "must be active or disabled");
        let is_said_twice = self.enabled.is_some() && self.status.is_some();
        faults.require("status", !is_said_twice, "duplicates `enabled`: send only one of them");
        faults.finish()
    }

    /// Whether it is to be turned on or off.
    pub fn wants_enabled(&self) -> Option<bool> {
        self.enabled.or_else(|| self.status.map(|status| status == WebhookStatus::Active))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_kept_as_bits() {
        let all = WebhookEvent::ALL;
        assert_eq!(events_of(bits_of(&all)), all);
        let some = [WebhookEvent::WebhookPing, WebhookEvent::MessageReceived, WebhookEvent::WebhookPing];
        assert_eq!(events_of(bits_of(&some)), [WebhookEvent::MessageReceived, WebhookEvent::WebhookPing]);
        // They are stored, so they never change.
        assert_eq!(all.map(WebhookEvent::bit), [1, 2, 4, 8, 16, 32, 64, 128]);
    }
}
