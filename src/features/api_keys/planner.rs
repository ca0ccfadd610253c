use stoa_db::Tx;

use super::service;
use crate::error::HubError;
use crate::events::{ChannelEvent, Event, Outcome, PrincipalEvent};
use crate::hub::Hub;

/// What follows for keys, in the same transaction: an agent that is deleted takes its keys along, and owners hear of a channel that
/// their keys are limited to.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Principal(PrincipalEvent::Deleted { principal }) => {
            service::revoke_all_of_agent(tx, *principal)?;
            hub.identities().forget_after(tx);
            Ok(())
        }
        Event::Channel(ChannelEvent::Deleted { channel, name, audience, .. }) => {
            service::note_deleted_channel(hub, tx, *channel, name, audience.as_deref())
        }
        Event::Principal(_)
        | Event::Channel(_)
        | Event::Message(_)
        | Event::Reaction(_)
        | Event::Reading(_)
        | Event::Run(_) => Ok(()),
    }
}
