//! Keeps the index up to date: follows what happens, and fills it anew where it cannot.
//!
//! The index knows itself how far it has come, and says so in the transaction that brings it there. So nothing depends on
//! what was known elsewhere: after a crash, a restore or a lost file it goes on from where it is, or starts over.
//!
//! It does one thing at a time, on one core, and reads no more than it indexes next. Of each owner a batch takes only a share.
//! The rest waits in the queue, from which each step takes a piece, as much of one owner as of another. So nobody's texts keep
//! those of others from the index for long.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stoa_db::{DbError, Engine, Tx};
use stoa_model::MessageId;

use super::entries::{self, Entry, Source};
use super::index::{self, COMPLETE, IndexProgress};
use super::{queue, sqlite};
use crate::error::HubError;
use crate::events::outbox::EventPage;
use crate::events::{Event, Listener, MessageEvent, Position, StoredEvent, listener as listeners, outbox};
use crate::features::messages::{self, TextSize};
use crate::hub::{BoxFuture, Hub, pause};

pub const LISTENER: &str = "search";

/// Events in one transaction of the index.
const BATCH: i64 = 5_000;
/// Messages in one, when it is filled again.
const FILL_BATCH: i64 = 10_000;
/// Messages that are loaded before it is asked whether there are enough.
const PORTION: usize = 200;
/// Bytes of texts in one transaction, when it is filled anew.
const FILL_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of new texts in one transaction.
const STEP_BYTES: i64 = 2 * 1024 * 1024;
/// Bytes of new texts of one owner in one transaction. What is more waits in the queue.
const OWNER_BYTES: i64 = 1024 * 1024;
/// Between two batches. Nobody waits for them: a search looks at what is not indexed yet by itself.
const REST: Duration = Duration::from_millis(250);

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

    fn handle<'a>(&'a self, hub: &'a Hub, page: &'a EventPage) -> BoxFuture<'a, Result<(), HubError>> {
        Box::pin(async move {
            let Some(end) = page.end else { return Ok(()) };
            let given: Arc<[Change]> = Change::of_page(page).into();
            catch_up(hub, end, given).await
        })
    }

    fn rebuild<'a>(&'a self, hub: &'a Hub) -> BoxFuture<'a, Result<(), HubError>> {
        Box::pin(async move {
            rebuild(hub).await?;
            // What happened while it was filled; and if there was nothing to fill, what it has not seen yet.
            let end = hub.read(outbox::end).await?;
            catch_up(hub, end, Arc::default()).await
        })
    }
}

/// Names the run of the hub in which the database was last used. See [`prepare`].
const RUN: &str = "search_run";

/// What a start finds.
enum Found {
    Usable,
    /// It is missing, not finished, or behind what can be read.
    Unusable,
    /// It was made from another state of the database.
    Foreign,
}

/// Has the index filled anew in the background if it is not that of this database.
///
/// On SQLite it is a file of its own, so somebody may bring back an older `stoa.db`, or lose its log, and leave the index
/// as it is. Then events get numbers that the index has seen already. So each start draws a name for its run and writes it
/// into both files. If the names differ, the two files have parted. If they are the same, both were last used in one run, in which
/// the database cannot have gone back, so it is enough that the index has seen no more than there is.
pub async fn prepare(hub: &Hub) -> Result<(), HubError> {
    let found = hub.read(examine).await;
    let engine = hub.db().engine();
    let run = match engine {
        Engine::Sqlite => Some(hub.write(begin_run).await?),
        Engine::Postgres => None,
    };
    match found {
        Ok(Found::Foreign) => {
            tracing::warn!(
                "the database is not the one that the search index was made from: it is older or another copy; the index is rebuilt"
            );
            // Clients of event streams may have seen the same events as the index.
            hub.write(outbox::rename_history).await?;
            return start_over(hub).await;
        }
        Ok(Found::Unusable) => start_over(hub).await?,
        Ok(Found::Usable) => {}
        Err(error) => {
            tracing::warn!(%error, "the search index cannot be read and is rebuilt");
            return report_damage(hub).await;
        }
    }
    let Some(run) = run else { return Ok(()) };
    let written: Result<(), DbError> = hub.db().write_companion(move |tx| sqlite::update_run(tx, &run)).await;
    if let Err(error) = written {
        tracing::warn!(%error, "the search index cannot be written and is rebuilt");
        return report_damage(hub).await;
    }
    Ok(())
}

