//! How a program is started without a person: its arguments, its variables, and the files that it reads at its start.
//!
//! Files are in the agent's home, where each program looks for settings that hold in every folder. So they hold in a repository, too, and
//! nothing is written into it.

use serde_json::{Map, Value, json};
use stoa_model::agents::{HarnessAdapter, HarnessTools};

/// The variable that holds the key of the hub. It is named in files, which never hold the key itself.
const KEY: &str = "STOA_MCP_KEY";
/// A model that does not answer is asked again this often. The hub tries again later by itself.
const RETRIES: u32 = 2;

/// What the owner has chosen, and what this run needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings<'a> {
    /// The program with words of the owner's own, if the owner gave any.
    pub command: &'a [String],
    pub model: Option<&'a str>,
    pub tools: HarnessTools,
    pub max_turns: Option<u32>,
    pub max_cost_usd: Option<f64>,
    pub instructions: &'a str,
    /// Where the hub speaks MCP.
    pub mcp_url: &'a str,
    /// The agent's home.
    pub home: &'a str,
    /// The session to go on with.
    pub resume: Option<&'a str>,
    /// Whether the run is isolated from the rest of the machine.
    pub is_isolated: bool,
}

/// What a run of a program is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    pub command: Vec<String>,
    pub environment: Vec<(&'static str, String)>,
    /// Paths below the agent's home, and what is in them.
    pub files: Vec<(&'static str, String)>,
}

impl Preset {
    /// None for commands of the owner's own, which get what they need from the owner.
    pub fn of(adapter: HarnessAdapter, settings: &Settings<'_>) -> Option<Self> {
        match adapter {
            HarnessAdapter::Generic => None,
            HarnessAdapter::ClaudeCode => Some(claude_code(settings)),
            HarnessAdapter::Codex => Some(codex(settings)),
            HarnessAdapter::Gemini => Some(gemini(settings)),
        }
    }
}

/// The owner's words come first: they may be another path of the program, or options that we know nothing of.
fn command(settings: &Settings<'_>, program: &str, words: Vec<String>) -> Vec<String> {
    let mut command = settings.command.to_vec();
    if command.is_empty() {
        command.push(program.to_owned());
    }
    command.extend(words);
    command
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The owner's instructions, in the file where the program looks for them.
fn instructions(settings: &Settings<'_>, path: &'static str) -> (&'static str, String) {
    // An empty file, so that instructions that were removed are gone.
    (path, settings.instructions.to_owned())
}

fn claude_code(settings: &Settings<'_>) -> Preset {
    const FILES: &str = "Read,Edit,Write,Glob,Grep";
    let own_tools = match settings.tools {
        HarnessTools::Hub => String::new(),
        HarnessTools::Files => FILES.to_owned(),
        HarnessTools::Shell => format!("{FILES},Bash"),
    };
    let allowed = if own_tools.is_empty() { "mcp__stoa".to_owned() } else { format!("mcp__stoa,{own_tools}") };
    let mut arguments = words(&["-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config"]);
    let mcp_file = format!("{}/.claude/stoa-mcp.json", settings.home);
    let pairs = [
        ("--mcp-config", mcp_file),
        ("--permission-mode", "dontAsk".to_owned()),
        // What it has at all, and what it may use without a question.
        ("--tools", own_tools),
        ("--allowedTools", allowed),
    ];
    let optional = [
        ("--model", settings.model.map(str::to_owned)),
        ("--max-turns", settings.max_turns.map(|turns| turns.to_string())),
        ("--max-budget-usd", settings.max_cost_usd.map(|cost| cost.to_string())),
        ("--resume", settings.resume.map(str::to_owned)),
    ];
    let optional = optional.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
    for (name, value) in pairs.into_iter().chain(optional) {
        arguments.extend([name.to_owned(), value]);
    }
    let server = json!({
        "type": "http", "url": settings.mcp_url, "alwaysLoad": true,
        "headers": {"Authorization": format!("Bearer ${{{KEY}}}")},
    });
    Preset {
        command: command(settings, "claude", arguments),
        environment: vec![
            // It asks nobody but the model and the hub.
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_MAX_RETRIES", RETRIES.to_string()),
        ],
        files: vec![
            (".claude/stoa-mcp.json", pretty(&json!({"mcpServers": {"stoa": server}}))),
            instructions(settings, ".claude/CLAUDE.md"),
        ],
    }
}

fn codex(settings: &Settings<'_>) -> Preset {
    // Its own sandbox does not work within another one.
    let sandbox = match (settings.tools, settings.is_isolated) {
        (HarnessTools::Hub, _) => "read-only",
        (HarnessTools::Files | HarnessTools::Shell, false) => "workspace-write",
        (HarnessTools::Files | HarnessTools::Shell, true) => "danger-full-access",
    };
    let mut arguments = words(&["exec"]);
    if settings.resume.is_some() {
        arguments.push("resume".to_owned());
    }
    arguments.extend(words(&["--json", "--skip-git-repo-check"]));
    arguments.extend(settings.resume.map(str::to_owned));
    // The prompt comes on standard input.
    arguments.push("-".to_owned());
    let mut config = String::new();
    let mut set = |name: &str, value: Value| config.push_str(&format!("{name} = {value}\n"));
    if let Some(model) = settings.model {
        set("model", json!(model));
    }
    set("sandbox_mode", json!(sandbox));
    set("approval_policy", json!("never"));
    set("check_for_update_on_startup", json!(false));
    set("analytics.enabled", json!(false));
    for feature in ["apps", "plugins", "remote_plugin"] {
        set(&format!("features.{feature}"), json!(false));
    }
    set("mcp_servers.stoa.url", json!(settings.mcp_url));
    set("mcp_servers.stoa.bearer_token_env_var", json!(KEY));
    // Without the hub it could not act, and would not say so.
    set("mcp_servers.stoa.required", json!(true));
    set("mcp_servers.stoa.default_tools_approval_mode", json!("approve"));
    Preset {
        command: command(settings, "codex", arguments),
        environment: vec![("CODEX_HOME", format!("{}/.codex", settings.home))],
        files: vec![(".codex/config.toml", config), instructions(settings, ".codex/AGENTS.md")],
    }
}

/// Tools that Gemini CLI has by itself for files, commands, the web and other agents.
const GEMINI_TOOLS: [&str; 15] = [
    "activate_skill",
    "enter_plan_mode",
    "glob",
    "google_web_search",
    "grep_search",
    "invoke_agent",
    "list_directory",
    "read_file",
    "read_many_files",
    "replace",
    "run_shell_command",
    "save_memory",
    "search_file_content",
    "web_fetch",
    "write_file",
];

fn gemini(settings: &Settings<'_>) -> Preset {
    let mut arguments = words(&["--output-format", "stream-json"]);
    let optional = [("-m", settings.model), ("--resume", settings.resume)];
    for (name, value) in optional {
        arguments.extend(value.into_iter().flat_map(|value| [name.to_owned(), value.to_owned()]));
    }
    let approval = match settings.tools {
        HarnessTools::Hub => "default",
        HarnessTools::Files => "auto_edit",
        HarnessTools::Shell => "yolo",
    };
    arguments.extend(words(&["--approval-mode", approval]));
    let server = json!({
        "httpUrl": settings.mcp_url, "trust": true, "headers": {"Authorization": format!("Bearer ${KEY}")},
    });
    let mut model = Map::new();
    model.extend(settings.max_turns.map(|turns| ("maxSessionTurns".to_owned(), json!(turns))));
    let mut tools = Map::new();
    if settings.tools == HarnessTools::Hub {
        // A list of what is left would take away the hub's tools, too.
        tools.insert("exclude".to_owned(), json!(GEMINI_TOOLS));
    }
    let file = json!({
        "mcpServers": {"stoa": server},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "maxAttempts": RETRIES + 1},
        "model": model,
        "tools": tools,
    });
    Preset {
        command: command(settings, "gemini", arguments),
        environment: vec![
            // Else its settings are not read, or it starts itself a second time and does not hear that it shall end.
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
        ],
        files: vec![(".gemini/settings.json", pretty(&file)), instructions(settings, ".gemini/GEMINI.md")],
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
