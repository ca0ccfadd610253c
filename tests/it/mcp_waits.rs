//! MCP: waiting, restarts, and those who go in the middle.

use std::time::Duration;

use serde_json::json;
use stoa::surfaces::mcp::{Effect, Offer, ToolSpec, Toolset};

use crate::support::{TestHub, eventually};

#[tokio::test]
async fn a_restart_is_not_noticed() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    scout.mcp("initialize", params).await.rpc_result();
    let waited = scout.tool("wait_for_messages", json!({"timeout_seconds": 0})).await;
    let key = scout.key.clone();
    let hub = hub.restart().await;
    let scout = hub.nobody().bearer(&key);
    hub.log_in("ada").await.post("/api/messages", &json!({"to": "scout", "body": "x"})).await.status(201);
    let go_on = json!({"timeout_seconds": 0, "cursor": waited["next_cursor"]});
    let call = scout.mcp("tools/call", json!({"name": "wait_for_messages", "arguments": go_on}));
    let answer = call.header("mcp-protocol-version", "2025-11-25").header("mcp-session-id", "of another time").await;
    assert_eq!(answer.tool_answer()["items"][0]["content"], "x");
    hub.finish().await;
}

#[tokio::test]
async fn who_goes_waits_no_longer() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let waiting = tokio::spawn({
        let scout = scout.client.clone();
        async move { scout.tool("wait_for_messages", json!({"timeout_seconds": 50})).await }
    });
    eventually("it waits", async || hub.inner().waiters().len() == 1).await;
    waiting.abort();
    eventually("nobody waits", async || hub.inner().waiters().is_empty()).await;
    hub.finish().await;
}

#[tokio::test]
async fn who_waits_when_the_hub_stops_is_answered() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let waits = [false, true].map(|is_latest| {
        let params = json!({"name": "wait_for_messages", "arguments": {"timeout_seconds": 50}});
        let scout = scout.client.clone();
        let call = if is_latest { scout.mcp_latest("tools/call", params) } else { scout.mcp("tools/call", params) };
        tokio::spawn(call.into_future())
    });
    eventually("both wait", async || hub.inner().waiters().len() == 2).await;
    hub.finish().await;
    for wait in waits {
        assert_eq!(wait.await.unwrap().tool_answer()["items"], json!([]));
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Gates that the tool stands at: one says that it has begun, the other lets it go on.
static BEGUN: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(0);
static GO_ON: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(0);

fn slow_tool(offer: &mut Offer) {
    let spec = ToolSpec::new("take_long", Toolset::Core, Effect::Adds, None, "For tests");
    offer.tools.add(spec, |_, _, Nothing {}| async move {
        BEGUN.add_permits(1);
        GO_ON.acquire().await.unwrap().forget();
        Ok(json!({}))
    });
}

#[tokio::test]
async fn who_hangs_up_has_acted_all_the_same_and_it_is_traced() {
    let hub = TestHub::setup().offer(slow_tool).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let calling = tokio::spawn({
        let scout = scout.client.clone();
        async move { scout.tool("take_long", json!({})).await }
    });
    BEGUN.acquire().await.unwrap().forget();
    calling.abort();
    // The hub sees that the caller has gone: another one, who only waits, is let go by the same sign.
    let waiting = tokio::spawn({
        let scout = scout.client.clone();
        async move { scout.tool("wait_for_messages", json!({"timeout_seconds": 50})).await }
    });
    eventually("it waits", async || hub.inner().waiters().len() == 1).await;
    waiting.abort();
    eventually("nobody waits", async || hub.inner().waiters().is_empty()).await;
    GO_ON.add_permits(1);
    let traced = async || {
        hub.settle().await;
        hub.count("select count(*) as n from traces where action = 'take_long' and error is null").await
    };
    eventually("it is traced", async || traced().await == 1).await;
    hub.finish().await;
}

#[tokio::test]
async fn who_is_shut_out_waits_no_longer() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let (record, key) = ada.key("scout", json!(["*"])).await;
    let limited = hub.nobody().bearer(&key);
    let waiting = tokio::spawn({
        let limited = limited.clone();
        async move { limited.tool_refused("wait_for_messages", json!({"timeout_seconds": 50})).await }
    });
    eventually("it waits", async || hub.inner().waiters().len() == 1).await;
    ada.delete(&format!("/api/keys/{}", record["id"])).await.ok();
    // The clock stands still: nothing else would end the wait.
    let (code, _) = tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap().unwrap();
    assert_eq!(code, "invalid_credentials");
    hub.finish().await;
}
