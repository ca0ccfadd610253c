//! Sending: one command that checks, stores, tells those who are mentioned, and says what follows.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::{Map, Value, json};
use stoa_db::Tx;
use stoa_model::attachments::AttachmentView;
use stoa_model::mentions::{CHANNEL, HERE, MAX_CANDIDATES, MAX_MENTIONS, mentions_in};
use stoa_model::messages::{
    Author, DeliveryState, DeliveryView, Draft, MessageStatus, MessageView, SendMessageRequest, SentMessage, Target,
};
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::state_of;
use stoa_model::trust::has_action_type;
use stoa_model::{ConversationId, MessageId, PrincipalId, RunId, Timestamp, handles};

use super::following::{Wake, chain_of, depth_of, wake_of};
use super::store::{self, MessageRow, NewMessage, Sender};
use super::view;
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::{ErrorKind, HubError};
use crate::events::{self, Delivery, MessageEvent, MessageSent, Outcome};
use crate::features::channels::working::Working;
use crate::features::channels::{self, ChannelForPosting};
use crate::features::principals::{self, PrincipalRow};
use crate::features::{attachments, audit, reactions};
use crate::hub::{Hub, Way};

/// Members that `@channel` and `@here` can tell; in a larger channel they are refused.
const MAX_EVERYBODY: i64 = 500;
/// Who was seen within this time is "here".
const HERE_WITHIN: Duration = Duration::from_secs(5 * 60);

/// Sends a message to somebody or into a channel.
pub async fn send_message(hub: &Hub, actor: &Actor, request: SendMessageRequest) -> Result<SentMessage, HubError> {
    actor.require(Permission::MessagesWrite)?;
    let draft = request.into_draft()?;
    let (hub_in, actor_in, target) = (hub.clone(), actor.clone(), draft.target.clone());
    let send = move |tx: &mut Tx<'_>| send_in(&hub_in, tx, &actor_in, &draft);
    let sent = hub.command_replayed(actor, Way::Together, send).await;
    match (sent, target) {
        (Err(error), Target::Principal(name)) if error.code == "unknown_recipient" => {
            let nearest: Vec<String> = hub.read(move |tx| principals::nearest(tx, &name)).await?;
            let hint = format!("Did you mean {}?", nearest.join(", "));
            Err(if nearest.is_empty() { error } else { error.hint(hint) })
        }
        (sent, target) => {
            let kind = if matches!(target, Target::Channel(_)) { "channel" } else { "dm" };
            hub.metrics().messages.with_label_values(&[kind]).inc_by(u64::from(sent.is_ok()));
            sent
        }
    }
}

fn send_in(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, draft: &Draft) -> Result<SentMessage, HubError> {
    let sent = match &draft.target {
        Target::Principal(name) => send_dm(hub, tx, actor, name, draft)?,
        Target::Channel(name) => send_to_channel(hub, tx, actor, name, draft)?,
    };
    if actor.is_operator() {
        let details = json!({"to": sent.message.to, "channel": sent.message.channel});
        audit::record(tx, actor, "message.sent", Some(&sent.message.id.to_string()), &details)?;
    }
    Ok(sent)
}

/// Who a message is from, and the deepest message they are working on. The operator's are the hub's own notices.
fn sender(tx: &mut Tx<'_>, actor: &Actor) -> Result<Sender, HubError> {
    if actor.is_operator() {
        let system = principals::system(tx)?;
        return Ok(Sender { id: system.id, from: author_of(&system), working: Working::default() });
    }
    store::find_sender(tx, actor.id())?.ok_or_else(|| HubError::internal("the caller is missing"))
}

fn author_of(sender: &PrincipalRow) -> Author {
    Author { kind: sender.kind, name: sender.handle.clone(), display_name: sender.display_name.clone() }
}