fn examine(tx: &mut Tx<'_>) -> Result<Found, HubError> {
    // First of all, as always.
    let state = index::find_state(tx)?;
    if let Some(state) = &state
        && tx.engine() == Engine::Sqlite
        && state.epoch == outbox::history_epoch(tx)?
    {
        let (origin, run, end) = (sqlite::find_origin(tx)?, Hub::meta(tx, RUN)?, outbox::end(tx)?);
        if !origin.is_some_and(|origin| Some(origin.run) == run && origin.seen <= end.seq && state.position <= end) {
            return Ok(Found::Foreign);
        }
    }
    // Without an event nobody would go on with what waits in the queue.
    let is_done = |state: IndexProgress| state.built_through == COMPLETE && !state.has_queue;
    Ok(if usable(tx, state)?.is_some_and(is_done) { Found::Usable } else { Found::Unusable })
}

/// Draws the name of this run.
fn begin_run(tx: &mut Tx<'_>) -> Result<String, HubError> {
    let run = format!("{:032x}", u128::from_be_bytes(tx.random_bytes()));
    Hub::set_meta(tx, RUN, &run)?;
    Ok(run)
}

async fn start_over(hub: &Hub) -> Result<(), HubError> {
    hub.write(|tx| Ok::<_, HubError>(listeners::forget(tx, LISTENER)?)).await
}

/// Has the index thrown away and rebuilt.
pub(super) async fn report_damage(hub: &Hub) -> Result<(), HubError> {
    if hub.memory::<Condition>().is_damaged.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    start_over(hub).await
}

/// The state, if it is one of this history and nothing that happened after it is forgotten.
pub(super) fn usable(tx: &mut Tx<'_>, state: Option<IndexProgress>) -> Result<Option<IndexProgress>, DbError> {
    let Some(state) = state else { return Ok(None) };
    let is_of_now = state.epoch == outbox::history_epoch(tx)? && state.position >= outbox::pruned_through(tx)?;
    Ok(is_of_now.then_some(state))
}

/// The messages whose texts are found otherwise since this happened.
pub(super) fn touched(event: &Event) -> &[MessageId] {
    match event {
        // A DM that tells of a mention is not found.
        Event::Message(MessageEvent::Sent(sent)) if sent.mention_of.is_some() => &[],
        Event::Message(event) => event.changed_messages(),
        // Reactions, states, and who may see a conversation are looked up when somebody searches.
        Event::Reaction(_) | Event::Principal(_) | Event::Channel(_) | Event::Reading(_) | Event::Run(_) => &[],
    }
}

/// What brings the index from one state to the next.
struct Step {
    before: IndexProgress,
    after: IndexProgress,
    sources: Vec<Source>,
    /// Those that can be found no more.
    gone: Vec<i64>,
    /// Those that go into the queue.
    put_off: Vec<TextSize>,
    /// Whether there is anything in the queue.
    has_queue: bool,
    /// The newest event when the entries were read.
    end: Position,
}

enum Progress {
    /// It is as far as it was asked to be.
    Done,
    Step(Box<Step>),
    /// It cannot go on from where it is.
    Lost,
}

/// An event, as far as it matters here.
#[derive(Clone)]
struct Change {
    position: Position,
    messages: Vec<MessageId>,
}

impl Change {
    fn of(stored: &StoredEvent) -> Self {
        Self { position: stored.position, messages: touched(&stored.event).to_vec() }
    }

    /// Rows that cannot be read change nothing here, but the index must get past them: pruning relies on it.
    fn of_page(page: &EventPage) -> Vec<Self> {
        let mut changes: Vec<Self> = page.events.iter().map(Self::of).collect();
        changes.extend(page.end.map(|position| Self { position, messages: Vec::new() }));
        changes
    }
}

