use serde_json::Map;
use stoa_db::Tx;
use stoa_model::PrincipalId;
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::{Reaction, ReactionAction};
use stoa_model::trust::action_type_of;

use super::react::Change;
use super::trust;
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{ChannelEvent, Event, MessageEvent, MessageSent, Outcome, PrincipalEvent};
use crate::features::channels::visibility;
use crate::features::{channels, messages, principals, reactions};
use crate::hub::Hub;

/// Claims of one who goes that are looked at. The rest stands still, and that is told.
const MAX_CLAIMS: i64 = 1000;

/// What trusted agents propose is approved at once; who goes gives back what they have claimed.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Message(MessageEvent::Sent(sent)) => approve_trusted(hub, tx, sent),
        Event::Principal(PrincipalEvent::Deleted { principal }) => {
            give_back(hub, tx, *principal, true)?;
            give_back_of_owner(hub, tx, *principal)
        }
        Event::Channel(ChannelEvent::MemberRemoved { principal, .. }) => {
            give_back(hub, tx, *principal, false)?;
            give_back_of_owner(hub, tx, *principal)
        }
        Event::Principal(PrincipalEvent::Updated { principal }) => {
            let is_shut_out = principals::find_by_id(tx, *principal)?.is_some_and(|known| known.is_disabled);
            if is_shut_out { give_back(hub, tx, *principal, true) } else { Ok(()) }
        }
        Event::Channel(ChannelEvent::Hidden { conversation, .. }) => {
            for principal in reactions::list_claimants_in(tx, *conversation, MAX_CLAIMS)? {
                give_back(hub, tx, principal, false)?;
            }
            Ok(())
        }
        Event::Principal(_) | Event::Channel(_) | Event::Message(_) | Event::Reaction(_) | Event::Reading(_) => Ok(()),
    }
}

fn approve_trusted(hub: &Hub, tx: &mut Tx<'_>, sent: &MessageSent) -> Result<(), HubError> {
    if !sent.is_work || sent.from.kind != PrincipalKind::Agent || sent.reply_to.is_some() {
        return Ok(());
    }
    let Some(channel) = sent.channel else { return Ok(()) };
    let settings = channels::find_settings(tx, channel)?;
    let Some(settings) = settings.filter(|settings| settings.workflow_enabled && settings.auto_approve) else {
        return Ok(());
    };
    let message = messages::find(tx, sent.message)?.ok_or_else(|| HubError::internal("the new message is missing"))?;
    let score = trust::score_of(tx, sent.author, action_type_of(&message.metadata))?;
    if !score.reaches(settings.approve_threshold) {
        return Ok(());
    }
    let (actor, system) = (Actor::system(), principals::system(tx)?);
    let change = Change::of(tx, hub, &actor, system.id, message)?;
    change.add(tx, Reaction::Approve, &Map::new())?;
    change.finish(tx, Reaction::Approve, ReactionAction::Added)?;
    Ok(())
}

/// A person may have seen a channel through their agent only.
fn give_back_of_owner(hub: &Hub, tx: &mut Tx<'_>, principal: PrincipalId) -> Result<(), HubError> {
    match principals::find_by_id(tx, principal)?.and_then(|known| known.owner) {
        Some(owner) => give_back(hub, tx, owner, false),
        None => Ok(()),
    }
}

/// Work that nobody can finish any more must not stay claimed: that of one who is gone, or who does not see it any more.
fn give_back(hub: &Hub, tx: &mut Tx<'_>, principal: PrincipalId, is_gone: bool) -> Result<(), HubError> {
    let claimed = reactions::list_claims(tx, principal, MAX_CLAIMS)?;
    let actor = Actor::system();
    for message in messages::find_many(tx, &claimed)? {
        let is_open = !message.workflow_state.is_terminal() && message.deleted_at.is_none();
        let can_go_on = !is_gone && visibility::sees(tx, principal, message.conversation_id)?;
        if is_open && !can_go_on {
            reactions::remove(tx, message.id, principal, Reaction::InProgress)?;
            let change = Change::of(tx, hub, &actor, principal, message)?;
            change.finish(tx, Reaction::InProgress, ReactionAction::Removed)?;
        }
    }
    Ok(())
}
