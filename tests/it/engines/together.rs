//! Eight clients use one hub at the same time. When they are quiet, everything has to be as if they had waited for each other:
//! each message was claimed once, followers and streams got each message once and in order, and what is unread adds up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::dice::Dice;
use super::{Plan, from_environment, text};
use crate::support::{Agent, Client, EventStream, TestHub, eventually, items};

const CLIENTS: usize = 8;
/// Messages that all clients try to claim with a reaction.
const TASKS: usize = 5;
/// What followers get when everything has been sent.
const END: &str = "the end";
/// The hub counts unread messages up to this.
const MAX_UNREAD: usize = 100;

/// What one client did, as far as the hub confirmed it.
#[derive(Default)]
struct Done {
    /// Ids of sent messages, by where they went.
    sent: Vec<(&'static str, i64)>,
    claimed: Vec<i64>,
    released: Vec<i64>,
    settled: Vec<i64>,
    /// Tasks that the client took, and those that it gave back.
    taken: Vec<i64>,
    given_back: Vec<i64>,
}

/// A client, and everything it needs to know.
struct Caller {
    name: String,
    client: Client,
    /// Somebody whose inbox several clients work on.
    worker: Client,
    tasks: Vec<i64>,
    dice: Dice,
    done: Done,
}

fn id(message: &Value) -> i64 {
    message["id"].as_i64().unwrap()
}

impl Caller {
    async fn run(mut self, is_over: Arc<AtomicBool>, requests: Arc<AtomicUsize>) -> (String, Done) {
        while !is_over.load(Ordering::Relaxed) {
            match self.dice.below(10) {
                0 => self.send("worker").await,
                1 => self.send("poller").await,
                2 => self.send("waiter").await,
                3..5 => self.post().await,
                5 | 6 => self.work().await,
                7 => self.take().await,
                8 => self.read().await,
                _ => self.delete().await,
            }
            requests.fetch_add(1, Ordering::Relaxed);
        }
        (self.name, self.done)
    }

    async fn send(&mut self, to: &'static str) {
        let body =
            format!("{} {}", self.name, text::body(&mut self.dice, &[]).replace(['\0', text::LONE_SURROGATE], ""));
        let priority = 1 + self.dice.below(10);
        let sent = self.client.send(json!({"to": to, "body": body, "priority": priority})).await;
        self.done.sent.push((to, id(&sent)));
    }

    /// Every few messages name a follower, which puts a copy into an inbox.
    async fn post(&mut self) {
        let names = if self.dice.chance(20) { " @poller @waiter" } else { "" };
        let sent = self.client.say("ops", &format!("{}{names}", self.name)).await;
        self.done.sent.push(("ops", id(&sent)));
    }

    /// Claims some work, and finishes it or gives it back.
    async fn work(&mut self) {
        let claimed = self.worker.claim(json!({"limit": 1 + self.dice.below(3)})).await;
        for message in claimed {
            self.done.claimed.push(id(&message));
            match self.dice.below(4) {
                0 => {
                    self.worker.settle(&message, "release", json!({})).await.ok();
                    self.done.released.push(id(&message));
                }
                1 => {}
                _ => {
                    self.worker.settle(&message, "done", json!({})).await.ok();
                    self.done.settled.push(id(&message));
                }
            }
        }
    }

    /// Takes a task, or gives back one that this client has.
    async fn take(&mut self) {
        let task = *self.dice.one_of(&self.tasks).unwrap();
        let reply = self.client.react(&json!({"id": task}), "in_progress").await;
        if reply.code() == 409 {
            reply.problem(409, "already_claimed");
        } else if reply.ok().json()["action"] == "added" {
            self.done.taken.push(task);
        } else {
            self.done.given_back.push(task);
        }
    }

    async fn read(&mut self) {
        let of_channel = self.done.sent.iter().filter(|(to, _)| *to == "ops").map(|(_, id)| *id);
        let own: Vec<i64> = of_channel.collect();
        let mut request = json!({"channel": "ops"});
        if let Some(message) = self.dice.recent(&own) {
            request["message_id"] = json!(message);
        }
        self.client.mark_read(request).await;
    }

    async fn delete(&mut self) {
        let own: Vec<i64> = self.done.sent.iter().filter(|(to, _)| *to == "ops").map(|(_, id)| *id).collect();
        if let Some(message) = self.dice.recent(&own).filter(|_| self.dice.chance(20)) {
            self.client.take_back(&json!({"id": message})).await.ok();
        }
    }
}

/// Follows an inbox with long polls, until the end comes.
async fn poll(client: Client) -> Vec<i64> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("/api/inbox?wait=50&limit=7{cursor}")).await.ok().json();
        for message in page["items"].as_array().unwrap() {
            seen.push(id(message));
            if message["body"] == END {
                return seen;
            }
        }
        cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
    }
}

