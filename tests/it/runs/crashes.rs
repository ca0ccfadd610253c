//! A hub that is killed while agents run: every message has its decision, nothing runs twice at once, and no process is left.
//!
//! `scripts/check-runs` kills more often than a test run has time for.
#![expect(clippy::disallowed_methods, reason = "processes are killed in real time")]

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use crate::cli_support::{Hub, Place};
use crate::crash::number_from;
use crate::freezes::draw;
use crate::support::{Client, on_postgres};

const AGENTS: usize = 6;
const SENDERS: usize = 4;
/// A killed hub's processes end within this time.
const END_WITHIN: Duration = Duration::from_secs(15);
const PATIENCE: Duration = Duration::from_secs(120);

/// Notices if another run of the same agent is under way, also one that hides, and leaves a process behind that hides.
const PROGRAM: &str = "exec 9> $HOME/lock; flock -n 9 || echo $STOA_RUN_ID >> $HOME/../../twice; \
    setsid sh -c 'setsid sleep 1000 & sleep 1000' & echo working; sleep 0.3; echo done";

#[derive(Default)]
struct Load {
    next: Mutex<u64>,
    /// Messages that the hub has acknowledged.
    stored: Mutex<Vec<i64>>,
    unanswered: Mutex<Vec<u64>>,
}

impl Load {
    /// Sends a message until it is known to be stored. None if the hub is away.
    async fn send(&self, client: &Client, number: u64) -> Option<()> {
        let message = json!({"to": format!("agent{}", number % AGENTS as u64), "body": format!("Do number {number}.")});
        loop {
            let call = client.post("/api/messages", &message).header("idempotency-key", number.to_string());
            let reply = call.may_fail().attempt().await?;
            if reply.code() == 201 {
                self.stored.lock().unwrap().push(reply.json()["id"].as_i64().unwrap());
                return Some(());
            }
            assert!([409, 503].contains(&reply.code()), "{reply:?}");
        }
    }

    async fn keep_sending(&self, client: Client) {
        loop {
            let number = {
                let mut next = self.next.lock().unwrap();
                *next += 1;
                *next
            };
            if self.send(&client, number).await.is_none() {
                return self.unanswered.lock().unwrap().push(number);
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    async fn send_until_killed(self: &Arc<Self>, hub: &mut Hub, key: &str, wait: Duration) {
        let client = client_of(hub, key);
        let mut running = JoinSet::new();
        for _ in 0..SENDERS {
            let (load, client) = (self.clone(), client.clone());
            running.spawn(async move { load.keep_sending(client).await });
        }
        tokio::time::sleep(wait).await;
        hub.kill_now();
        while let Some(ended) = running.join_next().await {
            ended.unwrap();
        }
    }
}

fn client_of(hub: &Hub, key: &str) -> Client {
    Client::new(format!("http://{}", hub.address)).bearer(key)
}

#[test]
fn a_killed_hub_leaves_no_run_and_no_process_behind() {
    let kills = number_from("STOA_RUN_KILLS").unwrap_or(3);
    let mut dice = number_from("STOA_RUN_SEED").unwrap_or_else(|| {
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes).unwrap();
        u32::from_be_bytes(bytes).into()
    });
    // Past the harness, which hides what passing tests print.
    let _ = writeln!(std::io::stderr(), "runs: STOA_RUN_SEED={dice}, {kills} kills");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let place = Place::new();
    let folder = place.root().join("runs");
    let options = ["--rate-limit", "0", "--run-dir", folder.to_str().unwrap()];
    let mut hub = place.start_with(&options);
    let key = hub.json(&["agents", "create", "sender", "--owner", "admin"])["key"].as_str().unwrap().to_owned();
    let harness = json!({"backend": "subprocess", "command": ["sh", "-c", PROGRAM]}).to_string();
    for number in 0..AGENTS {
        let name = format!("agent{number}");
        let settings = ["--trigger-mode", "reactive", "--cooldown-seconds", "0", "--max-round-trips", "1000"];
        let more = ["--runs-per-day", "100000", "--harness", &harness];
        hub.json(&[&["agents", "create", &name, "--owner", "admin"], &settings[..], &more[..]].concat());
    }
    let load = Arc::new(Load::default());
    let mark = folder.display().to_string();
    for _ in 0..kills {
        let wait = Duration::from_millis(300 + draw(&mut dice, 1200));
        runtime.block_on(load.send_until_killed(&mut hub, &key, wait));
        let since = Instant::now();
        while super::is_alive(&mark) {
            assert!(since.elapsed() < END_WITHIN, "a process has outlived its hub");
            std::thread::sleep(Duration::from_millis(20));
        }
        if on_postgres() {
            // As if the hub had been away longer than its leases last.
            place.tamper("update work set lease_until = 0 where lease_owner is not null");
            place.tamper("update reactive_runs set lease_until = 0 where status = 'running'");
        }
        hub = place.start_with(&options);
        let unanswered = std::mem::take(&mut *load.unanswered.lock().unwrap());
        for number in unanswered {
            runtime.block_on(load.send(&client_of(&hub, &key), number)).unwrap();
        }
    }
    wait_until_idle(&place);
    let stored = load.stored.lock().unwrap().clone();
    let ids: Vec<String> = stored.iter().map(ToString::to_string).collect();
    let undecided = place.count(&format!(
        "select count(*) from messages where id in ({}) and (wake_state is null or (wake_state = 'woken' and wake_run_id is null))",
        ids.join(", ")
    ));
    assert_eq!(undecided, 0, "messages without a decision");
    assert!(!folder.join("twice").exists(), "an agent ran twice at once");
    let runs = |status: &str| place.count(&format!("select count(*) from reactive_runs where status = '{status}'"));
    let repeated = place.count("select count(*) from reactive_runs where is_repeated = 1");
    let others =
        place.count("select count(*) from reactive_runs where status = 'failed' and reason <> 'hub_restarted'");
    assert_eq!(others, 0, "runs failed for another reason than a restart");
    let _ = writeln!(
        std::io::stderr(),
        "runs: {} messages, {} runs succeeded, {} failed because of a restart, {repeated} were repeated",
        stored.len(),
        runs("succeeded"),
        runs("failed")
    );
    // Nobody is stuck: each agent answers once more.
    for number in 0..AGENTS {
        let client = client_of(&hub, &key);
        let sent = runtime.block_on(client.dm(&format!("agent{number}"), "And a last one, please."));
        assert_eq!(sent["delivery"][0]["state"], "woken", "{sent}");
    }
    wait_until_idle(&place);
    assert_eq!(hub.stop().code, Some(0));
    assert!(!super::is_alive(&mark), "a process has outlived its hub");
}

/// Waits until nothing is queued, running or waiting.
fn wait_until_idle(place: &Place) {
    let since = Instant::now();
    let waiting = "select (select count(*) from reactive_runs where status in ('queued', 'running'))
        + (select count(*) from messages where wake_state = 'deferred' and wake_run_id is null)";
    while place.count(waiting) > 0 {
        assert!(since.elapsed() < PATIENCE, "{} runs and messages are stuck", place.count(waiting));
        std::thread::sleep(Duration::from_millis(100));
    }
}
