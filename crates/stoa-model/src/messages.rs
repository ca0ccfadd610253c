//! Messages: what is said to one principal or in a channel, and the work queue that DMs make up.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::attachments::{AttachmentView, MAX_ATTACHMENTS, is_sha256};
use crate::named::named_enum;
use crate::principals::PrincipalKind;
use crate::reactions::{ApprovalView, ReactionView};
use crate::text::{check_body, check_label};
use crate::trust::{ACTION_TYPE, GIVEN_BY, check_action_type};
use crate::validation::{Faults, FieldError, nullable, optional_object, or_default, present};
use crate::{ChannelId, ConversationId, MessageId, Timestamp};

pub const MAX_BODY_BYTES: usize = 256 * 1024;
pub const MAX_METADATA_BYTES: usize = 16 * 1024;
const MAX_METADATA_DEPTH: usize = 32;
pub const MAX_SUBJECT: usize = 200;
pub const MAX_ERROR_BYTES: usize = 16 * 1024;
pub const DEFAULT_PRIORITY: i64 = 5;
/// Characters of a body that lists show when they do not show it whole.
pub const PREVIEW_CHARACTERS: usize = 120;
pub const DEFAULT_LEASE_SECONDS: i64 = 600;
pub const MAX_LEASE_SECONDS: i64 = 24 * 3600;
pub const MAX_CLAIM: i64 = 100;
/// The longest that a long-poll waits.
pub const MAX_WAIT_SECONDS: i64 = 50;
/// Messages that a listing of a DM returns.
pub const MAX_DM_PAGE: i64 = 100;

named_enum! {
    pub enum MessageStatus {
        Pending = "pending",
        Processing = "processing",
        Done = "done",
        Failed = "failed",
    }
}

named_enum! {
    /// The state of a work item, set by its reactions.
    pub enum WorkflowState {
        Proposed = "proposed",
        Approved = "approved",
        InProgress = "in_progress",
        Rejected = "rejected",
        Done = "done",
        Published = "published",
    }
}

impl WorkflowState {
    /// Whether nothing is left to do.
    pub fn is_terminal(self) -> bool {
        match self {
            WorkflowState::Rejected | WorkflowState::Done | WorkflowState::Published => true,
            WorkflowState::Proposed | WorkflowState::Approved | WorkflowState::InProgress => false,
        }
    }
}

/// Who wrote a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Author {
    pub kind: PrincipalKind,
    pub name: String,
    pub display_name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MessageView {
    pub id: MessageId,
    pub conversation_id: ConversationId,
    /// Set in a channel only.
    pub channel_id: Option<ChannelId>,
    pub channel: Option<String>,
    pub from: Author,
    /// The recipient of a DM.
    pub to: Option<String>,
    pub subject: Option<String>,
    /// Empty once the message is deleted.
    pub body: String,
    /// The message that this one replies to; it can be in another conversation.
    pub reply_to: Option<MessageId>,
    pub status: MessageStatus,
    /// 1 to 10; higher is more urgent.
    pub priority: i64,
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// The mentioned names.
    pub mentions: Vec<String>,
    pub created_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    /// Replies the caller can see.
    pub reply_count: i64,
    pub attachments: Vec<AttachmentView>,
    /// Oldest first.
    pub reactions: Vec<ReactionView>,
    /// Users and agents whose approval was for an earlier text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lapsed_approvals: Vec<String>,
    /// Null for talk: nobody proposed it as work, and nobody has reacted to it.
    pub workflow_state: Option<WorkflowState>,
    /// The run that sent it.
    pub run_id: Option<i64>,
    /// Number of automated steps before it; 0 for a message from a person.
    pub depth: i64,
    /// Until when the recipient has claimed it.
    pub lease_until: Option<Timestamp>,
    /// When the status last changed; null while it is the one that the message was sent with.
    pub status_since: Option<Timestamp>,
}

named_enum! {
    /// What a message started for one recipient.
    pub enum DeliveryState {
        /// Stored in the inbox.
        Stored = "stored",
        /// A run, a webhook delivery or a job was queued with it.
        Woken = "woken",
        /// A run will start later.
        Deferred = "deferred",
        /// Nothing was started; `reason` says why.
        NotWoken = "not_woken",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryView {
    pub recipient: String,
    pub state: DeliveryState,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_id: Option<i64>,
}

/// What a message started, for each recipient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryList {
    pub items: Vec<DeliveryView>,
}

/// A sent message, and what it started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SentMessage {
    #[serde(flatten)]
    pub message: MessageView,
    /// For the recipient of a DM, and for each one mentioned in a channel.
    pub delivery: Vec<DeliveryView>,
}

