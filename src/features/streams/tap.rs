//! Hands each event to the streams of those who may see it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stoa_db::DbError;
use stoa_model::notifications::MAX_UNREAD;
use stoa_model::{ConversationId, MessageId, PrincipalId};

use super::frames::{self, Facts, Recipients, RenderedEvent};
use super::registry::{Connected, Offered, Registry, State, Stream, Turn, Woken};
use super::room::Room;
use crate::events::outbox::EventPage;
use crate::events::{
    ChannelEvent, Event, MessageEvent, Position, PrincipalEvent, ReactionEvent, ReadingEvent, RunEvent, StoredEvent,
    Tap,
};
use crate::features::channels::visibility::Audience;
use crate::features::{messages, principals, reactions};
use crate::hub::{BoxFuture, Hub, pause};

const FAILURE_PAUSE: Duration = Duration::from_millis(500);
/// Conversations and people in them that are remembered; beyond that everything is looked up anew.
const MAX_REMEMBERED: usize = 500_000;
/// Conversations whose unread messages are counted along for one principal.
const MAX_COUNTED: usize = 256;

/// Events that are put into queues before the streams are woken. More would keep the first clients waiting.
const TOGETHER: usize = 32;

struct StreamTap;

pub fn tap() -> Arc<dyn Tap> {
    Arc::new(StreamTap)
}

impl Tap for StreamTap {
    fn begin(&self, hub: &Hub, position: Position) {
        hub.memory::<Registry>().state().position = position;
    }

    fn is_idle(&self, hub: &Hub) -> bool {
        hub.memory::<Registry>().state().is_empty()
    }

    fn skip_to(&self, hub: &Hub, end: Position) -> bool {
        let registry = hub.memory::<Registry>();
        let Ok(mut turn) = registry.turn.try_lock() else { return false };
        let mut state = registry.state();
        if !state.is_empty() {
            return false;
        }
        // Some of them may have been changed by what is skipped.
        turn.forget_rooms();
        // A batch that was not finished was for streams that are closed.
        turn.is_unfinished = false;
        state.position = end;
        true
    }

    fn handle<'a>(&'a self, hub: &'a Hub, page: &'a EventPage) -> BoxFuture<'a, ()> {
        Box::pin(hand_out(hub, page))
    }
}

/// Sends a batch of events to its streams. What it needs is read after the batch was taken, so nobody receives what they may no
/// longer see.
async fn hand_out(hub: &Hub, page: &EventPage) {
    let Some(end) = page.end else { return };
    let events = &page.events[..];
    let registry = hub.memory::<Registry>();
    let mut turn = registry.turn.lock().await;
    if turn.is_unfinished {
        // A fault ended the last batch half-way. Clients come back and begin where they know they were.
        turn.forget_rooms();
        registry.all_streams().iter().for_each(|stream| registry.close(hub, stream));
    }
    turn.is_unfinished = true;
    forget_changed_rooms(&mut turn, events);
    loop {
        let outcome = match Batch::look_up(hub, &registry, &mut turn, events).await {
            Ok(Some(batch)) => {
                batch.deliver(hub, &registry, &turn, events);
                break;
            }
            Ok(None) => break,
            Err(error) => error,
        };
        tracing::error!(error = %outcome, "events could not be handed out; trying again");
        tokio::select! {
            () = hub.stopping() => return,
            () = pause(FAILURE_PAUSE) => {}
        }
    }
    registry.state().position = end;
    turn.is_unfinished = false;
}

