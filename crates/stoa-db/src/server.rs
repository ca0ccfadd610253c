//! What is known of the server that holds the database. SQLite has none: it always answers.

use std::time::Duration;

use tokio::sync::watch;

use crate::DbError;

/// How long a command or a read waits for a server that is away, before it is answered with "unavailable".
const RETURN_PATIENCE: Duration = Duration::from_secs(1);

/// Whether the server can be worked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerState {
    Answers,
    /// It is stopped, frozen or cut off.
    Silent,
    /// A newer program has changed the tables, so this one must not touch them.
    Newer {
        found: i64,
        known: i64,
    },
}

impl ServerState {
    /// Why nothing can be asked of the server now.
    pub(crate) fn fault(self) -> Option<DbError> {
        let reason = match self {
            ServerState::Answers => return None,
            ServerState::Silent => "the server does not answer",
            ServerState::Newer { .. } => "a newer version has changed the tables",
        };
        Some(DbError::Unavailable(reason.to_owned()))
    }
}

/// Waits a little for a server that is away.
pub(crate) async fn answering(server: &watch::Sender<ServerState>) -> Result<(), DbError> {
    let Some(fault) = server.borrow().fault() else { return Ok(()) };
    let mut state = server.subscribe();
    let comes_back = state.wait_for(|state| *state == ServerState::Answers);
    let waited = tokio::time::timeout(RETURN_PATIENCE, comes_back).await;
    if waited.is_ok_and(|found| found.is_ok()) { Ok(()) } else { Err(fault) }
}
