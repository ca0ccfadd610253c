//! A hub that is killed while it sends to webhooks loses no delivery, and repeats one only as it was.
//!
//! `scripts/check-webhooks` kills more often than a test run has time for.
#![expect(clippy::disallowed_methods, reason = "processes are killed in real time")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use super::{Receiver, register};
use crate::cli_support::{Hub, Place};
use crate::crash::number_from;
use crate::freezes::draw;
use crate::support::{Client, on_postgres};

const SENDERS: usize = 8;
/// How long the test waits for the next request of the hub. A killed hub keeps what it was sending for the time of a lease, and a
/// rate of 60 a minute can be used up.
const PATIENCE: Duration = Duration::from_secs(150);

/// An agent with a webhook.
struct Subscriber {
    name: &'static str,
    key: String,
    secret: String,
    receiver: Receiver,
}

/// Where a message goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Goal {
    Subscriber(usize),
    Channel,
    /// An agent without a webhook.
    Bystander,
}

#[derive(Clone)]
struct Attempt {
    goal: Goal,
    /// The body, and the idempotency key.
    text: String,
}

struct Load {
    key: String,
    subscribers: Vec<Subscriber>,
    /// Messages for webhooks that were not sent yet.
    planned: Mutex<VecDeque<Goal>>,
    next: Mutex<u64>,
    /// Messages that the hub has acknowledged.
    stored: Mutex<Vec<(Goal, i64)>>,
    unanswered: Mutex<Vec<Attempt>>,
}

impl Load {
    /// Sends a message until it is known to be stored. None if the hub is away.
    async fn send(&self, client: &Client, attempt: &Attempt) -> Option<()> {
        let message = match attempt.goal {
            Goal::Subscriber(number) => json!({"to": self.subscribers[number].name, "body": attempt.text}),
            Goal::Channel => json!({"channel": "general", "body": attempt.text}),
            Goal::Bystander => json!({"to": "bystander", "body": attempt.text}),
        };
        loop {
            let call = client.post("/api/messages", &message).header("idempotency-key", &attempt.text);
            let reply = call.may_fail().attempt().await?;
            if reply.code() == 201 {
                let id = reply.json()["id"].as_i64().unwrap();
                self.stored.lock().unwrap().push((attempt.goal, id));
                return Some(());
            }
            // PostgreSQL may still be at the command of a hub that was killed.
            assert!([409, 503].contains(&reply.code()), "{reply:?}");
        }
    }

    fn next_attempt(&self) -> Attempt {
        let mut next = self.next.lock().unwrap();
        *next += 1;
        // Most messages are for nobody's webhook, because webhooks have a rate.
        let planned = if next.is_multiple_of(4) { self.planned.lock().unwrap().pop_front() } else { None };
        Attempt { goal: planned.unwrap_or(Goal::Bystander), text: format!("message {next}") }
    }

    /// Sends until the hub is away.
    async fn keep_sending(&self, client: Client) {
        loop {
            let attempt = self.next_attempt();
            if self.send(&client, &attempt).await.is_none() {
                return self.unanswered.lock().unwrap().push(attempt);
            }
        }
    }

    fn events(&self) -> usize {
        self.stored.lock().unwrap().iter().filter(|(goal, _)| *goal != Goal::Bystander).count()
    }

    fn requests(&self) -> usize {
        self.subscribers.iter().map(|subscriber| subscriber.receiver.count()).sum()
    }

    /// Sends through a hub, and kills it.
    async fn send_until_killed(self: &Arc<Self>, mut hub: Hub, key: &str, wait: Duration) {
        let client = client_of(&hub, key);
        let mut running = JoinSet::new();
        for _ in 0..SENDERS {
            let (load, client) = (self.clone(), client.clone());
            running.spawn(async move { load.keep_sending(client).await });
        }
        // Not before something was acknowledged, so that there is something to check.
        let before = self.events();
        while self.events() == before && !running.is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(wait).await;
        hub.kill_now();
        while let Some(ended) = running.join_next().await {
            ended.unwrap();
        }
    }

    /// Sends again what a killed hub has not answered.
    async fn send_unanswered(&self, client: &Client) {
        let unanswered = std::mem::take(&mut *self.unanswered.lock().unwrap());
        for attempt in unanswered {
            self.send(client, &attempt).await.unwrap();
        }
    }

    /// The events of a subscriber: its kind, and its message.
    fn expected(&self, number: usize) -> BTreeSet<(String, i64)> {
        let stored = self.stored.lock().unwrap();
        let events = stored.iter().filter_map(|(goal, id)| match goal {
            Goal::Subscriber(other) if *other == number => Some(("message.received".to_owned(), *id)),
            Goal::Channel => Some(("channel.message".to_owned(), *id)),
            _ => None,
        });
        events.collect()
    }
}

fn client_of(hub: &Hub, key: &str) -> Client {
    Client::new(format!("http://{}", hub.address)).bearer(key)
}

fn start(place: &Place) -> Hub {
    let options = ["--rate-limit", "0", "--allow-http-webhooks=1", "--allow-private-networks", "127.0.0.0/8"];
    place.start_with(&options)
}

