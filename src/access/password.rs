//! Passwords: bcrypt, on threads of its own, a few at a time.

use std::sync::Arc;

use stoa_model::Secret;
use stoa_model::users::MAX_PASSWORD_BYTES;
use tokio::sync::Semaphore;

use crate::error::HubError;
use crate::metrics::Metrics;

/// Passwords that are being compared or wait for it.
const MAX_IN_LINE: usize = 128;
/// The least that bcrypt allows: enough for secrets that the hub made itself, which nobody can guess.
pub const LOWEST_COST: u32 = 4;

/// Hashes and compares passwords without holding up anything else.
pub struct PasswordHasher {
    cost: u32,
    /// A flood of logins may use these many cores and no more.
    slots: Arc<Semaphore>,
    line: Semaphore,
    metrics: Arc<Metrics>,
    /// Compared against when there is no such user, so that both cases take the same work.
    decoy: tokio::sync::OnceCell<String>,
}

impl PasswordHasher {
    pub fn new(cost: u32, metrics: Arc<Metrics>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            cost,
            slots: Arc::new(Semaphore::new(cores)),
            line: Semaphore::new(MAX_IN_LINE),
            metrics,
            decoy: tokio::sync::OnceCell::new(),
        }
    }

    pub async fn hash(&self, password: &Secret) -> Result<String, HubError> {
        let (cost, password) = (self.cost, password.clone());
        self.run(move || bcrypt::hash(password.expose(), cost)).await
    }

    /// Whether `password` is the one behind `hash`. Without a hash the same work is done in vain.
    pub async fn verify(&self, password: &Secret, hash: Option<String>) -> Result<bool, HubError> {
        let decoy = self.decoy.get_or_try_init(|| self.hash_decoy()).await?;
        let is_known = hash.is_some();
        let hash = hash.unwrap_or_else(|| decoy.clone());
        // Longer ones were never accepted; bcrypt would compare only their beginning.
        let fits = password.expose().len() <= MAX_PASSWORD_BYTES;
        let password = password.clone();
        self.metrics.bcrypt_verifications.inc();
        let matches = self
            .run(move || {
                let shown: &[u8] = if fits { password.expose().as_bytes() } else { b"too long" };
                bcrypt::verify(shown, &hash)
            })
            .await?;
        Ok(matches && is_known && fits)
    }

    async fn hash_decoy(&self) -> Result<String, HubError> {
        self.hash(&Secret::new("nobody has this password")).await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> bcrypt::BcryptResult<T> + Send + 'static,
    ) -> Result<T, HubError> {
        // Whoever comes when the line is long is better told than kept.
        let Ok(_place) = self.line.try_acquire() else {
            return Err(HubError::unavailable("Too many passwords are being compared."));
        };
        let slot = self.slots.clone().acquire_owned().await.map_err(HubError::internal)?;
        let outcome = tokio::task::spawn_blocking(move || {
            let outcome = work();
            drop(slot);
            outcome
        });
        outcome.await.map_err(HubError::internal)?.map_err(HubError::internal)
    }
}
