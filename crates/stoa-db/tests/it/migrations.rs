//! Migrations run once, in order, and wholly; a database that this program does not understand is
//! not touched.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Barrier};

use stoa_db::{Database, DbError, Engine, Environment, Migration, OpenError, table_order};

use crate::support::{Place, off_the_runtime, runs_on};

/// The same text for both engines; these tests need nothing that differs.
const fn step(number: i64, name: &'static str, sql: &'static str) -> Migration {
    Migration { number, name, sqlite: sql, postgres: sql }
}

// The second and third fail unless the one before was applied, and each fails when applied twice.
const FIRST: Migration = step(1, "create", "create table steps (number bigint not null, word text)");
const SECOND: Migration = step(2, "fill", "insert into steps (number) values (1); create table twos (id bigint)");
const THIRD: Migration =
    step(3, "rename", "alter table steps rename column number to place; insert into steps (place) values (2)");
const ALL: &[Migration] = &[FIRST, SECOND, THIRD];
const FIRST_TWO: &[Migration] = &[FIRST, SECOND];

async fn schema_version(db: &Database) -> i64 {
    db.info().await.unwrap().schema_version
}

async fn shut(db: Database) {
    db.close().await;
}

async fn table_names(db: &Database) -> Vec<String> {
    let tables = db.read(table_order).await.unwrap();
    tables.into_iter().map(|table| table.name).collect()
}

/// What opening said, for tests in which it must not work.
fn refusal(place: &Place, migrations: &'static [Migration]) -> OpenError {
    match place.open(migrations) {
        Ok(_) => panic!("it should not have opened"),
        Err(error) => error,
    }
}

struct Clock(AtomicI64);

impl Environment for Clock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn seed(&self) -> Result<[u8; 32], String> {
        Ok([0; 32])
    }
}

#[tokio::test]
async fn migrations_run_once_and_in_order() {
    let place = Place::new();
    let clock = Arc::new(Clock(AtomicI64::new(1_000)));
    for opening in 0..3 {
        clock.0.store(1_000 + opening, Ordering::SeqCst);
        let mut options = place.options();
        options.environment = clock.clone();
        let db = Database::open(options, ALL).unwrap();
        assert_eq!(schema_version(&db).await, 3);
        let history: Vec<(i64, String, i64)> = db
            .read(|tx| {
                tx.query("select number, name, applied_at from schema_migrations order by number", &[], |row| {
                    Ok((row.get("number")?, row.get("name")?, row.get("applied_at")?))
                })
            })
            .await
            .unwrap();
        let expected =
            [(1, "create"), (2, "fill"), (3, "rename")].map(|(number, name)| (number, name.to_owned(), 1_000));
        assert_eq!(history, expected);
        shut(db).await;
    }
    assert_eq!(place.peek("select count(*) from steps"), 2);
}

#[tokio::test]
async fn a_database_without_migrations_opens() {
    let place = Place::new();
    let db = place.open(&[]).unwrap();
    assert_eq!(schema_version(&db).await, 0);
    assert!(table_names(&db).await.is_empty());
    shut(db).await;
}

#[tokio::test]
async fn a_later_program_adds_what_is_new() {
    let place = Place::new();
    shut(place.open(FIRST_TWO).unwrap()).await;
    let db = place.open(ALL).unwrap();
    assert_eq!(schema_version(&db).await, 3);
    shut(db).await;
    assert_eq!(place.peek("select count(*) from steps"), 2);
}

#[tokio::test]
async fn migrate_to_stops_early_and_goes_on_later() {
    let place = Place::new();
    for (limit, expected) in [(Some(1), 1), (Some(1), 1), (Some(2), 2), (None, 3)] {
        let mut options = place.options();
        options.migrate_to = limit;
        let db = Database::open(options, ALL).unwrap();
        assert_eq!(schema_version(&db).await, expected);
        shut(db).await;
    }
}

#[tokio::test]
async fn an_edited_migration_is_refused() {
    const EDITED: &[Migration] =
        &[FIRST, step(2, "fill", "insert into steps (number) values (7); create table twos (id bigint)"), THIRD];
    let place = Place::new();
    shut(place.open(FIRST_TWO).unwrap()).await;
    let error = refusal(&place, EDITED);
    assert!(matches!(error, OpenError::Edited { number: 2, .. }), "{error:?}");
    assert!(error.to_string().contains("0002"), "{error}");
    assert_eq!(place.peek("select count(*) from schema_migrations"), 2, "nothing may be applied on top");
    // The refusal did no harm.
    shut(place.open(ALL).unwrap()).await;
}

#[tokio::test]
async fn a_migration_that_is_missing_from_the_program_is_refused() {
    const WITHOUT_SECOND: &[Migration] = &[FIRST, THIRD];
    let place = Place::new();
    shut(place.open(ALL).unwrap()).await;
    let error = refusal(&place, WITHOUT_SECOND);
    assert!(matches!(error, OpenError::Edited { number: 2, .. }), "{error:?}");
}

