//! Answers that nobody reads: long pages, asked for on connections whose client takes nothing.

use serde_json::json;
use tokio::task::JoinSet;

use super::held::never_read;
use super::http::Request;
use super::scene::{Shared, attacker_address};

const CONNECTIONS: usize = 400;
/// A quote takes two bytes in JSON, so a page has twice the bytes of its texts.
const MESSAGES: usize = 8;
const MESSAGE_BYTES: usize = 256 * 1024;

pub(super) async fn play(scene: Shared) -> Result<JoinSet<()>, String> {
    let request = prepare(&scene).await?;
    scene.begin();
    let tasks = (0..scene.count(CONNECTIONS))
        .map(|number| never_read(scene.clone(), attacker_address(number % 8), request.clone()));
    Ok(scene.play(tasks).await)
}

/// Fills the attacker's channel and returns the request for a page of it.
pub(super) async fn prepare(scene: &Shared) -> Result<Request, String> {
    let (key, channel) = (&scene.attacker.key, &scene.attacker.channel);
    for _ in 0..MESSAGES {
        let body = json!({"channel": channel, "body": "\"".repeat(MESSAGE_BYTES)});
        scene.require(&Request::post("/api/messages", &body).key(key), 201).await?;
    }
    Ok(Request::get(format!("/api/channels/{channel}/messages?limit=200")).key(key))
}
