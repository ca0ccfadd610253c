//! Rows of work: written in the transaction of their cause, done by the hub that holds the lease.
//!
//! Items stand in lanes, which take turns: ten thousand items in one lane do not delay one in another. A lane can have a limit of
//! items under way, and an item can count against meters, which have a rate. Both hold for all hubs on a database together.

mod claims;
mod serving;

use std::time::Duration;

use stoa_db::{DbError, Engine, Tx, params};

use crate::hub::{BoxFuture, Hub};

pub(crate) use serving::serve;

/// Does the items of one queue. It may be asked to do one twice: after a crash, or when it was so
/// slow that it lost the lease.
pub trait Worker: Send + Sync + 'static {
    fn queue(&self) -> &'static str;

    /// Items that one hub does at the same time.
    fn concurrency(&self, _: &Hub) -> usize {
        1
    }

    /// Items of one lane that all hubs together do at the same time.
    fn lane_limit(&self) -> usize {
        usize::MAX
    }

    /// Whether lanes whose items take long share half of the places, so that the others have the rest.
    fn is_slow_limited(&self) -> bool {
        true
    }

    /// How often items that count against this meter may be begun, on all hubs together.
    fn rate(&self, _meter: &str) -> Option<Rate> {
        None
    }

    /// How long a hub that has died keeps an item from the others. The lease of an item that is
    /// being worked on is extended in time.
    fn lease(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement>;
}

/// At most so many times in any such period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub times: usize,
    pub per: Duration,
}

/// One thing to do. What it is about is in the feature's own table, under `subject`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    pub id: i64,
    pub subject: String,
    /// 1 at the first try.
    pub attempt: i64,
    pub lane: String,
}

/// What becomes of an item after a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It is done; the row goes away.
    Done,
    /// It is tried again, not before this moment.
    RetryAt(i64),
    /// It was done and comes again at this moment, as if new.
    RepeatAt(i64),
}

/// An item that is to be added to a queue.
#[derive(Debug, Clone, Copy)]
pub struct NewItem<'a> {
    pub queue: &'static str,
    pub subject: &'a str,
    pub due_at_ms: i64,
    /// With which others it takes turns.
    pub lane: &'a str,
    /// What it counts against when it is begun. Names have no spaces.
    pub meters: &'a [&'a str],
}

/// Adds an item to a queue that has one lane. A subject that is in the queue already stays as it is.
pub fn enqueue(tx: &mut Tx<'_>, queue: &'static str, subject: &str, due_at_ms: i64) -> Result<(), DbError> {
    enqueue_in_lane(tx, NewItem { queue, subject, due_at_ms, lane: "", meters: &[] })
}

/// Adds an item to a lane of a queue. A subject that is in the queue already stays as it is.
pub fn enqueue_in_lane(tx: &mut Tx<'_>, item: NewItem<'_>) -> Result<(), DbError> {
    tx.execute(
        "insert into work (queue, subject, due_at, lane, meters, created_at) values ($1, $2, $3, $4, $5, $6)
         on conflict (queue, subject) do nothing",
        params![item.queue, item.subject, item.due_at_ms, item.lane, item.meters.join(" "), tx.now_ms()],
    )?;
    tx.signal_work();
    Ok(())
}

/// Takes an item away. If somebody works on it, that ends when the lease would be extended, and is not repeated.
pub fn cancel(tx: &mut Tx<'_>, queue: &'static str, subject: &str) -> Result<(), DbError> {
    tx.execute("delete from work where queue = $1 and subject = $2", params![queue, subject])?;
    tx.signal_work();
    Ok(())
}

/// Has the items of lanes that begin so looked at now, whatever they wait for.
pub fn hurry(tx: &mut Tx<'_>, queue: &'static str, lanes: &str) -> Result<(), DbError> {
    let pattern = format!("{lanes}%");
    tx.execute(
        "update work set due_at = $3 where queue = $1 and lane like $2 and due_at > $3 and lease_owner is null",
        params![queue, pattern, tx.now_ms()],
    )?;
    tx.signal_work();
    Ok(())
}

/// Takes all items of a lane away.
pub fn cancel_lane(tx: &mut Tx<'_>, queue: &'static str, lane: &str) -> Result<(), DbError> {
    tx.execute("delete from work where queue = $1 and lane = $2", params![queue, lane])?;
    tx.signal_work();
    Ok(())
}

/// Where this process is the only one, leases that a crash left behind are nobody's.
pub(crate) fn tidy_at_start(tx: &mut Tx<'_>) -> Result<(), DbError> {
    if tx.engine() == Engine::Sqlite { release_all(tx) } else { Ok(()) }
}

/// Frees every item, for a database that no hub has ever used: a restored one.
pub(crate) fn release_all(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.execute("update work set lease_owner = null, lease_until = null where lease_owner is not null", &[])?;
    Ok(())
}

/// Items that are due or under way.
pub fn unsettled(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as items from work where due_at <= $1 or lease_owner is not null",
        params![tx.now_ms()],
        |row| row.get("items"),
    )
}
