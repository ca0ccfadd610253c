//! Webhooks: what is sent to whom, and what happens when nobody answers.

mod addresses;
mod backlog;
mod canaries;
mod crashes;
mod examples;
mod failures;
pub(crate) mod receiver;
mod rude;
mod runs;
mod sharing;
mod trap;

use std::time::Duration;

use serde_json::{Value, json};
use stoa_db::{DbError, params};

use crate::support::{ALL_SCOPES, Agent, Client, DAY, Human, RegistryFile, Setup, TestHub, eventually, items};
use crate::walk::{Row, ToolRow, either, either_thing, refused, shows_own};
use receiver::Receiver;

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    let new = json!({"agent": "{name}", "url": "https://127.0.0.1:9/", "events": ["wiki.changed"]});
    vec![
        either("GET /api/webhooks").aimed("agent={name}", 0, ""),
        either_thing("POST /api/webhooks").body(new).refused(422, "validation_failed"),
        either_thing("GET /api/webhooks/{id}"),
        either_thing("PATCH /api/webhooks/{id}").body(json!({"events": ["run.finished"]})),
        either_thing("DELETE /api/webhooks/{id}"),
        either_thing("POST /api/webhooks/{id}/test"),
        either_thing("POST /api/webhooks/{id}/enable"),
        either_thing("POST /api/webhooks/{id}/rotate-secret"),
        either_thing("POST /api/webhooks/{id}/retry-dead"),
        either_thing("GET /api/webhooks/{id}/deliveries").aimed("agent={name}", 404, "not_found"),
        either("GET /api/webhooks/deliveries").aimed("agent={name}", 0, ""),
        either("GET /api/webhooks/dead-letters").aimed("agent={name}", 0, ""),
        either_thing("GET /api/webhooks/deliveries/{id}"),
        either_thing("POST /api/webhooks/deliveries/{id}/retry"),
    ]
}

pub(crate) fn tool_rows() -> Vec<ToolRow> {
    let new = json!({"agent": "{name}", "url": "https://127.0.0.1:9/", "events": ["wiki.changed"]});
    vec![
        refused("register_webhook", new),
        shows_own("list_webhooks", json!({"agent": "{name}"})),
        refused("delete_webhook", json!({"webhook_id": "{webhook}"})),
    ]
}

const ALL: [&str; 5] =
    ["message.received", "message.mentioned", "channel.message", "workflow.state_changed", "webhook.ping"];

/// A hub that calls receivers on this machine.
fn setup() -> Setup {
    TestHub::setup().session_lifetime(100 * DAY).configure(|config| {
        config.allow_http_webhooks = true;
        config.outbound_allow = vec!["127.0.0.0/8".parse().unwrap()];
    })
}

/// Registers a webhook, and returns its id and secret.
async fn register(client: &Client, agent: &str, url: &str, events: &[&str]) -> (i64, String) {
    let request = json!({"agent": agent, "url": url, "events": events});
    let created = client.post("/api/webhooks", &request).await.status(201).json();
    (created["webhook"]["id"].as_i64().unwrap(), created["secret"].as_str().unwrap().to_owned())
}

async fn deliveries(client: &Client, webhook: i64) -> Vec<Value> {
    items(client.get(&format!("/api/webhooks/{webhook}/deliveries?limit=200")).await)
}

async fn webhook(client: &Client, id: i64) -> Value {
    client.get(&format!("/api/webhooks/{id}")).await.ok().json()
}

const UNDER_WAY: &str = "select count(*) as n from work where queue = 'webhooks' and lease_owner is not null";

/// Moves time in small steps, so that hubs can extend the leases of so many requests under way.
async fn advance_while_sending(hub: &TestHub, seconds: u64, requests: i64) {
    for _ in 0..seconds / 10 {
        hub.advance(Duration::from_secs(10));
        let wanted = hub.now_ms() + 30_000;
        eventually("the leases are extended", async || {
            let extended: Result<i64, DbError> = hub
                .inner()
                .read(move |tx| {
                    let sql = "select count(*) as n from work where queue = 'webhooks' and lease_until >= $1";
                    tx.query_one(sql, params![wanted], |row| row.get("n"))
                })
                .await;
            extended.unwrap() == requests
        })
        .await;
    }
}

struct Scene {
    hub: TestHub,
    ada: Human,
    lookout: Agent,
    receiver: Receiver,
}

async fn scene() -> Scene {
    let hub = setup().start().await;
    let ada = hub.human("ada").await;
    let lookout = ada.agent("lookout").await;
    Scene { receiver: Receiver::start().await, hub, ada, lookout }
}

