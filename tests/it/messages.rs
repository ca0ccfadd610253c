//! Messages: what is sent, answered, edited and taken back.

use serde_json::{Value, json};
use stoa::clock::Clock;
use stoa_db::{DbError, params};
use stoa_model::Timestamp;

use crate::backup::back_up;
use crate::support::{MINUTE, TestHub, each, how_many, items, on_postgres, together};
use crate::walk::{Row, ToolRow, either, either_thing, refused, shows_own};

/// What agents of other owners must be refused; see `walk/tools.rs`.
pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![
        refused("send_channel_message", json!({"channel": "{channel}", "body": "x"})),
        refused("mark_read", json!({"channel": "{channel}"})),
        refused("mark_read", json!({"channel": "{channel}", "message_id": "{post}"})),
        shows_own("mark_read", json!({"dm": "{owner}"})),
        refused("send_channel_message", json!({"channel": "general", "body": "x", "reply_to": "{post}"})),
        refused("send_channel_message", json!({"channel": "general", "body": "x", "attachments": ["{sha256}"]})),
        refused("get_replies", json!({"message_id": "{post}"})),
        refused("get_replies", json!({"message_id": "{dm}"})),
        refused("send_message", json!({"to": "{owner}", "body": "x", "reply_to": "{dm}"})),
        refused("send_message", json!({"to": "{owner}", "body": "x", "attachments": ["{sha256}"]})),
    ]
}

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("POST /api/messages")
            .body(json!({"channel": "general", "body": "hello"}))
            .aimed_with(json!({"channel": "{channel}", "body": "hello"}), 404, "not_found")
            .aimed_with(json!({"to": "{owner}", "body": "hello", "reply_to": "{post}"}), 404, "not_found")
            .aimed_with(
                json!({"to": "{owner}", "body": "hello", "attachments": ["{sha256}"]}),
                404,
                "unknown_attachment",
            ),
        either_thing("GET /api/messages/{id}"),
        either_thing("PATCH /api/messages/{id}").body(json!({"body": "Taken over"})),
        either_thing("DELETE /api/messages/{id}"),
        either_thing("GET /api/messages/{id}/history"),
        either_thing("GET /api/messages/{id}/delivery"),
        either_thing("GET /api/messages/{id}/replies"),
        either("GET /api/dm/partners").about_the_agent().aimed("as={name}", 404, "not_found"),
        either("GET /api/dm/{name}/messages").about_the_agent().aimed("as={name}", 404, "not_found"),
    ]
}

#[tokio::test]
async fn a_dm_is_sent_read_and_answered() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let sent = ada.dm("bob", "hello").await;
    assert_eq!(sent["delivery"], json!([{"recipient": "bob", "state": "stored"}]));
    let expected = json!({
        "id": sent["id"], "conversation_id": sent["conversation_id"], "channel_id": null, "channel": null,
        "from": {"kind": "user", "name": "ada", "display_name": "ada"}, "to": "bob", "subject": null, "body": "hello",
        "reply_to": null, "status": "pending", "priority": 5, "metadata": {}, "mentions": [],
        "created_at": "2027-01-15T08:00:00.000Z", "edited_at": null, "deleted_at": null, "reply_count": 0,
        "attachments": [], "reactions": [], "workflow_state": null, "run_id": null, "depth": 0,
        "lease_until": null, "status_since": null,
    });
    for reader in [&ada, &bob] {
        assert_eq!(reader.message(&sent).await, expected);
    }
    let answer = bob.send(json!({"to": "ada", "body": "hi", "reply_to": sent["id"]})).await;
    assert_eq!(answer["conversation_id"], sent["conversation_id"]);
    let page = items(ada.get("/api/dm/bob/messages").await.ok());
    assert_eq!(each(&page, "body"), ["hello", "hi"]);
    assert_eq!(page[0]["reply_count"], 1);
    hub.finish().await;
}

