//! Deliveries: what is sent to webhooks, and what became of it.

use stoa_db::{DbError, Row, Tx, Value, params};
use stoa_model::machines::DeliveryEvidence;
use stoa_model::webhooks::{Attempt, DeliveryRecord, DeliveryStatus, MAX_WAITING, WebhookEvent};
use stoa_model::{DeliveryId, MessageId, PrincipalId, Timestamp, WebhookId};

use super::store::Scope;
use crate::storage::columns::{from_json, named, to_json};

pub(super) struct NewDelivery<'a> {
    pub(super) webhook: WebhookId,
    pub(super) public_id: &'a str,
    pub(super) event: WebhookEvent,
    pub(super) message: Option<MessageId>,
    pub(super) facts: &'a str,
    pub(super) depth: i64,
    pub(super) status: DeliveryStatus,
}

pub(super) struct DeliveryRow {
    pub(super) id: DeliveryId,
    pub(super) webhook: WebhookId,
    pub(super) agent: PrincipalId,
    pub(super) agent_name: String,
    pub(super) url: String,
    pub(super) public_id: String,
    pub(super) event: WebhookEvent,
    pub(super) message: Option<MessageId>,
    pub(super) facts: String,
    pub(super) depth: i64,
    pub(super) status: DeliveryStatus,
    pub(super) reason: Option<String>,
    pub(super) tries: i64,
    pub(super) attempts: Vec<Attempt>,
    pub(super) next_attempt_at: Option<i64>,
    pub(super) created_at: i64,
}

impl From<DeliveryRow> for DeliveryRecord {
    fn from(row: DeliveryRow) -> Self {
        Self {
            id: row.id,
            webhook_id: row.webhook,
            agent: row.agent_name,
            url: row.url,
            event_id: row.public_id,
            event: row.event,
            status: row.status,
            reason: row.reason,
            depth: row.depth,
            attempts: row.attempts,
            next_attempt_at: row.next_attempt_at.map(Timestamp::from_ms),
            created_at: Timestamp::from_ms(row.created_at),
            message_id: row.message,
        }
    }
}

const SELECT_DELIVERY: &str = "select d.id, d.webhook_id, w.agent_id, p.handle as agent, w.url, d.public_id, d.event, d.message_id, d.facts, d.depth,
         d.status, d.reason, d.tries, d.attempts, d.created_at,
         case when d.status = 'pending' then (select k.due_at from work k where k.queue = 'webhooks' and k.subject = cast(d.id as text)) end
             as next_attempt_at
     from webhook_deliveries d join webhooks w on w.id = d.webhook_id join principals p on p.id = w.agent_id";

fn delivery(row: &Row<'_>) -> Result<DeliveryRow, DbError> {
    Ok(DeliveryRow {
        id: DeliveryId(row.get("id")?),
        webhook: WebhookId(row.get("webhook_id")?),
        agent: PrincipalId(row.get("agent_id")?),
        agent_name: row.get("agent")?,
        url: row.get("url")?,
        public_id: row.get("public_id")?,
        event: named(row, "event")?,
        message: row.get::<Option<i64>>("message_id")?.map(MessageId),
        facts: row.get("facts")?,
        depth: row.get("depth")?,
        status: named(row, "status")?,
        reason: row.get("reason")?,
        tries: row.get("tries")?,
        attempts: from_json("attempts", &row.get::<String>("attempts")?)?,
        next_attempt_at: row.get("next_attempt_at")?,
        created_at: row.get("created_at")?,
    })
}

pub(super) fn insert_delivery(tx: &mut Tx<'_>, new: &NewDelivery<'_>) -> Result<DeliveryId, DbError> {
    tx.query_one(
        "insert into webhook_deliveries (webhook_id, public_id, event, message_id, facts, depth, status, created_at, changed_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $8) returning id",
        params![
            new.webhook.0,
            new.public_id,
            new.event.name(),
            new.message.map(|id| id.0),
            new.facts,
            new.depth,
            new.status.name(),
            tx.now_ms()
        ],
        |row| row.get("id").map(DeliveryId),
    )
}

