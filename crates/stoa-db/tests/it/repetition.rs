//! A command may run more than once, and the outcome is as if it had run alone and once.

use std::sync::atomic::{AtomicI64, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use stoa_db::{DbError, Engine, Environment, Tx, params};

use crate::support::{Notes, insert_in, one_writer, runs_on, submit, value_in, while_writer_is_held};

/// No two moments of it are the same.
#[derive(Default)]
struct Restless {
    now_ms: AtomicI64,
    seed: AtomicU8,
}

impl Environment for Restless {
    fn now_ms(&self) -> i64 {
        self.now_ms.fetch_add(1, Ordering::SeqCst)
    }

    fn seed(&self) -> Result<[u8; 32], String> {
        Ok([self.seed.fetch_add(1, Ordering::SeqCst); 32])
    }
}

/// Fails as PostgreSQL does when a transaction lost a race.
fn lose_a_race(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.execute_batch("do $$ begin raise exception 'lost' using errcode = 'serialization_failure'; end $$")
}

type Moments = Arc<Mutex<Vec<(i64, [u8; 16], [u8; 3])>>>;

fn note_moment(tx: &mut Tx<'_>, moments: &Moments) {
    let moment = (tx.now_ms(), tx.random_bytes(), tx.random_bytes());
    moments.lock().unwrap().push(moment);
}

#[tokio::test]
async fn time_stands_still_in_a_command_and_moves_between_them() {
    let notes = Notes::open_with(|options| {
        options.environment = Arc::new(Restless::default());
        one_writer(options);
    });
    let moments = Moments::default();
    for _ in 0..3 {
        let moments = moments.clone();
        notes
            .write(move |tx| {
                note_moment(tx, &moments);
                assert_eq!(tx.now_ms(), tx.now_ms());
                let (first, second): ([u8; 16], [u8; 16]) = (tx.random_bytes(), tx.random_bytes());
                assert_ne!(first, second);
                Ok::<_, DbError>(())
            })
            .await
            .unwrap();
    }
    let moments = moments.lock().unwrap();
    assert!(moments[0].0 < moments[1].0 && moments[1].0 < moments[2].0, "{moments:?}");
    assert!(moments[0].1 != moments[1].1 && moments[1].1 != moments[2].1, "{moments:?}");
}

#[tokio::test]
async fn a_repetition_on_postgres_has_the_same_time_and_randomness() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open_with(|options| options.environment = Arc::new(Restless::default()));
    let (moments, effects) = (Moments::default(), Arc::new(AtomicUsize::new(0)));
    let command = {
        let (moments, effects) = (moments.clone(), effects.clone());
        notes.write(move |tx| {
            note_moment(tx, &moments);
            let effects = effects.clone();
            tx.after_commit(move || _ = effects.fetch_add(1, Ordering::SeqCst));
            insert_in(tx, "x")?;
            // Once the error is passed on, then hidden behind another, then ignored.
            match moments.lock().unwrap().len() {
                1 => lose_a_race(tx)?,
                2 => return lose_a_race(tx).map_err(|_| DbError::NoRow).map(|()| 0),
                3 => drop(lose_a_race(tx)),
                _ => (),
            }
            Ok(moments.lock().unwrap().len())
        })
    };
    assert_eq!(command.await.unwrap(), 4);
    let moments = moments.lock().unwrap().clone();
    assert_eq!(moments.len(), 4);
    assert!(moments.iter().all(|moment| *moment == moments[0]), "{moments:?}");
    assert_eq!(effects.load(Ordering::SeqCst), 1, "the effects of lost races are forgotten");
    assert_eq!(notes.bodies().await, ["x"]);
    assert_eq!(notes.commits(), [(1, 0)]);
}

#[tokio::test]
async fn a_repetition_on_sqlite_has_the_same_time_and_randomness() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open_with(|options| options.environment = Arc::new(Restless::default()));
    notes
        .write(|tx| {
            tx.execute_batch(
                "create table late (parent integer references notes (id) deferrable initially deferred) strict",
            )
        })
        .await
        .unwrap();
    // The commit of the batch fails because of the last command, so each is tried again by itself.
    let moments = Moments::default();
    let (first, orphan) = while_writer_is_held(&notes, async || {
        let moments = moments.clone();
        let first = submit(notes.write(move |tx| {
            note_moment(tx, &moments);
            insert_in(tx, "x")
        }))
        .await;
        let orphan = submit(notes.write(|tx| tx.execute("insert into late (parent) values (9)", &[]))).await;
        (first, orphan)
    })
    .await;
    first.answer().await.unwrap();
    assert!(orphan.answer().await.is_err());
    let moments = moments.lock().unwrap().clone();
    assert_eq!(moments.len(), 2);
    assert_eq!(moments[0], moments[1]);
    assert_eq!(notes.bodies().await, ["x"]);
}

