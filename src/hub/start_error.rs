use std::path::PathBuf;

use stoa_db::{DbError, OpenError};

use crate::error::HubError;
use crate::storage::blobs;
use crate::storage::keys::KeyError;

/// Why a hub could not start, in a sentence that an operator can act on.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the key does not match this database; restore the key file, or set STOA_KEY")]
    WrongKey,
    #[error("the key file {0} is missing, and this database was used with a key; bring the file back, or set STOA_KEY")]
    MissingKey(PathBuf),
    #[error(
        "the database {file} is missing or empty, but the folder still has {} of a hub; bring the database back, or restore a \
         backup with `stoa admin restore` into a new folder. To start over, use a new folder",
        .beside.join(", ")
    )]
    MissingDatabase { file: PathBuf, beside: Vec<&'static str> },
    #[error("the data folder {path} belongs to a hub on {found}; {advice}")]
    Engine { path: PathBuf, found: String, advice: &'static str },
    #[error("the admin socket {path} cannot be opened: {reason}")]
    AdminSocket { path: PathBuf, reason: String },
    #[error("the base URL {0} must be http:// or https:// and a host, without a path")]
    BaseUrl(String),
    #[error(transparent)]
    Attachments(#[from] blobs::OpenError),
    /// A feature says in its own words why it refuses to start.
    #[error("{0}")]
    Refused(String),
    #[error("the hub could not start: {0}")]
    Other(String),
}

impl From<HubError> for StartError {
    fn from(error: HubError) -> Self {
        StartError::Other(error.to_string())
    }
}

impl From<DbError> for StartError {
    fn from(error: DbError) -> Self {
        StartError::Other(error.to_string())
    }
}
