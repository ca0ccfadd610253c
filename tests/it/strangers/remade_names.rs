//! A name carries no rights: keys and routes of a deleted channel lead nowhere, even if somebody makes a channel of the same name.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use stoa_db::params;
use stoa_model::credentials::CredentialKind;

use crate::support::{ALL_SCOPES, Human, RegistryFile, Setup, TestHub, each, items};

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

/// Columns whose names sound as if they held the name of somebody or something. Each says why it may.
const NAMES: &[(&str, &str)] = &[
    ("api_keys.name", "what its owner calls it"),
    ("audit.actor", "a log of what was, read by people"),
    ("audit.target", "a log of what was, read by people"),
    ("blob_holds.name", "of a file, which is never used again"),
    ("channels.name", "the name itself"),
    ("idempotency.caller", "an id in words"),
    ("listener_cursors.lease_owner", "a hub"),
    ("listener_cursors.name", "a part of the hub"),
    ("machine_events.config_name", "a config of the same principal, as a record"),
    ("machine_route_channels.channel_name", "what the route says, beside the id that it means"),
    ("machine_route_channels.config_name", "a config of the same principal"),
    ("machine_source_configs.name", "the name itself"),
    ("message_attachments.filename", "of the sender's file"),
    ("messages.subject", "a text"),
    ("meta.name", "a part of the hub"),
    ("oauth_clients.name", "what the program calls itself"),
    ("principals.display_name", "the name itself"),
    ("principals.folded_display_name", "the name itself"),
    ("principals.folded_handle", "the name itself; nobody gets it a second time"),
    ("principals.handle", "the name itself; nobody gets it a second time"),
    ("schema_migrations.name", "of a migration"),
    ("secrets.name", "of a variable"),
    ("sessions.user_agent", "a browser"),
    ("uploads.filename", "of the uploader's file"),
    ("work.lease_owner", "a hub"),
    ("work.subject", "an id in words"),
];

/// A new column that holds a name needs a reason here, or an id instead.
#[tokio::test]
async fn rows_refer_to_others_by_id() {
    let hub = Setup::on_sqlite().start().await;
    let words = ["channel", "principal", "agent", "user", "owner", "author", "handle", "member", "name", "target"];
    let sql = "select m.name as held_by, p.name from sqlite_master m join pragma_table_info(m.name) p
         where m.type = 'table' and p.type = 'TEXT' and m.name not like 'sqlite_%'";
    let columns = hub
        .inner()
        .read(move |tx| tx.query(sql, &[], |row| Ok((row.get::<String>("held_by")?, row.get::<String>("name")?))));
    let columns: Result<Vec<(String, String)>, stoa_db::DbError> = columns.await;
    for (table, column) in columns.unwrap() {
        let sounds_like_a_name =
            words.iter().any(|word| column.contains(word)) || ["actor", "caller", "subject"].contains(&column.as_str());
        let name = format!("{table}.{column}");
        let has_reason = NAMES.iter().any(|(known, _)| *known == name);
        assert!(!sounds_like_a_name || has_reason, "{name} may hold a name: hold an id, or say why not");
    }
    hub.finish().await;
}

/// Before migration 14 keys and routes held names.
#[tokio::test]
async fn keys_and_routes_of_earlier_versions_keep_their_channels() {
    let key = CredentialKind::ApiKey.render([3; 32]);
    let hash: [u8; 32] = Sha256::digest(&key).into();
    let setup = Setup::at_migration(13, move |tx| {
        for sql in [
            "insert into principals (id, kind, handle, folded_handle, display_name, folded_display_name, created_at)
             values (100, 'user', 'ada', 'ada', 'Ada', 'ada', 0)",
            "insert into principals (id, kind, handle, folded_handle, display_name, folded_display_name, owner_id, created_at)
             values (101, 'agent', 'scout', 'scout', 'Scout', 'scout', 100, 0)",
            "insert into principals (id, kind, handle, folded_handle, display_name, folded_display_name, created_at)
             values (102, 'machine', 'svc:sense:demo', 'svc:sense:demo', 'demo', 'demo', 0)",
            "insert into users (id, password_hash, role) values (100, 'none', 'admin')",
            "insert into agents (id, archetype, trigger_mode, cooldown_seconds, budget, max_trigger_depth, instructions)
             values (101, 'custom', 'passive', 30, '{}', 4, '')",
            "insert into conversations (id, created_at) values (50, 0), (51, 0), (52, 0)",
            "insert into channels (id, conversation_id, name, topic, description, is_public, owner_id, created_at)
             values (50, 50, 'ops_1', '', '', 1, 100, 0), (51, 51, 'opsx1', '', '', 1, 100, 0), (52, 52, 'op', '', '', 1, 100, 0)",
            "insert into machine_source_configs (principal_id, name, version, config, created_at, updated_at)
             values (102, 'main', 1, '{\"description\":\"\",\"routes\":[{\"type\":\"*\",\"channel\":\"ops_1\"}]}', 0, 0)",
        ] {
            tx.execute(sql, &[])?;
        }
        tx.execute(
            "insert into api_keys (owner_id, agent_id, name, token_hash, permissions, channels, created_at)
             values (100, 101, 'k', $1, '*', 'ops_1,gone', 0)",
            params![&hash],
        )?;
        Ok(())
    })
    .await;
    let hub = setup.start().await;
    let limited = hub.nobody().bearer(&key);
    assert_eq!(each(&limited.list("/api/channels").await, "name"), ["ops_1"]);
    limited.get("/api/channels/opsx1").await.problem(404, "not_found");
    let held = "select count(*) as n from machine_route_channels where channel_id = 50 and channel_name = 'ops_1'";
    assert_eq!(hub.count(held).await, 1);
    hub.finish().await;
}
