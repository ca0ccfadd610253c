use std::sync::LazyLock;

use stoa_db::{DbError, Row, Tx, Value as Parameter, params};
use stoa_model::agents::{AgentSettings, Archetype, Budget, Harness, PauseReason, TriggerMode};
use stoa_model::dispatch::{ForeignReach, TriggerFrom};
use stoa_model::{MessageId, PrincipalId, Timestamp, handles};

use crate::features::acting;
use crate::storage::columns::{from_json, named, named_or_null, to_json};

/// Settings in one answer, in JSON.
const MAX_LISTED_BYTES: i64 = 1024 * 1024;

/// An agent with its settings.
pub(super) struct AgentRow {
    pub(super) id: PrincipalId,
    pub(super) name: String,
    pub(super) display_name: String,
    /// The name of the owner.
    pub(super) owner: String,
    pub(super) description: String,
    pub(super) archetype: Archetype,
    pub(super) trigger_mode: TriggerMode,
    pub(super) cooldown_seconds: u32,
    pub(super) budget: Budget,
    pub(super) max_trigger_depth: u32,
    pub(super) trigger_from: TriggerFrom,
    pub(super) trigger_allow: Vec<String>,
    pub(super) foreign_reach: ForeignReach,
    pub(super) max_round_trips: u32,
    pub(super) k8s_image: Option<String>,
    pub(super) harness: Option<Harness>,
    pub(super) instructions: String,
    pub(super) pending_work: bool,
    pub(super) paused_at: Option<Timestamp>,
    pub(super) pause_reason: Option<PauseReason>,
    pub(super) quarantined_at: Option<Timestamp>,
    pub(super) last_seen_at: Option<Timestamp>,
    pub(super) created_at: Timestamp,
    pub(super) owner_id: PrincipalId,
    /// Counts the changes of its settings.
    pub(super) revision: i64,
}

const SELECT_AGENT: &str = "select p.id, p.handle, p.display_name, p.owner_id, p.created_at, p.last_seen_at,
        owner.handle as owner, a.description, a.archetype, a.trigger_mode, a.cooldown_seconds, a.budget, a.max_trigger_depth,
        a.trigger_from, a.trigger_allow, a.foreign_reach, a.max_round_trips,
        a.k8s_image, a.harness, a.instructions, a.pending_work, a.paused_at, a.pause_reason, a.quarantined_at, a.revision
     from agents a join principals p on p.id = a.id join principals owner on owner.id = p.owner_id
     where p.deleted_at is null";

pub(super) fn insert_agent(tx: &mut Tx<'_>, id: PrincipalId, settings: &AgentSettings) -> Result<(), DbError> {
    tx.execute(
        "insert into agents (id, archetype, trigger_mode, cooldown_seconds, budget, max_trigger_depth, k8s_image, harness, instructions,
             trigger_from, trigger_allow, max_round_trips, description, foreign_reach)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        params![
            id.0,
            settings.archetype.name(),
            settings.trigger_mode.name(),
            settings.cooldown_seconds,
            to_json(&settings.budget)?,
            settings.max_trigger_depth,
            settings.k8s_image,
            settings.harness.as_ref().map(to_json).transpose()?,
            settings.instructions,
            settings.trigger_from.name(),
            to_json(&settings.trigger_allow)?,
            settings.max_round_trips,
            settings.description,
            settings.foreign_reach.name()
        ],
    )?;
    Ok(())
}

pub(super) fn update_settings(tx: &mut Tx<'_>, id: PrincipalId, settings: &AgentSettings) -> Result<(), DbError> {
    tx.execute(
        "update agents set archetype = $2, trigger_mode = $3, cooldown_seconds = $4, budget = $5, max_trigger_depth = $6,
             k8s_image = $7, harness = $8, instructions = $9, trigger_from = $10, trigger_allow = $11, max_round_trips = $12,
             description = $13, foreign_reach = $14, revision = revision + 1
         where id = $1",
        params![
            id.0,
            settings.archetype.name(),
            settings.trigger_mode.name(),
            settings.cooldown_seconds,
            to_json(&settings.budget)?,
            settings.max_trigger_depth,
            settings.k8s_image,
            settings.harness.as_ref().map(to_json).transpose()?,
            settings.instructions,
            settings.trigger_from.name(),
            to_json(&settings.trigger_allow)?,
            settings.max_round_trips,
            settings.description,
            settings.foreign_reach.name()
        ],
    )?;
    Ok(())
}

pub(super) fn update_paused(tx: &mut Tx<'_>, id: PrincipalId, reason: Option<PauseReason>) -> Result<(), DbError> {
    let paused_at = reason.map(|_| tx.now_ms());
    tx.execute(
        "update agents set paused_at = $2, pause_reason = $3, revision = revision + 1 where id = $1",
        params![id.0, paused_at, reason.map(PauseReason::name)],
    )?;
    Ok(())
}