#[tokio::test]
async fn each_event_is_sent_signed_to_those_who_asked_for_it() {
    let Scene { hub, ada, lookout, receiver } = scene().await;
    let (id, secret) = register(&ada, "lookout", &receiver.url, &ALL).await;
    let other = Receiver::start().await;
    register(&ada, "lookout", &other.url, &["webhook.ping"]).await;
    ada.make_workflow("news", json!({})).await;
    ada.add_member("news", "lookout").await.ok();
    let dm = ada.dm("lookout", "hello").await;
    assert_eq!(dm["delivery"][0]["state"], "woken");
    receiver.has(1).await;
    let said = ada.say("news", "a piece of news").await;
    receiver.has(2).await;
    let called = ada.say("general", "look, @lookout").await;
    receiver.has(4).await;
    ada.react(&said, "approve").await.ok();
    let received = receiver.has(5).await;
    let mut seen: Vec<(String, i64)> = received
        .iter()
        .map(|one| (one.body["type"].as_str().unwrap().to_owned(), one.body["data"]["message_id"].as_i64().unwrap()))
        .collect();
    seen.sort();
    let id_of = |sent: &Value| sent["id"].as_i64().unwrap();
    let mut expected = [
        ("message.received", id_of(&dm)),
        ("channel.message", id_of(&said)),
        ("channel.message", id_of(&called)),
        ("message.mentioned", id_of(&called)),
        ("workflow.state_changed", id_of(&said)),
    ]
    .map(|(event, id)| (event.to_owned(), id));
    expected.sort();
    assert_eq!(seen, expected);
    for one in &received {
        assert_eq!(one.signatures_of(&secret), 1);
        assert_eq!(one.header("webhook-id"), one.body["id"].as_str().unwrap());
        assert_eq!((one.header("webhook-loop-depth"), &one.body["agent"]), ("0", &json!("lookout")));
        assert!(one.bytes.len() < 20_000);
    }
    let state = &received.iter().find(|one| one.body["type"] == "workflow.state_changed").unwrap().body["data"];
    assert_eq!(
        (&state["from"], &state["to"], &state["reaction"], &state["actor"], &state["channel"]),
        (&json!(null), &json!("approved"), &json!("approve"), &json!("ada"), &json!("news"))
    );
    hub.settle().await;
    assert_eq!(other.count(), 0);
    assert!(deliveries(&ada, id).await.iter().all(|delivery| delivery["status"] == "delivered"));
    // An agent's own messages are no news to it.
    lookout.say("news", "mine").await;
    hub.settle().await;
    assert_eq!(receiver.count(), 5);
    hub.finish().await;
}

#[tokio::test]
async fn a_machine_principal_sees_what_was_delivered_of_its_events() {
    let registry = RegistryFile::new();
    let machine = registry.add("svc:sense:demo", &ALL_SCOPES);
    let hub = setup().registry(&registry).start().await;
    let (machine, ada, receiver) = (hub.machine(&machine), hub.human("ada").await, Receiver::start().await);
    ada.agent("lookout").await;
    ada.post("/api/channels", &json!({"name": "alerts"})).await.status(201);
    ada.add_member("alerts", "lookout").await.ok();
    register(&ada, "lookout", &receiver.url, &["channel.message"]).await;
    let config = json!({"routes": [{"type": "alarm", "channel": "alerts", "template": "look at {{id}}"}]});
    machine.put("/machine/source-configs/main", &config).await.status(201);
    machine.event(&machine.made("e1", "alarm", json!(1))).await.status(202);
    receiver.has(1).await;
    hub.settle().await;
    let evidence = machine.get("/machine/evidence?event_id=e1").await.status(200);
    assert!(!evidence.text().contains(&receiver.url), "the address is the owner's");
    let delivery = &evidence.json()["items"][0]["deliveries"][0];
    let seen = ["event", "agent", "status", "attempts"].map(|field| delivery[field].clone());
    assert_eq!(seen, [json!("channel.message"), json!("lookout"), json!("delivered"), json!(1)]);
    hub.finish().await;
}

