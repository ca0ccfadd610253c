//! Agents: always AI agents, each owned by a user.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::dispatch::{DEFAULT_MAX_ROUND_TRIPS, ForeignReach, TriggerFrom};
use crate::environment::is_reserved_variable;
use crate::named::named_enum;
use crate::text::{MAX_DISPLAY_NAME, check_body, check_label};
use crate::validation::{Faults, FieldError, nullable, nullable_object, optional_object, present, present_object};
use crate::{PrincipalId, Secret, Timestamp, handles, prompts};

pub const MAX_INSTRUCTIONS_BYTES: usize = 64 * 1024;
const MAX_MODEL_BYTES: usize = 128;
pub(crate) const MAX_TURNS: u32 = 1000;
/// Of a harness as JSON.
pub const MAX_HARNESS_BYTES: usize = 64 * 1024;
pub const MAX_PROMPT_TEMPLATE_BYTES: usize = 32 * 1024;
/// Characters of what an agent says about itself.
const MAX_DESCRIPTION: usize = 1000;
pub const MAX_COOLDOWN_SECONDS: u32 = 7 * 24 * 3600;
pub const MAX_HARNESS_TIMEOUT_SECONDS: u32 = 24 * 3600;
pub const MAX_DEPTH_SETTING: u32 = 16;
pub const MAX_RUNS_PER_DAY: u32 = 1_000_000;
pub const MAX_TRIGGER_ALLOW: usize = 100;
pub const MAX_ROUND_TRIPS_SETTING: u32 = 1000;
const MAX_COMMAND_WORDS: usize = 64;
const MAX_ENVIRONMENT_VARIABLES: usize = 64;
const MAX_WORD_BYTES: usize = 4096;

pub const DEFAULT_COOLDOWN_SECONDS: u32 = 30;
pub const DEFAULT_TRIGGER_DEPTH: u32 = 4;

named_enum! {
    pub enum Archetype {
        Researcher = "researcher",
        Writer = "writer",
        Commenter = "commenter",
        Monitor = "monitor",
        Operator = "operator",
        Custom = "custom",
    }
}

named_enum! {
    pub enum TriggerMode {
        Passive = "passive",
        Reactive = "reactive",
        Disabled = "disabled",
    }
}

named_enum! {
    pub enum PauseReason {
        /// Paused manually.
        Manual = "manual",
        /// The day's budget is used up.
        Budget = "budget",
    }
}

named_enum! {
    pub enum HarnessBackend {
        Subprocess = "subprocess",
        Kubernetes = "kubernetes",
        Webhook = "webhook",
    }
}

named_enum! {
    pub enum HarnessAdapter {
        Generic = "generic",
        ClaudeCode = "claude-code",
        Codex = "codex",
        Gemini = "gemini",
    }
}

named_enum! {
    /// What the command of a run can use.
    #[derive(Default)]
    pub enum HarnessTools {
        /// Only the hub's tools. If the hub crashes before the run has written anything, the run is repeated.
        #[default]
        Hub = "hub",
        /// Also files.
        Files = "files",
        /// Also commands.
        Shell = "shell",
    }
}

named_enum! {
    /// Where the command of a run works.
    #[derive(Default)]
    pub enum WorkspaceKind {
        /// In an empty folder.
        #[default]
        Empty = "empty",
        /// In a folder on the server. Runs that others start can only read it, unless `foreign_reach` is `agent`.
        Folder = "folder",
        /// In a copy of a git repository on the server. What a run changes becomes a branch of the repository.
        Git = "git",
    }
}

named_enum! {
    /// Supported clients.
    #[derive(Default)]
    pub enum McpClient {
        /// Settings that most clients understand.
        #[default]
        Generic = "generic",
        ClaudeCode = "claude-code",
        Codex = "codex",
        Cursor = "cursor",
        Vscode = "vscode",
        Gemini = "gemini",
        /// A client without HTTP, which starts `stoa mcp`.
        Stdio = "stdio",
    }
}

named_enum! {
    /// How a client authenticates.
    pub enum McpAuth {
        /// The user logs in and chooses the agent.
        Oauth = "oauth",
        /// The client uses the agent's key.
        Key = "key",
    }
}

