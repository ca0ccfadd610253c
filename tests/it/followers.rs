//! Those who follow by a number: messages come from many senders through several hubs, clients break off at any moment,
//! hubs are killed, and every follower sees each message exactly once.
//!
//! `scripts/check-followers` does this with as many messages as one likes.
#![expect(clippy::disallowed_methods, reason = "processes are killed in real time")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli_support::{Hub, Place};
use crate::freezes::draw;
use crate::support::{Client, KEY, Reply, on_postgres};

const SENDERS: usize = 16;
const FOLLOWERS: usize = 3;
/// How long a follower waits for a message that must come.
const PATIENCE: Duration = Duration::from_secs(120);
const CHANNEL: &str = "ops";

/// How much is sent, and how often a hub is killed.
struct Plan {
    messages: usize,
    kills: usize,
    seed: u64,
}

impl Plan {
    /// The environment gives the plan. Its defaults are small, because every run of the tests uses them.
    fn new() -> Self {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).unwrap();
        let size = |name: &str, default: u64| usize::try_from(number(name).unwrap_or(default)).unwrap();
        Self {
            messages: size("STOA_FOLLOW_MESSAGES", 800),
            kills: size("STOA_FOLLOW_KILLS", 1),
            seed: number("STOA_FOLLOW_SEED").unwrap_or(u64::from_le_bytes(seed)),
        }
    }
}

/// The hubs on one database, some of which may be away.
pub(crate) struct Hubs {
    place: Place,
    clients: Mutex<Vec<Client>>,
}

impl Hubs {
    pub(crate) fn new(count: usize) -> (Arc<Self>, Vec<Hub>) {
        let place = Place::empty();
        let running: Vec<Hub> = (0..count).map(|number| start(&place, number)).collect();
        let clients = running.iter().map(client_of).collect();
        (Arc::new(Self { place, clients: Mutex::new(clients) }), running)
    }

    /// A caller of one of them.
    pub(crate) fn any(&self, dice: &mut u64, key: &str) -> Client {
        let clients = self.clients.lock().unwrap();
        let number = usize::try_from(draw(dice, clients.len() as u64)).unwrap();
        clients[number].bearer(key)
    }

    /// Kills a hub and starts it again.
    fn kill(&self, running: &mut [Hub], number: usize) {
        running[number].kill_now();
        running[number] = start(&self.place, number);
        self.clients.lock().unwrap()[number] = client_of(&running[number]);
    }
}

fn start(place: &Place, number: usize) -> Hub {
    let data = place.root().join(format!("data{number}"));
    let mut command = place.serve_in(&data, &["--rate-limit", "0", "--database-connections", "6"]);
    Hub::start(command.env("STOA_KEY", KEY), data)
}

fn client_of(hub: &Hub) -> Client {
    Client::new(format!("http://{}", hub.address))
}

/// Where a message goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Goal {
    Inbox(usize),
    Channel,
    Thread,
}

