//! Bodies that are sent slowly, or held back before their end.

use serde_json::json;

use super::{figure_falls, figure_reaches, proof, sent};
use crate::support::TestHub;

const KIBIBYTE: usize = 1024;
/// What the smallest budget leaves to one owner, and to one address of strangers.
const OWNER: usize = 256 * KIBIBYTE;
const ADDRESS: usize = 32 * KIBIBYTE;
/// Bytes of each body that do not count.
const NOT_COUNTED: usize = 4 * KIBIBYTE;

const HELD: &str = "stoa_body_memory_bytes";

async fn small_hub() -> TestHub {
    TestHub::setup().configure(|config| config.body_memory_mib = 1).start().await
}

/// The beginning of a request with a body of `announced` bytes, of which `begun` are there.
fn begun(path: &str, more: &str, announced: usize, begun: usize) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{more}content-length: {announced}\r\n\r\n"
    );
    let mut request = head.into_bytes();
    request.resize(request.len() + begun, b' ');
    request
}

#[tokio::test]
async fn strangers_who_hold_bodies_back_have_a_small_share() {
    let hub = small_hub().await;
    hub.human("ada").await;
    let half = ADDRESS / 2 + NOT_COUNTED;
    let _first = sent(&hub, &begun("/auth/login", "", 60 * KIBIBYTE, half)).await;
    figure_reaches(&hub, HELD, (ADDRESS / 2) as f64).await;
    // Another body of that address is too much, whichever door it is sent to.
    let long = json!({"username": "ada", "password": "x".repeat(half)});
    for path in ["/auth/login", "/auth/register", "/oauth/register"] {
        let refused = hub.nobody().post(path, &long).may_fail().await.problem(503, "busy");
        assert!(refused.header("retry-after").is_some());
    }
    // A login is short, and owners have a share of their own.
    let bob = hub.human("bob").await;
    bob.post("/api/agents", &json!({"name": "scout", "instructions": "x".repeat(60_000)})).await.status(201);
    hub.finish().await;
}

#[tokio::test]
async fn an_owner_who_holds_bodies_back_takes_nothing_from_others() {
    let hub = small_hub().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let key = proof(&scout);
    let with_key = format!("{key}idempotency-key: k\r\n");
    let part = OWNER / 2 - NOT_COUNTED;
    let _held = [
        sent(&hub, &begun("/api/messages", &key, OWNER, part)).await,
        sent(&hub, &begun("/api/messages", &with_key, OWNER, part)).await,
    ];
    figure_reaches(&hub, HELD, (2 * (part - NOT_COUNTED)) as f64).await;
    let message = |to: &str| json!({"to": to, "body": "x".repeat(60_000)});
    ada.post("/api/messages", &message("bob")).may_fail().await.problem(503, "busy");
    let send = json!({"name": "send_message", "arguments": message("bob")});
    scout.mcp("tools/call", send).may_fail().await.problem(503, "busy");
    bob.post("/api/messages", &message("ada")).await.status(201);
    // Short ones go through in any case.
    ada.dm("bob", "hello").await;
    hub.finish().await;
}

#[tokio::test]
async fn what_was_held_is_free_when_its_sender_goes() {
    let hub = small_hub().await;
    let ada = hub.human("ada").await;
    for _ in 0..8 {
        let held = sent(&hub, &begun("/api/messages", &proof(&ada), OWNER, OWNER - 1)).await;
        figure_reaches(&hub, HELD, (OWNER - NOT_COUNTED - 1) as f64).await;
        drop(held);
        figure_falls(&hub, HELD).await;
    }
    ada.agent("scout").await;
    for n in 0..20 {
        ada.dm("scout", &format!("{n} {}", "x".repeat(100_000))).await;
    }
    figure_falls(&hub, HELD).await;
    hub.finish().await;
}

#[tokio::test]
async fn a_body_counts_once_also_with_an_idempotency_key() {
    let hub = small_hub().await;
    let (ada, _bob) = (hub.human("ada").await, hub.human("bob").await);
    let message = json!({"to": "bob", "body": "x".repeat(OWNER * 3 / 4)});
    ada.post("/api/messages", &message).header("idempotency-key", "k").await.status(201);
    hub.finish().await;
}
