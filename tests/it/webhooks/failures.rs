//! Receivers that refuse, are away, or come back.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Receiver, Scene, deliveries, register, scene, setup, webhook};
use crate::support::{MINUTE, TestHub, eventually, items};

const SECOND: Duration = Duration::from_secs(1);

/// Lets all tries of what waits happen.
pub(super) async fn run_out_of_tries(hub: &TestHub) {
    for pause in [Duration::ZERO, SECOND, 5 * SECOND, 30 * SECOND] {
        hub.advance(pause);
        hub.settle().await;
    }
}

#[tokio::test]
async fn a_delivery_is_tried_four_times_and_then_by_hand() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    receiver.answer(&[500, 302, 404, 503]);
    ada.dm("lookout", "hello").await;
    for (pause, tries) in [(0, 1), (1, 2), (5, 3), (30, 4)] {
        hub.advance(Duration::from_secs(pause));
        hub.settle().await;
        assert_eq!(receiver.count(), tries);
    }
    let dead = items(ada.get("/api/webhooks/dead-letters").await);
    let statuses: Vec<&Value> = dead[0]["attempts"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, [&json!(500), &json!(302), &json!(404), &json!(503)]);
    // What an address on a private network answers is not shown.
    assert_eq!(dead[0]["attempts"][0]["response_excerpt"], Value::Null);
    assert_eq!(webhook(&ada, id).await["status"], "failing");
    hub.advance(MINUTE);
    hub.settle().await;
    assert_eq!(receiver.count(), 4);
    let retry = format!("/api/webhooks/deliveries/{}/retry", dead[0]["id"]);
    ada.post(&retry, &json!({})).await.status(202);
    hub.settle().await;
    ada.post(&retry, &json!({})).await.problem(409, "not_dead");
    let received = receiver.all();
    assert!(received.iter().all(|one| one.header("webhook-id") == received[0].header("webhook-id")));
    assert_ne!(received[0].header("webhook-timestamp"), received[4].header("webhook-timestamp"));
    let shown = webhook(&ada, id).await;
    assert_eq!((&shown["status"], &shown["consecutive_failures"]), (&json!("active"), &json!(0)));
    hub.finish().await;
}

#[tokio::test]
async fn retry_after_is_honoured_up_to_a_minute() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    receiver.answer_later(429, 20);
    receiver.answer_later(503, 9999);
    ada.dm("lookout", "hello").await;
    for (pause, tries) in [(0, 1), (19, 1), (1, 2), (59, 2), (1, 3)] {
        hub.advance(Duration::from_secs(pause));
        hub.settle().await;
        assert_eq!(receiver.count(), tries);
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_not_called_again() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    receiver.answer(&[410]);
    ada.dm("lookout", "one").await;
    hub.settle().await;
    ada.dm("lookout", "two").await;
    hub.settle().await;
    assert_eq!(receiver.count(), 1);
    let shown = webhook(&ada, id).await;
    assert_eq!((&shown["status"], &shown["disabled_reason"]), (&json!("disabled"), &json!("gone")));
    let told = items(ada.get("/api/dm/system/messages").await);
    assert!(told[0]["body"].as_str().unwrap().contains("410"), "{told:?}");
    ada.post(&format!("/api/webhooks/{id}/enable"), &json!({})).await.ok();
    ada.dm("lookout", "three").await;
    hub.settle().await;
    assert_eq!(receiver.count(), 2);
    hub.finish().await;
}

#[tokio::test]
async fn a_test_is_sent_once_and_counts_nothing() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    ada.patch(&format!("/api/webhooks/{id}"), &json!({"status": "disabled"})).await.ok();
    receiver.answer(&[500]);
    let test = || ada.post(&format!("/api/webhooks/{id}/test"), &json!({}));
    test().await.status(202);
    hub.settle().await;
    hub.advance(MINUTE);
    hub.settle().await;
    assert_eq!((receiver.count(), &deliveries(&ada, id).await[0]["status"]), (1, &json!("dead")));
    test().await.status(202);
    hub.settle().await;
    assert_eq!(receiver.all()[1].body["type"], "webhook.ping");
    let shown = webhook(&ada, id).await;
    assert_eq!((&shown["status"], &shown["consecutive_failures"]), (&json!("disabled"), &json!(0)));
    hub.finish().await;
}

