//! Runs: what an agent did because of a message.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::agents::{AgentView, HarnessBackend, WorkspaceKind};
use crate::dispatch::{Decision, NotWokenReason};
use crate::messages::{DeliveryState, MessageView};
use crate::named::named_enum;
use crate::{MessageId, RunId, Secret, Timestamp};

/// What is kept of a prompt, and of a response.
pub const MAX_STORED_TEXT: usize = 32 * 1024;
/// What is kept of one step.
pub const MAX_STEP_TEXT: usize = 4 * 1024;
/// Steps that one run keeps. After that only its end is added.
pub const MAX_STEPS: i64 = 2000;
/// What is kept of standard error, and of what the program printed.
pub const MAX_LOG_TEXT: usize = 16 * 1024;
/// What is kept of a patch.
pub const MAX_PATCH_BYTES: usize = 512 * 1024;
/// Of `result.json`.
pub const MAX_RESULT_BYTES: u64 = 256 * 1024;
/// Costs and tokens that a program reports beyond these are not believed.
pub const MAX_COST_USD: f64 = 1000.0;
pub const MAX_TOKENS: i64 = 1_000_000_000;
pub const DEFAULT_TIMEOUT_SECONDS: u32 = 600;

named_enum! {
    pub enum RunStatus {
        /// Waiting for a free slot.
        Queued = "queued",
        Running = "running",
        /// Waiting for the provider of the model. It starts again by itself.
        Deferred = "deferred",
        Succeeded = "succeeded",
        Failed = "failed",
        Cancelled = "cancelled",
        /// It exceeded its time limit.
        TimedOut = "timed_out",
    }
}

impl RunStatus {
    /// Whether nothing more happens in it.
    pub fn is_final(self) -> bool {
        !matches!(self, RunStatus::Queued | RunStatus::Running | RunStatus::Deferred)
    }
}

named_enum! {
    /// Why a run did not succeed, in a word.
    pub enum RunReason {
        /// The agent has no command.
        NoHarness = "no_harness",
        /// The backend is not supported.
        BackendUnavailable = "backend_unavailable",
        SubprocessNotAllowed = "subprocess_not_allowed",
        /// A variable of the harness is reserved.
        ReservedVariable = "reserved_variable",
        CommandNotFound = "command_not_found",
        CommandNotExecutable = "command_not_executable",
        /// The command is in a folder that isolated runs cannot see.
        CommandNotVisible = "command_not_visible",
        StartFailed = "start_failed",
        /// The workspace cannot be used, or what the run changed there could not be kept.
        WorkspaceUnavailable = "workspace_unavailable",
        /// The server is low on disk space.
        DiskLow = "disk_low",
        /// The command failed with an exit code other than 0.
        ExitCode = "exit_code",
        /// The command was stopped by a signal.
        Signal = "signal",
        BadResult = "bad_result",
        /// The command or its model reported an error.
        ModelError = "model_error",
        /// The provider of the model has no capacity now, or a limit is used up.
        ModelUnavailable = "model_unavailable",
        /// The command ended without a result.
        NoResult = "no_result",
        /// The command could not reach the hub.
        HubUnreachable = "hub_unreachable",
        TurnLimit = "turn_limit",
        CostLimit = "cost_limit",
        /// The receiver of a webhook run refused it or could not be called.
        ReceiverFailed = "receiver_failed",
        TooManyProcesses = "too_many_processes",
        /// The run wrote more to its folder than allowed.
        DiskLimit = "disk_limit",
        Timeout = "timeout",
        HubRestarted = "hub_restarted",
        /// The process that supervises the run was killed.
        SupervisorLost = "supervisor_lost",
        Internal = "internal",
        // Why a run was cancelled.
        ByOwner = "by_owner",
        ActingOff = "acting_off",
        Paused = "paused",
        Quarantined = "quarantined",
        AgentDeleted = "agent_deleted",
        OwnerDisabled = "owner_disabled",
        MessageDeleted = "message_deleted",
        Disabled = "disabled",
        /// The agent no longer starts for this sender.
        Sender = "sender",
    }
}

