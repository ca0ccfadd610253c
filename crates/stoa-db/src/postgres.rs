//! PostgreSQL: threads with a connection each, SERIALIZABLE commands that are repeated when they
//! lose a race, and LISTEN/NOTIFY to wake other hubs.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use postgres::config::SslMode;
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::{CommitReport, Context, Options, ReadQueue, WriterTask};
use crate::job::Job;
use crate::tx::{Connection as TxConnection, Moment};
use crate::{DbError, Migration, OpenError, Tx, migrate};

/// How long a command that loses races is repeated before its caller is told to come back later. Not so many times: on a
/// busy machine each race takes longer, and those who lose them are no more.
const RACE_PATIENCE: Duration = Duration::from_secs(5);
/// From this attempt on, the pauses do not grow any more.
const LONGEST_PAUSE_AT: u32 = 30;
/// How long a thread tries to get its connection back before it answers "unavailable".
const RECONNECT_PATIENCE: Duration = Duration::from_secs(3);
const STATEMENT_CACHE: usize = 512;
const CHANNEL: &str = "stoa_changes";

/// A connection and the statements prepared on it.
pub(crate) struct Session {
    pub(crate) client: Client,
    statements: HashMap<Box<str>, Statement>,
}

pub(crate) fn start(
    url: &str,
    options: &Options,
    migrations: &'static [Migration],
    context: Context,
    commands: Receiver<WriterTask>,
    reads: &ReadQueue,
) -> Result<(), OpenError> {
    let config = parse(url)?;
    // The client runs an event loop of its own, which it may not do on a thread of the caller's.
    let now_ms = context.environment.now_ms();
    let prepared =
        std::thread::scope(|scope| scope.spawn(|| prepare(&config, migrations, options.migrate_to, now_ms)).join());
    prepared.unwrap_or_else(|_| Err(OpenError::Postgres("the driver panicked".to_owned())))?;

    let notifier = Arc::new(Notifier::default());
    let writing = Arc::new(());
    for number in 0..options.postgres_writers.max(1) {
        let worker = Worker::new(&config, &context);
        let (commands, notifier, writing) = (commands.clone(), notifier.clone(), writing.clone());
        spawn(format!("stoa-db-write{number}"), move || {
            worker.run_commands(&commands, &notifier);
            drop(writing);
        })?;
    }
    for (number, reads) in reads.for_readers(options).into_iter().enumerate() {
        let worker = Worker::new(&config, &context);
        spawn(format!("stoa-db-read{number}"), move || worker.run_reads(&reads))?;
    }
    // These two must not keep the database open: they watch whether the writers still live.
    let writing = Arc::downgrade(&writing);
    let (listener_config, listener_context, watched) = (config.clone(), context.clone(), writing.clone());
    spawn("stoa-db-listen".to_owned(), move || {
        listen(&listener_config, &watched, &listener_context.changes);
        drop(listener_context);
    })?;
    spawn("stoa-db-notify".to_owned(), move || {
        notify(&config, &notifier, &writing);
        drop(context);
    })
}

fn prepare(
    config: &Config,
    migrations: &'static [Migration],
    migrate_to: Option<i64>,
    now_ms: i64,
) -> Result<(), OpenError> {
    let mut client = connect(config).map_err(|error| OpenError::Postgres(error.to_string()))?;
    require_version(&mut client)?;
    migrate::migrate_postgres(&mut client, migrations, migrate_to, now_ms)
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
    let spawned = std::thread::Builder::new().name(name).spawn(body);
    spawned.map(drop).map_err(|error| OpenError::Postgres(format!("a thread could not be started: {error}")))
}

fn parse(url: &str) -> Result<Config, OpenError> {
    // What libpq calls by these names is what `require` is here.
    let url = url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
    let mut config: Config = url.parse().map_err(|_| {
        // The parser's message could quote the password.
        OpenError::Postgres("the address is not of the form postgres://user:password@host/database".to_owned())
    })?;
    config
        .application_name("stoa")
        .connect_timeout(Duration::from_secs(10))
        // A server that is gone without a word is noticed, instead of being waited for without end.
        .tcp_user_timeout(Duration::from_secs(30))
        .keepalives_idle(Duration::from_secs(30));
    Ok(config)
}

/// A connection for work that takes as long as it takes.
pub(crate) fn connect_aside(url: &str) -> Result<Session, DbError> {
    let config = parse(url).map_err(|error| DbError::Unavailable(error.to_string()))?;
    let mut client = connect_patiently(&config)?;
    client.batch_execute("set statement_timeout = 0; set idle_in_transaction_session_timeout = 0")?;
    Ok(Session { client, statements: HashMap::new() })
}

