//! The handle that the rest of the program holds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError};
use tokio::sync::{mpsc, oneshot, watch};

use crate::companion::{Companion, CompanionTask};
use crate::environment::{Environment, SystemEnvironment};
use crate::job::{Closure, Job};
use crate::server::{self, ServerState};
use crate::signals::{Bells, Signals};
use crate::tx::{Effects, Moment};
use crate::{DbError, FolderLock, Migration, OpenError, Tx, migrate, postgres, sqlite};

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgres",
        }
    }
}

type Observer = Arc<dyn Fn(&CommitReport) + Send + Sync>;

/// How to open a database.
pub struct Options {
    /// The data folder. SQLite keeps its file here; it is locked on either engine.
    pub folder: PathBuf,
    /// A `postgres://` address; none means SQLite.
    pub postgres_url: Option<String>,
    pub environment: Arc<dyn Environment>,
    /// Commands that may wait for a writer. One more is answered with [`DbError::Busy`].
    pub write_queue: usize,
    /// How long a command may wait for its turn. After that it is dropped and answered with [`DbError::Late`].
    pub begin_within: Duration,
    /// Commands that are committed together at most.
    pub batch_limit: usize,
    /// Reads that may wait for a reader.
    pub read_queue: usize,
    /// Threads with a connection each for reads.
    pub readers: usize,
    /// More of them, kept for [urgent reads](Database::read_urgent).
    pub urgent_readers: usize,
    /// More of them, for [long reads](Database::read_long) alone.
    pub long_readers: usize,
    /// KiB of pages that all connections to SQLite keep in memory together.
    pub cache_kib: u32,
    /// Threads with a connection each for commands, beside the two for those that share a transaction; SQLite always has one.
    pub postgres_writers: usize,
    /// The last migration to apply; none means all.
    pub migrate_to: Option<i64>,
    /// A second file beside SQLite's; PostgreSQL has none.
    pub companion: Option<Companion>,
    /// Called after each commit, before its commands are answered.
    pub observer: Option<Observer>,
}

/// What one commit was like.
#[derive(Debug, Clone, Copy)]
pub struct CommitReport {
    /// Commands in the transaction, failed ones included.
    pub commands: usize,
    /// Commands that were undone on their own.
    pub undone: usize,
    /// From the first statement to the end of the sync.
    pub duration: Duration,
}

/// Facts about a database, for operators.
#[derive(Debug, Clone)]
pub struct DatabaseInfo {
    pub engine: Engine,
    pub engine_version: String,
    pub size_bytes: i64,
    pub schema_version: i64,
}

/// An open database. Clones share it.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    location: DatabaseLocation,
    migrations: &'static [Migration],
    writer: RwLock<Option<Sender<WriterTask>>>,
    /// Commands that may share a transaction; only PostgreSQL has a queue of its own for them.
    together: RwLock<Option<Sender<Box<dyn Job>>>>,
    /// The same for those that change rows.
    holding: RwLock<Option<Sender<Box<dyn Job>>>>,
    companion: RwLock<Option<Sender<CompanionTask>>>,
    reader: RwLock<Option<Sender<Box<dyn Job>>>>,
    urgent_reader: RwLock<Option<Sender<Box<dyn Job>>>>,
    long_reader: RwLock<Option<Sender<Box<dyn Job>>>>,
    bells: Bells,
    server: watch::Sender<ServerState>,
    begin_within: Duration,
    is_full: Arc<AtomicBool>,
    /// Every thread holds a sender of this; it ends when the last thread has.
    threads: tokio::sync::Mutex<mpsc::Receiver<()>>,
    /// Gives a thread that starts later its sender, as long as another one lives.
    alive: mpsc::WeakSender<()>,
    // Declared last, so that the folder stays locked until everything above is gone.
    _lock: Arc<FolderLock>,
}

/// Where to open a connection beside those of the threads.
pub(crate) enum DatabaseLocation {
    Sqlite(PathBuf),
    Postgres(String),
}

/// Work on a thread and a connection of its own, so that it holds up neither commands nor reads.
pub(crate) struct Aside {
    // Dropped before `_alive`: whoever waited in `close` finds the folder unlocked.
    shared: Arc<Shared>,
    /// Closed when nobody waits for the outcome any more.
    caller: oneshot::Sender<()>,
    _alive: mpsc::Sender<()>,
}

