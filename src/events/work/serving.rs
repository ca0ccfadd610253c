//! Doing the items of a queue, as long as the hub runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use stoa_db::{DbError, Tx, params};
use tokio::task::JoinSet;

use super::claims::{self, Claimed, Wish};
use super::{Settlement, WorkItem, Worker};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::events::lag::unsignalled;
use crate::hub::{Hub, catch_panic, pause};

const FAILURE_PAUSE: Duration = Duration::from_millis(500);
/// How long to wait before an item whose worker panicked or whose settlement failed is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// A lane whose item took longer than this is slow. Slow lanes have half of a hub's places together, so that the others have the rest.
const SLOW: Duration = Duration::from_secs(2);
/// The time that items under way have when the hub stops. Then they are given back, and come again.
const PATIENCE_AT_STOP: Duration = Duration::from_secs(3);

/// Does a queue's items until the hub stops, then finishes those that are under way.
pub(crate) async fn serve(hub: Hub, worker: Arc<dyn Worker>) {
    let mut changes = hub.db().work();
    let mut places = Places::new(worker.concurrency(&hub));
    places.is_slow_limited = worker.is_slow_limited();
    loop {
        changes.mark_unchanged();
        let next_look = match fill(&hub, &worker, &mut places).await {
            Ok(next_look) => Ok(next_look),
            Err(error) => {
                tracing::error!(queue = worker.queue(), %error, "work could not be claimed; trying again");
                Err(())
            }
        };
        let is_full = places.room() == 0;
        tokio::select! {
            () = hub.stopping() => break,
            Some(ended) = places.running.join_next(), if !places.running.is_empty() => places.note_end(ended.ok()),
            _ = changes.changed(), if !is_full => {}
            () = unsignalled(&hub), if !is_full => {}
            () = wait_until(&hub, next_look), if !is_full => {}
        }
    }
    let finish = async { while places.running.join_next().await.is_some() {} };
    if tokio::time::timeout(PATIENCE_AT_STOP, finish).await.is_err() {
        places.running.shutdown().await;
        give_back(&hub, worker.queue()).await;
    }
}

/// The items that a hub works on, and what it knows about their lanes.
struct Places {
    concurrency: usize,
    running: JoinSet<Ended>,
    lanes: BTreeMap<String, Lane>,
    /// Lanes whose last item took long, or is taking long.
    slow: BTreeSet<String>,
    /// Lanes that a meter lets nothing through for, and until when.
    blocked: BTreeMap<String, i64>,
    last_lane: String,
    is_slow_limited: bool,
}

/// The items of one lane that are under way.
struct Lane {
    count: usize,
    /// When the first of them was begun.
    since: i64,
}

/// An item that is no longer worked on.
struct Ended {
    lane: String,
    is_slow: bool,
}

impl Places {
    fn new(concurrency: usize) -> Self {
        Self {
            concurrency,
            running: JoinSet::new(),
            lanes: BTreeMap::new(),
            slow: BTreeSet::new(),
            blocked: BTreeMap::new(),
            last_lane: String::new(),
            is_slow_limited: true,
        }
    }

    fn room(&self) -> usize {
        self.concurrency.saturating_sub(self.running.len())
    }

    /// How many more items of slow lanes the hub may begin now.
    fn slow_room(&self) -> usize {
        if self.concurrency == 1 {
            return self.room();
        }
        let slow_ones: usize = self.slow.iter().filter_map(|lane| self.lanes.get(lane)).map(|lane| lane.count).sum();
        (self.concurrency / 2).saturating_sub(slow_ones)
    }

    /// How many items each group of lanes has under way.
    fn groups(&self) -> BTreeMap<String, usize> {
        let mut groups = BTreeMap::new();
        for (name, lane) in &self.lanes {
            if let Some(group) = claims::group_of(name) {
                *groups.entry(group.to_owned()).or_default() += lane.count;
            }
        }
        groups
    }

    /// Notes which lanes are slow before their items have ended.
    fn note_slow(&mut self, now: i64) {
        let is_slow = |lane: &Lane| now - lane.since > milliseconds(SLOW);
        self.slow.extend(self.lanes.iter().filter(|(_, lane)| is_slow(lane)).map(|(name, _)| name.clone()));
    }

    fn begin(&mut self, hub: &Hub, worker: &Arc<dyn Worker>, item: WorkItem) {
        let since = hub.clock().now_ms();
        self.lanes.entry(item.lane.clone()).or_insert(Lane { count: 0, since }).count += 1;
        self.last_lane.clone_from(&item.lane);
        let (hub, worker) = (hub.clone(), worker.clone());
        self.running.spawn(async move {
            let started = hub.clock().now_ms();
            let lane = item.lane.clone();
            work_on(&hub, &*worker, item).await;
            Ended { lane, is_slow: hub.clock().now_ms() - started > milliseconds(SLOW) }
        });
    }

    fn note_end(&mut self, ended: Option<Ended>) {
        let Some(Ended { lane, is_slow }) = ended else { return };
        if let Some(under_way) = self.lanes.get_mut(&lane) {
            under_way.count -= 1;
            if under_way.count == 0 {
                self.lanes.remove(&lane);
            }
        }
        if is_slow && self.is_slow_limited {
            self.slow.insert(lane);
        } else {
            self.slow.remove(&lane);
        }
    }
}

