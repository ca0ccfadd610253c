//! One result row of either engine, read by column name.

use crate::{DbError, FromValue, Value};

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
                Value::try_from(raw).map_err(|reason| DbError::decode(name, reason))?
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
                Value::try_from(raw).map_err(decode)?
            }
            RowSource::Postgres(row) => {
                row.try_get::<_, Value<'_>>(index).map_err(|error| decode(error.to_string()))?
            }
        };
        T::from_value(value).map_err(decode)
    }
}
