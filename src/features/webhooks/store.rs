//! Webhooks and their secrets.

use stoa_db::{DbError, Row, Tx, Value, params};
use stoa_model::webhooks::{DisabledReason, WebhookEvent, WebhookStatus, WebhookView, events_of};
use stoa_model::{ChannelId, ConversationId, PrincipalId, Timestamp, WebhookId};

use crate::storage::columns::named_or_null;

pub(super) struct NewWebhook<'a> {
    pub(super) agent: PrincipalId,
    pub(super) owner: PrincipalId,
    pub(super) url: &'a str,
    pub(super) events: i64,
    pub(super) disabled_reason: Option<DisabledReason>,
}

pub(super) struct WebhookRow {
    pub(super) id: WebhookId,
    pub(super) agent: PrincipalId,
    pub(super) agent_name: String,
    pub(super) owner: PrincipalId,
    pub(super) url: String,
    pub(super) events: Vec<WebhookEvent>,
    pub(super) old_secret_until: Option<i64>,
    pub(super) disabled_at: Option<i64>,
    pub(super) disabled_reason: Option<DisabledReason>,
    pub(super) failures: i64,
    pub(super) failing_since: Option<i64>,
    pub(super) last_delivery_at: Option<i64>,
    pub(super) created_at: i64,
    pub(super) waiting: i64,
    pub(super) dead_letters: i64,
    pub(super) next_probe_at: Option<i64>,
}

impl WebhookRow {
    pub(super) fn is_enabled(&self) -> bool {
        self.disabled_at.is_none()
    }

    /// Whether it keeps what it cannot send.
    pub(super) fn holds(&self) -> bool {
        self.disabled_reason == Some(DisabledReason::Failures)
    }
}

impl From<WebhookRow> for WebhookView {
    fn from(row: WebhookRow) -> Self {
        let status = match (row.disabled_at, row.failures) {
            (Some(_), _) => WebhookStatus::Disabled,
            (None, 0) => WebhookStatus::Active,
            (None, _) => WebhookStatus::Failing,
        };
        Self {
            id: row.id,
            agent: row.agent_name,
            url: row.url,
            events: row.events,
            status,
            disabled_reason: row.disabled_reason,
            disabled_at: row.disabled_at.map(Timestamp::from_ms),
            consecutive_failures: row.failures,
            old_secret_until: row.old_secret_until.map(Timestamp::from_ms),
            created_at: Timestamp::from_ms(row.created_at),
            last_delivery_at: row.last_delivery_at.map(Timestamp::from_ms),
            waiting: row.waiting,
            dead_letters: row.dead_letters,
            next_probe_at: row.next_probe_at.map(Timestamp::from_ms),
        }
    }
}

const SELECT_WEBHOOK: &str = "select w.id, w.agent_id, p.handle as agent, w.owner_id, w.url, w.events, w.old_secret_until, w.disabled_at,
         w.disabled_reason, w.failures, w.failing_since, w.last_delivery_at, w.created_at,
         (select count(*) from (select 1 from webhook_deliveries d
              where d.webhook_id = w.id and d.status in ('pending', 'held') limit 10000) counted) as waiting,
         (select count(*) from (select 1 from webhook_deliveries d
              where d.webhook_id = w.id and d.status = 'dead' limit 10000) counted) as dead_letters,
         (select k.due_at from work k where k.queue = 'webhook_probes' and k.subject = 'probe:' || cast(w.id as text)) as next_probe_at
     from webhooks w join principals p on p.id = w.agent_id";

fn webhook(row: &Row<'_>) -> Result<WebhookRow, DbError> {
    Ok(WebhookRow {
        id: WebhookId(row.get("id")?),
        agent: PrincipalId(row.get("agent_id")?),
        agent_name: row.get("agent")?,
        owner: PrincipalId(row.get("owner_id")?),
        url: row.get("url")?,
        events: events_of(row.get("events")?),
        old_secret_until: row.get("old_secret_until")?,
        disabled_at: row.get("disabled_at")?,
        disabled_reason: named_or_null(row, "disabled_reason")?,
        failures: row.get("failures")?,
        failing_since: row.get("failing_since")?,
        last_delivery_at: row.get("last_delivery_at")?,
        created_at: row.get("created_at")?,
        waiting: row.get("waiting")?,
        dead_letters: row.get("dead_letters")?,
        next_probe_at: row.get("next_probe_at")?,
    })
}

/// Adds a webhook. Its secret is sealed for its id, so it comes next.
pub(super) fn insert_webhook(tx: &mut Tx<'_>, new: &NewWebhook<'_>) -> Result<WebhookId, DbError> {
    let now = tx.now_ms();
    let disabled_at = new.disabled_reason.map(|_| now);
    tx.query_one(
        "insert into webhooks (agent_id, owner_id, url, events, secret, disabled_at, disabled_reason, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8) returning id",
        params![
            new.agent.0,
            new.owner.0,
            new.url,
            new.events,
            Vec::<u8>::new(),
            disabled_at,
            new.disabled_reason.map(DisabledReason::name),
            now
        ],
        |row| row.get("id").map(WebhookId),
    )
}

