//! Housekeeping: what has to be done from time to time, by one hub at a time. Each chore is a row of
//! work that comes again.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::{DbError, Tx};

use super::{machines, messages, oauth, traces, users, workflow};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::events::{Settlement, WorkItem, Worker, prune, work};
use crate::hub::idempotency;
use crate::hub::{BoxFuture, Hub};

const QUEUE: &str = "housekeeping";
const MINUTE: Duration = Duration::from_secs(60);

/// A thing to do, how often, and how. The function is called until it has nothing left to do.
struct Chore {
    name: &'static str,
    every: Duration,
    run: fn(&Hub, &mut Tx<'_>) -> Result<u64, HubError>,
}

const CHORES: [Chore; 11] = [
    Chore { name: "sessions", every: MINUTE.saturating_mul(10), run: |_, tx| Ok(users::prune_sessions(tx)?) },
    Chore { name: "oauth", every: MINUTE.saturating_mul(10), run: |_, tx| Ok(oauth::prune(tx)?) },
    Chore { name: "idempotency", every: MINUTE.saturating_mul(60), run: |_, tx| Ok(idempotency::prune(tx)?) },
    Chore { name: "outbox", every: MINUTE.saturating_mul(10), run: |_, tx| Ok(prune::prune(tx)?) },
    Chore { name: "leases", every: MINUTE, run: messages::release_expired },
    Chore { name: "stalemates", every: MINUTE, run: workflow::send_stalemate_notices },
    Chore { name: "deleted channels", every: MINUTE, run: messages::purge_deleted_channels },
    Chore { name: "traces", every: MINUTE.saturating_mul(10), run: |hub, tx| Ok(traces::prune(hub, tx)?) },
    Chore {
        name: "machine components",
        every: MINUTE.saturating_mul(60),
        run: |_, tx| Ok(machines::prune_status(tx)?),
    },
    Chore { name: "machine nonces", every: MINUTE, run: |_, tx| Ok(machines::prune_nonces(tx)?) },
    Chore {
        name: "machine events",
        every: MINUTE.saturating_mul(10),
        run: |hub, tx| Ok(machines::prune_events(hub, tx)?),
    },
];

struct Housekeeper;

pub fn worker() -> Arc<dyn Worker> {
    Arc::new(Housekeeper)
}

/// Puts every chore into the queue, if it is not there.
pub fn schedule(tx: &mut Tx<'_>) -> Result<(), DbError> {
    for chore in &CHORES {
        let due_at = tx.now_ms() + milliseconds(chore.every);
        work::enqueue(tx, QUEUE, chore.name, due_at)?;
    }
    Ok(())
}

impl Worker for Housekeeper {
    fn queue(&self) -> &'static str {
        QUEUE
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let Some(chore) = CHORES.iter().find(|chore| chore.name == item.subject) else {
                return Settlement::Done;
            };
            if let Err(error) = run(hub, chore).await {
                tracing::warn!(chore = chore.name, %error, "housekeeping failed and will be tried again");
            }
            Settlement::RepeatAt(hub.clock().now_ms() + milliseconds(chore.every))
        })
    }
}

async fn run(hub: &Hub, chore: &Chore) -> Result<(), HubError> {
    loop {
        let (run, hub_in) = (chore.run, hub.clone());
        if hub.write(move |tx| run(&hub_in, tx)).await? == 0 {
            return Ok(());
        }
    }
}
