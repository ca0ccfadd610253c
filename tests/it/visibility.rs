//! Who sees what is said: one rule for people, agents, keys and administrators.

use serde_json::{Value, json};

use crate::support::{Client, TestHub, each, items};

/// Everything that can be asked about a message that one does not see.
async fn does_not_exist(reader: &Client, message: &Value) {
    let path = format!("/api/messages/{}", message["id"]);
    for call in [
        reader.get(&path),
        reader.patch(&path, &json!({"body": "x"})),
        reader.delete(&path),
        reader.get(&format!("{path}/history")),
        reader.get(&format!("{path}/replies")),
        reader.post(&format!("{path}/done"), &json!({})),
        reader.post(&format!("{path}/fail"), &json!({"error": "x"})),
        reader.post(&format!("{path}/release"), &json!({})),
        reader.call("PUT", &format!("/api/threads/{}/mute", message["id"])),
        reader.post("/api/messages", &json!({"channel": "general", "body": "x", "reply_to": message["id"]})),
    ] {
        call.await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn owners_see_the_dms_of_their_agents_and_strangers_do_not() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let (ant, bee) = (ada.agent("ant").await, bob.agent("bee").await);
    let cat = ada.agent("cat").await;
    let message = ant.dm("bee", "between agents").await;
    for reader in [&ada.client, &bob.client, &ant.client, &bee.client] {
        assert_eq!(reader.message(&message).await["body"], "between agents");
    }
    let admin = hub.admin().await;
    for stranger in [&eve.client, &cat.client, &admin.client] {
        does_not_exist(stranger, &message).await;
        assert!(items(stranger.get("/api/dm/bee/messages").await.ok()).is_empty());
    }
    // Owners read, and that is all.
    for owner in [&ada, &bob] {
        owner.edit(&message, "mine").await.problem(403, "forbidden");
        owner.take_back(&message).await.problem(403, "forbidden");
        assert!(items(owner.get("/api/inbox").await.ok()).is_empty());
        assert!(owner.get("/api/dm/partners").await.ok().json().as_array().unwrap().is_empty());
    }
    assert_eq!(items(ada.get("/api/dm/bee/messages?as=ant").await.ok()).len(), 1);
    assert_eq!(items(bob.get("/api/dm/ant/messages?as=bee").await.ok()).len(), 1);
    assert_eq!(ada.get("/api/dm/partners?as=ant").await.ok().json()[0]["name"], "bee");
    for (reader, name) in [
        (&ada.client, "bee"),
        (&ada.client, "ada"),
        (&ada.client, "nobody"),
        (&eve.client, "ant"),
        (&admin.client, "ant"),
        (&ant.client, "cat"),
        (&ant.client, "ada"),
    ] {
        reader.get(&format!("/api/dm/bee/messages?as={name}")).await.problem(404, "not_found");
        reader.get(&format!("/api/dm/partners?as={name}")).await.problem(404, "not_found");
    }
    assert_eq!(items(ant.get("/api/dm/bee/messages?as=ant").await.ok()).len(), 1);
    // An agent does not see its owner's DMs.
    let private = ada.dm("bob", "between people").await;
    does_not_exist(&ant, &private).await;
    does_not_exist(&admin, &private).await;
    hub.finish().await;
}

#[tokio::test]
async fn owners_see_the_private_channels_of_their_agents() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let (ant, cat) = (ada.agent("ant").await, ada.agent("cat").await);
    bob.make_channel(json!({"name": "den", "public": false})).await;
    bob.add_member("den", "ant").await.ok();
    let message = bob.say("den", "in private").await;
    assert_eq!(ada.message(&message).await["channel"], "den");
    assert_eq!(items(ada.get("/api/channels/den/messages").await.ok()).len(), 1);
    assert_eq!(each(&ada.list("/api/channels").await, "name"), ["den", "general"]);
    ada.get("/api/channels/den/pins").await.ok();
    let post = json!({"channel": "den", "body": "x"});
    ada.post("/api/messages", &post).await.problem(403, "not_a_member");
    ada.call("PUT", &format!("/api/channels/den/pins/{}", message["id"])).await.problem(403, "not_a_member");
    ada.edit(&message, "mine").await.problem(403, "forbidden");
    ant.say("den", "the agent is a member").await;

    let admin = hub.admin().await;
    for stranger in [&eve.client, &cat.client, &admin.client] {
        does_not_exist(stranger, &message).await;
        let path = "/api/channels/den";
        for call in [
            stranger.get(path),
            stranger.patch(path, &json!({"topic": "x"})),
            stranger.put(&format!("{path}/settings"), &json!({"workflow_enabled": true})),
            stranger.call("POST", &format!("{path}/join")),
            stranger.call("POST", &format!("{path}/leave")),
            stranger.call("PUT", &format!("{path}/members/eve")),
            stranger.delete(&format!("{path}/members/ant")),
            stranger.get(&format!("{path}/messages")),
            stranger.get(&format!("{path}/pins")),
            stranger.call("PUT", &format!("{path}/pins/{}", message["id"])),
            stranger.post("/api/messages", &post),
            stranger.post("/api/notifications/mark-read", &json!({"channel": "den"})),
        ] {
            call.await.problem(404, "not_found");
        }
        assert_eq!(each(&stranger.list("/api/channels").await, "name"), ["general"]);
    }
    // What the agent loses, its owner loses.
    bob.delete("/api/channels/den/members/ant").await.status(204);
    for reader in [&ada.client, &ant.client] {
        does_not_exist(reader, &message).await;
        reader.get("/api/channels/den").await.problem(404, "not_found");
    }
    // Made public, it is everybody's to read.
    bob.patch("/api/channels/den", &json!({"public": true})).await.ok();
    assert_eq!(eve.message(&message).await["body"], "in private");
    bob.patch("/api/channels/den", &json!({"public": false})).await.ok();
    does_not_exist(&eve, &message).await;
    hub.finish().await;
}

