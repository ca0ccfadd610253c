//! The state of the work that messages stand for: it follows from reactions, and is kept with the message so that it
//! can be listed by.

use stoa_db::{DbError, Tx};
use stoa_model::messages::{MessageStatus, MessageView, WorkflowState};
use stoa_model::{ChannelId, ConversationId, MessageId};

use super::change::change_of;
use super::store::{self, Bodies, MessageRow};
use super::{inbox_store, state_store, view};
use crate::access::Actor;
use crate::access::reach::outside_run_reach;
use crate::error::HubError;
use crate::events::{self, MessageChange, MessageEvent};
use crate::hub::Hub;

pub use super::state_store::{Stalemate, StalledMessage};

/// A message that the caller may see, without the whole of its text.
pub fn find_visible(tx: &mut Tx<'_>, actor: &Actor, id: MessageId) -> Result<MessageRow, HubError> {
    let row = find(tx, id)?.ok_or_else(|| HubError::not_found("message"))?;
    view::require_visible(tx, actor, &row)?;
    Ok(row)
}

/// A key that is limited to channels does not work on copies of what was said in other channels. A run that others have started works
/// on messages of its conversation only.
pub fn require_work_in_reach(actor: &Actor, row: &MessageRow) -> Result<(), HubError> {
    if let Some(run) = actor.principal.reach.of_run() {
        return if run.is_own(&row.place()) { Ok(()) } else { Err(outside_run_reach()) };
    }
    if row.origin.is_none_or(|origin| actor.reaches_channel(origin)) {
        return Ok(());
    }
    Err(HubError::forbidden("forbidden", "This key has no access to the message's channel."))
}

/// A message, whoever may see it, without the whole of its text.
pub fn find(tx: &mut Tx<'_>, id: MessageId) -> Result<Option<MessageRow>, DbError> {
    Ok(find_many(tx, &[id])?.pop())
}

/// How often a message was edited.
pub fn find_last_revision(tx: &mut Tx<'_>, id: MessageId) -> Result<i64, DbError> {
    store::find_last_revision(tx, id)
}

/// Messages, whoever may see them, without the whole of their texts.
pub fn find_many(tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<Vec<MessageRow>, DbError> {
    store::find_messages(tx, ids, Bodies::Beginning)
}

/// What events say about a changed message.
pub fn message_change(row: &MessageRow) -> MessageChange {
    change_of(row)
}

/// Notes the state that a message has come to, from now on. None makes it talk.
pub fn move_to_state(tx: &mut Tx<'_>, row: &MessageRow, state: Option<WorkflowState>) -> Result<(), DbError> {
    if row.workflow_state == state {
        return Ok(());
    }
    state_store::update_state(tx, row.id, state)
}

/// In a workflow channel, work is done when nothing is left to do, and open as long as something is. Talk is done.
pub fn couple_status(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    row: &MessageRow,
    state: Option<WorkflowState>,
) -> Result<(), HubError> {
    let is_open = matches!(row.status, MessageStatus::Pending | MessageStatus::Processing);
    let status = match (state.is_none_or(WorkflowState::is_terminal), is_open) {
        (true, true) => MessageStatus::Done,
        (false, false) => MessageStatus::Pending,
        (true, false) | (false, true) => return Ok(()),
    };
    inbox_store::update_status(tx, row.id, status)?;
    events::emit(hub, tx, actor, MessageEvent::StatusChanged { change: change_of(row), status })?;
    Ok(())
}

/// Work of a conversation that is in a state, newest first. True if there would have been more.
pub fn list_by_state(
    tx: &mut Tx<'_>,
    actor: &Actor,
    conversation: ConversationId,
    state: WorkflowState,
    before: MessageId,
    limit: i64,
) -> Result<(Vec<MessageView>, bool), DbError> {
    let (mut rows, is_cut) = store::list_by_state(tx, conversation, state, before, limit + 1)?;
    let has_more = is_cut || rows.len() as i64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(0));
    Ok((view::complete(tx, actor, rows)?, has_more))
}

/// Work in channels that has been standing still since a moment and of which that was not told yet, at most `limit`, the
/// oldest first.
pub fn list_stalled(
    tx: &mut Tx<'_>,
    channels: &[ChannelId],
    kind: Stalemate,
    since_ms: i64,
    limit: i64,
) -> Result<Vec<StalledMessage>, DbError> {
    let mut standing = Vec::new();
    for chunk in channels.chunks(512) {
        let room = limit - standing.len() as i64;
        standing.extend(state_store::list_stalled(tx, chunk, kind, since_ms, room)?);
    }
    Ok(standing)
}

/// Marks messages as named in a notice, so that they are not named again.
pub fn mark_notified(tx: &mut Tx<'_>, kind: Stalemate, ids: &[MessageId]) -> Result<(), DbError> {
    for chunk in ids.chunks(512) {
        state_store::update_notified(tx, kind, chunk)?;
    }
    Ok(())
}
