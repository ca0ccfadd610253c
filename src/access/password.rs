//! Passwords: bcrypt, on threads of its own, a few at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use stoa_model::Secret;
use stoa_model::users::MAX_PASSWORD_BYTES;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::access::password_line::{Caller, PasswordLines};
use crate::error::HubError;
use crate::metrics::Metrics;

/// When those who found the line full may try again.
const RETRY_SECONDS: u64 = 2;
/// The least that bcrypt allows: enough for secrets that the hub made itself, which nobody can guess.
pub const LOWEST_COST: u32 = 4;

/// Hashes and compares passwords without holding up anything else.
pub struct PasswordHasher {
    cost: u32,
    cores: Cores,
    metrics: Arc<Metrics>,
    stopping: CancellationToken,
    /// The cost of comparing with nobody's password, so that an unknown name takes the same work as a known one.
    decoy_cost: AtomicU32,
}

/// The cores that a hasher may use. One core is always left for other work.
pub struct Cores {
    lines: PasswordLines,
    /// The machine has one core, so each hash is followed by a rest of the same length.
    rests: bool,
}

impl Cores {
    pub fn of_this_machine() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { lines: PasswordLines::new((cores - 1).max(1)), rests: cores == 1 }
    }
}

impl PasswordHasher {
    /// `stopping` ends the wait of those who are in line.
    pub fn new(cost: u32, cores: Cores, metrics: Arc<Metrics>, stopping: CancellationToken) -> Self {
        Self { cost, cores, metrics, stopping, decoy_cost: AtomicU32::new(cost) }
    }

    /// The cost of the hashes that are made now.
    pub fn cost(&self) -> u32 {
        self.cost
    }

    pub fn decoy_cost(&self) -> u32 {
        self.decoy_cost.load(Ordering::Relaxed)
    }

    /// Sets the cost that most accounts have. After a change of the configured cost it is another one for some time.
    pub fn set_decoy_cost(&self, cost: u32) {
        self.decoy_cost.store(cost, Ordering::Relaxed);
    }

    pub async fn hash(&self, caller: Caller, password: &Secret) -> Result<String, HubError> {
        let (cost, password) = (self.cost, password.clone());
        self.run(caller, move || bcrypt::hash(password.expose(), cost)).await
    }

    /// Whether `password` is the one behind `hash`. Without a hash the same work is done in vain.
    pub async fn verify(&self, caller: Caller, password: &Secret, hash: Option<String>) -> Result<bool, HubError> {
        let is_known = hash.is_some();
        let hash = hash.unwrap_or_else(|| decoy(self.decoy_cost()));
        // Longer ones were never accepted; bcrypt would compare only their beginning.
        let fits = password.expose().len() <= MAX_PASSWORD_BYTES;
        let password = password.clone();
        self.metrics.bcrypt_verifications.inc();
        let matches = self
            .run(caller, move || {
                let shown: &[u8] = if fits { password.expose().as_bytes() } else { b"too long" };
                bcrypt::verify(shown, &hash)
            })
            .await?;
        Ok(matches && is_known && fits)
    }

    async fn run<T: Send + 'static>(
        &self,
        caller: Caller,
        work: impl FnOnce() -> bcrypt::BcryptResult<T> + Send + 'static,
    ) -> Result<T, HubError> {
        let busy = || {
            let detail = "Too many logins at the same time.";
            HubError::not_yet("busy", detail, RETRY_SECONDS).hint("Retry in a moment.")
        };
        let lines = &self.cores.lines;
        let place = lines.enter(caller).ok_or_else(busy)?;
        let turn = tokio::select! {
            biased;
            turn = lines.turn(&place) => turn.ok_or_else(busy)?,
            () = self.stopping.cancelled() => return Err(HubError::unavailable("The hub is shutting down.")),
        };
        let (reply, outcome) = oneshot::channel();
        let rests = self.cores.rests;
        tokio::task::spawn_blocking(move || {
            #[expect(clippy::disallowed_methods, reason = "a core is used in real time")]
            let started = Instant::now();
            let outcome = work();
            let worked = started.elapsed();
            // The caller may be gone.
            let _ = reply.send(outcome);
            if rests {
                std::thread::sleep(worked);
            }
            drop(turn);
        });
        outcome.await.map_err(HubError::internal)?.map_err(HubError::internal)
    }
}

/// A hash of that cost. No password is behind it.
fn decoy(cost: u32) -> String {
    // 22 digits of salt and 31 of the hash, all zero.
    format!("$2b${cost:02}${}", ".".repeat(53))
}

/// The cost that is written in a hash.
pub fn cost_of(hash: &str) -> Option<u32> {
    hash.split('$').nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoy_has_its_cost_and_no_password() {
        for cost in [4, 5, 10] {
            assert_eq!(cost_of(&decoy(cost)), Some(cost));
        }
        for password in ["", "password", "........"] {
            assert!(!bcrypt::verify(password, &decoy(LOWEST_COST)).unwrap(), "{password}");
        }
    }

    #[test]
    fn costs_are_read_from_hashes() {
        assert_eq!(cost_of(&bcrypt::hash("x", 5).unwrap()), Some(5));
        for text in ["", "none", "$2b$", "$2b$x$abc"] {
            assert_eq!(cost_of(text), None, "{text}");
        }
    }
}
