//! Reading: single messages, answers, and the pages of a conversation.

use stoa_db::{DbError, Tx};
use stoa_model::messages::{ConversationPage, MAX_DM_PAGE, MessageView};
use stoa_model::page::{MAX_LIMIT, Page};
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::{ConversationId, MessageId, PrincipalId};

use super::store::Bodies;
use super::{store, thread_store, view};
use crate::access::Actor;
use crate::error::HubError;
use crate::features::{agents, channels, principals};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_with};

/// A part of a conversation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    pub before: Option<MessageId>,
    pub after: Option<MessageId>,
}

pub async fn get_message(hub: &Hub, actor: &Actor, id: MessageId) -> Result<MessageView, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let row = view::find_visible(tx, &actor, id)?;
        view::complete_one(tx, &actor, row)
    })
    .await
}

/// Direct answers to a message, from all conversations that the caller may see, oldest first.
pub async fn list_replies(
    hub: &Hub,
    actor: &Actor,
    id: MessageId,
    list: ListQuery,
) -> Result<Page<MessageView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let name = format!("replies {id}");
    let after = list.position(hub, actor, &name)?.unwrap_or(MessageId(0));
    // All of them, unless there are very many.
    let limit = list.limit.map_or(Ok(i64::from(MAX_LIMIT)), |_| list.limit())?;
    let actor_in = actor.clone();
    let (replies, has_more) = hub
        .read(move |tx| {
            view::find_visible(tx, &actor_in, id)?;
            let whole = Bodies::Whole;
            let (mut rows, is_cut) = store::list_replies(tx, &actor_in, id, after, limit + 1, whole)?;
            let has_more = is_cut || rows.len() as i64 > limit;
            rows.truncate(usize::try_from(limit).unwrap_or(0));
            Ok::<_, HubError>((view::complete(tx, &actor_in, rows)?, has_more))
        })
        .await?;
    page_with(hub, actor, &name, replies.into_iter().map(|reply| (reply.id, reply)).collect(), has_more)
}

/// Those among the messages that the caller may see.
pub fn find_visible_among(tx: &mut Tx<'_>, actor: &Actor, ids: &[MessageId]) -> Result<Vec<MessageView>, HubError> {
    let mut rows = Vec::new();
    for row in store::find_messages(tx, ids, Bodies::Beginning)? {
        if view::is_visible(tx, actor, &row)? {
            rows.push(row);
        }
    }
    Ok(view::complete(tx, actor, rows)?)
}

/// The first of these messages, which the caller may see, in this order: as many as make up an answer of bearable size.
pub fn list_whole(tx: &mut Tx<'_>, actor: &Actor, ids: &[MessageId]) -> Result<Vec<MessageView>, HubError> {
    let rows = store::find_within_bytes(tx, ids)?;
    Ok(view::complete(tx, actor, rows)?)
}

/// The beginnings of the first answers to a message, as far as the caller may see them.
pub fn first_replies(tx: &mut Tx<'_>, actor: &Actor, id: MessageId, limit: i64) -> Result<Vec<MessageView>, HubError> {
    let (rows, _) = store::list_replies(tx, actor, id, MessageId(0), limit, Bodies::Beginning)?;
    Ok(view::complete_uncounted(tx, actor, rows)?)
}

/// Messages of a channel, oldest first: the newest ones, or those before or after another.
pub async fn list_channel_messages(
    hub: &Hub,
    actor: &Actor,
    channel: String,
    range: Range,
    list: ListQuery,
) -> Result<ConversationPage, HubError> {
    actor.require(Permission::MessagesRead)?;
    let limit = list.limit()?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let channel = channels::find_visible(tx, &actor, &channel)?;
        Ok(ConversationPage {
            items: list_range(tx, &actor, channel.conversation_id, range, limit)?,
            last_read_message_id: channel.last_read_message_id,
        })
    })
    .await
}

fn list_range(
    tx: &mut Tx<'_>,
    actor: &Actor,
    conversation: ConversationId,
    range: Range,
    limit: i64,
) -> Result<Vec<MessageView>, DbError> {
    let rows = match range {
        Range { before: None, after: Some(after) } => store::list_after(tx, conversation, after, limit)?,
        Range { before, after } => {
            let (before, after) = (before.unwrap_or(MessageId(i64::MAX)), after.unwrap_or(MessageId(0)));
            let mut rows = store::list_before(tx, conversation, before, after, limit, Bodies::Whole)?;
            rows.reverse();
            rows
        }
    };
    view::complete(tx, actor, rows)
}

/// The caller, or the agent of theirs as which they want to read.
pub(super) fn reader(tx: &mut Tx<'_>, actor: &Actor, agent: Option<&str>) -> Result<PrincipalId, HubError> {
    match agent {
        None => Ok(actor.id()),
        Some(name) if actor.principal.kind == PrincipalKind::User => agents::require_owned(tx, actor.id(), name),
        Some(name) if actor.principal.handle == name => Ok(actor.id()),
        Some(_) => Err(HubError::not_found("agent")),
    }
}

/// The most recent messages of a DM, oldest first.
pub async fn list_dm_messages(
    hub: &Hub,
    actor: &Actor,
    partner: String,
    agent: Option<String>,
    range: Range,
    limit: Option<i64>,
) -> Result<ConversationPage, HubError> {
    actor.require(Permission::MessagesRead)?;
    let limit = match limit {
        None => MAX_DM_PAGE,
        Some(limit) if limit >= 1 => limit.min(MAX_DM_PAGE),
        Some(_) => return Err(HubError::invalid_field("limit", "must be at least 1")),
    };
    let actor = actor.clone();
    hub.read(move |tx| {
        let reader = reader(tx, &actor, agent.as_deref())?;
        let partner = principals::find(tx, &partner)?.ok_or_else(|| HubError::not_found("user or agent"))?;
        let conversation = channels::find_conversation_between(tx, reader, partner.id)?;
        let is_in_reach = conversation.is_some_and(|conversation| actor.reaches_dm(conversation));
        // What the owner writes to a run that others have started is in the inbox of the agent.
        if !is_in_reach {
            actor.require_beyond_conversation()?;
        }
        let Some(conversation) = conversation else {
            return Ok(ConversationPage { items: Vec::new(), last_read_message_id: None });
        };
        Ok(ConversationPage {
            items: list_range(tx, &actor, conversation, range, limit)?,
            last_read_message_id: channels::cursor(tx, reader, conversation)?,
        })
    })
    .await
}

/// The pinned messages of a channel, the latest pin first.
pub async fn list_pins(
    hub: &Hub,
    actor: &Actor,
    channel: String,
    list: ListQuery,
) -> Result<Page<MessageView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let name = format!("pins {channel}");
    let seen: usize = list.position(hub, actor, &name)?.unwrap_or(0);
    let limit = list.limit.map_or(Ok(i64::from(MAX_LIMIT)), |_| list.limit())?;
    let actor_in = actor.clone();
    let (items, has_more) = hub
        .read(move |tx| {
            let channel = channels::find_visible(tx, &actor_in, &channel)?;
            let pins = thread_store::list_pins(tx, channel.id)?;
            let wanted: Vec<_> = pins.iter().copied().skip(seen).take(usize::try_from(limit).unwrap_or(0)).collect();
            let rows = store::find_within_bytes(tx, &wanted)?;
            let has_more = seen + rows.len() < pins.len();
            Ok::<_, HubError>((view::complete(tx, &actor_in, rows)?, has_more))
        })
        .await?;
    let rows = items.into_iter().enumerate().map(|(place, message)| (seen + place + 1, message)).collect();
    page_with(hub, actor, &name, rows, has_more)
}
