//! MCP: who gets in, and what they find there.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{LATEST, TestHub, eventually, meta};

fn object(value: &Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

#[tokio::test]
async fn every_kind_of_bearer_gets_in_and_nobody_else() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, key) = ada.key("scout", json!(["*"])).await;
    let app = hub.app().await;
    let as_scout = app.tokens(&ada, "scout").await;
    let as_ada = app.tokens(&ada, "self").await;
    for (client, name, kind) in [
        (scout.client.clone(), "scout", "agent"),
        (hub.nobody().bearer(&key), "scout", "agent"),
        (hub.nobody().bearer(&as_scout.access), "scout", "agent"),
        (hub.nobody().bearer(&as_ada.access), "ada", "user"),
    ] {
        let status = client.tool("my_status", json!({})).await;
        assert_eq!((&status["name"], &status["kind"]), (&json!(name), &json!(kind)));
    }
    let metadata = format!("http://{}/.well-known/oauth-protected-resource/mcp", hub.address);
    let challenge = format!(r#"Bearer resource_metadata="{metadata}", scope="mcp:read mcp:write""#);
    let stranger = hub.nobody().mcp("tools/list", json!({})).await.problem(401, "unauthenticated");
    assert_eq!(stranger.header("www-authenticate"), Some(challenge.as_str()));
    // A session is for pages.
    ada.mcp("tools/list", json!({})).await.problem(401, "unauthenticated");
    for wrong in ["x", "stoa_at_x", &as_scout.refresh, &format!("{key}x")] {
        let refused = hub.nobody().bearer(wrong).mcp("tools/list", json!({})).await.problem(401, "invalid_credentials");
        assert_eq!(refused.header("www-authenticate"), Some(format!("{challenge}, error=\"invalid_token\"").as_str()));
    }
    hub.nobody().get(&format!("/mcp?access_token={}", as_ada.access)).await.problem(401, "unauthenticated");
    hub.finish().await;
}

#[tokio::test]
async fn a_token_for_an_agent_acts_as_that_agent() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let bob = hub.human("bob").await;
    let tokens = hub.app().await.tokens(&ada, "scout").await;
    let client = hub.nobody().bearer(&tokens.access);
    let sent = client.tool("send_message", json!({"to": "bob", "body": "hello"})).await;
    let message = bob.get(&format!("/api/messages/{}", sent["id"])).await.ok().json();
    assert_eq!((&message["from"]["name"], &message["from"]["kind"]), (&json!("scout"), &json!("agent")));
    // It is over with the next call after it was taken back, whoever takes it.
    let grants = ada.grants().await;
    ada.delete(&format!("/api/oauth/grants/{}", grants[0]["id"])).await.status(204);
    client.mcp("tools/list", json!({})).await.problem(401, "invalid_credentials");
    let tokens = hub.app().await.tokens(&ada, "scout").await;
    let client = hub.nobody().bearer(&tokens.access);
    client.tool("my_status", json!({})).await;
    ada.delete("/api/agents/scout").await.ok();
    client.mcp("tools/list", json!({})).await.problem(401, "invalid_credentials");
    hub.finish().await;
}

