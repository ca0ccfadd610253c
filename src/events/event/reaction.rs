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
    /// None while it was talk.
    pub state_before: Option<WorkflowState>,
    pub state: Option<WorkflowState>,
    /// Whether it is work even without reactions.
    #[serde(default)]
    pub is_proposed: bool,
    /// How many steps of automation led to it.
    #[serde(default)]
    pub depth: i64,
}
