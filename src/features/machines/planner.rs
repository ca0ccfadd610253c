use std::fmt::Write;

use serde_json::{Map, json};
use stoa_db::Tx;

use super::store;
use crate::error::HubError;
use crate::events::{ChannelEvent, Event, Outcome};
use crate::features::messages::{self, Notice};
use crate::features::{principals, users};
use crate::hub::Hub;

/// Source configs that a notice names.
const MAX_NAMED: i64 = 20;

/// Machine principals have no owner, so administrators hear that their events no longer reach a channel.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    let Event::Channel(ChannelEvent::Deleted { channel, name, .. }) = event else { return Ok(()) };
    let routes = store::list_routes_to(tx, *channel, MAX_NAMED)?;
    if routes.is_empty() {
        return Ok(());
    }
    let mut body = format!(
        "The channel #{name} was deleted. Events of these source configs went there. The hub still stores the events but posts none \
         of them, even if a new channel gets the same name. To post them again, the service sends its config again \
         (`PUT /machine/source-configs/{{source}}`) with a channel that exists:\n"
    );
    for (principal, config) in &routes {
        // Writing into a string does not fail.
        let _ = write!(body, "\n- {config} of {principal}");
    }
    let configs: Vec<_> =
        routes.iter().map(|(principal, source)| json!({"principal": principal, "source": source})).collect();
    let metadata =
        Map::from_iter([("deleted_channel".to_owned(), json!({"channel": name, "source_configs": configs}))]);
    let mut notices = Vec::new();
    for admin in users::list_admins(tx)? {
        if let Some(recipient) = principals::find_by_id(tx, admin)?.filter(|known| known.is_reachable()) {
            notices.push(Notice { recipient, body: body.clone(), metadata: metadata.clone() });
        }
    }
    messages::notify(hub, tx, notices)
}
