use stoa_db::{DbError, Tx, params};
use stoa_model::agents::HarnessBackend;
use stoa_model::runs::{HarnessRunView, MAX_STEPS, RunStatus, RunStep, StepKind};
use stoa_model::{ConversationId, PrincipalId, RunId, Timestamp};
use stoa_programs::Tokens;

use super::store::Used;
use crate::storage::columns::named;

pub(super) fn insert_harness_run(
    tx: &mut Tx<'_>,
    run: RunId,
    backend: HarnessBackend,
    prompt: &str,
    is_truncated: bool,
) -> Result<(), DbError> {
    tx.execute(
        "insert into harness_runs (reactive_run_id, backend, prompt, truncated) values ($1, $2, $3, $4)
         on conflict (reactive_run_id) do update set backend = excluded.backend, prompt = excluded.prompt,
             truncated = excluded.truncated",
        params![run.0, backend.name(), prompt, is_truncated],
    )?;
    Ok(())
}

/// Whether the agent of a run runs elsewhere.
pub(super) fn is_remote(tx: &mut Tx<'_>, run: RunId) -> Result<bool, DbError> {
    let backend =
        tx.query_optional("select backend from harness_runs where reactive_run_id = $1", params![run.0], |row| {
            named::<HarnessBackend>(row, "backend")
        })?;
    Ok(backend == Some(HarnessBackend::Webhook))
}

/// What a program said about its work.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Report {
    pub(super) response: Option<String>,
    pub(super) is_truncated: bool,
    pub(super) session_id: Option<String>,
    pub(super) tokens_in: Option<i64>,
    pub(super) tokens_out: Option<i64>,
    pub(super) tokens_cached: Option<i64>,
    pub(super) cost_usd: Option<f64>,
    pub(super) is_cost_estimated: bool,
    pub(super) model: Option<String>,
    /// What the program counts for the whole session, where it does.
    pub(super) session: SessionTotals,
    pub(super) exit_code: Option<i64>,
    pub(super) logs_excerpt: Option<String>,
    pub(super) error_log: Option<String>,
}

impl Report {
    pub(super) fn used(&self) -> Used {
        let tokens = match (self.tokens_in, self.tokens_out) {
            (None, None) => None,
            (read, written) => Some(read.unwrap_or(0) + written.unwrap_or(0)),
        };
        Used { tokens, cost_usd: self.cost_usd }
    }
}

/// What was used up in a session so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SessionTotals {
    pub(super) tokens: Option<Tokens>,
    pub(super) cost_usd: Option<f64>,
}

/// What an agent's session had used up before a run, or before the last attempt of it.
pub(super) fn find_session_totals(
    tx: &mut Tx<'_>,
    agent: PrincipalId,
    session_id: &str,
    before: RunId,
) -> Result<SessionTotals, DbError> {
    let found = tx.query_optional(
        "select h.session_tokens_in, h.session_tokens_out, h.session_tokens_cached, h.session_cost_usd
         from harness_runs h join reactive_runs r on r.id = h.reactive_run_id
         where h.session_id = $1 and r.agent_id = $2 and r.id <= $3
             and (h.session_tokens_in is not null or h.session_cost_usd is not null)
         order by r.id desc limit 1",
        params![session_id, agent.0, before.0],
        |row| {
            let read: Option<i64> = row.get("session_tokens_in")?;
            let count = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.unwrap_or(0));
            let (written, cached) = (count("session_tokens_out")?, count("session_tokens_cached")?);
            let tokens = read.map(|read| Tokens { read, written, cached });
            Ok(SessionTotals { tokens, cost_usd: row.get("session_cost_usd")? })
        },
    )?;
    Ok(found.unwrap_or_default())
}

/// The session of an agent's last run in a conversation, if that run succeeded: a session that cannot be continued is not tried twice.
pub(super) fn find_session(
    tx: &mut Tx<'_>,
    agent: PrincipalId,
    conversation: ConversationId,
    before: RunId,
) -> Result<Option<String>, DbError> {
    let found = tx.query_optional(
        "select r.status, h.session_id from reactive_runs r join messages m on m.id = r.trigger_message_id
             join harness_runs h on h.reactive_run_id = r.id
         where r.agent_id = $1 and r.id < $2 and r.is_foreign = 0 and m.conversation_id = $3
         order by r.id desc limit 1",
        params![agent.0, before.0, conversation.0],
        |row| Ok((named::<RunStatus>(row, "status")?, row.get::<Option<String>>("session_id")?)),
    )?;
    Ok(found.and_then(|(status, session)| session.filter(|_| status == RunStatus::Succeeded)))
}

