//! The examples of docs/webhooks.md. The one in Rust runs here; scripts/check-signatures runs the others.

#[path = "../../../docs/examples/verify-webhook/verify.rs"]
mod verify;

use std::time::Duration;

use serde_json::json;

use super::receiver::Received;
use super::{Scene, register, scene};
use crate::support::DAY;
use verify::Verifier;

fn check(verifier: &mut Verifier, received: &Received, body: &[u8], later: u64) -> Result<bool, &'static str> {
    let now: u64 = received.header("webhook-timestamp").parse().unwrap();
    verifier.verify(|name| received.headers.get(name)?.to_str().ok(), body, now + later)
}

#[tokio::test]
async fn the_example_in_rust_verifies_deliveries() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, first) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    ada.dm("lookout", "hello").await;
    let received = receiver.has(1).await.remove(0);
    let mut verifier = Verifier::new(&first).unwrap();
    let changed = String::from_utf8(received.bytes.to_vec()).unwrap().replace("hello", "hallo");
    assert!(check(&mut verifier, &received, changed.as_bytes(), 0).is_err(), "another body");
    assert!(check(&mut verifier, &received, &received.bytes, 301).is_err(), "an old delivery");
    assert_eq!(check(&mut verifier, &received, &received.bytes, 0), Ok(true));
    assert_eq!(check(&mut verifier, &received, &received.bytes, 0), Ok(true), "it was not handled yet");
    verifier.remember(received.header("webhook-id"));
    assert_eq!(check(&mut verifier, &received, &received.bytes, 0), Ok(false), "a repeated delivery");

    let rotated = ada.post(&format!("/api/webhooks/{id}/rotate-secret"), &json!({})).await.ok().json();
    let second = rotated["secret"].as_str().unwrap();
    ada.dm("lookout", "again").await;
    let received = receiver.has(2).await.remove(1);
    for secret in [&first, second] {
        assert_eq!(check(&mut Verifier::new(secret).unwrap(), &received, &received.bytes, 0), Ok(true));
    }

    hub.advance(DAY + Duration::from_secs(1));
    ada.dm("lookout", "a day later").await;
    let received = receiver.has(3).await.remove(2);
    assert_eq!(check(&mut Verifier::new(second).unwrap(), &received, &received.bytes, 0), Ok(true));
    assert!(check(&mut Verifier::new(&first).unwrap(), &received, &received.bytes, 0).is_err(), "the old secret");
    hub.finish().await;
}

#[test]
fn the_documentation_shows_the_examples() {
    let documentation = include_str!("../../../docs/webhooks.md");
    for (language, example) in [
        ("js", include_str!("../../../docs/examples/verify-webhook/verify.mjs")),
        ("python", include_str!("../../../docs/examples/verify-webhook/verify.py")),
        ("rust", include_str!("../../../docs/examples/verify-webhook/verify.rs")),
    ] {
        let shown = format!("```{language}\n{example}```");
        assert!(documentation.contains(&shown), "docs/webhooks.md does not show the example for {language} as it is");
    }
}
