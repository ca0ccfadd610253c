//! Many commands in one commit: what fails undoes only itself, and nobody is answered too early.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use stoa_db::{DbError, Engine, Environment, Migration, Options, SystemEnvironment, params};

use crate::support::{
    Notes, Place, Submitted, break_in, gate, insert, insert_in, one_writer, runs_on, submit, while_writer_is_held,
};

/// What a feature's own refusal looks like to `stoa-db`.
#[derive(Debug)]
enum Refusal {
    NotAllowed(usize),
    Database(DbError),
}

impl From<DbError> for Refusal {
    fn from(error: DbError) -> Self {
        Refusal::Database(error)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fate {
    Stored,
    Refused,
    Broken,
    Violates,
    Panics,
    Ignores,
}

/// Every third command fails, each time in another way.
fn fate(number: usize) -> Fate {
    match number {
        n if n % 3 != 2 => Fate::Stored,
        n if n % 15 == 2 => Fate::Refused,
        n if n % 15 == 5 => Fate::Broken,
        n if n % 15 == 8 => Fate::Violates,
        n if n % 15 == 11 => Fate::Panics,
        _ => Fate::Ignores,
    }
}

#[tokio::test]
async fn every_third_command_of_a_batch_fails_and_the_others_are_stored() {
    const COMMANDS: usize = 90;
    let notes = Notes::open_with(one_writer);
    notes.write(insert("taken")).await.unwrap();
    let before = notes.commits().len();
    let effects = Arc::new(Mutex::new(Vec::new()));
    let queued = while_writer_is_held(&notes, async || {
        let mut queued = Vec::new();
        for number in 0..COMMANDS {
            let effects = effects.clone();
            let command = notes.write(move |tx| {
                // Each writes before it fails, so that there is something to undo.
                insert_in(tx, &format!("note {number:03}"))?;
                tx.execute("insert into counters (name, value) values ($1, 1)", params![number.to_string()])?;
                let effects = effects.clone();
                tx.after_commit(move || effects.lock().unwrap().push(number));
                match fate(number) {
                    Fate::Stored => Ok(number),
                    Fate::Refused => Err(Refusal::NotAllowed(number)),
                    Fate::Broken => Ok(break_in(tx).map(|_| number)?),
                    Fate::Violates => Ok(insert_in(tx, "taken").map(|_| number)?),
                    Fate::Panics => panic!("command {number} panics (this is part of a test)"),
                    Fate::Ignores => {
                        let _ = break_in(tx);
                        Ok(number)
                    }
                }
            });
            queued.push(submit(command).await);
        }
        queued
    })
    .await;

    for (number, command) in queued.into_iter().enumerate() {
        let answer = command.answer().await;
        let fits = match fate(number) {
            Fate::Stored => matches!(answer, Ok(n) if n == number),
            Fate::Refused => matches!(answer, Err(Refusal::NotAllowed(n)) if n == number),
            Fate::Broken | Fate::Ignores => matches!(answer, Err(Refusal::Database(DbError::Statement(_)))),
            Fate::Violates => matches!(&answer, Err(Refusal::Database(error)) if error.is_unique_violation()),
            Fate::Panics => matches!(answer, Err(Refusal::Database(DbError::Panicked))),
        };
        assert!(fits, "{number} should be {:?}, not {answer:?}", fate(number));
    }
    let kept: Vec<usize> = (0..COMMANDS).filter(|number| fate(*number) == Fate::Stored).collect();
    let mut bodies: Vec<String> = kept.iter().map(|number| format!("note {number:03}")).collect();
    bodies.push("taken".to_owned());
    assert_eq!(notes.bodies().await, bodies);
    assert_eq!(notes.place.peek("select count(*) from counters"), kept.len() as i64);
    assert_eq!(*effects.lock().unwrap(), kept, "effects belong to kept commands, in their order");
    if runs_on(Engine::Sqlite) {
        // First the command that held the writer, then everything else at once.
        assert_eq!(notes.commits()[before..], [(1, 0), (COMMANDS, COMMANDS / 3)]);
    }
}

#[tokio::test]
async fn a_command_that_ignores_a_failed_statement_is_failed() {
    let notes = Notes::open();
    let outcome = notes
        .write(|tx| {
            insert_in(tx, "before")?;
            let first = break_in(tx);
            assert!(matches!(first, Err(DbError::Statement(_))), "{first:?}");
            // What comes after a failure does not happen either, and hears of the first one.
            let second = insert_in(tx, "after");
            assert!(matches!(second, Err(DbError::Statement(_))), "{second:?}");
            Ok::<_, DbError>("all is well")
        })
        .await;
    let Err(DbError::Statement(reason)) = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("no_such_table"), "the first failure is the reason, not {reason}");
    assert!(notes.bodies().await.is_empty());
}

#[tokio::test]
async fn a_command_that_ignores_a_violated_constraint_is_failed() {
    let notes = Notes::open();
    notes.write(insert("taken")).await.unwrap();
    let outcome = notes
        .write(|tx| {
            insert_in(tx, "mine")?;
            let _ = insert_in(tx, "taken");
            Ok::<_, DbError>(())
        })
        .await;
    assert!(outcome.as_ref().is_err_and(DbError::is_unique_violation), "{outcome:?}");
    assert_eq!(notes.bodies().await, ["taken"]);
}

#[tokio::test]
async fn a_panic_in_the_middle_of_a_query_harms_nobody() {
    let notes = Notes::open_with(one_writer);
    for body in ["a", "b", "c"] {
        notes.write(insert(body)).await.unwrap();
    }
    for _ in 0..3 {
        let outcome = notes
            .write(|tx| {
                insert_in(tx, "half")?;
                tx.query_each("select body from notes", &[], |_| panic!("between rows (this is part of a test)"))
            })
            .await;
        assert!(matches!(outcome, Err(DbError::Panicked)), "{outcome:?}");
        // The same statement, which is prepared and kept by now.
        assert_eq!(notes.write(crate::support::bodies_in).await.unwrap(), ["a", "b", "c"]);
    }
}

#[tokio::test]
async fn a_command_of_the_same_batch_sees_what_the_one_before_it_wrote() {
    let notes = Notes::open_with(one_writer);
    let (first, second) = while_writer_is_held(&notes, async || {
        let first = submit(notes.write(insert("shared"))).await;
        let second = submit(notes.write(crate::support::bodies_in)).await;
        (first, second)
    })
    .await;
    first.answer().await.unwrap();
    assert_eq!(second.answer().await.unwrap(), ["shared"]);
}

/// Queues a command and, in the same batch, one that waits; returns both when the second has begun.
async fn with_an_unfinished_neighbour<'n, T: Send + 'static>(
    notes: &'n Notes,
    command: impl Future<Output = T> + 'n,
) -> (Submitted<'n, T>, Submitted<'n, Result<(), DbError>>, crate::support::Gate) {
    let (mut gate, doorway) = gate();
    let (command, neighbour) = while_writer_is_held(notes, async || {
        let command = submit(command).await;
        let neighbour = submit(notes.write(move |_| {
            doorway.pass();
            Ok::<_, DbError>(())
        }))
        .await;
        (command, neighbour)
    })
    .await;
    gate.reached().await;
    (command, neighbour, gate)
}

#[tokio::test]
async fn nobody_is_answered_before_the_commit_of_the_batch_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    let refusing = notes.write(|tx| {
        // A refusal tells of the state it saw. That state must be on disk before it is told.
        insert_in(tx, "refused")?;
        Err::<(), _>(Refusal::NotAllowed(0))
    });
    let (mut refused, neighbour, gate) = with_an_unfinished_neighbour(&notes, refusing).await;
    assert!(!refused.is_answered().await, "a refusal came before the commit");
    gate.open();
    assert!(matches!(refused.answer().await, Err(Refusal::NotAllowed(0))));
    neighbour.answer().await.unwrap();

