use stoa_db::Tx;
use stoa_model::principals::PrincipalKind;

use super::members;
use crate::error::HubError;
use crate::events::{Event, Outcome, PrincipalEvent};
use crate::hub::Hub;

/// Newcomers join `#general`; who goes leaves every channel.
pub fn plan(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    match event {
        Event::Principal(PrincipalEvent::Created { principal, principal_kind, .. }) => match principal_kind {
            PrincipalKind::User | PrincipalKind::Agent => members::welcome(hub, tx, *principal),
            PrincipalKind::System | PrincipalKind::Machine => Ok(()),
        },
        Event::Principal(PrincipalEvent::Deleted { principal }) => members::forget(hub, tx, *principal),
        Event::Principal(_)
        | Event::Channel(_)
        | Event::Message(_)
        | Event::Reaction(_)
        | Event::Reading(_)
        | Event::Run(_) => Ok(()),
    }
}
