//! Receivers of webhooks that behave badly: one is down, one takes its time.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::hub_process::HubProcess;
use super::mixed::ask;
use super::population::Person;
use super::real_time::pause;

/// How long the slow receiver takes. The hub waits for 15 seconds.
const SLOW: Duration = Duration::from_secs(10);
/// More than the headers of a delivery.
const MAX_READ: usize = 64 * 1024;

pub(super) struct Receivers {
    dead_url: String,
    slow_url: String,
}

impl Receivers {
    pub(super) async fn start() -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let dead = TcpListener::bind("127.0.0.1:0").await.map_err(text)?;
        let dead_url = format!("http://{}/", dead.local_addr().map_err(text)?);
        drop(dead);
        let slow = TcpListener::bind("127.0.0.1:0").await.map_err(text)?;
        let slow_url = format!("http://{}/", slow.local_addr().map_err(text)?);
        tokio::spawn(async move {
            while let Ok((stream, _)) = slow.accept().await {
                tokio::spawn(answer_slowly(stream));
            }
        });
        Ok(Self { dead_url, slow_url })
    }

    /// Registers a webhook for each receiver. The first two agents have them: they are in the channel that everybody is
    /// in, and in some others.
    pub(super) async fn register(&self, hub: &HubProcess, agents: &[Person]) -> Result<Webhooks, String> {
        let mut webhooks = Webhooks(Vec::new());
        for (url, agent) in [&self.dead_url, &self.slow_url].into_iter().zip(agents) {
            let key = agent.key.clone().unwrap_or_default();
            let new = json!({"agent": agent.name, "url": url, "events": ["channel.message", "message.received"]});
            let created = call(hub, "POST", "/api/webhooks", &key, Some(&new)).await?;
            let id =
                created["webhook"]["id"].as_i64().ok_or_else(|| format!("no webhook was registered: {created}"))?;
            webhooks.0.push((id, key));
        }
        // However short the measurement is, both receivers are called.
        if let [one, other, ..] = agents {
            for (from, to) in [(one, other), (other, one)] {
                let message = json!({"to": to.name, "body": "hello"});
                call(hub, "POST", "/api/messages", from.key.as_deref().unwrap_or_default(), Some(&message)).await?;
            }
        }
        Ok(webhooks)
    }
}

/// Registered webhooks, and the keys of their agents.
pub(super) struct Webhooks(Vec<(i64, String)>);

impl Webhooks {
    pub(super) async fn remove(self, hub: &HubProcess) -> Result<(), String> {
        for (id, key) in self.0 {
            let deliveries = call(hub, "GET", &format!("/api/webhooks/{id}/deliveries?limit=1"), &key, None).await?;
            if deliveries["items"].as_array().is_none_or(Vec::is_empty) {
                return Err(format!("webhook {id} had nothing to deliver"));
            }
            call(hub, "DELETE", &format!("/api/webhooks/{id}"), &key, None).await?;
        }
        Ok(())
    }
}

async fn answer_slowly(mut stream: TcpStream) {
    let mut bytes = vec![0; MAX_READ];
    let _ = stream.read(&mut bytes).await;
    pause(SLOW).await;
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
}

async fn call(hub: &HubProcess, method: &str, path: &str, key: &str, body: Option<&Value>) -> Result<Value, String> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, hub.address.to_string())
        .header(AUTHORIZATION, format!("Bearer {key}"))
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body.map(Value::to_string).unwrap_or_default())))
        .map_err(|error| error.to_string())?;
    let answer = ask(hub, request).await?;
    let status = answer.status();
    let bytes = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
    if !status.is_success() {
        return Err(format!("{method} {path}: {status} {}", String::from_utf8_lossy(&bytes)));
    }
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}
