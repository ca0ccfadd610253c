//! Automation: everything of a person that may start by itself, and the switch that stops all of it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::named::named_enum;

named_enum! {
    pub enum AutomationKind {
        /// An agent that messages start.
        Agent = "agent",
        /// Events that are sent to a receiver.
        Webhook = "webhook",
        /// Requests from outside that become messages.
        Hook = "hook",
    }
}

named_enum! {
    /// What becomes of what has waited.
    #[derive(Default)]
    pub enum Waiting {
        #[default]
        Run = "run",
        Drop = "drop",
    }
}

/// Something that may start by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AutomationItem {
    pub kind: AutomationKind,
    /// The name of the agent, or the id of the webhook or hook.
    pub id: String,
    pub name: String,
    /// The agent that it belongs to, or writes to.
    pub agent: Option<String>,
    /// Whether it is turned on.
    pub is_on: bool,
    /// The run that is under way or next in line.
    pub run_id: Option<i64>,
    /// Messages or deliveries that wait; 10,000 means as many or more.
    pub waiting: i64,
}

/// Everything of the caller that may start by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AutomationView {
    /// Whether the caller has stopped all of it.
    pub stopped: bool,
    pub stopped_at: Option<Timestamp>,
    /// Whether the operator has stopped everything on the hub.
    pub hub_stopped: bool,
    /// Runs that wait for a free place, or until the switch is lifted.
    pub queued_runs: i64,
    pub running_runs: i64,
    pub items: Vec<AutomationItem>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// Whether what has waited is run, which is the default, or dropped.
    #[serde(default)]
    pub waiting: Option<Waiting>,
}

/// The switch of the whole hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActingView {
    pub acting: bool,
    /// Why it is off: `operator`, `restored`, or `setting` if it is STOA_ACTING.
    pub reason: Option<String>,
    pub since: Option<Timestamp>,
    pub queued_runs: i64,
    pub running_runs: i64,
}
