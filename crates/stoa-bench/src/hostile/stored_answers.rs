//! Stored answers: small requests with fresh idempotency keys, whose long answers the hub stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::http::Request;
use super::scene::{Shared, attacker_address};
use crate::progress::show_progress;

const MESSAGES: usize = 100;
/// Quotes, which take two bytes in JSON: 4 MiB for all of them.
const MESSAGE_BYTES: usize = 20 * 1024;
const CLAIMS: usize = 300;
const CLIENTS: usize = 4;

pub(super) async fn play(scene: Shared) -> Result<JoinSet<()>, String> {
    let mut ids = Vec::new();
    for _ in 0..MESSAGES {
        let body = json!({"to": scene.attacker.agent, "body": "\"".repeat(MESSAGE_BYTES)});
        let sent = scene.require(&Request::post("/api/messages", &body).cookies(&scene.attacker.session), 201).await?;
        ids.push(sent["id"].clone());
    }
    let claim = |what: &str, ids: &[Value]| {
        Request::post("/api/inbox/claim", &json!({what: ids, "lease_seconds": 86400})).key(&scene.attacker.key)
    };
    scene.require(&claim("message_ids", &ids), 200).await?;
    let request = claim("extend", &ids);
    let extended = scene.require(&request, 200).await?;
    let count = extended["items"].as_array().map_or(0, Vec::len);
    if count == 0 {
        return Err(format!("no message was claimed: {extended}"));
    }
    show_progress(&format!("each claim is answered with {count} messages"));
    let next = Arc::new(AtomicUsize::new(0));
    let claims = scene.count(CLAIMS);
    scene.begin();
    let tasks = (0..CLIENTS).map(|_| {
        let (scene, request, next) = (scene.clone(), request.clone(), next.clone());
        async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= claims || !scene.is_hub_alive() {
                    return;
                }
                let request = request.clone().header("idempotency-key", &format!("claim-{number}"));
                let _ = scene.ask(attacker_address(0), &request).await;
            }
        }
    });
    Ok(scene.run(tasks, scene.duration * 4).await)
}
