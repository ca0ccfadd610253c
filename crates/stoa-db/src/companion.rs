//! A second SQLite file beside the database, for what can be made again from it: an index, say.
//!
//! It has a writer of its own, so that filling it never holds up a command, and every reader has it attached: a
//! query can join its tables with those of the database. Its commits are not synced: what a crash of the machine
//! takes from it is made again. A file that is damaged or of another version is emptied, never complained about.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crossbeam_channel::Receiver;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::oneshot;

use crate::database::Context;
use crate::job::Job;
use crate::sqlite::{LOG_LIMIT, LOG_PATIENCE, log_size, set_private};
use crate::tx::Connection as TxConnection;
use crate::{DbError, Tx};

const STATEMENT_CACHE: usize = 64;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What the file is, and what is in it.
#[derive(Debug, Clone, Copy)]
pub struct Companion {
    /// Of the file, without its ending, and of the schema as which readers see it.
    pub name: &'static str,
    /// Another version of the file is emptied and made anew.
    pub version: i64,
    /// Makes the tables of an empty file. Their names must not be those of the database's own.
    pub schema: &'static str,
}

/// What the companion's thread is asked to do.
pub(crate) enum CompanionTask {
    Command(Box<dyn Job>),
    Reset(oneshot::Sender<Result<(), DbError>>),
}

impl Companion {
    pub(crate) fn file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.db", self.name))
    }

    /// Makes the companion's tables part of what a reader sees.
    pub(crate) fn attach(&self, connection: &Connection, folder: &Path, cache_kib: u32) -> rusqlite::Result<()> {
        let name = self.name;
        let file = self.file(folder).to_string_lossy().into_owned();
        connection.execute(&format!("attach database ?1 as {name}"), [file])?;
        connection
            .execute_batch(&format!("pragma {name}.cache_size = -{cache_kib}; pragma {name}.mmap_size = 268435456;"))
    }
}

/// The thread that writes to the companion.
pub(crate) struct CompanionWriter {
    companion: Companion,
    file: PathBuf,
    cache_kib: u32,
    /// None after a failure, until it could be opened again.
    connection: Option<Connection>,
    context: Context,
    log_limit: u64,
}

impl CompanionWriter {
    /// Opens the file, or makes it. Nobody else has it open: the folder is locked, and readers come later.
    pub(crate) fn open(
        companion: Companion,
        folder: &Path,
        cache_kib: u32,
        context: Context,
    ) -> rusqlite::Result<Self> {
        let file = companion.file(folder);
        let connection = match open_file(&file, cache_kib).and_then(|connection| make(connection, &companion)) {
            Err(error) if is_damage(&error) => {
                tracing::warn!(file = %file.display(), %error, "a file is damaged and rebuilt");
                for ending in ["", "-wal", "-shm", "-journal"] {
                    let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
                }
                make(open_file(&file, cache_kib)?, &companion)?
            }
            opened => opened?,
        };
        Ok(Self { companion, file, cache_kib, connection: Some(connection), context, log_limit: LOG_LIMIT })
    }

    pub(crate) fn run(mut self, tasks: &Receiver<CompanionTask>) {
        while let Ok(task) = tasks.recv() {
            match task {
                CompanionTask::Command(mut job) => {
                    let overruled = self.run_command(&mut *job).err();
                    if overruled.is_some() {
                        // The connection's state is in doubt: begin anew with what is on disk.
                        self.connection = None;
                    }
                    job.answer(overruled);
                    self.shorten_log();
                }
                CompanionTask::Reset(reply) => {
                    let _ = reply.send(self.reset());
                }
            }
        }
        if let Some(connection) = self.connection.take() {
            let _ = connection.execute_batch("pragma wal_checkpoint(truncate);");
        }
    }

    fn run_command(&mut self, job: &mut dyn Job) -> Result<(), DbError> {
        let moment = self.context.moment()?;
        let connection = self.connection()?;
        connection.prepare_cached("begin immediate")?.raw_execute()?;
        let mut tx = Tx::new(TxConnection::Sqlite(connection), moment);
        let keep = job.run(&mut tx);
        let failure = tx.failure().cloned();
        drop(tx);
        if connection.is_autocommit() {
            return Err(failure.unwrap_or_else(|| DbError::Unavailable("the transaction was rolled back".to_owned())));
        }
        connection.prepare_cached(if keep { "commit" } else { "rollback" })?.raw_execute()?;
        Ok(())
    }

    /// Empties the file, however damaged it is, under the eyes of those who read it.
    fn reset(&mut self) -> Result<(), DbError> {
        let companion = self.companion;
        let connection = self.connection()?;
        connection.flush_prepared_statement_cache();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
        let emptied = connection.execute_batch("vacuum");
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
        emptied?;
        create(connection, &companion)?;
        Ok(())
    }

    fn connection(&mut self) -> Result<&Connection, DbError> {
        if self.connection.is_none() {
            self.connection = Some(open_file(&self.file, self.cache_kib)?);
        }
        self.connection.as_ref().ok_or(DbError::Closed)
    }

    /// Has a long log begin anew, as the writer of the database does with its own.
    fn shorten_log(&mut self) {
        let size = log_size(&self.file);
        let Some(connection) = self.connection.as_ref().filter(|_| size > self.log_limit) else { return };
        let shortened = connection
            .busy_timeout(LOG_PATIENCE)
            .and_then(|()| connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, bool>(0)));
        self.log_limit = if shortened.is_ok_and(|is_busy| !is_busy) { LOG_LIMIT } else { size + LOG_LIMIT };
        if connection.busy_timeout(BUSY_TIMEOUT).is_err() {
            self.connection = None;
        }
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

fn open_file(file: &Path, cache_kib: u32) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(&format!(
        "pragma journal_mode = wal; pragma synchronous = normal; pragma temp_store = memory;
         pragma wal_autocheckpoint = 4000; pragma journal_size_limit = {LOG_LIMIT};
         pragma mmap_size = 268435456; pragma cache_size = -{cache_kib}; pragma trusted_schema = off;"
    ))?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    set_private(file);
    Ok(connection)
}

/// Sees to it that the file is of the right version.
fn make(connection: Connection, companion: &Companion) -> rusqlite::Result<Connection> {
    let version: i64 = connection.query_row("pragma user_version", [], |row| row.get(0))?;
    if version == companion.version {
        return Ok(connection);
    }
    let tables: i64 = connection.query_row("select count(*) from sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
        connection.execute_batch("vacuum")?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
    }
    create(&connection, companion)?;
    Ok(connection)
}

fn create(connection: &Connection, companion: &Companion) -> rusqlite::Result<()> {
    let Companion { version, schema, .. } = companion;
    connection
        .execute_batch(&format!("pragma journal_mode = wal; begin; {schema}; pragma user_version = {version}; commit;"))
}
