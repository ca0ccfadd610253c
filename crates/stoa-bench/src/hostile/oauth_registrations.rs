//! Clients that register themselves, from many addresses, and are never used.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::task::JoinSet;

use super::http::Request;
use super::scene::{Shared, attacker_address};

const REGISTRATIONS: usize = 20_000;
const CLIENTS: usize = 32;
/// Fewer than the hub lets one address register in a minute.
const PER_ADDRESS: usize = 10;

pub(super) async fn play(scene: Shared) -> JoinSet<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let registrations = scene.count(REGISTRATIONS);
    let client = json!({"redirect_uris": ["https://app.example/callback"], "client_name": "x".repeat(100)});
    let request = Request::post("/oauth/register", &client);
    scene.begin();
    let tasks = (0..CLIENTS).map(|_| {
        let (scene, request, next) = (scene.clone(), request.clone(), next.clone());
        async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= registrations || !scene.is_hub_alive() {
                    return;
                }
                let _ = scene.ask(attacker_address(number / PER_ADDRESS), &request).await;
            }
        }
    });
    scene.run(tasks, scene.duration * 6).await
}
