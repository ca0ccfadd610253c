//! Known programs: what the hub gives them, and what it makes of their outputs. Scripts stand in for them that print what the real ones
//! printed; `scripts/check-agents` tries the real ones.

use serde_json::{Value, json};

use super::{home_of_run, reactive, run};
use crate::support::TestHub;

/// A harness whose command prints a recorded output and ends like the program did.
fn replay(adapter: &str, recording: &str, exit: i32) -> Value {
    let file = format!("{}/crates/stoa-programs/recorded/{adapter}-{recording}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = format!("echo \"$@\" >> \"$HOME/arguments\"; tail -n +2 '{file}'; exit {exit}");
    json!({"backend": "subprocess", "adapter": adapter, "command": ["sh", "-c", text, "sh"], "model": "gpt-5"})
}

fn figures(run: &Value) -> Value {
    let harness = &run["harness_run"];
    json!([harness["tokens_in"], harness["tokens_cached"], harness["tokens_out"], harness["cost_usd"]])
}

#[tokio::test]
async fn outputs_become_steps_answers_and_figures() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    for (adapter, model, expected, is_estimated) in [
        ("claude-code", "claude-opus-5-5", json!([2700, 1900, 55, 0.00478]), false),
        ("codex", "gpt-5", json!([3900, 2700, 89, 0.0027275]), true),
        ("gemini", "gemini-3.1-pro-preview", json!([2700, 1900, 65, 0.00276]), true),
    ] {
        ada.agent_with(reactive(adapter, replay(adapter, "success", 0))).await;
        let ended = run(&ada, adapter, "Say hello.").await;
        let harness = &ended["harness_run"];
        assert_eq!((&ended["run"]["status"], &ended["run"]["reason"]), (&json!("succeeded"), &Value::Null), "{ended}");
        assert_eq!(figures(&ended), expected, "{adapter}");
        assert_eq!((&harness["model"], &harness["cost_estimated"]), (&json!(model), &json!(is_estimated)), "{adapter}");
        assert_eq!(harness["response"], "Done: I wrote to admin.");
        assert_eq!(ended["outgoing_message"]["body"], "Done: I wrote to admin.");
        assert!(harness["session_id"].is_string(), "{adapter}");
        let steps: Vec<(&str, &str)> = ended["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| (step["kind"].as_str().unwrap(), step["text"].as_str().unwrap()))
            .collect();
        assert!(
            steps.iter().any(|(kind, text)| *kind == "tool_call" && text.starts_with("send_message {")),
            "{steps:?}"
        );
        assert!(
            steps.iter().any(|(kind, text)| *kind == "tool_result" && text.starts_with("send_message: ")),
            "{steps:?}"
        );
        assert!(steps.contains(&("text", "Done: I wrote to admin.")), "{steps:?}");
        assert!(!steps.iter().any(|(kind, _)| *kind == "output"), "{steps:?}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn an_exit_code_of_0_is_no_success_by_itself() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    for (adapter, recording, exit, reason) in [
        ("claude-code", "401", 1, "model_error"),
        ("claude-code", "hub-down", 0, "hub_unreachable"),
        ("claude-code", "cost-limit", 1, "cost_limit"),
        ("codex", "stopped", 0, "no_result"),
        ("gemini", "401", 145, "model_error"),
        ("gemini", "stopped", 0, "no_result"),
        ("gemini", "turn-limit", 53, "turn_limit"),
    ] {
        let name = format!("{adapter}-{recording}");
        ada.agent_with(reactive(&name, replay(adapter, recording, exit))).await;
        let ended = run(&ada, &name, "Say hello.").await;
        assert_eq!((&ended["run"]["status"], &ended["run"]["reason"]), (&json!("failed"), &json!(reason)), "{name}");
        assert!(ended["outgoing_message"].is_null(), "{name}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_missing_key_is_named_when_a_run_fails() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    ada.agent_with(reactive("scribe", replay("gemini", "401", 145))).await;
    let without = run(&ada, "scribe", "Say hello.").await;
    assert!(
        without["run"]["last_step"].as_str().unwrap().starts_with("The key GEMINI_API_KEY is missing."),
        "{without}"
    );
    hub.operator()
        .call("secrets.set", json!({"scope": "user:admin", "name": "GEMINI_API_KEY", "value": "a wrong key"}))
        .await;
    let with = run(&ada, "scribe", "Say hello.").await;
    assert!(!with.to_string().contains("is missing"), "{with}");
    hub.finish().await;
}

#[tokio::test]
async fn a_session_goes_on_and_is_counted_once() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let mut harness = replay("claude-code", "success", 0);
    harness["resume"] = json!(true);
    let mut settings = reactive("scribe", harness);
    settings["instructions"] = json!("Write short sentences.");
    ada.agent_with(settings).await;
    let first = run(&ada, "scribe", "Say hello.").await;
    let second = run(&ada, "scribe", "Say hello again.").await;
    assert_eq!(figures(&first)[3], 0.00478);
    // The program says what the whole session has cost, which has not changed.
    assert_eq!(figures(&second)[3], 0.0);
    let home = home_of_run(&hub).await;
    let arguments = std::fs::read_to_string(home.join("arguments")).unwrap();
    let session = first["harness_run"]["session_id"].as_str().unwrap();
    let lines: Vec<bool> = arguments.lines().map(|line| line.contains(&format!("--resume {session}"))).collect();
    assert_eq!(lines, [false, true]);
    assert!(!arguments.contains("Say hello"), "what people write is no argument");
    let settings = std::fs::read_to_string(home.join(".claude/stoa-mcp.json")).unwrap();
    assert!(settings.contains("${STOA_MCP_KEY}") && !settings.contains("stoa_run_"), "{settings}");
    assert_eq!(std::fs::read_to_string(home.join(".claude/CLAUDE.md")).unwrap(), "Write short sentences.");
    hub.finish().await;
}

#[tokio::test]
async fn a_known_program_needs_no_command_but_must_be_there() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let harness =
        json!({"backend": "subprocess", "adapter": "claude-code", "model": "claude-opus-5-5", "max_turns": 5});
    ada.agent_with(reactive("scribe", harness)).await;
    let ended = run(&ada, "scribe", "Go.").await;
    assert_eq!(ended["run"]["reason"], "command_not_found");
    for (field, harness) in [
        ("harness.command", json!({"backend": "subprocess", "adapter": "generic"})),
        ("harness.model", json!({"backend": "subprocess", "adapter": "codex", "model": "--yolo"})),
        ("harness.max_turns", json!({"backend": "subprocess", "adapter": "codex", "max_turns": 0})),
        ("harness.max_cost_usd", json!({"backend": "subprocess", "adapter": "codex", "max_cost_usd": 0.0})),
    ] {
        ada.patch("/api/agents/scribe", &json!({"harness": harness})).await.invalid(&[field]);
    }
    hub.finish().await;
}