#[tokio::test]
async fn every_field_is_kept() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let first = bob.dm("ada", "first").await;
    let metadata = json!({"nested": {"list": [1, 2.5, null, "ä"]}, "empty": {}});
    for target in [json!({"to": "@BOB"}), json!({"channel": "#general"})] {
        let mut request = json!({
            "body": "text", "subject": "A subject", "priority": 10, "metadata": metadata, "reply_to": first["id"],
            "attachments": [], "no_wake": true,
        });
        request.as_object_mut().unwrap().extend(target.as_object().unwrap().clone());
        let sent = ada.send(request).await;
        let mut shown = sent.clone();
        shown.as_object_mut().unwrap().remove("delivery");
        assert_eq!(bob.message(&sent).await, shown);
        for (field, value) in [
            ("subject", json!("A subject")),
            ("priority", json!(10)),
            ("metadata", metadata.clone()),
            ("reply_to", first["id"].clone()),
            ("body", json!("text")),
        ] {
            assert_eq!(sent[field], value, "{sent}");
        }
        let is_channel = target.get("channel").is_some();
        assert_eq!(sent["to"], if is_channel { Value::Null } else { json!("bob") });
        assert_eq!(sent["channel"], if is_channel { json!("general") } else { Value::Null });
        assert_eq!(sent["channel_id"].is_i64(), is_channel);
        assert_eq!(sent["status"], if is_channel { "done" } else { "pending" });
    }
    // `null` is as good as nothing.
    ada.send(json!({"to": "bob", "channel": null, "body": "x", "subject": null, "priority": null, "metadata": null}))
        .await;
    hub.finish().await;
}

#[tokio::test]
async fn work_in_a_channel_waits_only_where_there_is_a_workflow() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "work"})).await;
    assert_eq!(ada.propose("work", "done").await["status"], "done");
    ada.put("/api/channels/work/settings", &json!({"workflow_enabled": true})).await.ok();
    assert_eq!(ada.propose("work", "pending").await["status"], "pending");
    // It is nobody's inbox, so nobody settles it there.
    let message = ada.propose("work", "to settle").await;
    ada.settle(&message, "done", json!({})).await.problem(403, "forbidden");
    hub.finish().await;
}

#[tokio::test]
async fn answers_are_counted_as_far_as_they_can_be_seen() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    let root = ada.say("general", "a question for @bob").await;
    bob.reply("general", &root, "in the channel").await;
    let in_dm = bob.send(json!({"to": "ada", "body": "in a DM", "reply_to": root["id"]})).await;
    let in_den = ada.reply("den", &root, "in the den").await;
    for (reader, count) in [(&ada, 3), (&bob, 2), (&eve, 1)] {
        assert_eq!(reader.message(&root).await["reply_count"], count, "{}", reader.name);
        assert_eq!(reader.replies(&root).await.len(), count as usize, "{}", reader.name);
        let page = items(reader.get("/api/channels/general/messages").await.ok());
        assert_eq!(page[0]["reply_count"], count);
    }
    assert_eq!(each(&ada.replies(&root).await, "body"), ["in the channel", "in a DM", "in the den"]);
    // Answers to answers belong to those.
    bob.reply("general", &in_dm, "deeper").await;
    assert_eq!(ada.message(&root).await["reply_count"], 3);
    assert_eq!(ada.message(&in_dm).await["reply_count"], 1);
    eve.get(&format!("/api/messages/{}/replies", in_den["id"])).await.problem(404, "not_found");
    // A deleted answer leaves its tombstone in the list and is not counted.
    ada.take_back(&in_den).await.status(204);
    assert_eq!(ada.message(&root).await["reply_count"], 2);
    assert_eq!(ada.replies(&root).await.len(), 3);
    hub.finish().await;
}

