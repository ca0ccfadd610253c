//! Copies show what their reader may see now: digests, mentions, counts and the past of a stream.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{Client, TestHub, items};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn digest_of(reader: &Client) -> Value {
    items(reader.get("/api/dm/system/messages").await.ok()).last().cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_digest_says_what_its_reader_may_see_now() {
    let hub = TestHub::setup().session_lifetime(30 * DAY).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_workflow("plans", json!({"stalemate_escalate_after": "24h", "stalemate_remind_after": "0"})).await;
    ada.patch("/api/channels/plans", &json!({"public": false})).await.ok();
    ada.add_member("plans", "bob").await.ok();
    let first = ada.propose("plans", "buy the tower").await;
    let second = ada.propose("plans", "sell the bridge").await;
    hub.advance(DAY);
    hub.settle().await;
    for reader in [&ada, &bob] {
        let digest = digest_of(reader).await;
        let body = digest["body"].as_str().unwrap();
        assert!(body.contains("buy the tower") && body.contains("sell the bridge"), "{body}");
    }
    // What is stored names messages and does not say what they say.
    assert_eq!(hub.count("select count(*) as n from messages where body like '%standing still%tower%'").await, 0);

    ada.take_back(&second).await.status(204);
    let digest = digest_of(&bob).await;
    let body = digest["body"].as_str().unwrap().to_owned();
    assert!(body.contains("buy the tower") && !body.contains("bridge") && body.contains("deleted"), "{body}");

    ada.delete("/api/channels/plans/members/bob").await.status(204);
    let digest = digest_of(&bob).await;
    assert_eq!(digest["metadata"]["stalemate"]["messages"], json!([]));
    let text = digest.to_string();
    assert!(!text.contains("tower") && !text.contains("plans") && text.contains("2 more"), "{text}");
    let id = &first["id"];
    assert!(digest_of(&ada).await["body"].as_str().unwrap().contains(&format!("?at={id}), proposed")));
    hub.finish().await;
}

#[tokio::test]
async fn nothing_of_a_channel_changes_for_who_left_it() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "bob").await.ok();
    let said = ada.say("den", "@bob look").await;
    let gone = ada.say("den", "@bob and here").await;
    ada.delete("/api/channels/den/members/bob").await.status(204);
    let copies = async || items(bob.get("/api/dm/ada/messages").await.ok());
    let before = copies().await;
    assert_eq!(before.len(), 2);
    let (mut stream, inbox) = (bob.events().await, bob.inbox().await);
    hub.advance(Duration::from_secs(1));
    ada.edit(&said, "@bob something else").await.ok();
    ada.take_back(&gone).await.status(204);
    assert_eq!(copies().await, before);
    assert_eq!(bob.inbox().await, inbox);
    // The next that he hears is what is meant for him.
    let direct = ada.dm("bob", "hello").await;
    loop {
        let frame = stream.next().await;
        assert!(!frame.event.starts_with("message_"), "{frame:?}");
        if frame.event == "new_message" {
            assert_eq!(frame.data["message_id"], direct["id"]);
            break;
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_new_account_hears_nothing_from_before_its_time() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let beginning = ada.events().await.last_id;
    ada.say("general", "before").await;
    ada.make_channel(json!({"name": "secret-plans"})).await;
    ada.patch("/api/channels/secret-plans", &json!({"public": false})).await.ok();
    ada.make_channel(json!({"name": "finished"})).await;
    ada.delete("/api/channels/finished").await.status(204);
    hub.advance(Duration::from_secs(1));
    let eve = hub.human("eve").await;
    let errand = eve.agent("errand").await;
    let after = ada.say("general", "after").await;
    for reader in [&eve.client, &errand.client] {
        let mut stream = reader.events_after(&beginning).await;
        loop {
            let frame = stream.next().await;
            let text = frame.data.to_string();
            assert!(!text.contains("secret-plans") && !text.contains("finished"), "{text}");
            if frame.event == "new_message" {
                assert_eq!(frame.data["message_id"], after["id"]);
                break;
            }
        }
    }
    hub.finish().await;
}

/// Whoever wants to hide a thread answers it where nobody sees it.
#[tokio::test]
async fn answers_that_nobody_sees_hide_no_others() {
    let hub = TestHub::setup().rate_limit(0).start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let thief = eve.agent("thief").await;
    let root = ada.say("general", "what do you think?").await;
    bob.reply("general", &root, "good").await;
    let mut senders = JoinSet::new();
    for _ in 0..6 {
        let (thief, request) = (thief.client.clone(), json!({"to": "eve", "body": "x", "reply_to": root["id"]}));
        senders.spawn(async move {
            for _ in 0..167 {
                thief.post("/api/messages", &request).await.status(201);
            }
        });
    }
    senders.join_all().await;
    ada.reply("general", &root, "so do I").await;
    assert_eq!(bob.message(&root).await["reply_count"], 2);
    assert_eq!(bob.replies(&root).await.len(), 2);
    // Bob takes part, so he hears of Ada's answer.
    let threads = items(bob.get("/api/threads").await.ok());
    assert_eq!((threads.len(), &threads[0]["new_replies"]), (1, &json!(1)));
    assert_eq!(eve.message(&root).await["reply_count"], 1000);
    hub.finish().await;
}
