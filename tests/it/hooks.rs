//! Incoming webhooks: requests of other services become messages, once each, under the name of the hook.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::support::{Call, DAY, Human, MINUTE, START_MS, TestHub, items};
use crate::walk::{Row, public, session, session_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        session("GET /api/hooks"),
        session_thing("POST /api/hooks")
            .body(json!({"name": "CI", "kind": "url", "target": {"channel": "{channel}"}}))
            .refused(422, "validation_failed"),
        session_thing("GET /api/hooks/{id}"),
        session_thing("PATCH /api/hooks/{id}").body(json!({"enabled": false})),
        session_thing("DELETE /api/hooks/{id}"),
        session_thing("GET /api/hooks/{id}/requests"),
        public("POST /hooks/{id}", 401).body(json!({"text": "hello"})),
        public("POST /hooks/{id}/{secret}", 401).body(json!({"text": "hello"})),
    ]
}

/// A part of what GitHub sends for an issue, byte for byte as it is signed.
const OPENED: &str = r#"{"action":"opened","issue":{"url":"https://api.github.com/repos/octo/hub/issues/7","html_url":"https://github.com/octo/hub/issues/7","id":1296269,"number":7,"title":"The hub forgets @ada","user":{"login":"octocat","id":1,"type":"User"},"labels":[],"state":"open","body":"Ask @ada.\r\n"},"repository":{"id":35129377,"name":"hub","full_name":"octo/hub","private":false,"owner":{"login":"octo"}},"sender":{"login":"octocat","id":1}}"#;

pub(crate) struct TestHook {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) secret: String,
}

pub(crate) async fn make(owner: &Human, request: Value) -> TestHook {
    let created = owner.post("/api/hooks", &request).await.status(201).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let url = text(&created["url"]);
    let path = url.split_once("/hooks/").unwrap().1;
    TestHook { id: text(&created["hook"]["id"]), url: format!("/hooks/{path}"), secret: text(&created["secret"]) }
}

