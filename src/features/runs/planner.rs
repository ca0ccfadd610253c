//! What follows from messages and from changes of agents, for runs.

use stoa_db::Tx;
use stoa_model::dispatch::{Decision, NotWokenReason};
use stoa_model::messages::DeliveryState;
use stoa_model::principals::PrincipalKind;
use stoa_model::runs::{RunReason, StepKind, delivery_of};
use stoa_model::{PrincipalId, Timestamp};

use super::wake::{self, Arrival, Asked};
use super::{control, pending, progress, store};
use crate::error::HubError;
use crate::events::{Delivery, Event, MessageEvent, MessageSent, Outcome, PrincipalEvent};
use crate::features::{agents, messages, principals};
use crate::hub::Hub;

pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, outcome: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Message(MessageEvent::Sent(sent)) => {
            note_sent(hub, tx, sent)?;
            plan_wake(hub, tx, sent, outcome)
        }
        Event::Message(MessageEvent::Deleted(change)) => Ok(messages::withdraw(tx, change.message)?),
        Event::Principal(PrincipalEvent::Updated { principal }) => follow_update(hub, tx, *principal),
        Event::Principal(PrincipalEvent::Deleted { principal }) => {
            if let Some(run) = store::find_active(tx, *principal)? {
                control::stop(hub, tx, &run, RunReason::AgentDeleted)?;
            }
            Ok(())
        }
        Event::Message(_)
        | Event::Principal(_)
        | Event::Channel(_)
        | Event::Reaction(_)
        | Event::Reading(_)
        | Event::Run(_) => Ok(()),
    }
}

/// What a run says is a step of it.
fn note_sent(hub: &Hub, tx: &mut Tx<'_>, sent: &MessageSent) -> Result<(), HubError> {
    let Some(run) = sent.run.filter(|_| sent.mention_of.is_none()) else { return Ok(()) };
    let place = match (&sent.channel_name, &sent.to) {
        (Some(channel), _) => format!("#{channel}"),
        (None, Some(name)) => format!("@{name}"),
        (None, None) => String::new(),
    };
    let text = format!("message {} to {place}", sent.message);
    let at = Timestamp::from_ms(tx.now_ms());
    progress::add_step(hub, tx, run, at, StepKind::MessageSent, &text)
}

fn plan_wake(hub: &Hub, tx: &mut Tx<'_>, sent: &MessageSent, outcome: &mut Outcome) -> Result<(), HubError> {
    let Some(recipient) = sent.recipient.filter(|_| sent.may_wake) else { return Ok(()) };
    let Some(sender) = principals::find_by_id(tx, sent.author)? else { return Ok(()) };
    let origin = sent.mention_of.map(|id| messages::find(tx, id)).transpose()?.flatten();
    let message = messages::find(tx, sent.message)?;
    let text = message.as_ref().filter(|_| sender.kind == PrincipalKind::Agent).map(|message| message.body.as_str());
    let chain = message.as_ref().and_then(|message| message.chain_id);
    let asked = Asked {
        is_person: sender.kind == PrincipalKind::User && sent.depth == 0,
        sender: &sender,
        no_wake: sent.no_wake,
        depth: sent.depth,
        chain,
        origin: sent.mention_of,
        channel: origin.as_ref().and_then(|origin| origin.channel_id),
        text,
    };
    let arrival = Arrival { agent: recipient, inbox_message: sent.message, asked };
    let (decision, run) = wake::decide(hub, tx, &arrival)?;
    let (state, reason) = delivery_of(decision);
    let earlier = outcome.deliveries.iter_mut().find(|delivery| delivery.recipient == recipient);
    match earlier {
        // A webhook has its deliveries, whether there is a run or not.
        Some(earlier) if matches!(decision, Decision::Not(_)) && earlier.state == DeliveryState::Woken => {
            messages::set_wake(tx, sent.message, DeliveryState::Woken, None, None)?;
            return Ok(());
        }
        Some(earlier) => {
            (earlier.state, earlier.reason, earlier.run_id) = (state, reason, run.map(|run| run.0));
        }
        None => outcome.deliveries.push(Delivery { recipient, state, reason, run_id: run.map(|run| run.0) }),
    }
    messages::set_wake(tx, sent.message, state, reason, run)?;
    Ok(())
}

/// Stops what may no longer run, and looks at what waits for somebody who may run again.
fn follow_update(hub: &Hub, tx: &mut Tx<'_>, principal: PrincipalId) -> Result<(), HubError> {
    let Some(known) = principals::find_by_id(tx, principal)? else { return Ok(()) };
    match known.kind {
        PrincipalKind::User if known.is_disabled => {
            control::stop_all(hub, tx, Some(principal), RunReason::OwnerDisabled, true)
        }
        PrincipalKind::User if !agents::may_start_subprocess(hub, tx, principal)? => {
            // They may have been an administrator until now.
            control::stop_all(hub, tx, Some(principal), RunReason::SubprocessNotAllowed, false)
        }
        PrincipalKind::Agent => {
            let Some(runnable) = agents::find_runnable(tx, principal)? else { return Ok(()) };
            let halt = wake::halt_of(hub, tx, &runnable)?;
            // The switch has stopped what was running, and what waits goes on waiting.
            if halt == Some(NotWokenReason::ActingOff) {
                return Ok(());
            }
            if let Some(reason) = halt.and_then(control::reason_of) {
                if let Some(run) = store::find_active(tx, principal)? {
                    control::stop(hub, tx, &run, reason)?;
                }
            } else if runnable.agent.pending_work {
                pending::schedule(tx, principal, tx.now_ms())?;
            }
            Ok(())
        }
        PrincipalKind::User | PrincipalKind::System | PrincipalKind::Machine => Ok(()),
    }
}
