//! Ending runs: status, reactions, the answer, and what the owner hears.

use std::sync::Arc;

use serde_json::{Map, json};
use stoa_db::Tx;
use stoa_model::messages::MessageStatus;
use stoa_model::permissions::PermissionSet;
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::Reaction;
use stoa_model::runs::{RunReason, RunStatus, RunWorkspace, StepKind};
use stoa_model::users::Role;
use stoa_model::{MessageId, Timestamp};

use super::harness_store::{self, Report, SessionTotals};
use super::store::{self, RunRow};
use super::{deferral, pending, progress, wake, worker, workspace_store};
use crate::access::{Actor, Credential, Principal, Reach, RunCredential};
use crate::error::{ErrorKind, HubError};
use crate::features::messages::{MessageRow, Notice};
use crate::features::{agents, messages, principals, workflow};
use crate::hub::Hub;

/// Messages whose status follows a run.
const MAX_SETTLED: i64 = 1000;

/// How a run ended.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    pub(super) status: RunStatus,
    pub(super) reason: Option<RunReason>,
    /// The same in words.
    pub(super) detail: String,
    pub(super) report: Report,
    /// What is sent as the agent's reply, if it has sent nothing itself.
    pub(super) answer: Option<String>,
    /// Set if the provider of the model is to blame.
    pub(super) outage: Option<Outage>,
    pub(super) workspace: Option<RunWorkspace>,
}

/// The provider of the model had no capacity, or a limit was used up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outage {
    /// When that is over, if the provider has said so.
    pub(super) until_ms: Option<i64>,
}

impl Ending {
    pub(super) fn failed(reason: RunReason, detail: impl Into<String>) -> Self {
        Self {
            status: RunStatus::Failed,
            reason: Some(reason),
            detail: detail.into(),
            report: Report::default(),
            answer: None,
            outage: None,
            workspace: None,
        }
    }
}

/// The agent, as it acts in one of its runs.
pub(super) fn actor_of(run: &RunRow) -> Actor {
    let credential = RunCredential { run: run.id, depth: run.depth, chain: run.chain, is_remote: false };
    let principal = Principal {
        id: run.agent,
        kind: PrincipalKind::Agent,
        handle: run.agent_name.clone(),
        human: run.owner,
        role: Role::Member,
        credential: Credential::Run(credential),
        permissions: PermissionSet::NONE,
        reach: Reach::Everything,
        expires_at: None,
        proof: None,
    };
    Actor::new(Arc::new(principal), Arc::default())
}

/// Ends a run that has not begun.
pub(super) fn end_unstarted(
    hub: &Hub,
    tx: &mut Tx<'_>,
    run: &RunRow,
    status: RunStatus,
    reason: RunReason,
) -> Result<(), HubError> {
    let ending = Ending { status, ..Ending::failed(reason, in_words(reason)) };
    settle(hub, tx, run, &ending)
}

/// Ends a run, once.
pub(super) fn settle(hub: &Hub, tx: &mut Tx<'_>, run: &RunRow, ending: &Ending) -> Result<(), HubError> {
    let Some(run) = store::find_run(tx, run.id)?.filter(|run| !run.status.is_final()) else { return Ok(()) };
    let actor = actor_of(&run);
    if let Some(workspace) = &ending.workspace {
        workspace_store::replace(tx, run.id, workspace)?;
    }
    if let Some(outage) = ending.outage
        && let Some(until) = deferral::moment(&run, outage, tx.now_ms())
    {
        return deferral::defer(hub, tx, &run, ending, until);
    }
    if ending.status == RunStatus::Succeeded
        && let Some(answer) = &ending.answer
        && !messages::has_sent(tx, run.id)?
    {
        send_answer(hub, tx, &actor, &run, answer)?;
    }
    let report = &without_earlier_runs(hub, tx, &run, &ending.report)?;
    harness_store::update_report(tx, run.id, report)?;
    let at = Timestamp::from_ms(tx.now_ms());
    let took = run.started_at.map(|started| tx.now_ms() - started.as_ms());
    harness_store::insert_step(tx, run.id, at, StepKind::Finished, progress::cut(&ending.detail), took)?;
    progress::trace(hub, tx, run.id, run.agent, run.owner, StepKind::Finished);
    store::update_ended(tx, run.id, ending.status, ending.reason, report.used())?;
    // Its token is worthless from now on, here too.
    hub.identities().forget_after(tx);
    worker::cancel(tx, run.id)?;
    react(hub, tx, &actor, &run, ending.status)?;
    settle_messages(hub, tx, &actor, &run, ending.status)?;
    if matches!(ending.status, RunStatus::Failed | RunStatus::TimedOut) {
        tell_owner(hub, tx, &run, ending)?;
    }
    agents::note_run_ended(tx, run.agent)?;
    if let Some(runnable) = agents::find_runnable(tx, run.agent)?
        && messages::count_waiting(tx, run.agent, 1)? > 0
    {
        pending::schedule(tx, run.agent, wake::cooled_at(&runnable).unwrap_or(tx.now_ms()))?;
    }
    progress::tell(hub, tx, run.id, true)?;
    let (hub, status) = (hub.clone(), ending.status);
    tx.after_commit(move || hub.metrics().runs.with_label_values(&[status.name()]).inc());
    Ok(())
}

