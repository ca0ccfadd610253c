//! A reader that takes its time, from outside: for measuring what that does to everybody else.

use std::path::Path;

use crate::cache::PASSING_KIB;
use crate::{DbError, sqlite};

/// A snapshot of a SQLite database that another process has open. Until it is dropped, what is written
/// after it stays in the write-ahead log.
pub struct HeldSnapshot(rusqlite::Connection);

impl HeldSnapshot {
    /// Takes a snapshot of the database in a data folder, whether or not the folder is locked.
    pub fn open(folder: &Path) -> Result<Self, DbError> {
        let connection = sqlite::open_reader(&folder.join("stoa.db"), PASSING_KIB)?;
        connection.execute_batch("begin")?;
        // A transaction has no snapshot before it reads.
        connection.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))?;
        Ok(Self(connection))
    }
}

impl Drop for HeldSnapshot {
    fn drop(&mut self) {
        // Closing the connection would do it too.
        let _ = self.0.execute_batch("rollback");
    }
}
