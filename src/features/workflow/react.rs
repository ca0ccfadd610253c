//! Reacting: one command that checks, stores, and brings state, status and trust up to date.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use stoa_db::{Tx, params};
use stoa_model::channels::ChannelSettings;
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::{
    MAX_REACTIONS, MAX_REACTIONS_OF_OWNER, ReactRequest, ReactedView, Reaction, ReactionAction, ReactionView,
    ReactionsView, state_of,
};
use stoa_model::trust::{APPROVE_ACTION_TYPE, DEFAULT_ACTION_TYPE, Score, delta_of, has_action_type};
use stoa_model::{MessageId, PrincipalId, Timestamp};

use super::trust;
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::events::{self, ReactionChange, ReactionEvent};
use crate::features::messages::{self, MessageRow};
use crate::features::reactions::{self, Added, NewReaction};
use crate::features::{audit, channels, principals};
use crate::hub::idempotency::Replayed;
use crate::hub::{Hub, Way};

/// Reacts to a message, or takes the same reaction back.
pub async fn react(hub: &Hub, actor: &Actor, id: MessageId, request: ReactRequest) -> Result<ReactedView, HubError> {
    require_reactor(actor)?;
    request.check()?;
    change(hub, actor, id, move |tx, change| {
        change.require_own(tx, request.reaction)?;
        let action = if reactions::remove(tx, id, change.principal, request.reaction)? {
            ReactionAction::Removed
        } else {
            change.require_open(tx)?;
            change.require_text(request.edited_at)?;
            change.require_held(tx, request.reaction)?;
            change.require_trust(tx, request.reaction)?;
            change.add(tx, request.reaction, request.metadata.as_ref().unwrap_or(&Map::new()))?;
            ReactionAction::Added
        };
        change.finish(tx, request.reaction, action)
    })
    .await
}

/// Takes a reaction of the caller's back.
pub async fn unreact(hub: &Hub, actor: &Actor, id: MessageId, reaction: Reaction) -> Result<ReactedView, HubError> {
    require_reactor(actor)?;
    change(hub, actor, id, move |tx, change| {
        change.require_own(tx, reaction)?;
        if !reactions::remove(tx, id, change.principal, reaction)? {
            let detail = format!("You have no reaction {} on this message.", reaction.name());
            return Err(HubError::new(ErrorKind::NotFound, "not_found", detail));
        }
        change.finish(tx, reaction, ReactionAction::Removed)
    })
    .await
}

/// Takes somebody's reaction away: for the channel's owner any, for other people of the channel a claim.
pub async fn remove_of(
    hub: &Hub,
    actor: &Actor,
    id: MessageId,
    reaction: Reaction,
    by: String,
) -> Result<ReactedView, HubError> {
    require_reactor(actor)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let removed = hub.command_replayed(actor, Way::Alone, move |tx| {
        let message = messages::find_visible(tx, &actor_in, id)?;
        let by = principals::find(tx, by.strip_prefix('@').unwrap_or(&by))?;
        let by = by.ok_or_else(|| HubError::not_found("user or agent"))?;
        let change = Change::of(tx, &hub_in, &actor_in, by.id, message)?;
        if by.id != actor_in.id() {
            change.require_judge(tx, reaction)?;
        } else {
            change.require_own(tx, reaction)?;
        }
        if !reactions::remove(tx, id, by.id, reaction)? {
            let detail = format!("{} has no reaction {} on this message.", by.handle, reaction.name());
            return Err(HubError::new(ErrorKind::NotFound, "not_found", detail));
        }
        if by.id != actor_in.id() {
            let details = json!({"reaction": reaction, "by": by.handle});
            audit::record(tx, &actor_in, "reaction.removed", Some(&id.to_string()), &details)?;
        }
        let view = change.finish(tx, reaction, ReactionAction::Removed)?;
        Ok(Reacted { message: id, view })
    });
    removed.await.map(|removed| removed.view)
}

/// Sets a reaction of an agent that the hub runs, whatever was there before. Where somebody else works on the message, or it has as many
/// reactions as it can have, nothing is set.
pub fn set_reaction(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    id: MessageId,
    reaction: Reaction,
) -> Result<(), HubError> {
    let Some(change) = change_by_hub(hub, tx, actor, id)? else { return Ok(()) };
    let holder = reactions::claimants(tx, &[id])?.remove(&id);
    let is_held = holder.is_some_and(|holder| holder != actor.id());
    let metadata = Map::new();
    let new = NewReaction { message: id, principal: actor.id(), reaction, metadata: &metadata, is_by_person: false };
    if !is_held && reactions::add(tx, &new)? == Added::Added {
        change.finish(tx, reaction, ReactionAction::Added)?;
    }
    Ok(())
}

