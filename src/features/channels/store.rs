use std::collections::HashSet;
use std::sync::LazyLock;

use stoa_db::{DbError, Row, Tx, Value, in_list, params};
use stoa_model::channels::ChannelSettings;
use stoa_model::notifications::NotificationLevel;
use stoa_model::principals::PrincipalKind;
use stoa_model::{ChannelId, ConversationId, MessageId, PrincipalId, Timestamp};

use super::working::Working;
use super::{visibility, working};
use crate::access::Actor;
use crate::storage::columns;

/// A channel as one principal sees it.
#[derive(Debug, Clone)]
pub struct ChannelRow {
    pub id: ChannelId,
    pub conversation_id: ConversationId,
    pub name: String,
    pub topic: String,
    pub description: String,
    pub is_public: bool,
    /// The name of the owner.
    pub owner: String,
    pub settings: ChannelSettings,
    pub created_at: Timestamp,
    pub member_count: i64,
    pub is_member: bool,
    pub last_read_message_id: Option<MessageId>,
    pub last_message_id: Option<MessageId>,
    pub owner_id: PrincipalId,
    /// Counts the changes of its texts and settings.
    pub revision: i64,
    /// Whether the one who asks owns an agent that is a member.
    pub has_own_agent: bool,
}

/// A member of a channel, and when they were last seen.
#[derive(Debug, Clone)]
pub struct Member {
    pub id: PrincipalId,
    pub handle: String,
    pub kind: PrincipalKind,
    pub last_seen_at: Option<i64>,
}

pub(super) struct NewChannel<'a> {
    pub(super) name: &'a str,
    pub(super) topic: &'a str,
    pub(super) description: &'a str,
    pub(super) is_public: bool,
    pub(super) owner: PrincipalId,
}

/// Selects channels as the principal in `$1` sees them.
const SELECT_CHANNEL: &str =
    "select c.id, c.conversation_id, c.name, c.topic, c.description, c.is_public, c.owner_id, o.handle as owner,
        c.workflow_enabled, c.auto_approve, c.stalemate_remind_after, c.stalemate_escalate_after,
        c.publish_threshold, c.approve_threshold, c.revision, c.created_at, r.message_id as last_read,
        (select count(*) from channel_members counted where counted.channel_id = c.id) as member_count,
        (select max(m.id) from messages m where m.conversation_id = c.conversation_id) as last_message,
        exists (select 1 from channel_members mine
                where mine.channel_id = c.id and mine.principal_id = $1) as is_member,
        exists (select 1 from principals own where own.owner_id = $1 and exists (
                    select 1 from channel_members theirs
                    where theirs.channel_id = c.id and theirs.principal_id = own.id)) as has_own_agent
     from channels c join principals o on o.id = c.owner_id
     left join read_cursors r on r.conversation_id = c.conversation_id and r.principal_id = $1
     where c.deleted_at is null";

pub(super) fn insert_conversation(tx: &mut Tx<'_>) -> Result<ConversationId, DbError> {
    tx.query_one("insert into conversations (created_at) values ($1) returning id", params![tx.now_ms()], |row| {
        row.get("id").map(ConversationId)
    })
}

/// None when the name is taken.
pub(super) fn insert_channel(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    channel: &NewChannel<'_>,
) -> Result<Option<ChannelId>, DbError> {
    tx.query_optional(
        "insert into channels (conversation_id, name, topic, description, is_public, owner_id, created_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (name) where deleted_at is null do nothing returning id",
        params![
            conversation.0,
            channel.name,
            channel.topic,
            channel.description,
            channel.is_public,
            channel.owner.0,
            tx.now_ms()
        ],
        |row| row.get("id").map(ChannelId),
    )
}

pub(super) fn is_name_taken(tx: &mut Tx<'_>, name: &str) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from channels where name = $1 and deleted_at is null) as taken",
        params![name],
        |row| row.get("taken"),
    )
}

