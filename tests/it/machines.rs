//! What machine principals do: route their events, report about themselves, and ask what became of it all.

use std::time::Duration;

use serde_json::{Value, json};
use stoa_db::DbError;

use crate::support::{ALL_SCOPES, Human, Machine, RegistryFile, TestHub, eventually, items};
use crate::walk::{Row, admin, machine, public};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        admin("GET /api/admin/principals"),
        admin("GET /api/admin/principals/{principal_id}"),
        public("GET /.well-known/svc-machine-principal-registry/v1/schema.json", 200),
        machine("GET /machine/source-configs"),
        machine("GET /machine/source-configs/{source}"),
        machine("DELETE /machine/source-configs/{source}"),
        machine("DELETE /machine/runtime-status/{component}"),
        machine("PUT /machine/source-configs/{source}").body(json!({"routes": []})),
        machine("PUT /machine/runtime-status/{component}").body(json!({"status": "ok"})),
        machine("POST /machine/events").body(json!([])),
        machine("GET /machine/evidence"),
    ]
}

const DEMO: &str = "svc:sense:demo";
const OTHER: &str = "svc:bell:other";

fn array(value: &Value) -> Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}")).clone()
}

/// A hub with two machines and a person.
struct Scene {
    hub: TestHub,
    demo: Machine,
    other: Machine,
    ada: Human,
    _registry: RegistryFile,
}

impl Scene {
    async fn begin() -> Self {
        let registry = RegistryFile::new();
        let (demo, other) = (registry.add(DEMO, &ALL_SCOPES), registry.add(OTHER, &ALL_SCOPES));
        let hub = TestHub::setup().registry(&registry).start().await;
        let (demo, other) = (hub.machine(&demo), hub.machine(&other));
        let ada = hub.human("ada").await;
        ada.post("/api/channels", &json!({"name": "alerts"})).await.status(201);
        Self { hub, demo, other, ada, _registry: registry }
    }

    /// Has demo's events of a type go into `#alerts`.
    async fn route(&self, event_type: &str, template: &str) {
        let config = json!({"routes": [{"type": event_type, "channel": "alerts", "template": template}]});
        let reply = self.demo.put("/machine/source-configs/main", &config).await;
        assert!([200, 201].contains(&reply.code()), "{reply:?}");
    }

    async fn said(&self) -> Vec<Value> {
        items(self.ada.get("/api/channels/alerts/messages").await.ok())
    }

    async fn evidence(&self, event_id: &str) -> Value {
        let page = self.demo.get(&format!("/machine/evidence?event_id={event_id}")).await.status(200).json();
        page["items"][0].clone()
    }
}

#[tokio::test]
async fn an_event_becomes_a_message_of_its_machine() {
    let scene = Scene::begin().await;
    scene.route("svc.disk.*", "{{data.host}} has {{data.free}} % left ({{subject}})").await;
    let mut event = scene.demo.made("e1", "svc.disk.full", json!({"host": "web-1", "free": 3}));
    event["subject"] = json!("/var");
    let answer = scene.demo.event(&event).await.status(202).json();
    let result = &answer["results"][0];
    assert_eq!((&result["status"], &result["outcome"]), (&json!("accepted"), &json!("routed")));

    let said = scene.said().await;
    assert_eq!(said.len(), 1);
    assert_eq!(said[0]["id"], result["message_id"]);
    assert_eq!(said[0]["body"], "web-1 has 3 % left (/var)");
    assert_eq!(said[0]["from"]["kind"], "machine");
    assert_eq!(said[0]["from"]["name"], DEMO);
    assert_eq!(said[0]["metadata"]["event"], json!({"id": "e1", "type": "svc.disk.full"}));
    // It has not become a member by that.
    let members = scene.ada.get("/api/channels/alerts").await.ok().json();
    assert!(array(&members["members"]).iter().all(|member| member["name"] != DEMO), "{members}");

    // Events that no route wants are kept, and say so.
    let stored = scene.demo.event(&scene.demo.made("e2", "svc.net.up", json!({}))).await.status(202).json();
    assert_eq!(stored["results"][0]["outcome"], "stored");
    assert_eq!(scene.said().await.len(), 1);
    scene.hub.finish().await;
}

