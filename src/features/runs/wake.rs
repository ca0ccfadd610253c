//! Whether a message starts a run: collects what the chain asks for, and does what it decides.

use std::time::Duration;

use stoa_db::{DbError, Tx};
use stoa_model::agents::{AgentView, HarnessBackend, TriggerMode};
use stoa_model::dispatch::{Decision, DeferredReason, NotWokenReason, SenderKind, Situation, is_bare_acknowledgement};
use stoa_model::principals::PrincipalKind;
use stoa_model::{ChannelId, MessageId, PrincipalId, RunId};

use super::store::{self, NewRun};
use super::{isolation, pending, progress, wake_store, worker};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::agents::Runnable;
use crate::features::principals::PrincipalRow;
use crate::features::{acting, agents, channels, messages, principals};
use crate::hub::Hub;

const HOUR: Duration = Duration::from_secs(3600);

/// A message, or one that somebody could send.
#[derive(Debug, Clone)]
pub(super) struct Asked<'a> {
    pub(super) sender: &'a PrincipalRow,
    /// Whether a person sends it, in a session.
    pub(super) is_person: bool,
    pub(super) no_wake: bool,
    pub(super) depth: i64,
    pub(super) chain: Option<MessageId>,
    /// The message in a channel that mentions the agent, and its channel.
    pub(super) origin: Option<MessageId>,
    pub(super) channel: Option<ChannelId>,
    pub(super) text: Option<&'a str>,
}

impl Asked<'_> {
    pub(super) fn human(&self) -> PrincipalId {
        self.sender.owner.unwrap_or(self.sender.id)
    }
}

/// Whether somebody is the owner of an agent, one of the owner's agents, or the hub itself.
pub(super) fn is_owner_side(sender: &PrincipalRow, owner: PrincipalId) -> bool {
    match sender.kind {
        PrincipalKind::User => sender.id == owner,
        PrincipalKind::Agent => sender.owner == Some(owner),
        PrincipalKind::System => true,
        // What a service brings in was written by strangers.
        PrincipalKind::Machine => false,
    }
}

/// Whether runs are isolated from the hub and from one another.
pub(super) fn is_isolated(hub: &Hub) -> bool {
    isolation::sandbox(hub).is_some()
}

/// Whether only the owner's side may start an agent: its program would have the hub's rights.
pub(super) fn is_for_owners_side(hub: &Hub, agent: &AgentView) -> bool {
    is_subprocess(agent) && !is_isolated(hub)
}

pub(super) fn is_subprocess(agent: &AgentView) -> bool {
    agent.harness.as_ref().is_some_and(|harness| harness.backend == HarnessBackend::Subprocess)
}

