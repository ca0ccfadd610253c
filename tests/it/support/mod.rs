//! A real hub for each test, and callers who use it from outside.

mod actors;
mod admin_socket;
mod client;
mod elsewhere;
mod files;
mod machines;
mod mcp;
pub(crate) mod oauth;
mod place;
mod probes;
mod sse;

use std::future::IntoFuture;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use stoa::clock::Clock;
use stoa::config::{Config, Isolation, Network, RunSettings};
use stoa::events::{Listener, Planner, Worker};
use stoa::feature::{Feature, Features};
use stoa::hub::Hub;
use stoa::surfaces::mcp::Offer;
use stoa_db::{Database, DbError, Options, Tx};
use stoa_model::{Secret, Timestamp};
use stoa_schema::MIGRATIONS;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) use actors::{Agent, Human, PASSWORD, each, file_form, items};
pub(crate) use admin_socket::Operator;
pub(crate) use client::{Call, Client, Proof, Reply, http_client};
pub(crate) use elsewhere::Elsewhere;
pub(crate) use files::{ELF, MAX_BYTES, PDF, PNG, assert_stored, count_stored, object_of, rows, sum};
pub(crate) use machines::{ALL_SCOPES, Identity, Letter, Machine, RegistryFile, TAG, fresh_nonce};
pub(crate) use mcp::{LATEST, Messages, meta};
use place::Folder;
pub(crate) use place::{TestDatabase, make_data_with_tables, off_the_runtime, on_postgres};
pub(crate) use probes::{Door, Gate, LEASE, Labourer, Mood, QUEUE, Recorder, eventually};
pub(crate) use sse::{EventStream, Frame};

/// 2027-01-15T08:00:00Z: every test begins here, unless it says otherwise.
pub(crate) const START_MS: i64 = 1_800_000_000_000;
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);
/// For hubs that share a database: they need one key.
pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// What tests add to the features.
const PROBE: &str = "probe";

/// How a hub is set up, and what it leaves behind for the next one on the same data.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    features: Features,
    folder: Folder,
    pub(crate) database: Option<Arc<TestDatabase>>,
    admin_password: Arc<Mutex<Option<String>>>,
    may_fail: bool,
    listen: &'static str,
}

impl Setup {
    fn new() -> Self {
        Self::with(Folder::create_with_tables(), TestDatabase::create_with_tables())
    }

    /// On SQLite, whatever this run is on.
    pub(crate) fn on_sqlite() -> Self {
        Self::with(Folder::create_with_sqlite_tables(), None)
    }