/// Begins what is due, as far as there are places. Returns when it is worth while to look again.
async fn fill(hub: &Hub, worker: &Arc<dyn Worker>, places: &mut Places) -> Result<Option<i64>, HubError> {
    loop {
        let now = hub.clock().now_ms();
        places.blocked.retain(|_, until| *until > now);
        if worker.is_slow_limited() {
            places.note_slow(now);
        }
        let wish = Wish {
            queue: worker.queue(),
            room: places.room(),
            lane_limit: worker.lane_limit(),
            after_lane: places.last_lane.clone(),
            avoided: places.blocked.keys().cloned().collect(),
            slow: places.slow.clone(),
            slow_room: places.slow_room(),
            groups: places.groups(),
            group_limit: (places.concurrency / 2).max(1),
        };
        let Claimed { items, next_look, blocked } = claims::claim(hub, &**worker, wish).await?;
        items.into_iter().for_each(|item| places.begin(hub, worker, item));
        let is_complete = blocked.is_empty() || places.room() == 0;
        places.blocked.extend(blocked);
        if is_complete {
            return Ok(next_look.into_iter().chain(places.blocked.values().copied()).min());
        }
        // Other lanes may have something that no meter holds back.
    }
}

async fn wait_until(hub: &Hub, next_look: Result<Option<i64>, ()>) {
    match next_look {
        Ok(Some(at)) => hub.clock().sleep_until(at).await,
        Ok(None) => std::future::pending().await,
        Err(()) => pause(FAILURE_PAUSE).await,
    }
}

async fn work_on(hub: &Hub, worker: &dyn Worker, item: WorkItem) {
    // A panic of a feature must neither end the queue nor lose the item.
    let performed = catch_panic(worker.perform(hub, &item));
    tokio::pin!(performed);
    let beat = milliseconds(worker.lease() / 3);
    let mut next_beat = hub.clock().now_ms() + beat;
    let settlement = loop {
        tokio::select! {
            settlement = &mut performed => break settlement,
            () = hub.clock().sleep_until(next_beat) => {
                // Counted from before the write, which may take its time.
                next_beat = hub.clock().now_ms() + beat;
                if !extend(hub, worker, &item).await {
                    // It was cancelled, or another hub has it.
                    return;
                }
            }
        }
    };
    let settlement = settlement.unwrap_or_else(|| {
        tracing::error!(queue = worker.queue(), subject = item.subject, "a worker panicked; the item is tried again");
        Settlement::RetryAt(hub.clock().now_ms() + milliseconds(RETRY_AFTER))
    });
    let (owner, id, attempt) = (hub.instance().to_owned(), item.id, item.attempt);
    let settled = hub.write(move |tx| settle(tx, &owner, id, attempt, settlement)).await;
    if let Err(error) = settled {
        // The lease runs out and the item is done again.
        tracing::warn!(queue = worker.queue(), subject = item.subject, %error, "an item could not be settled");
    }
}

/// Settles an item, unless its lease was lost to somebody else in the meantime.
fn settle(tx: &mut Tx<'_>, owner: &str, id: i64, attempt: i64, settlement: Settlement) -> Result<(), DbError> {
    let sql = match settlement {
        Settlement::Done => "delete from work where id = $1 and lease_owner = $2 and attempt = $3",
        Settlement::RetryAt(_) => {
            "update work set lease_owner = null, lease_until = null, due_at = $4
             where id = $1 and lease_owner = $2 and attempt = $3"
        }
        Settlement::RepeatAt(_) => {
            "update work set lease_owner = null, lease_until = null, due_at = $4, attempt = 0
             where id = $1 and lease_owner = $2 and attempt = $3"
        }
    };
    match settlement {
        Settlement::Done => tx.execute(sql, params![id, owner, attempt])?,
        Settlement::RetryAt(due) | Settlement::RepeatAt(due) => tx.execute(sql, params![id, owner, attempt, due])?,
    };
    tx.signal_work();
    Ok(())
}

/// Extends the lease of an item. False if it is no longer this hub's.
async fn extend(hub: &Hub, worker: &dyn Worker, item: &WorkItem) -> bool {
    let (owner, id, lease) = (hub.instance().to_owned(), item.id, milliseconds(worker.lease()));
    let extended = hub
        .write(move |tx| {
            let until = tx.now_ms() + lease;
            tx.execute("update work set lease_until = $1 where id = $2 and lease_owner = $3", params![until, id, owner])
                .map_err(HubError::from)
        })
        .await;
    match extended {
        Ok(extended) => extended > 0,
        Err(error) => {
            tracing::warn!(queue = worker.queue(), subject = item.subject, %error, "a lease could not be extended");
            true
        }
    }
}

/// Gives back what this hub had begun, as if it had not.
async fn give_back(hub: &Hub, queue: &'static str) {
    let owner = hub.instance().to_owned();
    let given_back = hub.write(move |tx| {
        tx.signal_work();
        tx.execute(
            "update work set lease_owner = null, lease_until = null, attempt = attempt - 1 where queue = $1 and lease_owner = $2",
            params![queue, owner],
        )
    });
    let given_back: Result<u64, DbError> = given_back.await;
    if let Err(error) = given_back {
        tracing::warn!(queue, %error, "active work could not be released; another hub takes it when its lease expires");
    }
}
