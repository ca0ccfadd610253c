//! What messages to agents set in motion: the decision about each is stored with it.

use stoa_db::{DbError, Tx};
use stoa_model::messages::{DeliveryState, DeliveryView, MessageStatus, MessageView};
use stoa_model::permissions::Permission;
use stoa_model::{MessageId, PrincipalId, RunId};

use super::change::change_of;
use super::store::{self, Bodies, MessageRow};
use super::{inbox_store, send, view, wake_store};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, MessageEvent};
use crate::hub::Hub;

pub use super::wake_store::{WaitingRow, WakeRow};

/// Notes what a message has set in motion.
pub fn set_wake(
    tx: &mut Tx<'_>,
    message: MessageId,
    state: DeliveryState,
    reason: Option<&str>,
    run: Option<RunId>,
) -> Result<(), DbError> {
    wake_store::update_wake(tx, message, state, reason, run)
}

/// Notes that a run covers messages.
pub fn cover(tx: &mut Tx<'_>, messages: &[MessageId], run: RunId) -> Result<(), DbError> {
    wake_store::update_covered(tx, messages, run)
}

/// Notes that a run covers what another one covered.
pub fn cover_again(tx: &mut Tx<'_>, from: RunId, to: RunId) -> Result<(), DbError> {
    wake_store::update_run(tx, from, to)
}

/// What waits for an agent is not run after all. Returns how many messages that were.
pub fn drop_waiting(tx: &mut Tx<'_>, agent: PrincipalId, reason: &str) -> Result<u64, DbError> {
    wake_store::update_dropped(tx, agent, reason)
}

/// A deleted message waits for nothing, and neither do the DMs about it.
pub fn withdraw(tx: &mut Tx<'_>, message: MessageId) -> Result<(), DbError> {
    wake_store::update_withdrawn(tx, message)
}

/// The oldest messages that wait for an agent.
pub fn list_waiting(tx: &mut Tx<'_>, agent: PrincipalId, limit: i64) -> Result<Vec<WaitingRow>, DbError> {
    wake_store::list_waiting(tx, agent, limit)
}

pub fn count_waiting(tx: &mut Tx<'_>, agent: PrincipalId, limit: i64) -> Result<i64, DbError> {
    wake_store::count_waiting(tx, agent, limit)
}

pub fn list_wakes(tx: &mut Tx<'_>, message: MessageId) -> Result<Vec<WakeRow>, DbError> {
    wake_store::list_wakes(tx, message)
}

/// Agents of other owners than `human` that the mentions of a message have woken.
pub fn count_foreign_woken(tx: &mut Tx<'_>, origin: MessageId, human: PrincipalId) -> Result<i64, DbError> {
    wake_store::count_foreign_woken(tx, origin, human)
}

/// Messages of one principal to another after a message and a moment, up to about half of `limit`.
pub fn count_exchanges(
    tx: &mut Tx<'_>,
    author: PrincipalId,
    recipient: PrincipalId,
    after: MessageId,
    since_ms: i64,
    limit: i64,
) -> Result<i64, DbError> {
    wake_store::count_exchanges(tx, author, recipient, after, since_ms, limit)
}

/// The messages that a run covers, oldest first.
pub fn list_covered(tx: &mut Tx<'_>, run: RunId, limit: i64) -> Result<Vec<MessageId>, DbError> {
    wake_store::list_covered(tx, run, limit)
}

/// What was said before a message in its conversation, or in its thread, oldest first.
pub fn list_earlier(tx: &mut Tx<'_>, actor: &Actor, row: &MessageRow, limit: i64) -> Result<Vec<MessageView>, DbError> {
    let mut rows = match (row.channel_id, row.thread_id) {
        // A thread may go on in other conversations, which the reader may not see.
        (Some(_), Some(thread)) => store::list_thread_before(tx, row.conversation_id, thread, row.id, limit)?,
        _ => store::list_before(tx, row.conversation_id, row.id, MessageId(0), limit, Bodies::Whole)?,
    };
    rows.reverse();
    let mut views = view::complete_uncounted(tx, actor, rows)?;
    views.retain(|view| view.deleted_at.is_none());
    Ok(views)
}