named_enum! {
    pub enum StepKind {
        Started = "started",
        /// A line of standard output.
        Output = "output",
        /// A line of standard error.
        ErrorOutput = "error_output",
        /// The model begins to work, or goes on.
        Turn = "turn",
        /// A tool call with its arguments.
        ToolCall = "tool_call",
        ToolResult = "tool_result",
        /// What the model wrote.
        Text = "text",
        /// What the command says about itself.
        Note = "note",
        MessageSent = "message_sent",
        Finished = "finished",
    }
}

/// One run of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    pub id: RunId,
    pub agent: String,
    pub status: RunStatus,
    pub reason: Option<RunReason>,
    /// The message that started the run: the last of several pending ones; for a mention, the message in the channel.
    pub trigger_message_id: Option<MessageId>,
    pub depth: i64,
    /// 1, and one more for each retry.
    pub attempt: i64,
    /// The run that this one repeats.
    pub retry_of: Option<RunId>,
    /// Whether someone other than the owner and their agents started it.
    pub foreign: bool,
    pub goal_id: Option<i64>,
    pub task_id: Option<i64>,
    /// The current or last step.
    pub last_step: Option<String>,
    pub tokens: Option<i64>,
    pub cost_usd: Option<f64>,
    /// When a deferred run starts again.
    pub deferred_until: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The beginning of the message that started it. Null if the caller cannot see it.
    pub trigger_preview: Option<String>,
    pub trigger_from: Option<String>,
    /// The channel of that message; null for a direct message.
    pub trigger_channel: Option<String>,
}

/// Input and output of the run's command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HarnessRunView {
    pub id: i64,
    pub reactive_run_id: RunId,
    pub backend: HarnessBackend,
    pub session_id: Option<String>,
    /// The first 32 KiB. Null if the caller can no longer see the message that started the run.
    pub prompt: Option<String>,
    pub response: Option<String>,
    pub tokens_in: Option<i64>,
    pub tokens_out: Option<i64>,
    pub tokens_cached: Option<i64>,
    pub cost_usd: Option<f64>,
    pub cost_estimated: bool,
    pub model: Option<String>,
    pub exit_code: Option<i64>,
    pub trace_id: Option<String>,
    /// The last output of the command.
    pub logs_excerpt: Option<String>,
    /// The error, and the last lines of standard error.
    pub error_log: Option<String>,
    /// Whether prompt or response were longer than what is stored.
    pub truncated: bool,
}

/// Where the run worked, and what it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunWorkspace {
    pub kind: WorkspaceKind,
    pub path: String,
    /// The branch of the repository that has the changes. Null if nothing was changed.
    pub branch: Option<String>,
    /// The commit that the run began with.
    pub base_commit: Option<String>,
    /// The last commit of the branch.
    pub commit: Option<String>,
    /// Changed files.
    pub files: i64,
    /// Lines that were added.
    pub insertions: i64,
    /// Lines that were removed.
    pub deletions: i64,
    /// What `git diff` says between the two commits. It is kept for 30 days.
    pub patch: Option<String>,
    /// Whether the patch was longer than the 512 KiB that are stored.
    pub truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunStep {
    pub at: Timestamp,
    pub kind: StepKind,
    pub text: String,
    pub duration_ms: Option<i64>,
}

/// What an agent that runs elsewhere sends when a run has ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultRequest {
    /// Sent as the agent's reply, unless it has sent a message itself during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_cached: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// If set, the run has failed with this error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The secret that signs calls to an agent that runs elsewhere.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RunSecret {
    #[schema(value_type = String)]
    pub secret: Secret,
}

