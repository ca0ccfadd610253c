//! Replies that a reader does not see: the attacker answers a public message in private, very often.

use std::path::Path;

use serde_json::json;

use super::http::Request;
use super::scene::Scene;
use crate::hub_process::HubProcess;
use crate::hub_program::HubProgram;
use crate::load::{Ask, Extent, LoadProcess, Order};

const REPLIES: usize = 200_000;
/// Replies that the load process is asked for at once.
const PORTION: usize = 20_000;
const CONNECTIONS: usize = 64;
const CHANNEL: &str = "square";

/// Makes the replies on a hub without a limit for writes, which would take hours with it. The hub has stopped when this returns.
pub(super) async fn prepare(
    program: &HubProgram,
    data: &Path,
    url: Option<&str>,
    scene: &mut Scene,
) -> Result<(), String> {
    let hub = HubProcess::start(program, data, true, url).await?;
    scene.move_to(&hub);
    let channel = json!({"name": CHANNEL, "public": true});
    scene.require_of_other(&Request::post("/api/channels", &channel).key(&scene.other.key), 201).await?;
    let message = json!({"channel": CHANNEL, "body": "Who knows more about this?"});
    let sent = scene.require_of_other(&Request::post("/api/messages", &message).key(&scene.other.key), 201).await?;
    let id = sent["id"].as_i64().ok_or_else(|| format!("a message has no id: {sent}"))?;
    scene.other.channel = CHANNEL.to_owned();
    scene.other.thread = Some(id);
    let reply = json!({"to": scene.attacker.name, "body": "Nobody sees this", "reply_to": id});
    let mut load = LoadProcess::start()?;
    let mut left = scene.count(REPLIES);
    while left > 0 {
        let portion = left.min(PORTION);
        let order = Order {
            server: hub.pid,
            address: hub.address,
            asks: vec![Ask { path: "/api/messages".to_owned(), body: Some(reply.to_string()), credential: None }],
            events: None,
            status: 201,
            credentials: vec![scene.attacker.key.clone(); portion],
            connections: CONNECTIONS.min(portion),
            extent: Extent::EachCredential,
            rate: None,
        };
        load.send(&order).await?;
        left -= portion;
    }
    hub.stop().await
}