fn send_dm(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, name: &str, draft: &Draft) -> Result<SentMessage, HubError> {
    let unknown = || {
        let shown: String = name.chars().take(handles::MAX_LENGTH).collect();
        HubError::new(ErrorKind::NotFound, "unknown_recipient", format!("No user or agent is named {shown}."))
    };
    let recipient = principals::find(tx, name)?.ok_or_else(unknown)?;
    if recipient.id == actor.id() {
        return Err(HubError::new(ErrorKind::Invalid, "cannot_message_self", "You cannot message yourself."));
    }
    if !recipient.is_reachable() {
        // Nobody answers for the hub itself, for machines, or for who is gone.
        return Err(if recipient.is_disabled && !recipient.is_deleted {
            HubError::conflict("recipient_disabled", format!("{}'s account is disabled.", recipient.handle))
        } else {
            unknown()
        });
    }
    require_recipient_in_reach(tx, actor, &recipient)?;
    let sender = sender(tx, actor)?;
    let parent = draft.reply_to.map(|id| find_parent(tx, actor, id)).transpose()?;
    let conversation = channels::conversation_between(tx, sender.id, recipient.id)?;
    let destination = Destination::Dm { conversation, recipient: recipient.id, to: recipient.handle.clone() };
    let message = Composed {
        parent: parent.as_ref(),
        attachments: attachments::find_attachable(tx, actor, &draft.attachments)?,
        wake: wake_of(hub, tx, draft.no_wake, recipient.id, recipient.kind)?,
        ..Composed::new(sender.id, sender.from, destination, draft)
    }
    .following(actor, sender.working);
    let stored = store_and_emit(hub, tx, actor, &message, Vec::new())?;
    let view = message.view(tx, &stored)?;
    let delivery = delivery_of(&stored, recipient.id, recipient.handle);
    Ok(SentMessage { message: view, delivery: vec![delivery] })
}

/// A run that others have started writes to the other side of its conversation and to the owner of its agent.
fn require_recipient_in_reach(tx: &mut Tx<'_>, actor: &Actor, recipient: &PrincipalRow) -> Result<(), HubError> {
    if actor.principal.reach.of_run().is_none() || recipient.id == actor.principal.human {
        return Ok(());
    }
    match channels::find_conversation_between(tx, actor.id(), recipient.id)? {
        Some(conversation) => actor.require_own_conversation(conversation),
        None => actor.require_beyond_conversation(),
    }
}

fn send_to_channel(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    name: &str,
    draft: &Draft,
) -> Result<SentMessage, HubError> {
    let channel = channels::find_for_posting(hub, tx, actor, name)?;
    let parent = draft.reply_to.map(|id| find_parent(tx, actor, id)).transpose()?;
    let posted = post_to_channel(hub, tx, actor, &channel, parent.as_ref(), draft, &draft.body)?;
    let called = posted.called.principals.into_iter();
    let delivery = called.map(|(id, called)| delivery_of(&posted.stored, id, called.handle)).collect();
    Ok(SentMessage { message: posted.message.view(tx, &posted.stored)?, delivery })
}

/// What the hub itself tells somebody.
pub struct Notice {
    pub recipient: PrincipalRow,
    pub body: String,
    pub metadata: Map<String, Value>,
}

/// Sends notices from `system`.
pub fn notify(hub: &Hub, tx: &mut Tx<'_>, notices: Vec<Notice>) -> Result<(), HubError> {
    let system = principals::system(tx)?;
    let mut placed = Vec::new();
    for notice in notices {
        placed.push((channels::conversation_between(tx, system.id, notice.recipient.id)?, notice));
    }
    for (conversation, Notice { recipient, body, metadata }) in placed {
        let draft = Draft { metadata, ..Draft::new(Target::Principal(recipient.handle.clone()), body) };
        let destination = Destination::Dm { conversation, recipient: recipient.id, to: recipient.handle };
        let message = Composed::new(system.id, author_of(&system), destination, &draft);
        store_and_emit(hub, tx, &Actor::system(), &message, Vec::new())?;
    }
    Ok(())
}

/// Puts a message into a channel that the caller may write to. Only those are called out whom `calling` names: a
/// part of the body, where the rest of it comes from elsewhere.
pub fn post(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channel: &ChannelForPosting,
    draft: &Draft,
    calling: &str,
) -> Result<MessageId, HubError> {
    Ok(post_to_channel(hub, tx, actor, channel, None, draft, calling)?.stored.id)
}

/// Sends a DM to a principal that has an inbox. The text mentions no one.
pub fn post_dm(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    recipient: &PrincipalRow,
    draft: &Draft,
) -> Result<MessageId, HubError> {
    let sender = sender(tx, actor)?;
    let conversation = channels::conversation_between(tx, sender.id, recipient.id)?;
    let destination = Destination::Dm { conversation, recipient: recipient.id, to: recipient.handle.clone() };
    let wake = wake_of(hub, tx, draft.no_wake, recipient.id, recipient.kind)?;
    let message =
        Composed { wake, ..Composed::new(sender.id, sender.from, destination, draft) }.following(actor, sender.working);
    Ok(store_and_emit(hub, tx, actor, &message, Vec::new())?.id)
}

