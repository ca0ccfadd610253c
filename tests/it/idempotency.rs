//! Doing a repeated request once.

use serde_json::json;

use crate::support::{Call, Client, DAY, KEY, MINUTE, TestHub, how_many, on_postgres, together};

fn create(client: &Client, key: &str, name: &str) -> Call {
    client.post("/api/agents", &json!({"name": name})).header("idempotency-key", key)
}

#[tokio::test]
async fn a_repeated_request_gets_its_first_answer() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let first = create(&ada, "once", "scout").await.status(201);
    assert!(!first.is_replay());
    let entries = hub.audit().await.len();
    hub.advance(MINUTE);
    // The key that is shown once is shown again, and works.
    for _ in 0..3 {
        let again = create(&ada, "once", "scout").await.status(201);
        assert!(again.is_replay());
        assert_eq!(again.body, first.body);
    }
    hub.nobody().bearer(first.json()["key"].as_str().unwrap()).get("/api/agents").await.ok();
    assert_eq!(hub.audit().await.len(), entries);
    // Another session of the same person is the same caller.
    assert!(create(&ada.again().await.client, "once", "scout").await.status(201).is_replay());
    assert_eq!(ada.list("/api/agents").await.len(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    create(&ada, "k", "scout").await.status(201);
    create(&ada, "k", "other").await.problem(422, "idempotency_key_reused");
    let spaced = ada.call("POST", "/api/agents").body("application/json", r#"{ "name": "scout" }"#);
    spaced.header("idempotency-key", "k").await.problem(422, "idempotency_key_reused");
    // Another route, another key and another caller are independent.
    let key = ada.post("/api/keys", &json!({"name": "k", "agent": "scout", "permissions": ["*"]}));
    assert!(!key.header("idempotency-key", "k").await.status(201).is_replay());
    create(&ada, "K", "scout").await.problem(409, "name_taken");
    create(&bob, "k", "bobs").await.status(201);
    assert_eq!(ada.list("/api/agents").await.len(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn every_kind_of_write_can_be_repeated() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let (record, _) = ada.key("scout", json!(["*"])).await;
    let other = ada.again().await.get("/auth/sessions").await.json()["items"][0]["id"].clone();
    let writes = [
        ("PUT", "/auth/profile".to_owned(), json!({"display_name": "A"})),
        ("DELETE", format!("/auth/sessions/{other}"), json!({})),
        ("PATCH", "/api/agents/scout".to_owned(), json!({"instructions": "x"})),
        ("POST", "/api/agents/scout/pause".to_owned(), json!({})),
        ("POST", "/api/agents/scout/resume".to_owned(), json!({})),
        ("POST", "/api/agents/scout/unquarantine".to_owned(), json!({})),
        ("POST", "/api/agents/scout/key".to_owned(), json!({})),
        ("DELETE", format!("/api/keys/{}", record["id"]), json!({})),
        ("DELETE", "/api/agents/scout".to_owned(), json!({})),
    ];
    for (method, path, body) in writes {
        let call = || ada.call(method, &path).json(&body).header("idempotency-key", "k");
        let (first, second) = (call().await.ok(), call().await.ok());
        assert!(!first.is_replay() && second.is_replay(), "{method} {path}");
        assert_eq!((first.code(), &first.body), (second.code(), &second.body), "{method} {path}");
        assert_eq!(first.header("etag"), second.header("etag"), "{method} {path}");
    }
    // Reads have no use for one.
    assert!(!ada.get("/auth/me").header("idempotency-key", "k").await.ok().is_replay());
    hub.finish().await;
}

#[tokio::test]
async fn a_refusal_is_not_kept() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    create(&ada, "k", "BAD").await.invalid(&["name"]);
    create(&ada, "k", "ada").await.problem(409, "name_taken");
    create(&ada, "k", "scout").await.status(201);
    assert!(create(&ada, "k", "scout").await.status(201).is_replay());
    hub.finish().await;
}

#[tokio::test]
async fn a_key_is_one_to_255_characters() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (longest, longer) = ("k".repeat(255), "k".repeat(256));
    for bad in ["", &longer, "ä"] {
        create(&ada, bad, "scout").await.invalid(&["Idempotency-Key"]);
    }
    assert!(ada.list("/api/agents").await.is_empty());
    create(&ada, "with blanks inside", "finder").await.status(201);
    create(&ada, &longest, "scout").await.status(201);
    assert!(create(&ada, &longest, "scout").await.status(201).is_replay());
    hub.finish().await;
}

#[tokio::test]
async fn answers_are_kept_for_a_day() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    create(&ada, "k", "scout").await.status(201);
    hub.advance(DAY - MINUTE);
    let ada = ada.again().await;
    assert!(create(&ada, "k", "scout").await.status(201).is_replay());
    hub.advance(MINUTE);
    create(&ada, "k", "scout").await.problem(409, "name_taken");
    create(&ada, "k", "other").await.status(201);
    hub.settle().await;
    hub.advance(2 * DAY);
    hub.settle().await;
    assert_eq!(hub.count("select count(*) as n from idempotency").await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn answers_survive_a_restart() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let first = create(&ada, "k", "scout").await.status(201);
    let hub = hub.restart().await;
    let again = create(&hub.log_in("ada").await.client, "k", "scout").await.status(201);
    assert!(again.is_replay());
    assert_eq!(again.body, first.body);
    hub.finish().await;
}

#[tokio::test]
async fn of_equal_requests_at_once_one_is_done() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for round in 0..5 {
        let name = format!("scout{round}");
        let replies = together((0..12).map(|_| create(&ada, &name, &name))).await;
        let made: Vec<_> = replies.iter().filter(|reply| reply.code() == 201).collect();
        assert!(!made.is_empty());
        assert!(made.iter().all(|reply| reply.body == made[0].body));
        assert_eq!(made.iter().filter(|reply| !reply.is_replay()).count(), 1);
        assert_eq!(how_many(&replies, 201) + how_many(&replies, 409), 12, "{replies:?}");
        for reply in replies.into_iter().filter(|reply| reply.code() == 409) {
            reply.problem(409, "idempotency_in_progress");
        }
    }
    assert_eq!(ada.list("/api/agents").await.len(), 5);
    hub.finish().await;
}

#[tokio::test]
async fn equal_requests_to_two_hubs_at_once_are_one() {
    if !on_postgres() {
        return;
    }
    let one = TestHub::setup().key(KEY).start().await;
    let two = one.beside().start().await;
    let ada = one.human("ada").await;
    let elsewhere = two.log_in("ada").await;
    for round in 0..10 {
        let name = format!("scout{round}");
        let callers = [&ada.client, &elsewhere.client];
        let replies = together((0..4).map(|n| create(callers[n % 2], &name, &name))).await;
        let made: Vec<_> = replies.iter().filter(|reply| reply.code() == 201).collect();
        assert!(made.iter().all(|reply| reply.body == made[0].body));
        assert_eq!(made.iter().filter(|reply| !reply.is_replay()).count(), 1, "{replies:?}");
        assert_eq!(how_many(&replies, 201) + how_many(&replies, 409), 4, "{replies:?}");
    }
    assert_eq!(ada.list("/api/agents").await.len(), 10);
    two.finish().await;
    one.finish().await;
}

#[tokio::test]
async fn a_repeated_login_begins_no_second_session() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let login = || {
        let body = json!({"username": "ada", "password": ada.password});
        hub.nobody().post("/auth/login", &body).header("idempotency-key", "k")
    };
    let (first, second) = (login().await.ok(), login().await.ok());
    assert!(second.is_replay());
    assert_eq!(first.cookie(), second.cookie());
    let wrong = json!({"username": "ada", "password": "wrong password"});
    let call = hub.nobody().post("/auth/login", &wrong).header("idempotency-key", "k");
    call.await.problem(401, "invalid_credentials");
    assert_eq!(ada.get("/auth/sessions").await.json()["items"].as_array().unwrap().len(), 2);
    hub.finish().await;
}