fn sign(secret: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

pub(crate) fn github(hub: &TestHub, hook: &TestHook, event: &str, delivery: &str, body: &str) -> Call {
    let signature: String =
        sign(hook.secret.as_bytes(), body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    hub.nobody()
        .call("POST", &hook.url)
        .header("x-github-event", event)
        .header("x-github-delivery", delivery)
        .header("x-hub-signature-256", format!("sha256={signature}"))
        .body("application/json", body.to_owned())
}

pub(crate) fn standard(hub: &TestHub, hook: &TestHook, id: &str, seconds: i64, body: &str) -> Call {
    let key = STANDARD.decode(hook.secret.strip_prefix("whsec_").unwrap()).unwrap();
    let signature = STANDARD.encode(sign(&key, format!("{id}.{seconds}.{body}").as_bytes()));
    hub.nobody()
        .call("POST", &hook.url)
        .header("webhook-id", id)
        .header("webhook-timestamp", seconds.to_string())
        .header("webhook-signature", format!("v1,AAAA v1,{signature}"))
        .body("application/json", body.to_owned())
}

pub(crate) async fn said(reader: &Human, channel: &str) -> Vec<Value> {
    items(reader.get(&format!("/api/channels/{channel}/messages")).await.ok())
}

pub(crate) async fn outcomes(owner: &Human, hook: &TestHook) -> Vec<String> {
    let requests = items(owner.get(&format!("/api/hooks/{}/requests", hook.id)).await.ok());
    requests.iter().map(|request| request["outcome"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_github_payload_becomes_one_message() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "dev"})).await;
    let hook = make(&ada, json!({"name": "GitHub", "kind": "github", "target": {"channel": "#dev"}})).await;
    let posted = github(&hub, &hook, "issues", "d-1", OPENED).await.ok().json();
    assert_eq!(posted, json!({"outcome": "posted"}));

    // A replay makes no second message, not even with another delivery id, which GitHub does not sign.
    for delivery in ["d-1", "d-2"] {
        let answer = github(&hub, &hook, "issues", delivery, OPENED).await.ok().json();
        assert_eq!(answer, json!({"outcome": "duplicate"}));
    }
    // One changed byte.
    let changed = OPENED.replace("issues/7", "issues/8");
    let good = github(&hub, &hook, "issues", "d-3", OPENED);
    good.bare_body(changed).await.problem(401, "invalid_signature");
    hub.nobody().call("POST", &hook.url).json(&json!({})).await.problem(401, "invalid_signature");

    let messages = said(&ada, "dev").await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    let message = &messages[0];
    let body = "octo/hub: octocat opened issue #7 The hub forgets @ada\nhttps://github.com/octo/hub/issues/7";
    assert_eq!((&message["body"], &message["depth"]), (&json!(body), &json!(1)));
    assert_eq!((&message["from"]["display_name"], &message["from"]["kind"]), (&json!("GitHub"), &json!("machine")));
    assert_eq!(message["mentions"], json!([]));
    assert_eq!(ada.inbox().await, Vec::<Value>::new());
    assert_eq!(
        outcomes(&ada, &hook).await,
        ["invalid_signature", "invalid_signature", "duplicate", "duplicate", "posted"]
    );

    // After a day, the hub has forgotten the delivery.
    hub.advance(DAY + MINUTE);
    hub.settle().await;
    let answer = github(&hub, &hook, "issues", "d-1", OPENED).await.ok().json();
    assert_eq!(answer["outcome"], "posted");
    hub.finish().await;
}

#[tokio::test]
async fn filters_templates_and_forms() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "dev"})).await;
    let request = json!({"name": "GitHub", "kind": "github", "target": {"channel": "dev"}, "events": ["issues.opened"],
        "template": "@bob: {{event}} {{body.issue.title}}"});
    let hook = make(&ada, request).await;
    assert_eq!(github(&hub, &hook, "push", "d-1", "{}").await.ok().json()["outcome"], "ignored");
    // GitHub can send a form; it signs the form as it is.
    let form = form_urlencoded::Serializer::new(String::new()).append_pair("payload", OPENED).finish();
    let signature: String =
        sign(hook.secret.as_bytes(), form.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let call = hub.nobody().call("POST", &hook.url).header("x-github-event", "issues");
    let call = call.header("x-hub-signature-256", format!("sha256={signature}")).header("webhook-loop-depth", "3");
    assert_eq!(call.body("application/x-www-form-urlencoded", form).await.ok().json()["outcome"], "posted");
    let messages = said(&ada, "dev").await;
    assert_eq!(messages[0]["body"], "@bob: issues The hub forgets @ada");
    // Only the words of the template mention somebody.
    assert_eq!((&messages[0]["mentions"], &messages[0]["depth"]), (&json!(["bob"]), &json!(4)));
    assert_eq!(bob.inbox().await.len(), 1);
    assert_eq!(ada.inbox().await.len(), 0);
    github(&hub, &hook, "issues", "d-2", "not JSON").await.problem(400, "malformed_request");
    github(&hub, &hook, "issues", "d-3", &"x".repeat(1024 * 1024 + 1)).await.problem(413, "payload_too_large");
    hub.finish().await;
}

