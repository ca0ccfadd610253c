//! SQL of threads, mutes and pins.

use std::collections::HashMap;

use stoa_db::{DbError, Tx, params};
use stoa_model::{ChannelId, ConversationId, MessageId, PrincipalId};

/// A thread with answers that its reader has not seen.
pub(super) struct UnreadThread {
    pub(super) root: MessageId,
    pub(super) new_replies: i64,
    pub(super) last_reply: MessageId,
    pub(super) last_reply_at: i64,
}

/// Threads with answers that the reader has not read in these conversations, the latest first. At most `answers`
/// are looked at, all together.
pub(super) fn list_unread_threads(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
    conversations: &[ConversationId],
    answers: i64,
) -> Result<Vec<UnreadThread>, DbError> {
    let mut threads: HashMap<MessageId, UnreadThread> = HashMap::new();
    let mut left = answers;
    for conversation in conversations {
        let limit = left;
        tx.query_each(
            "select m.id, m.thread_id, m.created_at, m.mention_of, m.author_id, m.deleted_at from messages m
             where m.conversation_id = $2 and m.id > coalesce((
                     select r.message_id from read_cursors r where r.principal_id = $1 and r.conversation_id = $2), 0)
               and m.thread_id is not null
             order by m.id desc limit $3",
            params![reader.0, conversation.0, limit],
            |row| {
                left -= 1;
                let is_own = row.get::<i64>("author_id")? == reader.0;
                let is_none =
                    row.get::<Option<i64>>("mention_of")?.is_some() || row.get::<Option<i64>>("deleted_at")?.is_some();
                if is_own || is_none {
                    return Ok(());
                }
                let (root, reply) = (MessageId(row.get("thread_id")?), MessageId(row.get("id")?));
                let at: i64 = row.get("created_at")?;
                let fresh = UnreadThread { root, new_replies: 0, last_reply: reply, last_reply_at: at };
                let thread = threads.entry(root).or_insert(fresh);
                thread.new_replies += 1;
                if reply > thread.last_reply {
                    (thread.last_reply, thread.last_reply_at) = (reply, at);
                }
                Ok(())
            },
        )?;
        if left <= 0 {
            break;
        }
    }
    let mut threads: Vec<UnreadThread> = threads.into_values().collect();
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.last_reply));
    Ok(threads)
}

/// Whether somebody began a thread, answered in it or was mentioned in it lately, and did not mute it.
pub(super) fn takes_part(tx: &mut Tx<'_>, reader: PrincipalId, root: MessageId) -> Result<bool, DbError> {
    tx.query_one(
        "select (exists (select 1 from messages m where m.id = $2 and (m.author_id = $1 or m.recipient_id = $1))
                 or exists (select 1 from (
                        select m.author_id, m.recipient_id, m.mention_of from messages m join messages root on root.id = $2
                        where m.thread_id = $2 and (m.conversation_id = root.conversation_id
                            or m.author_id = $1 or m.recipient_id = $1)
                        order by m.id desc limit 1000) latest
                    where latest.author_id = $1 or (latest.mention_of is not null and latest.recipient_id = $1)))
             and not exists (select 1 from thread_mutes t where t.principal_id = $1 and t.message_id = $2) as found",
        params![reader.0, root.0],
        |row| row.get("found"),
    )
}

pub(super) fn insert_mute(tx: &mut Tx<'_>, reader: PrincipalId, thread: MessageId) -> Result<(), DbError> {
    tx.execute(
        "insert into thread_mutes (principal_id, message_id, muted_at) values ($1, $2, $3) on conflict do nothing",
        params![reader.0, thread.0, tx.now_ms()],
    )?;
    Ok(())
}

pub(super) fn delete_mute(tx: &mut Tx<'_>, reader: PrincipalId, thread: MessageId) -> Result<(), DbError> {
    tx.execute("delete from thread_mutes where principal_id = $1 and message_id = $2", params![reader.0, thread.0])?;
    Ok(())
}

pub(super) fn insert_pin(
    tx: &mut Tx<'_>,
    channel: ChannelId,
    message: MessageId,
    by: PrincipalId,
) -> Result<(), DbError> {
    tx.execute(
        "insert into channel_pins (channel_id, message_id, pinned_by, pinned_at) values ($1, $2, $3, $4)
         on conflict do nothing",
        params![channel.0, message.0, by.0, tx.now_ms()],
    )?;
    Ok(())
}

pub(super) fn delete_pin(tx: &mut Tx<'_>, channel: ChannelId, message: MessageId) -> Result<u64, DbError> {
    tx.execute("delete from channel_pins where channel_id = $1 and message_id = $2", params![channel.0, message.0])
}

/// The latest pin first.
pub(super) fn list_pins(tx: &mut Tx<'_>, channel: ChannelId) -> Result<Vec<MessageId>, DbError> {
    tx.query(
        "select message_id from channel_pins where channel_id = $1 order by pinned_at desc, message_id desc",
        params![channel.0],
        |row| row.get("message_id").map(MessageId),
    )
}
