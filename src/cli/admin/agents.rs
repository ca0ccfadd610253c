//! `stoa admin agents`.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::input::{self, Clearable, Dollars, TextSource};
use super::output::{Output, secret, show, show_text};
use super::{Failure, Session};

const ARCHETYPES: [&str; 6] = ["researcher", "writer", "commenter", "monitor", "operator", "custom"];
const TRIGGER_MODES: [&str; 3] = ["passive", "reactive", "disabled"];
const TRIGGER_FROM: [&str; 3] = ["owner", "people", "everyone"];
const FOREIGN_REACH: [&str; 2] = ["conversation", "agent"];
const CLIENTS: [&str; 7] = ["generic", "claude-code", "codex", "cursor", "vscode", "gemini", "stdio"];

#[derive(Subcommand)]
pub(super) enum AgentsCommand {
    /// List the agents of all users
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Show an agent with all its settings
    Show { name: String },
    /// Create an agent for a user and print its key
    Create {
        name: String,
        /// The user who owns it
        #[arg(long, value_name = "USER")]
        owner: String,
        #[command(flatten)]
        settings: Box<Settings>,
    },
    /// Change the given settings of an agent
    Update {
        name: String,
        #[command(flatten)]
        settings: Box<Settings>,
    },
    /// Check whether a message would start an agent now; starts nothing
    Check {
        name: String,
        /// The sender [default: the owner]
        #[arg(long, value_name = "NAME")]
        from: Option<String>,
    },
    /// Pause an agent
    Pause { name: String },
    /// Resume an agent
    Resume { name: String },
    /// Release an agent from quarantine
    Unquarantine { name: String },
    /// Print a new key for an agent; the old one stops working
    RotateKey { name: String },
    /// Print a new secret that signs the calls to an agent that runs elsewhere; the old secret stops working
    RunSecret { name: String },
    /// Print the client settings for an agent
    McpConfig {
        name: String,
        #[arg(long, value_parser = CLIENTS, default_value = "generic")]
        client: String,
        /// oauth, or key with the key in STOA_MCP_KEY [default: oauth, but key for generic and stdio]
        #[arg(long, value_parser = ["oauth", "key"])]
        auth: Option<String>,
    },
    /// Delete an agent and its keys; its messages remain
    Delete {
        name: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args)]
pub(super) struct Settings {
    /// Display name
    #[arg(long)]
    display_name: Option<String>,

    /// Describe the agent; everyone can read it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    #[arg(long, value_parser = ARCHETYPES)]
    archetype: Option<String>,

    /// Whether messages start runs
    #[arg(long, value_parser = TRIGGER_MODES)]
    trigger_mode: Option<String>,

    /// Minimum time between two runs
    #[arg(long, value_name = "SECONDS")]
    cooldown_seconds: Option<u32>,

    /// Maximum runs per day (UTC)
    #[arg(long, value_name = "RUNS")]
    runs_per_day: Option<u32>,

    /// Maximum dollars per day (UTC), or none for no limit
    #[arg(long, value_name = "USD|none")]
    cost_usd_per_day: Option<Clearable<Dollars>>,

    /// Maximum chain of agents triggering agents
    #[arg(long, value_name = "DEPTH")]
    max_trigger_depth: Option<u32>,

    /// Whose messages start it: the owner and their agents (owner), also other people (people), or everyone
    #[arg(long, value_parser = TRIGGER_FROM)]
    trigger_from: Option<String>,

    /// Other allowed users and agents, comma-separated, or none
    #[arg(long, value_name = "NAMES|none", value_parser = parse_names)]
    trigger_allow: Option<Names>,

    /// What runs that others start can read and write: only the conversation that started them (conversation), or everything that the
    /// agent can (agent)
    #[arg(long, value_parser = FOREIGN_REACH)]
    foreign_reach: Option<String>,

    /// Maximum runs per hour from one other agent, until a person writes
    #[arg(long, value_name = "MESSAGES")]
    max_round_trips: Option<u32>,

    /// Percent of the budget that others' runs can use
    #[arg(long, value_name = "PERCENT")]
    others_percent: Option<u32>,

    /// Container image for runs in a cluster, or none
    #[arg(long, value_name = "IMAGE|none")]
    k8s_image: Option<Clearable<String>>,

    /// How the agent is run, as a JSON object; from a file with @FILE, from standard input with @-
    #[arg(long, value_name = "JSON|@FILE|none")]
    harness: Option<Clearable<TextSource>>,

    /// Prompt for every run; @FILE reads a file, @- standard input
    #[arg(long, value_name = "TEXT|@FILE")]
    instructions: Option<TextSource>,
}

