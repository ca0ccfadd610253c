use std::collections::BTreeSet;

use stoa_db::{DbError, Row, Tx, Value, in_list, params};
use stoa_model::agents::AgentView;
use stoa_model::dispatch::ForeignReach;
use stoa_model::runs::{RunReason, RunStatus};
use stoa_model::{ConversationId, MessageId, PrincipalId, RunId, Timestamp};

use crate::access::RunReach;
use crate::storage::columns::{from_json, named, named_or_null, to_json};

/// A run as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunRow {
    pub(super) id: RunId,
    pub(super) agent: PrincipalId,
    pub(super) agent_name: String,
    pub(super) owner: PrincipalId,
    pub(super) status: RunStatus,
    pub(super) reason: Option<RunReason>,
    pub(super) trigger_message: Option<MessageId>,
    pub(super) inbox_message: Option<MessageId>,
    pub(super) sender: Option<PrincipalId>,
    pub(super) sender_human: Option<PrincipalId>,
    pub(super) is_foreign: bool,
    pub(super) depth: i64,
    pub(super) chain: MessageId,
    pub(super) attempt: i64,
    pub(super) retry_of: Option<RunId>,
    pub(super) is_repeated: bool,
    pub(super) goal_id: Option<i64>,
    pub(super) task_id: Option<i64>,
    pub(super) last_step: Option<String>,
    pub(super) steps: i64,
    pub(super) tokens: Option<i64>,
    pub(super) cost_usd: Option<f64>,
    /// How long the hub that runs it is believed to do so.
    pub(super) lease_until: Option<i64>,
    pub(super) stop_reason: Option<RunReason>,
    /// Whether a receiver has taken it on, so that no hub runs it.
    pub(super) is_taken_on: bool,
    /// Of a deferred run: when it starts again.
    pub(super) deferred_until: Option<i64>,
    /// When it was deferred for the first time, and how often it was.
    pub(super) deferred_since: Option<i64>,
    pub(super) deferrals: i64,
    pub(super) created_at: Timestamp,
    pub(super) started_at: Option<Timestamp>,
    pub(super) finished_at: Option<Timestamp>,
}

const SELECT_RUN: &str = "select r.id, r.agent_id, a.handle as agent_name, r.owner_id, r.status, r.reason,
        r.trigger_message_id, r.inbox_message_id, r.sender_id, r.sender_human_id, r.is_foreign, r.depth, r.chain_id, r.attempt, r.retry_of, r.is_repeated,
        r.goal_id, r.task_id, r.last_step, r.steps, r.tokens, r.cost_usd, r.lease_until, r.stop_reason,
        case when r.status = 'running' and r.hub is null then 1 else 0 end as is_taken_on,
        r.deferred_until, r.deferred_since, r.deferrals, r.created_at, r.started_at, r.finished_at
     from reactive_runs r join principals a on a.id = r.agent_id";

/// A run that is to be queued.
pub(super) struct NewRun<'a> {
    pub(super) agent: PrincipalId,
    pub(super) owner: PrincipalId,
    pub(super) trigger_message: MessageId,
    pub(super) inbox_message: MessageId,
    pub(super) sender: PrincipalId,
    pub(super) sender_human: PrincipalId,
    pub(super) is_foreign: bool,
    pub(super) depth: i64,
    pub(super) chain: MessageId,
    pub(super) attempt: i64,
    pub(super) retry_of: Option<RunId>,
    pub(super) snapshot: &'a AgentView,
}

pub(super) fn insert_run(tx: &mut Tx<'_>, new: &NewRun<'_>) -> Result<RunId, DbError> {
    tx.query_one(
        "insert into reactive_runs (agent_id, owner_id, status, trigger_message_id, inbox_message_id, sender_id, sender_human_id,
             is_foreign, depth, chain_id, attempt, retry_of, snapshot, created_at)
         values ($1, $2, 'queued', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning id",
        params![
            new.agent.0,
            new.owner.0,
            new.trigger_message.0,
            new.inbox_message.0,
            new.sender.0,
            new.sender_human.0,
            new.is_foreign,
            new.depth,
            new.chain.0,
            new.attempt,
            new.retry_of.map(|run| run.0),
            to_json(new.snapshot)?,
            tx.now_ms()
        ],
        |row| row.get("id").map(RunId),
    )
}

