//! How much each owner's stored answers take.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use stoa_model::PrincipalId;

/// How long a count is believed. Other hubs store too, and answers are deleted when they are a day old.
const BELIEVED_MS: i64 = 5 * 60 * 1000;
/// Counts that are remembered; more are counted again when they are needed.
const MAX_COUNTS: usize = 10_000;

/// The bytes that are stored for each owner, as far as this hub knows.
#[derive(Debug, Default)]
pub(super) struct StoredAnswers(Mutex<HashMap<PrincipalId, Count>>);

#[derive(Debug, Clone, Copy)]
struct Count {
    bytes: i64,
    counted_at: i64,
}

impl StoredAnswers {
    /// None if it has to be counted.
    pub(super) fn bytes(&self, owner: PrincipalId, now_ms: i64) -> Option<i64> {
        let count = self.counts().get(&owner).copied();
        count.filter(|count| now_ms - count.counted_at < BELIEVED_MS).map(|count| count.bytes)
    }

    pub(super) fn note_counted(&self, owner: PrincipalId, bytes: i64, now_ms: i64) {
        let mut counts = self.counts();
        if counts.len() >= MAX_COUNTS {
            counts.clear();
        }
        counts.insert(owner, Count { bytes, counted_at: now_ms });
    }

    pub(super) fn note_stored(&self, owner: PrincipalId, bytes: i64) {
        if let Some(count) = self.counts().get_mut(&owner) {
            count.bytes += bytes;
        }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<PrincipalId, Count>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
