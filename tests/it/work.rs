//! Work is done by whoever holds the lease: once if all goes well, and never not at all.

use std::collections::BTreeSet;
use std::time::Duration;

use stoa::events::{NewItem, Settlement, work};
use stoa_db::DbError;

use crate::support::{KEY, LEASE, Labourer, MINUTE, Mood, QUEUE, TestHub, eventually, on_postgres};

async fn enqueue(hub: &TestHub, subject: &str, due_in: Duration) {
    let due = hub.now_ms() + i64::try_from(due_in.as_millis()).unwrap();
    let subject = subject.to_owned();
    hub.inner().write(move |tx| work::enqueue(tx, QUEUE, &subject, due)).await.unwrap();
}

fn tries(expected: &[(&str, i64)]) -> Vec<(String, i64)> {
    expected.iter().map(|(subject, attempt)| ((*subject).to_owned(), *attempt)).collect()
}

const LEFT: &str = "select count(*) as n from work where queue = 'labour'";

#[tokio::test]
async fn work_is_done_when_it_is_due() {
    let labourer = Labourer::new(1);
    let hub = TestHub::setup().worker(labourer.clone()).start().await;
    enqueue(&hub, "later", MINUTE).await;
    enqueue(&hub, "now", Duration::ZERO).await;
    // A second wish for the same thing is the same wish.
    enqueue(&hub, "later", Duration::ZERO).await;
    hub.settle().await;
    assert_eq!(labourer.tries(), tries(&[("now", 1)]));
    hub.advance(MINUTE);
    hub.settle().await;
    assert_eq!(labourer.tries(), tries(&[("now", 1), ("later", 1)]));
    assert_eq!(hub.count(LEFT).await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn work_comes_again_as_its_worker_wishes() {
    let labourer = Labourer::new(1);
    let hub = TestHub::setup().worker(labourer.clone()).start().await;
    let at = |minutes: i64| hub.now_ms() + minutes * 60_000;
    labourer.settle_with(&[Settlement::RetryAt(at(1)), Settlement::RepeatAt(at(2)), Settlement::Done]);
    enqueue(&hub, "a", Duration::ZERO).await;
    let mut seen = vec![("a", 1)];
    // A retry counts on; a repetition begins anew.
    for (attempt, done) in [(2, false), (1, true)] {
        hub.settle().await;
        assert_eq!(labourer.tries(), tries(&seen));
        hub.advance(MINUTE);
        seen.push(("a", attempt));
        if done {
            hub.settle().await;
        }
    }
    assert_eq!(labourer.tries(), tries(&seen));
    assert_eq!(hub.count(LEFT).await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn a_worker_that_panics_is_asked_again() {
    let labourer = Labourer::new(1);
    let hub = TestHub::setup().worker(labourer.clone()).start().await;
    labourer.expect(&[Mood::Panic, Mood::Panic]);
    enqueue(&hub, "a", Duration::ZERO).await;
    for attempt in 1..=3 {
        hub.settle().await;
        assert_eq!(labourer.tries().len(), attempt);
        hub.advance(Duration::from_secs(5));
    }
    hub.settle().await;
    assert_eq!(labourer.tries(), tries(&[("a", 1), ("a", 2), ("a", 3)]));
    assert_eq!(hub.count(LEFT).await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn a_worker_does_as_much_at_once_as_it_can() {
    let labourer = Labourer::new(3);
    let hub = TestHub::setup().worker(labourer.clone()).start().await;
    labourer.door.close();
    for n in 0..7 {
        enqueue(&hub, &format!("{n}"), Duration::ZERO).await;
    }
    labourer.has_begun(3).await;
    let leased = "select count(*) as n from work where lease_owner is not null and queue = 'labour'";
    assert_eq!(hub.count(leased).await, 3);
    labourer.door.open();
    hub.settle().await;
    let subjects: BTreeSet<_> = labourer.tries().into_iter().map(|(subject, _)| subject).collect();
    assert_eq!((subjects.len(), labourer.tries().len()), (7, 7));
    hub.finish().await;
}

#[tokio::test]
async fn a_stop_finishes_the_work_under_way() {
    let labourer = Labourer::new(1);
    let hub = TestHub::setup().worker(labourer.clone()).start().await;
    labourer.door.close();
    enqueue(&hub, "first", Duration::ZERO).await;
    labourer.has_begun(1).await;
    enqueue(&hub, "second", Duration::ZERO).await;
    let inner = hub.inner().clone();
    let stopped = tokio::spawn(hub.stop());
    inner.stopping().await;
    drop(inner);
    labourer.door.open();
    let setup = stopped.await.unwrap();
    assert_eq!(labourer.tries(), tries(&[("first", 1)]));
    let hub = setup.start().await;
    hub.settle().await;
    assert_eq!(labourer.tries(), tries(&[("first", 1), ("second", 1)]));
    hub.finish().await;
}

#[tokio::test]
async fn the_work_of_a_crashed_hub_is_done_by_the_next_one() {
    let labourer = Labourer::new(1);
    let hub = TestHub::setup().worker(labourer.clone()).start().await;
    labourer.door.close();
    enqueue(&hub, "a", Duration::ZERO).await;
    labourer.has_begun(1).await;
    let setup = hub.crash().await;
    labourer.door.open();
    let hub = setup.start().await;
    if on_postgres() {
        // It could be another hub's: only time tells.
        hub.advance(LEASE - Duration::from_millis(1));
        assert_eq!(hub.count(LEFT).await, 1);
        assert_eq!(labourer.tries().len(), 1);
        hub.advance(Duration::from_millis(1));
    }
    hub.settle().await;
    assert_eq!(labourer.tries(), tries(&[("a", 1), ("a", 2)]));
    hub.finish().await;
}

#[tokio::test]
async fn a_long_piece_of_work_is_kept_by_its_hub() {
    let labourer = Labourer::new(1);
    let hub = TestHub::setup().key(KEY).worker(labourer.clone()).start().await;
    let other = if on_postgres() { Some(hub.beside().start().await) } else { None };
    labourer.door.close();
    enqueue(&hub, "long", Duration::ZERO).await;
    labourer.has_begun(1).await;
    // Small steps: a heartbeat may be late by one.
    for _ in 0..30 {
        hub.advance(LEASE / 6);
        let wanted = hub.now_ms() + i64::try_from(LEASE.as_millis() / 2).unwrap();
        eventually("the lease is extended", || async {
            let until: Result<i64, DbError> = hub
                .inner()
                .read(|tx| {
                    tx.query_one("select lease_until from work where queue = 'labour'", &[], |row| {
                        row.get("lease_until")
                    })
                })
                .await;
            until.unwrap() >= wanted
        })
        .await;
    }
    labourer.door.open();
    hub.settle().await;
    assert_eq!(labourer.tries(), tries(&[("long", 1)]));
    if let Some(other) = other {
        other.finish().await;
    }
    hub.finish().await;
}

#[tokio::test]
async fn work_that_was_lost_to_another_is_settled_by_the_other() {
    if !on_postgres() {
        return;
    }
    // Each hub has its own worker, so that one can be slow.
    let (slow, quick) = (Labourer::new(1), Labourer::new(1));
    let one = TestHub::setup().key(KEY).worker(slow.clone()).start().await;
    slow.door.close();
    enqueue(&one, "a", Duration::ZERO).await;
    slow.has_begun(1).await;
    // As if its heartbeat had not come through.
    let expire: Result<u64, DbError> =
        one.inner().write(|tx| tx.execute("update work set lease_until = 0 where queue = 'labour'", &[])).await;
    expire.unwrap();
    quick.settle_with(&[Settlement::RetryAt(one.now_ms() + 1000)]);
    let two = one.beside().without_workers().worker(quick.clone()).start().await;
    quick.has_begun(1).await;
    eventually("the second hub has settled it", || async {
        one.count("select count(*) as n from work where queue = 'labour' and lease_owner is null").await == 1
    })
    .await;
    // The first one is done at last; its word counts for nothing now.
    slow.door.open();
    one.settle().await;
    assert_eq!(one.count(LEFT).await, 1);
    assert_eq!(quick.tries(), tries(&[("a", 2)]));
    one.stop().await;
    two.advance(Duration::from_secs(1));
    two.settle().await;
    assert_eq!(quick.tries(), tries(&[("a", 2), ("a", 3)]));
    two.finish().await;
}

#[tokio::test]
async fn two_hubs_share_the_work_and_do_each_piece_once() {
    if !on_postgres() {
        return;
    }
    let labourer = Labourer::new(4);
    let one = TestHub::setup().key(KEY).worker(labourer.clone()).start().await;
    let two = one.beside().start().await;
    for n in 0..60 {
        enqueue(if n % 2 == 0 { &one } else { &two }, &format!("{n}"), Duration::ZERO).await;
    }
    one.settle().await;
    let done = labourer.tries();
    let subjects: BTreeSet<_> = done.iter().map(|(subject, _)| subject.clone()).collect();
    assert_eq!((subjects.len(), done.len()), (60, 60), "{done:?}");
    assert!(done.iter().all(|(_, attempt)| *attempt == 1));
    two.finish().await;
    one.finish().await;
}

#[tokio::test]
async fn housekeeping_comes_again_and_again() {
    let hub = TestHub::start().await;
    let chores = "select count(*) as n from work where queue = 'housekeeping'";
    let count = hub.count(chores).await;
    assert!(count >= 3);
    for _ in 0..3 {
        hub.advance(2 * 60 * MINUTE);
        hub.settle().await;
        assert_eq!(hub.count(chores).await, count);
    }
    let hub = hub.restart().await;
    assert_eq!(hub.count(chores).await, count);
    hub.finish().await;
}

/// Puts items in a lane, in one transaction.
async fn enqueue_in_lane(hub: &TestHub, lane: &'static str, count: usize) {
    let enqueued = hub.inner().write(move |tx| {
        for number in 0..count {
            let subject = format!("{lane}{number}");
            let item = NewItem { queue: QUEUE, subject: &subject, due_at_ms: tx.now_ms(), lane, meters: &[] };
            work::enqueue_in_lane(tx, item)?;
        }
        Ok::<_, DbError>(())
    });
    enqueued.await.unwrap();
}

#[tokio::test]
async fn many_items_of_one_lane_delay_none_of_another() {
    let labourer = Labourer::in_lanes(2, 1);
    let hub = TestHub::setup().worker(labourer.clone()).start().await;
    labourer.door.close();
    enqueue_in_lane(&hub, "a", 2000).await;
    labourer.has_begun(1).await;
    enqueue_in_lane(&hub, "b", 1).await;
    labourer.has_begun(2).await;
    let begun: BTreeSet<_> = labourer.tries().into_iter().map(|(subject, _)| subject).collect();
    assert_eq!(begun, ["a0", "b0"].map(str::to_owned).into());
    // What is cancelled is not done.
    let cancelled = hub.inner().write(|tx| work::cancel_lane(tx, QUEUE, "a"));
    cancelled.await.unwrap();
    labourer.door.open();
    hub.settle().await;
    assert_eq!((labourer.tries().len(), hub.count(LEFT).await), (2, 0));
    hub.finish().await;
}

#[tokio::test]
async fn lanes_take_turns() {
    let labourer = Labourer::in_lanes(1, 1);
    let hub = TestHub::setup().worker(labourer.clone()).start().await;
    labourer.door.close();
    enqueue_in_lane(&hub, "a", 3).await;
    labourer.has_begun(1).await;
    enqueue_in_lane(&hub, "b", 3).await;
    labourer.door.open();
    hub.settle().await;
    let begun: Vec<String> = labourer.tries().into_iter().map(|(subject, _)| subject).collect();
    assert_eq!(begun, ["a0", "b0", "a1", "b1", "a2", "b2"]);
    hub.finish().await;
}