/// Forgets what the events make untrue of the rooms that are remembered.
fn forget_changed_rooms(turn: &mut Turn, events: &[StoredEvent]) {
    for stored in events {
        match &stored.event {
            Event::Channel(
                ChannelEvent::Updated { conversation, .. }
                | ChannelEvent::Hidden { conversation, .. }
                | ChannelEvent::Deleted { conversation, .. },
            ) => {
                turn.rooms.remove(conversation);
            }
            Event::Channel(ChannelEvent::MemberAdded { conversation, principal, .. }) => {
                change_members(turn, *conversation, |members| members.insert(*principal));
            }
            Event::Channel(ChannelEvent::MemberRemoved { conversation, principal, .. }) => {
                change_members(turn, *conversation, |members| members.remove(principal));
            }
            Event::Channel(_)
            | Event::Principal(_)
            | Event::Message(_)
            | Event::Reaction(_)
            | Event::Reading(_)
            | Event::Run(_) => {}
        }
    }
    if turn.remembered > MAX_REMEMBERED {
        turn.forget_rooms();
    }
}

/// Everybody sees a public channel anyway, and its members may be many: they are changed in place.
fn change_members(
    turn: &mut Turn,
    conversation: ConversationId,
    change: impl FnOnce(&mut HashSet<PrincipalId>) -> bool,
) {
    match turn.rooms.get_mut(&conversation) {
        Some(room) if room.is_public() => {
            change(&mut Arc::make_mut(room).participants);
        }
        _ => {
            turn.rooms.remove(&conversation);
        }
    }
}

/// What is known for a batch before it is handed out.
struct Batch {
    facts: Facts,
    unread: Counts,
}

type Counts = HashMap<ConversationId, HashMap<PrincipalId, messages::Unread>>;

/// What has to be counted: for whom, and up to which message (none means all).
type Uncounted = HashMap<ConversationId, (Option<MessageId>, HashSet<PrincipalId>)>;

impl Batch {
    /// None if nobody is connected. Streams whose credential is no longer valid are closed here.
    async fn look_up(
        hub: &Hub,
        registry: &Registry,
        turn: &mut Turn,
        events: &[StoredEvent],
    ) -> Result<Option<Self>, DbError> {
        let (rooms, suspects) = {
            let state = &mut *registry.state();
            if state.is_empty() {
                turn.forget_rooms();
                return Ok(None);
            }
            forget_changed_counts(state, events);
            (missing_rooms(state, turn, events), suspects(state, events))
        };
        let members: Vec<PrincipalId> = events.iter().filter_map(|stored| member_of(&stored.event)).collect();
        let reacted: Vec<MessageId> = events.iter().filter_map(|stored| reacted_to(&stored.event)).collect();
        let mut facts = Facts::default();
        if !(rooms.is_empty() && suspects.is_empty() && members.is_empty() && reacted.is_empty()) {
            let suspected: Vec<_> = suspects.iter().map(|stream| stream.principal.clone()).collect();
            let (rooms, are_valid, known, reactions) = hub
                .read(move |tx| {
                    let mut found = Vec::new();
                    for conversation in &rooms {
                        found
                            .extend(Room::load_with_participants(tx, *conversation)?.map(|room| (*conversation, room)));
                    }
                    let mut are_valid = Vec::new();
                    for principal in &suspected {
                        are_valid.push(principal.is_still_valid(tx)?);
                    }
                    let mut known = Vec::new();
                    for member in &members {
                        known.extend(principals::find_by_id(tx, *member)?);
                    }
                    let mut reactions = HashMap::new();
                    for chunk in reacted.chunks(512) {
                        reactions.extend(reactions::of(tx, chunk)?);
                    }
                    Ok::<_, DbError>((found, are_valid, known, reactions))
                })
                .await?;
            rooms.into_iter().for_each(|(conversation, room)| turn.remember(conversation, room));
            facts = Facts { members: known.into_iter().map(|known| (known.id, known)).collect(), reactions };
            let refused = suspects.iter().zip(are_valid).filter(|(_, is_valid)| !is_valid);
            refused.for_each(|(stream, _)| registry.close(hub, stream));
        }
        let uncounted = uncounted(&registry.state(), turn, events);
        let mut unread = Counts::new();
        if !uncounted.is_empty() {
            unread = hub
                .read(move |tx| {
                    let mut counts = Counts::new();
                    for (conversation, (through, readers)) in &uncounted {
                        let readers: Vec<PrincipalId> = readers.iter().copied().collect();
                        counts.insert(*conversation, messages::count_unread(tx, *conversation, &readers, *through)?);
                    }
                    Ok::<_, DbError>(counts)
                })
                .await?;
        }
        Ok(Some(Self { facts, unread }))
    }

