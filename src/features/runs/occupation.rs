//! Which workspaces are in use. A run that can change a folder could put links into it while another one is about to use something in it,
//! so the two do not run at the same time. This also keeps two runs from changing the same files.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::hub::Hub;

/// How a run uses a workspace.
#[derive(Debug, Clone)]
pub(super) struct Use {
    /// Without links.
    pub(super) path: PathBuf,
    /// Whether its program can write there.
    pub(super) changes_it: bool,
}

impl Use {
    /// Whether both cannot be at once.
    fn disturbs(&self, other: &Use) -> bool {
        let overlap = self.path.starts_with(&other.path) || other.path.starts_with(&self.path);
        overlap && (self.changes_it || other.changes_it)
    }
}

/// What is in use on this hub.
#[derive(Default)]
struct Uses {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    next_ticket: u64,
    /// Those under way and those that wait, in the order in which they came.
    uses: Vec<(u64, Use)>,
}

impl Uses {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use a workspace. It ends when this is dropped.
pub(super) struct Occupied {
    uses: Arc<Uses>,
    ticket: u64,
}

impl Occupied {
    /// Waits until nobody who came before disturbs.
    pub(super) async fn wait(hub: &Hub, wanted: Use) -> Self {
        Self::wait_among(hub.memory::<Uses>(), wanted).await
    }

    async fn wait_among(uses: Arc<Uses>, wanted: Use) -> Self {
        let ticket = {
            let mut state = uses.lock();
            let ticket = state.next_ticket;
            state.next_ticket += 1;
            state.uses.push((ticket, wanted.clone()));
            ticket
        };
        let place = Self { uses, ticket };
        loop {
            let changed = place.uses.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let is_free = !place.uses.lock().uses.iter().any(|(other, used)| *other < ticket && used.disturbs(&wanted));
            if is_free {
                break;
            }
            changed.await;
        }
        place
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.uses.lock().uses.retain(|(ticket, _)| *ticket != self.ticket);
        self.uses.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_change_a_folder_are_alone_in_it() {
        let reads = |path: &str| Use { path: path.into(), changes_it: false };
        let changes = |path: &str| Use { path: path.into(), changes_it: true };
        for (one, other, expected) in [
            (reads("/a"), reads("/a"), false),
            (reads("/a/b"), changes("/a"), true),
            (changes("/a/b"), reads("/a"), true),
            (changes("/a"), changes("/a"), true),
            (changes("/a"), changes("/ab"), false),
            (changes("/a/b"), changes("/a/c"), false),
        ] {
            assert_eq!(one.disturbs(&other), expected, "{one:?} {other:?}");
            assert_eq!(other.disturbs(&one), expected, "{one:?} {other:?}");
        }
    }

    #[tokio::test]
    async fn they_wait_for_each_other_in_order() {
        let uses = Arc::new(Uses::default());
        let change = || Use { path: "/a".into(), changes_it: true };
        let first = Occupied::wait_among(uses.clone(), change()).await;
        let second = tokio::spawn(Occupied::wait_among(uses.clone(), change()));
        let elsewhere = Occupied::wait_among(uses.clone(), Use { path: "/b".into(), changes_it: true }).await;
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        drop(first);
        drop(second.await.unwrap());
        drop(elsewhere);
        assert!(uses.lock().uses.is_empty());
    }
}
