use std::collections::BTreeMap;

use serde_json::{Map, json};
use stoa_db::Tx;
use stoa_model::PrincipalId;

use super::store::{self, Target};
use crate::error::HubError;
use crate::events::{ChannelEvent, Event, Outcome, PrincipalEvent};
use crate::features::messages::{self, Notice};
use crate::features::principals;
use crate::hub::Hub;

/// Hooks that the notices about one deletion name.
const MAX_NAMED: i64 = 500;

/// Notifies owners that the target of their hooks was deleted.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Channel(ChannelEvent::Deleted { channel, name, audience, .. }) => {
            notify_owners(hub, tx, Target::Channel(*channel), &format!("channel #{name}"), audience.as_deref())
        }
        Event::Principal(PrincipalEvent::Deleted { principal }) => {
            let Some(agent) = principals::find_by_id(tx, *principal)? else { return Ok(()) };
            notify_owners(hub, tx, Target::Agent(*principal), &format!("agent {}", agent.handle), None)
        }
        Event::Principal(_)
        | Event::Channel(_)
        | Event::Message(_)
        | Event::Reaction(_)
        | Event::Reading(_)
        | Event::Run(_) => Ok(()),
    }
}

/// `audience` are those who saw the target, if not everybody did.
fn notify_owners(
    hub: &Hub,
    tx: &mut Tx<'_>,
    target: Target,
    what: &str,
    audience: Option<&[PrincipalId]>,
) -> Result<(), HubError> {
    let mut hooks: BTreeMap<PrincipalId, Vec<String>> = BTreeMap::new();
    for (owner, name) in store::list_hooks_to(tx, target, MAX_NAMED)? {
        hooks.entry(owner).or_default().push(name);
    }
    let mut notices = Vec::new();
    for (owner, names) in hooks {
        let saw = audience.is_none_or(|audience| audience.contains(&owner));
        let Some(recipient) = principals::find_by_id(tx, owner)?.filter(|known| saw && known.is_reachable()) else {
            continue;
        };
        let listed: String = names.iter().map(|name| format!("\n- {name}")).collect();
        let body = format!(
            "The {what} was deleted. These hooks posted there. Their requests are now rejected, even if something new gets the \
             same name. Choose another target, or delete them:\n{listed}"
        );
        let metadata = Map::from_iter([("deleted_target".to_owned(), json!({"target": what, "hooks": names.len()}))]);
        notices.push(Notice { recipient, body, metadata });
    }
    messages::notify(hub, tx, notices)
}