/// What the writer thread is asked to do.
pub(crate) enum WriterTask {
    Command(Box<dyn Job>),
    /// Rewrites the file without its holes, outside of any transaction.
    Vacuum(oneshot::Sender<Result<(), DbError>>),
}

/// All reads that wait, by kind.
pub(crate) struct ReadQueues {
    urgent: Receiver<Box<dyn Job>>,
    others: Receiver<Box<dyn Job>>,
    long: Receiver<Box<dyn Job>>,
}

impl ReadQueues {
    /// One queue for each reader.
    pub(crate) fn for_readers(&self, options: &Options) -> Vec<ReadQueue> {
        let usual = ReadQueue { urgent: self.urgent.clone(), others: Some(self.others.clone()) };
        let urgent_only = ReadQueue { others: None, ..usual.clone() };
        // No sender: nothing is urgent for these readers.
        let (_, nothing) = crossbeam_channel::bounded(0);
        let long_only = ReadQueue { urgent: nothing, others: Some(self.long.clone()) };
        let mut queues = vec![usual; options.readers.max(1)];
        queues.extend(std::iter::repeat_n(urgent_only, options.urgent_readers));
        queues.extend(std::iter::repeat_n(long_only, options.long_readers.max(1)));
        queues
    }
}

/// The reads that wait for one reader.
#[derive(Clone)]
pub(crate) struct ReadQueue {
    urgent: Receiver<Box<dyn Job>>,
    /// None for a reader that is kept for urgent reads.
    others: Option<Receiver<Box<dyn Job>>>,
}

impl ReadQueue {
    /// The next read, an urgent one if there is one; none when the queues are closed.
    pub(crate) fn next(&self) -> Option<NextRead> {
        let urgent = || self.urgent.recv().ok().map(NextRead::Urgent);
        let Some(others) = &self.others else { return urgent() };
        let other = || others.recv().ok().map(NextRead::Other);
        if let Ok(job) = self.urgent.try_recv() {
            return Some(NextRead::Urgent(job));
        }
        // One of the two may be closed before the other.
        crossbeam_channel::select! {
            recv(self.urgent) -> job => job.ok().map(NextRead::Urgent).or_else(other),
            recv(others) -> job => job.ok().map(NextRead::Other).or_else(urgent),
        }
    }

    /// The urgent reads that wait now, at most so many.
    pub(crate) fn more_urgent(&self, limit: usize) -> impl Iterator<Item = Box<dyn Job>> + '_ {
        self.urgent.try_iter().take(limit)
    }
}

pub(crate) enum NextRead {
    Urgent(Box<dyn Job>),
    Other(Box<dyn Job>),
}

impl NextRead {
    pub(crate) fn into_job(self) -> Box<dyn Job> {
        match self {
            NextRead::Urgent(job) | NextRead::Other(job) => job,
        }
    }
}

/// What the threads of both engines share.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) observer: Option<Observer>,
    pub(crate) bells: Bells,
    pub(crate) server: watch::Sender<ServerState>,
    /// Whether a write failed because the disk is full.
    pub(crate) is_full: Arc<AtomicBool>,
    /// Held by each thread: commands run to their end even when the last handle is gone, and
    /// nobody else may come into the folder before.
    pub(crate) _lock: Arc<FolderLock>,
    // Declared last, so that whoever waited in `close` finds everything above let go of.
    /// Held by each thread, so that [`Database::close`] can wait for the last one.
    pub(crate) _alive: mpsc::Sender<()>,
}

impl Options {
    /// SQLite in `folder`, with sizes that suit one hub.
    pub fn new(folder: impl AsRef<Path>) -> Self {
        Self {
            folder: folder.as_ref().to_owned(),
            postgres_url: None,
            environment: Arc::new(SystemEnvironment),
            write_queue: 4096,
            begin_within: Duration::from_secs(9),
            batch_limit: 256,
            read_queue: 4096,
            readers: 4,
            urgent_readers: 1,
            long_readers: 3,
            cache_kib: 64 * 1024,
            postgres_writers: 8,
            migrate_to: None,
            companion: None,
            observer: None,
        }
    }
}

impl Context {
    pub(crate) fn moment(&self) -> Result<Moment, DbError> {
        let seed = self.environment.seed().map_err(DbError::Unavailable)?;
        Ok(Moment { now_ms: self.environment.now_ms(), seed })
    }