/// Daily limits of an agent (UTC).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    #[schema(minimum = 0, maximum = 1_000_000)]
    pub runs_per_day: u32,
    /// Null means no limit.
    #[schema(minimum = 0)]
    pub cost_usd_per_day: Option<f64>,
    /// Percent of the budget that others' runs can use.
    #[schema(minimum = 0, maximum = 100)]
    pub others_percent: u32,
}

/// Updates only the given limits. `null` removes the cost limit.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetChanges {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1_000_000, nullable = false)]
    pub runs_per_day: Option<u32>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub cost_usd_per_day: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100, nullable = false)]
    pub others_percent: Option<u32>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { runs_per_day: 100, cost_usd_per_day: None, others_percent: 50 }
    }
}

/// How a reactive agent is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Harness {
    pub backend: HarnessBackend,
    /// Executable and arguments, started without a shell. For `claude-code`, `codex` and `gemini`, the hub adds the arguments for
    /// unattended use, and the default is its usual name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 64)]
    pub command: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<HarnessAdapter>,
    /// The model to use. Default: what the command chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
    pub model: Option<String>,
    /// Ends a run after this many turns of the model, for `claude-code` and `gemini`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub max_turns: Option<u32>,
    /// Ends a run that costs more, for `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.01, maximum = 1000)]
    pub max_cost_usd: Option<f64>,
    /// Whether a run continues the session of the agent's last run in the same conversation, for `claude-code` and `codex`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 86400)]
    pub timeout_seconds: Option<u32>,
    /// Environment variables of the command. Names that choose the code it runs or where it sends its keys are reserved, for example
    /// `PATH`, `LD_PRELOAD`, `NODE_OPTIONS`, `HTTPS_PROXY` and all that start with `STOA_`: 422 `reserved_variable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<HarnessTools>,
    /// Where the command works. Default: in an empty folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
}

/// Where the command of a run works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    pub kind: WorkspaceKind,
    /// Absolute, and in a folder that the operator allows with `STOA_WORKSPACES`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 4096)]
    pub path: Option<String>,
}