#[tokio::test]
async fn a_command_that_always_loses_on_postgres_is_given_up() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = Notes::open_with(one_writer);
    let attempts = Arc::new(AtomicUsize::new(0));
    let outcome = {
        let attempts = attempts.clone();
        notes
            .write(move |tx| {
                attempts.fetch_add(1, Ordering::SeqCst);
                insert_in(tx, "x")?;
                lose_a_race(tx)
            })
            .await
    };
    assert!(matches!(&outcome, Err(error @ DbError::Conflict(_)) if error.is_unavailable()), "{outcome:?}");
    assert!(attempts.load(Ordering::SeqCst) > 3);
    assert!(notes.bodies().await.is_empty());
}

/// Takes 100 from `name` if what both have together allows it.
fn withdraw(tx: &mut Tx<'_>, name: &str, looked: impl FnOnce()) -> Result<bool, DbError> {
    let together: i64 = value_in(tx, "select cast(sum(value) as bigint) as value from counters")?;
    looked();
    if together < 100 {
        return Ok(false);
    }
    tx.execute("update counters set value = value - 100 where name = $1", params![name])?;
    Ok(true)
}

#[tokio::test]
async fn write_skew_is_repeated_away() {
    let notes = Notes::open_with(|options| options.postgres_writers = 2);
    for round in 0..5 {
        notes
            .write(|tx| {
                tx.execute("delete from counters", &[])?;
                tx.execute("insert into counters (name, value) values ('a', 70), ('b', 70)", &[])
            })
            .await
            .unwrap();
        // On PostgreSQL both have looked before either writes, so one of them must lose.
        let both_have_looked = Arc::new(Barrier::new(if runs_on(Engine::Postgres) { 2 } else { 1 }));
        let attempts = Arc::new(AtomicUsize::new(0));
        let command = |name: &'static str| {
            let (barrier, attempts, mine) = (both_have_looked.clone(), attempts.clone(), AtomicUsize::new(0));
            notes.write(move |tx| {
                attempts.fetch_add(1, Ordering::SeqCst);
                let is_first_attempt = mine.fetch_add(1, Ordering::SeqCst) == 0;
                withdraw(tx, name, || {
                    if is_first_attempt {
                        barrier.wait();
                    }
                })
            })
        };
        let (a, b) = tokio::join!(command("a"), command("b"));
        assert_eq!(usize::from(a.unwrap()) + usize::from(b.unwrap()), 1, "only one of them could afford it");
        let left = notes.read(|tx| value_in::<i64>(tx, "select cast(sum(value) as bigint) as value from counters"));
        assert_eq!(left.await.unwrap(), 40);
        let expected = if runs_on(Engine::Postgres) { 3.. } else { 2.. };
        assert!(expected.contains(&attempts.load(Ordering::SeqCst)), "round {round}: {attempts:?}");
    }
}

#[tokio::test]
async fn increments_of_one_counter_are_all_counted() {
    const CLIENTS: i64 = 16;
    const EACH: i64 = 15;
    let notes = Notes::open();
    notes.write(|tx| tx.execute("insert into counters (name, value) values ('hits', 0)", &[])).await.unwrap();
    let db = stoa_db::Database::clone(&notes);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let db = db.clone();
            tokio::spawn(async move {
                for _ in 0..EACH {
                    // Read and then written, so that a lost update would show.
                    db.write(|tx| {
                        let value: i64 = value_in(tx, "select value from counters where name = 'hits'")?;
                        tx.execute("update counters set value = $1 where name = 'hits'", params![value + 1])
                    })
                    .await
                    .unwrap();
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(notes.place.peek("select value from counters"), CLIENTS * EACH);
}

#[tokio::test]
async fn of_many_that_want_to_be_first_one_is() {
    let notes = Notes::open();
    let db = stoa_db::Database::clone(&notes);
    for round in 0..5 {
        let claims: Vec<_> = (0..12)
            .map(|_| {
                let db = db.clone();
                tokio::spawn(async move {
                    db.write(move |tx| {
                        tx.execute(
                            "insert into notes (body) values ($1) on conflict do nothing",
                            params![round.to_string()],
                        )
                    })
                    .await
                    .unwrap()
                })
            })
            .collect();
        let mut winners = 0;
        for claim in claims {
            winners += claim.await.unwrap();
        }
        assert_eq!(winners, 1);
    }
}