#[tokio::test]
async fn answers_come_in_pages() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let root = ada.say("general", "root").await;
    for n in 0..5 {
        ada.reply("general", &root, &n.to_string()).await;
    }
    let path = format!("/api/messages/{}/replies", root["id"]);
    let mut found = Vec::new();
    let mut cursor = String::new();
    for expected in [2, 2, 1] {
        let page = ada.get(&format!("{path}?limit=2{cursor}")).await.ok().json();
        assert_eq!(page["items"].as_array().unwrap().len(), expected);
        found.extend(each(page["items"].as_array().unwrap(), "body"));
        cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap_or_default());
        assert_eq!(page["next_cursor"].is_null(), expected == 1);
    }
    assert_eq!(found, ["0", "1", "2", "3", "4"]);
    hub.finish().await;
}

#[tokio::test]
async fn long_texts_come_a_few_at_a_time() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    // Eight of them are a page.
    let long = "x".repeat(128_000);
    let first = ada.dm("bob", &long).await;
    for _ in 0..11 {
        let answer = json!({"to": "bob", "body": long, "reply_to": first["id"]});
        ada.post("/api/messages", &answer).await.status(201);
    }
    // Nothing is lost, whichever way they are listed: there is more behind a page that was cut.
    for path in ["/api/inbox?full=true", &format!("/api/messages/{}/replies?limit=200", first["id"])] {
        let page = bob.get(path).await.ok().json();
        assert_eq!(page["items"].as_array().unwrap().len(), 8, "{path}");
        let next = bob.get(&format!("{path}&cursor={}", page["next_cursor"].as_str().unwrap())).await.ok().json();
        assert!(next["items"].as_array().unwrap().len() >= 3 && next["next_cursor"].is_null(), "{path}");
    }
    let newest = bob.get("/api/dm/ada/messages").await.ok().json()["items"].as_array().unwrap().clone();
    assert_eq!(newest.len(), 8);
    let before = bob.get(&format!("/api/dm/ada/messages?before={}", newest[0]["id"])).await.ok().json();
    assert_eq!(before["items"].as_array().unwrap().len(), 4);
    // Beginnings are cheap.
    assert_eq!(bob.get("/api/inbox").await.ok().json()["items"].as_array().unwrap().len(), 12);
    assert_eq!(bob.claim(json!({"limit": 100})).await.len(), 8);
    assert_eq!(bob.claim(json!({"limit": 100})).await.len(), 4);
    for number in 0..11 {
        ada.edit(&first, &format!("{number}{}", &long[2..])).await.ok();
    }
    let history = format!("/api/messages/{}/history", first["id"]);
    let page = bob.get(&history).await.ok().json();
    assert_eq!(page["items"].as_array().unwrap().len(), 8);
    let next = bob.get(&format!("{history}?cursor={}", page["next_cursor"].as_str().unwrap())).await.ok().json();
    assert_eq!(next["items"].as_array().unwrap().len(), 4);
    assert_eq!((&next["items"][3]["revision"], &next["next_cursor"]), (&json!(12), &json!(null)));
    hub.finish().await;
}

#[tokio::test]
async fn an_edit_keeps_the_history() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let message = ada.dm("bob", "one").await;
    let history = format!("/api/messages/{}/history", message["id"]);
    assert_eq!(each(&items(bob.get(&history).await.ok()), "body"), ["one"]);
    hub.advance(MINUTE);
    let edited = ada.edit(&message, "two").await.ok().json();
    assert_eq!((&edited["body"], &edited["edited_at"]), (&json!("two"), &json!("2027-01-15T08:01:00.000Z")));
    hub.advance(MINUTE);
    ada.edit(&message, "three").await.ok();
    // The same text again is no edit.
    ada.edit(&message, "three").await.ok();
    let revisions = json!([
        {"revision": 1, "body": "one", "written_at": "2027-01-15T08:00:00.000Z"},
        {"revision": 2, "body": "two", "written_at": "2027-01-15T08:01:00.000Z"},
        {"revision": 3, "body": "three", "written_at": "2027-01-15T08:02:00.000Z"},
    ]);
    assert_eq!(bob.get(&history).await.ok().json()["items"], revisions);
    assert_eq!(bob.message(&message).await["body"], "three");

    bob.edit(&message, "mine").await.problem(403, "forbidden");
    hub.human("eve").await.edit(&message, "mine").await.problem(404, "not_found");
    for body in ["", " \n\t", &"x".repeat(256 * 1024 + 1)] {
        ada.edit(&message, body).await.invalid(&["body"]);
    }
    ada.take_back(&message).await.status(204);
    ada.edit(&message, "four").await.problem(409, "message_deleted");
    assert!(items(bob.get(&history).await.ok()).is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn edits_at_once_all_end_up_in_the_history() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "first").await;
    let path = format!("/api/messages/{}", message["id"]);
    let replies = together((0..16).map(|n| ada.patch(&path, &json!({"body": format!("text {n}")})))).await;
    assert_eq!(how_many(&replies, 200), 16);
    let history = items(ada.get(&format!("{path}/history")).await.ok());
    let mut bodies = each(&history, "body");
    assert_eq!(each(&history, "revision"), (1..=17).collect::<Vec<_>>());
    bodies.sort_by_key(Value::to_string);
    bodies.dedup();
    assert_eq!(bodies.len(), 17);
    hub.finish().await;
}

