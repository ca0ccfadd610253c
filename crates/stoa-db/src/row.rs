//! One result row of either engine, read by column name.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{LazyLock, Mutex, PoisonError};

use rusqlite::types::ValueRef;

use crate::{DbError, FromValue, Value};

/// Damaged texts that are remembered, so that each is logged once. Beyond that nothing is logged.
const REMEMBERED: usize = 10_000;

/// A row as it comes from the driver. It lives only while the query runs: map it to your own type.
pub struct Row<'a>(pub(crate) RowSource<'a>);

pub(crate) enum RowSource<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// The column called `name`, as `T`.
    pub fn get<T: FromValue>(&self, name: &str) -> Result<T, DbError> {
        let value = match self.0 {
            RowSource::Sqlite(row) => {
                let raw = row.get_ref(name).map_err(|_| DbError::decode(name, "no such column"))?;
                return from_sqlite(row, name, raw).map_err(|reason| DbError::decode(name, reason));
            }
            RowSource::Postgres(row) => {
                row.try_get::<_, Value<'_>>(name).map_err(|error| DbError::decode(name, error.to_string()))?
            }
        };
        T::from_value(value).map_err(|reason| DbError::decode(name, reason))
    }

    /// The column at `index`, for queries whose columns are not known when the code is written.
    pub fn get_at<T: FromValue>(&self, index: usize) -> Result<T, DbError> {
        let decode = |reason: String| DbError::decode(&format!("#{index}"), reason);
        let value = match self.0 {
            RowSource::Sqlite(row) => {
                let raw = row.get_ref(index).map_err(|_| decode("no such column".to_owned()))?;
                let name = row.as_ref().column_name(index).unwrap_or_default();
                return from_sqlite(row, name, raw).map_err(decode);
            }
            RowSource::Postgres(row) => {
                row.try_get::<_, Value<'_>>(index).map_err(|error| decode(error.to_string()))?
            }
        };
        T::from_value(value).map_err(decode)
    }
}

/// SQLite does not check that a text is UTF-8: a broken disk or another program can leave anything in it. One such text must not
/// make everything around it unreadable, so each faulty byte is read as U+FFFD, the replacement character.
fn from_sqlite<T: FromValue>(row: &rusqlite::Row<'_>, column: &str, raw: ValueRef<'_>) -> Result<T, String> {
    match Value::try_from(raw) {
        Ok(value) => T::from_value(value),
        Err(bytes) => {
            let id = ["id", "seq"].into_iter().find_map(|name| row.get::<_, i64>(name).ok());
            if is_new_damage(column, id, bytes) {
                tracing::warn!(
                    column,
                    id,
                    "a text in the database is damaged: it is not UTF-8; faulty bytes are read as U+FFFD"
                );
            }
            T::from_value(Value::Text(&String::from_utf8_lossy(bytes)))
        }
    }
}

/// Whether this process has not seen the damaged text before.
fn is_new_damage(column: &str, id: Option<i64>, bytes: &[u8]) -> bool {
    static SEEN: LazyLock<Mutex<HashSet<u64>>> = LazyLock::new(Mutex::default);
    let mut hasher = DefaultHasher::new();
    (column, id, bytes).hash(&mut hasher);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.len() < REMEMBERED && seen.insert(hasher.finish())
}
