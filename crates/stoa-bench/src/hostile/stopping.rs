//! Everything that could keep a hub from stopping, at the same time.

use serde_json::json;
use tokio::task::JoinSet;

use super::held::{LongBody, Pace, hold_back, never_read};
use super::http::Request;
use super::logins::{self, Logins};
use super::scene::{Shared, attacker_address};
use super::{searching, unread_answers};
use crate::requests::MCP_PATH;

const UPLOADS: usize = 20;
const UNREAD: usize = 50;
const UPLOAD_BYTES: usize = 1024 * 1024;
const FILE_BEGINNING: &str = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"notes.txt\"\r\n\r\n";

/// The tasks that are returned still run when the hub is asked to stop.
pub(super) async fn play(scene: Shared) -> Result<JoinSet<()>, String> {
    let page = unread_answers::prepare(&scene).await?;
    scene.begin();
    searching::send_messages(&scene).await;
    let mut running: JoinSet<()> = JoinSet::new();
    for task in searching::searches(&scene) {
        running.spawn(task);
    }
    for task in logins::tasks(&scene, Logins::Addresses) {
        running.spawn(task);
    }
    let text = LongBody::new("{\"body\":\"", b'a', UPLOAD_BYTES);
    let file = LongBody::new(FILE_BEGINNING, b'a', UPLOAD_BYTES);
    let slow = [
        (Request::post("/api/messages", &json!({})), &text),
        (Request::post_bytes(MCP_PATH, Vec::new()).mcp(), &text),
        (Request::form("/api/attachments", "multipart/form-data; boundary=x"), &file),
    ];
    for number in 0..UPLOADS {
        let (request, body) = slow[number % slow.len()].clone();
        let request = request.key(&scene.attacker.key);
        running.spawn(hold_back(scene.clone(), attacker_address(number), request, body.clone(), Pace::Drip));
    }
    for number in 0..UNREAD {
        running.spawn(never_read(scene.clone(), attacker_address(number), page.clone()));
    }
    // Nothing more to start: only time has to pass.
    let waiting = scene.play([std::future::pending::<()>()]).await;
    drop(waiting);
    Ok(running)
}
