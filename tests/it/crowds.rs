//! Many agents that mention the same few people at once.
//!
//! `scripts/check-crowds` does this for as long as one likes, and shows the figures.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it is measured in real time how long answers take, and developers read the figures"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::followers::Hubs;
use crate::support::{Client, on_postgres};

const AGENTS: usize = 8;
const PEOPLE: [&str; 3] = ["ben", "cara", "dan"];

/// When an agent has said enough.
#[derive(Clone, Copy)]
enum Enough {
    Messages(usize),
    Time(Duration),
}

impl Enough {
    /// The environment says for how long; the tests say a few messages.
    fn new() -> Self {
        let seconds = std::env::var("STOA_CROWD_SECONDS").ok().map(|text| text.parse().expect("seconds"));
        seconds.map_or(Self::Messages(25), |seconds| Self::Time(Duration::from_secs(seconds)))
    }

    fn is_reached(self, messages: usize, since: Instant) -> bool {
        match self {
            Self::Messages(enough) => messages >= enough,
            Self::Time(enough) => since.elapsed() >= enough,
        }
    }
}

/// The answers to one agent: how long each took, and the code of each refusal.
async fn mention(client: Client, number: usize, enough: Enough) -> (Vec<Duration>, Vec<String>) {
    let (mut times, mut refused) = (Vec::new(), Vec::new());
    let began = Instant::now();
    while times.is_empty() || !enough.is_reached(times.len(), began) {
        let body = format!("@ben @cara @dan: agent{number} has a question, number {}", times.len());
        let from = Instant::now();
        let reply = client.post("/api/messages", &json!({"channel": "ops", "body": body})).may_fail().await;
        times.push(from.elapsed());
        if reply.code() != 201 {
            refused.push(format!("{} {}", reply.code(), reply.json()["code"].as_str().unwrap_or_default()));
        }
    }
    (times, refused)
}

/// Has the agents mention people through so many hubs. The people find each message that was answered with 201, once.
async fn crowd(hub_count: usize) -> BTreeMap<String, usize> {
    let (hubs, running) = Hubs::new(hub_count);
    running[0].create_user("ada");
    running[0].json(&["channels", "create", "ops", "--owner", "ada"]);
    let make =
        |name: &str| running[0].json(&["agents", "create", name, "--owner", "ada"])["key"].as_str().unwrap().to_owned();
    let people = PEOPLE.map(make);
    let clients = running.iter().map(|hub| Client::new(format!("http://{}", hub.address)));
    let clients: Vec<Client> = clients.collect();
    let enough = Enough::new();
    let agents: Vec<_> = (0..AGENTS)
        .map(|number| {
            let client = clients[number % hub_count].bearer(&make(&format!("agent{number}")));
            tokio::spawn(mention(client, number, enough))
        })
        .collect();
    let (mut times, mut refusals) = (Vec::new(), BTreeMap::<String, usize>::new());
    for agent in agents {
        let (of_agent, refused) = agent.await.unwrap();
        times.extend(of_agent);
        refused.into_iter().for_each(|code| *refusals.entry(code).or_default() += 1);
    }
    times.sort();
    let stored = times.len() - refusals.values().sum::<usize>();
    for key in &people {
        assert_eq!(count_inbox(&hubs, key).await, stored);
    }
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_millis() as u64;
    let figures = json!({
        "hubs": hub_count,
        "messages": times.len(),
        "refused": refusals,
        "p50_ms": at(0.5),
        "p99_ms": at(0.99),
        "slowest_ms": at(1.0),
    });
    println!("{figures}");
    refusals
}

async fn count_inbox(hubs: &Arc<Hubs>, key: &str) -> usize {
    let mut dice = 0;
    hubs.any(&mut dice, key).list("/api/inbox").await.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mentions_of_the_same_people_are_accepted() {
    assert_eq!(crowd(1).await, BTreeMap::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mentions_through_several_hubs_are_accepted_or_busy() {
    if !on_postgres() {
        return;
    }
    let refused = crowd(3).await;
    assert!(refused.keys().all(|code| code == "503 busy"), "{refused:?}");
}