/// Settings of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    pub display_name: String,
    pub description: String,
    pub archetype: Archetype,
    pub trigger_mode: TriggerMode,
    pub cooldown_seconds: u32,
    pub budget: Budget,
    pub max_trigger_depth: u32,
    pub trigger_from: TriggerFrom,
    pub trigger_allow: Vec<String>,
    pub foreign_reach: ForeignReach,
    pub max_round_trips: u32,
    pub k8s_image: Option<String>,
    pub harness: Option<Harness>,
    pub instructions: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentView {
    pub id: PrincipalId,
    pub name: String,
    pub display_name: String,
    /// The username of the owner.
    pub owner: String,
    /// Describes the agent. Everyone can read it.
    #[serde(default)]
    pub description: String,
    pub archetype: Archetype,
    pub trigger_mode: TriggerMode,
    pub cooldown_seconds: u32,
    pub budget: Budget,
    pub max_trigger_depth: u32,
    /// Allowed senders.
    #[serde(default)]
    pub trigger_from: TriggerFrom,
    /// Additional allowed users and agents. A user includes all of their agents.
    #[serde(default)]
    pub trigger_allow: Vec<String>,
    /// What runs that others start can read and write.
    #[serde(default)]
    pub foreign_reach: ForeignReach,
    /// Maximum runs per hour from one other agent, until a person writes.
    #[serde(default = "default_max_round_trips")]
    pub max_round_trips: u32,
    pub k8s_image: Option<String>,
    pub harness: Option<Harness>,
    pub instructions: String,
    /// Whether messages are waiting to start a run.
    pub pending_work: bool,
    pub paused_at: Option<Timestamp>,
    pub pause_reason: Option<PauseReason>,
    pub quarantined_at: Option<Timestamp>,
    pub last_seen_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateAgentRequest {
    #[schema(min_length = 2, max_length = 64, pattern = "^[a-z0-9][a-z0-9_-]{1,63}$")]
    pub name: String,
    #[serde(default)]
    #[schema(min_length = 1, max_length = 100)]
    pub display_name: Option<String>,
    /// Describes the agent. Everyone can read it.
    #[serde(default)]
    #[schema(max_length = 1000)]
    pub description: Option<String>,
    #[serde(default)]
    pub archetype: Option<Archetype>,
    #[serde(default)]
    pub trigger_mode: Option<TriggerMode>,
    #[serde(default)]
    #[schema(maximum = 604_800)]
    pub cooldown_seconds: Option<u32>,
    #[serde(default, deserialize_with = "optional_object")]
    pub budget: Option<Budget>,
    #[serde(default)]
    #[schema(maximum = 16)]
    pub max_trigger_depth: Option<u32>,
    #[serde(default)]
    pub trigger_from: Option<TriggerFrom>,
    #[serde(default)]
    #[schema(max_items = 100)]
    pub trigger_allow: Option<Vec<String>>,
    #[serde(default)]
    pub foreign_reach: Option<ForeignReach>,
    #[serde(default)]
    #[schema(maximum = 1000)]
    pub max_round_trips: Option<u32>,
    #[serde(default)]
    pub k8s_image: Option<String>,
    #[serde(default, deserialize_with = "optional_object")]
    pub harness: Option<Harness>,
    #[serde(default)]
    pub instructions: Option<String>,
}

/// Updates only the given fields. `null` clears `k8s_image` and `harness`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateAgentRequest {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub display_name: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000, nullable = false)]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub archetype: Option<Archetype>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub trigger_mode: Option<TriggerMode>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 604_800, nullable = false)]
    pub cooldown_seconds: Option<u32>,
    #[serde(default, deserialize_with = "present_object", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub budget: Option<BudgetChanges>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 16, nullable = false)]
    pub max_trigger_depth: Option<u32>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub trigger_from: Option<TriggerFrom>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100, nullable = false)]
    pub trigger_allow: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub foreign_reach: Option<ForeignReach>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 1000, nullable = false)]
    pub max_round_trips: Option<u32>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub k8s_image: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable_object", skip_serializing_if = "Option::is_none")]
    pub harness: Option<Option<Harness>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub instructions: Option<String>,
}

/// A new agent and its key, shown only once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedAgent {
    pub agent: AgentView,
    #[schema(example = "stoa_agent_…")]
    pub key: Secret,
}

impl CreateAgentRequest {
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            display_name: None,
            description: None,
            archetype: None,
            trigger_mode: None,
            cooldown_seconds: None,
            budget: None,
            max_trigger_depth: None,
            trigger_from: None,
            trigger_allow: None,
            foreign_reach: None,
            max_round_trips: None,
            k8s_image: None,
            harness: None,
            instructions: None,
        }
    }

    /// The name and the settings a new agent begins with, or everything that is wrong with them. Where it does not say who starts
    /// it, these do.
    pub fn into_settings(self, trigger_from: TriggerFrom) -> Result<(String, AgentSettings), Vec<FieldError>> {
        let mut faults = Faults::default();
        let is_named_well = faults.check("name", handles::check_agent_name(&self.name)).is_some();
        let settings = AgentSettings {
            // A bad name is one fault, not two.
            display_name: self
                .display_name
                .unwrap_or_else(|| if is_named_well { self.name.clone() } else { "unnamed".to_owned() }),
            description: self.description.unwrap_or_default(),
            archetype: self.archetype.unwrap_or(Archetype::Custom),
            trigger_mode: self.trigger_mode.unwrap_or(TriggerMode::Passive),
            cooldown_seconds: self.cooldown_seconds.unwrap_or(DEFAULT_COOLDOWN_SECONDS),
            budget: self.budget.unwrap_or_default(),
            max_trigger_depth: self.max_trigger_depth.unwrap_or(DEFAULT_TRIGGER_DEPTH),
            trigger_from: self.trigger_from.unwrap_or(trigger_from),
            trigger_allow: self.trigger_allow.unwrap_or_default(),
            foreign_reach: self.foreign_reach.unwrap_or_default(),
            max_round_trips: self.max_round_trips.unwrap_or(DEFAULT_MAX_ROUND_TRIPS),
            k8s_image: self.k8s_image,
            harness: self.harness,
            instructions: self.instructions.unwrap_or_default(),
        };
        settings.check(&mut faults);
        faults.finish()?;
        Ok((self.name, settings))
    }
}