/// A receiver is down for ten minutes, at thirty events a minute, and nobody does anything about it.
#[tokio::test]
async fn nothing_vanishes_while_a_receiver_is_down() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    receiver.always_answer(503);
    for number in 0..300 {
        ada.dm("lookout", &format!("{number}")).await;
        hub.advance(2 * SECOND);
    }
    eventually("it is disabled", async || {
        hub.advance(5 * SECOND);
        webhook(&ada, id).await["disabled_reason"] == "failures"
    })
    .await;
    assert!(webhook(&ada, id).await["next_probe_at"].is_string());
    let told = items(ada.get("/api/dm/system/messages").await);
    assert!(told[0]["body"].as_str().unwrap().contains("was disabled: 50 deliveries failed"), "{told:?}");
    let before = receiver.count();
    receiver.always_answer(200);
    let arrived = || {
        let received = receiver.all().split_off(before);
        let bodies = received.iter().filter_map(|one| one.body["data"]["body"].as_str().map(str::to_owned));
        bodies.collect::<Vec<String>>()
    };
    // In small steps: a lease must not run out while a request is under way, however slow the machine is.
    eventually("everything has arrived", async || {
        hub.advance(2 * SECOND);
        arrived().len() >= 300
    })
    .await;
    let expected: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let arrived = arrived();
    let differs = arrived.iter().zip(&expected).position(|(one, other)| one != other);
    assert_eq!(
        (arrived.len(), differs),
        (300, None),
        "oldest first, each once: {:?}",
        differs.map(|at| &arrived[at..])
    );
    let recovered = webhook(&ada, id).await;
    assert_eq!((&recovered["status"], &recovered["next_probe_at"]), (&json!("active"), &Value::Null));
    hub.settle().await;
    hub.finish().await;
}

#[tokio::test]
async fn what_waits_for_three_days_is_dead() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    receiver.always_answer(500);
    for number in 0..50 {
        ada.dm("lookout", &format!("{number}")).await;
    }
    eventually("it is disabled", async || {
        hub.advance(5 * SECOND);
        webhook(&ada, id).await["status"] == "disabled"
    })
    .await;
    ada.dm("lookout", "held").await;
    assert_eq!(deliveries(&ada, id).await[0]["status"], "held");
    // While its agent is paused, the receiver is not asked.
    ada.post("/api/agents/lookout/pause", &json!({})).await.ok();
    let asked = receiver.count();
    for _ in 0..3 {
        hub.advance(6 * MINUTE);
        hub.settle().await;
    }
    assert_eq!(receiver.count(), asked);
    ada.post("/api/agents/lookout/resume", &json!({})).await.ok();
    hub.advance(6 * MINUTE);
    hub.settle().await;
    assert_eq!(receiver.count(), asked + 1);
    for _ in 0..74 {
        hub.advance(60 * MINUTE);
        hub.settle().await;
    }
    let last = &deliveries(&ada, id).await[0];
    assert_eq!((&last["status"], &last["reason"]), (&json!("dead"), &json!("expired")));
    assert_eq!(webhook(&ada, id).await["disabled_reason"], "unreachable");
    hub.finish().await;
}

#[tokio::test]
async fn what_is_deleted_is_not_sent() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    receiver.always_answer(500);
    ada.dm("lookout", "one").await;
    hub.settle().await;
    ada.delete(&format!("/api/webhooks/{id}")).await.status(204);
    register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    ada.dm("lookout", "two").await;
    hub.settle().await;
    ada.delete("/api/agents/lookout").await.status(204);
    run_out_of_tries(&hub).await;
    assert_eq!(receiver.count(), 2);
    hub.finish().await;
}

#[tokio::test]
async fn a_crash_loses_no_delivery() {
    let hub = setup().start().await;
    let ada = hub.human("ada").await;
    ada.agent("lookout").await;
    let receiver = Receiver::start().await;
    register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    let setup = hub.stop().await.without_workers();
    // A hub without its senders: what it commits has to be sent by the next one.
    let hub = setup.clone().configure(|config| config.allow_http_webhooks = false).start().await;
    let ada = hub.log_in("ada").await;
    for number in 0..5 {
        ada.dm("lookout", &format!("{number}")).await;
    }
    let setup = hub.crash().await;
    let hub = setup.configure(|config| config.allow_http_webhooks = true).start().await;
    eventually("all have arrived", async || {
        hub.advance(10 * SECOND);
        receiver.count() >= 5
    })
    .await;
    hub.settle().await;
    hub.finish().await;
}
