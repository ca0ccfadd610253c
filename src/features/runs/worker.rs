//! The line of runs: one at a time for each agent, some at a time for each hub.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stoa_db::{DbError, Tx};
use stoa_model::runs::{RunReason, RunStatus};
use stoa_model::{PrincipalId, RunId};
use tokio::sync::Notify;

use super::begin::{self, Begin, Job};
use super::control::UnderWay;
use super::execution::{self, Outcome};
use super::finish::{self, Ending};
use super::{store, wake};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::events::work::{self, NewItem};
use crate::events::{Settlement, WorkItem, Worker};
use crate::features::agents;
use crate::hub::{BoxFuture, Hub};

const QUEUE: &str = "runs";
const BATCH: i64 = 500;
const INTERNAL_PAUSE: Duration = Duration::from_secs(5);

/// Puts a run into the line of its agent.
pub(super) fn enqueue(tx: &mut Tx<'_>, agent: PrincipalId, run: RunId) -> Result<(), DbError> {
    enqueue_at(tx, agent, run, tx.now_ms())
}

/// Has it wait there until a moment.
pub(super) fn enqueue_at(tx: &mut Tx<'_>, agent: PrincipalId, run: RunId, due_at_ms: i64) -> Result<(), DbError> {
    let elsewhere = agents::find_runnable(tx, agent)?.filter(|runnable| !wake::is_subprocess(&runnable.agent));
    // Every member can have agents elsewhere, and receivers may be slow. Those of one owner share half of the places.
    let lane = elsewhere.map_or_else(|| agent.to_string(), |runnable| format!("{}/{agent}", runnable.owner));
    let item = NewItem { queue: QUEUE, subject: &run.to_string(), due_at_ms, lane: &lane, meters: &[] };
    work::enqueue_in_lane(tx, item)
}

/// Puts all runs that wait into their lines: those of an owner, or of everybody.
pub(super) fn enqueue_waiting(tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<(), DbError> {
    for status in [RunStatus::Queued, RunStatus::Deferred] {
        let mut after = RunId(0);
        loop {
            let waiting = store::list_active(tx, owner, status, after, BATCH)?;
            let Some(last) = waiting.last() else { break };
            after = last.id;
            for run in &waiting {
                enqueue_at(tx, run.agent, run.id, run.deferred_until.unwrap_or(tx.now_ms()))?;
            }
        }
    }
    Ok(())
}

/// Takes a run out of its line.
pub(super) fn cancel(tx: &mut Tx<'_>, run: RunId) -> Result<(), DbError> {
    work::cancel(tx, QUEUE, &run.to_string())
}

pub(super) struct Runner;

impl Worker for Runner {
    fn queue(&self) -> &'static str {
        QUEUE
    }

    fn concurrency(&self, hub: &Hub) -> usize {
        hub.config().runs.workers
    }

    fn lane_limit(&self) -> usize {
        1
    }

    // Runs take long by their nature.
    fn is_slow_limited(&self) -> bool {
        false
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let Ok(id) = item.subject.parse().map(RunId) else { return Settlement::Done };
            match run(hub, id).await {
                Ok(settlement) => settlement,
                Err(error) => {
                    tracing::warn!(run = id.0, %error, "a run could not be begun or settled; trying again");
                    Settlement::RetryAt(hub.clock().now_ms() + milliseconds(INTERNAL_PAUSE))
                }
            }
        })
    }
}