/// Takes a reaction of an agent that the hub runs back, if it is there.
pub fn clear_reaction(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    id: MessageId,
    reaction: Reaction,
) -> Result<(), HubError> {
    let Some(change) = change_by_hub(hub, tx, actor, id)? else { return Ok(()) };
    if reactions::remove(tx, id, actor.id(), reaction)? {
        change.finish(tx, reaction, ReactionAction::Removed)?;
    }
    Ok(())
}

/// None if the message was deleted, or the agent may not react to it.
fn change_by_hub<'a>(
    hub: &'a Hub,
    tx: &mut Tx<'_>,
    actor: &'a Actor,
    id: MessageId,
) -> Result<Option<Change<'a>>, HubError> {
    let Some(message) = messages::find(tx, id)? else { return Ok(None) };
    let change = Change::of(tx, hub, actor, actor.id(), message)?;
    match change.require_open(tx) {
        Ok(()) => Ok(Some(change)),
        Err(error) if matches!(error.kind, ErrorKind::Internal | ErrorKind::Unavailable) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Changes the reactions of the caller on a message that they see.
async fn change(
    hub: &Hub,
    actor: &Actor,
    id: MessageId,
    change: impl Fn(&mut Tx<'_>, &Change<'_>) -> Result<ReactedView, HubError> + Send + 'static,
) -> Result<ReactedView, HubError> {
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let command = move |tx: &mut Tx<'_>| {
        let message = messages::find_visible(tx, &actor_in, id)?;
        tx.hold("reactions", params![id.0])?;
        let of_caller = Change::of(tx, &hub_in, &actor_in, actor_in.id(), message)?;
        change(tx, &of_caller)
    };
    // What a person says also changes trust, which more depends on than can be held.
    let way = if actor.is_person() { Way::Alone } else { Way::Holding };
    hub.command_replayed(actor, way, move |tx| Ok(Reacted { message: id, view: command(tx)? }))
        .await
        .map(|reacted| reacted.view)
}

/// What became of the reactions on a message.
#[derive(Serialize, Deserialize)]
struct Reacted {
    message: MessageId,
    view: ReactedView,
}

impl Replayed for Reacted {
    type Kept = (MessageId, ReactionAction);

    fn kept(&self) -> Self::Kept {
        (self.message, self.view.action)
    }

    fn again(tx: &mut Tx<'_>, actor: &Actor, (id, action): Self::Kept) -> Result<Self, HubError> {
        Ok(Self { message: id, view: ReactedView { action, now: reactions_now(tx, actor, id)? } })
    }
}

fn reactions_now(tx: &mut Tx<'_>, actor: &Actor, id: MessageId) -> Result<ReactionsView, HubError> {
    let message = messages::find_visible(tx, actor, id)?;
    let reactions = reactions::of(tx, &[id])?.remove(&id).unwrap_or_default();
    Ok(ReactionsView { reactions, workflow_state: message.workflow_state })
}

/// All reactions on a message that the caller may see.
pub async fn get_reactions(hub: &Hub, actor: &Actor, id: MessageId) -> Result<ReactionsView, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| reactions_now(tx, &actor, id)).await
}

/// People and agents react. The operator's notices are the hub's, and the hub reacts by its own rules.
fn require_reactor(actor: &Actor) -> Result<(), HubError> {
    actor.require(Permission::ReactionsWrite)?;
    match actor.principal.kind {
        PrincipalKind::User | PrincipalKind::Agent => Ok(()),
        PrincipalKind::System | PrincipalKind::Machine => {
            Err(HubError::forbidden("forbidden", "Only people and agents can react to messages."))
        }
    }
}

/// A change of the reactions on one message, by or in the name of somebody.
pub(super) struct Change<'a> {
    hub: &'a Hub,
    actor: &'a Actor,
    principal: PrincipalId,
    message: MessageRow,
    /// Of the channel that the message is in, if messages are work there.
    workflow: Option<ChannelSettings>,
}

impl<'a> Change<'a> {
    pub(super) fn of(
        tx: &mut Tx<'_>,
        hub: &'a Hub,
        actor: &'a Actor,
        principal: PrincipalId,
        message: MessageRow,
    ) -> Result<Self, HubError> {
        messages::require_work_in_reach(actor, &message)?;
        let settings = match message.channel_id {
            Some(channel) => channels::find_settings(tx, channel)?,
            None => None,
        };
        let workflow = settings.filter(|settings| settings.workflow_enabled);
        Ok(Self { hub, actor, principal, message, workflow })
    }