/// Who owned the channel of that name that was deleted last.
pub(super) fn find_former_owner(tx: &mut Tx<'_>, name: &str) -> Result<Option<PrincipalId>, DbError> {
    tx.query_optional(
        "select owner_id from channels where name = $1 and deleted_at is not null order by deleted_at desc, id desc limit 1",
        params![name],
        |row| row.get("owner_id").map(PrincipalId),
    )
}

pub(super) fn find_channel(tx: &mut Tx<'_>, viewer: PrincipalId, name: &str) -> Result<Option<ChannelRow>, DbError> {
    tx.query_optional(&format!("{SELECT_CHANNEL} and c.name = $2"), params![viewer.0, name], channel)
}

pub(super) fn find_channel_by_id(
    tx: &mut Tx<'_>,
    viewer: PrincipalId,
    id: ChannelId,
) -> Result<Option<ChannelRow>, DbError> {
    tx.query_optional(&format!("{SELECT_CHANNEL} and c.id = $2"), params![viewer.0, id.0], channel)
}

/// Channels that the viewer may see, by name, beginning after `after`.
pub(super) fn list_channels(
    tx: &mut Tx<'_>,
    viewer: &Actor,
    after: &str,
    limit: i64,
) -> Result<Vec<ChannelRow>, DbError> {
    let is_visible = visibility::sql("c.conversation_id", "$1");
    let is_in_reach = viewer.principal.reach.sql_of_channels("c.conversation_id");
    tx.query(
        &format!("{SELECT_CHANNEL} and c.name > $2 and {is_visible} and {is_in_reach} order by c.name limit $3"),
        params![viewer.id().0, after, limit],
        channel,
    )
}