/// A message that was put into a channel.
struct PostedMessage<'a> {
    stored: Stored,
    message: Composed<'a>,
    called: Called,
}

/// The id and the time of a stored message, and what planners decided about it.
struct Stored {
    id: MessageId,
    created_at: Timestamp,
    outcome: Outcome,
}

fn post_to_channel<'a>(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channel: &'a ChannelForPosting,
    parent: Option<&'a MessageRow>,
    draft: &'a Draft,
    calling: &str,
) -> Result<PostedMessage<'a>, HubError> {
    let called = find_called(tx, actor, channel, calling)?;
    let (sender, from) = if actor.is_operator() {
        let system = principals::system(tx)?;
        (system.id, author_of(&system))
    } else {
        let display_name = channel.author_display_name.clone();
        let principal = &actor.principal;
        (principal.id, Author { kind: principal.kind, name: principal.handle.clone(), display_name })
    };
    let message = Composed {
        parent,
        mentions: called.names.clone(),
        attachments: attachments::find_attachable(tx, actor, &draft.attachments)?,
        ..Composed::new(sender, from, Destination::Channel(channel), draft)
    }
    .following(actor, channel.author_working);
    let ids = called.principals.keys().copied().collect();
    let mut stored = store_and_emit(hub, tx, actor, &message, ids)?;
    let told = notify_mentioned(hub, tx, actor, &message, stored.id, &called.principals)?;
    stored.outcome.deliveries.extend(told);
    Ok(PostedMessage { stored, message, called })
}

/// The message that is answered. It has to be there, and the sender has to see it.
fn find_parent(tx: &mut Tx<'_>, actor: &Actor, id: MessageId) -> Result<MessageRow, HubError> {
    let named = |error: HubError| match error.code {
        "not_found" => {
            HubError::not_found("message to reply to").hint("`reply_to` must be the id of a message you can see.")
        }
        _ => error,
    };
    let parent = if actor.is_operator() {
        store::find_message(tx, id)?.ok_or_else(|| named(HubError::not_found("message")))?
    } else {
        view::find_visible(tx, actor, id).map_err(named)?
    };
    if parent.deleted_at.is_some() {
        return Err(HubError::conflict("message_deleted", "The message to reply to was deleted."));
    }
    Ok(parent)
}

/// Where a composed message goes.
enum Destination<'a> {
    Dm { conversation: ConversationId, recipient: PrincipalId, to: String },
    Channel(&'a ChannelForPosting),
}

/// A message with everything found out that its row needs.
struct Composed<'a> {
    sender: PrincipalId,
    from: Author,
    destination: Destination<'a>,
    draft: &'a Draft,
    parent: Option<&'a MessageRow>,
    depth: i64,
    mentions: Vec<String>,
    mention_of: Option<MessageId>,
    attachments: Vec<AttachmentView>,
    chain: Option<MessageId>,
    run: Option<RunId>,
    wake: Wake,
}

impl<'a> Composed<'a> {
    /// A message that answers nothing, mentions nobody and has no files.
    fn new(sender: PrincipalId, from: Author, destination: Destination<'a>, draft: &'a Draft) -> Self {
        Self {
            sender,
            from,
            destination,
            draft,
            parent: None,
            depth: 0,
            mentions: Vec::new(),
            mention_of: None,
            attachments: Vec::new(),
            chain: None,
            run: None,
            wake: Wake::Nobody,
        }
    }

    /// The same with what it follows from: what its author answers, works on, or is run for.
    fn following(mut self, actor: &Actor, working: Working) -> Self {
        self.depth = depth_of(actor, self.parent, working);
        self.chain = chain_of(actor, self.parent, working);
        self.run = actor.run().map(|run| run.run);
        self
    }

    fn conversation(&self) -> ConversationId {
        match &self.destination {
            Destination::Dm { conversation, .. } => *conversation,
            Destination::Channel(channel) => channel.conversation,
        }
    }

    fn channel(&self) -> Option<&ChannelForPosting> {
        match &self.destination {
            Destination::Dm { .. } => None,
            Destination::Channel(channel) => Some(channel),
        }
    }

