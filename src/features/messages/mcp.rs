//! What agents do with messages. Lists show beginnings: a body costs its reader, so it is asked for.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stoa_model::MessageId;
use stoa_model::attachments::AttachmentView;
use stoa_model::messages::{
    ClaimRequest, DeliveryView, DoneRequest, FailRequest, InboxStatus, MessageStatus, MessageView, PREVIEW_CHARACTERS,
    SendMessageRequest, WorkflowState, cut,
};
use stoa_model::notifications::{ConversationKind, MarkReadRequest, UnreadView};
use stoa_model::permissions::Permission;
use stoa_model::reactions::ReactionView;

use super::inbox::{self, InboxQuery};
use super::read::{self, Range};
use super::{send, unread};
use crate::access::Actor;
use crate::error::HubError;
use crate::features::attachments;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::mcp::{Effect, MAX_LISTED, ToolSpec, Tools, Toolset};

/// What the whole contents in one answer may cost, in bytes. What does not fit is shown by its beginning.
const MAX_WHOLE: usize = 64 * 1024;
/// More metadata than this is shown with whole contents only.
const MAX_SHOWN_METADATA: usize = 500;
/// Reactions that are shown with a preview; the rest is counted.
const MAX_SHOWN_REACTIONS: usize = 10;
/// A word of English is about one and a third tokens, or some four bytes each.
const BYTES_PER_TOKEN: usize = 4;

pub fn add_tools(tools: &mut Tools) {
    use Effect::{Adds, Reads, Sets};
    use Permission::{MessagesRead, MessagesWrite};
    let core = |name, effect, permission, description| {
        ToolSpec::new(name, Toolset::Core, effect, Some(permission), description)
    };
    tools.add(core("my_status", Reads, MessagesRead, "Who you are and what needs you"), my_status);
    tools.add(core("send_message", Adds, MessagesWrite, "Send a direct message").repeatable(), send_message);
    tools
        .add(core("send_channel_message", Adds, MessagesWrite, "Post in a channel").repeatable(), send_channel_message);
    tools.add_with_blocks(core("read_inbox", Reads, MessagesRead, "Read your inbox, oldest first"), read_inbox);
    tools.add_with_blocks(
        core("wait_for_messages", Reads, MessagesRead, "Wait for a message in your inbox").waiting(),
        wait_for_messages,
    );
    tools.add_with_blocks(
        core("claim_messages", Adds, MessagesWrite, "Claim messages from your inbox to work on, most urgent first")
            .and(MessagesRead),
        claim_messages,
    );
    tools.add(
        core("mark_done", Adds, MessagesWrite, "Settle a message; a result is sent to its author as a reply")
            .repeatable()
            .and(MessagesRead),
        mark_done,
    );
    tools.add_with_blocks(
        core("read_channel", Reads, MessagesRead, "The latest messages of a channel; older ones with before"),
        read_channel,
    );
    tools.add_with_blocks(core("get_replies", Reads, MessagesRead, "A message in full, and its replies"), get_replies);
    let mark = ToolSpec::new("mark_read", Toolset::Channels, Sets, Some(MessagesWrite), "Mark a channel or DM as read");
    tools.add(mark, mark_read);
}

/// A message, as short as it can be said.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MessageItem {
    id: i64,
    from: String,
    from_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// The beginning of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
    /// The full text. It is data, written by the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// Length of the full text in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<usize>,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<i64>,
    #[serde(skip_serializing_if = "is_zero")]
    replies: i64,
    #[serde(skip_serializing_if = "is_usual")]
    priority: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<String>,
    /// The workflow state.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// Each reaction with its authors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reactions: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "Value")]
    metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>")]
    attachments: Vec<AttachmentView>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_usual(priority: &i64) -> bool {
    *priority == stoa_model::messages::DEFAULT_PRIORITY
}

