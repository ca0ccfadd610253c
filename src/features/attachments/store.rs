use stoa_db::{DbError, Row, ToValue, Tx, Value, in_list, params};
use stoa_model::{MessageId, PrincipalId, Timestamp};
use tempfile::TempPath;

use super::receiving::Received;
use crate::access::Actor;
use crate::error::HubError;
use crate::features::channels::visibility;
use crate::storage::blobs::new_object;

/// A content that was stored.
#[derive(Debug, Clone)]
pub(super) struct Blob {
    pub(super) sha256: String,
    pub(super) object: String,
    pub(super) size: i64,
    pub(super) mime_type: String,
    /// Of a picture.
    pub(super) width: Option<i64>,
    pub(super) height: Option<i64>,
}

impl Blob {
    /// What is stored of a file that has come in, under a new name, and where it is until then.
    pub(super) fn of(received: Received) -> Result<(Self, TempPath), HubError> {
        let blob = Self {
            object: new_object(&received.sha256)?,
            size: i64::try_from(received.size).map_err(HubError::internal)?,
            mime_type: received.kind.mime_type().to_owned(),
            width: received.picture.map(|picture| picture.width.into()),
            height: received.picture.map(|picture| picture.height.into()),
            sha256: received.sha256,
        };
        Ok((blob, received.file))
    }
}

/// A file under the name that an uploader or a message gave it.
pub(super) struct AttachmentRow {
    pub(super) sha256: String,
    pub(super) size: i64,
    pub(super) mime_type: String,
    pub(super) filename: String,
    pub(super) width: Option<i64>,
    pub(super) height: Option<i64>,
}

/// A file that somebody may read, and where its content is.
pub(super) struct ReadableRow {
    pub(super) attachment: AttachmentRow,
    pub(super) created_at: Timestamp,
    pub(super) object: String,
}

pub(super) struct NewAttachment<'a> {
    pub(super) sha256: &'a str,
    pub(super) filename: &'a str,
    pub(super) size: i64,
    pub(super) mime_type: &'a str,
}

/// A content and how much it is used.
pub(super) struct StoredBlob {
    pub(super) sha256: String,
    pub(super) size: i64,
    pub(super) mime_type: String,
    pub(super) created_at: Timestamp,
    pub(super) uploads: i64,
    pub(super) messages: i64,
}

/// Stores a content, unless it is there already. Says whether it was not.
pub(super) fn insert_blob(tx: &mut Tx<'_>, blob: &Blob) -> Result<bool, DbError> {
    let inserted = tx.execute(
        "insert into blobs (sha256, object, size, mime_type, width, height, created_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (sha256) do nothing",
        params![blob.sha256, blob.object, blob.size, blob.mime_type, blob.width, blob.height, tx.now_ms()],
    )?;
    if inserted == 0 && blob.width.is_some() {
        // An earlier version may have stored it without looking.
        tx.execute(
            "update blobs set width = $2, height = $3 where sha256 = $1 and width is null",
            params![blob.sha256, blob.width, blob.height],
        )?;
    }
    Ok(inserted > 0)
}

pub(super) fn find_blob(tx: &mut Tx<'_>, sha256: &str) -> Result<Option<Blob>, DbError> {
    let sql = "select sha256, object, size, mime_type, width, height from blobs where sha256 = $1";
    tx.query_optional(sql, params![sha256], blob)
}

/// Those of the names that contents have, or had until the store lets go of them.
pub(super) fn list_known_objects(tx: &mut Tx<'_>, objects: &[String]) -> Result<Vec<String>, DbError> {
    let (list, values) = in_list(1, objects.iter().map(ToValue::to_value));
    tx.query(
        &format!(
            "select object from blobs where object in {list} union all
             select object from blob_removals where object in {list}"
        ),
        &values,
        |row| row.get("object"),
    )
}

/// Lets a content be found under another name, if it is still under this one.
pub(super) fn update_object(tx: &mut Tx<'_>, sha256: &str, from: &str, to: &str) -> Result<bool, DbError> {
    let updated =
        tx.execute("update blobs set object = $3 where sha256 = $1 and object = $2", params![sha256, from, to])?;
    Ok(updated > 0)
}

