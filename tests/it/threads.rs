//! Threads with new answers, muting them, and pins.

use serde_json::{Value, json};

use crate::support::{Client, TestHub, each, items, together};
use crate::walk::{Row, either, either_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/threads"),
        either_thing("PUT /api/threads/{message_id}/mute"),
        either_thing("DELETE /api/threads/{message_id}/mute"),
    ]
}

async fn threads(reader: &Client) -> Vec<Value> {
    items(reader.get("/api/threads").await.ok())
}

/// The messages that began the threads which somebody has new answers in.
async fn roots(reader: &Client) -> Vec<Value> {
    threads(reader).await.into_iter().map(|thread| thread["message"]["body"].clone()).collect()
}

#[tokio::test]
async fn new_answers_are_shown_to_those_who_take_part() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let began = ada.say("general", "ada began").await;
    let answered = eve.say("general", "ada answered").await;
    let mentioned = eve.say("general", "@ada was mentioned").await;
    let foreign = eve.say("general", "not ada's").await;
    ada.reply("general", &answered, "an answer").await;
    ada.reply("general", &began, "one's own answer is not new").await;
    assert!(threads(&ada).await.is_empty());
    for root in [&began, &answered, &mentioned, &foreign] {
        bob.reply("general", root, "news").await;
    }
    let last = bob.reply("general", &began, "more news").await;
    let shown = threads(&ada).await;
    assert_eq!(roots(&ada).await, ["ada began", "@ada was mentioned", "ada answered"]);
    assert_eq!(each(&shown, "new_replies"), [2, 1, 1]);
    assert_eq!(shown[0]["last_reply_id"], last["id"]);
    assert_eq!(shown[0]["last_reply_at"], last["created_at"]);
    assert_eq!(shown[0]["message"], ada.message(&began).await);
    assert_eq!(shown[0]["message"]["reply_count"], 3);
    // Eve began three, and bob has written everything that is new himself.
    assert_eq!(roots(&eve).await, ["not ada's", "@ada was mentioned", "ada answered"]);
    assert!(roots(&bob).await.iter().all(|root| root == "ada began" || root == "ada answered"));

    // Deep answers belong to the thread, and who is mentioned in it takes part in it.
    let deep = bob.reply("general", &last, "deep, @eve").await;
    eve.mark_read(json!({"channel": "general"})).await;
    ada.reply("general", &deep, "deeper").await;
    assert_eq!(roots(&eve).await, ["ada began"]);
    // What was taken back is not new.
    ada.mark_read(json!({"channel": "general"})).await;
    assert!(threads(&ada).await.is_empty());
    let taken_back = bob.reply("general", &began, "oops").await;
    assert_eq!(threads(&ada).await.len(), 1);
    bob.take_back(&taken_back).await.status(204);
    assert!(threads(&ada).await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn answers_in_dms_make_threads_too() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let said = ada.say("general", "in the channel").await;
    bob.send(json!({"to": "ada", "body": "by DM", "reply_to": said["id"]})).await;
    assert_eq!(roots(&ada).await, ["in the channel"]);
    ada.mark_read(json!({"channel": "general"})).await;
    assert_eq!(threads(&ada).await.len(), 1);
    ada.mark_read(json!({"dm": "bob"})).await;
    assert!(threads(&ada).await.is_empty());
    // Nobody else hears of it.
    eve.reply("general", &said, "eve takes part").await;
    bob.send(json!({"to": "ada", "body": "by DM again", "reply_to": said["id"]})).await;
    assert!(threads(&eve).await.is_empty());
    assert_eq!(threads(&ada).await[0]["new_replies"], 2);
    hub.finish().await;
}