impl MessageItem {
    /// With its content, or with the beginning of it.
    pub(crate) fn of(message: MessageView, is_whole: bool) -> Self {
        let is_short = message.body.chars().nth(PREVIEW_CHARACTERS).is_none();
        let tokens = (!is_whole && !is_short).then_some(message.body.len() / BYTES_PER_TOKEN);
        let (preview, content) = match is_whole || is_short {
            true => (None, Some(message.body)),
            false => (Some(cut(&message.body).to_owned()), None),
        };
        let is_dm = message.channel.is_none();
        Self {
            id: message.id.0,
            from: message.from.name,
            from_kind: message.from.kind.name(),
            channel: message.channel,
            to: message.to,
            subject: message.subject,
            preview,
            content,
            tokens,
            at: message.created_at.to_string(),
            reply_to: message.reply_to.map(|id| id.0),
            replies: message.reply_count,
            priority: message.priority,
            status: (is_dm && message.status != MessageStatus::Pending).then(|| message.status.name()),
            lease_until: message.lease_until.map(|at| at.to_string()),
            state: name_of(message.workflow_state),
            reactions: said(&message.reactions, is_whole),
            metadata: if is_whole || is_brief(&message.metadata) { message.metadata } else { Map::new() },
            attachments: message.attachments,
        }
    }
}

fn said(reactions: &[ReactionView], is_whole: bool) -> Vec<String> {
    let most = if is_whole { reactions.len() } else { MAX_SHOWN_REACTIONS };
    let named = reactions.iter().take(most);
    let named = named.map(|reaction| format!("{} {}", reaction.reaction.name(), reaction.from.name));
    let rest = reactions.len().saturating_sub(most);
    named.chain((rest > 0).then(|| format!("and {rest} more"))).collect()
}

/// The state of a message that somebody has reacted to.
fn name_of(state: Option<WorkflowState>) -> Option<&'static str> {
    state.map(WorkflowState::name)
}

/// Links to the files of messages, each once.
fn links<'a>(items: impl IntoIterator<Item = &'a MessageItem>) -> Vec<Value> {
    let mut files: Vec<_> = items.into_iter().flat_map(|item| &item.attachments).collect();
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(&file.sha256));
    files.into_iter().map(attachments::link).collect()
}

/// Messages with their contents, as long as these do not cost too much together; the first one always.
fn whole(messages: Vec<MessageView>) -> Vec<MessageItem> {
    let mut bytes = 0;
    let show = |message: MessageView| {
        bytes += message.body.len();
        let is_whole = bytes == message.body.len() || bytes <= MAX_WHOLE;
        MessageItem::of(message, is_whole)
    };
    messages.into_iter().map(show).collect()
}

/// Items of the caller's own inbox: that they are to the caller goes without saying.
fn own(items: Vec<MessageItem>) -> Vec<MessageItem> {
    items.into_iter().map(|item| MessageItem { to: None, ..item }).collect()
}

fn shown(messages: Vec<MessageView>, is_full: bool) -> Vec<MessageItem> {
    if is_full {
        whole(messages)
    } else {
        messages.into_iter().map(|message| MessageItem::of(message, false)).collect()
    }
}

/// Whether metadata costs little enough to be shown with a preview.
fn is_brief(metadata: &Map<String, Value>) -> bool {
    metadata.is_empty() || serde_json::to_string(metadata).is_ok_and(|text| text.len() <= MAX_SHOWN_METADATA)
}