    fn deliver(&self, hub: &Hub, registry: &Registry, turn: &Turn, events: &[StoredEvent]) {
        let now_ms = hub.clock().now_ms();
        let mut presence = String::new();
        for together in events.chunks(TOGETHER) {
            self.deliver_together(hub, registry, turn, together, now_ms, &mut presence);
        }
        if !presence.is_empty() {
            let chunk = Bytes::from(presence);
            let mut streams = registry.all_streams();
            streams.retain(|stream| !stream.is_expired(now_ms));
            let mut woken = Woken::default();
            let slow = streams.iter().filter(|stream| stream.offer(None, &chunk, &mut woken) == Offered::Full);
            let slow: Vec<_> = slow.cloned().collect();
            close_slow(hub, registry, &slow);
            hub.metrics().stream_chunks.inc_by(streams.len() as u64);
        }
    }

    /// Puts events into the queues of their streams, and then wakes the streams: each writes to its client once.
    fn deliver_together(
        &self,
        hub: &Hub,
        registry: &Registry,
        turn: &Turn,
        events: &[StoredEvent],
        now_ms: i64,
        presence: &mut String,
    ) {
        let mut woken = Woken::default();
        let recounted = recounted(events);
        for (stored, recounted) in events.iter().zip(recounted) {
            let room = stored.event.conversation().and_then(|conversation| turn.rooms.get(&conversation));
            let Some(rendered) = frames::render(stored, room.map(|room| &**room), &self.facts) else { continue };
            if let Event::Principal(PrincipalEvent::PresenceChanged { principal, is_online, .. }) = &stored.event {
                presence.push_str(&rendered.text);
                presence.push('\n');
                if !is_online {
                    registry.state().confirm_online(*principal);
                    registry.bell.notify_one();
                }
                continue;
            }
            // The lock is let go between events, for those who come and go in the meantime.
            let room = room.map(|room| &**room);
            let mut delivery = Delivery::new(stored, &rendered, room, &self.unread, recounted, now_ms, &mut woken);
            delivery.run(&mut registry.state());
            delivery.settle(hub, registry);
        }
    }
}

/// Whose count comes with a later message of the same conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recounted {
    Nobody,
    /// Everybody but the author of that message, whose own messages are not unread for them.
    AllBut(PrincipalId),
    Everybody,
}

impl Recounted {
    fn includes(self, reader: PrincipalId) -> bool {
        match self {
            Self::Nobody => false,
            Self::AllBut(author) => author != reader,
            Self::Everybody => true,
        }
    }

    fn and_all_but(self, author: PrincipalId) -> Self {
        match self {
            Self::Nobody => Self::AllBut(author),
            Self::AllBut(other) if other == author => self,
            Self::AllBut(_) | Self::Everybody => Self::Everybody,
        }
    }
}

/// For each of the events, who gets a count with a later one of them. Of several messages at once only the last needs one.
fn recounted(events: &[StoredEvent]) -> Vec<Recounted> {
    let mut later: HashMap<ConversationId, Recounted> = HashMap::new();
    let mut recounted: Vec<Recounted> = events
        .iter()
        .rev()
        .map(|stored| match &stored.event {
            Event::Message(MessageEvent::Sent(sent)) => {
                let entry = later.entry(sent.conversation).or_insert(Recounted::Nobody);
                std::mem::replace(entry, entry.and_all_but(sent.author))
            }
            Event::Message(_)
            | Event::Principal(_)
            | Event::Channel(_)
            | Event::Reaction(_)
            | Event::Reading(_)
            | Event::Run(_) => Recounted::Nobody,
        })
        .collect();
    recounted.reverse();
    recounted
}

