//! A hub that is killed in the middle of its work has kept what it promised, and needs no repair.
//!
//! `STOA_CRASHES=50` kills more often than a test run has time for, `STOA_CRASH_SEED` repeats a run as far as
//! threads can be repeated.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::cli_support::{Hub, Place};
use crate::support::{http_client, on_postgres};

const SENDERS: usize = 64;
const AGENTS: usize = 8;
const CHANNEL: &str = "general";

/// An agent, and how it calls the hub.
#[derive(Clone)]
struct Agent {
    name: String,
    key: String,
}

/// A message that a client tried to send. Its body is like no other.
#[derive(Clone)]
struct Attempt {
    client: usize,
    agent: usize,
    /// Whom a DM goes to.
    to: Option<usize>,
    body: String,
    key: Option<String>,
}

#[derive(Clone)]
struct Stored {
    attempt: Attempt,
    id: i64,
    conversation: i64,
}

/// Everything that clients were told, and what they asked in vain.
#[derive(Default)]
struct Record {
    stored: Vec<Stored>,
    unanswered: Vec<Attempt>,
    claimed: BTreeSet<i64>,
    /// Done, or perhaps done: nobody said.
    perhaps_done: BTreeSet<i64>,
    done: BTreeSet<i64>,
}

struct Crowd {
    agents: Vec<Agent>,
    http: Client,
    record: Mutex<Record>,
    next: AtomicU64,
}

/// Numbers that need not be good.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

impl Crowd {
    async fn ask(&self, address: &str, agent: usize, path: &str, body: Option<&Value>) -> Option<(StatusCode, Value)> {
        self.ask_with(address, agent, path, body, None).await
    }

    /// None when the hub did not answer to the end.
    async fn ask_with(
        &self,
        address: &str,
        agent: usize,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<(StatusCode, Value)> {
        let url = format!("http://{address}{path}");
        let mut request = match body {
            Some(body) => self.http.post(url).json(body),
            None => self.http.get(url),
        };
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let answer = request.bearer_auth(&self.agents[agent].key).send().await.ok()?;
        let status = answer.status();
        Some((status, answer.json().await.ok()?))
    }

    async fn send(&self, address: &str, attempt: &Attempt) -> Option<Stored> {
        let message = match attempt.to {
            Some(to) => json!({"to": self.agents[to].name, "body": attempt.body}),
            None => json!({"channel": CHANNEL, "body": attempt.body}),
        };
        let (status, answer) =
            self.ask_with(address, attempt.agent, "/api/messages", Some(&message), attempt.key.as_deref()).await?;
        assert_eq!(status, 201, "{answer}");
        assert_eq!(answer["body"], *attempt.body);
        let number = |name: &str| answer[name].as_i64().unwrap();
        Some(Stored { attempt: attempt.clone(), id: number("id"), conversation: number("conversation_id") })
    }

    /// Sends until the hub is gone.
    async fn keep_sending(&self, address: &str, client: usize, mut dice: Dice) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let agent = client % AGENTS;
            let attempt = Attempt {
                client,
                agent,
                to: (dice.below(4) == 0).then_some((agent + 1) % AGENTS),
                body: format!("message {number} of client {client}"),
                key: (dice.below(2) == 0).then(|| format!("key-{number}")),
            };
            match self.send(address, &attempt).await {
                Some(stored) => self.record.lock().unwrap().stored.push(stored),
                None => return self.record.lock().unwrap().unanswered.push(attempt),
            }
        }
    }

    /// Claims messages and settles some of them, until the hub is gone.
    async fn keep_claiming(&self, address: &str, agent: usize) {
        loop {
            let wanted = json!({"limit": 3, "lease_seconds": 3600});
            let Some((status, answer)) = self.ask(address, agent, "/api/inbox/claim", Some(&wanted)).await else {
                return;
            };
            assert_eq!(status, 200, "{answer}");
            let claimed: Vec<i64> =
                answer["items"].as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect();
            self.record.lock().unwrap().claimed.extend(&claimed);
            for id in claimed.into_iter().filter(|id| id % 2 == 0) {
                self.record.lock().unwrap().perhaps_done.insert(id);
                let settled = self.ask(address, agent, &format!("/api/messages/{id}/done"), Some(&json!({}))).await;
                let Some((status, answer)) = settled else { return };
                assert_eq!(status, 200, "{answer}");
                self.record.lock().unwrap().done.insert(id);
            }
        }
    }

    /// All of a listing, oldest first.
    async fn list(&self, address: &str, agent: usize, path: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().map_or(0, |item| item["id"].as_i64().unwrap());
            let page = format!("{path}?limit=100&after={after}");
            let (status, mut page) = self.ask(address, agent, &page, None).await.unwrap();
            assert_eq!(status, 200, "{page}");
            let items = page["items"].take();
            let items = items.as_array().unwrap();
            if items.is_empty() {
                return all;
            }
            all.extend(items.iter().cloned());
        }
    }
}