pub(super) fn update_unquarantined(tx: &mut Tx<'_>, id: PrincipalId) -> Result<(), DbError> {
    tx.execute("update agents set quarantined_at = null, revision = revision + 1 where id = $1", params![id.0])?;
    Ok(())
}

pub(super) fn find_agent(tx: &mut Tx<'_>, name: &str) -> Result<Option<AgentRow>, DbError> {
    tx.query_optional(&format!("{SELECT_AGENT} and p.folded_handle = $1"), params![handles::fold(name)], agent)
}

pub(super) fn find_agent_by_id(tx: &mut Tx<'_>, id: PrincipalId) -> Result<Option<AgentRow>, DbError> {
    tx.query_optional(&format!("{SELECT_AGENT} and p.id = $1"), params![id.0], agent)
}

/// What keeps an agent from being woken, whatever a message is.
pub(super) struct Halts {
    pub(super) is_stopped: bool,
    pub(super) is_quarantined: bool,
    pub(super) is_paused: bool,
    pub(super) mode: TriggerMode,
}

pub(super) fn find_halts(tx: &mut Tx<'_>, id: PrincipalId) -> Result<Option<Halts>, DbError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "select a.trigger_mode, a.paused_at, a.quarantined_at, {} as stopped
             from agents a join principals p on p.id = a.id where a.id = $1",
            acting::is_stopped_sql("p.owner_id")
        )
    });
    tx.query_optional(&SQL, params![id.0], |row| {
        Ok(Halts {
            is_stopped: row.get("stopped")?,
            is_quarantined: row.get::<Option<i64>>("quarantined_at")?.is_some(),
            is_paused: row.get::<Option<i64>>("paused_at")?.is_some(),
            mode: named(row, "trigger_mode")?,
        })
    })
}

/// When its last run ended, and the last message of a person to it.
pub(super) fn find_run_marks(tx: &mut Tx<'_>, id: PrincipalId) -> Result<(Option<i64>, MessageId), DbError> {
    tx.query_one("select last_run_ended_at, person_message_id from agents where id = $1", params![id.0], |row| {
        Ok((row.get("last_run_ended_at")?, MessageId(row.get("person_message_id")?)))
    })
}

pub(super) fn update_person_message(
    tx: &mut Tx<'_>,
    id: PrincipalId,
    message: Option<MessageId>,
) -> Result<(), DbError> {
    tx.execute(
        "update agents set person_message_id = coalesce($2, person_message_id) where id = $1",
        params![id.0, message.map(|message| message.0)],
    )?;
    Ok(())
}

pub(super) fn update_pending_work(tx: &mut Tx<'_>, id: PrincipalId, is_pending: bool) -> Result<(), DbError> {
    tx.execute("update agents set pending_work = $2 where id = $1", params![id.0, is_pending])?;
    Ok(())
}

