use serde::{Deserialize, Serialize};
use stoa_model::runs::{RunReason, RunStatus};
use stoa_model::{ConversationId, MessageId, PrincipalId, RunId};

use super::event_group;

event_group! {
    /// What happens to runs.
    pub enum RunEvent {
        /// A run was queued, began or ended, or something happened in it.
        "run_changed" => Changed(Box<RunChange>),
    }
}

impl RunEvent {
    #[expect(
        clippy::unused_self,
        reason = "every group says where its events happen; runs are the business of an owner"
    )]
    pub(super) fn conversation(&self) -> Option<ConversationId> {
        None
    }
}

/// A run as it is after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunChange {
    pub run: RunId,
    pub agent: PrincipalId,
    pub agent_name: String,
    pub owner: PrincipalId,
    pub status: RunStatus,
    pub reason: Option<RunReason>,
    pub trigger_message: Option<MessageId>,
    pub depth: i64,
    pub last_step: Option<String>,
    /// How many steps it has.
    pub steps: i64,
    /// Whether its status is new; otherwise only steps were added.
    pub is_status_new: bool,
}
