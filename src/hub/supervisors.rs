//! The processes that look after programs which this hub has started, and the runs that these belong to.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use stoa_model::RunId;

/// Kept in the memory of a hub.
#[derive(Default)]
pub(crate) struct Supervisors {
    processes: Mutex<HashSet<u32>>,
    runs: Mutex<HashSet<RunId>>,
}

impl Supervisors {
    pub(crate) fn add(&self, pid: u32) {
        locked(&self.processes).insert(pid);
    }

    pub(crate) fn remove(&self, pid: u32) {
        locked(&self.processes).remove(&pid);
    }

    pub(crate) fn add_run(&self, run: RunId) {
        locked(&self.runs).insert(run);
    }

    pub(crate) fn remove_run(&self, run: RunId) {
        locked(&self.runs).remove(&run);
    }

    /// Whether this hub has the run under way.
    pub(crate) fn has_run(&self, run: RunId) -> bool {
        locked(&self.runs).contains(&run)
    }

    /// Whether a process is one that this hub has started for somebody.
    pub(crate) fn own(&self, pid: u32) -> bool {
        let known: Vec<u32> = locked(&self.processes).iter().copied().collect();
        !known.is_empty() && stoa_supervisor::descends_from(pid, &known)
    }
}

fn locked<T>(set: &Mutex<HashSet<T>>) -> MutexGuard<'_, HashSet<T>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}