/// Three agents whose receivers are good, bad at first, and slow.
async fn subscribe(hub: &Hub) -> Vec<Subscriber> {
    let mut subscribers = Vec::new();
    for name in ["good", "failing", "slow"] {
        let key = create_agent(hub, name);
        let receiver = Receiver::start().await;
        receiver.behave(move |before| match (name, before) {
            ("failing", 0) => (500, Duration::from_millis(20)),
            ("slow", _) => (200, Duration::from_millis(600)),
            _ => (200, Duration::from_millis(20)),
        });
        let events = ["message.received", "channel.message"];
        let (_, secret) = register(&client_of(hub, &key), name, &receiver.url, &events).await;
        subscribers.push(Subscriber { name, key, secret, receiver });
    }
    subscribers
}

fn create_agent(hub: &Hub, name: &str) -> String {
    hub.json(&["agents", "create", name, "--owner", "admin"])["key"].as_str().unwrap().to_owned()
}

#[test]
fn a_killed_hub_loses_no_delivery() {
    let kills_by_hand = number_from("STOA_WEBHOOK_KILLS");
    let kills = kills_by_hand.unwrap_or(3);
    let mut dice = number_from("STOA_WEBHOOK_SEED").unwrap_or_else(|| {
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes).unwrap();
        u32::from_be_bytes(bytes).into()
    });
    // Past the harness, which hides what passing tests print.
    let _ = writeln!(std::io::stderr(), "webhooks: STOA_WEBHOOK_SEED={dice}, {kills} kills");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let place = Place::new();
    let mut hub = start(&place);
    create_agent(&hub, "bystander");
    let load = Arc::new(Load {
        key: create_agent(&hub, "sender"),
        subscribers: runtime.block_on(subscribe(&hub)),
        planned: Mutex::default(),
        next: Mutex::default(),
        stored: Mutex::default(),
        unanswered: Mutex::default(),
    });
    for left in (0..kills).rev() {
        let mut goals = vec![Goal::Channel];
        (0..load.subscribers.len()).for_each(|number| goals.extend([Goal::Subscriber(number); 2]));
        while !goals.is_empty() {
            let at = usize::try_from(draw(&mut dice, goals.len() as u64)).unwrap();
            load.planned.lock().unwrap().push_back(goals.swap_remove(at));
        }
        let wait = Duration::from_millis(20 + draw(&mut dice, 600));
        runtime.block_on(load.send_until_killed(hub, &load.key, wait));
        if on_postgres() && (left > 0 || kills_by_hand.is_none()) {
            // As if the hub had been away longer than its leases last. Who has more time lets the last ones run out by themselves.
            place.tamper("update work set lease_until = 0 where lease_owner is not null");
        }
        hub = start(&place);
        runtime.block_on(load.send_unanswered(&client_of(&hub, &load.key)));
    }
    wait_until_drained(&place, &load);
    runtime.block_on(check_deliveries(&load, &hub));
    assert_eq!(hub.stop().code, Some(0));
}

/// Waits until nothing waits for a webhook, which must not stop to make progress before.
fn wait_until_drained(place: &Place, load: &Load) {
    let (mut requests, mut since) = (load.requests(), Instant::now());
    let waiting = "select (select count(*) from work where queue in ('webhooks', 'webhook_probes'))
        + (select count(*) from webhook_deliveries where status in ('pending', 'held'))";
    while place.count(waiting) > 0 {
        if load.requests() > requests {
            (requests, since) = (load.requests(), Instant::now());
        }
        assert!(since.elapsed() < PATIENCE, "{} deliveries are stuck", place.count(waiting));
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Each acknowledged message arrived, and nothing else; repeated requests say the same.
async fn check_deliveries(load: &Load, hub: &Hub) {
    let (mut deliveries, mut requests, mut refused) = (0, 0, 0);
    for (number, subscriber) in load.subscribers.iter().enumerate() {
        let name = subscriber.name;
        let expected = load.expected(number);
        let mut arrived = BTreeSet::new();
        let (mut bodies, mut ids) = (BTreeMap::new(), BTreeMap::new());
        for request in subscriber.receiver.all() {
            let id = request.header("webhook-id").to_owned();
            let event = request.body["type"].as_str().unwrap().to_owned();
            let event = (event, request.body["data"]["message_id"].as_i64().unwrap());
            assert_eq!(request.signatures_of(&subscriber.secret), 1, "{name} {id}");
            assert_eq!(
                bodies.entry(id.clone()).or_insert_with(|| request.bytes.clone()),
                &request.bytes,
                "{name} {id}"
            );
            assert_eq!(ids.entry(event.clone()).or_insert_with(|| id.clone()), &id, "{name}: two ids for {event:?}");
            requests += 1;
            refused += usize::from(request.status != 200);
            if request.status == 200 {
                arrived.insert(event);
            }
        }
        assert_eq!(arrived, expected, "{name}");
        let listed = client_of(hub, &subscriber.key).list("/api/webhooks/deliveries").await;
        assert!(listed.iter().all(|delivery| delivery["status"] == "delivered"), "{name}: {listed:?}");
        assert_eq!(listed.len(), expected.len(), "{name}");
        deliveries += listed.len();
    }
    // A lock at a time: a guard lives to the end of its statement.
    let messages = load.stored.lock().unwrap().len();
    let (events, repeats) = (load.events(), requests - deliveries);
    let _ = writeln!(
        std::io::stderr(),
        "webhooks: {messages} messages, {events} of them events, {deliveries} deliveries, {requests} requests: {repeats} repeats, \
         {refused} of them after an answer 500, the others after a kill"
    );
}