#[tokio::test]
async fn a_token_that_only_reads_is_told_how_to_get_more() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let app = hub.app().await;
    let page = crate::support::oauth::Consent::of(
        crate::support::oauth::authorize(&ada, &app.parameters().set("scope", "mcp:read")).await,
    );
    let code = page.approve(&ada, "scout").await.landing().get("code");
    let client = hub.nobody().bearer(&app.exchange(&code).await.tokens().access);
    let names = client.tool_names("/mcp").await;
    assert!(names.contains(&"read_inbox".to_owned()) && !names.contains(&"send_message".to_owned()), "{names:?}");
    client.tool("read_inbox", json!({})).await;
    let call = client.mcp("tools/call", json!({"name": "send_message", "arguments": {"to": "ada", "body": "x"}}));
    let refused = call.await.problem(403, "insufficient_scope");
    let challenge = refused.header("www-authenticate").unwrap();
    for part in [r#"error="insufficient_scope""#, r#"scope="mcp:read mcp:write""#, "resource_metadata="] {
        assert!(challenge.contains(part), "{challenge}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn every_revision_is_spoken() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let params =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = scout.mcp("initialize", params).await.rpc_result();
        assert_eq!(answer["protocolVersion"], version);
        let about = &answer["serverInfo"];
        assert_eq!((&about["name"], &about["title"]), (&json!("stoa"), &json!("Stoa")));
        let address = about["websiteUrl"].as_str().unwrap();
        for icon in about["icons"].as_array().unwrap() {
            let path = icon["src"].as_str().unwrap().strip_prefix(address).unwrap();
            let file = hub.nobody().get(path).await.ok();
            assert_eq!(file.header("content-type"), icon["mimeType"].as_str());
        }
        assert_eq!(object(&answer["capabilities"]), ["completions", "prompts", "resources", "tools"]);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        scout.mcp_at("/mcp", &initialized).header("mcp-protocol-version", version).await.status(202);
        let listed = scout.mcp("tools/list", json!({})).header("mcp-protocol-version", version).await.rpc_result();
        assert!(listed["tools"].as_array().unwrap().len() > 10);
        scout.mcp("ping", json!({})).header("mcp-protocol-version", version).await.rpc_result();
    }
    // A client that speaks an unknown one is offered one that is known.
    let params =
        json!({"protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert_eq!(scout.mcp("initialize", params).await.rpc_result()["protocolVersion"], "2025-11-25");
    let discovered = scout.mcp_latest("server/discover", json!({})).await.rpc_result();
    assert_eq!(discovered["supportedVersions"], json!(["2025-03-26", "2025-06-18", "2025-11-25", LATEST]));
    let called = scout.mcp_latest("tools/call", json!({"name": "my_status", "arguments": {}})).await;
    assert_eq!(called.tool_answer()["name"], "scout");
    let listed = scout.mcp_latest("tools/list", json!({})).await.rpc_result();
    assert_eq!(listed["cacheScope"], "private");
    // Headers that say something else than the message.
    let call = || scout.mcp("tools/call", json!({"name": "my_status", "arguments": {}, "_meta": meta()}));
    call()
        .header("mcp-protocol-version", LATEST)
        .header("mcp-method", "tools/list")
        .await
        .status(400)
        .rpc_error(-32020);
    scout.mcp("tools/list", json!({})).header("mcp-protocol-version", "1999-01-01").await.status(400);
    hub.finish().await;
}

#[tokio::test]
async fn work_goes_from_one_agent_to_another_and_back() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (scout, scribe) = (ada.agent("scout").await, ada.agent("scribe").await);
    let waiting = tokio::spawn({
        let scribe = scribe.client.clone();
        async move { scribe.tool("wait_for_messages", json!({"timeout_seconds": 50})).await }
    });
    eventually("it waits", async || hub.inner().waiters().len() == 1).await;
    let body = "Please write about it. ".repeat(20);
    let arguments = json!({"to": "scribe", "body": body, "subject": "A task", "priority": 8, "idempotency_key": "one"});
    let sent = scout.tool("send_message", arguments.clone()).await;
    assert_eq!(scout.tool("send_message", arguments).await, sent, "it is sent once");
    assert_eq!(sent["delivery"][0]["recipient"], "scribe");
    let woken = waiting.await.unwrap();
    let item = &woken["items"][0];
    assert_eq!((&item["id"], &item["from"], &item["from_kind"]), (&sent["id"], &json!("scout"), &json!("agent")));
    assert_eq!(item["preview"].as_str().unwrap().chars().count(), 120);
    assert_eq!((&item["tokens"], &item["content"]), (&json!(body.len() / 4), &Value::Null));
    let cursor = woken["next_cursor"].clone();
    let nothing = scribe.tool("wait_for_messages", json!({"timeout_seconds": 0, "cursor": cursor})).await;
    assert_eq!(nothing["items"], json!([]));
    let claimed = scribe.tool("claim_messages", json!({"limit": 5})).await;
    assert_eq!((&claimed["items"][0]["content"], &claimed["items"][0]["status"]), (&json!(body), &json!("processing")));
    let done = scribe.tool("mark_done", json!({"message_id": sent["id"], "result": "Written."})).await;
    assert_eq!(done["status"], "done");
    let thread = scout.tool("get_replies", json!({"message_id": sent["id"]})).await;
    assert_eq!((&thread["message"]["content"], &thread["items"][0]["content"]), (&json!(body), &json!("Written.")));
    let inbox = scout.tool("read_inbox", json!({})).await;
    assert_eq!(inbox["items"][0]["id"], done["reply_id"]);
    // Another message with another result: it fails, or is given back.
    let sent = scout.tool("send_message", json!({"to": "scribe", "body": "again"})).await;
    scribe.tool("claim_messages", json!({})).await;
    let (code, said) = scribe.tool_refused("mark_done", json!({"message_id": sent["id"], "status": "failed"})).await;
    assert!(code == "validation_failed" && said.contains("result"), "{said}");
    let released = scribe.tool("mark_done", json!({"message_id": sent["id"], "status": "released"})).await;
    assert_eq!(released["status"], "pending");
    scribe.tool("claim_messages", json!({"message_ids": [sent["id"]]})).await;
    let failed = scribe.tool("mark_done", json!({"message_id": sent["id"], "status": "failed", "result": "no"})).await;
    assert_eq!(failed["status"], "failed");
    hub.finish().await;
}

#[tokio::test]
async fn channels_are_used() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (scout, scribe) = (ada.agent("scout").await, ada.agent("scribe").await);
    let made = scout.tool("create_channel", json!({"name": "work", "topic": "What we do"})).await;
    assert_eq!((&made["name"], &made["joined"], &made["owner"]), (&json!("work"), &json!(true), &json!("ada")));
    assert_eq!(scribe.tool("join_channel", json!({"channel": "#work"})).await["joined"], true);
    let posted = scout.tool("send_channel_message", json!({"channel": "work", "body": "@scribe look"})).await;
    assert_eq!(posted["delivery"][0]["recipient"], "scribe");
    let page = scribe.tool("read_channel", json!({"channel": "work"})).await;
    assert_eq!((&page["items"][0]["id"], &page["items"][0]["content"]), (&posted["id"], &json!("@scribe look")));
    let status = scribe.tool("my_status", json!({})).await;
    assert!(status["unread"].as_array().unwrap().iter().any(|unread| unread["channel"] == "work"), "{status}");
    assert_eq!(scribe.tool("mark_read", json!({"channel": "work"})).await["unread"], 0);
    let settings = scout.tool("update_channel_settings", json!({"channel": "work", "workflow_enabled": true})).await;
    assert_eq!(settings["workflow_enabled"], true);
    assert_eq!(scribe.tool("leave_channel", json!({"channel": "work"})).await["left"], "work");
    let listed = scribe.tool("list_channels", json!({})).await;
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|channel| channel["name"].clone()).collect();
    assert_eq!(names, ["general", "work"]);
    let found = scout.tool("list_agents", json!({"query": "scri"})).await;
    assert_eq!((&found["items"][0]["name"], &found["items"][0]["owner"]), (&json!("scribe"), &json!("ada")));
    hub.finish().await;
}

