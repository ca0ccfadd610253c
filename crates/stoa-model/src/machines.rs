//! Machine principals: services that are not users, their events, and what becomes of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::cloud_events::MAX_TYPE;
use crate::mentions::mentions_in;
use crate::messages::{Author, DEFAULT_PRIORITY, MAX_SUBJECT, MessageStatus, WorkflowState};
use crate::named::named_enum;
use crate::page::Page;
use crate::reactions::ReactionView;
use crate::runs::RunStatus;
use crate::templates::Template;
use crate::text::{check_body, check_label};
use crate::traces::TraceView;
use crate::trust::check_action_type;
use crate::validation::{Faults, FieldError, optional_object, or_default};
use crate::webhooks::{DeliveryStatus, WebhookEvent};
use crate::{MessageId, RunId, Timestamp, handles};

/// Events in one batch.
pub const MAX_BATCH: usize = 500;
pub const MAX_ROUTES: usize = 100;
/// Source configs of one principal.
pub const MAX_SOURCE_CONFIGS: i64 = 100;
/// Components that one principal may report about.
pub const MAX_COMPONENTS: i64 = 200;
/// All source configs of one principal, as JSON.
pub const MAX_CONFIG_BYTES: i64 = 256 * 1024;
/// What a template makes of one event; more is cut.
pub const MAX_RENDERED_BYTES: usize = 16 * 1024;
/// Names that one template may call out.
const MAX_CALLS: usize = 10;
const MAX_NAME: usize = 128;
const MAX_TEMPLATE_BYTES: usize = 8 * 1024;
const MAX_DESCRIPTION: usize = 1000;
const MAX_MESSAGE: usize = 2000;
const MAX_VERSION: usize = 128;
const MAX_STATUS: usize = 32;
const MAX_DETAILS_BYTES: usize = 4 * 1024;

/// What a source config and a component may be called.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    let begins_well = name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
    if begins_well && name.len() <= MAX_NAME && name.bytes().all(is_word) {
        Ok(())
    } else {
        Err("must be 1 to 128 of A-Z a-z 0-9 . _ : - and start with a letter or a digit")
    }
}

/// How events of a principal become messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceConfigRequest {
    #[serde(default, deserialize_with = "or_default")]
    #[schema(max_length = 1000)]
    pub description: String,
    /// The first matching route is used. Without a route, events are only stored.
    #[schema(max_items = 100)]
    pub routes: Vec<Route>,
}

/// Puts events of a type into a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The event type, for example `com.example.alert`, or a prefix such as `com.example.*`.
    #[serde(rename = "type")]
    #[schema(min_length = 1, max_length = 255, example = "com.example.alert.*")]
    pub event_type: String,
    /// The channel: a public one, or a private one that this principal is a member of.
    #[schema(pattern = "^#?[a-z0-9][a-z0-9_-]{0,63}$")]
    pub channel: String,
    /// What the message says: text with `{{type}}`, `{{subject}}`, `{{data.host}}` and similar placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 8192, example = "{{data.host}} is at {{data.load}}")]
    pub template: Option<String>,
    /// The subject of the message, in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10, default = 5)]
    pub priority: Option<i64>,
    /// Proposes the message as work of this kind, if the channel has a workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9_.-]+$")]
    pub action_type: Option<String>,
}

impl Route {
    /// What is said when no template is given.
    const DEFAULT_TEMPLATE: &str = "{{type}}\n{{subject}}\n{{data}}";

    pub fn fits(&self, event_type: &str) -> bool {
        match self.event_type.strip_suffix('*') {
            Some(beginning) => event_type.starts_with(beginning),
            None => self.event_type == event_type,
        }
    }

    pub fn body_template(&self) -> Result<Template, String> {
        Template::parse(self.template.as_deref().unwrap_or(Self::DEFAULT_TEMPLATE))
    }

    pub fn subject_template(&self) -> Result<Option<Template>, String> {
        self.subject.as_deref().map(Template::parse).transpose()
    }

