//! Guessing passwords: how often one may try, and how little one learns by it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Call, MINUTE, PASSWORD, Reply, TestHub, how_many, together};

fn guess(hub: &TestHub, username: &str, password: &str) -> Call {
    hub.nobody().post("/auth/login", &json!({"username": username, "password": password}))
}

fn from(call: Call, address: &str) -> Call {
    call.header("x-forwarded-for", address)
}

#[tokio::test]
async fn five_failures_a_minute_for_one_name() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    hub.human("bob").await;
    for name in ["ada", "Ada", "ADA", "aDa", "ada"] {
        guess(&hub, name, "wrong password").await.problem(401, "invalid_credentials");
    }
    let refused = guess(&hub, "ada", "wrong password").await.problem(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    // The right password does not help either: the answer would tell that it is right.
    guess(&hub, "ada", PASSWORD).await.problem(429, "rate_limited");
    guess(&hub, "bob", PASSWORD).await.ok();
    from(guess(&hub, "ada", PASSWORD), "203.0.113.9").await.ok();

    hub.advance(Duration::from_millis(59_999));
    guess(&hub, "ada", PASSWORD).await.problem(429, "rate_limited");
    hub.advance(Duration::from_millis(1));
    guess(&hub, "ada", PASSWORD).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn after_a_minute_all_is_forgiven() {
    let hub = TestHub::start().await;
    for _ in 0..3 {
        for _ in 0..5 {
            guess(&hub, "nobody", "wrong password").await.problem(401, "invalid_credentials");
        }
        guess(&hub, "nobody", "wrong password").await.problem(429, "rate_limited");
        hub.advance(MINUTE);
    }
    hub.finish().await;
}

#[tokio::test]
async fn twenty_failures_a_minute_for_one_address() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    for n in 0..20 {
        from(guess(&hub, &format!("name{n}"), "wrong password"), "203.0.113.9").await.status(401);
    }
    let refused = from(guess(&hub, "ada", PASSWORD), "203.0.113.9").await.problem(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    from(guess(&hub, "ada", PASSWORD), "203.0.113.10").await.ok();
    // The address next to a trusted proxy counts, not what somebody wrote before it.
    from(guess(&hub, "ada", PASSWORD), "198.51.100.1, 203.0.113.9").await.problem(429, "rate_limited");
    hub.advance(MINUTE);
    from(guess(&hub, "ada", PASSWORD), "203.0.113.9").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn a_header_of_an_untrusted_peer_counts_for_nothing() {
    let hub = TestHub::setup().trusted_proxies(&["10.0.0.0/8"]).start().await;
    for n in 0..5 {
        from(guess(&hub, "ada", "wrong password"), &format!("203.0.113.{n}")).await.status(401);
    }
    from(guess(&hub, "ada", "wrong password"), "203.0.113.77").await.problem(429, "rate_limited");
    hub.finish().await;
}

#[tokio::test]
async fn successes_are_not_counted() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    for _ in 0..25 {
        guess(&hub, "ada", PASSWORD).await.ok();
    }
    hub.finish().await;
}

#[tokio::test]
async fn many_guesses_at_once_are_no_more_than_five() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let before = hub.metric("stoa_bcrypt_verifications_total").await;
    let replies = together((0..40).map(|n| guess(&hub, "ada", &format!("wrong password {n}")))).await;
    assert_eq!((how_many(&replies, 401), how_many(&replies, 429)), (5, 35), "{replies:?}");
    assert_eq!(hub.metric("stoa_bcrypt_verifications_total").await - before, 5.0);
    hub.finish().await;
}

#[tokio::test]
async fn the_current_password_cannot_be_guessed_in_an_open_session() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let change = json!({"current_password": "wrong password", "new_password": "another password"});
    for _ in 0..5 {
        ada.put("/auth/password", &change).await.problem(403, "invalid_credentials");
    }
    ada.put("/auth/password", &change).await.problem(429, "rate_limited");
    hub.finish().await;
}

#[tokio::test]
async fn a_failed_login_tells_nothing() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    hub.human("gone").await;
    hub.operator().call("users.disable", json!({"username": "gone"})).await;
    let long = "x".repeat(73);
    let hasher = hub.metric("stoa_bcrypt_verifications_total").await;
    let attempts = [
        ("unknown", PASSWORD),
        ("ada", "wrong password"),
        ("gone", PASSWORD),
        ("gone", "wrong password"),
        ("ada", &long),
        ("unknown", &long),
        ("ada", ""),
        ("system", PASSWORD),
        ("not a name", PASSWORD),
        ("", ""),
    ];
    let mut answers = Vec::new();
    for (n, (name, password)) in attempts.iter().enumerate() {
        let reply = from(guess(&hub, name, password), &format!("203.0.113.{n}")).await;
        answers.push(without_request_id(&reply.problem(401, "invalid_credentials")));
        let verified = hub.metric("stoa_bcrypt_verifications_total").await - hasher;
        assert_eq!(verified, (n + 1) as f64, "the same work for {name:?} and {password:?}");
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    hub.finish().await;
}

/// All that an answer says, but for the one thing that differs each time.
fn without_request_id(reply: &Reply) -> (Value, Vec<(String, String)>) {
    let mut problem = reply.json();
    problem["request_id"] = Value::Null;
    let volatile = ["x-request-id", "date"];
    let headers = reply.headers.iter().filter(|(name, _)| !volatile.contains(&name.as_str()));
    (problem, headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect())
}

#[tokio::test]
async fn a_password_is_compared_to_its_end() {
    let hub = TestHub::start().await;
    let longest = "x".repeat(72);
    hub.operator().call("users.create", json!({"username": "ada", "password": longest})).await;
    guess(&hub, "ada", &longest).await.ok();
    for wrong in [&longest[1..], &format!("{longest}x"), &format!("{}y", &longest[1..])] {
        guess(&hub, "ada", wrong).await.problem(401, "invalid_credentials");
    }
    hub.finish().await;
}
