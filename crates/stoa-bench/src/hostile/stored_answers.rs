//! Stored answers: small requests with fresh idempotency keys, whose long answers the hub stores.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::http::Request;
use super::scene::{Shared, attacker_address};
use crate::progress::show_progress;

const MESSAGES: usize = 100;
/// Quotes, which take two bytes in JSON: 4 MiB for all of them.
const MESSAGE_BYTES: usize = 20 * 1024;
/// One after another: on PostgreSQL, claims at the same time get nothing of what another one holds.
const CLAIMS: usize = 300;

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
    let claims = scene.count(CLAIMS);
    scene.begin();
    let claiming = {
        let scene = scene.clone();
        async move {
            for number in 0..claims {
                let request = request.clone().header("idempotency-key", &format!("claim-{number}"));
                if scene.ask(attacker_address(0), &request).await.is_err() && !scene.is_hub_alive() {
                    return;
                }
            }
        }
    };
    Ok(scene.run([claiming], scene.duration * 4).await)
}
