//! Mentions: whom a message in a channel calls out, and how they hear of it.

use serde_json::{Value, json};

use crate::support::{MINUTE, TestHub, each, eventually, items};

#[tokio::test]
async fn each_one_called_out_gets_one_dm() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let body = "@scout @Scout @BOB look (@scout), not `@eve` nor eve@bob.example nor \\@eve, says @ada\n```\n@eve\n```";
    let eve = hub.human("eve").await;
    let request = json!({"channel": "general", "body": body, "subject": "Look", "priority": 8, "metadata": {"a": 1}});
    let said = ada.send(request).await;
    assert_eq!(said["mentions"], json!(["bob", "scout"]));
    let recipients = |sent: &Value| each(sent["delivery"].as_array().unwrap(), "recipient");
    assert_eq!(recipients(&said), ["bob", "scout"]);
    assert!(eve.inbox().await.is_empty() && ada.inbox().await.is_empty());
    for (reader, name) in [(&bob.client, "bob"), (&scout.client, "scout")] {
        let inbox = reader.inbox().await;
        assert_eq!(inbox.len(), 1, "{inbox:?}");
        for (field, value) in [
            ("from", said["from"].clone()),
            ("to", json!(name)),
            ("body", json!(body)),
            ("subject", json!("Look")),
            ("priority", json!(8)),
            ("reply_to", said["id"].clone()),
            ("metadata", json!({"mention": {"channel": "general", "message_id": said["id"]}})),
            ("status", json!("pending")),
            ("channel_id", Value::Null),
        ] {
            assert_eq!(inbox[0][field], value, "{field} of {}", inbox[0]);
        }
    }
    // The DMs are no answers to what they tell of.
    assert_eq!(ada.message(&said).await["reply_count"], 0);
    assert!(bob.replies(&said).await.is_empty());
    assert_eq!(items(bob.get("/api/channels/general/messages").await.ok()).len(), 1);
    // In a DM nobody else is called out.
    assert_eq!(ada.dm("bob", "@eve").await["mentions"], json!([]));
    assert!(eve.inbox().await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_private_channel_calls_out_its_members_only() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let scout = bob.agent("scout").await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "scout").await.ok();
    let said = ada.say("den", "@scout @bob @eve @channel").await;
    // bob reads along through his agent, but is no member.
    assert_eq!(said["mentions"], json!(["channel", "scout"]));
    assert_eq!(each(said["delivery"].as_array().unwrap(), "recipient"), ["scout"]);
    assert_eq!(scout.inbox().await.len(), 1);
    assert!(bob.inbox().await.is_empty() && eve.inbox().await.is_empty());
    // In a public one anybody can be called, and is not made a member by it.
    ada.make_channel(json!({"name": "square"})).await;
    ada.say("square", "@eve").await;
    assert_eq!(eve.inbox().await.len(), 1);
    assert_eq!(ada.members("square").await, ["ada"]);
    hub.finish().await;
}

#[tokio::test]
async fn people_can_call_everybody_and_agents_cannot() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    for name in ["bob", "scout"] {
        ada.add_member("work", name).await.ok();
    }
    let said = ada.say("work", "@channel @bob and @here").await;
    assert_eq!(said["mentions"], json!(["bob", "channel", "here"]));
    assert_eq!(each(said["delivery"].as_array().unwrap(), "recipient"), ["bob", "scout"]);
    assert_eq!((bob.inbox().await.len(), scout.inbox().await.len(), eve.inbox().await.len()), (1, 1, 0));
    let said = scout.say("work", "@channel @here @bob").await;
    assert_eq!(said["mentions"], json!(["bob"]));
    assert_eq!(bob.inbox().await.len(), 2);
    assert!(ada.inbox().await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn here_is_who_was_seen_in_the_last_five_minutes() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    hub.advance(5 * MINUTE);
    let seen_at = hub.now_ms();
    eve.get("/api/channels").await.ok();
    eventually("eve was seen", || async {
        let seen = hub.count("select coalesce(max(last_seen_at), 0) as n from principals where handle = 'eve'").await;
        seen >= seen_at
    })
    .await;
    hub.advance(MINUTE);
    let said = ada.say("general", "@here").await;
    assert_eq!(each(said["delivery"].as_array().unwrap(), "recipient"), ["eve"]);
    assert_eq!((bob.inbox().await.len(), eve.inbox().await.len()), (0, 1));
    hub.finish().await;
}

#[tokio::test]
async fn who_cannot_be_reached_is_not_called() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    bob.agent("errand").await;
    ada.agent("gone").await;
    ada.delete("/api/agents/gone").await.ok();
    hub.operator().call("users.disable", json!({"username": "bob"})).await;
    let said = ada.say("general", "@bob @errand @gone @system @nobody @channel").await;
    assert_eq!(said["mentions"], json!(["channel"]));
    // The first administrator is the only other member.
    assert_eq!(each(said["delivery"].as_array().unwrap(), "recipient"), ["admin"]);
    assert_eq!(hub.count("select count(*) as n from messages where mention_of is not null").await, 1);
    hub.finish().await;
}

