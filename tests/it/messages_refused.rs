//! What cannot be sent: each is refused with a reason, and nothing of it is stored.

use serde_json::{Value, json};

use crate::support::{Client, TestHub};

/// Everything that a refused send could leave behind.
async fn stored(hub: &TestHub) -> i64 {
    hub.count(
        "select (select count(*) from messages) + (select count(*) from conversations)
             + (select count(*) from channel_members) + (select count(*) from outbox) as n",
    )
    .await
}

async fn refused(hub: &TestHub, sender: &Client, request: &Value, status: u16, code: &str) -> Value {
    let before = stored(hub).await;
    let reply = sender.post("/api/messages", request).await.problem(status, code);
    assert_eq!(stored(hub).await, before, "{request}");
    reply.json()
}

#[tokio::test]
async fn there_has_to_be_somebody_to_read_it() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("adalovelace").await, hub.human("bob").await, hub.human("eve").await);
    bob.agent("scout").await;
    ada.agent("scott").await;
    ada.agent("gone").await;
    ada.delete("/api/agents/gone").await.ok();
    let to = |name: &str| json!({"to": name, "body": "x"});
    refused(&hub, &ada, &to("adalovelace"), 422, "cannot_message_self").await;
    refused(&hub, &ada, &to("AdaLovelace"), 422, "cannot_message_self").await;
    let problem = refused(&hub, &eve, &to("scoot"), 404, "unknown_recipient").await;
    let hint = problem["hint"].as_str().unwrap();
    assert!(hint.contains("scout") && hint.contains("scott") && hint.starts_with("Did you mean"), "{hint}");
    assert!(problem["detail"].as_str().unwrap().contains("scoot"));
    for name in ["system", "gone", "", "@", "@@bob", "bob ", "b\u{f6}b", "operator", "#general", "*"] {
        refused(&hub, &eve, &to(name), 404, "unknown_recipient").await;
    }
    // A name that is longer than names can be is like nobody's.
    let problem = refused(&hub, &eve, &to(&"a".repeat(500_000)), 404, "unknown_recipient").await;
    assert!(problem["detail"].as_str().unwrap().len() < 200 && problem.get("hint").is_none(), "{problem}");
    hub.operator().call("users.disable", json!({"username": "bob"})).await;
    refused(&hub, &eve, &to("bob"), 409, "recipient_disabled").await;
    refused(&hub, &eve, &to("scout"), 409, "recipient_disabled").await;
    hub.operator().call("users.enable", json!({"username": "bob"})).await;
    eve.dm("bob", "welcome back").await;
    hub.finish().await;
}