    pub fn priority(&self) -> i64 {
        self.priority.unwrap_or(DEFAULT_PRIORITY)
    }
}

impl SourceConfigRequest {
    /// The same with names as they are kept, or everything that is wrong with it.
    pub fn checked(mut self) -> Result<Self, Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("description", check_body(&self.description, MAX_DESCRIPTION * 4));
        let is_short = self.description.chars().count() <= MAX_DESCRIPTION;
        faults.require("description", is_short, "must be at most 1000 characters long");
        faults.require("routes", self.routes.len() <= MAX_ROUTES, "must be at most 100");
        for (place, route) in self.routes.iter_mut().enumerate().take(MAX_ROUTES) {
            if let Some(name) = route.channel.strip_prefix('#') {
                route.channel = name.to_owned();
            }
            let field = |name: &str| format!("routes[{place}].{name}");
            faults.check(&field("type"), check_pattern(&route.event_type));
            faults.check(&field("channel"), handles::check_channel_name(&route.channel));
            if let Some(template) = &route.template {
                let says_something = !template.trim().is_empty() && template.len() <= MAX_TEMPLATE_BYTES;
                faults.require(&field("template"), says_something, "must be 1 to 8192 bytes long");
            }
            let body = faults.check(&field("template"), route.body_template());
            let calls = body.map_or(0, |body| mentions_in(&body.own_words()).len());
            faults.require(&field("template"), calls <= MAX_CALLS, "can mention at most 10 names");
            if let Some(subject) = &route.subject {
                faults.check(&field("subject"), check_label(subject, MAX_SUBJECT));
                faults.check(&field("subject"), route.subject_template().map(drop));
            }
            faults.check(&field("action_type"), route.action_type.as_deref().map_or(Ok(()), check_action_type));
            faults.require(&field("priority"), (1..=10).contains(&route.priority()), "must be between 1 and 10");
        }
        faults.finish()?;
        Ok(self)
    }
}

fn check_pattern(pattern: &str) -> Result<(), &'static str> {
    let literal = pattern.strip_suffix('*').unwrap_or(pattern);
    let is_whole_word = pattern.len() == literal.len() || literal.is_empty() || literal.ends_with('.');
    let is_type = pattern.len() <= MAX_TYPE && !pattern.is_empty();
    if is_type && is_whole_word && !literal.contains('*') && !literal.chars().any(char::is_control) {
        Ok(())
    } else {
        Err("must be an event type, or its beginning up to a dot followed by a star")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SourceConfigView {
    pub source: String,
    /// The principal whose config it is.
    pub principal: String,
    /// Counts the changes, from 1; also the ETag.
    pub version: i64,
    pub description: String,
    pub routes: Vec<Route>,
    /// Channels of the routes that were deleted. A new channel of the same name is another one: events do not go there until the
    /// config is sent again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted_channels: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// All source configs of a principal, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SourceConfigList {
    pub items: Vec<SourceConfigView>,
}

/// A component's self-reported status. It becomes stale after 90 seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RuntimeStatusRequest {
    /// For example `ok`, `degraded` or `down`.
    #[schema(pattern = "^[a-z][a-z0-9_-]{0,31}$", example = "ok")]
    pub status: String,
    /// A sentence for people.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub message: Option<String>,
    /// The version of the software that runs.
    #[serde(default)]
    #[schema(max_length = 128)]
    pub version: Option<String>,
    /// Figures and the like, at most 4 KiB of JSON.
    #[serde(default, deserialize_with = "optional_object")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Map<String, Value>>,
}