#[tokio::test]
async fn editing_in_a_channel_that_one_left_joins_nothing() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "work"})).await;
    let message = bob.say("work", "hello").await;
    bob.call("POST", "/api/channels/work/leave").await.status(204);
    bob.edit(&message, "goodbye").await.ok();
    assert_eq!(ada.members("work").await, ["ada"]);
    assert_eq!(ada.message(&message).await["body"], "goodbye");
    hub.finish().await;
}

#[tokio::test]
async fn a_deleted_message_leaves_a_tombstone() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    ada.make_channel(json!({"name": "work"})).await;
    eve.call("POST", "/api/channels/work/join").await.ok();
    let request = json!({"channel": "work", "body": "secret @eve", "subject": "secret", "metadata": {"a": "secret"}});
    let message = bob.send(request).await;
    let answer = ada.reply("work", &message, "an answer").await;
    bob.edit(&message, "secret still @eve").await.ok();
    ada.call("PUT", &format!("/api/channels/work/pins/{}", message["id"])).await.status(204);

    eve.take_back(&message).await.problem(403, "forbidden");
    // The channel is ada's.
    ada.take_back(&message).await.status(204);
    let tombstone = eve.message(&message).await;
    for (field, value) in [
        ("body", json!("")),
        ("subject", Value::Null),
        ("metadata", json!({})),
        ("mentions", json!([])),
        ("deleted_at", json!("2027-01-15T08:00:00.000Z")),
        ("reply_count", json!(1)),
    ] {
        assert_eq!(tombstone[field], value, "{tombstone}");
    }
    assert_eq!(eve.replies(&message).await[0]["id"], answer["id"]);
    assert!(items(ada.get("/api/channels/work/pins").await.ok()).is_empty());
    assert!(eve.inbox().await.is_empty());
    let said = hub.count("select count(*) as n from messages where body like '%secret%' or metadata like '%secret%'");
    assert_eq!(said.await, 0);
    assert_eq!(hub.count("select count(*) as n from message_revisions").await, 0);

    // Again is as good as once, for whoever may.
    let entries = hub.audit().await.len();
    ada.take_back(&message).await.status(204);
    bob.take_back(&message).await.status(204);
    eve.take_back(&message).await.problem(403, "forbidden");
    assert_eq!(hub.audit().await.len(), entries);

    let direct = ada.dm("bob", "direct").await;
    bob.take_back(&direct).await.problem(403, "forbidden");
    eve.take_back(&direct).await.problem(404, "not_found");
    ada.take_back(&direct).await.status(204);
    assert_eq!(bob.message(&direct).await["status"], "done");
    hub.finish().await;
}

