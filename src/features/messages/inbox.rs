//! The inbox as a work queue: DMs wait, are claimed for a time, and are done, failed or given back.

use serde_json::{Map, Value};
use stoa_db::{Tx, params};
use stoa_model::MessageId;
use stoa_model::messages::{
    ClaimRequest, DEFAULT_LEASE_SECONDS, DoneRequest, FailRequest, InboxStatus, Items, MAX_WAIT_SECONDS, MessageStatus,
    MessageView, SettledMessage, cut,
};
use stoa_model::page::Page;
use stoa_model::permissions::Permission;

use super::change::change_of;
use super::inbox_store::{self, Wanted};
use super::store::{self, Bodies, MessageRow};
use super::{send, state, view};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, Event, MessageEvent};
use crate::hub::waiters::{Awaited, Waiter, Waiters};
use crate::hub::{Hub, Way};
use crate::paging::cursor;
use crate::paging::{ListQuery, page_with};

/// When those who found too many waiting may come again.
const RETRY_SECONDS: u64 = 5;

/// Messages of a claim that shares a transaction. Others would wait while more are put together.
const MAX_SHARED_CLAIM: usize = 8;

/// What part of an inbox is asked for, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct InboxQuery {
    pub status: InboxStatus,
    /// Bodies are cut short unless this is set.
    pub is_full: bool,
    /// How many seconds to wait for something to come.
    pub wait: Option<i64>,
}

/// The caller's inbox, oldest first. With `wait` it is answered as soon as there is something in it
/// behind the cursor, and always has a cursor to go on from.
pub async fn list_inbox(
    hub: &Hub,
    actor: &Actor,
    query: InboxQuery,
    list: ListQuery,
) -> Result<Page<MessageView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let name = format!("inbox {:?}", query.status);
    let after = list.position(hub, actor, &name)?.unwrap_or(MessageId(0));
    let limit = list.limit()?;
    let wait = query.wait.unwrap_or(0);
    if !(0..=MAX_WAIT_SECONDS).contains(&wait) {
        return Err(HubError::invalid_field("wait", format!("must be between 0 and {MAX_WAIT_SECONDS} seconds")));
    }
    let deadline = hub.clock().now_ms() + wait * 1000;
    // Subscribed before the look, so that nothing slips in between the two.
    let mut waiter = if wait > 0 { Some(park(hub, actor, query.status)?) } else { None };
    let (items, has_more) = loop {
        let actor_in = actor.clone();
        let (items, next_lease_end, has_more) = hub
            .read(move |tx| {
                // Who waits may have been shut out in the meantime.
                if wait > 0 {
                    actor_in.require_still_valid(tx)?;
                }
                let bodies = if query.is_full { Bodies::Whole } else { Bodies::Beginning };
                let (mut rows, is_cut) =
                    inbox_store::list_inbox(tx, &actor_in, query.status, after, limit + 1, bodies)?;
                let lease_end =
                    if rows.is_empty() { inbox_store::find_next_lease_end(tx, actor_in.id())? } else { None };
                let has_more = is_cut || rows.len() as i64 > limit;
                rows.truncate(usize::try_from(limit).unwrap_or(0));
                Ok::<_, HubError>((view::complete(tx, &actor_in, rows)?, lease_end, has_more))
            })
            .await?;
        let Some(waiter) = waiter.as_mut().filter(|_| items.is_empty() && !hub.is_stopping()) else {
            break (items, has_more);
        };
        if hub.clock().now_ms() >= deadline {
            break (items, has_more);
        }
        let next_look = next_lease_end.map_or(deadline, |end| end.min(deadline));
        tokio::select! {
            () = waiter.woken() => {}
            () = hub.clock().sleep_until(next_look) => {}
            () = hub.stopping() => {}
        }
    };
    let shown = items.into_iter().map(|message| {
        let body = if query.is_full { message.body } else { cut(&message.body).to_owned() };
        (message.id, MessageView { body, ..message })
    });
    let mut page = page_with(hub, actor, &name, shown.collect(), has_more)?;
    if query.wait.is_some() && page.next_cursor.is_none() {
        let last = page.items.last().map_or(after, |message| message.id);
        page.next_cursor = Some(cursor::issue(&hub.keys(), actor, &name, &last)?);
    }
    Ok(page)
}

