//! The benches run and say what they promise to say. What they measure here means nothing.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use stoa::events::MessageEvent;

use crate::cli_support::{Hub, PROGRAM, stoa};

/// The load generator, which is built beside the hub.
fn stoa_bench(arguments: &[&str]) -> Command {
    let program = Path::new(PROGRAM).with_file_name("stoa-bench");
    let message = "`cargo test --package stoa` does not build it. Run `cargo build --package stoa-bench` first.";
    assert!(program.exists(), "{} is missing: {message}", program.display());
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn bench(arguments: &[&str]) -> Value {
    timed_bench(arguments, &["--seconds", "0.2"])
}

fn timed_bench(arguments: &[&str], more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = stoa_bench(arguments)
        .args(more)
        .args(["--rounds", "1", "--json", "--data"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was left behind");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
    assert!(["release", "debug"].contains(&report["machine"]["build"].as_str().unwrap()));
    assert!(!report["machine"]["kernel"].as_str().unwrap().is_empty());
    assert!(report["engine"].as_str().unwrap().starts_with("SQLite 3."));
    report
}

/// A figure is the median of rounds, and of one round all three are the same.
fn is_measured(figure: &Value) -> bool {
    let median = figure["median"].as_f64().unwrap();
    median > 0.0 && figure["min"] == figure["median"] && figure["max"] == figure["median"]
}

#[test]
fn raw_says_what_the_machine_can_do() {
    let report = bench(&["raw"]);
    let writes = report["group_commit"].as_array().unwrap();
    let clients: Vec<_> = writes.iter().map(|case| case["clients"].as_u64().unwrap()).collect();
    assert_eq!(clients, [1, 64, 256]);
    for case in writes {
        for figure in ["messages_per_second", "p50_ms", "p99_ms", "cpu_us_per_message", "writer_cpu_us_per_message"] {
            assert!(is_measured(&case[figure]), "{figure}: {case}");
        }
        assert!(case["messages"].as_u64().unwrap() > 0);
        let commits = case["messages_per_commit"]["median"].as_f64().unwrap();
        assert!((1.0..=256.0).contains(&commits), "{case}");
    }
    assert_eq!(report["single_commit_p50_ms"], writes[0]["p50_ms"]["median"]);
    assert!(is_measured(&report["disk_sync"]["p50_ms"]));
    let echo = &report["http_echo"];
    assert_eq!(echo["connections"], 64);
    for figure in ["requests_per_second", "p50_ms", "p99_ms", "server_cpu_us_per_request"] {
        assert!(is_measured(&echo[figure]), "{figure}: {echo}");
    }
}

#[test]
fn auth_compares_many_agents_with_few() {
    let report = bench(&["auth", "--agents", "50", "--few-agents", "5", "--connections", "4"]);
    let hubs = report["hubs"].as_array().unwrap();
    let kinds: Vec<_> =
        hubs.iter().map(|hub| (hub["agents"].as_u64().unwrap(), hub["has_cache"].as_bool().unwrap())).collect();
    assert_eq!(kinds, [(5, false), (50, false), (5, true), (50, true)]);
    for hub in hubs {
        assert!(is_measured(&hub["server_cpu_us_per_request"]) && is_measured(&hub["requests_per_second"]), "{hub}");
        assert!(hub["requests"].as_u64().unwrap() > 0, "{hub}");
    }
    assert!(is_measured(&report["ratios"]["without_cache"]));
    assert!(report["ratios"]["with_cache"].as_f64().unwrap() > 0.0);
    let budget = &report["budgets"][0];
    assert_eq!(budget["ratio"], report["ratios"]["without_cache"]["median"]);
    assert_eq!(budget["limit"], 1.1);
    assert!(budget["is_kept"].is_boolean());
}

/// Few of everything, so that a bench is over in seconds.
const SMALL: [&str; 6] = ["--users", "3", "--agents", "12", "--channels", "4"];

#[test]
fn send_is_compared_with_the_bare_writer() {
    let report = bench(&[&["send", "--clients", "8", "--messages-before", "300"], SMALL.as_slice()].concat());
    for (hub, raw) in report["hub"].as_array().unwrap().iter().zip(report["raw"].as_array().unwrap()) {
        assert_eq!(hub["clients"], raw["clients"]);
        for figure in ["requests_per_second", "p50_ms", "server_cpu_us_per_request", "writer_cpu_us_per_request"] {
            assert!(is_measured(&hub[figure]), "{figure}: {hub}");
        }
        assert!(hub["messages_per_commit"]["median"].as_f64().unwrap() >= 1.0, "{hub}");
        assert!(is_measured(&raw["messages_per_second"]), "{raw}");
    }
    assert_eq!(report["budgets"][0]["ratio"], report["share_of_raw"]["median"]);
    assert_eq!((&report["budgets"][0]["limit"], &report["budgets"][0]["is_least"]), (&0.5.into(), &true.into()));
    assert_eq!(report["budgets"][1]["unit"], " ms");
}

#[test]
fn search_is_compared_by_size_and_sends_by_indexing() {
    let report = bench(&[&["search", "--clients", "4", "--sizes", "300,600"], SMALL.as_slice()].concat());
    let kinds = report["kinds"].as_array().unwrap();
    assert!(kinds.len() > 10);
    for kind in kinds {
        assert_eq!((&kind["sizes"][0]["messages"], &kind["sizes"][1]["messages"]), (&300.into(), &600.into()));
        assert!(is_measured(&kind["sizes"][1]["p99_ms"]) && is_measured(&kind["ratio"]), "{kind}");
    }
    for send in report["sends"].as_array().unwrap() {
        assert!(is_measured(&send["indexed"]["requests_per_second"]) && is_measured(&send["ratio"]), "{send}");
    }
    let limits: Vec<_> = report["budgets"].as_array().unwrap().iter().map(|budget| budget["limit"].clone()).collect();
    assert_eq!(limits, [30.0, 1.3, 1.3, 1.2, 1.2].map(Value::from));
    assert!(report["hubs"][1]["index_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn machines_are_compared_with_a_bare_check_and_the_bare_writer() {
    let arguments = ["machine", "--clients", "2", "--batch", "20", "--principals", "10", "--messages-before", "300"];
    let report = bench(&[arguments.as_slice(), SMALL.as_slice()].concat());
    let checks = report["verification"].as_array().unwrap();
    for (check, bytes) in checks.iter().zip([1024, 16384]) {
        assert_eq!(check["body_bytes"], bytes);
        assert!(is_measured(&check["hub_us"]) && is_measured(&check["bare_us"]) && is_measured(&check["ratio"]));
    }
    assert!(is_measured(&report["single"]["server_cpu_us_per_request"]), "{report}");
    let kinds = report["ingestion"].as_array().unwrap();
    assert_eq!((&kinds[0]["events"], &kinds[1]["events"]), (&"into a channel".into(), &"stored only".into()));
    for kind in kinds {
        for side in ["hub", "raw"] {
            assert!(kind[side]["events"].as_u64().unwrap() >= 20, "{kind}");
            for figure in ["events_per_second", "p50_ms", "cpu_us_per_event", "writer_cpu_us_per_event"] {
                assert!(is_measured(&kind[side][figure]), "{side} {figure}: {kind}");
            }
        }
        assert!(is_measured(&kind["share_of_raw"]), "{kind}");
    }
    let budgets = report["budgets"].as_array().unwrap();
    let limits: Vec<_> = budgets.iter().map(|budget| budget["limit"].as_f64().unwrap()).collect();
    assert_eq!(limits, [2.5, 2.5, 0.5]);
    assert_eq!(budgets[0]["ratio"], checks[0]["ratio"]["median"]);
    assert_eq!(budgets[2]["ratio"], kinds[0]["share_of_raw"]["median"]);
}

#[test]
fn tools_are_compared_with_rest_and_a_bare_tool() {
    let arguments = ["mcp", "--clients", "4", "--waits", "6", "--messages-before", "300"];
    let report = bench(&[arguments.as_slice(), SMALL.as_slice()].concat());
    let calls = report["calls"].as_array().unwrap();
    let names: Vec<_> = calls.iter().map(|call| call["call"].as_str().unwrap()).collect();
    assert_eq!(names, ["send, tool", "send, REST", "bare tool"]);
    for call in calls {
        for figure in ["requests_per_second", "p50_ms", "server_cpu_us_per_request"] {
            assert!(is_measured(&call[figure]), "{figure}: {call}");
        }
    }
    assert!(is_measured(&report["cpu_ratio"]), "{report}");
    assert_eq!(report["waits"]["waits"], 6);
    assert!(report["waits"]["wake_p50_ms"]["median"].is_number(), "{report}");
    let budgets = report["budgets"].as_array().unwrap();
    assert_eq!((&budgets[0]["ratio"], &budgets[0]["limit"]), (&report["cpu_ratio"]["median"], &1.5.into()));
    assert_eq!((&budgets[1]["unit"], &budgets[1]["limit"]), (&" ms".into(), &1.0.into()));
}

#[test]
fn pages_are_compared_by_size() {
    let report = bench(&[&["read", "--sizes", "300,600"], SMALL.as_slice()].concat());
    let pages: Vec<_> =
        report["listings"].as_array().unwrap().iter().map(|page| page["name"].as_str().unwrap()).collect();
    let expected = ["channel, newest", "channel, middle", "dm", "inbox", "partners", "unread", "message", "replies"];
    assert_eq!(pages, expected);
    for page in report["listings"].as_array().unwrap() {
        assert_eq!(page["sizes"][1]["messages"], 600);
        assert!(is_measured(&page["sizes"][1]["server_cpu_us_per_request"]) && is_measured(&page["ratio"]), "{page}");
    }
    assert!(report["hubs"][0]["start_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn mixed_sends_beside_a_held_snapshot_and_bad_receivers() {
    let report = bench(&["mixed", "--webhooks", "--rate", "100", "--clients", "4", "--messages-before", "300"]);
    let kinds = report["kinds"].as_array().unwrap();
    assert_eq!((&kinds[0]["beside"], &kinds[1]["beside"]), (&"nothing".into(), &"a held snapshot".into()));
    assert!(is_measured(&kinds[1]["ratio"]), "{report}");
    let last = kinds.last().unwrap();
    assert!(last["beside"] == "a dead and a slow receiver" && is_measured(&last["ratio"]), "{report}");
    assert!(kinds[1]["log"][0]["peak"].as_u64().unwrap() > 0, "{report}");
}

/// The attacks are so small here that no hub minds them.
#[test]
fn hostile_says_what_attacks_cause() {
    let folder = tempfile::tempdir().unwrap();
    let output = stoa_bench(&["hostile", "--attack", "bodies-key", "--attack", "unread-answers", "--scale", "0.005"])
        .args(["--seconds", "0.5", "--answer-seconds", "600", "--json", "--data"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was left behind");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let attacks = report["attacks"].as_array().unwrap();
    let names: Vec<_> = attacks.iter().map(|attack| attack["attack"].as_str().unwrap()).collect();
    assert_eq!(names, ["bodies-key", "unread-answers"]);
    for attack in attacks {
        for figure in ["sent_bytes", "resident_before_bytes", "resident_most_bytes", "data_most_bytes"] {
            assert!(attack[figure].as_u64().unwrap() > 0, "{figure}: {attack}");
        }
        assert_eq!((&attack["has_lived"], &attack["ended"]), (&Value::Bool(true), &Value::from("exit code 0")));
        assert!(attack["faults"].as_array().unwrap().is_empty(), "{attack}");
        let other = attack["other"].as_array().unwrap();
        let kinds: Vec<_> = other.iter().map(|answers| answers["kind"].as_str().unwrap()).collect();
        for kind in ["read", "channels", "send", "search", "login"] {
            assert!(kinds.contains(&kind), "{kind} is missing: {attack}");
        }
        assert!(other.iter().all(|answers| answers["asked"].as_u64().unwrap() > 0), "{attack}");
    }
}

#[test]
fn an_unknown_attack_is_refused_with_the_names_of_all() {
    let output = stoa_bench(&["hostile", "--attack", "tickling"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("bodies-login") && error.contains("stopping"), "{error}");
}

/// `fill` writes the events of messages itself. They must have every field that the hub writes, and no other.
fn check_events(data: &Path) {
    let database = rusqlite::Connection::open(data.join("stoa.db")).unwrap();
    let mut query = database.prepare("select payload from outbox where kind = 'message_sent'").unwrap();
    let payloads: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(!payloads.is_empty());
    for payload in payloads {
        let event: MessageEvent = serde_json::from_str(&payload).unwrap();
        let written: Value = serde_json::from_str(&payload).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), written);
    }
}

/// The same seed makes the same messages, and a hub starts on them and lists them.
#[test]
fn a_filled_hub_lists_what_was_made() {
    let place = tempfile::tempdir().unwrap();
    let fill = |name: &str| {
        let data = place.path().join(name);
        let sizes = [
            &["fill", "--messages", "500", "--seed", "7", "--json", "--data"],
            [data.to_str().unwrap()].as_slice(),
            &SMALL,
        ]
        .concat();
        let output = stoa_bench(&sizes).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (data, serde_json::from_slice::<Value>(&output.stdout).unwrap())
    };
    let bodies = |hub: &Hub, report: &Value| {
        let authorization = format!("Bearer {}", report["agents"][0]["key"].as_str().unwrap());
        let get = |path: &str| hub.http("GET", path, &[("authorization", &authorization)], None);
        let page = get("/api/channels/room-000/messages?limit=100");
        assert_eq!(page.status, 200, "{page:?}");
        let items = page.body["items"].as_array().unwrap();
        assert!(items.len() > 50);
        assert!(items.iter().any(|item| !item["reply_to"].is_null()));
        assert_eq!(get("/api/notifications/unread").status, 200);
        assert!(!get("/api/inbox").body["items"].as_array().unwrap().is_empty());
        items.iter().map(|item| item["body"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for name in ["one", "two"] {
        let (data, report) = fill(name);
        assert_eq!(report["messages"], 500);
        check_events(&data);
        let mut serve = stoa(&["serve", "--data", data.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
        let hub = Hub::start(serve.env("STOA_LOG_FORMAT", "json"), data.clone());
        seen.push(bodies(&hub, &report));
        // A folder in use is left alone.
        let refused = stoa_bench(&["fill", "--data", data.to_str().unwrap()]).output().unwrap();
        assert!(!refused.status.success());
        assert_eq!(hub.stop().code, Some(0));
        let database = rusqlite::Connection::open(data.join("stoa.db")).unwrap();
        let faults: i64 =
            database.query_row("select count(*) from pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
        assert_eq!(faults, 0);
    }
    assert_eq!(seen[0], seen[1]);
}