/// How many webhooks an agent has, and all agents of its owner together.
pub(super) fn count_webhooks(tx: &mut Tx<'_>, agent: PrincipalId, owner: PrincipalId) -> Result<(i64, i64), DbError> {
    tx.query_one(
        "select (select count(*) from webhooks where agent_id = $1) as of_agent,
                (select count(*) from webhooks where owner_id = $2) as of_owner",
        params![agent.0, owner.0],
        |row| Ok((row.get("of_agent")?, row.get("of_owner")?)),
    )
}

pub(super) fn find_webhook(tx: &mut Tx<'_>, id: WebhookId) -> Result<Option<WebhookRow>, DbError> {
    tx.query_optional(&format!("{SELECT_WEBHOOK} where w.id = $1"), params![id.0], webhook)
}

/// Whose webhooks a list has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scope {
    Everybody,
    Owner(PrincipalId),
    Agent(PrincipalId),
    Nobody,
}

impl Scope {
    /// SQL that holds for a webhook `w` within it, with the id as parameter `$1`.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Scope::Everybody => "$1 = 0",
            Scope::Owner(_) => "w.owner_id = $1",
            Scope::Agent(_) => "w.agent_id = $1",
            Scope::Nobody => "$1 > 0",
        }
    }

    pub(super) fn id(self) -> i64 {
        match self {
            Scope::Everybody | Scope::Nobody => 0,
            Scope::Owner(id) | Scope::Agent(id) => id.0,
        }
    }
}

/// Newest first, below `before`.
pub(super) fn list_webhooks(
    tx: &mut Tx<'_>,
    scope: Scope,
    agent: Option<PrincipalId>,
    before: i64,
    limit: i64,
) -> Result<Vec<WebhookRow>, DbError> {
    let sql = format!(
        "{SELECT_WEBHOOK} where {} and w.id < $2 and ($4 = 0 or w.agent_id = $4) order by w.id desc limit $3",
        scope.sql()
    );
    tx.query(&sql, params![scope.id(), before, limit, agent.map_or(0, |agent| agent.0)], webhook)
}

pub(super) fn delete_webhook(tx: &mut Tx<'_>, id: WebhookId) -> Result<(), DbError> {
    tx.execute("delete from webhooks where id = $1", params![id.0])?;
    Ok(())
}