pub(super) fn close_slow(hub: &Hub, registry: &Registry, slow: &[Arc<Stream>]) {
    for stream in slow {
        tracing::debug!(principal = stream.principal.handle, "a stream was closed: its client reads too slowly");
        hub.metrics().streams_lagged.inc();
        registry.close(hub, stream);
    }
}

/// The member that an event is about, whose name it does not say.
fn member_of(event: &Event) -> Option<PrincipalId> {
    match event {
        Event::Channel(event) => event.member(),
        Event::Principal(_) | Event::Message(_) | Event::Reaction(_) | Event::Reading(_) | Event::Run(_) => None,
    }
}

/// The message whose reactions have changed.
pub(super) fn reacted_to(event: &Event) -> Option<MessageId> {
    match event {
        Event::Reaction(ReactionEvent::Changed(reaction)) => Some(reaction.change.message),
        Event::Principal(_) | Event::Channel(_) | Event::Message(_) | Event::Reading(_) | Event::Run(_) => None,
    }
}

/// The principal whose credentials an event may have revoked.
fn doubtful(event: &Event) -> Option<PrincipalId> {
    match event {
        Event::Principal(event) => event.changed_access(),
        // The token of a run ends with it.
        Event::Run(RunEvent::Changed(change)) => change.status.is_final().then_some(change.agent),
        Event::Channel(_) | Event::Message(_) | Event::Reaction(_) | Event::Reading(_) => None,
    }
}

/// The streams of those whose credentials are in doubt, and of the agents they own.
fn suspects(state: &State, events: &[StoredEvent]) -> Vec<Arc<Stream>> {
    let doubtful: HashSet<PrincipalId> = events.iter().filter_map(|stored| doubtful(&stored.event)).collect();
    if doubtful.is_empty() {
        return Vec::new();
    }
    let streams = state.principals.values().flat_map(|connected| &connected.streams);
    let suspects =
        streams.filter(|stream| doubtful.contains(&stream.principal.id) || doubtful.contains(&stream.principal.human));
    suspects.cloned().collect()
}

fn missing_rooms(state: &State, turn: &Turn, events: &[StoredEvent]) -> Vec<ConversationId> {
    let wanted = events.iter().filter_map(|stored| match &stored.event {
        // Most of those who read have no stream here, and the deleted channel says itself who saw it.
        Event::Reading(ReadingEvent::Moved { principal, conversation }) => {
            state.is_connected(*principal).then_some(*conversation)
        }
        Event::Channel(ChannelEvent::Deleted { .. }) => None,
        event => event.conversation(),
    });
    let wanted: HashSet<ConversationId> = wanted.collect();
    wanted.into_iter().filter(|conversation| !turn.rooms.contains_key(conversation)).collect()
}

/// Who joins or leaves begins to be counted anew.
fn forget_changed_counts(state: &mut State, events: &[StoredEvent]) {
    for stored in events {
        if let (Some(member), Some(conversation)) = (member_of(&stored.event), stored.event.conversation())
            && let Some(connected) = state.principals.get_mut(&member)
        {
            connected.unread.remove(&conversation);
        }
    }
}

/// What has to be counted before the events can be handed out.
fn uncounted(state: &State, turn: &Turn, events: &[StoredEvent]) -> Uncounted {
    let mut uncounted = Uncounted::new();
    let mut spoken_in = HashSet::new();
    for stored in events {
        let Some(conversation) = stored.event.conversation() else { continue };
        let Some(room) = turn.rooms.get(&conversation) else { continue };
        match &stored.event {
            Event::Message(MessageEvent::Sent(sent)) => {
                spoken_in.insert(conversation);
                for_each_connected(state, &room.participants, |id, connected| {
                    if id != sent.author && !connected.unread.contains_key(&conversation) {
                        let entry = uncounted.entry(conversation);
                        entry.or_insert_with(|| (Some(sent.message), HashSet::new())).1.insert(id);
                    }
                });
            }
            Event::Message(MessageEvent::Deleted(_)) => {
                for_each_connected(state, &room.participants, |id, connected| {
                    let known = connected.unread.get(&conversation);
                    let has_read_all =
                        known.is_some_and(|unread| unread.count == 0) && !spoken_in.contains(&conversation);
                    if !has_read_all {
                        count_all(&mut uncounted, conversation, id);
                    }
                });
            }
            Event::Reading(ReadingEvent::Moved { principal, .. }) => {
                if state.is_connected(*principal) {
                    count_all(&mut uncounted, conversation, *principal);
                }
            }
            Event::Message(_) | Event::Principal(_) | Event::Channel(_) | Event::Reaction(_) | Event::Run(_) => {}
        }
    }
    uncounted
}