#[tokio::test]
async fn depth_counts_the_steps_of_automation() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (ant, bee) = (ada.agent("ant").await, ada.agent("bee").await);
    let asked = ada.dm("ant", "do").await;
    assert_eq!(asked["depth"], 0);
    assert_eq!(ant.dm("bee", "on my own").await["depth"], 1);
    let first = ant.send(json!({"to": "bee", "body": "please", "reply_to": asked["id"]})).await;
    assert_eq!(first["depth"], 1);
    let second = bee.send(json!({"channel": "general", "body": "@ant done", "reply_to": first["id"]})).await;
    assert_eq!(second["depth"], 2);
    let told = ant.inbox().await.pop().unwrap();
    assert_eq!((&told["reply_to"], &told["depth"]), (&second["id"], &json!(2)));
    assert_eq!(ada.reply("general", &second, "a person begins anew").await["depth"], 0);
    ant.settle(&told, "done", json!({"result": "ok"})).await.ok();
    assert_eq!(bee.inbox().await.pop().unwrap()["depth"], 3);

    let send = |header: &str| {
        let request = json!({"to": "ant", "body": "x", "reply_to": second["id"]});
        bee.post("/api/messages", &request).header("webhook-loop-depth", header)
    };
    for (header, depth) in [("0", 3), ("2", 3), ("3", 4), ("1000", 1001)] {
        assert_eq!(send(header).await.status(201).json()["depth"], depth, "{header}");
    }
    let by_hand = ada.post("/api/messages", &json!({"to": "ant", "body": "x"})).header("webhook-loop-depth", "1");
    assert_eq!(by_hand.await.status(201).json()["depth"], 2);
    for header in ["-1", "1001", "x", "", "1.5", "99999999999999999999"] {
        send(header).await.invalid(&["webhook-loop-depth"]);
    }
    hub.finish().await;
}

#[tokio::test]
async fn the_answer_says_who_was_woken() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let mode = |name: &str, mode: &str| json!({"name": name, "trigger_mode": mode});
    ada.agent("sleepy").await;
    ada.agent_with(mode("off", "disabled")).await;
    ada.agent_with(mode("halted", "reactive")).await;
    ada.agent_with(mode("keen", "reactive")).await;
    ada.call("POST", "/api/agents/halted/pause").await.ok();
    ada.agent_with(mode("shunned", "reactive")).await;
    hub.inner()
        .write(|tx| {
            let shunned = "(select id from principals where handle = 'shunned')";
            tx.execute(&format!("update agents set quarantined_at = 1 where id = {shunned}"), &[])
        })
        .await
        .map(|_: u64| ())
        .unwrap_or_else(|error: stoa_db::DbError| panic!("{error}"));
    let state = |name: &str, reason: &str| json!({"recipient": name, "state": "not_woken", "reason": reason});
    for (name, reason) in [("sleepy", "passive"), ("off", "disabled"), ("halted", "paused"), ("shunned", "quarantined")]
    {
        assert_eq!(bob.dm(name, "x").await["delivery"], json!([state(name, reason)]));
        let quiet = bob.send(json!({"to": name, "body": "x", "no_wake": true})).await;
        assert_eq!(quiet["delivery"], json!([state(name, "no_wake")]));
    }
    let quiet = bob.send(json!({"to": "ada", "body": "x", "no_wake": true})).await;
    assert_eq!(quiet["delivery"], json!([{"recipient": "ada", "state": "stored"}]));
    let several = bob.say("general", "@sleepy @off @halted @ada @nobody @bob").await;
    let expected = json!([
        {"recipient": "ada", "state": "stored"}, state("sleepy", "passive"), state("off", "disabled"),
        state("halted", "paused"),
    ]);
    assert_eq!(several["delivery"], expected);
    assert_eq!(bob.say("general", "nobody is meant").await["delivery"], json!([]));
    hub.finish().await;
}