/// The same with the tool of MCP.
async fn wait(client: Client) -> Vec<i64> {
    let (mut seen, mut arguments) = (Vec::new(), json!({"timeout_seconds": 50}));
    loop {
        let page = client.tool("wait_for_messages", arguments.clone()).await;
        for message in page["items"].as_array().unwrap() {
            seen.push(id(message));
            if message["content"] == END || message["preview"] == END {
                return seen;
            }
        }
        arguments["cursor"] = page["next_cursor"].clone();
    }
}

type Seen = Arc<Mutex<Vec<i64>>>;

/// Notes the messages of the channel that a stream tells of. A hub ends the stream of a client that is too slow, which then
/// continues where it was.
async fn listen(client: Client, mut stream: EventStream, seen: Seen) {
    loop {
        match stream.frame().await {
            Some(frame) if frame.event == "new_message" && frame.data["channel"] == "ops" => {
                seen.lock().unwrap().push(frame.data["message_id"].as_i64().unwrap());
            }
            Some(_) => {}
            None => stream = client.events_after(&stream.last_id).await,
        }
    }
}

/// All messages of the channel, oldest first.
async fn channel_messages(client: &Client) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    loop {
        let last = found.last().map_or(0, id);
        let page = items(client.get(&format!("/api/channels/ops/messages?limit=200&after={last}")).await.ok());
        if page.is_empty() {
            return found;
        }
        found.extend(page);
    }
}

async fn whole_inbox(client: &Client) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("/api/inbox?status=all&limit=200{cursor}")).await.ok().json();
        found.extend(page["items"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_at_the_same_time_lose_and_repeat_nothing() {
    let seed = Plan::new().seed;
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "ops"})).await;
    let mut agents: BTreeMap<String, Agent> = BTreeMap::new();
    for name in (0..CLIENTS).map(|n| format!("client{n}")).chain(["worker", "poller", "waiter"].map(str::to_owned)) {
        let agent = ada.agent(&name).await;
        agent.post("/api/channels/ops/join", &json!({})).await.ok();
        agents.insert(name, agent);
    }
    let mut tasks = Vec::new();
    for n in 0..TASKS {
        tasks.push(id(&ada.say("general", &format!("task {n}")).await));
    }
    let (poller, waiter) = (agents["poller"].client.clone(), agents["waiter"].client.clone());
    let (polled, waited) = (tokio::spawn(poll(poller.clone())), tokio::spawn(wait(waiter.clone())));
    let mut streams = Vec::new();
    for client in [&ada.client, &poller, &waiter] {
        let (stream, seen) = (client.events().await, Seen::default());
        let listening = tokio::spawn(listen(client.clone(), stream, seen.clone()));
        streams.push((seen, listening));
    }

    let (is_over, requests) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let name = format!("client{n}");
            let caller = Caller {
                client: agents[&name].client.clone(),
                worker: agents["worker"].client.clone(),
                tasks: tasks.clone(),
                dice: Dice::new(seed.wrapping_add(n as u64)),
                done: Done::default(),
                name,
            };
            tokio::spawn(caller.run(is_over.clone(), requests.clone()))
        })
        .collect();
    pass_time(Duration::from_secs(from_environment("STOA_ENGINES_SECONDS", 10)), &requests).await;
    is_over.store(true, Ordering::Relaxed);
    let mut all: BTreeMap<String, Done> = BTreeMap::new();
    for caller in callers {
        let (name, done) = caller.await.unwrap();
        all.insert(name, done);
    }
    ada.dm("poller", END).await;
    ada.dm("waiter", END).await;
    println!("seed {seed}: {} operations by {CLIENTS} clients", requests.load(Ordering::Relaxed));

    assert_claims(&whole_inbox(&agents["worker"]).await, &all);
    for task in &tasks {
        assert_taken_once(&ada, *task, &all).await;
    }
    let said = channel_messages(&ada).await;
    assert_eq!(said.iter().map(id).collect::<BTreeSet<_>>(), sent_to(&all, "ops"), "the channel");
    for (name, follower, seen) in
        [("poller", &poller, polled.await.unwrap()), ("waiter", &waiter, waited.await.unwrap())]
    {
        let stored: Vec<i64> = whole_inbox(follower).await.iter().map(id).collect();
        let known = sent_to(&all, name);
        assert!(known.iter().all(|id| stored.contains(id)), "{name} lost a message that was confirmed");
        let of_deleted = |id: &&i64| !seen.contains(id);
        let missed: Vec<_> = stored.iter().filter(of_deleted).collect();
        assert_follows(name, follower, &seen, &stored, &missed).await;
    }
    let ids: Vec<i64> = said.iter().map(id).collect();
    for (number, (seen, listening)) in streams.iter().enumerate() {
        eventually("a stream has shown everything", async || {
            seen.lock().unwrap().len() >= ids.len() || listening.is_finished()
        })
        .await;
        assert!(*seen.lock().unwrap() == ids, "stream {number} lost, repeated or reordered messages (seed {seed})");
        listening.abort();
    }
    for agent in agents.values() {
        assert_unread(agent, &said).await;
    }
    hub.finish().await;
}

