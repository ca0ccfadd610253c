//! Time and randomness as a command sees them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Where commands get the time and their random seed from. Tests put a clock of their own here.
pub trait Environment: Send + Sync + 'static {
    /// UTC milliseconds.
    fn now_ms(&self) -> i64;

    /// 256 fresh random bits. Each command expands its own.
    fn seed(&self) -> Result<[u8; 32], String>;

    /// Moves the clock by so much, so that all hubs on one server have the server's time. Returns by how much it is moved in all;
    /// a clock that cannot be moved stays as it is.
    fn correct(&self, _by_ms: i64) -> i64 {
        0
    }
}

/// The clock and the randomness of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEnvironment;

impl Environment for SystemEnvironment {
    fn now_ms(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "this is the place where the system clock comes in")]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
    }

    fn seed(&self) -> Result<[u8; 32], String> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| error.to_string())?;
        Ok(seed)
    }
}