    /// Carries out what committed commands asked for. Returns what they signalled.
    pub(crate) fn carry_out(&self, effects: Effects) -> Signals {
        for effect in effects.after_commit {
            // An effect is code of a feature: its panic must not take the writer down.
            if catch_unwind(AssertUnwindSafe(effect)).is_err() {
                tracing::error!("an after-commit effect panicked");
            }
        }
        self.bells.ring(effects.signals);
        effects.signals
    }

    /// Remembers whether a command failed because the disk is full.
    pub(crate) fn note_failure(&self, error: Option<&DbError>) {
        if matches!(error, Some(DbError::Full)) {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    /// Tells the observer of a commit. Its panic must not take the writer down either.
    pub(crate) fn observe(&self, report: &CommitReport) {
        if let Some(observer) = &self.observer
            && catch_unwind(AssertUnwindSafe(|| observer(report))).is_err()
        {
            tracing::error!("the observer of commits panicked");
        }
    }
}

impl Database {
    /// Locks the folder, applies the migrations and starts the threads.
    ///
    /// Blocks; call it before the runtime gets busy.
    pub fn open(options: Options, migrations: &'static [Migration]) -> Result<Self, OpenError> {
        let lock = Arc::new(FolderLock::acquire(&options.folder)?);
        let (alive, threads) = mpsc::channel(1);
        let context = Context {
            environment: options.environment.clone(),
            observer: options.observer.clone(),
            bells: Bells::new(),
            server: watch::Sender::new(ServerState::Answers),
            is_full: Arc::default(),
            _lock: lock.clone(),
            _alive: alive,
        };
        let (bells, server, is_full) = (context.bells.clone(), context.server.clone(), context.is_full.clone());
        let alive = context._alive.downgrade();
        let (write_sender, write_receiver) = crossbeam_channel::bounded(options.write_queue);
        let (together_sender, together) = crossbeam_channel::bounded(options.write_queue);
        let (companion_sender, companion_tasks) = crossbeam_channel::bounded(options.write_queue);
        let (holding_sender, holding) = crossbeam_channel::bounded(options.write_queue);
        let (read_sender, others) = crossbeam_channel::bounded(options.read_queue);
        let (urgent_sender, urgent) = crossbeam_channel::bounded(options.read_queue);
        let (long_sender, long) = crossbeam_channel::bounded(options.read_queue);
        let reads = ReadQueues { urgent, others, long };
        let (engine, location) = match &options.postgres_url {
            None => {
                let file = options.folder.join("stoa.db");
                sqlite::start(&file, &options, migrations, context, write_receiver, companion_tasks, &reads)?;
                (Engine::Sqlite, DatabaseLocation::Sqlite(file))
            }
            Some(url) => {
                let commands = (write_sender.clone(), write_receiver);
                postgres::start(url, &options, migrations, context, commands, [together, holding], &reads)?;
                (Engine::Postgres, DatabaseLocation::Postgres(url.clone()))
            }
        };
        Ok(Self {
            shared: Arc::new(Shared {
                engine,
                location,
                migrations,
                writer: RwLock::new(Some(write_sender)),
                together: RwLock::new(Some(together_sender)),
                holding: RwLock::new(Some(holding_sender)),
                companion: RwLock::new(Some(companion_sender)),
                reader: RwLock::new(Some(read_sender)),
                urgent_reader: RwLock::new(Some(urgent_sender)),
                long_reader: RwLock::new(Some(long_sender)),
                bells,
                server,
                begin_within: options.begin_within,
                is_full,
                threads: tokio::sync::Mutex::new(threads),
                alive,
                _lock: lock,
            }),
        })
    }

    pub fn engine(&self) -> Engine {
        self.shared.engine
    }

    /// Runs `command` in a transaction and answers when it is on disk, or with the reason why
    /// nothing was stored. The command runs to its end even when the caller goes away.
    pub async fn write<T, E, F>(&self, command: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let (job, answer) = self.command(command).await?;
        submit(&self.shared.writer, WriterTask::Command(job))?;
        answer.await.unwrap_or_else(|_| Err(DbError::Closed.into()))
    }

    /// The same for a command that only queries and [appends](Tx::append), and whose queries do not depend on what others of its
    /// kind append. PostgreSQL commits many of them together. One that turns out to do more is run as by [`write`](Self::write).
    pub async fn write_together<T, E, F>(&self, command: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.write_by(&self.shared.together, command).await
    }

    /// The same for a command that also changes rows, all of which it [holds](Tx::hold) before: nobody else who holds the same runs
    /// beside it. What it reads apart from that must not depend on what others of its kind change.
    pub async fn write_holding<T, E, F>(&self, command: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.write_by(&self.shared.holding, command).await
    }

    async fn write_by<T, E, F>(&self, queue: &RwLock<Option<Sender<Box<dyn Job>>>>, command: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        // SQLite commits all commands together.
        if self.engine() == Engine::Sqlite {
            return self.write(command).await;
        }
        let (job, answer) = self.command(command).await?;
        submit(queue, job)?;
        answer.await.unwrap_or_else(|_| Err(DbError::Closed.into()))
    }

    /// A command as the writers get it, and what its answer comes by.
    async fn command<T, E, F>(&self, closure: F) -> Result<(Box<dyn Job>, oneshot::Receiver<Result<T, E>>), E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        server::answering(&self.shared.server).await?;
        let (reply, answer) = oneshot::channel();
        #[expect(clippy::disallowed_methods, reason = "a deadline is in real time")]
        let begin_by = Instant::now().checked_add(self.shared.begin_within);
        let job = Closure { closure, result: None, reply, caller: Weak::new(), begin_by, limit: None };
        Ok((Box::new(job), answer))
    }

    /// Runs `query` on a snapshot that does not change while it runs, beside any writer. When the caller
    /// goes away, it need not come to its end.
    pub async fn read<T, E, F>(&self, query: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.read_by(&self.shared.reader, None, query).await
    }

    /// The same before all other reads, and even while those keep all other readers busy. For queries that take
    /// no time worth mentioning and that everybody waits for.
    pub async fn read_urgent<T, E, F>(&self, query: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.read_by(&self.shared.urgent_reader, None, query).await
    }

    /// The same for a query that may take long. It has readers of its own, so that other reads never wait for it, and runs for
    /// at most `limit`: after that, or if its turn comes too late, the answer is [`DbError::Late`]. What takes long beside the
    /// statements has to look at [`Tx::time_left`].
    pub async fn read_long<T, E, F>(&self, limit: Duration, query: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.read_by(&self.shared.long_reader, Some(limit), query).await
    }

    async fn read_by<T, E, F>(
        &self,
        queue: &RwLock<Option<Sender<Box<dyn Job>>>>,
        limit: Option<Duration>,
        query: F,
    ) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        server::answering(&self.shared.server).await?;
        let (reply, answer) = oneshot::channel();
        // Dropped with this future.
        let caller = Arc::new(());
        #[expect(clippy::disallowed_methods, reason = "a deadline is in real time")]
        let begin_by = limit.and_then(|_| Instant::now().checked_add(self.shared.begin_within));
        let job = Closure { closure: query, result: None, reply, caller: Arc::downgrade(&caller), begin_by, limit };
        submit(queue, Box::new(job) as Box<dyn Job>)?;
        let answer = answer.await.unwrap_or_else(|_| Err(DbError::Closed.into()));
        drop(caller);
        answer
    }