/// Stores what a program said. The figures are added to those of earlier attempts.
pub(super) fn update_report(tx: &mut Tx<'_>, run: RunId, report: &Report) -> Result<(), DbError> {
    tx.execute(
        "update harness_runs set response = $2, truncated = case when cast($3 as bigint) = 1 then 1 else truncated end, session_id = $4,
             tokens_in = case when cast($5 as bigint) is null then tokens_in else coalesce(tokens_in, 0) + $5 end,
             tokens_out = case when cast($6 as bigint) is null then tokens_out else coalesce(tokens_out, 0) + $6 end,
             tokens_cached = case when cast($7 as bigint) is null then tokens_cached else coalesce(tokens_cached, 0) + $7 end,
             cost_usd = case when cast($8 as double precision) is null then cost_usd else coalesce(cost_usd, 0) + $8 end,
             exit_code = $9, logs_excerpt = $10,
             error_log = $11, cost_estimated = $12, model = $13, session_tokens_in = $14, session_tokens_out = $15,
             session_tokens_cached = $16, session_cost_usd = $17
         where reactive_run_id = $1",
        params![
            run.0,
            report.response,
            i64::from(report.is_truncated),
            report.session_id,
            report.tokens_in,
            report.tokens_out,
            report.tokens_cached,
            report.cost_usd,
            report.exit_code,
            report.logs_excerpt,
            report.error_log,
            i64::from(report.is_cost_estimated),
            report.model,
            report.session.tokens.map(|tokens| tokens.read),
            report.session.tokens.map(|tokens| tokens.written),
            report.session.tokens.map(|tokens| tokens.cached),
            report.session.cost_usd
        ],
    )?;
    Ok(())
}

/// Forgets what was written and said, and keeps the figures.
pub(super) fn update_forgotten(tx: &mut Tx<'_>, run: RunId) -> Result<(), DbError> {
    tx.execute(
        "update harness_runs set prompt = null, response = null, logs_excerpt = null, error_log = null
         where reactive_run_id = $1",
        params![run.0],
    )?;
    tx.execute("delete from run_steps where run_id = $1", params![run.0])?;
    Ok(())
}

pub(super) fn find_harness_run(tx: &mut Tx<'_>, run: RunId) -> Result<Option<HarnessRunView>, DbError> {
    tx.query_optional(
        "select id, backend, session_id, prompt, response, tokens_in, tokens_out, tokens_cached, cost_usd, cost_estimated, model,
             exit_code, trace_id, logs_excerpt, error_log, truncated
         from harness_runs where reactive_run_id = $1",
        params![run.0],
        |row| {
            Ok(HarnessRunView {
                id: row.get("id")?,
                reactive_run_id: run,
                backend: named(row, "backend")?,
                session_id: row.get("session_id")?,
                prompt: row.get("prompt")?,
                response: row.get("response")?,
                tokens_in: row.get("tokens_in")?,
                tokens_out: row.get("tokens_out")?,
                tokens_cached: row.get("tokens_cached")?,
                cost_usd: row.get("cost_usd")?,
                cost_estimated: row.get("cost_estimated")?,
                model: row.get("model")?,
                exit_code: row.get("exit_code")?,
                trace_id: row.get("trace_id")?,
                logs_excerpt: row.get("logs_excerpt")?,
                error_log: row.get("error_log")?,
                truncated: row.get("truncated")?,
            })
        },
    )
}

/// Adds a step, unless the run has as many as it keeps. Its end is always kept. Returns how many there are.
pub(super) fn insert_step(
    tx: &mut Tx<'_>,
    run: RunId,
    at: Timestamp,
    kind: StepKind,
    text: &str,
    duration_ms: Option<i64>,
) -> Result<i64, DbError> {
    let shown: String = text.chars().take(160).collect();
    let position: Option<i64> = tx.query_optional(
        "update reactive_runs set steps = steps + 1, last_step = $2 where id = $1 and (steps < $3 or cast($4 as bigint) = 1) returning steps",
        params![run.0, shown, MAX_STEPS, i64::from(kind == StepKind::Finished)],
        |row| row.get("steps"),
    )?;
    let Some(position) = position else { return Ok(MAX_STEPS) };
    tx.execute(
        "insert into run_steps (run_id, position, at, kind, text, duration_ms) values ($1, $2, $3, $4, $5, $6)",
        params![run.0, position - 1, at.as_ms(), kind.name(), text, duration_ms],
    )?;
    Ok(position)
}

pub(super) fn list_steps(tx: &mut Tx<'_>, run: RunId, from: i64, limit: i64) -> Result<Vec<RunStep>, DbError> {
    tx.query(
        "select at, kind, text, duration_ms from run_steps where run_id = $1 and position >= $2 order by position limit $3",
        params![run.0, from, limit],
        |row| {
            Ok(RunStep {
                at: Timestamp::from_ms(row.get("at")?),
                kind: named(row, "kind")?,
                text: row.get("text")?,
                duration_ms: row.get("duration_ms")?,
            })
        },
    )
}
