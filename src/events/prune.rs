//! Old events go away, but not before every listener has seen them, within reason.

use stoa_db::{DbError, Tx, params};

use super::outbox::{Position, delete_through};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Streams can be resumed for this long.
pub const KEEP_MS: i64 = DAY_MS;
/// A listener that is further behind than this has to rebuild.
pub const KEEP_FOR_LISTENERS_MS: i64 = 7 * DAY_MS;
/// Rows deleted in one command, so that pruning never holds up the writer.
const BATCH: i64 = 2000;

/// Deletes a batch of events that nobody needs any more. Returns how many.
pub fn prune(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    let slowest = tx.query_optional("select xid, seq from listener_cursors order by xid, seq limit 1", &[], |row| {
        Ok(Position { xid: row.get("xid")?, seq: row.get("seq")? })
    })?;
    let slowest = slowest.unwrap_or(Position { xid: i64::MAX, seq: i64::MAX });
    // The end of the run of rows that may go: it stops at the first one that must stay, so that
    // "pruned through" is true of everything before it.
    let through = tx.query_optional(
        "select xid, seq from (
             select xid, seq, at, row_number() over (order by xid, seq) as place,
                    sum(case when at <= $1 or (at <= $2 and (xid, seq) <= ($3, $4)) then 0 else 1 end)
                        over (order by xid, seq) as kept
             from (select xid, seq, at from outbox order by xid, seq limit $5) oldest) ranked
         where kept = 0 order by place desc limit 1",
        params![tx.now_ms() - KEEP_FOR_LISTENERS_MS, tx.now_ms() - KEEP_MS, slowest.xid, slowest.seq, BATCH],
        |row| Ok(Position { xid: row.get("xid")?, seq: row.get("seq")? }),
    )?;
    let Some(through) = through else { return Ok(0) };
    delete_through(tx, through)
}
