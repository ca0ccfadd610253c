//! PostgreSQL connections that are lost: while idle, in the middle of a command, at the commit, and
//! all of them at once.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stoa_db::{Database, DbError, Engine, OpenError, Options, ServerState, Tx};

use crate::cable::Cable;
use crate::support::{
    NOTES, Notes, Place, bodies, bodies_in, gate, insert, insert_in, off_the_runtime, one_writer, runs_on, submit,
    value_in,
};

/// Ends connections of the hub on the server, and returns how many there were when they are gone.
fn terminate(place: &Place, which: &str) -> usize {
    let url = place.url().unwrap();
    off_the_runtime(|| {
        let mut client = ::postgres::Client::connect(url, ::postgres::NoTls).unwrap();
        let sql = format!(
            "select pg_terminate_backend(pid, 60000) from pg_stat_activity
             where datname = current_database() and application_name = 'stoa' and {which}"
        );
        client.query(&sql, &[]).unwrap().len()
    })
}

/// Waits until the hub listens for changes on a connection that is alive.
async fn listening(notes: &Notes) {
    let mut changes = notes.changes();
    let listeners = "select count(*) as value from pg_stat_activity
        where datname = current_database() and application_name = 'stoa' and query like 'listen %'";
    // The hub ticks when it listens, so a tick that comes after a look is worth another look.
    while notes.read(move |tx| value_in::<i64>(tx, listeners)).await.unwrap() == 0 {
        changes.changed().await.unwrap();
    }
}

fn backend(tx: &mut stoa_db::Tx<'_>) -> Result<i64, DbError> {
    value_in(tx, "select pg_backend_pid() as value")
}

#[tokio::test]
async fn connections_that_die_while_idle_are_replaced() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open_with(|options| {
        one_writer(options);
        options.readers = 1;
    });
    for round in 0..3 {
        notes.write(insert(format!("before {round}"))).await.unwrap();
        notes.bodies().await;
        listening(&notes).await;
        // The writer's, the reader's and the listener's.
        assert!(terminate(&notes.place, "true") >= 3);
        notes.write(insert(format!("after {round}"))).await.unwrap();
        assert_eq!(notes.bodies().await.len(), 2 * (round + 1));
        assert!(terminate(&notes.place, "true") >= 2);
        notes.vacuum().await.unwrap();
        notes.info().await.unwrap();
    }
}

#[tokio::test]
async fn a_command_whose_connection_dies_is_repeated() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open_with(one_writer);
    let (mut gate, doorway) = gate();
    let attempts = Arc::new(AtomicUsize::new(0));
    let command = {
        let attempts = attempts.clone();
        notes.write(move |tx| {
            insert_in(tx, "first half")?;
            if attempts.fetch_add(1, Ordering::SeqCst) == 0 {
                doorway.pass();
            }
            insert_in(tx, "second half")
        })
    };
    let command = submit(command).await;
    gate.reached().await;
    assert_eq!(terminate(&notes.place, "state = 'idle in transaction'"), 1);
    gate.open();
    command.answer().await.unwrap();
    assert_eq!(attempts.load(Ordering::SeqCst), 2);
    assert_eq!(notes.bodies().await, ["first half", "second half"]);
    notes.write(insert("next")).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_dies_before_the_commit_is_told_to_the_caller() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open_with(one_writer);
    let (mut gate, doorway) = gate();
    let effects = Arc::new(AtomicUsize::new(0));
    let command = {
        let effects = effects.clone();
        notes.write(move |tx| {
            let effects = effects.clone();
            tx.after_commit(move || _ = effects.fetch_add(1, Ordering::SeqCst));
            insert_in(tx, "lost")?;
            doorway.pass();
            Ok::<_, DbError>(())
        })
    };
    let command = submit(command).await;
    gate.reached().await;
    assert_eq!(terminate(&notes.place, "state = 'idle in transaction'"), 1);
    gate.open();
    let outcome = command.answer().await;
    // Nobody can know here whether the commit arrived, so it is not repeated.
    assert!(matches!(outcome, Err(DbError::Unavailable(_))), "{outcome:?}");
    assert_eq!(effects.load(Ordering::SeqCst), 0);
    notes.write(insert("next")).await.unwrap();
    assert_eq!(notes.bodies().await, ["next"]);
}