/// A settled message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SettledMessage {
    #[serde(flatten)]
    pub message: MessageView,
    /// The reply with the result or the error.
    pub reply_id: Option<MessageId>,
}

/// Send exactly one of `to` and `channel`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessageRequest {
    /// The name of a user or an agent.
    #[serde(default)]
    pub to: Option<String>,
    /// The name of a channel.
    #[serde(default)]
    pub channel: Option<String>,
    /// Empty only with attachments.
    #[schema(max_length = 262144)]
    pub body: String,
    #[serde(default)]
    pub reply_to: Option<MessageId>,
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    pub subject: Option<String>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 10, default = 5)]
    pub priority: Option<i64>,
    #[serde(default, deserialize_with = "optional_object")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map<String, Value>>,
    /// The kind of work, for example `publish`. It proposes a message in a workflow channel as work, and is stored as
    /// `metadata.action_type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9_.-]+$")]
    pub action_type: Option<String>,
    /// SHA-256 sums of files the caller has uploaded or can read.
    #[serde(default, deserialize_with = "or_default")]
    #[schema(max_items = 10)]
    pub attachments: Vec<String>,
    /// Stores the message without starting agents or webhooks.
    #[serde(default, deserialize_with = "or_default")]
    pub no_wake: bool,
}

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Principal(String),
    Channel(String),
}

/// A message to be sent, whose form is right.
#[derive(Debug, Clone)]
pub struct Draft {
    pub target: Target,
    pub subject: Option<String>,
    pub body: String,
    pub reply_to: Option<MessageId>,
    pub priority: i64,
    pub metadata: Map<String, Value>,
    /// SHA-256 sums, each once.
    pub attachments: Vec<String>,
    pub no_wake: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditMessageRequest {
    /// The new text. Empty only if the message has attachments.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 262144, nullable = false)]
    pub body: Option<String>,
    /// The kind of work: turns a message of a channel into work. Null makes it talk again, while nobody has reacted.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 64, pattern = "^[a-z0-9_.-]+$")]
    pub action_type: Option<Option<String>>,
}

/// A version of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RevisionView {
    pub revision: i64,
    pub body: String,
    pub written_at: Timestamp,
    /// Who approved or published this text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ApprovalView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Items<T> {
    pub items: Vec<T>,
}

/// A part of a conversation, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationPage {
    pub items: Vec<MessageView>,
    /// The last message the caller has read; null if none.
    pub last_read_message_id: Option<MessageId>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRequest {
    /// How many messages to claim at most, the most urgent and oldest first.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 100, default = 1)]
    pub limit: Option<i64>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 86400, default = 600)]
    pub lease_seconds: Option<i64>,
    /// Claims only these messages, if they are free.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub message_ids: Option<Vec<MessageId>>,
    /// Extends the leases of these messages, which the caller has claimed before, and claims no new ones.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub extend: Option<Vec<MessageId>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DoneRequest {
    /// Sent to the author as a reply.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 262144)]
    pub result: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FailRequest {
    /// What went wrong; sent to the author as a reply.
    #[schema(min_length = 1, max_length = 16384)]
    pub error: String,
}

named_enum! {
    /// Which messages an inbox shows.
    #[derive(Default)]
    pub enum InboxStatus {
        /// Messages still to be done.
        #[default]
        Pending = "pending",
        Processing = "processing",
        Done = "done",
        Failed = "failed",
        All = "all",
    }
}

/// A DM partner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PartnerView {
    pub name: String,
    pub kind: PrincipalKind,
    pub display_name: String,
    /// The beginning of the latest message.
    pub preview: String,
    pub last_message_at: Timestamp,
    /// At most 100, which means 100 or more.
    pub unread_count: i64,
    pub last_read_message_id: Option<MessageId>,
}

/// A thread of the caller with unread replies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ThreadView {
    /// The first message of the thread.
    pub message: MessageView,
    /// Unread replies; 100 means at least as many.
    pub new_replies: i64,
    pub last_reply_id: MessageId,
    pub last_reply_at: Timestamp,
}

