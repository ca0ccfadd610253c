//! Runs: a message starts an agent's program.

mod command_line;
mod control;
mod crashes;
mod decisions;
mod edges;
mod installed_programs;
mod isolation;
mod known_programs;
mod outages;
mod programs;
mod reach;
mod reach_matrix;
mod remote;
mod results;
mod tokens;
mod workspaces;

use serde_json::{Value, json};

use crate::support::{Agent, Client, Human, TestHub, eventually};
use crate::walk::{Row, ToolRow, either, either_thing, refused, session, session_thing, shows_own};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/runs").aimed("agent={name}", 0, ""),
        either_thing("GET /api/runs/{id}"),
        either_thing("POST /api/runs/{id}/retry").for_owner(409, "not_reactive"),
        either_thing("POST /api/runs/{id}/cancel").for_owner(409, "run_finished"),
        either_thing("POST /api/runs/{id}/result")
            .body(json!({"response": "x", "session_id": "y"}))
            .refused(403, "run_token_required")
            .for_owner(403, "run_token_required"),
        session_thing("POST /api/agents/{name}/run-secret").about_the_agent(),
        either("GET /api/agents/reactive"),
        either_thing("POST /api/agents/{name}/check").about_the_agent().aimed_with(
            json!({"from": "{name}", "channel": "{channel}"}),
            404,
            "not_found",
        ),
        session("GET /api/programs").aimed("agent={name}", 404, "not_found"),
        session("GET /api/automation"),
        session("POST /api/automation/stop"),
        session("POST /api/automation/resume"),
    ]
}

pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![shows_own("list_runs", json!({"agent": "{name}"})), refused("get_run", json!({"run_id": "{run}"}))]
}

/// A script for the shell, as the harness of an agent.
pub(crate) fn script(text: &str) -> Value {
    json!({"backend": "subprocess", "command": ["sh", "-c", text]})
}

/// Settings of an agent that messages start, without a pause between two runs.
pub(crate) fn reactive(name: &str, harness: Value) -> Value {
    json!({"name": name, "trigger_mode": "reactive", "cooldown_seconds": 0, "harness": harness})
}

/// An agent of `owner` that runs a script.
pub(crate) async fn scripted(owner: &Human, name: &str, text: &str) -> Agent {
    owner.agent_with(reactive(name, script(text))).await
}

/// The run that a message started.
pub(crate) fn run_of(message: &Value) -> i64 {
    message["delivery"][0]["run_id"].as_i64().unwrap_or_else(|| panic!("{message} started no run"))
}

pub(crate) async fn details(client: &Client, run: i64) -> Value {
    client.get(&format!("/api/runs/{run}?steps=true")).await.ok().json()
}

pub(crate) async fn status(client: &Client, run: i64) -> String {
    details(client, run).await["run"]["status"].as_str().unwrap().to_owned()
}

/// Waits until a run has ended, and returns all of it.
pub(crate) async fn ended(client: &Client, run: i64) -> Value {
    eventually("the run has ended", async || !["queued", "running"].contains(&status(client, run).await.as_str()))
        .await;
    details(client, run).await
}

/// Waits until a run is under way.
pub(crate) async fn running(client: &Client, run: i64) {
    eventually("the run is running", async || status(client, run).await == "running").await;
}

/// Sends a message and waits until the run that it starts has ended.
pub(crate) async fn run(owner: &Human, agent: &str, text: &str) -> Value {
    let sent = owner.dm(agent, text).await;
    ended(owner, run_of(&sent)).await
}

/// What the hub has told a person about failed runs.
pub(crate) async fn notices(owner: &Human) -> Vec<String> {
    let page = owner.get("/api/dm/system/messages").await.ok().json();
    let messages = page["items"].as_array().unwrap().iter().filter(|message| !message["metadata"]["run"].is_null());
    messages.map(|message| message["body"].as_str().unwrap().to_owned()).collect()
}

/// Whether any process has this in its environment.
pub(crate) fn is_alive(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .map(|entry| std::fs::read(entry.path().join("environ")).unwrap_or_default())
        .any(|environment| environment.windows(mark.len()).any(|window| window == mark.as_bytes()))
}

/// A second administrator.
pub(crate) async fn second_admin(hub: &TestHub, name: &str) -> Human {
    let human = hub.human(name).await;
    hub.operator().call("users.role", json!({"username": name, "role": "admin"})).await;
    human.again().await
}

/// Whether bubblewrap works here.
fn can_isolate() -> bool {
    std::process::Command::new("bwrap")
        .args(["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"])
        .status()
        .is_ok_and(|status| status.success())
}

/// The home of the one agent that has a run, as soon as it is there.
async fn home_of_run(hub: &TestHub) -> std::path::PathBuf {
    let homes = hub.folder().with_file_name("runs").join("homes");
    let first = || std::fs::read_dir(&homes).ok()?.next()?.ok().map(|home| home.path());
    eventually("its home is there", async || first().is_some()).await;
    first().unwrap()
}
