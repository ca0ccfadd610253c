//! Bytes that the hub holds in memory for callers: how many there may be in all, and how many of them one caller may take.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stoa_model::PrincipalId;

use crate::access::limits::network_of;

const MEBIBYTE: u64 = 1024 * 1024;

/// On whose account bytes are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Payer {
    /// The human who answers for the caller, or a machine principal.
    Owner(PrincipalId),
    /// The network of a caller without a credential.
    Stranger(Option<IpAddr>),
}

impl Payer {
    pub fn stranger(address: Option<IpAddr>) -> Self {
        Self::Stranger(address.map(network_of))
    }
}

/// How many bytes may be held.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    pub all: u64,
    /// By everybody without a credential together. The rest is for those who have one.
    pub strangers: u64,
    pub owner: u64,
    pub address: u64,
}

impl Shares {
    /// The usual parts of so many MiB: strangers get an eighth, one owner a quarter, one address of strangers a thirty-second part.
    pub fn of_mebibytes(mebibytes: u32) -> Self {
        let all = u64::from(mebibytes) * MEBIBYTE;
        Self { all, strangers: all / 8, owner: all / 4, address: all / 32 }
    }
}

/// Counts the bytes that are held. Clones count together.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    shares: Shares,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: u64,
    strangers: u64,
    by_payer: HashMap<Payer, u64>,
}

/// Bytes that are held. Dropping it lets go of them.
#[derive(Debug)]
pub struct Holding {
    counts: Arc<Counts>,
    payer: Payer,
    bytes: u64,
}

impl Budget {
    pub fn new(shares: Shares) -> Self {
        Self(Arc::new(Counts { shares, held: Mutex::default() }))
    }

    /// A holding of nothing, which can grow.
    pub fn open(&self, payer: Payer) -> Holding {
        Holding { counts: self.0.clone(), payer, bytes: 0 }
    }

    /// The bytes that all payers hold together.
    pub fn held(&self) -> u64 {
        self.0.lock().all
    }

    /// Whether the payer holds all that it may, or everybody together does.
    pub fn is_full_for(&self, payer: Payer) -> bool {
        !self.open(payer).grow(1)
    }
}

impl Counts {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holding {
    /// Holds so many bytes more. If that is too much, nothing changes and the answer is no.
    #[must_use]
    pub fn grow(&mut self, bytes: u64) -> bool {
        self.take(bytes, false)
    }

    /// The same for what cannot be had in part: it may be longer than the payer's share, if the payer holds nothing else.
    #[must_use]
    pub fn grow_at_once(&mut self, bytes: u64) -> bool {
        self.take(bytes, true)
    }

    fn take(&mut self, bytes: u64, is_whole: bool) -> bool {
        if bytes == 0 {
            return true;
        }
        let shares = self.counts.shares;
        let mut held = self.counts.lock();
        let is_stranger = matches!(self.payer, Payer::Stranger(_));
        let share = if is_stranger { shares.address } else { shares.owner };
        let own = held.by_payer.get(&self.payer).copied().unwrap_or(0) + bytes;
        let all = held.all + bytes;
        let strangers = held.strangers + if is_stranger { bytes } else { 0 };
        let is_alone = is_whole && own == bytes;
        if (own > share && !is_alone) || all > shares.all || strangers > shares.strangers {
            return false;
        }
        (held.all, held.strangers) = (all, strangers);
        held.by_payer.insert(self.payer, own);
        drop(held);
        self.bytes += bytes;
        true
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.counts.lock();
        held.all -= self.bytes;
        if matches!(self.payer, Payer::Stranger(_)) {
            held.strangers -= self.bytes;
        }
        if let Some(own) = held.by_payer.get_mut(&self.payer) {
            *own -= self.bytes;
            if *own == 0 {
                held.by_payer.remove(&self.payer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: Shares = Shares { all: 100, strangers: 30, owner: 60, address: 20 };

    fn owner(id: i64) -> Payer {
        Payer::Owner(PrincipalId(id))
    }

    fn stranger(last: u8) -> Payer {
        Payer::stranger(Some(IpAddr::from([192, 0, 2, last])))
    }

    #[test]
    fn nobody_holds_more_than_a_share() {
        let budget = Budget::new(SHARES);
        let mut first = budget.open(owner(1));
        let mut second = budget.open(owner(1));
        assert!(first.grow(40));
        assert!(!second.grow(21), "both are of one owner");
        assert!(second.grow(20));
        assert!(budget.is_full_for(owner(1)));
        let mut other = budget.open(owner(2));
        assert!(other.grow(40));
        assert!(budget.is_full_for(owner(2)), "100 are held in all");
        drop(first);
        assert!(other.grow(20));
        assert_eq!(budget.held(), 80);
    }

    #[test]
    fn what_is_longer_than_a_share_comes_alone() {
        let budget = Budget::new(SHARES);
        let mut long = budget.open(owner(1));
        assert!(!long.grow(61) && long.grow_at_once(61));
        assert!(!budget.open(owner(1)).grow_at_once(1));
        assert!(!budget.open(owner(2)).grow_at_once(61), "that is more than all may hold");
    }

    #[test]
    fn strangers_leave_room_for_those_with_a_credential() {
        let budget = Budget::new(SHARES);
        let mut first = budget.open(stranger(1));
        let mut second = budget.open(stranger(2));
        assert!(!first.grow(21));
        assert!(first.grow(20));
        assert!(!second.grow(11), "strangers hold 30 together");
        assert!(second.grow(10));
        assert!(budget.is_full_for(stranger(3)));
        let mut owner = budget.open(owner(1));
        assert!(owner.grow(60));
    }

    #[test]
    fn what_is_dropped_is_held_no_longer() {
        let budget = Budget::new(SHARES);
        for _ in 0..10 {
            let mut holding = budget.open(stranger(1));
            assert!(holding.grow(10) && holding.grow(10) && !holding.grow(1));
        }
        assert_eq!(budget.held(), 0);
        assert!(budget.0.lock().by_payer.is_empty());
    }
}