#[tokio::test]
async fn answers_that_repeat_a_deleted_message_are_hidden() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    let sent = ada.dm("lookout", "hello").await;
    receiver.has(1).await;
    hub.settle().await;
    // The hub keeps no answers from private networks, so this one is put there.
    let attempts = json!([{"at": "2027-01-15T08:00:00.000Z", "status": 200, "duration_ms": 1, "error": null,
        "response_excerpt": format!("hello{}", "x".repeat(1000))}]);
    let changed: Result<u64, DbError> = hub
        .inner()
        .write(move |tx| tx.execute("update webhook_deliveries set attempts = $1", params![attempts.to_string()]))
        .await;
    assert_eq!(changed.unwrap(), 1);
    let listed = async || deliveries(&ada, id).await.remove(0);
    let delivery = listed().await;
    let one = format!("/api/webhooks/deliveries/{}", delivery["id"]);
    let excerpt = |delivery: &Value| delivery["attempts"][0]["response_excerpt"].clone();
    assert_eq!(excerpt(&delivery).as_str().unwrap().len(), 160);
    assert_eq!(excerpt(&ada.get(&one).await.ok().json()).as_str().unwrap().len(), 1005);
    ada.delete(&format!("/api/messages/{}", sent["id"])).await.status(204);
    assert_eq!(excerpt(&listed().await), Value::Null);
    assert_eq!(excerpt(&ada.get(&one).await.ok().json()), Value::Null);
    hub.finish().await;
}

#[tokio::test]
async fn long_texts_are_cut() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    ada.dm("lookout", &"\"\u{1}\n".repeat(80_000)).await;
    let received = receiver.has(1).await;
    assert!(received[0].bytes.len() < 20_000, "{}", received[0].bytes.len());
    assert_eq!(received[0].body["data"]["body_is_cut"], true);
    hub.finish().await;
}

#[tokio::test]
async fn a_rotated_secret_signs_along_for_a_day() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, first) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    let rotate = format!("/api/webhooks/{id}/rotate-secret");
    let second = ada.post(&rotate, &json!({})).await.ok().json()["secret"].as_str().unwrap().to_owned();
    ada.dm("lookout", "one").await;
    let received = receiver.has(1).await;
    assert_eq!((received[0].signatures_of(&first), received[0].signatures_of(&second)), (1, 1));
    hub.advance(std::time::Duration::from_secs(24 * 3600));
    ada.dm("lookout", "two").await;
    let received = receiver.has(2).await;
    assert_eq!((received[1].signatures_of(&first), received[1].signatures_of(&second)), (0, 1));
    // One that has leaked is dropped at once.
    let third = ada.post(&rotate, &json!({"keep_old": false})).await.ok().json()["secret"].as_str().unwrap().to_owned();
    ada.dm("lookout", "three").await;
    let received = receiver.has(3).await;
    assert_eq!((received[2].signatures_of(&second), received[2].signatures_of(&third)), (0, 1));
    // They are stored as ciphertext only, also after a change of the hub's key.
    hub.settle().await;
    let stored = String::from_utf8_lossy(&hub.everything_stored()).into_owned();
    assert!(!stored.contains(third.strip_prefix("whsec_").unwrap()));
    hub.operator().call("db.rotate_key", json!({})).await;
    ada.dm("lookout", "four").await;
    assert_eq!(receiver.has(4).await[3].signatures_of(&third), 1);
    hub.finish().await;
}

