//! SQLite: one writer thread that commits in groups, and a pool of snapshot readers.

use std::borrow::Cow;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::cache::Caches;
use crate::companion::{CompanionTask, CompanionWriter};
use crate::database::{CommitReport, Context, NextRead, Options, ReadQueue, ReadQueues, WriterTask};
use crate::job::Job;
use crate::row::RowSource;
use crate::tx::{Connection as TxConnection, Effects, Moment};
use crate::{DbError, Migration, OpenError, Row, Tx, Value, migrate};

/// Prepared statements kept per connection.
const STATEMENT_CACHE: usize = 256;

/// What the write-ahead log may keep of its size when it begins anew, and what it may grow to before it is made to.
pub(crate) const LOG_LIMIT: u64 = 64 * 1024 * 1024;
/// How long the writer waits for readers when it wants the log to begin anew. Most reads take less.
pub(crate) const LOG_PATIENCE: Duration = Duration::from_millis(100);
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Steps of a read after which it is asked whether anybody still waits for it: well below a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// `$1` is a *named* parameter for SQLite, numbered by first appearance, so we bind by name. Those
/// beyond these have their names made when they are used.
const PARAMETER_NAMES: [&str; 64] = {
    macro_rules! names { ($($n:literal)*) => { [$(concat!("$", $n)),*] } }
    names!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
};

pub(crate) fn start(
    file: &Path,
    options: &Options,
    migrations: &'static [Migration],
    context: Context,
    commands: Receiver<WriterTask>,
    companion_tasks: Receiver<CompanionTask>,
    reads: &ReadQueues,
) -> Result<(), OpenError> {
    let caches = Caches::of(options);
    let mut connection = open_writer(file, caches.writer).map_err(|error| open_error(file, &error))?;
    migrate::migrate_sqlite(&mut connection, migrations, options.migrate_to, context.environment.now_ms(), |error| {
        open_error(file, error)
    })?;
    let companion = match options.companion {
        Some(companion) => {
            let opened = CompanionWriter::open(companion, &options.folder, caches.companion_writer, context.clone());
            Some(opened.map_err(|error| open_error(&companion.file(&options.folder), &error))?)
        }
        None => None,
    };
    // Opened here, so that a fault is found before the start is reported as good.
    let readers = reads
        .for_readers(options)
        .into_iter()
        .map(|reads| Reader::open(file, options, caches, reads).map_err(|error| open_error(file, &error)))
        .collect::<Result<Vec<_>, _>>()?;
    let spawn_error = |error: std::io::Error| OpenError::Folder { path: file.to_owned(), reason: error.to_string() };
    let (reading, readers_gone) = crossbeam_channel::bounded(0);
    for reader in readers {
        let (context, reading) = (context.clone(), reading.clone());
        let body = move || {
            reader.run(&context);
            drop(reading);
        };
        std::thread::Builder::new().name("stoa-db-read".to_owned()).spawn(body).map_err(spawn_error)?;
    }
    if let Some(companion) = companion {
        std::thread::Builder::new()
            .name("stoa-db-side".to_owned())
            .spawn(move || companion.run(&companion_tasks))
            .map_err(spawn_error)?;
    }
    let writer = Writer {
        file: file.to_owned(),
        cache_kib: caches.writer,
        connection: Some(connection),
        context,
        batch_limit: options.batch_limit,
        log_limit: LOG_LIMIT,
        readers_gone,
    };
    std::thread::Builder::new()
        .name("stoa-db-write".to_owned())
        .spawn(move || writer.run(&commands))
        .map_err(spawn_error)?;
    Ok(())
}

pub(crate) fn open_writer(file: &Path, cache_kib: u32) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    if connection.is_readonly("main")? {
        // SQLite is content with reading when it may not write.
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY),
            Some("the database file may not be written".to_owned()),
        ));
    }
    let mode: String = connection.query_row("pragma journal_mode = wal", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY),
            Some(format!("the file system gives journal mode {mode}, not wal")),
        ));
    }
    // The file is ours alone; SQLite gives the -wal and -shm files the same mode.
    set_private(file);
    connection.execute_batch(&format!("pragma wal_autocheckpoint = 4000; pragma journal_size_limit = {LOG_LIMIT};"))?;
    prepare_connection(&connection, cache_kib)?;
    Ok(connection)
}