/// Notes that somebody has uploaded a content under a name. What they called it before is forgotten.
pub(super) fn insert_upload(
    tx: &mut Tx<'_>,
    sha256: &str,
    uploader: PrincipalId,
    filename: &str,
) -> Result<(), DbError> {
    tx.execute("delete from uploads where sha256 = $1 and uploader_id = $2", params![sha256, uploader.0])?;
    tx.execute(
        "insert into uploads (sha256, uploader_id, filename, created_at) values ($1, $2, $3, $4)",
        params![sha256, uploader.0, filename, tx.now_ms()],
    )?;
    Ok(())
}

/// Bytes that a person and their agents have uploaded since a moment.
pub(super) fn sum_uploaded(tx: &mut Tx<'_>, human: PrincipalId, since_ms: i64) -> Result<i64, DbError> {
    tx.query_one(
        "select cast(coalesce(sum(b.size), 0) as bigint) as bytes
         from principals p join uploads u on u.uploader_id = p.id join blobs b on b.sha256 = u.sha256
         where (p.id = $1 or p.owner_id = $1) and u.created_at > $2",
        params![human.0, since_ms],
        |row| row.get("bytes"),
    )
}

/// Holds for uploads that no message of their uploader's shows.
const UNSHOWN: &str = "not exists (
    select 1 from message_attachments sent join messages m on m.id = sent.message_id
    where sent.sha256 = u.sha256 and m.author_id = u.uploader_id)";

/// Holds for uploads that may be read as such. For a credential that does not reach every channel those are the ones that were
/// never sent: by this way it is not to read what was sent where it does not reach, also when the message is deleted by now.
/// A run that others have started reads what was uploaded during the run.
fn is_in_reach(reader: &Actor) -> String {
    let reach = &reader.principal.reach;
    if !reach.is_limited() {
        return "1 = 1".to_owned();
    }
    let since = reach.of_run().map_or(0, |run| run.started_at);
    format!("u.is_sent = 0 and u.created_at >= {since} and {UNSHOWN}")
}

/// A content that the reader or, if it is a person, an agent of theirs has uploaded.
pub(super) fn find_uploaded(tx: &mut Tx<'_>, sha256: &str, reader: &Actor) -> Result<Option<ReadableRow>, DbError> {
    let is_in_reach = is_in_reach(reader);
    tx.query_optional(
        &format!(
            "select b.sha256, b.object, b.size, b.mime_type, b.width, b.height, u.filename, u.created_at
             from uploads u join principals p on p.id = u.uploader_id join blobs b on b.sha256 = u.sha256
             where u.sha256 = $1 and (u.uploader_id = $2 or p.owner_id = $2) and {is_in_reach}
             order by case when u.uploader_id = $2 then 0 else 1 end, u.id desc limit 1"
        ),
        params![sha256, reader.id().0],
        readable,
    )
}

/// Whether a principal may read a content, whatever the credential.
pub(super) fn is_readable_by(tx: &mut Tx<'_>, sha256: &str, reader: PrincipalId) -> Result<bool, DbError> {
    let is_visible = visibility::sql("m.conversation_id", "$2");
    tx.query_one(
        &format!(
            "select case when exists (select 1 from uploads u where u.sha256 = $1 and u.uploader_id = $2)
                 or exists (select 1 from message_attachments a join messages m on m.id = a.message_id
                            where a.sha256 = $1 and m.deleted_at is null and {is_visible})
             then 1 else 0 end as is_readable"
        ),
        params![sha256, reader.0],
        |row| row.get("is_readable"),
    )
}

/// A content that a message shows which the reader may see.
pub(super) fn find_sent(tx: &mut Tx<'_>, sha256: &str, reader: &Actor) -> Result<Option<ReadableRow>, DbError> {
    let is_visible = visibility::sql("m.conversation_id", "$2");
    let is_in_reach = reader.principal.reach.sql_of_messages("m");
    tx.query_optional(
        &format!(
            "select b.sha256, b.object, b.size, b.mime_type, b.width, b.height, a.filename, m.created_at
             from message_attachments a join messages m on m.id = a.message_id
             join blobs b on b.sha256 = a.sha256
             where a.sha256 = $1 and m.deleted_at is null and {is_visible} and {is_in_reach}
             order by a.message_id desc limit 1"
        ),
        params![sha256, reader.id().0],
        readable,
    )
}

