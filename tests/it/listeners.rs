//! Listeners follow what happens: all of it, in order, and again rather than not at all.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use stoa::access::Actor;
use stoa::error::HubError;
use stoa::events::{Event, PrincipalEvent, StoredEvent, emit};
use stoa_model::PrincipalId;

use crate::support::{KEY, Mood, Recorder, TestHub, on_postgres, together};

/// Lets things happen: `count` events about the principal of that number.
pub(crate) async fn happen(hub: &TestHub, principal: i64, count: usize) {
    let inner = hub.inner().clone();
    let emitted = hub.inner().write(move |tx| {
        for _ in 0..count {
            emit(&inner, tx, &Actor::system(), PrincipalEvent::Updated { principal: PrincipalId(principal) })?;
        }
        Ok::<_, HubError>(())
    });
    emitted.await.unwrap();
}

/// Which principals the events are about.
pub(crate) fn subjects(events: &[StoredEvent]) -> Vec<i64> {
    let subject = |stored: &StoredEvent| match stored.event {
        Event::Principal(
            PrincipalEvent::Created { principal, .. }
            | PrincipalEvent::Updated { principal }
            | PrincipalEvent::Deleted { principal },
        ) => Some(principal.0),
        _ => None,
    };
    events.iter().filter_map(subject).collect()
}

fn assert_in_order(events: &[StoredEvent]) {
    assert!(events.windows(2).all(|pair| pair[0].position < pair[1].position), "{events:#?}");
}

#[tokio::test]
async fn a_listener_sees_everything_once_and_in_order() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    // It begins with what there is, by its own means.
    assert_eq!(recorder.rebuilds(), 1);
    let ada = hub.human("ada").await;
    together((0..20).map(|n| ada.post("/api/agents", &json!({"name": format!("agent{n}")})))).await;
    hub.settle().await;
    let seen = recorder.seen();
    assert_eq!(seen.len(), 21);
    assert_in_order(&seen);
    assert_eq!(recorder.rebuilds(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_listener_is_woken_by_what_happens() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    // Its only timer is the hub's clock, which stands still.
    for count in 1..=5 {
        happen(&hub, 7, 1).await;
        recorder.has_seen(count).await;
    }
    hub.settle().await;
    assert_eq!(recorder.calls.load(Ordering::SeqCst), 5);
    hub.finish().await;
}

#[tokio::test]
async fn much_comes_in_batches() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    happen(&hub, 7, 1234).await;
    hub.settle().await;
    assert_eq!(recorder.seen().len(), 1234);
    assert_in_order(&recorder.seen());
    assert_eq!(recorder.largest_batch.load(Ordering::SeqCst), 500);
    hub.finish().await;
}

#[tokio::test]
async fn several_listeners_do_not_wait_for_each_other() {
    let (slow, quick) = (Recorder::new("slow"), Recorder::new("quick"));
    let hub = TestHub::setup().listener(slow.clone()).listener(quick.clone()).start().await;
    hub.settle().await;
    slow.forget();
    quick.forget();
    slow.door.close();
    happen(&hub, 1, 1).await;
    slow.has_seen(1).await;
    happen(&hub, 2, 1).await;
    happen(&hub, 3, 1).await;
    quick.has_seen(3).await;
    assert_eq!(slow.seen().len(), 1);
    slow.door.open();
    hub.settle().await;
    assert_eq!(subjects(&slow.seen()), [1, 2, 3]);
    assert_eq!(subjects(&quick.seen()), [1, 2, 3]);
    hub.finish().await;
}

#[tokio::test]
async fn a_listener_that_fails_or_panics_is_given_the_same_again() {
    for mood in [Mood::Fail, Mood::Panic] {
        let recorder = Recorder::new("recorder");
        let hub = TestHub::setup().listener(recorder.clone()).start().await;
        hub.settle().await;
        recorder.forget();
        recorder.expect(&[mood]);
        happen(&hub, 1, 1).await;
        hub.settle().await;
        happen(&hub, 2, 1).await;
        hub.settle().await;
        assert_eq!(subjects(&recorder.seen()), [1, 2], "{mood:?}");
        assert_eq!(recorder.calls.load(Ordering::SeqCst), 3, "{mood:?}");
        hub.finish().await;
    }
}

