//! Looking at runs, repeating and cancelling them, and asking what would happen.

use std::collections::BTreeSet;

use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::dispatch::{Decision, DeferredReason, NotWokenReason, Situation};
use stoa_model::machines::RunEvidence;
use stoa_model::messages::DeliveryState;
use stoa_model::page::MAX_LIMIT;
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::runs::{
    CheckRequest, CheckStep, CheckView, MAX_STEPS, ReactiveAgent, RunDetails, RunDetailsQuery, RunList, RunQuery,
    RunReason, RunStatus, RunView, delivery_of, why_not,
};
use stoa_model::{MessageId, PrincipalId, RunId, Timestamp};

use super::store::{self, Filter, RunRow};
use super::wake::{self, Asked, Start};
use super::{control, harness_store, pending, wake_store, worker, workspace_store};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::features::agents::Runnable;
use crate::features::{agents, audit, channels, messages, principals};
use crate::hub::Hub;

const DEFAULT_LIMIT: i64 = 50;
const MAX_OFFSET: i64 = 1_000_000;
const MAX_REACTIVE: i64 = 200;
const MAX_WAITING: i64 = 1000;
const MAX_COVERED_SHOWN: i64 = 100;
/// Characters of a message that a list of runs shows.
const PREVIEW: usize = 160;

/// A person sees the runs of their agents, an agent its own, the operator all. A key that is limited to channels sees none: a program
/// may say in a run what it has read anywhere.
fn is_visible(actor: &Actor, run: &RunRow) -> bool {
    if actor.principal.reach.is_limited() {
        return false;
    }
    match actor.principal.kind {
        PrincipalKind::User => run.owner == actor.id(),
        PrincipalKind::Agent => run.agent == actor.id(),
        PrincipalKind::System | PrincipalKind::Machine => actor.is_operator(),
    }
}

/// Messages are for those who may read messages, wherever they are shown.
fn may_read_texts(actor: &Actor) -> bool {
    actor.is_operator() || actor.principal.permissions.contains(Permission::MessagesRead)
}

fn find_visible(tx: &mut Tx<'_>, actor: &Actor, id: RunId) -> Result<RunRow, HubError> {
    let run = store::find_run(tx, id)?.filter(|run| is_visible(actor, run));
    run.ok_or_else(|| HubError::not_found("run"))
}

pub async fn list_runs(hub: &Hub, actor: &Actor, query: RunQuery) -> Result<RunList, HubError> {
    actor.require(Permission::RunsRead)?;
    let offset = query.offset.unwrap_or(0);
    if !(0..=MAX_OFFSET).contains(&offset) {
        return Err(HubError::invalid_field("offset", "must be between 0 and 1000000"));
    }
    let limit = match query.limit {
        None => DEFAULT_LIMIT,
        Some(limit) if limit >= 1 => limit.min(i64::from(MAX_LIMIT)),
        Some(_) => return Err(HubError::invalid_field("limit", "must be at least 1")),
    };
    let statuses = statuses_of(query.status.as_deref())?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let nothing = RunList { items: Vec::new(), total: 0, offset };
        if actor.principal.reach.is_limited() {
            return Ok(nothing);
        }
        let mut filter = Filter { statuses: statuses.clone(), goal: query.goal, ..Filter::default() };
        match actor.principal.kind {
            PrincipalKind::User => filter.owner = Some(actor.id()),
            PrincipalKind::Agent => filter.agent = Some(actor.id()),
            PrincipalKind::System | PrincipalKind::Machine if actor.is_operator() => {}
            PrincipalKind::System | PrincipalKind::Machine => return Ok(nothing),
        }
        if let Some(name) = &query.agent {
            let named = principals::find(tx, name)?.filter(|found| found.kind == PrincipalKind::Agent);
            let Some(agent) = named else { return Ok(nothing) };
            if filter.agent.is_some_and(|own| own != agent.id) {
                return Ok(nothing);
            }
            filter.agent = Some(agent.id);
        }
        let total = store::count_runs(tx, &filter)?;
        let rows = store::list_runs(tx, &filter, offset, limit)?;
        let items = rows.into_iter().map(|row| view(tx, &actor, row)).collect::<Result<_, HubError>>()?;
        Ok(RunList { items, total, offset })
    })
    .await
}