impl RuntimeStatusRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        let is_status = self.status.len() <= MAX_STATUS
            && self.status.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
            && self.status.bytes().all(is_word);
        faults.require("status", is_status, "must be 1 to 32 of a-z 0-9 _ - such as ok, degraded or down");
        let message = self.message.as_deref().unwrap_or_default();
        faults.check("message", check_body(message, MAX_MESSAGE * 4));
        faults.require("message", message.chars().count() <= MAX_MESSAGE, "must be at most 2000 characters long");
        faults.check("version", self.version.as_deref().map_or(Ok(()), |version| check_label(version, MAX_VERSION)));
        let details = self.details.as_ref().map(serde_json::to_string);
        let is_small = details.is_none_or(|text| text.is_ok_and(|text| text.len() <= MAX_DETAILS_BYTES));
        faults.require("details", is_small, "must be at most 4 KiB of JSON");
        faults.finish()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RuntimeStatusView {
    pub principal: String,
    pub component: String,
    pub status: String,
    pub message: Option<String>,
    pub version: Option<String>,
    #[schema(value_type = Object)]
    pub details: Map<String, Value>,
    pub reported_at: Timestamp,
    /// Whether the report is older than 90 seconds.
    pub stale: bool,
}

/// A CloudEvent, as the description of the interface has it. Attributes that are not named here are allowed.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventSchema {
    #[schema(pattern = "^1\\.0$", example = "1.0")]
    pub specversion: String,
    #[schema(min_length = 1, max_length = 255)]
    pub id: String,
    /// The principal that sends it.
    #[schema(example = "svc:sense:demo")]
    pub source: String,
    #[serde(rename = "type")]
    #[schema(min_length = 1, max_length = 255, example = "com.example.alert")]
    pub event_type: String,
    #[schema(min_length = 1, max_length = 1024, nullable = false)]
    pub subject: Option<String>,
    pub time: Option<Timestamp>,
    #[schema(nullable = false)]
    pub datacontenttype: Option<String>,
    #[schema(nullable = false)]
    pub dataschema: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub data: Option<Value>,
    #[schema(nullable = false)]
    pub data_base64: Option<String>,
}

/// The result for each event of a request, in order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct IngestAnswer {
    pub results: Vec<IngestResult>,
    pub accepted: i64,
    pub duplicates: i64,
    pub rejected: i64,
}

impl IngestAnswer {
    /// Adds what became of the events behind these.
    pub fn append(&mut self, mut more: IngestAnswer) {
        self.results.append(&mut more.results);
        self.accepted += more.accepted;
        self.duplicates += more.duplicates;
        self.rejected += more.rejected;
    }
}

