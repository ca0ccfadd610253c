//! What somebody has not read yet: counted from one cursor in each conversation.

use std::collections::HashMap;

use stoa_db::{DbError, Tx, params};
use stoa_model::messages::{PartnerView, preview};
use stoa_model::notifications::{ConversationKind, MAX_UNREAD, MarkReadRequest, UnreadView};
use stoa_model::permissions::Permission;
use stoa_model::{ConversationId, MessageId, PrincipalId};

use super::read::reader;
use super::store::{self, Bodies};
use super::unread_store::{self, ConversationForReader};
use super::view;
use crate::access::Actor;
use crate::error::HubError;
use crate::features::{channels, principals};
use crate::hub::Hub;

/// Partners that are listed, the latest first.
const MAX_PARTNERS: i64 = 500;

/// How far the caller has read in each channel they are in and each DM, channels first.
pub async fn list_unread(hub: &Hub, actor: &Actor) -> Result<Vec<UnreadView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let mut unread = Vec::new();
        let reaches = |conversation: &ConversationForReader| actor.reaches_channel(conversation.id);
        let mut channels = unread_store::list_channel_conversations(tx, actor.id())?;
        channels.retain(reaches);
        let mut dms = unread_store::list_dm_conversations(tx, actor.id(), MAX_PARTNERS)?;
        dms.retain(|dm| actor.reaches_dm(dm.id));
        let all: Vec<_> = channels.iter().chain(&dms).map(|known| (known.id, known.last_message)).collect();
        count_ahead(tx, actor.id(), &all)?;
        for conversation in channels {
            unread.push(unread_view(tx, &actor, ConversationKind::Channel, conversation)?);
        }
        for conversation in dms {
            unread.push(unread_view(tx, &actor, ConversationKind::Dm, conversation)?);
        }
        Ok(unread)
    })
    .await
}

fn unread_view(
    tx: &mut Tx<'_>,
    actor: &Actor,
    kind: ConversationKind,
    conversation: ConversationForReader,
) -> Result<UnreadView, DbError> {
    let unread_count = count(tx, actor.id(), conversation.id, conversation.last_message)?;
    Ok(UnreadView {
        kind,
        name: conversation.name,
        unread_count,
        last_message_id: conversation.last_message,
        last_read_message_id: conversation.last_read,
    })
}

/// Asks at once what [`count`] will ask for each of the conversations.
fn count_ahead(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
    conversations: &[(ConversationId, Option<MessageId>)],
) -> Result<(), DbError> {
    tx.ahead(|tx| {
        for (conversation, last) in conversations {
            let Some(last) = last else { continue };
            let _ = channels::list_quiet(tx, *conversation, &[reader]);
            let _ = unread_store::count_unread(tx, reader, *conversation, *last);
        }
    })
}

fn count(
    tx: &mut Tx<'_>,
    reader: PrincipalId,
    conversation: ConversationId,
    last: Option<MessageId>,
) -> Result<i64, DbError> {
    if last.is_none() || !channels::list_quiet(tx, conversation, &[reader])?.is_empty() {
        return Ok(0);
    }
    last.map_or(Ok(0), |last| unread_store::count_unread(tx, reader, conversation, last))
}

/// How much of a conversation somebody has not read, counted through a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread {
    /// At most [`MAX_UNREAD`], which means that many or more.
    pub count: i64,
    pub through: MessageId,
    /// Whether it does not count for the reader, whatever is said there.
    pub is_quiet: bool,
}

/// How much of a conversation each of the readers has not read, up to and including a message, or all of
/// it. Those who do not take part are left out.
pub fn count_unread(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    readers: &[PrincipalId],
    through: Option<MessageId>,
) -> Result<HashMap<PrincipalId, Unread>, DbError> {
    let last = match through {
        Some(through) => Some(through),
        None => unread_store::find_last(tx, conversation)?,
    };
    let through = last.unwrap_or(MessageId(0));
    // Most have read almost everything, so one look at the latest messages counts for nearly all readers.
    let (latest, is_all) = unread_store::list_latest(tx, conversation, through, 2 * MAX_UNREAD)?;
    let oldest = latest.last().map_or(MessageId(0), |(id, _)| *id);
    let quiet = channels::list_quiet(tx, conversation, readers)?;
    let mut counts = HashMap::new();
    for (reader, read) in unread_store::list_cursors(tx, conversation, readers)? {
        if quiet.contains(&reader) {
            counts.insert(reader, Unread { count: 0, through, is_quiet: true });
            continue;
        }
        let unread = latest.iter().take_while(|(id, _)| *id > read).filter(|(_, author)| *author != reader);
        let mut count = unread.take(MAX_UNREAD as usize).count() as i64;
        if count < MAX_UNREAD && !is_all && oldest > read {
            count = unread_store::count_unread(tx, reader, conversation, through)?;
        }
        counts.insert(reader, Unread { count, through, is_quiet: false });
    }
    Ok(counts)
}

