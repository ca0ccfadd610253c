//! A name carries no rights: keys and routes of a deleted channel lead nowhere, even if somebody makes a channel of the same name.

use serde_json::{Value, json};

use crate::support::{ALL_SCOPES, Human, RegistryFile, TestHub, items};

/// Somebody with a private channel `ops`, an agent in it, and a key of the agent that reaches nothing else.
async fn make_ops(hub: &TestHub) -> (Human, String) {
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    ada.make_channel(json!({"name": "ops", "public": false})).await;
    ada.add_member("ops", "scout").await.ok();
    let request = json!({"name": "reporter", "agent": "scout", "permissions": ["*"], "channels": ["ops"]});
    let key = ada.post("/api/keys", &request).await.status(201).json();
    (ada, key["key"].as_str().unwrap().to_owned())
}

async fn newest_notice(reader: &Human) -> Value {
    let notices = items(reader.get("/api/dm/system/messages").await.ok());
    notices.last().cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_limited_key_does_not_reach_a_new_channel_of_the_old_name() {
    let hub = TestHub::start().await;
    let (ada, key) = make_ops(&hub).await;
    let reporter = hub.nobody().bearer(&key);
    reporter.say("ops", "disk full").await;
    ada.delete("/api/channels/ops").await.status(204);

    // A stranger cannot take the name, and an administrator who takes it does not get what the key sends.
    let eve = hub.human("eve").await;
    let agent = eve.agent("errand").await;
    for taker in [&eve.client, &agent.client] {
        taker.post("/api/channels", &json!({"name": "ops"})).await.problem(409, "name_taken");
    }
    hub.admin().await.make_channel(json!({"name": "ops"})).await;
    for _ in 0..2 {
        let refused = reporter.post("/api/messages", &json!({"channel": "ops", "body": "disk full again"})).await;
        refused.problem(404, "not_found");
        for path in ["/api/channels/ops", "/api/channels/ops/messages", "/api/channels/ops/pins"] {
            reporter.get(path).await.problem(404, "not_found");
        }
        reporter.call("POST", "/api/channels/ops/join").await.problem(404, "not_found");
        assert_eq!(reporter.list("/api/channels").await, Vec::<Value>::new());
    }
    assert_eq!(items(eve.get("/api/channels/ops/messages").await.ok()), Vec::<Value>::new());

    let known = &ada.list("/api/keys").await[0];
    assert_eq!((&known["channels"], &known["deleted_channels"]), (&json!(["ops"]), &json!(["ops"])));
    let notice = newest_notice(&ada).await;
    assert!(notice["body"].as_str().unwrap().contains("#ops was deleted"), "{notice}");
    assert_eq!(notice["metadata"]["deleted_channel"], json!({"channel": "ops", "keys": 1}));
    hub.finish().await;
}

#[tokio::test]
async fn the_former_owner_uses_the_name_again_and_old_keys_do_not_follow() {
    let hub = TestHub::start().await;
    let (ada, key) = make_ops(&hub).await;
    ada.delete("/api/channels/ops").await.status(204);
    ada.make_channel(json!({"name": "ops"})).await;
    hub.nobody().bearer(&key).get("/api/channels/ops").await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn a_key_names_channels_that_its_owner_sees() {
    let hub = TestHub::start().await;
    let (_, _) = make_ops(&hub).await;
    let eve = hub.human("eve").await;
    eve.agent("errand").await;
    for channel in ["ops", "nowhere"] {
        let request = json!({"name": "k", "agent": "errand", "permissions": ["*"], "channels": ["general", channel]});
        eve.post("/api/keys", &request).await.invalid(&["channels[1]"]);
    }
    let request = json!({"name": "k", "agent": "errand", "permissions": ["*"], "channels": ["general"]});
    let key = eve.post("/api/keys", &request).await.status(201).json();
    let limited = hub.nobody().bearer(key["key"].as_str().unwrap());
    limited.post("/api/channels", &json!({"name": "mine"})).await.problem(403, "forbidden");
    hub.finish().await;
}

#[tokio::test]
async fn events_of_services_do_not_go_to_a_new_channel_of_the_old_name() {
    let registry = RegistryFile::new();
    let identity = registry.add("svc:sense:demo", &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let demo = hub.machine(&identity);
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "ops"})).await;
    let config = json!({"routes": [{"type": "*", "channel": "ops", "template": "{{id}}"}]});
    demo.put("/machine/source-configs/main", &config).await.status(201);
    let sent = demo.event(&demo.made("1", "t", json!({}))).await.ok().json();
    assert_eq!(sent["results"][0]["outcome"], "routed");
    ada.delete("/api/channels/ops").await.status(204);

    let admin = hub.admin().await;
    admin.make_channel(json!({"name": "ops"})).await;
    let sent = demo.event(&demo.made("2", "t", json!({}))).await.ok().json();
    assert_eq!(sent["results"][0]["outcome"], "not_routed");
    assert_eq!(sent["results"][0]["reason"], "channel_deleted");
    assert_eq!(items(admin.get("/api/channels/ops/messages").await.ok()), Vec::<Value>::new());
    let known = demo.get("/machine/source-configs/main").await.ok().json();
    assert_eq!(known["deleted_channels"], json!(["ops"]));
    let notice = newest_notice(&admin).await;
    assert!(notice["body"].as_str().unwrap().contains("main of svc:sense:demo"), "{notice}");

    // Who sends the config again means the new channel.
    let again = demo.put("/machine/source-configs/main", &config).await.status(200).json();
    assert_eq!((&again["version"], &again["deleted_channels"]), (&json!(2), &Value::Null));
    let sent = demo.event(&demo.made("3", "t", json!({}))).await.ok().json();
    assert_eq!(sent["results"][0]["outcome"], "routed");
    hub.finish().await;
}
