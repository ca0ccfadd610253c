use std::sync::LazyLock;

use serde_json::{Map, Value};
use stoa_db::{DbError, Insert, Row, Tx, Value as Parameter, in_list, params};
use stoa_model::dispatch::NotWokenReason;
use stoa_model::messages::{Author, DeliveryState, MessageStatus, WorkflowState};
use stoa_model::{ChannelId, ConversationId, MessageId, PrincipalId, RunId, Timestamp};

use crate::access::Actor;
use crate::access::reach::MessagePlace;
use crate::features::channels::visibility;
use crate::features::channels::working::{self, Working};
use crate::features::reactions;
use crate::json::text_length;
use crate::storage::columns;

/// A message as it is stored, with the names that its ids stand for.
#[derive(Debug, Clone)]
pub struct MessageRow {
    pub id: MessageId,
    pub conversation_id: ConversationId,
    pub channel_id: Option<ChannelId>,
    pub channel: Option<String>,
    pub author_id: PrincipalId,
    pub from: Author,
    /// The name of the recipient.
    pub to: Option<String>,
    pub subject: Option<String>,
    /// The whole text or its beginning, as the query asked.
    pub body: String,
    pub reply_to: Option<MessageId>,
    /// As of now: an expired claim counts as none.
    pub status: MessageStatus,
    pub priority: i64,
    pub metadata: Map<String, Value>,
    pub mentions: Vec<String>,
    pub created_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    /// None for talk.
    pub workflow_state: Option<WorkflowState>,
    pub run_id: Option<i64>,
    pub depth: i64,
    /// The message that its chain of automation began with; none for itself.
    pub chain_id: Option<MessageId>,
    /// Set while the recipient's claim holds.
    pub lease_until: Option<Timestamp>,
    pub status_since: Option<Timestamp>,
    pub recipient_id: Option<PrincipalId>,
    pub thread_id: Option<MessageId>,
    pub mention_of: Option<MessageId>,
    /// Where the message is that a mention's DM tells of.
    pub origin: Option<ConversationId>,
    /// When that message was deleted.
    pub origin_deleted_at: Option<Timestamp>,
    /// Of the whole text.
    pub body_bytes: i64,
}

impl MessageRow {
    pub(super) fn place(&self) -> MessagePlace {
        MessagePlace {
            created_at: self.created_at.as_ms(),
            conversation: self.conversation_id,
            origin: self.origin,
            author: self.author_id,
            recipient: self.recipient_id,
        }
    }
}

pub(super) struct NewMessage<'a> {
    pub(super) conversation: ConversationId,
    pub(super) channel: Option<ChannelId>,
    pub(super) author: PrincipalId,
    pub(super) recipient: Option<PrincipalId>,
    pub(super) subject: Option<&'a str>,
    pub(super) body: &'a str,
    pub(super) reply_to: Option<MessageId>,
    pub(super) thread: Option<MessageId>,
    pub(super) mention_of: Option<MessageId>,
    pub(super) status: MessageStatus,
    pub(super) is_work: bool,
    pub(super) priority: i64,
    pub(super) metadata: &'a Map<String, Value>,
    pub(super) mentions: &'a [String],
    pub(super) depth: i64,
    /// The message that it descends from; none if it begins a chain of its own.
    pub(super) chain: Option<MessageId>,
    /// The run in which it is sent.
    pub(super) run: Option<RunId>,
    /// Why the agent that gets it is not woken, if that is known before it is stored.
    pub(super) not_woken: Option<NotWokenReason>,
}

/// Bytes of JSON in one answer; a page ends before it has more, unless it is a single message.
pub(super) const PAGE_BYTES: i64 = 1024 * 1024;
/// What a message takes in JSON beside its texts, roughly.
const FRAME_BYTES: i64 = 600;
/// Characters from which a preview is made.
const PREVIEW_SOURCE: usize = 2000;

/// How much of the texts is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bodies {
    Whole,
    /// The beginning, for a line in a list.
    Beginning,
}