/// Of the given events those behind a state; none if others come before them.
fn continuing(tx: &mut Tx<'_>, before: &IndexProgress, given: &[Change]) -> Result<Option<Vec<Change>>, DbError> {
    let Some(first) = given.first() else { return Ok(None) };
    if before.position < first.position && !outbox::is_next(tx, before.position, first.position)? {
        return Ok(None);
    }
    Ok(Some(given.iter().filter(|change| change.position > before.position).cloned().collect()))
}

/// Brings the index up to a position. Events that are `given` need not be read again.
async fn catch_up(hub: &Hub, through: Position, given: Arc<[Change]>) -> Result<(), HubError> {
    loop {
        #[expect(clippy::disallowed_methods, reason = "measures how long the only core is used")]
        let (given, started) = (given.clone(), Instant::now());
        let progress = if hub.memory::<Condition>().is_damaged.load(Ordering::SeqCst) {
            Ok(Progress::Lost)
        } else {
            hub.read(move |tx| next_step(tx, through, &given)).await
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
                tracing::warn!(reason, "the search index is damaged and rebuilt");
                return rebuild(hub).await;
            }
            Err(error) => return Err(error.into()),
        }
        if hub.is_stopping() {
            return Ok(());
        }
        rest_after(hub, started.elapsed()).await;
    }
}

/// Leaves half of the cores to others. One step runs after the other, so that is nothing to think of where there are two.
async fn rest_after(hub: &Hub, step: Duration) {
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        tokio::select! {
            () = hub.stopping() => {}
            () = pause(step) => {}
        }
    }
}

fn next_step(tx: &mut Tx<'_>, through: Position, given: &[Change]) -> Result<Progress, DbError> {
    // First of all: on SQLite the index is another file, and must not be newer than what is read after it.
    let state = index::find_state(tx)?;
    let Some(before) = usable(tx, state)? else { return Ok(Progress::Lost) };
    if before.built_through != COMPLETE {
        return fill_step(tx, before);
    }
    let has_queue = before.has_queue;
    let queued = if has_queue { queue::next_piece(tx)? } else { Vec::new() };
    // While there is a queue, what happens meanwhile must not wait for its end.
    let changes = if before.position >= through && !has_queue {
        return Ok(Progress::Done);
    } else {
        match continuing(tx, &before, given)? {
            Some(changes) if !changes.is_empty() => changes,
            _ => Change::of_page(&outbox::events_after(tx, before.position, BATCH)?),
        }
    };
    if changes.is_empty() && !has_queue {
        return Ok(Progress::Done);
    }
    let Shares { mut now, put_off, seen: mut gone, reached } = share_out(tx, &changes)?;
    for id in queued {
        // One that has just changed is dealt with above.
        if gone.insert(id) {
            now.push(id);
        }
    }
    let sources = entries::load(tx, &now)?;
    for id in sources.iter().map(|source| source.text.id).chain(put_off.iter().map(|size| size.id)) {
        gone.remove(&id);
    }
    let after = IndexProgress { position: reached.unwrap_or(before.position), ..before.clone() };
    Ok(Progress::Step(Box::new(Step {
        before,
        after,
        sources,
        gone: gone.into_iter().map(|id| id.0).collect(),
        put_off,
        has_queue,
        end: outbox::end(tx)?,
    })))
}

/// What becomes of the messages that changed.
#[derive(Default)]
struct Shares {
    /// Indexed at once.
    now: Vec<MessageId>,
    /// Beyond the share of their owner.
    put_off: Vec<TextSize>,
    /// All of them, with those that are no more.
    seen: BTreeSet<MessageId>,
    /// The last change that was looked at.
    reached: Option<Position>,
}

