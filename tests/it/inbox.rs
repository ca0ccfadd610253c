//! The inbox: work that waits, is claimed for a time, and is done, failed or given back.

use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{Client, MINUTE, Reply, TestHub, each, eventually, how_many, items, together};
use crate::walk::{Row, ToolRow, either, either_thing, refused, shows_own};

/// What agents of other owners must be refused; see `walk/tools.rs`.
pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![
        refused("mark_done", json!({"message_id": "{dm}"})),
        shows_own("claim_messages", json!({"message_ids": ["{post}", "{dm}"]})),
        shows_own("claim_messages", json!({"extend": ["{post}", "{dm}"]})),
        shows_own("my_status", json!({})),
        shows_own("read_inbox", json!({"status": "all", "full": true})),
        shows_own("wait_for_messages", json!({"timeout_seconds": 0})),
    ]
}

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either_thing("POST /api/messages/{id}/done").body(json!({})),
        either_thing("POST /api/messages/{id}/fail").body(json!({"error": "no"})),
        either_thing("POST /api/messages/{id}/release"),
        either("GET /api/inbox").aimed("status=all&full=true", 0, ""),
        either("POST /api/inbox/claim")
            .body(json!({"limit": 100}))
            .aimed_with(json!({"message_ids": ["{post}", "{dm}"]}), 0, "")
            .aimed_with(json!({"extend": ["{post}", "{dm}"]}), 0, ""),
    ]
}

/// A long poll that is parked when this returns.
async fn parked(hub: &TestHub, reader: &Client, query: &str) -> JoinHandle<Reply> {
    let call = tokio::spawn(reader.get(&format!("/api/inbox?wait=50{query}")).into_future());
    eventually("somebody waits", || async { !hub.inner().waiters().is_empty() }).await;
    call
}

/// The answer to a long poll. The clock of the hub stands still, so one that nobody wakes would hang for ever.
async fn answered(call: JoinHandle<Reply>) -> Reply {
    let answer = tokio::time::timeout(Duration::from_secs(60), call).await;
    answer.expect("the wait has to end").unwrap().ok()
}

