//! What messages say, for those who make something of many of them.

use stoa_db::{DbError, Tx, id_list, is_among, params};
use stoa_model::messages::WorkflowState;
use stoa_model::{ConversationId, MessageId, PrincipalId};

use crate::storage::columns;

/// What was said, where, when and by whom.
#[derive(Debug, Clone)]
pub struct MessageText {
    pub id: MessageId,
    pub conversation: ConversationId,
    pub author: PrincipalId,
    pub created_at_ms: i64,
    pub subject: Option<String>,
    pub body: String,
    pub has_mentions: bool,
    /// None for talk.
    pub state: Option<WorkflowState>,
}

/// Shows those of the messages that say something themselves, oldest first: not tombstones, and not the DMs that tell of a
/// mention.
pub fn visit_texts(
    tx: &mut Tx<'_>,
    ids: &[MessageId],
    mut visit: impl FnMut(MessageText) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let (is_among, ids) = (is_among(tx.engine(), "$1"), id_list(ids.iter().map(|id| id.0)));
    tx.query_each(
        &format!(
            "select id, conversation_id, author_id, created_at, subject, body, mentions <> '[]' as has_mentions,
                 case when is_work = 1 then workflow_state end as workflow_state
             from messages where id {is_among} and deleted_at is null and mention_of is null order by id"
        ),
        params![ids],
        |row| {
            visit(MessageText {
                id: MessageId(row.get("id")?),
                conversation: ConversationId(row.get("conversation_id")?),
                author: PrincipalId(row.get("author_id")?),
                created_at_ms: row.get("created_at")?,
                subject: row.get("subject")?,
                body: row.get("body")?,
                has_mentions: row.get("has_mentions")?,
                state: columns::named_or_null(row, "workflow_state").unwrap_or_default(),
            })
        },
    )
}

/// How much a message says, and who answers for its author.
#[derive(Debug, Clone, Copy)]
pub struct TextSize {
    pub id: MessageId,
    pub conversation: ConversationId,
    /// The author, or the owner of the agent who wrote it.
    pub owner: PrincipalId,
    /// Of the body.
    pub bytes: i64,
}

/// The sizes of those of the messages that [have a text](visit_texts), oldest first. It reads no texts.
pub fn list_sizes(tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<Vec<TextSize>, DbError> {
    let (is_among, ids) = (is_among(tx.engine(), "$1"), id_list(ids.iter().map(|id| id.0)));
    tx.query(
        &format!(
            "select m.id, m.conversation_id, coalesce(p.owner_id, p.id) as owner, cast(octet_length(m.body) as bigint) as bytes
             from messages m join principals p on p.id = m.author_id
             where m.id {is_among} and m.deleted_at is null and m.mention_of is null order by m.id"
        ),
        params![ids],
        |row| {
            Ok(TextSize {
                id: MessageId(row.get("id")?),
                conversation: ConversationId(row.get("conversation_id")?),
                owner: PrincipalId(row.get("owner")?),
                bytes: row.get("bytes")?,
            })
        },
    )
}

/// The messages after an id, oldest first.
pub fn list_ids_after(tx: &mut Tx<'_>, after: MessageId, limit: i64) -> Result<Vec<MessageId>, DbError> {
    tx.query("select id from messages where id > $1 order by id limit $2", params![after.0, limit], |row| {
        row.get("id").map(MessageId)
    })
}