fn statuses_of(text: Option<&str>) -> Result<BTreeSet<&'static str>, HubError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(BTreeSet::new()) };
    let wrong = || {
        let names = RunStatus::ALL.map(RunStatus::name).join(", ");
        HubError::invalid_field("status", format!("must be a comma-separated list of {names}"))
    };
    text.split(',').map(|name| RunStatus::from_name(name.trim()).map(RunStatus::name).ok_or_else(wrong)).collect()
}

/// A run, with what the caller sees of its message.
pub(super) fn view(tx: &mut Tx<'_>, actor: &Actor, row: RunRow) -> Result<RunView, HubError> {
    let trigger = match row.trigger_message {
        // The operator sees that there was a message, and not what it says.
        Some(_) if actor.is_operator() || !may_read_texts(actor) => None,
        Some(id) => match messages::find_visible(tx, actor, id) {
            Ok(found) => Some(found),
            Err(error) if error.kind == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        },
        None => None,
    };
    let trigger = trigger.filter(|trigger| trigger.deleted_at.is_none());
    let preview = trigger.as_ref().map(|trigger| {
        let line = trigger.body.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(PREVIEW).collect()
    });
    Ok(RunView {
        id: row.id,
        agent: row.agent_name,
        status: row.status,
        reason: row.reason,
        trigger_message_id: row.trigger_message,
        depth: row.depth,
        attempt: row.attempt,
        retry_of: row.retry_of,
        foreign: row.is_foreign,
        goal_id: row.goal_id,
        task_id: row.task_id,
        last_step: row.last_step,
        tokens: row.tokens,
        cost_usd: row.cost_usd,
        started_at: row.started_at,
        deferred_until: row.deferred_until.map(Timestamp::from_ms),
        finished_at: row.finished_at,
        created_at: row.created_at,
        trigger_preview: preview,
        trigger_from: trigger.as_ref().map(|trigger| trigger.from.name.clone()),
        trigger_channel: trigger.and_then(|trigger| trigger.channel),
    })
}

pub async fn get_run(hub: &Hub, actor: &Actor, id: RunId, query: RunDetailsQuery) -> Result<RunDetails, HubError> {
    actor.require(Permission::RunsRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let row = find_visible(tx, &actor, id)?;
        let sees_texts = may_read_texts(&actor);
        let trigger = row.trigger_message.filter(|_| sees_texts);
        let trigger_message = trigger.map(|id| messages::show(tx, &actor, id)).transpose()?.flatten();
        let mut harness_run = harness_store::find_harness_run(tx, id)?;
        let covered_message_ids = messages::list_covered(tx, id, MAX_COVERED_SHOWN)?;
        // The prompt repeats the messages, so it is shown to those who see all of them.
        // Those of a run that was retried belong to the later one.
        let mut is_hidden = trigger_message.is_none() || covered_message_ids.is_empty();
        for message in &covered_message_ids {
            is_hidden = is_hidden || !messages::is_text_visible(tx, &actor, *message)?;
        }
        if let Some(harness_run) = harness_run.as_mut().filter(|_| is_hidden) {
            harness_run.prompt = None;
        }
        let mut agent = store::find_snapshot(tx, id)?;
        if actor.principal.kind == PrincipalKind::Agent
            && let Some(agent) = &mut agent
        {
            // How it is run is its owner's business.
            agent.harness = None;
        }
        let outgoing_message = match row.started_at {
            Some(started) => {
                let until = row.finished_at.map_or(i64::MAX, |finished| finished.as_ms());
                let period = (started.as_ms(), until);
                let found = messages::find_outgoing(tx, id, row.agent, row.trigger_message, period)?;
                found.filter(|_| sees_texts).map(|id| messages::show(tx, &actor, id)).transpose()?.flatten()
            }
            None => None,
        };
        let steps = match query.steps {
            Some(true) => Some(harness_store::list_steps(tx, id, query.after_step.unwrap_or(0), MAX_STEPS + 100)?),
            Some(false) | None => None,
        };
        let workspace = workspace_store::find(tx, id)?;
        let run = view(tx, &actor, row)?;
        Ok(RunDetails {
            run,
            harness_run,
            workspace,
            agent,
            trigger_message,
            outgoing_message,
            covered_message_ids,
            steps,
        })
    })
    .await
}

