//! Agents that run elsewhere: the hub calls them, and they send back what came of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{details, ended, notices, reactive, run_of, status};
use crate::support::{Client, Setup, TestHub, eventually};
use crate::webhooks::receiver::{Received, Receiver};

fn setup() -> Setup {
    TestHub::setup().configure(|config| {
        config.allow_http_webhooks = true;
        config.outbound_allow = vec!["127.0.0.0/8".parse().unwrap()];
    })
}

fn at(receiver: &Receiver) -> Value {
    json!({"backend": "webhook", "url": receiver.url, "timeout_seconds": 600})
}

/// A client with the token that a receiver was sent.
fn client_of(hub: &TestHub, received: &Received) -> Client {
    hub.nobody().bearer(received.body["data"]["token"].as_str().unwrap())
}

#[tokio::test]
async fn an_answer_at_once_settles_the_run() {
    let hub = setup().start().await;
    let (ada, bob) = (hub.admin().await, hub.human("bob").await);
    let receiver = Receiver::start().await;
    receiver.say(r#"{"response": "From elsewhere.", "tokens_in": 12, "tokens_out": 3, "cost_usd": 0.5, "session_id": "abc", "run_id": 99}"#);
    ada.agent_with(reactive("courier", at(&receiver))).await;
    let secret = ada.post("/api/agents/courier/run-secret", &json!({})).await.status(201).json();
    let sent = ada.dm("courier", "What is new?").await;
    let done = ended(&ada, run_of(&sent)).await;
    assert_eq!((&done["run"]["status"], &done["run"]["reason"]), (&json!("succeeded"), &Value::Null), "{done}");
    assert_eq!(done["outgoing_message"]["body"], "From elsewhere.");
    let harness = &done["harness_run"];
    assert_eq!((&harness["backend"], &harness["session_id"]), (&json!("webhook"), &json!("abc")));
    assert_eq!((&done["run"]["tokens"], &harness["cost_usd"]), (&json!(15), &json!(0.5)));
    let received = receiver.has(1).await.remove(0);
    assert_eq!(received.signatures_of(secret["secret"].as_str().unwrap()), 1);
    let data = &received.body["data"];
    assert_eq!((&received.body["type"], &received.body["agent"]), (&json!("run.requested"), &json!("courier")));
    assert_eq!(data["messages"][0]["body"], "What is new?");
    assert!(data["prompt"].as_str().unwrap().contains("What is new?"));
    assert!(data["result_url"].as_str().unwrap().ends_with(&format!("/api/runs/{}/result", run_of(&sent))));
    // The token is worthless afterwards, and nobody else sees it.
    client_of(&hub, &received).get("/api/inbox").await.problem(401, "invalid_credentials");
    assert!(!done.to_string().contains(data["token"].as_str().unwrap()));
    // Others can start it, because nothing of it is on this machine.
    let sent = bob.dm("courier", "And for me?").await;
    let foreign = ended(&ada, run_of(&sent)).await;
    assert_eq!((&foreign["run"]["status"], &foreign["run"]["foreign"]), (&json!("succeeded"), &json!(true)));
    let replaced = ada.post("/api/agents/courier/run-secret", &json!({})).await.status(201).json();
    ended(&ada, run_of(&ada.dm("courier", "Again.").await)).await;
    let last = receiver.has(3).await.remove(2);
    assert_eq!(last.signatures_of(secret["secret"].as_str().unwrap()), 0);
    assert_eq!(last.signatures_of(replaced["secret"].as_str().unwrap()), 1);
    let by_operator = hub.operator().call("agents.run_secret", json!({"name": "courier"})).await;
    ended(&ada, run_of(&ada.dm("courier", "Once more.").await)).await;
    let last = receiver.has(4).await.remove(3);
    assert_eq!(last.signatures_of(by_operator["secret"].as_str().unwrap()), 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_receiver_can_take_its_time() {
    let hub = setup().start().await;
    let ada = hub.admin().await;
    let receiver = Receiver::start().await;
    receiver.always_answer(202);
    let courier = ada.agent_with(reactive("courier", at(&receiver))).await;
    let run = run_of(&ada.dm("courier", "What is new?").await);
    let received = receiver.has(1).await.remove(0);
    let sender = client_of(&hub, &received);
    let path = format!("/api/runs/{run}/result");
    eventually("the run goes on", async || status(&ada, run).await == "running").await;
    hub.settle().await;
    // It acts as the agent in the meantime.
    sender.get("/api/inbox").await.ok();
    for (client, path, code, word) in [
        (&sender, "/api/runs/999/result".to_owned(), 404, "not_found"),
        (&courier, path.clone(), 403, "run_token_required"),
        (&ada, path.clone(), 403, "run_token_required"),
    ] {
        client.post(&path, &json!({"response": "x"})).await.problem(code, word);
    }
    sender.post(&path, &json!({"response": 7})).await.status(422);
    sender.post(&path, &json!({"response": "x", "agent": "admin"})).await.status(422);
    sender.post(&path, &json!({"response": "x".repeat(300_000)})).await.status(422);
    assert_eq!(status(&ada, run).await, "running");
    let settled = sender.post(&path, &json!({"response": "It took a while.", "cost_usd": 0.25})).await.ok().json();
    assert_eq!(settled["status"], "succeeded");
    sender.post(&path, &json!({"response": "Once more."})).await.problem(401, "invalid_credentials");
    let done = details(&ada, run).await;
    assert_eq!(done["outgoing_message"]["body"], "It took a while.");
    assert_eq!(done["run"]["cost_usd"], 0.25);
    // One that fails says so.
    let run = run_of(&ada.dm("courier", "And now?").await);
    let sender = client_of(&hub, &receiver.has(2).await.remove(1));
    let failed = sender.post(&format!("/api/runs/{run}/result"), &json!({"error": "No model."})).await.ok().json();
    assert_eq!((&failed["status"], &failed["reason"]), (&json!("failed"), &json!("model_error")));
    assert!(notices(&ada).await[0].contains("No model."));
    hub.finish().await;
}

#[tokio::test]
async fn a_run_elsewhere_outlives_the_hub_and_ends_in_time() {
    let hub = setup().start().await;
    let ada = hub.admin().await;
    let receiver = Receiver::start().await;
    receiver.always_answer(202);
    for name in ["courier", "herald", "scout"] {
        ada.agent_with(reactive(name, at(&receiver))).await;
    }
    let kept = run_of(&ada.dm("courier", "What is new?").await);
    let first = receiver.has(1).await.remove(0);
    let late = run_of(&ada.dm("herald", "What is new?").await);
    receiver.has(2).await;
    let cancelled = run_of(&ada.dm("scout", "What is new?").await);
    let third = receiver.has(3).await.remove(2);
    hub.settle().await;
    assert_eq!(ada.post(&format!("/api/runs/{cancelled}/cancel"), &json!({})).await.ok().json()["status"], "cancelled");
    client_of(&hub, &third).get("/api/inbox").await.problem(401, "invalid_credentials");
    let hub = hub.restart().await;
    let ada = hub.admin().await;
    assert_eq!((status(&ada, kept).await, status(&ada, late).await), ("running".to_owned(), "running".to_owned()));
    let sender = client_of(&hub, &first);
    sender.post(&format!("/api/runs/{kept}/result"), &json!({"response": "Still here."})).await.ok();
    assert_eq!(status(&ada, kept).await, "succeeded");
    hub.advance(Duration::from_secs(601));
    eventually("the other one is over", async || status(&ada, late).await == "timed_out").await;
    assert_eq!(receiver.count(), 3, "nothing is sent twice");
    hub.finish().await;
}

#[tokio::test]
async fn receivers_that_fail() {
    let hub = setup().start().await;
    let ada = hub.admin().await;
    let receiver = Receiver::start().await;
    ada.agent_with(reactive("courier", at(&receiver))).await;
    for (code, body, reason) in [
        (500, "oh".to_owned(), "receiver_failed"),
        (302, String::new(), "receiver_failed"),
        (200, "not JSON".to_owned(), "bad_result"),
        (200, format!("{{\"response\": \"{}\"}}", "x".repeat(300_000)), "bad_result"),
    ] {
        receiver.answer(&[code]);
        receiver.say(body);
        let done = ended(&ada, run_of(&ada.dm("courier", "Go.").await)).await;
        assert_eq!((&done["run"]["status"], &done["run"]["reason"]), (&json!("failed"), &json!(reason)), "{done}");
    }
    receiver.answer_later(503, 120);
    receiver.say("{\"response\": \"Now.\"}");
    let run = run_of(&ada.dm("courier", "Go.").await);
    eventually("it waits", async || status(&ada, run).await == "deferred").await;
    hub.advance(Duration::from_secs(121));
    eventually("it has succeeded", async || status(&ada, run).await == "succeeded").await;
    ada.agent_with(reactive("nobody", json!({"backend": "webhook", "url": "http://127.0.0.1:9/"}))).await;
    let done = ended(&ada, run_of(&ada.dm("nobody", "Go.").await)).await;
    assert_eq!(done["run"]["reason"], "receiver_failed");
    hub.finish().await;
}

#[tokio::test]
async fn addresses_that_the_hub_does_not_call_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("courier").await;
    for url in
        ["http://example.com/", "https://127.0.0.1/", "https://169.254.169.254/x", "ftp://example.com/", "https:///"]
    {
        let harness = json!({"backend": "webhook", "url": url});
        ada.patch("/api/agents/courier", &json!({"harness": harness})).await.invalid(&["harness.url"]);
        ada.post("/api/agents", &json!({"name": "other", "harness": harness})).await.invalid(&["harness.url"]);
    }
    let harness = json!({"backend": "webhook", "url": "https://agents.example.com/run?key=x"});
    ada.patch("/api/agents/courier", &json!({"harness": harness})).await.ok();
    hub.finish().await;
    // The call has a token in it, so it leaves this machine only encrypted, whatever the operator allows for webhooks.
    let hub = TestHub::setup()
        .configure(|config| {
            config.allow_http_webhooks = true;
            config.outbound_allow = vec!["0.0.0.0/0".parse().unwrap()];
        })
        .start()
        .await;
    let ada = hub.human("ada").await;
    for (url, is_fine) in [("http://10.0.0.1/", false), ("http://example.com/", false), ("http://127.0.0.1:9/", true)] {
        let created = ada.post("/api/agents", &reactive("courier", json!({"backend": "webhook", "url": url}))).await;
        if is_fine {
            created.status(201);
        } else {
            created.invalid(&["harness.url"]);
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_receiver_that_always_says_now_is_not_believed_for_ever() {
    let hub = setup().start().await;
    let ada = hub.admin().await;
    let receiver = Receiver::start().await;
    ada.agent_with(reactive("courier", at(&receiver))).await;
    let mut waits = Vec::new();
    receiver.answer_later(503, 0);
    let run = run_of(&ada.dm("courier", "Go.").await);
    for attempt in 1..=12 {
        eventually("it waits", async || {
            let run = &details(&ada, run).await["run"];
            run["status"] == "deferred" && run["attempt"] == attempt + 1
        })
        .await;
        let until = details(&ada, run).await["run"]["deferred_until"].clone();
        let until: stoa_model::Timestamp = serde_json::from_value(until).unwrap();
        let wait = until.as_ms() - hub.now_ms();
        waits.push(wait / 1000);
        if attempt < 12 {
            receiver.answer_later(503, 0);
        }
        hub.advance(Duration::from_millis(wait.try_into().unwrap()));
    }
    assert_eq!(waits, [[2; 10].as_slice(), &[60, 60]].concat());
    eventually("it has ended", async || status(&ada, run).await != "deferred").await;
    hub.finish().await;
}
