use serde_json::Map;
use stoa_db::Tx;
use stoa_model::messages::WorkflowState;
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::{Reaction, ReactionAction};
use stoa_model::trust::action_type_of;
use stoa_model::{ConversationId, MessageId, PrincipalId};

use super::react::Change;
use super::trust;
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{ChannelEvent, Event, MessageEvent, Outcome, PrincipalEvent};
use crate::features::channels::visibility;
use crate::features::messages::{self, Lapse, MessageRow, Notice};
use crate::features::principals::{self, PrincipalRow};
use crate::features::{channels, reactions};
use crate::hub::Hub;

/// Claims of one who goes that are looked at. The rest stands still, and that is told.
const MAX_CLAIMS: i64 = 1000;

/// What trusted agents propose is approved at once, and an edit takes approvals back; who goes gives back what they have claimed.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Message(MessageEvent::Sent(sent)) if sent.is_work && sent.from.kind == PrincipalKind::Agent => {
            approve_trusted(hub, tx, sent.message)
        }
        Event::Message(MessageEvent::Edited(edited)) => lapse_approvals(hub, tx, edited.message),
        Event::Principal(PrincipalEvent::Deleted { principal }) => {
            give_back(hub, tx, *principal, true)?;
            give_back_of_owner(hub, tx, *principal)
        }
        Event::Channel(ChannelEvent::MemberRemoved { conversation, principal, .. }) => {
            give_back_in(hub, tx, *conversation, Some(*principal))?;
            // A person may have seen a channel through their agent only.
            match principals::find_by_id(tx, *principal)?.and_then(|known| known.owner) {
                Some(owner) => give_back_in(hub, tx, *conversation, Some(owner)),
                None => Ok(()),
            }
        }
        Event::Principal(PrincipalEvent::Updated { principal }) => {
            let is_shut_out = principals::find_by_id(tx, *principal)?.is_some_and(|known| known.is_disabled);
            if is_shut_out { give_back(hub, tx, *principal, true) } else { Ok(()) }
        }
        Event::Channel(ChannelEvent::Hidden { conversation, .. }) => give_back_in(hub, tx, *conversation, None),
        Event::Principal(_)
        | Event::Channel(_)
        | Event::Message(_)
        | Event::Reaction(_)
        | Event::Reading(_)
        | Event::Run(_) => Ok(()),
    }
}

/// Approves new work of an agent that is trusted enough with work of its kind, where the channel wants that.
fn approve_trusted(hub: &Hub, tx: &mut Tx<'_>, id: MessageId) -> Result<(), HubError> {
    let message = messages::find(tx, id)?.ok_or_else(|| HubError::internal("the new work is missing"))?;
    let is_new = message.workflow_state == Some(WorkflowState::Proposed) && message.from.kind == PrincipalKind::Agent;
    let Some(channel) = message.channel_id.filter(|_| is_new) else { return Ok(()) };
    let settings = channels::find_settings(tx, channel)?;
    let Some(settings) = settings.filter(|settings| settings.workflow_enabled && settings.auto_approve) else {
        return Ok(());
    };
    let score = trust::score_of(tx, message.author_id, action_type_of(&message.metadata))?;
    if !score.reaches(settings.approve_threshold) {
        return Ok(());
    }
    let (actor, system) = (Actor::system(), principals::system(tx)?);
    let change = Change::of(tx, hub, &actor, system.id, message)?;
    change.add(tx, Reaction::Approve, &Map::new())?;
    change.finish(tx, Reaction::Approve, ReactionAction::Added)?;
    Ok(())
}

/// An approval is of one text. Who gave one hears that it was taken back, and the trust that came with it stays: it was earned by the
/// text that was there.
fn lapse_approvals(hub: &Hub, tx: &mut Tx<'_>, id: MessageId) -> Result<(), HubError> {
    let revision = messages::find_last_revision(tx, id)?;
    let lapsed = reactions::lapse_approvals(tx, id, revision)?;
    let actor = Actor::system();
    let mut notices = Vec::new();
    for (principal, reaction) in lapsed {
        let Some(message) = messages::find(tx, id)? else { return Ok(()) };
        let change = Change::of(tx, hub, &actor, principal, message.clone())?;
        change.finish(tx, reaction, ReactionAction::Removed)?;
        let Some(recipient) = principals::find_by_id(tx, principal)?.filter(|known| known.is_reachable()) else {
            continue;
        };
        let is_told = notices.iter().any(|notice: &Notice| notice.recipient.id == principal);
        // Who left the channel does not hear what goes on there.
        let is_concerned = principal != message.author_id && visibility::sees(tx, principal, message.conversation_id)?;
        if is_concerned && !is_told {
            notices.push(lapse_notice(&message, revision, reaction, recipient));
        }
    }
    messages::notify(hub, tx, notices)
}

/// It names the message and says nothing of it: what the reader may see is put in when they read this.
fn lapse_notice(message: &MessageRow, revision: i64, reaction: Reaction, recipient: PrincipalRow) -> Notice {
    let lapse = Lapse { message_id: message.id, channel: message.channel.clone(), revision, reaction };
    Notice { recipient, body: Lapse::BODY.to_owned(), metadata: lapse.into_metadata() }
}

/// Releases open claims in a conversation whose holders no longer see it or were removed from the channel. Without `of` it looks at all
/// claims, else at those of a principal and their agents: agents work in public channels without being members.
fn give_back_in(
    hub: &Hub,
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    of: Option<PrincipalId>,
) -> Result<(), HubError> {
    for (message, claimant) in reactions::list_claims_in(tx, conversation, of, MAX_CLAIMS)? {
        let Some(message) = messages::find(tx, message)? else { continue };
        if !can_go_on(tx, claimant, &message)? {
            release(hub, tx, claimant, message)?;
        }
    }
    Ok(())
}

fn can_go_on(tx: &mut Tx<'_>, claimant: PrincipalId, message: &MessageRow) -> Result<bool, HubError> {
    let is_kept_out = match message.channel_id {
        Some(channel) => channels::is_kept_out(tx, channel, claimant)?,
        None => false,
    };
    Ok(!is_kept_out && visibility::sees(tx, claimant, message.conversation_id)?)
}

fn release(hub: &Hub, tx: &mut Tx<'_>, claimant: PrincipalId, message: MessageRow) -> Result<(), HubError> {
    let actor = Actor::system();
    reactions::remove(tx, message.id, claimant, Reaction::InProgress)?;
    let change = Change::of(tx, hub, &actor, claimant, message)?;
    change.finish(tx, Reaction::InProgress, ReactionAction::Removed)?;
    Ok(())
}

/// A person may have seen a channel through their agent only.
fn give_back_of_owner(hub: &Hub, tx: &mut Tx<'_>, principal: PrincipalId) -> Result<(), HubError> {
    match principals::find_by_id(tx, principal)?.and_then(|known| known.owner) {
        Some(owner) => give_back(hub, tx, owner, false),
        None => Ok(()),
    }
}

/// Releases open claims of a principal in all conversations: every claim if the principal is deleted or disabled, else those that they
/// can no longer finish.
fn give_back(hub: &Hub, tx: &mut Tx<'_>, principal: PrincipalId, is_gone: bool) -> Result<(), HubError> {
    let claimed = reactions::list_claims(tx, principal, MAX_CLAIMS)?;
    for message in messages::find_many(tx, &claimed)? {
        if is_gone || !can_go_on(tx, principal, &message)? {
            release(hub, tx, principal, message)?;
        }
    }
    Ok(())
}