#[tokio::test]
async fn a_refusal_or_a_panic_on_a_dead_connection_stays_what_it_is() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open_with(one_writer);
    for panics in [false, true] {
        let (mut gate, doorway) = gate();
        let command = submit(notes.write(move |tx| {
            insert_in(tx, "x")?;
            doorway.pass();
            assert!(!panics, "on a dead connection (this is part of a test)");
            Err::<(), _>(DbError::NoRow)
        }))
        .await;
        gate.reached().await;
        assert_eq!(terminate(&notes.place, "state = 'idle in transaction'"), 1);
        gate.open();
        let outcome = command.answer().await;
        assert!(matches!(outcome, Err(DbError::NoRow | DbError::Panicked)), "{outcome:?}");
        assert!(notes.bodies().await.is_empty());
        let (first, second) = (notes.write(backend).await.unwrap(), notes.write(backend).await.unwrap());
        assert_eq!(first, second, "one new connection is enough");
    }
}

#[tokio::test]
async fn a_read_whose_connection_dies_fails_and_the_next_one_works() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open_with(|options| options.readers = 1);
    let (mut gate, doorway) = gate();
    let read = submit(notes.read(move |tx| {
        bodies_in(tx)?;
        doorway.pass();
        bodies_in(tx)
    }))
    .await;
    gate.reached().await;
    assert_eq!(terminate(&notes.place, "state = 'idle in transaction'"), 1);
    gate.open();
    let outcome = read.answer().await;
    assert!(matches!(outcome, Err(DbError::Unavailable(_))), "{outcome:?}");
    assert!(notes.bodies().await.is_empty());
}

#[tokio::test]
async fn a_canceled_statement_leaves_a_clean_connection() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open_with(one_writer);
    for _ in 0..3 {
        let outcome = notes
            .write(|tx| {
                insert_in(tx, "x")?;
                tx.execute_batch("set local statement_timeout = 1; select pg_sleep(600)")
            })
            .await;
        assert!(matches!(outcome, Err(DbError::Unavailable(_))), "{outcome:?}");
        let isolation: String =
            notes.write(|tx| value_in(tx, "select current_setting('transaction_isolation') as value")).await.unwrap();
        assert_eq!(isolation, "serializable");
    }
    assert!(notes.bodies().await.is_empty());
}

#[tokio::test]
async fn a_listener_that_lost_its_connection_listens_again() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let hub = place.open(NOTES).unwrap();
    let other = Database::open(place.options_in(folder.path()), NOTES).unwrap();
    for round in 0..2 {
        let mut changes = other.changes();
        changes.wait_for(|ticks| *ticks > 0).await.unwrap();
        terminate(&place, "query like 'listen %'");
        let body = format!("round {round}");
        let announced = body.clone();
        hub.write(move |tx| {
            tx.signal_change();
            insert_in(tx, &announced)
        })
        .await
        .unwrap();
        // Heard, or found in the look that follows a new connection: a tick comes after the row.
        while !bodies(&other).await.contains(&body) {
            changes.changed().await.unwrap();
        }
    }
}

/// A place whose server is reached through a cable.
fn wired() -> (Cable, Options, Place) {
    let place = Place::new();
    let (cable, url) = Cable::to(place.url().unwrap());
    let mut options = place.options();
    options.postgres_url = Some(url);
    one_writer(&mut options);
    options.readers = 1;
    (cable, options, place)
}

#[tokio::test]
async fn a_server_that_is_gone_is_unavailable_until_it_comes_back() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let (cable, options, _place) = wired();
    let db = Database::open(options, NOTES).unwrap();
    db.write(insert("before")).await.unwrap();
    bodies(&db).await;
    cable.cut();
    let (write, read) = tokio::join!(db.write(insert("during")), db.read(bodies_in));
    assert!(matches!(&write, Err(error @ DbError::Unavailable(_)) if error.is_unavailable()), "{write:?}");
    assert!(matches!(read, Err(DbError::Unavailable(_))), "{read:?}");
    cable.mend();
    db.write(insert("after")).await.unwrap();
    assert_eq!(bodies(&db).await, ["after", "before"]);
    db.close().await;
}