/// Begins to wait for what may come into this part of the inbox. What is sent is pending at first.
fn park(hub: &Hub, actor: &Actor, status: InboxStatus) -> Result<Waiter, HubError> {
    let awaited = match status {
        InboxStatus::Pending | InboxStatus::All => Awaited::News,
        InboxStatus::Processing | InboxStatus::Done | InboxStatus::Failed => Awaited::Changes,
    };
    hub.waiters().wait_for(actor.id(), actor.principal.human, awaited).ok_or_else(|| {
        let detail = "You and your agents have too many waiting inbox calls.";
        HubError::rate_limited(detail, RETRY_SECONDS).hint("Wait until one of them returns.")
    })
}

/// Working on a message shows it, so it takes both.
fn require_work(actor: &Actor) -> Result<(), HubError> {
    actor.require(Permission::MessagesWrite)?;
    actor.require(Permission::MessagesRead)
}

/// Claims messages of the caller's inbox for a time, or extends such claims.
pub async fn claim(hub: &Hub, actor: &Actor, request: ClaimRequest) -> Result<Items<MessageView>, HubError> {
    require_work(actor)?;
    request.check()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let is_small = request.most() <= MAX_SHARED_CLAIM;
    let command = move |tx: &mut Tx<'_>| {
        tx.hold("inbox", params![actor_in.id().0])?;
        let lease_until = tx.now_ms() + request.lease_seconds.unwrap_or(DEFAULT_LEASE_SECONDS) * 1000;
        let wanted = match (&request.message_ids, &request.extend) {
            (Some(ids), _) => Wanted::Free(ids),
            (None, Some(ids)) => Wanted::Claimed(ids),
            (None, None) => Wanted::Next(request.limit.unwrap_or(1)),
        };
        let claimed = inbox_store::update_claimed(tx, &actor_in, &wanted, lease_until)?;
        let mut rows = store::find_messages(tx, &claimed, Bodies::Whole)?;
        if !matches!(wanted, Wanted::Claimed(_)) {
            for row in &rows {
                emit_status_changed(&hub_in, tx, &actor_in, row, MessageStatus::Processing)?;
            }
        }
        rows.sort_by_key(|row| (std::cmp::Reverse(row.priority), row.id));
        Ok(Items { items: view::complete(tx, &actor_in, rows)? })
    };
    let way = if is_small { Way::Holding } else { Way::Alone };
    hub.command_replayed(actor, way, command).await
}

pub async fn done(hub: &Hub, actor: &Actor, id: MessageId, request: DoneRequest) -> Result<SettledMessage, HubError> {
    request.check()?;
    settle(hub, actor, id, MessageStatus::Done, request.result, Map::new()).await
}

/// Gives up on a message. Its author is told why.
pub async fn fail(hub: &Hub, actor: &Actor, id: MessageId, request: FailRequest) -> Result<SettledMessage, HubError> {
    request.check()?;
    let metadata = Map::from_iter([("failed".to_owned(), Value::Bool(true))]);
    settle(hub, actor, id, MessageStatus::Failed, Some(request.error), metadata).await
}

async fn settle(
    hub: &Hub,
    actor: &Actor,
    id: MessageId,
    status: MessageStatus,
    result: Option<String>,
    metadata: Map<String, Value>,
) -> Result<SettledMessage, HubError> {
    change_status(hub, actor, id, status, move |hub, tx, actor, row| match &result {
        Some(result) => send::reply_with_result(hub, tx, actor, row, result, metadata.clone()),
        None => Ok(None),
    })
    .await
}

