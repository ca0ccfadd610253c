//! PostgreSQL: threads with a connection each, SERIALIZABLE commands that are repeated when they
//! lose a race, and LISTEN/NOTIFY to wake other hubs.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use postgres::Client;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use self::notifier::{Notifier, listen, notify};
use self::session::Patience;
pub(crate) use self::session::Session;
use self::worker::Worker;
use crate::database::{Context, Options, ReadQueues, WriterTask};
use crate::job::Job;
use crate::{DbError, Migration, OpenError, migrate};

pub(crate) mod course;
mod notifier;
mod order;
mod pulse;
mod session;
mod together;
mod worker;

/// How long a thread tries to get its connection back before it answers "unavailable".
const RECONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// Commands that share a transaction in which they change rows, at most: each waits for all, with what it has locked.
const HOLDING_BATCH: usize = 32;
/// How long a server may take to answer a hub that starts.
const START_PATIENCE: Duration = Duration::from_secs(5);

/// Settings of every connection.
///
/// Plans are kept, and most are made while the tables are small. A plan that reads a small table as a whole would go on doing so
/// when it has grown, until the server counts its rows the next time. So plans go through an index wherever there is one.
const SETTINGS: &str = "set timezone = 'UTC'; set standard_conforming_strings = on; set synchronous_commit = on;
    set jit = off; set enable_seqscan = off";
const NO_LIMITS: &str = "set idle_in_transaction_session_timeout = 0; set statement_timeout = 0";

/// What a connection is for.
#[derive(Clone, Copy)]
enum Kind {
    Commands,
    /// Commands that share a transaction and only add rows.
    Together,
    /// Commands that share a transaction and change rows, which each has to itself.
    Holding,
    Reads,
}

impl Kind {
    /// What the server allows it. Other hubs wait for the locks of a command, so a slow command or a frozen hub must lose them
    /// soon; and a command that waits for a lock keeps others of its own hub from running.
    fn settings(self) -> &'static str {
        match self {
            Kind::Commands => {
                "set lock_timeout = '300ms'; set idle_in_transaction_session_timeout = '2s'; set statement_timeout = '8s'"
            }
            // Planning the same few statements for each batch would take longer than running them.
            Kind::Together | Kind::Holding => {
                "set lock_timeout = '300ms'; set idle_in_transaction_session_timeout = '2s'; set statement_timeout = '8s';
                set plan_cache_mode = force_generic_plan"
            }
            Kind::Reads => {
                "set lock_timeout = '1s'; set idle_in_transaction_session_timeout = '60s'; set statement_timeout = '60s'"
            }
        }
    }

    /// How long it waits for an answer. The server gives up before that, so a connection without an answer is dead.
    fn limit(self) -> Duration {
        match self {
            Kind::Commands | Kind::Together | Kind::Holding => Duration::from_secs(10),
            Kind::Reads => Duration::from_secs(65),
        }
    }
}

