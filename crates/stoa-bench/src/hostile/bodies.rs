//! Bodies that never end: a thousand connections that hold back the rest of a request.

use serde_json::json;
use tokio::task::JoinSet;

use super::held::{LongBody, Pace, hold_back};
use super::http::Request;
use super::scene::{Shared, attacker_address};

const CONNECTIONS: usize = 1000;
/// Bodies of the length that logins may have need more connections to matter.
const SMALL_CONNECTIONS: usize = 8000;
const LONG_BYTES: usize = 1024 * 1024;
const SMALL_BYTES: usize = 64 * 1024;
/// Connections that share an address.
const PER_ADDRESS: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bodies {
    Login,
    SmallLogin,
    Token,
    Key,
    Idempotent,
    Stranger,
    Chunked,
    Drip,
}

pub(super) async fn play(scene: Shared, bodies: Bodies) -> JoinSet<()> {
    let nothing = json!({});
    let login = Request::post("/auth/login", &nothing);
    let send = Request::post("/api/messages", &nothing);
    let with_key = send.clone().key(&scene.attacker.key);
    let request = match bodies {
        Bodies::Login | Bodies::SmallLogin => login,
        Bodies::Token => Request::form("/oauth/token", "application/x-www-form-urlencoded"),
        Bodies::Key | Bodies::Chunked | Bodies::Drip => with_key,
        Bodies::Idempotent => with_key.header("idempotency-key", "once"),
        Bodies::Stranger => send.header("idempotency-key", "once"),
    };
    let pace = match bodies {
        Bodies::Drip => Pace::Drip,
        Bodies::Chunked => Pace::Chunked,
        _ => Pace::AllButOne,
    };
    let is_small = bodies == Bodies::SmallLogin;
    let beginning = if bodies == Bodies::Token { "grant_type=" } else { "{\"username\":\"" };
    let body = LongBody::new(beginning, b'a', if is_small { SMALL_BYTES } else { LONG_BYTES });
    let connections = scene.count(if is_small { SMALL_CONNECTIONS } else { CONNECTIONS });
    scene.begin();
    let tasks = (0..connections).map(|number| {
        hold_back(scene.clone(), attacker_address(number / PER_ADDRESS), request.clone(), body.clone(), pace)
    });
    scene.play(tasks).await
}
