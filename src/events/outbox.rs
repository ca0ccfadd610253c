//! The outbox table: the order of events, and how far one may read in it.

use serde::{Deserialize, Serialize};
use stoa_db::{DbError, Engine, Insert, Row, Tx, params};
use stoa_model::PrincipalId;

use super::{Event, StoredEvent};
use crate::error::HubError;

/// A place in the order of events, which is the order of their commits.
///
/// `seq` says it all, but for events that an earlier version wrote on PostgreSQL: their `xid` is that of their transaction,
/// and smaller than the one that all later events share. On SQLite it is always 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Position {
    pub xid: i64,
    pub seq: i64,
}

static OUTBOX: Insert = Insert::new("outbox", "seq", &["at", "kind", "conversation_id", "actor_id", "payload"]);

pub(super) fn append(tx: &mut Tx<'_>, actor: PrincipalId, event: &Event) -> Result<(), HubError> {
    let payload = serde_json::to_string(event).map_err(HubError::internal)?;
    let actor = (actor.0 != 0).then_some(actor.0);
    tx.append(&OUTBOX, params![tx.now_ms(), event.kind(), event.conversation().map(|id| id.0), actor, payload])?;
    tx.signal_change();
    Ok(())
}

/// Holds for the rows after the position in `$1` and `$2`.
///
/// SQLite does not see that an index leads to `(xid, seq)` when `seq` is the row's own number: it reads all
/// rows from the first one on, as `xid` is the same in all of them. So there the number alone decides.
fn after(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "$1 = 0 and seq > $2",
        Engine::Postgres => "(xid, seq) > ($1, $2)",
    }
}

/// Holds for the rows up to and with the position in `$1` and `$2`.
fn through(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "$1 = 0 and seq <= $2",
        Engine::Postgres => "(xid, seq) <= ($1, $2)",
    }
}

/// Some rows of the outbox, one after another.
#[derive(Debug, Default)]
pub struct EventPage {
    pub events: Vec<StoredEvent>,
    /// Rows that this version cannot read: a newer one wrote them, or they are damaged. They must not hold up the rest.
    pub skipped: Vec<SkippedRow>,
    /// Where the rows end, skipped ones included. None if there are no rows.
    pub end: Option<Position>,
}

/// A row of the outbox that cannot be read, and why.
#[derive(Debug)]
pub struct SkippedRow {
    pub position: Position,
    pub kind: String,
    /// None if the kind is not known.
    pub fault: Option<String>,
}

impl EventPage {
    /// How many rows there were.
    pub fn rows(&self) -> usize {
        self.events.len() + self.skipped.len()
    }

    fn of(rows: Vec<Result<StoredEvent, SkippedRow>>) -> Self {
        let mut page = Self { events: Vec::with_capacity(rows.len()), ..Self::default() };
        for row in rows {
            let position = match row {
                Ok(stored) => {
                    let position = stored.position;
                    page.events.push(stored);
                    position
                }
                Err(skipped) => {
                    let position = skipped.position;
                    page.skipped.push(skipped);
                    position
                }
            };
            page.end = Some(position);
        }
        page
    }
}

/// The events after `position`, oldest first.
pub fn events_after(tx: &mut Tx<'_>, position: Position, limit: i64) -> Result<EventPage, DbError> {
    let after = after(tx.engine());
    let order = match tx.engine() {
        Engine::Sqlite => "seq",
        Engine::Postgres => "xid, seq",
    };
    let rows = tx.query(
        &format!(
            "select xid, seq, at, kind, actor_id, payload from outbox
             where {after} order by {order} limit $3"
        ),
        params![position.xid, position.seq, limit],
        stored_event,
    )?;
    Ok(EventPage::of(rows))
}

/// Whether no event lies between two positions.
pub fn is_next(tx: &mut Tx<'_>, position: Position, next: Position) -> Result<bool, DbError> {
    let after = after(tx.engine());
    let before = match tx.engine() {
        Engine::Sqlite => "$3 = 0 and seq < $4",
        Engine::Postgres => "(xid, seq) < ($3, $4)",
    };
    tx.query_one(
        &format!("select not exists (select 1 from outbox where {after} and {before}) as is_next"),
        params![position.xid, position.seq, next.xid, next.seq],
        |row| row.get("is_next"),
    )
}

/// Deletes the events up to and with `position`, and notes that.
pub(super) fn delete_through(tx: &mut Tx<'_>, position: Position) -> Result<u64, DbError> {
    let through = through(tx.engine());
    let deleted = tx.execute(&format!("delete from outbox where {through}"), params![position.xid, position.seq])?;
    set_pruned_through(tx, position)?;
    Ok(deleted)
}

/// The place of the newest event, or where pruning has come to.
pub fn end(tx: &mut Tx<'_>) -> Result<Position, DbError> {
    let newest =
        tx.query_optional("select xid, seq from outbox order by xid desc, seq desc limit 1", &[], position_of)?;
    match newest {
        Some(position) => Ok(position),
        None => pruned_through(tx),
    }
}

/// How many events there are after `position`.
pub fn count_after(tx: &mut Tx<'_>, position: Position) -> Result<i64, DbError> {
    let after = after(tx.engine());
    tx.query_one(
        &format!("select count(*) as behind from outbox where {after}"),
        params![position.xid, position.seq],
        |row| row.get("behind"),
    )
}

