//! Counts that decide whether a run may start.

use stoa_db::{DbError, Tx, params};
use stoa_model::{MessageId, PrincipalId};

const DAY_MS: i64 = 24 * 3600 * 1000;

/// The day of a moment (UTC), and the moment at which the next one begins.
pub(super) fn day_of(now_ms: i64) -> (i64, i64) {
    let day = now_ms.div_euclid(DAY_MS);
    (day, (day + 1) * DAY_MS)
}

/// Runs of an agent today: all, and those that others started.
pub(super) fn find_runs_today(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<(i64, i64), DbError> {
    let found = tx.query_optional(
        "select runs, foreign_runs from run_days where agent_id = $1 and day = $2",
        params![agent.0, day_of(tx.now_ms()).0],
        |row| Ok((row.get("runs")?, row.get("foreign_runs")?)),
    )?;
    Ok(found.unwrap_or((0, 0)))
}

/// Counts a run, if there is room for it under the limits. One statement decides, so that hubs cannot all take the last one.
pub(super) fn count_run(
    tx: &mut Tx<'_>,
    agent: PrincipalId,
    is_foreign: bool,
    max_runs: i64,
    max_foreign: i64,
) -> Result<bool, DbError> {
    let day = day_of(tx.now_ms()).0;
    tx.execute(
        "insert into run_days (agent_id, day, runs, foreign_runs) values ($1, $2, 0, 0) on conflict (agent_id, day) do nothing",
        params![agent.0, day],
    )?;
    let foreign = i64::from(is_foreign);
    let counted = tx.execute(
        "update run_days set runs = runs + 1, foreign_runs = foreign_runs + $3
         where agent_id = $1 and day = $2 and runs < $4 and foreign_runs + $3 <= $5",
        params![agent.0, day, foreign, max_runs, if is_foreign { max_foreign } else { i64::MAX }],
    )?;
    Ok(counted > 0)
}

pub(super) fn find_runs_of_chain(tx: &mut Tx<'_>, chain: MessageId) -> Result<i64, DbError> {
    let found =
        tx.query_optional("select runs from run_chains where chain_id = $1", params![chain.0], |row| row.get("runs"))?;
    Ok(found.unwrap_or(0))
}

pub(super) fn count_run_of_chain(tx: &mut Tx<'_>, chain: MessageId) -> Result<(), DbError> {
    tx.execute(
        "insert into run_chains (chain_id, runs, updated_at) values ($1, 1, $2)
         on conflict (chain_id) do update set runs = run_chains.runs + 1, updated_at = excluded.updated_at",
        params![chain.0, tx.now_ms()],
    )?;
    Ok(())
}

/// How often a person and their agents have started an agent since a moment.
pub(super) fn count_wakes_by(
    tx: &mut Tx<'_>,
    human: PrincipalId,
    agent: PrincipalId,
    since_ms: i64,
) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as wakes from reactive_runs where sender_human_id = $1 and agent_id = $2 and created_at > $3",
        params![human.0, agent.0, since_ms],
        |row| row.get("wakes"),
    )
}

pub(super) fn delete_old_counts(tx: &mut Tx<'_>, before_ms: i64, limit: i64) -> Result<u64, DbError> {
    let days = tx.execute(
        "delete from run_days where day < $1 and (agent_id, day) in (select agent_id, day from run_days where day < $1 limit $2)",
        params![day_of(before_ms).0, limit],
    )?;
    let chains = tx.execute(
        "delete from run_chains where chain_id in (select chain_id from run_chains where updated_at < $1 limit $2)",
        params![before_ms, limit],
    )?;
    Ok(days + chains)
}