#[tokio::test]
async fn a_server_that_says_nothing_is_unavailable_until_it_speaks() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let (cable, options, _place) = wired();
    let db = Database::open(options, NOTES).unwrap();
    db.write(insert("before")).await.unwrap();
    bodies(&db).await;
    let (mut gate, doorway) = gate();
    let asked_before = submit(db.write(move |tx| {
        insert_in(tx, "half done")?;
        doorway.pass();
        insert_in(tx, "and stuck")
    }))
    .await;
    gate.reached().await;
    cable.freeze();
    gate.open();
    let mut answers = Vec::new();
    for number in 0..5 {
        answers.push(submit(db.write(insert(format!("during {number}")))).await);
        answers.push(submit(db.write_together(insert(format!("together {number}")))).await);
        let count = |tx: &mut Tx<'_>| value_in::<i64>(tx, "select count(*) as value from notes");
        answers.push(submit(db.read(count)).await);
        answers.push(submit(db.read_urgent(count)).await);
    }
    answers.push(asked_before);
    for answer in answers {
        let answer = answer.answer().await;
        assert!(matches!(answer, Err(DbError::Unavailable(_))), "{answer:?}");
    }
    assert_eq!(*db.server().borrow(), ServerState::Silent);
    cable.thaw();
    db.server().wait_for(|state| *state == ServerState::Answers).await.unwrap();
    db.write(insert("after")).await.unwrap();
    let found = bodies(&db).await;
    // What was sent to the server is done when it goes on, or not at all.
    assert!(!found.contains(&"half done".to_owned()), "{found:?}");
    assert!(found.contains(&"before".to_owned()) && found.contains(&"after".to_owned()), "{found:?}");
    db.close().await;
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_not_repeated() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let (cable, options, place) = wired();
    let db = Database::open(options, NOTES).unwrap();
    db.write(insert("before")).await.unwrap();
    cable.lose_commit_answer();
    let attempts = Arc::new(AtomicUsize::new(0));
    let outcome = {
        let attempts = attempts.clone();
        db.write(move |tx| {
            attempts.fetch_add(1, Ordering::SeqCst);
            insert_in(tx, "in doubt")
        })
        .await
    };
    assert!(matches!(outcome, Err(DbError::Unavailable(_))), "{outcome:?}");
    assert_eq!(attempts.load(Ordering::SeqCst), 1);
    // The server had committed when it hung up; a second run would have stored it again or failed.
    assert_eq!(place.peek("select count(*) from notes where body = 'in doubt'"), 1);
    db.write(insert("after")).await.unwrap();
    db.close().await;
}

#[test]
fn a_server_that_is_not_there_is_refused_without_telling_the_password() {
    let folder = tempfile::tempdir().unwrap();
    // Bound and let go of: nobody listens there.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for url in [
        format!("postgres://stoa:hunter2@{address}/stoa"),
        format!("postgres://stoa:hunter2@{address}:x/stoa"),
        "postgres://stoa:hunter2@[/stoa".to_owned(),
        "host=/nowhere user=stoa password=hunter2".to_owned(),
        "password=hunter2 nonsense".to_owned(),
    ] {
        let mut options = Options::new(folder.path());
        options.postgres_url = Some(url.clone());
        let error = Database::open(options, NOTES).err().unwrap();
        assert!(matches!(error, OpenError::Postgres(_)), "{url}: {error:?}");
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(!text.contains("hunter2"), "{text}");
        }
    }
    let mut options = Options::new(folder.path());
    options.postgres_url = Some(format!("postgres://stoa:hunter2@{address}/stoa"));
    let error = Database::open(options, NOTES).err().unwrap().to_string();
    assert!(error.contains("onnection refused"), "an operator should see what is wrong: {error}");
}

#[test]
fn a_postgres_database_that_is_missing_is_named() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let place = Place::new();
    let (server, _) = place.url().unwrap().rsplit_once('/').unwrap();
    let mut options = place.options();
    options.postgres_url = Some(format!("{server}/no_such_database"));
    let error = Database::open(options, NOTES).err().unwrap();
    assert!(matches!(&error, OpenError::Postgres(reason) if reason.contains("no_such_database")), "{error:?}");
}