/// Marks a conversation as read up to a message, which may be less than before.
pub async fn mark_read(hub: &Hub, actor: &Actor, request: MarkReadRequest) -> Result<UnreadView, HubError> {
    actor.require(Permission::MessagesWrite)?;
    request.check()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command_holding(actor, move |tx| {
        let (kind, name, conversation) = find_conversation(tx, &actor_in, &request)?;
        match conversation {
            Some(conversation) => actor_in.require_own_conversation(conversation)?,
            None => actor_in.require_beyond_conversation()?,
        }
        let held = conversation.map_or(0, |conversation| conversation.0);
        tx.hold("reading", params![actor_in.id().0, held])?;
        let last = conversation.map(|conversation| unread_store::find_last(tx, conversation)).transpose()?.flatten();
        let read = match (request.message_id, conversation) {
            (None, _) => last,
            (Some(MessageId(0)), _) => None,
            (Some(id), conversation) => {
                let row = store::find_message(tx, id)?;
                let is_here = row.is_some_and(|row| Some(row.conversation_id) == conversation);
                if !is_here {
                    return Err(HubError::invalid_field("message_id", "is not a message of this conversation"));
                }
                Some(id)
            }
        };
        let mut unread_count = 0;
        if let Some(conversation) = conversation {
            channels::move_cursor(&hub_in, tx, &actor_in, conversation, read.unwrap_or(MessageId(0)))?;
            unread_count = count(tx, actor_in.id(), conversation, last)?;
        }
        Ok(UnreadView { kind, name, unread_count, last_message_id: last, last_read_message_id: read })
    })
    .await
}

/// A conversation by the name it has for the caller; with somebody whom they never wrote to there is none.
fn find_conversation(
    tx: &mut Tx<'_>,
    actor: &Actor,
    request: &MarkReadRequest,
) -> Result<(ConversationKind, String, Option<ConversationId>), HubError> {
    if let Some(channel) = &request.channel {
        let channel = channels::find_visible(tx, actor, channel)?;
        return Ok((ConversationKind::Channel, channel.name, Some(channel.conversation_id)));
    }
    let name = request.dm.as_deref().unwrap_or_default();
    let name = name.strip_prefix('@').unwrap_or(name);
    let partner = principals::find(tx, name)?.ok_or_else(|| HubError::not_found("user or agent"))?;
    let conversation = channels::find_conversation_between(tx, actor.id(), partner.id)?;
    Ok((ConversationKind::Dm, partner.handle, conversation))
}

/// Those with whom the caller, or an agent of theirs, has exchanged messages, the latest first.
pub async fn list_partners(hub: &Hub, actor: &Actor, agent: Option<String>) -> Result<Vec<PartnerView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let reader = reader(tx, &actor, agent.as_deref())?;
        let mut conversations = unread_store::list_dm_conversations(tx, reader, MAX_PARTNERS)?;
        conversations.retain(|dm| actor.reaches_dm(dm.id));
        let last: Vec<MessageId> = conversations.iter().filter_map(|conversation| conversation.last_message).collect();
        let latest = store::find_messages(tx, &last, Bodies::Beginning)?;
        let latest = view::complete_uncounted(tx, &actor, latest)?;
        let all: Vec<_> = conversations.iter().map(|known| (known.id, known.last_message)).collect();
        count_ahead(tx, reader, &all)?;
        let mut partners = Vec::new();
        for conversation in conversations {
            let message = latest.iter().find(|message| Some(message.id) == conversation.last_message);
            let Some(message) = message else { continue };
            partners.push(PartnerView {
                unread_count: count(tx, reader, conversation.id, conversation.last_message)?,
                name: conversation.name,
                kind: conversation.kind,
                display_name: conversation.display_name,
                preview: preview(&message.body),
                last_message_at: message.created_at,
                last_read_message_id: conversation.last_read,
            });
        }
        Ok(partners)
    })
    .await
}
