//! Hubs that freeze: one of three stops for a while, as a paused container does, and the others go on.
//!
//! `scripts/check-freezes` does this as often and for as long as one likes, and shows the figures.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "processes freeze in real time, and developers read the figures"
)]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli_support::{Hub, Place};
use crate::support::{Client, EventStream, KEY, Reply, on_postgres};

const HUBS: usize = 3;
const CLIENTS: usize = 9;
/// Every so many messages one names somebody, which takes another path through the hub.
const NAMES_EVERY: usize = 7;

/// How often and for how long hubs freeze.
struct Plan {
    freezes: u64,
    span: Duration,
    /// What the moments and the hubs are drawn from.
    seed: u64,
    /// How long a request to a hub that works may take, and a message on its way from one to another.
    answer_within: Duration,
    deliver_within: Duration,
}

impl Plan {
    /// The environment gives the plan. Its defaults are short, because every run of the tests uses them.
    fn new() -> Self {
        let number =
            |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).unwrap();
        // A busy machine is slow without any freeze.
        let patience_ms = 30_000;
        Self {
            freezes: number("STOA_FREEZES", 3),
            span: Duration::from_millis(number("STOA_FREEZE_MS", 600)),
            seed: number("STOA_FREEZE_SEED", u64::from_le_bytes(seed)),
            answer_within: Duration::from_millis(number("STOA_FREEZE_ANSWER_MS", patience_ms)),
            deliver_within: Duration::from_millis(number("STOA_FREEZE_DELIVER_MS", patience_ms)),
        }
    }
}

/// Numbers that look random and are the same for the same seed.
pub(crate) fn draw(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

#[derive(Clone, Copy)]
struct Freeze {
    hub: usize,
    from: Instant,
    to: Instant,
}

/// What became of one message.
struct Sent {
    hub: usize,
    body: String,
    from: Instant,
    to: Instant,
    /// None if the connection broke.
    status: Option<u16>,
    id: Option<i64>,
}

fn signal(hub: &Hub, name: &str) {
    assert!(Command::new("kill").args([name, &hub.pid().to_string()]).status().unwrap().success());
}

/// Sends one message after another until `is_over`.
async fn send(client: Client, hub: usize, name: String, is_over: Arc<AtomicBool>) -> Vec<Sent> {
    let mut sent = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let number = sent.len();
        let names = if number % NAMES_EVERY == 0 { " @agent0" } else { "" };
        let body = format!("{name}/{number}{names}");
        let from = Instant::now();
        let call = client.post("/api/messages", &json!({"channel": "ops", "body": body})).may_fail();
        let reply = call.attempt().await;
        let id = reply.as_ref().filter(|reply| reply.code() == 201).map(|reply| reply.json()["id"].as_i64().unwrap());
        // A hub that was frozen for long hangs up, and nobody knows whether it stored the message.
        let status = reply.as_ref().map(Reply::code);
        sent.push(Sent { hub, body, from, to: Instant::now(), status, id });
    }
    sent
}

/// The messages of a stream, each with the moment at which it came.
type Seen = Arc<Mutex<Vec<(i64, Instant)>>>;

async fn follow(client: Client, mut stream: EventStream, seen: Seen) {
    loop {
        let Some(frame) = stream.frame().await else {
            // After a long freeze a hub has more to send than it keeps for a stream, and ends it.
            stream = client.events_after(&stream.last_id).await;
            continue;
        };
        if frame.event == "new_message" && frame.data["channel"] == "ops" {
            seen.lock().unwrap().push((frame.data["message_id"].as_i64().unwrap(), Instant::now()));
        }
    }
}

async fn all_messages(client: &Client) -> Vec<(i64, String)> {
    let mut found: Vec<(i64, String)> = Vec::new();
    loop {
        let last = found.last().map_or(0, |(id, _)| *id);
        let page = client.get(&format!("/api/channels/ops/messages?limit=200&after={last}")).await.ok().json();
        let items = page["items"].as_array().unwrap();
        if items.is_empty() {
            return found;
        }
        for message in items {
            found.push((message["id"].as_i64().unwrap(), message["body"].as_str().unwrap().to_owned()));
        }
    }
}

fn start_hubs(place: &Place) -> Vec<Hub> {
    let start = |number: usize| {
        let data = place.root().join(format!("data{number}"));
        let mut command = place.serve_in(&data, &["--rate-limit", "0", "--database-connections", "6"]);
        Hub::start(command.env("STOA_KEY", KEY), data)
    };
    (0..HUBS).map(start).collect()
}

