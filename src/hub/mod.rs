//! The hub: what every service gets to work with.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stoa_db::{Database, DbError, Tx, params};
use stoa_model::Timestamp;
use stoa_model::traces::NewTrace;
use tokio_util::sync::CancellationToken;

use crate::access::identity::IdentityCache;
use crate::access::limits::Limits;
use crate::access::password::{LOWEST_COST, PasswordHasher};
use crate::access::{Actor, Idempotency};
use crate::clock::Clock;
use crate::config::Config;
use crate::error::HubError;
use crate::hub::batches::Batches;
use crate::hub::waiters::Waiters;
use crate::metrics::Metrics;
use crate::storage::blobs::BlobStore;
use crate::storage::keys::KeyRing;

/// Traces that may wait to be written. One more is lost, and counted.
const TRACE_QUEUE: usize = 8192;

pub mod batches;
pub(crate) mod engine_mark;
pub mod idempotency;
mod parts;
mod start_error;
pub mod waiters;

pub use parts::Parts;
pub use start_error::StartError;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where the hub is reached.
pub(crate) struct HubAddress {
    pub(crate) base_url: String,
    /// It listens where only this machine can connect.
    pub(crate) is_on_loopback: bool,
}

/// A handle to the running hub. Clones share it.
#[derive(Clone)]
pub struct Hub(Arc<Inner>);

struct Inner {
    config: Config,
    db: Database,
    blobs: BlobStore,
    keys: RwLock<Arc<KeyRing>>,
    key_rotation: tokio::sync::Mutex<()>,
    parts: Parts,
    identities: IdentityCache,
    limits: Limits,
    waiters: Waiters,
    memories: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    metrics: Arc<Metrics>,
    passwords: PasswordHasher,
    client_secrets: PasswordHasher,
    outbound: OnceLock<stoa_outbound::Client>,
    /// Each with its moment.
    traces: Batches<(i64, NewTrace)>,
    started_at: Timestamp,
    /// Names this process among the hubs on one database.
    instance: String,
    address: HubAddress,
    stopping: CancellationToken,
    /// Told by those who do not want to wait until listeners have rested.
    hurry: tokio::sync::Notify,
}

