//! Reactions: what is said about a message in one word, and the state of work that follows.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::messages::{Author, WorkflowState, is_within};
use crate::named::named_enum;
use crate::validation::{Faults, FieldError, nullable, optional_object};

/// Reactions that one message can have.
pub const MAX_REACTIONS: i64 = 100;
/// Of them, those by one person and their agents. Nobody can fill a message up alone.
pub const MAX_REACTIONS_OF_OWNER: i64 = 10;
/// All of a message are shown together, wherever it is shown.
pub const MAX_REACTION_METADATA_BYTES: usize = 1024;
const MAX_REACTION_METADATA_DEPTH: usize = 8;

named_enum! {
    pub enum Reaction {
        Approve = "approve",
        Reject = "reject",
        /// Claims the work; only one at a time.
        InProgress = "in_progress",
        Done = "done",
        Published = "published",
    }
}

impl Reaction {
    /// The state of a message on which this is the highest reaction.
    pub fn state(self) -> WorkflowState {
        match self {
            Reaction::Approve => WorkflowState::Approved,
            Reaction::Reject => WorkflowState::Rejected,
            Reaction::InProgress => WorkflowState::InProgress,
            Reaction::Done => WorkflowState::Done,
            Reaction::Published => WorkflowState::Published,
        }
    }

    fn rank(self) -> u8 {
        match self {
            Reaction::Published => 5,
            Reaction::Done => 4,
            Reaction::Reject => 3,
            Reaction::InProgress => 2,
            Reaction::Approve => 1,
        }
    }
}

/// The state that follows from all reactions on a message. Without any, a message is proposed as work or it is talk, which has no state.
pub fn state_of(reactions: impl IntoIterator<Item = Reaction>, is_proposed: bool) -> Option<WorkflowState> {
    let highest = reactions.into_iter().max_by_key(|reaction| reaction.rank());
    highest.map(Reaction::state).or(is_proposed.then_some(WorkflowState::Proposed))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReactionView {
    pub reaction: Reaction,
    pub from: Author,
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    pub created_at: Timestamp,
}

/// Who approved or published a text, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalView {
    pub by: String,
    pub reaction: Reaction,
    pub at: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactRequest {
    pub reaction: Reaction,
    /// At most 1 KiB as JSON.
    #[serde(default, deserialize_with = "optional_object")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map<String, Value>>,
    /// The `edited_at` of the text that the caller has read, null for one that was never edited. If the message has another text by
    /// now, nothing is added.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub edited_at: Option<Option<Timestamp>>,
}

/// The reaction to remove, if it is not in the query.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UnreactRequest {
    #[serde(default)]
    pub reaction: Option<Reaction>,
}

/// All reactions on a message, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReactionsView {
    pub reactions: Vec<ReactionView>,
    /// Null for talk.
    pub workflow_state: Option<WorkflowState>,
}

named_enum! {
    pub enum ReactionAction {
        Added = "added",
        Removed = "removed",
    }
}

/// The result of a reaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReactedView {
    pub action: ReactionAction,
    #[serde(flatten)]
    pub now: ReactionsView,
}

impl ReactRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        if let Some(metadata) = &self.metadata {
            let size = serde_json::to_string(metadata).map_or(usize::MAX, |text| text.len());
            faults.require("metadata", size <= MAX_REACTION_METADATA_BYTES, "must be at most 1 KiB of JSON");
            let is_flat = metadata.values().all(|value| is_within(value, MAX_REACTION_METADATA_DEPTH));
            faults.require("metadata", is_flat, "must not be nested deeper than 8 levels");
        }
        faults.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_reaction_decides() {
        use Reaction::{Approve, Done, InProgress, Published, Reject};
        for (reactions, state) in [
            (&[][..], WorkflowState::Proposed),
            (&[Approve], WorkflowState::Approved),
            (&[InProgress, Approve], WorkflowState::InProgress),
            (&[InProgress, Reject, Approve], WorkflowState::Rejected),
            (&[Reject, Done, InProgress], WorkflowState::Done),
            (&[Done, Published, Reject, Approve, InProgress], WorkflowState::Published),
            (&[Approve, Approve], WorkflowState::Approved),
        ] {
            assert_eq!(state_of(reactions.iter().copied(), true), Some(state), "{reactions:?}");
            assert_eq!(state_of(reactions.iter().rev().copied(), true), Some(state), "{reactions:?}");
            let of_talk = Some(state).filter(|_| !reactions.is_empty());
            assert_eq!(state_of(reactions.iter().copied(), false), of_talk, "{reactions:?}");
        }
    }

    #[test]
    fn words_are_those_of_the_wire() {
        for reaction in Reaction::ALL {
            assert_eq!(serde_json::to_value(reaction).unwrap(), reaction.name());
        }
        for state in WorkflowState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
            assert_eq!(WorkflowState::from_name(state.name()), Some(state));
        }
    }

    #[test]
    fn metadata_is_small() {
        let check = |value: Value| {
            let metadata = Some(Map::from_iter([("x".to_owned(), value)]));
            ReactRequest { reaction: Reaction::Done, metadata, edited_at: None }.check().is_ok()
        };
        let nested = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert!(check(Value::from("y".repeat(1016))) && !check(Value::from("y".repeat(1017))));
        assert!(check(nested(8)) && !check(nested(9)));
    }
}