pub(crate) fn start(
    url: &str,
    options: &Options,
    migrations: &'static [Migration],
    context: Context,
    (alone, commands): (Sender<WriterTask>, Receiver<WriterTask>),
    [together, holding]: [Receiver<Box<dyn Job>>; 2],
    reads: &ReadQueues,
) -> Result<(), OpenError> {
    let config = parse(url)?;
    // The client runs an event loop of its own, which it may not do on a thread of the caller's.
    let now_ms = context.environment.now_ms();
    let prepare = || {
        require_answer(&config).map_err(OpenError::of_server)?;
        prepare(&config, migrations, options.migrate_to, now_ms)?;
        set_clock(&config, &context).map_err(OpenError::of_server)
    };
    let prepared = std::thread::scope(|scope| scope.spawn(prepare).join());
    prepared.unwrap_or_else(|_| Err(OpenError::Postgres("the driver panicked".to_owned())))?;

    let seed = context.environment.seed().map_err(OpenError::Entropy)?;
    let notifier = Arc::new(Notifier::new(seed));
    let writing = Arc::new(());
    let (locked_out, waiting) = crossbeam_channel::bounded(options.write_queue);
    for number in 0..options.postgres_writers.max(1) {
        let worker = Worker::new(&config, Kind::Commands, &context);
        let (commands, notifier, writing) = (commands.clone(), notifier.clone(), writing.clone());
        let locked_out = locked_out.clone();
        spawn(format!("stoa-db-write{number}"), move || {
            worker.run_commands(&commands, &locked_out, &notifier);
            drop(writing);
        })?;
    }
    let limit = options.batch_limit;
    let lanes = [
        ("stoa-db-together", Kind::Together, together, limit),
        ("stoa-db-holding", Kind::Holding, holding, limit.min(HOLDING_BATCH)),
    ];
    for (name, kind, jobs, limit) in lanes {
        let worker = Worker::new(&config, kind, &context);
        let (notifier, writing) = (notifier.clone(), writing.clone());
        let (alone, locked_out) = (alone.clone(), locked_out.clone());
        spawn(name.to_owned(), move || {
            worker.run_together(&jobs, limit, &alone, &locked_out, &notifier);
            drop(writing);
        })?;
    }
    // Only the threads keep them, which end when their own queues do.
    drop((alone, locked_out));
    let worker = Worker::new(&config, Kind::Commands, &context);
    let (notifier_in, writing_in) = (notifier.clone(), writing.clone());
    spawn("stoa-db-locked".to_owned(), move || {
        worker.run_locked_out(&waiting, &notifier_in);
        drop(writing_in);
    })?;
    for (number, reads) in reads.for_readers(options).into_iter().enumerate() {
        let worker = Worker::new(&config, Kind::Reads, &context);
        spawn(format!("stoa-db-read{number}"), move || worker.run_reads(&reads))?;
    }
    // These must not keep the database open: they watch whether the writers still live.
    let writing = Arc::downgrade(&writing);
    let known_schema = migrations.last().map_or(0, |migration| migration.number);
    let (pulse_config, pulse_context, watched) = (config.clone(), context.clone(), writing.clone());
    spawn("stoa-db-pulse".to_owned(), move || {
        pulse::follow(&pulse_config, known_schema, &pulse_context, &watched);
        drop(pulse_context);
    })?;
    let (listener_config, listener_context, watched) = (config.clone(), context.clone(), writing.clone());
    let notifier_in = notifier.clone();
    spawn("stoa-db-listen".to_owned(), move || {
        listen(&listener_config, &watched, &notifier_in, &listener_context);
        drop(listener_context);
    })?;
    spawn("stoa-db-notify".to_owned(), move || {
        let patience = Patience::of(Kind::Commands.limit()).with(context.server.subscribe());
        notify(&config, &notifier, &patience, &writing);
        drop(context);
    })
}

fn prepare(
    config: &Config,
    migrations: &'static [Migration],
    migrate_to: Option<i64>,
    now_ms: i64,
) -> Result<(), OpenError> {
    let mut client = connect(&config.clone().into()).map_err(OpenError::of_server)?;
    require_version(&mut client)?;
    migrate::migrate_postgres(&mut client, migrations, migrate_to, now_ms)
}

/// A migration may take as long as it takes, so it is not begun on a server that is frozen: nobody would ever hear why.
fn require_answer(config: &Config) -> Result<(), DbError> {
    let ask = || Session::connect(config, &[SETTINGS], Patience::of(START_PATIENCE)).map(drop);
    // One that is slow because it has just started answers the second time.
    ask().or_else(|_| ask())
}

/// Hubs whose machines disagree about the time would disagree about who has lost a claim, so the server's time counts.
fn set_clock(config: &Config, context: &Context) -> Result<(), DbError> {
    let mut session = connect_patiently(config, NO_LIMITS, &Patience::of(START_PATIENCE))?;
    pulse::ask(&mut session, &*context.environment).map(drop)
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
    connect_patiently(&config, NO_LIMITS, &Patience::endless())
}

/// What vouches for the server's certificate: the system, or the file in `SSL_CERT_FILE`.
fn tls() -> Result<MakeRustlsConnect, DbError> {
    let missing = "the system has no root certificates; name a file in SSL_CERT_FILE";
    Ok(MakeRustlsConnect::with_native_certs().map_err(|_| DbError::Unavailable(missing.to_owned()))?.0)
}

/// A connection that blocks its thread, for what is not done in transactions of commands and reads.
fn connect(config: &postgres::Config) -> Result<Client, DbError> {
    let mut client = match config.get_ssl_mode() {
        SslMode::Require => config.connect(tls()?)?,
        _ => config.connect(NoTls)?,
    };
    client.batch_execute(SETTINGS)?;
    client.batch_execute(Kind::Reads.settings())?;
    Ok(client)
}

fn require_version(client: &mut Client) -> Result<(), OpenError> {
    let fault = |error: postgres::Error| OpenError::of_server(error.into());
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

fn connect_patiently(config: &Config, settings: &str, patience: &Patience) -> Result<Session, DbError> {
    let mut waited = Duration::ZERO;
    loop {
        if let Some(fault) = patience.fault() {
            return Err(fault);
        }
        match Session::connect(config, &[SETTINGS, settings], patience.clone()) {
            Ok(session) => return Ok(session),
            Err(error) if waited >= RECONNECT_PATIENCE => return Err(DbError::Unavailable(error.to_string())),
            Err(_) => {
                let pause = Duration::from_millis(250);
                std::thread::sleep(pause);
                waited += pause;
            }
        }
    }
}