/// The same for the operator. What people wrote is in it, so it is noted who looked.
pub async fn show_to_operator(
    hub: &Hub,
    actor: &Actor,
    id: RunId,
    query: RunDetailsQuery,
) -> Result<RunDetails, HubError> {
    let details = get_run(hub, actor, id, query).await?;
    let (actor_in, agent) = (actor.clone(), details.run.agent.clone());
    let noted =
        hub.write(move |tx| audit::record(tx, &actor_in, "run.shown", Some(&id.to_string()), &json!({"agent": agent})));
    noted.await?;
    Ok(details)
}

/// Runs what an ended run covered once more, as a run of its own.
pub async fn retry_run(hub: &Hub, actor: &Actor, id: RunId) -> Result<RunView, HubError> {
    actor.require(Permission::RunsWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let row = find_visible(tx, &actor_in, id)?;
        if !row.status.is_final() {
            return Err(HubError::conflict("run_active", "The run is still active.")
                .hint("Cancel it first, or wait until it has ended."));
        }
        agents::begin_decision(tx, row.agent, None)?;
        let runnable = agents::find_runnable(tx, row.agent)?.ok_or_else(|| HubError::not_found("agent"))?;
        refuse_if_halted(&hub_in, tx, &runnable)?;
        refuse_by_chain(&hub_in, tx, &actor_in, &row, &runnable)?;
        if let Some(active) = store::find_active(tx, row.agent)? {
            let detail = format!("Run {} of the agent is still active.", active.id);
            return Err(HubError::conflict("agent_busy", detail).hint("An agent has one run at a time."));
        }
        let missing = || {
            HubError::conflict("message_deleted", "The message that started the run was deleted.")
                .hint("Send the agent a new one.")
        };
        let inbox = row.inbox_message.map(|id| messages::find(tx, id)).transpose()?.flatten();
        let inbox = inbox.filter(|inbox| inbox.deleted_at.is_none()).ok_or_else(missing)?;
        let start = Start {
            runnable: &runnable,
            inbox_message: inbox.id,
            trigger_message: row.trigger_message.unwrap_or(inbox.id),
            sender: row.sender.unwrap_or(inbox.author_id),
            sender_human: row.sender_human.unwrap_or(row.owner),
            is_foreign: row.is_foreign,
            depth: row.depth,
            chain: row.chain,
            attempt: row.attempt + 1,
            retry_of: Some(row.id),
        };
        let run = start.queue(&hub_in, tx)?.ok_or_else(|| {
            HubError::conflict("budget", "The agent's budget for today is used up.")
                .hint("Raise its runs per day, or wait for the reset at 00:00 UTC.")
        })?;
        messages::cover_again(tx, row.id, run)?;
        messages::cover(tx, &[inbox.id], run)?;
        audit::record(
            tx,
            &actor_in,
            "run.retried",
            Some(&id.to_string()),
            &json!({"agent": row.agent_name, "run": run}),
        )?;
        let row = store::find_run(tx, run)?.ok_or_else(|| HubError::internal("the new run is missing"))?;
        view(tx, &actor_in, row)
    })
    .await
}

/// What the chain asks about a message is asked again. A person may go beyond what one message may lead to.
fn refuse_by_chain(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    row: &RunRow,
    runnable: &Runnable,
) -> Result<(), HubError> {
    let is_chain_over = wake_store::find_runs_of_chain(tx, row.chain)? >= i64::from(hub.config().runs.max_per_chain);
    let reasons = [
        (row.is_foreign && wake::is_for_owners_side(hub, &runnable.agent), NotWokenReason::Sender),
        (row.depth >= i64::from(runnable.agent.max_trigger_depth), NotWokenReason::Depth),
        (is_chain_over && !actor.is_person() && !actor.is_operator(), NotWokenReason::ChainLimit),
    ];
    match reasons.into_iter().find(|(holds, _)| *holds) {
        Some((_, reason)) => Err(HubError::conflict(reason.name(), why_not(reason))),
        None => Ok(()),
    }
}

