//! What a command tells those who wait for something to happen, in every process on the database.

use std::ops::BitOrAssign;

use tokio::sync::watch;

/// Which of them are woken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Signals {
    pub(crate) change: bool,
    pub(crate) work: bool,
}

impl Signals {
    pub(crate) const ALL: Self = Self { change: true, work: true };

    pub(crate) fn is_any(self) -> bool {
        self.change || self.work
    }

    /// As one character, for other processes.
    pub(crate) fn letter(self) -> char {
        match (self.change, self.work) {
            (true, false) => 'c',
            (false, true) => 'w',
            _ => 'b',
        }
    }

    pub(crate) fn from_letter(letter: &str) -> Self {
        match letter {
            "c" => Self { change: true, work: false },
            "w" => Self { change: false, work: true },
            // From a version that says it in another way, or not at all.
            _ => Self::ALL,
        }
    }
}

impl BitOrAssign for Signals {
    fn bitor_assign(&mut self, other: Self) {
        self.change |= other.change;
        self.work |= other.work;
    }
}

/// Counters that grow with each signal; who waits watches them.
#[derive(Clone)]
pub(crate) struct Bells {
    pub(crate) changes: watch::Sender<u64>,
    pub(crate) work: watch::Sender<u64>,
}

impl Bells {
    pub(crate) fn new() -> Self {
        Self { changes: watch::Sender::new(0), work: watch::Sender::new(0) }
    }

    pub(crate) fn ring(&self, signals: Signals) {
        for (is_wanted, bell) in [(signals.change, &self.changes), (signals.work, &self.work)] {
            if is_wanted {
                bell.send_modify(|count| *count += 1);
            }
        }
    }
}