/// Every call on conversations, with the permissions that it needs. In the paths `{own}` is a message by the key's
/// agent in #work, `{asked}` a new DM to it, and `{claimed}` one that it has claimed.
const NEEDS: &[(&str, &str, &str, &str)] = &[
    ("messages:read", "GET", "/api/messages/{own}", ""),
    ("messages:read", "GET", "/api/messages/{own}/history", ""),
    ("messages:read", "GET", "/api/messages/{own}/replies", ""),
    ("messages:read", "GET", "/api/inbox", ""),
    ("messages:read", "GET", "/api/dm/partners", ""),
    ("messages:read", "GET", "/api/dm/ada/messages", ""),
    ("messages:read", "GET", "/api/threads", ""),
    ("messages:write", "PUT", "/api/threads/{own}/mute", ""),
    ("messages:write", "DELETE", "/api/threads/{own}/mute", ""),
    ("messages:read", "GET", "/api/channels/work/messages", ""),
    ("messages:read", "GET", "/api/channels/work/messages/by-state?state=proposed", ""),
    ("messages:read", "GET", "/api/channels/work/pins", ""),
    ("messages:read", "GET", "/api/messages/{own}/reactions", ""),
    ("messages:read", "GET", "/api/trust/scout", ""),
    ("messages:read", "GET", "/api/notifications/unread", ""),
    ("messages:read", "GET", "/api/agents", ""),
    ("messages:read", "GET", "/api/agents/scout", ""),
    ("messages:read", "GET", "/api/directory", ""),
    ("messages:write", "POST", "/api/notifications/mark-read", r#"{"channel": "work"}"#),
    ("reactions:write", "POST", "/api/messages/{own}/reactions", r#"{"reaction": "done"}"#),
    ("reactions:write", "DELETE", "/api/messages/{reacted}/reactions?reaction=done", ""),
    ("messages:write", "POST", "/api/messages", r#"{"to": "ada", "body": "x"}"#),
    ("messages:write", "POST", "/api/messages", r#"{"channel": "work", "body": "x"}"#),
    ("messages:write", "PATCH", "/api/messages/{own}", r#"{"body": "edited"}"#),
    ("messages:write", "DELETE", "/api/messages/{own}", ""),
    ("messages:write messages:read", "POST", "/api/inbox/claim", "{}"),
    ("messages:write messages:read", "POST", "/api/messages/{asked}/done", r#"{"result": "x"}"#),
    ("messages:write messages:read", "POST", "/api/messages/{asked}/fail", r#"{"error": "x"}"#),
    ("messages:write messages:read", "POST", "/api/messages/{claimed}/release", ""),
    ("channels:read", "GET", "/api/channels", ""),
    ("channels:read", "GET", "/api/channels/work", ""),
    ("channels:write", "POST", "/api/channels", r#"{"name": "new"}"#),
    ("channels:write", "PATCH", "/api/channels/work", r#"{"topic": "x"}"#),
    ("channels:write", "PUT", "/api/channels/work/settings", r#"{"workflow_enabled": false}"#),
    ("channels:write", "POST", "/api/channels/work/join", ""),
    ("channels:write", "PUT", "/api/channels/work/members/scout", ""),
    ("channels:write", "DELETE", "/api/channels/work/members/scout", ""),
    ("channels:write", "PUT", "/api/channels/work/pins/{own}", ""),
    ("channels:write", "DELETE", "/api/channels/work/pins/{own}", ""),
    ("channels:write", "POST", "/api/channels/work/leave", ""),
];

#[tokio::test]
async fn every_call_needs_its_permissions_and_no_other() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    hub.human("bob").await;
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    let key = async |permissions: Vec<&str>| {
        let (_, key) = ada.key("scout", json!(permissions)).await;
        hub.nobody().bearer(&key)
    };
    for (permissions, method, path, body) in NEEDS {
        let own = scout.say("work", "own").await;
        let claimed = ada.dm("scout", "claimed").await;
        scout.claim(json!({"message_ids": [claimed["id"]]})).await;
        let asked = ada.dm("scout", "asked").await;
        let reacted = ada.say("work", "reacted").await;
        scout.react(&reacted, "done").await.ok();
        let mut path = (*path).to_owned();
        let messages = [("{own}", &own), ("{asked}", &asked), ("{claimed}", &claimed), ("{reacted}", &reacted)];
        for (name, message) in messages {
            path = path.replace(name, &message["id"].to_string());
        }
        let call = |client: &Client| {
            let call = client.call(method, &path);
            if body.is_empty() { call } else { call.json(&serde_json::from_str(body).unwrap()) }
        };
        let needed: Vec<&str> = permissions.split(' ').collect();
        for permission in &needed {
            let all = stoa_model::permissions::Permission::ALL.into_iter().map(|other| other.name());
            let without = key(all.filter(|other| other != permission).collect()).await;
            let refused = call(&without).await.problem(403, "forbidden");
            assert!(refused.json()["detail"].as_str().unwrap().contains(permission), "{refused:?}");
        }
        call(&key(needed).await).await.ok();
    }
    // What a key may never do, whatever it was given.
    let (_, everything) = ada.key("scout", json!(["*"])).await;
    hub.nobody().bearer(&everything).delete("/api/channels/work").await.problem(403, "forbidden");
    hub.finish().await;
}

#[tokio::test]
async fn a_key_stays_within_its_channels() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for name in ["work", "other"] {
        ada.make_channel(json!({"name": name})).await;
        ada.add_member(name, "scout").await.ok();
    }
    let request = json!({"name": "k", "agent": "scout", "permissions": ["*"], "channels": ["work"]});
    let created = ada.post("/api/keys", &request).await.status(201).json();
    let limited = hub.nobody().bearer(created["key"].as_str().unwrap());

    let inside = ada.say("work", "inside").await;
    let outside = ada.say("other", "outside").await;
    ada.reply("other", &inside, "answered outside").await;
    ada.reply("work", &inside, "answered inside").await;
    let begun = scout.say("work", "begun by scout").await;
    ada.reply("other", &begun, "answered outside").await;

    assert_eq!(each(&limited.list("/api/channels").await, "name"), ["work"]);
    assert_eq!(limited.message(&inside).await["reply_count"], 1);
    assert_eq!(scout.message(&inside).await["reply_count"], 2);
    assert_eq!(each(&limited.replies(&inside).await, "body"), ["answered inside"]);
    let unread = limited.get("/api/notifications/unread").await.ok().json();
    assert_eq!(each(unread.as_array().unwrap(), "name"), ["work"]);
    assert!(items(limited.get("/api/threads").await.ok()).is_empty());
    assert_eq!(items(scout.get("/api/threads").await.ok()).len(), 1);
    does_not_exist(&limited, &outside).await;
    for call in [
        limited.get("/api/channels/other"),
        limited.get("/api/channels/other/messages"),
        limited.get("/api/channels/other/pins"),
        limited.patch("/api/channels/other", &json!({"topic": "x"})),
        limited.call("PUT", &format!("/api/channels/other/pins/{}", outside["id"])),
        limited.call("POST", "/api/channels/other/join"),
        limited.call("POST", "/api/channels/other/leave"),
        limited.call("PUT", "/api/channels/other/members/scout"),
        limited.delete("/api/channels/other/members/scout"),
        limited.post("/api/messages", &json!({"channel": "other", "body": "x"})),
        limited.post("/api/messages", &json!({"channel": "general", "body": "x"})),
        limited.post("/api/notifications/mark-read", &json!({"channel": "other"})),
    ] {
        call.await.problem(404, "not_found");
    }
    limited.say("#work", "allowed").await;
    limited.call("PUT", &format!("/api/channels/work/pins/{}", inside["id"])).await.status(204);
    limited.post("/api/channels", &json!({"name": "elsewhere"})).await.problem(403, "forbidden");
    // DMs are not limited.
    let direct = ada.dm("scout", "direct").await;
    assert_eq!(limited.message(&direct).await["body"], "direct");
    limited.dm("ada", "back").await;
    assert_eq!(limited.inbox().await.len(), 1);
    hub.finish().await;
}