/// All that the chain asks about.
pub(super) fn situation(
    hub: &Hub,
    tx: &mut Tx<'_>,
    runnable: &Runnable,
    asked: &Asked<'_>,
) -> Result<Situation, HubError> {
    let Runnable { agent, owner, .. } = runnable;
    let settings = &hub.config().runs;
    let since = tx.now_ms() - milliseconds(HOUR);
    let sender = sender_kind(tx, runnable, asked)?;
    let is_foreign = sender != SenderKind::OwnerSide;
    let is_agent = asked.sender.kind == PrincipalKind::Agent;
    let (runs_today, foreign_runs_today) = wake_store::find_runs_today(tx, agent.id)?;
    let round_trips = if is_agent && !asked.is_person {
        let limit = 2 * i64::from(agent.max_round_trips) + 4;
        messages::count_exchanges(tx, asked.sender.id, agent.id, runnable.person_message, since, limit)?
    } else {
        0
    };
    Ok(Situation {
        is_no_wake: asked.no_wake,
        is_acting_off: acting::is_off(hub, tx, *owner)?,
        is_quarantined: agent.quarantined_at.is_some(),
        is_paused: agent.paused_at.is_some(),
        mode: agent.trigger_mode,
        sender,
        trigger_from: agent.trigger_from,
        is_allowed_by_name: is_allowed_by_name(tx, &agent.trigger_allow, asked)?,
        is_subprocess_without_isolation: is_for_owners_side(hub, agent),
        is_subprocess_forbidden: is_subprocess(agent) && !agents::may_start_subprocess(hub, tx, *owner)?,
        foreign_agents_woken: match asked.origin {
            Some(origin) if is_foreign => count(messages::count_foreign_woken(tx, origin, asked.human())?),
            _ => 0,
        },
        wakes_by_sender: if is_foreign {
            count(wake_store::count_wakes_by(tx, asked.human(), agent.id, since)?)
        } else {
            0
        },
        max_wakes_by_sender: settings.wakes_per_sender,
        depth: count(asked.depth),
        max_depth: agent.max_trigger_depth,
        runs_in_chain: match asked.chain {
            Some(chain) => count(wake_store::find_runs_of_chain(tx, chain)?),
            None => 0,
        },
        max_runs_in_chain: settings.max_per_chain,
        round_trips: count(round_trips),
        max_round_trips: agent.max_round_trips,
        is_bare_acknowledgement: is_agent && asked.text.is_some_and(is_bare_acknowledgement),
        runs_today: count(runs_today),
        max_runs_today: agent.budget.runs_per_day,
        is_money_spent: false,
        foreign_runs_today: count(foreign_runs_today),
        others_percent: agent.budget.others_percent,
        is_goal_budget_spent: false,
        is_cooling_down: cooled_at(runnable).is_some_and(|at| at > tx.now_ms()),
        is_running: store::find_active(tx, agent.id)?.is_some(),
    })
}

fn count(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

/// When the pause after the last run is over.
pub(super) fn cooled_at(runnable: &Runnable) -> Option<i64> {
    let pause = milliseconds(Duration::from_secs(u64::from(runnable.agent.cooldown_seconds)));
    runnable.last_run_ended_at.map(|ended| ended + pause)
}

fn sender_kind(tx: &mut Tx<'_>, runnable: &Runnable, asked: &Asked<'_>) -> Result<SenderKind, DbError> {
    if is_owner_side(asked.sender, runnable.owner) {
        return Ok(SenderKind::OwnerSide);
    }
    if asked.is_person {
        return Ok(SenderKind::Person);
    }
    let Some(channel) = asked.channel else { return Ok(SenderKind::Program) };
    let is_private = !channels::is_public(tx, channel)?;
    let is_member = is_private && channels::is_member(tx, channel, runnable.agent.id)?;
    Ok(if is_member { SenderKind::ProgramInPrivateChannel } else { SenderKind::Program })
}

/// A person's name stands for all of their agents.
fn is_allowed_by_name(tx: &mut Tx<'_>, allowed: &[String], asked: &Asked<'_>) -> Result<bool, DbError> {
    if allowed.is_empty() {
        return Ok(false);
    }
    let is_named = |name: &str| allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(name));
    if is_named(&asked.sender.handle) {
        return Ok(true);
    }
    let human = asked.sender.owner.map(|owner| principals::find_by_id(tx, owner)).transpose()?.flatten();
    Ok(human.is_some_and(|human| is_named(&human.handle)))
}

/// A message that an agent was sent.
pub(super) struct Arrival<'a> {
    pub(super) agent: PrincipalId,
    /// The DM: of a mention the one about it.
    pub(super) inbox_message: MessageId,
    pub(super) asked: Asked<'a>,
}