#[tokio::test]
async fn bad_addresses_and_events_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("lookout").await;
    let create = |agent: &str, url: &str, events: Value| {
        ada.post("/api/webhooks", &json!({"agent": agent, "url": url, "events": events}))
    };
    for url in [
        "http://hooks.example/x",
        "https://user:password@hooks.example/",
        "https://127.0.0.1/",
        "https://0x7f.1/",
        "https://[::ffff:169.254.169.254]/",
        "https://[::1]:8443/",
        "ftp://hooks.example/",
        "hooks.example",
        "",
        &format!("https://hooks.example/{}", "x".repeat(8192)),
    ] {
        create("lookout", url, json!(["message.received"])).await.invalid(&["url"]);
    }
    create("lookout", "https://hooks.example/", json!([])).await.invalid(&["events"]);
    create("lookout", "https://hooks.example/", json!(["message.sent"])).await.problem(422, "validation_failed");
    create("nobody", "https://hooks.example/", json!(["message.received"])).await.invalid(&["agent"]);
    // An odd port and a name in letters of another script are fine.
    let created = create("lookout", "https://bücher.example:8443/a", json!(["run.finished", "goal.changed"])).await;
    let created = created.status(201).json();
    assert_eq!(created["webhook"]["url"], "https://xn--bcher-kva.example:8443/a");
    for _ in 0..9 {
        create("lookout", "https://hooks.example/", json!(["wiki.changed"])).await.status(201);
    }
    create("lookout", "https://hooks.example/", json!(["wiki.changed"])).await.problem(409, "too_many_webhooks");
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_registers_its_own_and_its_owner_hears_of_it() {
    let Scene { hub, ada, lookout, receiver } = scene().await;
    ada.agent("porter").await;
    let registered =
        lookout.tool("register_webhook", json!({"url": receiver.url, "events": ["message.received"]})).await;
    let id = registered["webhook"]["id"].as_i64().unwrap();
    let told = items(ada.get("/api/dm/system/messages").await);
    assert!(told[0]["body"].as_str().unwrap().contains("@lookout registered a webhook to 127.0.0.1"), "{told:?}");
    let listed = lookout.tool("list_webhooks", json!({})).await;
    assert_eq!(listed["items"][0]["id"], id);
    let request = json!({"agent": "porter", "url": receiver.url, "events": ["message.received"]});
    lookout.post("/api/webhooks", &request).await.invalid(&["agent"]);
    let (_, limited) = ada.key("lookout", json!(["messages:read"])).await;
    let limited = lookout.bearer(&limited);
    limited.post(&format!("/api/webhooks/{id}/test"), &json!({})).await.problem(403, "forbidden");
    lookout.tool("delete_webhook", json!({"webhook_id": id})).await;
    lookout.get(&format!("/api/webhooks/{id}")).await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn where_owners_confirm_nothing_is_sent_before() {
    let hub = setup().configure(|config| config.agent_webhooks = stoa::config::AgentWebhooks::Confirm).start().await;
    let ada = hub.human("ada").await;
    let lookout = ada.agent("lookout").await;
    let receiver = Receiver::start().await;
    let (id, _) = register(&lookout, "lookout", &receiver.url, &["message.received"]).await;
    assert_eq!(webhook(&ada, id).await["disabled_reason"], "unconfirmed");
    ada.dm("lookout", "one").await;
    let path = format!("/api/webhooks/{id}");
    let enable = async || lookout.post(&format!("{path}/enable"), &json!({})).await;
    enable().await.problem(403, "confirmation_required");
    lookout.post(&format!("{path}/test"), &json!({})).await.problem(403, "confirmation_required");
    // The agent cannot give it another reason, either.
    lookout.patch(&path, &json!({"enabled": false})).await.ok();
    enable().await.problem(403, "confirmation_required");
    ada.post(&format!("{path}/enable"), &json!({})).await.ok();
    ada.dm("lookout", "two").await;
    let received = receiver.has(1).await;
    assert_eq!(received[0].body["data"]["body"], "two");
    hub.settle().await;
    // What it changes must be confirmed again, but for what it gives up.
    for (change, state) in [
        (json!({"events": ["message.received", "channel.message"]}), "unconfirmed"),
        (json!({"events": ["channel.message"]}), ""),
        (json!({"url": format!("{}/elsewhere", receiver.url)}), "unconfirmed"),
    ] {
        let changed = lookout.patch(&path, &change).await.ok().json();
        assert_eq!(changed["disabled_reason"].as_str().unwrap_or_default(), state, "{change}");
        ada.post(&format!("{path}/enable"), &json!({})).await.ok();
    }
    ada.patch(&path, &json!({"enabled": false})).await.ok();
    enable().await.problem(403, "confirmation_required");
    hub.finish().await;
}

#[tokio::test]
async fn what_an_agent_no_longer_sees_is_not_sent() {
    let Scene { hub, ada, lookout, receiver } = scene().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &ALL).await;
    ada.make_channel(json!({"name": "secret", "public": false})).await;
    ada.add_member("secret", "lookout").await.ok();
    receiver.always_answer(503);
    ada.say("secret", "the canary").await;
    receiver.has(1).await;
    hub.settle().await;
    ada.delete("/api/channels/secret/members/lookout").await.ok();
    receiver.always_answer(200);
    let deleted = ada.dm("lookout", "taken back").await;
    receiver.has(2).await;
    hub.settle().await;
    hub.advance(crate::support::MINUTE);
    hub.settle().await;
    assert_eq!(receiver.count(), 2, "the second try found that it is no longer for the agent");
    let listed = deliveries(&ada, id).await;
    let dead = listed.iter().find(|delivery| delivery["event"] == "channel.message").unwrap();
    assert_eq!((&dead["status"], &dead["reason"]), (&json!("dead"), &json!("not_visible")));
    // Nothing of the text is stored with it.
    let shown = ada.get(&format!("/api/webhooks/deliveries/{}", dead["id"])).await.ok();
    assert!(!shown.text().contains("canary"), "{}", shown.text());
    // What was delivered shows its text as long as the message is there.
    let delivered = listed.iter().find(|delivery| delivery["event"] == "message.received").unwrap();
    let path = format!("/api/webhooks/deliveries/{}", delivered["id"]);
    assert_eq!(ada.get(&path).await.ok().json()["request"]["body"]["data"]["body"], "taken back");
    ada.take_back(&deleted).await.ok();
    assert!(!ada.get(&path).await.ok().text().contains("taken back"));
    lookout.get(&path).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn a_chain_ends_at_depth_five() {
    let Scene { hub, ada, lookout, receiver } = scene().await;
    let porter = ada.agent("porter").await;
    let (id, _) = register(&ada, "porter", &receiver.url, &["message.received"]).await;
    let send = |depth: i64| {
        let message = json!({"to": "porter", "body": format!("{depth}")});
        lookout.post("/api/messages", &message).header("webhook-loop-depth", depth.to_string())
    };
    send(3).await.status(201);
    let received = receiver.has(1).await;
    assert_eq!((&received[0].body["depth"], received[0].header("webhook-loop-depth")), (&json!(4), "4"));
    let sent = send(4).await.status(201).json();
    assert_ne!(sent["delivery"][0]["state"], "woken");
    hub.settle().await;
    assert_eq!(receiver.count(), 1);
    assert_eq!(deliveries(&porter, id).await[0]["status"], "suppressed_loop");
    hub.finish().await;
}

#[tokio::test]
async fn no_more_than_sixty_a_minute_are_sent_for_an_agent() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let other = Receiver::start().await;
    register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    register(&ada, "lookout", &other.url, &["message.received"]).await;
    ada.agent("porter").await;
    let third = Receiver::start().await;
    register(&ada, "porter", &third.url, &["message.received"]).await;
    for number in 0..40 {
        ada.dm("lookout", &format!("{number}")).await;
    }
    let both = || receiver.count() + other.count();
    crate::support::eventually("sixty are sent", async || both() >= 60).await;
    // Another agent's are not held up.
    ada.dm("porter", "hello").await;
    third.has(1).await;
    assert_eq!(both(), 60);
    hub.advance(crate::support::MINUTE);
    crate::support::eventually("the rest is sent", async || both() == 80).await;
    hub.settle().await;
    hub.finish().await;
}

