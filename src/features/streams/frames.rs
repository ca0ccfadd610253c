//! What clients read: the frames of each event, who gets them, and their ids.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Value, json};
use stoa_model::notifications::ConversationKind;
use stoa_model::permissions::Permission;
use stoa_model::principals::Presence;
use stoa_model::reactions::{ReactionView, state_of};
use stoa_model::{ConversationId, MessageId, PrincipalId, Timestamp};

use super::room::Room;
use crate::access::Principal;
use crate::events::{
    ChannelEvent, Event, MessageChange, MessageEvent, Position, PrincipalEvent, ReactionChange, ReactionEvent,
    ReadingEvent, RunChange, RunEvent, StoredEvent,
};
use crate::features::channels::visibility::ConversationName;
use crate::features::principals::PrincipalRow;

/// What events refer to but do not contain, read before they are rendered.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) members: HashMap<PrincipalId, PrincipalRow>,
    /// On each message that has any. Clients get the present state, so that those who missed something catch up.
    pub(super) reactions: HashMap<MessageId, Vec<ReactionView>>,
}

/// Keeps a connection from looking dead. It is a comment; clients do not see it.
pub(super) const HEARTBEAT: &[u8] = b": \n\n";
const CHANNEL: &str = "channel";
pub(super) const SHUTDOWN: &[u8] = b"event: shutdown\ndata: {}\n\n";

/// Who receives an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recipients {
    Everybody,
    /// Everybody who may see the room.
    Room,
    /// Them, and some who may not see it any more.
    RoomAnd(Vec<PrincipalId>),
    /// Those who may not see the room, though they could before.
    Outside,
    Only(Vec<PrincipalId>),
}

/// An event for clients: its recipients and its frame, without an id.
pub(super) struct RenderedEvent {
    pub(super) recipients: Recipients,
    /// The conversation of the channel that a key must reach to receive it.
    channel: Option<ConversationId>,
    /// The permission that a key needs to receive it.
    permission: Permission,
    pub(super) text: String,
}

impl RenderedEvent {
    fn new(recipients: Recipients, channel: Option<ConversationId>, name: &str, data: &Value) -> Self {
        let permission = if name == CHANNEL { Permission::ChannelsRead } else { Permission::MessagesRead };
        Self { recipients, channel, permission, text: frame(name, data) }
    }

    /// Whether a credential may receive it.
    pub(super) fn is_within_reach_of(&self, principal: &Principal) -> bool {
        principal.permissions.contains(self.permission)
            && self.channel.is_none_or(|channel| principal.reach.contains(channel))
    }

    /// Whether somebody receives it; `room` is where it happened.
    pub(super) fn is_sent_to(&self, principal: PrincipalId, room: Option<&Room>) -> bool {
        let sees = || room.is_some_and(|room| room.audience.contains(principal));
        match &self.recipients {
            Recipients::Everybody => true,
            Recipients::Room => sees(),
            Recipients::Outside => room.is_some() && !sees(),
            Recipients::RoomAnd(more) => more.contains(&principal) || sees(),
            Recipients::Only(principals) => principals.contains(&principal),
        }
    }
}

/// Renders an event. None for those that clients do not receive, or whose room is gone.
pub(super) fn render(stored: &StoredEvent, room: Option<&Room>, facts: &Facts) -> Option<RenderedEvent> {
    match &stored.event {
        Event::Principal(event) => render_principal_event(event, stored.at_ms),
        Event::Channel(event) => render_channel_event(event, stored, room, facts),
        Event::Message(event) => render_message_event(event),
        Event::Reaction(ReactionEvent::Changed(reaction)) => Some(reacted(reaction, facts)),
        Event::Run(RunEvent::Changed(change)) => Some(changed_run(change)),
        Event::Reading(ReadingEvent::Moved { principal, conversation }) => {
            // The count is added for each reader, so only the id is left to send here.
            let channel = room?.name.channel().map(|_| *conversation);
            let (recipients, permission) = (Recipients::Only(vec![*principal]), Permission::MessagesRead);
            Some(RenderedEvent { recipients, channel, permission, text: String::new() })
        }
    }
}