#[tokio::test]
async fn the_same_key_sends_one_message() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let send =
        |body: &str| ada.post("/api/messages", &json!({"to": "bob", "body": body})).header("idempotency-key", "once");
    let first = send("hello").await.status(201);
    let again = send("hello").await.status(201);
    assert_eq!(first.json(), again.json());
    assert!(!first.is_replay() && again.is_replay());
    send("other").await.problem(422, "idempotency_key_reused");
    assert_eq!(bob.inbox().await.len(), 1);
    // In a channel too, with those whom it tells.
    let said = json!({"channel": "general", "body": "@bob"});
    for _ in 0..3 {
        ada.post("/api/messages", &said).header("idempotency-key", "twice").await.status(201);
    }
    assert_eq!(bob.inbox().await.len(), 2);
    assert_eq!(hub.count("select count(*) as n from messages").await, 3);
    hub.finish().await;
}

#[tokio::test]
async fn first_messages_at_once_share_one_conversation() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let calls = (0..16).map(|n| {
        let (from, to) = if n % 2 == 0 { (&ada, "bob") } else { (&bob, "ada") };
        from.post("/api/messages", &json!({"to": to, "body": n.to_string()}))
    });
    let replies = together(calls).await;
    assert_eq!(how_many(&replies, 201), 16, "{replies:?}");
    assert_eq!(hub.count("select count(*) as n from conversations where low_id is not null").await, 1);
    let page = items(ada.get("/api/dm/bob/messages").await.ok());
    assert_eq!(page.len(), 16);
    hub.finish().await;
}

