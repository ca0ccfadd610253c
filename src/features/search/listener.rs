//! Keeps the index up to date: follows what happens, and fills it anew where it cannot.
//!
//! The index knows itself how far it has come, and says so in the transaction that brings it there. So nothing depends on
//! what was known elsewhere: after a crash, a restore or a lost file it goes on from where it is, or begins anew.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stoa_db::{DbError, Tx};
use stoa_model::MessageId;

use super::entries::{self, Entry};
use super::index::{self, COMPLETE, State};
use crate::error::HubError;
use crate::events::{Event, Listener, Position, StoredEvent, listener as listeners, outbox};
use crate::features::messages;
use crate::hub::{BoxFuture, Hub};

pub const LISTENER: &str = "search";

/// Events in one transaction of the index.
const BATCH: i64 = 2_000;
/// Messages in one, when it is filled anew.
const FILL_BATCH: i64 = 10_000;
/// Bytes of texts in one transaction, at least one text.
const BATCH_BYTES: i64 = 8 * 1024 * 1024;
/// Between two batches. Nobody waits for them: a search looks at what is not indexed yet by itself.
const REST: Duration = Duration::from_millis(100);

struct Indexer;

pub fn listener() -> Arc<dyn Listener> {
    Arc::new(Indexer)
}

/// What this hub knows of the state of its index.
#[derive(Default)]
struct Condition {
    /// Somebody found it damaged.
    is_damaged: AtomicBool,
}

impl Listener for Indexer {
    fn name(&self) -> &'static str {
        LISTENER
    }

    fn batch(&self) -> i64 {
        BATCH
    }

    fn rest(&self) -> Duration {
        REST
    }

    fn handle<'a>(&'a self, hub: &'a Hub, events: &'a [StoredEvent]) -> BoxFuture<'a, Result<(), HubError>> {
        Box::pin(async move {
            match events.last() {
                Some(last) => catch_up(hub, last.position).await,
                None => Ok(()),
            }
        })
    }

    fn rebuild<'a>(&'a self, hub: &'a Hub) -> BoxFuture<'a, Result<(), HubError>> {
        Box::pin(async move {
            rebuild(hub).await?;
            // What happened while it was filled; and if there was nothing to fill, what it has not seen yet.
            let end = hub.read(outbox::end).await?;
            catch_up(hub, end).await
        })
    }
}

/// Has the index filled anew in the background if it is not that of this database.
pub async fn prepare(hub: &Hub) -> Result<(), HubError> {
    let is_usable = hub
        .read(|tx| {
            let state = index::find_state(tx)?;
            Ok::<_, HubError>(usable(tx, state)?.is_some_and(|state| state.built_through == COMPLETE))
        })
        .await;
    match is_usable {
        Ok(true) => Ok(()),
        Ok(false) => begin_anew(hub).await,
        Err(error) => {
            tracing::warn!(%error, "the search index cannot be read and is made anew");
            report_damage(hub).await
        }
    }
}

async fn begin_anew(hub: &Hub) -> Result<(), HubError> {
    hub.write(|tx| Ok::<_, HubError>(listeners::forget(tx, LISTENER)?)).await
}

/// Has the index thrown away and made anew.
pub(super) async fn report_damage(hub: &Hub) -> Result<(), HubError> {
    if hub.memory::<Condition>().is_damaged.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    begin_anew(hub).await
}

/// The state, if it is one of this history and nothing that happened after it is forgotten.
pub(super) fn usable(tx: &mut Tx<'_>, state: Option<State>) -> Result<Option<State>, DbError> {
    let Some(state) = state else { return Ok(None) };
    let is_of_now = state.epoch == outbox::history_epoch(tx)? && state.position >= outbox::pruned_through(tx)?;
    Ok(is_of_now.then_some(state))
}

/// The messages that can be found otherwise since this happened.
pub(super) fn touched(event: &Event) -> &[MessageId] {
    match event {
        // A DM that tells of a mention is not found.
        Event::MessageSent(sent) if sent.mention_of.is_some() => &[],
        Event::MessageSent(sent) => std::slice::from_ref(&sent.message),
        Event::MessageEdited(change) | Event::MessageDeleted(change) => std::slice::from_ref(&change.message),
        Event::MessagesPurged { messages } => messages,
        // Who may see a conversation is asked when somebody searches.
        Event::PrincipalCreated { .. }
        | Event::PrincipalUpdated { .. }
        | Event::PrincipalDeleted { .. }
        | Event::AccessChanged { .. }
        | Event::PresenceChanged { .. }
        | Event::ChannelCreated { .. }
        | Event::ChannelUpdated { .. }
        | Event::ChannelHidden { .. }
        | Event::ChannelDeleted { .. }
        | Event::MemberAdded { .. }
        | Event::MemberRemoved { .. }
        | Event::MessageStatusChanged { .. }
        | Event::ReadMoved { .. } => &[],
    }
}

/// What brings the index from one state to the next.
struct Step {
    before: State,
    after: State,
    entries: Vec<Entry>,
    /// Those that can be found no more.
    gone: Vec<i64>,
}

enum Progress {
    /// It is as far as it was asked to be.
    Done,
    Step(Box<Step>),
    /// It cannot go on from where it is.
    Lost,
}

