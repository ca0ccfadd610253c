//! Reactions on a long message: small facts that must not cost as much as its text.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::http::Request;
use super::scene::{Shared, attacker_address, distinct_words};
use crate::real_time::pause;

const REACTIONS: usize = 150;
const MESSAGE_BYTES: usize = 256 * 1024 - 1;
/// Between two reactions: the hub indexes what has changed a few times a second, so each is indexed by itself.
const PAUSE: Duration = Duration::from_millis(270);

pub(super) async fn play(scene: Shared) -> Result<JoinSet<()>, String> {
    let key = &scene.attacker.key;
    let body = json!({"channel": scene.attacker.channel, "body": distinct_words(MESSAGE_BYTES, 1)});
    let sent = scene.require(&Request::post("/api/messages", &body).key(key), 201).await?;
    // Until its text is indexed.
    pause(scene.duration).await;
    let path = format!("/api/messages/{}/reactions", sent["id"]);
    // The second takes the first back.
    let request = Request::post(path, &json!({"reaction": "in_progress"})).key(key);
    scene.begin();
    for _ in 0..scene.count(REACTIONS) {
        if scene.ask(attacker_address(0), &request).await.is_err() && !scene.is_hub_alive() {
            break;
        }
        pause(PAUSE).await;
    }
    // The index follows after the answers.
    pause(scene.duration).await;
    Ok(JoinSet::new())
}
