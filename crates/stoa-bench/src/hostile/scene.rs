//! What every attack finds: a hub, an attacker with an ordinary account and agent, and another owner who works.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::http::{Answer, Request, ask};
use super::other::OTHER_ADDRESS;
use super::watch::Usage;
use crate::hub_process::HubProcess;
use crate::real_time::{now, pause};

pub(super) const PASSWORD: &str = "a long enough password";
const SESSION_COOKIES: [&str; 2] = ["stoa_session=", "__Host-stoa_session="];
/// Messages that the other owner has before.
const MESSAGES_BEFORE: usize = 20;
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A person with one agent and one private channel.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) name: String,
    pub(super) agent: String,
    /// The agent's.
    pub(super) key: String,
    pub(super) session: Vec<String>,
    /// The cookies that a login sets beside the session.
    pub(super) device: Vec<String>,
    pub(super) channel: String,
    /// A message that has many replies.
    pub(super) thread: Option<i64>,
}

pub(super) struct Scene {
    pub(super) hub: SocketAddr,
    pub(super) pid: u32,
    pub(super) attacker: Owner,
    pub(super) other: Owner,
    pub(super) invitation: String,
    /// How long an attack goes on.
    pub(super) duration: Duration,
    /// 1 for the whole attack, less for a part of its connections and requests.
    scale: f64,
    sent: AtomicU64,
    /// What the attacker was answered, and how often.
    heard: Mutex<BTreeMap<String, u64>>,
    begun: watch::Sender<bool>,
}

impl Scene {
    /// Makes both owners.
    pub(super) async fn set(hub: &HubProcess, duration: Duration, scale: f64) -> Result<Self, String> {
        let attacker = owner(hub, "mallory", "imp", attacker_address(0)).await?;
        let other = owner(hub, "grace", "scout", OTHER_ADDRESS).await?;
        let invited = hub.admin("users.invite", json!({"role": "member"})).await?;
        let invitation = invited["invite"].as_str().ok_or("the hub gave no invitation")?.to_owned();
        let scene = Self {
            hub: hub.address,
            pid: hub.pid,
            attacker,
            other,
            invitation,
            duration,
            scale,
            sent: AtomicU64::new(0),
            heard: Mutex::default(),
            begun: watch::Sender::new(false),
        };
        for number in 0..MESSAGES_BEFORE {
            let body =
                json!({"channel": scene.other.channel, "body": format!("Message {number} before the busy hour")});
            let request = Request::post("/api/messages", &body).key(&scene.other.key);
            scene.require_of_other(&request, 201).await?;
        }
        Ok(scene)
    }

    /// Goes on with a hub that was started again.
    pub(super) fn move_to(&mut self, hub: &HubProcess) {
        (self.hub, self.pid) = (hub.address, hub.pid);
    }

    /// As many of something as the scale says, one at least.
    pub(super) fn count(&self, whole: usize) -> usize {
        ((whole as f64 * self.scale).ceil() as usize).max(1)
    }

    /// Ends the preparation: from here on everything counts.
    pub(super) fn begin(&self) {
        self.sent.store(0, Ordering::Relaxed);
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.begun.send_replace(true);
    }

    pub(super) async fn wait_until_begun(&self) {
        // The sender lives as long as the scene.
        let _ = self.begun.subscribe().wait_for(|begun| *begun).await;
    }