#[tokio::test]
async fn its_fields_have_to_be_right() {
    let hub = TestHub::start().await;
    let (ada, _bob) = (hub.human("ada").await, hub.human("bob").await);
    let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let cases = [
        (json!({"to": null}), "to"),
        (json!({"channel": "general"}), "to"),
        (json!({"to": 1}), "to"),
        (json!({"body": ""}), "body"),
        (json!({"body": " \n\t\u{a0}\u{3000}"}), "body"),
        (json!({"body": null}), "body"),
        (json!({"body": 1}), "body"),
        (json!({"body": "x".repeat(256 * 1024 + 1)}), "body"),
        (json!({"body": format!("{}ä", "x".repeat(256 * 1024 - 1))}), "body"),
        (json!({"body": "a\0b"}), ""),
        (json!({"subject": "a\0b"}), ""),
        (json!({"metadata": {"a\0b": 1}}), ""),
        (json!({"priority": 0}), "priority"),
        (json!({"priority": 11}), "priority"),
        (json!({"priority": -1}), "priority"),
        (json!({"priority": 1.5}), "priority"),
        (json!({"priority": "5"}), "priority"),
        (json!({"subject": ""}), "subject"),
        (json!({"subject": "x".repeat(201)}), "subject"),
        (json!({"subject": "two\nlines"}), "subject"),
        (json!({"subject": "\u{202e}txet"}), "subject"),
        (json!({"metadata": []}), "metadata"),
        (json!({"metadata": "x"}), "metadata"),
        (json!({"metadata": 1}), "metadata"),
        (json!({"metadata": {"x": "y".repeat(16 * 1024)}}), "metadata"),
        (json!({"attachments": ["0".repeat(63)]}), "attachments"),
        (json!({"attachments": ["A".repeat(64)]}), "attachments"),
        (json!({"attachments": ["0".repeat(64), "0".repeat(64)]}), "attachments"),
        (json!({"attachments": (0..11).map(|n| format!("{n:064x}")).collect::<Vec<_>>()}), "attachments"),
        (json!({"attachments": "x"}), "attachments"),
        (json!({"no_wake": "yes"}), "no_wake"),
        (json!({"reply_to": "x"}), "reply_to"),
        (json!({"reply_to": 1e30}), "reply_to"),
        (json!({"from": "bob"}), "from"),
        (json!({"sender": "system"}), "sender"),
        (json!({"depth": 0}), "depth"),
    ];
    let before = stored(&hub).await;
    for (change, field) in cases {
        let mut request = json!({"to": "bob", "body": "x"});
        request.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        ada.post("/api/messages", &request).await.invalid(&[field]);
    }
    ada.post("/api/messages", &json!({"to": "bob"})).await.invalid(&["body"]);
    ada.post("/api/messages", &json!({"body": "x"})).await.invalid(&["to"]);
    // Everything that is wrong is said at once.
    let wrong = json!({"body": "", "priority": 99, "subject": "\n"});
    ada.post("/api/messages", &wrong).await.invalid(&["to", "body", "subject", "priority"]);
    assert_eq!(stored(&hub).await, before);
    ada.send(json!({"to": "bob", "body": "x", "metadata": {"deep": nested(32)}})).await;
    let deeper = json!({"to": "bob", "body": "x", "metadata": {"deep": nested(33)}});
    ada.post("/api/messages", &deeper).await.problem(422, "validation_failed");
    let too_deep = format!(r#"{{"to":"bob","body":"x","metadata":{{"a":{}1{}}}}}"#, "[".repeat(5000), "]".repeat(5000));
    ada.call("POST", "/api/messages").body("application/json", too_deep).await.problem(400, "malformed_request");
    hub.finish().await;
}

#[tokio::test]
async fn a_body_is_kept_byte_for_byte() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let odd = [
        "\u{1}\u{7}\u{8}\u{1b}[31m\u{7f}\u{85}",
        "\u{202e}\u{2066}\u{200b}\u{feff}\u{fffe}\u{ffff}",
        "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 e\u{301} é \u{10ffff}",
        " leading and trailing \r\n\r\n",
        "'; drop table messages; -- $1 ? %s {} \\ \" <script>",
        "\\u0000 is not NUL",
        "日本語 العربية עברית",
    ];
    for body in odd {
        let sent = ada.dm("bob", body).await;
        assert_eq!(bob.message(&sent).await["body"], body);
        let said = ada.say("general", body).await;
        assert_eq!(bob.message(&said).await["body"], body);
    }
    for body in ["x".repeat(256 * 1024), "ä".repeat(128 * 1024), "🙂".repeat(64 * 1024)] {
        let sent = ada.dm("bob", &body).await;
        assert_eq!(bob.message(&sent).await["body"], body);
    }
    let metadata = json!({"x": "y".repeat(16 * 1024 - 8)});
    assert_eq!(metadata.to_string().len(), 16 * 1024);
    ada.send(json!({"to": "bob", "body": "x", "metadata": metadata, "subject": "ä".repeat(200)})).await;
    hub.finish().await;
}

