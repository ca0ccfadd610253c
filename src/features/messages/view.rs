//! What a caller sees of messages: rows completed with what is counted from elsewhere.

use std::collections::HashMap;

use stoa_db::{DbError, Tx};
use stoa_model::MessageId;
use stoa_model::messages::MessageView;

use super::store::{self, MessageRow};
use crate::actor::Actor;
use crate::error::HubError;
use crate::features::channels::visibility;

/// Completes a page of messages, with one query for each thing that is added, however many there are.
pub(super) fn complete(tx: &mut Tx<'_>, actor: &Actor, rows: Vec<MessageRow>) -> Result<Vec<MessageView>, DbError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<MessageId> = rows.iter().map(|row| row.view.id).collect();
    let mut counts: HashMap<MessageId, i64> = HashMap::new();
    for (parent, channel, replies) in store::count_replies(tx, actor.id(), &ids)? {
        if channel.is_none_or(|channel| actor.require_channel(&channel).is_ok()) {
            *counts.entry(parent).or_default() += replies;
        }
    }
    let seen_by = actor.id();
    let view = |row: MessageRow| MessageView {
        reply_count: counts.get(&row.view.id).copied().unwrap_or(0),
        lease_until: row.view.lease_until.filter(|_| row.recipient_id == Some(seen_by)),
        ..row.view
    };
    Ok(rows.into_iter().map(view).collect())
}

pub(super) fn complete_one(tx: &mut Tx<'_>, actor: &Actor, row: MessageRow) -> Result<MessageView, HubError> {
    let completed = complete(tx, actor, vec![row])?.pop();
    completed.ok_or_else(|| HubError::internal("a message was lost while it was completed"))
}

/// A message that the caller may see; any other does not exist for them.
pub(super) fn find_visible(tx: &mut Tx<'_>, actor: &Actor, id: MessageId) -> Result<MessageRow, HubError> {
    let row = store::find_message(tx, id)?.ok_or_else(|| HubError::not_found("message"))?;
    if visibility::is_visible(tx, actor, row.view.conversation_id)? {
        Ok(row)
    } else {
        Err(HubError::not_found("message"))
    }
}
