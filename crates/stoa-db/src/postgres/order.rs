//! The order of commits: one lock of the whole database, held from the first number that is drawn to the commit.
//!
//! It is normally held for no longer than the server needs to write. A hub that is frozen or cut off in between would hold up
//! everybody, so those who wait too long end its connection; the server then undoes what it has not committed.

use super::session::Session;
use crate::DbError;
use crate::insert::{Insert, next_time};

/// Waits until nobody else holds the order, and keeps it until the end of the transaction.
pub(crate) const TAKE: &str = "select pg_advisory_xact_lock(1937010529, 1)";

/// Ends the connections that hold the order while the server waits for their client, for longer than a moment.
const FREE: &str = "select a.pid::bigint as pid, pg_terminate_backend(a.pid) as is_ended
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.classid = 1937010529 and l.objid = 1 and l.objsubid = 2 and l.granted
        and l.database = (select oid from pg_database where datname = current_database()) and a.pid <> pg_backend_pid()
        and (a.state like 'idle in transaction%' or a.wait_event_type = 'Client')
        and a.state_change < clock_timestamp() - interval '500 milliseconds'";

/// Draws as many numbers for a table as `$1` says, all with one time, which follows from `$2`.
pub(crate) fn draw(insert: &Insert) -> String {
    let (table, key) = (insert.table, insert.key);
    let time = if insert.time_index().is_some() { next_time("$2") } else { "$2::bigint".to_owned() };
    // The sequence is looked for once, not for each number.
    format!(
        "with stamp as materialized (select {time} as at)
         select nextval(found.sequence) as number, stamp.at
         from stamp, (select pg_get_serial_sequence('{table}', '{key}')::regclass as sequence offset 0) as found,
             generate_series(1, $1::bigint)"
    )
}

/// Takes the order from a hub that holds it and does nothing. Call it outside of a transaction.
pub(super) fn free(session: &mut Session) -> Result<(), DbError> {
    session.query_each(FREE, &[], &mut |row| {
        let pid: i64 = row.try_get("pid")?;
        tracing::warn!(pid, "another hub held the order of commits and did nothing; its connection was ended");
        Ok(())
    })
}
