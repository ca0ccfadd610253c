//! Real time: a bench measures and waits by the clock of the machine.

use std::time::{Duration, Instant, SystemTime};

#[expect(clippy::disallowed_methods, reason = "measuring real time is what a bench is for")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// For signatures, which are valid for minutes.
#[expect(clippy::disallowed_methods, reason = "a bench runs in real time")]
pub(super) fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "a bench runs in real time")]
pub(super) async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}