/// Everything up to here has been deleted; whoever stopped reading before it must begin anew.
pub fn pruned_through(tx: &mut Tx<'_>) -> Result<Position, DbError> {
    let stored: Option<String> =
        tx.query_optional("select value from meta where name = 'outbox_pruned_through'", &[], |row| row.get("value"))?;
    let parsed = stored.and_then(|text| {
        let (xid, seq) = text.split_once('.')?;
        Some(Position { xid: xid.parse().ok()?, seq: seq.parse().ok()? })
    });
    Ok(parsed.unwrap_or_default())
}

fn set_pruned_through(tx: &mut Tx<'_>, position: Position) -> Result<(), DbError> {
    tx.execute(
        "insert into meta (name, value) values ('outbox_pruned_through', $1)
         on conflict (name) do update set value = excluded.value",
        params![format!("{}.{}", position.xid, position.seq)],
    )?;
    Ok(())
}

/// Gives the events of a restored database places that come before every new one.
///
/// Transaction ids mean something only in the cluster they were drawn in, so the restored events
/// keep their order and lose their ids; cursors move along. Ids that clients hold from before
/// belong to another history, which the new epoch tells.
pub fn begin_new_history(tx: &mut Tx<'_>) -> Result<(), DbError> {
    // A listener that missed something begins anew: what it missed is not in the new history either.
    let pruned = pruned_through(tx)?;
    tx.execute("delete from listener_cursors where (xid, seq) < ($1, $2)", params![pruned.xid, pruned.seq])?;
    tx.execute(
        "update listener_cursors set
             seq = (select count(*) from outbox o where (o.xid, o.seq) <= (listener_cursors.xid, listener_cursors.seq)),
             xid = 0, lease_owner = null, lease_until = null",
        &[],
    )?;
    tx.execute_batch(
        "create temporary table renumbered as select seq, row_number() over (order by xid, seq) as place from outbox;
         create index renumbered_seq on renumbered (seq);",
    )?;
    // Negative first, so that no step meets a number that is still taken.
    tx.execute("update outbox set xid = 0, seq = -(select place from renumbered r where r.seq = outbox.seq)", &[])?;
    tx.execute("update outbox set seq = -seq", &[])?;
    tx.execute_batch("drop table renumbered")?;
    set_pruned_through(tx, Position::default())?;
    rename_history(tx)
}

/// Gives the history of events a new name, because it is not the one that was known by the old name.
pub fn rename_history(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let epoch = epoch_text(tx.random_bytes());
    tx.execute(
        "insert into meta (name, value) values ('history_epoch', $1) on conflict (name) do update set value = excluded.value",
        params![epoch],
    )?;
    Ok(())
}

/// Names this history of events: ids from before a restore do not fit it.
pub fn history_epoch(tx: &mut Tx<'_>) -> Result<String, DbError> {
    tx.query_one("select value from meta where name = 'history_epoch'", &[], |row| row.get("value"))
}

/// Begins the first history of a new hub.
pub fn ensure_history(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let epoch = epoch_text(tx.random_bytes());
    tx.execute(
        "insert into meta (name, value) values ('history_epoch', $1) on conflict (name) do nothing",
        params![epoch],
    )?;
    Ok(())
}

fn epoch_text(random: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(random))
}

fn position_of(row: &Row<'_>) -> Result<Position, DbError> {
    Ok(Position { xid: row.get("xid")?, seq: row.get("seq")? })
}

fn stored_event(row: &Row<'_>) -> Result<Result<StoredEvent, SkippedRow>, DbError> {
    let position = position_of(row)?;
    // Bytes that are no text must not hold up the rows around them either.
    let (kind, payload): (String, String) = match (row.get("kind"), row.get("payload")) {
        (Ok(kind), Ok(payload)) => (kind, payload),
        (kind, payload) => {
            let fault = payload.err().map(|error: DbError| error.to_string());
            let (kind, fault) = match kind {
                Ok(kind) => (kind, fault),
                Err(error) => (String::new(), Some(error.to_string())),
            };
            return Ok(Err(SkippedRow { position, kind, fault }));
        }
    };
    Ok(match Event::parse(&kind, &payload) {
        Ok(Some(event)) if event.kind() != kind => {
            let fault = Some(format!("its payload is of the kind {}", event.kind()));
            Err(SkippedRow { position, kind, fault })
        }
        Ok(Some(event)) => Ok(StoredEvent {
            position,
            at_ms: row.get("at")?,
            actor: row.get::<Option<i64>>("actor_id")?.map(PrincipalId),
            event,
        }),
        Ok(None) => Err(SkippedRow { position, kind, fault: None }),
        Err(error) => Err(SkippedRow { position, kind, fault: Some(error.to_string()) }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A look at the end of the outbox costs as much as what is there, not as what ever was.
    #[test]
    fn sqlite_finds_a_position_without_reading_what_is_before_it() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("../../migrations/sqlite/0001_ground.sql")).unwrap();
        for (condition, order) in [(after(Engine::Sqlite), "order by seq"), (through(Engine::Sqlite), "")] {
            let sql = format!("explain query plan select payload from outbox where {condition} {order}");
            let plan: String = connection.query_row(&sql, (0, 4711), |row| row.get("detail")).unwrap();
            assert!(plan.contains("SEARCH outbox USING INTEGER PRIMARY KEY"), "{condition}: {plan}");
        }
    }
}
