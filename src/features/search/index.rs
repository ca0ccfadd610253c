//! The seam between search and what answers it: an index, of which each engine has its own.

use stoa_db::{DbError, Engine, Tx, params};

use super::entries::Entry;
use super::plan::Plan;
use super::postgres::PostgresIndex;
use super::sqlite::SqliteIndex;
use crate::error::HubError;
use crate::events::Position;
use crate::hub::Hub;

/// An index of messages. It finds what it was given, and knows how far it has come; it knows nothing of who may see what.
pub(super) trait SearchIndex: Send + Sync {
    /// The ids of the newest messages that fit, newest first, as many as `limit`.
    fn find(&self, tx: &mut Tx<'_>, plan: &Plan, limit: i64) -> Result<Vec<i64>, DbError>;

    /// Takes in messages that it may have in another form already.
    fn insert(&self, tx: &mut Tx<'_>, entries: &[Entry]) -> Result<(), DbError>;

    fn remove(&self, tx: &mut Tx<'_>, ids: &[i64]) -> Result<(), DbError>;

    /// Notes which run of the hub begins to fill it. PostgreSQL keeps the index with the messages, and needs no notes.
    fn begin(&self, _tx: &mut Tx<'_>, _run: &str) -> Result<(), DbError> {
        Ok(())
    }

    /// Notes the newest event that was in the database when its messages were read.
    fn note_seen(&self, _tx: &mut Tx<'_>, _end: Position) -> Result<(), DbError> {
        Ok(())
    }
}

/// How far an index has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexProgress {
    /// Of which history.
    pub(super) epoch: String,
    /// It has seen all events up to here.
    pub(super) position: Position,
    /// It has all messages up to this id that were there at that position; those behind it are still to come.
    pub(super) built_through: i64,
    /// Whether texts up to that position wait in the queue.
    pub(super) has_queue: bool,
}

/// Nothing is to come any more.
pub(super) const COMPLETE: i64 = i64::MAX;

pub(super) fn of(engine: Engine) -> &'static dyn SearchIndex {
    match engine {
        Engine::Sqlite => &SqliteIndex::USUAL,
        Engine::Postgres => &PostgresIndex,
    }
}

/// Both engines call it the same.
pub(super) fn find_state(tx: &mut Tx<'_>) -> Result<Option<IndexProgress>, DbError> {
    let sql = "select epoch, xid, seq, built_through, exists (select 1 from search_queue) as has_queue
         from search_state where id = 1";
    tx.query_optional(sql, &[], |row| {
        Ok(IndexProgress {
            epoch: row.get("epoch")?,
            position: Position { xid: row.get("xid")?, seq: row.get("seq")? },
            built_through: row.get("built_through")?,
            has_queue: row.get("has_queue")?,
        })
    })
}

pub(super) fn insert_state(tx: &mut Tx<'_>, state: &IndexProgress) -> Result<(), DbError> {
    let IndexProgress { epoch, position, built_through, .. } = state;
    tx.execute("delete from search_state", &[])?;
    tx.execute("delete from search_queue", &[])?;
    tx.execute(
        "insert into search_state (id, epoch, xid, seq, built_through) values (1, $1, $2, $3, $4)",
        params![epoch, position.xid, position.seq, built_through],
    )?;
    Ok(())
}

/// False if somebody else has changed it in the meantime.
pub(super) fn update_state(tx: &mut Tx<'_>, before: &IndexProgress, after: &IndexProgress) -> Result<bool, DbError> {
    let changed = tx.execute(
        "update search_state set epoch = $1, xid = $2, seq = $3, built_through = $4
         where id = 1 and epoch = $5 and xid = $6 and seq = $7 and built_through = $8",
        params![
            after.epoch,
            after.position.xid,
            after.position.seq,
            after.built_through,
            before.epoch,
            before.position.xid,
            before.position.seq,
            before.built_through
        ],
    )?;
    Ok(changed == 1)
}

/// Runs a change of the index, which on SQLite is in a file of its own.
pub(super) async fn write<T, F>(hub: &Hub, command: F) -> Result<T, HubError>
where
    F: Fn(&mut Tx<'_>) -> Result<T, HubError> + Send + 'static,
    T: Send + 'static,
{
    match hub.db().engine() {
        Engine::Sqlite => hub.db().write_companion(command).await,
        Engine::Postgres => hub.write(command).await,
    }
}

/// Takes out all that it has, under the eyes of those who search. False if it is too damaged for that.
pub(super) async fn empty(hub: &Hub) -> Result<bool, HubError> {
    if hub.db().engine() == Engine::Postgres {
        return clear(hub).await.map(|()| true);
    }
    let emptied = hub.db().write_companion(super::sqlite::delete_all).await;
    match emptied {
        Ok(()) => Ok(true),
        Err(DbError::Damaged(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Throws away all that it has, in whatever state it is.
pub(super) async fn clear(hub: &Hub) -> Result<(), HubError> {
    match hub.db().engine() {
        Engine::Sqlite => Ok(hub.db().reset_companion().await?),
        Engine::Postgres => {
            // Nobody searches an index without a state, so nobody is surprised by an empty one.
            hub.write(|tx| Ok::<_, HubError>(tx.execute("delete from search_state", &[])?)).await?;
            hub.write(|tx| Ok::<_, HubError>(tx.execute_batch("truncate search_documents, search_queue")?)).await
        }
    }
}
