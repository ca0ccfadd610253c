//! Rows of work: written in the transaction of their cause, done by whoever holds the lease.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::{DbError, Engine, Tx, params};
use tokio::task::JoinSet;

use super::lag::unsignalled;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub, catch_panic, pause};

const FAILURE_PAUSE: Duration = Duration::from_millis(500);
/// How long to wait before an item whose worker panicked or whose settlement failed is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Does the items of one queue. It may be asked to do one twice: after a crash, or when it was so
/// slow that it lost the lease.
pub trait Worker: Send + Sync + 'static {
    fn queue(&self) -> &'static str;

    /// Items that one hub does at the same time.
    fn concurrency(&self) -> usize {
        1
    }

    /// How long a hub that has died keeps an item from the others. The lease of an item that is
    /// being worked on is extended in time.
    fn lease(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement>;
}

/// One thing to do. What it is about is in the feature's own table, under `subject`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    pub id: i64,
    pub subject: String,
    /// 1 at the first try.
    pub attempt: i64,
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

/// Adds an item to a queue. A subject that is in the queue already stays as it is.
pub fn enqueue(tx: &mut Tx<'_>, queue: &'static str, subject: &str, due_at_ms: i64) -> Result<(), DbError> {
    tx.execute(
        "insert into work (queue, subject, due_at, created_at) values ($1, $2, $3, $4) on conflict (queue, subject) do nothing",
        params![queue, subject, due_at_ms, tx.now_ms()],
    )?;
    tx.signal_work();
    Ok(())
}

/// Does a queue's items until the hub stops, then finishes those that are under way.
pub(crate) async fn serve(hub: Hub, worker: Arc<dyn Worker>) {
    let mut changes = hub.db().work();
    let mut running = JoinSet::new();
    loop {
        changes.mark_unchanged();
        let room = worker.concurrency().saturating_sub(running.len());
        let next_due = match claim(&hub, &*worker, room).await {
            Ok((items, next_due)) => {
                for item in items {
                    let (hub, worker) = (hub.clone(), worker.clone());
                    running.spawn(async move { work_on(&hub, &*worker, item).await });
                }
                Ok(next_due)
            }
            Err(error) => {
                tracing::error!(queue = worker.queue(), %error, "work could not be claimed; trying again");
                Err(())
            }
        };
        let is_full = running.len() >= worker.concurrency();
        tokio::select! {
            () = hub.stopping() => break,
            Some(_) = running.join_next(), if !running.is_empty() => {}
            _ = changes.changed(), if !is_full => {}
            () = unsignalled(&hub), if !is_full => {}
            () = wait_until_due(&hub, next_due), if !is_full => {}
        }
    }
    while running.join_next().await.is_some() {}
}

async fn wait_until_due(hub: &Hub, next_due: Result<Option<i64>, ()>) {
    match next_due {
        Ok(Some(due)) => hub.clock().sleep_until(due).await,
        Ok(None) => std::future::pending().await,
        Err(()) => pause(FAILURE_PAUSE).await,
    }
}

/// Takes up to `room` due items, and tells when the next one is due.
async fn claim(hub: &Hub, worker: &dyn Worker, room: usize) -> Result<(Vec<WorkItem>, Option<i64>), HubError> {
    if room == 0 {
        return Ok((Vec::new(), None));
    }
    let (queue, owner) = (worker.queue(), hub.instance().to_owned());
    let (limit, lease) = (i64::try_from(room).unwrap_or(i64::MAX), milliseconds(worker.lease()));
    // Looking costs no write: most of the time there is nothing to take.
    let next_due = move |tx: &mut Tx<'_>| -> Result<Option<i64>, DbError> {
        tx.query_one(
            "select min(case when lease_until is null or lease_until < due_at then due_at else lease_until end) as due
             from work where queue = $1",
            params![queue],
            |row| row.get("due"),
        )
    };
    let due: Option<i64> = hub.read(next_due).await?;
    if due.is_none_or(|due| due > hub.clock().now_ms()) {
        return Ok((Vec::new(), due));
    }
    hub.write(move |tx| {
        let now = tx.now_ms();
        let skip_locked = match tx.engine() {
            Engine::Sqlite => "",
            Engine::Postgres => "for update skip locked",
        };
        let sql = format!(
            "update work set lease_owner = $1, lease_until = $2, attempt = attempt + 1 where id in (
                 select id from work where queue = $3 and due_at <= $4 and (lease_until is null or lease_until <= $4)
                 order by due_at, id limit $5 {skip_locked})
             returning id, subject, attempt"
        );
        let items = tx.query(&sql, params![owner, now + lease, queue, now, limit], |row| {
            Ok(WorkItem { id: row.get("id")?, subject: row.get("subject")?, attempt: row.get("attempt")? })
        })?;
        let due = next_due(tx)?;
        Ok::<_, HubError>((items, due))
    })
    .await
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
                extend(hub, worker, &item).await;
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

async fn extend(hub: &Hub, worker: &dyn Worker, item: &WorkItem) {
    let (owner, id, lease) = (hub.instance().to_owned(), item.id, milliseconds(worker.lease()));
    let extended = hub
        .write(move |tx| {
            let until = tx.now_ms() + lease;
            tx.execute("update work set lease_until = $1 where id = $2 and lease_owner = $3", params![until, id, owner])
                .map_err(HubError::from)
        })
        .await;
    if let Err(error) = extended {
        tracing::warn!(queue = worker.queue(), subject = item.subject, %error, "a lease could not be extended");
    }
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
