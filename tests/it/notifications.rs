//! What somebody wants to be told of.

use serde_json::{Value, json};

use crate::support::{Human, TestHub};
use crate::walk::{Row, either, session};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/notifications/unread"),
        session("GET /api/notifications/settings"),
        session("PUT /api/notifications/settings").body(json!({"default_level": "mentions"})).aimed_with(
            json!({"channels": [{"channel": "{channel}", "level": "mentions"}]}),
            422,
            "validation_failed",
        ),
        either("POST /api/notifications/mark-read")
            .body(json!({"channel": "general"}))
            .aimed_with(json!({"channel": "{channel}"}), 404, "not_found")
            .aimed_with(json!({"dm": "{owner}", "message_id": "{post}"}), 422, "validation_failed"),
    ]
}

const SETTINGS: &str = "/api/notifications/settings";

async fn unread(reader: &Human, name: &str) -> i64 {
    let all = reader.get("/api/notifications/unread").await.ok().json();
    let found = all.as_array().unwrap().iter().find(|view| view["name"] == name).cloned();
    found.unwrap_or_else(|| panic!("{name}: {all}"))["unread_count"].as_i64().unwrap()
}

async fn say(author: &Human, channel: &str) {
    author.post("/api/messages", &json!({"channel": channel, "body": "hello"})).await.status(201);
}

#[tokio::test]
async fn a_quiet_channel_does_not_count() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    assert_eq!(ada.get(SETTINGS).await.ok().json(), json!({"default_level": "all", "channels": []}));
    bob.post("/api/channels", &json!({"name": "work"})).await.status(201);
    ada.call("POST", "/api/channels/work/join").await.status(200);
    say(&bob, "work").await;
    say(&bob, "general").await;
    assert_eq!((unread(&ada, "work").await, unread(&ada, "general").await), (1, 1));

    let quiet = json!({"channels": [{"channel": "work", "level": "mentions"}]});
    let settings = ada.put(SETTINGS, &quiet).await.status(200).json();
    assert_eq!(settings, json!({"default_level": "all", "channels": [{"channel": "work", "level": "mentions"}]}));
    assert_eq!(ada.get(SETTINGS).await.ok().json(), settings);
    say(&bob, "work").await;
    assert_eq!((unread(&ada, "work").await, unread(&ada, "general").await), (0, 1));
    assert_eq!(unread(&bob, "work").await, 0, "what one says oneself is read");

    // A level of its own is stronger than the default.
    let all = json!({"default_level": "mentions", "channels": [{"channel": "work", "level": "all"}]});
    ada.put(SETTINGS, &all).await.status(200);
    assert_eq!((unread(&ada, "work").await, unread(&ada, "general").await), (2, 0));
    // A mention is told in any case.
    bob.post("/api/messages", &json!({"channel": "general", "body": "@ada look"})).await.status(201);
    assert_eq!((unread(&ada, "general").await, unread(&ada, "bob").await), (0, 1));
    let partly = ada.put(SETTINGS, &json!({"default_level": "all"})).await.status(200).json();
    assert_eq!(partly["channels"][0]["channel"], "work", "what is not named stays");
    assert_eq!(unread(&ada, "general").await, 2);
    hub.finish().await;
}

#[tokio::test]
async fn bad_settings_are_refused_and_change_nothing() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    bob.post("/api/channels", &json!({"name": "den", "public": false})).await.status(201);
    let level = |channel: &str, level: Value| json!({"channels": [{"channel": channel, "level": level}]});
    for (settings, field) in [
        (json!({"default_level": "none"}), "default_level"),
        (json!({"default_level": null}), "default_level"),
        (json!({"levels": []}), "levels"),
        (level("general", json!("loud")), "channels[0].level"),
        (level("nowhere", json!("all")), "channels[0].channel"),
        (level("den", json!("all")), "channels[0].channel"),
        (json!({"channels": vec![json!({"channel": "general", "level": "all"}); 1001]}), "channels"),
    ] {
        ada.put(SETTINGS, &settings).await.invalid(&[field]);
    }
    assert_eq!(ada.get(SETTINGS).await.ok().json(), json!({"default_level": "all", "channels": []}));
    hub.finish().await;
}