#[tokio::test]
async fn an_edit_tells_those_who_are_new_in_it() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let said = ada.say("general", "hello @bob").await;
    hub.advance(MINUTE);
    let edited = ada.edit(&said, "hello @eve").await.ok().json();
    assert_eq!(edited["mentions"], json!(["eve"]));
    let (to_bob, to_eve) = (bob.inbox().await, eve.inbox().await);
    assert_eq!((each(&to_bob, "body"), each(&to_eve, "body")), (vec![json!("hello @eve")], vec![json!("hello @eve")]));
    assert_eq!(to_bob[0]["edited_at"], "2027-01-15T08:01:00.000Z");
    assert_eq!(to_eve[0]["edited_at"], Value::Null);
    assert_eq!(to_eve[0]["metadata"], json!({"mention": {"channel": "general", "message_id": said["id"]}}));
    // Who was told once is not told again.
    ada.edit(&said, "hello @bob and @eve").await.ok();
    assert_eq!((bob.inbox().await.len(), eve.inbox().await.len()), (1, 1));
    assert_eq!(ada.message(&said).await["mentions"], json!(["bob", "eve"]));
    ada.edit(&to_bob[0], "only in the DM").await.problem(409, "mention_copy");
    // What bob has done with stays done.
    bob.settle(&to_bob[0], "done", json!({})).await.ok();
    ada.edit(&said, "@bob once more").await.ok();
    assert_eq!(bob.message(&to_bob[0]).await["status"], "done");
    hub.finish().await;
}

#[tokio::test]
async fn what_a_mention_says_is_for_those_who_see_the_channel() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    for name in ["bob", "eve"] {
        ada.add_member("den", name).await.ok();
    }
    let said = ada.say("den", "@bob @eve hello").await;
    ada.delete("/api/channels/den/members/bob").await.status(204);
    ada.edit(&said, "@bob @eve the secret").await.ok();
    let hidden = bob.inbox().await;
    assert_eq!((&hidden[0]["body"], &hidden[0]["metadata"]), (&json!(""), &json!({})));
    assert_eq!(each(&eve.inbox().await, "body"), ["@bob @eve the secret"]);
    // It is no way around a key's channels either.
    let scout = ada.agent("scout").await;
    ada.add_member("den", "scout").await.ok();
    ada.say("den", "@scout among us").await;
    let request = json!({"name": "k", "agent": "scout", "permissions": ["*"], "channels": ["general"]});
    let key = ada.post("/api/keys", &request).await.status(201).json()["key"].as_str().unwrap().to_owned();
    let limited = hub.nobody().bearer(&key);
    assert!(limited.inbox().await.is_empty());
    for path in ["/api/inbox", "/api/inbox?full=true"] {
        assert_eq!(scout.get(path).await.ok().json()["items"][0]["body"], "@scout among us", "{path}");
    }
    for (reader, body) in [(&limited, ""), (&scout.client, "@scout among us")] {
        assert_eq!(reader.get("/api/dm/ada/messages").await.ok().json()["items"][0]["body"], body);
        assert_eq!(reader.get("/api/dm/partners").await.ok().json()[0]["preview"], body);
    }
    // Taking it back takes it from everybody who sees the channel. For others nothing changes: they see nothing of it anyway.
    ada.take_back(&said).await.status(204);
    assert!(eve.inbox().await.is_empty());
    assert_eq!(bob.inbox().await, hidden);
    ada.add_member("den", "bob").await.ok();
    assert!(!bob.message(&hidden[0]).await["deleted_at"].is_null());
    assert!(bob.claim(json!({"limit": 10})).await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_crowded_channel_cannot_be_called_as_a_whole() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    // Members by the hundred, whom nobody needs to have met.
    hub.inner()
        .write(|tx| {
            for n in 0..500 {
                tx.execute(
                    &format!(
                        "insert into principals (kind, handle, folded_handle, display_name, folded_display_name, created_at)
                         values ('user', 'crowd{n}', 'crowd{n}', 'x', 'x', 0)"
                    ),
                    &[],
                )?;
            }
            tx.execute(
                "insert into channel_members (channel_id, principal_id, joined_at)
                 select c.id, p.id, 0 from channels c, principals p
                 where c.name = 'general' and p.handle like 'crowd%'",
                &[],
            )
        })
        .await
        .map(|_: u64| ())
        .unwrap_or_else(|error: stoa_db::DbError| panic!("{error}"));
    for body in ["@channel", "@here"] {
        let request = json!({"channel": "general", "body": body});
        ada.post("/api/messages", &request).await.problem(422, "too_many_mentions");
    }
    assert_eq!(hub.count("select count(*) as n from messages").await, 0);
    hub.finish().await;
}
