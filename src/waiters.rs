//! Those who wait for something to come: each costs a map entry, and nothing else, until it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use stoa_model::PrincipalId;
use tokio::sync::watch;

/// Callers of this process that are parked, by whom something has to come to.
#[derive(Default)]
pub struct Waiters(Arc<Mutex<HashMap<PrincipalId, watch::Sender<()>>>>);

/// One who waits. Dropping it ends the wait.
pub struct Waiter {
    all: Arc<Mutex<HashMap<PrincipalId, watch::Sender<()>>>>,
    principal: PrincipalId,
    bell: Option<watch::Receiver<()>>,
}

impl Waiters {
    /// Begins to listen. What comes after this call wakes the waiter, even before it waits.
    pub fn wait_for(&self, principal: PrincipalId) -> Waiter {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bell = all.entry(principal).or_insert_with(|| watch::Sender::new(())).subscribe();
        Waiter { all: self.0.clone(), principal, bell: Some(bell) }
    }

    pub fn wake(&self, principal: PrincipalId) {
        if let Some(bell) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&principal) {
            bell.send_replace(());
        }
    }

    /// Wakes everybody, to look for themselves.
    pub fn wake_all(&self) {
        for bell in self.0.lock().unwrap_or_else(PoisonError::into_inner).values() {
            bell.send_replace(());
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Waiter {
    pub async fn woken(&mut self) {
        if let Some(bell) = &mut self.bell {
            // The sender lives as long as somebody waits.
            let _ = bell.changed().await;
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        self.bell = None;
        if all.get(&self.principal).is_some_and(|bell| bell.receiver_count() == 0) {
            all.remove(&self.principal);
        }
    }
}