#[tokio::test]
async fn what_comes_first_is_first() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    assert_eq!(scout.get("/api/inbox").await.ok().json(), json!({"items": [], "next_cursor": null}));
    for (n, priority) in [1, 10, 5, 7, 10].into_iter().enumerate() {
        ada.send(json!({"to": "scout", "body": n.to_string(), "priority": priority})).await;
    }
    scout.dm("ada", "what it sends is not in its inbox").await;
    ada.say("general", "nor is what is said in channels").await;
    assert_eq!(each(&scout.inbox().await, "body"), ["0", "1", "2", "3", "4"]);
    let first = scout.get("/api/inbox?limit=3").await.ok().json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = scout.get(&format!("/api/inbox?limit=3&cursor={cursor}")).await.ok().json();
    assert_eq!(each(rest["items"].as_array().unwrap(), "body"), ["3", "4"]);
    assert!(rest["next_cursor"].is_null());
    // A cursor belongs to its list and its reader.
    scout.get(&format!("/api/inbox?status=all&cursor={cursor}")).await.problem(400, "invalid_cursor");
    ada.get(&format!("/api/inbox?cursor={cursor}")).await.problem(400, "invalid_cursor");
    // Claims go by urgency, then by age.
    assert_eq!(each(&scout.claim(json!({})).await, "body"), ["1"]);
    assert_eq!(each(&scout.claim(json!({"limit": 3})).await, "body"), ["4", "3", "2"]);
    assert_eq!(each(&scout.claim(json!({"limit": 100})).await, "body"), ["0"]);
    assert!(scout.claim(json!({"limit": 100})).await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn each_status_has_its_list() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let mut sent = Vec::new();
    for body in ["waits", "claimed", "done", "failed"] {
        sent.push(ada.dm("scout", body).await);
    }
    scout.claim(json!({"message_ids": [sent[1]["id"], sent[2]["id"]]})).await;
    scout.settle(&sent[2], "done", json!({})).await.ok();
    scout.settle(&sent[3], "fail", json!({"error": "cannot"})).await.ok();
    for (status, bodies) in [
        ("pending", vec!["waits"]),
        ("processing", vec!["claimed"]),
        ("done", vec!["done"]),
        ("failed", vec!["failed"]),
        ("all", vec!["waits", "claimed", "done", "failed"]),
    ] {
        let page = items(scout.get(&format!("/api/inbox?status={status}")).await.ok());
        assert_eq!(each(&page, "body"), bodies, "{status}");
    }
    for status in ["", "Pending", "open", "pending,done"] {
        scout.get(&format!("/api/inbox?status={status}")).await.invalid(&["status"]);
    }
    scout.get("/api/inbox?full=maybe").await.invalid(&["full"]);
    scout.get("/api/inbox?limit=0").await.invalid(&["limit"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_list_shows_120_characters() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for character in ["x", "ä", "🙂", "\n."] {
        let body = character.repeat(121);
        ada.dm("bob", &body).await;
        let shown = items(bob.get("/api/inbox?status=all").await.ok()).pop().unwrap();
        let expected: String = body.chars().take(120).collect();
        assert_eq!(shown["body"], expected);
        assert_eq!(bob.inbox().await.pop().unwrap()["body"], body);
    }
    // What is claimed is to be worked on, so it is whole.
    assert_eq!(bob.claim(json!({})).await[0]["body"], "x".repeat(121));
    hub.finish().await;
}

#[tokio::test]
async fn a_wait_ends_when_something_comes() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let call = parked(&hub, &scout, "").await;
    ada.dm("admin", "not for scout").await;
    let first = ada.dm("scout", "first").await;
    let page = answered(call).await.json();
    assert_eq!(page["items"][0]["id"], first["id"]);
    // There is always a place to go on from.
    let cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
    // What is there already is answered at once.
    assert_eq!(items(scout.get("/api/inbox?wait=50").await.ok()).len(), 1);
    let call = parked(&hub, &scout, &cursor).await;
    let mention = ada.say("general", "@scout").await;
    assert_eq!(items(answered(call).await)[0]["reply_to"], mention["id"]);

    // A claim that is given back, and one that runs out.
    scout.claim(json!({"limit": 100, "lease_seconds": 20})).await;
    let call = parked(&hub, &scout, "").await;
    scout.settle(&first, "release", json!({})).await.ok();
    assert_eq!(items(answered(call).await)[0]["id"], first["id"]);
    scout.settle(&first, "done", json!({})).await.ok();
    let call = parked(&hub, &scout, "").await;
    hub.advance(Duration::from_secs(20));
    assert_eq!(items(answered(call).await)[0]["reply_to"], mention["id"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_wait_for_what_is_done_ends_when_it_is() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let call = parked(&hub, &scout, "&status=done").await;
    let sent = ada.dm("scout", "new").await;
    scout.settle(&sent, "done", json!({})).await.ok();
    assert_eq!(items(answered(call).await)[0]["id"], sent["id"]);
    hub.finish().await;
}

#[tokio::test]
async fn so_many_wait_for_one_human_and_no_more() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let mut calls = Vec::new();
    for number in 0..100 {
        let reader = if number % 2 == 0 { &ada.client } else { &scout.client };
        calls.push(tokio::spawn(reader.get("/api/inbox?wait=50").into_future()));
    }
    eventually("all of them wait", || async { hub.inner().waiters().len() == 100 }).await;
    for reader in [&ada.client, &scout.client] {
        let refused = reader.get("/api/inbox?wait=50").await.problem(429, "rate_limited");
        assert!(refused.header("retry-after").is_some());
        reader.get("/api/inbox?wait=0").await.ok();
    }
    let of_bob = tokio::spawn(bob.get("/api/inbox?wait=50").into_future());
    eventually("another human waits", || async { hub.inner().waiters().len() == 101 }).await;
    hub.advance(Duration::from_secs(50));
    for call in calls.into_iter().chain([of_bob]) {
        answered(call).await;
    }
    assert!(hub.inner().waiters().is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_wait_ends_with_nothing_at_its_time() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let call = parked(&hub, &scout, "").await;
    hub.advance(Duration::from_secs(50));
    let page = answered(call).await.json();
    assert_eq!(page["items"], json!([]));
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    assert!(hub.inner().waiters().is_empty());
    // It goes on from where the last one ended.
    ada.dm("scout", "later").await;
    assert_eq!(items(scout.get(&format!("/api/inbox?wait=50&cursor={cursor}")).await.ok()).len(), 1);
    let nothing = scout.get("/api/inbox?wait=0&status=done").await.ok().json();
    assert!(nothing["next_cursor"].is_string());
    for wait in ["51", "-1", "x", "1.5"] {
        scout.get(&format!("/api/inbox?wait={wait}")).await.invalid(&["wait"]);
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_wait_goes_on_past_a_claim_that_ran_out_before_its_cursor() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.dm("scout", "old").await;
    let page = scout.get("/api/inbox?wait=0").await.ok().json();
    scout.claim(json!({"lease_seconds": 1})).await;
    hub.advance(Duration::from_secs(1));
    let call = parked(&hub, &scout, &format!("&cursor={}", page["next_cursor"].as_str().unwrap())).await;
    let new = ada.dm("scout", "new").await;
    assert_eq!(items(answered(call).await)[0]["id"], new["id"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_wait_ends_when_the_hub_stops() {
    let hub = TestHub::start().await;
    let scout = hub.human("ada").await.agent("scout").await;
    let call = parked(&hub, &scout, "").await;
    hub.finish().await;
    let page = answered(call).await.json();
    assert!(page["items"].as_array().unwrap().is_empty() && page["next_cursor"].is_string());
}

#[tokio::test]
async fn a_claim_lasts_as_long_as_was_asked_for() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let message = ada.dm("scout", "work").await;
    let claimed = scout.claim(json!({})).await;
    assert_eq!(claimed[0]["status"], "processing");
    assert_eq!(claimed[0]["lease_until"], "2027-01-15T08:10:00.000Z");
    // The lease is the claimer's business.
    let seen = ada.message(&message).await;
    assert_eq!((&seen["status"], &seen["lease_until"]), (&json!("processing"), &Value::Null));
    hub.advance(10 * MINUTE - Duration::from_millis(1));
    assert!(scout.claim(json!({})).await.is_empty());
    hub.advance(Duration::from_millis(1));
    assert_eq!(ada.message(&message).await["status"], "pending");
    // On PostgreSQL a claim passes over what the hub is just giving back.
    hub.settle().await;
    let again = scout.claim(json!({"lease_seconds": 86400})).await;
    assert_eq!(again[0]["lease_until"], "2027-01-16T08:10:00.000Z");

    // Extended, it lasts from now on; others are not claimed by that.
    ada.dm("scout", "more").await;
    let extended = scout.claim(json!({"extend": [message["id"], 999_999], "lease_seconds": 60})).await;
    assert_eq!(each(&extended, "lease_until"), ["2027-01-15T08:11:00.000Z"]);
    hub.advance(MINUTE);
    // Housekeeping gives it back, and it cannot be extended any more.
    hub.settle().await;
    assert!(scout.claim(json!({"extend": [message["id"]]})).await.is_empty());
    assert_eq!(scout.inbox().await.len(), 2);
    let processing = "select count(*) as n from messages where status = 'processing'";
    eventually("it is given back", || async { hub.count(processing).await == 0 }).await;
    hub.finish().await;
}

#[tokio::test]
async fn certain_messages_can_be_claimed() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let (one, two) = (ada.dm("scout", "one").await, ada.dm("scout", "two").await);
    let foreign = ada.dm("bob", "for bob").await;
    let said = ada.say("general", "for nobody").await;
    let ids = json!({"message_ids": [two["id"], two["id"], foreign["id"], said["id"], 999_999, -1]});
    assert_eq!(each(&scout.claim(ids.clone()).await, "id"), [two["id"].clone()]);
    assert!(scout.claim(ids).await.is_empty());
    assert_eq!(bob.inbox().await.len(), 1);
    assert_eq!(each(&scout.inbox().await, "id"), [one["id"].clone()]);
    for (request, field) in [
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 101}), "limit"),
        (json!({"limit": -1}), "limit"),
        (json!({"limit": "1"}), "limit"),
        (json!({"lease_seconds": 0}), "lease_seconds"),
        (json!({"lease_seconds": -1}), "lease_seconds"),
        (json!({"lease_seconds": 86401}), "lease_seconds"),
        (json!({"message_ids": []}), "message_ids"),
        (json!({"message_ids": vec![1; 101]}), "message_ids"),
        (json!({"message_ids": ["x"]}), "message_ids[0]"),
        (json!({"extend": []}), "extend"),
        (json!({"extend": [1], "message_ids": [1]}), "extend"),
        (json!({"agent": "scout"}), "agent"),
    ] {
        scout.post("/api/inbox/claim", &request).await.invalid(&[field]);
    }
    assert_eq!(scout.inbox().await.len(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_result_goes_to_who_asked() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let asked = bob.send(json!({"to": "scout", "body": "find it", "priority": 9})).await;
    scout.claim(json!({})).await;
    let done = scout.settle(&asked, "done", json!({"result": "found"})).await.ok().json();
    assert_eq!((&done["status"], &done["lease_until"]), (&json!("done"), &Value::Null));
    let reply = bob.inbox().await.pop().unwrap();
    assert_eq!(reply["id"], done["reply_id"]);
    for (field, value) in [
        ("body", json!("found")),
        ("reply_to", asked["id"].clone()),
        ("priority", json!(9)),
        ("metadata", json!({})),
        ("depth", json!(1)),
        ("conversation_id", asked["conversation_id"].clone()),
    ] {
        assert_eq!(reply[field], value, "{reply}");
    }
    assert_eq!(bob.message(&asked).await["reply_count"], 1);

    // Without a result nobody is told, and what was not claimed can be settled as well.
    let quiet = bob.dm("scout", "quietly").await;
    let done = scout.call("POST", &format!("/api/messages/{}/done", quiet["id"])).await.ok().json();
    assert_eq!((&done["status"], &done["reply_id"]), (&json!("done"), &Value::Null));
    let doomed = bob.dm("scout", "impossible").await;
    let failed = scout.settle(&doomed, "fail", json!({"error": "cannot"})).await.ok().json();
    assert_eq!(failed["status"], "failed");
    let told = bob.inbox().await.pop().unwrap();
    assert_eq!((&told["body"], &told["metadata"]), (&json!("cannot"), &json!({"failed": true})));
    assert_eq!(bob.inbox().await.len(), 2);
    // Nobody is there to hear it: that must not keep the work from being done.
    let last = bob.dm("scout", "last").await;
    hub.operator().call("users.disable", json!({"username": "bob"})).await;
    let done = scout.settle(&last, "done", json!({"result": "too late"})).await.ok().json();
    assert_eq!(done["reply_id"], Value::Null);
    hub.finish().await;
}

#[tokio::test]
async fn work_moves_only_where_it_may() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    let message = bob.dm("scout", "work").await;
    // Its owner and its author see it, strangers do not; only its recipient works on it.
    for how in ["done", "fail", "release"] {
        let request = if how == "fail" { json!({"error": "x"}) } else { json!({}) };
        for other in [&ada, &bob] {
            other.settle(&message, how, request.clone()).await.problem(403, "forbidden");
        }
        eve.settle(&message, how, request.clone()).await.problem(404, "not_found");
    }
    scout.settle(&message, "release", json!({})).await.problem(409, "illegal_transition");
    scout.claim(json!({})).await;
    let released = scout.settle(&message, "release", json!({})).await.ok().json();
    assert_eq!(released["status"], "pending");
    scout.settle(&message, "done", json!({"result": "once"})).await.ok();
    for how in ["done", "release"] {
        scout.settle(&message, how, json!({})).await.problem(409, "illegal_transition");
    }
    scout.settle(&message, "fail", json!({"error": "x"})).await.problem(409, "illegal_transition");
    assert!(scout.claim(json!({"message_ids": [message["id"]]})).await.is_empty());
    assert_eq!(bob.inbox().await.len(), 1);
    let other = bob.dm("scout", "other").await;
    for (how, request, field) in [
        ("done", json!({"result": ""}), "result"),
        ("done", json!({"result": "x".repeat(256 * 1024 + 1)}), "result"),
        ("done", json!({"status": "done"}), "status"),
        ("fail", json!({}), "error"),
        ("fail", json!({"error": " "}), "error"),
        ("fail", json!({"error": "x".repeat(16 * 1024 + 1)}), "error"),
    ] {
        scout.settle(&other, how, request).await.invalid(&[field]);
    }
    assert_eq!(scout.message(&other).await["status"], "pending");
    // A claim whose time has run out is none to give back.
    scout.claim(json!({"lease_seconds": 1})).await;
    hub.advance(Duration::from_secs(1));
    scout.settle(&other, "release", json!({})).await.problem(409, "illegal_transition");
    scout.settle(&other, "done", json!({})).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn of_many_who_settle_at_once_one_does() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    for _ in 0..3 {
        let message = bob.dm("scout", "work").await;
        let path = format!("/api/messages/{}", message["id"]);
        let calls = (0..8).map(|n| match n % 2 {
            0 => scout.post(&format!("{path}/done"), &json!({"result": "x"})),
            _ => scout.post(&format!("{path}/fail"), &json!({"error": "x"})),
        });
        let replies = together(calls).await;
        assert_eq!((how_many(&replies, 200), how_many(&replies, 409)), (1, 7), "{replies:?}");
    }
    assert_eq!(bob.inbox().await.len(), 3);
    hub.finish().await;
}

#[tokio::test]
async fn a_thousand_claims_take_each_message_once() {
    const CLAIMERS: usize = 25;
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let replies =
        together((0..100).map(|n| {
            ada.post("/api/messages", &json!({"to": "scout", "body": n.to_string(), "priority": n % 10 + 1}))
        }));
    assert_eq!(how_many(&replies.await, 201), 100);
    // Each on a connection of its own, one claim after the other.
    let claimers: Vec<_> = (0..CLAIMERS)
        .map(|_| {
            let scout = scout.client.clone();
            tokio::spawn(async move {
                let mut claimed = Vec::new();
                for _ in 0..1000 / CLAIMERS {
                    claimed.extend(scout.claim(json!({"limit": 1})).await);
                }
                claimed
            })
        })
        .collect();
    let mut claimed = Vec::new();
    for claimer in claimers {
        claimed.extend(each(&claimer.await.unwrap(), "id"));
    }
    let different: BTreeSet<_> = claimed.iter().map(|id| id.as_i64().unwrap()).collect();
    assert_eq!((claimed.len(), different.len()), (100, 100));
    assert!(scout.inbox().await.is_empty());
    hub.finish().await;
}