    /// The other side of a DM.
    fn to(&self) -> Option<(PrincipalId, &str)> {
        match &self.destination {
            Destination::Dm { recipient, to, .. } => Some((*recipient, to)),
            Destination::Channel(_) => None,
        }
    }

    fn reply_to(&self) -> Option<MessageId> {
        self.parent.map(|parent| parent.id)
    }

    /// Whether it is proposed as work. Replies are talk about work.
    fn is_work(&self) -> bool {
        let is_in_workflow = self.channel().is_some_and(|channel| channel.is_workflow);
        is_in_workflow && self.parent.is_none() && has_action_type(&self.draft.metadata)
    }

    fn status(&self) -> MessageStatus {
        if self.channel().is_some() && !self.is_work() { MessageStatus::Done } else { MessageStatus::Pending }
    }

    /// What its sender sees of it, once it is stored.
    fn view(&self, tx: &mut Tx<'_>, stored: &Stored) -> Result<MessageView, HubError> {
        let (draft, id) = (self.draft, stored.id);
        // Nobody but the hub can have reacted yet, to what an agent proposes as work.
        let may_be_approved = self.is_work() && self.from.kind == PrincipalKind::Agent;
        let mut reactions = if may_be_approved { reactions::of(tx, &[id])? } else { HashMap::new() };
        let reactions = reactions.remove(&id).unwrap_or_default();
        Ok(MessageView {
            id,
            conversation_id: self.conversation(),
            channel_id: self.channel().map(|channel| channel.id),
            channel: self.channel().map(|channel| channel.name.clone()),
            from: self.from.clone(),
            to: self.to().map(|(_, name)| name.to_owned()),
            subject: draft.subject.clone(),
            body: draft.body.clone(),
            reply_to: self.reply_to(),
            status: self.status(),
            priority: draft.priority,
            metadata: draft.metadata.clone(),
            mentions: self.mentions.clone(),
            created_at: stored.created_at,
            edited_at: None,
            deleted_at: None,
            reply_count: 0,
            attachments: self.attachments.clone(),
            workflow_state: state_of(reactions.iter().map(|reaction| reaction.reaction), self.is_work()),
            status_since: None,
            reactions,
            lapsed_approvals: Vec::new(),
            run_id: self.run.map(|run| run.0),
            depth: self.depth,
            lease_until: None,
        })
    }
}

fn store_and_emit(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    message: &Composed<'_>,
    mentioned: Vec<PrincipalId>,
) -> Result<Stored, HubError> {
    let draft = message.draft;
    let (conversation, channel, to) = (message.conversation(), message.channel(), message.to());
    let recipient = to.map(|(id, _)| id);
    let (id, created_at) = store::insert_message(
        tx,
        &NewMessage {
            conversation,
            channel: channel.map(|channel| channel.id),
            author: message.sender,
            recipient,
            subject: draft.subject.as_deref(),
            body: &draft.body,
            reply_to: message.reply_to(),
            thread: message.parent.map(|parent| parent.thread_id.unwrap_or(parent.id)),
            mention_of: message.mention_of,
            status: message.status(),
            is_work: message.is_work(),
            priority: draft.priority,
            metadata: &draft.metadata,
            mentions: &message.mentions,
            depth: message.depth,
            chain: message.chain,
            run: message.run,
            not_woken: message.wake.reason(),
        },
    )?;
    attachments::attach(tx, id, message.sender, &message.attachments)?;
    let event = MessageEvent::Sent(Box::new(MessageSent {
        message: id,
        conversation,
        channel: channel.map(|channel| channel.id),
        channel_name: channel.map(|channel| channel.name.clone()),
        author: message.sender,
        from: message.from.clone(),
        recipient,
        to: to.map(|(_, name)| name.to_owned()),
        reply_to: message.reply_to(),
        mention_of: message.mention_of,
        mentioned,
        depth: message.depth,
        no_wake: draft.no_wake,
        is_work: message.is_work(),
        may_wake: message.wake == Wake::Open,
        run: message.run,
    }));
    let mut outcome = events::emit(hub, tx, actor, event)?;
    if let (Some(recipient), Some(reason)) = (recipient, message.wake.reason())
        && !outcome.deliveries.iter().any(|delivery| delivery.recipient == recipient)
    {
        let reason = Some(reason.name());
        outcome.deliveries.push(Delivery { recipient, state: DeliveryState::NotWoken, reason, run_id: None });
    }
    Ok(Stored { id, created_at, outcome })
}

