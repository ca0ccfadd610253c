use stoa_db::Tx;

use super::service;
use crate::error::HubError;
use crate::events::{Event, Outcome, PrincipalEvent};
use crate::hub::Hub;

/// Deletes the secrets of a deleted agent in the same transaction. A disabled user keeps theirs.
pub fn plan(_: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Principal(PrincipalEvent::Deleted { principal }) => Ok(service::delete_all_of(tx, *principal)?),
        Event::Principal(_)
        | Event::Channel(_)
        | Event::Message(_)
        | Event::Reaction(_)
        | Event::Reading(_)
        | Event::Run(_) => Ok(()),
    }
}