pub(super) fn find_run(tx: &mut Tx<'_>, id: RunId) -> Result<Option<RunRow>, DbError> {
    tx.query_optional(&format!("{SELECT_RUN} where r.id = $1"), params![id.0], run)
}

/// The run of an agent that has not ended.
pub(super) fn find_active(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Option<RunRow>, DbError> {
    let sql = format!("{SELECT_RUN} where r.agent_id = $1 and r.status in ('queued', 'running', 'deferred')");
    tx.query_optional(&sql, params![agent.0], run)
}

/// The last run of an agent that has ended.
pub(super) fn find_last_ended(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Option<RunRow>, DbError> {
    let sql = format!(
        "{SELECT_RUN} where r.agent_id = $1 and r.status not in ('queued', 'running', 'deferred') order by r.id desc limit 1"
    );
    tx.query_optional(&sql, params![agent.0], run)
}

pub(super) fn find_snapshot(tx: &mut Tx<'_>, id: RunId) -> Result<Option<AgentView>, DbError> {
    let text: Option<String> =
        tx.query_optional("select snapshot from reactive_runs where id = $1", params![id.0], |row| {
            row.get("snapshot")
        })?;
    text.map(|text| from_json("snapshot", &text)).transpose()
}

/// Which runs are wanted.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    /// None for the operator, who sees all.
    pub(super) owner: Option<PrincipalId>,
    pub(super) agent: Option<PrincipalId>,
    pub(super) statuses: BTreeSet<&'static str>,
    pub(super) goal: Option<i64>,
}

impl Filter {
    fn condition(&self) -> (String, Vec<Value<'_>>) {
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for (column, value) in [
            ("r.owner_id", self.owner.map(|id| id.0)),
            ("r.agent_id", self.agent.map(|id| id.0)),
            ("r.goal_id", self.goal),
        ] {
            if let Some(value) = value {
                values.push(Value::Integer(value));
                parts.push(format!("{column} = ${}", values.len()));
            }
        }
        if !self.statuses.is_empty() {
            let (list, named) = in_list(values.len() + 1, self.statuses.iter().map(|status| Value::Text(status)));
            values.extend(named);
            parts.push(format!("r.status in {list}"));
        }
        if parts.is_empty() { ("1 = 1".to_owned(), values) } else { (parts.join(" and "), values) }
    }
}

/// Newest first.
pub(super) fn list_runs(tx: &mut Tx<'_>, filter: &Filter, offset: i64, limit: i64) -> Result<Vec<RunRow>, DbError> {
    let (condition, values) = filter.condition();
    tx.query(&format!("{SELECT_RUN} where {condition} order by r.id desc limit {limit} offset {offset}"), &values, run)
}

pub(super) fn count_runs(tx: &mut Tx<'_>, filter: &Filter) -> Result<i64, DbError> {
    let (condition, values) = filter.condition();
    tx.query_one(&format!("select count(*) as runs from reactive_runs r where {condition}"), &values, |row| {
        row.get("runs")
    })
}

/// Runs of a status that is not final: of one owner, or all, the oldest first.
pub(super) fn list_active(
    tx: &mut Tx<'_>,
    owner: Option<PrincipalId>,
    status: RunStatus,
    after: RunId,
    limit: i64,
) -> Result<Vec<RunRow>, DbError> {
    let owner = owner.map_or_else(|| "1 = 1".to_owned(), |owner| format!("r.owner_id = {owner}"));
    let sql = format!("{SELECT_RUN} where r.status = $1 and r.id > $2 and {owner} order by r.id limit $3");
    tx.query(&sql, params![status.name(), after.0, limit], run)
}

/// Runs whose hub has not been heard of.
pub(super) fn list_lost(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<RunRow>, DbError> {
    let sql = format!("{SELECT_RUN} where r.status = 'running' and r.lease_until <= $1 order by r.id limit $2");
    tx.query(&sql, params![tx.now_ms(), limit], run)
}

/// How many runs there are of each status that is not final.
pub(super) fn count_active(tx: &mut Tx<'_>, status: RunStatus) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as runs from reactive_runs where status = $1 and status in ('queued', 'running', 'deferred')",
        params![status.name()],
        |row| row.get("runs"),
    )
}

/// What an attempt of a run has used up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used {
    pub(super) tokens: Option<i64>,
    pub(super) cost_usd: Option<f64>,
}

