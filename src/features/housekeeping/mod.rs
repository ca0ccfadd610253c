//! Housekeeping: what has to be done from time to time, by one hub at a time. Each chore is a row of
//! work that comes again.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::{DbError, Tx};

use crate::clock::milliseconds;
use crate::error::HubError;
use crate::events::{Settlement, WorkItem, Worker, prune, work};
use crate::feature::{Chore, Feature, Features};
use crate::hub::{BoxFuture, Hub, StartError, idempotency};

const QUEUE: &str = "housekeeping";

pub fn feature() -> Feature {
    Feature {
        workers: vec![Arc::new(Housekeeper)],
        // The chores of the ground floor, which registers nothing itself.
        chores: vec![
            Chore {
                name: "idempotency",
                every: Duration::from_secs(60 * 60),
                run: |_, tx| Ok(idempotency::prune(tx)?),
            },
            Chore { name: "outbox", every: Duration::from_secs(10 * 60), run: |_, tx| Ok(prune::prune(tx)?) },
        ],
        prepare: Some(prepare),
        ..Feature::new("housekeeping")
    }
}

/// The chores of all features.
fn chores(hub: &Hub) -> impl Iterator<Item = &Chore> {
    Features::of(hub).iter().flat_map(|feature| &feature.chores)
}

fn prepare(hub: &Hub) -> BoxFuture<'_, Result<(), StartError>> {
    Box::pin(async move {
        let hub_in = hub.clone();
        Ok(hub.write(move |tx| schedule(&hub_in, tx)).await?)
    })
}

/// Puts every chore into the queue, if it is not there.
fn schedule(hub: &Hub, tx: &mut Tx<'_>) -> Result<(), DbError> {
    for chore in chores(hub) {
        let due_at = tx.now_ms() + milliseconds(chore.every);
        work::enqueue(tx, QUEUE, chore.name, due_at)?;
    }
    Ok(())
}

struct Housekeeper;

impl Worker for Housekeeper {
    fn queue(&self) -> &'static str {
        QUEUE
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let Some(chore) = chores(hub).find(|chore| chore.name == item.subject) else {
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
