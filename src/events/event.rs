//! The events. Names are in the past tense: an event is a fact.

use serde::{Deserialize, Serialize};
use stoa_model::PrincipalId;
use stoa_model::principals::PrincipalKind;

use super::Position;

/// Something that happened. Listeners match without `_`, so that the compiler lists who has to
/// decide about a new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    PrincipalCreated {
        principal: PrincipalId,
        principal_kind: PrincipalKind,
        owner: Option<PrincipalId>,
    },
    /// A display name, a role or settings changed, or the principal was disabled or enabled.
    PrincipalUpdated {
        principal: PrincipalId,
    },
    PrincipalDeleted {
        principal: PrincipalId,
    },
}

impl Event {
    pub fn kind(&self) -> &'static str {
        match self {
            Event::PrincipalCreated { .. } => "principal_created",
            Event::PrincipalUpdated { .. } => "principal_updated",
            Event::PrincipalDeleted { .. } => "principal_deleted",
        }
    }
}

/// An event as the outbox has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub position: Position,
    pub at_ms: i64,
    pub actor: Option<PrincipalId>,
    pub event: Event,
}
