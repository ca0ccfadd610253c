//! Secrets of webhooks and hooks are shown once. After that they are nowhere but sealed.

use serde_json::{Value, json};
use stoa_model::masking::Masker;

use super::receiver::Receiver;
use super::{register, setup};
use crate::backup::{back_up, unpacked};
use crate::cli_support::{Hub, Place};

/// Fails if one of the secrets is in some bytes, as it is or encoded.
#[track_caller]
fn refuse(secrets: &[String], what: &str, bytes: &[u8]) {
    // The part after the prefix is what must not be known.
    let values = secrets.iter().map(|secret| secret.strip_prefix("whsec_").unwrap_or(secret));
    assert!(!Masker::new(values).finds_secret(&String::from_utf8_lossy(bytes)), "a secret is in {what}");
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn secrets_are_stored_only_sealed_and_shown_once() {
    let hub = setup().start().await;
    let (ada, receiver) = (hub.human("ada").await, Receiver::start().await);
    ada.agent("lookout").await;
    let (id, first) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    let rotated = ada.post(&format!("/api/webhooks/{id}/rotate-secret"), &json!({})).await.ok().json();
    let hook = json!({"name": "CI", "kind": "url", "target": {"channel": "general"}});
    let created = ada.post("/api/hooks", &hook).await.status(201).json();
    let secrets = [first, text_of(&rotated["secret"]), text_of(&created["secret"])];

    receiver.answer(&[500]);
    ada.dm("lookout", "hello").await;
    receiver.has(1).await;
    let path = text_of(&created["url"]).split_once("/hooks/").unwrap().1.to_owned();
    hub.nobody().post(&format!("/hooks/{path}"), &json!({"text": "x"})).await.ok();
    hub.nobody().post(&format!("/hooks/{path}"), &json!({"text": 7})).await;
    hub.nobody().post(&format!("/hooks/{path}/more"), &json!({"text": "x"})).await;
    hub.operator().call("db.rotate_key", json!({})).await;
    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup.tar.gz").await;

    let deliveries = ada.list(&format!("/api/webhooks/{id}/deliveries")).await;
    let delivery = &deliveries[0]["id"];
    let hook_id = text_of(&created["hook"]["id"]);
    let mut shown = json!([deliveries, hub.audit().await]).to_string();
    for path in [
        "/api/webhooks".to_owned(),
        format!("/api/webhooks/{id}"),
        format!("/api/webhooks/deliveries/{delivery}"),
        "/api/hooks".to_owned(),
        format!("/api/hooks/{hook_id}"),
        format!("/api/hooks/{hook_id}/requests"),
        "/api/traces".to_owned(),
        "/metrics".to_owned(),
    ] {
        shown += &ada.get(&path).await.status(200).text();
    }
    for (method, parameters) in
        [("webhooks.list", json!({})), ("hooks.list", json!({})), ("traces.list", json!({})), ("audit.list", json!({}))]
    {
        shown += &hub.operator().call(method, parameters).await.to_string();
    }
    assert!(shown.contains(&receiver.url) && shown.contains("hook.created"), "{shown}");
    refuse(&secrets, "an answer", shown.as_bytes());
    for (name, content) in unpacked(&backup) {
        refuse(&secrets, &format!("{name} of the backup"), &content);
    }
    let stored = hub.everything_stored();
    refuse(&secrets, "the database", &stored);
    assert!(stored.windows(7).any(|window| window == b"lookout"), "the search would find what is stored");
    hub.stop().await;
}

#[test]
fn no_secret_is_in_the_log() {
    let place = Place::new();
    let settings = ["--log-level", "trace", "--allow-http-webhooks=1", "--allow-private-networks=127.0.0.0/8"];
    let hub = Hub::start(&mut place.serve(&settings), place.data());
    hub.create_user("ada");
    hub.json(&["agents", "create", "lookout", "--owner", "ada"]);
    // Nothing listens there, so the delivery fails.
    let new = ["--agent", "lookout", "--url", "http://127.0.0.1:9/", "--events", "message.received"];
    let webhook = hub.json(&[&["webhooks", "create"], &new[..]].concat());
    let id = webhook["webhook"]["id"].to_string();
    let rotated = hub.json(&["webhooks", "rotate", &id]);
    hub.admin(&["webhooks", "test", &id]).ok();
    let new = ["--name", "CI", "--owner", "ada", "--kind", "url", "--channel", "general"];
    let hook = hub.json(&[&["hooks", "create"], &new[..]].concat());
    let url = text_of(&hook["url"]);
    let path = format!("/hooks/{}", url.split_once("/hooks/").unwrap().1);
    for (path, body, status) in [
        (path.clone(), json!({"text": "x"}), 200),
        (path.clone(), json!([]), 200),
        (format!("{path}x"), json!({"text": "x"}), 401),
        (format!("{path}/more"), json!({"text": "x"}), 404),
    ] {
        assert_eq!(hub.http("POST", &path, &[], Some(&body)).status, status, "{body}");
    }
    let secrets = [&webhook["secret"], &rotated["secret"], &hook["secret"]].map(text_of);
    let ended = hub.stop();
    assert!(ended.stderr.contains("/hooks/"), "requests to hooks are logged: {}", ended.stderr);
    refuse(&secrets, "the log", ended.stderr.as_bytes());
    refuse(&secrets, "the output", ended.stdout.as_bytes());
}
