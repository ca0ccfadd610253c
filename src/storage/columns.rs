//! Values that columns hold as text.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stoa_db::{DbError, FromValue, Row, Value};
use stoa_model::named::Named;

pub fn to_json(value: &impl Serialize) -> Result<String, DbError> {
    serde_json::to_string(value).map_err(|error| DbError::Statement(error.to_string()))
}

pub fn from_json<T: DeserializeOwned>(column: &str, text: &str) -> Result<T, DbError> {
    serde_json::from_str(text).map_err(|error| DbError::Decode { column: column.to_owned(), reason: error.to_string() })
}

/// Reads an enum that the column holds by name. Queries write it with `name()`.
pub fn named<T: Named>(row: &Row<'_>, column: &str) -> Result<T, DbError> {
    row.get::<ByName<T>>(column).map(|found| found.0)
}

/// The same where a damaged name must not make the rest of the row unreadable.
pub fn named_or<T: Named>(row: &Row<'_>, column: &str, otherwise: T) -> T {
    named(row, column).unwrap_or(otherwise)
}

pub fn named_or_null<T: Named>(row: &Row<'_>, column: &str) -> Result<Option<T>, DbError> {
    row.get::<Option<ByName<T>>>(column).map(|found| found.map(|found| found.0))
}

struct ByName<T>(T);

impl<T: Named> FromValue for ByName<T> {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        match value {
            Value::Text(name) => T::from_name(name).map(Self).ok_or_else(|| format!("{name:?} is an unknown name")),
            other => Err(format!("{other:?} is not a name")),
        }
    }
}
