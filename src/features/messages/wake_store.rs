use stoa_db::{DbError, Tx, Value, in_list, params};
use stoa_model::messages::DeliveryState;
use stoa_model::{ConversationId, MessageId, PrincipalId, RunId};

use crate::storage::columns;

/// A message that an agent was sent, and what that has set in motion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakeRow {
    /// The DM: of a mention the one about it.
    pub message: MessageId,
    pub recipient: PrincipalId,
    pub recipient_name: String,
    /// The person who answers for the recipient.
    pub recipient_human: PrincipalId,
    pub author: PrincipalId,
    pub author_human: PrincipalId,
    /// None where nobody was to be woken.
    pub state: Option<DeliveryState>,
    pub reason: Option<String>,
    pub run: Option<RunId>,
}

/// A message that waits for the next run of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingRow {
    pub message: MessageId,
    /// The message in a channel that mentions the agent.
    pub mention_of: Option<MessageId>,
    /// Of the message in the channel, or of the DM.
    pub conversation: ConversationId,
    pub author: PrincipalId,
    pub author_human: PrincipalId,
    pub depth: i64,
    pub chain: MessageId,
}

pub(super) fn update_wake(
    tx: &mut Tx<'_>,
    message: MessageId,
    state: DeliveryState,
    reason: Option<&str>,
    run: Option<RunId>,
) -> Result<(), DbError> {
    tx.execute(
        "update messages set wake_state = $2, wake_reason = $3, wake_run_id = $4 where id = $1",
        params![message.0, state.name(), reason, run.map(|run| run.0)],
    )?;
    Ok(())
}

pub(super) fn update_covered(tx: &mut Tx<'_>, messages: &[MessageId], run: RunId) -> Result<(), DbError> {
    for chunk in messages.chunks(512) {
        let (list, mut values) = in_list(2, chunk.iter().map(|id| Value::Integer(id.0)));
        values.insert(0, Value::Integer(run.0));
        tx.execute(
            &format!(
                "update messages set wake_state = 'woken', wake_reason = null, wake_run_id = $1 where id in {list}"
            ),
            &values,
        )?;
    }
    Ok(())
}

pub(super) fn update_run(tx: &mut Tx<'_>, from: RunId, to: RunId) -> Result<(), DbError> {
    tx.execute("update messages set wake_run_id = $2 where wake_run_id = $1", params![from.0, to.0])?;
    Ok(())
}

/// What waits for an agent is not run after all.
pub(super) fn update_dropped(tx: &mut Tx<'_>, agent: PrincipalId, reason: &str) -> Result<u64, DbError> {
    tx.execute(
        "update messages set wake_state = 'not_woken', wake_reason = $2
         where recipient_id = $1 and wake_state = 'deferred' and wake_run_id is null",
        params![agent.0, reason],
    )
}

/// Takes messages, and what tells of them, out of what waits.
pub(super) fn update_withdrawn(tx: &mut Tx<'_>, message: MessageId) -> Result<(), DbError> {
    for column in ["id", "mention_of"] {
        // Nearly always nothing waits, and then nothing is changed.
        let is_waiting: bool = tx.query_one(
            &format!(
                "select exists (select 1 from messages
                     where {column} = $1 and wake_state = 'deferred' and wake_run_id is null) as waiting"
            ),
            params![message.0],
            |row| row.get("waiting"),
        )?;
        if !is_waiting {
            continue;
        }
        tx.execute(
            &format!(
                "update messages set wake_state = null, wake_reason = null
                 where {column} = $1 and wake_state = 'deferred' and wake_run_id is null"
            ),
            params![message.0],
        )?;
    }
    Ok(())
}

/// The oldest messages that wait for an agent.
pub(super) fn list_waiting(tx: &mut Tx<'_>, agent: PrincipalId, limit: i64) -> Result<Vec<WaitingRow>, DbError> {
    tx.query(
        "select m.id, m.mention_of, m.author_id, coalesce(a.owner_id, a.id) as human, m.depth, coalesce(m.chain_id, m.id) as chain,
             coalesce(o.conversation_id, m.conversation_id) as conversation
         from messages m join principals a on a.id = m.author_id left join messages o on o.id = m.mention_of
         where m.recipient_id = $1 and m.wake_state = 'deferred' and m.wake_run_id is null and m.deleted_at is null
         order by m.id limit $2",
        params![agent.0, limit],
        |row| {
            Ok(WaitingRow {
                message: MessageId(row.get("id")?),
                mention_of: row.get::<Option<i64>>("mention_of")?.map(MessageId),
                conversation: ConversationId(row.get("conversation")?),
                author: PrincipalId(row.get("author_id")?),
                author_human: PrincipalId(row.get("human")?),
                depth: row.get("depth")?,
                chain: MessageId(row.get("chain")?),
            })
        },
    )
}

