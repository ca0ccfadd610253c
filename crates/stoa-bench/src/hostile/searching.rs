//! Searches among long messages that the index has not reached.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::http::Request;
use super::scene::{Shared, attacker_address, distinct_words};
use crate::real_time::pause;

const MESSAGES: usize = 60;
const MESSAGE_BYTES: usize = 256 * 1024 - 1;
const SEARCHES: usize = 5;

pub(super) async fn play(scene: Shared) -> Result<JoinSet<()>, String> {
    scene.begin();
    send_messages(&scene).await?;
    Ok(scene.run(searches(&scene), scene.duration * 2).await)
}

/// Sends the long messages.
pub(super) async fn send_messages(scene: &Shared) -> Result<(), String> {
    for number in 0..scene.count(MESSAGES) {
        let body = json!({"channel": scene.attacker.channel, "body": distinct_words(MESSAGE_BYTES, number as u64)});
        let request = Request::post("/api/messages", &body).key(&scene.attacker.key);
        if scene.ask(attacker_address(0), &request).await.is_err() && !scene.is_hub_alive() {
            break;
        }
    }
    Ok(())
}

/// Searches in a loop, several at once.
pub(super) fn searches(scene: &Shared) -> impl Iterator<Item = impl Future<Output = ()> + Send + 'static> {
    (0..SEARCHES).map(|number| {
        let scene = scene.clone();
        async move {
            let mut round = 0;
            while scene.is_hub_alive() {
                round += 1;
                let path = format!("/api/messages/search?q=zebra{number}x{round}+quagga&limit=100");
                let _ = scene.ask(attacker_address(number), &Request::get(path).key(&scene.attacker.key)).await;
                // A search that is refused at once is not a flood.
                pause(Duration::from_millis(20)).await;
            }
        }
    })
}