#[tokio::test]
async fn others_see_nothing_of_it() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let eve = hub.human("eve").await;
    let spy = eve.agent("spy").await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    ada.dm("lookout", "hello").await;
    receiver.has(1).await;
    hub.settle().await;
    let delivery = deliveries(&ada, id).await[0]["id"].as_i64().unwrap();
    for client in [&eve.client, &spy.client] {
        client.get(&format!("/api/webhooks/{id}")).await.problem(404, "not_found");
        client.patch(&format!("/api/webhooks/{id}"), &json!({"enabled": false})).await.problem(404, "not_found");
        client.delete(&format!("/api/webhooks/{id}")).await.problem(404, "not_found");
        for what in ["test", "enable", "rotate-secret", "retry-dead"] {
            client.post(&format!("/api/webhooks/{id}/{what}"), &json!({})).await.problem(404, "not_found");
        }
        client.get(&format!("/api/webhooks/{id}/deliveries")).await.problem(404, "not_found");
        client.get(&format!("/api/webhooks/deliveries/{delivery}")).await.problem(404, "not_found");
        client.post(&format!("/api/webhooks/deliveries/{delivery}/retry"), &json!({})).await.problem(404, "not_found");
        assert!(items(client.get("/api/webhooks").await).is_empty());
        assert!(items(client.get("/api/webhooks/deliveries").await).is_empty());
        assert!(items(client.get("/api/webhooks/dead-letters?agent=lookout").await).is_empty());
    }
    hub.finish().await;
}

#[tokio::test]
async fn deliveries_are_found_by_their_time() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    for number in 0..4 {
        ada.dm("lookout", &format!("{number}")).await;
        hub.advance(crate::support::MINUTE);
    }
    receiver.has(4).await;
    hub.settle().await;
    let all = items(ada.get("/api/webhooks/deliveries").await);
    let ids = |list: &[Value]| list.iter().map(|one| one["id"].as_i64().unwrap()).collect::<Vec<i64>>();
    let at = |place: usize| all[place]["created_at"].as_str().unwrap();
    let within = format!("/api/webhooks/deliveries?since={}&until={}", at(2), at(0));
    assert_eq!(ids(&items(ada.get(&within).await)), ids(&all[1..3]));
    let first = ada.get(&format!("{within}&limit=1")).await.ok().json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = items(ada.get(&format!("{within}&limit=1&cursor={cursor}")).await);
    assert_eq!(ids(&second), ids(&all[2..3]));
    // A place in one list is none in another.
    ada.get(&format!("/api/webhooks/deliveries?limit=1&cursor={cursor}")).await.problem(400, "invalid_cursor");
    hub.finish().await;
}