/// Brings the index up to a position.
async fn catch_up(hub: &Hub, through: Position) -> Result<(), HubError> {
    loop {
        let progress = if hub.memory::<Condition>().is_damaged.load(Ordering::SeqCst) {
            Ok(Progress::Lost)
        } else {
            hub.read(move |tx| next_step(tx, through)).await
        };
        match progress {
            Ok(Progress::Done) => return Ok(()),
            Ok(Progress::Step(step)) => {
                if !take(hub, *step).await? {
                    return Ok(());
                }
            }
            Ok(Progress::Lost) => return rebuild(hub).await,
            Err(DbError::Damaged(reason)) => {
                tracing::warn!(reason, "the search index is damaged and made anew");
                return rebuild(hub).await;
            }
            Err(error) => return Err(error.into()),
        }
        if hub.is_stopping() {
            return Ok(());
        }
    }
}

fn next_step(tx: &mut Tx<'_>, through: Position) -> Result<Progress, DbError> {
    // First of all: on SQLite the index is another file, and must not be newer than what is read after it.
    let state = index::find_state(tx)?;
    let Some(before) = usable(tx, state)? else { return Ok(Progress::Lost) };
    if before.built_through != COMPLETE {
        return fill_step(tx, before);
    }
    if before.position >= through {
        return Ok(Progress::Done);
    }
    let events = outbox::events_after(tx, before.position, BATCH)?;
    let all: BTreeSet<MessageId> = events.iter().flat_map(|stored| touched(&stored.event)).copied().collect();
    let all: Vec<MessageId> = all.into_iter().collect();
    let sizes: HashMap<MessageId, i64> = messages::list_text_sizes(tx, &all)?.into_iter().collect();
    let mut position = before.position;
    let mut ids: BTreeSet<MessageId> = BTreeSet::new();
    let mut bytes = 0;
    for stored in &events {
        let news = touched(&stored.event).iter().filter(|id| !ids.contains(id));
        bytes += news.filter_map(|id| sizes.get(id)).sum::<i64>();
        if bytes > BATCH_BYTES && !ids.is_empty() {
            break;
        }
        ids.extend(touched(&stored.event));
        position = stored.position;
    }
    if position == before.position {
        return Ok(Progress::Done);
    }
    let ids: Vec<MessageId> = ids.into_iter().collect();
    let entries = entries::load(tx, &ids)?;
    let gone = ids.iter().map(|id| id.0).filter(|id| entries.binary_search_by_key(id, |entry| entry.id).is_err());
    let after = State { position, ..before.clone() };
    Ok(Progress::Step(Box::new(Step { gone: gone.collect(), before, after, entries })))
}

/// The next messages of an index that is being filled.
fn fill_step(tx: &mut Tx<'_>, before: State) -> Result<Progress, DbError> {
    let sizes = messages::list_text_sizes_after(tx, MessageId(before.built_through), FILL_BATCH)?;
    let mut bytes = 0;
    let ids: Vec<MessageId> = sizes
        .iter()
        .enumerate()
        .take_while(|(place, (_, size))| {
            bytes += size;
            *place == 0 || bytes <= BATCH_BYTES
        })
        .map(|(_, (id, _))| *id)
        .collect();
    let entries = entries::load(tx, &ids)?;
    let built_through = ids.last().map_or(COMPLETE, |id| id.0);
    let after = State { built_through, ..before.clone() };
    Ok(Progress::Step(Box::new(Step { before, after, entries, gone: Vec::new() })))
}

/// Takes a step. False if the index is no longer where it began: another hub is at it.
async fn take(hub: &Hub, step: Step) -> Result<bool, HubError> {
    let index = index::of(hub.db().engine());
    index::write(hub, move |tx| {
        if !index::update_state(tx, &step.before, &step.after)? {
            return Ok(false);
        }
        index.remove(tx, &step.gone)?;
        index.insert(tx, &step.entries)?;
        Ok(true)
    })
    .await
}

/// Fills the index from the messages, from where it was left off if it can be used at all.
async fn rebuild(hub: &Hub) -> Result<(), HubError> {
    let is_damaged = hub.memory::<Condition>().is_damaged.load(Ordering::SeqCst);
    let found = hub
        .read(|tx| {
            let state = index::find_state(tx)?;
            usable(tx, state)
        })
        .await;
    if is_damaged || !matches!(found, Ok(Some(_))) {
        if let Err(error) = &found
            && !matches!(error, DbError::Damaged(_))
        {
            return Err(error.clone().into());
        }
        index::clear(hub).await?;
        let state = hub
            .read(|tx| {
                let (epoch, position) = (outbox::history_epoch(tx)?, outbox::end(tx)?);
                Ok::<_, DbError>(State { epoch, position, built_through: 0 })
            })
            .await?;
        index::write(hub, move |tx| Ok(index::insert_state(tx, &state)?)).await?;
        hub.memory::<Condition>().is_damaged.store(false, Ordering::SeqCst);
    }
    let mut filled = 0;
    while !hub.is_stopping() {
        let progress = hub
            .read(|tx| {
                let state = index::find_state(tx)?;
                match usable(tx, state)? {
                    Some(before) if before.built_through != COMPLETE => fill_step(tx, before),
                    _ => Ok::<_, DbError>(Progress::Done),
                }
            })
            .await?;
        let Progress::Step(step) = progress else { break };
        filled += step.entries.len();
        if !take(hub, *step).await? {
            return Ok(());
        }
    }
    if filled > 0 {
        tracing::info!(messages = filled, "the search index was filled");
    }
    Ok(())
}
