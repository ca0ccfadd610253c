//! Read means read, and a limited key stays within its limits.

use serde_json::{Value, json};

use crate::support::oauth::{Consent, authorize};
use crate::support::{TestHub, each, items};

#[tokio::test]
async fn a_key_that_may_read_changes_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, key) = ada.key("scout", json!(["messages:read", "channels:read"])).await;
    let reader = hub.nobody().bearer(&key);
    let root = ada.say("general", "first").await;
    let app = hub.app().await;
    let consent = Consent::of(authorize(&ada, &app.parameters().set("scope", "mcp:read")).await);
    let code = consent.approve(&ada, "scout").await.landing().get("code");
    let app_that_reads = hub.nobody().bearer(&app.exchange(&code).await.tokens().access);
    let mark_read = || json!({"name": "mark_read", "arguments": {"channel": "general"}});
    app_that_reads.mcp("tools/call", mark_read()).await.problem(403, "insufficient_scope");
    assert_eq!(reader.tool_refused("mark_read", json!({"channel": "general"})).await.0, "forbidden");
    reader.post("/api/notifications/mark-read", &json!({"channel": "general"})).await.problem(403, "forbidden");
    let mute = format!("/api/threads/{}/mute", root["id"]);
    reader.call("PUT", &mute).await.problem(403, "forbidden");
    reader.delete(&mute).await.problem(403, "forbidden");
    assert_eq!(scout.unread("general").await, 1);
    scout.mark_read(json!({"channel": "general"})).await;
    assert_eq!(scout.unread("general").await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn listing_agents_takes_a_permission() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let (_, key) = ada.key("scout", json!(["attachments:write"])).await;
    let uploader = hub.nobody().bearer(&key);
    for path in ["/api/agents", "/api/agents/scout", "/api/directory"] {
        uploader.get(path).await.problem(403, "forbidden");
    }
    assert!(!uploader.tool_names("/mcp").await.contains(&"list_agents".to_owned()));
    hub.finish().await;
}

#[tokio::test]
async fn a_limited_key_leaves_work_alone_that_it_cannot_read() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for name in ["open", "den"] {
        ada.make_channel(json!({"name": name, "public": false})).await;
        ada.add_member(name, "scout").await.ok();
    }
    let request = json!({"name": "k", "agent": "scout", "permissions": ["*"], "channels": ["open"]});
    let key = ada.post("/api/keys", &request).await.status(201).json();
    let limited = hub.nobody().bearer(key["key"].as_str().unwrap());
    ada.say("den", "@scout in the den").await;
    ada.say("open", "@scout in the open").await;
    ada.dm("scout", "direct").await;
    let copies = scout.inbox().await;
    let hidden = copies.iter().find(|copy| copy["body"].as_str().unwrap().contains("den")).unwrap();

    assert_eq!(each(&limited.inbox().await, "body"), ["@scout in the open", "direct"]);
    assert_eq!(limited.tool("my_status", json!({})).await["pending"], 2);
    assert_eq!(each(&limited.claim(json!({"limit": 10})).await, "body"), ["@scout in the open", "direct"]);
    assert_eq!(limited.claim(json!({"message_ids": [hidden["id"]]})).await, Vec::<Value>::new());
    for (how, request) in [("done", json!({})), ("fail", json!({"error": "no"})), ("release", json!({}))] {
        limited.settle(hidden, how, request).await.problem(403, "forbidden");
    }
    limited.react(hidden, "in_progress").await.problem(403, "forbidden");
    scout.react(hidden, "in_progress").await.ok();
    limited.unreact(hidden, "in_progress").await.problem(403, "forbidden");
    scout.unreact(hidden, "in_progress").await.ok();
    assert_eq!(scout.message(hidden).await["status"], "pending");
    assert_eq!(scout.claim(json!({"limit": 10})).await.len(), 1);

    // It sees what was done with it, and nothing that was done with other keys.
    hub.settle().await;
    let own = items(limited.get("/api/traces").await.ok());
    let all = items(scout.get("/api/traces").await.ok());
    assert!(!own.is_empty() && own.len() < all.len(), "{} of {}", own.len(), all.len());
    assert!(each(&own, "action").iter().all(|action| action != "send_message"));
    let total: i64 = limited.get("/api/traces/stats").await.ok().json()["total"].as_i64().unwrap();
    assert_eq!(total, own.len() as i64);
    hub.finish().await;
}

#[tokio::test]
async fn an_administrator_who_lifts_a_quarantine_learns_nothing_of_the_agent() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let request = json!({
        "name": "scout", "instructions": "secret", "trigger_mode": "reactive", "cooldown_seconds": 77,
        "max_trigger_depth": 9, "budget": {"runs_per_day": 5},
    });
    ada.agent_with(request).await;
    ada.call("POST", "/api/agents/scout/pause").await.ok();
    let admin = hub.admin().await;
    let shown = admin.call("POST", "/api/agents/scout/unquarantine").await.ok().json();
    for (field, value) in [
        ("instructions", json!("")),
        ("trigger_mode", json!("passive")),
        ("cooldown_seconds", json!(30)),
        ("max_trigger_depth", json!(4)),
        ("paused_at", Value::Null),
    ] {
        assert_eq!(shown[field], value, "{field}");
    }
    assert_eq!(shown["budget"]["runs_per_day"], 100);
    assert_eq!(ada.get("/api/agents/scout").await.ok().json()["cooldown_seconds"], 77);
    hub.finish().await;
}