#[tokio::test]
async fn an_event_counts_once() {
    let scene = Scene::begin().await;
    scene.route("*", "{{id}}").await;
    let event = scene.demo.made("e1", "t", json!(1));
    let first = scene.demo.event(&event).await.status(202).json();
    let again = scene.demo.event(&event).await.status(202).json();
    assert_eq!((&again["duplicates"], &again["accepted"]), (&json!(1), &json!(0)));
    assert_eq!(again["results"][0]["message_id"], first["results"][0]["message_id"]);
    // Twice in one batch as well, and at the same time in many.
    let twice = scene.demo.made("e2", "t", json!(2));
    let batch = scene.demo.batch(&[twice.clone(), twice.clone()]).await.status(202).json();
    assert_eq!((&batch["accepted"], &batch["duplicates"]), (&json!(1), &json!(1)));
    let third = scene.demo.made("e3", "t", json!(3));
    let mut sending = Vec::new();
    for _ in 0..8 {
        let (demo, third) = (scene.demo.clone(), third.clone());
        sending.push(tokio::spawn(async move { demo.event(&third).await.status(202).json()["accepted"].clone() }));
    }
    let mut accepted = 0;
    for sent in sending {
        accepted += sent.await.unwrap().as_i64().unwrap();
    }
    assert_eq!(accepted, 1);
    assert_eq!(scene.said().await.len(), 3);
    // Another machine's event of that name is another event.
    let other = scene.other.event(&scene.other.made("e1", "t", json!(1))).await.status(202).json();
    assert_eq!(other["accepted"], 1);
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_batch_tells_of_each_event() {
    let scene = Scene::begin().await;
    scene.route("*", "{{id}}").await;
    let good = scene.demo.made("good", "t", json!(1));
    let foreign = scene.other.made("foreign", "t", json!(1));
    let nameless = json!({"specversion": "1.0", "source": DEMO, "type": "t"});
    let answer = scene.demo.batch(&[good, foreign, nameless, json!(7)]).await.status(202).json();
    let states: Vec<_> = array(&answer["results"]).iter().map(|result| result["status"].clone()).collect();
    assert_eq!(states, ["accepted", "rejected", "rejected", "rejected"]);
    assert_eq!(answer["results"][1]["id"], "foreign");
    assert_eq!(answer["results"][1]["errors"][0]["field"], "source");
    assert_eq!(answer["results"][2]["errors"][0]["field"], "id");
    assert_eq!(scene.said().await.len(), 1);

    // Alone, what is not acceptable is refused.
    let foreign = scene.other.made("foreign", "t", json!(1));
    let refused = scene.demo.event(&foreign).await.problem(422, "validation_failed");
    assert_eq!(refused.json()["errors"][0]["field"], "source");
    assert_eq!(scene.demo.batch(&[]).await.status(202).json()["results"], json!([]));
    let many: Vec<Value> = (0..501).map(|n| scene.demo.made(&format!("m{n}"), "t", json!(n))).collect();
    scene.demo.batch(&many).await.problem(422, "validation_failed");
    assert_eq!(scene.said().await.len(), 1);
    let answer = scene.demo.batch(&many[..500]).await.status(202).json();
    assert_eq!(answer["accepted"], 500);
    scene.hub.finish().await;
}

#[tokio::test]
async fn bad_bodies_are_refused_and_change_nothing() {
    let scene = Scene::begin().await;
    let send = async |content_type: &str, body: &str| {
        scene.demo.sign("POST", "/machine/events", &[("content-type", content_type)], Some(body)).send().await
    };
    let one = "application/cloudevents+json";
    let event = scene.demo.made("e1", "t", json!(1)).to_string();
    send("text/plain", &event).await.problem(415, "unsupported_media_type");
    send("application/cloudevents-batch+json", &event).await.problem(422, "validation_failed");
    send(one, &format!("[{event}]")).await.problem(422, "validation_failed");
    send(one, "{").await.problem(400, "malformed_request");
    send(one, &event.replace("e1", "e\\u0000")).await.problem(422, "validation_failed");
    send(one, &"[".repeat(100_000)).await.problem(400, "malformed_request");
    let hidden = r#"{"$serde_json::private::RawValue":"\"a\\u0000b\""}"#;
    send(one, &event.replace("\"data\":1", &format!("\"data\":{hidden}"))).await.problem(422, "validation_failed");
    let binary = [("content-type", "application/json"), ("ce-id", "e1")];
    let binary = scene.demo.sign("POST", "/machine/events", &binary, Some("{}"));
    binary.send().await.problem(415, "unsupported_media_type");
    let packed = [("content-type", one), ("content-encoding", "gzip")];
    let packed = scene.demo.sign("POST", "/machine/events", &packed, Some(&event));
    packed.send().await.problem(415, "unsupported_media_type");
    send(one, &format!("{event}{}", " ".repeat(1024 * 1024))).await.problem(413, "payload_too_large");
    assert_eq!(scene.hub.count("select count(*) as n from machine_events").await, 0);
    // Either shape will do as plain JSON.
    send("application/json", &event).await.status(202);
    send("application/json; charset=utf-8", &format!("[{event}]")).await.status(202);
    scene.hub.finish().await;
}

/// What comes with an event must not call anybody out; who wrote the template may.
#[tokio::test]
async fn only_the_template_calls_people_out() {
    let scene = Scene::begin().await;
    let bob = scene.hub.human("bob").await;
    scene.route("*", "@ada: {{data.text}}").await;
    scene.demo.event(&scene.demo.made("e1", "t", json!({"text": "@bob @channel"}))).await.status(202);
    let inbox = async |person: &Human| items(person.get("/api/inbox").await.ok()).len();
    assert_eq!((inbox(&scene.ada).await, inbox(&bob).await), (1, 0));
    let said = scene.said().await;
    assert_eq!(said[0]["mentions"], json!(["ada"]));
    // Nobody can write back.
    let reply = json!({"to": DEMO, "body": "thanks"});
    scene.ada.post("/api/messages", &reply).await.problem(404, "unknown_recipient");
    scene.hub.finish().await;
}

/// A machine has no inbox. What an agent did for it is said where it asked, and it finds it there.
#[tokio::test]
async fn the_result_of_work_for_a_machine_is_said_in_the_channel() {
    let scene = Scene::begin().await;
    let scout = scene.ada.agent("scout").await;
    scene.route("*", "@scout look at {{data.host}}").await;
    for (number, settle, field) in [(0, "done", "result"), (1, "fail", "error")] {
        let id = format!("e{number}");
        scene.demo.event(&scene.demo.made(&id, "t", json!({"host": "web-1"}))).await.status(202);
        let claimed = scout.post("/api/inbox/claim", &json!({"limit": 1})).await.ok().json();
        let work = claimed["items"][0]["id"].clone();
        let settled = scout
            .post(&format!("/api/messages/{work}/{settle}"), &json!({field: "disk cleaned, @ada"}))
            .await
            .ok()
            .json();
        let told = scene.evidence(&id).await;
        assert_eq!(told["message"]["replies"][0]["id"], settled["reply_id"], "{settled}");
        assert!(told["message"]["replies"][0]["body"].as_str().unwrap().contains("disk cleaned"));
    }
    assert_eq!(array(&scene.ada.get("/api/inbox").await.ok().json()["items"]), Vec::<Value>::new());
    scene.hub.finish().await;
}

#[tokio::test]
async fn configs_and_components_can_be_taken_away() {
    let scene = Scene::begin().await;
    scene.route("*", "{{id}}").await;
    scene.demo.put("/machine/source-configs/second", &json!({"routes": []})).await.status(201);
    let listed = scene.demo.get("/machine/source-configs").await.status(200).json();
    let names: Vec<_> = array(&listed["items"]).iter().map(|config| config["source"].clone()).collect();
    assert_eq!(names, ["main", "second"]);
    let delete = async |machine: &Machine, path: &str| machine.sign("DELETE", path, &[], None).send().await;
    delete(&scene.other, "/machine/source-configs/main").await.problem(404, "not_found");
    let stale = scene.demo.sign("DELETE", "/machine/source-configs/main", &[("if-match", "\"9\"")], None);
    stale.send().await.problem(412, "precondition_failed");
    delete(&scene.demo, "/machine/source-configs/main").await.status(204);
    delete(&scene.demo, "/machine/source-configs/main").await.problem(404, "not_found");
    let answer = scene.demo.event(&scene.demo.made("e1", "t", json!(1))).await.status(202).json();
    assert_eq!(answer["results"][0]["outcome"], "stored");

    scene.demo.put("/machine/runtime-status/web", &json!({"status": "ok"})).await.status(200);
    delete(&scene.other, "/machine/runtime-status/web").await.problem(404, "not_found");
    delete(&scene.demo, "/machine/runtime-status/web").await.status(204);
    delete(&scene.demo, "/machine/runtime-status/web").await.problem(404, "not_found");
    // Who says nothing for a week is no more.
    scene.demo.put("/machine/runtime-status/web", &json!({"status": "ok"})).await.status(200);
    scene.hub.advance(Duration::from_secs(8 * 24 * 3600));
    let left = "select count(*) as n from machine_runtime_status";
    eventually("it is forgotten", async || scene.hub.count(left).await == 0).await;
    scene.hub.finish().await;
}

/// However much is put into a batch, each event is taken in once, and in its order.
#[tokio::test]
async fn heavy_batches_are_taken_in_by_and_by() {
    let scene = Scene::begin().await;
    let scout = scene.ada.agent("scout").await;
    scene.route("*", "@scout {{id}} {{data}} {{data}} {{data}} {{data}}").await;
    let long = "x".repeat(5000);
    let events: Vec<Value> = (0..150).map(|n| scene.demo.made(&format!("e{n:03}"), "t", json!(long))).collect();
    let answer = scene.demo.batch(&events).await.status(202).json();
    assert_eq!(answer["accepted"], 150);
    let ids: Vec<_> = array(&answer["results"]).iter().map(|result| result["message_id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted());
    let inbox = scout.list("/api/inbox").await;
    assert_eq!(inbox.len(), 150);
    let first = scene.ada.get(&format!("/api/messages/{}", ids[0])).await.ok().json();
    let body = first["body"].as_str().unwrap();
    assert!(body.len() <= 16 * 1024 && body.ends_with('…'), "{}", body.len());

    // The same with a key: the answer is one, and is given again.
    let more: Vec<Value> = (0..150).map(|n| scene.demo.made(&format!("f{n:03}"), "t", json!(n))).collect();
    let headers = [("content-type", "application/json"), ("idempotency-key", "k1")];
    let send = async || {
        scene.demo.sign("POST", "/machine/events", &headers, Some(&json!(more).to_string())).send().await.status(202)
    };
    let first = send().await;
    let again = send().await;
    assert_eq!((first.json(), again.header("idempotency-replayed")), (again.json(), Some("true")));
    scene.hub.finish().await;
}

#[tokio::test]
async fn limits_of_source_configs() {
    let scene = Scene::begin().await;
    let names: String = (0..11).map(|n| format!("@name{n} ")).collect();
    let config = json!({"routes": [{"type": "t", "channel": "alerts", "template": names}]});
    scene.demo.put("/machine/source-configs/main", &config).await.problem(422, "validation_failed");
    let route = json!({"type": "t", "channel": "alerts", "template": "x".repeat(8000)});
    let config = json!({"routes": vec![route; 15]});
    scene.demo.put("/machine/source-configs/one", &config).await.status(201);
    scene.demo.put("/machine/source-configs/two", &config).await.status(201);
    scene.demo.put("/machine/source-configs/three", &config).await.problem(409, "source_configs_too_large");
    scene.demo.put("/machine/source-configs/two", &json!({"routes": []})).await.status(200);
    scene.demo.put("/machine/source-configs/three", &config).await.status(201);
    scene.demo.put("/machine/source-configs/SVC:bell:other", &json!({"routes": []})).await.problem(403, "forbidden");
    scene.hub.finish().await;
}

#[tokio::test]
async fn private_channels_are_for_machines_that_were_added() {
    let scene = Scene::begin().await;
    scene.ada.post("/api/channels", &json!({"name": "den", "public": false})).await.status(201);
    let config = json!({"routes": [{"type": "*", "channel": "den", "template": "{{id}}"}]});
    let put = async || scene.demo.put("/machine/source-configs/main", &config).await;
    let refused = put().await.problem(422, "validation_failed");
    assert_eq!(refused.json()["errors"][0]["field"], "routes[0].channel");
    let nowhere = json!({"routes": [{"type": "*", "channel": "nowhere"}]});
    let same = scene.demo.put("/machine/source-configs/main", &nowhere).await.problem(422, "validation_failed");
    assert_eq!(same.json()["errors"], refused.json()["errors"], "whether it is there must not show");

    scene.ada.call("PUT", &format!("/api/channels/den/members/{DEMO}")).await.status(200);
    put().await.status(201);
    scene.demo.event(&scene.demo.made("e1", "t", json!(1))).await.status(202);
    assert_eq!(scene.evidence("e1").await["message"]["channel"], "den");

    // Taken out again, it sees and says nothing there any more.
    scene.ada.delete(&format!("/api/channels/den/members/{DEMO}")).await.status(204);
    let answer = scene.demo.event(&scene.demo.made("e2", "t", json!(1))).await.status(202).json();
    assert_eq!(answer["results"][0]["outcome"], "not_routed");
    assert_eq!(answer["results"][0]["reason"], "channel_not_found");
    let told = scene.evidence("e1").await;
    assert_eq!((&told["outcome"], &told["message"]), (&json!("routed"), &Value::Null));
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_channel_that_is_gone_holds_nothing_up() {
    let scene = Scene::begin().await;
    scene.route("*", "{{id}}").await;
    scene.ada.delete("/api/channels/alerts").await.status(204);
    let events = [scene.demo.made("e1", "t", json!(1)), scene.demo.made("e2", "t", json!(1))];
    let answer = scene.demo.batch(&events).await.status(202).json();
    assert_eq!(answer["accepted"], 2);
    assert_eq!(scene.evidence("e2").await["reason"], "channel_deleted");
    scene.hub.finish().await;
}

#[tokio::test]
async fn source_configs_have_versions() {
    let scene = Scene::begin().await;
    let path = "/machine/source-configs/main";
    let config = |template: &str| json!({"routes": [{"type": "t", "channel": "#alerts", "template": template}]});
    let put = async |body: Value, name: &str, value: &str| {
        let headers = [("content-type", "application/json"), (name, value)];
        scene.demo.sign("PUT", path, &headers, Some(&body.to_string())).send().await
    };
    put(config("a"), "if-match", "\"1\"").await.problem(412, "precondition_failed");
    put(config("a"), "if-match", "*").await.problem(412, "precondition_failed");
    let made = put(config("a"), "if-none-match", "*").await.status(201);
    assert_eq!((made.header("etag"), &made.json()["version"]), (Some("\"1\""), &json!(1)));
    assert_eq!(made.json()["routes"][0]["channel"], "alerts");
    put(config("b"), "if-none-match", "*").await.problem(412, "precondition_failed");
    assert_eq!(put(config("b"), "if-match", "\"1\"").await.status(200).header("etag"), Some("\"2\""));
    put(config("c"), "if-match", "\"1\"").await.problem(412, "precondition_failed");
    // The same again is no new version.
    assert_eq!(scene.demo.put(path, &config("b")).await.status(200).header("etag"), Some("\"2\""));
    let read = scene.demo.get(path).await.status(200);
    assert_eq!((read.header("etag"), &read.json()["routes"][0]["template"]), (Some("\"2\""), &json!("b")));

    // Names are each principal's own.
    scene.other.get(path).await.problem(404, "not_found");
    scene.other.put(path, &config("x")).await.status(201);
    assert_eq!(scene.demo.get(path).await.json()["version"], 2);
    scene.demo.put(&format!("/machine/source-configs/{DEMO}"), &config("x")).await.status(201);
    scene.demo.put(&format!("/machine/source-configs/{OTHER}"), &config("x")).await.problem(403, "forbidden");
    let audit = scene.hub.audit().await;
    let changes = audit.iter().filter(|entry| entry["action"] == "source_config.changed");
    assert_eq!(changes.filter(|entry| entry["actor"] == DEMO).count(), 3);
    scene.hub.finish().await;
}

#[tokio::test]
async fn bad_source_configs_are_refused() {
    let scene = Scene::begin().await;
    let route = json!({"type": "t", "channel": "alerts", "template": "x"});
    let with = |field: &str, value: Value| {
        let mut route = route.clone();
        route[field] = value;
        json!({"routes": [route]})
    };
    let cases = [
        (json!({}), "routes"),
        (json!({"routes": {}}), "routes"),
        (json!({"routes": [], "extra": 1}), "extra"),
        (json!({"routes": vec![route.clone(); 101]}), "routes"),
        (with("type", json!("")), "routes[0].type"),
        (with("type", json!("a*")), "routes[0].type"),
        (with("channel", json!("Not A Name")), "routes[0].channel"),
        (with("template", json!("{{")), "routes[0].template"),
        (with("template", json!("{{a b}}")), "routes[0].template"),
        (with("template", json!(" ")), "routes[0].template"),
        (with("template", json!("x".repeat(8193))), "routes[0].template"),
        (with("subject", json!("{{")), "routes[0].subject"),
        (with("priority", json!(11)), "routes[0].priority"),
        (with("colour", json!("red")), "routes[0].colour"),
    ];
    for (config, field) in cases {
        let reply = scene.demo.put("/machine/source-configs/main", &config).await.problem(422, "validation_failed");
        let errors = reply.json()["errors"].clone();
        assert!(array(&errors).iter().any(|error| error["field"] == field), "{config} {errors}");
    }
    for name in ["-x", "a%2Fb", "a%20b", &"x".repeat(129)] {
        let path = format!("/machine/source-configs/{name}");
        scene.demo.put(&path, &json!({"routes": []})).await.problem(422, "validation_failed");
    }
    scene.demo.get("/machine/source-configs/main").await.problem(404, "not_found");
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_status_is_believed_for_ninety_seconds() {
    let scene = Scene::begin().await;
    let report = json!({"status": "degraded", "message": "slow disk", "version": "1.2", "details": {"load": 3}});
    let told = scene.demo.put("/machine/runtime-status/web", &report).await.status(200).json();
    assert_eq!(
        (&told["status"], &told["stale"], &told["principal"]),
        (&json!("degraded"), &json!(false), &json!(DEMO))
    );
    scene.other.put("/machine/runtime-status/web", &json!({"status": "warming-up"})).await.status(200);

    let admin = scene.hub.admin().await;
    let component = async |principal: &str| {
        let page = admin.get("/api/admin/principals").await.ok().json();
        let found = array(&page["items"]).into_iter().find(|machine| machine["principal_id"] == principal).unwrap();
        found["components"][0].clone()
    };
    let shown = admin.get(&format!("/api/admin/principals/{DEMO}")).await.ok().json();
    assert_eq!(shown["components"][0]["details"], json!({"load": 3}));
    scene.hub.advance(Duration::from_secs(90));
    assert_eq!(component(DEMO).await["stale"], false);
    let metrics = scene.hub.nobody().get("/metrics").await.ok().text();
    for line in ["{status=\"degraded\"} 1", "{status=\"other\"} 1", "{status=\"stale\"} 0", "{status=\"ok\"} 0"] {
        assert!(metrics.contains(&format!("stoa_machine_components{line}")), "{line}\n{metrics}");
    }
    scene.hub.advance(Duration::from_secs(1));
    assert_eq!(component(DEMO).await["stale"], true);
    let metrics = scene.hub.nobody().get("/metrics").await.ok().text();
    assert!(metrics.contains("stoa_machine_components{status=\"stale\"} 2"), "{metrics}");
    // The latest word counts.
    scene.demo.put("/machine/runtime-status/web", &json!({"status": "ok"})).await.status(200);
    let now = component(DEMO).await;
    assert_eq!((&now["status"], &now["stale"]), (&json!("ok"), &json!(false)));

    for bad in [
        json!({}),
        json!({"status": "Not a word"}),
        json!({"status": ""}),
        json!({"status": 1}),
        json!({"status": "ok", "x": 1}),
        json!({"status": "ok", "details": []}),
        json!({"status": "ok", "details": {"x": "x".repeat(17_000)}}),
        json!({"status": "ok", "message": "x".repeat(2001)}),
    ] {
        scene.demo.put("/machine/runtime-status/web", &bad).await.problem(422, "validation_failed");
    }
    assert_eq!(component(DEMO).await["status"], "ok");
    scene.hub.finish().await;
}

#[tokio::test]
async fn evidence_tells_what_became_of_ones_own_events() {
    let scene = Scene::begin().await;
    scene.route("routed", "look at {{id}}").await;
    scene.demo.event(&scene.demo.made("e1", "routed", json!(1))).await.status(202);
    scene.demo.event(&scene.demo.made("e2", "other", json!(1))).await.status(202);
    let message = scene.said().await[0]["id"].clone();
    let answer = json!({"channel": "alerts", "body": "on it", "reply_to": message});
    scene.ada.post("/api/messages", &answer).await.status(201);
    scene.ada.react(&json!({"id": message}), "approve").await.ok();
    scene.hub.settle().await;

    let told = scene.evidence("e1").await;
    assert_eq!(
        (&told["reactions"][0]["reaction"], &told["reactions"][0]["from"]["name"]),
        (&json!("approve"), &json!("ada"))
    );
    assert_eq!(told["message"]["workflow_state"], "approved");
    assert_eq!((&told["outcome"], &told["source"], &told["type"]), (&json!("routed"), &json!(DEMO), &json!("routed")));
    assert_eq!(told["source_config"], json!({"source": "main", "version": 1}));
    assert_eq!(told["message"]["id"], message);
    assert_eq!(told["message"]["reply_count"], 1);
    assert_eq!(told["message"]["replies"][0]["body"], "on it");
    assert_eq!(told["message"]["replies"][0]["from"]["name"], "ada");
    assert_eq!(told["traces"][0]["action"], "ingest_events");
    assert_eq!(scene.evidence("e2").await["message"], Value::Null);

    // Whose event it is not, for them it was never there.
    let foreign = scene.other.get("/machine/evidence?event_id=e1").await.status(200).json();
    assert_eq!(foreign["items"], json!([]));
    assert_eq!(scene.other.get("/machine/evidence").await.status(200).json()["items"], json!([]));

    // What was deleted is said to be.
    scene.ada.delete(&format!("/api/messages/{message}")).await.status(204);
    assert!(scene.evidence("e1").await["message"]["deleted_at"].is_string());
    scene.hub.finish().await;
}

#[tokio::test]
async fn evidence_comes_in_pages() {
    let scene = Scene::begin().await;
    for second in 0..3 {
        let events: Vec<Value> = (0..3).map(|n| scene.demo.made(&format!("e{second}{n}"), "t", json!(n))).collect();
        scene.demo.batch(&events).await.status(202);
        scene.hub.advance(Duration::from_secs(1));
    }
    let list = async |query: &str| -> Vec<String> {
        let (mut ids, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = scene.demo.get(&format!("/machine/evidence?limit=2{query}{cursor}")).await.status(200).json();
            ids.extend(array(&page["items"]).iter().map(|item| item["event_id"].as_str().unwrap().to_owned()));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return ids,
            }
        }
    };
    let all = ["e00", "e01", "e02", "e10", "e11", "e12", "e20", "e21", "e22"];
    assert_eq!(list("").await, all);
    assert_eq!(list("&since=2027-01-15T08:00:01Z").await, all[3..]);
    assert_eq!(list("&since=2027-01-15T08:00:09Z").await, Vec::<String>::new());
    let first = scene.demo.get("/machine/evidence?limit=2").await.json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let stolen = format!("/machine/evidence?limit=2&cursor={cursor}");
    scene.other.get(&stolen).await.problem(400, "invalid_cursor");
    for bad in ["limit=0", "limit=x", "since=yesterday", "cursor=x"] {
        let code = scene.demo.get(&format!("/machine/evidence?{bad}")).await.code();
        assert!([400, 422].contains(&code), "{bad}: {code}");
    }
    scene.hub.finish().await;
}

/// Who goes on from the last event that they saw must find it, whatever the clocks of the hubs say.
#[tokio::test]
async fn an_event_that_is_stored_later_comes_later() {
    let scene = Scene::begin().await;
    let send = async |id: &str| scene.demo.event(&scene.demo.made(id, "t", json!(1))).await.status(202);
    send("first").await;
    let of_a_fast_clock = scene
        .hub
        .inner()
        .write(|tx| tx.execute("update machine_events set received_at = received_at + 5000", &[]).map(drop));
    of_a_fast_clock.await.unwrap_or_else(|error: DbError| panic!("{error}"));
    send("second").await;
    let list =
        async |query: &str| array(&scene.demo.get(&format!("/machine/evidence?{query}")).await.ok().json()["items"]);
    let all = list("").await;
    let ids: Vec<_> = all.iter().map(|event| event["event_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["first", "second"]);
    let since = list(&format!("since={}", all[0]["received_at"].as_str().unwrap())).await;
    assert_eq!(since, all);
    scene.hub.finish().await;
}

#[tokio::test]
async fn events_are_kept_as_long_as_traces() {
    let registry = RegistryFile::new();
    let demo = registry.add(DEMO, &ALL_SCOPES);
    let setup = TestHub::setup().registry(&registry);
    let hub = setup.configure(|config| config.trace_retention = Duration::from_secs(3600)).start().await;
    let demo = hub.machine(&demo);
    demo.event(&demo.made("old", "t", json!(1))).await.status(202);
    hub.advance(Duration::from_secs(3000));
    demo.event(&demo.made("young", "t", json!(1))).await.status(202);
    hub.advance(Duration::from_secs(1200));
    eventually("the old event is forgotten", async || hub.count("select count(*) as n from machine_events").await == 1)
        .await;
    let left = demo.get("/machine/evidence").await.status(200).json();
    assert_eq!(left["items"][0]["event_id"], "young");
    hub.finish().await;
}

#[tokio::test]
async fn a_repeated_request_gets_its_first_answer() {
    let scene = Scene::begin().await;
    scene.route("*", "{{id}}").await;
    let event = scene.demo.made("e1", "t", json!(1)).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "k1")];
    let send = async |machine: &Machine, body: &str| {
        machine.sign("POST", "/machine/events", &headers, Some(body)).send().await
    };
    let first = send(&scene.demo, &event).await.status(202);
    let again = send(&scene.demo, &event).await.status(202);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.json(), first.json());
    send(&scene.demo, &event.replace("e1", "e2")).await.problem(422, "idempotency_key_reused");
    // The key of another principal is another key.
    let own = scene.other.made("e1", "t", json!(1)).to_string();
    assert_eq!(send(&scene.other, &own).await.status(202).json()["accepted"], 1);
    scene.hub.finish().await;
}

#[tokio::test]
async fn writes_of_machines_are_limited_and_traced() {
    let registry = RegistryFile::new();
    let demo = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).rate_limit(3).start().await;
    let demo = hub.machine(&demo);
    for n in 0..3 {
        demo.event(&demo.made(&format!("e{n}"), "t", json!(n))).await.status(202);
    }
    let refused = demo.event(&demo.made("e4", "t", json!(4))).await.problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    demo.get("/machine/evidence").await.status(200);
    hub.settle().await;
    let traces = hub.operator().call("traces.list", json!({"owner": DEMO})).await;
    let actions: Vec<_> = array(&traces["items"]).iter().map(|trace| trace["action"].clone()).collect();
    assert_eq!(actions, ["ingest_events"; 4]);
    hub.finish().await;
}

#[tokio::test]
async fn administrators_see_keys_uses_and_refusals() {
    let scene = Scene::begin().await;
    scene.demo.get("/machine/evidence").await.status(200);
    let letter = scene.demo.sign("GET", "/machine/evidence", &[], None);
    letter.clone().send().await.status(200);
    letter.send().await.problem(401, "signature_replayed");
    let mut wrong = scene.demo.sign("GET", "/machine/evidence", &[], None);
    wrong.target.push_str("?limit=1");
    wrong.send().await.problem(401, "signature_invalid");
    scene.demo.put("/machine/runtime-status/web", &json!({"status": "ok"})).await.status(200);

    let admin = scene.hub.admin().await;
    let page = admin.get("/api/admin/principals").await.ok().json();
    assert_eq!(page["registry"]["audience"], "svc-brain");
    assert_eq!((&page["registry"]["principals"], &page["registry"]["usable_keys"]), (&json!(2), &json!(2)));
    let shown = admin.get(&format!("/api/admin/principals/{DEMO}")).await.ok().json();
    let listed = array(&page["items"]).into_iter().find(|machine| machine["principal_id"] == DEMO).unwrap();
    assert_eq!((&listed["keys"], &listed["refusals"]), (&shown["keys"], &shown["refusals"]));
    assert_eq!(shown["refusals"], json!({"signature_replayed": 1, "bad_signature": 1}));
    let key = &shown["keys"][0];
    assert_eq!((&key["uses"], &key["usable"], &key["status"]), (&json!(3), &json!(true), &json!("active")));
    assert_eq!(key["scopes"].as_array().unwrap().len(), 4);
    assert_eq!(shown["last_used_at"], "2027-01-15T08:00:00.000Z");
    admin.get("/api/admin/principals/svc:sense:nobody").await.problem(404, "not_found");
    admin.get("/api/admin/principals/ada").await.problem(404, "not_found");
    scene.ada.get("/api/admin/principals").await.problem(403, "admin_required");

    // The same for the operator, and after a restart.
    let hub = scene.hub.restart().await;
    let listed = hub.operator().call("principals.list", json!({})).await;
    assert_eq!(listed["items"][1]["keys"][0]["uses"], 3);
    assert_eq!(
        hub.operator().call("principals.show", json!({"principal_id": DEMO})).await["refusals"],
        shown["refusals"]
    );
    hub.finish().await;
}

#[tokio::test]
async fn the_schema_is_published() {
    let hub = TestHub::start().await;
    let reply = hub.nobody().get("/.well-known/svc-machine-principal-registry/v1/schema.json").await.ok();
    assert_eq!(reply.header("content-type"), Some("application/schema+json"));
    assert_eq!(reply.text(), stoa_registry::SCHEMA);
    hub.finish().await;
}
