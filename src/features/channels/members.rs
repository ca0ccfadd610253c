//! Coming into a channel and going out of it.

use serde_json::json;
use stoa_db::Tx;
use stoa_model::permissions::Permission;
use stoa_model::{ChannelId, ConversationId, PrincipalId};

use super::service::{RevisedChannel, details, find_visible, require_managed};
use super::store::{self, ChannelRow};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, ChannelEvent, ReadingEvent};
use crate::features::{audit, principals};
use crate::hub::{Hub, Way};

/// Makes somebody a member, if they are not. What was said before is not unread for them.
pub(super) fn add(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channel: ChannelId,
    conversation: ConversationId,
    principal: PrincipalId,
) -> Result<bool, HubError> {
    if !store::insert_member(tx, channel, principal)? {
        return Ok(false);
    }
    let was_here = store::find_cursor(tx, principal, conversation)?.is_some();
    store::upsert_cursor_at_end(tx, principal, conversation)?;
    events::emit(hub, tx, actor, ChannelEvent::MemberAdded { channel, conversation, principal })?;
    if was_here {
        // What they had not read when they left counts no more.
        events::emit(hub, tx, actor, ReadingEvent::Moved { principal, conversation })?;
    }
    Ok(true)
}

pub(super) fn remove(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channel: ChannelId,
    conversation: ConversationId,
    principal: PrincipalId,
) -> Result<bool, HubError> {
    if !store::delete_member(tx, channel, principal)? {
        return Ok(false);
    }
    events::emit(hub, tx, actor, ChannelEvent::MemberRemoved { channel, conversation, principal })?;
    Ok(true)
}

