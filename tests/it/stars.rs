//! Stars: conversations that somebody wants on top of their list.

use serde_json::{Value, json};

use crate::support::{Client, TestHub};
use crate::walk::{Row, either, either_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/starred"),
        either_thing("PUT /api/starred/{conversation}"),
        either_thing("DELETE /api/starred/{conversation}"),
    ]
}

async fn stars(of: &Client) -> Value {
    of.get("/api/starred").await.ok().json()["items"].clone()
}

#[tokio::test]
async fn conversations_are_starred_by_each_person() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    for conversation in ["channel:den", "channel:general", "dm:bob", "dm:@bob"] {
        ada.call("PUT", &format!("/api/starred/{conversation}")).await.status(204);
    }
    let own = json!([
        {"kind": "channel", "name": "den"}, {"kind": "channel", "name": "general"}, {"kind": "dm", "name": "bob"},
    ]);
    assert_eq!(stars(&ada).await, own);
    assert_eq!(stars(&bob).await, json!([]));
    bob.call("PUT", "/api/starred/channel:den").await.problem(404, "not_found");
    bob.call("PUT", "/api/starred/dm:nobody").await.problem(404, "not_found");
    bob.call("PUT", "/api/starred/den").await.invalid(&["conversation"]);
    for _ in 0..2 {
        ada.delete("/api/starred/dm:bob").await.status(204);
    }
    assert_eq!(stars(&ada).await.as_array().unwrap().len(), 2);
    hub.finish().await;
}

#[tokio::test]
async fn a_star_shows_nothing_to_somebody_who_was_removed() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "bob").await.status(200);
    bob.call("PUT", "/api/starred/channel:den").await.status(204);
    assert_eq!(stars(&bob).await, json!([{"kind": "channel", "name": "den"}]));
    ada.delete("/api/channels/den/members/bob").await.status(204);
    assert_eq!(stars(&bob).await, json!([]));
    hub.finish().await;
}