named_enum! {
    pub enum IngestStatus {
        Accepted = "accepted",
        /// The event was already received and is ignored.
        Duplicate = "duplicate",
        /// The event is invalid; the others are not affected.
        Rejected = "rejected",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IngestResult {
    /// The id of the event, if it has one.
    pub id: Option<String>,
    pub status: IngestStatus,
    /// The outcome; none if it was rejected.
    pub outcome: Option<EventOutcome>,
    /// Why it was not routed.
    pub reason: Option<String>,
    /// The resulting message.
    pub message_id: Option<MessageId>,
    /// Why it was rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

named_enum! {
    pub enum EventOutcome {
        /// Kept; no route wanted it.
        Stored = "stored",
        /// It became a message.
        Routed = "routed",
        /// There was a route, but it could not be followed.
        NotRouted = "not_routed",
    }
}

/// The results of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Evidence {
    pub event_id: String,
    #[serde(rename = "type")]
    pub event_type: String,
    pub source: String,
    pub received_at: Timestamp,
    pub outcome: EventOutcome,
    pub reason: Option<String>,
    /// The source config that routed it, as it was then.
    pub source_config: Option<ConfigReference>,
    /// The message that it became, if the principal may still see it.
    pub message: Option<MessageEvidence>,
    /// Reactions to the message.
    pub reactions: Vec<ReactionView>,
    /// Runs of agents that the message set off.
    pub runs: Vec<RunEvidence>,
    /// Deliveries of the message to webhooks, the first 20.
    pub deliveries: Vec<DeliveryEvidence>,
    /// What the hub noted of the request that brought the event.
    pub traces: Vec<TraceView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigReference {
    pub source: String,
    pub version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MessageEvidence {
    pub id: MessageId,
    pub channel: Option<String>,
    pub status: MessageStatus,
    pub workflow_state: Option<WorkflowState>,
    pub created_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    pub reply_count: i64,
    /// The first replies, at most 20.
    pub replies: Vec<ReplyEvidence>,
}

/// A run that the message of an event has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunEvidence {
    pub id: RunId,
    pub agent: String,
    pub status: RunStatus,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReplyEvidence {
    pub id: MessageId,
    pub from: Author,
    /// The beginning of its text.
    pub body: String,
    pub status: MessageStatus,
    pub created_at: Timestamp,
}

/// A delivery, without the address that it went to: that is its owner's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryEvidence {
    pub event: WebhookEvent,
    /// The agent whose webhook it is.
    pub agent: String,
    pub status: DeliveryStatus,
    pub attempts: i64,
    pub created_at: Timestamp,
    /// When it got this status, or was last tried.
    pub changed_at: Timestamp,
}

/// A machine principal, as administrators see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MachineView {
    #[serde(flatten)]
    pub standing: MachineStanding,
    pub components: Vec<RuntimeStatusView>,
    pub source_configs: Vec<SourceConfigView>,
}

/// The same in a list, with less of what it may have much of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MachineSummary {
    #[serde(flatten)]
    pub standing: MachineStanding,
    pub components: Vec<ComponentSummary>,
    pub source_configs: Vec<ConfigReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComponentSummary {
    pub component: String,
    pub status: String,
    pub stale: bool,
    pub reported_at: Timestamp,
}

/// How a machine principal stands with the registry and with this hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MachineStanding {
    pub principal_id: String,
    /// Whether the registry has it. One that was taken out keeps its history.
    pub registered: bool,
    pub enabled: bool,
    pub keys: Vec<MachineKeyView>,
    pub last_used_at: Option<Timestamp>,
    /// Rejected requests by reason. Hubs write these down every few seconds.
    pub refusals: BTreeMap<String, i64>,
    pub last_refused_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MachineKeyView {
    pub kid: String,
    pub status: String,
    pub usable: bool,
    /// Why it is not usable.
    pub reason: Option<String>,
    pub scopes: Vec<String>,
    /// A short hash of the public key.
    pub fingerprint: String,
    pub uses: i64,
    pub last_used_at: Option<Timestamp>,
}

/// The registry that a hub goes by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RegistryView {
    pub configured: bool,
    pub audience: Option<String>,
    /// When the active registry was loaded.
    pub loaded_at: Option<Timestamp>,
    pub principals: i64,
    pub keys: i64,
    pub usable_keys: i64,
    /// Keys that cannot be used, and the like; at most 20 are shown.
    pub warnings: Vec<String>,
    pub warning_count: i64,
    /// Errors in the current files; the previous registry stays active.
    pub faults: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MachinePage {
    #[serde(flatten)]
    pub page: Page<MachineSummary>,
    pub registry: RegistryView,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(event_type: &str) -> Route {
        let channel = "alerts".to_owned();
        Route {
            event_type: event_type.to_owned(),
            channel,
            template: None,
            subject: None,
            priority: None,
            action_type: None,
        }
    }

    #[test]
    fn a_star_stands_for_the_rest_of_a_type() {
        assert!(route("a.b").fits("a.b") && !route("a.b").fits("a.b.c") && !route("a.b").fits("a"));
        assert!(route("a.*").fits("a.b.c") && route("*").fits("x") && !route("a.*").fits("a"));
        for good in ["a", "a.b", "a.*", "*"] {
            assert_eq!(check_pattern(good), Ok(()), "{good}");
        }
        for bad in ["", "a*", "*.a", "a.*.b", "**", "a\n", &"x".repeat(256)] {
            assert!(check_pattern(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_plain() {
        for good in ["a", "0", "orders.v1", "svc:sense:demo", "A_b-c"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", ".a", "-a", "a/b", "a b", "ä", "a\n", &"x".repeat(129)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
