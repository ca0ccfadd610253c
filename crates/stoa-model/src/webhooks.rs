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
        /// Somebody wrote to the agent.
        MessageReceived = "message.received",
        /// Somebody mentioned the agent in a channel.
        MessageMentioned = "message.mentioned",
        /// Somebody else wrote in a channel that the agent is a member of.
        ChannelMessage = "channel.message",
        /// Work that the agent sees has another state.
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
        /// It is active, and its last delivery failed for good.
        Failing = "failing",
    }
}

named_enum! {
    pub enum DisabledReason {
        /// Its owner, or the agent itself, turned it off.
        ByOwner = "by_owner",
        /// 50 deliveries failed one after another.
        Failures = "failures",
        /// The receiver answered 410.
        Gone = "gone",
        /// An agent registered it, and its owner has not enabled it yet.
        Unconfirmed = "unconfirmed",
        /// 72 hours after it was disabled because of failures, the receiver still did not answer.
        Unreachable = "unreachable",
    }
}

named_enum! {
    pub enum DeliveryStatus {
        /// It is sent, or tried again, as soon as its turn has come.
        Pending = "pending",
        Delivered = "delivered",
        /// All tries failed. It can be retried for 30 days.
        Dead = "dead",
        /// Its webhook is disabled because of failures, and sends it when the receiver answers again.
        Held = "held",
        /// It would continue a chain of automation that is too long.
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
    /// Deliveries that failed for good since the last one that arrived. At 50 the webhook is disabled.
    pub consecutive_failures: i64,
    /// Until when deliveries are also signed with the secret before the last rotation.
    pub old_secret_until: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When a delivery last arrived.
    pub last_delivery_at: Option<Timestamp>,
    /// Of its deliveries: how many wait to be sent, or are held; 10,000 means as many or more.
    pub waiting: i64,
    /// How many can be retried by hand; 10,000 means as many or more.
    pub dead_letters: i64,
    /// When the hub next asks whether the receiver answers, if the webhook is disabled because of failures.
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

/// A new webhook, and the secret that signs its deliveries, which is shown this once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedWebhook {
    pub webhook: WebhookView,
    #[schema(example = "whsec_…")]
    pub secret: Secret,
}

/// What is to be changed. What is left out stays.
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
    /// Whether the present secret goes on signing for 24 hours; true unless said otherwise. A secret that has leaked is dropped at once
    /// with false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_old: Option<bool>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryDeadRequest {
    /// Only those whose cause is not older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// How many deliveries are to be sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Retried {
    pub retried: i64,
}

/// Something that is sent to a webhook, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryRecord {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub agent: String,
    pub url: String,
    /// What the receiver knows it by (`webhook-id`), the same at each try.
    pub event_id: String,
    pub event: WebhookEvent,
    pub status: DeliveryStatus,
    /// Why it is dead although the receiver did not refuse it.
    pub reason: Option<String>,
    pub depth: i64,
    pub attempts: Vec<Attempt>,
    pub next_attempt_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The message that it is about.
    pub message_id: Option<MessageId>,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    pub at: Timestamp,
    /// The status that was answered.
    pub status: Option<u16>,
    pub duration_ms: i64,
    /// Why there was no answer.
    pub error: Option<String>,
    /// The beginning of the answer: up to 4 KiB, in lists 160 characters.
    pub response_excerpt: Option<String>,
}

/// A delivery with the request as it would be sent now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryDetails {
    #[serde(flatten)]
    pub delivery: DeliveryRecord,
    /// Left out if the caller or the agent does not see what it is about.
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