fn count_all(uncounted: &mut Uncounted, conversation: ConversationId, reader: PrincipalId) {
    let entry = uncounted.entry(conversation).or_default();
    entry.0 = None;
    entry.1.insert(reader);
}

/// Visits those among `principals` who have streams, by way of the smaller of the two sets.
fn for_each_connected(
    state: &State,
    principals: &HashSet<PrincipalId>,
    mut visit: impl FnMut(PrincipalId, &Connected),
) {
    if principals.len() < state.principals.len() {
        for id in principals {
            if let Some(connected) = state.principals.get(id).filter(|connected| !connected.streams.is_empty()) {
                visit(*id, connected);
            }
        }
    } else {
        for (id, connected) in &state.principals {
            if !connected.streams.is_empty() && principals.contains(id) {
                visit(*id, connected);
            }
        }
    }
}

/// One event on its way to many.
struct Delivery<'a> {
    stored: &'a StoredEvent,
    rendered: &'a RenderedEvent,
    room: Option<&'a Room>,
    counts: &'a Counts,
    recounted: Recounted,
    now_ms: i64,
    woken: &'a mut Woken,
    id: String,
    /// The event without a count, for all who have none.
    plain: Option<Bytes>,
    /// The event with a count. In a channel many have the same; in a DM everybody calls it by another name.
    counted: HashMap<(i64, Option<PrincipalId>), Bytes>,
    last_counted: Option<((i64, Option<PrincipalId>), Bytes)>,
    delivered: u64,
    slow: Vec<Arc<Stream>>,
    /// Streams whose credential has run out. The keeper comes by only now and then, which must not give them
    /// what happened since.
    expired: Vec<Arc<Stream>>,
}

impl<'a> Delivery<'a> {
    fn new(
        stored: &'a StoredEvent,
        rendered: &'a RenderedEvent,
        room: Option<&'a Room>,
        counts: &'a Counts,
        recounted: Recounted,
        now_ms: i64,
        woken: &'a mut Woken,
    ) -> Self {
        Self {
            stored,
            rendered,
            room,
            counts,
            recounted,
            now_ms,
            woken,
            id: String::new(),
            plain: None,
            counted: HashMap::new(),
            last_counted: None,
            delivered: 0,
            slow: Vec::new(),
            expired: Vec::new(),
        }
    }

    fn run(&mut self, state: &mut State) {
        self.id = frames::id_text(&state.epoch, self.stored.position);
        let everybody = Audience::Everybody;
        let (audience, more) = match (&self.rendered.recipients, self.room) {
            (Recipients::Room | Recipients::Outside, None) => return,
            (Recipients::Outside, Some(room)) => return self.send_outside(state, &room.audience),
            (Recipients::Everybody, _) => (Some(&everybody), &[][..]),
            (Recipients::Room, Some(room)) => (Some(&room.audience), &[][..]),
            (Recipients::RoomAnd(more), room) => (room.map(|room| &room.audience), &more[..]),
            (Recipients::Only(principals), _) => (None, &principals[..]),
        };
        match audience {
            Some(Audience::Only(principals)) if principals.len() < state.principals.len() => {
                for id in principals {
                    if let Some(connected) = state.principals.get_mut(id) {
                        self.send_to(*id, connected);
                    }
                }
            }
            Some(audience) => {
                for (id, connected) in &mut state.principals {
                    if audience.contains(*id) {
                        self.send_to(*id, connected);
                    }
                }
            }
            None => {}
        }
        for id in more {
            let is_sent = audience.is_some_and(|audience| audience.contains(*id));
            if !is_sent && let Some(connected) = state.principals.get_mut(id) {
                self.send_to(*id, connected);
            }
        }
    }