#[tokio::test]
async fn a_migration_that_was_slipped_in_below_applied_ones_is_refused() {
    const SKIPPED: &[Migration] = &[FIRST, step(3, "rename", "create table threes (id bigint)")];
    const SLIPPED_IN: &[Migration] = &[SKIPPED[0], SECOND, SKIPPED[1]];
    let place = Place::new();
    shut(place.open(SKIPPED).unwrap()).await;
    // Left out in silence, it would be missed for ever.
    let error = refusal(&place, SLIPPED_IN);
    assert!(matches!(error, OpenError::Edited { number: 2, .. }), "{error:?}");
    shut(place.open(SKIPPED).unwrap()).await;
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let place = Place::new();
    shut(place.open(ALL).unwrap()).await;
    let error = refusal(&place, FIRST_TWO);
    assert!(matches!(error, OpenError::Newer { found: 3, known: 2 }), "{error:?}");
    let error = refusal(&place, &[]);
    assert!(matches!(error, OpenError::Newer { found: 3, known: 0 }), "{error:?}");
    shut(place.open(ALL).unwrap()).await;
}

#[tokio::test]
async fn a_failing_migration_leaves_no_half() {
    const HALF: &[Migration] = &[
        FIRST,
        step(
            2,
            "half",
            "create table halves (id bigint); insert into steps (number) values (1);
             insert into steps (no_such_column) values (1)",
        ),
        THIRD,
    ];
    const ONLY_FIRST: &[Migration] = &[FIRST];
    let place = Place::new();
    for _ in 0..2 {
        let error = refusal(&place, HALF);
        let OpenError::Migration { number: 2, name: "half", reason } = &error else { panic!("{error:?}") };
        assert!(reason.contains("no_such_column"), "{reason}");
    }
    let db = place.open(ONLY_FIRST).unwrap();
    assert_eq!(schema_version(&db).await, 1, "what came before it stays");
    assert_eq!(table_names(&db).await, ["steps"]);
    shut(db).await;
    assert_eq!(place.peek("select count(*) from steps"), 0);
    // With the mistake mended it goes on from there.
    shut(place.open(ALL).unwrap()).await;
    assert_eq!(place.peek("select count(*) from steps"), 2);
}

#[test]
fn hubs_that_start_together_on_postgres_migrate_once() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    const HUBS: usize = 6;
    let place = Place::new();
    let folders: Vec<_> = (0..HUBS).map(|_| tempfile::tempdir().unwrap()).collect();
    let barrier = Barrier::new(HUBS);
    let hubs: Vec<Database> = std::thread::scope(|scope| {
        let start = |folder: &tempfile::TempDir| {
            let mut options = place.options_in(folder.path());
            (options.postgres_writers, options.readers) = (1, 1);
            barrier.wait();
            Database::open(options, ALL)
        };
        let starting: Vec<_> = folders.iter().map(|folder| scope.spawn(move || start(folder))).collect();
        starting.into_iter().map(|hub| hub.join().unwrap().unwrap()).collect()
    });
    assert_eq!(place.peek("select count(*) from schema_migrations"), 3);
    assert_eq!(place.peek("select count(*) from steps"), 2);
    drop(hubs);
}

#[test]
fn a_hub_that_dies_while_migrating_postgres_does_not_lock_out_the_next() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let place = Place::new();
    // Holds the table that the migration wants to alter, so that the first hub waits inside of it.
    shut_blocking(place.open(FIRST_TWO).unwrap());
    let url = place.url().unwrap().to_owned();
    off_the_runtime(|| {
        let mut holder = ::postgres::Client::connect(&url, ::postgres::NoTls).unwrap();
        let mut transaction = holder.transaction().unwrap();
        transaction.batch_execute("lock table steps in access exclusive mode").unwrap();
        std::thread::scope(|scope| {
            let stuck = scope.spawn(|| place.open(ALL).err());
            // Wait until it is stuck, then end its connection as a crash would.
            let mut killed = false;
            while !killed {
                killed = !transaction
                    .query(
                        "select pg_terminate_backend(pid, 60000) from pg_locks
                         where not granted and relation = 'steps'::regclass",
                        &[],
                    )
                    .unwrap()
                    .is_empty();
            }
            let error = stuck.join().unwrap().expect("its connection is gone");
            assert!(matches!(error, OpenError::Migration { number: 3, .. }), "{error:?}");
        });
    });
    shut_blocking(place.open(ALL).unwrap());
    assert_eq!(place.peek("select count(*) from schema_migrations"), 3);
}

fn shut_blocking(db: Database) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(db.close());
}

#[tokio::test]
async fn what_a_migration_made_is_there_for_commands() {
    let place = Place::new();
    let db = place.open(ALL).unwrap();
    let count = db.write(|tx| tx.execute("insert into twos (id) values (1)", &[])).await;
    assert!(matches!(count, Ok::<u64, DbError>(1)), "{count:?}");
}