fn refuse_if_halted(hub: &Hub, tx: &mut Tx<'_>, runnable: &Runnable) -> Result<(), HubError> {
    match wake::halt_of(hub, tx, runnable)? {
        None => Ok(()),
        Some(NotWokenReason::ActingOff) => {
            Err(HubError::new(ErrorKind::Unavailable, "acting_off", "All automation is stopped.")
                .hint("Resume it first: POST /api/automation/resume, or `stoa admin acting on`."))
        }
        Some(NotWokenReason::Disabled) => Err(HubError::conflict("not_reactive", "Messages do not start this agent.")
            .hint("Set its trigger_mode to reactive.")),
        Some(reason) => Err(HubError::conflict(reason.name(), why_not(reason))),
    }
}

/// Ends a run that has not ended.
pub async fn cancel_run(hub: &Hub, actor: &Actor, id: RunId) -> Result<RunView, HubError> {
    actor.require(Permission::RunsWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let row = find_visible(tx, &actor_in, id)?;
        if row.status.is_final() {
            return Err(HubError::conflict("run_finished", format!("The run has ended: {}.", row.status.name())));
        }
        control::stop(&hub_in, tx, &row, RunReason::ByOwner)?;
        audit::record(tx, &actor_in, "run.cancelled", Some(&id.to_string()), &json!({"agent": row.agent_name}))?;
        let row = store::find_run(tx, id)?.ok_or_else(|| HubError::not_found("run"))?;
        view(tx, &actor_in, row)
    })
    .await
}

/// The caller's agents that messages start, and what they are doing.
pub async fn list_reactive(hub: &Hub, actor: &Actor) -> Result<Vec<ReactiveAgent>, HubError> {
    actor.require(Permission::RunsRead)?;
    let actor = actor.clone();
    hub.read(move |tx| list_reactive_in(tx, &actor)).await
}