pub(crate) fn number_from(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

#[test]
fn a_killed_hub_has_kept_its_promises() {
    let crashes = number_from("STOA_CRASHES").unwrap_or(3);
    let seed = number_from("STOA_CRASH_SEED").unwrap_or_else(|| {
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes).unwrap();
        u32::from_be_bytes(bytes).into()
    });
    // Past the harness, which hides what passing tests print.
    let _ = writeln!(std::io::stderr(), "crash: STOA_CRASH_SEED={seed}, {crashes} kills");
    let mut dice = Dice(seed);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let place = Place::new();
    let start = || place.start_with(&["--rate-limit", "0"]);
    let mut hub = start();
    let agents = (0..AGENTS).map(|number| {
        let name = format!("agent-{number}");
        let key = hub.json(&["agents", "create", &name, "--owner", "admin"])["key"].as_str().unwrap().to_owned();
        Agent { name, key }
    });
    let crowd = Arc::new(Crowd {
        agents: agents.collect(),
        http: http_client(),
        record: Mutex::default(),
        next: AtomicU64::new(0),
    });
    for _ in 0..crashes {
        let began = crowd.record.lock().unwrap().stored.len();
        let wait = Duration::from_millis(20 + dice.below(600));
        runtime.block_on(load_until_killed(&crowd, hub, wait, &mut dice));
        hub = start();
        runtime.block_on(check_new(&crowd, &hub.address, began));
        check_database(&place, &crowd);
    }
    runtime.block_on(check_all(&crowd, &hub.address));
    let record = crowd.record.lock().unwrap();
    let (stored, claimed, done) = (record.stored.len(), record.claimed.len(), record.done.len());
    let _ = writeln!(std::io::stderr(), "crash: {stored} messages, {claimed} claimed, {done} done, all there once");
    assert!(stored > 0);
    drop(record);
    assert_eq!(hub.stop().code, Some(0));
}

