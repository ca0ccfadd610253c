//! The benches run and say what they promise to say. What they measure here means nothing.

use std::process::Command;

use serde_json::Value;

fn bench(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_stoa"))
        .arg("bench")
        .args(arguments)
        .args(["--rounds", "1", "--seconds", "0.2", "--json", "--data"])
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