/// Sends until `left` is used up. Each message has a key, so it may be sent again when nobody knows whether it arrived.
async fn send(
    hubs: Arc<Hubs>,
    sender: usize,
    key: String,
    mut dice: u64,
    root: i64,
    left: Arc<AtomicUsize>,
) -> Vec<(Goal, String)> {
    let mut sent = Vec::new();
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        let body = format!("sender{sender}/{}", sent.len());
        let place = match draw(&mut dice, 10) {
            number @ 0..=5 => Goal::Inbox(usize::try_from(number).unwrap() % FOLLOWERS),
            6..=8 => Goal::Channel,
            _ => Goal::Thread,
        };
        let message = match place {
            Goal::Inbox(number) => json!({"to": format!("follower{number}"), "body": body}),
            Goal::Channel => json!({"channel": CHANNEL, "body": body}),
            Goal::Thread => json!({"channel": CHANNEL, "body": body, "reply_to": root}),
        };
        loop {
            let call = hubs.any(&mut dice, &key).post("/api/messages", &message).header("idempotency-key", &body);
            match call.may_fail().attempt().await {
                Some(reply) if reply.code() == 201 => break,
                // Another try at the same key may still be under way.
                Some(reply) => assert!([409, 503].contains(&reply.code()), "{reply:?}"),
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
        sent.push((place, body));
    }
    sent
}

/// A message as a follower saw it.
#[derive(Clone, Debug)]
struct Seen {
    id: i64,
    body: String,
    from: String,
    created_at: String,
}

impl Seen {
    /// A message as REST or as a tool shows it.
    fn new(message: &Value) -> Self {
        let text = |rest: &str, tool: &str| {
            let text = message.pointer(rest).or(message.pointer(tool)).and_then(Value::as_str);
            text.unwrap_or_else(|| panic!("no {rest}: {message}")).to_owned()
        };
        Self {
            id: message["id"].as_i64().unwrap(),
            body: text("/body", "/content"),
            from: text("/from/name", "/from"),
            created_at: text("/created_at", "/at"),
        }
    }
}

/// How many messages there will be, as soon as that is known.
type Total = Arc<Mutex<Option<usize>>>;

/// One who asks for what is new again and again.
struct Follower {
    hubs: Arc<Hubs>,
    key: String,
    dice: u64,
    seen: Vec<Seen>,
    /// Answers that were not waited for.
    breaks: usize,
}

impl Follower {
    fn new(hubs: &Arc<Hubs>, key: &str, dice: u64) -> Self {
        Self { hubs: hubs.clone(), key: key.to_owned(), dice, seen: Vec::new(), breaks: 0 }
    }

    /// An answer with 200, unless the client broke off or the hub went away.
    async fn ask(&mut self, call: impl FnOnce(&Client) -> crate::support::Call) -> Option<Reply> {
        let client = self.hubs.any(&mut self.dice, &self.key);
        let attempt = call(&client).may_fail().attempt();
        let reply = if draw(&mut self.dice, 5) == 0 {
            let patience = Duration::from_micros(draw(&mut self.dice, 20_000));
            tokio::time::timeout(patience, attempt).await.ok().flatten()
        } else {
            attempt.await
        };
        if reply.is_none() {
            self.breaks += 1;
            // The hub may be on its way back.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        reply.filter(|reply| {
            assert!([200, 503].contains(&reply.code()), "{reply:?}");
            reply.code() == 200
        })
    }

    /// Goes on until everything has come, and then looks once more.
    async fn follow(mut self, total: Total, is_mcp: impl Fn(u64) -> bool) -> Self {
        let (mut cursor, mut last_progress) = (Value::Null, Instant::now());
        loop {
            let is_complete = total.lock().unwrap().is_some_and(|total| self.seen.len() >= total);
            let wait = if is_complete { 0 } else { 2 };
            let by_mcp = is_mcp(draw(&mut self.dice, 2));
            let limit = 1 + draw(&mut self.dice, 30);
            let cursor_in = cursor.clone();
            let reply = self.ask(|client| match (by_mcp, cursor_in) {
                (true, cursor) => {
                    let arguments = match cursor {
                        Value::Null => json!({"timeout_seconds": wait}),
                        cursor => json!({"timeout_seconds": wait, "cursor": cursor}),
                    };
                    client.mcp("tools/call", json!({"name": "wait_for_messages", "arguments": arguments}))
                }
                (false, Value::Null) => client.get(&format!("/api/inbox?wait={wait}&limit={limit}&full=true")),
                (false, cursor) => {
                    let cursor = cursor.as_str().unwrap();
                    client.get(&format!("/api/inbox?wait={wait}&limit={limit}&full=true&cursor={cursor}"))
                }
            });
            let Some(reply) = reply.await else { continue };
            let page = if by_mcp { reply.tool_answer() } else { reply.json() };
            let items = page["items"].as_array().unwrap();
            self.seen.extend(items.iter().map(Seen::new));
            cursor = page["next_cursor"].clone();
            if !items.is_empty() {
                last_progress = Instant::now();
            } else if is_complete {
                return self;
            }
            assert!(last_progress.elapsed() < PATIENCE, "a follower waits in vain after {} messages", self.seen.len());
        }
    }

    /// The same for a channel, whose pages begin after the last id.
    async fn follow_channel(mut self, total: Total, first: i64) -> Self {
        let mut last_progress = Instant::now();
        loop {
            let is_complete = total.lock().unwrap().is_some_and(|total| self.seen.len() >= total);
            let (limit, last) = (1 + draw(&mut self.dice, 30), self.seen.last().map_or(first, |message| message.id));
            let path = format!("/api/channels/{CHANNEL}/messages?after={last}&limit={limit}");
            let Some(reply) = self.ask(|client| client.get(&path)).await else { continue };
            let items = reply.json()["items"].as_array().unwrap().clone();
            self.seen.extend(items.iter().map(Seen::new));
            if !items.is_empty() {
                last_progress = Instant::now();
            } else if is_complete {
                return self;
            } else {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert!(last_progress.elapsed() < PATIENCE, "a follower waits in vain after {} messages", self.seen.len());
        }
    }
}

/// The ids of the channel's messages in the order of a stream that begins after `last_id`.
async fn follow_stream(hubs: Arc<Hubs>, key: String, mut dice: u64, mut last_id: String, total: Total) -> Vec<i64> {
    let (mut seen, mut last_progress) = (Vec::new(), Instant::now());
    let is_complete = |seen: &[i64]| total.lock().unwrap().is_some_and(|total| seen.len() >= total);
    loop {
        let Some(mut stream) = hubs.any(&mut dice, &key).try_events_after(&last_id).await else {
            tokio::time::sleep(Duration::from_millis(2)).await;
            continue;
        };
        // Some streams end after a few frames, by the client's wish.
        let frames = if draw(&mut dice, 4) == 0 { draw(&mut dice, 50) } else { u64::MAX };
        let mut came = 0;
        while came < frames {
            if is_complete(&seen) {
                return seen;
            }
            assert!(last_progress.elapsed() < PATIENCE, "a stream waits in vain after {} messages", seen.len());
            // How many there will be becomes known while it waits.
            let Ok(frame) = tokio::time::timeout(Duration::from_millis(20), stream.try_frame()).await else { continue };
            let Ok(Some(frame)) = frame else { break };
            came += 1;
            if frame.event == "new_message" && frame.data["channel"] == CHANNEL {
                seen.push(frame.data["message_id"].as_i64().unwrap());
                last_progress = Instant::now();
            }
        }
        last_id = stream.last_id;
    }
}

/// Each message once and in the order of ids, those of each sender in their order, and those of each conversation in the
/// order of their times.
fn assert_complete(what: &str, seen: &[Seen], expected: &BTreeSet<&str>, is_one_conversation: bool, seed: u64) {
    let bodies: BTreeSet<&str> = seen.iter().map(|message| message.body.as_str()).collect();
    let missing: Vec<_> = expected.difference(&bodies).take(5).collect();
    assert!(missing.is_empty(), "{what} missed {missing:?} (seed {seed})");
    assert!(bodies == *expected && seen.len() == expected.len(), "{what} saw messages twice (seed {seed})");
    assert!(seen.is_sorted_by(|before, after| before.id < after.id), "{what}: ids are out of order (seed {seed})");
    let mut last_numbers = BTreeMap::<&str, usize>::new();
    let mut last_times = BTreeMap::<&str, &Seen>::new();
    for message in seen {
        let (sender, number) = message.body.split_once('/').unwrap();
        assert_eq!(message.from, sender);
        let number = number.parse().unwrap();
        let before = last_numbers.insert(sender, number);
        assert!(before < Some(number), "{what}: {sender}: {number} comes after {before:?} (seed {seed})");
        let conversation = if is_one_conversation { "" } else { sender };
        let before = last_times.insert(conversation, message);
        let is_in_order = before.is_none_or(|before| before.created_at <= message.created_at);
        assert!(is_in_order, "{what}: {before:?} is later than {message:?} (seed {seed})");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_see_each_message_once() {
    let plan = Plan::new();
    println!("seed {}", plan.seed);
    let began = Instant::now();
    let (hubs, mut running) = Hubs::new(if on_postgres() { 3 } else { 1 });
    running[0].create_user("ada");
    running[0].json(&["channels", "create", CHANNEL, "--owner", "ada"]);
    let make = |name: String| {
        running[0].json(&["agents", "create", &name, "--owner", "ada"])["key"].as_str().unwrap().to_owned()
    };
    let senders: Vec<String> = (0..SENDERS).map(|number| make(format!("sender{number}"))).collect();
    let followers: Vec<String> = (0..FOLLOWERS).map(|number| make(format!("follower{number}"))).collect();
    let mut dice = plan.seed;
    // Senders join with their first message.
    for key in &followers {
        let join = hubs.any(&mut dice, key).post(&format!("/api/channels/{CHANNEL}/join"), &json!({}));
        join.await.ok();
    }
    let root = hubs.any(&mut dice, &senders[0]).post("/api/messages", &json!({"channel": CHANNEL, "body": "root"}));
    let root = root.await.status(201).json()["id"].as_i64().unwrap();
    let stream_start = hubs.any(&mut dice, &followers[0]).events().await.last_id;

    let left = Arc::new(AtomicUsize::new(plan.messages));
    let sending: Vec<_> = senders
        .iter()
        .enumerate()
        .map(|(number, key)| {
            tokio::spawn(send(hubs.clone(), number, key.clone(), draw(&mut dice, u64::MAX), root, left.clone()))
        })
        .collect();
    let totals: Vec<Total> = (0..=FOLLOWERS).map(|_| Total::default()).collect();
    let following: Vec<_> = followers
        .iter()
        .enumerate()
        .map(|(number, key)| {
            let follower = Follower::new(&hubs, key, draw(&mut dice, u64::MAX));
            // The first by REST, the second by MCP, the third by both in turn, with the same cursor.
            let is_mcp = move |drawn: u64| number == 1 || (number == 2 && drawn == 0);
            tokio::spawn(follower.follow(totals[number].clone(), is_mcp))
        })
        .collect();
    let of_channel = Follower::new(&hubs, &followers[0], draw(&mut dice, u64::MAX));
    let of_channel = tokio::spawn(of_channel.follow_channel(totals[FOLLOWERS].clone(), root));
    let of_stream = follow_stream(
        hubs.clone(),
        followers[0].clone(),
        draw(&mut dice, u64::MAX),
        stream_start,
        totals[FOLLOWERS].clone(),
    );
    let of_stream = tokio::spawn(of_stream);

    for kill in 1..=plan.kills {
        let when = plan.messages - plan.messages * kill / (plan.kills + 1);
        while left.load(Ordering::Relaxed) > when {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let number = usize::try_from(draw(&mut dice, running.len() as u64)).unwrap();
        hubs.kill(&mut running, number);
    }
    let mut sent = Vec::new();
    for sender in sending {
        sent.extend(sender.await.unwrap());
    }
    let expected = |is_wanted: &dyn Fn(Goal) -> bool| -> BTreeSet<&str> {
        sent.iter().filter(|(goal, _)| is_wanted(*goal)).map(|(_, body)| body.as_str()).collect()
    };
    let of_inboxes: Vec<_> = (0..FOLLOWERS).map(|number| expected(&|goal| goal == Goal::Inbox(number))).collect();
    let in_channel = expected(&|goal| !matches!(goal, Goal::Inbox(_)));
    for (total, expected) in totals.iter().zip(of_inboxes.iter().chain([&in_channel])) {
        *total.lock().unwrap() = Some(expected.len());
    }
    let mut breaks = 0;
    for (number, follower) in following.into_iter().enumerate() {
        let follower = follower.await.unwrap();
        breaks += follower.breaks;
        assert_complete(&format!("follower {number}"), &follower.seen, &of_inboxes[number], false, plan.seed);
    }
    let of_channel = of_channel.await.unwrap();
    assert_complete("the channel", &of_channel.seen, &in_channel, true, plan.seed);
    let ids: Vec<i64> = of_channel.seen.iter().map(|message| message.id).collect();
    assert!(of_stream.await.unwrap() == ids, "a stream has another order than the channel (seed {})", plan.seed);
    let figures = json!({
        "seed": plan.seed,
        "hubs": running.len(),
        "messages": sent.len(),
        "kills": plan.kills,
        "breaks": breaks + of_channel.breaks,
        "seconds": began.elapsed().as_secs(),
    });
    println!("{figures}");
}
