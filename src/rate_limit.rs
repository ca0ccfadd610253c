//! Limits per hub: how much one caller may do in a minute.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Forget idle callers when there are more than this many.
const SWEEP_ABOVE: usize = 10_000;

/// A bucket for each key that holds `burst` tokens and fills up again over `period_ms`.
pub struct Limiter<K> {
    burst: u32,
    period_ms: i64,
    /// When each bucket will be full again. An absent one is full.
    full_at: Mutex<HashMap<K, i64>>,
}

/// What is left after a look at a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    pub allowed: bool,
    pub limit: u32,
    pub remaining: u32,
    /// Until the bucket is full, or, when nothing is left, until there is a token again.
    pub reset_seconds: u64,
}

impl<K: Hash + Eq> Limiter<K> {
    pub fn new(burst: u32, period_ms: i64) -> Self {
        Self { burst, period_ms, full_at: Mutex::default() }
    }

    /// Takes a token if there is one.
    pub fn take(&self, key: K, now_ms: i64) -> Allowance {
        let mut buckets = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > SWEEP_ABOVE {
            buckets.retain(|_, full_at| *full_at > now_ms);
        }
        let full_at = buckets.entry(key).or_insert(now_ms);
        let current = self.allowance(*full_at, now_ms);
        if current.allowed {
            *full_at = (*full_at).max(now_ms) + self.cost_ms();
            return Allowance { allowed: true, ..self.allowance(*full_at, now_ms) };
        }
        current
    }

    /// Gives a token back.
    pub fn refund(&self, key: &K) {
        let mut buckets = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full_at) = buckets.get_mut(key) {
            *full_at -= self.cost_ms();
        }
    }

    fn allowance(&self, full_at: i64, now_ms: i64) -> Allowance {
        let missing_ms = (full_at - now_ms).max(0);
        let cost = self.cost_ms();
        // A started token counts as used.
        let used = u32::try_from((missing_ms + cost - 1) / cost).unwrap_or(u32::MAX);
        let remaining = self.burst.saturating_sub(used);
        let wait_ms = if remaining > 0 { missing_ms } else { missing_ms - i64::from(self.burst - 1) * cost };
        Allowance {
            allowed: remaining > 0,
            limit: self.burst,
            remaining,
            reset_seconds: u64::try_from((wait_ms.max(0) + 999) / 1000).unwrap_or(0),
        }
    }

    fn cost_ms(&self) -> i64 {
        (self.period_ms / i64::from(self.burst.max(1))).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_then_one_for_each_token_that_comes_back() {
        let limiter = Limiter::new(5, 60_000);
        for remaining in (0..5).rev() {
            let allowance = limiter.take("ada", 0);
            assert_eq!((allowance.allowed, allowance.remaining), (true, remaining));
        }
        assert_eq!(limiter.take("ada", 0), Allowance { allowed: false, limit: 5, remaining: 0, reset_seconds: 12 });
        assert!(limiter.take("bob", 0).allowed);
        assert!(!limiter.take("ada", 11_999).allowed);
        assert!(limiter.take("ada", 12_000).allowed);
        assert!(!limiter.take("ada", 12_000).allowed);
        limiter.refund(&"ada");
        assert!(limiter.take("ada", 12_000).allowed);
        assert_eq!(limiter.take("ada", 1_000_000).remaining, 4);
    }
}
