//! Which deliveries follow from an event.

use serde_json::{Value, json};
use stoa_db::Tx;
use stoa_model::messages::DeliveryState;
use stoa_model::webhooks::{DeliveryStatus, MAX_DEPTH, WebhookEvent};
use stoa_model::{DeliveryId, MessageId};

use super::delivery_store::{self, NewDelivery};
use super::store::{self, Subscriber};
use super::{sending, service};
use crate::error::HubError;
use crate::events::{Delivery, Event, MessageEvent, MessageSent, Outcome, PrincipalEvent, ReactionEvent, RunEvent};
use crate::features::{messages, principals};
use crate::hub::Hub;

/// Adds the deliveries that follow from an event, in its transaction.
pub fn plan(_: &Hub, tx: &mut Tx<'_>, event: &Event, outcome: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Message(MessageEvent::Sent(sent)) => plan_sent(tx, sent, outcome),
        Event::Reaction(ReactionEvent::Changed(reaction)) if reaction.state_before != reaction.state => {
            let subscribers = store::list_of_conversation(tx, reaction.change.conversation)?;
            if subscribers.is_empty() {
                return Ok(());
            }
            let actor = principals::find_by_id(tx, reaction.principal)?.map(|actor| actor.handle);
            let what = Occurrence {
                event: WebhookEvent::WorkflowStateChanged,
                message: Some(reaction.change.message),
                facts: json!({
                    "from": reaction.state_before,
                    "to": reaction.state,
                    "reaction": reaction.reaction,
                    "actor": actor,
                }),
                depth: reaction.depth,
            };
            add_all(tx, &subscribers, &what)?;
            Ok(())
        }
        Event::Run(RunEvent::Changed(change)) if change.is_status_new && change.status.is_final() => {
            let subscribers = store::list_of_agent(tx, change.agent, WebhookEvent::RunFinished)?;
            let what = Occurrence {
                event: WebhookEvent::RunFinished,
                message: change.trigger_message,
                facts: json!({
                    "run": {
                        "id": change.run, "agent": change.agent_name, "status": change.status, "reason": change.reason,
                        "depth": change.depth, "trigger_message_id": change.trigger_message,
                    },
                }),
                depth: change.depth + 1,
            };
            add_all(tx, &subscribers, &what)?;
            Ok(())
        }
        Event::Principal(PrincipalEvent::Deleted { principal }) => {
            for webhook in store::list_ids_of_agent(tx, *principal)? {
                service::remove(tx, webhook)?;
            }
            Ok(())
        }
        Event::Message(_)
        | Event::Reaction(_)
        | Event::Channel(_)
        | Event::Principal(_)
        | Event::Reading(_)
        | Event::Run(_) => Ok(()),
    }
}

fn plan_sent(tx: &mut Tx<'_>, sent: &MessageSent, outcome: &mut Outcome) -> Result<(), HubError> {
    if sent.no_wake {
        return Ok(());
    }
    if let Some(recipient) = sent.recipient {
        // A mention is about the channel message; the DM only tells of it.
        let (event, message, facts) = match sent.mention_of {
            Some(origin) => (WebhookEvent::MessageMentioned, origin, json!({"inbox_message_id": sent.message})),
            None => (WebhookEvent::MessageReceived, sent.message, json!({})),
        };
        let subscribers = store::list_of_agent(tx, recipient, event)?;
        let is_sent =
            add_all(tx, &subscribers, &Occurrence { event, message: Some(message), facts, depth: sent.depth })?;
        if is_sent {
            // A run may be queued for it, too, and then says so itself.
            messages::set_wake(tx, sent.message, DeliveryState::Woken, None, None)?;
            outcome.deliveries.push(Delivery { recipient, state: DeliveryState::Woken, reason: None, run_id: None });
        }
    } else if let Some(channel) = sent.channel {
        let event = WebhookEvent::ChannelMessage;
        let subscribers = store::list_of_channel(tx, channel, sent.author, event)?;
        let what = Occurrence { event, message: Some(sent.message), facts: json!({}), depth: sent.depth };
        add_all(tx, &subscribers, &what)?;
    }
    Ok(())
}

/// Something that webhooks are notified of.
pub(super) struct Occurrence {
    pub(super) event: WebhookEvent,
    pub(super) message: Option<MessageId>,
    /// What is not in the message.
    pub(super) facts: Value,
    pub(super) depth: i64,
}

/// Adds a delivery for each webhook. Says whether one of them will be sent.
fn add_all(tx: &mut Tx<'_>, subscribers: &[Subscriber], what: &Occurrence) -> Result<bool, HubError> {
    let mut is_sent = false;
    for subscriber in subscribers {
        is_sent |= add(tx, subscriber, what)?.1 == DeliveryStatus::Pending;
    }
    Ok(is_sent)
}

/// Adds a delivery, and the work of sending it.
pub(super) fn add(
    tx: &mut Tx<'_>,
    subscriber: &Subscriber,
    what: &Occurrence,
) -> Result<(DeliveryId, DeliveryStatus), HubError> {
    let status = match () {
        () if what.depth >= MAX_DEPTH => DeliveryStatus::SuppressedLoop,
        () if subscriber.is_held => DeliveryStatus::Held,
        () => DeliveryStatus::Pending,
    };
    let public_id = public_id(tx);
    let new = NewDelivery {
        webhook: subscriber.webhook,
        public_id: &public_id,
        event: what.event,
        message: what.message,
        facts: &what.facts.to_string(),
        depth: what.depth,
        status,
    };
    let id = delivery_store::insert_delivery(tx, &new)?;
    if status == DeliveryStatus::Pending {
        sending::enqueue(tx, subscriber, id, tx.now_ms())?;
    }
    Ok((id, status))
}

/// What a receiver knows a delivery by.
pub(super) fn public_id(tx: &mut Tx<'_>) -> String {
    format!("msg_{}", ulid(tx.now_ms(), tx.random_bytes()))
}

/// A name that sorts by its time: <https://github.com/ulid/spec>.
fn ulid(now_ms: i64, random: [u8; 10]) -> String {
    const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&now_ms.to_be_bytes()[2..]);
    bytes[6..].copy_from_slice(&random);
    let number = u128::from_be_bytes(bytes);
    let letter = |place: u32| LETTERS.get(usize::try_from(number >> (5 * place) & 31).unwrap_or(0)).copied();
    (0..26).rev().filter_map(letter).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulids_are_written_as_others_write_them() {
        assert_eq!(ulid(0, [0; 10]), "0".repeat(26));
        assert_eq!(ulid(1_469_918_176_385, [0xff; 10]), format!("01ARYZ6S41{}", "Z".repeat(16)));
    }
}
