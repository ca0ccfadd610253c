//! The one place where time comes from.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use stoa_db::{Environment, SystemEnvironment};
use stoa_model::Timestamp;
use tokio::sync::watch;

/// What time it is, and how to wait for a later one. A test holds a clock that it moves itself, so
/// that nothing in it has to wait.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System(Arc<SystemClock>),
    Manual(Arc<watch::Sender<i64>>),
}

/// The machine's clock, which may be wrong.
#[derive(Default)]
struct SystemClock {
    /// By how much it is wrong on purpose; 0 but in tests.
    skew_ms: i64,
    /// What is added so that it agrees with the database's.
    correction_ms: AtomicI64,
}

impl Clock {
    pub fn system() -> Self {
        Self(Source::System(Arc::default()))
    }

    /// A system's clock that is wrong by so much, to see what becomes of it.
    pub fn skewed(skew_ms: i64) -> Self {
        Self(Source::System(Arc::new(SystemClock { skew_ms, ..SystemClock::default() })))
    }

    /// What is added to the machine's time so that it agrees with the database's.
    pub fn correction_ms(&self) -> i64 {
        match &self.0 {
            Source::System(clock) => clock.correction_ms.load(Ordering::Relaxed),
            Source::Manual(_) => 0,
        }
    }

    /// A clock that stands still until it is [advanced](Self::advance).
    pub fn manual(start: Timestamp) -> Self {
        Self(Source::Manual(Arc::new(watch::Sender::new(start.as_ms()))))
    }

    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Source::System(clock) => {
                SystemEnvironment.now_ms() + clock.skew_ms + clock.correction_ms.load(Ordering::Relaxed)
            }
            Source::Manual(now) => *now.borrow(),
        }
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms())
    }

    /// Moves a manual clock forward; the system's clock moves by itself.
    pub fn advance(&self, by: Duration) {
        if let Source::Manual(now) = &self.0 {
            now.send_modify(|ms| *ms += milliseconds(by));
        }
    }

    /// Waits until the clock shows `ms` or later.
    pub async fn sleep_until(&self, ms: i64) {
        match &self.0 {
            Source::System(_) => {
                let wait = u64::try_from(ms - self.now_ms()).unwrap_or(0);
                #[expect(clippy::disallowed_methods, reason = "this is the place where waiting is done")]
                tokio::time::sleep(Duration::from_millis(wait)).await;
            }
            Source::Manual(now) => {
                // The clock holds its own sender, so this cannot fail.
                let _ = now.subscribe().wait_for(|now| *now >= ms).await;
            }
        }
    }

    pub async fn sleep(&self, duration: Duration) {
        self.sleep_until(self.now_ms().saturating_add(milliseconds(duration))).await;
    }
}

impl Environment for Clock {
    fn now_ms(&self) -> i64 {
        Clock::now_ms(self)
    }

    fn seed(&self) -> Result<[u8; 32], String> {
        SystemEnvironment.seed()
    }

    fn correct(&self, by_ms: i64) -> i64 {
        match &self.0 {
            Source::System(clock) => clock.correction_ms.fetch_add(by_ms, Ordering::Relaxed) + by_ms,
            // A test sets it on purpose.
            Source::Manual(_) => 0,
        }
    }
}

pub fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
