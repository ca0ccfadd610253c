use stoa_db::Tx;
use stoa_model::messages::Items;
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::stars::{MAX_STARS, StarKind, StarView};

use super::store;
use crate::access::Actor;
use crate::error::HubError;
use crate::features::channels::visibility;
use crate::features::{channels, principals};
use crate::hub::Hub;

/// The caller's starred conversations. Channels that they no longer see are left out.
pub async fn list(hub: &Hub, actor: &Actor) -> Result<Items<StarView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let mut items = Vec::new();
        for star in store::list_stars(tx, actor.id())? {
            let is_seen = match star.conversation {
                Some(conversation) => visibility::is_visible(tx, &actor, conversation)?,
                None => actor.principal.reach.of_run().is_none(),
            };
            if is_seen {
                items.push(star.view);
            }
        }
        Ok(Items { items })
    })
    .await
}

/// Gives a conversation a star, or takes it back. Doing it twice changes nothing.
pub async fn set(hub: &Hub, actor: &Actor, conversation: &str, is_starred: bool) -> Result<(), HubError> {
    actor.require(Permission::MessagesWrite)?;
    actor.require_beyond_conversation()?;
    let wanted = "must be `channel:NAME` or `dm:NAME`";
    let target = StarView::parse(conversation).ok_or_else(|| HubError::invalid_field("conversation", wanted))?;
    let actor_in = actor.clone();
    hub.command(actor, move |tx| {
        // A star that nobody sees any longer can be removed, too.
        if !is_starred && store::delete_by_name(tx, actor_in.id(), &target)? {
            return Ok(());
        }
        let id = find_target(tx, &actor_in, &target)?;
        if !is_starred || store::is_starred(tx, actor_in.id(), target.kind, id)? {
            return Ok(());
        }
        if store::count_stars(tx, actor_in.id())? >= MAX_STARS {
            let detail = format!("You have {MAX_STARS} stars, which is the limit.");
            return Err(HubError::conflict("too_many_stars", detail).hint("Remove one first."));
        }
        Ok(store::insert_star(tx, actor_in.id(), target.kind, id)?)
    })
    .await
}

fn find_target(tx: &mut Tx<'_>, actor: &Actor, target: &StarView) -> Result<i64, HubError> {
    match target.kind {
        StarKind::Channel => Ok(channels::find_visible(tx, actor, &target.name)?.id.0),
        StarKind::Dm => {
            let is_partner = |kind: PrincipalKind| matches!(kind, PrincipalKind::User | PrincipalKind::Agent);
            let known = principals::find(tx, &target.name)?.filter(|known| !known.is_deleted && is_partner(known.kind));
            Ok(known.ok_or_else(|| HubError::not_found("user or agent"))?.id.0)
        }
    }
}
