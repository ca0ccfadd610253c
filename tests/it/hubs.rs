//! Several hubs on one PostgreSQL: nobody outside and no machine with a wrong clock can hold them up.

use serde_json::json;
use stoa::clock::Clock;
use stoa_db::ServerState;
use stoa_model::Secret;

use crate::cable::Cable;
use crate::cli_support::Place;
use crate::support::{Call, Human, KEY, TestDatabase, TestHub, off_the_runtime, on_postgres, together};

/// A session of somebody else on the server, who forgets to end what they began.
struct Outsider(Option<postgres::Client>);

impl Outsider {
    fn new(database: &TestDatabase, statements: &str) -> Self {
        Self(Some(off_the_runtime(|| {
            let mut client = database.connect();
            client.batch_execute(statements).unwrap();
            client
        })))
    }

    fn run(&mut self, statements: &str) {
        let client = self.0.as_mut().unwrap();
        off_the_runtime(|| client.batch_execute(statements).unwrap());
    }
}

impl Drop for Outsider {
    fn drop(&mut self) {
        let client = self.0.take();
        off_the_runtime(|| drop(client));
    }
}

/// Sends through both hubs by turns, and sees each message come out of both.
async fn messages_flow(here: &Human, there: &Human, words: &str) {
    let (mut stream_here, mut stream_there) = (here.events().await, there.events().await);
    for number in 0..6 {
        let sender = if number % 2 == 0 { here } else { there };
        let body = format!("{words} {number}");
        let sent = sender.post("/api/messages", &json!({"channel": "ops", "body": body})).await.status(201).json();
        for stream in [&mut stream_here, &mut stream_there] {
            assert_eq!(stream.until("new_message").await["message_id"], sent["id"]);
        }
    }
}

#[tokio::test]
async fn transactions_that_others_leave_open_hold_up_no_message() {
    if !on_postgres() {
        return;
    }
    let hub = TestHub::setup().key(KEY).start().await;
    let other = hub.beside().start().await;
    let here = hub.human("ada").await;
    let there = other.log_in("ada").await;
    here.post("/api/channels", &json!({"name": "ops"})).await.status(201);
    let database = hub.database();

    let everything_of_the_channel = "begin; select * from conversations for update; select * from channels for update;
        select * from channel_members for update; select * from principals for update; select * from users for update";
    let holder = Outsider::new(&database, everything_of_the_channel);
    messages_flow(&here, &there, "rows are held").await;
    drop(holder);

    let elsewhere = TestDatabase::create().unwrap();
    let open = Outsider::new(&elsewhere, "create table notes (id int); begin; insert into notes values (1)");
    messages_flow(&here, &there, "another database").await;
    drop(open);

    let mut forgetful = Outsider::new(&database, everything_of_the_channel);
    forgetful.run("update channels set topic = topic; prepare transaction 'forgotten'");
    messages_flow(&here, &there, "a prepared transaction").await;
    forgetful.run("rollback prepared 'forgotten'");
    drop(forgetful);

    other.finish().await;
    hub.finish().await;
}

#[tokio::test]
async fn a_table_that_somebody_locks_leaves_no_broken_connection() {
    if !on_postgres() {
        return;
    }
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    // A hub of the tests has two writers, and both have a statement to prepare for their first event.
    let holder = Outsider::new(&hub.database(), "begin; lock table outbox in access exclusive mode");
    let calls = (0..6).map(|number| ada.post("/api/channels", &json!({"name": format!("c{number}")})).may_fail());
    for reply in together(calls).await {
        reply.problem(503, "busy");
    }
    drop(holder);
    let calls = (0..6).map(|number| ada.post("/api/channels", &json!({"name": format!("c{number}")})));
    for reply in together(calls).await {
        reply.status(201);
    }
    hub.finish().await;
}

#[tokio::test]
async fn hubs_whose_clocks_differ_give_no_claim_twice() {
    if !on_postgres() {
        return;
    }
    const QUARTER_MS: i64 = 15 * 60_000;
    let hub = TestHub::setup().key(KEY).configure(|config| config.clock = Clock::skewed(-QUARTER_MS)).start().await;
    let ahead = hub.beside().configure(|config| config.clock = Clock::skewed(QUARTER_MS)).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let scout_there = ahead.nobody().bearer(&scout.key);
    for number in 0..5 {
        ada.post("/api/messages", &json!({"to": "scout", "body": number.to_string()})).await.status(201);
    }
    assert_eq!(scout.claim(json!({"limit": 100, "lease_seconds": 300})).await.len(), 5);
    // Half an hour later by its own clock, where all of them would be free again.
    let again = scout_there.post("/api/inbox/claim", &json!({"limit": 100})).await.ok();
    assert_eq!(again.json()["items"], json!([]), "a claim was given twice");
    for (hub, skew_ms) in [(&hub, -QUARTER_MS), (&ahead, QUARTER_MS)] {
        let ready = hub.nobody().get("/readyz").await.ok();
        let correction = ready.json()["details"]["clock_correction_ms"].as_i64().unwrap();
        assert!((correction + skew_ms).abs() < 60_000, "{ready:?}");
        assert!(ready.json()["details"]["warnings"][0].as_str().unwrap().contains("clock"), "{ready:?}");
    }
    ahead.finish().await;
    hub.finish().await;
}

#[tokio::test]
async fn while_the_database_is_frozen_every_call_is_answered() {
    if !on_postgres() {
        return;
    }
    let setup = TestHub::setup();
    let (cable, url) = Cable::to(&setup.database.as_ref().unwrap().url);
    let hub = setup.configure(|config| config.database_url = Some(Secret::new(url))).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    cable.freeze();
    let login = json!({"username": "ada", "password": "wrong"});
    let message = json!({"to": "scout", "body": "into the cold"});
    let tool = json!({"name": "send_message", "arguments": {"to": "ada", "body": "into the cold"}});
    let calls = [
        hub.nobody().get("/readyz"),
        hub.nobody().post("/auth/login", &login),
        ada.get("/auth/me"),
        ada.get("/api/channels"),
        ada.get("/api/events"),
        ada.post("/api/messages", &message),
        ada.post("/api/channels", &json!({"name": "cold"})),
        ada.post("/api/messages", &message).header("idempotency-key", "cold"),
        scout.get("/api/inbox?wait=50"),
        scout.mcp("tools/call", tool),
        hub.nobody().get("/oauth/authorize?client_id=none"),
    ];
    for reply in together(calls.map(Call::may_fail)).await {
        assert_eq!(reply.code(), 503, "{reply:?}");
    }
    let figures = hub.nobody().get("/metrics").await.ok();
    assert!(figures.text().contains("stoa_event_lag_seconds"), "{figures:?}");
    cable.thaw();
    let mut server = hub.inner().db().server();
    server.wait_for(|state| *state == ServerState::Answers).await.unwrap();
    ada.post("/api/messages", &json!({"to": "scout", "body": "thawed"})).await.status(201);
    assert_eq!(hub.nobody().get("/readyz").await.ok().json()["status"], "ready");
    hub.finish().await;
}

#[test]
fn a_hub_stops_when_a_newer_one_has_changed_the_tables() {
    if !on_postgres() {
        return;
    }
    let place = Place::new();
    let hub = place.start();
    place.tamper(
        "insert into schema_migrations (number, name, checksum, applied_at)
         select max(number) + 1, 'from_the_future', 'x', max(applied_at) from schema_migrations",
    );
    let outcome = hub.ended_by_itself();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("was written by a newer version"), "{outcome:?}");
    place.fails_to_start(&[]).fails(1, &["was written by a newer version"]);
}
