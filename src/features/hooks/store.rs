use stoa_db::{DbError, Row, Tx, params};
use stoa_model::hooks::{HookKind, HookOutcome, HookRequestView, KEPT_REQUESTS};
use stoa_model::{ChannelId, MessageId, PrincipalId, Timestamp};

use crate::storage::columns;

/// A delivery is known for so long.
const DELIVERIES_KEPT_MS: i64 = 24 * 3600 * 1000;
/// Rows deleted in one command, so that pruning does not hold up the writer.
const PRUNE_BATCH: i64 = 500;

#[derive(Debug, Clone)]
pub(super) struct HookRow {
    pub(super) id: String,
    pub(super) principal: PrincipalId,
    pub(super) name: String,
    pub(super) author: String,
    pub(super) owner: PrincipalId,
    pub(super) owner_name: String,
    pub(super) kind: HookKind,
    pub(super) target: Target,
    pub(super) target_name: String,
    pub(super) is_target_deleted: bool,
    pub(super) events: Vec<String>,
    pub(super) template: Option<String>,
    pub(super) sealed_secret: Vec<u8>,
    pub(super) is_enabled: bool,
    pub(super) created_at: Timestamp,
    pub(super) last_request_at: Option<Timestamp>,
}

/// A channel or an agent, by id: somebody else may have its name tomorrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Channel(ChannelId),
    Agent(PrincipalId),
}

impl Target {
    /// The values of the two columns.
    fn ids(self) -> (Option<i64>, Option<i64>) {
        match self {
            Target::Channel(id) => (Some(id.0), None),
            Target::Agent(id) => (None, Some(id.0)),
        }
    }
}

pub(super) struct NewHook<'a> {
    pub(super) id: &'a str,
    pub(super) principal: PrincipalId,
    pub(super) owner: PrincipalId,
    pub(super) kind: HookKind,
    pub(super) target: Target,
    pub(super) events: &'a [String],
    pub(super) template: Option<&'a str>,
    pub(super) sealed_secret: &'a [u8],
}

pub(super) fn insert_hook(tx: &mut Tx<'_>, hook: &NewHook<'_>) -> Result<(), DbError> {
    let (channel, agent) = hook.target.ids();
    let events = columns::to_json(&hook.events)?;
    tx.execute(
        "insert into hooks (id, principal_id, owner_id, kind, channel_id, agent_id, events, template, secret, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        params![
            hook.id,
            hook.principal.0,
            hook.owner.0,
            hook.kind.name(),
            channel,
            agent,
            events,
            hook.template,
            hook.sealed_secret,
            tx.now_ms()
        ],
    )?;
    Ok(())
}

pub(super) fn update_hook(tx: &mut Tx<'_>, hook: &HookRow) -> Result<(), DbError> {
    let (channel, agent) = hook.target.ids();
    let events = columns::to_json(&hook.events)?;
    tx.execute(
        "update hooks set channel_id = $2, agent_id = $3, events = $4, template = $5, is_enabled = $6 where id = $1",
        params![hook.id, channel, agent, events, hook.template, i64::from(hook.is_enabled)],
    )?;
    Ok(())
}

pub(super) fn update_secret(tx: &mut Tx<'_>, id: &str, sealed_secret: &[u8]) -> Result<(), DbError> {
    tx.execute("update hooks set secret = $2 where id = $1", params![id, sealed_secret])?;
    Ok(())
}

/// Deletes a hook with its requests and deliveries.
pub(super) fn delete_hook(tx: &mut Tx<'_>, id: &str) -> Result<(), DbError> {
    tx.execute("delete from hooks where id = $1", params![id])?;
    Ok(())
}

const SELECT_HOOK: &str =
    "select h.id, h.principal_id, h.owner_id, h.kind, h.channel_id, h.agent_id, h.events, h.template,
        h.secret, h.is_enabled, h.created_at, p.handle as author, p.display_name, o.handle as owner,
        coalesce(c.name, a.handle) as target, coalesce(c.deleted_at, a.deleted_at) as target_deleted_at,
        (select max(r.received_at) from hook_requests r where r.hook_id = h.id) as last_request_at
     from hooks h join principals p on p.id = h.principal_id join principals o on o.id = h.owner_id
     left join channels c on c.id = h.channel_id left join principals a on a.id = h.agent_id";

pub(super) fn find_hook(tx: &mut Tx<'_>, id: &str) -> Result<Option<HookRow>, DbError> {
    tx.query_optional(&format!("{SELECT_HOOK} where h.id = $1"), params![id], hook)
}

/// Hooks of an owner, or of everybody, newest first, below the principal `before`.
pub(super) fn list_hooks(
    tx: &mut Tx<'_>,
    owner: Option<PrincipalId>,
    before: i64,
    limit: i64,
) -> Result<Vec<HookRow>, DbError> {
    let sql = format!(
        "{SELECT_HOOK} where h.principal_id < $1 and (h.owner_id = $2 or $2 = 0) order by h.principal_id desc limit $3"
    );
    tx.query(&sql, params![before, owner.map_or(0, |owner| owner.0), limit], hook)
}