/// Runs are the business of the agent and its owner.
fn changed_run(change: &RunChange) -> RenderedEvent {
    let data = json!({
        "run_id": change.run, "agent": change.agent_name, "status": change.status, "reason": change.reason,
        "trigger_message_id": change.trigger_message, "last_step": change.last_step, "steps": change.steps,
    });
    let recipients = Recipients::Only(vec![change.owner, change.agent]);
    // A key that is limited to channels sees no runs. No conversation has this number, so no such key reaches it.
    let nowhere = Some(ConversationId(0));
    RenderedEvent { recipients, channel: nowhere, permission: Permission::RunsRead, text: frame("run", &data) }
}

fn render_principal_event(event: &PrincipalEvent, at_ms: i64) -> Option<RenderedEvent> {
    match event {
        PrincipalEvent::PresenceChanged { name, is_online, .. } => {
            let last_seen_at = Timestamp::from_ms(at_ms);
            let presence = if *is_online { Presence::Online } else { Presence::Offline };
            let data = json!({"name": name, "online": is_online, "presence": presence, "last_seen_at": last_seen_at});
            Some(RenderedEvent::new(Recipients::Everybody, None, "presence", &data))
        }
        PrincipalEvent::Created { .. }
        | PrincipalEvent::Updated { .. }
        | PrincipalEvent::Deleted { .. }
        | PrincipalEvent::AccessChanged { .. } => None,
    }
}

fn render_message_event(event: &MessageEvent) -> Option<RenderedEvent> {
    match event {
        MessageEvent::Sent(sent) => {
            let data = json!({
                "message_id": sent.message, "channel": sent.channel_name, "conversation_id": sent.conversation,
                "from": sent.from, "to": sent.to, "reply_to": sent.reply_to,
            });
            let channel = sent.channel_name.as_ref().map(|_| sent.conversation);
            Some(RenderedEvent::new(Recipients::Room, channel, "new_message", &data))
        }
        MessageEvent::Edited(change) | MessageEvent::WorkChanged(change) => {
            Some(changed("message_updated", change, None))
        }
        MessageEvent::StatusChanged { change, status } => Some(changed("message_updated", change, Some(status.name()))),
        MessageEvent::Deleted(change) => Some(changed("message_deleted", change, None)),
        MessageEvent::Purged { .. } => None,
    }
}

fn render_channel_event(
    event: &ChannelEvent,
    stored: &StoredEvent,
    room: Option<&Room>,
    facts: &Facts,
) -> Option<RenderedEvent> {
    match event {
        ChannelEvent::Created { .. } => about_channel(Recipients::Room, stored, room?, "created", None),
        ChannelEvent::Updated { .. } => about_channel(Recipients::Room, stored, room?, "updated", None),
        // Those outside no longer see it, so for them it is deleted.
        ChannelEvent::Hidden { .. } => about_channel(Recipients::Outside, stored, room?, "deleted", None),
        ChannelEvent::Deleted { conversation, name, audience, .. } => {
            let recipients = audience.clone().map_or(Recipients::Everybody, Recipients::Only);
            let data = json!({"name": name, "conversation_id": conversation, "change": "deleted"});
            (!name.is_empty()).then(|| RenderedEvent::new(recipients, Some(*conversation), CHANNEL, &data))
        }
        ChannelEvent::MemberAdded { principal, .. } => {
            let (room, member) = (room?, facts.members.get(principal)?);
            // Everybody sees a public channel, but only a few need to know who joins it.
            let recipients = if room.is_public() { Recipients::Only(concerned(member)) } else { Recipients::Room };
            about_channel(recipients, stored, room, "member_added", Some(member))
        }
        ChannelEvent::MemberRemoved { principal, .. } => {
            let (room, member) = (room?, facts.members.get(principal)?);
            let concerned = concerned(member);
            let recipients =
                if room.is_public() { Recipients::Only(concerned) } else { Recipients::RoomAnd(concerned) };
            about_channel(recipients, stored, room, "member_removed", Some(member))
        }
    }
}

/// A member, and the human who answers for it.
fn concerned(member: &PrincipalRow) -> Vec<PrincipalId> {
    std::iter::once(member.id).chain(member.owner).collect()
}

fn changed(name: &str, change: &MessageChange, status: Option<&str>) -> RenderedEvent {
    let channel = change.channel_name.as_deref();
    let mut data = json!({"message_id": change.message, "conversation_id": change.conversation, "channel": channel});
    if let Some(status) = status {
        data["status"] = json!(status);
    }
    RenderedEvent::new(Recipients::Room, channel_of(change), name, &data)
}

