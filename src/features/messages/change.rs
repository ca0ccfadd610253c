//! Changing what was said, and taking it back.

use serde_json::json;
use stoa_db::Tx;
use stoa_model::MessageId;
use stoa_model::messages::{EditMessageRequest, Items, MessageView, RevisionView};
use stoa_model::permissions::Permission;

use super::store::{self, MessageRow};
use super::{send, view};
use crate::actor::Actor;
use crate::error::HubError;
use crate::events::{self, Event, MessageChange};
use crate::features::channels::visibility;
use crate::features::{audit, channels};
use crate::hub::Hub;

pub(super) fn change_of(row: &MessageRow) -> MessageChange {
    MessageChange {
        message: row.view.id,
        conversation: row.view.conversation_id,
        channel_name: row.view.channel.clone(),
        recipient: row.recipient_id,
    }
}

/// Changes the text of the caller's own message. What it said before stays in its history.
pub async fn edit_message(
    hub: &Hub,
    actor: &Actor,
    id: MessageId,
    request: EditMessageRequest,
) -> Result<MessageView, HubError> {
    actor.require(Permission::MessagesWrite)?;
    request.check()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let row = view::find_visible(tx, &actor_in, id)?;
        if row.author_id != actor_in.id() {
            return Err(HubError::forbidden("forbidden", "Only its author may edit a message."));
        }
        if row.view.deleted_at.is_some() {
            return Err(HubError::conflict("message_deleted", "A deleted message cannot be edited."));
        }
        if row.mention_of.is_some() {
            return Err(HubError::conflict("mention_copy", "This message tells of a mention in a channel.")
                .hint("Edit the message in the channel; this one follows."));
        }
        if row.view.body != request.body {
            edit_copies(&hub_in, tx, &actor_in, &row, &request.body)?;
            let mentions = send::tell_newly_mentioned(&hub_in, tx, &actor_in, &row, &request.body)?;
            store::update_body(tx, id, &request.body, &mentions)?;
            events::emit(&hub_in, tx, &actor_in, &Event::MessageEdited(change_of(&row)))?;
        }
        let row = view::find_visible(tx, &actor_in, id)?;
        view::complete_one(tx, &actor_in, row)
    })
    .await
}

/// The DMs that tell of a channel message say what it says now, but to those who may not see it any more.
fn edit_copies(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, row: &MessageRow, body: &str) -> Result<(), HubError> {
    let copies = store::list_mention_messages(tx, row.view.id)?;
    if copies.is_empty() {
        return Ok(());
    }
    let audience = visibility::audience(tx, row.view.conversation_id)?;
    let sees = |copy: &MessageRow| copy.recipient_id.is_some_and(|recipient| audience.contains(recipient));
    for copy in copies.into_iter().filter(|copy| copy.view.deleted_at.is_none() && sees(copy)) {
        store::update_copy(tx, copy.view.id, body)?;
        events::emit(hub, tx, actor, &Event::MessageEdited(change_of(&copy)))?;
    }
    Ok(())
}

/// Leaves a tombstone in a message's place. Its author may, and the owner of the channel it is in.
pub async fn delete_message(hub: &Hub, actor: &Actor, id: MessageId) -> Result<(), HubError> {
    actor.require(Permission::MessagesWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let row = view::find_visible(tx, &actor_in, id)?;
        let is_own = row.author_id == actor_in.id();
        if !is_own {
            require_channel_owner(tx, &actor_in, &row)?;
        }
        if row.view.deleted_at.is_some() {
            return Ok(());
        }
        if !is_own {
            let details = json!({"author": row.view.from.name, "channel": row.view.channel});
            audit::record(tx, &actor_in, "message.deleted", Some(&id.to_string()), &details)?;
        }
        bury(&hub_in, tx, &actor_in, &row)?;
        bury_copies(&hub_in, tx, &actor_in, id)
    })
    .await
}

fn bury(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, row: &MessageRow) -> Result<(), HubError> {
    store::update_deleted(tx, row.view.id)?;
    events::emit(hub, tx, actor, &Event::MessageDeleted(change_of(row)))?;
    Ok(())
}

/// What a channel message said goes with it from the inboxes of those it called out.
pub(super) fn bury_copies(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, of: MessageId) -> Result<(), HubError> {
    for copy in store::list_mention_messages(tx, of)? {
        if copy.view.deleted_at.is_none() {
            bury(hub, tx, actor, &copy)?;
        }
    }
    Ok(())
}

fn require_channel_owner(tx: &mut Tx<'_>, actor: &Actor, row: &MessageRow) -> Result<(), HubError> {
    let refused = || HubError::forbidden("forbidden", "Only its author or the channel's owner may delete a message.");
    let channel = row.view.channel.as_deref().ok_or_else(refused)?;
    let channel = channels::find_visible(tx, actor, channel)?;
    if channel.owner_id == actor.id() { Ok(()) } else { Err(refused()) }
}

/// Everything that a message has said, oldest first; the last is what it says now.
pub async fn get_history(hub: &Hub, actor: &Actor, id: MessageId) -> Result<Items<RevisionView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let row = view::find_visible(tx, &actor, id)?;
        let mut items = store::list_revisions(tx, id)?;
        if row.view.deleted_at.is_none() {
            items.push(RevisionView {
                revision: items.len() as i64 + 1,
                written_at: row.view.edited_at.unwrap_or(row.view.created_at),
                body: row.view.body,
            });
        }
        Ok(Items { items })
    })
    .await
}
