//! Turns: how many searches of one owner run at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use stoa_model::PrincipalId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::HubError;
use crate::hub::Hub;

/// Searches of one owner that run at once.
const AT_ONCE: usize = 2;
/// How long another one waits for its turn.
const PATIENCE: Duration = Duration::from_secs(2);
/// Owners that are remembered before those who search no more are forgotten.
const MANY: usize = 1000;

#[derive(Default)]
pub(super) struct Turns {
    owners: Mutex<HashMap<PrincipalId, Weak<Semaphore>>>,
}

impl Turns {
    fn of(&self, owner: PrincipalId) -> Arc<Semaphore> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = owners.get(&owner).and_then(Weak::upgrade) {
            return turns;
        }
        if owners.len() >= MANY {
            owners.retain(|_, turns| turns.strong_count() > 0);
        }
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        owners.insert(owner, Arc::downgrade(&turns));
        turns
    }
}

/// Waits for a turn of an owner. It lasts until it is dropped.
pub(super) async fn take(hub: &Hub, owner: PrincipalId) -> Result<OwnedSemaphorePermit, HubError> {
    let turns = hub.memory::<Turns>().of(owner);
    tokio::select! {
        biased;
        turn = turns.acquire_owned() => turn.map_err(HubError::internal),
        () = hub.clock().sleep(PATIENCE) => Err(busy("Too many of your searches run at the same time.")),
    }
}

/// For a search that could not be done now.
pub(super) fn busy(detail: &str) -> HubError {
    HubError::not_yet("busy", detail, 1)
        .hint("Try again in a moment, or narrow the search to a channel, an author or a time.")
}
