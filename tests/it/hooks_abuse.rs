//! Incoming webhooks under abuse: floods, repetitions at the same time, changed secrets, hostile texts, large bodies.

use serde_json::{Value, json};

use crate::crash::number_from;
use crate::hooks::{TestHook, github, make, outcomes, said, standard};
use crate::support::{MINUTE, START_MS, TestHub, how_many, together};

/// `STOA_HOOK_REQUESTS=10000` sends more than a test run has time for.
#[tokio::test]
async fn a_flood_stores_no_more_than_the_rate_lets_through() {
    let count = number_from("STOA_HOOK_REQUESTS").unwrap_or(200);
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let hook = make(&ada, json!({"name": "CI", "kind": "url", "target": {"channel": "general"}})).await;
    let mut posted = 0;
    let numbers: Vec<u64> = (0..count).collect();
    for numbers in numbers.chunks(50) {
        let send = |number: &u64| {
            let call = hub.nobody().post(&hook.url, &json!({"text": format!("{number}")}));
            call.header("webhook-id", format!("id-{number}"))
        };
        let replies = together(numbers.iter().map(send)).await;
        posted += how_many(&replies, 200);
        assert_eq!(how_many(&replies, 200) + how_many(&replies, 429), numbers.len());
        for refused in replies.into_iter().filter(|reply| reply.code() == 429) {
            let seconds: u64 = refused.problem(429, "rate_limited").header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&seconds));
        }
    }
    assert_eq!(posted, 60);
    let stored = "select (select count(*) from messages) + (select count(*) from hook_deliveries) as n";
    assert_eq!(hub.count(stored).await, 60 + 60);
    assert_eq!(hub.count("select count(*) as n from hook_requests").await, 20);
    hub.advance(MINUTE);
    hub.nobody().post(&hook.url, &json!({"text": "later"})).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn equal_deliveries_at_once_make_one_message() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for kind in ["github", "standard", "url"] {
        ada.make_channel(json!({"name": kind})).await;
        let hook = make(&ada, json!({"name": "CI", "kind": kind, "target": {"channel": kind}})).await;
        let body = json!({"text": "once", "type": "once"}).to_string();
        let replies = together((0..20).map(|_| match kind {
            "github" => github(&hub, &hook, "issues", "d-1", &body),
            "standard" => standard(&hub, &hook, "msg_1", START_MS / 1000, &body),
            _ => hub.nobody().call("POST", &hook.url).header("idempotency-key", "k").json(&json!({"text": "once"})),
        }));
        let outcomes: Vec<Value> = replies.await.into_iter().map(|reply| reply.ok().json()["outcome"].take()).collect();
        assert_eq!(outcomes.iter().filter(|outcome| *outcome == "posted").count(), 1, "{kind} {outcomes:?}");
        assert_eq!(outcomes.iter().filter(|outcome| *outcome == "duplicate").count(), 19, "{kind} {outcomes:?}");
        assert_eq!(said(&ada, kind).await.len(), 1, "{kind}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_changed_secret_counts_at_once() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let now = START_MS / 1000;
    let hook = make(&ada, json!({"name": "Shop", "kind": "standard", "target": {"channel": "general"}})).await;
    let path = format!("/api/hooks/{}", hook.id);
    standard(&hub, &hook, "msg_1", now, "{}").await.ok();
    let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let changed = ada.patch(&path, &json!({"secret": secret})).await.ok();
    assert!(!changed.text().contains(secret));
    standard(&hub, &hook, "msg_2", now, "{}").await.problem(401, "invalid_signature");
    let changed = TestHook { secret: secret.to_owned(), ..hook };
    standard(&hub, &changed, "msg_2", now, "{}").await.ok();
    for bad in ["short", "whsec_!not base64!", "whsec_not*base64*at*all", "\u{202e}0123456789abcdef"] {
        ada.patch(&path, &json!({"secret": bad})).await.invalid(&["secret"]);
    }
    standard(&hub, &changed, "msg_3", now, "{}").await.ok();
    assert_eq!(outcomes(&ada, &changed).await, ["posted", "posted", "invalid_signature", "posted"]);
    assert!(!String::from_utf8_lossy(&hub.everything_stored()).contains(&secret[6..]));
    // The address of the kind `url` is its secret; the hub draws it.
    let by_url = make(&ada, json!({"name": "Monitor", "kind": "url", "target": {"channel": "general"}})).await;
    ada.patch(&format!("/api/hooks/{}", by_url.id), &json!({"secret": "0123456789abcdef"})).await.invalid(&["secret"]);
    hub.finish().await;
}

#[tokio::test]
async fn texts_of_others_are_cleaned() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "plain"})).await;
    ada.make_channel(json!({"name": "made"})).await;
    let plain = make(&ada, json!({"name": "Monitor", "kind": "url", "target": {"channel": "plain"}})).await;
    let made = json!({"name": "CI", "kind": "url", "target": {"channel": "made"}, "template": "Host {{body.host}}\n{{body.more}}"});
    let made = make(&ada, made).await;
    let cases = [
        ("disk\u{202e}lluf\u{2069}", "disklluf"),
        ("a\u{200b}b\u{feff}c\u{2060}d", "abcd"),
        ("\u{1b}[2Jred\u{7}\u{8}", "[2Jred"),
        ("two\r\nlines\tand a tab", "two\nlines\tand a tab"),
        ("tags\u{e0041}\u{e0042}", "tags"),
        ("tall e\u{301}\u{302}\u{303}\u{304}\u{305}", "tall e\u{301}\u{302}\u{303}"),
        ("日本語 für Ünïcode 👍", "日本語 für Ünïcode 👍"),
    ];
    for (number, (text, expected)) in cases.iter().enumerate() {
        hub.nobody().post(&plain.url, &json!({"text": text})).await.ok();
        hub.nobody().post(&made.url, &json!({"host": text, "more": [text]})).await.ok();
        assert_eq!(said(&ada, "plain").await[number]["body"], *expected, "{text:?}");
        let body = said(&ada, "made").await[number]["body"].as_str().unwrap().to_owned();
        assert!(body.starts_with(&format!("Host {expected}")), "{body:?}");
        assert!(!body.chars().any(|each| stoa_model::text::is_unprintable(each) && !"\n\t".contains(each)), "{body:?}");
    }
    // Nothing is left of it.
    hub.nobody().post(&plain.url, &json!({"text": "\u{200b}\u{202e} \u{feff}"})).await.problem(422, "empty_message");
    hub.finish().await;
}

#[tokio::test]
async fn a_body_has_at_most_a_mebibyte() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let hook = make(&ada, json!({"name": "CI", "kind": "url", "target": {"channel": "general"}})).await;
    let frame = json!({"text": ""}).to_string().len();
    let send = |path: &str, bytes: usize| {
        let body = json!({"text": "x".repeat(bytes - frame)}).to_string();
        assert_eq!(body.len(), bytes);
        hub.nobody().call("POST", path).body("application/json", body)
    };
    send(&hook.url, 1024 * 1024 + 1).await.problem(413, "payload_too_large");
    send("/hooks/nothing/x", 1024 * 1024 + 1).await.problem(413, "payload_too_large");
    assert_eq!(said(&ada, "general").await.len(), 0);
    send(&hook.url, 1024 * 1024).await.ok();
    let body = said(&ada, "general").await[0]["body"].as_str().unwrap().to_owned();
    assert!(body.len() <= 16 * 1024, "{}", body.len());
    hub.finish().await;
}