/// What a run is called by while it is running.
pub(super) struct Begun<'a> {
    /// None if nobody is to call with it.
    pub(super) token_hash: Option<&'a [u8; 32]>,
    pub(super) hub: &'a str,
    pub(super) lease_until: i64,
}

pub(super) fn update_begun(tx: &mut Tx<'_>, id: RunId, begun: &Begun<'_>) -> Result<bool, DbError> {
    let changed = tx.execute(
        "update reactive_runs set status = 'running', reason = null, started_at = $2, token_hash = $3, hub = $4, lease_until = $5, deferred_until = null
         where id = $1 and status in ('queued', 'deferred')",
        params![id.0, tx.now_ms(), begun.token_hash.map(|hash| hash.as_slice()), begun.hub, begun.lease_until],
    )?;
    Ok(changed > 0)
}

pub(super) fn update_lease(tx: &mut Tx<'_>, id: RunId, hub: &str, until: i64) -> Result<bool, DbError> {
    let changed = tx.execute(
        "update reactive_runs set lease_until = $3 where id = $1 and hub = $2 and status = 'running'",
        params![id.0, hub, until],
    )?;
    Ok(changed > 0)
}

/// Notes that a receiver has taken a run on, until a moment.
/// False if it was settled or repeated in the meantime, or is to end.
pub(super) fn update_taken_on(tx: &mut Tx<'_>, run: &RunRow, hub: &str, until: i64) -> Result<bool, DbError> {
    let changed = tx.execute(
        "update reactive_runs set hub = null, lease_until = $2
         where id = $1 and status = 'running' and hub = $3 and attempt = $4 and stop_reason is null",
        params![run.id.0, until, hub, run.attempt],
    )?;
    Ok(changed > 0)
}

/// A chain is as long as the longest of what a run covers.
pub(super) fn update_depth(tx: &mut Tx<'_>, id: RunId, depth: i64) -> Result<(), DbError> {
    tx.execute("update reactive_runs set depth = $2 where id = $1 and depth < $2", params![id.0, depth])?;
    Ok(())
}

/// Puts a run that was lost back into its line, this once.
pub(super) fn update_repeated(tx: &mut Tx<'_>, id: RunId) -> Result<(), DbError> {
    tx.execute(
        "update reactive_runs set status = 'queued', is_repeated = 1, attempt = attempt + 1, token_hash = null, hub = null,
             lease_until = null, started_at = null
         where id = $1 and status = 'running'",
        params![id.0],
    )?;
    Ok(())
}

/// Has a run wait for the provider of its model. What it used up is kept.
pub(super) fn update_deferred(tx: &mut Tx<'_>, id: RunId, until: i64, used: Used) -> Result<(), DbError> {
    tx.execute(
        "update reactive_runs set status = 'deferred', reason = $2, deferred_until = $3, deferred_since = coalesce(deferred_since, $4),
             deferrals = deferrals + 1, attempt = attempt + 1, token_hash = null, hub = null, lease_until = null, started_at = null,
             tokens = case when cast($5 as bigint) is null then tokens else coalesce(tokens, 0) + $5 end,
             cost_usd = case when cast($6 as double precision) is null then cost_usd else coalesce(cost_usd, 0) + $6 end
         where id = $1 and status = 'running'",
        params![id.0, RunReason::ModelUnavailable.name(), until, tx.now_ms(), used.tokens, used.cost_usd],
    )?;
    Ok(())
}

pub(super) fn update_stop(tx: &mut Tx<'_>, id: RunId, reason: RunReason) -> Result<(), DbError> {
    tx.execute(
        "update reactive_runs set stop_reason = coalesce(stop_reason, $2) where id = $1 and status = 'running'",
        params![id.0, reason.name()],
    )?;
    Ok(())
}

/// Ends a run, unless it has ended. Its token is worthless from now on.
pub(super) fn update_ended(
    tx: &mut Tx<'_>,
    id: RunId,
    status: RunStatus,
    reason: Option<RunReason>,
    used: Used,
) -> Result<bool, DbError> {
    let changed = tx.execute(
        "update reactive_runs set status = $2, reason = $3, finished_at = $6, token_hash = null, lease_until = null, deferred_until = null,
             tokens = case when cast($4 as bigint) is null then tokens else coalesce(tokens, 0) + $4 end,
             cost_usd = case when cast($5 as double precision) is null then cost_usd else coalesce(cost_usd, 0) + $5 end
         where id = $1 and status in ('queued', 'running', 'deferred')",
        params![id.0, status.name(), reason.map(RunReason::name), used.tokens, used.cost_usd, tx.now_ms()],
    )?;
    Ok(changed > 0)
}

