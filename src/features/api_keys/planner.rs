use stoa_db::Tx;

use super::service;
use crate::error::HubError;
use crate::events::{Event, Outcome, PrincipalEvent};
use crate::hub::Hub;

/// An agent that goes takes its managed keys along, in the same transaction.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Principal(PrincipalEvent::Deleted { principal }) => {
            service::revoke_all_of_agent(tx, *principal)?;
            hub.identities().forget_after(tx);
            Ok(())
        }
        Event::Principal(_) | Event::Channel(_) | Event::Message(_) | Event::Reaction(_) | Event::Reading(_) => Ok(()),
    }
}
