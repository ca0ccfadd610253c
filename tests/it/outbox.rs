//! The order of events, how long they are kept, and what a restore does to them.

use std::time::Duration;

use serde_json::json;
use stoa::events::outbox::{self, Position};
use stoa::events::{listener, prune};
use stoa_db::{Database, DbError, Options, params};

use crate::listeners::{happen, subjects};
use crate::support::{DAY, HOUR, MINUTE, Recorder, Setup, TestDatabase, TestHub, on_postgres};

const EVENTS: &str = "select count(*) as n from outbox";

/// A transaction of somebody else that has written something and is in no hurry to end.
struct OpenTransaction {
    end: std::sync::mpsc::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl OpenTransaction {
    fn begin(connect: impl FnOnce() -> postgres::Client + Send + 'static, write: &'static str) -> Self {
        let (end, ended) = std::sync::mpsc::channel();
        let (begun, is_begun) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut client = connect();
            client.batch_execute("begin").unwrap();
            client.batch_execute(write).unwrap();
            begun.send(()).unwrap();
            let _ = ended.recv();
            client.batch_execute("rollback").unwrap();
        });
        is_begun.recv().unwrap();
        Self { end, thread }
    }

    fn end(self) {
        drop(self.end);
        self.thread.join().unwrap();
    }
}

#[tokio::test]
async fn an_open_transaction_of_somebody_else_holds_up_no_event() {
    if !on_postgres() {
        return;
    }
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    let elsewhere = TestDatabase::create().unwrap();
    let (here, there) = (hub.database(), elsewhere.clone());
    let open = [
        OpenTransaction::begin(move || here.connect(), "insert into meta (name, value) values ('open', 'x')"),
        OpenTransaction::begin(move || there.connect(), "create table things (id bigint)"),
    ];
    for principal in 1..=3 {
        happen(&hub, principal, 1).await;
        hub.settle().await;
        assert_eq!(subjects(&recorder.seen()), (1..=principal).collect::<Vec<_>>());
    }
    open.into_iter().for_each(OpenTransaction::end);
    hub.finish().await;
}

#[tokio::test]
async fn events_are_kept_for_a_day() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    let before = hub.count(EVENTS).await;
    happen(&hub, 1, 5000).await;
    hub.settle().await;
    hub.advance(DAY - HOUR);
    happen(&hub, 2, 3).await;
    hub.settle().await;
    assert_eq!(hub.count(EVENTS).await, before + 5003);
    hub.advance(2 * HOUR);
    hub.settle().await;
    assert_eq!(hub.count(EVENTS).await, 3);
    let left = hub.inner().read(|tx| outbox::events_after(tx, Position::default(), 10)).await.unwrap();
    assert_eq!(subjects(&left.events), [2, 2, 2]);
    // The listener goes on as if nothing had been.
    happen(&hub, 3, 1).await;
    hub.settle().await;
    assert_eq!((recorder.seen().len(), recorder.rebuilds()), (5004, 1));
    hub.finish().await;
}

#[tokio::test]
async fn a_slow_listener_keeps_events_for_a_week_and_rebuilds_after_that() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().without_listeners().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    recorder.door.close();
    happen(&hub, 1, 1).await;
    recorder.has_seen(1).await;
    happen(&hub, 2, 1).await;
    let prune = async || hub.inner().write(prune::prune).await.unwrap();
    hub.advance(6 * DAY);
    prune().await;
    // The first admin's own event is behind the cursor and may go.
    assert_eq!(hub.count(EVENTS).await, 2);
    hub.advance(DAY + Duration::from_millis(1));
    while prune().await > 0 {}
    assert_eq!(hub.count(EVENTS).await, 0);
    assert_eq!(recorder.rebuilds(), 1);
    let behind = hub.inner().read(listener::backlog).await.unwrap();
    assert_eq!(behind, [("recorder".to_owned(), 1)], "what it has to rebuild is work that is left");
    recorder.door.open();
    hub.settle().await;
    assert_eq!((recorder.rebuilds(), subjects(&recorder.seen())), (2, vec![1]));
    happen(&hub, 3, 1).await;
    hub.settle().await;
    assert_eq!(subjects(&recorder.seen()), [1, 3]);
    hub.finish().await;
}

#[tokio::test]
async fn an_empty_outbox_is_no_reason_to_rebuild() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    for round in 1..=3 {
        happen(&hub, round, 1).await;
        hub.settle().await;
        hub.advance(2 * DAY);
        hub.settle().await;
        assert_eq!(hub.count(EVENTS).await, 0);
    }
    let hub = hub.restart().await;
    happen(&hub, 4, 1).await;
    hub.settle().await;
    assert_eq!((recorder.rebuilds(), subjects(&recorder.seen())), (1, vec![1, 2, 3, 4]));
    hub.finish().await;
}

/// Works on the data of a hub that does not run, as a restore does.
async fn offline<T: Send + 'static>(
    setup: &Setup,
    work: impl Fn(&mut stoa_db::Tx<'_>) -> Result<T, DbError> + Send + 'static,
) -> T {
    let options = Options {
        postgres_url: setup.database.as_ref().map(|database| database.url.clone()),
        environment: std::sync::Arc::new(setup.clock.clone()),
        ..Options::new(&setup.config.data)
    };
    let open = move || Database::open(options, stoa_schema::MIGRATIONS).unwrap();
    let db = tokio::task::spawn_blocking(open).await.unwrap();
    let outcome = db.write(work).await.unwrap();
    db.close().await;
    outcome
}

