//! Turns for long messages, which take several times their length in memory.

use std::sync::Arc;
use std::time::Duration;

use stoa_model::PrincipalId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::access::lines::{self, Lines};
use crate::error::HubError;

/// Long messages at a time, of which one owner has no more than one: so no owner keeps another from uploading.
const AT_ONCE: usize = 2;
/// Who waits for longer had better come back.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct LongOnes {
    owners: Lines,
    all: Arc<Semaphore>,
}

/// The right to have one long message in memory, until it is dropped.
pub(super) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_owner: lines::Turn,
}

impl Default for LongOnes {
    fn default() -> Self {
        Self { owners: Lines::new(1), all: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl LongOnes {
    /// Waits for a turn.
    pub(super) async fn take(&self, owner: PrincipalId) -> Result<Turn, HubError> {
        let waiting = tokio::time::timeout(PATIENCE, self.wait(owner));
        let turn = waiting.await.ok().flatten();
        turn.ok_or_else(|| HubError::busy("Too many long messages at the same time."))
    }

    async fn wait(&self, owner: PrincipalId) -> Option<Turn> {
        // First among the owner's own: then an owner stands no more than once in the line of all.
        let of_owner = self.owners.take(owner).await?;
        let of_all = self.all.clone().acquire_owned().await.ok()?;
        Some(Turn { _of_all: of_all, _of_owner: of_owner })
    }
}