impl Hub {
    pub(crate) fn new(
        config: Config,
        db: Database,
        blobs: BlobStore,
        keys: KeyRing,
        parts: Parts,
        metrics: Arc<Metrics>,
        address: HubAddress,
    ) -> Result<Self, HubError> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(HubError::internal)?;
        Ok(Self(Arc::new(Inner {
            started_at: config.clock.now(),
            identities: IdentityCache::new(db.engine(), config.auth_cache),
            limits: Limits::new(config.rate_limit),
            waiters: Waiters::default(),
            memories: Mutex::default(),
            passwords: PasswordHasher::new(config.bcrypt_cost, metrics.clone()),
            client_secrets: PasswordHasher::new(LOWEST_COST, metrics.clone()),
            outbound: config.outbound.clone().map(OnceLock::from).unwrap_or_default(),
            traces: Batches::new(TRACE_QUEUE),
            instance: format!("{:016x}", u64::from_be_bytes(name)),
            keys: RwLock::new(Arc::new(keys)),
            key_rotation: tokio::sync::Mutex::default(),
            config,
            db,
            blobs,
            parts,
            metrics,
            address,
            stopping: CancellationToken::new(),
            hurry: tokio::sync::Notify::new(),
        })))
    }

    pub fn config(&self) -> &Config {
        &self.0.config
    }

    pub fn db(&self) -> &Database {
        &self.0.db
    }

    /// The contents of attachments.
    pub fn blobs(&self) -> &BlobStore {
        &self.0.blobs
    }

    pub fn clock(&self) -> &Clock {
        &self.0.config.clock
    }

    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub fn passwords(&self) -> &PasswordHasher {
        &self.0.passwords
    }

    /// The secrets of OAuth clients, which strangers can have compared: they stand in a line of their own, so that nobody
    /// who logs in has to wait for them.
    pub fn client_secrets(&self) -> &PasswordHasher {
        &self.0.client_secrets
    }

    /// What calls others. It is made when it is first needed: it reads the certificates of the system.
    pub(crate) fn outbound(&self) -> Result<&stoa_outbound::Client, HubError> {
        if let Some(client) = self.0.outbound.get() {
            return Ok(client);
        }
        let policy = stoa_outbound::Policy { allow: self.0.config.outbound_allow.clone(), ..Default::default() };
        let client =
            stoa_outbound::Client::new(policy, stoa_outbound::Limits::default()).map_err(HubError::internal)?;
        Ok(self.0.outbound.get_or_init(|| client))
    }

    /// Records what was done, soon. The caller does not wait, and does not learn when the hub cannot keep up and the trace
    /// is lost; the metrics count that.
    pub fn record_trace(&self, trace: NewTrace) {
        let metrics = self.metrics();
        metrics.traces_total.inc();
        metrics.traces_by_action.with_label_values(&[&*trace.action]).inc();
        if trace.error.is_some() {
            metrics.errors_total.inc();
        }
        if !self.0.traces.offer((self.clock().now_ms(), trace)) {
            metrics.traces_dropped.inc();
        }
    }

    pub(crate) fn traces(&self) -> &Batches<(i64, NewTrace)> {
        &self.0.traces
    }

    pub(crate) fn identities(&self) -> &IdentityCache {
        &self.0.identities
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub fn waiters(&self) -> &Waiters {
        &self.0.waiters
    }

    /// What a feature keeps in the memory of this hub: one of each type, made when it is first asked for.
    pub(crate) fn memory<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut memories = self.0.memories.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = memories.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())).clone();
        // The entry of a type is of that type.
        memory.downcast().unwrap_or_default()
    }

    pub fn started_at(&self) -> Timestamp {
        self.0.started_at
    }

    pub fn instance(&self) -> &str {
        &self.0.instance
    }

    /// The name of the session cookie. It makes browsers strict where they can be.
    pub(crate) fn session_cookie_name(&self) -> &'static str {
        if self.base_url().starts_with("https://") { "__Host-stoa_session" } else { "stoa_session" }
    }

    /// The public address, without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.0.address.base_url
    }

    /// Whether only this machine can connect.
    pub fn is_on_loopback(&self) -> bool {
        self.0.address.is_on_loopback
    }

    /// Returns a value that was registered at the start, by its type.
    pub(crate) fn part<T: 'static>(&self) -> Option<&T> {
        self.0.parts.get()
    }

    pub fn keys(&self) -> Arc<KeyRing> {
        self.0.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Held while the key is changed: the file, the database and this process must agree in the end,
    /// which two changes at once would not see to.
    pub(crate) async fn begin_key_rotation(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.key_rotation.lock().await
    }

    pub(crate) fn replace_keys(&self, keys: KeyRing) {
        *self.0.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }

    /// Ends when the hub begins to shut down.
    pub async fn stopping(&self) {
        self.0.stopping.cancelled().await;
    }

    pub fn is_stopping(&self) -> bool {
        self.0.stopping.is_cancelled()
    }

    /// Wakes listeners that pause between batches.
    pub(crate) fn hurry(&self) {
        self.0.hurry.notify_waiters();
    }

    /// Ends when somebody waits for all that is left to be done.
    pub(crate) async fn hurried(&self) {
        self.0.hurry.notified().await;
    }

    pub(crate) fn stop(&self) {
        self.0.stopping.cancel();
    }

    /// Runs a query on a snapshot.
    pub async fn read<T, E, F>(&self, query: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        #[expect(clippy::disallowed_methods, reason = "measures a duration for the metrics")]
        let started = Instant::now();
        let outcome = self.0.db.read(query).await;
        self.0.metrics.read_seconds.observe(started.elapsed().as_secs_f64());
        outcome
    }

    /// The same for what everybody waits for and what takes no time: who is calling, and what has happened. Slow
    /// reads of others do not hold it up.
    pub async fn read_urgent<T, E, F>(&self, query: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        #[expect(clippy::disallowed_methods, reason = "measures a duration for the metrics")]
        let started = Instant::now();
        let outcome = self.0.db.read_urgent(query).await;
        self.0.metrics.read_seconds.observe(started.elapsed().as_secs_f64());
        outcome
    }

    /// The same for what may take long. It has readers of its own, so nothing else waits for it, and a limit.
    pub async fn read_long<T, E, F>(&self, limit: Duration, query: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        #[expect(clippy::disallowed_methods, reason = "measures a duration for the metrics")]
        let started = Instant::now();
        let outcome = self.0.db.read_long(limit, query).await;
        self.0.metrics.read_seconds.observe(started.elapsed().as_secs_f64());
        outcome
    }

    /// Runs a change that no caller asked for: the hub's own bookkeeping.
    pub async fn write<T, E, F>(&self, command: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.0.db.write(command).await
    }

    /// Runs a change that a caller asked for, once for each idempotency key they sent.
    pub async fn command<T, F>(&self, actor: &Actor, command: F) -> Result<T, HubError>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        match &actor.call.idempotency {
            Some(wish) => self.0.db.write(self.once(actor, wish.clone(), command)).await,
            None => self.0.db.write(checked(actor, command)).await,
        }
    }

    /// The same for a change that is asked for often and may [share a transaction](Database::write_together) with others of its
    /// kind.
    pub async fn command_together<T, F>(&self, actor: &Actor, command: F) -> Result<T, HubError>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        match &actor.call.idempotency {
            Some(wish) => self.0.db.write_together(self.once(actor, wish.clone(), command)).await,
            None => self.0.db.write_together(checked(actor, command)).await,
        }
    }

    /// The same for a change of what is there already, all of which it [holds](Tx::hold).
    pub async fn command_holding<T, F>(&self, actor: &Actor, command: F) -> Result<T, HubError>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        match &actor.call.idempotency {
            Some(wish) => self.0.db.write_holding(self.once(actor, wish.clone(), command)).await,
            None => self.0.db.write_holding(checked(actor, command)).await,
        }
    }

    /// A command that is done once, however often it is asked for.
    fn once<T, F>(
        &self,
        actor: &Actor,
        wish: Idempotency,
        command: F,
    ) -> impl Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static
    where
        F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let command = checked(actor, command);
        // The keys are asked for when the command runs: they may change while it waits.
        let (hub, actor) = (self.clone(), actor.clone());
        move |tx| idempotency::once(tx, &hub.keys(), &actor, &wish, &command)
    }

    /// The name of the value by which the hub knows its key again.
    pub(crate) const KEY_CHECK: &str = "key_check";

    /// Reads a value that the hub keeps about itself.
    pub(crate) fn meta(tx: &mut Tx<'_>, name: &str) -> Result<Option<String>, DbError> {
        tx.query_optional("select value from meta where name = $1", params![name], |row| row.get("value"))
    }

    pub(crate) fn set_meta(tx: &mut Tx<'_>, name: &str, value: &str) -> Result<(), DbError> {
        tx.execute(
            "insert into meta (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value",
            params![name, value],
        )?;
        Ok(())
    }
}

/// A command that is run only if the caller's credential is still good.
fn checked<T>(
    actor: &Actor,
    command: impl Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
) -> impl Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static {
    let actor = actor.clone();
    move |tx| {
        actor.require_still_valid(tx)?;
        command(tx)
    }
}

/// Runs a feature's code; none if it panicked, which must not take more with it than itself.
pub(crate) async fn catch_panic<F: Future>(future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    std::future::poll_fn(move |context| {
        let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.map_or(Poll::Ready(None), |poll| poll.map(Some))
    })
    .await
}

/// A wait in real time, whatever the hub's clock shows: for faults outside of this process.
pub(crate) async fn pause(duration: Duration) {
    #[expect(clippy::disallowed_methods, reason = "waits for the world outside, which knows no manual clock")]
    tokio::time::sleep(duration).await;
}