/// Asks the chain about a message, and does what it decides.
pub(super) fn decide(hub: &Hub, tx: &mut Tx<'_>, arrival: &Arrival<'_>) -> Result<(Decision, Option<RunId>), HubError> {
    let asked = &arrival.asked;
    // From here on no other message to this agent is decided about beside this one.
    agents::begin_decision(tx, arrival.agent, asked.is_person.then_some(arrival.inbox_message))?;
    let Some(runnable) = agents::find_runnable(tx, arrival.agent)? else {
        return Ok((Decision::Not(NotWokenReason::Disabled), None));
    };
    let situation = situation(hub, tx, &runnable, asked)?;
    let decision = situation.decide();
    match decision {
        Decision::Not(_) => Ok((decision, None)),
        Decision::Later(reason) => {
            agents::set_pending_work(tx, arrival.agent, true)?;
            if reason == DeferredReason::Cooldown {
                pending::schedule(tx, arrival.agent, cooled_at(&runnable).unwrap_or(tx.now_ms()))?;
            }
            Ok((decision, None))
        }
        Decision::Start => {
            let start = Start {
                runnable: &runnable,
                inbox_message: arrival.inbox_message,
                trigger_message: asked.origin.unwrap_or(arrival.inbox_message),
                sender: asked.sender.id,
                sender_human: asked.human(),
                is_foreign: situation.is_foreign(),
                depth: asked.depth,
                chain: asked.chain.unwrap_or(asked.origin.unwrap_or(arrival.inbox_message)),
                attempt: 1,
                retry_of: None,
            };
            match start.queue(hub, tx)? {
                Some(run) => Ok((decision, Some(run))),
                // Another hub has taken the last one.
                None => Ok((Decision::Not(NotWokenReason::Budget), None)),
            }
        }
    }
}

/// A run that may start.
pub(super) struct Start<'a> {
    pub(super) runnable: &'a Runnable,
    pub(super) inbox_message: MessageId,
    pub(super) trigger_message: MessageId,
    pub(super) sender: PrincipalId,
    pub(super) sender_human: PrincipalId,
    pub(super) is_foreign: bool,
    pub(super) depth: i64,
    pub(super) chain: MessageId,
    pub(super) attempt: i64,
    pub(super) retry_of: Option<RunId>,
}

impl Start<'_> {
    /// Counts the run and puts it into the line of its agent. None if the budget does not allow it.
    pub(super) fn queue(&self, hub: &Hub, tx: &mut Tx<'_>) -> Result<Option<RunId>, HubError> {
        let Runnable { agent, owner, .. } = self.runnable;
        let budget = &agent.budget;
        let max_runs = i64::from(budget.runs_per_day);
        let max_foreign = max_runs * i64::from(budget.others_percent) / 100;
        if !wake_store::count_run(tx, agent.id, self.is_foreign, max_runs, max_foreign)? {
            return Ok(None);
        }
        wake_store::count_run_of_chain(tx, self.chain)?;
        let run = store::insert_run(
            tx,
            &NewRun {
                agent: agent.id,
                owner: *owner,
                trigger_message: self.trigger_message,
                inbox_message: self.inbox_message,
                sender: self.sender,
                sender_human: self.sender_human,
                is_foreign: self.is_foreign,
                depth: self.depth,
                chain: self.chain,
                attempt: self.attempt,
                retry_of: self.retry_of,
                snapshot: agent,
            },
        )?;
        worker::enqueue(tx, agent.id, run)?;
        progress::tell(hub, tx, run, true)?;
        Ok(Some(run))
    }
}

/// Why an agent may not be run at this moment, whatever for. It is asked once more when a run begins.
pub(super) fn halt_of(hub: &Hub, tx: &mut Tx<'_>, runnable: &Runnable) -> Result<Option<NotWokenReason>, DbError> {
    let reasons = [
        (acting::is_off(hub, tx, runnable.owner)?, NotWokenReason::ActingOff),
        (runnable.agent.quarantined_at.is_some(), NotWokenReason::Quarantined),
        (runnable.agent.paused_at.is_some(), NotWokenReason::Paused),
        (runnable.agent.trigger_mode != TriggerMode::Reactive, NotWokenReason::Disabled),
    ];
    Ok(reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason)))
}
