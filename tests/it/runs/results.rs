//! `result.json`: what a program says about its work.

use serde_json::json;

use super::{run, scripted};
use crate::support::TestHub;

#[tokio::test]
async fn a_result_file_has_the_response_and_the_figures() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let text = r#"echo noise; cat > result.json <<'X'
{"response": "All **done**.", "session_id": "5f0c-91d2", "tokens_in": 700, "tokens_out": 55, "tokens_cached": 20, "cost_usd": 0.21}
X"#;
    scripted(&ada, "scribe", text).await;
    let ended = run(&ada, "scribe", "Go.").await;
    let harness = &ended["harness_run"];
    assert_eq!(harness["response"], "All **done**.");
    assert_eq!(ended["outgoing_message"]["body"], "All **done**.");
    assert_eq!((&harness["session_id"], &harness["cost_usd"]), (&json!("5f0c-91d2"), &json!(0.21)));
    assert_eq!(
        (&harness["tokens_in"], &harness["tokens_out"], &harness["tokens_cached"]),
        (&json!(700), &json!(55), &json!(20))
    );
    assert_eq!((&ended["run"]["tokens"], &ended["run"]["cost_usd"]), (&json!(755), &json!(0.21)));
    assert_eq!(harness["logs_excerpt"], "noise");
    hub.finish().await;
}

#[tokio::test]
async fn results_that_are_no_ordinary_files_fail_the_run() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    for (name, text, fault) in [
        ("link", "ln -s /etc/passwd result.json", "is a link"),
        ("twin", "echo '{}' > other; ln other result.json", "has another name elsewhere"),
        ("folder", "mkdir result.json", "is not an ordinary file"),
        ("pipe", "mkfifo result.json", "is not an ordinary file"),
        ("huge", "head -c 1000000 /dev/zero > result.json", "is larger than 256 KiB"),
        ("torn", "printf '{\"response\": ' > result.json", "is not JSON"),
        ("deep", "{ printf '{\"a\":'; head -c 5000 /dev/zero | tr '\\0' '['; } > result.json", "is nested too deeply"),
        ("wrong", "echo '{\"response\": 7}' > result.json", "has a response that is not text"),
    ] {
        scripted(&ada, name, text).await;
        let ended = run(&ada, name, "Go.").await;
        assert_eq!(
            (&ended["run"]["status"], &ended["run"]["reason"]),
            (&json!("failed"), &json!("bad_result")),
            "{name}"
        );
        let log = ended["harness_run"]["error_log"].as_str().unwrap();
        assert!(log.contains(&format!("Its result.json {fault}.")), "{name}: {log}");
        assert!(!ended.to_string().contains("root:"), "{name}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn figures_that_cannot_be_are_not_believed() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(
        &ada,
        "scribe",
        r#"echo '{"response": "x", "cost_usd": -5, "tokens_in": 1e30, "session_id": "--yolo"}' > result.json"#,
    )
    .await;
    let ended = run(&ada, "scribe", "Go.").await;
    let harness = &ended["harness_run"];
    assert_eq!(ended["run"]["status"], "succeeded");
    assert_eq!(
        (&harness["cost_usd"], &harness["tokens_in"], &harness["session_id"]),
        (&json!(null), &json!(null), &json!(null))
    );
    hub.finish().await;
}