fn keys(hub: &Hub) -> Vec<String> {
    hub.create_user("ada");
    hub.json(&["channels", "create", "ops", "--owner", "ada"]);
    let create = |number| hub.json(&["agents", "create", &format!("agent{number}"), "--owner", "ada"]);
    (0..CLIENTS).map(|number| create(number)["key"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_hub_stops_no_other() {
    if !on_postgres() {
        return;
    }
    let plan = Plan::new();
    let place = Place::empty();
    let hubs = start_hubs(&place);
    let keys = keys(&hubs[0]);
    let clients: Vec<Client> = hubs.iter().map(|hub| Client::new(format!("http://{}", hub.address))).collect();
    for key in &keys {
        clients[0].bearer(key).post("/api/channels/ops/join", &json!({})).await.ok();
    }
    let mut seen = Vec::<Seen>::new();
    let mut followers = Vec::new();
    for client in &clients {
        let follower = client.bearer(&keys[0]);
        let stream = follower.events().await;
        seen.push(Seen::default());
        followers.push(tokio::spawn(follow(follower, stream, seen[seen.len() - 1].clone())));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let senders: Vec<_> = keys
        .iter()
        .enumerate()
        .map(|(number, key)| {
            let hub = number % HUBS;
            tokio::spawn(send(clients[hub].bearer(key), hub, format!("client{number}"), is_over.clone()))
        })
        .collect();

    let freezes = freeze(&hubs, &plan).await;
    is_over.store(true, Ordering::Relaxed);
    let mut sent = Vec::new();
    for sender in senders {
        sent.extend(sender.await.unwrap());
    }
    let stored = all_messages(&clients[0].bearer(&keys[0])).await;
    let seed = plan.seed;
    assert_stored_once(&sent, &stored, seed);
    let ids: Vec<i64> = stored.iter().map(|(id, _)| *id).collect();
    for (number, seen) in seen.iter().enumerate() {
        // Each follower fails by itself when nothing comes for a long time.
        while seen.lock().unwrap().len() < ids.len() && !followers[number].is_finished() {
            tokio::task::yield_now().await;
        }
        let of_stream: Vec<i64> = seen.lock().unwrap().iter().map(|(id, _)| *id).collect();
        assert!(of_stream == ids, "stream {number} lost, doubled or reordered messages (seed {seed})");
    }
    report(&plan, &freezes, &sent, &seen);
    followers.iter().for_each(tokio::task::JoinHandle::abort);
}

async fn freeze(hubs: &[Hub], plan: &Plan) -> Vec<Freeze> {
    let mut seed = plan.seed;
    let mut freezes = Vec::new();
    for _ in 0..plan.freezes {
        let (hub, pause_us) = (draw(&mut seed, HUBS as u64), draw(&mut seed, 400_000));
        let hub = usize::try_from(hub).unwrap();
        tokio::time::sleep(Duration::from_micros(pause_us)).await;
        let from = Instant::now();
        signal(&hubs[hub], "-STOP");
        tokio::time::sleep(plan.span).await;
        signal(&hubs[hub], "-CONT");
        freezes.push(Freeze { hub, from, to: Instant::now() });
    }
    freezes
}

/// What was answered is there once, what was not is there at most once, and each client's messages are in its order.
fn assert_stored_once(sent: &[Sent], stored: &[(i64, String)], seed: u64) {
    let mut counts = BTreeMap::<&str, usize>::new();
    for (_, body) in stored {
        *counts.entry(body).or_default() += 1;
    }
    assert!(counts.values().all(|count| *count == 1), "a message is stored twice (seed {seed})");
    let places: BTreeMap<i64, &str> = stored.iter().map(|(id, body)| (*id, body.as_str())).collect();
    for message in sent {
        let is_kept = message.id.is_none_or(|id| places.get(&id) == Some(&message.body.as_str()));
        assert!(is_kept, "{} was answered and is lost (seed {seed})", message.body);
    }
    let mut last = BTreeMap::<&str, usize>::new();
    for (_, body) in stored {
        let (client, rest) = body.split_once('/').unwrap();
        let number: usize = rest.split(' ').next().unwrap().parse().unwrap();
        if let Some(before) = last.insert(client, number) {
            assert!(before < number, "{client}: {number} comes after {before} (seed {seed})");
        }
    }
}

/// Compares what took longest at the hubs that worked with what it may take.
fn report(plan: &Plan, freezes: &[Freeze], sent: &[Sent], seen: &[Seen]) {
    let was_frozen = |hub: usize, from: Instant, to: Instant| {
        freezes.iter().any(|freeze| freeze.hub == hub && freeze.from <= to && freeze.to >= from)
    };
    let during = |from: Instant, to: Instant| freezes.iter().any(|freeze| freeze.from <= to && freeze.to >= from);
    let mut answers: Vec<Duration> = Vec::new();
    let mut delays: Vec<Duration> = Vec::new();
    let mut refused = BTreeMap::<String, usize>::new();
    let arrivals: Vec<BTreeMap<i64, Instant>> =
        seen.iter().map(|seen| seen.lock().unwrap().iter().copied().collect()).collect();
    for message in sent.iter().filter(|message| !was_frozen(message.hub, message.from, message.to)) {
        answers.push(message.to - message.from);
        let Some(id) = message.id else {
            *refused.entry(format!("{:?}", message.status)).or_default() += 1;
            continue;
        };
        for (hub, arrivals) in arrivals.iter().enumerate() {
            let arrived = arrivals[&id];
            if !was_frozen(hub, message.from, arrived) && during(message.from, arrived) {
                delays.push(arrived.saturating_duration_since(message.to));
            }
        }
    }
    let (slowest, latest) = (answers.iter().max().copied(), delays.iter().max().copied());
    let figures: Value = json!({
        "seed": plan.seed,
        "freezes": freezes.len(),
        "freeze_ms": plan.span.as_millis() as u64,
        "messages": sent.len(),
        "answered_by_working_hubs": answers.len(),
        "refused_by_working_hubs": refused,
        "slowest_answer_ms": slowest.map(|time| time.as_millis() as u64),
        "latest_delivery_ms_during_a_freeze": latest.map(|time| time.as_millis() as u64),
    });
    println!("{figures}");
    assert!(slowest.is_some_and(|time| time <= plan.answer_within), "a hub that worked was too slow: {figures}");
    assert!(latest.is_none_or(|time| time <= plan.deliver_within), "a message came too late: {figures}");
    assert!(refused.is_empty(), "a hub that worked refused messages: {figures}");
}
