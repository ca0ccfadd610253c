//! Texts that wait to be indexed: what an owner writes beyond their share of a batch.
//!
//! The index goes on without them, so what others write is not held up. It does not have them meanwhile, in no form at all:
//! a search looks at them by itself, as far as it can.

use std::collections::BTreeMap;

use stoa_db::{DbError, Tx, Value, id_list, is_among, params};
use stoa_model::MessageId;

use crate::features::messages::TextSize;

/// Bytes of texts that one step takes out of the queue, unless the first is longer.
const PIECE_BYTES: i64 = 1024 * 1024;
/// Rows in one statement.
const ROWS: usize = 100;
/// Texts that are looked at to make a piece.
const PIECE_TEXTS: i64 = 1000;

pub(super) fn insert(tx: &mut Tx<'_>, sizes: &[TextSize]) -> Result<(), DbError> {
    for rows in sizes.chunks(ROWS) {
        let mut values = Vec::with_capacity(4 * rows.len());
        let mut places = Vec::with_capacity(rows.len());
        for size in rows {
            let first = values.len() + 1;
            places.push(format!("(${first}, ${}, ${}, ${})", first + 1, first + 2, first + 3));
            values.extend([size.id.0, size.conversation.0, size.owner.0, size.bytes].map(Value::Integer));
        }
        tx.execute(
            &format!(
                "insert into search_queue (message_id, conversation_id, owner_id, bytes) values {}
                 on conflict (message_id) do update set bytes = excluded.bytes",
                places.join(", ")
            ),
            &values,
        )?;
    }
    Ok(())
}

pub(super) fn remove(tx: &mut Tx<'_>, ids: &[i64]) -> Result<(), DbError> {
    let is_among = is_among(tx.engine(), "$1");
    let list = id_list(ids.iter().copied());
    tx.execute(&format!("delete from search_queue where message_id {is_among}"), params![list])?;
    Ok(())
}

/// What is next: of each owner as many bytes as of the others, the oldest first.
pub(super) fn next_piece(tx: &mut Tx<'_>) -> Result<Vec<MessageId>, DbError> {
    let sql = "select message_id, bytes from (
             select message_id, bytes, sum(bytes) over (partition by owner_id order by message_id) as reached
             from search_queue) queue
         order by reached, message_id limit $1";
    let waiting: Vec<(i64, i64)> =
        tx.query(sql, params![PIECE_TEXTS], |row| Ok((row.get("message_id")?, row.get("bytes")?)))?;
    let mut left = PIECE_BYTES;
    let mut piece = Vec::new();
    for (id, bytes) in waiting {
        if !piece.is_empty() && bytes > left {
            break;
        }
        left -= bytes;
        piece.push(MessageId(id));
    }
    Ok(piece)
}

/// The newest that wait in some conversations, by id, with their bytes.
pub(super) fn list_newest(
    tx: &mut Tx<'_>,
    conversations: &[i64],
    limit: i64,
) -> Result<BTreeMap<MessageId, i64>, DbError> {
    let is_among = is_among(tx.engine(), "$1");
    let sql = format!(
        "select message_id, bytes from search_queue where conversation_id {is_among} order by message_id desc limit $2"
    );
    let waiting = tx.query(&sql, params![id_list(conversations.iter().copied()), limit], |row| {
        Ok((MessageId(row.get("message_id")?), row.get("bytes")?))
    })?;
    Ok(waiting.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use stoa_db::{Database, Options};
    use stoa_model::{ConversationId, PrincipalId};
    use stoa_schema::MIGRATIONS;

    use super::super::sqlite::COMPANION;
    use super::*;

    #[tokio::test]
    async fn a_piece_has_as_many_bytes_of_one_owner_as_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { companion: Some(COMPANION), ..Options::new(folder.path()) };
        let db = Database::open(options, MIGRATIONS).unwrap();
        let size = |id: i64, owner: i64, bytes: i64| TextSize {
            id: MessageId(id),
            conversation: ConversationId(1),
            owner: PrincipalId(owner),
            bytes,
        };
        // The first owner wrote 60 long texts before two others wrote anything.
        let mut sizes: Vec<TextSize> = (1..=60).map(|id| size(id, 1, 256 * 1024)).collect();
        sizes.extend([size(61, 2, 1000), size(62, 3, 300 * 1024), size(63, 2, 1000)]);
        let written: Result<(), DbError> = db.write_companion(move |tx| insert(tx, &sizes)).await;
        written.unwrap();
        let mut pieces: Vec<Vec<i64>> = Vec::new();
        for _ in 0..2 {
            let piece: Result<Vec<MessageId>, DbError> = db.read(next_piece).await;
            let piece: Vec<i64> = piece.unwrap().into_iter().map(|id| id.0).collect();
            pieces.push(piece.clone());
            let removed: Result<(), DbError> = db.write_companion(move |tx| remove(tx, &piece)).await;
            removed.unwrap();
        }
        assert_eq!(pieces, [vec![61, 63, 1, 62, 2], vec![3, 4, 5, 6]]);
        let newest: Result<BTreeMap<MessageId, i64>, DbError> = db.read(|tx| list_newest(tx, &[1, 7], 2)).await;
        assert_eq!(newest.unwrap().into_keys().map(|id| id.0).collect::<Vec<_>>(), [59, 60]);
        let elsewhere: Result<BTreeMap<MessageId, i64>, DbError> = db.read(|tx| list_newest(tx, &[7], 2)).await;
        assert!(elsewhere.unwrap().is_empty());
        db.close().await;
    }
}
