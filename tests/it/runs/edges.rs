//! Runs in odd moments: many messages at once, two hubs, a restored hub, a clock that jumps, a program that wants to be the operator.

use serde_json::json;

use super::{ended, reactive, run, run_of, running, script, scripted, status};
use crate::backup::{Target, back_up};
use crate::support::{KEY, TestHub, eventually, on_postgres};

/// Ten thousand messages while an agent runs make two runs more at most.
#[tokio::test]
async fn many_messages_are_covered_by_few_runs() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "while [ ! -e $HOME/go ]; do sleep 0.02; done").await;
    let first = run_of(&ada.dm("scribe", "Begin.").await);
    running(&ada, first).await;
    for number in 0..300 {
        let sent = ada.dm("scribe", &format!("Number {number}.")).await;
        assert_eq!(sent["delivery"][0]["state"], "deferred");
    }
    let home = super::home_of_run(&hub).await;
    std::fs::write(home.join("go"), "").unwrap();
    ended(&ada, first).await;
    eventually("all is done", async || {
        let agent = ada.get("/api/agents/scribe").await.ok().json();
        let open = ada.get("/api/runs?status=queued,running").await.ok().json();
        agent["pending_work"] == false && open["total"] == 0
    })
    .await;
    assert_eq!(ada.get("/api/runs").await.ok().json()["total"], 2);
    hub.finish().await;
}

/// Has a child connect and end, and speaks through the connection that is left.
const KNOCK: &str = r#"
import os, socket
for _ in range(50):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(2)
    child = os.fork()
    if child == 0:
        connection.connect("SOCKET")
        os._exit(0)
    os.waitpid(child, 0)
    try:
        connection.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "hub.identify", "params": {}}\n')
        print("let in" if connection.recv(100) else "closed")
    except OSError:
        print("closed")
"#;

/// A program has the hub's user id, and is no operator all the same.
#[tokio::test]
async fn a_program_cannot_use_the_admin_socket() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let socket = hub.folder().join("admin.sock");
    let stoa = env!("CARGO_BIN_EXE_stoa");
    // One that has ended before the hub looks is refused as well.
    let knock = hub.folder().with_file_name("knock.py");
    std::fs::write(&knock, KNOCK.replace("SOCKET", &socket.display().to_string())).unwrap();
    let command = format!("{stoa} admin --admin-socket {} users list 2>&1; echo code $?", socket.display());
    scripted(&ada, "scribe", &format!("{command}; setsid sh -c '{command}'; python3 {}", knock.display())).await;
    let ended = run(&ada, "scribe", "Try.").await;
    let response = ended["harness_run"]["response"].as_str().unwrap();
    assert!(!response.contains("code 0") && response.contains("code"), "{response}");
    assert!(response.contains("closed") && !response.contains("let in"), "{response}");
    hub.finish().await;
}

#[tokio::test]
async fn a_restored_hub_does_nothing_by_itself() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "true").await;
    let folder = tempfile::tempdir().unwrap();
    let file = back_up(&hub, folder.path(), "backup.tar.gz").await;
    let password = ada.password.clone();
    let original = hub.stop().await;
    let target = Target::new();
    target.restore(&file).await.unwrap();
    let restored = target.setup(&original).start().await;
    let shown = restored.operator().call("acting.show", json!({})).await;
    assert_eq!((&shown["acting"], &shown["reason"]), (&json!(false), &json!("restored")));
    let ada = crate::support::Human::log_in(&restored.nobody(), "admin", &password).await;
    assert_eq!(ada.dm("scribe", "Go.").await["delivery"][0]["reason"], "acting_off");
    restored.operator().call("acting.on", json!({})).await;
    assert_eq!(run(&ada, "scribe", "Go.").await["run"]["status"], "succeeded");
    restored.finish().await;
}

/// Two hubs on one database: each run is run once, and either hub shows and cancels it.
#[tokio::test]
async fn two_hubs_run_each_run_once() {
    if !on_postgres() {
        return;
    }
    let hub = TestHub::setup().key(KEY).start().await;
    let other = hub.beside().start().await;
    let ada = hub.admin().await;
    let there = crate::support::Human::log_in(&other.nobody(), "admin", &ada.password).await;
    let mut runs = Vec::new();
    for number in 0..12 {
        let name = format!("agent{number}");
        ada.agent_with(reactive(&name, script("echo x >> $HOME/times; sleep 0.1"))).await;
        let from = if number % 2 == 0 { &ada } else { &there };
        runs.push(run_of(&from.dm(&name, "Go.").await));
    }
    for run in &runs {
        assert_eq!(ended(&there, *run).await["run"]["status"], "succeeded");
    }
    for home in std::fs::read_dir(hub.folder().with_file_name("runs").join("homes")).unwrap() {
        assert_eq!(std::fs::read_to_string(home.unwrap().path().join("times")).unwrap(), "x\n");
    }
    scripted(&ada, "long", "while :; do sleep 0.05; done").await;
    let run = run_of(&ada.dm("long", "Go.").await);
    running(&there, run).await;
    there.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.ok();
    eventually("it is cancelled", async || status(&ada, run).await == "cancelled").await;
    other.finish().await;
    hub.finish().await;
}

/// The clock jumps while a program runs: it is neither lost nor repeated.
#[tokio::test]
async fn a_clock_that_jumps_does_not_lose_a_run() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "while [ ! -e $HOME/go ]; do sleep 0.02; done; echo fine").await;
    let run = run_of(&ada.dm("scribe", "Go.").await);
    running(&ada, run).await;
    // Longer than its lease, shorter than its time limit.
    hub.advance(std::time::Duration::from_secs(120));
    hub.inner().read(|_| Ok::<_, stoa_db::DbError>(())).await.unwrap();
    let home = super::home_of_run(&hub).await;
    std::fs::write(home.join("go"), "").unwrap();
    let ended = ended(&ada, run).await;
    assert_eq!((&ended["run"]["status"], &ended["run"]["attempt"]), (&json!("succeeded"), &json!(1)));
    hub.finish().await;
}