/// Whom a text calls out, in the order of their ids.
#[derive(Default)]
pub(super) struct Called {
    pub(super) names: Vec<String>,
    pub(super) principals: BTreeMap<PrincipalId, CalledOne>,
}

/// A principal that a text mentions.
pub(super) struct CalledOne {
    handle: String,
    kind: PrincipalKind,
    /// By their own name, not only with everybody else.
    is_named: bool,
}

/// Whom a text in a channel calls out: members, and in a public channel anybody.
fn find_called(tx: &mut Tx<'_>, actor: &Actor, channel: &ChannelForPosting, body: &str) -> Result<Called, HubError> {
    let mut called = Called::default();
    if !body.contains('@') {
        return Ok(called);
    }
    let names = mentions_in(body);
    if names.len() > MAX_CANDIDATES {
        return Err(too_many_mentions(&format!("{} names with @", names.len())));
    }
    let is_for_everybody = |name: &str| matches!(name, CHANNEL | HERE);
    let folded: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_for_everybody(name)).collect();
    for known in principals::find_reachable(tx, &folded)? {
        let sees = channel.is_public || channels::is_member(tx, channel.id, known.id)?;
        if sees && known.id != actor.id() {
            called.names.push(known.handle.clone());
            let one = CalledOne { handle: known.handle, kind: known.kind, is_named: true };
            called.principals.insert(known.id, one);
        }
    }
    if called.principals.len() > MAX_MENTIONS {
        return Err(too_many_mentions(&format!("{} are mentioned", called.principals.len())));
    }
    // A program that calls everybody out would wake everybody.
    let may_call_everybody = actor.is_person() || actor.is_operator();
    for name in [CHANNEL, HERE].into_iter().filter(|name| may_call_everybody && names.contains(*name)) {
        let members = channels::list_members(tx, channel.id, MAX_EVERYBODY + 1)?;
        if members.len() as i64 > MAX_EVERYBODY {
            return Err(too_many_mentions(&format!("@{name} would notify more than {MAX_EVERYBODY} members")));
        }
        let since = tx.now_ms() - milliseconds(HERE_WITHIN);
        for member in members {
            let is_meant = name == CHANNEL || member.last_seen_at.is_some_and(|seen_at| seen_at >= since);
            if is_meant && member.id != actor.id() {
                let one = CalledOne { handle: member.handle, kind: member.kind, is_named: false };
                called.principals.entry(member.id).or_insert(one);
            }
        }
        called.names.push(name.to_owned());
    }
    called.names.sort();
    Ok(called)
}

fn too_many_mentions(what: &str) -> HubError {
    HubError::new(ErrorKind::Invalid, "too_many_mentions", format!("Too many mentions: {what}."))
        .hint("Mention at most 50. Use code formatting for names that are not mentions.")
}

