//! The other owner: reads, sends, searches and logs in during an attack, each on fresh connections from an address of
//! its own, and notes how long every answer takes.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicU64;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::http::{Request, ask};
use super::scene::{Owner, PASSWORD};
use crate::real_time::{now, pause};
use crate::requests::{MCP_PATH, tool_call};

/// No attacker calls from here.
pub(super) const OTHER_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 200, 0, 1);
/// Where a request without an answer is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// More than a plain MCP message may have, so that it needs a turn.
const UPLOAD_BYTES: usize = 3 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Read,
    Channels,
    Send,
    Search,
    Login,
    /// Without the cookie of an earlier login: shown, but not required, because the hub may prefer people it knows.
    FirstLogin,
    Upload,
    /// The replies that it sees to a message.
    Replies,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Channels => "channels",
            Kind::Send => "send",
            Kind::Search => "search",
            Kind::Login => "login",
            Kind::FirstLogin => "first login",
            Kind::Upload => "upload",
            Kind::Replies => "replies",
        }
    }

    pub(super) fn is_required(self) -> bool {
        self != Kind::FirstLogin
    }

    fn pause(self) -> Duration {
        Duration::from_millis(match self {
            Kind::Read | Kind::Channels | Kind::Send | Kind::Replies => 300,
            Kind::Search => 700,
            Kind::Login | Kind::FirstLogin => 2000,
            Kind::Upload => 1000,
        })
    }

    fn status(self) -> u16 {
        if self == Kind::Send { 201 } else { 200 }
    }
}

/// What came of the requests of one kind.
#[derive(Serialize)]
pub(super) struct Answers {
    pub(super) kind: &'static str,
    pub(super) is_required: bool,
    pub(super) asked: u64,
    pub(super) slowest_seconds: f64,
    /// How often each refusal came.
    pub(super) refused: BTreeMap<String, u64>,
}

/// The other owner at work, in a thread of its own, so that the attacker's tasks do not slow it down.
pub(super) struct Other {
    stop: watch::Sender<bool>,
    thread: JoinHandle<Result<Vec<Answers>, String>>,
}

impl Other {
    pub(super) fn start(hub: SocketAddr, owner: Owner, kinds: Vec<Kind>) -> Self {
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            runtime.block_on(async {
                let mut running = JoinSet::new();
                for kind in kinds {
                    running.spawn(repeat(hub, owner.clone(), kind, stopped.clone()));
                }
                Ok(running.join_all().await)
            })
        });
        Self { stop, thread }
    }

    /// Waits for the answers to what was asked during the attack.
    pub(super) async fn finish(self) -> Result<Vec<Answers>, String> {
        // The thread may have failed; then joining it says so.
        let _ = self.stop.send(true);
        let joined =
            tokio::task::spawn_blocking(move || self.thread.join()).await.map_err(|error| error.to_string())?;
        joined.map_err(|_| "the other owner's thread failed".to_owned())?
    }
}

async fn repeat(hub: SocketAddr, owner: Owner, kind: Kind, mut stopped: watch::Receiver<bool>) -> Answers {
    let (mut slowest, mut asked, mut refused) = (Duration::ZERO, 0, BTreeMap::new());
    while !*stopped.borrow() {
        let request = request(&owner, kind, asked);
        let started = now();
        let sent = AtomicU64::new(0);
        let answer = tokio::time::timeout(PATIENCE, ask(OTHER_ADDRESS, hub, &request, &sent)).await;
        slowest = slowest.max(started.elapsed());
        asked += 1;
        let refusal = match answer {
            Ok(Ok(answer)) if kind == Kind::Upload && answer.json()["result"]["isError"] == true => {
                Some(answer.json()["result"]["_meta"]["stoa/error"]["code"].to_string())
            }
            Ok(Ok(answer)) if answer.status == kind.status() => None,
            Ok(Ok(answer)) => Some(answer.verdict()),
            Ok(Err(error)) => Some(error),
            Err(_) => Some("no answer".to_owned()),
        };
        if let Some(refusal) = refusal {
            *refused.entry(refusal).or_default() += 1;
        }
        tokio::select! {
            () = pause(kind.pause()) => {}
            _ = stopped.changed() => {}
        }
    }
    let slowest_seconds = slowest.as_secs_f64();
    Answers { kind: kind.name(), is_required: kind.is_required(), asked, slowest_seconds, refused }
}

fn request(owner: &Owner, kind: Kind, number: u64) -> Request {
    let login = json!({"username": owner.name, "password": PASSWORD});
    match kind {
        Kind::Read => Request::get(format!("/api/channels/{}/messages?limit=50", owner.channel)).key(&owner.key),
        Kind::Replies => {
            let path = format!("/api/messages/{}/replies?limit=20", owner.thread.unwrap_or_default());
            Request::get(path).key(&owner.key)
        }
        Kind::Channels => Request::get("/api/channels").key(&owner.key),
        Kind::Send => {
            let body = json!({"channel": owner.channel, "body": format!("Message {number} in a busy hour")});
            Request::post("/api/messages", &body).key(&owner.key)
        }
        Kind::Search => Request::get("/api/messages/search?q=busy&limit=20").key(&owner.key),
        Kind::Login => Request::post("/auth/login", &login).cookies(&owner.device),
        Kind::FirstLogin => Request::post("/auth/login", &login),
        Kind::Upload => {
            // Each content is new, so that the hub stores it.
            let content = format!("{number:08}").repeat(UPLOAD_BYTES / 8);
            let file = json!({"filename": "notes.txt", "content_base64": base64(content.as_bytes())});
            let body = tool_call("upload_attachment", &file).into_bytes();
            Request::post_bytes(MCP_PATH, body).mcp().key(&owner.key)
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(bytes)
}