/// Connects as the address's `sslmode` says. `require` means TLS with a certificate that the system
/// (or the file in `SSL_CERT_FILE`) vouches for; anything less would not keep a listener out.
fn connect(config: &Config) -> Result<Client, DbError> {
    let mut client = match config.get_ssl_mode() {
        SslMode::Require => {
            let (tls, _) = MakeRustlsConnect::with_native_certs().map_err(|_| {
                DbError::Unavailable("the system has no root certificates; name a file in SSL_CERT_FILE".to_owned())
            })?;
            config.connect(tls)?
        }
        _ => config.connect(NoTls)?,
    };
    client.batch_execute(
        "set idle_in_transaction_session_timeout = '60s'; set statement_timeout = '120s'; set timezone = 'UTC';
         set standard_conforming_strings = on; set synchronous_commit = on",
    )?;
    Ok(client)
}

fn require_version(client: &mut Client) -> Result<(), OpenError> {
    let fault = |error: postgres::Error| OpenError::Postgres(DbError::from(error).to_string());
    let row = client
        .query_one("select current_setting('server_version_num')::int, current_setting('server_encoding')", &[])
        .map_err(fault)?;
    let (version, encoding): (i32, String) = (row.get(0), row.get(1));
    if version < 140_000 {
        return Err(OpenError::Postgres(format!("version 14 or newer is needed, this is {}", version / 10_000)));
    }
    if encoding != "UTF8" {
        return Err(OpenError::Postgres(format!("the database must have the encoding UTF8, it has {encoding}")));
    }
    Ok(())
}

impl Session {
    pub(crate) fn statement(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        if self.statements.len() >= STATEMENT_CACHE {
            self.statements.clear();
        }
        self.statements.insert(sql.into(), statement.clone());
        Ok(statement)
    }
}

/// A thread's own connection, made when first needed and again when it is lost.
struct Worker {
    // Closed before the context is dropped, which tells `close` that this thread has ended.
    session: Option<Session>,
    config: Config,
    context: Context,
}

/// How one try at a command ended.
enum Attempt {
    Committed(crate::tx::Effects),
    Undone,
    /// Nothing was stored, and another try may succeed.
    Repeat(DbError),
    Failed(DbError),
}

impl Worker {
    fn new(config: &Config, context: &Context) -> Self {
        Self { session: None, config: config.clone(), context: context.clone() }
    }

    fn run_commands(mut self, commands: &Receiver<WriterTask>, notifier: &Notifier) {
        while let Ok(task) = commands.recv() {
            match task {
                WriterTask::Vacuum(reply) => {
                    let _ = reply.send(self.vacuum());
                }
                WriterTask::Command(job) => self.run_command(job, notifier),
            }
        }
    }

    fn vacuum(&mut self) -> Result<(), DbError> {
        const UNLIMITED: &str = "set statement_timeout = 0";
        if self.session()?.client.batch_execute(UNLIMITED).is_err() {
            // The connection died while it was idle.
            self.session = None;
            self.session()?.client.batch_execute(UNLIMITED)?;
        }
        let outcome = self.session()?.client.batch_execute("vacuum (analyze)");
        // The next command begins with a connection that has its limits.
        self.session = None;
        Ok(outcome?)
    }

    fn run_command(&mut self, mut job: Box<dyn Job>, notifier: &Notifier) {
        #[expect(clippy::disallowed_methods, reason = "measures a duration, for the metrics and for patience")]
        let started = Instant::now();
        let moment = match self.context.moment() {
            Ok(moment) => moment,
            Err(error) => return job.answer(Some(error)),
        };
        let mut attempt = 0;
        loop {
            attempt += 1;
            let overruled = match self.try_command(&mut *job, moment) {
                Attempt::Repeat(_) if started.elapsed() < RACE_PATIENCE => {
                    // Spread by the thread's own randomness, so that two losers do not meet again.
                    let jitter = u64::from(moment.seed[attempt as usize % 32]);
                    let pause = (100 + 8 * jitter) * u64::from(attempt.min(LONGEST_PAUSE_AT));
                    std::thread::sleep(Duration::from_micros(pause));
                    continue;
                }
                Attempt::Repeat(error) | Attempt::Failed(error) => Some(error),
                Attempt::Undone => None,
                Attempt::Committed(effects) => {
                    if self.context.carry_out(effects) {
                        notifier.ring();
                    }
                    self.context.observe(&CommitReport { commands: 1, undone: 0, duration: started.elapsed() });
                    None
                }
            };
            return job.answer(overruled);
        }
    }