    /// A program that acts for a person must not undo what the person decided: trust and approvals follow from it.
    fn require_own(&self, tx: &mut Tx<'_>, reaction: Reaction) -> Result<(), HubError> {
        let is_of_person = |tx: &mut Tx<'_>| reactions::is_by_person(tx, self.message.id, self.principal, reaction);
        if self.actor.is_person() || delta_of(reaction).is_none() || !is_of_person(tx)? {
            return Ok(());
        }
        let detail = format!("You reacted with {} while logged in, so only you can remove it.", reaction.name());
        Err(HubError::forbidden("forbidden", detail).hint("Log in to remove it."))
    }

    /// Everybody who sees a message may react to it, unless it was deleted or somebody took them out of the channel. What they said
    /// before they can take back all the same.
    fn require_open(&self, tx: &mut Tx<'_>) -> Result<(), HubError> {
        if self.message.deleted_at.is_some() {
            return Err(HubError::conflict("message_deleted", "The message was deleted."));
        }
        match self.message.channel_id {
            Some(channel) => channels::require_let_in(tx, channel, self.principal),
            None => Ok(()),
        }
    }

    /// Somebody may edit a message while another reads it.
    fn require_text(&self, read: Option<Option<Timestamp>>) -> Result<(), HubError> {
        if read.is_none_or(|read| read == self.message.edited_at) {
            return Ok(());
        }
        Err(HubError::conflict("edited_meanwhile", "The message has been edited since you read it.")
            .hint("Read it again, then decide."))
    }

    /// While somebody works on a message of a channel, they finish it, or a person of the channel does.
    fn require_held(&self, tx: &mut Tx<'_>, reaction: Reaction) -> Result<(), HubError> {
        if !matches!(reaction, Reaction::Done | Reaction::Published) || self.message.channel_id.is_none() {
            return Ok(());
        }
        let holder = reactions::claimants(tx, &[self.message.id])?.remove(&self.message.id);
        if holder.is_none_or(|holder| holder == self.principal) || self.is_of_channel(tx)? {
            return Ok(());
        }
        let error = already_claimed(tx, self.message.id)?;
        let detail = format!("{} Only they, or a logged-in channel member, can set {}.", error.detail, reaction.name());
        Err(HubError::forbidden("claimed_by_other", detail)
            .hint("Ask them to finish it, or ask a member to remove the claim."))
    }

    /// For taking away what somebody else said with a reaction.
    fn require_judge(&self, tx: &mut Tx<'_>, reaction: Reaction) -> Result<(), HubError> {
        let is_owner = self.is_of_owner(tx)?;
        if is_owner || (reaction == Reaction::InProgress && self.is_of_channel(tx)?) {
            return Ok(());
        }
        let said = "Only the channel owner or an admin can remove others' reactions. Members can remove claims.";
        Err(HubError::forbidden("forbidden", said).hint("Log in to do this; API keys are not accepted."))
    }

    /// Whether the owner of the channel calls in person, or an administrator.
    fn is_of_owner(&self, tx: &mut Tx<'_>) -> Result<bool, HubError> {
        let Some(channel) = self.message.channel_id else { return Ok(false) };
        let is_owner = channels::find_owner(tx, channel)? == Some(self.actor.id());
        Ok(self.actor.is_admin() || (self.actor.is_person() && is_owner))
    }

    /// Whether a member of the channel calls in person, its owner or an administrator.
    fn is_of_channel(&self, tx: &mut Tx<'_>) -> Result<bool, HubError> {
        let Some(channel) = self.message.channel_id else { return Ok(false) };
        let is_member = self.actor.is_person() && channels::is_member(tx, channel, self.actor.id())?;
        Ok(is_member || self.is_of_owner(tx)?)
    }

    /// Where messages are work, a program approves and publishes only as far as it is trusted.
    fn require_trust(&self, tx: &mut Tx<'_>, reaction: Reaction) -> Result<(), HubError> {
        let Some(settings) = &self.workflow else { return Ok(()) };
        if self.actor.is_person() {
            return Ok(());
        }
        let (action_type, threshold) = match reaction {
            Reaction::Approve => (APPROVE_ACTION_TYPE, settings.approve_threshold),
            Reaction::Published => (DEFAULT_ACTION_TYPE, settings.publish_threshold),
            Reaction::Reject | Reaction::InProgress | Reaction::Done => return Ok(()),
        };
        let score = trust::score_of(tx, self.principal, action_type)?;
        // A person has approved what was there, not what was made of it afterwards.
        let is_approved =
            |tx: &mut Tx<'_>| reactions::is_approved_by_person(tx, self.message.id, self.message.edited_at);
        if score.reaches(threshold) || (reaction == Reaction::Published && is_approved(tx)?) {
            return Ok(());
        }
        let error = trust_too_low(reaction, action_type, score, threshold);
        let is_for_person = self.actor.principal.kind == PrincipalKind::User;
        Err(if is_for_person { error.hint("Log in to do this; tokens are not accepted.") } else { error })
    }