/// Webhooks of which more deliveries may wait than `most`. The ends of an index tell; most webhooks need no count.
pub(super) fn list_long_backlogs(tx: &mut Tx<'_>, most: i64) -> Result<Vec<WebhookId>, DbError> {
    let end = |end: &str, status: &str| {
        format!("(select {end}(d.id) from webhook_deliveries d where d.webhook_id = w.id and d.status = '{status}')")
    };
    let span = |status: &str| format!("coalesce({} - {} + 1, 0)", end("max", status), end("min", status));
    let sql = format!("select w.id from webhooks w where {} + {} > $1", span("pending"), span("held"));
    tx.query(&sql, params![most], |row| row.get("id").map(WebhookId))
}

/// Deliveries of a webhook that wait although so many older ones do.
pub(super) fn list_beyond(
    tx: &mut Tx<'_>,
    webhook: WebhookId,
    older: i64,
    limit: i64,
) -> Result<Vec<DeliveryId>, DbError> {
    tx.query(
        "select id from webhook_deliveries where webhook_id = $1 and status in ('pending', 'held') order by id limit $2 offset $3",
        params![webhook.0, limit, older],
        |row| row.get("id").map(DeliveryId),
    )
}

/// How many more deliveries of a webhook may wait. The query reads the index only, and at most `MAX_WAITING` entries of it.
pub(super) fn find_room(tx: &mut Tx<'_>, webhook: WebhookId) -> Result<i64, DbError> {
    let waiting: i64 = tx.query_one(
        "select count(*) as waiting from (
             select 1 from webhook_deliveries where webhook_id = $1 and status in ('pending', 'held') limit $2) waiting",
        params![webhook.0, MAX_WAITING],
        |row| row.get("waiting"),
    )?;
    Ok(MAX_WAITING - waiting)
}

pub(super) fn find_delivery(tx: &mut Tx<'_>, id: DeliveryId) -> Result<Option<DeliveryRow>, DbError> {
    tx.query_optional(&format!("{SELECT_DELIVERY} where d.id = $1"), params![id.0], delivery)
}

/// Which deliveries a list has.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub(super) webhook: Option<WebhookId>,
    pub(super) agent: Option<PrincipalId>,
    pub(super) status: Option<DeliveryStatus>,
    pub(super) event: Option<WebhookEvent>,
    /// Caused at this moment or later.
    pub(super) since: i64,
    /// Caused before this moment.
    pub(super) until: i64,
}

/// Newest first, below `before`.
pub(super) fn list_deliveries(
    tx: &mut Tx<'_>,
    scope: Scope,
    filter: &Filter,
    before: i64,
    limit: i64,
) -> Result<Vec<DeliveryRow>, DbError> {
    let mut sql =
        format!("{SELECT_DELIVERY} where {} and d.id < $2 and d.created_at >= $4 and d.created_at < $5", scope.sql());
    let mut values: Vec<Value<'static>> =
        [scope.id(), before, limit, filter.since, filter.until].map(Value::Integer).to_vec();
    let mut require = |column: &str, value: Value<'static>| {
        values.push(value);
        sql.push_str(&format!(" and {column} = ${}", values.len()));
    };
    if let Some(webhook) = filter.webhook {
        require("d.webhook_id", Value::Integer(webhook.0));
    }
    if let Some(agent) = filter.agent {
        require("w.agent_id", Value::Integer(agent.0));
    }
    if let Some(status) = filter.status {
        require("d.status", Value::Text(status.name()));
    }
    if let Some(event) = filter.event {
        require("d.event", Value::Text(event.name()));
    }
    sql.push_str(" order by d.id desc limit $3");
    tx.query(&sql, &values, delivery)
}

/// The first deliveries about a message.
pub(super) fn list_of_message(
    tx: &mut Tx<'_>,
    message: MessageId,
    limit: i64,
) -> Result<Vec<DeliveryEvidence>, DbError> {
    tx.query(
        "select d.event, p.handle, d.status, d.attempts, d.created_at, d.changed_at
         from webhook_deliveries d join webhooks w on w.id = d.webhook_id join principals p on p.id = w.agent_id
         where d.message_id = $1 order by d.id limit $2",
        params![message.0, limit],
        |row| {
            let attempts: Vec<Attempt> = from_json("attempts", &row.get::<String>("attempts")?)?;
            Ok(DeliveryEvidence {
                event: named(row, "event")?,
                agent: row.get("handle")?,
                status: named(row, "status")?,
                attempts: attempts.len() as i64,
                created_at: Timestamp::from_ms(row.get("created_at")?),
                changed_at: Timestamp::from_ms(row.get("changed_at")?),
            })
        },
    )
}

