//! Channels: how they are made, described, governed, handed over and taken away.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{MINUTE, TestHub, each, how_many, items, together};
use crate::walk::{Row, ToolRow, either, either_thing, refused, session_thing, shows_own};

/// What agents of other owners must be refused; see `walk/tools.rs`.
pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![
        refused("read_channel", json!({"channel": "{channel}"})),
        refused("create_channel", json!({"name": "{channel}"})),
        refused("join_channel", json!({"channel": "{channel}"})),
        refused("leave_channel", json!({"channel": "{channel}"})),
        refused("update_channel_settings", json!({"channel": "{channel}", "workflow_enabled": true})),
        shows_own("list_channels", json!({})),
    ]
}

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/channels"),
        either("POST /api/channels").body(json!({"name": "made-by-{visitor}"})).aimed_with(
            json!({"name": "{channel}"}),
            409,
            "name_taken",
        ),
        either_thing("GET /api/channels/{name}"),
        either_thing("PATCH /api/channels/{name}").body(json!({"topic": "Taken over"})),
        session_thing("DELETE /api/channels/{name}"),
        either_thing("PUT /api/channels/{name}/settings").body(json!({"workflow_enabled": true})),
        either_thing("POST /api/channels/{name}/join"),
        either_thing("POST /api/channels/{name}/leave").for_owner(409, "owner_cannot_leave"),
        either_thing("GET /api/channels/{name}/messages"),
        either_thing("GET /api/channels/{name}/pins"),
        either_thing("PUT /api/channels/{name}/pins/{message_id}"),
        either_thing("DELETE /api/channels/{name}/pins/{message_id}"),
    ]
}

#[tokio::test]
async fn everybody_is_in_general_from_the_first_start() {
    let hub = TestHub::start().await;
    let admin = hub.admin().await;
    let general = admin.get("/api/channels/general").await.ok().json();
    assert_eq!((&general["channel"]["owner"], &general["channel"]["public"]), (&json!("admin"), &json!(true)));
    assert_eq!(admin.members("general").await, ["admin"]);
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    assert_eq!(ada.members("general").await, ["ada", "admin", "scout"]);
    assert_eq!(general["channel"]["id"], ada.list("/api/channels").await[0]["id"]);
    admin.delete("/api/channels/general").await.problem(409, "general_channel");
    admin.patch("/api/channels/general", &json!({"public": false})).await.problem(409, "general_channel");
    admin.patch("/api/channels/general", &json!({"public": true, "topic": "Hello"})).await.ok();
    let hub = hub.restart().await;
    let admin = hub.admin().await;
    let channels = admin.list("/api/channels").await;
    assert_eq!((channels.len(), &channels[0]["topic"]), (1, &json!("Hello")));
    hub.finish().await;
}

#[tokio::test]
async fn a_channel_is_made_with_what_it_was_given() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let reply = ada.post("/api/channels", &json!({"name": "work"})).await.status(201);
    assert_eq!(reply.header("etag"), Some("\"1\""));
    let made = reply.json();
    let expected = json!({
        "id": made["channel"]["id"], "conversation_id": made["channel"]["conversation_id"], "name": "work",
        "topic": "", "description": "", "public": true, "owner": "ada", "workflow_enabled": false,
        "auto_approve": false, "stalemate_remind_after": "24h", "stalemate_escalate_after": "72h",
        "publish_threshold": 0.8, "approve_threshold": 0.6, "created_at": "2027-01-15T08:00:00.000Z",
        "member_count": 1, "is_member": true, "last_read_message_id": null, "last_message_id": null,
    });
    assert_eq!(made["channel"], expected);
    assert_eq!(each(made["members"].as_array().unwrap(), "name"), ["ada"]);
    assert_eq!(ada.get("/api/channels/work").await.ok().json(), made);
    let request = json!({
        "name": "den", "topic": "t".repeat(250), "description": "ä\n".repeat(1365), "public": false,
    });
    let den = ada.make_channel(request.clone()).await;
    for field in ["topic", "description", "public"] {
        assert_eq!(den[field], request[field]);
    }
    // An agent makes channels for its owner.
    let scout = ada.agent("scout").await;
    let made = scout.post("/api/channels", &json!({"name": "lab", "public": false})).await.status(201).json();
    assert_eq!(made["channel"]["owner"], "ada");
    assert_eq!(each(made["members"].as_array().unwrap(), "name"), ["ada", "scout"]);
    let listed = ada.list("/api/channels").await;
    assert_eq!(each(&listed, "name"), ["den", "general", "lab", "work"]);
    hub.finish().await;
}