    fn send_outside(&mut self, state: &mut State, audience: &Audience) {
        for (id, connected) in &mut state.principals {
            if !audience.contains(*id) {
                self.send_to(*id, connected);
            }
        }
    }

    /// Hands the event to all streams of one principal.
    fn send_to(&mut self, id: PrincipalId, connected: &mut Connected) {
        if connected.streams.is_empty() {
            return;
        }
        let count = self.count(id, connected);
        let chunk = self.chunk(id, count);
        for stream in &connected.streams {
            if !self.rendered.is_within_reach_of(&stream.principal) {
                continue;
            }
            if stream.is_expired(self.now_ms) {
                self.expired.push(stream.clone());
                continue;
            }
            match stream.offer(Some(self.stored.position), &chunk, self.woken) {
                Offered::Taken => self.delivered += 1,
                Offered::Passed => {}
                Offered::Full => self.slow.push(stream.clone()),
            }
        }
    }

    /// How much a participant has not read after this event; none if it leaves that as it is, or if a later event says it.
    fn count(&self, id: PrincipalId, connected: &mut Connected) -> Option<i64> {
        let conversation = self.stored.event.conversation()?;
        let counted = || self.counts.get(&conversation).and_then(|counts| counts.get(&id)).copied();
        match &self.stored.event {
            Event::Message(MessageEvent::Sent(sent)) => {
                if id == sent.author || !self.room?.participants.contains(&id) {
                    return None;
                }
                let unread = match connected.unread.get_mut(&conversation) {
                    Some(unread) => {
                        if !unread.is_quiet && sent.message > unread.through {
                            unread.count = (unread.count + 1).min(MAX_UNREAD);
                            unread.through = sent.message;
                        }
                        *unread
                    }
                    None => remember(connected, conversation, counted()?),
                };
                (!unread.is_quiet && !self.recounted.includes(id)).then_some(unread.count)
            }
            Event::Message(MessageEvent::Deleted(_)) | Event::Reading(ReadingEvent::Moved { .. }) => {
                Some(remember(connected, conversation, counted()?).count)
            }
            Event::Message(_) | Event::Principal(_) | Event::Channel(_) | Event::Reaction(_) | Event::Run(_) => None,
        }
    }

    fn chunk(&mut self, reader: PrincipalId, count: Option<i64>) -> Bytes {
        let (text, id) = (&self.rendered.text, &self.id);
        let (Some(count), Some(room)) = (count, self.room) else {
            return self.plain.get_or_insert_with(|| frames::with_id(&[text], id)).clone();
        };
        let key = (count, room.name.channel().is_none().then_some(reader));
        // Most members of a channel have the same count, one after another.
        if let Some((_, chunk)) = self.last_counted.as_ref().filter(|(last, _)| *last == key) {
            return chunk.clone();
        }
        let counted = self.counted.entry(key);
        // The count comes first: if the connection breaks between the two, it is sent again, which does no harm, and
        // the event itself is sent once.
        let render = || frames::with_id(&[&frames::unread_update(&room.name, reader, count), text], id);
        let chunk = counted.or_insert_with(render).clone();
        self.last_counted = Some((key, chunk.clone()));
        chunk
    }

    fn settle(self, hub: &Hub, registry: &Registry) {
        hub.metrics().stream_chunks.inc_by(self.delivered);
        close_slow(hub, registry, &self.slow);
        self.expired.iter().for_each(|stream| registry.close(hub, stream));
    }
}

fn remember(connected: &mut Connected, conversation: ConversationId, unread: messages::Unread) -> messages::Unread {
    if connected.unread.len() >= MAX_COUNTED {
        connected.unread.clear();
    }
    connected.unread.insert(conversation, unread);
    unread
}