#[tokio::test]
async fn a_new_history_keeps_order_and_cursors() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    for principal in 1..=3 {
        happen(&hub, principal, 2).await;
    }
    hub.settle().await;
    recorder.door.close();
    happen(&hub, 4, 1).await;
    recorder.has_seen(7).await;
    happen(&hub, 5, 2).await;
    let setup = hub.crash().await;
    let (before, after) = offline(&setup, |tx| {
        // Holes in the numbers, as pruning leaves them.
        tx.execute("delete from outbox where seq = 2", &[])?;
        let before = (outbox::events_after(tx, Position::default(), 100)?, outbox::history_epoch(tx)?);
        outbox::begin_new_history(tx)?;
        let after = (outbox::events_after(tx, Position::default(), 100)?, outbox::history_epoch(tx)?);
        Ok((before, after))
    })
    .await;
    assert_eq!(subjects(&after.0.events), subjects(&before.0.events));
    assert_ne!(after.1, before.1, "ids from before belong to another history");
    let places: Vec<_> = after.0.events.iter().map(|event| event.position).collect();
    let expected: Vec<_> = (1..=places.len() as i64).map(|seq| Position { xid: 0, seq }).collect();
    assert_eq!(places, expected);

    recorder.door.open();
    let hub = setup.start().await;
    hub.advance(MINUTE);
    happen(&hub, 6, 1).await;
    hub.settle().await;
    // It had not finished 4 when it was taken away, and had seen all before that.
    assert_eq!(subjects(&recorder.seen()), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
    assert_eq!(recorder.rebuilds(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn who_had_to_rebuild_before_a_new_history_has_to_after_it() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    recorder.door.close();
    happen(&hub, 1, 1).await;
    recorder.has_seen(1).await;
    happen(&hub, 2, 1).await;
    hub.advance(8 * DAY);
    while hub.inner().write(prune::prune).await.unwrap() > 0 {}
    happen(&hub, 3, 1).await;
    let setup = hub.crash().await;
    offline(&setup, outbox::begin_new_history).await;
    recorder.door.open();
    let hub = setup.start().await;
    hub.advance(MINUTE);
    hub.settle().await;
    assert_eq!(recorder.rebuilds(), 2, "2 was pruned before it was seen");
    hub.finish().await;
}

#[tokio::test]
async fn a_cursor_from_nowhere_is_dropped_with_its_listener() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().without_listeners().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    let set: Result<u64, DbError> = hub
        .inner()
        .write(|tx| tx.execute("insert into listener_cursors (name, xid, seq) values ($1, 0, 0)", params!["vanished"]))
        .await;
    set.unwrap();
    let before = hub.count(EVENTS).await;
    happen(&hub, 1, 1).await;
    recorder.has_seen(1).await;
    hub.advance(2 * DAY);
    hub.inner().write(prune::prune).await.unwrap();
    assert_eq!(hub.count(EVENTS).await, before + 1, "a cursor that stands still keeps everything");
    let hub = hub.stop().await.start().await;
    hub.inner().write(prune::prune).await.unwrap();
    assert_eq!(hub.count(EVENTS).await, 0);
    hub.finish().await;
}

/// Stores what a newer version may have written, and a row that is damaged.
async fn store_unreadable(hub: &TestHub) {
    let stored = hub.inner().write(|tx| {
        for (kind, payload) in [("goal_reached", r#"{"kind":"goal_reached","goal":1}"#), ("read_moved", "{")] {
            tx.execute("insert into outbox (at, kind, payload) values (0, $1, $2)", params![kind, payload])?;
        }
        // Only SQLite lets bytes that are no text into a column of texts.
        if !on_postgres() {
            tx.execute("insert into outbox (at, kind, payload) values (0, 'read_moved', cast(x'ff' as text))", &[])?;
        }
        tx.signal_change();
        Ok::<_, DbError>(())
    });
    stored.await.unwrap();
}

#[tokio::test]
async fn events_that_cannot_be_read_are_skipped_and_counted() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    let ada = hub.human("ada").await;
    let mut stream = ada.events().await;
    let start = stream.last_id.clone();
    hub.settle().await;
    recorder.forget();
    happen(&hub, 1, 1).await;
    store_unreadable(&hub).await;
    happen(&hub, 2, 1).await;
    // At the end of the log, where only the cursor shows that they were read.
    store_unreadable(&hub).await;
    hub.settle().await;
    assert_eq!(subjects(&recorder.seen()), [1, 2]);
    // The index is past them, too: otherwise pruning would leave it behind, and it would be made again.
    let (index, end) = hub
        .inner()
        .read(|tx| {
            let position = |row: &stoa_db::Row<'_>| Ok(Position { xid: row.get("xid")?, seq: row.get("seq")? });
            Ok::<_, DbError>((tx.query_one("select xid, seq from search_state", &[], position)?, outbox::end(tx)?))
        })
        .await
        .unwrap();
    assert_eq!(index, end);
    // Streams continue, live and from before, and so does search.
    let message =
        ada.post("/api/messages", &json!({"channel": "general", "body": "still here"})).await.status(201).json();
    assert_eq!(stream.until("new_message").await["message_id"], message["id"]);
    let mut again = ada.events_after(&start).await;
    assert_eq!(again.until("new_message").await["message_id"], message["id"]);
    hub.settle().await;
    assert_eq!(ada.get("/api/messages/search?q=still").await.status(200).json()["total"], 1);
    let text = hub.nobody().get("/metrics").await.text();
    let skipped = if on_postgres() { 4 } else { 6 };
    assert!(text.contains(&format!("stoa_events_skipped_total {skipped}")), "{text}");
    hub.finish().await;
}
