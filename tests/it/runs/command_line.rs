//! Runs and the switch from the command line, with a real hub and real programs.

use serde_json::json;

use crate::cli_support::{Hub, Place};
use crate::support::Client;

/// Each look is a command, so this is about a minute.
const MOST_LOOKS: usize = 20_000;

/// Sends a message as an agent of the same owner, and waits until the run has ended.
fn run(hub: &Hub, key: &str, agent: &str) -> i64 {
    let run = start(hub, key, agent);
    wait_until(hub, run, |status| status != "queued" && status != "running");
    run
}

fn wait_until(hub: &Hub, run: i64, is_so: impl Fn(&str) -> bool) {
    for _ in 0..MOST_LOOKS {
        let shown = hub.json(&["runs", "show", &run.to_string()]);
        if is_so(shown["run"]["status"].as_str().unwrap()) {
            return;
        }
    }
    panic!("run {run} did not come so far");
}

/// Sends a message and returns its run, by a connection of its own: the hub closes those that are idle.
fn start(hub: &Hub, key: &str, agent: &str) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sender = Client::new(format!("http://{}", hub.address)).bearer(key);
    super::run_of(&runtime.block_on(sender.dm(agent, "Do this, please.")))
}

#[test]
fn operators_look_at_runs_repeat_and_stop_them() {
    let place = Place::new();
    let folder = place.root().join("runs");
    let hub = place.start_with(&["--run-dir", folder.to_str().unwrap()]);
    let key = hub.json(&["agents", "create", "sender", "--owner", "admin"])["key"].as_str().unwrap().to_owned();
    let create = |name: &str, text: &str| {
        let harness = json!({"backend": "subprocess", "command": ["sh", "-c", text]}).to_string();
        let settings = ["--trigger-mode", "reactive", "--cooldown-seconds", "0", "--harness", &harness];
        let more = [
            "--trigger-from",
            "owner",
            "--trigger-allow",
            "@sender",
            "--foreign-reach",
            "agent",
            "--max-round-trips",
            "20",
            "--others-percent",
            "10",
        ];
        hub.json(&[&["agents", "create", name, "--owner", "admin"], &settings[..], &more[..]].concat())
    };
    let created = create("bad", "printf '\\033[31mno key\\n' >&2; exit 3")["agent"].clone();
    assert_eq!((&created["trigger_from"], &created["trigger_allow"]), (&json!("owner"), &json!(["sender"])));
    assert_eq!(created["foreign_reach"], "agent");
    assert_eq!((&created["max_round_trips"], &created["budget"]["others_percent"]), (&json!(20), &json!(10)));
    create("long", "while :; do sleep 0.05; done");

    let failed = run(&hub, &key, "bad");
    let listed = hub.admin(&["runs", "list", "--agent", "bad", "--status", "failed"]).ok();
    assert!(listed.contains("exit_code") && listed.contains("bad"), "{listed}");
    let shown = hub.admin(&["runs", "show", &failed.to_string(), "--steps"]).ok();
    assert!(shown.contains("exit code") && shown.contains("no key") && !shown.contains('\u{1b}'), "{shown}");
    let audit = hub.json(&["audit", "list"]).to_string();
    assert!(audit.contains("run.shown"), "{audit}");
    let again = hub.json(&["runs", "retry", &failed.to_string()]);
    assert_eq!((&again["retry_of"], &again["attempt"]), (&json!(failed), &json!(2)));

    let check = hub.admin(&["agents", "check", "bad", "--from", "sender"]).ok();
    assert!(check.contains("passed") && check.contains("depth"), "{check}");

    let long = start(&hub, &key, "long");
    wait_until(&hub, long, |status| status == "running");
    let off = hub.admin(&["acting", "off"]).ok();
    assert!(off.contains("off") && off.contains("operator"), "{off}");
    wait_until(&hub, long, |status| status == "cancelled");
    assert_eq!(hub.json(&["acting", "show"])["acting"], false);
    assert_eq!(hub.json(&["acting", "on", "--waiting", "drop"])["acting"], true);
    let second = start(&hub, &key, "long");
    wait_until(&hub, second, |status| status == "running");
    hub.admin(&["runs", "cancel", &second.to_string()]).ok();
    wait_until(&hub, second, |status| status == "cancelled");
    assert_eq!(hub.stop().code, Some(0));
}