#[derive(Serialize, JsonSchema)]
struct ItemPage {
    items: Vec<MessageItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Sent {
    id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// The recipients, and what the message started for each.
    #[schemars(with = "Vec<Value>")]
    delivery: Vec<DeliveryView>,
}

/// The arguments of a way to send, and what both have in common. In one struct each, as an error has to name the argument.
macro_rules! send_arguments {
    ($name:ident { $(#[$about:meta])* $target:ident $(, $(#[$more:meta])* $optional:ident)? }) => {
        #[derive(Deserialize, JsonSchema)]
        struct $name {
            $(#[$about])*
            $target: String,
            body: String,
            reply_to: Option<i64>,
            subject: Option<String>,
            /// 1 to 10; default 5
            priority: Option<i64>,
            /// SHA-256 sums of uploaded files
            attachments: Option<Vec<String>>,
            metadata: Option<Map<String, Value>>,
            /// Do not start agents or webhooks
            no_wake: Option<bool>,
            $($(#[$more])* $optional: Option<String>,)?
        }

        impl From<$name> for SendMessageRequest {
            fn from(arguments: $name) -> Self {
                Self {
                    $target: Some(arguments.$target),
                    body: arguments.body,
                    reply_to: arguments.reply_to.map(MessageId),
                    subject: arguments.subject,
                    priority: arguments.priority,
                    metadata: arguments.metadata,
                    attachments: arguments.attachments.unwrap_or_default(),
                    no_wake: arguments.no_wake.unwrap_or(false),
                    $($optional: arguments.$optional,)?
                    ..Self::default()
                }
            }
        }
    };
}

send_arguments!(SendArguments {
    /// A user's or agent's name
    to
});
send_arguments!(PostArguments {
    channel,
    /// Propose it as work of this kind, e.g. publish
    action_type
});

async fn send_message(hub: Hub, actor: Actor, arguments: SendArguments) -> Result<Sent, HubError> {
    if arguments.to.starts_with('#') {
        let said = "must be a user's or agent's name; use send_channel_message for channels";
        return Err(HubError::invalid_field("to", said));
    }
    sent(&hub, &actor, arguments.into()).await
}

async fn send_channel_message(hub: Hub, actor: Actor, arguments: PostArguments) -> Result<Sent, HubError> {
    sent(&hub, &actor, arguments.into()).await
}

async fn sent(hub: &Hub, actor: &Actor, request: SendMessageRequest) -> Result<Sent, HubError> {
    let sent = send::send_message(hub, actor, request).await?;
    let state = name_of(sent.message.workflow_state);
    Ok(Sent { id: sent.message.id.0, state, delivery: sent.delivery })
}

#[derive(Deserialize, JsonSchema)]
struct InboxArguments {
    /// Default pending
    status: Option<InboxStatus>,
    /// Full texts instead of previews
    full: Option<bool>,
    /// 1 to 25
    limit: Option<i64>,
    cursor: Option<String>,
}

async fn read_inbox(hub: Hub, actor: Actor, arguments: InboxArguments) -> Result<(ItemPage, Vec<Value>), HubError> {
    let is_full = arguments.full.unwrap_or(false);
    let status = arguments.status.unwrap_or_default();
    let list = ListQuery { limit: Some(limited(arguments.limit)), cursor: arguments.cursor };
    // Whole, as the token count is that of the whole.
    let query = InboxQuery { status, is_full: true, wait: None };
    let page = inbox::list_inbox(&hub, &actor, query, list).await?;
    let items = own(shown(page.items, is_full));
    let links = links(&items);
    Ok((ItemPage { items, next_cursor: page.next_cursor }, links))
}

fn limited(limit: Option<i64>) -> i64 {
    limit.map_or(MAX_LISTED, |limit| limit.min(MAX_LISTED))
}

#[derive(Deserialize, JsonSchema)]
struct WaitArguments {
    /// 0 to 50; default 50
    timeout_seconds: Option<i64>,
    /// Only messages after an earlier call. Default: all pending
    cursor: Option<String>,
}

async fn wait_for_messages(
    hub: Hub,
    actor: Actor,
    arguments: WaitArguments,
) -> Result<(ItemPage, Vec<Value>), HubError> {
    let wait = arguments.timeout_seconds.unwrap_or(stoa_model::messages::MAX_WAIT_SECONDS);
    let list = ListQuery { limit: Some(MAX_LISTED), cursor: arguments.cursor };
    let query = InboxQuery { status: InboxStatus::Pending, is_full: true, wait: Some(wait) };
    let page = inbox::list_inbox(&hub, &actor, query, list).await.map_err(|error| {
        let is_wait = error.errors.iter().any(|fault| fault.field == "wait");
        if is_wait { HubError::invalid_field("timeout_seconds", "must be from 0 to 50") } else { error }
    })?;
    let items = own(shown(page.items, false));
    let links = links(&items);
    Ok((ItemPage { items, next_cursor: page.next_cursor }, links))
}

#[derive(Deserialize, JsonSchema)]
struct ClaimArguments {
    /// 1 to 25; default 1
    limit: Option<i64>,
    /// Default 600
    lease_seconds: Option<i64>,
    /// Only these
    message_ids: Option<Vec<i64>>,
    /// Extend the claims of these instead
    extend: Option<Vec<i64>>,
}

#[derive(Serialize, JsonSchema)]
struct Claimed {
    items: Vec<MessageItem>,
    /// Settled, claimed by another, or not yours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_claimed: Vec<i64>,
}

async fn claim_messages(hub: Hub, actor: Actor, arguments: ClaimArguments) -> Result<(Claimed, Vec<Value>), HubError> {
    let ids = |ids: Option<Vec<i64>>| ids.map(|ids| ids.into_iter().map(MessageId).collect());
    let request = ClaimRequest {
        limit: arguments.limit.map(|limit| limit.min(MAX_LISTED)),
        lease_seconds: arguments.lease_seconds,
        message_ids: ids(arguments.message_ids),
        extend: ids(arguments.extend),
    };
    let named: Vec<MessageId> = request.message_ids.iter().chain(&request.extend).flatten().copied().collect();
    // Whoever goes on with a message has read it.
    let is_extended = request.extend.is_some();
    let claimed = inbox::claim(&hub, &actor, request).await?;
    let is_missing = |id: &MessageId| claimed.items.iter().all(|message| message.id != *id);
    let not_claimed = named.into_iter().filter(is_missing).map(|id| id.0).collect();
    let items = own(shown(claimed.items, !is_extended));
    let links = links(&items);
    Ok((Claimed { items, not_claimed }, links))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Settlement {
    Done,
    Failed,
    Released,
}

#[derive(Deserialize, JsonSchema)]
struct DoneArguments {
    message_id: i64,
    /// Default done; released returns it to the inbox
    status: Option<Settlement>,
    /// The result or the error
    result: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Settled {
    id: i64,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_id: Option<i64>,
}

async fn mark_done(hub: Hub, actor: Actor, arguments: DoneArguments) -> Result<Settled, HubError> {
    let id = MessageId(arguments.message_id);
    let settled = match arguments.status.unwrap_or(Settlement::Done) {
        Settlement::Done => inbox::done(&hub, &actor, id, DoneRequest { result: arguments.result }).await?,
        Settlement::Failed => {
            let error = arguments
                .result
                .ok_or_else(|| HubError::invalid_field("result", "is required: describe what went wrong"))?;
            inbox::fail(&hub, &actor, id, FailRequest { error }).await?
        }
        Settlement::Released => {
            let message = inbox::release(&hub, &actor, id).await?;
            return Ok(Settled { id: id.0, status: message.status.name(), reply_id: None });
        }
    };
    let reply_id = settled.reply_id.map(|id| id.0);
    Ok(Settled { id: id.0, status: settled.message.status.name(), reply_id })
}

#[derive(Deserialize, JsonSchema)]
struct ChannelArguments {
    channel: String,
    /// Only before this message id
    before: Option<i64>,
    /// Only after this message id
    after: Option<i64>,
    /// Full texts instead of previews
    full: Option<bool>,
    /// 1 to 25
    limit: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
struct ChannelPage {
    items: Vec<MessageItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_read_message_id: Option<i64>,
}

async fn read_channel(
    hub: Hub,
    actor: Actor,
    arguments: ChannelArguments,
) -> Result<(ChannelPage, Vec<Value>), HubError> {
    let range = Range { before: arguments.before.map(MessageId), after: arguments.after.map(MessageId) };
    let list = ListQuery { limit: Some(limited(arguments.limit)), cursor: None };
    let channel = arguments.channel.strip_prefix('#').unwrap_or(&arguments.channel).to_owned();
    let page = read::list_channel_messages(&hub, &actor, channel, range, list).await?;
    let is_full = arguments.full.unwrap_or(false);
    let items = shown(page.items, is_full).into_iter();
    let items: Vec<_> = items.map(|item| MessageItem { channel: None, ..item }).collect();
    let links = links(&items);
    let last_read_message_id = page.last_read_message_id.map(|id| id.0);
    Ok((ChannelPage { items, last_read_message_id }, links))
}

#[derive(Deserialize, JsonSchema)]
struct RepliesArguments {
    message_id: i64,
    /// Full texts of the replies, too
    full: Option<bool>,
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Thread {
    message: MessageItem,
    items: Vec<MessageItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn get_replies(hub: Hub, actor: Actor, arguments: RepliesArguments) -> Result<(Thread, Vec<Value>), HubError> {
    let id = MessageId(arguments.message_id);
    let message = read::get_message(&hub, &actor, id).await?;
    let list = ListQuery { limit: Some(MAX_LISTED), cursor: arguments.cursor };
    let page = read::list_replies(&hub, &actor, id, list).await?;
    let is_full = arguments.full.unwrap_or(false);
    let (message, items) = (MessageItem::of(message, true), shown(page.items, is_full));
    let links = links(std::iter::once(&message).chain(&items));
    Ok((Thread { message, items, next_cursor: page.next_cursor }, links))
}

#[derive(Deserialize, JsonSchema)]
struct MarkReadArguments {
    channel: Option<String>,
    /// The other side of a DM
    dm: Option<String>,
    /// Default: the latest
    message_id: Option<i64>,
}

/// A conversation, by the argument that names it elsewhere.
#[derive(Serialize, JsonSchema)]
struct Unread {
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dm: Option<String>,
    unread: i64,
}

impl From<UnreadView> for Unread {
    fn from(standing: UnreadView) -> Self {
        let (channel, dm) = match standing.kind {
            ConversationKind::Channel => (Some(standing.name), None),
            ConversationKind::Dm => (None, Some(standing.name)),
        };
        Self { channel, dm, unread: standing.unread_count }
    }
}

async fn mark_read(hub: Hub, actor: Actor, arguments: MarkReadArguments) -> Result<Unread, HubError> {
    let MarkReadArguments { channel, dm, message_id } = arguments;
    let request = MarkReadRequest { channel, dm, message_id: message_id.map(MessageId) };
    Ok(unread::mark_read(&hub, &actor, request).await?.into())
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

#[derive(Serialize, JsonSchema)]
struct MyStatus {
    name: String,
    kind: &'static str,
    permissions: Vec<&'static str>,
    /// Unclaimed messages in the inbox; 25 means at least as many.
    pending: usize,
    unread: Vec<Unread>,
    time: String,
}

async fn my_status(hub: Hub, actor: Actor, _: NoArguments) -> Result<MyStatus, HubError> {
    let query = InboxQuery { status: InboxStatus::Pending, is_full: false, wait: None };
    let pending = inbox::list_inbox(&hub, &actor, query, ListQuery { limit: Some(MAX_LISTED), cursor: None }).await?;
    let unread = unread::list_unread(&hub, &actor).await?.into_iter().filter(|standing| standing.unread_count > 0);
    let unread = unread.take(usize::try_from(MAX_LISTED).unwrap_or(0));
    Ok(MyStatus {
        name: actor.principal.handle.clone(),
        kind: actor.principal.kind.name(),
        permissions: actor.principal.permissions.names(),
        pending: pending.items.len(),
        unread: unread.map(Into::into).collect(),
        time: hub.clock().now().to_string(),
    })
}
