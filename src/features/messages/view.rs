//! What a caller sees of messages: rows completed with what is found out from elsewhere.

use std::collections::HashMap;

use serde_json::Map;
use stoa_db::{DbError, Tx};
use stoa_model::messages::MessageView;
use stoa_model::{ConversationId, MessageId};

use super::digests;
use super::store::{self, MessageRow};
use crate::access::Actor;
use crate::access::reach::outside_run_reach;
use crate::error::HubError;
use crate::features::attachments;
use crate::features::channels::visibility;
use crate::features::reactions;

/// Which conversations the caller may see, asked once for each.
#[derive(Default)]
pub(super) struct Sight(HashMap<ConversationId, bool>);

impl Sight {
    pub(super) fn sees(
        &mut self,
        tx: &mut Tx<'_>,
        actor: &Actor,
        conversation: ConversationId,
    ) -> Result<bool, DbError> {
        if let Some(sees) = self.0.get(&conversation) {
            return Ok(*sees);
        }
        let sees = visibility::is_visible(tx, actor, conversation)?;
        self.0.insert(conversation, sees);
        Ok(sees)
    }
}

impl From<MessageRow> for MessageView {
    /// Without what other tables say: replies, attachments and reactions.
    fn from(row: MessageRow) -> Self {
        Self {
            id: row.id,
            conversation_id: row.conversation_id,
            channel_id: row.channel_id,
            channel: row.channel,
            from: row.from,
            to: row.to,
            subject: row.subject,
            body: row.body,
            reply_to: row.reply_to,
            status: row.status,
            priority: row.priority,
            metadata: row.metadata,
            mentions: row.mentions,
            created_at: row.created_at,
            edited_at: row.edited_at,
            deleted_at: row.deleted_at,
            reply_count: 0,
            attachments: Vec::new(),
            reactions: Vec::new(),
            lapsed_approvals: Vec::new(),
            workflow_state: row.workflow_state,
            status_since: row.status_since,
            run_id: row.run_id,
            depth: row.depth,
            lease_until: row.lease_until,
        }
    }
}

/// Completes messages that the caller may see.
pub(super) fn complete(tx: &mut Tx<'_>, actor: &Actor, rows: Vec<MessageRow>) -> Result<Vec<MessageView>, DbError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut sight = Sight::default();
    let ids: Vec<MessageId> = rows.iter().map(|row| row.id).collect();
    tx.ahead(|tx| {
        let _ = store::list_answered(tx, &ids);
        let _ = reactions::of(tx, &ids);
        let _ = attachments::of(tx, &shown_by(&rows));
    })?;
    let answered = store::list_answered(tx, &ids)?;
    tx.ahead(|tx| {
        for parent in &answered {
            let _ = store::count_replies(tx, actor, *parent);
        }
    })?;
    let mut counts: HashMap<MessageId, i64> = HashMap::new();
    for parent in answered {
        counts.insert(parent, store::count_replies(tx, actor, parent)?);
    }
    let mut views = show(tx, actor, rows, &mut sight)?;
    for view in &mut views {
        view.reply_count = counts.get(&view.id).copied().unwrap_or(0);
    }
    Ok(views)
}

/// The same where nobody looks at how many answers there are.
pub(super) fn complete_uncounted(
    tx: &mut Tx<'_>,
    actor: &Actor,
    rows: Vec<MessageRow>,
) -> Result<Vec<MessageView>, DbError> {
    show(tx, actor, rows, &mut Sight::default())
}

fn show(tx: &mut Tx<'_>, actor: &Actor, rows: Vec<MessageRow>, sight: &mut Sight) -> Result<Vec<MessageView>, DbError> {
    let ids: Vec<MessageId> = rows.iter().map(|row| row.id).collect();
    let mut reactions = reactions::of(tx, &ids)?;
    let edited: Vec<MessageId> = rows.iter().filter(|row| row.edited_at.is_some()).map(|row| row.id).collect();
    let mut lapsed = reactions::lapsed_among(tx, &edited)?;
    let attached = attachments::of(tx, &shown_by(&rows))?;
    let mut views = Vec::with_capacity(rows.len());
    for row in rows {
        let is_hidden = match row.origin {
            Some(origin) => !sight.sees(tx, actor, origin)?,
            None => false,
        };
        let origin_deleted_at = row.origin_deleted_at;
        let (is_recipient, shown) = (row.recipient_id == Some(actor.id()), row.mention_of.unwrap_or(row.id));
        let mut view = MessageView::from(row);
        view.lease_until = view.lease_until.filter(|_| is_recipient);
        view.reactions = reactions.remove(&view.id).unwrap_or_default();
        view.lapsed_approvals = lapsed.remove(&view.id).unwrap_or_default();
        if is_hidden {
            // It says what was said in a channel, so it says it to those who may see the channel.
            (view.body, view.subject, view.metadata) = (String::new(), None, Map::new());
            (view.edited_at, view.mentions) = (None, Vec::new());
        } else if view.deleted_at.or(origin_deleted_at).is_some() {
            view.deleted_at = view.deleted_at.or(origin_deleted_at);
        } else {
            view.attachments = attached.get(&shown).cloned().unwrap_or_default();
        }
        views.push(view);
    }
    digests::fill(tx, actor, &mut views, sight)?;
    Ok(views)
}

/// The messages whose files are shown: a DM that tells of a mention shows those of the message that it tells of.
fn shown_by(rows: &[MessageRow]) -> Vec<MessageId> {
    rows.iter().map(|row| row.mention_of.unwrap_or(row.id)).collect()
}

pub(super) fn complete_one(tx: &mut Tx<'_>, actor: &Actor, row: MessageRow) -> Result<MessageView, HubError> {
    let completed = complete(tx, actor, vec![row])?.pop();
    completed.ok_or_else(|| HubError::internal("a message was lost while it was completed"))
}

/// A message that the caller may see; any other does not exist for them.
pub(super) fn find_visible(tx: &mut Tx<'_>, actor: &Actor, id: MessageId) -> Result<MessageRow, HubError> {
    let row = store::find_message(tx, id)?.ok_or_else(|| HubError::not_found("message"))?;
    require_visible(tx, actor, &row)?;
    Ok(row)
}

/// Whether the caller may see a message, within the reach of their credential.
pub(super) fn is_visible(tx: &mut Tx<'_>, actor: &Actor, row: &MessageRow) -> Result<bool, DbError> {
    // Those DMs of a run that are not in its conversation are the agent's own, so it sees them.
    let is_own_dm = actor.principal.reach.of_run().is_some_and(|run| run.contains_dm(&row.place()));
    Ok(is_own_dm || visibility::is_visible(tx, actor, row.conversation_id)?)
}

/// A message that the caller may not see does not exist for them. What only a run may not see is refused.
pub(super) fn require_visible(tx: &mut Tx<'_>, actor: &Actor, row: &MessageRow) -> Result<(), HubError> {
    if is_visible(tx, actor, row)? {
        return Ok(());
    }
    if actor.principal.reach.of_run().is_some() && visibility::sees(tx, actor.id(), row.conversation_id)? {
        return Err(outside_run_reach());
    }
    Err(HubError::not_found("message"))
}
