use stoa_db::Tx;
use stoa_model::principals::PrincipalKind;

use super::members;
use crate::error::HubError;
use crate::events::{Event, Outcome};
use crate::hub::Hub;

/// Newcomers join `#general`; who goes leaves every channel.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::PrincipalCreated { principal, principal_kind: PrincipalKind::User | PrincipalKind::Agent, .. } => {
            members::welcome(hub, tx, *principal)
        }
        Event::PrincipalDeleted { principal } => members::forget(hub, tx, *principal),
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
