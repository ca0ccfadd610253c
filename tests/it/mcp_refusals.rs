//! MCP: what one is told when something is wrong.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use stoa::surfaces::mcp::{Effect, Offer, ToolSpec, Toolset};

use crate::support::TestHub;

#[tokio::test]
async fn what_is_wrong_is_said_in_a_sentence_and_a_code() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let unknown = scout.mcp("tools/call", json!({"name": "send_mesage", "arguments": {}})).await;
    assert!(unknown.rpc_error(-32602).contains("Did you mean send_message?"));
    for (tool, arguments, code, word) in [
        ("send_message", json!({"too": "ada", "body": "x"}), "validation_failed", "Did you mean to?"),
        ("send_message", json!({"to": "ada"}), "validation_failed", "body"),
        ("send_message", json!({"to": "ada", "body": 5}), "validation_failed", "body must be a string"),
        ("send_message", json!({"to": "ada", "body": "x", "priority": 11}), "validation_failed", "priority"),
        ("send_message", json!({"to": "ada", "body": "x", "metadata": []}), "validation_failed", "metadata"),
        (
            "send_message",
            json!({"to": "ada", "body": "x", "idempotency_key": ""}),
            "validation_failed",
            "idempotency_key",
        ),
        ("send_message", json!({"to": "adda", "body": "x"}), "unknown_recipient", "ada"),
        ("send_message", json!({"to": "scout", "body": "x"}), "cannot_message_self", ""),
        ("my_status", json!({"verbose": true}), "validation_failed", "takes no arguments"),
        ("read_inbox", json!({"status": "open"}), "validation_failed", "pending"),
        ("read_inbox", json!({"cursor": "x"}), "invalid_cursor", ""),
        ("read_inbox", json!({"limit": 0}), "validation_failed", "limit"),
        ("wait_for_messages", json!({"timeout_seconds": 51}), "validation_failed", "timeout_seconds"),
        ("claim_messages", json!({"message_ids": []}), "validation_failed", "message_ids"),
        ("mark_done", json!({"message_id": 99}), "not_found", ""),
        ("read_channel", json!({"channel": "nowhere"}), "not_found", ""),
        ("get_replies", json!({"message_id": "1"}), "validation_failed", "message_id must be a whole number"),
    ] {
        let (found, said) = scout.tool_refused(tool, arguments.clone()).await;
        assert_eq!(found, code, "{tool} {arguments}: {said}");
        assert!(said.contains(word), "{tool} {arguments}: {said}");
    }
    let reused = json!({"to": "ada", "body": "one", "idempotency_key": "k"});
    scout.tool("send_message", reused).await;
    let other = json!({"to": "ada", "body": "two", "idempotency_key": "k"});
    assert_eq!(scout.tool_refused("send_message", other).await.0, "idempotency_key_reused");
    hub.finish().await;
}

#[tokio::test]
async fn bad_messages_get_answers_of_the_protocol() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let send = |body: &'static str| {
        scout
            .call("POST", "/mcp")
            .header("accept", "application/json, text/event-stream")
            .body("application/json", body)
    };
    send("{").await.status(400).rpc_error(-32700);
    send("").await.status(400).rpc_error(-32700);
    send("\u{1}").await.status(400).rpc_error(-32700);
    send("[]").await.status(400).rpc_error(-32600);
    send(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).await.status(400).rpc_error(-32600);
    send(r#"{"id":1,"method":"ping"}"#).await.status(400);
    send(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#).await.status(400);
    send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"my_status","arguments":[]}}"#)
        .await
        .rpc_error(-32602);
    send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"to":"ada","body":"a\u0000b"}}}"#)
        .await
        .status(400)
        .rpc_error(-32600);
    scout.mcp("no/such", json!({})).await.rpc_error(-32601);
    scout.mcp_latest("no/such", json!({})).await.status(404).rpc_error(-32601);
    // The newest revision has no handshake any more; in the older ones this is a bad one.
    scout.mcp_latest("initialize", json!({})).await.status(404).rpc_error(-32601);
    scout.mcp("initialize", json!({})).await.rpc_error(-32602);
    for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        scout.mcp(list, json!({"cursor": "made-up"})).await.rpc_error(-32602);
    }
    scout
        .call("POST", "/mcp")
        .header("accept", "application/json, text/event-stream")
        .body("text/plain", "{}")
        .await
        .problem(415, "unsupported_media_type");
    scout.call("POST", "/mcp").header("accept", "text/html").json(&json!({})).await.problem(406, "not_acceptable");
    // What is too long is refused before it is sent.
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\naccept: */*\r\n",
        hub.address, scout.key
    );
    let head = format!(
        "{head}content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        70 * 1024 * 1024 + 1
    );
    assert!(hub.raw(head.as_bytes()).await.starts_with("HTTP/1.1 413"));
    // There is nothing to listen to, and nothing to end.
    scout.get("/mcp").header("accept", "text/event-stream").await.status(405);
    scout.delete("/mcp").await.status(405);
    scout.mcp_at("/mcp?toolsets=core,nothing", &json!({})).await.problem(422, "validation_failed");
    scout.mcp_at("/mcp/", &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).await.rpc_result();
    // Clients that take anything are served.
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    scout.post("/mcp", &message).header("accept", "*/*").await.rpc_result();
    hub.finish().await;
}