impl SendMessageRequest {
    /// The draft, or everything that is wrong with the request.
    pub fn into_draft(self) -> Result<Draft, Vec<FieldError>> {
        let mut faults = Faults::default();
        let target = match (self.to, self.channel) {
            (Some(to), None) => Some(Target::Principal(to.strip_prefix('@').map_or(to.clone(), str::to_owned))),
            (None, Some(channel)) => {
                Some(Target::Channel(channel.strip_prefix('#').map_or(channel.clone(), str::to_owned)))
            }
            (None, None) => {
                faults.add("to", "Either `to` or `channel` is required");
                None
            }
            (Some(_), Some(_)) => {
                faults.add("to", "Send either `to` or `channel`, not both");
                None
            }
        };
        if self.attachments.is_empty() {
            check_message_body(&mut faults, "body", &self.body);
        } else {
            faults.check("body", check_body(&self.body, MAX_BODY_BYTES));
        }
        faults.check("subject", self.subject.as_deref().map_or(Ok(()), |subject| check_label(subject, MAX_SUBJECT)));
        let priority = self.priority.unwrap_or(DEFAULT_PRIORITY);
        faults.require("priority", (1..=10).contains(&priority), "must be between 1 and 10");
        let mut metadata = self.metadata.unwrap_or_default();
        if let Some(action_type) = self.action_type {
            faults.check(ACTION_TYPE, check_action_type(&action_type));
            let is_same = metadata.get(ACTION_TYPE).is_none_or(|other| *other == action_type);
            faults.require(ACTION_TYPE, is_same, "must not differ from `metadata.action_type`");
            metadata.insert(ACTION_TYPE.to_owned(), Value::String(action_type));
        }
        let size = serde_json::to_string(&metadata).map_or(usize::MAX, |text| text.len());
        faults.require(
            "metadata",
            !metadata.contains_key("mention"),
            "cannot contain `mention`, which the hub uses for mentions",
        );
        faults.require(
            "metadata",
            !metadata.contains_key(GIVEN_BY),
            "cannot contain `action_type_by`, which the hub sets when a channel owner turns talk into work",
        );
        faults.require("metadata", size <= MAX_METADATA_BYTES, "must be at most 16 KiB of JSON");
        // Deeper than that, and some of its readers could not read the answer that it is in.
        let is_flat = metadata.values().all(|value| is_within(value, MAX_METADATA_DEPTH));
        faults.require("metadata", is_flat, "must not be nested deeper than 32 levels");
        faults.check("attachments", check_attachments(&self.attachments));
        faults.finish()?;
        // Without a target there was a fault.
        let target = target.ok_or_else(Vec::new)?;
        Ok(Draft {
            subject: self.subject,
            reply_to: self.reply_to,
            priority,
            metadata,
            attachments: self.attachments,
            no_wake: self.no_wake,
            ..Draft::new(target, self.body)
        })
    }
}

impl Draft {
    /// A message with a text and nothing else. Every draft is made here, so that a new field needs one default.
    pub fn new(target: Target, body: String) -> Self {
        Self {
            target,
            subject: None,
            body,
            reply_to: None,
            priority: DEFAULT_PRIORITY,
            metadata: Map::new(),
            attachments: Vec::new(),
            no_wake: false,
        }
    }
}

fn check_attachments(sums: &[String]) -> Result<(), String> {
    if sums.len() > MAX_ATTACHMENTS {
        return Err(format!("must be at most {MAX_ATTACHMENTS} files"));
    }
    if !sums.iter().all(|sum| is_sha256(sum)) {
        return Err("must be SHA-256 sums as returned by an upload".to_owned());
    }
    let is_repeated = |(place, sum): (usize, &String)| sums.iter().take(place).any(|earlier| earlier == sum);
    if sums.iter().enumerate().any(is_repeated) { Err("lists a file twice".to_owned()) } else { Ok(()) }
}

/// Whether nothing in a value lies deeper than that.
pub(crate) fn is_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| is_within(item, depth - 1)),
        Value::Object(fields) => depth > 0 && fields.values().all(|field| is_within(field, depth - 1)),
        _ => true,
    }
}

/// A body has to say something; blanks do not.
fn check_message_body(faults: &mut Faults, field: &str, body: &str) {
    faults.require(field, !body.trim().is_empty(), "must not be empty");
    faults.check(field, check_body(body, MAX_BODY_BYTES));
}

impl EditMessageRequest {
    /// What is wrong with it for a message that has attachments, or has none.
    pub fn check(&self, has_attachments: bool) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        match &self.body {
            Some(body) if has_attachments => {
                faults.check("body", check_body(body, MAX_BODY_BYTES));
            }
            Some(body) => check_message_body(&mut faults, "body", body),
            None => faults.require("body", self.action_type.is_some(), "or `action_type` is required"),
        }
        if let Some(Some(action_type)) = &self.action_type {
            faults.check(ACTION_TYPE, check_action_type(action_type));
        }
        faults.finish()
    }
}

