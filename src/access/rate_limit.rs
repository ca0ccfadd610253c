//! Limits per hub: how much one caller may do in a minute.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Idle callers are forgotten when there are twice as many as after the last time, and this many.
const SWEEP_ABOVE: usize = 1000;

/// A bucket for each key that holds `burst` tokens and fills up again over `period_ms`.
pub struct Limiter<K> {
    burst: u32,
    period_ms: i64,
    buckets: Mutex<Buckets<K>>,
}

struct Buckets<K> {
    /// When each bucket will be full again. An absent one is full.
    full_at: HashMap<K, i64>,
    sweep_above: usize,
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
        let buckets = Buckets { full_at: HashMap::new(), sweep_above: SWEEP_ABOVE };
        Self { burst, period_ms, buckets: Mutex::new(buckets) }
    }

    /// Takes a token if there is one.
    pub fn take(&self, key: K, now_ms: i64) -> Allowance {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.sweep(now_ms);
        let full_at = buckets.full_at.entry(key).or_insert(now_ms);
        // An empty bucket fills up within the period. A later time was noted before the clock was set back.
        *full_at = (*full_at).min(now_ms + self.period_ms);
        let current = self.allowance(*full_at, now_ms);
        if current.allowed {
            *full_at = (*full_at).max(now_ms) + self.cost_ms();
            return Allowance { allowed: true, ..self.allowance(*full_at, now_ms) };
        }
        current
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

/// A bucket for each key that holds `burst` units and fills up again over `period_ms`. What something costs is known when it is done, so a
/// bucket can be overdrawn; then its owner waits until it is not, for the period at most.
pub struct Meter<K> {
    burst: u64,
    period_ms: i64,
    buckets: Mutex<Buckets<K>>,
}

const MICROSECONDS: i64 = 1000;

impl<K: Hash + Eq> Meter<K> {
    pub fn new(burst: u64, period_ms: i64) -> Self {
        let buckets = Buckets { full_at: HashMap::new(), sweep_above: SWEEP_ABOVE };
        Self { burst: burst.max(1), period_ms, buckets: Mutex::new(buckets) }
    }

    pub fn spend(&self, key: K, cost: u64, now_ms: i64) {
        let now = now_ms * MICROSECONDS;
        let period = i128::from(self.period_ms) * i128::from(MICROSECONDS);
        let time = i64::try_from(i128::from(cost) * period / i128::from(self.burst)).unwrap_or(i64::MAX / 4);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.sweep(now);
        let full_at = buckets.full_at.entry(key).or_insert(now);
        *full_at = (*full_at).max(now).saturating_add(time).min(self.latest(now_ms));
    }

    /// Until the bucket has something in it again; 0 if it has.
    pub fn seconds_to_wait(&self, key: &K, now_ms: i64) -> u64 {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(full_at) = buckets.full_at.get_mut(key) else { return 0 };
        // A later time was noted before the clock was set back.
        *full_at = (*full_at).min(self.latest(now_ms));
        let wait = *full_at - (now_ms + self.period_ms) * MICROSECONDS;
        u64::try_from((wait + 999_999).div_euclid(1_000_000)).unwrap_or(0)
    }

    /// When a bucket is full again that is overdrawn as far as it can be.
    fn latest(&self, now_ms: i64) -> i64 {
        (now_ms + 2 * self.period_ms) * MICROSECONDS
    }
}

impl<K: Hash + Eq> Buckets<K> {
    /// Forgets the buckets that are full, when there are many.
    fn sweep(&mut self, now: i64) {
        if self.full_at.len() > self.sweep_above {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.sweep_above = SWEEP_ABOVE.max(2 * self.full_at.len());
        }
    }
}

/// At most `limit` in any `period_ms`, for each key: for what must be rare, where a bucket that fills up
/// again would let twice as much through.
pub struct Window<K> {
    limit: u32,
    period_ms: i64,
    keys: Mutex<WindowKeys<K>>,
}

struct WindowKeys<K> {
    times: HashMap<K, VecDeque<i64>>,
    sweep_above: usize,
}

impl<K: Hash + Eq> Window<K> {
    pub fn new(limit: u32, period_ms: i64) -> Self {
        let keys = WindowKeys { times: HashMap::new(), sweep_above: SWEEP_ABOVE };
        Self { limit, period_ms, keys: Mutex::new(keys) }
    }

    /// Takes a place if there is one.
    pub fn take(&self, key: K, now_ms: i64) -> Allowance {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now_ms - self.period_ms;
        if keys.times.len() > keys.sweep_above {
            keys.times.retain(|_, times| times.back().is_some_and(|last| *last > since));
            keys.sweep_above = SWEEP_ABOVE.max(2 * keys.times.len());
        }
        let times = keys.times.entry(key).or_default();
        while times.front().is_some_and(|first| *first <= since) {
            times.pop_front();
        }
        // A later time was noted before the clock was set back.
        times.iter_mut().for_each(|time| *time = (*time).min(now_ms));
        let used = u32::try_from(times.len()).unwrap_or(u32::MAX);
        let allowed = used < self.limit;
        let wait_ms = times.front().map_or(0, |first| first - since);
        if allowed {
            times.push_back(now_ms);
        }
        Allowance {
            allowed,
            limit: self.limit,
            remaining: self.limit.saturating_sub(used + u32::from(allowed)),
            reset_seconds: u64::try_from((wait_ms + 999) / 1000).unwrap_or(0),
        }
    }

    /// Gives the last place back.
    pub fn refund(&self, key: &K) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(times) = keys.times.get_mut(key) {
            times.pop_back();
        }
    }
}