/// Comma-separated names.
#[derive(Clone)]
struct Names(Vec<String>);

#[expect(clippy::unnecessary_wraps, reason = "clap wants to be able to refuse")]
fn parse_names(text: &str) -> Result<Names, String> {
    if text == "none" {
        return Ok(Names(Vec::new()));
    }
    let names = text.split(',').map(|name| name.trim().trim_start_matches('@')).filter(|name| !name.is_empty());
    Ok(Names(names.map(str::to_owned).collect()))
}

impl Settings {
    /// The settings that were given, except for the budget.
    fn to_changes(&self) -> Result<Map<String, Value>, Failure> {
        let mut changes = Map::new();
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                changes.insert(name.to_owned(), value);
            }
        };
        set("display_name", self.display_name.as_ref().map(|name| json!(name)));
        set("description", self.description.as_ref().map(|text| json!(text)));
        set("archetype", self.archetype.as_ref().map(|archetype| json!(archetype)));
        set("trigger_mode", self.trigger_mode.as_ref().map(|mode| json!(mode)));
        set("cooldown_seconds", self.cooldown_seconds.map(|seconds| json!(seconds)));
        set("max_trigger_depth", self.max_trigger_depth.map(|depth| json!(depth)));
        set("trigger_from", self.trigger_from.as_ref().map(|from| json!(from)));
        set("trigger_allow", self.trigger_allow.as_ref().map(|names| json!(names.0)));
        set("foreign_reach", self.foreign_reach.as_ref().map(|reach| json!(reach)));
        set("max_round_trips", self.max_round_trips.map(|trips| json!(trips)));
        set("k8s_image", self.k8s_image.as_ref().map(|image| json!(image.0)));
        set("harness", self.harness.as_ref().map(read_harness).transpose()?);
        let instructions = self.instructions.as_ref().map(|source| source.read("--instructions")).transpose()?;
        set("instructions", instructions.map(Value::String));
        Ok(changes)
    }

    fn has_budget(&self) -> bool {
        self.runs_per_day.is_some() || self.cost_usd_per_day.is_some() || self.others_percent.is_some()
    }

    /// Puts the given limits into a budget.
    fn put_budget(&self, budget: &mut Value) {
        if let Some(runs) = self.runs_per_day {
            budget["runs_per_day"] = json!(runs);
        }
        if let Some(percent) = self.others_percent {
            budget["others_percent"] = json!(percent);
        }
        if let Some(cost) = &self.cost_usd_per_day {
            budget["cost_usd_per_day"] = json!(cost.0.map(|dollars| dollars.0));
        }
    }
}

fn read_harness(source: &Clearable<TextSource>) -> Result<Value, Failure> {
    let Some(source) = &source.0 else { return Ok(Value::Null) };
    serde_json::from_str(&source.read("--harness")?)
        .map_err(|error| Failure::Usage(format!("--harness must be JSON: {error}")))
}

