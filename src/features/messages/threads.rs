//! Threads with new answers, muting them, and pins: what somebody keeps an eye on.

use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::channels::MAX_PINS;
use stoa_model::messages::ThreadView;
use stoa_model::notifications::MAX_UNREAD;
use stoa_model::page::Page;
use stoa_model::permissions::Permission;
use stoa_model::{ConversationId, MessageId, Timestamp};

use super::{store, thread_store, unread_store, view};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::events::{self, ChannelEvent};
use crate::features::{audit, channels};
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::paging::cursor;

/// Unread answers that are looked at, in all conversations together.
const MAX_ANSWERS: i64 = 10_000;
/// Threads of which it is asked whether the caller takes part; who takes part in fewer goes on with the cursor.
const MAX_ASKED: usize = 500;
/// DMs that are looked at, the latest first.
const MAX_PAIRS: i64 = 1000;

/// Threads that the caller takes part in, with answers they have not read, the latest first.
pub async fn list_threads(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<ThreadView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let before = list.position(hub, actor, "threads")?.unwrap_or(MessageId(i64::MAX));
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let (threads, more) = hub
        .read(move |tx| {
            let conversations = list_own_conversations(tx, &actor_in)?;
            let unread = thread_store::list_unread_threads(tx, actor_in.id(), &conversations, MAX_ANSWERS)?;
            let (mut threads, mut bytes) = (Vec::new(), 0);
            for (asked, thread) in unread.into_iter().filter(|thread| thread.last_reply < before).enumerate() {
                let place = MessageId(thread.last_reply.0 + 1);
                if threads.len() as i64 >= limit || asked >= MAX_ASKED {
                    return Ok((threads, Some(place)));
                }
                if !thread_store::takes_part(tx, actor_in.id(), thread.root)? {
                    continue;
                }
                // Its beginning may be out of the caller's sight, or gone.
                let root = match view::find_visible(tx, &actor_in, thread.root) {
                    Ok(root) => root,
                    Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Forbidden) => continue,
                    Err(error) => return Err(error),
                };
                bytes += root.json_bytes();
                if bytes > store::PAGE_BYTES && !threads.is_empty() {
                    return Ok((threads, Some(place)));
                }
                threads.push(ThreadView {
                    message: view::complete_one(tx, &actor_in, root)?,
                    new_replies: thread.new_replies.min(MAX_UNREAD),
                    last_reply_id: thread.last_reply,
                    last_reply_at: Timestamp::from_ms(thread.last_reply_at),
                });
            }
            Ok((threads, None))
        })
        .await?;
    let next_cursor = more.map(|place| cursor::issue(&hub.keys(), actor, "threads", &place)).transpose()?;
    Ok(Page { items: threads, next_cursor })
}

/// The conversations that the caller is in, within the reach of their credential.
fn list_own_conversations(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<ConversationId>, DbError> {
    let mut conversations = unread_store::list_channel_conversations(tx, actor.id())?;
    conversations.retain(|conversation| actor.reaches_channel(conversation.id));
    let mut dms = unread_store::list_dm_conversations(tx, actor.id(), MAX_PAIRS)?;
    dms.retain(|dm| actor.reaches_dm(dm.id));
    conversations.extend(dms);
    Ok(conversations.into_iter().map(|conversation| conversation.id).collect())
}

/// Keeps a thread out of the caller's list.
pub async fn mute_thread(hub: &Hub, actor: &Actor, id: MessageId) -> Result<(), HubError> {
    set_mute(hub, actor, id, true).await
}

pub async fn unmute_thread(hub: &Hub, actor: &Actor, id: MessageId) -> Result<(), HubError> {
    set_mute(hub, actor, id, false).await
}

async fn set_mute(hub: &Hub, actor: &Actor, id: MessageId, is_muted: bool) -> Result<(), HubError> {
    actor.require(Permission::MessagesWrite)?;
    let actor_in = actor.clone();
    hub.command(actor, move |tx| {
        let row = view::find_visible(tx, &actor_in, id)?;
        actor_in.require_own_conversation(row.conversation_id)?;
        // Any message of a thread stands for it.
        let thread = row.thread_id.unwrap_or(id);
        if is_muted {
            store::find_message(tx, thread)?.ok_or_else(|| HubError::not_found("thread"))?;
            thread_store::insert_mute(tx, actor_in.id(), thread)?;
        } else {
            thread_store::delete_mute(tx, actor_in.id(), thread)?;
        }
        Ok(())
    })
    .await
}

/// Pins a message to the top of its channel. Every member may.
pub async fn pin_message(hub: &Hub, actor: &Actor, channel: String, id: MessageId) -> Result<(), HubError> {
    change_pin(hub, actor, channel, id, true).await
}

pub async fn unpin_message(hub: &Hub, actor: &Actor, channel: String, id: MessageId) -> Result<(), HubError> {
    change_pin(hub, actor, channel, id, false).await
}

async fn change_pin(hub: &Hub, actor: &Actor, channel: String, id: MessageId, is_pinned: bool) -> Result<(), HubError> {
    actor.require(Permission::ChannelsWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let channel = channels::find_visible(tx, &actor_in, &channel)?;
        if !channel.is_member {
            return Err(
                HubError::forbidden("not_a_member", "Only members can pin messages.").hint("Join the channel first.")
            );
        }
        let row = store::find_message(tx, id)?.filter(|row| row.channel_id == Some(channel.id));
        let row = row.ok_or_else(|| HubError::not_found("message in this channel"))?;
        let pins = thread_store::list_pins(tx, channel.id)?;
        match (is_pinned, pins.contains(&id)) {
            (true, false) => {
                if row.deleted_at.is_some() {
                    return Err(HubError::conflict("message_deleted", "A deleted message cannot be pinned."));
                }
                if pins.len() as i64 >= MAX_PINS {
                    return Err(HubError::conflict(
                        "too_many_pins",
                        format!("A channel can have at most {MAX_PINS} pins."),
                    )
                    .hint("Unpin a message first."));
                }
                thread_store::insert_pin(tx, channel.id, id, actor_in.id())?;
            }
            (false, true) => {
                thread_store::delete_pin(tx, channel.id, id)?;
            }
            (true, true) | (false, false) => return Ok(()),
        }
        let action = if is_pinned { "channel.pinned" } else { "channel.unpinned" };
        let what = json!({"message_id": id});
        audit::record(tx, &actor_in, action, Some(&channel.name), &what)?;
        let (channel, conversation) = (channel.id, channel.conversation_id);
        events::emit(&hub_in, tx, &actor_in, ChannelEvent::Updated { channel, conversation })?;
        Ok(())
    })
    .await
}