#[tokio::test]
async fn a_dm_is_listed_from_its_end() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for n in 0..103 {
        ada.dm("bob", &n.to_string()).await;
    }
    let page = |query: String| {
        let bob = &bob;
        async move { items(bob.get(&format!("/api/dm/ada/messages{query}")).await.ok()) }
    };
    let latest = page(String::new()).await;
    assert_eq!((latest.len(), &latest[0]["body"], &latest[99]["body"]), (100, &json!("3"), &json!("102")));
    assert_eq!(page("?limit=1000".to_owned()).await.len(), 100);
    let before = page(format!("?before={}", latest[0]["id"])).await;
    assert_eq!(each(&before, "body"), ["0", "1", "2"]);
    let between = page(format!("?before={}&limit=2", latest[0]["id"])).await;
    assert_eq!(each(&between, "body"), ["1", "2"]);
    let after = page(format!("?after={}", latest[97]["id"])).await;
    assert_eq!(each(&after, "body"), ["101", "102"]);
    assert!(page("?before=0".to_owned()).await.is_empty());
    for limit in ["0", "-1"] {
        bob.get(&format!("/api/dm/ada/messages?limit={limit}")).await.invalid(&["limit"]);
    }
    bob.get("/api/dm/nobody/messages").await.problem(404, "not_found");
    // Nothing was ever said.
    assert!(items(bob.get("/api/dm/admin/messages").await.ok()).is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_channel_is_listed_by_parts() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let mut ids = Vec::new();
    for n in 0..7 {
        ids.push(ada.say("general", &n.to_string()).await["id"].clone());
        ada.dm("admin", "something else in between").await;
    }
    let cases = [
        (String::new(), "0123456"),
        ("?limit=3".to_owned(), "456"),
        ("?limit=1000".to_owned(), "0123456"),
        (format!("?before={}", ids[2]), "01"),
        (format!("?before={}&limit=1", ids[2]), "1"),
        (format!("?after={}", ids[4]), "56"),
        (format!("?after={}&limit=2", ids[0]), "12"),
        (format!("?after={}&before={}", ids[1], ids[5]), "234"),
        (format!("?after={}&before={}&limit=2", ids[1], ids[5]), "34"),
        ("?before=-1".to_owned(), ""),
        ("?after=9223372036854775807".to_owned(), ""),
    ];
    for (query, expected) in cases {
        let page = items(ada.get(&format!("/api/channels/general/messages{query}")).await.ok());
        let bodies: String = each(&page, "body").iter().map(|body| body.as_str().unwrap()).collect();
        assert_eq!(bodies, expected, "{query}");
    }
    for limit in ["0", "-1", "x"] {
        ada.get(&format!("/api/channels/general/messages?limit={limit}")).await.invalid(&["limit"]);
    }
    for query in ["before=x", "before=99999999999999999999"] {
        ada.get(&format!("/api/channels/general/messages?{query}")).await.invalid(&["before"]);
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_damaged_row_does_not_hide_the_others() {
    if on_postgres() {
        return;
    }
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let start = ada.events().await.last_id;
    ada.say("general", "a needle before").await;
    let damaged = ada.say("general", "a damaged needle").await;
    ada.say("general", "a needle after").await;
    hub.settle().await;
    let id = damaged["id"].as_i64().unwrap();
    let damage = hub.inner().write(move |tx| {
        // The constraints of the table are not those of a broken disk.
        tx.execute_batch("pragma ignore_check_constraints = on")?;
        let changed = tx.execute(
            "update messages set body = cast(x'6e6565646c6520ff' as text), subject = cast(x'80' as text),
                 metadata = cast(x'7bff7d' as text), mentions = cast(x'5bff5d' as text), status = cast(x'ff' as text),
                 workflow_state = cast(x'ff' as text)
             where id = $1",
            params![id],
        )?;
        tx.execute("update channels set description = cast(x'ff' as text)", &[])?;
        Ok::<_, DbError>(changed)
    });
    assert_eq!(damage.await.unwrap(), 1);
    let bodies =
        |page: &Value| page["items"].as_array().unwrap().iter().map(|item| item["body"].clone()).collect::<Vec<_>>();
    let shown = "needle \u{fffd}";
    let page = ada.get("/api/channels/general/messages").await.ok().json();
    assert_eq!(bodies(&page), ["a needle before", shown, "a needle after"]);
    let item = &page["items"][1];
    assert_eq!((&item["subject"], &item["metadata"], &item["mentions"]), (&json!("\u{fffd}"), &json!({}), &json!([])));
    assert_eq!(ada.get(&format!("/api/messages/{id}")).await.ok().json()["body"], shown);
    ada.get("/api/channels").await.ok();
    // Who follows, who searches, and who makes the index anew.
    let mut events = ada.events_after(&start).await;
    for item in page["items"].as_array().unwrap() {
        assert_eq!(events.expect("new_message").await["message_id"], item["id"]);
    }
    drop(events);
    ada.react(&damaged, "approve").await.ok();
    hub.settle().await;
    assert_eq!(ada.found("needle").await, ["a needle after", shown, "a needle before"]);
    let setup = hub.stop().await;
    std::fs::remove_file(setup.config.data.join("search.db")).unwrap();
    let hub = setup.start().await;
    hub.settle().await;
    let ada = hub.nobody().with(ada.proof.clone());
    assert_eq!(ada.found("needle").await, ["a needle after", shown, "a needle before"]);
    let folder = tempfile::tempdir().unwrap();
    back_up(&hub, folder.path(), "backup.tar.gz").await;
    hub.finish().await;
}

/// Ids, times and pages have one order, also after the clock was set back.
#[tokio::test]
async fn a_later_message_has_no_earlier_time() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let before = ada.say("general", "before").await;
    let back = Clock::manual(Timestamp::from_ms(hub.now_ms() - 50_000));
    let hub = hub.stop().await.configure(|config| config.clock = back).start().await;
    let ada = hub.log_in("ada").await;
    // Beside others on PostgreSQL, and alone because it names somebody.
    hub.human("ben").await;
    for body in ["after", "after, @ben"] {
        let after = ada.say("general", body).await;
        assert_eq!(after["created_at"], before["created_at"]);
        assert_eq!(ada.message(&after).await["created_at"], after["created_at"]);
    }
    // A clock that was wrong by hours does not stop the time of messages for hours.
    let now_ms = hub.now_ms();
    let back = Clock::manual(Timestamp::from_ms(now_ms - 3_600_000));
    let hub = hub.stop().await.configure(|config| config.clock = back).start().await;
    let ada = hub.log_in("ada").await;
    assert!(ada.say("general", "hours back").await["created_at"].as_str() < before["created_at"].as_str());
    hub.finish().await;
}