impl AgentsCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            AgentsCommand::List { limit } => {
                let agents = session.list("agents.list", json!({}), limit)?;
                session.output.list(
                    &agents,
                    &[
                        ("NAME", |agent| show(&agent["name"])),
                        ("OWNER", |agent| show(&agent["owner"])),
                        ("DISPLAY NAME", |agent| show(&agent["display_name"])),
                        ("ARCHETYPE", |agent| show(&agent["archetype"])),
                        ("TRIGGER", |agent| show(&agent["trigger_mode"])),
                        ("STATUS", status),
                        ("LAST SEEN", |agent| show(&agent["last_seen_at"])),
                    ],
                )
            }
            AgentsCommand::Show { name } => change(session, "agents.show", &json!({"name": name})),
            AgentsCommand::Create { name, owner, settings } => {
                let mut agent = settings.to_changes()?;
                agent.insert("name".to_owned(), json!(name));
                if settings.has_budget() {
                    let mut budget = json!({});
                    settings.put_budget(&mut budget);
                    agent.insert("budget".to_owned(), budget);
                }
                let created = session.call("agents.create", &json!({"owner": owner, "agent": agent}))?;
                show_key(session, &created, "The key, shown only once:")
            }
            AgentsCommand::Update { name, settings } => {
                let mut changes = settings.to_changes()?;
                if settings.has_budget() {
                    let mut budget = json!({});
                    settings.put_budget(&mut budget);
                    changes.insert("budget".to_owned(), budget);
                }
                if changes.is_empty() {
                    let message = "nothing to change: add a setting such as --trigger-mode reactive; see --help";
                    return Err(Failure::Usage(message.to_owned()));
                }
                change(session, "agents.update", &json!({"name": name, "changes": changes}))
            }
            AgentsCommand::Check { name, from } => {
                let check = session.call("agents.check", &json!({"name": name, "from": from}))?;
                session.output.result(&check, |_| {
                    let steps = check["steps"].as_array().into_iter().flatten().map(|step| {
                        let mark = if step["passed"] == true { "passed" } else { "stops" };
                        format!("{mark:6}  {}: {}\n", show(&step["name"]), show(&step["detail"]))
                    });
                    format!("{}{}\n", steps.collect::<String>(), show(&check["detail"]))
                })
            }
            AgentsCommand::Pause { name } => change(session, "agents.pause", &json!({"name": name})),
            AgentsCommand::Resume { name } => change(session, "agents.resume", &json!({"name": name})),
            AgentsCommand::Unquarantine { name } => change(session, "agents.unquarantine", &json!({"name": name})),
            AgentsCommand::RotateKey { name } => {
                let rotated = session.call("agents.rotate_key", &json!({"name": name}))?;
                show_key(session, &rotated, "The new key, shown only once; the old key no longer works:")
            }
            AgentsCommand::RunSecret { name } => {
                let drawn = session.call("agents.run_secret", &json!({"name": name}))?;
                session.output.result(&drawn, |_| secret("The new secret, shown only once:", &drawn["secret"]))
            }
            AgentsCommand::McpConfig { name, client, auth } => {
                let params = json!({"name": name, "client": client, "auth": auth});
                let settings = session.call("agents.mcp_config", &params)?;
                session.output.result(&settings, |_| match settings["toml"].as_str() {
                    Some(text) => text.to_owned(),
                    None => format!("{settings:#}\n"),
                })
            }
            AgentsCommand::Delete { name, yes } => {
                if !yes {
                    // Whoever mistyped the name hears of it before being asked.
                    session.call("agents.show", &json!({"name": name}))?;
                    input::confirm(&format!("Delete the agent {name} and its keys?"))?;
                }
                let deleted = session.call("agents.delete", &json!({"name": name}))?;
                session.output.result(&deleted, |_| format!("The agent {name} was deleted.\n"))
            }
        }
    }
}

fn change(session: &mut Session, method: &str, params: &Value) -> Result<(), Failure> {
    let agent = session.call(method, params)?;
    session.output.result(&agent, |output| properties(output, &agent))
}

fn show_key(session: &mut Session, created: &Value, note: &str) -> Result<(), Failure> {
    session.output.result(created, |output| {
        format!("{}\n{}", properties(output, &created["agent"]), secret(note, &created["key"]))
    })
}

fn properties(output: &Output, agent: &Value) -> String {
    let or_none = |value: &Value| if value.is_null() { "none".to_owned() } else { show(value) };
    let budget = &agent["budget"];
    output.properties(&[
        ("name", show(&agent["name"])),
        ("display name", show(&agent["display_name"])),
        ("owner", show(&agent["owner"])),
        ("status", status(agent)),
        ("description", show_text(&agent["description"])),
        ("archetype", show(&agent["archetype"])),
        ("trigger mode", show(&agent["trigger_mode"])),
        ("cooldown seconds", show(&agent["cooldown_seconds"])),
        ("runs per day", show(&budget["runs_per_day"])),
        ("cost usd per day", or_none(&budget["cost_usd_per_day"])),
        ("max trigger depth", show(&agent["max_trigger_depth"])),
        ("started by", show(&agent["trigger_from"])),
        ("also started by", show(&agent["trigger_allow"])),
        ("reach for others", show(&agent["foreign_reach"])),
        ("max round trips", show(&agent["max_round_trips"])),
        ("k8s image", or_none(&agent["k8s_image"])),
        ("harness", or_none(&agent["harness"])),
        ("instructions", show_text(&agent["instructions"])),
        ("last seen", show(&agent["last_seen_at"])),
        ("created", show(&agent["created_at"])),
    ])
}

fn status(agent: &Value) -> String {
    if !agent["quarantined_at"].is_null() {
        "quarantined".to_owned()
    } else if agent["paused_at"].is_null() {
        "active".to_owned()
    } else {
        format!("paused ({})", show(&agent["pause_reason"]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_model::agents::{Archetype, McpClient, TriggerMode};

    #[test]
    fn the_words_on_the_command_line_are_the_hubs() {
        assert!(ARCHETYPES.iter().all(|word| serde_json::from_value::<Archetype>(json!(word)).is_ok()));
        assert!(TRIGGER_MODES.iter().all(|word| serde_json::from_value::<TriggerMode>(json!(word)).is_ok()));
        assert!(CLIENTS.iter().all(|word| serde_json::from_value::<McpClient>(json!(word)).is_ok()));
    }
}