#[tokio::test]
async fn names_and_texts_have_their_limits() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for name in ["a", "0", "a-b_c", "0x", &"x".repeat(64)] {
        ada.make_channel(json!({"name": name})).await;
    }
    let made = hub.count("select count(*) as n from channels").await;
    for name in ["", "-a", "_a", "Ab", "a b", "#a", "a.b", "ä", "a/b", &"x".repeat(65)] {
        ada.post("/api/channels", &json!({"name": name})).await.invalid(&["name"]);
    }
    let cases = [
        (json!({"topic": "t".repeat(251)}), "topic"),
        (json!({"topic": "two\nlines"}), "topic"),
        (json!({"topic": 1}), "topic"),
        (json!({"description": "d".repeat(4097)}), "description"),
        (json!({"public": "yes"}), "public"),
        (json!({"owner": "admin"}), "owner"),
        (json!({"workflow_enabled": true}), "workflow_enabled"),
    ];
    for (change, field) in cases {
        let mut request = json!({"name": "new"});
        request.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        ada.post("/api/channels", &request).await.invalid(&[field]);
        if !["owner", "workflow_enabled"].contains(&field) {
            ada.patch("/api/channels/a", &change).await.invalid(&[field]);
        }
    }
    ada.post("/api/channels", &json!({})).await.invalid(&["name"]);
    ada.patch("/api/channels/a", &json!({"name": "b"})).await.invalid(&["name"]);
    ada.post("/api/channels", &json!({"name": "general"})).await.problem(409, "name_taken");
    // A name that is taken by what one cannot see is taken all the same.
    hub.admin().await.make_channel(json!({"name": "secret", "public": false})).await;
    ada.post("/api/channels", &json!({"name": "secret"})).await.problem(409, "name_taken");
    assert_eq!(hub.count("select count(*) as n from channels").await, made + 1);
    // A name of a user can be a channel's.
    ada.make_channel(json!({"name": "ada"})).await;
    hub.finish().await;
}

#[tokio::test]
async fn of_many_who_want_a_name_one_gets_it() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let replies = together((0..12).map(|_| ada.post("/api/channels", &json!({"name": "work"})))).await;
    assert_eq!((how_many(&replies, 201), how_many(&replies, 409)), (1, 11), "{replies:?}");
    let conversations = "select count(*) as n from conversations where low_id is null";
    assert_eq!(hub.count(conversations).await, 2);
    hub.finish().await;
}

#[tokio::test]
async fn a_change_can_depend_on_what_was_read() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "work"})).await;
    let changed = ada.patch("/api/channels/work", &json!({"topic": "one"})).header("if-match", "\"1\"").await.ok();
    assert_eq!(changed.header("etag"), Some("\"2\""));
    let late = ada.patch("/api/channels/work", &json!({"topic": "two"})).header("if-match", "\"1\"");
    late.await.problem(412, "precondition_failed");
    let settings = json!({"workflow_enabled": true});
    let late = ada.put("/api/channels/work/settings", &settings).header("if-match", "\"1\"");
    late.await.problem(412, "precondition_failed");
    let changed = ada.put("/api/channels/work/settings", &settings).header("if-match", "\"2\"").await.ok();
    assert_eq!(changed.header("etag"), Some("\"3\""));
    let shown = ada.get("/api/channels/work").await.ok();
    assert_eq!(shown.header("etag"), Some("\"3\""));
    assert_eq!((&shown.json()["channel"]["topic"]), &json!("one"));
    // Members and messages are no change of it.
    ada.say("work", "hello").await;
    hub.human("bob").await.call("POST", "/api/channels/work/join").await.ok();
    assert_eq!(ada.get("/api/channels/work").await.ok().header("etag"), Some("\"3\""));
    hub.finish().await;
}

