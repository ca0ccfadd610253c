//! Those who wait for something to come: each costs a map entry, and nothing else, until it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stoa_model::PrincipalId;
use tokio::sync::watch;

/// How many may be parked for one human and their agents. Whatever wakes them makes each of them look anew.
const MAX_PARKED: usize = 100;

/// Callers of this process that are parked, by whom something has to come to.
#[derive(Default)]
pub struct Waiters(Arc<Mutex<Parked>>);

#[derive(Default)]
struct Parked {
    bells: HashMap<(PrincipalId, Awaited), Bell>,
    /// How many there are for each human.
    humans: HashMap<PrincipalId, usize>,
}

struct Bell {
    human: PrincipalId,
    sender: watch::Sender<()>,
}

/// What somebody waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Awaited {
    /// What is new, and what changes.
    News,
    /// Only what changes: nothing that is new is of use to them.
    Changes,
}

/// One who waits. Dropping it ends the wait.
pub struct Waiter {
    all: Arc<Mutex<Parked>>,
    place: (PrincipalId, Awaited),
    human: PrincipalId,
    bell: Option<watch::Receiver<()>>,
}

impl Waiters {
    /// Begins to listen. What comes after this call wakes the waiter, even before it waits. None if too many
    /// wait for this human already.
    pub fn wait_for(&self, principal: PrincipalId, human: PrincipalId, awaited: Awaited) -> Option<Waiter> {
        let mut all = lock(&self.0);
        let of_human = all.humans.entry(human).or_default();
        if *of_human >= MAX_PARKED {
            return None;
        }
        *of_human += 1;
        let place = (principal, awaited);
        let bell = all.bells.entry(place).or_insert_with(|| Bell { human, sender: watch::Sender::new(()) });
        let bell = bell.sender.subscribe();
        Some(Waiter { all: self.0.clone(), place, human, bell: Some(bell) })
    }

    /// Wakes those for whom something new has come.
    pub fn wake_for_news(&self, principal: PrincipalId) {
        ring(&lock(&self.0), principal, Awaited::News);
    }

    /// Wakes those for whom something has changed.
    pub fn wake_for_change(&self, principal: PrincipalId) {
        let all = lock(&self.0);
        ring(&all, principal, Awaited::News);
        ring(&all, principal, Awaited::Changes);
    }

    /// Wakes those who may have lost what they wait with: somebody's own calls, and those of their agents.
    pub fn wake_for_access(&self, principal: PrincipalId) {
        let all = lock(&self.0);
        let theirs = all.bells.iter().filter(|((waiting, _), bell)| [*waiting, bell.human].contains(&principal));
        theirs.for_each(|(_, bell)| bell.ring());
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are parked.
    pub fn len(&self) -> usize {
        lock(&self.0).humans.values().sum()
    }
}

fn lock(all: &Mutex<Parked>) -> MutexGuard<'_, Parked> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ring(all: &Parked, principal: PrincipalId, awaited: Awaited) {
    if let Some(bell) = all.bells.get(&(principal, awaited)) {
        bell.ring();
    }
}

impl Bell {
    fn ring(&self) {
        self.sender.send_replace(());
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
        let mut all = lock(&self.all);
        self.bell = None;
        if all.bells.get(&self.place).is_some_and(|bell| bell.sender.receiver_count() == 0) {
            all.bells.remove(&self.place);
        }
        if let Some(of_human) = all.humans.get_mut(&self.human) {
            *of_human -= 1;
            if *of_human == 0 {
                all.humans.remove(&self.human);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_are_woken_who_can_get_something() {
        let waiters = Waiters::default();
        let (me, owner) = (PrincipalId(1), PrincipalId(9));
        let mut news = waiters.wait_for(me, owner, Awaited::News).unwrap();
        let mut changes = waiters.wait_for(me, owner, Awaited::Changes).unwrap();
        let mut has_rung = |is_changed: fn(&Waiters)| {
            is_changed(&waiters);
            [&mut news, &mut changes].map(|waiter| {
                let bell = waiter.bell.as_mut().unwrap();
                let has_rung = bell.has_changed().unwrap();
                bell.mark_unchanged();
                has_rung
            })
        };
        assert_eq!(has_rung(|waiters| waiters.wake_for_news(PrincipalId(1))), [true, false]);
        assert_eq!(has_rung(|waiters| waiters.wake_for_change(PrincipalId(1))), [true, true]);
        assert_eq!(has_rung(|waiters| waiters.wake_for_change(PrincipalId(2))), [false, false]);
        assert_eq!(has_rung(|waiters| waiters.wake_for_access(PrincipalId(1))), [true, true]);
        assert_eq!(has_rung(|waiters| waiters.wake_for_access(PrincipalId(9))), [true, true]);
        assert_eq!(has_rung(|waiters| waiters.wake_for_access(PrincipalId(2))), [false, false]);
        drop((news, changes));
        assert!(waiters.is_empty() && lock(&waiters.0).bells.is_empty());
    }
}
