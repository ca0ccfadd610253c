//! What can go wrong, in words that do not depend on the engine.

use std::path::PathBuf;

/// Why a command or a read did not happen. Nothing was stored, except after
/// [`DbError::Unavailable`], when a commit's fate may be unknown.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DbError {
    #[error("the queue of the database is full")]
    Busy,
    /// Its turn came too late, when nobody counted on it any longer.
    #[error("the command waited too long for its turn")]
    Late,
    #[error("the database is closed")]
    Closed,
    #[error("the database cannot be reached or could not commit: {0}")]
    Unavailable(String),
    #[error("a database file is damaged: {0}")]
    Damaged(String),
    #[error("the disk is full")]
    Full,
    #[error("a {kind:?} constraint was violated: {message}")]
    Constraint { kind: ConstraintKind, message: String },
    /// Lost a race; the command is repeated before anybody gets to see this.
    #[error("the transaction lost a race: {0}")]
    Conflict(String),
    /// Waited too long for a lock; the command is repeated for a while before anybody gets to see this.
    #[error("another transaction holds a lock for too long: {0}")]
    Locked(String),
    #[error("column {column}: {reason}")]
    Decode { column: String, reason: String },
    #[error("the query returned no row")]
    NoRow,
    #[error("the statement failed: {0}")]
    Statement(String),
    #[error("the command panicked")]
    Panicked,
    /// A command that runs beside others is run again when its question is answered. Nobody gets to see this.
    #[error("the answer comes later")]
    Postponed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConstraintKind {
    Unique,
    ForeignKey,
    Check,
    NotNull,
    Other,
}

/// Why a database could not be opened, in a sentence that an operator can act on.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the data folder {0} is in use by another hub; stop it, or choose another folder with --data")]
    Locked(PathBuf),
    #[error("the data folder {path} cannot be used: {reason}")]
    Folder { path: PathBuf, reason: String },
    #[error("there is no space left for the data folder {0}; free some and start again")]
    Full(PathBuf),
    #[error("the database {path} is damaged or not a database ({reason}); restore a backup with `stoa admin restore`")]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "the database was written by a newer version (it has migration {found}, this program knows {known}); upgrade the program"
    )]
    Newer { found: i64, known: i64 },
    #[error(
        "migration {number:04} in the database differs from this program's ({reason}); use the program that wrote it"
    )]
    Edited { number: i64, reason: String },
    #[error("migration {number:04}_{name} failed: {reason}")]
    Migration { number: i64, name: &'static str, reason: String },
    #[error("PostgreSQL cannot be used: {0}")]
    Postgres(String),
    #[error("the system has no randomness: {0}")]
    Entropy(String),
}

impl OpenError {
    /// Says why the server cannot be used, without what a command would have to know besides.
    pub(crate) fn of_server(error: DbError) -> Self {
        match error {
            DbError::Unavailable(reason) => Self::Postgres(reason),
            error => Self::Postgres(error.to_string()),
        }
    }
}

impl DbError {
    pub(crate) fn decode(column: &str, reason: impl Into<String>) -> Self {
        DbError::Decode { column: column.to_owned(), reason: reason.into() }
    }

    /// Whether trying again later may help: the caller did nothing wrong, the store is away or busy.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self,
            DbError::Busy
                | DbError::Late
                | DbError::Closed
                | DbError::Unavailable(_)
                | DbError::Damaged(_)
                | DbError::Full
                | DbError::Conflict(_)
                | DbError::Locked(_)
        )
    }

    /// Whether a unique index refused the row.
    pub fn is_unique_violation(&self) -> bool {
        matches!(self, DbError::Constraint { kind: ConstraintKind::Unique, .. })
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::{ErrorCode, ffi};
        let rusqlite::Error::SqliteFailure(failure, _) = &error else {
            return DbError::Statement(error.to_string());
        };
        match failure.code {
            ErrorCode::ConstraintViolation => DbError::Constraint {
                kind: match failure.extended_code {
                    ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => ConstraintKind::Unique,
                    ffi::SQLITE_CONSTRAINT_FOREIGNKEY => ConstraintKind::ForeignKey,
                    ffi::SQLITE_CONSTRAINT_CHECK => ConstraintKind::Check,
                    ffi::SQLITE_CONSTRAINT_NOTNULL => ConstraintKind::NotNull,
                    _ => ConstraintKind::Other,
                },
                message: error.to_string(),
            },
            ErrorCode::DiskFull => DbError::Full,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => DbError::Damaged(error.to_string()),
            ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly => DbError::Unavailable(error.to_string()),
            _ => DbError::Statement(error.to_string()),
        }
    }
}

impl From<postgres::Error> for DbError {
    fn from(error: postgres::Error) -> Self {
        use postgres::error::SqlState;
        let Some(cause) = error.as_db_error() else {
            // No answer from the server: the connection is gone. Anything else here is a value the
            // driver could not send, which is our mistake.
            return if error.is_closed()
                || std::error::Error::source(&error).is_some_and(|source| source.is::<std::io::Error>())
            {
                DbError::Unavailable(describe(&error))
            } else {
                DbError::Statement(describe(&error))
            };
        };
        let code = cause.code();
        let constraint = |kind| DbError::Constraint { kind, message: cause.message().to_owned() };
        if *code == SqlState::UNIQUE_VIOLATION {
            constraint(ConstraintKind::Unique)
        } else if *code == SqlState::FOREIGN_KEY_VIOLATION {
            constraint(ConstraintKind::ForeignKey)
        } else if *code == SqlState::CHECK_VIOLATION {
            constraint(ConstraintKind::Check)
        } else if *code == SqlState::NOT_NULL_VIOLATION {
            constraint(ConstraintKind::NotNull)
        } else if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED {
            DbError::Conflict(cause.message().to_owned())
        } else if *code == SqlState::LOCK_NOT_AVAILABLE {
            DbError::Locked(cause.message().to_owned())
        } else if *code == SqlState::DISK_FULL {
            DbError::Full
        } else if *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
            || ["08", "53", "57"].iter().any(|class| code.code().starts_with(class))
        {
            // Connection exceptions, insufficient resources, operator intervention.
            DbError::Unavailable(cause.message().to_owned())
        } else {
            DbError::Statement(describe(&error))
        }
    }
}

/// The driver's short text and what the server said, which it keeps in the source.
fn describe(error: &postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
