//! Changing what was said, and taking it back.

use serde_json::json;
use stoa_db::{Tx, params};
use stoa_model::MessageId;
use stoa_model::messages::{EditMessageRequest, MessageView, RevisionView, WorkflowState};
use stoa_model::page::Page;
use stoa_model::permissions::Permission;
use stoa_model::trust::{ACTION_TYPE, GIVEN_BY};

use super::store::{self, Copies, Copy, MessageRow, RevisionRow};
use super::{send, state, view};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, MessageChange, MessageEvent};
use crate::features::channels::visibility;
use crate::features::{attachments, audit, channels, reactions};
use crate::hub::{Hub, Way};
use crate::paging::{ListQuery, page_with};

/// Each text of a message is kept, so there cannot be any number of them.
const MAX_EDITS: i64 = 1000;
/// DMs that are emptied and told of in one command.
pub(super) const MAX_BURIED: i64 = 1000;

impl From<RevisionRow> for RevisionView {
    fn from(row: RevisionRow) -> Self {
        Self { revision: row.revision, body: row.body, written_at: row.written_at, approvals: Vec::new() }
    }
}

pub(super) fn change_of(row: &MessageRow) -> MessageChange {
    MessageChange {
        message: row.id,
        conversation: row.conversation_id,
        channel_name: row.channel.clone(),
        recipient: row.recipient_id,
    }
}

/// Changes the text of the caller's own message, or what kind of work it is. What it said before stays in its history.
pub async fn edit_message(
    hub: &Hub,
    actor: &Actor,
    id: MessageId,
    request: EditMessageRequest,
) -> Result<MessageView, HubError> {
    actor.require(Permission::MessagesWrite)?;
    // Whether it may be empty depends on the message; everything else is known before.
    request.check(true)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command_replayed(actor, Way::Alone, move |tx| {
        // An approval is of one text, so nobody approves while it changes.
        tx.hold("reactions", params![id.0])?;
        let row = view::find_visible(tx, &actor_in, id)?;
        actor_in.require_own_conversation(row.conversation_id)?;
        let is_author = row.author_id == actor_in.id();
        if request.body.is_some() && !is_author {
            return Err(HubError::forbidden("forbidden", "Only the author can edit a message."));
        }
        if request.action_type.is_some() && !is_author {
            // Who cannot read a message must not see it in the answer.
            actor_in.require(Permission::MessagesRead)?;
            if !actor_in.is_person() {
                let said = "Only a person can turn other people's talk into work.";
                return Err(HubError::forbidden("forbidden", said).hint("Log in and do it there."));
            }
            require_channel_owner(
                tx,
                &actor_in,
                &row,
                "Only the author or the channel owner can turn talk into work.",
            )?;
        }
        if row.deleted_at.is_some() {
            return Err(HubError::conflict("message_deleted", "A deleted message cannot be edited."));
        }
        if row.mention_of.is_some() {
            return Err(HubError::conflict("mention_copy", "This message is a copy of a mention in a channel.")
                .hint("Edit the message in the channel. The copy is updated."));
        }
        if let Some(channel) = row.channel_id {
            channels::require_let_in(tx, channel, actor_in.id())?;
        }
        request.check(!attachments::of(tx, &[id])?.is_empty())?;
        if let Some(action_type) = &request.action_type {
            set_action_type(&hub_in, tx, &actor_in, &row, action_type.as_deref())?;
        }
        if let Some(body) = request.body.as_deref().filter(|body| row.body != *body) {
            if store::find_last_revision(tx, id)? >= MAX_EDITS {
                return Err(HubError::conflict(
                    "too_many_edits",
                    format!("A message can be edited {MAX_EDITS} times."),
                )
                .hint("Send a new message instead."));
            }
            notify_copy_recipients(&hub_in, tx, &actor_in, id)?;
            let mentions = send::notify_newly_mentioned(&hub_in, tx, &actor_in, &row, body)?;
            store::update_body(tx, id, body, &mentions)?;
            events::emit(&hub_in, tx, &actor_in, MessageEvent::Edited(change_of(&row)))?;
        }
        let row = view::find_visible(tx, &actor_in, id)?;
        view::complete_one(tx, &actor_in, row)
    })
    .await
}

/// Turns talk into work of a kind, or work to which nobody has reacted into talk.
fn set_action_type(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    row: &MessageRow,
    action_type: Option<&str>,
) -> Result<(), HubError> {
    let channel = row
        .channel_id
        .filter(|_| row.reply_to.is_none())
        .ok_or_else(|| HubError::invalid_field(ACTION_TYPE, "is for messages of a channel that are not replies"))?;
    let mut metadata = row.metadata.clone();
    match action_type {
        Some(action_type) => metadata.insert(ACTION_TYPE.to_owned(), json!(action_type)),
        None => metadata.remove(ACTION_TYPE),
    };
    match action_type.filter(|_| row.author_id != actor.id()) {
        Some(_) => metadata.insert(GIVEN_BY.to_owned(), json!(actor.principal.handle)),
        None => metadata.remove(GIVEN_BY),
    };
    let settings = channels::find_settings(tx, channel)?;
    let is_workflow = settings.is_some_and(|settings| settings.workflow_enabled);
    let state = action_type.filter(|_| is_workflow).map(|_| WorkflowState::Proposed);
    if metadata == row.metadata && row.workflow_state == state {
        return Ok(());
    }
    // What was approved, rejected or claimed was so as work of the kind that it had then.
    if !reactions::reacted_among(tx, &[row.id])?.is_empty() {
        let said = "Someone has reacted to this message, so its kind of work cannot be changed.";
        return Err(HubError::conflict("has_reactions", said).hint("Remove the reactions first."));
    }
    store::update_metadata(tx, row.id, &metadata)?;
    if row.workflow_state.is_some() {
        // Who has read it as work of another kind must look again before they approve it.
        store::update_edited_at(tx, row.id)?;
    }
    state::move_to_state(tx, row, state)?;
    state::couple_status(hub, tx, actor, row, state)?;
    if row.author_id != actor.id() {
        let details = json!({"author": row.from.name, "channel": row.channel, "action_type": action_type});
        audit::record(tx, actor, "message.work_changed", Some(&row.id.to_string()), &details)?;
    }
    events::emit(hub, tx, actor, MessageEvent::WorkChanged(change_of(row)))?;
    Ok(())
}