/// A run with its details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunDetails {
    pub run: RunView,
    /// Null until it has begun.
    pub harness_run: Option<HarnessRunView>,
    /// Null for an empty folder, and until the run has ended.
    #[serde(default)]
    pub workspace: Option<RunWorkspace>,
    /// The agent as it was when the run was queued.
    pub agent: Option<AgentView>,
    /// Null if it was deleted, or the caller can no longer see it.
    pub trigger_message: Option<MessageView>,
    /// The first message that the agent sent in the run.
    pub outgoing_message: Option<MessageView>,
    /// The messages that the run covers, at most 100.
    pub covered_message_ids: Vec<MessageId>,
    /// The steps of the run, with `steps=true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<RunStep>>,
}

/// Some runs, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    pub items: Vec<RunView>,
    pub total: i64,
    pub offset: i64,
}

/// Filters of runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RunQuery {
    /// The name of an agent.
    #[serde(default)]
    pub agent: Option<String>,
    /// One status, or several comma-separated.
    #[serde(default)]
    pub status: Option<String>,
    #[serde(default)]
    pub goal: Option<i64>,
    #[serde(default)]
    #[param(minimum = 0, maximum = 1_000_000, default = 0)]
    pub offset: Option<i64>,
    #[serde(default)]
    #[param(minimum = 1, default = 50)]
    pub limit: Option<i64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RunDetailsQuery {
    /// Whether to include the steps.
    #[serde(default)]
    pub steps: Option<bool>,
    /// Only steps from this place on, counted from 0.
    #[serde(default)]
    #[param(minimum = 0)]
    pub after_step: Option<i64>,
}

/// A reactive agent and its current run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReactiveAgent {
    pub agent: AgentView,
    /// The queued, active or deferred run.
    pub run: Option<RunView>,
    pub last_run: Option<RunView>,
    /// Messages waiting for the next run; 1,000 means at least as many.
    pub waiting: i64,
    pub runs_today: i64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    /// The sender: a user or an agent. Default: the caller.
    #[serde(default)]
    pub from: Option<String>,
    /// The channel of the mention. Default: a direct message.
    #[serde(default)]
    pub channel: Option<String>,
}

/// Whether a message would start the agent now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CheckView {
    pub state: DeliveryState,
    pub reason: Option<String>,
    /// One sentence for people.
    pub detail: String,
    /// All checks in order, including those after the first that fails.
    pub steps: Vec<CheckStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CheckStep {
    /// The reason code of the check.
    pub name: String,
    pub passed: bool,
    /// The result in words.
    pub detail: String,
}

/// What a decision means for the recipient of a message.
pub fn delivery_of(decision: Decision) -> (DeliveryState, Option<&'static str>) {
    match decision {
        Decision::Start => (DeliveryState::Woken, None),
        Decision::Later(reason) => (DeliveryState::Deferred, Some(reason.name())),
        Decision::Not(reason) => (DeliveryState::NotWoken, Some(reason.name())),
    }
}

/// One sentence about why a message started no run.
pub fn why_not(reason: NotWokenReason) -> &'static str {
    match reason {
        NotWokenReason::NoWake => "The message was sent without starting anything.",
        NotWokenReason::ActingOff => "All automation is stopped.",
        NotWokenReason::Quarantined => "The agent is quarantined.",
        NotWokenReason::Paused => "The agent is paused.",
        NotWokenReason::Passive => "The message waits until the agent checks its inbox.",
        NotWokenReason::Disabled => "The agent is disabled.",
        NotWokenReason::Sender => "The agent does not start for this sender.",
        NotWokenReason::SubprocessNotAllowed => "The owner is not allowed to run commands on the server.",
        NotWokenReason::FanOut => "The message has reached the limit of 5 agents of other owners.",
        NotWokenReason::SenderLimit => "The sender has reached the hourly limit.",
        NotWokenReason::Depth => "The chain of agents has reached its maximum depth.",
        NotWokenReason::ChainLimit => "This exchange has reached its limit of runs.",
        NotWokenReason::Damped => "Stopped to avoid a reply loop between two agents.",
        NotWokenReason::Budget => "The agent's budget for today is used up.",
        NotWokenReason::OthersBudget => "Others have used up their share of today's budget.",
        NotWokenReason::GoalBudget => "The budget of the goal is used up.",
    }
}
