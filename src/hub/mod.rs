//! The hub: what every service gets to work with.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stoa_db::{Database, DbError, Tx, params};
use stoa_model::traces::NewTrace;
use stoa_model::{PrincipalId, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::access::Actor;
use crate::access::budget::{Budget, Payer, Shares};
use crate::access::identity::IdentityCache;
use crate::access::limits::Limits;
use crate::access::lines::Lines;
use crate::access::password::{Cores, LOWEST_COST, PasswordHasher};
use crate::clock::Clock;
use crate::config::Config;
use crate::error::HubError;
use crate::hub::batches::Batches;
use crate::hub::idempotency::{Form, Replayed};
use crate::hub::stored_answers::StoredAnswers;
use crate::hub::waiters::Waiters;
use crate::metrics::Metrics;
use crate::storage::blobs::BlobStore;
use crate::storage::keys::KeyRing;

/// Reads of one owner that are worked on at a time. More would not be answered sooner, and readers of other owners would wait for them.
const READS_AT_ONCE: usize = 16;
/// Soon enough for who repeats by themselves, and seldom enough to cost nothing.
const RETRY_STORING_SECONDS: u64 = 600;
/// Traces that may wait to be written. One more is lost, and counted.
const TRACE_QUEUE: usize = 8192;

pub mod batches;
pub(crate) mod engine_mark;
pub(crate) mod folders;
pub mod guards;
pub mod idempotency;
mod parts;
mod receivers;
mod start_error;
mod stored_answers;
mod supervisors;
pub mod waiters;

pub use parts::Parts;
pub use start_error::StartError;
pub(crate) use supervisors::Supervisors;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where the hub is reached.
pub(crate) struct HubAddress {
    pub(crate) base_url: String,
    /// It listens where only this machine can connect.
    pub(crate) is_on_loopback: bool,
    /// Where programs on this machine reach it.
    pub(crate) local_url: String,
    /// The address that it listens on.
    pub(crate) listens_on: IpAddr,
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
    bodies: Budget,
    answers: Budget,
    reads: Lines,
    stored_answers: StoredAnswers,
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
        let stopping = CancellationToken::new();
        let hasher = |cost| PasswordHasher::new(cost, Cores::of_this_machine(), metrics.clone(), stopping.clone());
        Ok(Self(Arc::new(Inner {
            started_at: config.clock.now(),
            identities: IdentityCache::new(db.engine(), config.auth_cache),
            limits: Limits::new(config.rate_limit, config.read_limit_mib, config.runs.calls_per_minute),
            bodies: Budget::new(Shares::of_mebibytes(config.body_memory_mib)),
            answers: Budget::new(Shares::of_mebibytes(config.answer_memory_mib)),
            reads: Lines::new(READS_AT_ONCE),
            stored_answers: StoredAnswers::default(),
            waiters: Waiters::default(),
            memories: Mutex::default(),
            passwords: hasher(config.bcrypt_cost),
            client_secrets: hasher(LOWEST_COST),
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
            stopping,
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

    /// The secrets of OAuth clients, in lines of their own. They are random, so the lowest cost is enough for them: comparing one
    /// takes a millisecond, and does not wait for passwords.
    pub fn client_secrets(&self) -> &PasswordHasher {
        &self.0.client_secrets
    }

    /// What calls others. It is made when it is first needed: it reads the certificates of the system.
    pub(crate) fn outbound(&self) -> Result<&stoa_outbound::Client, HubError> {
        if let Some(client) = self.0.outbound.get() {
            return Ok(client);
        }
        let config = &self.0.config;
        let policy = stoa_outbound::Policy {
            allow_http: config.allow_http_webhooks,
            allow: config.outbound_allow.clone(),
            deny: config.outbound_deny.clone(),
        };
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

    /// The bodies of requests that are in memory.
    pub(crate) fn bodies(&self) -> &Budget {
        &self.0.bodies
    }

    /// The answers that clients have not read yet.
    pub(crate) fn answers(&self) -> &Budget {
        &self.0.answers
    }

    /// Refuses to make an answer for an owner who has left too many unread.
    pub(crate) fn refuse_if_unread(&self, owner: PrincipalId) -> Result<(), HubError> {
        if self.0.answers.is_full_for(Payer::Owner(owner)) {
            let detail = "Too many responses to you and your agents are unread.";
            return Err(HubError::busy(detail).hint("Read the pending responses first."));
        }
        Ok(())
    }

    /// Refuses a read of an owner who reads too much, or leaves too much unread.
    pub(crate) fn admit_read(&self, owner: PrincipalId) -> Result<(), HubError> {
        self.refuse_if_unread(owner)?;
        self.limits().admit_read(owner, self.clock().now_ms())
    }

    /// The reads of each owner. They wait for each other before they wait for the database.
    pub(crate) fn reads(&self) -> &Lines {
        &self.0.reads
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

    /// The name of the cookie by which a browser is known that has logged in before.
    pub(crate) fn device_cookie_name(&self) -> &'static str {
        if self.base_url().starts_with("https://") { "__Host-stoa_device" } else { "stoa_device" }
    }

    /// The public address, without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.0.address.base_url
    }

    /// Where programs on this machine reach the hub, without a slash at its end.
    pub fn local_url(&self) -> &str {
        &self.0.address.local_url
    }

    /// Whether a client's address is one of this machine, as far as that can be told.
    pub(crate) fn is_own_address(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_loopback() || address == self.0.address.listens_on
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
        self.measured(self.0.db.read(query)).await
    }

    /// The same for what everybody waits for and what takes no time: who is calling, and what has happened. Slow
    /// reads of others do not hold it up.
    pub async fn read_urgent<T, E, F>(&self, query: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.measured(self.0.db.read_urgent(query)).await
    }

    /// The same for what may take long. It has readers of its own, so nothing else waits for it, and a limit.
    pub async fn read_long<T, E, F>(&self, limit: Duration, query: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.measured(self.0.db.read_long(limit, query)).await
    }

    /// Notes for the metrics how long a read takes.
    async fn measured<T>(&self, reading: impl Future<Output = T>) -> T {
        #[expect(clippy::disallowed_methods, reason = "measures a duration for the metrics")]
        let started = Instant::now();
        let outcome = reading.await;
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
        self.run(actor, Way::Alone, Form::whole(), command).await
    }

    /// The same for a change of what is there already, all of which it [holds](Tx::hold).
    pub async fn command_holding<T, F>(&self, actor: &Actor, command: F) -> Result<T, HubError>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        self.run(actor, Way::Holding, Form::whole(), command).await
    }

    /// The same for a change whose answer shows what the caller may lose sight of, or is long: a repeated request is answered with what
    /// there is by then.
    pub async fn command_replayed<T, F>(&self, actor: &Actor, way: Way, command: F) -> Result<T, HubError>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
        T: Replayed + Send + 'static,
    {
        self.run(actor, way, Form::replayed(), command).await
    }

    async fn run<T, F>(&self, actor: &Actor, way: Way, form: Form<T>, command: F) -> Result<T, HubError>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
        T: Send + 'static,
    {
        let command = checked(actor, command);
        let Some(wish) = &actor.call.idempotency else { return self.write_in(way, command).await };
        let owner = idempotency::owner_of(actor);
        let room = match owner {
            Some(owner) => self.room_for_answers(owner).await?,
            None => Ok(()),
        };
        // The keys are asked for when the command runs: they may change while it waits.
        let (hub, actor_in, wish) = (self.clone(), actor.clone(), wish.clone());
        let once =
            move |tx: &mut Tx<'_>| idempotency::once(tx, &hub.keys(), &actor_in, &wish, form, room.clone(), &command);
        let (answer, bytes) = self.write_in(way, once).await?;
        if let Some(owner) = owner {
            self.0.stored_answers.note_stored(owner, bytes);
        }
        Ok(answer)
    }

    async fn write_in<T, F>(&self, way: Way, command: F) -> Result<T, HubError>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
        T: Send + 'static,
    {
        match way {
            Way::Alone => self.0.db.write(command).await,
            Way::Together => self.0.db.write_together(command).await,
            Way::Holding => self.0.db.write_holding(command).await,
        }
    }

    /// Whether another answer may be stored for an owner, or why not.
    async fn room_for_answers(&self, owner: PrincipalId) -> Result<Result<(), HubError>, DbError> {
        let quota = self.0.config.stored_answers_bytes;
        if quota == 0 {
            return Ok(Ok(()));
        }
        let now = self.clock().now_ms();
        let bytes = match self.0.stored_answers.bytes(owner, now) {
            Some(bytes) => bytes,
            None => {
                let bytes = self.read(move |tx| idempotency::stored_bytes(tx, owner)).await?;
                self.0.stored_answers.note_counted(owner, bytes, now);
                bytes
            }
        };
        if u64::try_from(bytes).is_ok_and(|bytes| bytes < quota) {
            return Ok(Ok(()));
        }
        let detail = "The hub cannot store more responses for you and your agents. It stores them for 24 hours.";
        Ok(Err(
            HubError::rate_limited(detail, RETRY_STORING_SECONDS).hint("Retry later, or without an idempotency key.")
        ))
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

/// How a change shares its transaction with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It does not.
    Alone,
    /// It is asked for often, and may [share one](Database::write_together) with others of its kind.
    Together,
    /// It changes what is there already, all of which it [holds](Tx::hold).
    Holding,
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
