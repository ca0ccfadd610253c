//! Planners: what follows from an event, decided inside the transaction of its cause.

use stoa_db::Tx;
use stoa_model::PrincipalId;
use stoa_model::messages::DeliveryState;

use super::{Event, Followers, outbox};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;

/// Adds the rows of work that follow from an event. It does no I/O and is cheap; its error aborts
/// the command.
pub type Planner = fn(&Hub, &mut Tx<'_>, &Event, &mut Outcome) -> Result<(), HubError>;

/// Events that may follow from one another within one command. More means that planners feed
/// each other without end.
const MAX_EVENTS_DEEP: u32 = 8;

/// What the planners decided.
#[derive(Debug, Default)]
pub struct Outcome {
    pub deliveries: Vec<Delivery>,
}

/// What a send sets in motion for one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub recipient: PrincipalId,
    pub state: DeliveryState,
    pub reason: Option<&'static str>,
    pub run_id: Option<i64>,
}

/// How deep in a chain of events the running command is.
#[derive(Default)]
struct Depth(u32);

/// Appends the event to the outbox and lets every planner plan.
pub fn emit(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, event: impl Into<Event>) -> Result<Outcome, HubError> {
    let event = &event.into();
    let depth = tx.local::<Depth>();
    if depth.0 >= MAX_EVENTS_DEEP {
        return Err(HubError::internal(format!("{} follows from itself without end", event.kind())));
    }
    depth.0 += 1;
    outbox::append(tx, actor.id(), event)?;
    let mut outcome = Outcome::default();
    for planner in &Followers::of(hub).planners {
        planner(hub, tx, event, &mut outcome)?;
    }
    tx.local::<Depth>().0 -= 1;
    Ok(outcome)
}