pub(super) fn list_ids_of_agent(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Vec<WebhookId>, DbError> {
    tx.query("select id from webhooks where agent_id = $1", params![agent.0], |row| row.get("id").map(WebhookId))
}

pub(super) fn update_target(tx: &mut Tx<'_>, id: WebhookId, url: &str, events: i64) -> Result<(), DbError> {
    tx.execute("update webhooks set url = $2, events = $3 where id = $1", params![id.0, url, events])?;
    Ok(())
}

pub(super) fn update_enabled(tx: &mut Tx<'_>, id: WebhookId) -> Result<(), DbError> {
    tx.execute(
        "update webhooks set disabled_at = null, disabled_reason = null, failures = 0, failing_since = null where id = $1",
        params![id.0],
    )?;
    Ok(())
}

pub(super) fn update_disabled(tx: &mut Tx<'_>, id: WebhookId, reason: DisabledReason) -> Result<(), DbError> {
    tx.execute(
        "update webhooks set disabled_at = $2, disabled_reason = $3 where id = $1",
        params![id.0, tx.now_ms(), reason.name()],
    )?;
    Ok(())
}

/// Notes that a delivery arrived.
pub(super) fn update_delivered(tx: &mut Tx<'_>, id: WebhookId) -> Result<(), DbError> {
    tx.execute(
        "update webhooks set failures = 0, failing_since = null, last_delivery_at = $2 where id = $1",
        params![id.0, tx.now_ms()],
    )?;
    Ok(())
}

/// Notes that a delivery failed for good, and returns how many did in a row.
pub(super) fn update_failed(tx: &mut Tx<'_>, id: WebhookId) -> Result<Option<i64>, DbError> {
    tx.query_optional(
        "update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, $2) where id = $1 returning failures",
        params![id.0, tx.now_ms()],
        |row| row.get("failures"),
    )
}

/// The sealed secrets of a webhook.
pub(super) struct SealedSecrets {
    pub(super) current: Vec<u8>,
    pub(super) old: Option<Vec<u8>>,
    pub(super) old_until: Option<i64>,
}

fn secrets(row: &Row<'_>) -> Result<SealedSecrets, DbError> {
    Ok(SealedSecrets {
        current: row.get("secret")?,
        old: row.get("old_secret")?,
        old_until: row.get("old_secret_until")?,
    })
}

pub(super) fn find_secrets(tx: &mut Tx<'_>, id: WebhookId) -> Result<Option<SealedSecrets>, DbError> {
    let sql = "select secret, old_secret, old_secret_until from webhooks where id = $1";
    tx.query_optional(sql, params![id.0], secrets)
}

pub(super) fn update_secrets(tx: &mut Tx<'_>, id: WebhookId, secrets: &SealedSecrets) -> Result<(), DbError> {
    tx.execute(
        "update webhooks set secret = $2, old_secret = $3, old_secret_until = $4 where id = $1",
        params![id.0, secrets.current, secrets.old.as_deref(), secrets.old_until],
    )?;
    Ok(())
}

pub(super) fn list_secrets(tx: &mut Tx<'_>) -> Result<Vec<(WebhookId, SealedSecrets)>, DbError> {
    tx.query("select id, secret, old_secret, old_secret_until from webhooks order by id", &[], |row| {
        Ok((WebhookId(row.get("id")?), secrets(row)?))
    })
}

/// Forgets secrets whose time is over.
pub(super) fn delete_old_secrets(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    tx.execute(
        "update webhooks set old_secret = null, old_secret_until = null where old_secret_until <= $1",
        params![tx.now_ms()],
    )
}

/// A webhook that an event is for.
pub(super) struct Subscriber {
    pub(super) webhook: WebhookId,
    pub(super) agent: PrincipalId,
    pub(super) owner: PrincipalId,
    pub(super) url: String,
    pub(super) is_held: bool,
}

/// SQL that holds for a webhook `w` of an agent that is there, awake and whose owner is there, which takes the events of the bits
/// in `$1`: it is enabled, or holds what it cannot send.
const LISTENS: &str = "w.events & $1 <> 0 and (w.disabled_at is null or w.disabled_reason = 'failures')
     and exists (select 1 from agents a join principals p on p.id = a.id
                 where a.id = w.agent_id and p.deleted_at is null and a.paused_at is null and a.quarantined_at is null)
     and exists (select 1 from users u where u.id = w.owner_id and u.disabled_at is null)";

/// Most hubs have few webhooks and some large channels, so webhooks are looked at first.
fn subscribers(tx: &mut Tx<'_>, condition: &str, values: &[Value<'_>]) -> Result<Vec<Subscriber>, DbError> {
    let sql = format!(
        "select w.id, w.agent_id, w.owner_id, w.url, w.disabled_at from webhooks w where {LISTENS} and {condition} order by w.id limit 1000"
    );
    tx.query(&sql, values, |row| {
        Ok(Subscriber {
            webhook: WebhookId(row.get("id")?),
            agent: PrincipalId(row.get("agent_id")?),
            owner: PrincipalId(row.get("owner_id")?),
            url: row.get("url")?,
            is_held: row.get::<Option<i64>>("disabled_at")?.is_some(),
        })
    })
}

/// Webhooks of one agent.
pub(super) fn list_of_agent(
    tx: &mut Tx<'_>,
    agent: PrincipalId,
    event: WebhookEvent,
) -> Result<Vec<Subscriber>, DbError> {
    subscribers(tx, "w.agent_id = $2", params![event.bit(), agent.0])
}

/// Webhooks of the agents that are members of a channel, without one of them.
pub(super) fn list_of_channel(
    tx: &mut Tx<'_>,
    channel: ChannelId,
    without: PrincipalId,
    event: WebhookEvent,
) -> Result<Vec<Subscriber>, DbError> {
    subscribers(
        tx,
        "w.agent_id <> $3 and exists (
             select 1 from channel_members m where m.channel_id = $2 and m.principal_id = w.agent_id)",
        params![event.bit(), channel.0, without.0],
    )
}

/// Webhooks of the agents that are members or sides of a conversation, for changes of state there.
pub(super) fn list_of_conversation(tx: &mut Tx<'_>, conversation: ConversationId) -> Result<Vec<Subscriber>, DbError> {
    subscribers(
        tx,
        "(exists (select 1 from channels ch join channel_members m on m.channel_id = ch.id
                  where ch.conversation_id = $2 and m.principal_id = w.agent_id)
          or exists (select 1 from conversations c where c.id = $2 and (c.low_id = w.agent_id or c.high_id = w.agent_id)))",
        params![WebhookEvent::WorkflowStateChanged.bit(), conversation.0],
    )
}

/// A webhook as the one that a delivery is for.
pub(super) fn find_subscriber(tx: &mut Tx<'_>, id: WebhookId) -> Result<Option<Subscriber>, DbError> {
    tx.query_optional(
        "select id, agent_id, owner_id, url, disabled_reason from webhooks where id = $1",
        params![id.0],
        |row| {
            let reason: Option<DisabledReason> = named_or_null(row, "disabled_reason")?;
            Ok(Subscriber {
                webhook: WebhookId(row.get("id")?),
                agent: PrincipalId(row.get("agent_id")?),
                owner: PrincipalId(row.get("owner_id")?),
                url: row.get("url")?,
                is_held: reason == Some(DisabledReason::Failures),
            })
        },
    )
}
