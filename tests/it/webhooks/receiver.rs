//! A receiver of webhooks: an HTTP server that notes what it is sent and answers as the test wishes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

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

use crate::support::eventually;

#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
    pub(crate) body: Value,
}

#[derive(Default)]
struct Inside {
    received: Vec<Received>,
    /// The next answers; then 200.
    answers: VecDeque<(u16, Option<u64>)>,
    /// What is answered when there are no others.
    usual: Option<u16>,
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    inside: Arc<Mutex<Inside>>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let inside: Arc<Mutex<Inside>> = Arc::default();
        let app = Router::new().fallback(receive).with_state(inside.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = TowerToHyperService::new(app.clone());
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { url, inside }
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

    pub(crate) fn all(&self) -> Vec<Received> {
        self.inside.lock().unwrap().received.clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.inside.lock().unwrap().received.len()
    }

    /// Waits for so many requests in all.
    pub(crate) async fn has(&self, count: usize) -> Vec<Received> {
        eventually("the receiver has them", async || self.count() >= count).await;
        self.all()
    }
}

async fn receive(State(inside): State<Arc<Mutex<Inside>>>, headers: HeaderMap, bytes: Bytes) -> Response {
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut inside = inside.lock().unwrap();
    inside.received.push(Received { headers, bytes, body });
    let usual = inside.usual.unwrap_or(200);
    let (status, retry_after) = inside.answers.pop_front().unwrap_or((usual, None));
    let status = StatusCode::from_u16(status).unwrap();
    match retry_after {
        Some(seconds) => (status, [("retry-after", seconds.to_string())], "later").into_response(),
        None => (status, "noted").into_response(),
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