pub(super) fn list_ended_before(tx: &mut Tx<'_>, before_ms: i64, limit: i64) -> Result<Vec<RunId>, DbError> {
    tx.query(
        "select r.id from reactive_runs r join harness_runs h on h.reactive_run_id = r.id
         where r.finished_at < $1 and (h.prompt is not null or h.response is not null or h.logs_excerpt is not null)
         order by r.id limit $2",
        params![before_ms, limit],
        |row| row.get("id").map(RunId),
    )
}

/// What a token of a run stands for, while the run is alive.
pub(super) struct TokenIdentity {
    pub(super) run: RunId,
    pub(super) depth: i64,
    pub(super) chain: MessageId,
    pub(super) is_remote: bool,
    pub(super) agent: PrincipalId,
    pub(super) name: String,
    pub(super) owner: PrincipalId,
    /// Set if the run reaches less than its agent.
    pub(super) reach: Option<RunReach>,
}

pub(super) fn find_token(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<TokenIdentity>, DbError> {
    tx.query_optional(
        "select r.id, r.depth, r.chain_id, r.agent_id, r.is_foreign, r.started_at, a.handle, a.owner_id, s.foreign_reach,
             t.conversation_id, case when h.backend = 'webhook' then 1 else 0 end as is_remote
         from reactive_runs r join principals a on a.id = r.agent_id join users u on u.id = a.owner_id
         join harness_runs h on h.reactive_run_id = r.id
         join agents s on s.id = a.id left join messages t on t.id = r.trigger_message_id
         where r.token_hash = $1 and r.status = 'running' and r.stop_reason is null and r.lease_until > $2 and a.deleted_at is null
           and u.disabled_at is null",
        params![hash, tx.now_ms()],
        |row| {
            let (agent, owner) = (PrincipalId(row.get("agent_id")?), PrincipalId(row.get("owner_id")?));
            let is_limited = row.get("is_foreign")? && named::<ForeignReach>(row, "foreign_reach")? == ForeignReach::Conversation;
            let reach = RunReach {
                conversation: row.get::<Option<i64>>("conversation_id")?.map(ConversationId),
                agent,
                owner,
                started_at: row.get::<Option<i64>>("started_at")?.unwrap_or(i64::MAX),
            };
            Ok(TokenIdentity {
                run: RunId(row.get("id")?),
                depth: row.get("depth")?,
                chain: MessageId(row.get("chain_id")?),
                is_remote: row.get("is_remote")?,
                agent,
                name: row.get("handle")?,
                owner,
                reach: is_limited.then_some(reach),
            })
        },
    )
}

fn run(row: &Row<'_>) -> Result<RunRow, DbError> {
    let time = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms));
    let message = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(MessageId));
    let principal = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(PrincipalId));
    Ok(RunRow {
        id: RunId(row.get("id")?),
        agent: PrincipalId(row.get("agent_id")?),
        agent_name: row.get("agent_name")?,
        owner: PrincipalId(row.get("owner_id")?),
        status: named(row, "status")?,
        reason: named_or_null(row, "reason")?,
        trigger_message: message("trigger_message_id")?,
        inbox_message: message("inbox_message_id")?,
        sender: principal("sender_id")?,
        sender_human: principal("sender_human_id")?,
        is_foreign: row.get("is_foreign")?,
        depth: row.get("depth")?,
        chain: MessageId(row.get("chain_id")?),
        attempt: row.get("attempt")?,
        retry_of: row.get::<Option<i64>>("retry_of")?.map(RunId),
        is_repeated: row.get("is_repeated")?,
        goal_id: row.get("goal_id")?,
        task_id: row.get("task_id")?,
        last_step: row.get("last_step")?,
        steps: row.get("steps")?,
        tokens: row.get("tokens")?,
        cost_usd: row.get("cost_usd")?,
        lease_until: row.get("lease_until")?,
        stop_reason: named_or_null(row, "stop_reason")?,
        is_taken_on: row.get("is_taken_on")?,
        deferred_until: row.get("deferred_until")?,
        deferred_since: row.get("deferred_since")?,
        deferrals: row.get("deferrals")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        started_at: time("started_at")?,
        finished_at: time("finished_at")?,
    })
}
