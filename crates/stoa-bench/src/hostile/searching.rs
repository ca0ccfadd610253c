//! Searches among long messages that the index has not reached.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::http::Request;
use super::scene::{Shared, attacker_address, distinct_words};
use crate::real_time::pause;

const MESSAGES: usize = 60;
const MESSAGE_BYTES: usize = 256 * 1024 - 1;
const SEARCHES: usize = 5;
/// Five writes a second, half of what an agent may do.
const EDIT_PAUSE: Duration = Duration::from_millis(200);

pub(super) async fn play(scene: Shared) -> Result<JoinSet<()>, String> {
    scene.begin();
    let ids = send_messages(&scene).await;
    let mut editing = JoinSet::new();
    editing.spawn(edit(scene.clone(), ids));
    Ok(scene.run(searches(&scene), scene.duration * 2).await)
}

/// Changes one message after another, so that the index does not catch up.
async fn edit(scene: Shared, ids: Vec<Value>) {
    let mut number = 0;
    while let Some(id) = ids.get(number % ids.len().max(1)).filter(|_| scene.is_hub_alive()) {
        number += 1;
        let body = json!({"body": distinct_words(MESSAGE_BYTES, (MESSAGES + number) as u64)});
        let request = Request::patch(format!("/api/messages/{id}"), &body).key(&scene.attacker.key);
        let _ = scene.ask(attacker_address(0), &request).await;
        pause(EDIT_PAUSE).await;
    }
}

/// Sends the long messages and returns their ids.
pub(super) async fn send_messages(scene: &Shared) -> Vec<Value> {
    let mut ids = Vec::new();
    for number in 0..scene.count(MESSAGES) {
        let body = json!({"channel": scene.attacker.channel, "body": distinct_words(MESSAGE_BYTES, number as u64)});
        let request = Request::post("/api/messages", &body).key(&scene.attacker.key);
        match scene.ask(attacker_address(0), &request).await {
            Ok(answer) if answer.status == 201 => ids.push(answer.json()["id"].clone()),
            Ok(_) => {}
            Err(_) if scene.is_hub_alive() => {}
            Err(_) => break,
        }
    }
    ids
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
