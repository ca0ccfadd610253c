use stoa_db::Tx;

use super::{grants, owned};
use crate::error::HubError;
use crate::events::{Event, Outcome};
use crate::hub::Hub;

/// An agent that goes takes along what clients may do as it, in the same transaction.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::PrincipalDeleted { principal } => {
            owned::remove_all_of_agent(hub, tx, *principal)?;
            grants::withdraw_all_of_agent(hub, tx, *principal)
        }
        Event::PrincipalCreated { .. }
        | Event::PrincipalUpdated { .. }
        | Event::AccessChanged { .. }
        | Event::PresenceChanged { .. }
        | Event::ChannelCreated { .. }
        | Event::ChannelUpdated { .. }
        | Event::ChannelHidden { .. }
        | Event::ChannelDeleted { .. }
        | Event::MemberAdded { .. }
        | Event::MemberRemoved { .. }
        | Event::MessageSent(_)
        | Event::MessageEdited(_)
        | Event::ReactionChanged(_)
        | Event::MessageDeleted(_)
        | Event::MessageStatusChanged { .. }
        | Event::MessagesPurged { .. }
        | Event::ReadMoved { .. } => Ok(()),
    }
}