#[tokio::test]
async fn who_may_do_less_is_shown_less() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, key) = ada.key("scout", json!(["channels:read"])).await;
    let limited = hub.nobody().bearer(&key);
    assert_eq!(limited.tool_names("/mcp?toolsets=core").await, ["list_channels"]);
    let shown = limited.tool_names("/mcp").await;
    assert!(["create_channel", "send_message"].iter().all(|name| !shown.contains(&(*name).to_owned())), "{shown:?}");
    assert_eq!(limited.tool_refused("send_message", json!({"to": "ada", "body": "x"})).await.0, "forbidden");
    let all = scout.tool_names("/mcp").await;
    let core = scout.tool_names("/mcp?toolsets=core").await;
    let both = scout.tool_names("/mcp?toolsets=core,channels,workflow").await;
    assert!(core.len() <= 12 && core.len() < all.len() && core.iter().all(|name| all.contains(name)), "{core:?}");
    assert!(both.iter().all(|name| all.contains(name)) && both.len() < all.len(), "{both:?}");
    // What is not listed can still be called by its name.
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "create_channel", "arguments": {"name": "made"}}});
    assert_eq!(scout.mcp_at("/mcp?toolsets=core", &message).await.tool_answer()["name"], "made");
    hub.finish().await;
}

#[tokio::test]
async fn tools_say_what_they_take_give_and_do() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let listed = scout.mcp("tools/list", json!({})).await.rpc_result();
    for tool in listed["tools"].as_array().unwrap() {
        let name = &tool["name"];
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        assert!(hints.iter().all(|hint| tool["annotations"][hint].is_boolean()), "{tool}");
        assert!(tool["description"].as_str().is_some_and(|text| text.len() < 100), "{name}");
    }
    hub.finish().await;
}

