//! What a client has missed, read from the outbox until it has caught up with the others.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use bytes::Bytes;
use stoa_db::Tx;
use stoa_model::{ConversationId, PrincipalId};

use super::frames::{self, Facts, RenderedEvent};
use super::registry::{Registry, Stream};
use super::room::Room;
use super::tap::reacted_to;
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{Event, MessageEvent, Position, ReadingEvent, StoredEvent, outbox};
use crate::features::{messages, principals, reactions};
use crate::hub::Hub;

const PAGE: i64 = 200;
/// How often to try to catch up with the tap before it is made to wait.
const TRIES: u32 = 3;
/// Conversations whose unread messages are counted at the end.
const MAX_COUNTED: usize = 200;

/// Sends what the client has missed, then makes its stream live.
pub(super) async fn catch_up(hub: Hub, actor: Actor, stream: Arc<Stream>, from: Position) {
    let registry = hub.memory::<Registry>();
    if let Err(error) = follow(&hub, &registry, &actor, &stream, from).await {
        // The client comes back and finds out why, if it is still so.
        tracing::debug!(%error, "a stream ended while it was catching up");
        registry.close(&hub, &stream);
    }
}

async fn follow(
    hub: &Hub,
    registry: &Registry,
    actor: &Actor,
    stream: &Stream,
    from: Position,
) -> Result<(), HubError> {
    let mut reading = Reading { from, ..Reading::default() };
    let mut tries = 0;
    while stream.has_room().await {
        let permit = registry.backlogs.acquire().await.map_err(HubError::internal)?;
        let page = read_page(hub, actor, reading).await?;
        drop(permit);
        reading = send(stream, page);
        if !reading.is_at_end {
            continue;
        }
        let turn = registry.turn.lock().await;
        if registry.go_live(&turn, stream, reading.from) {
            return Ok(());
        }
        tries += 1;
        if tries >= TRIES {
            // Nothing is handed out while we hold the turn, so this time nobody is faster.
            reading = send(stream, read_page(hub, actor, reading).await?);
            if reading.is_at_end && registry.go_live(&turn, stream, reading.from) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// How far a client's backlog has been read.
#[derive(Default, Clone)]
struct Reading {
    from: Position,
    is_at_end: bool,
    /// Conversations in which the number of unread messages has changed.
    touched: HashSet<ConversationId>,
    text: String,
}

fn send(stream: &Stream, mut reading: Reading) -> Reading {
    let text = std::mem::take(&mut reading.text);
    if !text.is_empty() {
        stream.push(Bytes::from(text));
    }
    reading
}

async fn read_page(hub: &Hub, actor: &Actor, reading: Reading) -> Result<Reading, HubError> {
    let actor = actor.clone();
    hub.read(move |tx| {
        actor.require_still_valid(tx)?;
        let born_at = principals::find_created_at(tx, actor.id())?;
        let mut reading = reading.clone();
        let page = outbox::events_after(tx, reading.from, PAGE)?;
        reading.is_at_end = (page.rows() as i64) < PAGE;
        reading.from = page.end.unwrap_or(reading.from);
        let events = page.events;
        let mut rooms = Rooms::new();
        let epoch = outbox::history_epoch(tx)?;
        let reacted: Vec<_> = events.iter().filter_map(|stored| reacted_to(&stored.event)).collect();
        let mut facts = Facts { reactions: reactions::of(tx, &reacted)?, ..Facts::default() };
        // Who is new here does not hear of what was before.
        for stored in events.iter().filter(|stored| stored.at_ms >= born_at) {
            render(tx, &actor, &mut rooms, &mut facts, &mut reading, stored, &epoch)?;
        }
        if reading.is_at_end {
            count(tx, &actor, &mut rooms, &mut reading)?;
        }
        Ok(reading)
    })
    .await
}

type Rooms = HashMap<ConversationId, Option<Room>>;

fn room<'a>(tx: &mut Tx<'_>, rooms: &'a mut Rooms, id: ConversationId) -> Result<Option<&'a Room>, HubError> {
    let room = match rooms.entry(id) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(unknown) => unknown.insert(Room::load(tx, id)?),
    };
    Ok(room.as_ref())
}

/// Adds an event, if it is for the client, by the same rule and in the same words as the tap.
fn render(
    tx: &mut Tx<'_>,
    actor: &Actor,
    rooms: &mut Rooms,
    facts: &mut Facts,
    reading: &mut Reading,
    stored: &StoredEvent,
    epoch: &str,
) -> Result<(), HubError> {
    let me = actor.id();
    let changes_unread = match &stored.event {
        // Of these, clients receive only presence, and past presence is outdated.
        Event::Principal(_) => return Ok(()),
        Event::Reading(ReadingEvent::Moved { principal, conversation }) => {
            if *principal == me {
                reading.touched.insert(*conversation);
            }
            return Ok(());
        }
        // It happened in no conversation.
        Event::Run(_) => {
            if let Some(rendered) = frames::render(stored, None, facts) {
                write_rendered(actor, &rendered, None, stored, epoch, reading);
            }
            return Ok(());
        }
        Event::Channel(event) => {
            if let Some(member) = event.member() {
                facts.members.extend(principals::find_by_id(tx, member)?.map(|known| (member, known)));
            }
            false
        }
        Event::Message(MessageEvent::Sent(sent)) => sent.author != me,
        Event::Message(MessageEvent::Deleted(_)) => true,
        Event::Message(_) | Event::Reaction(_) => false,
    };
    let Some(conversation) = stored.event.conversation() else { return Ok(()) };
    let room = room(tx, rooms, conversation)?;
    let Some(rendered) = frames::render(stored, room, facts) else { return Ok(()) };
    let is_written = write_rendered(actor, &rendered, room, stored, epoch, reading);
    if is_written && changes_unread && reading.touched.len() < MAX_COUNTED {
        reading.touched.insert(conversation);
    }
    Ok(())
}

/// Adds a frame if the reader may receive it. Says whether it was added.
fn write_rendered(
    actor: &Actor,
    rendered: &RenderedEvent,
    room: Option<&Room>,
    stored: &StoredEvent,
    epoch: &str,
    reading: &mut Reading,
) -> bool {
    let is_received = rendered.is_within_reach_of(&actor.principal) && rendered.is_sent_to(actor.id(), room);
    if is_received {
        let id = frames::id_text(epoch, stored.position);
        // Writing into a string does not fail.
        let _ = write!(reading.text, "{}id: {id}\n\n", rendered.text);
    }
    is_received
}

/// Adds what is unread now, where that has changed. These frames have no id: they are about now, and not
/// about the event before them.
fn count(tx: &mut Tx<'_>, actor: &Actor, rooms: &mut Rooms, reading: &mut Reading) -> Result<(), HubError> {
    let me: PrincipalId = actor.id();
    let mut touched: Vec<ConversationId> = reading.touched.drain().collect();
    touched.sort_unstable();
    for conversation in touched {
        let Some(unread) = messages::count_unread(tx, conversation, &[me], None)?.get(&me).copied() else { continue };
        let Some(room) = room(tx, rooms, conversation)? else { continue };
        if room.name.channel().is_none() || actor.reaches_channel(conversation) {
            reading.text.push_str(&frames::unread_update(&room.name, me, unread.count));
            reading.text.push('\n');
        }
    }
    Ok(())
}