/// The first message of a run. Where none carries the run, the first that the agent said in the conversation while it ran.
pub fn find_outgoing(
    tx: &mut Tx<'_>,
    run: RunId,
    agent: PrincipalId,
    trigger: Option<MessageId>,
    period: (i64, i64),
) -> Result<Option<MessageId>, DbError> {
    if let Some(found) = wake_store::find_first_of_run(tx, run)? {
        return Ok(Some(found));
    }
    let Some(trigger) = trigger.map(|id| super::state::find(tx, id)).transpose()?.flatten() else { return Ok(None) };
    wake_store::find_first_between(tx, trigger.conversation_id, agent, trigger.id, period)
}

pub fn has_sent(tx: &mut Tx<'_>, run: RunId) -> Result<bool, DbError> {
    Ok(wake_store::find_first_of_run(tx, run)?.is_some())
}

/// A message as the caller sees it; none if they do not.
pub fn show(tx: &mut Tx<'_>, actor: &Actor, id: MessageId) -> Result<Option<MessageView>, HubError> {
    let Some(row) = store::find_message(tx, id)?.filter(|row| row.deleted_at.is_none()) else { return Ok(None) };
    if !(actor.is_operator() || view::is_visible(tx, actor, &row)?) {
        return Ok(None);
    }
    view::complete_one(tx, actor, row).map(Some)
}

/// Whether the caller sees what a message says: of a DM about a mention, the message in the channel.
pub fn is_text_visible(tx: &mut Tx<'_>, actor: &Actor, id: MessageId) -> Result<bool, HubError> {
    let Some(row) = super::state::find(tx, id)? else { return Ok(false) };
    for id in [Some(row.id), row.mention_of].into_iter().flatten() {
        if show(tx, actor, id)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Answers what an agent was sent: in the channel that it was mentioned in, or the author directly.
pub fn answer(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    inbox: &MessageRow,
    body: &str,
) -> Result<Option<MessageId>, HubError> {
    if inbox.mention_of.is_some() {
        return send::reply_in_channel(hub, tx, actor, inbox, body, serde_json::Map::new());
    }
    send::reply_with_result(hub, tx, actor, inbox, body, serde_json::Map::new())
}

/// Settles what an agent was sent, if it is still open.
pub fn settle_by_run(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    message: MessageId,
    status: MessageStatus,
) -> Result<(), HubError> {
    let Some(row) = super::state::find(tx, message)? else { return Ok(()) };
    if row.deleted_at.is_some() || !matches!(row.status, MessageStatus::Pending | MessageStatus::Processing) {
        return Ok(());
    }
    inbox_store::update_status(tx, row.id, status)?;
    events::emit(hub, tx, actor, MessageEvent::StatusChanged { change: change_of(&row), status })?;
    Ok(())
}

/// What a message has set in motion, for those who may know: its author's side sees all of it, others what concerns their own agents.
pub async fn get_delivery(hub: &Hub, actor: &Actor, id: MessageId) -> Result<Vec<DeliveryView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        view::find_visible(tx, &actor, id)?;
        let human = actor.principal.human;
        let is_known = |row: &WakeRow| actor.is_operator() || row.author_human == human || row.recipient_human == human;
        let wakes = wake_store::list_wakes(tx, id)?.into_iter().filter(is_known);
        Ok(wakes.map(delivery_view).collect())
    })
    .await
}

fn delivery_view(row: WakeRow) -> DeliveryView {
    DeliveryView {
        recipient: row.recipient_name,
        state: row.state.unwrap_or(DeliveryState::Stored),
        reason: row.reason,
        run_id: row.run.map(|run| run.0),
    }
}