    /// Runs `command` in a transaction of the [companion](Companion), whose tables it sees and no others. It is
    /// answered when it is committed, which is not yet on disk.
    pub async fn write_companion<T, E, F>(&self, command: F) -> Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let (caller, begin_by, limit) = (Weak::new(), None, None);
        let job = Box::new(Closure { closure: command, result: None, reply, caller, begin_by, limit });
        submit(&self.shared.companion, CompanionTask::Command(job))?;
        answer.await.unwrap_or_else(|_| Err(DbError::Closed.into()))
    }

    /// Empties the companion, whatever state it is in. Those who read it go on with what they see until they are done.
    pub async fn reset_companion(&self) -> Result<(), DbError> {
        let (reply, answer) = oneshot::channel();
        submit::<_, DbError>(&self.shared.companion, CompanionTask::Reset(reply))?;
        answer.await.unwrap_or(Err(DbError::Closed))
    }

    /// Runs `work` on a thread of its own. Closing the database waits for it.
    pub(crate) async fn run_aside<T, E, F>(&self, name: &str, work: F) -> Result<T, E>
    where
        F: FnOnce(&Aside) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let (caller, _waiting) = oneshot::channel();
        let alive = self.shared.alive.upgrade().ok_or(DbError::Closed)?;
        let aside = Aside { shared: self.shared.clone(), caller, _alive: alive };
        let body = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&aside)));
            // First, so that a caller who then lets go of the database finds the folder unlocked.
            drop(aside);
            let _ = reply.send(outcome.unwrap_or_else(|_| Err(DbError::Panicked.into())));
        };
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .map_err(|error| DbError::Unavailable(format!("a thread could not be started: {error}")))?;
        answer.await.unwrap_or_else(|_| Err(DbError::Closed.into()))
    }

    /// Ticks after each commit that [signalled a change](Tx::signal_change), by this process or
    /// another one on the same database. Ticks may come late or once for several commits.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.bells.changes.subscribe()
    }

    /// The same for commits that [signalled work](Tx::signal_work).
    pub fn work(&self) -> watch::Receiver<u64> {
        self.shared.bells.work.subscribe()
    }

    /// Whether the server of the database can be worked with, as it changes.
    pub fn server(&self) -> watch::Receiver<ServerState> {
        self.shared.server.subscribe()
    }

    /// Commands that wait for a writer now.
    pub fn write_queue_length(&self) -> usize {
        let writer = self.shared.writer.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let lanes = [&self.shared.together, &self.shared.holding].map(|lane| {
            let lane = lane.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            lane.as_ref().map_or(0, Sender::len)
        });
        writer.as_ref().map_or(0, Sender::len) + lanes.iter().sum::<usize>()
    }

    /// Whether a write found the disk full since [`note_room`](Self::note_room) was last called.
    pub fn is_full(&self) -> bool {
        self.shared.is_full.load(Ordering::Relaxed)
    }

    /// Notes that there is room again. Not every commit shows that: a command may change nothing, and a small change
    /// may fit where a message does not. So the caller decides with a write of its own.
    pub fn note_room(&self) {
        self.shared.is_full.store(false, Ordering::Relaxed);
    }

    /// Gives back the space of deleted rows.
    pub async fn vacuum(&self) -> Result<(), DbError> {
        let (reply, answer) = oneshot::channel();
        submit::<_, DbError>(&self.shared.writer, WriterTask::Vacuum(reply))?;
        answer.await.unwrap_or(Err(DbError::Closed))
    }

    pub async fn info(&self) -> Result<DatabaseInfo, DbError> {
        self.read(|tx| {
            let (version, size) = match tx.engine() {
                Engine::Sqlite => (
                    "select sqlite_version() as value",
                    "select page_count * page_size as value from pragma_page_count(), pragma_page_size()",
                ),
                Engine::Postgres => (
                    "select current_setting('server_version') as value",
                    "select pg_database_size(current_database()) as value",
                ),
            };
            Ok(DatabaseInfo {
                engine: tx.engine(),
                engine_version: tx.query_one(version, &[], |row| row.get("value"))?,
                size_bytes: tx.query_one(size, &[], |row| row.get("value"))?,
                schema_version: migrate::schema_version(tx)?,
            })
        })
        .await
    }

    /// Stops taking work, finishes what is queued and waits until every connection is closed.
    pub async fn close(&self) {
        close_queue(&self.shared.writer);
        close_queue(&self.shared.together);
        close_queue(&self.shared.holding);
        close_queue(&self.shared.companion);
        close_queue(&self.shared.reader);
        close_queue(&self.shared.urgent_reader);
        close_queue(&self.shared.long_reader);
        let mut threads = self.shared.threads.lock().await;
        while threads.recv().await.is_some() {}
    }
}

impl Aside {
    pub(crate) fn location(&self) -> &DatabaseLocation {
        &self.shared.location
    }

    pub(crate) fn migrations(&self) -> &'static [Migration] {
        self.shared.migrations
    }

    /// An error as soon as the database is being closed or the caller has gone away.
    pub(crate) fn check(&self) -> Result<(), DbError> {
        let writer = self.shared.writer.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if writer.is_none() || self.caller.is_closed() { Err(DbError::Closed) } else { Ok(()) }
    }
}

fn close_queue<T>(queue: &RwLock<Option<Sender<T>>>) {
    drop(queue.write().unwrap_or_else(std::sync::PoisonError::into_inner).take());
}

fn submit<T, E: From<DbError>>(queue: &RwLock<Option<Sender<T>>>, task: T) -> Result<(), E> {
    let queue = queue.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    match queue.as_ref().map(|sender| sender.try_send(task)) {
        Some(Ok(())) => Ok(()),
        Some(Err(TrySendError::Full(_))) => Err(DbError::Busy.into()),
        Some(Err(TrySendError::Disconnected(_))) | None => Err(DbError::Closed.into()),
    }
}
