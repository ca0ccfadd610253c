//! Listeners and workers that remember what they saw, and can be made to wait or to fail.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use stoa::error::HubError;
use stoa::events::outbox::EventPage;
use stoa::events::{Event, Listener, Settlement, StoredEvent, WorkItem, Worker};
use stoa::hub::{BoxFuture, Hub};
use tokio::sync::{Semaphore, watch};

/// Asks again and again until it is so. For states that nobody announces.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    for _ in 0..10_000 {
        if is_so().await {
            return;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "looks again soon, in real time; nothing depends on how long it is"
        )]
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it never came to be that {what}");
}

/// What a probe does when it is called. When the list is used up, it just works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mood {
    Fail,
    Panic,
}

/// A door that is open until it is closed.
pub(crate) struct Door(watch::Sender<bool>);

impl Door {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(true))
    }

    pub(crate) fn close(&self) {
        self.0.send_replace(false);
    }

    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn pass(&self) {
        let _ = self.0.subscribe().wait_for(|is_open| *is_open).await;
    }
}

/// A listener that writes down what it is given.
pub(crate) struct Recorder {
    name: &'static str,
    seen: watch::Sender<Vec<StoredEvent>>,
    /// How often `handle` was called, whatever came of it.
    pub(crate) calls: AtomicUsize,
    pub(crate) rebuilds: AtomicUsize,
    pub(crate) largest_batch: AtomicUsize,
    moods: Mutex<VecDeque<Mood>>,
    /// Passed after the events are written down and before the cursor moves.
    pub(crate) door: Door,
}

impl Recorder {
    pub(crate) fn new(name: &'static str) -> Arc<Self> {
        Arc::new(Self {
            name,
            seen: watch::Sender::new(Vec::new()),
            calls: AtomicUsize::default(),
            rebuilds: AtomicUsize::default(),
            largest_batch: AtomicUsize::default(),
            moods: Mutex::default(),
            door: Door::new(),
        })
    }

    pub(crate) fn expect(&self, moods: &[Mood]) {
        self.moods.lock().unwrap().extend(moods);
    }

    /// Begins anew, once the hub has settled after its start: what happened before may be given to
    /// a new listener or not, because it rebuilds anyway.
    pub(crate) fn forget(&self) {
        self.seen.send_replace(Vec::new());
        self.calls.store(0, Ordering::SeqCst);
        self.largest_batch.store(0, Ordering::SeqCst);
    }

    pub(crate) fn seen(&self) -> Vec<StoredEvent> {
        self.seen.borrow().clone()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.seen().into_iter().map(|stored| stored.event).collect()
    }

    /// Waits, without moving any clock, until this many events were seen.
    pub(crate) async fn has_seen(&self, count: usize) {
        let _ = self.seen.subscribe().wait_for(|seen| seen.len() >= count).await;
    }

    pub(crate) fn rebuilds(&self) -> usize {
        self.rebuilds.load(Ordering::SeqCst)
    }
}

impl Listener for Recorder {
    fn name(&self) -> &'static str {
        self.name
    }

    fn handle<'a>(&'a self, _: &'a Hub, page: &'a EventPage) -> BoxFuture<'a, Result<(), HubError>> {
        let events = &page.events;
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            self.largest_batch.fetch_max(events.len(), Ordering::SeqCst);
            let mood = self.moods.lock().unwrap().pop_front();
            match mood {
                Some(Mood::Fail) => return Err(HubError::internal("the listener was told to fail")),
                Some(Mood::Panic) => panic!("the listener was told to panic"),
                None => {}
            }
            // Those that its tests cause; others follow from them.
            let about_principals = events.iter().filter(|stored| stored.event.kind().starts_with("principal_"));
            self.seen.send_modify(|seen| seen.extend(about_principals.cloned()));
            self.door.pass().await;
            Ok(())
        })
    }

    fn rebuild<'a>(&'a self, _: &'a Hub) -> BoxFuture<'a, Result<(), HubError>> {
        Box::pin(async {
            self.rebuilds.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    }
}

/// A worker that writes down what it was asked to do.
pub(crate) struct Labourer {
    concurrency: usize,
    lane_limit: usize,
    done: watch::Sender<Vec<WorkItem>>,
    moods: Mutex<VecDeque<Mood>>,
    settlements: Mutex<VecDeque<Settlement>>,
    /// Passed after the item is written down and before it is settled.
    pub(crate) door: Door,
}

pub(crate) const QUEUE: &str = "labour";
pub(crate) const LEASE: Duration = Duration::from_secs(60);

impl Labourer {
    pub(crate) fn new(concurrency: usize) -> Arc<Self> {
        Self::in_lanes(concurrency, usize::MAX)
    }

    /// One that does so many items of a lane at the same time.
    pub(crate) fn in_lanes(concurrency: usize, lane_limit: usize) -> Arc<Self> {
        Arc::new(Self {
            concurrency,
            lane_limit,
            done: watch::Sender::new(Vec::new()),
            moods: Mutex::default(),
            settlements: Mutex::default(),
            door: Door::new(),
        })
    }

    pub(crate) fn expect(&self, moods: &[Mood]) {
        self.moods.lock().unwrap().extend(moods);
    }

    pub(crate) fn settle_with(&self, settlements: &[Settlement]) {
        self.settlements.lock().unwrap().extend(settlements);
    }

    /// Subjects and attempts, in the order in which they were begun.
    pub(crate) fn tries(&self) -> Vec<(String, i64)> {
        self.done.borrow().iter().map(|item| (item.subject.clone(), item.attempt)).collect()
    }

    pub(crate) async fn has_begun(&self, count: usize) {
        let _ = self.done.subscribe().wait_for(|done| done.len() >= count).await;
    }
}

impl Worker for Labourer {
    fn queue(&self) -> &'static str {
        QUEUE
    }

    fn concurrency(&self, _: &Hub) -> usize {
        self.concurrency
    }

    fn lane_limit(&self) -> usize {
        self.lane_limit
    }

    fn lease(&self) -> Duration {
        LEASE
    }

    fn perform<'a>(&'a self, _: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let mood = self.moods.lock().unwrap().pop_front();
            self.done.send_modify(|done| done.push(item.clone()));
            assert_ne!(mood, Some(Mood::Panic), "the worker was told to panic");
            self.door.pass().await;
            self.settlements.lock().unwrap().pop_front().unwrap_or(Settlement::Done)
        })
    }
}

/// Stops a command in the middle of its transaction. For a `static`, because planners are plain functions.
pub(crate) struct Gate {
    arrived: Semaphore,
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub(crate) const fn new() -> Self {
        Self { arrived: Semaphore::const_new(0), is_open: Mutex::new(false), opened: Condvar::new() }
    }

    /// Called inside of the command.
    pub(crate) fn pass(&self) {
        self.arrived.add_permits(1);
        let is_open = self.is_open.lock().unwrap();
        drop(self.opened.wait_while(is_open, |is_open| !*is_open).unwrap());
    }

    pub(crate) async fn somebody_waits(&self) {
        self.arrived.acquire().await.unwrap().forget();
    }

    pub(crate) fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}
