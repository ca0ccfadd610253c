use stoa_model::principals::PrincipalKind;
use stoa_model::{ConversationId, PrincipalId};

use super::event_group;

event_group! {
    /// What happens to people, agents and machines.
    pub enum PrincipalEvent {
        "principal_created" => Created {
            principal: PrincipalId,
            principal_kind: PrincipalKind,
            owner: Option<PrincipalId>,
        },
        /// A display name, a role or settings changed, or the principal was disabled or enabled.
        "principal_updated" => Updated { principal: PrincipalId },
        "principal_deleted" => Deleted { principal: PrincipalId },
        /// Credentials of a principal, or of the agents that it owns, were revoked.
        "access_changed" => AccessChanged { principal: PrincipalId },
        /// The first of a principal's streams opened, or the last one closed.
        "presence_changed" => PresenceChanged { principal: PrincipalId, name: String, is_online: bool },
    }
}

impl PrincipalEvent {
    #[expect(clippy::unused_self, reason = "every group says where its events happen; these happen nowhere")]
    pub(super) fn conversation(&self) -> Option<ConversationId> {
        None
    }

    /// The principal whose credentials, or whose agents' credentials, may no longer be valid.
    pub fn changed_access(&self) -> Option<PrincipalId> {
        match self {
            PrincipalEvent::Updated { principal }
            | PrincipalEvent::Deleted { principal }
            | PrincipalEvent::AccessChanged { principal } => Some(*principal),
            PrincipalEvent::Created { .. } | PrincipalEvent::PresenceChanged { .. } => None,
        }
    }
}