#[tokio::test]
async fn standard_webhooks_are_signed_with_their_time() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let hook = make(&ada, json!({"name": "Shop", "kind": "standard", "target": {"agent": "scout"}})).await;
    let body = r#"{"type":"invoice.paid","data":{"id":"in_1"}}"#;
    let now = START_MS / 1000;
    assert_eq!(standard(&hub, &hook, "msg_1", now, body).await.ok().json()["outcome"], "posted");
    assert_eq!(standard(&hub, &hook, "msg_1", now, body).await.ok().json()["outcome"], "duplicate");
    for seconds in [now - 301, now + 301] {
        standard(&hub, &hook, "msg_2", seconds, body).await.problem(401, "expired_signature");
    }
    let inbox = scout.inbox().await;
    assert_eq!(inbox.len(), 1);
    assert_eq!(inbox[0]["body"], "invoice.paid\n```json\n{\n  \"id\": \"in_1\"\n}\n```");
    assert_eq!(inbox[0]["from"]["display_name"], "Shop");
    // Nobody can write to a hook.
    let author = inbox[0]["from"]["name"].as_str().unwrap();
    ada.post("/api/messages", &json!({"to": author, "body": "hello"})).await.problem(404, "unknown_recipient");
    // The directory and the list of machine principals do not have it.
    assert!(!ada.get("/api/directory").await.text().contains(author));
    assert!(!hub.admin().await.get("/api/admin/principals").await.ok().text().contains(author));
    ada.delete("/api/agents/scout").await.status(204);
    standard(&hub, &hook, "msg_3", now, body).await.problem(409, "target_unavailable");
    assert_eq!(outcomes(&ada, &hook).await[0], "target_unavailable");
    hub.finish().await;
}

#[tokio::test]
async fn an_address_with_a_secret_takes_what_slack_takes() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let hook = make(&ada, json!({"name": "Monitor", "kind": "url", "target": {"channel": "general"}})).await;
    let view = ada.get(&format!("/api/hooks/{}", hook.id)).await.ok();
    assert!(!view.text().contains(&hook.secret));
    assert_eq!(view.json()["url"], Value::Null);
    let send = |text: &str| hub.nobody().post(&hook.url, &json!({"text": text}));
    send("disk full @ada").await.ok();
    send("disk full @ada").await.ok();
    let form = "payload=%7B%22text%22%3A%22as%20a%20form%22%7D";
    hub.nobody().call("POST", &hook.url).body("application/x-www-form-urlencoded", form).await.ok();
    send("a\u{202e}b\u{0}").await.problem(422, "validation_failed");
    send(" ").await.problem(422, "empty_message");
    let bodies: Vec<Value> = said(&ada, "general").await.iter().map(|message| message["body"].clone()).collect();
    assert_eq!(bodies, ["disk full @ada", "disk full @ada", "as a form"]);
    assert_eq!(ada.inbox().await, Vec::<Value>::new());
    let path = format!("/hooks/{}", hook.id);
    for wrong in [path.clone(), format!("{path}/x")] {
        hub.nobody().post(&wrong, &json!({"text": "x"})).await.problem(401, "invalid_signature");
    }
    let unknown = format!("/hooks/{}/{}", "0".repeat(32), hook.secret);
    hub.nobody().post(&unknown, &json!({"text": "x"})).await.problem(404, "not_found");

    ada.patch(&format!("/api/hooks/{}", hook.id), &json!({"enabled": false})).await.ok();
    send("x").await.problem(409, "hook_disabled");
    ada.delete(&format!("/api/hooks/{}", hook.id)).await.status(204);
    send("x").await.problem(404, "not_found");
    assert_eq!(said(&ada, "general").await[0]["from"]["display_name"], "Monitor");
    hub.finish().await;
}

