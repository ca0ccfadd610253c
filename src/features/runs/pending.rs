//! What waits for an agent: one run covers all of it, as soon as it may start.

use stoa_db::{DbError, Tx};
use stoa_model::dispatch::{ForeignReach, NotWokenReason};
use stoa_model::messages::DeliveryState;
use stoa_model::{ConversationId, MessageId, PrincipalId, RunId};

use super::store::RunRow;
use super::wake::{self, Start};
use super::{store, wake_store};
use crate::error::HubError;
use crate::events::work;
use crate::events::{Settlement, WorkItem, Worker};
use crate::features::agents::Runnable;
use crate::features::messages::WaitingRow;
use crate::features::{agents, messages, principals};
use crate::hub::{BoxFuture, Hub};

const QUEUE: &str = "pending runs";
/// Messages that one run covers. What is more waits for the next one.
const MAX_COVERED: i64 = 1000;
const INTERNAL_PAUSE_MS: i64 = 5_000;

/// Has what waits for an agent looked at, not before a moment.
pub(super) fn schedule(tx: &mut Tx<'_>, agent: PrincipalId, due_at_ms: i64) -> Result<(), DbError> {
    work::cancel(tx, QUEUE, &agent.to_string())?;
    work::enqueue(tx, QUEUE, &agent.to_string(), due_at_ms)
}

pub(super) struct Starter;

impl Worker for Starter {
    fn queue(&self) -> &'static str {
        QUEUE
    }

    fn concurrency(&self, _: &Hub) -> usize {
        2
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let Ok(agent) = item.subject.parse().map(PrincipalId) else { return Settlement::Done };
            let hub_in = hub.clone();
            match hub.write(move |tx| start(&hub_in, tx, agent)).await {
                Ok(settlement) => settlement,
                Err(error) => {
                    tracing::warn!(agent = agent.0, %error, "waiting messages could not be looked at; trying again");
                    Settlement::RetryAt(hub.clock().now_ms() + INTERNAL_PAUSE_MS)
                }
            }
        })
    }
}

/// Starts a run for what waits, if it may start now.
fn start(hub: &Hub, tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Settlement, HubError> {
    agents::begin_decision(tx, agent, None)?;
    let Some(runnable) = agents::find_runnable(tx, agent)? else { return Ok(Settlement::Done) };
    let waiting = messages::list_waiting(tx, agent, MAX_COVERED)?;
    if waiting.is_empty() {
        agents::set_pending_work(tx, agent, false)?;
        return Ok(Settlement::Done);
    }
    match wake::halt_of(hub, tx, &runnable)? {
        // It waits until somebody lifts that, and is then looked at again.
        Some(NotWokenReason::ActingOff | NotWokenReason::Quarantined | NotWokenReason::Paused) => {
            return Ok(Settlement::Done);
        }
        Some(reason) => {
            messages::drop_waiting(tx, agent, reason.name())?;
            agents::set_pending_work(tx, agent, false)?;
            return Ok(Settlement::Done);
        }
        None => {}
    }
    // The end of that run has it looked at again.
    if store::find_active(tx, agent)?.is_some() {
        return Ok(Settlement::Done);
    }
    if let Some(at) = wake::cooled_at(&runnable).filter(|at| *at > tx.now_ms()) {
        return Ok(Settlement::RetryAt(at));
    }
    // What has waited for longest is run first.
    let mut classes: Vec<(Class, Vec<&WaitingRow>)> = Vec::new();
    for row in &waiting {
        let class = class_of(tx, row, &runnable)?;
        match classes.iter_mut().find(|(known, _)| *known == class) {
            Some((_, covered)) => covered.push(row),
            None => classes.push((class, vec![row])),
        }
    }
    for (class, covered) in &classes {
        let is_foreign = *class != Class::OwnersSide;
        let ids: Vec<MessageId> = covered.iter().map(|row| row.message).collect();
        if is_foreign && wake::is_for_owners_side(hub, &runnable.agent) {
            // The command was set after they were let in.
            for message in &ids {
                let reason = Some(NotWokenReason::Sender.name());
                messages::set_wake(tx, *message, DeliveryState::NotWoken, reason, None)?;
            }
            continue;
        }
        let Some(run) = queue(hub, tx, &runnable, covered, is_foreign)? else { continue };
        messages::cover(tx, &ids, run)?;
        let is_rest_waiting = ids.len() < waiting.len() || waiting.len() as i64 == MAX_COVERED;
        agents::set_pending_work(tx, agent, is_rest_waiting)?;
        return Ok(Settlement::Done);
    }
    if messages::count_waiting(tx, agent, 1)? == 0 {
        agents::set_pending_work(tx, agent, false)?;
        return Ok(Settlement::Done);
    }
    // The budget is for a day.
    Ok(Settlement::RetryAt(wake_store::day_of(tx.now_ms()).1))
}

/// Has a run that has waited cover what has come in the meantime, as far as it may share a run.
pub(super) fn join(tx: &mut Tx<'_>, run: &RunRow, runnable: &Runnable) -> Result<(), DbError> {
    agents::begin_decision(tx, run.agent, None)?;
    let waiting = messages::list_waiting(tx, run.agent, MAX_COVERED)?;
    let trigger = run.trigger_message.map(|id| messages::find(tx, id)).transpose()?.flatten();
    let class = match (run.is_foreign, runnable.agent.foreign_reach) {
        (false, _) => Some(Class::OwnersSide),
        (true, ForeignReach::Agent) => Some(Class::Others),
        (true, ForeignReach::Conversation) => trigger.map(|trigger| Class::OthersIn(trigger.conversation_id)),
    };
    let mut joined = Vec::new();
    for row in &waiting {
        if Some(class_of(tx, row, runnable)?) == class {
            joined.push(row.message);
            store::update_depth(tx, run.id, row.depth)?;
        }
    }
    messages::cover(tx, &joined, run.id)?;
    let is_rest_waiting = joined.len() < waiting.len() || waiting.len() as i64 == MAX_COVERED;
    agents::set_pending_work(tx, run.agent, is_rest_waiting)
}

/// Queues a run that answers the last of these messages and covers all. None if there are none, or the budget does not allow it.
fn queue(
    hub: &Hub,
    tx: &mut Tx<'_>,
    runnable: &Runnable,
    covered: &[&WaitingRow],
    is_foreign: bool,
) -> Result<Option<RunId>, HubError> {
    let Some(last) = covered.last() else { return Ok(None) };
    let start = Start {
        runnable,
        inbox_message: last.message,
        trigger_message: last.mention_of.unwrap_or(last.message),
        sender: last.author,
        sender_human: last.author_human,
        is_foreign,
        depth: covered.iter().map(|row| row.depth).max().unwrap_or(0),
        chain: last.chain,
        attempt: 1,
        retry_of: None,
    };
    start.queue(hub, tx)
}

/// Messages of one class may share a run, because they give it the same rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    OwnersSide,
    Others,
    /// A run for these reaches this conversation only, so it must not see what was said in another.
    OthersIn(ConversationId),
}

fn class_of(tx: &mut Tx<'_>, row: &WaitingRow, runnable: &Runnable) -> Result<Class, DbError> {
    let author = principals::find_by_id(tx, row.author)?;
    if author.is_some_and(|author| wake::is_owner_side(&author, runnable.owner)) {
        return Ok(Class::OwnersSide);
    }
    Ok(match runnable.agent.foreign_reach {
        ForeignReach::Conversation => Class::OthersIn(row.conversation),
        ForeignReach::Agent => Class::Others,
    })
}