#[tokio::test]
async fn after_a_crash_a_listener_sees_again_what_it_had_not_finished() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    happen(&hub, 1, 1).await;
    hub.settle().await;
    recorder.door.close();
    happen(&hub, 2, 1).await;
    recorder.has_seen(2).await;
    happen(&hub, 3, 1).await;
    let setup = hub.crash().await;
    recorder.door.open();
    let hub = setup.start().await;
    if on_postgres() {
        // The lease of the dead hub has to run out; it could be another one that still lives.
        hub.advance(Duration::from_secs(30));
    }
    hub.settle().await;
    assert_eq!(subjects(&recorder.seen()), [1, 2, 2, 3]);
    assert_eq!(recorder.rebuilds(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_listener_goes_on_after_a_restart() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    happen(&hub, 1, 2).await;
    hub.settle().await;
    let hub = hub.restart().await;
    happen(&hub, 2, 1).await;
    hub.settle().await;
    assert_eq!(subjects(&recorder.seen()), [1, 1, 2]);
    assert_eq!(recorder.rebuilds(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_stop_does_not_wait_for_all_that_a_listener_has_still_to_see() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    recorder.door.close();
    happen(&hub, 1, 1).await;
    recorder.has_seen(1).await;
    happen(&hub, 2, 1000).await;
    let inner = hub.inner().clone();
    let stopped = tokio::spawn(hub.stop());
    inner.stopping().await;
    drop(inner);
    recorder.door.open();
    let setup = stopped.await.unwrap();
    assert_eq!(recorder.seen().len(), 1);
    let hub = setup.start().await;
    hub.settle().await;
    assert_eq!(recorder.seen().len(), 1001);
    hub.finish().await;
}

#[tokio::test]
async fn the_cursor_of_a_listener_that_is_no_more_is_dropped() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().without_listeners().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    assert_eq!(hub.count("select count(*) as n from listener_cursors").await, 1);
    let hub = hub.stop().await.without_listeners().start().await;
    assert_eq!(hub.count("select count(*) as n from listener_cursors").await, 0);
    happen(&hub, 1, 1).await;
    // When it comes back it begins anew.
    let hub = hub.stop().await.listener(recorder.clone()).start().await;
    hub.settle().await;
    assert_eq!((recorder.rebuilds(), recorder.seen().len()), (2, 0));
    hub.finish().await;
}

#[tokio::test]
async fn among_two_hubs_one_runs_a_listener_and_the_other_takes_over() {
    if !on_postgres() {
        return;
    }
    let recorder = Recorder::new("recorder");
    let one = TestHub::setup().key(KEY).listener(recorder.clone()).start().await;
    one.settle().await;
    recorder.forget();
    let two = one.beside().start().await;
    for n in 0..10 {
        happen(if n % 2 == 0 { &one } else { &two }, n, 3).await;
    }
    one.settle().await;
    let seen = recorder.seen();
    assert_eq!(seen.len(), 30);
    assert_in_order(&seen);

    // A hub that stops lets go of it; one that dies keeps it until its lease ends.
    one.stop().await;
    happen(&two, 10, 1).await;
    two.settle().await;
    assert_eq!(recorder.seen().len(), 31);
    let three = two.beside().start().await;
    two.crash().await;
    happen(&three, 11, 1).await;
    assert_eq!(recorder.seen().len(), 31);
    three.advance(Duration::from_secs(30));
    three.settle().await;
    assert_eq!(subjects(&recorder.seen())[30..], [10, 11]);
    three.finish().await;
}

#[tokio::test]
async fn what_a_stopping_hub_left_is_taken_over_at_once() {
    if !on_postgres() {
        return;
    }
    let recorder = Recorder::new("recorder");
    let one = TestHub::setup().key(KEY).listener(recorder.clone()).start().await;
    one.settle().await;
    recorder.forget();
    let two = one.beside().start().await;
    recorder.door.close();
    happen(&one, 1, 1).await;
    recorder.has_seen(1).await;
    happen(&one, 2, 1).await;
    let inner = one.inner().clone();
    let stopped = tokio::spawn(one.stop());
    inner.stopping().await;
    drop(inner);
    recorder.door.open();
    stopped.await.unwrap();
    // No clock moves and nothing else happens.
    recorder.has_seen(2).await;
    two.settle().await;
    assert_eq!(subjects(&recorder.seen()), [1, 2]);
    two.finish().await;
}

#[tokio::test]
async fn administrators_see_how_far_each_listener_is() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().without_listeners().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    let admin = hub.admin().await;
    recorder.door.close();
    happen(&hub, 1, 3).await;
    recorder.has_seen(1).await;
    let system = admin.get("/api/admin/system").await.ok().json();
    assert_eq!(system["listeners"], json!([{"name": "recorder", "behind": 3}]));
    recorder.door.open();
    hub.settle().await;
    let system = admin.get("/api/admin/system").await.ok().json();
    assert_eq!(system["listeners"], json!([{"name": "recorder", "behind": 0}]));
    hub.finish().await;
}