    fn try_command(&mut self, job: &mut dyn Job, moment: Moment) -> Attempt {
        let session = match self.session() {
            Ok(session) => session,
            Err(error) => return Attempt::Failed(error),
        };
        if let Err(error) = session.client.batch_execute("begin isolation level serializable") {
            // The connection died while it was idle; a new one may work.
            self.session = None;
            return Attempt::Repeat(error.into());
        }
        let mut tx = Tx::new(TxConnection::Postgres(session), moment);
        let keep = job.run(&mut tx);
        let failure = tx.failure().cloned();
        let effects = std::mem::take(&mut tx.effects);
        drop(tx);
        if !keep {
            let is_lost = session.client.batch_execute("rollback").is_err();
            if is_lost {
                self.session = None;
            }
            return match failure {
                Some(error @ DbError::Conflict(_)) => Attempt::Repeat(error),
                Some(error @ DbError::Unavailable(_)) if is_lost => Attempt::Repeat(error),
                _ => Attempt::Undone,
            };
        }
        match session.client.batch_execute("commit").map_err(DbError::from) {
            Ok(()) => Attempt::Committed(effects),
            Err(error @ DbError::Conflict(_)) => Attempt::Repeat(error),
            Err(error) => {
                // Lost while committing: it may or may not be stored. The caller is told so; an
                // idempotency key makes its retry safe.
                self.session = None;
                Attempt::Failed(error)
            }
        }
    }

    fn run_reads(mut self, reads: &ReadQueue) {
        while let Some(mut job) = reads.next() {
            if job.is_abandoned() {
                continue;
            }
            let overruled = self.read_once(&mut *job).err();
            job.answer(overruled);
        }
    }

    fn read_once(&mut self, job: &mut dyn Job) -> Result<(), DbError> {
        const BEGIN: &str = "begin isolation level repeatable read read only";
        let moment = self.context.moment()?;
        if self.session()?.client.batch_execute(BEGIN).is_err() {
            // The connection died while it was idle.
            self.session = None;
            self.session()?.client.batch_execute(BEGIN)?;
        }
        let session = self.session()?;
        job.run(&mut Tx::new(TxConnection::Postgres(session), moment));
        if session.client.batch_execute("rollback").is_err() {
            self.session = None;
        }
        Ok(())
    }

    fn session(&mut self) -> Result<&mut Session, DbError> {
        if self.session.as_ref().is_some_and(|session| session.client.is_closed()) {
            self.session = None;
        }
        if self.session.is_none() {
            let client = connect_patiently(&self.config)?;
            self.session = Some(Session { client, statements: HashMap::new() });
        }
        self.session.as_mut().ok_or(DbError::Closed)
    }
}

fn connect_patiently(config: &Config) -> Result<Client, DbError> {
    let mut waited = Duration::ZERO;
    loop {
        match connect(config) {
            Ok(client) => return Ok(client),
            Err(error) if waited >= RECONNECT_PATIENCE => return Err(DbError::Unavailable(error.to_string())),
            Err(_) => {
                let pause = Duration::from_millis(250);
                std::thread::sleep(pause);
                waited += pause;
            }
        }
    }
}

/// Asks the notify thread to tell other hubs. A NOTIFY inside each command would make commits
/// wait for each other on the server's one queue lock; rung from here, a burst is one NOTIFY.
#[derive(Default)]
struct Notifier {
    rung: Mutex<bool>,
    bell: Condvar,
}

impl Notifier {
    fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bell.notify_one();
    }

    fn wait(&self, patience: Duration) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) =
            self.bell.wait_timeout_while(rung, patience, |rung| !*rung).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rung)
    }
}

fn notify(config: &Config, notifier: &Notifier, writing: &Weak<()>) {
    let mut client: Option<Client> = None;
    loop {
        // Asked before the bell is looked at, so that the last ring of the last writer is heard.
        let is_open = writing.strong_count() > 0;
        if !notifier.wait(if is_open { Duration::from_millis(200) } else { Duration::ZERO }) {
            if is_open {
                continue;
            }
            return;
        }
        if client.is_none() {
            client = connect(config).ok();
        }
        let sent = client.as_mut().is_some_and(|client| client.batch_execute(&format!("notify {CHANNEL}")).is_ok());
        if !sent {
            // Rows are safe in the outbox; only the wake-up of other hubs is late.
            client = None;
            if !is_open {
                return;
            }
            notifier.ring();
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

fn listen(config: &Config, alive: &Weak<()>, changes: &tokio::sync::watch::Sender<u64>) {
    while alive.strong_count() > 0 {
        // However it ends, the loop connects again and lets followers look once.
        if let Err(error) = listen_once(config, alive, changes) {
            tracing::warn!(%error, "the LISTEN connection was lost");
            std::thread::sleep(Duration::from_millis(250));
        }
        changes.send_modify(|count| *count += 1);
    }
}

fn listen_once(config: &Config, alive: &Weak<()>, changes: &tokio::sync::watch::Sender<u64>) -> Result<(), DbError> {
    let mut client = connect(config)?;
    client.batch_execute(&format!("listen {CHANNEL}"))?;
    // What came before LISTEN took effect has to be looked for.
    changes.send_modify(|count| *count += 1);
    while alive.strong_count() > 0 {
        let mut notifications = client.notifications();
        if notifications.timeout_iter(Duration::from_millis(200)).next()?.is_some() {
            changes.send_modify(|count| *count += 1);
        }
        drop(notifications);
        if client.is_closed() {
            return Err(DbError::Unavailable("connection closed".to_owned()));
        }
    }
    Ok(())
}
