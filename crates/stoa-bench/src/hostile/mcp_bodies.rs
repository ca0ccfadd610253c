//! Long MCP messages: uploads that never end, and calls that wait although their message is long.

use std::time::Duration;

use tokio::task::JoinSet;

use super::held::{LongBody, Pace, hold_back};
use super::http::Request;
use super::scene::{Shared, attacker_address};
use crate::real_time::pause;
use crate::requests::MCP_PATH;

const UPLOADS: usize = 12;
const UPLOAD_BYTES: usize = 69 * 1024 * 1024;
const WAITS: usize = 2;
/// Spaces that make a call long.
const PADDING_BYTES: usize = 3 * 1024 * 1024;
/// A wait holds its turn for up to 50 seconds; the other owner must not notice.
const WAIT_SECONDS: u64 = 50;

/// Uploads that hold back their last byte.
pub(super) async fn play_uploads(scene: Shared) -> JoinSet<()> {
    let beginning = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"upload_attachment","arguments":{"filename":"notes.txt","content_base64":""#;
    let body = LongBody::new(beginning, b'Q', UPLOAD_BYTES);
    let request = Request::post_bytes(MCP_PATH, Vec::new()).mcp().key(&scene.attacker.key);
    scene.begin();
    let tasks = (0..scene.count(UPLOADS)).map(|number| {
        hold_back(scene.clone(), attacker_address(number), request.clone(), body.clone(), Pace::AllButOne)
    });
    scene.play(tasks).await
}

/// Calls of `wait_for_messages` that are as long as uploads.
pub(super) async fn play_waits(scene: Shared) -> JoinSet<()> {
    let padding = " ".repeat(PADDING_BYTES);
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,{padding}"method":"tools/call","params":{{"name":"wait_for_messages","arguments":{{"timeout_seconds":{WAIT_SECONDS}}}}}}}"#
    );
    let request = Request::post_bytes(MCP_PATH, call.into_bytes()).mcp().key(&scene.attacker.key);
    scene.begin();
    let tasks = (0..WAITS).map(|number| {
        let (scene, request) = (scene.clone(), request.clone());
        async move {
            while scene.is_hub_alive() {
                // What came of it is noted with the scene.
                let _ = scene.ask(attacker_address(number), &request).await;
                pause(Duration::from_millis(100)).await;
            }
        }
    });
    scene.play(tasks).await
}