/// Some programs count whole sessions. What earlier runs of the session used up is not counted again.
pub(super) fn without_earlier_runs(
    hub: &Hub,
    tx: &mut Tx<'_>,
    run: &RunRow,
    report: &Report,
) -> Result<Report, HubError> {
    let mut report = report.clone();
    let Some(session) = report.session_id.as_deref().filter(|_| report.session != SessionTotals::default()) else {
        return Ok(report);
    };
    let earlier = harness_store::find_session_totals(tx, run.agent, session, run.id)?;
    if let (Some(all), Some(before)) = (report.session.tokens, earlier.tokens) {
        let own = all.since(before);
        (report.tokens_in, report.tokens_out, report.tokens_cached) =
            (Some(own.read), Some(own.written), Some(own.cached));
        if report.is_cost_estimated
            && let Some(model) = &report.model
        {
            report.cost_usd = hub.config().runs.prices.estimate(model, own);
        }
    }
    if let (Some(all), Some(before)) = (report.session.cost_usd, earlier.cost_usd) {
        // A smaller sum is one of a new session.
        report.cost_usd = Some(if all < before { all } else { all - before });
    }
    Ok(report)
}

/// Sends what the program printed as the agent's reply. Where that is no longer possible, the run has succeeded all the same.
fn send_answer(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, run: &RunRow, answer: &str) -> Result<(), HubError> {
    if answer.trim().is_empty() {
        return Ok(());
    }
    let Some(inbox) = message_to_answer(tx, run)? else { return Ok(()) };
    match messages::answer(hub, tx, actor, &inbox, answer) {
        Ok(_) => Ok(()),
        Err(error) if error.kind == ErrorKind::Internal || error.kind == ErrorKind::Unavailable => Err(error),
        Err(_) => Ok(()),
    }
}