#[tokio::test]
async fn a_muted_thread_is_quiet() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let root = ada.say("general", "root").await;
    let answer = bob.reply("general", &root, "answer").await;
    // Any message of a thread stands for it.
    let mute = |message: &Value| format!("/api/threads/{}/mute", message["id"]);
    ada.call("PUT", &mute(&answer)).await.status(204);
    ada.call("PUT", &mute(&root)).await.status(204);
    bob.reply("general", &root, "more").await;
    assert!(threads(&ada).await.is_empty());
    // It is still unread.
    assert_eq!(ada.unread("general").await, 2);
    ada.delete(&mute(&root)).await.status(204);
    ada.delete(&mute(&root)).await.status(204);
    assert_eq!(threads(&ada).await[0]["new_replies"], 2);
    let direct = ada.dm("bob", "private").await;
    eve.call("PUT", &mute(&direct)).await.problem(404, "not_found");
    eve.delete(&mute(&direct)).await.problem(404, "not_found");
    assert_eq!(hub.count("select count(*) as n from thread_mutes").await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn threads_come_in_pages() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "bob").await.ok();
    for n in 0..7 {
        // Every other thread begins where bob will not be able to look any more.
        let place = if n % 2 == 0 { "general" } else { "den" };
        let root = bob.say(place, &n.to_string()).await;
        ada.reply("general", &root, "answer").await;
    }
    ada.delete("/api/channels/den/members/bob").await.status(204);
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = bob.get(&format!("/api/threads?limit=1{cursor}")).await.ok().json();
        found.extend(page["items"].as_array().unwrap().iter().map(|thread| thread["message"]["body"].clone()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(found, ["6", "4", "2", "0"]);
    hub.finish().await;
}

#[tokio::test]
async fn members_pin_what_matters() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let channel = ada.make_channel(json!({"name": "work"})).await;
    let pin = |message: &Value| format!("/api/channels/work/pins/{}", message["id"]);
    let (one, two) = (ada.say("work", "one").await, ada.say("work", "two").await);
    bob.call("PUT", &pin(&one)).await.problem(403, "not_a_member");
    bob.delete(&pin(&one)).await.problem(403, "not_a_member");
    bob.call("POST", "/api/channels/work/join").await.ok();
    bob.call("PUT", &pin(&two)).await.status(204);
    hub.advance(std::time::Duration::from_secs(1));
    ada.call("PUT", &pin(&one)).await.status(204);
    // Again is as good as once, and does not move it up.
    hub.advance(std::time::Duration::from_secs(1));
    bob.call("PUT", &pin(&two)).await.status(204);
    let pins = items(hub.human("eve").await.get("/api/channels/work/pins").await.ok());
    assert_eq!(each(&pins, "body"), ["one", "two"]);
    let elsewhere = ada.say("general", "elsewhere").await;
    let direct = ada.dm("bob", "direct").await;
    for other in [&elsewhere, &direct, &json!({"id": 999_999})] {
        ada.call("PUT", &pin(other)).await.problem(404, "not_found");
    }
    ada.call("PUT", &format!("/api/channels/nowhere/pins/{}", one["id"])).await.problem(404, "not_found");
    let deleted = ada.say("work", "deleted").await;
    ada.take_back(&deleted).await.status(204);
    ada.call("PUT", &pin(&deleted)).await.problem(409, "message_deleted");
    ada.delete(&pin(&two)).await.status(204);
    ada.delete(&pin(&two)).await.status(204);
    assert_eq!(each(&items(ada.get("/api/channels/work/pins").await.ok()), "body"), ["one"]);
    // Pins are no change of the channel's own texts.
    assert_eq!(ada.get("/api/channels/work").await.ok().json()["channel"]["topic"], channel["topic"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_channel_has_at_most_a_hundred_pins() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let sent = together((0..104).map(|_| ada.post("/api/messages", &json!({"channel": "general", "body": "x"})))).await;
    let ids: Vec<_> = sent.into_iter().map(|reply| reply.json()["id"].clone()).collect();
    let pin = |id: &Value| ada.call("PUT", &format!("/api/channels/general/pins/{id}"));
    for id in &ids[..98] {
        pin(id).await.status(204);
    }
    // Of many who want the last places, as many as there are get them.
    let replies = together(ids[98..].iter().map(&pin)).await;
    assert_eq!(crate::support::how_many(&replies, 204), 2);
    let refused = replies.into_iter().filter(|reply| reply.code() != 204);
    for reply in refused {
        reply.problem(409, "too_many_pins");
    }
    pin(&ids[0]).await.status(204);
    assert_eq!(items(ada.get("/api/channels/general/pins").await.ok()).len(), 100);
    hub.finish().await;
}
