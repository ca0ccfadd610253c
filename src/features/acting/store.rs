use stoa_db::{DbError, Tx, params};
use stoa_model::{PrincipalId, Timestamp};

/// Since when something is stopped, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub reason: String,
    pub stopped_at: Timestamp,
}

/// SQL that holds if everything is stopped, or all that acts for the user whose id `owner` stands for.
pub fn is_stopped_sql(owner: &str) -> String {
    format!("exists (select 1 from acting_stops stop where stop.scope in (0, {owner}))")
}

pub(super) fn is_stopped(tx: &mut Tx<'_>, owner: PrincipalId) -> Result<bool, DbError> {
    let sql = format!("select {} as stopped", is_stopped_sql("$1"));
    tx.query_one(&sql, params![owner.0], |row| row.get("stopped"))
}

pub fn find_stop(tx: &mut Tx<'_>, scope: PrincipalId) -> Result<Option<Stop>, DbError> {
    tx.query_optional("select reason, stopped_at from acting_stops where scope = $1", params![scope.0], |row| {
        Ok(Stop { reason: row.get("reason")?, stopped_at: Timestamp::from_ms(row.get("stopped_at")?) })
    })
}

/// Stops. Who has stopped before stays stopped since then.
pub fn set_stop(tx: &mut Tx<'_>, scope: PrincipalId, reason: &str) -> Result<(), DbError> {
    tx.execute(
        "insert into acting_stops (scope, reason, stopped_at) values ($1, $2, $3) on conflict (scope) do nothing",
        params![scope.0, reason, tx.now_ms()],
    )?;
    Ok(())
}

/// Says whether it was stopped.
pub fn remove_stop(tx: &mut Tx<'_>, scope: PrincipalId) -> Result<bool, DbError> {
    Ok(tx.execute("delete from acting_stops where scope = $1", params![scope.0])? > 0)
}