impl ClaimRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        let within = |value: Option<i64>, most| value.is_none_or(|value| (1..=most).contains(&value));
        faults.require("limit", within(self.limit, MAX_CLAIM), "must be between 1 and 100");
        faults.require("lease_seconds", within(self.lease_seconds, MAX_LEASE_SECONDS), "must be between 1 and 86400");
        for (field, ids) in [("message_ids", &self.message_ids), ("extend", &self.extend)] {
            let count = ids.as_ref().map_or(1, Vec::len);
            faults.require(field, (1..=100).contains(&count), "must be 1 to 100 ids");
        }
        let is_both = self.message_ids.is_some() && self.extend.is_some();
        faults.require("extend", !is_both, "cannot be combined with message_ids");
        faults.finish()
    }

    /// How many messages it is about, at most.
    pub fn most(&self) -> usize {
        let ids = self.message_ids.as_ref().or(self.extend.as_ref()).map(Vec::len);
        ids.unwrap_or_else(|| usize::try_from(self.limit.unwrap_or(1)).unwrap_or(0))
    }
}

impl DoneRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        if let Some(result) = &self.result {
            check_message_body(&mut faults, "result", result);
        }
        faults.finish()
    }
}

impl FailRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.require("error", !self.error.trim().is_empty(), "must not be empty");
        faults.check("error", check_body(&self.error, MAX_ERROR_BYTES));
        faults.finish()
    }
}

/// The beginning of a body, on one line.
pub fn preview(body: &str) -> String {
    let mut line = String::new();
    for word in body.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        // A word may be as long as a body can be.
        line.extend(word.chars().take(PREVIEW_CHARACTERS));
        if line.len() >= PREVIEW_CHARACTERS && line.chars().count() >= PREVIEW_CHARACTERS {
            break;
        }
    }
    cut(&line).trim_end().to_owned()
}

/// The first line of a body that says something, without its Markdown: a line that is cut in the middle of a table says nothing.
pub fn title(body: &str) -> String {
    let is_mark =
        |character: char| matches!(character, '`' | '*' | '_' | '~' | '|' | '#' | '>' | '[' | ']' | '\\' | '<' | '!');
    let plain = |line: &str| line.replace(is_mark, " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let says_something = |line: &String| line.chars().any(char::is_alphanumeric);
    let line = body.lines().map(plain).find(says_something).unwrap_or_default();
    let line = line.trim_start_matches(['-', '+', ' ']);
    let begin = cut(line);
    if begin.len() < line.len() { format!("{}…", begin.trim_end()) } else { begin.to_owned() }
}

/// The first characters of a body, as they are.
pub fn cut(body: &str) -> &str {
    body.char_indices().nth(PREVIEW_CHARACTERS).map_or(body, |(end, _)| &body[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_no_markdown() {
        for (body, wanted) in [
            ("who takes this?", "who takes this?"),
            ("| --- | :-: |\n| **name** | `cost` |", "name cost"),
            ("```\n---\n```\n# Section 2\nmore", "Section 2"),
            ("- [x] a [link](/x)", "x a link (/x)"),
            ("***", ""),
        ] {
            assert_eq!(title(body), wanted, "{body}");
        }
        assert_eq!(title(&"ab ".repeat(100)), format!("{}…", "ab ".repeat(40).trim_end()));
    }

    #[test]
    fn previews_are_one_line_of_120_characters() {
        for (body, line) in [
            ("", String::new()),
            (" \n a\t\nb  ", "a b".to_owned()),
            (&"\n".repeat(1000), String::new()),
            (&format!("{}b", "\n".repeat(1000)), "b".to_owned()),
            (&"ä".repeat(500), "ä".repeat(120)),
            (&"ab ".repeat(500), "ab ".repeat(40).trim_end().to_owned()),
            (&format!("{} {}", "x".repeat(119), "y"), "x".repeat(119)),
        ] {
            assert_eq!(preview(body), line, "{body:?}");
        }
    }

    #[test]
    fn metadata_lies_not_too_deep() {
        let nested = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let draft = |levels| {
            let metadata = Some(Map::from_iter([("x".to_owned(), nested(levels))]));
            let request =
                SendMessageRequest { to: Some("ada".to_owned()), body: "x".to_owned(), metadata, ..Default::default() };
            request.into_draft().map(|_| ())
        };
        assert!(draft(32).is_ok() && draft(33).is_err());
    }

    #[test]
    fn bodies_are_cut_between_characters() {
        assert_eq!(cut(&"🙂".repeat(121)), "🙂".repeat(120));
        assert_eq!(cut("short\n"), "short\n");
    }
}