#[tokio::test]
async fn a_hook_has_no_more_rights_than_its_owner() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    let to_den = json!({"name": "CI", "kind": "url", "target": {"channel": "den"}});
    bob.post("/api/hooks", &to_den).await.problem(422, "validation_failed");
    ada.add_member("den", "bob").await.ok();
    let hook = make(&bob, to_den.clone()).await;
    let send = || hub.nobody().post(&hook.url, &json!({"text": "done"}));
    send().await.ok();
    ada.delete("/api/channels/den/members/bob").await.status(204);
    send().await.problem(409, "target_unavailable");
    ada.add_member("den", "bob").await.ok();
    send().await.ok();
    ada.delete("/api/channels/den").await.status(204);
    send().await.problem(409, "target_unavailable");
    // A new channel of the same name is another one.
    ada.make_channel(json!({"name": "den"})).await;
    send().await.problem(409, "target_unavailable");
    assert_eq!(bob.list("/api/hooks").await[0]["target_deleted"], true);
    let notices = items(bob.get("/api/dm/system/messages").await.ok());
    assert!(notices.iter().any(|notice| notice["body"].as_str().unwrap().contains("#den was deleted")), "{notices:?}");
    // A post does not make the owner a member of a public channel.
    ada.make_channel(json!({"name": "open"})).await;
    let change = json!({"target": {"channel": "open"}, "name": "Builds"});
    bob.patch(&format!("/api/hooks/{}", hook.id), &change).await.ok();
    send().await.ok();
    assert_eq!(ada.members("open").await, ["ada"]);
    assert_eq!(said(&ada, "open").await[0]["from"]["display_name"], "Builds");
    // Neither keys nor the name of a person.
    let scout = bob.agent("scout").await;
    scout.post("/api/hooks", &to_den).await.problem(403, "forbidden");
    let named = json!({"name": "Ada", "kind": "url", "target": {"channel": "open"}});
    bob.post("/api/hooks", &named).await.problem(422, "validation_failed");
    hub.operator().call("users.disable", json!({"username": "bob"})).await;
    send().await.problem(409, "hook_disabled");
    hub.finish().await;
}

#[tokio::test]
async fn too_many_requests_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let hook = make(&ada, json!({"name": "CI", "kind": "url", "target": {"channel": "general"}})).await;
    let send = || hub.nobody().post(&hook.url, &json!({"text": "x"}));
    for _ in 0..60 {
        send().await.ok();
    }
    let refused = send().await.problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(outcomes(&ada, &hook).await.len(), 20);
    assert_eq!(outcomes(&ada, &hook).await[0], "rate_limited");
    // Wrong secrets count for their address, whatever the hook.
    for _ in 0..120 {
        hub.nobody().post("/hooks/nothing/x", &json!({})).await.problem(404, "not_found");
    }
    let refused = hub.nobody().post("/hooks/nothing/x", &json!({})).await.problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    hub.advance(MINUTE);
    send().await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn all_hooks_of_a_person_share_a_limit() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let new = |name: String| json!({"name": name, "kind": "url", "target": {"channel": "general"}});
    for number in 0..10 {
        let hook = make(&ada, new(format!("CI {number}"))).await;
        // What is not enabled counts, too, and costs less here.
        ada.patch(&format!("/api/hooks/{}", hook.id), &json!({"enabled": false})).await.ok();
        for _ in 0..60 {
            hub.nobody().post(&hook.url, &json!({"text": "x"})).await.problem(409, "hook_disabled");
        }
    }
    let one_more = make(&ada, new("one more".to_owned())).await;
    hub.nobody().post(&one_more.url, &json!({"text": "x"})).await.problem(429, "rate_limited");
    let of_bob = make(&bob, new("CI".to_owned())).await;
    hub.nobody().post(&of_bob.url, &json!({"text": "x"})).await.ok();
    hub.advance(MINUTE);
    hub.nobody().post(&one_more.url, &json!({"text": "x"})).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn secrets_are_sealed_and_survive_a_change_of_key() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let created = hub
        .operator()
        .call(
            "hooks.create",
            json!({"owner": "ada", "hook": {"name": "CI", "kind": "url", "target": {"channel": "general"}}}),
        )
        .await;
    let url = created["url"].as_str().unwrap().split_once("/hooks/").unwrap().1.to_owned();
    hub.operator().call("db.rotate_key", json!({})).await;
    hub.nobody().post(&format!("/hooks/{url}"), &json!({"text": "x"})).await.ok();
    assert_eq!(ada.list("/api/hooks").await[0]["owner"], "ada");
    let listed = hub.operator().call("hooks.list", json!({})).await;
    assert_eq!(listed["items"][0]["name"], "CI");
    let entries = hub.audit().await;
    let secret = created["secret"].as_str().unwrap();
    assert!(entries.iter().any(|entry| entry["action"] == "hook.created"));
    assert!(!entries.iter().any(|entry| entry.to_string().contains(secret)));
    hub.finish().await;
}