    /// On the tables of an earlier version, with these rows in them.
    pub(crate) async fn at_migration(
        number: i64,
        fill: impl Fn(&mut Tx<'_>) -> Result<(), DbError> + Send + 'static,
    ) -> Self {
        let setup = Self::with(Folder::create(), TestDatabase::create());
        let mut options = Options::new(&setup.config.data);
        options.migrate_to = Some(number);
        options.postgres_url = setup.config.database_url.as_ref().map(|url| url.expose().to_owned());
        let db = off_the_runtime(|| Database::open(options, MIGRATIONS)).unwrap();
        db.write(fill).await.unwrap();
        db.close().await;
        setup
    }

    fn with(folder: Folder, database: Option<Arc<TestDatabase>>) -> Self {
        let clock = Clock::manual(Timestamp::from_ms(START_MS));
        let admin_password: Arc<Mutex<Option<String>>> = Arc::default();
        let shown = admin_password.clone();
        let config = Config {
            database_url: database.as_ref().map(|database| Secret::new(database.url.clone())),
            database_connections: 7,
            admin_socket: Some(folder.path().join("admin.sock")),
            attachments_url: place::attachments_url(),
            bcrypt_cost: 4,
            // Tests share two cores.
            search_timeout: MINUTE,
            rate_limit: 0,
            clock: clock.clone(),
            show_password: Arc::new(move |password| *shown.lock().unwrap() = Some(password.to_owned())),
            runs: RunSettings {
                // Tests are not the program that looks after runs.
                supervisor: env!("CARGO_BIN_EXE_stoa").into(),
                folder: Some(folder.path().with_file_name("runs")),
                // Tests that are about it turn it on.
                isolation: Isolation::None,
                ..RunSettings::default()
            },
            ..Config::new(folder.path())
        };
        let features = stoa::features::all();
        Self { config, clock, features, folder, database, admin_password, may_fail: false, listen: "127.0.0.1:0" }
    }

    pub(crate) fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    pub(crate) fn rate_limit(self, writes: u32) -> Self {
        self.configure(|config| config.rate_limit = writes)
    }

    pub(crate) fn base_url(self, base_url: &str) -> Self {
        self.configure(|config| config.base_url = Some(base_url.to_owned()))
    }

    /// Where the hub listens. Tests call it over loopback all the same.
    pub(crate) fn listen(mut self, address: &'static str) -> Self {
        self.listen = address;
        self
    }

    pub(crate) fn session_lifetime(self, lifetime: Duration) -> Self {
        self.configure(|config| config.session_lifetime = lifetime)
    }

    pub(crate) fn trusted_proxies(self, networks: &[&str]) -> Self {
        let networks: Vec<Network> = networks.iter().map(|text| text.parse().unwrap()).collect();
        self.configure(|config| config.trusted_proxies = networks)
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.configure(|config| config.key = Some(Secret::new(key)))
    }

    pub(crate) fn planner(mut self, planner: Planner) -> Self {
        self.features.0.push(Feature { planner: Some(planner), ..Feature::new(PROBE) });
        self
    }

    pub(crate) fn listener(mut self, listener: Arc<impl Listener>) -> Self {
        self.features.0.push(Feature { listeners: vec![listener], ..Feature::new(PROBE) });
        self
    }

    pub(crate) fn worker(mut self, worker: Arc<impl Worker>) -> Self {
        self.features.0.push(Feature { workers: vec![worker], ..Feature::new(PROBE) });
        self
    }

    /// Offers agents more than the features do.
    pub(crate) fn offer(mut self, add: fn(&mut Offer)) -> Self {
        self.features.0.push(Feature { mcp: add, ..Feature::new(PROBE) });
        self
    }

    pub(crate) fn without_listeners(mut self) -> Self {
        self.features.0.iter_mut().for_each(|feature| feature.listeners.clear());
        self
    }

    /// Those of the features.
    pub(crate) fn with_listeners(self) -> Self {
        self.reset(|feature, own| feature.listeners = own.listeners)
    }

    /// Only those of the features.
    pub(crate) fn without_workers(self) -> Self {
        self.reset(|feature, own| feature.workers = own.workers)
    }

    /// Gives each feature back what it registers itself; what tests have added registers nothing.
    fn reset(mut self, reset: fn(&mut Feature, Feature)) -> Self {
        let all = stoa::features::all();
        for feature in &mut self.features.0 {
            let own = all.iter().find(|own| own.name == feature.name).cloned();
            reset(feature, own.unwrap_or_else(|| Feature::new(PROBE)));
        }
        self
    }

    /// The same in another folder.
    pub(crate) fn beside(&self) -> Self {
        let folder = Folder::create();
        let mut setup = self.clone();
        setup.config.data = folder.path();
        setup.config.admin_socket = Some(folder.path().join("admin.sock"));
        setup.folder = folder;
        setup
    }

    /// For tests that make the hub fail inside: others check that it never does.
    pub(crate) fn may_fail(mut self) -> Self {
        self.may_fail = true;
        self
    }

    pub(crate) async fn start(self) -> TestHub {
        self.try_start().await.unwrap()
    }

    pub(crate) async fn try_start(self) -> Result<TestHub, stoa::StartError> {
        // A runtime of its own can be taken away, which is as near to a crash as one process gets.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = {
            let listener = std::net::TcpListener::bind(self.listen).unwrap();
            listener.set_nonblocking(true).unwrap();
            let _in_runtime = runtime.enter();
            tokio::net::TcpListener::from_std(listener).unwrap()
        };
        let mut address = listener.local_addr().unwrap();
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        let (shutdown, stopped) = oneshot::channel::<()>();
        let (started, hub) = oneshot::channel();
        let (config, features) = (self.config.clone(), self.features.clone());
        let serving = runtime.spawn(async move {
            let started = move |hub: Hub| drop(started.send(hub));
            let stopped = async move { drop(stopped.await) };
            stoa::run_with(config, features, listener, started, stopped).await
        });
        let Ok(hub) = hub.await else {
            let outcome = serving.await.unwrap();
            runtime.shutdown_background();
            return Err(outcome.expect_err("it ended before it started"));
        };
        let client = Client::new(format!("http://{address}"));
        Ok(TestHub { setup: self, hub: Some(hub), address, client, running: Some((runtime, shutdown, serving)) })
    }
}

/// The hub's runtime, what stops it, and what tells how it ended.
type Running = (Runtime, oneshot::Sender<()>, JoinHandle<Result<(), stoa::StartError>>);

/// A running hub. End it with [`finish`](Self::finish), which checks that no work is left.
pub(crate) struct TestHub {
    setup: Setup,
    hub: Option<Hub>,
    pub(crate) address: SocketAddr,
    client: Client,
    running: Option<Running>,
}

impl TestHub {
    pub(crate) async fn start() -> Self {
        Self::setup().start().await
    }

    pub(crate) fn setup() -> Setup {
        Setup::new()
    }

    /// For a second hub on the same database, in a folder of its own. Both need [`KEY`].
    pub(crate) fn beside(&self) -> Setup {
        self.setup.beside()
    }

    /// The hub itself, for what no caller can see.
    pub(crate) fn inner(&self) -> &Hub {
        self.hub.as_ref().unwrap()
    }

    pub(crate) fn database(&self) -> Arc<TestDatabase> {
        self.setup.database.clone().expect("asked only on PostgreSQL")
    }

