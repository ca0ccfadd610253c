//! The least that can be done: one frame for each message, shared by all who listen.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use bytes::Bytes;
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// A server in this process that keeps the contract of `/api/events` and knows no rules.
pub(super) struct BareServer {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
    serving: AbortHandle,
}

#[derive(Default)]
struct Shared {
    stage: Mutex<Stage>,
    /// Whether strangers get what is not for them, to see whether that is noticed.
    leaks: AtomicBool,
}

#[derive(Default)]
struct Stage {
    /// Message n is at n - 1, for those who come back.
    frames: Vec<Bytes>,
    listeners: Vec<(bool, mpsc::UnboundedSender<Bytes>)>,
}

impl BareServer {
    pub(super) async fn start() -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let shared = Arc::new(Shared::default());
        let router = axum::Router::new()
            .route("/api/events", get(listen))
            .route("/api/messages", post(tell))
            .with_state(shared.clone());
        let listener = listener.tap_io(|stream| {
            // Where it cannot be set, the latency shows.
            let _ = stream.set_nodelay(true);
        });
        let serving = tokio::spawn(async move { drop(axum::serve(listener, router).await) }).abort_handle();
        Ok(Self { address, shared, serving })
    }

    #[cfg(test)]
    pub(super) fn leak(&self) {
        self.shared.leaks.store(true, Ordering::Relaxed);
    }
}

impl Drop for BareServer {
    fn drop(&mut self) {
        self.serving.abort();
        self.shared.lock().listeners.clear();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Frames(mpsc::UnboundedReceiver<Bytes>);

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

async fn listen(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_stranger = text("authorization").is_some_and(|key| key.contains("stranger"));
    let seen: Option<usize> = text("last-event-id").and_then(|id| id.parse().ok());
    let (sender, receiver) = mpsc::unbounded_channel();
    let mut stage = shared.lock();
    for frame in stage.frames.iter().skip(seen.unwrap_or(usize::MAX)) {
        let _ = sender.send(frame.clone());
    }
    stage.listeners.push((is_stranger, sender));
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::new(Frames(receiver))).into_response()
}

async fn tell(State(shared): State<Arc<Shared>>, Json(message): Json<Value>) -> (StatusCode, Json<Value>) {
    let leaks = shared.leaks.load(Ordering::Relaxed);
    let mut stage = shared.lock();
    let id = stage.frames.len() + 1;
    let data = json!({"message_id": id, "channel": message["channel"], "conversation_id": 1, "from": "sender",
        "to": null, "reply_to": null});
    let frame = Bytes::from(format!("event: new_message\ndata: {data}\nid: {id}\n\n"));
    stage.frames.push(frame.clone());
    stage.listeners.retain(|(is_stranger, listener)| {
        if *is_stranger && !leaks { !listener.is_closed() } else { listener.send(frame.clone()).is_ok() }
    });
    (StatusCode::CREATED, Json(json!({"id": id})))
}
