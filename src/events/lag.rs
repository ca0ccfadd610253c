//! How far this hub is behind the outbox: for how long it has known of events, or not looked, without having seen all.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use stoa_db::Engine;

use crate::hub::{Hub, pause};

/// A lag that an operator should know of.
pub const NOTABLE: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// How often those who follow events or work look without a signal.
const UNSIGNALLED_LOOK: Duration = Duration::from_secs(1);

/// Ends when it is time to look although nothing was signalled: a hub that froze or died after a commit has told nobody of it. On
/// SQLite there are no other hubs.
pub(super) async fn unsignalled(hub: &Hub) {
    match hub.db().engine() {
        Engine::Postgres => pause(UNSIGNALLED_LOOK).await,
        Engine::Sqlite => std::future::pending().await,
    }
}

/// Since when the hub is behind; a part of its memory.
#[derive(Debug)]
pub struct Lag {
    since_ms: AtomicI64,
}

const UP_TO_DATE: i64 = i64::MAX;

impl Default for Lag {
    fn default() -> Self {
        Self { since_ms: AtomicI64::new(UP_TO_DATE) }
    }
}

impl Lag {
    /// There is something to read, or may be.
    pub(super) fn begin(&self, now_ms: i64) {
        // The first of several counts.
        let _ = self.since_ms.compare_exchange(UP_TO_DATE, now_ms, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// All that was written before this moment has been seen.
    pub(super) fn seen_until(&self, ms: i64) {
        self.since_ms.store(ms, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.since_ms.store(UP_TO_DATE, Ordering::Relaxed);
    }
}

/// For how long this hub has been behind.
pub fn lag(hub: &Hub) -> Duration {
    let since = hub.memory::<Lag>().since_ms.load(Ordering::Relaxed);
    Duration::from_millis(u64::try_from(hub.clock().now_ms().saturating_sub(since)).unwrap_or(0))
}

/// Warns when the hub falls behind.
pub(super) async fn watch(hub: Hub) {
    let mut is_warned = false;
    loop {
        tokio::select! {
            () = hub.stopping() => return,
            () = pause(BETWEEN_LOOKS) => {}
        }
        let behind = lag(&hub);
        if behind >= NOTABLE && !is_warned {
            tracing::warn!(
                seconds = behind.as_secs(),
                "this hub is behind: its event streams are late; the database is slow, away or locked"
            );
        } else if behind < NOTABLE && is_warned {
            tracing::info!("this hub has caught up with events");
        }
        is_warned = behind >= NOTABLE;
    }
}