fn reacted(reaction: &ReactionChange, facts: &Facts) -> RenderedEvent {
    let change = &reaction.change;
    let reactions = facts.reactions.get(&change.message).map(Vec::as_slice).unwrap_or_default();
    let channel = change.channel_name.as_deref();
    let data = json!({
        "message_id": change.message, "conversation_id": change.conversation, "channel": channel,
        "workflow_state": state_of(reactions.iter().map(|reaction| reaction.reaction), reaction.is_proposed),
        "reactions": reactions,
    });
    RenderedEvent::new(Recipients::Room, channel_of(change), "reaction", &data)
}

/// The conversation of the channel that a message is in.
fn channel_of(change: &MessageChange) -> Option<ConversationId> {
    change.channel_name.as_ref().map(|_| change.conversation)
}

fn about_channel(
    recipients: Recipients,
    stored: &StoredEvent,
    room: &Room,
    change: &str,
    member: Option<&PrincipalRow>,
) -> Option<RenderedEvent> {
    let name = room.name.channel()?;
    let mut data = json!({"name": name, "conversation_id": stored.event.conversation(), "change": change});
    if let Some(member) = member {
        data["member"] = json!(member.handle);
    }
    Some(RenderedEvent::new(recipients, stored.event.conversation(), CHANNEL, &data))
}

/// An `unread_update` for one reader, without an id.
pub(super) fn unread_update(name: &ConversationName, reader: PrincipalId, count: i64) -> String {
    let kind = if name.channel().is_some() { ConversationKind::Channel } else { ConversationKind::Dm };
    frame("unread_update", &json!({"kind": kind, "name": name.name_for(reader), "unread_count": count}))
}

/// A frame that more can be added to: an id, or the empty line that ends it.
fn frame(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n")
}

/// The frames of one event, of which the last carries its id.
pub(super) fn with_id(frames: &[&str], id: &str) -> Bytes {
    let frames: Vec<&str> = frames.iter().copied().filter(|frame| !frame.is_empty()).collect();
    Bytes::from(format!("{}id: {id}\n\n", frames.join("\n")))
}

/// What a stream begins with: how long to wait before coming back, and from where it goes on.
pub(super) fn greeting(id: &str) -> Bytes {
    Bytes::from(format!("retry: 3000\nid: {id}\n\n"))
}

/// The same for a client that has missed something.
pub(super) fn resync(id: &str) -> Bytes {
    Bytes::from(format!("retry: 3000\nevent: resync\ndata: {{}}\nid: {id}\n\n"))
}

/// A heartbeat that also says how far the client has come, if nothing else does.
pub(super) fn heartbeat(id: &str) -> Bytes {
    Bytes::from(format!(": \nid: {id}\n\n"))
}

/// Names a place in one history of events.
pub(super) fn id_text(epoch: &str, position: Position) -> String {
    format!("{epoch}-{}-{}", position.xid, position.seq)
}

/// The place that an id names, if it is of this history.
pub(super) fn parse_id(id: &str, epoch: &str) -> Option<Position> {
    let (xid, seq) = id.strip_prefix(epoch)?.strip_prefix('-')?.split_once('-')?;
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    Some(Position { xid: number(xid)?, seq: number(seq)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_a_place_in_one_history() {
        let place = Position { xid: 7, seq: 42 };
        assert_eq!(parse_id(&id_text("0badcafe", place), "0badcafe"), Some(place));
        let garbage =
            ["", "-", "0badcafe", "0badcafe-", "0badcafe-1", "0badcafe-1-", "0badcafe--1-2", "0badcafe-1-2-3", "x-1-2"];
        let more = ["0badcafe-+1-2", "0badcafe-1-99999999999999999999", "0badcafe-1-2 ", "0badcaff-1-2"];
        for id in garbage.into_iter().chain(more) {
            assert_eq!(parse_id(id, "0badcafe"), None, "{id}");
        }
    }

    #[test]
    fn the_last_frame_of_an_event_carries_the_id() {
        let frames = [frame("one", &json!({"a": "line\nbreak"})), frame("two", &json!({}))];
        let bytes = with_id(&[&frames[0], &frames[1]], "e-0-1");
        let expected = "event: one\ndata: {\"a\":\"line\\nbreak\"}\n\nevent: two\ndata: {}\nid: e-0-1\n\n";
        assert_eq!(bytes, expected);
        assert_eq!(with_id(&["", &frames[1]], "e-0-1"), "event: two\ndata: {}\nid: e-0-1\n\n");
    }
}