/// How many messages wait for an agent, up to `limit`.
pub(super) fn count_waiting(tx: &mut Tx<'_>, agent: PrincipalId, limit: i64) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as waiting from (select 1 from messages
             where recipient_id = $1 and wake_state = 'deferred' and wake_run_id is null and deleted_at is null limit $2) counted",
        params![agent.0, limit],
        |row| row.get("waiting"),
    )
}

/// The decisions about a message: for its recipient, or for each principal that it mentions.
pub(super) fn list_wakes(tx: &mut Tx<'_>, message: MessageId) -> Result<Vec<WakeRow>, DbError> {
    let mut found = Vec::new();
    for column in ["id", "mention_of"] {
        found.extend(tx.query(
            &format!(
                "select m.id, m.recipient_id, m.author_id, m.wake_state, m.wake_reason, m.wake_run_id, r.handle,
                     coalesce(r.owner_id, r.id) as recipient_human, coalesce(a.owner_id, a.id) as author_human
                 from messages m join principals r on r.id = m.recipient_id join principals a on a.id = m.author_id
                 where m.{column} = $1 order by m.recipient_id"
            ),
            params![message.0],
            |row| {
                Ok(WakeRow {
                    message: MessageId(row.get("id")?),
                    recipient: PrincipalId(row.get("recipient_id")?),
                    recipient_name: row.get("handle")?,
                    recipient_human: PrincipalId(row.get("recipient_human")?),
                    author: PrincipalId(row.get("author_id")?),
                    author_human: PrincipalId(row.get("author_human")?),
                    state: columns::named_or_null(row, "wake_state")?,
                    reason: row.get("wake_reason")?,
                    run: row.get::<Option<i64>>("wake_run_id")?.map(RunId),
                })
            },
        )?);
    }
    Ok(found)
}

/// Agents of other owners that the mentions of a message have woken, or will wake.
pub(super) fn count_foreign_woken(tx: &mut Tx<'_>, origin: MessageId, human: PrincipalId) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as woken from messages m join principals r on r.id = m.recipient_id
         where m.mention_of = $1 and m.wake_state in ('woken', 'deferred') and r.owner_id <> $2",
        params![origin.0, human.0],
        |row| row.get("woken"),
    )
}

/// Messages of one principal to another after a message and a moment, up to about half of `limit`.
pub(super) fn count_exchanges(
    tx: &mut Tx<'_>,
    author: PrincipalId,
    recipient: PrincipalId,
    after: MessageId,
    since_ms: i64,
    limit: i64,
) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as exchanges from (
             select m.author_id, m.created_at from messages m
             where m.conversation_id = (select id from conversations where low_id = $1 and high_id = $2) and m.id > $3
             order by m.id desc limit $4) last
         where last.author_id = $5 and last.created_at > $6",
        params![author.0.min(recipient.0), author.0.max(recipient.0), after.0, limit, author.0, since_ms],
        |row| row.get("exchanges"),
    )
}

/// The messages that a run covers, oldest first.
pub(super) fn list_covered(tx: &mut Tx<'_>, run: RunId, limit: i64) -> Result<Vec<MessageId>, DbError> {
    tx.query("select id from messages where wake_run_id = $1 order by id limit $2", params![run.0, limit], |row| {
        row.get("id").map(MessageId)
    })
}

/// The first message that was sent in a run.
pub(super) fn find_first_of_run(tx: &mut Tx<'_>, run: RunId) -> Result<Option<MessageId>, DbError> {
    tx.query_optional(
        "select id from messages where run_id = $1 and mention_of is null order by id limit 1",
        params![run.0],
        |row| row.get("id").map(MessageId),
    )
}

/// The first message that somebody sent in a conversation after another one, between two moments.
pub(super) fn find_first_between(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    author: PrincipalId,
    after: MessageId,
    (from_ms, until_ms): (i64, i64),
) -> Result<Option<MessageId>, DbError> {
    tx.query_optional(
        "select id from messages
         where conversation_id = $1 and id > $2 and author_id = $3 and created_at >= $4 and created_at <= $5
         order by id limit 1",
        params![conversation.0, after.0, author.0, from_ms, until_ms],
        |row| row.get("id").map(MessageId),
    )
}