async fn run(hub: &Hub, id: RunId) -> Result<Settlement, HubError> {
    let found = hub.read(move |tx| {
        let Some(row) = store::find_run(tx, id)? else { return Ok(None) };
        let runs_here =
            agents::find_runnable(tx, row.agent)?.is_none_or(|runnable| wake::is_subprocess(&runnable.agent));
        Ok::<_, DbError>(Some((row.owner, runs_here)))
    });
    let Some((owner, runs_here)) = found.await? else { return Ok(Settlement::Done) };
    // Runs of different owners that are not isolated could read each other's environment, so they do not run side by side.
    let needs_turn = !wake::is_isolated(hub);
    let mut turn = None;
    if needs_turn && runs_here {
        turn = Some(OwnersTurn::wait(hub.memory::<Turns>(), owner).await);
    }
    let hub_in = hub.clone();
    let job: Arc<Job> = match hub.write(move |tx| begin::begin(&hub_in, tx, id)).await? {
        Begin::Nothing => return Ok(Settlement::Done),
        Begin::Later(at) => return Ok(Settlement::RetryAt(at)),
        Begin::Go(job) => Arc::from(job),
    };
    // Its agent may have got a command in the meantime.
    if needs_turn && job.call.is_none() && turn.is_none() {
        turn = Some(OwnersTurn::wait(hub.memory::<Turns>(), owner).await);
    }
    let entry = UnderWay::enter(hub, id);
    hub.metrics().runs_begun.inc();
    let outcome = execution::execute(hub, &job, &entry).await;
    settle(hub, &job, outcome).await?;
    drop(turn);
    Ok(Settlement::Done)
}

async fn settle(hub: &Hub, job: &Job, outcome: Outcome) -> Result<(), HubError> {
    let (hub_in, row) = (hub.clone(), job.run.clone());
    match outcome {
        Outcome::GivenUp => Ok(()),
        Outcome::HubStopping => hub.write(move |tx| begin::settle_lost(&hub_in, tx, &row)).await,
        Outcome::Ended(ending) => {
            let (hub_second, row_second) = (hub.clone(), row.clone());
            let settled = hub.write(move |tx| finish::settle(&hub_in, tx, &row, &ending)).await;
            match settled {
                // What the program left cannot be stored, and would not be the next time either.
                Err(error) if error.kind == crate::error::ErrorKind::Internal => {
                    tracing::error!(run = row_second.id.0, %error, "the end of a run could not be stored as it is");
                    let ending = Ending::failed(RunReason::Internal, finish::in_words(RunReason::Internal));
                    hub.write(move |tx| finish::settle(&hub_second, tx, &row_second, &ending)).await
                }
                settled => settled,
            }
        }
    }
}

/// Which owner's runs are under way on this hub, and who waits.
#[derive(Default)]
struct Turns {
    state: Mutex<TurnState>,
    changed: Notify,
}

#[derive(Default)]
struct TurnState {
    owner: Option<PrincipalId>,
    running: usize,
    /// Those who wait, in the order in which they came.
    waiting: Vec<(u64, PrincipalId)>,
    next_ticket: u64,
}

/// The right to run something for an owner.
struct OwnersTurn(Arc<Turns>);

/// A place among those who wait, given up when it is dropped.
struct Place<'a> {
    turns: &'a Turns,
    ticket: u64,
}

impl Turns {
    fn lock(&self) -> std::sync::MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.turns.lock().waiting.retain(|(ticket, _)| *ticket != self.ticket);
        self.turns.changed.notify_waiters();
    }
}

impl OwnersTurn {
    /// Waits until no run of another owner is running. Owners take turns in the order in which they came, so every owner gets one.
    async fn wait(turns: Arc<Turns>, owner: PrincipalId) -> Self {
        let place = {
            let mut state = turns.lock();
            let ticket = state.next_ticket;
            state.next_ticket += 1;
            state.waiting.push((ticket, owner));
            Place { turns: &turns, ticket }
        };
        loop {
            let changed = turns.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = turns.lock();
                let is_first = state.waiting.first().is_none_or(|(ticket, _)| *ticket == place.ticket);
                let is_free = state.running == 0 || state.owner == Some(owner);
                if is_first && is_free {
                    state.owner = Some(owner);
                    state.running += 1;
                    break;
                }
            }
            changed.await;
        }
        drop(place);
        Self(turns)
    }
}

impl Drop for OwnersTurn {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.changed.notify_waiters();
    }
}
