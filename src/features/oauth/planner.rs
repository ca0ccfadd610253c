use stoa_db::Tx;

use super::{grants, owned};
use crate::error::HubError;
use crate::events::{Event, Outcome, PrincipalEvent};
use crate::hub::Hub;

/// An agent that goes takes along what clients may do as it, in the same transaction.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Principal(PrincipalEvent::Deleted { principal }) => {
            owned::remove_all_of_agent(hub, tx, *principal)?;
            grants::withdraw_all_of_agent(hub, tx, *principal)
        }
        Event::Principal(_)
        | Event::Channel(_)
        | Event::Message(_)
        | Event::Reaction(_)
        | Event::Reading(_)
        | Event::Run(_) => Ok(()),
    }
}