    pub(crate) fn folder(&self) -> std::path::PathBuf {
        self.setup.folder.path()
    }

    /// The bytes of SQLite's files, or all rows of PostgreSQL.
    pub(crate) fn everything_stored(&self) -> Vec<u8> {
        if let Some(database) = &self.setup.database {
            return database.everything_stored();
        }
        let paths = std::fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap()).collect()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.setup.clock.advance(by);
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.setup.clock.now_ms()
    }

    /// Waits until every listener has seen every event and no work is due.
    pub(crate) async fn settle(&self) {
        stoa::events::settle(self.inner()).await.unwrap();
    }

    pub(crate) fn operator(&self) -> Operator {
        Operator { socket: self.setup.config.admin_socket.clone().unwrap() }
    }

    /// Somebody without a credential.
    pub(crate) fn nobody(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn admin_password(&self) -> String {
        self.setup.admin_password.lock().unwrap().clone().expect("the first start shows a password")
    }

    /// The first administrator.
    pub(crate) async fn admin(&self) -> Human {
        Human::log_in(&self.client, "admin", &self.admin_password()).await
    }

    /// A new person, logged in.
    pub(crate) async fn human(&self, name: &str) -> Human {
        self.operator().call("users.create", json!({"username": name, "password": PASSWORD})).await;
        self.log_in(name).await
    }

    pub(crate) async fn log_in(&self, name: &str) -> Human {
        Human::log_in(&self.client, name, PASSWORD).await
    }

    /// The audit log, newest first.
    pub(crate) async fn audit(&self) -> Vec<Value> {
        let page = self.operator().call("audit.list", json!({"limit": 200})).await;
        page["items"].as_array().unwrap().clone()
    }

    /// A figure of `/metrics`, summed over its labels.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let text = self.inner().metrics().render().unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let named = lines.filter(|line| line.split(['{', ' ']).next() == Some(name));
        named.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    }

    /// The `n` of a query that no caller could ask.
    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        self.inner()
            .read(move |tx| tx.query_one(sql, &[], |row| row.get::<i64>("n")))
            .await
            .unwrap_or_else(|error: stoa_db::DbError| panic!("{sql}: {error}"))
    }

    /// Sends bytes as they are, and returns all that comes back until the hub hangs up.
    pub(crate) async fn raw(&self, request: &[u8]) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(self.address).await.unwrap();
        // The hub may answer and hang up before it has read everything.
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The first line of the answer to a request of which more may be awaited.
    pub(crate) async fn raw_status(&self, request: &[u8]) -> String {
        use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
        let mut stream = BufReader::new(tokio::net::TcpStream::connect(self.address).await.unwrap());
        stream.write_all(request).await.unwrap();
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        line
    }

    /// Stops the hub as a signal would, and returns what a new one needs to go on.
    pub(crate) async fn stop(mut self) -> Setup {
        self.shut_down().await;
        self.setup.clone()
    }

    /// Takes the hub away in the middle of whatever it is doing.
    pub(crate) async fn crash(mut self) -> Setup {
        let (runtime, _shutdown, _serving) = self.running.take().unwrap();
        tokio::task::spawn_blocking(move || runtime.shutdown_timeout(Duration::from_secs(30))).await.unwrap();
        // A database connection finishes the command it is at; then its folder is free.
        self.hub.take().unwrap().db().close().await;
        self.setup.clone()
    }

    pub(crate) async fn restart(self) -> Self {
        self.stop().await.start().await
    }

    /// Ends the test: everything that was promised must have been done, and nothing may have failed.
    pub(crate) async fn finish(mut self) {
        self.settle().await;
        if !self.setup.may_fail {
            assert_eq!(self.metric("stoa_internal_errors_total").await, 0.0, "a request failed inside the hub");
        }
        self.shut_down().await;
    }

    async fn shut_down(&mut self) {
        let (runtime, shutdown, serving) = self.running.take().unwrap();
        drop(shutdown);
        serving.await.unwrap().unwrap();
        self.hub = None;
        tokio::task::spawn_blocking(move || runtime.shutdown_timeout(Duration::from_secs(30))).await.unwrap();
    }
}

impl Drop for TestHub {
    fn drop(&mut self) {
        if let Some((runtime, ..)) = self.running.take() {
            runtime.shutdown_background();
            assert!(std::thread::panicking(), "a test must end its hub with finish()");
        }
    }
}

/// Sends requests at the same time.
pub(crate) async fn together(calls: impl IntoIterator<Item = Call>) -> Vec<Reply> {
    let sent: Vec<_> = calls.into_iter().map(|call| tokio::spawn(call.into_future())).collect();
    let mut replies = Vec::new();
    for reply in sent {
        replies.push(reply.await.unwrap());
    }
    replies
}

/// How many of the replies have this status.
pub(crate) fn how_many(replies: &[Reply], status: u16) -> usize {
    replies.iter().filter(|reply| reply.code() == status).count()
}
