//! What the hub learns of PostgreSQL while it works: its time, and that a newer program has changed the tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use stoa_db::{Database, DbError, Engine, Environment, ServerState, SystemEnvironment};

use crate::cable::Cable;
use crate::support::{NOTES, Notes, Place, insert, off_the_runtime, runs_on};

/// The system's clock on a machine where it is wrong.
struct Skewed {
    wrong_by_ms: i64,
    correction_ms: AtomicI64,
}

impl Environment for Skewed {
    fn now_ms(&self) -> i64 {
        SystemEnvironment.now_ms() + self.wrong_by_ms + self.correction_ms.load(Ordering::SeqCst)
    }

    fn seed(&self) -> Result<[u8; 32], String> {
        SystemEnvironment.seed()
    }

    fn correct(&self, by_ms: i64) -> i64 {
        self.correction_ms.fetch_add(by_ms, Ordering::SeqCst) + by_ms
    }
}

#[tokio::test]
async fn commands_of_all_hubs_have_the_time_of_the_server() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    const MINUTE_MS: i64 = 60_000;
    let place = Place::new();
    let mut times = Vec::new();
    for wrong_by_ms in [-15 * MINUTE_MS, 0, 15 * MINUTE_MS] {
        let folder = tempfile::tempdir().unwrap();
        let mut options = place.options_in(folder.path());
        let clock = Arc::new(Skewed { wrong_by_ms, correction_ms: AtomicI64::new(0) });
        options.environment = clock.clone();
        let hub = Database::open(options, NOTES).unwrap();
        times.push(hub.write(|tx| Ok::<_, DbError>(tx.now_ms())).await.unwrap());
        hub.close().await;
    }
    let spread = times.iter().max().unwrap() - times.iter().min().unwrap();
    assert!(spread < MINUTE_MS, "{times:?}");
}

#[tokio::test]
async fn a_newer_schema_ends_the_work() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open();
    notes.write(insert("before")).await.unwrap();
    let url = notes.place.url().unwrap();
    off_the_runtime(|| {
        let mut client = ::postgres::Client::connect(url, ::postgres::NoTls).unwrap();
        let columns = "insert into schema_migrations select number + 6 as number, name, checksum, applied_at from schema_migrations";
        client.batch_execute(columns).unwrap();
    });
    let newer = ServerState::Newer { found: 7, known: 1 };
    notes.server().wait_for(|state| *state == newer).await.unwrap();
    let (write, read) = tokio::join!(notes.write(insert("after")), notes.read(crate::support::bodies_in));
    assert!(matches!(write, Err(DbError::Unavailable(_))), "{write:?}");
    assert!(matches!(read, Err(DbError::Unavailable(_))), "{read:?}");
}

#[tokio::test]
async fn a_frozen_server_is_not_waited_for_at_the_start() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let place = Place::new();
    let (cable, url) = Cable::to(place.url().unwrap());
    cable.freeze();
    let mut options = place.options();
    options.postgres_url = Some(url);
    let Err(error) = Database::open(options, NOTES) else { panic!("it opened") };
    assert!(error.to_string().contains("does not answer"), "{error}");
    cable.thaw();
    place.open(NOTES).unwrap().close().await;
}
