//! Unread counts, reading, and the list of those with whom messages were exchanged.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{TestHub, each, items, together};

#[tokio::test]
async fn what_others_said_since_is_unread() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    assert_eq!((bob.unread("general").await, ada.unread("general").await), (0, 0));
    let first = ada.say("general", "one").await;
    let second = ada.say("general", "two").await;
    bob.say("general", "mine").await;
    assert_eq!((bob.unread("general").await, ada.unread("general").await), (2, 1));
    ada.dm("bob", "direct").await;
    let last = bob.dm("ada", "back").await;
    let unread = bob.get("/api/notifications/unread").await.ok().json();
    let dm = json!({
        "kind": "dm", "name": "ada", "unread_count": 1, "last_message_id": last["id"], "last_read_message_id": null,
    });
    assert_eq!(unread.as_array().unwrap()[1..], [dm]);
    assert_eq!((&unread[0]["kind"], &unread[0]["name"]), (&json!("channel"), &json!("general")));
    // What was taken back need not be read.
    ada.take_back(&first).await.status(204);
    assert_eq!(bob.unread("general").await, 1);
    ada.take_back(&second).await.status(204);
    assert_eq!(bob.unread("general").await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn a_newcomer_has_nothing_to_catch_up_on() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "work"})).await;
    for n in 0..3 {
        ada.say("work", &n.to_string()).await;
        ada.say("general", &n.to_string()).await;
    }
    bob.call("POST", "/api/channels/work/join").await.ok();
    assert_eq!(bob.unread("work").await, 0);
    assert_eq!(hub.human("eve").await.unread("general").await, 0);
    ada.say("work", "news").await;
    assert_eq!(bob.unread("work").await, 1);
    // Who comes back has not missed anything either.
    bob.call("POST", "/api/channels/work/leave").await.status(204);
    ada.say("work", "meanwhile").await;
    let unread = bob.get("/api/notifications/unread").await.ok().json();
    assert_eq!(each(unread.as_array().unwrap(), "name"), ["general"]);
    bob.call("POST", "/api/channels/work/join").await.ok();
    assert_eq!(bob.unread("work").await, 0);
    // Joining again changes nothing.
    ada.say("work", "more").await;
    bob.call("POST", "/api/channels/work/join").await.ok();
    assert_eq!(bob.unread("work").await, 1);
    hub.finish().await;
}

#[tokio::test]
async fn counting_stops_at_a_hundred() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for part in [99, 1, 5] {
        let calls = (0..part).map(|_| ada.post("/api/messages", &json!({"to": "bob", "body": "x"})));
        together(calls).await;
        let expected = if part == 99 { 99 } else { 100 };
        assert_eq!(bob.unread("ada").await, expected);
    }
    let partners = bob.get("/api/dm/partners").await.ok().json();
    assert_eq!(partners[0]["unread_count"], 100);
    hub.finish().await;
}

#[tokio::test]
async fn reading_moves_forth_and_back() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let mut channel = Vec::new();
    let mut direct = Vec::new();
    for n in 0..4 {
        channel.push(ada.say("general", &n.to_string()).await["id"].clone());
        direct.push(ada.dm("bob", &n.to_string()).await["id"].clone());
    }
    for (what, name, ids) in [("channel", "general", &channel), ("dm", "ada", &direct)] {
        let mark = |id: Value| json!({what: name, "message_id": id});
        for (request, read, left) in [
            (mark(ids[1].clone()), ids[1].clone(), 2),
            (json!({what: name}), ids[3].clone(), 0),
            (mark(ids[0].clone()), ids[0].clone(), 3),
            (mark(json!(0)), Value::Null, 4),
            (mark(Value::Null), ids[3].clone(), 0),
            (mark(ids[2].clone()), ids[2].clone(), 1),
        ] {
            let expected = json!({
                "kind": what, "name": name, "unread_count": left, "last_message_id": ids[3],
                "last_read_message_id": read,
            });
            assert_eq!(bob.mark_read(request).await, expected);
            assert_eq!(bob.unread(name).await, left);
        }
    }
    // Every listing says how far one has read.
    let listed = bob.get("/api/channels").await.ok().json();
    assert_eq!(listed["items"][0]["last_read_message_id"], channel[2]);
    for (path, read) in [
        ("/api/channels/general/messages", &channel[2]),
        ("/api/dm/ada/messages", &direct[2]),
        ("/api/dm/ada/messages?limit=1", &direct[2]),
    ] {
        assert_eq!(bob.get(path).await.ok().json()["last_read_message_id"], *read, "{path}");
    }
    let details = bob.get("/api/channels/general").await.ok().json();
    assert_eq!(details["channel"]["last_read_message_id"], channel[2]);
    assert_eq!(bob.get("/api/dm/partners").await.ok().json()[0]["last_read_message_id"], direct[2]);
    // It is nobody else's reading.
    assert_eq!(ada.get("/api/dm/bob/messages").await.ok().json()["last_read_message_id"], Value::Null);
    hub.finish().await;
}