#[tokio::test]
async fn no_change_at_the_same_time_is_lost() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "work"})).await;
    let calls = (0..12).map(|n| match n % 3 {
        0 => ada.patch("/api/channels/work", &json!({"topic": format!("topic {n}")})),
        1 => ada.patch("/api/channels/work", &json!({"description": format!("description {n}")})),
        _ => ada.put("/api/channels/work/settings", &json!({"stalemate_remind_after": format!("{}h", n + 1)})),
    });
    let replies = together(calls).await;
    let etags: BTreeSet<_> = replies.iter().map(|reply| reply.header("etag").unwrap().to_owned()).collect();
    assert_eq!((how_many(&replies, 200), etags.len()), (12, 12));
    let channel = ada.get("/api/channels/work").await.ok().json()["channel"].clone();
    assert!(channel["topic"] != "" && channel["description"] != "" && channel["stalemate_remind_after"] != "24h");
    hub.finish().await;
}

#[tokio::test]
async fn settings_change_one_by_one() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "work"})).await;
    let set = |request: Value| ada.put("/api/channels/work/settings", &request);
    let mut expected = json!({
        "workflow_enabled": false, "auto_approve": false, "stalemate_remind_after": "24h",
        "stalemate_escalate_after": "72h", "publish_threshold": 0.8, "approve_threshold": 0.6,
    });
    for change in [
        json!({}),
        json!({"workflow_enabled": true}),
        json!({"auto_approve": true}),
        json!({"stalemate_remind_after": "30m"}),
        json!({"stalemate_escalate_after": "365d"}),
        json!({"publish_threshold": 0}),
        json!({"approve_threshold": 1.0}),
        json!({"stalemate_remind_after": "0", "stalemate_escalate_after": "1m", "publish_threshold": 0.123456789}),
        json!({"workflow_enabled": false, "auto_approve": false, "approve_threshold": 0.0}),
    ] {
        let changed = set(change.clone()).await.ok().json();
        expected.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        for (field, value) in expected.as_object().unwrap() {
            let (shown, value) = (&changed["channel"][field], value);
            assert!(shown == value || shown.as_f64().is_some_and(|shown| Some(shown) == value.as_f64()), "{changed}");
        }
    }
    for (request, field) in [
        (json!({"stalemate_remind_after": "24"}), "stalemate_remind_after"),
        (json!({"stalemate_remind_after": 24}), "stalemate_remind_after"),
        (json!({"stalemate_remind_after": null}), "stalemate_remind_after"),
        (json!({"stalemate_escalate_after": "366d"}), "stalemate_escalate_after"),
        (json!({"stalemate_escalate_after": "-1h"}), "stalemate_escalate_after"),
        (json!({"stalemate_escalate_after": ""}), "stalemate_escalate_after"),
        (json!({"publish_threshold": 1.01}), "publish_threshold"),
        (json!({"publish_threshold": "0.5"}), "publish_threshold"),
        (json!({"approve_threshold": -0.01}), "approve_threshold"),
        (json!({"workflow_enabled": 1}), "workflow_enabled"),
        (json!({"topic": "x"}), "topic"),
    ] {
        set(request).await.invalid(&[field]);
    }
    let both = json!({"publish_threshold": 2, "approve_threshold": 2});
    set(both).await.invalid(&["publish_threshold", "approve_threshold"]);
    hub.finish().await;
}