pub(crate) fn open_reader(file: &Path, cache_kib: u32) -> rusqlite::Result<Connection> {
    // Not opened read-only: a reader of a WAL file must be able to write its -shm file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    prepare_connection(&connection, cache_kib)?;
    connection.execute_batch("pragma query_only = on;")?;
    Ok(connection)
}

fn prepare_connection(connection: &Connection, cache_kib: u32) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "pragma synchronous = full; pragma foreign_keys = on;
         pragma temp_store = memory; pragma mmap_size = 268435456; pragma cache_size = -{cache_kib};
         pragma trusted_schema = off;"
    ))?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // SQLite may plan a query for the values bound to it, and then plans it anew, from its text, each
    // time they change: five sixths of all that a reader of cached statements with a join did.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(())
}

pub(crate) fn set_private(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Err(error) = std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)) {
        tracing::warn!(%error, "the database file could not be made private");
    }
}

fn open_error(file: &Path, error: &rusqlite::Error) -> OpenError {
    let folder = file.parent().unwrap_or(file).to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => OpenError::Full(folder),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            OpenError::Damaged { path: file.to_owned(), reason: error.to_string() }
        }
        _ => OpenError::Folder { path: folder, reason: error.to_string() },
    }
}

struct Writer {
    file: PathBuf,
    cache_kib: u32,
    /// None after a failed commit, until it could be opened again.
    connection: Option<Connection>,
    context: Context,
    batch_limit: usize,
    /// The size of the log at which it is to begin anew.
    log_limit: u64,
    /// Disconnected when every reader has closed its connection.
    readers_gone: Receiver<Infallible>,
}

/// A command of a batch, with the moment that it keeps when it is run again.
struct Queued {
    job: Box<dyn Job>,
    moment: Option<Moment>,
}

impl From<Box<dyn Job>> for Queued {
    fn from(job: Box<dyn Job>) -> Self {
        Self { job, moment: None }
    }
}

impl Writer {
    fn run(mut self, commands: &Receiver<WriterTask>) {
        let mut next = commands.recv().ok();
        while let Some(task) = next.take() {
            match task {
                WriterTask::Vacuum(reply) => {
                    let _ = reply.send(self.vacuum());
                }
                WriterTask::Command(first) => {
                    let mut batch = vec![Queued::from(first)];
                    // Whatever came in while the last batch was syncing goes into this one.
                    while batch.len() < self.batch_limit {
                        match commands.try_recv() {
                            Ok(WriterTask::Command(job)) => batch.push(job.into()),
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.commit_batch(batch);
                }
            }
            next = next.or_else(|| commands.recv().ok());
        }
        // SQLite removes its side files with the last connection, but not when two of them close at the same moment.
        let _ = self.readers_gone.recv();
        if let Some(connection) = self.connection.take() {
            // No `pragma optimize`: the statistics of a young database make bad plans for a grown one.
            // Best effort: an unfinished checkpoint is finished at the next start.
            let _ = connection.execute_batch("pragma wal_checkpoint(truncate);");
        }
    }

    fn commit_batch(&mut self, batch: Vec<Queued>) {
        let (late, mut batch): (Vec<_>, Vec<_>) = batch.into_iter().partition(|queued| queued.job.is_late());
        for queued in late {
            queued.job.answer(Some(DbError::Late));
        }
        if batch.is_empty() {
            return;
        }
        #[expect(clippy::disallowed_methods, reason = "measures a duration for the metrics")]
        let started = Instant::now();
        let context = self.context.clone();
        let outcome = self.connection().and_then(|connection| {
            let done = run_batch(connection, &mut batch, &context)?;
            connection.prepare_cached("commit")?.raw_execute()?;
            Ok(done)
        });
        match outcome {
            Ok((effects, undone)) => {
                self.context.carry_out(effects);
                self.context.observe(&CommitReport { commands: batch.len(), undone, duration: started.elapsed() });
                for queued in batch {
                    queued.job.answer(None);
                }
                self.shorten_log();
            }
            Err(DbError::Constraint { .. }) if batch.len() > 1 => {
                // A constraint that is checked at the commit does not say whose it is. Each command
                // by itself, the one that violates it fails alone.
                self.connection = None;
                for queued in batch {
                    self.commit_batch(vec![queued]);
                }
            }
            Err(error) => {
                tracing::error!(%error, commands = batch.len(), "a batch could not be committed; none of it is stored");
                self.context.note_failure(Some(&error));
                // The connection's state is in doubt: begin anew with what is on disk.
                self.connection = None;
                for queued in batch {
                    queued.job.answer(Some(error.clone()));
                }
            }
        }
    }

    /// Has a long log begin anew.
    ///
    /// The checkpoints that SQLite makes by itself wait for nobody, and the log begins anew only when a commit finds
    /// no reader in it. Where reads follow one another without a pause that moment never comes. Here the writer waits
    /// for it, for a little while, and after that not before the log has grown by as much again: a reader that takes
    /// its time must not hold up everybody else's commits.
    fn shorten_log(&mut self) {
        let size = log_size(&self.file);
        if size <= LOG_LIMIT {
            self.log_limit = LOG_LIMIT;
        }
        let Some(connection) = self.connection.as_ref().filter(|_| size > self.log_limit) else { return };
        let shortened = connection
            .busy_timeout(LOG_PATIENCE)
            .and_then(|()| connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, bool>(0)));
        match shortened {
            Ok(is_busy) => self.log_limit = if is_busy { size + LOG_LIMIT } else { LOG_LIMIT },
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log could not be shortened");
                self.log_limit = size + LOG_LIMIT;
            }
        }
        if connection.busy_timeout(BUSY_TIMEOUT).is_err() {
            // It would give up too early on everything else: begin anew.
            self.connection = None;
        }
    }