/// A DM that tells of a mention has no text of its own: it says what the channel message says.
const BODY: &str = "case when m.mention_of is null then m.body else coalesce(o.body, '') end";

const BYTES: &str = "octet_length(m.body) + coalesce(octet_length(o.body), 0)";
/// The least that a message takes in JSON.
pub(super) const LEAST_JSON: &str =
    "octet_length(m.body) + coalesce(octet_length(o.body), 0) + octet_length(m.metadata)";

fn selection(bodies: Bodies) -> String {
    let body = match bodies {
        Bodies::Whole => BODY.to_owned(),
        Bodies::Beginning => format!("substr({BODY}, 1, {PREVIEW_SOURCE})"),
    };
    format!(
        "m.id, m.conversation_id, m.channel_id, m.author_id, m.recipient_id, m.subject, {body} as body, {BYTES} as body_bytes, m.reply_to,
        m.thread_id, m.mention_of, o.conversation_id as origin_conversation_id, o.deleted_at as origin_deleted_at, m.status, m.priority, m.metadata,
        m.mentions, m.depth, m.chain_id, m.run_id, m.lease_until, m.created_at, m.deleted_at, m.status_since,
        case when m.is_work = 1 then m.workflow_state end as workflow_state,
        case when m.mention_of is null or o.edited_at > m.created_at then coalesce(o.edited_at, m.edited_at) end as edited_at,
        a.kind as author_kind, a.handle as author_name, a.display_name as author_display_name,
        t.handle as recipient_name, ch.name as channel_name"
    )
}

const JOINS: &str = "join principals a on a.id = m.author_id
     left join principals t on t.id = m.recipient_id
     left join channels ch on ch.id = m.channel_id
     left join messages o on o.id = m.mention_of";

