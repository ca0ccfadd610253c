//! Values that columns hold as text.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stoa_db::{DbError, Row};

pub fn to_json(value: &impl Serialize) -> Result<String, DbError> {
    serde_json::to_string(value).map_err(|error| DbError::Statement(error.to_string()))
}

pub fn from_json<T: DeserializeOwned>(column: &str, text: &str) -> Result<T, DbError> {
    serde_json::from_str(text).map_err(|error| DbError::Decode { column: column.to_owned(), reason: error.to_string() })
}

/// Enumerations are stored by the word they have on the wire.
pub fn to_word(value: &impl Serialize) -> Result<String, DbError> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        other => Err(DbError::Statement(format!("{other:?} is not a word"))),
    }
}

pub fn from_word<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T, DbError> {
    let word: String = row.get(column)?;
    serde_json::from_value(serde_json::Value::String(word))
        .map_err(|error| DbError::Decode { column: column.to_owned(), reason: error.to_string() })
}