#[tokio::test]
async fn only_what_one_sees_can_be_answered() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    let foreign = [ada.dm("bob", "private").await, ada.say("den", "private").await];
    let answer = |id: &Value| json!({"channel": "general", "body": "x", "reply_to": id});
    let mut details = Vec::new();
    for id in [&foreign[0]["id"], &foreign[1]["id"], &json!(999_999), &json!(0), &json!(-1), &json!(i64::MAX)] {
        let problem = refused(&hub, &eve, &answer(id), 404, "not_found").await;
        details.push(problem["detail"].clone());
    }
    // Nobody learns from the answer which of them exist.
    details.dedup();
    assert_eq!(details.len(), 1, "{details:?}");
    let deleted = bob.say("general", "deleted").await;
    bob.take_back(&deleted).await.status(204);
    refused(&hub, &eve, &answer(&deleted["id"]), 409, "message_deleted").await;
    hub.finish().await;
}

#[tokio::test]
async fn a_channel_has_to_be_there_for_its_sender() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    let to = |name: &str| json!({"channel": name, "body": "x"});
    let hidden = refused(&hub, &eve, &to("den"), 404, "not_found").await;
    let missing = refused(&hub, &eve, &to("nowhere"), 404, "not_found").await;
    assert_eq!(hidden["detail"], missing["detail"]);
    for name in ["", "#", "##general", "General", "general ", "@ada"] {
        refused(&hub, &eve, &to(name), 404, "not_found").await;
    }
    hub.finish().await;
}

#[tokio::test]
async fn ids_that_are_none_are_not_found() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for id in ["0", "-1", "999999", "9223372036854775807", "9223372036854775808", "x", "1.0", "%00", "1e3", "+"] {
        let path = format!("/api/messages/{id}");
        for call in [
            ada.get(&path),
            ada.patch(&path, &json!({"body": "x"})),
            ada.delete(&path),
            ada.get(&format!("{path}/history")),
            ada.get(&format!("{path}/replies")),
            ada.post(&format!("{path}/done"), &json!({})),
            ada.post(&format!("{path}/fail"), &json!({"error": "x"})),
            ada.post(&format!("{path}/release"), &json!({})),
            ada.call("PUT", &format!("/api/threads/{id}/mute")),
            ada.call("PUT", &format!("/api/channels/general/pins/{id}")),
        ] {
            let reply = call.await;
            assert!(matches!(reply.code(), 404 | 422), "{reply:?}");
            assert!(reply.code() == 404 || id == "%00", "{reply:?}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_crowd_cannot_be_called_out_at_once() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for n in 0..51 {
        ada.agent(&format!("agent{n}")).await;
    }
    let call_out = |count: usize| (0..count).map(|n| format!("@agent{n} ")).collect::<String>();
    let send = |body: String| json!({"channel": "general", "body": body});
    refused(&hub, &ada, &send((0..10_000).map(|n| format!("@x{n} ")).collect()), 422, "too_many_mentions").await;
    refused(&hub, &ada, &send(call_out(51)), 422, "too_many_mentions").await;
    let said = ada.send(send(call_out(50))).await;
    assert_eq!(said["mentions"].as_array().unwrap().len(), 50);
    assert_eq!(hub.count("select count(*) as n from messages where mention_of is not null").await, 50);
    // An edit has the same limit.
    ada.edit(&said, &call_out(51)).await.problem(422, "too_many_mentions");
    assert_eq!(ada.message(&said).await["body"], said["body"]);
    // In code nobody is called out.
    ada.send(send(format!("```\n{}\n```", call_out(51)))).await;
    // In a DM there is nobody else to call.
    ada.send(json!({"to": "agent1", "body": call_out(51)})).await;
    hub.finish().await;
}

/// Names by which the parser tells itself what to do are not for callers: what they let in could never be read again.
#[tokio::test]
async fn nobody_speaks_to_the_parser() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    for name in
        ["$serde_json::private::RawValue", "\\u0024serde_json::private::RawValue", "$serde_json::private::Number"]
    {
        let inner = format!("{}{{\"{name}\":\"{deep}\"}}{}", "[".repeat(60), "]".repeat(60));
        let body = format!("{{\"channel\":\"general\",\"body\":\"x\",\"metadata\":{{\"x\":{inner}}}}}");
        let call = ada.call("POST", "/api/messages").body("application/json", body);
        call.await.problem(422, "validation_failed");
    }
    ada.get("/api/channels/general/messages").await.ok();
    hub.finish().await;
}