/// Sends each mentioned principal a DM with a link to the channel message. Returns what planners decided about these.
fn notify_mentioned(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    message: &Composed<'_>,
    id: MessageId,
    called: &BTreeMap<PrincipalId, CalledOne>,
) -> Result<Vec<Delivery>, HubError> {
    let Destination::Channel(channel) = &message.destination else { return Ok(Vec::new()) };
    if called.is_empty() {
        return Ok(Vec::new());
    }
    let metadata = json!({"mention": {"channel": channel.name, "message_id": id}});
    // What it says is not stored once more for each of them.
    let draft = Draft {
        subject: message.draft.subject.clone(),
        priority: message.draft.priority,
        metadata: object(metadata),
        no_wake: message.draft.no_wake,
        ..Draft::new(message.draft.target.clone(), String::new())
    };
    let origin = store::find_message(tx, id)?.ok_or_else(|| HubError::internal("the new message is missing"))?;
    let mut told = Vec::new();
    for (recipient, one) in called {
        let conversation = channels::conversation_between(tx, message.sender, *recipient)?;
        // Calling everybody wakes nobody.
        let no_wake = draft.no_wake || !one.is_named;
        let wake = wake_of(hub, tx, no_wake, *recipient, one.kind)?;
        told.push((conversation, *recipient, one.handle.clone(), wake));
    }
    let mut deliveries = Vec::new();
    for (conversation, recipient, to, wake) in told {
        let destination = Destination::Dm { conversation, recipient, to };
        let notice = Composed {
            parent: Some(&origin),
            depth: message.depth,
            chain: message.chain.or(Some(id)),
            run: message.run,
            wake,
            mention_of: Some(id),
            ..Composed::new(message.sender, message.from.clone(), destination, &draft)
        };
        deliveries.extend(store_and_emit(hub, tx, actor, &notice, Vec::new())?.outcome.deliveries);
    }
    Ok(deliveries)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Notifies the principals that an edit mentions for the first time. Returns all names that the new text mentions.
pub(super) fn notify_newly_mentioned(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    row: &MessageRow,
    body: &str,
) -> Result<Vec<String>, HubError> {
    let Some(name) = &row.channel else { return Ok(Vec::new()) };
    let channel = channels::find_for_editing(tx, actor, name)?;
    let mut called = find_called(tx, actor, &channel, body)?;
    for told in store::list_copies(tx, row.id)? {
        if let Some(recipient) = told.recipient {
            called.principals.remove(&recipient);
        }
    }
    // Only what the DMs take over from it; they have neither its text nor its metadata.
    let draft = Draft {
        subject: row.subject.clone(),
        priority: row.priority,
        ..Draft::new(Target::Channel(name.clone()), String::new())
    };
    let message = Composed {
        // What is added now may follow from more than the message did.
        depth: row.depth.max(depth_of(actor, None, channel.author_working)),
        chain: row.chain_id.or_else(|| chain_of(actor, None, channel.author_working)),
        run: actor.run().map(|run| run.run),
        ..Composed::new(row.author_id, row.from.clone(), Destination::Channel(&channel), &draft)
    };
    notify_mentioned(hub, tx, actor, &message, row.id, &called.principals)?;
    Ok(called.names)
}

/// Sends the result of work to the author of the message, if they can still be reached. Machines have no inbox: their
/// answer goes to the channel of the message.
pub(super) fn reply_with_result(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    to: &MessageRow,
    body: &str,
    metadata: Map<String, Value>,
) -> Result<Option<MessageId>, HubError> {
    let author = principals::find_by_id(tx, to.author_id)?;
    let is_machine = author.as_ref().is_some_and(|author| author.kind == PrincipalKind::Machine);
    // A run that others have started by a mention writes in that channel only.
    let is_kept_there = to.origin.is_some() && actor.principal.reach.of_run().is_some();
    if is_machine || is_kept_there {
        return reply_in_channel(hub, tx, actor, to, body, metadata);
    }
    let Some(author) = author.filter(|author| author.is_reachable() && author.id != actor.id()) else {
        return Ok(None);
    };
    let draft = Draft {
        reply_to: Some(to.id),
        priority: to.priority,
        metadata,
        ..Draft::new(Target::Principal(author.handle.clone()), body.to_owned())
    };
    let sent = send_dm(hub, tx, actor, &author.handle, &draft)?;
    Ok(Some(sent.message.id))
}

/// Answers the channel message that a mention tells of, if the caller may write there.
pub(super) fn reply_in_channel(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    to: &MessageRow,
    body: &str,
    metadata: Map<String, Value>,
) -> Result<Option<MessageId>, HubError> {
    let origin = to.mention_of.map(|id| store::find_message(tx, id)).transpose()?.flatten();
    let Some(origin) = origin.filter(|origin| origin.deleted_at.is_none()) else { return Ok(None) };
    let Some(name) = origin.channel.clone() else { return Ok(None) };
    let channel = match channels::find_for_posting(hub, tx, actor, &name) {
        Ok(channel) => channel,
        Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Forbidden) => return Ok(None),
        Err(error) => return Err(error),
    };
    let draft = Draft {
        reply_to: Some(origin.id),
        priority: to.priority,
        metadata,
        ..Draft::new(Target::Channel(name), body.to_owned())
    };
    // A result calls nobody out.
    Ok(Some(post_to_channel(hub, tx, actor, &channel, Some(&origin), &draft, "")?.stored.id))
}

/// What the send has set in motion for one recipient.
fn delivery_of(stored: &Stored, recipient: PrincipalId, handle: String) -> DeliveryView {
    let planned = stored.outcome.deliveries.iter().find(|delivery| delivery.recipient == recipient);
    let (state, reason, run_id) = match planned {
        Some(planned) => (planned.state, planned.reason, planned.run_id),
        None => (DeliveryState::Stored, None, None),
    };
    DeliveryView { recipient: handle, state, reason: reason.map(str::to_owned), run_id }
}