    fn connection(&mut self) -> Result<&Connection, DbError> {
        if self.connection.is_none() {
            self.connection = Some(open_writer(&self.file, self.cache_kib)?);
        }
        self.connection.as_ref().ok_or(DbError::Closed)
    }

    fn vacuum(&mut self) -> Result<(), DbError> {
        Ok(self.connection()?.execute_batch("vacuum; pragma wal_checkpoint(truncate);")?)
    }
}

/// How long the write-ahead log of a file is.
pub(crate) fn log_size(file: &Path) -> u64 {
    std::fs::metadata(format!("{}-wal", file.display())).map_or(0, |found| found.len())
}

/// Runs each command in a savepoint of one open transaction. An error means that the transaction
/// is lost: SQLite has rolled it back, or cannot be trusted to have kept it.
fn run_batch(connection: &Connection, batch: &mut [Queued], context: &Context) -> Result<(Effects, usize), DbError> {
    connection.prepare_cached("begin immediate")?.raw_execute()?;
    let mut all = Effects::default();
    let mut undone = 0;
    for queued in batch {
        connection.prepare_cached("savepoint command")?.raw_execute()?;
        let moment = match queued.moment {
            Some(moment) => moment,
            None => *queued.moment.insert(context.moment()?),
        };
        let mut tx = Tx::new(TxConnection::Sqlite(connection), moment);
        let keep = queued.job.run(&mut tx);
        let failure = tx.failure().cloned();
        let effects = std::mem::take(&mut tx.effects);
        drop(tx);
        context.note_failure(failure.as_ref());
        // A full disk, an I/O error and a lack of memory roll back the whole transaction. The
        // next savepoint would then be a transaction of its own and commit alone.
        if connection.is_autocommit() {
            return Err(failure.unwrap_or_else(|| DbError::Unavailable("the transaction was rolled back".to_owned())));
        }
        if keep {
            connection.prepare_cached("release command")?.raw_execute()?;
            all.signals |= effects.signals;
            all.after_commit.extend(effects.after_commit);
        } else {
            undone += 1;
            connection.prepare_cached("rollback to command")?.raw_execute()?;
            connection.prepare_cached("release command")?.raw_execute()?;
        }
    }
    Ok((all, undone))
}

struct Reader {
    connection: Connection,
    reads: ReadQueue,
    /// What the read that runs depends on; none between two.
    watched: Arc<Mutex<Option<Watched>>>,
}

/// Why a read may have to end early.
struct Watched {
    /// Dropped when nobody waits for it.
    caller: Weak<()>,
    end_by: Option<Instant>,
}

impl Watched {
    fn is_over(&self) -> bool {
        #[expect(clippy::disallowed_methods, reason = "a deadline is in real time")]
        let is_late = || self.end_by.is_some_and(|end_by| Instant::now() >= end_by);
        self.caller.strong_count() == 0 || is_late()
    }
}