/// Lets everybody loose on a hub, and kills it.
async fn load_until_killed(crowd: &Arc<Crowd>, hub: Hub, wait: Duration, dice: &mut Dice) {
    let address = hub.address.clone();
    let mut running = JoinSet::new();
    for client in 0..SENDERS {
        let (crowd, address, dice) = (crowd.clone(), address.clone(), Dice(dice.below(u64::MAX / 2)));
        running.spawn(async move { crowd.keep_sending(&address, client, dice).await });
    }
    for agent in 0..AGENTS {
        let (crowd, address) = (crowd.clone(), address.clone());
        running.spawn(async move { crowd.keep_claiming(&address, agent).await });
    }
    // Not before something was promised, so that there is always something to check.
    let began = crowd.record.lock().unwrap().stored.len();
    while crowd.record.lock().unwrap().stored.len() == began && !running.is_empty() {
        pause(Duration::from_millis(5)).await;
    }
    pause(wait).await;
    hub.kill();
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

/// In real time: the hub is another process.
async fn pause(duration: Duration) {
    tokio::task::spawn_blocking(move || std::thread::sleep(duration)).await.unwrap();
}

/// What was promised since `began` is there, and who asks again gets the same answer.
async fn check_new(crowd: &Arc<Crowd>, address: &str, began: usize) {
    let (stored, unanswered) = {
        let mut record = crowd.record.lock().unwrap();
        (record.stored[began..].to_vec(), std::mem::take(&mut record.unanswered))
    };
    for stored in &stored {
        let path = format!("/api/messages/{}", stored.id);
        let (status, message) = crowd.ask(address, stored.attempt.agent, &path, None).await.unwrap();
        assert_eq!(status, 200, "message {} was promised: {message}", stored.id);
        assert_eq!(message["body"], *stored.attempt.body);
        if stored.attempt.key.is_some() {
            let again = crowd.send(address, &stored.attempt).await.unwrap();
            assert_eq!(again.id, stored.id, "a retry made another message");
        }
    }
    // Those who were not answered do not know. With a key they can ask again, as often as they like.
    for attempt in unanswered.iter().filter(|attempt| attempt.key.is_some()) {
        let first = crowd.send(address, attempt).await.unwrap();
        assert_eq!(crowd.send(address, attempt).await.unwrap().id, first.id);
        crowd.record.lock().unwrap().stored.push(first);
    }
}

/// What SQLite itself says about the file.
fn check_database(place: &Place, crowd: &Crowd) {
    let Some(connection) = place.sqlite() else { return };
    let text = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(text("pragma integrity_check"), "ok");
    assert_eq!(number("select count(*) from pragma_foreign_key_check"), 0);
    // An event commits with its cause, so there are as many of them.
    let messages = number("select count(*) from messages");
    assert_eq!(number("select count(*) from outbox where kind = 'message_sent'"), messages);
    // A claim is a claim with a lease, or none.
    assert_eq!(number("select count(*) from messages where (status = 'processing') <> (lease_until is not null)"), 0);
    assert!(crowd.record.lock().unwrap().stored.len() as i64 <= messages);
}

/// Everything that was ever promised, listed from the beginning.
async fn check_all(crowd: &Arc<Crowd>, address: &str) {
    let mut listed: BTreeMap<i64, Value> = BTreeMap::new();
    let mut listings = vec![(0, format!("/api/channels/{CHANNEL}/messages"))];
    for agent in 0..AGENTS {
        listings.push((agent, format!("/api/dm/{}/messages", crowd.agents[(agent + 1) % AGENTS].name)));
    }
    for (agent, path) in listings {
        let items = crowd.list(address, agent, &path).await;
        let ids: Vec<i64> = items.iter().map(|item| item["id"].as_i64().unwrap()).collect();
        assert!(ids.is_sorted_by(|earlier, later| earlier < later), "{path} is not in order");
        // On PostgreSQL a command's time is that of its beginning, before it stands in line for the conversation.
        let times: Vec<&str> = items.iter().map(|item| item["created_at"].as_str().unwrap()).collect();
        assert!(on_postgres() || times.is_sorted(), "{path} has ids that are not in the order of time");
        listed.extend(ids.iter().copied().zip(items.iter().cloned()));
    }
    let bodies: HashSet<&str> = listed.values().map(|item| item["body"].as_str().unwrap()).collect();
    assert_eq!(bodies.len(), listed.len(), "something is there twice");
    let record = crowd.record.lock().unwrap();
    let mut last: BTreeMap<(usize, i64), i64> = BTreeMap::new();
    let mut promised = record.stored.clone();
    // Those that were asked for again were sent before what came after them.
    promised.sort_by_key(|stored| stored.id);
    for stored in &promised {
        let message = listed.get(&stored.id).unwrap_or_else(|| panic!("message {} is gone", stored.id));
        assert_eq!(message["body"], *stored.attempt.body);
        assert_eq!(message["conversation_id"], stored.conversation);
        let before = last.insert((stored.attempt.client, stored.conversation), stored.id);
        assert!(before.is_none_or(|before| before < stored.id), "one client has two messages with one id");
        if stored.attempt.to.is_some() {
            let status = message["status"].as_str().unwrap();
            let expected: &[&str] = match stored.id {
                id if record.done.contains(&id) => &["done"],
                id if record.perhaps_done.contains(&id) => &["processing", "done"],
                id if record.claimed.contains(&id) => &["processing"],
                // A claim whose answer was lost in a crash is still a claim.
                _ => &["pending", "processing"],
            };
            assert!(expected.contains(&status), "message {} is {status}, not {expected:?}", stored.id);
        }
    }
}
