//! Answers to repeated requests: little is stored of them, and a repeated request shows nothing that its sender can no longer see.

use serde_json::{Value, json};

use crate::support::{Call, Client, TestHub, items};

fn repeated(call: Call) -> Call {
    call.header("idempotency-key", "k")
}

/// The bytes that are stored for repeated requests.
async fn stored(hub: &TestHub) -> i64 {
    hub.count("select cast(coalesce(sum(octet_length(answer)), 0) as bigint) as n from idempotency").await
}

#[tokio::test]
async fn long_answers_are_made_again() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let text = "long \"text\"\n".repeat(4000);
    for _ in 0..10 {
        ada.dm("scout", &text).await;
    }
    let claim = || repeated(scout.post("/api/inbox/claim", &json!({"limit": 10})));
    let (first, second) = (claim().await.ok(), claim().await.ok());
    assert!(first.text().len() > 400_000 && second.is_replay());
    assert_eq!(first.json(), second.json());
    let send = || repeated(ada.post("/api/messages", &json!({"to": "scout", "body": text, "metadata": {"a": 1}})));
    let (first, second) = (send().await.status(201), send().await.status(201));
    assert!(second.is_replay());
    assert_eq!(first.json(), second.json());
    let make = || repeated(ada.post("/api/agents", &json!({"name": "other", "instructions": text})));
    let (first, second) = (make().await.status(201), make().await.status(201));
    assert!(second.is_replay());
    assert_eq!(first.json(), second.json(), "the key is shown again, too");
    let bytes = stored(&hub).await;
    assert!(bytes < 2000, "{bytes} bytes are stored");
    hub.finish().await;
}

/// Everything that bob did in ada's channel while he was in it, each with a key.
async fn requests(bob: &Client, root: &Value) -> Vec<Box<dyn Fn() -> Call>> {
    let bob = bob.clone();
    let id = root["id"].as_i64().unwrap();
    let own = bob.say("plans", "secret of bob").await;
    let call = move |method: &'static str, path: String, body: Value| -> Box<dyn Fn() -> Call> {
        let bob = bob.clone();
        Box::new(move || repeated(bob.call(method, &path).json(&body)))
    };
    vec![
        call("POST", "/api/messages".to_owned(), json!({"channel": "plans", "body": "secret, says bob"})),
        call("PATCH", format!("/api/messages/{}", own["id"]), json!({"body": "secret, edited"})),
        call("POST", format!("/api/messages/{id}/reactions"), json!({"reaction": "in_progress"})),
        call("PUT", "/api/channels/plans/members/bobs-agent".to_owned(), json!({})),
        call("POST", "/api/channels/plans/join".to_owned(), json!({})),
    ]
}

#[tokio::test]
async fn who_was_removed_sees_nothing_by_repeating() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    bob.agent("bobs-agent").await;
    ada.make_channel(json!({"name": "plans", "public": false, "topic": "secret topic"})).await;
    ada.add_member("plans", "bob").await.ok();
    let root = ada.say("plans", "secret of ada").await;
    let requests = requests(&bob, &root).await;
    for request in &requests {
        let (first, second) = (request().await.ok(), request().await.ok());
        assert!(second.is_replay() && !first.is_replay());
        assert_eq!(first.code(), second.code());
    }
    ada.delete("/api/channels/plans/members/bob").await.ok();
    for request in &requests {
        let refused = request().await.problem(404, "not_found");
        assert!(!refused.text().contains("secret"), "{refused:?}");
    }
    // Nothing of it was done again.
    ada.add_member("plans", "bob").await.ok();
    for request in &requests {
        assert!(request().await.ok().is_replay());
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_was_deleted_is_not_in_a_repeated_answer() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = bob.agent("scout").await;
    ada.make_channel(json!({"name": "plans", "public": false})).await;
    ada.add_member("plans", "bob").await.ok();
    bob.put("/api/channels/plans/members/scout", &json!({})).await.ok();
    let sent = ada.dm("scout", "secret one").await;
    ada.say("plans", "@scout secret two").await;
    let claim = || repeated(scout.post("/api/inbox/claim", &json!({"limit": 10})));
    assert_eq!(items(claim().await.ok()).len(), 2);
    assert!(claim().await.ok().text().contains("secret one"));
    ada.take_back(&sent).await.ok();
    ada.delete("/api/channels/plans/members/bob").await.ok();
    let again = claim().await.ok();
    assert!(again.is_replay());
    assert!(!again.text().contains("secret"), "{again:?}");
    hub.finish().await;
}

#[tokio::test]
async fn stored_answers_have_a_quota_for_each_owner() {
    let hub = TestHub::setup().configure(|config| config.stored_answers_bytes = 4096).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let send = |client: &Client, to: &str, key: i32| {
        client
            .post("/api/messages", &json!({"to": to, "body": "hello"}))
            .header("idempotency-key", format!("key {key}"))
    };
    let mut sent = 0;
    let refused = loop {
        let reply = send(&scout, "bob", sent).await;
        if reply.code() != 201 {
            break reply;
        }
        sent += 1;
        assert!(sent < 100, "nothing counts what is stored");
    };
    let refused = refused.problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    send(&ada, "bob", 0).await.problem(429, "rate_limited");
    assert!(send(&scout, "bob", 0).await.status(201).is_replay(), "what was answered is answered again");
    // Without a key everything goes on, and others have a quota of their own.
    scout.dm("bob", "hello").await;
    send(&bob, "scout", 0).await.status(201);
    hub.finish().await;
}

/// Two programs may share one inbox.
#[tokio::test]
async fn a_repeated_claim_takes_nothing_from_a_later_one() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.dm("scout", "work").await;
    let claim = || repeated(scout.post("/api/inbox/claim", &json!({"limit": 1, "lease_seconds": 60})));
    let first = items(claim().await.ok());
    assert_eq!(items(claim().await.ok()), first);
    hub.advance(std::time::Duration::from_secs(61));
    assert_eq!(scout.claim(json!({"limit": 1, "lease_seconds": 600})).await.len(), 1);
    let again = claim().await.ok();
    assert!(again.is_replay());
    assert_eq!(items(again), Vec::<Value>::new());
    hub.finish().await;
}