#[tokio::test]
async fn pages_and_names_of_others_are_turned_away() {
    let hub = TestHub::setup().configure(|config| config.mcp_origins = vec!["https://app.example".to_owned()]);
    let hub = hub.base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let ping = || scout.mcp("ping", json!({}));
    for origin in ["https://hub.example", "https://app.example"] {
        let reply = ping().header("origin", origin).await.status(200);
        assert_eq!(reply.header("access-control-allow-origin"), Some(origin));
        assert_eq!(reply.header("vary"), Some("Origin"));
        let preflight = hub.nobody().call("OPTIONS", "/mcp").header("origin", origin).await.status(204);
        assert!(preflight.header("access-control-allow-headers").unwrap().contains("Mcp-Method"));
    }
    for origin in ["https://evil.example", "null", "http://localhost:6274"] {
        ping().header("origin", origin).await.problem(403, "forbidden");
        hub.nobody().call("OPTIONS", "/mcp").header("origin", origin).await.problem(403, "forbidden");
    }
    ping().header("host", "evil.example").await.problem(421, "misdirected_request");
    ping().header("host", "hub.example").await.status(200);
    let refused = hub.nobody().mcp("ping", json!({})).header("origin", "https://app.example").await.status(401);
    assert_eq!(refused.header("access-control-allow-origin"), Some("https://app.example"));
    hub.finish().await;
}

/// A message of little length can be made of much.
#[tokio::test]
async fn messages_are_not_made_of_too_much() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let many = Value::Array(vec![json!(0); 60_000]);
    scout.mcp("ping", json!({"x": many})).await.status(400).rpc_error(-32600);
    let deep = (0..70).fold(json!(0), |inner, _| json!([inner]));
    scout.mcp("ping", json!({"x": deep})).await.status(400).rpc_error(-32600);
    // A long text is one value.
    let refused = scout.tool_refused("send_message", json!({"to": "ada", "body": "[,".repeat(200_000)})).await;
    assert_eq!(refused.0, "validation_failed");
    hub.finish().await;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn broken_tools(offer: &mut Offer) {
    let spec = |name, effect| ToolSpec::new(name, Toolset::Core, effect, None, "For tests");
    for (name, effect) in [("break_reading", Effect::Reads), ("break_writing", Effect::Adds)] {
        offer.tools.add(spec(name, effect), |hub, _, Nothing {}| async move {
            assert!(hub.is_stopping(), "this tool is broken");
            Ok(json!({}))
        });
    }
}

#[tokio::test]
async fn a_mistake_in_a_tool_is_an_answer() {
    let hub = TestHub::setup().offer(broken_tools).may_fail().start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for tool in ["break_reading", "break_writing"] {
        assert_eq!(scout.tool_refused(tool, json!({})).await.0, "internal");
    }
    assert_eq!(hub.metric("stoa_internal_errors_total").await, 2.0);
    hub.settle().await;
    assert_eq!(hub.count("select count(*) as n from traces where error = 'internal'").await, 2);
    scout.tool("my_status", json!({})).await;
    hub.finish().await;
}