/// A DM about a mention shows the text of the channel message, so an edit changes what its recipient sees.
fn notify_copy_recipients(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, of: MessageId) -> Result<(), HubError> {
    let Some(message) = store::find_message(tx, of)? else { return Ok(()) };
    for copy in store::list_copies(tx, of)? {
        // Who left the channel does not hear what goes on there.
        let sees = match copy.recipient {
            Some(recipient) => visibility::sees(tx, recipient, message.conversation_id)?,
            None => false,
        };
        if !sees {
            continue;
        }
        events::emit(hub, tx, actor, MessageEvent::Edited(change_of_copy(&copy)))?;
    }
    Ok(())
}

fn change_of_copy(copy: &Copy) -> MessageChange {
    MessageChange { message: copy.id, conversation: copy.conversation, channel_name: None, recipient: copy.recipient }
}

/// Leaves a tombstone in a message's place. Its author may, and the owner of the channel it is in.
pub async fn delete_message(hub: &Hub, actor: &Actor, id: MessageId) -> Result<(), HubError> {
    actor.require(Permission::MessagesWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let row = view::find_visible(tx, &actor_in, id)?;
        actor_in.require_own_conversation(row.conversation_id)?;
        let is_own = row.author_id == actor_in.id();
        if !is_own {
            require_channel_owner(tx, &actor_in, &row, "Only its author or the channel's owner may delete a message.")?;
        }
        if row.deleted_at.is_some() {
            return Ok(());
        }
        if !is_own {
            let details = json!({"author": row.from.name, "channel": row.channel});
            audit::record(tx, &actor_in, "message.deleted", Some(&id.to_string()), &details)?;
        }
        bury(&hub_in, tx, &actor_in, &row)?;
        bury_copies(&hub_in, tx, &actor_in, &[id], Copies::OfThoseWhoSee)?;
        store::update_copies_emptied(tx, &[id])?;
        Ok(())
    })
    .await
}

fn bury(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, row: &MessageRow) -> Result<(), HubError> {
    store::update_deleted(tx, row.id)?;
    attachments::release(tx, &[row.id])?;
    events::emit(hub, tx, actor, MessageEvent::Deleted(change_of(row)))?;
    Ok(())
}

/// What channel messages said goes with them from the inboxes of those they called out: from as many as can be
/// told at once. Says from how many.
pub(super) fn bury_copies(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    of: &[MessageId],
    whose: Copies,
) -> Result<usize, HubError> {
    let buried = store::update_copies_deleted(tx, of, whose, MAX_BURIED)?;
    for copy in &buried {
        events::emit(hub, tx, actor, MessageEvent::Deleted(change_of_copy(copy)))?;
    }
    Ok(buried.len())
}

fn require_channel_owner(tx: &mut Tx<'_>, actor: &Actor, row: &MessageRow, said: &str) -> Result<(), HubError> {
    let refused = || HubError::forbidden("forbidden", said);
    let channel = row.channel.as_deref().ok_or_else(refused)?;
    let channel = channels::find_visible(tx, actor, channel)?;
    if channel.owner_id == actor.id() { Ok(()) } else { Err(refused()) }
}

/// Everything that a message has said, oldest first; the last is what it says now.
pub async fn get_history(
    hub: &Hub,
    actor: &Actor,
    id: MessageId,
    list: ListQuery,
) -> Result<Page<RevisionView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let name = format!("history {id}");
    let after = list.position(hub, actor, &name)?.unwrap_or(0);
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let (items, has_more) = hub
        .read(move |tx| {
            let row = view::find_visible(tx, &actor_in, id)?;
            let (revisions, is_cut) = store::list_revisions(tx, id, after, limit)?;
            let mut items: Vec<RevisionView> = revisions.into_iter().map(Into::into).collect();
            let last = items.last().map_or(after, |revision| revision.revision);
            let is_current_left = last == store::find_last_revision(tx, id)? && row.deleted_at.is_none();
            let has_room = !is_cut && (items.len() as i64) < limit;
            if is_current_left && has_room {
                let now = view::complete_one(tx, &actor_in, row)?;
                let written_at = now.edited_at.unwrap_or(now.created_at);
                items.push(RevisionView { revision: last + 1, written_at, body: now.body, approvals: Vec::new() });
            }
            let current = store::find_last_revision(tx, id)? + 1;
            let mut approvals = reactions::approvals_of(tx, id, current)?;
            for item in &mut items {
                item.approvals = approvals.remove(&item.revision).unwrap_or_default();
            }
            Ok::<_, HubError>((items, !has_room))
        })
        .await?;
    let rows = items.into_iter().map(|revision| (revision.revision, revision)).collect();
    page_with(hub, actor, &name, rows, has_more)
}