pub(super) fn update_run_ended(tx: &mut Tx<'_>, id: PrincipalId) -> Result<(), DbError> {
    tx.execute("update agents set last_run_ended_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    Ok(())
}

pub(super) fn list_reactive(tx: &mut Tx<'_>, owner: PrincipalId, limit: i64) -> Result<Vec<AgentRow>, DbError> {
    let sql =
        format!("{SELECT_AGENT} and p.owner_id = $1 and a.trigger_mode = 'reactive' order by p.folded_handle limit $2");
    tx.query(&sql, params![owner.0, limit], agent)
}

pub(super) fn list_with_pending_work(tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<Vec<PrincipalId>, DbError> {
    let owner = owner.map_or_else(|| "1 = 1".to_owned(), |owner| format!("p.owner_id = {owner}"));
    let sql = format!(
        "select a.id from agents a join principals p on p.id = a.id
         where a.pending_work = 1 and p.deleted_at is null and {owner} order by a.id"
    );
    tx.query(&sql, &[], |row| row.get("id").map(PrincipalId))
}

/// By name, beginning after `after`.
pub(super) fn list_agents(
    tx: &mut Tx<'_>,
    owner: PrincipalId,
    after: &str,
    limit: i64,
) -> Result<(Vec<AgentRow>, bool), DbError> {
    list_within_bytes(tx, "p.owner_id = $1 and p.folded_handle > $2", params![owner.0, after], limit)
}

/// The next agents by name, as many as make up an answer of bearable size, one at least: settings may be long, and an answer is made in
/// memory. True if there would have been more.
fn list_within_bytes(
    tx: &mut Tx<'_>,
    condition: &str,
    values: &[Parameter<'_>],
    limit: i64,
) -> Result<(Vec<AgentRow>, bool), DbError> {
    let next = format!("and {condition} order by p.folded_handle limit {}", limit + 1);
    // Texts grow in JSON, and twice is as much as most of them do.
    let sizes = tx.query(
        &format!(
            "select 2 * (octet_length(a.instructions) + octet_length(a.description) + coalesce(octet_length(a.harness), 0) + octet_length(a.budget)) as bytes
             from agents a join principals p on p.id = a.id where p.deleted_at is null {next}"
        ),
        values,
        |row| row.get::<i64>("bytes"),
    )?;
    let mut bytes = 0;
    let fitting = sizes.iter().take_while(|size| {
        bytes += *size;
        bytes <= MAX_LISTED_BYTES
    });
    let fitting = fitting.count().clamp(1, usize::try_from(limit).unwrap_or(1));
    let has_more = sizes.len() > fitting;
    let agents =
        tx.query(&format!("{SELECT_AGENT} and {condition} order by p.folded_handle limit {fitting}"), values, agent)?;
    Ok((agents, has_more))
}

/// Name, display name and archetype of a person's agents, by name.
pub(super) fn list_choices(
    tx: &mut Tx<'_>,
    owner: PrincipalId,
    limit: i64,
) -> Result<Vec<(String, String, String)>, DbError> {
    tx.query(
        "select p.handle, p.display_name, a.archetype from agents a join principals p on p.id = a.id
         where p.deleted_at is null and p.owner_id = $1 order by p.folded_handle limit $2",
        params![owner.0, limit],
        |row| Ok((row.get("handle")?, row.get("display_name")?, row.get("archetype")?)),
    )
}

/// Everybody's agents, for the operator.
pub(super) fn list_all_agents(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<(Vec<AgentRow>, bool), DbError> {
    list_within_bytes(tx, "p.folded_handle > $1", params![after], limit)
}

pub(super) fn count_seen_since(tx: &mut Tx<'_>, since: i64) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as agents from principals where kind = 'agent' and deleted_at is null and last_seen_at > $1",
        params![since],
        |row| row.get("agents"),
    )
}

/// Replaces the key of an agent.
pub(super) fn insert_key(tx: &mut Tx<'_>, agent: PrincipalId, token_hash: &[u8; 32]) -> Result<(), DbError> {
    tx.execute(
        "insert into agent_keys (agent_id, token_hash, created_at) values ($1, $2, $3)
         on conflict (agent_id) do update set token_hash = excluded.token_hash, created_at = excluded.created_at, last_used_at = null",
        params![agent.0, token_hash, tx.now_ms()],
    )?;
    Ok(())
}

pub(super) fn delete_key(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<(), DbError> {
    tx.execute("delete from agent_keys where agent_id = $1", params![agent.0])?;
    Ok(())
}

pub(super) fn update_key_used(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<(), DbError> {
    tx.execute("update agent_keys set last_used_at = $2 where agent_id = $1", params![agent.0, tx.now_ms()])?;
    Ok(())
}

pub(super) struct KeyIdentity {
    pub(super) agent: PrincipalId,
    pub(super) name: String,
    pub(super) owner: PrincipalId,
    pub(super) last_used_at: Option<i64>,
}

/// Whose key this is, if the agent is there and its owner may log in.
pub(super) fn find_key(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<Option<KeyIdentity>, DbError> {
    tx.query_optional(
        "select k.agent_id, k.last_used_at, p.handle, p.owner_id
         from agent_keys k join principals p on p.id = k.agent_id join users u on u.id = p.owner_id
         where k.token_hash = $1 and p.deleted_at is null and u.disabled_at is null",
        params![token_hash],
        |row| {
            Ok(KeyIdentity {
                agent: PrincipalId(row.get("agent_id")?),
                name: row.get("handle")?,
                owner: PrincipalId(row.get("owner_id")?),
                last_used_at: row.get("last_used_at")?,
            })
        },
    )
}

fn agent(row: &Row<'_>) -> Result<AgentRow, DbError> {
    let optional_time = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms));
    Ok(AgentRow {
        id: PrincipalId(row.get("id")?),
        name: row.get("handle")?,
        display_name: row.get("display_name")?,
        owner: row.get("owner")?,
        description: row.get("description")?,
        archetype: named(row, "archetype")?,
        trigger_mode: named(row, "trigger_mode")?,
        cooldown_seconds: row.get("cooldown_seconds")?,
        budget: from_json("budget", &row.get::<String>("budget")?)?,
        max_trigger_depth: row.get("max_trigger_depth")?,
        trigger_from: named(row, "trigger_from")?,
        trigger_allow: from_json("trigger_allow", &row.get::<String>("trigger_allow")?)?,
        foreign_reach: named(row, "foreign_reach")?,
        max_round_trips: row.get("max_round_trips")?,
        k8s_image: row.get("k8s_image")?,
        harness: match row.get::<Option<String>>("harness")? {
            Some(text) => Some(from_json("harness", &text)?),
            None => None,
        },
        instructions: row.get("instructions")?,
        pending_work: row.get("pending_work")?,
        paused_at: optional_time("paused_at")?,
        pause_reason: named_or_null(row, "pause_reason")?,
        quarantined_at: optional_time("quarantined_at")?,
        last_seen_at: optional_time("last_seen_at")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        owner_id: PrincipalId(row.get("owner_id")?),
        revision: row.get("revision")?,
    })
}