    let (mut stored, neighbour, gate) = with_an_unfinished_neighbour(&notes, notes.write(insert("stored"))).await;
    assert!(!stored.is_answered().await, "an answer came before the commit");
    assert_eq!(notes.place.peek("select count(*) from notes"), 0);
    gate.open();
    stored.answer().await.unwrap();
    neighbour.answer().await.unwrap();
    assert_eq!(notes.bodies().await, ["stored"]);
}

#[tokio::test]
async fn effects_run_after_the_commit_and_before_the_answer() {
    let notes = Notes::open_with(one_writer);
    let (mut gate, doorway) = gate();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let command = {
        let (seen, peek) = (seen.clone(), Arc::new(notes.place.peeker()));
        notes.write(move |tx| {
            let (seen, peek, doorway) = (seen.clone(), peek.clone(), doorway.clone());
            tx.after_commit(move || {
                seen.lock().unwrap().push(peek("select count(*) from notes"));
                doorway.pass();
            });
            insert_in(tx, "x")
        })
    };
    let mut command = submit(command).await;
    gate.reached().await;
    assert_eq!(*seen.lock().unwrap(), [1], "somebody else sees the row when the effect runs");
    assert!(!command.is_answered().await, "the answer waits for the effect");
    gate.open();
    command.answer().await.unwrap();
}