#[tokio::test]
async fn who_answers_for_a_channel_may_change_it() {
    let hub = TestHub::start().await;
    let (ada, bob, admin) = (hub.human("ada").await, hub.human("bob").await, hub.admin().await);
    let (scout, errand) = (ada.agent("scout").await, bob.agent("errand").await);
    ada.make_channel(json!({"name": "work"})).await;
    ada.add_member("work", "bob").await.ok();
    let texts = json!({"topic": "new"});
    let settings = json!({"workflow_enabled": true, "stalemate_remind_after": "1h"});
    for may in [&ada.client, &admin.client, &scout.client] {
        may.patch("/api/channels/work", &texts).await.ok();
        may.put("/api/channels/work/settings", &settings).await.ok();
    }
    for may_not in [&bob.client, &errand.client] {
        let refused = may_not.patch("/api/channels/work", &texts).await.problem(403, "forbidden");
        assert!(refused.json()["hint"].as_str().unwrap().contains("ada"));
        may_not.put("/api/channels/work/settings", &settings).await.problem(403, "forbidden");
        may_not.delete("/api/channels/work").await.problem(403, "forbidden");
    }
    // How far agents are trusted is for people to say, and so is whose and for whom the channel is.
    for (path, request) in [
        ("/api/channels/work", json!({"public": false})),
        ("/api/channels/work", json!({"owner": "ada"})),
        ("/api/channels/work/settings", json!({"auto_approve": true})),
        ("/api/channels/work/settings", json!({"publish_threshold": 0.1})),
        ("/api/channels/work/settings", json!({"approve_threshold": 0.1, "workflow_enabled": false})),
    ] {
        let method = if path.ends_with("settings") { "PUT" } else { "PATCH" };
        scout.call(method, path).json(&request).await.problem(403, "forbidden");
        ada.call(method, path).json(&request).await.ok();
        // Now it is private, and the administrator does not see it.
        admin.call(method, path).json(&request).await.problem(404, "not_found");
    }
    scout.delete("/api/channels/work").await.problem(403, "forbidden");
    scout.patch("/api/channels/work", &texts).await.problem(404, "not_found");
    for path in ["/api/channels/work", "/api/channels/nowhere"] {
        admin.delete(path).await.problem(404, "not_found");
    }
    // Among its members the administrator sees it.
    ada.add_member("work", "admin").await.ok();
    admin.patch("/api/channels/work", &texts).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn an_administrator_who_is_no_member_makes_a_channel_private() {
    let hub = TestHub::start().await;
    let (ada, admin) = (hub.human("ada").await, hub.admin().await);
    ada.make_channel(json!({"name": "work"})).await;
    let changed = admin.patch("/api/channels/work", &json!({"public": false})).await.ok();
    assert_eq!(changed.json()["channel"]["public"], false);
    assert_eq!(changed.header("etag"), ada.get("/api/channels/work").await.ok().header("etag"));
    admin.get("/api/channels/work").await.problem(404, "not_found");
    admin.patch("/api/channels/work", &json!({"public": true})).await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn the_audit_log_does_not_quote_the_texts_of_a_channel() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    let texts = json!({"topic": "a secret", "description": "another secret", "public": false});
    ada.patch("/api/channels/den", &texts).await.ok();
    ada.put("/api/channels/den/settings", &json!({"workflow_enabled": true})).await.ok();
    let audit = hub.audit().await;
    assert_eq!(audit[0]["details"], json!({"workflow_enabled": true}));
    assert_eq!(audit[1]["details"], json!({"public": false, "texts": ["topic", "description"]}));
    assert!(!json!(audit).to_string().contains("secret"));
    hub.finish().await;
}

#[tokio::test]
async fn a_channel_is_handed_over_to_a_person_in_it() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    ada.add_member("work", "scout").await.ok();
    let hand_to = |name: &str| ada.patch("/api/channels/work", &json!({"owner": name}));
    for name in ["bob", "scout", "nobody", "system", ""] {
        hand_to(name).await.invalid(&["owner"]);
    }
    ada.add_member("work", "bob").await.ok();
    hub.operator().call("users.disable", json!({"username": "bob"})).await;
    hand_to("bob").await.invalid(&["owner"]);
    hub.operator().call("users.enable", json!({"username": "bob"})).await;
    let bob = bob.again().await;
    let handed = hand_to("BOB").await.ok().json();
    assert_eq!(handed["channel"]["owner"], "bob");
    assert_eq!(ada.members("work").await, ["ada", "bob", "scout"]);
    hand_to("ada").await.problem(403, "forbidden");
    bob.call("POST", "/api/channels/work/leave").await.problem(409, "owner_cannot_leave");
    ada.call("POST", "/api/channels/work/leave").await.status(204);
    assert_eq!(bob.members("work").await, ["bob"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_deleted_channel_is_gone_with_all_that_was_said() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let old = ada.make_channel(json!({"name": "work"})).await;
    ada.add_member("work", "bob").await.ok();
    let said = ada.say("work", "hello @bob").await;
    let answer = bob.reply("work", &said, "hello").await;
    let outside = bob.send(json!({"to": "ada", "body": "outside", "reply_to": said["id"]})).await;
    ada.edit(&said, "hello again @bob").await.ok();
    ada.call("PUT", &format!("/api/channels/work/pins/{}", answer["id"])).await.status(204);
    bob.call("PUT", &format!("/api/threads/{}/mute", said["id"])).await.status(204);
    bob.mark_read(json!({"channel": "work"})).await;
    // More than one sweep takes away.
    hub.inner()
        .write(|tx| {
            tx.execute(
                "insert into messages (conversation_id, channel_id, author_id, body, status, priority, metadata,
                     mentions, depth, created_at)
                 with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1200)
                 select c.conversation_id, c.id, c.owner_id, 'x', 'done', 5, '{}', '[]', 0, 0
                 from channels c, numbers where c.name = 'work'",
                &[],
            )
        })
        .await
        .map(|_: u64| ())
        .unwrap_or_else(|error: stoa_db::DbError| panic!("{error}"));

    bob.delete("/api/channels/work").await.problem(403, "forbidden");
    ada.delete("/api/channels/work").await.status(204);
    for reader in [&ada, &bob] {
        reader.get("/api/channels/work").await.problem(404, "not_found");
        reader.get("/api/channels/work/messages").await.problem(404, "not_found");
        reader.get("/api/channels/work/pins").await.problem(404, "not_found");
        reader.get(&format!("/api/messages/{}", said["id"])).await.problem(404, "not_found");
        reader.get(&format!("/api/messages/{}/replies", said["id"])).await.problem(404, "not_found");
        assert_eq!(each(&reader.list("/api/channels").await, "name"), ["general"]);
        let unread = reader.get("/api/notifications/unread").await.ok().json();
        assert!(unread.as_array().unwrap().iter().all(|one| one["name"] != "work"));
    }
    ada.delete("/api/channels/work").await.problem(404, "not_found");
    bob.take_back(&answer).await.problem(404, "not_found");
    let late = json!({"channel": "general", "body": "late", "reply_to": said["id"]});
    bob.post("/api/messages", &late).await.problem(404, "not_found");

    // The name is free at once, and the new channel has nothing of the old one.
    let new = ada.make_channel(json!({"name": "work"})).await;
    assert_ne!(new["id"], old["id"]);
    assert!(items(ada.get("/api/channels/work/messages").await.ok()).is_empty());
    assert_eq!(ada.members("work").await, ["ada"]);
    assert_eq!(new["last_read_message_id"], Value::Null);
    ada.say("work", "a new beginning").await;

    hub.advance(2 * MINUTE);
    hub.settle().await;
    let left =
        "select count(*) as n from messages m join channels c on c.id = m.channel_id where c.deleted_at is not null";
    assert_eq!(hub.count(left).await, 0);
    for (table, expected) in [
        ("select count(*) as n from message_revisions", 0),
        ("select count(*) as n from channel_pins", 0),
        ("select count(*) as n from thread_mutes", 0),
        ("select count(*) as n from messages where channel_id is not null", 1),
        (
            "select count(*) as n from read_cursors r join channels c on c.conversation_id = r.conversation_id
             where c.deleted_at is not null",
            0,
        ),
        (
            "select count(*) as n from channel_members m join channels c on c.id = m.channel_id
             where c.deleted_at is not null",
            0,
        ),
    ] {
        assert_eq!(hub.count(table).await, expected, "{table}");
    }
    // What told of it is emptied; what answered it elsewhere stays.
    assert!(bob.inbox().await.is_empty());
    assert_eq!(hub.count("select count(*) as n from messages where body like 'hello%'").await, 0);
    assert_eq!(ada.message(&outside).await["body"], "outside");
    hub.finish().await;
}

#[tokio::test]
async fn channels_come_in_pages() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for name in ["e", "b", "hidden", "a", "z"] {
        ada.make_channel(json!({"name": name, "public": name != "hidden"})).await;
    }
    let mut names = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = bob.get(&format!("/api/channels?limit=2{cursor}")).await.ok().json();
        names.extend(each(page["items"].as_array().unwrap(), "name"));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(names, ["a", "b", "e", "general", "z"]);
    bob.get("/api/channels?limit=0").await.invalid(&["limit"]);
    hub.finish().await;
}