/// Every channel, for the operator.
pub(super) fn list_all_channels(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<ChannelRow>, DbError> {
    tx.query(&format!("{SELECT_CHANNEL} and c.name > $2 order by c.name limit $3"), params![0, after, limit], channel)
}

pub(super) fn update_channel(tx: &mut Tx<'_>, channel: &ChannelRow) -> Result<(), DbError> {
    let settings = &channel.settings;
    tx.execute(
        "update channels set topic = $2, description = $3, is_public = $4, owner_id = $5, workflow_enabled = $6,
             auto_approve = $7, stalemate_remind_after = $8, stalemate_escalate_after = $9, publish_threshold = $10,
             approve_threshold = $11, revision = revision + 1
         where id = $1",
        params![
            channel.id.0,
            channel.topic,
            channel.description,
            channel.is_public,
            channel.owner_id.0,
            settings.workflow_enabled,
            settings.auto_approve,
            settings.stalemate_remind_after,
            settings.stalemate_escalate_after,
            settings.publish_threshold,
            settings.approve_threshold
        ],
    )?;
    Ok(())
}

pub(super) fn update_deleted(tx: &mut Tx<'_>, id: ChannelId) -> Result<(), DbError> {
    tx.execute("update channels set deleted_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    tx.execute("delete from channel_members where channel_id = $1", params![id.0])?;
    tx.execute("delete from channel_removals where channel_id = $1", params![id.0])?;
    Ok(())
}

/// A channel as a message to it needs to know it, and its author's display name.
pub(super) struct PostingRow {
    pub(super) id: ChannelId,
    pub(super) conversation: ConversationId,
    pub(super) name: String,
    pub(super) is_public: bool,
    pub(super) is_workflow: bool,
    pub(super) is_member: bool,
    pub(super) author_display_name: String,
    pub(super) author_working: Working,
}

static FOR_POSTING: LazyLock<String> = LazyLock::new(|| for_posting("c.name = $1"));
static KNOWN_FOR_POSTING: LazyLock<String> = LazyLock::new(|| for_posting("c.id = $1"));

fn for_posting(condition: &str) -> String {
    format!(
        "select c.id, c.conversation_id, c.name, c.is_public, c.workflow_enabled, a.display_name,
             {},
             exists (select 1 from channel_members m where m.channel_id = c.id and m.principal_id = a.id) as is_member
         from channels c join principals a on a.id = $2
         where {condition} and c.deleted_at is null",
        working::columns_sql("a.id", "$3")
    )
}

pub(super) fn find_for_posting(
    tx: &mut Tx<'_>,
    author: PrincipalId,
    name: &str,
) -> Result<Option<PostingRow>, DbError> {
    tx.query_optional(&FOR_POSTING, params![name, author.0, tx.now_ms()], posting)
}

pub(super) fn find_known_for_posting(
    tx: &mut Tx<'_>,
    author: PrincipalId,
    id: ChannelId,
) -> Result<Option<PostingRow>, DbError> {
    tx.query_optional(&KNOWN_FOR_POSTING, params![id.0, author.0, tx.now_ms()], posting)
}

fn posting(row: &Row<'_>) -> Result<PostingRow, DbError> {
    Ok(PostingRow {
        id: ChannelId(row.get("id")?),
        conversation: ConversationId(row.get("conversation_id")?),
        name: row.get("name")?,
        is_public: row.get("is_public")?,
        is_workflow: row.get("workflow_enabled")?,
        is_member: row.get("is_member")?,
        author_display_name: row.get("display_name")?,
        author_working: working::read(row)?,
    })
}

/// How work is done in a channel.
pub(super) fn find_settings(tx: &mut Tx<'_>, id: ChannelId) -> Result<Option<ChannelSettings>, DbError> {
    tx.query_optional(
        "select workflow_enabled, auto_approve, stalemate_remind_after, stalemate_escalate_after, publish_threshold,
             approve_threshold
         from channels where id = $1 and deleted_at is null",
        params![id.0],
        settings,
    )
}

pub(super) fn find_owner(tx: &mut Tx<'_>, id: ChannelId) -> Result<Option<PrincipalId>, DbError> {
    let sql = "select owner_id from channels where id = $1 and deleted_at is null";
    tx.query_optional(sql, params![id.0], |row| row.get("owner_id").map(PrincipalId))
}

/// A channel whose messages are work.
#[derive(Debug, Clone)]
pub struct WorkflowChannel {
    pub id: ChannelId,
    pub conversation: ConversationId,
    pub name: String,
    pub owner: PrincipalId,
    pub settings: ChannelSettings,
}

pub(super) fn list_workflow_channels(tx: &mut Tx<'_>) -> Result<Vec<WorkflowChannel>, DbError> {
    tx.query(
        "select id, conversation_id, name, owner_id, workflow_enabled, auto_approve, stalemate_remind_after,
             stalemate_escalate_after, publish_threshold, approve_threshold
         from channels where workflow_enabled = 1 and deleted_at is null order by id",
        &[],
        |row| {
            Ok(WorkflowChannel {
                id: ChannelId(row.get("id")?),
                conversation: ConversationId(row.get("conversation_id")?),
                name: row.get("name")?,
                owner: PrincipalId(row.get("owner_id")?),
                settings: settings(row)?,
            })
        },
    )
}

/// Whether the member is new.
pub(super) fn insert_member(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<bool, DbError> {
    let inserted = tx.execute(
        "insert into channel_members (channel_id, principal_id, joined_at) values ($1, $2, $3) on conflict do nothing",
        params![channel.0, principal.0, tx.now_ms()],
    )?;
    Ok(inserted > 0)
}

/// Whether there was such a member.
pub(super) fn delete_member(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<bool, DbError> {
    let deleted = tx.execute(
        "delete from channel_members where channel_id = $1 and principal_id = $2",
        params![channel.0, principal.0],
    )?;
    Ok(deleted > 0)
}

pub(super) fn is_public(tx: &mut Tx<'_>, channel: ChannelId) -> Result<bool, DbError> {
    let found = tx.query_optional("select is_public from channels where id = $1", params![channel.0], |row| {
        row.get("is_public")
    })?;
    Ok(found.unwrap_or(false))
}

pub(super) fn is_member(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from channel_members where channel_id = $1 and principal_id = $2) as found",
        params![channel.0, principal.0],
        |row| row.get("found"),
    )
}

/// Keeps a principal out of a channel until somebody adds them again.
pub(super) fn insert_removal(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<(), DbError> {
    tx.execute(
        "insert into channel_removals (channel_id, principal_id, removed_at) values ($1, $2, $3) on conflict do nothing",
        params![channel.0, principal.0, tx.now_ms()],
    )?;
    Ok(())
}

/// Lets somebody in again, and the agents they own.
pub(super) fn delete_removals(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<(), DbError> {
    tx.execute(
        "delete from channel_removals where channel_id = $1 and (principal_id = $2
             or principal_id in (select id from principals where owner_id = $2))",
        params![channel.0, principal.0],
    )?;
    Ok(())
}

/// Whether somebody took the principal, or the person who owns it, out of the channel.
pub(super) fn is_kept_out(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from principals p join channel_removals r on r.principal_id in (p.id, p.owner_id)
             where p.id = $2 and r.channel_id = $1) as found",
        params![channel.0, principal.0],
        |row| row.get("found"),
    )
}

/// The agents of `owner` that are members.
pub(super) fn list_owned_members(
    tx: &mut Tx<'_>,
    channel: ChannelId,
    owner: PrincipalId,
) -> Result<Vec<PrincipalId>, DbError> {
    tx.query(
        "select m.principal_id from principals p join channel_members m on m.principal_id = p.id
         where p.owner_id = $2 and m.channel_id = $1 order by m.principal_id",
        params![channel.0, owner.0],
        |row| row.get("principal_id").map(PrincipalId),
    )
}

/// The channels that a principal is a member of.
pub(super) fn list_memberships(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
) -> Result<Vec<(ChannelId, ConversationId)>, DbError> {
    tx.query(
        "select c.id, c.conversation_id from channel_members m join channels c on c.id = m.channel_id
         where m.principal_id = $1 order by c.id",
        params![principal.0],
        |row| Ok((ChannelId(row.get("id")?), ConversationId(row.get("conversation_id")?))),
    )
}

pub(super) fn list_member_ids(tx: &mut Tx<'_>, channel: ChannelId, limit: i64) -> Result<Vec<Member>, DbError> {
    tx.query(
        "select p.id, p.handle, p.kind, p.last_seen_at from channel_members m join principals p on p.id = m.principal_id
         left join users u on u.id = coalesce(p.owner_id, p.id)
         where m.channel_id = $1 and p.kind in ('user', 'agent') and p.deleted_at is null and u.disabled_at is null
         order by p.id limit $2",
        params![channel.0, limit],
        |row| {
            Ok(Member {
                id: PrincipalId(row.get("id")?),
                handle: row.get("handle")?,
                kind: columns::named(row, "kind")?,
                last_seen_at: row.get("last_seen_at")?,
            })
        },
    )
}

/// The people among the members whom messages can reach, at most `limit`.
pub(super) fn list_human_members(tx: &mut Tx<'_>, channel: ChannelId, limit: i64) -> Result<Vec<PrincipalId>, DbError> {
    tx.query(
        "select u.id from channel_members m join users u on u.id = m.principal_id join principals p on p.id = u.id
         where m.channel_id = $1 and p.deleted_at is null and u.disabled_at is null order by u.id limit $2",
        params![channel.0, limit],
        |row| row.get("id").map(PrincipalId),
    )
}

/// A member of a channel, for those who look at the channel.
pub(super) struct MemberRow {
    pub(super) name: String,
    pub(super) kind: PrincipalKind,
    pub(super) display_name: String,
    /// The name of the user who owns the agent.
    pub(super) owner: Option<String>,
    pub(super) joined_at: Timestamp,
    pub(super) last_seen_at: Option<Timestamp>,
}

/// Members by name.
pub(super) fn list_members(tx: &mut Tx<'_>, channel: ChannelId, limit: i64) -> Result<Vec<MemberRow>, DbError> {
    tx.query(
        "select p.handle, p.kind, p.display_name, p.last_seen_at, m.joined_at, owner.handle as owner
         from channel_members m join principals p on p.id = m.principal_id
         left join principals owner on owner.id = p.owner_id
         where m.channel_id = $1 order by p.folded_handle limit $2",
        params![channel.0, limit],
        |row| {
            Ok(MemberRow {
                name: row.get("handle")?,
                kind: columns::named(row, "kind")?,
                display_name: row.get("display_name")?,
                owner: row.get("owner")?,
                joined_at: Timestamp::from_ms(row.get("joined_at")?),
                last_seen_at: row.get::<Option<i64>>("last_seen_at")?.map(Timestamp::from_ms),
            })
        },
    )
}

/// Makes every user and agent a member, for a channel that is new among them.
pub(super) fn insert_everybody(tx: &mut Tx<'_>, channel: ChannelId) -> Result<(), DbError> {
    tx.execute(
        "insert into channel_members (channel_id, principal_id, joined_at)
         select $1, id, $2 from principals where kind in ('user', 'agent') and deleted_at is null",
        params![channel.0, tx.now_ms()],
    )?;
    Ok(())
}

/// The administrator who was here first.
pub(super) fn find_first_admin(tx: &mut Tx<'_>) -> Result<Option<PrincipalId>, DbError> {
    tx.query_optional(
        "select id from users where role = 'admin' order by disabled_at is not null, id limit 1",
        &[],
        |row| row.get("id").map(PrincipalId),
    )
}

pub(super) fn find_pair(
    tx: &mut Tx<'_>,
    one: PrincipalId,
    other: PrincipalId,
) -> Result<Option<ConversationId>, DbError> {
    tx.query_optional(
        "select id from conversations where low_id = $1 and high_id = $2",
        params![one.0.min(other.0), one.0.max(other.0)],
        |row| row.get("id").map(ConversationId),
    )
}

pub(super) fn insert_pair(tx: &mut Tx<'_>, one: PrincipalId, other: PrincipalId) -> Result<ConversationId, DbError> {
    tx.query_one(
        "insert into conversations (low_id, high_id, created_at) values ($1, $2, $3) returning id",
        params![one.0.min(other.0), one.0.max(other.0), tx.now_ms()],
        |row| row.get("id").map(ConversationId),
    )
}

pub(super) fn find_cursor(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    conversation: ConversationId,
) -> Result<Option<MessageId>, DbError> {
    tx.query_optional(
        "select message_id from read_cursors where principal_id = $1 and conversation_id = $2",
        params![principal.0, conversation.0],
        |row| row.get("message_id").map(MessageId),
    )
}

pub(super) fn upsert_cursor(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    conversation: ConversationId,
    message: MessageId,
) -> Result<(), DbError> {
    tx.execute(
        "insert into read_cursors (principal_id, conversation_id, message_id) values ($1, $2, $3)
         on conflict (principal_id, conversation_id) do update set message_id = excluded.message_id",
        params![principal.0, conversation.0, message.0],
    )?;
    Ok(())
}

/// Sets the cursor to the newest message: who comes into a channel has nothing to catch up on, even if
/// they were there before.
pub(super) fn upsert_cursor_at_end(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    conversation: ConversationId,
) -> Result<(), DbError> {
    tx.execute(
        "insert into read_cursors (principal_id, conversation_id, message_id)
         select $1, $2, coalesce(max(id), 0) from messages where conversation_id = $2
         on conflict (principal_id, conversation_id) do update set message_id = excluded.message_id",
        params![principal.0, conversation.0],
    )?;
    Ok(())
}

/// A channel that was deleted and may still have something in it.
pub(super) fn find_deleted(tx: &mut Tx<'_>) -> Result<Option<(ChannelId, ConversationId)>, DbError> {
    tx.query_optional(
        "select c.id, c.conversation_id from channels c
         where c.deleted_at is not null and c.purged_at is null order by c.id limit 1",
        &[],
        |row| Ok((ChannelId(row.get("id")?), ConversationId(row.get("conversation_id")?))),
    )
}

/// Notes that nothing is left of a deleted channel.
pub(super) fn update_purged(tx: &mut Tx<'_>, id: ChannelId, conversation: ConversationId) -> Result<(), DbError> {
    tx.execute("delete from read_cursors where conversation_id = $1", params![conversation.0])?;
    tx.execute("update channels set purged_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    Ok(())
}

pub(super) fn find_default_level(tx: &mut Tx<'_>, reader: PrincipalId) -> Result<NotificationLevel, DbError> {
    let level = tx.query_optional(
        "select level from notification_defaults where principal_id = $1",
        params![reader.0],
        |row| columns::named(row, "level"),
    )?;
    Ok(level.unwrap_or_default())
}

pub(super) fn upsert_default_level(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
    level: NotificationLevel,
) -> Result<(), DbError> {
    tx.execute(
        "insert into notification_defaults (principal_id, level) values ($1, $2)
         on conflict (principal_id) do update set level = excluded.level",
        params![reader.0, level.name()],
    )?;
    Ok(())
}

/// The channels that have a level of their own, by name.
pub(super) fn list_levels(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
) -> Result<Vec<(ChannelId, String, NotificationLevel)>, DbError> {
    tx.query(
        "select c.id, c.name, l.level from notification_levels l join channels c on c.id = l.channel_id
         where l.principal_id = $1 and c.deleted_at is null order by c.name",
        params![reader.0],
        |row| Ok((ChannelId(row.get("id")?), row.get("name")?, columns::named(row, "level")?)),
    )
}

pub(super) fn delete_levels(tx: &mut Tx<'_>, reader: PrincipalId) -> Result<(), DbError> {
    tx.execute("delete from notification_levels where principal_id = $1", params![reader.0])?;
    Ok(())
}

pub(super) fn upsert_level(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
    channel: ChannelId,
    level: NotificationLevel,
) -> Result<(), DbError> {
    tx.execute(
        "insert into notification_levels (principal_id, channel_id, level) values ($1, $2, $3)
         on conflict (principal_id, channel_id) do update set level = excluded.level",
        params![reader.0, channel.0, level.name()],
    )?;
    Ok(())
}

/// Those of the readers who want to hear of mentions only. In a DM there are none.
pub(super) fn list_quiet_readers(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    readers: &[PrincipalId],
) -> Result<HashSet<PrincipalId>, DbError> {
    let mut quiet = HashSet::new();
    for chunk in readers.chunks(512) {
        let (list, ids) = in_list(2, chunk.iter().map(|id| Value::Integer(id.0)));
        let mut values = vec![Value::Integer(conversation.0)];
        values.extend(ids);
        tx.query_each(
            &format!(
                "select p.id from channels c join principals p on p.id in {list}
                 left join notification_levels l on l.channel_id = c.id and l.principal_id = p.id
                 left join notification_defaults d on d.principal_id = p.id
                 where c.conversation_id = $1 and coalesce(l.level, d.level) = 'mentions'"
            ),
            &values,
            |row| {
                quiet.insert(PrincipalId(row.get("id")?));
                Ok(())
            },
        )?;
    }
    Ok(quiet)
}

fn settings(row: &Row<'_>) -> Result<ChannelSettings, DbError> {
    Ok(ChannelSettings {
        workflow_enabled: row.get("workflow_enabled")?,
        auto_approve: row.get("auto_approve")?,
        stalemate_remind_after: row.get("stalemate_remind_after")?,
        stalemate_escalate_after: row.get("stalemate_escalate_after")?,
        publish_threshold: row.get("publish_threshold")?,
        approve_threshold: row.get("approve_threshold")?,
    })
}

fn channel(row: &Row<'_>) -> Result<ChannelRow, DbError> {
    let id = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.filter(|id| *id > 0).map(MessageId));
    Ok(ChannelRow {
        owner_id: PrincipalId(row.get("owner_id")?),
        revision: row.get("revision")?,
        has_own_agent: row.get("has_own_agent")?,
        id: ChannelId(row.get("id")?),
        conversation_id: ConversationId(row.get("conversation_id")?),
        name: row.get("name")?,
        topic: row.get("topic")?,
        description: row.get("description")?,
        is_public: row.get("is_public")?,
        owner: row.get("owner")?,
        settings: settings(row)?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        member_count: row.get("member_count")?,
        is_member: row.get("is_member")?,
        last_read_message_id: id("last_read")?,
        last_message_id: id("last_message")?,
    })
}