/// The message that started the run. If it was deleted, the newest other one that the run covers.
fn message_to_answer(tx: &mut Tx<'_>, run: &RunRow) -> Result<Option<MessageRow>, HubError> {
    let covered = messages::list_covered(tx, run.id, MAX_SETTLED)?;
    for id in run.inbox_message.into_iter().chain(covered.into_iter().rev()) {
        if let Some(found) = messages::find(tx, id)?.filter(|found| found.deleted_at.is_none()) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Says with a reaction what became of the message. Reactions are set, not toggled.
pub(super) fn react(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    run: &RunRow,
    status: RunStatus,
) -> Result<(), HubError> {
    let Some(message) = run.trigger_message.filter(|_| run.started_at.is_some()) else { return Ok(()) };
    match status {
        RunStatus::Succeeded => workflow::set_reaction(hub, tx, actor, message, Reaction::Done),
        RunStatus::Failed | RunStatus::TimedOut => workflow::set_reaction(hub, tx, actor, message, Reaction::Reject),
        RunStatus::Cancelled | RunStatus::Queued | RunStatus::Running | RunStatus::Deferred => {
            workflow::clear_reaction(hub, tx, actor, message, Reaction::InProgress)
        }
    }
}

/// What a run has dealt with is no longer open in the agent's inbox.
fn settle_messages(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, run: &RunRow, status: RunStatus) -> Result<(), HubError> {
    let status = match status {
        RunStatus::Succeeded => MessageStatus::Done,
        RunStatus::Failed | RunStatus::TimedOut => MessageStatus::Failed,
        RunStatus::Cancelled | RunStatus::Queued | RunStatus::Running | RunStatus::Deferred => return Ok(()),
    };
    let covered: Vec<MessageId> = messages::list_covered(tx, run.id, MAX_SETTLED)?;
    for message in covered {
        messages::settle_by_run(hub, tx, actor, message, status)?;
    }
    Ok(())
}

fn tell_owner(hub: &Hub, tx: &mut Tx<'_>, run: &RunRow, ending: &Ending) -> Result<(), HubError> {
    let Some(recipient) = principals::find_by_id(tx, run.owner)?.filter(|owner| owner.is_reachable()) else {
        return Ok(());
    };
    let ended = if ending.status == RunStatus::TimedOut { "was stopped" } else { "failed" };
    let body = format!(
        "Run {} of @{} {ended}: {} See {}/runs/{}.",
        run.id,
        run.agent_name,
        ending.detail,
        hub.base_url(),
        run.id
    );
    let about = json!({"id": run.id, "agent": run.agent_name, "status": ending.status, "reason": ending.reason});
    let metadata = Map::from_iter([("run".to_owned(), about)]);
    messages::notify(hub, tx, vec![Notice { recipient, body, metadata }])
}

/// A sentence for people.
pub(super) fn in_words(reason: RunReason) -> &'static str {
    match reason {
        RunReason::NoHarness => "The agent has no command. Set one in its Runs tab.",
        RunReason::BackendUnavailable => "This backend is not supported yet.",
        RunReason::SubprocessNotAllowed => "The owner is not allowed to run commands on the server.",
        RunReason::ReservedVariable => "An environment variable of the agent is reserved. Remove it.",
        RunReason::CommandNotFound => "The command was not found on the server.",
        RunReason::CommandNotExecutable => "The command cannot be executed.",
        RunReason::CommandNotVisible => {
            "The command is in a folder that isolated runs cannot see. The operator can add it to STOA_RUN_READABLE."
        }
        RunReason::WorkspaceUnavailable => "The workspace cannot be used.",
        RunReason::StartFailed => "The command could not be started.",
        RunReason::DiskLow => "The server is low on disk space.",
        RunReason::ExitCode => "The command failed.",
        RunReason::Signal => "The command was stopped by a signal.",
        RunReason::BadResult => "The command wrote an invalid result.json.",
        RunReason::ModelError => "The command reported an error.",
        RunReason::ModelUnavailable => "The provider of the model is overloaded, or a limit is used up.",
        RunReason::NoResult => "The command ended without a result.",
        RunReason::HubUnreachable => "The command could not reach the hub.",
        RunReason::TurnLimit => "The run reached its limit of turns.",
        RunReason::CostLimit => "The run reached its cost limit.",
        RunReason::ReceiverFailed => "The receiver refused the run or could not be called.",
        RunReason::TooManyProcesses => "The command started too many processes.",
        RunReason::DiskLimit => "The run wrote more to its folder than allowed.",
        RunReason::Timeout => "The run exceeded its time limit.",
        RunReason::HubRestarted => "The hub was restarted during the run.",
        RunReason::SupervisorLost => "The process that supervises the run was killed.",
        RunReason::Internal => "The hub could not start the run because of an internal error.",
        RunReason::ByOwner => "The run was cancelled.",
        RunReason::ActingOff => "All automation was stopped.",
        RunReason::Paused => "The agent was paused.",
        RunReason::Quarantined => "The agent was quarantined.",
        RunReason::AgentDeleted => "The agent was deleted.",
        RunReason::OwnerDisabled => "The owner's account was disabled.",
        RunReason::MessageDeleted => "The message was deleted before the run started.",
        RunReason::Sender => "The agent no longer starts for this sender.",
        RunReason::Disabled => "Messages no longer start the agent.",
    }
}