    pub(super) fn add_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) fn hear(&self, answer: &str) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner).entry(answer.to_owned()).or_default() += 1;
    }

    pub(super) fn heard(&self) -> BTreeMap<String, u64> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends a request of the attacker, and notes what came of it.
    pub(super) async fn ask(&self, from: Ipv4Addr, request: &Request) -> Result<Answer, String> {
        let answer = ask(from, self.hub, request, &self.sent).await;
        match &answer {
            Ok(answer) => self.hear(&answer.verdict()),
            Err(error) => self.hear(error),
        }
        answer
    }

    /// Sends a request that the attack cannot do without.
    pub(super) async fn require(&self, request: &Request, status: u16) -> Result<Value, String> {
        expect(self.hub, attacker_address(0), request, status).await.map(|answer| answer.json())
    }

    /// Sends a request of the other owner, to prepare an attack.
    pub(super) async fn require_of_other(&self, request: &Request, status: u16) -> Result<Value, String> {
        expect(self.hub, OTHER_ADDRESS, request, status).await.map(|answer| answer.json())
    }

    pub(super) fn is_hub_alive(&self) -> bool {
        Usage::of(self.pid).is_some()
    }

    /// Runs the attacker's tasks until time is up, all have ended, or the hub has. Those that are left go on until they are dropped.
    pub(super) async fn run<F>(&self, tasks: impl IntoIterator<Item = F>, duration: Duration) -> JoinSet<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let started = now();
        let mut running: JoinSet<()> = JoinSet::new();
        for task in tasks {
            running.spawn(task);
        }
        while started.elapsed() < duration && self.is_hub_alive() && !running.is_empty() {
            while running.try_join_next().is_some() {}
            pause(LOOK_EVERY).await;
        }
        running
    }

    /// Runs the attacker's tasks for as long as attacks go on.
    pub(super) async fn play<F>(&self, tasks: impl IntoIterator<Item = F>) -> JoinSet<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.run(tasks, self.duration).await
    }
}

/// One of many addresses that the attacker calls from.
pub(super) fn attacker_address(number: usize) -> Ipv4Addr {
    let byte = |value: usize| u8::try_from(value % 254 + 1).unwrap_or(1);
    Ipv4Addr::new(127, byte(number / 254 / 254) % 100, byte(number / 254), byte(number))
}

async fn owner(hub: &HubProcess, name: &str, agent: &str, from: Ipv4Addr) -> Result<Owner, String> {
    hub.admin("users.create", json!({"username": name, "password": PASSWORD})).await?;
    let login = Request::post("/auth/login", &json!({"username": name, "password": PASSWORD}));
    let cookies = expect(hub.address, from, &login, 200).await?.cookies();
    let is_session = |cookie: &String| SESSION_COOKIES.iter().any(|name| cookie.starts_with(name));
    let (session, device): (Vec<_>, Vec<_>) = cookies.into_iter().partition(is_session);
    let create = Request::post("/api/agents", &json!({"name": agent})).cookies(&session);
    let created = expect(hub.address, from, &create, 201).await?.json();
    let key = created["key"].as_str().ok_or_else(|| format!("a new agent has no key: {created}"))?.to_owned();
    let channel = format!("{name}-work");
    let create = Request::post("/api/channels", &json!({"name": channel, "public": false})).key(&key);
    expect(hub.address, from, &create, 201).await?;
    Ok(Owner { name: name.to_owned(), agent: agent.to_owned(), key, session, device, channel, thread: None })
}

async fn expect(hub: SocketAddr, from: Ipv4Addr, request: &Request, status: u16) -> Result<Answer, String> {
    let answer = ask(from, hub, request, &AtomicU64::new(0)).await?;
    if answer.status == status {
        return Ok(answer);
    }
    Err(format!("the hub was to answer {status}: {} {}", answer.status, answer.json()))
}

/// A text of short words that are nearly all different, from a seed. Words of letters and digits also have parts, so they are
/// the most work for an index.
pub(super) fn distinct_words(bytes: usize, seed: u64) -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    const WORD: u32 = 4;
    let mut dice = crate::dice::Dice::new(seed);
    let mut text = String::with_capacity(bytes + 8);
    while text.len() < bytes {
        let mut number = dice.below(36_u64.pow(WORD)) as usize;
        for _ in 0..WORD {
            text.push(char::from(LETTERS[number % LETTERS.len()]));
            number /= LETTERS.len();
        }
        text.push(' ');
    }
    text.truncate(bytes);
    text
}

/// A shared scene, as tasks have it.
pub(super) type Shared = Arc<Scene>;