impl UpdateAgentRequest {
    pub fn apply(self, settings: &mut AgentSettings) -> Result<(), Vec<FieldError>> {
        fn set<T>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        set(&mut settings.display_name, self.display_name);
        set(&mut settings.description, self.description);
        set(&mut settings.archetype, self.archetype);
        set(&mut settings.trigger_mode, self.trigger_mode);
        set(&mut settings.cooldown_seconds, self.cooldown_seconds);
        let budget = self.budget.unwrap_or_default();
        set(&mut settings.budget.runs_per_day, budget.runs_per_day);
        set(&mut settings.budget.cost_usd_per_day, budget.cost_usd_per_day);
        set(&mut settings.budget.others_percent, budget.others_percent);
        set(&mut settings.max_trigger_depth, self.max_trigger_depth);
        set(&mut settings.trigger_from, self.trigger_from);
        set(&mut settings.trigger_allow, self.trigger_allow);
        set(&mut settings.foreign_reach, self.foreign_reach);
        set(&mut settings.max_round_trips, self.max_round_trips);
        set(&mut settings.k8s_image, self.k8s_image);
        set(&mut settings.harness, self.harness);
        set(&mut settings.instructions, self.instructions);
        let mut faults = Faults::default();
        settings.check(&mut faults);
        faults.finish()
    }
}

impl AgentSettings {
    fn check(&self, faults: &mut Faults) {
        faults.check("display_name", check_label(&self.display_name, MAX_DISPLAY_NAME));
        let is_short = self.description.chars().count() <= MAX_DESCRIPTION;
        faults.require("description", is_short, "must be at most 1000 characters long");
        faults.check("description", check_body(&self.description, MAX_DESCRIPTION * 4));
        faults.require("cooldown_seconds", self.cooldown_seconds <= MAX_COOLDOWN_SECONDS, "must be at most 7 days");
        faults.require("max_trigger_depth", self.max_trigger_depth <= MAX_DEPTH_SETTING, "must be at most 16");
        faults.require("budget.runs_per_day", self.budget.runs_per_day <= MAX_RUNS_PER_DAY, "must be at most 1000000");
        let cost_fits = self.budget.cost_usd_per_day.is_none_or(|cost| (0.0..=1e9).contains(&cost));
        faults.require("budget.cost_usd_per_day", cost_fits, "must be between 0 and 1000000000");
        faults.require("budget.others_percent", self.budget.others_percent <= 100, "must be at most 100");
        faults.require("trigger_allow", self.trigger_allow.len() <= MAX_TRIGGER_ALLOW, "must be at most 100 names");
        faults.require("max_round_trips", self.max_round_trips <= MAX_ROUND_TRIPS_SETTING, "must be at most 1000");
        if let Some(image) = &self.k8s_image {
            let fits = (1..=512).contains(&image.len()) && image.bytes().all(|byte| byte.is_ascii_graphic());
            faults.require("k8s_image", fits, "must be 1 to 512 printable ASCII characters without spaces");
        }
        faults.check("instructions", check_body(&self.instructions, MAX_INSTRUCTIONS_BYTES));
        if let Some(harness) = &self.harness {
            harness.check(faults);
        }
    }
}

impl Harness {
    /// The variables that nobody may set, each as a fault of its field. This is asked only when a harness is given: one that
    /// was stored before a name became reserved can still be read, and its agent changed otherwise.
    pub fn reserved_variables(&self) -> Vec<FieldError> {
        let names = self.env.iter().flatten().map(|(name, _)| name).filter(|name| is_reserved_variable(name));
        let fault = |name: &String| FieldError {
            field: format!("harness.env.{name}"),
            message: "is reserved: it could change what the command runs or where it sends its keys".to_owned(),
        };
        names.map(fault).collect()
    }

