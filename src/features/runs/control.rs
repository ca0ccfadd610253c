//! Ending runs before they end by themselves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use stoa_db::Tx;
use stoa_model::PrincipalId;
use stoa_model::RunId;
use stoa_model::dispatch::NotWokenReason;
use stoa_model::runs::{RunReason, RunStatus};
use tokio::sync::Notify;

use super::store::{self, RunRow};
use super::{finish, remote, worker};
use crate::error::HubError;
use crate::hub::{Hub, Supervisors};

/// The runs that this hub has under way. Each has a bell for what concerns it.
#[derive(Default)]
pub(super) struct UnderWay(Mutex<HashMap<RunId, Arc<Notify>>>);

/// A run that is under way, for as long as this is kept.
pub(super) struct Entry {
    runs: Arc<UnderWay>,
    run: RunId,
    pub(super) bell: Arc<Notify>,
    supervisors: Arc<Supervisors>,
    /// The process that looks after it.
    supervisor: Mutex<Option<u32>>,
}

impl UnderWay {
    pub(super) fn enter(hub: &Hub, run: RunId) -> Entry {
        let (runs, bell) = (hub.memory::<Self>(), Arc::new(Notify::new()));
        runs.lock().insert(run, bell.clone());
        let supervisors = hub.memory::<Supervisors>();
        supervisors.add_run(run);
        Entry { runs, run, bell, supervisors, supervisor: Mutex::default() }
    }

    pub(super) fn contains(&self, run: RunId) -> bool {
        self.lock().contains_key(&run)
    }

    fn ring(&self, run: RunId) {
        if let Some(bell) = self.lock().get(&run) {
            bell.notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Notes which process looks after the run, so that the hub knows its descendants.
    pub(super) fn note_supervisor(&self, id: Option<u32>) {
        if let Some(id) = id {
            self.supervisors.add(id);
        }
        *self.supervisor.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.runs.lock().remove(&self.run);
        self.supervisors.remove_run(self.run);
        if let Some(id) = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.supervisors.remove(id);
        }
    }
}

/// Ends a run: one that waits at once, one that is running as soon as its hub hears of it.
pub(super) fn stop(hub: &Hub, tx: &mut Tx<'_>, run: &RunRow, reason: RunReason) -> Result<(), HubError> {
    match run.status {
        RunStatus::Queued | RunStatus::Deferred => {
            worker::cancel(tx, run.id)?;
            finish::end_unstarted(hub, tx, run, RunStatus::Cancelled, reason)
        }
        RunStatus::Running if run.is_taken_on => remote::stop(hub, tx, run, reason),
        RunStatus::Running => {
            store::update_stop(tx, run.id, reason)?;
            // Its token is worthless from now on.
            hub.identities().forget_after(tx);
            let (runs, id) = (hub.memory::<UnderWay>(), run.id);
            tx.after_commit(move || runs.ring(id));
            Ok(())
        }
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled | RunStatus::TimedOut => Ok(()),
    }
}

/// Ends all runs of an owner, or of everybody. Those that wait are kept in their lines, unless they are to end too.
pub(super) fn stop_all(
    hub: &Hub,
    tx: &mut Tx<'_>,
    owner: Option<PrincipalId>,
    reason: RunReason,
    ends_waiting: bool,
) -> Result<(), HubError> {
    stop_each(hub, tx, owner, RunStatus::Running, reason)?;
    if ends_waiting { cancel_queued(hub, tx, owner, reason) } else { Ok(()) }
}

/// Ends the runs of an owner, or of everybody, that have not begun.
pub(super) fn cancel_queued(
    hub: &Hub,
    tx: &mut Tx<'_>,
    owner: Option<PrincipalId>,
    reason: RunReason,
) -> Result<(), HubError> {
    stop_each(hub, tx, owner, RunStatus::Queued, reason)?;
    stop_each(hub, tx, owner, RunStatus::Deferred, reason)
}

fn stop_each(
    hub: &Hub,
    tx: &mut Tx<'_>,
    owner: Option<PrincipalId>,
    status: RunStatus,
    reason: RunReason,
) -> Result<(), HubError> {
    let mut after = RunId(0);
    loop {
        let runs = store::list_active(tx, owner, status, after, 500)?;
        let Some(last) = runs.last() else { return Ok(()) };
        after = last.id;
        for run in &runs {
            stop(hub, tx, run, reason)?;
        }
    }
}

/// What it means for a run if its agent may not be run.
pub(super) fn reason_of(halt: NotWokenReason) -> Option<RunReason> {
    match halt {
        NotWokenReason::ActingOff => Some(RunReason::ActingOff),
        NotWokenReason::Quarantined => Some(RunReason::Quarantined),
        NotWokenReason::Paused => Some(RunReason::Paused),
        NotWokenReason::Disabled | NotWokenReason::Passive => Some(RunReason::Disabled),
        NotWokenReason::NoWake
        | NotWokenReason::Sender
        | NotWokenReason::SubprocessNotAllowed
        | NotWokenReason::FanOut
        | NotWokenReason::SenderLimit
        | NotWokenReason::Depth
        | NotWokenReason::ChainLimit
        | NotWokenReason::Damped
        | NotWokenReason::Budget
        | NotWokenReason::OthersBudget
        | NotWokenReason::GoalBudget => None,
    }
}