fn share_out(tx: &mut Tx<'_>, changes: &[Change]) -> Result<Shares, DbError> {
    let ids: BTreeSet<MessageId> = changes.iter().flat_map(|change| &change.messages).copied().collect();
    let ids: Vec<MessageId> = ids.into_iter().collect();
    let sizes = if ids.is_empty() { Vec::new() } else { messages::list_sizes(tx, &ids)? };
    let sizes: HashMap<MessageId, TextSize> = sizes.into_iter().map(|size| (size.id, size)).collect();
    let mut shares = Shares::default();
    let mut of_owners: HashMap<_, i64> = HashMap::new();
    let mut all = 0;
    for change in changes {
        if all >= STEP_BYTES {
            break;
        }
        for id in &change.messages {
            let is_new = shares.seen.insert(*id);
            let Some(size) = sizes.get(id).filter(|_| is_new) else { continue };
            let of_owner = of_owners.entry(size.owner).or_default();
            if *of_owner + size.bytes > OWNER_BYTES {
                shares.put_off.push(*size);
            } else {
                *of_owner += size.bytes;
                all += size.bytes;
                shares.now.push(*id);
            }
        }
        shares.reached = Some(change.position);
    }
    Ok(shares)
}

/// The next messages of an index that is being filled.
fn fill_step(tx: &mut Tx<'_>, before: IndexProgress) -> Result<Progress, DbError> {
    let ids = messages::list_ids_after(tx, MessageId(before.built_through), FILL_BATCH)?;
    let (mut sources, mut bytes) = (Vec::new(), 0);
    let mut built_through = ids.last().map_or(COMPLETE, |id| id.0);
    for portion in ids.chunks(PORTION) {
        let loaded = entries::load(tx, portion)?;
        bytes += loaded.iter().map(Source::bytes).sum::<usize>();
        sources.extend(loaded);
        if bytes > FILL_BYTES {
            built_through = portion.last().map_or(built_through, |id| id.0);
            break;
        }
    }
    let after = IndexProgress { built_through, ..before.clone() };
    let end = outbox::end(tx)?;
    let (gone, put_off, has_queue) = (Vec::new(), Vec::new(), false);
    Ok(Progress::Step(Box::new(Step { before, after, sources, gone, put_off, has_queue, end })))
}

/// Takes a step. False if the index is no longer where it began: another hub is at it.
async fn take(hub: &Hub, step: Step) -> Result<bool, HubError> {
    let index = index::of(hub.db().engine());
    let Step { before, after, sources, mut gone, put_off, has_queue, end } = step;
    // Neither on a reader nor in a transaction: others wait for both.
    let tokenised =
        tokio::task::spawn_blocking(move || sources.into_iter().map(Source::into_entry).collect::<Vec<Entry>>());
    let entries = tokenised.await.map_err(HubError::internal)?;
    let texts = entries.len() as u64;
    let done: Vec<i64> =
        if has_queue { entries.iter().map(|entry| entry.id).chain(gone.iter().copied()).collect() } else { Vec::new() };
    // The index must not find what was said before.
    gone.extend(put_off.iter().map(|size| size.id.0));
    let is_taken = index::write(hub, move |tx| {
        if !index::update_state(tx, &before, &after)? {
            return Ok(false);
        }
        index.note_seen(tx, end)?;
        if !done.is_empty() {
            queue::remove(tx, &done)?;
        }
        queue::insert(tx, &put_off)?;
        index.remove(tx, &gone)?;
        index.insert(tx, &entries)?;
        Ok(true)
    })
    .await?;
    if is_taken {
        hub.metrics().search_texts.inc_by(texts);
    }
    Ok(is_taken)
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
        let is_whole = !is_damaged && found.is_ok();
        if !(is_whole && index::empty(hub).await?) {
            index::clear(hub).await?;
        }
        let (state, run) = hub
            .read(|tx| {
                let (epoch, position) = (outbox::history_epoch(tx)?, outbox::end(tx)?);
                let run = Hub::meta(tx, RUN)?.unwrap_or_default();
                Ok::<_, DbError>((IndexProgress { epoch, position, built_through: 0, has_queue: false }, run))
            })
            .await?;
        let index = index::of(hub.db().engine());
        index::write(hub, move |tx| {
            index.begin(tx, &run)?;
            Ok(index::insert_state(tx, &state)?)
        })
        .await?;
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
        filled += step.sources.len();
        if !take(hub, *step).await? {
            return Ok(());
        }
    }
    if filled > 0 {
        tracing::info!(messages = filled, "the search index was filled");
    }
    Ok(())
}
