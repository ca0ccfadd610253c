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
    pub state: WorkflowState,
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
                 workflow_state
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
                state: columns::named_or(row, "workflow_state", WorkflowState::Proposed),
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