/// Notes a try and what the delivery has come to by it.
pub(super) fn update_tried(
    tx: &mut Tx<'_>,
    row: &DeliveryRow,
    attempts: &[Attempt],
    tries: i64,
    status: DeliveryStatus,
) -> Result<(), DbError> {
    tx.execute(
        "update webhook_deliveries set attempts = $2, tries = $3, status = $4, reason = null, changed_at = $5
         where id = $1 and status = 'pending'",
        params![row.id.0, to_json(&attempts)?, tries, status.name(), tx.now_ms()],
    )?;
    Ok(())
}

/// Ends a delivery that will not be sent.
pub(super) fn update_dead(tx: &mut Tx<'_>, id: DeliveryId, reason: &str) -> Result<(), DbError> {
    tx.execute(
        "update webhook_deliveries set status = 'dead', reason = $2, changed_at = $3 where id = $1",
        params![id.0, reason, tx.now_ms()],
    )?;
    Ok(())
}

/// Moves all deliveries of a webhook from one status to another.
pub(super) fn update_all(
    tx: &mut Tx<'_>,
    webhook: WebhookId,
    from: DeliveryStatus,
    to: DeliveryStatus,
    reason: Option<&str>,
) -> Result<(), DbError> {
    tx.execute(
        "update webhook_deliveries set status = $3, reason = $4, changed_at = $5 where webhook_id = $1 and status = $2",
        params![webhook.0, from.name(), to.name(), reason, tx.now_ms()],
    )?;
    Ok(())
}

/// Deliveries of a webhook with a status, whose cause is not older than a moment, oldest first and with its time.
pub(super) fn list_to_repeat(
    tx: &mut Tx<'_>,
    webhook: WebhookId,
    status: DeliveryStatus,
    since: i64,
    limit: i64,
) -> Result<Vec<(DeliveryId, i64)>, DbError> {
    tx.query(
        "select id, created_at from webhook_deliveries where webhook_id = $1 and status = $2 and created_at >= $3 order by id limit $4",
        params![webhook.0, status.name(), since, limit],
        |row| Ok((DeliveryId(row.get("id")?), row.get("created_at")?)),
    )
}

/// Holds the deliveries of a webhook that failed for good in or after a moment, so that they are sent again with the others.
pub(super) fn hold_dead_since(tx: &mut Tx<'_>, webhook: WebhookId, since: i64) -> Result<(), DbError> {
    tx.execute(
        "update webhook_deliveries set status = 'held', reason = null
         where webhook_id = $1 and status = 'dead' and changed_at >= $2 and tries > 0 and event <> 'webhook.ping'",
        params![webhook.0, since],
    )?;
    Ok(())
}

pub(super) fn update_pending(tx: &mut Tx<'_>, id: DeliveryId) -> Result<(), DbError> {
    tx.execute(
        "update webhook_deliveries set status = 'pending', reason = null, tries = 0, changed_at = $2 where id = $1",
        params![id.0, tx.now_ms()],
    )?;
    Ok(())
}

/// Deletes a batch of deliveries of a status that came to it before a moment.
pub(super) fn delete_older(tx: &mut Tx<'_>, status: DeliveryStatus, before: i64, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        "delete from webhook_deliveries where id in (
             select id from webhook_deliveries where status = $1 and changed_at < $2 order by changed_at limit $3)",
        params![status.name(), before, limit],
    )
}

/// Ends a batch of held deliveries that are older than this.
pub(super) fn expire_held(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        "update webhook_deliveries set status = 'dead', reason = 'expired', changed_at = $2 where id in (
             select id from webhook_deliveries where status = 'held' and created_at < $1 order by id limit $3)",
        params![before, tx.now_ms(), limit],
    )
}

/// How many deliveries there are of each status.
pub(super) fn count_by_status(tx: &mut Tx<'_>) -> Result<Vec<(DeliveryStatus, i64)>, DbError> {
    tx.query("select status, count(*) as deliveries from webhook_deliveries group by status", &[], |row| {
        Ok((named(row, "status")?, row.get("deliveries")?))
    })
}