pub async fn join_channel(hub: &Hub, actor: &Actor, name: String) -> Result<RevisedChannel, HubError> {
    actor.require(Permission::ChannelsWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command_replayed(actor, Way::Alone, move |tx| {
        let channel = find_visible(tx, &actor_in, &name)?;
        if !channel.is_public && !channel.is_member {
            return Err(HubError::forbidden("not_a_member", "You cannot join a private channel yourself.")
                .hint(format!("Ask the owner, {}, to add you.", channel.owner)));
        }
        require_let_in(tx, channel.id, actor_in.id())?;
        add(&hub_in, tx, &actor_in, channel.id, channel.conversation_id, actor_in.id())?;
        details(tx, &actor_in, &name)
    })
    .await
}

/// Whom somebody else took out of a channel does not come back by themselves.
pub fn require_let_in(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<(), HubError> {
    if !store::is_kept_out(tx, channel, principal)? {
        return Ok(());
    }
    let said = "You cannot join, post, edit or react in this channel: its owner or an admin removed you.";
    Err(HubError::forbidden("removed_from_channel", said).hint("Ask the owner of the channel to add you again."))
}

/// Leaves a channel. A person takes all their agents along.
pub async fn leave_channel(hub: &Hub, actor: &Actor, name: String) -> Result<(), HubError> {
    actor.require(Permission::ChannelsWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let channel = find_visible(tx, &actor_in, &name)?;
        leave(&hub_in, tx, &actor_in, &channel, actor_in.id())
    })
    .await
}

/// Takes somebody out of a channel, and the agents they own.
fn leave(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channel: &ChannelRow,
    principal: PrincipalId,
) -> Result<(), HubError> {
    if channel.owner_id == principal {
        return Err(HubError::conflict("owner_cannot_leave", "Owners cannot leave their channel.")
            .hint("Transfer it first by changing its `owner`, or delete it."));
    }
    let (id, conversation) = (channel.id, channel.conversation_id);
    let mut leaving = store::list_owned_members(tx, id, principal)?;
    leaving.push(principal);
    for one in leaving {
        remove(hub, tx, actor, id, conversation, one)?;
    }
    Ok(())
}

/// Adds somebody. The owner may add anybody; other people their own agents, where they are members or everybody may be.
/// Who sees a channel is for people to decide: a program adds only those who have the same owner as itself.
pub async fn add_member(hub: &Hub, actor: &Actor, name: String, member: String) -> Result<RevisedChannel, HubError> {
    actor.require(Permission::ChannelsWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command_replayed(actor, Way::Alone, move |tx| {
        let channel = find_visible(tx, &actor_in, &name)?;
        let newcomer = principals::find(tx, &member)?.filter(principals::PrincipalRow::can_be_member);
        let newcomer = newcomer.ok_or_else(|| HubError::not_found("user or agent"))?;
        let is_own = newcomer.id == actor_in.id() || (newcomer.owner == Some(actor_in.id()) && actor_in.is_person());
        let (id, conversation) = (channel.id, channel.conversation_id);
        let manages = require_managed(tx, &actor_in, &name);
        if !is_own || !(channel.is_public || channel.is_member) {
            manages.as_ref().map_err(Clone::clone)?;
            let human = actor_in.principal.human;
            if newcomer.id != human && newcomer.owner != Some(human) {
                require_person(&actor_in)?;
            }
        }
        // Who answers for the channel lets people in again, themselves and not by a program.
        if manages.is_ok() && actor_in.require_session().is_ok() {
            store::delete_removals(tx, id, newcomer.id)?;
        }
        if newcomer.id != actor_in.id() && store::is_kept_out(tx, id, newcomer.id)? {
            let name = &newcomer.handle;
            let said =
                format!("{name} cannot join: they, or the person who owns them, were removed from this channel.");
            return Err(HubError::forbidden("removed_from_channel", said)
                .hint("The owner of the channel can add the person who was removed."));
        }
        require_let_in(tx, id, newcomer.id)?;
        if add(&hub_in, tx, &actor_in, id, conversation, newcomer.id)? && !is_own {
            let who = json!({"member": newcomer.handle});
            audit::record(tx, &actor_in, "channel.member_added", Some(&channel.name), &who)?;
        }
        details(tx, &actor_in, &name)
    })
    .await
}

fn require_person(actor: &Actor) -> Result<(), HubError> {
    actor.require_session().map_err(|_| {
        HubError::forbidden("forbidden", "Only a logged-in user can add or remove other members.")
            .hint("Log in to do this. An agent can add only agents of its own owner.")
    })
}

/// Takes somebody out, and keeps them out until somebody adds them again. The owner may take out anybody; others themselves
/// and their own agents, who may come back.
pub async fn remove_member(hub: &Hub, actor: &Actor, name: String, member: String) -> Result<(), HubError> {
    actor.require(Permission::ChannelsWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let channel = find_visible(tx, &actor_in, &name)?;
        let missing = || HubError::not_found("member of the channel");
        let leaver = principals::find(tx, &member)?.filter(principals::PrincipalRow::can_be_member);
        let leaver = leaver.ok_or_else(missing)?;
        if !store::is_member(tx, channel.id, leaver.id)? {
            return keep_out(&hub_in, tx, &actor_in, &channel, &leaver);
        }
        let is_own = leaver.id == actor_in.id() || (leaver.owner == Some(actor_in.id()) && actor_in.is_person());
        if !is_own {
            require_managed(tx, &actor_in, &name)?;
            require_person(&actor_in)?;
            // The owner stays, as `leave` says.
            if leaver.id != channel.owner_id {
                store::insert_removal(tx, channel.id, leaver.id)?;
            }
            let who = json!({"member": leaver.handle});
            audit::record(tx, &actor_in, "channel.member_removed", Some(&channel.name), &who)?;
        }
        leave(&hub_in, tx, &actor_in, &channel, leaver.id)
    })
    .await
}

/// Keeps somebody out who is no member: in a public channel everybody can react, and who left may come back.
fn keep_out(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channel: &ChannelRow,
    outsider: &principals::PrincipalRow,
) -> Result<(), HubError> {
    let missing = || HubError::not_found("member of the channel");
    require_managed(tx, actor, &channel.name).and_then(|_| actor.require_session()).map_err(|_| missing())?;
    let human = outsider.owner.unwrap_or(outsider.id);
    if human == channel.owner_id {
        return Err(missing());
    } else if store::is_kept_out(tx, channel.id, outsider.id)? {
        return Ok(());
    }
    store::insert_removal(tx, channel.id, outsider.id)?;
    let (channel_id, conversation) = (channel.id, channel.conversation_id);
    // Their agents may be members all the same.
    for agent in store::list_owned_members(tx, channel_id, outsider.id)? {
        remove(hub, tx, actor, channel_id, conversation, agent)?;
    }
    let who = json!({"member": outsider.handle});
    audit::record(tx, actor, "channel.member_removed", Some(&channel.name), &who)?;
    let removed = ChannelEvent::MemberRemoved { channel: channel_id, conversation, principal: outsider.id };
    events::emit(hub, tx, actor, removed)?;
    Ok(())
}

/// A newcomer to the hub joins the channel of everybody.
pub(super) fn welcome(hub: &Hub, tx: &mut Tx<'_>, principal: PrincipalId) -> Result<(), HubError> {
    let general = store::find_channel(tx, principal, stoa_model::channels::GENERAL)?;
    if let Some(general) = general {
        add(hub, tx, &Actor::system(), general.id, general.conversation_id, principal)?;
    }
    Ok(())
}

/// Who is gone is a member of nothing.
pub(super) fn forget(hub: &Hub, tx: &mut Tx<'_>, principal: PrincipalId) -> Result<(), HubError> {
    for (channel, conversation) in store::list_memberships(tx, principal)? {
        remove(hub, tx, &Actor::system(), channel, conversation, principal)?;
    }
    Ok(())
}