impl Reader {
    fn open(file: &Path, options: &Options, caches: Caches, reads: ReadQueue) -> rusqlite::Result<Self> {
        let mut connection = open_reader(file, caches.reader)?;
        if let Some(companion) = options.companion {
            companion.attach(&connection, &options.folder, caches.companion_reader)?;
        }
        let watched = Arc::<Mutex<Option<Watched>>>::default();
        let shared = watched.clone();
        let is_over = move || {
            let watched = shared.lock().unwrap_or_else(PoisonError::into_inner);
            watched.as_ref().is_some_and(Watched::is_over)
        };
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_over))?;
        Ok(Self { connection, reads, watched })
    }

    fn run(self, context: &Context) {
        while let Some(mut job) = self.reads.next().map(NextRead::into_job) {
            if job.is_abandoned() {
                continue;
            }
            if job.is_late() {
                job.answer(Some(DbError::Late));
                continue;
            }
            let overruled = self.read_once(context, &mut *job).err();
            job.answer(overruled);
        }
    }

    fn read_once(&self, context: &Context, job: &mut dyn Job) -> Result<(), DbError> {
        let connection = &self.connection;
        if !connection.is_autocommit() {
            connection.execute_batch("rollback")?;
        }
        connection.prepare_cached("begin deferred")?.raw_execute()?;
        let mut tx = Tx::new(TxConnection::Sqlite(connection), context.moment()?);
        let end_by = tx.limit(job.limit());
        self.watch(Some(Watched { caller: job.caller(), end_by }));
        job.run(&mut tx);
        // What follows has to come to its end.
        self.watch(None);
        drop(tx);
        if !connection.is_autocommit() {
            connection.prepare_cached("rollback")?.raw_execute()?;
        }
        Ok(())
    }

    fn watch(&self, watched: Option<Watched>) {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = watched;
    }
}

pub(crate) fn execute(connection: &Connection, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, params)?;
    if statement.column_count() == 0 {
        return Ok(statement.raw_execute()? as u64);
    }
    // A statement that returns rows, run for its effect: count them as PostgreSQL does.
    let mut rows = statement.raw_query();
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

pub(crate) fn query_each(
    connection: &Connection,
    sql: &str,
    params: &[Value<'_>],
    visit: &mut dyn FnMut(&Row<'_>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, params)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        visit(&Row(RowSource::Sqlite(row)))?;
    }
    Ok(())
}

fn bind(statement: &mut rusqlite::Statement<'_>, params: &[Value<'_>]) -> Result<(), DbError> {
    if statement.parameter_count() != params.len() {
        return Err(DbError::Statement(format!(
            "the statement has {} parameters, {} were given",
            statement.parameter_count(),
            params.len()
        )));
    }
    for (place, value) in params.iter().enumerate() {
        let name = PARAMETER_NAMES.get(place).map_or_else(|| format!("${}", place + 1).into(), |name| Cow::from(*name));
        let index = statement
            .parameter_index(&name)?
            .ok_or_else(|| DbError::Statement(format!("the statement has no parameter {name}")))?;
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::PASSING_KIB;
    use rusqlite::StatementStatus;

    #[test]
    fn a_statement_is_planned_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stoa.db");
        let writer = open_writer(&file, PASSING_KIB).unwrap();
        writer
            .execute_batch(
                "create table agents (id integer primary key, owner integer not null);
                 create table keys (agent integer primary key references agents (id), hash text not null unique);
                 with recursive number (n) as (select 1 union all select n + 1 from number where n < 100)
                 insert into agents select n, n % 7 from number;
                 insert into keys select id, 'key ' || id from agents;
                 analyze;",
            )
            .unwrap();
        for connection in [&writer, &open_reader(&file, PASSING_KIB).unwrap()] {
            for sql in [
                "select a.owner from keys k join agents a on a.id = k.agent where k.hash = $1",
                "select k.hash from keys k join agents a on a.id = k.agent where a.id = $1",
            ] {
                let mut statement = connection.prepare_cached(sql).unwrap();
                for value in 1..=10 {
                    bind(&mut statement, &[Value::Integer(value)]).unwrap();
                    let mut rows = statement.raw_query();
                    while rows.next().unwrap().is_some() {}
                }
                assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "{sql}");
            }
        }
    }
}