/// What somebody has uploaded, the latest first, before an id.
pub(super) fn list_uploads(
    tx: &mut Tx<'_>,
    uploader: &Actor,
    before: i64,
    limit: i64,
) -> Result<Vec<(i64, ReadableRow)>, DbError> {
    let is_in_reach = is_in_reach(uploader);
    tx.query(
        &format!(
            "select u.id, b.sha256, b.object, b.size, b.mime_type, b.width, b.height, u.filename, u.created_at
             from uploads u join blobs b on b.sha256 = u.sha256
             where u.uploader_id = $1 and u.id < $2 and {is_in_reach} order by u.id desc limit $3"
        ),
        params![uploader.id().0, before, limit],
        |row| Ok((row.get("id")?, readable(row)?)),
    )
}

pub(super) fn insert_attachment(
    tx: &mut Tx<'_>,
    message: MessageId,
    position: i64,
    attachment: &NewAttachment<'_>,
) -> Result<(), DbError> {
    tx.execute(
        "insert into message_attachments (message_id, position, sha256, filename, size, mime_type)
         values ($1, $2, $3, $4, $5, $6)",
        params![message.0, position, attachment.sha256, attachment.filename, attachment.size, attachment.mime_type],
    )?;
    Ok(())
}

/// Notes that somebody has sent what they uploaded.
pub(super) fn mark_sent(tx: &mut Tx<'_>, uploader: PrincipalId, sha256: &str) -> Result<(), DbError> {
    tx.execute(
        "update uploads set is_sent = 1 where sha256 = $1 and uploader_id = $2 and is_sent = 0",
        params![sha256, uploader.0],
    )?;
    Ok(())
}

/// What the messages show, in their order.
pub(super) fn list_attachments(
    tx: &mut Tx<'_>,
    messages: &[MessageId],
) -> Result<Vec<(MessageId, AttachmentRow)>, DbError> {
    let (list, values) = in_list(1, messages.iter().map(|id| Value::Integer(id.0)));
    tx.query(
        &format!(
            "select a.message_id, a.sha256, a.filename, a.size, a.mime_type, b.width, b.height
             from message_attachments a join blobs b on b.sha256 = a.sha256
             where a.message_id in {list} order by a.message_id, a.position"
        ),
        &values,
        |row| Ok((MessageId(row.get("message_id")?), attachment(row)?)),
    )
}

pub(super) fn delete_attachments(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<(), DbError> {
    let (list, values) = in_list(1, messages.iter().map(|id| Value::Integer(id.0)));
    tx.execute(&format!("delete from message_attachments where message_id in {list}"), &values)?;
    Ok(())
}

/// Holds for a content that no message shows, and that nobody has stored or uploaded since the moment `$1`.
const UNUSED: &str = "b.created_at <= $1
    and not exists (select 1 from message_attachments a where a.sha256 = b.sha256)
    and not exists (select 1 from uploads u where u.sha256 = b.sha256 and u.created_at > $1)";

/// Forgets uploads that are old and that their uploaders have not sent, some at a time, whoever else has the same content:
/// otherwise a file that stays would tell that somebody else has it.
pub(super) fn delete_old_uploads(tx: &mut Tx<'_>, since_ms: i64, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        &format!(
            "delete from uploads where id in (
                 select u.id from uploads u where u.created_at <= $1 and {UNSHOWN} order by u.id limit $2)"
        ),
        params![since_ms, limit],
    )
}

/// Contents that nobody has, behind one.
pub(super) fn list_unused(tx: &mut Tx<'_>, since_ms: i64, behind: &str, limit: i64) -> Result<Vec<String>, DbError> {
    tx.query(
        &format!("select b.sha256 from blobs b where b.sha256 > $2 and {UNUSED} order by b.sha256 limit $3"),
        params![since_ms, behind, limit],
        |row| row.get("sha256"),
    )
}