#[tokio::test]
async fn a_revision_that_nobody_speaks_is_refused_in_the_protocol() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let refused = scout.mcp("tools/list", json!({})).header("mcp-protocol-version", "1999-01-01").await.status(400);
    assert!(refused.rpc_error(-32600).contains("1999-01-01"), "{refused:?}");
    hub.finish().await;
}

/// What is repeated is said to each tool by itself; the header of REST does not get in the way of a long message.
#[tokio::test]
async fn a_header_for_repetition_changes_nothing_here() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let long = json!({"x": "y".repeat(1024 * 1024 + 1)});
    scout.mcp("ping", long).header("idempotency-key", "k").await.rpc_result();
    let send = json!({"name": "send_message", "arguments": {"to": "ada", "body": "hello"}});
    let ids = [
        scout.mcp("tools/call", send.clone()).header("idempotency-key", "k").await.tool_answer()["id"].clone(),
        scout.mcp("tools/call", send).header("idempotency-key", "k").await.tool_answer()["id"].clone(),
    ];
    assert_ne!(ids[0], ids[1]);
    hub.finish().await;
}

/// Whoever gets an argument wrong is told which.
#[tokio::test]
async fn every_argument_of_a_wrong_type_is_named() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let listed = scout.mcp("tools/list", json!({})).await.rpc_result();
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            // A number where a text belongs, and a text everywhere else.
            let is_text = |kind: &Value| {
                kind == "string" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("string")))
            };
            let wrong = if is_text(&schema["type"]) { json!(5) } else { json!("no such thing") };
            let reply =
                scout.mcp("tools/call", json!({"name": name, "arguments": {argument: wrong}})).await.rpc_result();
            let error = &reply["_meta"]["stoa/error"];
            assert_eq!(error["code"], "validation_failed", "{name} {argument}: {reply}");
            assert_eq!(error["errors"][0]["field"], json!(argument), "{name} {argument}: {reply}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn claims_say_what_could_not_be_had() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (one, two) = (ada.dm("scout", &"long ".repeat(100)).await, ada.dm("scout", "two").await);
    let claimed = scout.tool("claim_messages", json!({"message_ids": [one["id"], 9999]})).await;
    assert_eq!((&claimed["items"][0]["id"], &claimed["not_claimed"]), (&one["id"], &json!([9999])));
    // Whoever prolongs a claim has read the message, and is not told it again.
    let extended = scout.tool("claim_messages", json!({"extend": [one["id"], two["id"]]})).await;
    assert_eq!((&extended["items"][0]["id"], &extended["not_claimed"]), (&one["id"], &json!([two["id"]])));
    assert!(extended["items"][0]["content"].is_null() && extended["items"][0]["lease_until"].is_string());
    let done = json!({"message_id": one["id"], "result": "x", "idempotency_key": "k"});
    let first = scout.tool("mark_done", done.clone()).await;
    assert_eq!(scout.tool("mark_done", done).await, first);
    let (code, said) = scout.tool_refused("mark_done", json!({"message_id": one["id"]})).await;
    assert!(code == "illegal_transition" && said.contains("already settled"), "{code} {said}");
    hub.finish().await;
}

/// Files are long; who may not upload any has nothing long to say.
#[tokio::test]
async fn only_who_uploads_sends_long_messages() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, key) = ada.key("scout", json!(["messages:read", "messages:write"])).await;
    let content = STANDARD.encode("y".repeat(3 * 1024 * 1024));
    let file = json!({"name": "upload_attachment", "arguments": {"filename": "y.txt", "content_base64": content}});
    hub.nobody().bearer(&key).mcp("tools/call", file.clone()).await.problem(413, "payload_too_large");
    let uploaded = scout.mcp("tools/call", file).await.tool_answer();
    assert_eq!(uploaded["size"], 3 * 1024 * 1024);
    // Nothing else is so long, but blanks mean nothing.
    let long = json!({"x": "y".repeat(3 * 1024 * 1024)});
    scout.mcp("ping", long).await.problem(413, "payload_too_large");
    let padded = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping"{}}}"#, " ".repeat(3 * 1024 * 1024));
    let accept = "application/json, text/event-stream";
    scout.call("POST", "/mcp").body("application/json", padded).header("accept", accept).await.rpc_result();
    hub.finish().await;
}
