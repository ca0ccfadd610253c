//! Receivers and hubs share the work of sending: lanes, places and rates.

use std::time::Duration;

use super::{Receiver, Scene, UNDER_WAY, advance_while_sending, register, scene, setup};
use crate::support::{KEY, MINUTE, eventually, on_postgres};

const SECOND: Duration = Duration::from_secs(1);

/// Receivers of an agent, each with a webhook of its own.
async fn receivers_of(ada: &crate::support::Human, agent: &str, count: usize) -> Vec<Receiver> {
    let mut receivers = Vec::new();
    for _ in 0..count {
        let receiver = Receiver::start().await;
        register(ada, agent, &receiver.url, &["message.received"]).await;
        receivers.push(receiver);
    }
    receivers
}

fn total(receivers: &[Receiver]) -> usize {
    receivers.iter().map(Receiver::count).sum()
}

#[tokio::test]
async fn slow_receivers_leave_half_of_the_places_to_others() {
    let Scene { hub, ada, receiver: quick, .. } = scene().await;
    let (bob, eve) = (hub.human("bob").await, hub.human("eve").await);
    bob.agent("watcher").await;
    let mut slow = receivers_of(&ada, "lookout", 4).await;
    slow.extend(receivers_of(&bob, "watcher", 4).await);
    eve.agent("porter").await;
    register(&eve, "porter", &quick.url, &["message.received"]).await;
    slow.iter().for_each(|receiver| receiver.door.close());
    ada.dm("lookout", "one").await;
    bob.dm("watcher", "one").await;
    eventually("all are under way", async || total(&slow) == 8).await;
    // The hub learns that they are slow.
    hub.advance(3 * SECOND);
    slow.iter().for_each(|receiver| receiver.door.open());
    hub.settle().await;
    slow.iter().for_each(|receiver| receiver.door.close());
    ada.dm("lookout", "two").await;
    bob.dm("watcher", "two").await;
    eventually("some are under way", async || total(&slow) >= 8 + 4).await;
    for number in 1..=5 {
        eve.dm("porter", "hello").await;
        quick.has(number).await;
    }
    assert_eq!(total(&slow), 8 + 4);
    slow.iter().for_each(|receiver| receiver.door.open());
    hub.settle().await;
    assert_eq!(total(&slow), 8 + 8);
    hub.finish().await;
}

#[tokio::test]
async fn one_owner_leaves_half_of_the_places_to_others() {
    let Scene { hub, ada, receiver: quick, .. } = scene().await;
    let eve = hub.human("eve").await;
    ada.agent("second").await;
    let mut held = receivers_of(&ada, "lookout", 5).await;
    held.extend(receivers_of(&ada, "second", 5).await);
    eve.agent("porter").await;
    register(&eve, "porter", &quick.url, &["message.received"]).await;
    held.iter().for_each(|receiver| receiver.door.close());
    ada.dm("lookout", "hello").await;
    ada.dm("second", "hello").await;
    eventually("some are under way", async || total(&held) >= 4).await;
    for number in 1..=5 {
        eve.dm("porter", "hello").await;
        quick.has(number).await;
    }
    assert_eq!(total(&held), 4);
    held.iter().for_each(|receiver| receiver.door.open());
    hub.settle().await;
    assert_eq!(total(&held), 10);
    hub.finish().await;
}

#[tokio::test]
async fn three_hubs_send_each_delivery_once_and_keep_to_the_rate() {
    if !on_postgres() {
        return;
    }
    let one = setup().key(KEY).start().await;
    let (two, three) = (one.beside().start().await, one.beside().start().await);
    let ada = one.human("ada").await;
    for agent in ["lookout", "porter"] {
        ada.agent(agent).await;
    }
    let (watched, others) = (receivers_of(&ada, "lookout", 3).await, receivers_of(&ada, "porter", 9).await);
    let all = || watched.iter().chain(&others);
    all().for_each(|receiver| receiver.door.close());
    ada.dm("lookout", "first").await;
    ada.dm("porter", "first").await;
    // A hub has eight places, so more than one is at work.
    eventually("all are under way", async || total(&watched) + total(&others) == 12).await;
    // They go on longer than a lease, and none of the other hubs takes one over.
    advance_while_sending(&one, 70, 12).await;
    all().for_each(|receiver| receiver.door.open());
    one.settle().await;
    assert_eq!(total(&watched) + total(&others), 12);
    one.advance(MINUTE);

    all().for_each(|receiver| receiver.behave(|_| (200, Duration::from_millis(5))));
    let callers = [ada.clone(), two.log_in("ada").await, three.log_in("ada").await];
    for number in 0..30 {
        callers[number % 3].dm("lookout", &format!("{number}")).await;
    }
    eventually("sixty are sent", async || total(&watched) >= 3 + 60).await;
    for (pause, sent) in [(Duration::ZERO, 63), (59 * SECOND, 63), (SECOND, 93)] {
        // A lease must not run out because time jumps.
        eventually("nothing is under way", async || one.count(UNDER_WAY).await == 0).await;
        one.advance(pause);
        let before = total(&others);
        callers[0].dm("porter", "another agent is not held up").await;
        eventually("those of the other agent are sent", async || total(&others) == before + 9).await;
        if sent == 93 {
            eventually("the rest is sent", async || total(&watched) == sent).await;
        }
        assert_eq!(total(&watched), sent);
    }
    for hub in [&one, &two, &three] {
        hub.settle().await;
    }
    for receiver in all() {
        let received = receiver.all();
        let ids: std::collections::BTreeSet<&str> = received.iter().map(|one| one.header("webhook-id")).collect();
        assert_eq!(ids.len(), received.len(), "one was sent twice");
        assert_eq!(receiver.crossings(), (0, 1), "one webhook gets one request at a time");
    }
    let requests = total(&watched) + total(&others);
    let mut attempts = Vec::new();
    for hub in [&one, &two, &three] {
        attempts.push(hub.metric("stoa_webhook_attempts_total").await);
    }
    assert_eq!(attempts.iter().sum::<f64>(), requests as f64, "{attempts:?}");
    assert!(attempts.iter().filter(|count| **count > 0.0).count() > 1, "{attempts:?}");
    three.finish().await;
    two.finish().await;
    one.finish().await;
}