/// Forgets a content, if nobody has it still, and notes that the store has to let go of it. Says how many bytes that are.
pub(super) fn delete_unused(tx: &mut Tx<'_>, since_ms: i64, sha256: &str) -> Result<Option<i64>, DbError> {
    let found = tx.query_optional(
        &format!("select b.object, b.size from blobs b where b.sha256 = $2 and {UNUSED}"),
        params![since_ms, sha256],
        |row| Ok((row.get::<String>("object")?, row.get::<i64>("size")?)),
    )?;
    let Some((object, size)) = found else { return Ok(None) };
    tx.execute("delete from uploads where sha256 = $1", params![sha256])?;
    tx.execute("delete from blobs where sha256 = $1", params![sha256])?;
    tx.execute("insert into blob_removals (object, created_at) values ($1, $2)", params![object, tx.now_ms()])?;
    Ok(Some(size))
}

/// What the store has to let go of, unless somebody needs it to wait.
pub(super) fn list_removals(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<String>, DbError> {
    tx.query(
        "select object from blob_removals where not exists (select 1 from blob_holds where until_ms > $1)
         order by object limit $2",
        params![tx.now_ms(), limit],
        |row| row.get("object"),
    )
}

pub(super) fn delete_removals(tx: &mut Tx<'_>, objects: &[String]) -> Result<(), DbError> {
    let (list, values) = in_list(1, objects.iter().map(ToValue::to_value));
    tx.execute(&format!("delete from blob_removals where object in {list}"), &values)?;
    Ok(())
}

pub(super) fn insert_hold(tx: &mut Tx<'_>, name: &str, until_ms: i64) -> Result<(), DbError> {
    tx.execute(
        "insert into blob_holds (name, until_ms) values ($1, $2)
         on conflict (name) do update set until_ms = excluded.until_ms",
        params![name, until_ms],
    )?;
    Ok(())
}

/// Lets go of a hold, and of those whose holders have not come back.
pub(super) fn delete_hold(tx: &mut Tx<'_>, name: &str) -> Result<(), DbError> {
    tx.execute("delete from blob_holds where name = $1 or until_ms <= $2", params![name, tx.now_ms()])?;
    Ok(())
}

/// All contents, in the order of their sums, behind one.
pub(super) fn list_blobs(tx: &mut Tx<'_>, behind: &str, limit: i64) -> Result<Vec<Blob>, DbError> {
    tx.query(
        "select sha256, object, size, mime_type, width, height from blobs where sha256 > $1 order by sha256 limit $2",
        params![behind, limit],
        blob,
    )
}

/// The same for the operator, who also wants to know who uses them.
pub(super) fn list_stored(tx: &mut Tx<'_>, behind: &str, limit: i64) -> Result<Vec<StoredBlob>, DbError> {
    tx.query(
        "select b.sha256, b.size, b.mime_type, b.created_at,
             (select count(*) from uploads u where u.sha256 = b.sha256) as uploads,
             (select count(*) from message_attachments a where a.sha256 = b.sha256) as messages
         from blobs b where b.sha256 > $1 order by b.sha256 limit $2",
        params![behind, limit],
        |row| {
            Ok(StoredBlob {
                sha256: row.get("sha256")?,
                size: row.get("size")?,
                mime_type: row.get("mime_type")?,
                created_at: Timestamp::from_ms(row.get("created_at")?),
                uploads: row.get("uploads")?,
                messages: row.get("messages")?,
            })
        },
    )
}

fn blob(row: &Row<'_>) -> Result<Blob, DbError> {
    Ok(Blob {
        sha256: row.get("sha256")?,
        object: row.get("object")?,
        size: row.get("size")?,
        mime_type: row.get("mime_type")?,
        width: row.get("width")?,
        height: row.get("height")?,
    })
}

fn attachment(row: &Row<'_>) -> Result<AttachmentRow, DbError> {
    Ok(AttachmentRow {
        sha256: row.get("sha256")?,
        size: row.get("size")?,
        mime_type: row.get("mime_type")?,
        filename: row.get("filename")?,
        width: row.get("width")?,
        height: row.get("height")?,
    })
}

fn readable(row: &Row<'_>) -> Result<ReadableRow, DbError> {
    let created_at = Timestamp::from_ms(row.get("created_at")?);
    Ok(ReadableRow { attachment: attachment(row)?, created_at, object: row.get("object")? })
}