#[tokio::test]
async fn effects_of_failed_commands_do_not_run() {
    let notes = Notes::open_with(one_writer);
    let ran = Arc::new(AtomicUsize::new(0));
    for number in 0..4 {
        let ran = ran.clone();
        let outcome = notes
            .write(move |tx| {
                let ran = ran.clone();
                tx.after_commit(move || {
                    ran.fetch_add(1, Ordering::SeqCst);
                });
                match number {
                    0 => Err(Refusal::NotAllowed(0)),
                    1 => Ok(break_in(tx).map(drop)?),
                    2 => panic!("after asking for an effect (this is part of a test)"),
                    _ => {
                        let _ = break_in(tx);
                        Ok(())
                    }
                }
            })
            .await;
        assert!(outcome.is_err());
    }
    notes.write(insert("x")).await.unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_panicking_effect_harms_nobody() {
    let notes = Notes::open_with(one_writer);
    let ran = Arc::new(AtomicUsize::new(0));
    let queued = while_writer_is_held(&notes, async || {
        let mut queued = Vec::new();
        for number in 0..6 {
            let ran = ran.clone();
            let command = notes.write(move |tx| {
                let ran = ran.clone();
                tx.after_commit(move || {
                    assert!(number % 2 == 0, "effect {number} panics (this is part of a test)");
                    ran.fetch_add(1, Ordering::SeqCst);
                });
                insert_in(tx, &number.to_string())
            });
            queued.push(submit(command).await);
        }
        queued
    })
    .await;
    for command in queued {
        command.answer().await.unwrap();
    }
    assert_eq!(ran.load(Ordering::SeqCst), 3);
    notes.write(insert("later")).await.unwrap();
    assert_eq!(notes.bodies().await.len(), 7);
}

#[tokio::test]
async fn a_panicking_observer_harms_nobody() {
    let called = Arc::new(AtomicUsize::new(0));
    let notes = Notes::open_with(|options| {
        let called = called.clone();
        options.observer = Some(Arc::new(move |_| {
            called.fetch_add(1, Ordering::SeqCst);
            panic!("an observer panics (this is part of a test)");
        }));
        one_writer(options);
    });
    // It is stored, so the answer must say so.
    notes.write(insert("first")).await.unwrap();
    notes.write(insert("second")).await.unwrap();
    assert_eq!(notes.bodies().await, ["first", "second"]);
    assert_eq!(called.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_cancel_its_command() {
    let notes = Notes::open_with(one_writer);
    let (mut gate, doorway) = gate();
    let begun = submit(notes.write(move |tx| {
        doorway.pass();
        insert_in(tx, "begun")
    }))
    .await;
    gate.reached().await;
    let waiting = submit(notes.write(insert("waiting"))).await;
    drop(begun);
    drop(waiting);
    gate.open();
    notes.write(insert("last")).await.unwrap();
    assert_eq!(notes.bodies().await, ["begun", "last", "waiting"]);
}

#[tokio::test]
async fn a_batch_is_not_larger_than_its_limit_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open_with(|options| options.batch_limit = 4);
    let queued = while_writer_is_held(&notes, async || {
        let mut queued = Vec::new();
        for number in 0..10 {
            queued.push(submit(notes.write(insert(number.to_string()))).await);
        }
        queued
    })
    .await;
    for command in queued {
        command.answer().await.unwrap();
    }
    assert_eq!(notes.commits(), [(1, 0), (4, 0), (4, 0), (2, 0)]);
}

#[tokio::test]
async fn a_constraint_that_is_checked_at_the_commit_fails_only_its_own_command() {
    const LATE: &[Migration] = &[Migration {
        number: 1,
        name: "late",
        sqlite: "create table parents (id integer primary key) strict;
                 create table children (parent integer not null references parents (id) deferrable initially deferred) strict;",
        postgres: "create table parents (id bigint primary key);
                   create table children (parent bigint not null references parents (id) deferrable initially deferred);",
    }];
    let place = Place::new();
    let mut options = place.options();
    one_writer(&mut options);
    let db = stoa_db::Database::open(options, LATE).unwrap();
    let effects = Arc::new(Mutex::new(Vec::new()));
    let family = |parent: Option<i64>, child: i64| {
        let effects = effects.clone();
        db.write(move |tx| {
            let effects = effects.clone();
            tx.after_commit(move || effects.lock().unwrap().push(child));
            tx.execute("insert into children (parent) values ($1)", params![child])?;
            match parent {
                Some(parent) => tx.execute("insert into parents (id) values ($1)", params![parent]),
                None => Ok(0),
            }
        })
    };
    let (first, orphan, last) = while_writer_is_held(&db, async || {
        (submit(family(Some(1), 1)).await, submit(family(None, 9)).await, submit(family(Some(2), 2)).await)
    })
    .await;
    first.answer().await.unwrap();
    let orphan = orphan.answer().await;
    assert!(matches!(orphan, Err(DbError::Constraint { kind: stoa_db::ConstraintKind::ForeignKey, .. })), "{orphan:?}");
    last.answer().await.unwrap();
    assert_eq!(place.peek("select count(*) from children"), 2);
    assert_eq!(*effects.lock().unwrap(), [1, 2]);
}

/// The system's, but for a time without randomness.
struct Unreliable {
    has_randomness: AtomicBool,
}

impl Environment for Unreliable {
    fn now_ms(&self) -> i64 {
        SystemEnvironment.now_ms()
    }

    fn seed(&self) -> Result<[u8; 32], String> {
        if self.has_randomness.load(Ordering::SeqCst) { SystemEnvironment.seed() } else { Err("none left".to_owned()) }
    }
}

#[tokio::test]
async fn without_randomness_nothing_runs() {
    let environment = Arc::new(Unreliable { has_randomness: AtomicBool::new(true) });
    let notes = Notes::open_with(|options: &mut Options| options.environment = environment.clone());
    notes.write(insert("before")).await.unwrap();
    environment.has_randomness.store(false, Ordering::SeqCst);
    let outcome = notes.write(insert("during")).await;
    assert!(matches!(outcome, Err(DbError::Unavailable(_))), "{outcome:?}");
    let outcome = notes.read(crate::support::bodies_in).await;
    assert!(matches!(outcome, Err(DbError::Unavailable(_))), "{outcome:?}");
    environment.has_randomness.store(true, Ordering::SeqCst);
    notes.write(insert("after")).await.unwrap();
    assert_eq!(notes.bodies().await, ["after", "before"]);
}