/// A page of messages: those that meet the condition, as many as make up an answer of bearable size. True
/// if there would have been more.
pub(super) fn page(
    tx: &mut Tx<'_>,
    condition: &str,
    values: &[Parameter<'_>],
    bodies: Bodies,
) -> Result<(Vec<MessageRow>, bool), DbError> {
    let now = tx.now_ms();
    if bodies == Bodies::Beginning {
        let sql = format!("select {} from messages m {JOINS} where {condition}", selection(bodies));
        return Ok((tx.query(&sql, values, |row| message(row, now))?, false));
    }
    // The sizes are known without reading the texts.
    let sized = tx.query(
        &format!("select m.id, {LEAST_JSON} as bytes from messages m {JOINS} where {condition}"),
        values,
        |row| Ok((MessageId(row.get("id")?), row.get::<i64>("bytes")?)),
    )?;
    let ids = within_bytes(&sized);
    let mut rows = find_messages(tx, &ids, bodies)?;
    rows.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
    cut_to_fit(&mut rows, MessageRow::json_bytes);
    let is_cut = rows.len() < sized.len();
    Ok((rows, is_cut))
}

/// Leaves as many as fit into one answer, one at least. Texts grow in JSON, by up to six times.
pub(super) fn cut_to_fit<T>(rows: &mut Vec<T>, json_bytes: impl Fn(&T) -> i64) {
    let mut bytes = 0;
    let fitting = rows.iter().take_while(|row| {
        bytes += json_bytes(row);
        bytes <= PAGE_BYTES
    });
    let fitting = fitting.count().max(1);
    rows.truncate(fitting);
}

/// The first of the messages whose texts are not too long together, one at least.
pub(super) fn within_bytes(sized: &[(MessageId, i64)]) -> Vec<MessageId> {
    let mut bytes = 0;
    let mut ids = Vec::new();
    for (id, size) in sized {
        bytes += size;
        if !ids.is_empty() && bytes > PAGE_BYTES {
            break;
        }
        ids.push(*id);
    }
    ids
}

impl MessageRow {
    /// How long it is in JSON, roughly.
    pub(super) fn json_bytes(&self) -> i64 {
        let metadata = if self.metadata.is_empty() {
            0
        } else {
            serde_json::to_string(&self.metadata).map_or(0, |metadata| metadata.len() as i64)
        };
        FRAME_BYTES + in_json(&self.body) + self.subject.as_deref().map_or(0, in_json) + metadata
    }
}

fn in_json(text: &str) -> i64 {
    text_length(text) as i64
}

/// What the time makes of a stored status: a claim whose lease has run out is none.
fn status_at(status: MessageStatus, lease_until: Option<i64>, now_ms: i64) -> MessageStatus {
    match status {
        MessageStatus::Processing if lease_until.is_none_or(|until| until <= now_ms) => MessageStatus::Pending,
        status => status,
    }
}

/// Ids are in the order of commits: who has read a conversation or an inbox up to one of them has missed nothing before it.
static MESSAGES: Insert = Insert::new(
    "messages",
    "id",
    &[
        "conversation_id",
        "channel_id",
        "author_id",
        "recipient_id",
        "subject",
        "body",
        "reply_to",
        "thread_id",
        "mention_of",
        "status",
        "is_work",
        "priority",
        "metadata",
        "mentions",
        "depth",
        "chain_id",
        "run_id",
        "wake_state",
        "wake_reason",
        "created_at",
    ],
)
.timed("created_at");

/// Adds a message. Ids and times have one order.
pub(super) fn insert_message(tx: &mut Tx<'_>, message: &NewMessage<'_>) -> Result<(MessageId, Timestamp), DbError> {
    let encode = |fault: serde_json::Error| DbError::Statement(fault.to_string());
    let metadata = if message.metadata.is_empty() {
        "{}".to_owned()
    } else {
        serde_json::to_string(message.metadata).map_err(encode)?
    };
    let mentions = if message.mentions.is_empty() {
        "[]".to_owned()
    } else {
        serde_json::to_string(message.mentions).map_err(encode)?
    };
    let numbered = tx.append_numbered(
        &MESSAGES,
        params![
            message.conversation.0,
            message.channel.map(|id| id.0),
            message.author.0,
            message.recipient.map(|id| id.0),
            message.subject,
            message.body,
            message.reply_to.map(|id| id.0),
            message.thread.map(|id| id.0),
            message.mention_of.map(|id| id.0),
            message.status.name(),
            message.is_work,
            message.priority,
            metadata,
            mentions,
            message.depth,
            message.chain.map(|id| id.0),
            message.run.map(|id| id.0),
            message.not_woken.map(|_| DeliveryState::NotWoken.name()),
            message.not_woken.map(NotWokenReason::name),
            tx.now_ms()
        ],
    )?;
    Ok((MessageId(numbered.number), Timestamp::from_ms(numbered.at_ms)))
}

/// Who sends a message.
pub(super) struct Sender {
    pub(super) id: PrincipalId,
    pub(super) from: Author,
    pub(super) working: Working,
}

static SENDER: LazyLock<String> = LazyLock::new(|| {
    let working = working::columns_sql("p.id", "$2");
    format!("select p.kind, p.handle, p.display_name, {working} from principals p where p.id = $1")
});

pub(super) fn find_sender(tx: &mut Tx<'_>, id: PrincipalId) -> Result<Option<Sender>, DbError> {
    tx.query_optional(&SENDER, params![id.0, tx.now_ms()], |row| {
        let (kind, name) = (columns::named(row, "kind")?, row.get("handle")?);
        let from = Author { kind, name, display_name: row.get("display_name")? };
        Ok(Sender { id, from, working: working::read(row)? })
    })
}

/// A message, whoever may see it.
pub(super) fn find_message(tx: &mut Tx<'_>, id: MessageId) -> Result<Option<MessageRow>, DbError> {
    Ok(find_messages(tx, &[id], Bodies::Whole)?.pop())
}

/// Messages by id.
pub(super) fn find_messages(tx: &mut Tx<'_>, ids: &[MessageId], bodies: Bodies) -> Result<Vec<MessageRow>, DbError> {
    let now = tx.now_ms();
    let (list, values) = in_list(1, ids.iter().map(|id| Parameter::Integer(id.0)));
    let selected = selection(bodies);
    tx.query(&format!("select {selected} from messages m {JOINS} where m.id in {list} order by m.id"), &values, |row| {
        message(row, now)
    })
}

/// The first of these messages whose texts are not too long together, in this order.
pub(super) fn find_within_bytes(tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<Vec<MessageRow>, DbError> {
    let sizes = find_messages(tx, ids, Bodies::Beginning)?;
    let size = |id: &MessageId| sizes.iter().find(|row| row.id == *id).map(|row| (*id, row.body_bytes));
    let ids = within_bytes(&ids.iter().filter_map(size).collect::<Vec<_>>());
    let mut rows = find_messages(tx, &ids, Bodies::Whole)?;
    rows.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
    cut_to_fit(&mut rows, MessageRow::json_bytes);
    Ok(rows)
}

/// Newest messages of a conversation between two ids, newest first.
pub(super) fn list_before(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    before: MessageId,
    after: MessageId,
    limit: i64,
    bodies: Bodies,
) -> Result<Vec<MessageRow>, DbError> {
    let condition = "m.conversation_id = $1 and m.id < $2 and m.id > $3 order by m.id desc limit $4";
    Ok(page(tx, condition, params![conversation.0, before.0, after.0, limit], bodies)?.0)
}

/// Newest messages of a thread before a message, newest first. The message that the thread began with is one of them.
pub(super) fn list_thread_before(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    thread: MessageId,
    before: MessageId,
    limit: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let condition =
        "(m.thread_id = $1 or m.id = $1) and m.id < $2 and m.conversation_id = $4 order by m.id desc limit $3";
    Ok(page(tx, condition, params![thread.0, before.0, limit, conversation.0], Bodies::Whole)?.0)
}

/// Newest messages of all conversations, newest first.
pub(super) fn list_all_before(tx: &mut Tx<'_>, before: MessageId, limit: i64) -> Result<Vec<MessageRow>, DbError> {
    Ok(page(tx, "m.id < $1 order by m.id desc limit $2", params![before.0, limit], Bodies::Beginning)?.0)
}

/// Messages of a conversation after an id, oldest first.
pub(super) fn list_after(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    after: MessageId,
    limit: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let condition = "m.conversation_id = $1 and m.id > $2 order by m.id limit $3";
    Ok(page(tx, condition, params![conversation.0, after.0, limit], Bodies::Whole)?.0)
}

pub(super) fn update_metadata(tx: &mut Tx<'_>, id: MessageId, metadata: &Map<String, Value>) -> Result<(), DbError> {
    let metadata = serde_json::to_string(metadata).map_err(|fault| DbError::Statement(fault.to_string()))?;
    tx.execute("update messages set metadata = $2 where id = $1", params![id.0, metadata])?;
    Ok(())
}

pub(super) fn update_edited_at(tx: &mut Tx<'_>, id: MessageId) -> Result<(), DbError> {
    tx.execute("update messages set edited_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    Ok(())
}

/// Work of a conversation that is in a state, newest first, before an id.
pub(super) fn list_by_state(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    state: WorkflowState,
    before: MessageId,
    limit: i64,
) -> Result<(Vec<MessageRow>, bool), DbError> {
    let condition = "m.is_work = 1 and m.conversation_id = $1 and m.workflow_state = $2 and m.deleted_at is null
         and m.id < $3 order by m.id desc limit $4";
    page(tx, condition, params![conversation.0, state.name(), before.0, limit], Bodies::Whole)
}

/// Direct answers to a message that the viewer may see, oldest first.
pub(super) fn list_replies(
    tx: &mut Tx<'_>,
    viewer: &Actor,
    parent: MessageId,
    after: MessageId,
    limit: i64,
    bodies: Bodies,
) -> Result<(Vec<MessageRow>, bool), DbError> {
    let is_visible = visibility::sql("m.conversation_id", "$2");
    let is_in_reach = viewer.principal.reach.sql_of_messages("m");
    let condition = format!(
        "m.reply_to = $1 and m.id > $3 and m.mention_of is null and {is_visible} and {is_in_reach}
         order by m.id limit $4"
    );
    page(tx, &condition, params![parent.0, viewer.id().0, after.0, limit], bodies)
}

/// Answers to one message that are counted.
pub(super) const MAX_REPLIES_COUNTED: i64 = 1000;

/// Those of the messages that have answers.
pub(super) fn list_answered(tx: &mut Tx<'_>, parents: &[MessageId]) -> Result<Vec<MessageId>, DbError> {
    let (list, values) = in_list(1, parents.iter().map(|id| Parameter::Integer(id.0)));
    tx.query(
        &format!(
            "select p.id from messages p
             where p.id in {list} and exists (select 1 from messages m where m.reply_to = p.id)"
        ),
        &values,
        |row| row.get("id").map(MessageId),
    )
}

/// How many direct answers the viewer sees to a message that they see; counting stops at [`MAX_REPLIES_COUNTED`]. What they do not see
/// does not count, so nobody can hide answers behind invisible ones.
pub(super) fn count_replies(tx: &mut Tx<'_>, viewer: &Actor, parent: MessageId) -> Result<i64, DbError> {
    let is_visible = visibility::sql("m.conversation_id", "$2");
    let is_in_reach = viewer.principal.reach.sql_of_messages("m");
    // Most answers are where the message is.
    tx.query_one(
        &format!(
            "select count(*) as replies from (
                 select m.id from messages m join messages p on p.id = m.reply_to
                 where m.reply_to = $1 and m.mention_of is null and m.deleted_at is null
                   and (m.conversation_id = p.conversation_id or ({is_visible} and {is_in_reach})) limit $3) counted"
        ),
        params![parent.0, viewer.id().0, MAX_REPLIES_COUNTED],
        |row| row.get("replies"),
    )
}

pub(super) fn update_body(tx: &mut Tx<'_>, id: MessageId, body: &str, mentions: &[String]) -> Result<(), DbError> {
    let mentions = serde_json::to_string(mentions).map_err(|fault| DbError::Statement(fault.to_string()))?;
    // The text that is replaced is kept, with the time at which it was written.
    tx.execute(
        "insert into message_revisions (message_id, revision, body, written_at)
         select m.id, coalesce((select max(r.revision) from message_revisions r where r.message_id = m.id), 0) + 1,
             m.body, coalesce(m.edited_at, m.created_at)
         from messages m where m.id = $1",
        params![id.0],
    )?;
    tx.execute(
        "update messages set body = $2, mentions = $3, edited_at = $4 where id = $1",
        params![id.0, body, mentions, tx.now_ms()],
    )?;
    Ok(())
}

/// Which DMs that tell of channel messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copies {
    All,
    /// Those whose recipients see the channel. For others nothing changes of what they can no longer see.
    OfThoseWhoSee,
}

/// A DM that tells of a channel message.
pub(super) struct Copy {
    pub(super) id: MessageId,
    pub(super) conversation: ConversationId,
    pub(super) recipient: Option<PrincipalId>,
}

fn copy(row: &Row<'_>) -> Result<Copy, DbError> {
    Ok(Copy {
        id: MessageId(row.get("id")?),
        conversation: ConversationId(row.get("conversation_id")?),
        recipient: row.get::<Option<i64>>("recipient_id")?.map(PrincipalId),
    })
}

/// The DMs that tell of a channel message and were not deleted.
pub(super) fn list_copies(tx: &mut Tx<'_>, of: MessageId) -> Result<Vec<Copy>, DbError> {
    tx.query(
        "select id, conversation_id, recipient_id from messages where mention_of = $1 and deleted_at is null order by id",
        params![of.0],
        copy,
    )
}

/// Leaves tombstones of DMs that tell of these channel messages, of at most `limit`, and says which.
pub(super) fn update_copies_deleted(
    tx: &mut Tx<'_>,
    of: &[MessageId],
    whose: Copies,
    limit: i64,
) -> Result<Vec<Copy>, DbError> {
    let is_meant = match whose {
        Copies::All => "1 = 1".to_owned(),
        Copies::OfThoseWhoSee => visibility::sql("o.conversation_id", "m.recipient_id"),
    };
    let (list, ids) = in_list(3, of.iter().map(|id| Parameter::Integer(id.0)));
    let now = tx.now_ms();
    let mut values = params![now, limit].to_vec();
    values.extend(ids);
    tx.query(
        &format!(
            "update messages set subject = null, metadata = '{{}}', deleted_at = $1, lease_until = null,
                 status = case when status in ('pending', 'processing') then 'done' else status end
             where id in (select m.id from messages m join messages o on o.id = m.mention_of
                 where m.mention_of in {list} and m.deleted_at is null and {is_meant} limit $2)
             returning id, conversation_id, recipient_id"
        ),
        &values,
        copy,
    )
}

/// Removes the subject of a deleted message from the remaining DMs about it.
pub(super) fn update_copies_emptied(tx: &mut Tx<'_>, of: &[MessageId]) -> Result<(), DbError> {
    let (list, ids) = in_list(1, of.iter().map(|id| Parameter::Integer(id.0)));
    let sql = format!(
        "update messages set subject = null where mention_of in {list} and deleted_at is null and subject is not null"
    );
    tx.execute(&sql, &ids)?;
    Ok(())
}

/// Leaves nothing but a tombstone: what a message said must be gone when its author wants it to be.
pub(super) fn update_deleted(tx: &mut Tx<'_>, id: MessageId) -> Result<(), DbError> {
    tx.execute(
        "update messages set body = '', subject = null, metadata = '{}', mentions = '[]', deleted_at = $2,
             status = case when status in ('pending', 'processing') then 'done' else status end, lease_until = null
         where id = $1",
        params![id.0, tx.now_ms()],
    )?;
    tx.execute("delete from message_revisions where message_id = $1", params![id.0])?;
    tx.execute("delete from channel_pins where message_id = $1", params![id.0])?;
    Ok(())
}

/// A text that a message had before an edit.
pub(super) struct RevisionRow {
    pub(super) revision: i64,
    pub(super) body: String,
    pub(super) written_at: Timestamp,
}

/// What a message said before, oldest first, after a revision: as much as makes up an answer of bearable
/// size, one at least. True if there would have been more.
pub(super) fn list_revisions(
    tx: &mut Tx<'_>,
    id: MessageId,
    after: i64,
    limit: i64,
) -> Result<(Vec<RevisionRow>, bool), DbError> {
    let sized = tx.query(
        "select revision, octet_length(body) as bytes from message_revisions
         where message_id = $1 and revision > $2 order by revision limit $3",
        params![id.0, after, limit],
        // Revisions are cut like messages.
        |row| Ok((MessageId(row.get("revision")?), row.get::<i64>("bytes")?)),
    )?;
    let through = within_bytes(&sized).last().map_or(after, |revision| revision.0);
    let mut revisions = tx.query(
        "select revision, body, written_at from message_revisions
         where message_id = $1 and revision > $2 and revision <= $3 order by revision",
        params![id.0, after, through],
        |row| {
            Ok(RevisionRow {
                revision: row.get("revision")?,
                body: row.get("body")?,
                written_at: Timestamp::from_ms(row.get("written_at")?),
            })
        },
    )?;
    cut_to_fit(&mut revisions, |revision| FRAME_BYTES + in_json(&revision.body));
    let is_cut = revisions.len() < sized.len();
    Ok((revisions, is_cut))
}

/// How often a message was edited.
pub(super) fn find_last_revision(tx: &mut Tx<'_>, id: MessageId) -> Result<i64, DbError> {
    tx.query_one(
        "select coalesce(max(revision), 0) as last from message_revisions where message_id = $1",
        params![id.0],
        |row| row.get("last"),
    )
}

/// Deletes messages for good, and whatever hangs on them.
pub(super) fn delete_messages(tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<u64, DbError> {
    let (list, values) = in_list(1, ids.iter().map(|id| Parameter::Integer(id.0)));
    for table in ["message_revisions", "channel_pins", "thread_mutes"] {
        tx.execute(&format!("delete from {table} where message_id in {list}"), &values)?;
    }
    reactions::purge(tx, ids)?;
    tx.execute(&format!("delete from messages where id in {list}"), &values)
}

/// Those among the oldest messages of a conversation, or of all, that were written before a moment.
pub(super) fn list_older(
    tx: &mut Tx<'_>,
    conversation: Option<ConversationId>,
    before_ms: i64,
    limit: i64,
) -> Result<Vec<MessageId>, DbError> {
    // Ids grow with time. To look at more than the oldest would be to look at all when none is old.
    const OLDEST: i64 = 5000;
    let condition = if conversation.is_some() { "where conversation_id = $1" } else { "where $1 = cast(0 as bigint)" };
    tx.query(
        &format!(
            "select id from (select id, created_at from messages {condition} order by id limit $2) oldest
             where created_at < $3 order by id limit $4"
        ),
        params![conversation.map_or(0, |conversation| conversation.0), OLDEST, before_ms, limit],
        |row| row.get("id").map(MessageId),
    )
}

fn message(row: &Row<'_>, now_ms: i64) -> Result<MessageRow, DbError> {
    // What cannot be read must not take its page with it.
    let id = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(MessageId));
    let time = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms));
    let stored = columns::named_or(row, "status", MessageStatus::Failed);
    let lease_until: Option<i64> = row.get("lease_until")?;
    let status = status_at(stored, lease_until, now_ms);
    let metadata: String = row.get("metadata")?;
    let mentions: String = row.get("mentions")?;
    Ok(MessageRow {
        author_id: PrincipalId(row.get("author_id")?),
        recipient_id: row.get::<Option<i64>>("recipient_id")?.map(PrincipalId),
        thread_id: id("thread_id")?,
        mention_of: id("mention_of")?,
        body_bytes: row.get("body_bytes")?,
        origin: row.get::<Option<i64>>("origin_conversation_id")?.map(ConversationId),
        origin_deleted_at: time("origin_deleted_at")?,
        id: MessageId(row.get("id")?),
        conversation_id: ConversationId(row.get("conversation_id")?),
        channel_id: row.get::<Option<i64>>("channel_id")?.map(ChannelId),
        channel: row.get("channel_name")?,
        from: Author {
            kind: columns::named(row, "author_kind")?,
            name: row.get("author_name")?,
            display_name: row.get("author_display_name")?,
        },
        to: row.get("recipient_name")?,
        subject: row.get("subject")?,
        body: row.get("body")?,
        reply_to: id("reply_to")?,
        status,
        priority: row.get("priority")?,
        metadata: serde_json::from_str(&metadata).unwrap_or_default(),
        mentions: serde_json::from_str(&mentions).unwrap_or_default(),
        created_at: Timestamp::from_ms(row.get("created_at")?),
        edited_at: time("edited_at")?,
        deleted_at: time("deleted_at")?,
        workflow_state: columns::named_or_null(row, "workflow_state").unwrap_or_default(),
        run_id: row.get("run_id")?,
        depth: row.get("depth")?,
        chain_id: row.get::<Option<i64>>("chain_id")?.map(MessageId),
        lease_until: lease_until.filter(|_| status == MessageStatus::Processing).map(Timestamp::from_ms),
        status_since: match (stored, status) {
            // The claim ended when its time was over.
            (MessageStatus::Processing, MessageStatus::Pending) => lease_until.map(Timestamp::from_ms),
            _ => time("status_since")?,
        },
    })
}
