//! How much one caller may write in a minute.

use std::time::Duration;

use serde_json::json;

use crate::support::{MINUTE, TestHub};

#[tokio::test]
async fn writes_are_limited_for_each_principal() {
    let hub = TestHub::setup().rate_limit(3).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let rename = json!({"display_name": "Ada"});
    for left in (0..3).rev() {
        let reply = ada.put("/auth/profile", &rename).await.ok();
        assert_eq!(reply.header("ratelimit-policy"), Some(r#""writes";q=3;w=60"#));
        assert!(reply.header("ratelimit").unwrap().starts_with(&format!(r#""writes";r={left};t="#)), "{reply:?}");
    }
    let refused = ada.put("/auth/profile", &json!({"display_name": "Too much"})).await.problem(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("20"));
    assert_eq!(refused.header("ratelimit"), Some(r#""writes";r=0;t=20"#));
    // Another session is the same person; reading is free; others are not touched.
    ada.get("/auth/me").await.ok();
    assert!(ada.get("/auth/me").await.header("ratelimit").is_none());
    assert_eq!(ada.get("/auth/me").await.json()["user"]["display_name"], "Ada");
    ada.again().await.put("/auth/profile", &rename).await.problem(429, "rate_limited");
    bob.put("/auth/profile", &rename).await.ok();

    hub.advance(Duration::from_secs(19));
    ada.put("/auth/profile", &rename).await.problem(429, "rate_limited");
    hub.advance(Duration::from_secs(1));
    ada.put("/auth/profile", &rename).await.ok();
    ada.put("/auth/profile", &rename).await.problem(429, "rate_limited");
    hub.advance(MINUTE);
    for _ in 0..3 {
        ada.put("/auth/profile", &rename).await.ok();
    }
    hub.finish().await;
}

#[tokio::test]
async fn refused_writes_count_too() {
    let hub = TestHub::setup().rate_limit(2).start().await;
    let ada = hub.human("ada").await;
    ada.post("/api/agents", &json!({"name": "!"})).await.invalid(&["name"]);
    ada.delete("/api/agents/nothing").await.problem(404, "not_found");
    ada.post("/api/agents", &json!({"name": "scout"})).await.problem(429, "rate_limited");
    assert!(ada.list("/api/agents").await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_has_a_limit_of_its_own_whichever_key_it_uses() {
    let hub = TestHub::setup().rate_limit(4).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, key) = ada.key("scout", json!(["*"])).await;
    let managed = hub.nobody().bearer(&key);
    for client in [&scout.client, &managed, &scout.client, &managed] {
        client.call("POST", "/auth/logout").await.problem(403, "forbidden");
    }
    managed.call("POST", "/auth/logout").await.problem(429, "rate_limited");
    ada.put("/auth/profile", &json!({"display_name": "Ada"})).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn zero_means_no_limit() {
    let hub = TestHub::setup().rate_limit(0).start().await;
    let ada = hub.human("ada").await;
    for _ in 0..30 {
        let reply = ada.put("/auth/profile", &json!({"display_name": "Ada"})).await.ok();
        assert!(reply.header("ratelimit").is_none() && reply.header("ratelimit-policy").is_none());
    }
    hub.finish().await;
}