/// Hooks that post into a deleted channel or to a deleted agent: owner and name of each.
pub(super) fn list_hooks_to(
    tx: &mut Tx<'_>,
    target: Target,
    limit: i64,
) -> Result<Vec<(PrincipalId, String)>, DbError> {
    let (column, id) = match target {
        Target::Channel(id) => ("channel_id", id.0),
        Target::Agent(id) => ("agent_id", id.0),
    };
    let sql = format!(
        "select h.owner_id, p.display_name from hooks h join principals p on p.id = h.principal_id
         where h.{column} = $1 order by h.owner_id, h.principal_id limit $2"
    );
    tx.query(&sql, params![id, limit], |row| Ok((PrincipalId(row.get("owner_id")?), row.get("display_name")?)))
}

pub(super) fn count_hooks(tx: &mut Tx<'_>, owner: PrincipalId) -> Result<i64, DbError> {
    tx.query_one("select count(*) as hooks from hooks where owner_id = $1", params![owner.0], |row| row.get("hooks"))
}

/// The id and the sealed secret of each hook.
pub(super) fn list_secrets(tx: &mut Tx<'_>) -> Result<Vec<(String, Vec<u8>)>, DbError> {
    tx.query("select id, secret from hooks order by id", &[], |row| Ok((row.get("id")?, row.get("secret")?)))
}

fn hook(row: &Row<'_>) -> Result<HookRow, DbError> {
    let (channel, agent): (Option<i64>, Option<i64>) = (row.get("channel_id")?, row.get("agent_id")?);
    let target = match channel {
        Some(channel) => Target::Channel(ChannelId(channel)),
        None => Target::Agent(PrincipalId(agent.unwrap_or_default())),
    };
    let events: String = row.get("events")?;
    Ok(HookRow {
        id: row.get("id")?,
        principal: PrincipalId(row.get("principal_id")?),
        name: row.get("display_name")?,
        author: row.get("author")?,
        owner: PrincipalId(row.get("owner_id")?),
        owner_name: row.get("owner")?,
        kind: columns::named(row, "kind")?,
        target,
        target_name: row.get("target")?,
        is_target_deleted: row.get::<Option<i64>>("target_deleted_at")?.is_some(),
        events: columns::from_json("events", &events)?,
        template: row.get("template")?,
        sealed_secret: row.get("secret")?,
        is_enabled: row.get("is_enabled")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        last_request_at: row.get::<Option<i64>>("last_request_at")?.map(Timestamp::from_ms),
    })
}

/// False if the delivery is already known.
pub(super) fn insert_delivery(tx: &mut Tx<'_>, hook: &str, hash: &[u8; 32]) -> Result<bool, DbError> {
    let now = tx.now_ms();
    // The chore deletes old rows later.
    tx.execute(
        "delete from hook_deliveries where hook_id = $1 and delivery_hash = $2 and received_at <= $3",
        params![hook, hash, now - DELIVERIES_KEPT_MS],
    )?;
    let inserted = tx.execute(
        "insert into hook_deliveries (hook_id, delivery_hash, received_at) values ($1, $2, $3) on conflict do nothing",
        params![hook, hash, now],
    )?;
    Ok(inserted > 0)
}

/// Deletes deliveries that are older than 24 hours.
pub fn prune_deliveries(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    tx.execute(
        "delete from hook_deliveries where (hook_id, delivery_hash) in (
             select hook_id, delivery_hash from hook_deliveries where received_at <= $1 limit $2)",
        params![tx.now_ms() - DELIVERIES_KEPT_MS, PRUNE_BATCH],
    )
}

/// The record of a request.
#[derive(Debug, Clone)]
pub(super) struct NewRequest {
    pub(super) outcome: HookOutcome,
    pub(super) event: Option<String>,
    pub(super) delivery_id: Option<String>,
    pub(super) message: Option<MessageId>,
}

/// Records a request, and deletes the oldest if the hook has more than it may keep. Does nothing for a hook that was deleted.
pub(super) fn insert_request(tx: &mut Tx<'_>, hook: &str, request: &NewRequest) -> Result<(), DbError> {
    tx.execute(
        "insert into hook_requests (hook_id, outcome, event, delivery_id, message_id, received_at)
         select h.id, $2, $3, $4, $5, $6 from hooks h where h.id = $1",
        params![
            hook,
            request.outcome.name(),
            request.event,
            request.delivery_id,
            request.message.map(|message| message.0),
            tx.now_ms()
        ],
    )?;
    tx.execute(
        "delete from hook_requests where hook_id = $1 and id <= (
             select id from hook_requests where hook_id = $1 order by id desc limit 1 offset $2)",
        params![hook, KEPT_REQUESTS],
    )?;
    Ok(())
}

pub(super) fn list_requests(tx: &mut Tx<'_>, hook: &str) -> Result<Vec<HookRequestView>, DbError> {
    tx.query(
        "select outcome, event, delivery_id, message_id, received_at from hook_requests
         where hook_id = $1 order by id desc limit $2",
        params![hook, KEPT_REQUESTS],
        |row| {
            Ok(HookRequestView {
                received_at: Timestamp::from_ms(row.get("received_at")?),
                outcome: columns::named(row, "outcome")?,
                event: row.get("event")?,
                delivery_id: row.get("delivery_id")?,
                message_id: row.get::<Option<i64>>("message_id")?.map(MessageId),
            })
        },
    )
}
