//! Automation: everything of a person that may start by itself, and the switch that stops all of it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::named::named_enum;

named_enum! {
    pub enum AutomationKind {
        /// A reactive agent.
        Agent = "agent",
        /// Events that are sent to a receiver.
        Webhook = "webhook",
        /// Requests from outside that become messages.
        Hook = "hook",
    }
}

named_enum! {
    /// What happens to pending work.
    #[derive(Default)]
    pub enum Waiting {
        #[default]
        Run = "run",
        Drop = "drop",
    }
}

/// Something that can start automatically.
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
    /// The active or next run.
    pub run_id: Option<i64>,
    /// Pending messages or deliveries; 10,000 means at least as many.
    pub waiting: i64,
}

/// The caller's automation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AutomationView {
    /// Whether the caller has stopped it.
    pub stopped: bool,
    pub stopped_at: Option<Timestamp>,
    /// Whether the operator has stopped everything on the hub.
    pub hub_stopped: bool,
    /// Runs that wait for a free slot, or until automation is resumed.
    pub queued_runs: i64,
    pub running_runs: i64,
    pub items: Vec<AutomationItem>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// Whether pending work is run (the default) or dropped.
    #[serde(default)]
    pub waiting: Option<Waiting>,
}

/// The hub-wide automation switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActingView {
    pub acting: bool,
    /// Why it is off: `operator`, `restored`, or `setting` if it is STOA_ACTING.
    pub reason: Option<String>,
    pub since: Option<Timestamp>,
    pub queued_runs: i64,
    pub running_runs: i64,
}
