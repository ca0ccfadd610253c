//! Which known programs are installed on the server, and whether their keys are set.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{reactive, run};
use crate::support::{Human, TestHub};

/// A program in a folder of its own, which becomes the path of runs.
fn install(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

async fn hub_with(folder: &Path) -> TestHub {
    let path = format!("{}:/usr/bin:/bin", folder.display());
    TestHub::setup().configure(|config| config.runs.path = path).start().await
}

async fn program(human: &Human, adapter: &str, query: &str) -> Value {
    let list = human.get(&format!("/api/programs{query}")).await.ok().json();
    list["items"].as_array().unwrap().iter().find(|one| one["adapter"] == adapter).unwrap().clone()
}

#[tokio::test]
async fn installed_programs_say_their_version() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let clean = "env | cut -d= -f1 | sort | tr '\\n' ' '";
    install(folder.path(), "claude", &format!("echo $* >> '{}'; echo '2.1.325 (Claude Code)'", count.display()));
    install(folder.path(), "codex", &format!("{clean}; exit 1"));
    let hub = hub_with(folder.path()).await;
    let ada = hub.admin().await;
    let list = ada.get("/api/programs").await.ok().json();
    assert_eq!((&list["isolated"], &list["reason"]), (&json!(false), &Value::Null));
    let shown: Vec<Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!([one["name"], one["command"], one["found"], one["version"]]))
        .collect();
    let expected = [
        json!(["Claude Code", "claude", true, "2.1.325"]),
        json!(["Codex", "codex", true, null]),
        json!(["Gemini CLI", "gemini", false, null]),
    ];
    assert_eq!(shown, expected);
    // It is asked once for many callers, and again after some minutes.
    ada.get("/api/programs").await.ok();
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "--version\n");
    hub.advance(Duration::from_secs(200));
    ada.get("/api/programs").await.ok();
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "--version\n--version\n");
    hub.finish().await;
}

#[tokio::test]
async fn a_program_is_asked_with_a_clean_environment_and_found_when_it_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    let hub = hub_with(folder.path()).await;
    let ada = hub.admin().await;
    assert_eq!(program(&ada, "gemini", "").await["found"], false);
    let printed = folder.path().join("environment");
    install(
        folder.path(),
        "gemini",
        &format!("env | cut -d= -f1 | sort | tr '\\n' ' ' > '{}'; printf '\\033[1m0.61.0\\n'", printed.display()),
    );
    hub.advance(Duration::from_secs(10));
    let gemini = program(&ada, "gemini", "").await;
    assert_eq!((&gemini["found"], &gemini["version"]), (&json!(true), &json!("[1m0.61.0")));
    let names = std::fs::read_to_string(&printed).unwrap();
    let known = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC CODEX_HOME DISABLE_AUTOUPDATER GEMINI_CLI_NO_RELAUNCH HOME LANG PATH PWD STOA_RUN_MARK TMPDIR";
    assert!(
        names
            .split_whitespace()
            .all(|name| known.split(' ').any(|one| one == name) || name == "_" || name == "SHLVL" || name == "OLDPWD"),
        "{names}"
    );
    hub.finish().await;
}

#[tokio::test]
async fn people_who_may_start_nothing_are_not_told_what_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    let asked = folder.path().join("asked");
    install(folder.path(), "claude", &format!("touch '{}'; echo 1.0", asked.display()));
    let hub = hub_with(folder.path()).await;
    let bob = hub.human("bob").await;
    let list = bob.get("/api/programs").await.ok().json();
    assert_eq!(list["reason"], "subprocess_not_allowed");
    for one in list["items"].as_array().unwrap() {
        assert!(one["found"].is_null() && one["version"].is_null(), "{one}");
    }
    assert!(!asked.exists(), "the program was started");
    hub.finish().await;
}

#[tokio::test]
async fn keys_are_found_by_their_owner_only() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.admin().await, hub.human("bob").await);
    ada.agent("scribe").await;
    for (scope, name) in
        [("agent:scribe", "ANTHROPIC_API_KEY"), ("user:bob", "OPENAI_API_KEY"), ("user:bob", "DEPLOY_KEY")]
    {
        let secret = json!({"scope": scope, "name": name, "value": "a key of 22 characters"});
        hub.operator().call("secrets.set", secret).await;
    }
    let found =
        async |human: &Human, adapter: &str, query: &str| program(human, adapter, query).await["keys_found"].clone();
    assert_eq!(found(&ada, "claude-code", "").await, json!([]));
    assert_eq!(found(&ada, "claude-code", "?agent=scribe").await, json!(["ANTHROPIC_API_KEY"]));
    assert_eq!(found(&ada, "codex", "?agent=scribe").await, json!([]));
    assert_eq!(found(&bob, "codex", "").await, json!(["OPENAI_API_KEY"]));
    bob.get("/api/programs?agent=scribe").await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn the_shown_command_is_what_a_run_starts() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = format!("{}/crates/stoa-programs/recorded/claude-code-success.jsonl", env!("CARGO_MANIFEST_DIR"));
    let started = folder.path().join("started");
    install(
        folder.path(),
        "claude",
        &format!("[ \"$1\" = --version ] || printf '%s\\n' \"$@\" > '{}'; tail -n +2 '{recorded}'", started.display()),
    );
    let hub = hub_with(folder.path()).await;
    let ada = hub.admin().await;
    let harness = json!({"backend": "subprocess", "adapter": "claude-code", "model": "opus", "tools": "files", "max_turns": 7, "max_cost_usd": 0.5});
    ada.agent_with(reactive("scribe", harness)).await;
    let ended = run(&ada, "scribe", "Say hello.").await;
    assert_eq!(ended["run"]["status"], "succeeded", "{ended}");
    let shown = program(&ada, "claude-code", "?agent=scribe&model=opus&tools=files&max_turns=7&max_cost_usd=0.5").await;
    let words = |text: &str| {
        text.lines()
            .map(|word| if word.ends_with("stoa-mcp.json") { "FILE".to_owned() } else { word.to_owned() })
            .collect::<Vec<_>>()
    };
    let arguments: Vec<&str> =
        shown["arguments"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let text = std::fs::read_to_string(&started).unwrap();
    assert_eq!(words(&text), words(&arguments.join("\n")));
    hub.finish().await;
}