/// Waits in real time, as the clients do.
#[expect(clippy::disallowed_methods, reason = "clients run in real time; nothing depends on how far they come")]
async fn pass_time(span: Duration, requests: &AtomicUsize) {
    let start = Instant::now();
    while start.elapsed() < span || requests.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn sent_to(all: &BTreeMap<String, Done>, to: &str) -> BTreeSet<i64> {
    let sent = all.values().flat_map(|done| &done.sent);
    sent.filter(|(place, _)| *place == to).map(|(_, id)| *id).collect()
}

/// Each message was claimed once more than it was given back, if anybody still has it or has finished it.
fn assert_claims(inbox: &[Value], all: &BTreeMap<String, Done>) {
    let count =
        |of: fn(&Done) -> &Vec<i64>, message: i64| all.values().flat_map(of).filter(|id| **id == message).count();
    assert_eq!(inbox.iter().map(id).collect::<BTreeSet<_>>(), sent_to(all, "worker"), "the inbox of the worker");
    for message in inbox {
        let number = id(message);
        let claims = count(|done| &done.claimed, number);
        let (released, settled) = (count(|done| &done.released, number), count(|done| &done.settled, number));
        let held = usize::from(message["status"] == "processing");
        assert!(settled <= 1 && claims == released + settled + held, "{claims} claims, {released} released: {message}");
        assert_eq!(settled == 1, message["status"] == "done", "{message}");
    }
}

/// At most one has a task, and that is who the hub confirmed.
async fn assert_taken_once(reader: &Client, task: i64, all: &BTreeMap<String, Done>) {
    let shown = reader.message(&json!({"id": task})).await;
    let holders: Vec<_> =
        shown["reactions"].as_array().unwrap().iter().map(|one| one["from"]["name"].clone()).collect();
    let has_it = |done: &Done| {
        let count = |tasks: &[i64]| tasks.iter().filter(|known| **known == task).count();
        count(&done.taken) - count(&done.given_back) == 1
    };
    let confirmed: Vec<_> = all.iter().filter(|(_, done)| has_it(done)).map(|(name, _)| json!(name)).collect();
    assert!(holders == confirmed && holders.len() <= 1, "{holders:?} hold a task, and {confirmed:?} were told so");
}

/// A follower saw everything once and in order. What was deleted before it looked, it may have missed.
async fn assert_follows(name: &str, follower: &Client, seen: &[i64], stored: &[i64], missed: &[&i64]) {
    assert!(seen.is_sorted_by(|one, next| one < next), "{name} got messages twice or out of order: {seen:?}");
    let extra: Vec<_> = seen.iter().filter(|id| !stored.contains(id)).collect();
    for id in missed.iter().copied().chain(extra) {
        let message = follower.message(&json!({"id": id})).await;
        assert!(!message["deleted_at"].is_null(), "{name} saw and has different messages: {message}");
    }
}

/// What others said after the message that somebody has read last, and did not delete.
async fn assert_unread(agent: &Agent, said: &[Value]) {
    let unread = agent.get("/api/notifications/unread").await.ok().json();
    let entry = unread.as_array().unwrap().iter().find(|entry| entry["name"] == "ops").unwrap();
    let read = entry["last_read_message_id"].as_i64().unwrap_or(0);
    let is_unread = |message: &&Value| {
        id(message) > read && message["from"]["name"] != agent.name && message["deleted_at"].is_null()
    };
    let count = said.iter().filter(is_unread).count().min(MAX_UNREAD);
    assert_eq!(entry["unread_count"], count, "{} after {read}", agent.name);
}