/// The same as a part of something else.
pub fn list_reactive_in(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<ReactiveAgent>, HubError> {
    let mut found = Vec::new();
    if actor.principal.reach.is_limited() {
        return Ok(found);
    }
    for mut agent in agents::list_reactive(tx, actor.principal.human, MAX_REACTIVE)? {
        let id = agent.id;
        if actor.principal.kind == PrincipalKind::Agent {
            if id != actor.id() {
                continue;
            }
            agent.harness = None;
        }
        let run = store::find_active(tx, id)?.map(|row| view(tx, actor, row)).transpose()?;
        let last_run = store::find_last_ended(tx, id)?.map(|row| view(tx, actor, row)).transpose()?;
        let waiting = messages::count_waiting(tx, id, MAX_WAITING)?;
        let (runs_today, _) = wake_store::find_runs_today(tx, id)?;
        found.push(ReactiveAgent { agent, run, last_run, waiting, runs_today });
    }
    Ok(found)
}

/// What the chain would decide about a message to an agent now. It starts nothing.
pub async fn check(hub: &Hub, actor: &Actor, name: String, request: CheckRequest) -> Result<CheckView, HubError> {
    actor.require(Permission::RunsWrite)?;
    explain_to(hub, actor, name, request).await
}

/// The same about a message of the owner, for those who only look.
pub async fn explain_for_owner(hub: &Hub, actor: &Actor, name: String) -> Result<CheckView, HubError> {
    actor.require(Permission::RunsRead)?;
    explain_to(hub, actor, name, CheckRequest::default()).await
}

async fn explain_to(hub: &Hub, actor: &Actor, name: String, request: CheckRequest) -> Result<CheckView, HubError> {
    let (hub_in, actor) = (hub.clone(), actor.clone());
    hub.read(move |tx| {
        let agent = principals::find(tx, &name)?.filter(|found| {
            let is_own = match actor.principal.kind {
                PrincipalKind::Agent => found.id == actor.id(),
                _ => actor.is_operator() || found.owner == Some(actor.principal.human),
            };
            found.kind == PrincipalKind::Agent && !found.is_deleted && is_own
        });
        let agent = agent.ok_or_else(|| HubError::not_found("agent"))?;
        let runnable = agents::find_runnable(tx, agent.id)?.ok_or_else(|| HubError::not_found("agent"))?;
        let unknown = || HubError::invalid_field("from", "must be the name of a user or an agent");
        let sender = match &request.from {
            Some(from) => principals::find(tx, from.trim_start_matches('@'))?
                .filter(|found| found.is_reachable())
                .ok_or_else(unknown)?,
            None => {
                let id = if actor.is_operator() { runnable.owner } else { actor.principal.human };
                principals::find_by_id(tx, id)?.ok_or_else(unknown)?
            }
        };
        let channel = match &request.channel {
            Some(name) => Some(channels::find_visible(tx, &actor, name.trim_start_matches('#'))?.id),
            None => None,
        };
        let is_person = sender.kind == PrincipalKind::User;
        let asked = Asked {
            sender: &sender,
            is_person,
            no_wake: false,
            depth: i64::from(!is_person),
            chain: None,
            origin: None,
            channel,
            text: None,
        };
        let situation = wake::situation(&hub_in, tx, &runnable, &asked)?;
        Ok(explain(&situation, store::find_active(tx, agent.id)?.map(|run| run.id)))
    })
    .await
}

fn explain(situation: &Situation, running: Option<RunId>) -> CheckView {
    let decision = situation.decide();
    let (state, reason) = delivery_of(decision);
    let detail = match decision {
        Decision::Start => "A run would start now.".to_owned(),
        Decision::Later(DeferredReason::Cooldown) => "A run would start after the cooldown.".to_owned(),
        Decision::Later(DeferredReason::Sequential) => match running {
            Some(run) => format!("A run would start when run {run} has ended."),
            None => "A run would start when the current one has ended.".to_owned(),
        },
        Decision::Not(reason) => why_not(reason).to_owned(),
    };
    let steps =
        situation.steps().into_iter().map(|(name, passed, detail)| CheckStep { name: name.to_owned(), passed, detail });
    CheckView { state, reason: reason.map(str::to_owned), detail, steps: steps.collect() }
}

/// Ends all running runs of one owner, or of all owners. Queued runs stay queued.
pub fn stop(hub: &Hub, tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<(), HubError> {
    control::stop_all(hub, tx, owner, RunReason::ActingOff, false)
}

/// Starts what has waited.
pub fn resume(tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<(), DbError> {
    worker::enqueue_waiting(tx, owner)?;
    for agent in agents::list_with_pending_work(tx, owner)? {
        pending::schedule(tx, agent, tx.now_ms())?;
    }
    Ok(())
}

/// Takes away what has waited.
pub fn drop_waiting(hub: &Hub, tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<(), HubError> {
    for agent in agents::list_with_pending_work(tx, owner)? {
        messages::drop_waiting(tx, agent, NotWokenReason::ActingOff.name())?;
        agents::set_pending_work(tx, agent, false)?;
    }
    control::cancel_queued(hub, tx, owner, RunReason::ActingOff)
}

/// How many runs of an owner, or of everybody, are queued and running.
pub fn count_active(tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<(i64, i64), DbError> {
    let count = |tx: &mut Tx<'_>, status: RunStatus| {
        store::count_runs(tx, &Filter { owner, statuses: BTreeSet::from([status.name()]), ..Filter::default() })
    };
    Ok((count(tx, RunStatus::Queued)?, count(tx, RunStatus::Running)?))
}

/// The runs that descend from a message, for what became of an event.
pub fn list_of_message(tx: &mut Tx<'_>, message: MessageId) -> Result<Vec<RunEvidence>, DbError> {
    let mut found = Vec::new();
    for wake in messages::list_wakes(tx, message)? {
        if wake.state != Some(DeliveryState::NotWoken)
            && let Some(run) = wake.run
            && let Some(row) = store::find_run(tx, run)?
        {
            found.push(RunEvidence { id: row.id, agent: row.agent_name, status: row.status });
        }
    }
    Ok(found)
}