#[tokio::test]
async fn what_is_not_there_cannot_be_read() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    let hidden = ada.say("den", "hidden").await;
    let said = ada.say("general", "here").await;
    let direct = ada.dm("bob", "there").await;
    let mark = |request: Value| bob.post("/api/notifications/mark-read", &request);
    for id in [&direct["id"], &hidden["id"], &json!(999_999), &json!(i64::MAX)] {
        mark(json!({"channel": "general", "message_id": id})).await.invalid(&["message_id"]);
    }
    for id in [&said["id"], &json!(999_999)] {
        mark(json!({"dm": "ada", "message_id": id})).await.invalid(&["message_id"]);
        mark(json!({"dm": "eve", "message_id": id})).await.invalid(&["message_id"]);
    }
    mark(json!({"dm": "ada", "message_id": -1})).await.invalid(&["message_id"]);
    mark(json!({"dm": "ada", "message_id": "1"})).await.invalid(&["message_id"]);
    mark(json!({})).await.invalid(&["channel"]);
    mark(json!({"channel": "general", "dm": "ada"})).await.invalid(&["channel"]);
    mark(json!({"channel": "general", "user": "eve"})).await.invalid(&["user"]);
    for request in [json!({"channel": "nowhere"}), json!({"channel": "den"}), json!({"dm": "nobody"})] {
        mark(request).await.problem(404, "not_found");
    }
    assert_eq!((bob.unread("general").await, bob.unread("ada").await), (1, 1));
    // Prefixes are fine, and so is somebody one never wrote to.
    assert_eq!(bob.mark_read(json!({"channel": "#general"})).await["unread_count"], 0);
    assert_eq!(bob.mark_read(json!({"dm": "@Ada"})).await["name"], "ada");
    assert_eq!(bob.mark_read(json!({"dm": "eve"})).await["last_message_id"], Value::Null);
    assert!(eve.get("/api/dm/partners").await.ok().json().as_array().unwrap().is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn partners_come_with_the_latest_first() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let scout = eve.agent("scout").await;
    bob.dm("ada", "from bob").await;
    eve.dm("ada", "from eve").await;
    hub.advance(Duration::from_secs(1));
    ada.dm("scout", &format!("\n\n  a  new\n\tline {}", "ä".repeat(200))).await;
    let partners = ada.get("/api/dm/partners").await.ok().json();
    let expected = json!({
        "name": "scout", "kind": "agent", "display_name": "scout",
        "preview": format!("a new line {}", "ä".repeat(109)), "last_message_at": "2027-01-15T08:00:01.000Z",
        "unread_count": 0, "last_read_message_id": null,
    });
    assert_eq!(partners[0], expected);
    assert_eq!(each(partners.as_array().unwrap(), "name"), ["scout", "eve", "bob"]);
    assert_eq!(each(partners.as_array().unwrap(), "unread_count"), [0, 1, 1]);
    let reply = bob.dm("ada", "bob again").await;
    let partners = ada.get("/api/dm/partners").await.ok().json();
    assert_eq!(each(partners.as_array().unwrap(), "name"), ["bob", "scout", "eve"]);
    assert_eq!((&partners[0]["preview"], &partners[0]["unread_count"]), (&json!("bob again"), &json!(2)));
    // Nothing is left of what was taken back.
    bob.take_back(&reply).await.status(204);
    let partners = ada.get("/api/dm/partners").await.ok().json();
    assert_eq!((&partners[0]["preview"], &partners[0]["unread_count"]), (&json!(""), &json!(1)));
    // A person reads along with their agents, with the agents' own cursors.
    let of_scout = eve.get("/api/dm/partners?as=scout").await.ok().json();
    assert_eq!((&of_scout[0]["name"], &of_scout[0]["unread_count"]), (&json!("ada"), &json!(1)));
    scout.mark_read(json!({"dm": "ada"})).await;
    let of_scout = eve.get("/api/dm/partners?as=scout").await.ok().json();
    assert_eq!(of_scout[0]["unread_count"], 0);
    let page = eve.get("/api/dm/ada/messages?as=scout").await.ok().json();
    assert!(page["last_read_message_id"].is_i64());
    assert_eq!(items(eve.get("/api/dm/ada/messages?as=scout").await.ok()).len(), 1);
    // Who is gone stays in the list of those who spoke with them.
    eve.delete("/api/agents/scout").await.ok();
    let partners = ada.get("/api/dm/partners").await.ok().json();
    assert_eq!(each(partners.as_array().unwrap(), "name"), ["bob", "scout", "eve"]);
    hub.finish().await;
}
