use serde::{Deserialize, Serialize};
use stoa_model::messages::WorkflowState;
use stoa_model::reactions::Reaction;
use stoa_model::{ConversationId, PrincipalId};

use super::{MessageChange, event_group};

event_group! {
    /// What happens to reactions.
    pub enum ReactionEvent {
        /// A reaction was added or removed.
        "reaction_changed" => Changed(Box<ReactionChange>),
    }
}

impl ReactionEvent {
    pub(super) fn conversation(&self) -> Option<ConversationId> {
        let ReactionEvent::Changed(reaction) = self;
        Some(reaction.change.conversation)
    }
}

/// A reaction that was added or removed, and the state of the message before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReactionChange {
    #[serde(flatten)]
    pub change: MessageChange,
    pub principal: PrincipalId,
    pub reaction: Reaction,
    pub is_added: bool,
    pub state_before: WorkflowState,
    pub state: WorkflowState,
    /// How many steps of automation led to it.
    #[serde(default)]
    pub depth: i64,
}
