//! A receiver of webhooks: an HTTP server that notes what it is sent and answers as the test wishes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use sha2::Sha256;

use crate::support::{Door, eventually};

#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
    pub(crate) body: Value,
    /// The status of the answer.
    pub(crate) status: u16,
}

/// Chooses the status of an answer and the time until it. The number says how often the same delivery came before.
pub(crate) type Manner = Box<dyn Fn(usize) -> (u16, Duration) + Send>;

#[derive(Default)]
struct Inside {
    received: Vec<Received>,
    manner: Option<Manner>,
    /// Requests without an answer yet, by their `webhook-id`.
    under_way: BTreeMap<String, usize>,
    /// Requests that came while the same delivery was under way.
    overlapping: usize,
    most_at_once: usize,
    /// The next answers; then 200.
    answers: VecDeque<(u16, Option<u64>)>,
    /// What is answered when there are no others.
    usual: Option<u16>,
    /// The body of all answers.
    body: Option<String>,
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    inside: Arc<Mutex<Inside>>,
    /// Passed after a request is noted and before it is answered.
    pub(crate) door: Arc<Door>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let inside: Arc<Mutex<Inside>> = Arc::default();
        let door = Arc::new(Door::new());
        let app = Router::new().fallback(receive).with_state((inside.clone(), door.clone()));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = TowerToHyperService::new(app.clone());
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { url, inside, door }
    }

    pub(crate) fn behave(&self, manner: impl Fn(usize) -> (u16, Duration) + Send + 'static) {
        self.inside.lock().unwrap().manner = Some(Box::new(manner));
    }

    pub(crate) fn answer(&self, answers: &[u16]) {
        self.inside.lock().unwrap().answers.extend(answers.iter().map(|status| (*status, None)));
    }

    pub(crate) fn answer_later(&self, status: u16, seconds: u64) {
        self.inside.lock().unwrap().answers.push_back((status, Some(seconds)));
    }

    /// What is answered from now on.
    pub(crate) fn always_answer(&self, status: u16) {
        self.inside.lock().unwrap().usual = Some(status);
    }

    /// The body of answers from now on.
    pub(crate) fn say(&self, body: impl Into<String>) {
        self.inside.lock().unwrap().body = Some(body.into());
    }

    pub(crate) fn all(&self) -> Vec<Received> {
        self.inside.lock().unwrap().received.clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.inside.lock().unwrap().received.len()
    }

    /// How many requests came while the same delivery was under way, and the most requests of any kind at a time.
    pub(crate) fn crossings(&self) -> (usize, usize) {
        let inside = self.inside.lock().unwrap();
        (inside.overlapping, inside.most_at_once)
    }

    /// Waits for so many requests in all.
    pub(crate) async fn has(&self, count: usize) -> Vec<Received> {
        eventually("the receiver has them", async || self.count() >= count).await;
        self.all()
    }
}

type Shared = (Arc<Mutex<Inside>>, Arc<Door>);

async fn receive(State((inside, door)): State<Shared>, headers: HeaderMap, bytes: Bytes) -> Response {
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    let id = headers.get("webhook-id").map(|id| id.to_str().unwrap().to_owned()).unwrap_or_default();
    let _under_way = UnderWay::begin(&inside, &id);
    let (status, retry_after, pause, said) = {
        let mut inside = inside.lock().unwrap();
        let before = inside.received.iter().filter(|one| one.headers.get("webhook-id") == headers.get("webhook-id"));
        let before = before.count();
        let usual = inside.usual.unwrap_or(200);
        let (status, retry_after) = inside.answers.pop_front().unwrap_or((usual, None));
        let (status, pause) = inside.manner.as_ref().map_or((status, Duration::ZERO), |manner| manner(before));
        inside.received.push(Received { headers, bytes, body, status });
        (StatusCode::from_u16(status).unwrap(), retry_after, pause, inside.body.clone())
    };
    door.pass().await;
    #[expect(clippy::disallowed_methods, reason = "a slow receiver is slow in real time")]
    tokio::time::sleep(pause).await;
    match retry_after {
        Some(seconds) => (status, [("retry-after", seconds.to_string())], "later").into_response(),
        None => (status, said.unwrap_or_else(|| "noted".to_owned())).into_response(),
    }
}

/// A request that has no answer yet. It ends also when the sender hangs up.
struct UnderWay {
    inside: Arc<Mutex<Inside>>,
    id: String,
}

impl UnderWay {
    fn begin(inside: &Arc<Mutex<Inside>>, id: &str) -> Self {
        let mut known = inside.lock().unwrap();
        let count = known.under_way.entry(id.to_owned()).or_default();
        *count += 1;
        let is_alone = *count == 1;
        known.overlapping += usize::from(!is_alone);
        known.most_at_once = known.most_at_once.max(known.under_way.values().sum());
        Self { inside: inside.clone(), id: id.to_owned() }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(count) = self.inside.lock().unwrap().under_way.get_mut(&self.id) {
            *count -= 1;
        }
    }
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    /// How many of its signatures this secret has made.
    pub(crate) fn signatures_of(&self, secret: &str) -> usize {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(format!("{}.{}.", self.header("webhook-id"), self.header("webhook-timestamp")).as_bytes());
        mac.update(&self.bytes);
        let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        self.header("webhook-signature").split(' ').filter(|signature| **signature == expected).count()
    }
}
