//! A line for each owner, in which their requests wait for each other and not for those of others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stoa_model::PrincipalId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many requests of one owner are worked on at a time. The others wait.
#[derive(Debug)]
pub struct Lines {
    at_once: usize,
    owners: Owners,
}

type Owners = Arc<Mutex<HashMap<PrincipalId, Line>>>;

#[derive(Debug)]
struct Line {
    turns: Arc<Semaphore>,
    /// How many have a turn or wait for one.
    length: usize,
}

/// A request whose turn it is, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _permit: OwnedSemaphorePermit,
    _place: Place,
}

/// A place in an owner's line.
#[derive(Debug)]
struct Place {
    owners: Owners,
    owner: PrincipalId,
}

impl Lines {
    pub fn new(at_once: usize) -> Self {
        Self { at_once, owners: Owners::default() }
    }

    /// Waits for a turn. None never comes.
    pub async fn take(&self, owner: PrincipalId) -> Option<Turn> {
        let (place, turns) = self.line_up(owner);
        let permit = turns.acquire_owned().await.ok()?;
        Some(Turn { _permit: permit, _place: place })
    }

    fn line_up(&self, owner: PrincipalId) -> (Place, Arc<Semaphore>) {
        let mut owners = lock(&self.owners);
        let new = || Line { turns: Arc::new(Semaphore::new(self.at_once)), length: 0 };
        let line = owners.entry(owner).or_insert_with(new);
        line.length += 1;
        (Place { owners: self.owners.clone(), owner }, line.turns.clone())
    }
}

fn lock(owners: &Mutex<HashMap<PrincipalId, Line>>) -> MutexGuard<'_, HashMap<PrincipalId, Line>> {
    owners.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut owners = lock(&self.owners);
        if let Some(line) = owners.get_mut(&self.owner) {
            line.length -= 1;
            if line.length == 0 {
                owners.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn an_owner_waits_only_for_their_own() {
        let lines = Lines::new(2);
        let (ada, bob) = (PrincipalId(1), PrincipalId(2));
        let first = lines.take(ada).await.unwrap();
        let _second = lines.take(ada).await.unwrap();
        let mut third = std::pin::pin!(lines.take(ada));
        let waits = std::future::poll_fn(|context| Poll::Ready(third.as_mut().poll(context).is_pending()));
        assert!(waits.await, "two of ada's are worked on");
        drop(lines.take(bob).await.unwrap());
        drop(first);
        drop(third.await.unwrap());
        assert_eq!(lock(&lines.owners).len(), 1, "only ada has a request");
    }
}