    fn check(&self, faults: &mut Faults) {
        match self.backend {
            HarnessBackend::Subprocess => {
                let has_program = match &self.command {
                    Some(words) => words.first().is_some_and(|word| !word.is_empty()),
                    None => self.adapter.is_some_and(|adapter| adapter != HarnessAdapter::Generic),
                };
                faults.require("harness.command", has_program, "must name a command for the subprocess backend");
            }
            HarnessBackend::Webhook => {
                faults.require("harness.url", self.url.is_some(), "is required for the webhook backend");
            }
            HarnessBackend::Kubernetes => {}
        }
        if let Some(words) = &self.command {
            let fits = words.len() <= MAX_COMMAND_WORDS && words.iter().all(|word| word.len() <= MAX_WORD_BYTES);
            faults.require("harness.command", fits, "can have at most 64 arguments of up to 4096 bytes each");
        }
        if let Some(url) = &self.url {
            let fits = url.len() <= 2048 && (url.starts_with("https://") || url.starts_with("http://"));
            faults.require("harness.url", fits, "must be an http or https address of at most 2048 bytes");
        }
        if let Some(model) = &self.model {
            // It becomes an argument, so it must not look like an option.
            let is_name = model.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:/@[]".contains(&byte));
            let fits = (1..=MAX_MODEL_BYTES).contains(&model.len()) && is_name && !model.starts_with('-');
            faults.require(
                "harness.model",
                fits,
                "must be the name of a model, up to 128 letters, digits and -._:/@[]",
            );
        }
        let turns_fit = self.max_turns.is_none_or(|turns| (1..=MAX_TURNS).contains(&turns));
        faults.require("harness.max_turns", turns_fit, "must be 1 to 1000");
        let cost_fits = self.max_cost_usd.is_none_or(|cost| (0.01..=1000.0).contains(&cost));
        faults.require("harness.max_cost_usd", cost_fits, "must be between 0.01 and 1000");
        let timeout_fits =
            self.timeout_seconds.is_none_or(|seconds| (1..=MAX_HARNESS_TIMEOUT_SECONDS).contains(&seconds));
        faults.require("harness.timeout_seconds", timeout_fits, "must be 1 to 86400");
        if let Some(workspace) = &self.workspace {
            workspace.check(self.backend, faults);
        }
        let size = serde_json::to_vec(self).map_or(usize::MAX, |text| text.len());
        faults.require("harness", size <= MAX_HARNESS_BYTES, "can be up to 64 KiB in total");
        if let Some(variables) = &self.env {
            faults.require("harness.env", variables.len() <= MAX_ENVIRONMENT_VARIABLES, "can have at most 64 entries");
            let named_well = variables.keys().all(|name| is_variable_name(name));
            faults.require("harness.env", named_well, "names can contain only letters, digits and underscores");
            let fits = variables.values().all(|value| value.len() <= MAX_WORD_BYTES);
            faults.require("harness.env", fits, "values must be at most 4096 bytes long");
        }
        if let Some(template) = &self.prompt_template {
            faults.check("harness.prompt_template", check_body(template, MAX_PROMPT_TEMPLATE_BYTES));
            faults.check("harness.prompt_template", prompts::parse(template).map(drop));
        }
    }
}

impl Workspace {
    fn check(&self, backend: HarnessBackend, faults: &mut Faults) {
        if self.kind == WorkspaceKind::Empty {
            faults.require("harness.workspace.path", self.path.is_none(), "is only for the kinds folder and git");
            return;
        }
        let is_here = backend == HarnessBackend::Subprocess;
        faults.require("harness.workspace", is_here, "is only for the subprocess backend");
        let path = self.path.as_deref().unwrap_or_default();
        let fits = path.len() <= MAX_WORD_BYTES && !path.chars().any(char::is_control);
        let is_plain = path.starts_with('/') && !path.split('/').any(|part| part == ".." || part == ".");
        let message = "must be an absolute path of at most 4096 bytes, without . and ..";
        faults.require("harness.workspace.path", fits && is_plain, message);
    }
}

fn default_max_round_trips() -> u32 {
    DEFAULT_MAX_ROUND_TRIPS
}

fn is_variable_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && !name.as_bytes()[0].is_ascii_digit()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