/// Gives a claimed message back, for anybody with the same inbox to claim.
pub async fn release(hub: &Hub, actor: &Actor, id: MessageId) -> Result<MessageView, HubError> {
    let released = change_status(hub, actor, id, MessageStatus::Pending, |_, _, _, _| Ok(None)).await?;
    Ok(released.message)
}

/// Moves a message of the caller's inbox on, if it may move there from where it is.
async fn change_status(
    hub: &Hub,
    actor: &Actor,
    id: MessageId,
    status: MessageStatus,
    then: impl Fn(&Hub, &mut Tx<'_>, &Actor, &MessageRow) -> Result<Option<MessageId>, HubError> + Send + 'static,
) -> Result<SettledMessage, HubError> {
    require_work(actor)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command_replayed(actor, Way::Alone, move |tx| {
        let row = view::find_visible(tx, &actor_in, id)?;
        if row.recipient_id != Some(actor_in.id()) {
            return Err(HubError::forbidden("forbidden", "Only the recipient can work on a message."));
        }
        state::require_work_in_reach(&actor_in, &row)?;
        if row.deleted_at.is_some() {
            return Err(HubError::conflict("message_deleted", "The message was deleted by its author."));
        }
        let from = row.status;
        let may_move = match status {
            MessageStatus::Pending => from == MessageStatus::Processing,
            MessageStatus::Processing => from == MessageStatus::Pending,
            MessageStatus::Done | MessageStatus::Failed => {
                matches!(from, MessageStatus::Pending | MessageStatus::Processing)
            }
        };
        if !may_move {
            let detail = format!("A message that is {} cannot become {}.", from.name(), status.name());
            let error = HubError::conflict("illegal_transition", detail);
            let is_settled = matches!(from, MessageStatus::Done | MessageStatus::Failed);
            return Err(if is_settled { error.hint("The message is already settled.") } else { error });
        }
        inbox_store::update_status(tx, id, status)?;
        emit_status_changed(&hub_in, tx, &actor_in, &row, status)?;
        let reply_id = then(&hub_in, tx, &actor_in, &row)?;
        let row = view::find_visible(tx, &actor_in, id)?;
        Ok(SettledMessage { message: view::complete_one(tx, &actor_in, row)?, reply_id })
    })
    .await
}

fn emit_status_changed(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    row: &MessageRow,
    status: MessageStatus,
) -> Result<(), HubError> {
    events::emit(hub, tx, actor, MessageEvent::StatusChanged { change: change_of(row), status })?;
    Ok(())
}

/// Gives back messages whose claimers let the time run out. They are free from that moment on, whether
/// this has run or not: it tells those who look at them.
pub fn release_expired(hub: &Hub, tx: &mut Tx<'_>) -> Result<u64, HubError> {
    let expired = inbox_store::list_expired(tx)?;
    for row in store::find_messages(tx, &expired, Bodies::Beginning)? {
        inbox_store::update_expired(tx, row.id)?;
        emit_status_changed(hub, tx, &Actor::system(), &row, MessageStatus::Pending)?;
    }
    Ok(expired.len() as u64)
}

/// Wakes those who wait for an inbox into which an event puts something, and those whom it may have shut out.
pub(super) fn wake(waiters: &Waiters, event: &Event) {
    match event {
        Event::Message(MessageEvent::Sent(sent)) => {
            if let Some(recipient) = sent.recipient {
                waiters.wake_for_news(recipient);
            }
        }
        Event::Message(MessageEvent::StatusChanged { change, .. }) => {
            if let Some(recipient) = change.recipient {
                waiters.wake_for_change(recipient);
            }
        }
        Event::Principal(event) => {
            if let Some(principal) = event.changed_access() {
                waiters.wake_for_access(principal);
            }
        }
        Event::Message(_) | Event::Channel(_) | Event::Reaction(_) | Event::Reading(_) | Event::Run(_) => {}
    }
}