    fn reactions(&self, tx: &mut Tx<'_>) -> Result<Vec<ReactionView>, HubError> {
        let id = self.message.id;
        Ok(reactions::of(tx, &[id])?.remove(&id).unwrap_or_default())
    }

    pub(super) fn add(
        &self,
        tx: &mut Tx<'_>,
        reaction: Reaction,
        metadata: &Map<String, Value>,
    ) -> Result<(), HubError> {
        let id = self.message.id;
        let is_by_person = self.actor.is_person();
        let new = NewReaction { message: id, principal: self.principal, reaction, metadata, is_by_person };
        match reactions::add(tx, &new)? {
            Added::Added | Added::AlreadyThere => Ok(()),
            Added::Claimed => Err(already_claimed(tx, id)?),
            Added::TooManyOfOwner => {
                let detail = format!(
                    "You and your agents have reached the limit of {MAX_REACTIONS_OF_OWNER} reactions on this message."
                );
                Err(HubError::conflict("too_many_reactions", detail).hint("Remove one, or send a reply."))
            }
            Added::TooMany => {
                let detail = format!("The message has reached the limit of {MAX_REACTIONS} reactions.");
                Err(HubError::conflict("too_many_reactions", detail).hint("Send a reply instead."))
            }
        }
    }

    /// Whether the message is work even without reactions.
    fn is_proposed(&self) -> bool {
        self.workflow.is_some() && self.message.reply_to.is_none() && has_action_type(&self.message.metadata)
    }

    /// Brings up to date what follows from the reactions, and tells of the change.
    pub(super) fn finish(
        &self,
        tx: &mut Tx<'_>,
        reaction: Reaction,
        action: ReactionAction,
    ) -> Result<ReactedView, HubError> {
        let is_added = action == ReactionAction::Added;
        let reactions = self.reactions(tx)?;
        let state = state_of(reactions.iter().map(|reaction| reaction.reaction), self.is_proposed());
        messages::move_to_state(tx, &self.message, state)?;
        if self.actor.is_person() {
            if is_added {
                trust::note(tx, &self.message, self.principal, reaction)?;
            } else {
                trust::withdraw(tx, &self.message, self.principal, reaction)?;
            }
        }
        let depth = messages::depth_about(tx, self.actor, &self.message)?;
        let event = ReactionEvent::Changed(Box::new(ReactionChange {
            change: messages::message_change(&self.message),
            principal: self.principal,
            reaction,
            is_added,
            state_before: self.message.workflow_state,
            state,
            is_proposed: self.is_proposed(),
            depth,
        }));
        events::emit(self.hub, tx, self.actor, event)?;
        if self.workflow.is_some() && self.message.deleted_at.is_none() {
            messages::couple_status(self.hub, tx, self.actor, &self.message, state)?;
        }
        Ok(ReactedView { action, now: ReactionsView { reactions, workflow_state: state } })
    }
}

fn trust_too_low(reaction: Reaction, action_type: &str, score: Score, threshold: f64) -> HubError {
    let detail = format!(
        "The reaction {} needs trust {threshold} in {action_type} here; yours is {}.",
        reaction.name(),
        score.as_number()
    );
    let hint = match reaction {
        Reaction::Published => "Ask a person to approve the message. Then you can publish it.",
        _ => "Ask a person to approve it. Trust grows when people approve your work.",
    };
    HubError::forbidden("trust_too_low", detail).hint(hint)
}

fn already_claimed(tx: &mut Tx<'_>, id: MessageId) -> Result<HubError, HubError> {
    let claimant = reactions::claimants(tx, &[id])?.remove(&id);
    let claimant = claimant.map(|claimant| principals::find_by_id(tx, claimant)).transpose()?.flatten();
    let name = claimant.map_or_else(|| "Someone else".to_owned(), |claimant| claimant.handle);
    Ok(HubError::conflict("already_claimed", format!("{name} has claimed this message."))
        .hint("Take other work, or ask them to release the claim."))
}
