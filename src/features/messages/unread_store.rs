//! SQL of what is unread.

use stoa_db::{DbError, Row, Tx, Value as Parameter, in_list, params};
use stoa_model::notifications::MAX_UNREAD;
use stoa_model::principals::PrincipalKind;
use stoa_model::{ConversationId, MessageId, PrincipalId};

use crate::storage::columns;

/// Messages behind a cursor that are looked at: one's own among them do not count, and may be many.
const MAX_LOOKED_AT: i64 = 20 * MAX_UNREAD;

/// Unread messages of others, up to `through`; counting stops at [`MAX_UNREAD`].
pub(super) fn count_unread(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
    conversation: ConversationId,
    through: MessageId,
) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as unread from (
             select 1 from (
                 select m.author_id, m.deleted_at from messages m
                 where m.conversation_id = $2 and m.id <= $3 and m.id > coalesce((
                     select r.message_id from read_cursors r where r.principal_id = $1 and r.conversation_id = $2), 0)
                 order by m.id desc limit $5) latest
             where latest.author_id <> $1 and latest.deleted_at is null
             limit $4) counted",
        params![reader.0, conversation.0, through.0, MAX_UNREAD, MAX_LOOKED_AT],
        |row| row.get("unread"),
    )
}

/// How far each participant of a conversation has read: those among `readers`, or all if there are many.
pub(super) fn list_cursors(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    readers: &[PrincipalId],
) -> Result<Vec<(PrincipalId, MessageId)>, DbError> {
    const MANY: usize = 128;
    let mut values = params![conversation.0].to_vec();
    let mut filter = String::new();
    if readers.len() <= MANY {
        let (list, wanted) = in_list(2, readers.iter().map(|id| Parameter::Integer(id.0)));
        values.extend(wanted);
        filter = format!("where part.id in {list}");
    }
    tx.query(
        &format!(
            "select part.id, coalesce(r.message_id, 0) as last_read from (
                 select m.principal_id as id from channels ch join channel_members m on m.channel_id = ch.id
                     where ch.conversation_id = $1 and ch.deleted_at is null
                 union
                 select p.id from conversations c join principals p on p.id = c.low_id or p.id = c.high_id
                     where c.id = $1) part
             left join read_cursors r on r.conversation_id = $1 and r.principal_id = part.id
             {filter}"
        ),
        &values,
        |row| Ok((PrincipalId(row.get("id")?), MessageId(row.get("last_read")?))),
    )
}

/// The latest messages of a conversation up to one of them, latest first, with their authors; without those
/// that were deleted. True if there are no others.
pub(super) fn list_latest(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    through: MessageId,
    limit: i64,
) -> Result<(Vec<(MessageId, PrincipalId)>, bool), DbError> {
    let mut latest = Vec::new();
    let mut looked_at = 0;
    tx.query_each(
        "select id, author_id, deleted_at from messages
         where conversation_id = $1 and id <= $2 order by id desc limit $3",
        params![conversation.0, through.0, limit],
        |row| {
            looked_at += 1;
            if row.get::<Option<i64>>("deleted_at")?.is_none() {
                latest.push((MessageId(row.get("id")?), PrincipalId(row.get("author_id")?)));
            }
            Ok(())
        },
    )?;
    Ok((latest, looked_at < limit))
}

/// A conversation of a reader, and how far they have read.
pub(super) struct ConversationForReader {
    pub(super) id: ConversationId,
    pub(super) name: String,
    pub(super) kind: PrincipalKind,
    pub(super) display_name: String,
    pub(super) last_message: Option<MessageId>,
    pub(super) last_read: Option<MessageId>,
}

/// The channels that somebody is a member of, by name.
pub(super) fn list_channel_conversations(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
) -> Result<Vec<ConversationForReader>, DbError> {
    tx.query(
        "select c.conversation_id, c.name, 'system' as kind, '' as display_name, r.message_id as last_read,
             (select max(m.id) from messages m where m.conversation_id = c.conversation_id) as last_message
         from channel_members mine join channels c on c.id = mine.channel_id
         left join read_cursors r on r.conversation_id = c.conversation_id and r.principal_id = $1
         where mine.principal_id = $1 and c.deleted_at is null order by c.name",
        params![reader.0],
        conversation_for_reader,
    )
}

/// The DMs that something was said in, the latest first.
pub(super) fn list_dm_conversations(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
    limit: i64,
) -> Result<Vec<ConversationForReader>, DbError> {
    let side = |mine: &str, other: &str| {
        format!(
            "select c.id as conversation_id, c.{other} as partner_id,
                 (select max(m.id) from messages m where m.conversation_id = c.id) as last_message
             from conversations c where c.{mine} = $1"
        )
    };
    tx.query(
        &format!(
            "select pairs.conversation_id, p.handle as name, p.kind, p.display_name, pairs.last_message,
                 r.message_id as last_read
             from ({} union all {}) pairs join principals p on p.id = pairs.partner_id
             left join read_cursors r on r.conversation_id = pairs.conversation_id and r.principal_id = $1
             where pairs.last_message is not null order by pairs.last_message desc limit $2",
            side("low_id", "high_id"),
            side("high_id", "low_id")
        ),
        params![reader.0, limit],
        conversation_for_reader,
    )
}

pub(super) fn find_last(tx: &mut Tx<'_>, conversation: ConversationId) -> Result<Option<MessageId>, DbError> {
    tx.query_one("select max(id) as last from messages where conversation_id = $1", params![conversation.0], |row| {
        Ok(row.get::<Option<i64>>("last")?.map(MessageId))
    })
}

fn conversation_for_reader(row: &Row<'_>) -> Result<ConversationForReader, DbError> {
    let message = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.filter(|id| *id > 0).map(MessageId));
    Ok(ConversationForReader {
        id: ConversationId(row.get("conversation_id")?),
        name: row.get("name")?,
        kind: columns::named(row, "kind")?,
        display_name: row.get("display_name")?,
        last_message: message("last_message")?,
        last_read: message("last_read")?,
    })
}