/// Every agent pays for the list in every conversation.
#[tokio::test]
async fn the_list_of_tools_is_cheap() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let tokens = tiktoken_rs::o200k_base().unwrap();
    for (path, most) in [("/mcp?toolsets=core", 3_000), ("/mcp", 10_000)] {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let listed = scout.mcp_at(path, &message).await.rpc_result();
        let count = tokens.encode_ordinary(&listed["tools"].to_string()).len();
        assert!(count <= most, "{path}: {count} tokens, and {most} are allowed");
    }
    hub.finish().await;
}

#[tokio::test]
async fn every_call_leaves_a_trace() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    scout.tool("send_message", json!({"to": "ada", "body": "a secret"})).await;
    scout.tool_refused("send_message", json!({"to": "nobody", "body": "a secret"})).await;
    scout.mcp("resources/read", json!({"uri": "stoa://inbox"})).await.rpc_result();
    hub.settle().await;
    let traces = ada.get("/api/traces?agent=scout").await.ok().json();
    let seen: Vec<_> = traces["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trace| (trace["action"].clone(), trace["error"].clone()))
        .collect();
    for expected in
        [("send_message", Value::Null), ("send_message", json!("unknown_recipient")), ("read_resource", Value::Null)]
    {
        assert!(seen.contains(&(json!(expected.0), expected.1.clone())), "{expected:?}: {seen:?}");
    }
    assert!(!traces.to_string().contains("a secret"));
    hub.finish().await;
}

#[tokio::test]
async fn writes_are_counted() {
    let hub = TestHub::setup().rate_limit(3).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let send = json!({"to": "ada", "body": "x"});
    for _ in 0..3 {
        scout.tool("send_message", send.clone()).await;
    }
    let (code, said) = scout.tool_refused("send_message", send).await;
    assert!(code == "rate_limited" && said.contains("seconds"), "{said}");
    scout.tool_refused("send_message", json!({"to": "ada", "body": "x"})).await;
    hub.settle().await;
    let traced = hub.count("select count(*) as n from traces where error = 'rate_limited'").await;
    assert_eq!(traced, 1, "a refusal is traced once a minute");
    scout.tool("read_inbox", json!({})).await;
    hub.advance(Duration::from_secs(60));
    scout.tool("send_message", json!({"to": "ada", "body": "x"})).await;
    hub.finish().await;
}

#[tokio::test]
async fn previews_are_cheap_whatever_comes_with_them() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let metadata = json!({"long": "x".repeat(10_000)});
    ada.post("/api/messages", &json!({"to": "scout", "body": "x", "metadata": metadata})).await.status(201);
    let listed = scout.tool("read_inbox", json!({})).await;
    assert!(listed["items"][0]["metadata"].is_null(), "{listed}");
    assert_eq!(scout.tool("read_inbox", json!({"full": true})).await["items"][0]["metadata"], metadata);
    hub.finish().await;
}

#[tokio::test]
async fn whole_contents_are_shown_as_far_as_they_are_bearable() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for letter in ["a", "b", "c"] {
        ada.dm("scout", &letter.repeat(40_000)).await;
    }
    let inbox = scout.tool("read_inbox", json!({"full": true})).await;
    let wholes = inbox["items"].as_array().unwrap().iter().map(|item| item["content"].as_str().map(str::len));
    assert_eq!(wholes.collect::<Vec<_>>(), [Some(40_000), None, None]);
    assert_eq!(inbox["items"][2]["tokens"], 10_000);
    // One is shown whole however long it is.
    let long = ada.dm("scout", &"d".repeat(200_000)).await;
    let claimed = scout.tool("claim_messages", json!({"message_ids": [long["id"]]})).await;
    assert_eq!(claimed["items"][0]["content"].as_str().unwrap().len(), 200_000);
    hub.finish().await;
}

#[tokio::test]
async fn channels_and_people_are_told_apart() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (scout, wren) = (ada.agent("scout").await, ada.agent("wren").await);
    ada.post("/api/channels", &json!({"name": "wren"})).await.status(201);
    scout.tool("join_channel", json!({"channel": "wren"})).await;
    ada.say("wren", "in the channel").await;
    wren.dm("scout", "to you").await;
    let unread = scout.tool("my_status", json!({})).await["unread"].clone();
    let has = |field: &str| unread.as_array().unwrap().iter().any(|one| one[field] == "wren" && one["unread"] == 1);
    assert!(has("channel") && has("dm"), "{unread}");
    let (code, said) = scout.tool_refused("send_message", json!({"to": "#wren", "body": "x"})).await;
    assert!(code == "validation_failed" && said.contains("send_channel_message"), "{said}");
    hub.finish().await;
}