/// Counts what happens too often to be reported each time. For each key there is one report in any `period_ms`.
pub struct Tally<K> {
    period_ms: i64,
    counts: Mutex<Counts<K>>,
}

struct Counts<K> {
    /// What was not reported yet.
    unreported: HashMap<K, u64>,
    /// When the next report of each key is due, in that order.
    due: VecDeque<(i64, K)>,
}

impl<K: Hash + Eq + Clone> Tally<K> {
    pub fn new(period_ms: i64) -> Self {
        let counts = Counts { unreported: HashMap::new(), due: VecDeque::new() };
        Self { period_ms, counts: Mutex::new(counts) }
    }

    /// Counts one. Returns the number to report if this is the first one after a pause.
    pub fn note(&self, key: K, now_ms: i64) -> Option<u64> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unreported) = counts.unreported.get_mut(&key) {
            *unreported += 1;
            return None;
        }
        counts.unreported.insert(key.clone(), 0);
        counts.due.push_back((now_ms + self.period_ms, key));
        Some(1)
    }

    /// The keys whose report is due, with their numbers. Those without anything to report are forgotten.
    pub fn overdue(&self, now_ms: i64) -> Vec<(K, u64)> {
        let mut guard = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = &mut *guard;
        let mut reports = Vec::new();
        while counts.due.front().is_some_and(|(due_at, _)| *due_at <= now_ms) {
            let Some((_, key)) = counts.due.pop_front() else { break };
            match counts.unreported.get_mut(&key).map(std::mem::take) {
                Some(unreported) if unreported > 0 => {
                    reports.push((key.clone(), unreported));
                    counts.due.push_back((now_ms + self.period_ms, key));
                }
                _ => drop(counts.unreported.remove(&key)),
            }
        }
        reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_reports_once_a_minute_and_loses_nothing() {
        let tally = Tally::new(60_000);
        assert_eq!(tally.note("ada", 0), Some(1));
        assert!((1..10).all(|now| tally.note("ada", now).is_none()));
        assert_eq!(tally.note("bob", 30_000), Some(1));
        assert_eq!(tally.overdue(59_999), []);
        assert_eq!(tally.overdue(60_000), [("ada", 9)]);
        assert_eq!(tally.note("ada", 60_001), None);
        assert_eq!(tally.overdue(1_000_000), [("ada", 1)]);
        assert_eq!(tally.overdue(2_000_000), []);
        let counts = tally.counts.lock().unwrap();
        assert!(counts.due.is_empty() && counts.unreported.is_empty());
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_nobody_out_for_longer_than_the_period() {
        let hour = 3_600_000;
        let limiter = Limiter::new(2, 60_000);
        assert!((0..3).map(|_| limiter.take("ada", hour).allowed).eq([true, true, false]));
        assert_eq!(limiter.take("ada", 0).reset_seconds, 30);
        assert!(limiter.take("ada", 30_000).allowed);
        let window = Window::new(1, 60_000);
        assert!(
            window.take("ada", hour).allowed && !window.take("ada", 0).allowed && window.take("ada", 60_000).allowed
        );
        let meter = Meter::new(100, 60_000);
        meter.spend("ada", 1_000_000, hour);
        assert_eq!(meter.seconds_to_wait(&"ada", hour), 60);
        assert_eq!(meter.seconds_to_wait(&"ada", 0), 60);
        assert_eq!(meter.seconds_to_wait(&"ada", 60_000), 0);
    }

    #[test]
    fn a_window_lets_no_more_through_in_any_minute() {
        let window = Window::new(2, 60_000);
        assert!(window.take("ada", 0).allowed && window.take("ada", 30_000).allowed);
        let refused = window.take("ada", 30_000);
        assert_eq!((refused.allowed, refused.reset_seconds), (false, 30));
        assert!(!window.take("ada", 59_999).allowed && window.take("bob", 59_999).allowed);
        assert!(window.take("ada", 60_000).allowed && !window.take("ada", 89_999).allowed);
        window.refund(&"ada");
        assert!(window.take("ada", 89_999).allowed);
    }

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
        assert_eq!(limiter.take("ada", 1_000_000).remaining, 4);
    }
}
