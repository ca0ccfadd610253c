//! Bounded queues, and a close that leaves nobody without an answer.

use std::path::Path;
use std::time::Duration;

use stoa_db::{Database, DbError, Engine, FolderLock, Tx};

use crate::support::{NOTES, Notes, bodies_in, gate, insert, insert_in, one_writer, runs_on, submit};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_full_write_queue_answers_busy_at_once() {
    let notes = Notes::open_with(|options| {
        one_writer(options);
        options.write_queue = 3;
    });
    for round in 0..3 {
        let (mut gate, doorway) = gate();
        let holder = submit(notes.write(move |tx| {
            doorway.pass();
            insert_in(tx, &format!("holder {round}"))
        }))
        .await;
        gate.reached().await;
        let mut queued = Vec::new();
        for number in 0..3 {
            queued.push(submit(notes.write(insert(format!("queued {round} {number}")))).await);
        }
        assert_eq!(notes.write_queue_length(), 3);
        for _ in 0..5 {
            let mut refused = submit(notes.write(insert(format!("refused {round}")))).await;
            assert!(refused.is_answered().await, "whoever finds the queue full must not wait");
            let refused = refused.answer().await;
            assert!(matches!(&refused, Err(error @ DbError::Busy) if error.is_unavailable()), "{refused:?}");
        }
        let mut vacuum = submit(notes.vacuum()).await;
        assert!(vacuum.is_answered().await);
        assert!(matches!(vacuum.answer().await, Err(DbError::Busy)));
        gate.open();
        holder.answer().await.unwrap();
        for command in queued {
            command.answer().await.unwrap();
        }
        // Drained, it takes work again.
        notes.write(insert(format!("after {round}"))).await.unwrap();
        assert_eq!(notes.write_queue_length(), 0);
    }
    let bodies = notes.bodies().await;
    assert_eq!(bodies.len(), 3 * 5, "{bodies:?}");
    assert!(!bodies.iter().any(|body| body.starts_with("refused")), "{bodies:?}");
}

#[tokio::test]
async fn a_command_whose_turn_comes_too_late_is_dropped() {
    let notes = Notes::open_with(|options| {
        one_writer(options);
        options.begin_within = std::time::Duration::ZERO;
    });
    let refused = notes.write(insert("too late")).await;
    assert!(matches!(&refused, Err(error @ DbError::Late) if error.is_unavailable()), "{refused:?}");
    let mut together = Vec::new();
    for number in 0..3 {
        together.push(submit(notes.write_together(insert(format!("together {number}")))).await);
    }
    for command in together {
        let refused = command.answer().await;
        assert!(matches!(refused, Err(DbError::Late)), "{refused:?}");
    }
    // Who reads waits as long as they like.
    assert_eq!(notes.bodies().await, [""; 0]);
}

#[tokio::test]
async fn a_full_read_queue_answers_busy_at_once() {
    let notes = Notes::open_with(|options| {
        options.readers = 1;
        options.read_queue = 2;
    });
    let (mut gate, doorway) = gate();
    let holder = submit(notes.read(move |tx| {
        doorway.pass();
        bodies_in(tx)
    }))
    .await;
    gate.reached().await;
    let queued = [submit(notes.read(bodies_in)).await, submit(notes.read(bodies_in)).await];
    let mut refused = submit(notes.read(bodies_in)).await;
    assert!(refused.is_answered().await);
    assert!(matches!(refused.answer().await, Err(DbError::Busy)));
    // Writers have a queue of their own.
    notes.write(insert("x")).await.unwrap();
    gate.open();
    holder.answer().await.unwrap();
    for read in queued {
        assert_eq!(read.answer().await.unwrap(), ["x"]);
    }
    assert_eq!(notes.bodies().await, ["x"]);
}

#[tokio::test]
async fn a_read_that_nobody_waits_for_is_not_run() {
    let notes = Notes::open_with(|options| options.readers = 1);
    let (mut gate, doorway) = gate();
    let holder = submit(notes.read(move |tx| {
        doorway.pass();
        bodies_in(tx)
    }))
    .await;
    gate.reached().await;
    let (ran, runs) = crossbeam_channel::unbounded();
    let abandoned = submit(notes.read(move |tx| {
        let _ = ran.send(());
        bodies_in(tx)
    }))
    .await;
    drop(abandoned);
    gate.open();
    holder.answer().await.unwrap();
    notes.bodies().await;
    assert_eq!(runs.len(), 0);
}

#[tokio::test]
async fn an_urgent_read_waits_for_no_other() {
    let notes = Notes::open_with(|options| options.readers = 1);
    notes.write(insert("x")).await.unwrap();
    let (mut slow_gate, doorway) = gate();
    let slow = submit(notes.read(move |tx| {
        doorway.pass();
        bodies_in(tx)
    }))
    .await;
    slow_gate.reached().await;
    let mut waiting = submit(notes.read(bodies_in)).await;
    assert_eq!(notes.read_urgent(bodies_in).await.unwrap(), ["x"]);
    assert!(!waiting.is_answered().await);
    slow_gate.open();
    slow.answer().await.unwrap();
    assert_eq!(waiting.answer().await.unwrap(), ["x"]);
    notes.close().await;
    assert!(matches!(notes.read_urgent(bodies_in).await, Err(DbError::Closed)));
}

#[tokio::test]
async fn urgent_reads_are_served_where_no_reader_is_kept_for_them() {
    let notes = Notes::open_with(|options| (options.readers, options.urgent_readers) = (1, 0));
    assert!(notes.read_urgent(bodies_in).await.unwrap().is_empty());
    assert!(notes.bodies().await.is_empty());
}

#[tokio::test]
async fn a_read_ends_when_its_caller_goes() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    const ENDLESS: &str =
        "with recursive number (n) as (select 1 union all select n + 1 from number) select count(*) as n from number";
    let notes = Notes::open_with(|options| options.readers = 1);
    let (mut gate, doorway) = gate();
    let endless = submit(notes.read(move |tx| {
        doorway.pass();
        tx.query_one(ENDLESS, &[], |row| row.get::<i64>("n"))
    }))
    .await;
    gate.reached().await;
    gate.open();
    let mut next = submit(notes.read(bodies_in)).await;
    assert!(!next.is_answered().await);
    drop(endless);
    // The reader is there for the next one, with all that it needs.
    assert!(next.answer().await.unwrap().is_empty());
    notes.write(insert("x")).await.unwrap();
    assert_eq!(notes.bodies().await, ["x"]);
}

async fn is_closed(db: &Database) -> bool {
    matches!(db.write(insert("too late")).await, Err(DbError::Closed))
        && matches!(db.read(bodies_in).await, Err(DbError::Closed))
        && matches!(db.vacuum().await, Err(DbError::Closed))
        && matches!(db.info().await, Err(DbError::Closed))
}

#[tokio::test]
async fn close_finishes_what_is_queued_and_takes_nothing_more() {
    let notes = Notes::open_with(|options| {
        one_writer(options);
        options.readers = 1;
    });
    let (mut write_gate, doorway) = gate();
    let writing = submit(notes.write(move |tx| {
        doorway.pass();
        insert_in(tx, "first")
    }))
    .await;
    let (mut read_gate, doorway) = gate();
    let reading = submit(notes.read(move |tx| {
        doorway.pass();
        bodies_in(tx)
    }))
    .await;
    write_gate.reached().await;
    read_gate.reached().await;
    let mut writes = Vec::new();
    for number in 0..20 {
        writes.push(submit(notes.write(insert(format!("queued {number}")))).await);
    }
    let vacuum = submit(notes.vacuum()).await;
    let reads = [submit(notes.read(bodies_in)).await, submit(notes.read(bodies_in)).await];

    let mut closing = submit(notes.close()).await;
    let also_closing = submit(notes.close()).await;
    let mut late = submit(notes.write(insert("late"))).await;
    assert!(late.is_answered().await);
    assert!(matches!(late.answer().await, Err(DbError::Closed)));
    assert!(!closing.is_answered().await, "close waits for what was queued before it");

    write_gate.open();
    read_gate.open();
    writing.answer().await.unwrap();
    for write in writes {
        write.answer().await.unwrap();
    }
    vacuum.answer().await.unwrap();
    reading.answer().await.unwrap();
    for read in reads {
        read.answer().await.unwrap();
    }
    closing.answer().await;
    also_closing.answer().await;
    assert!(is_closed(&notes).await);
    assert_eq!(notes.place.peek("select count(*) from notes"), 21);
}

#[tokio::test]
async fn close_twice_and_from_a_clone_is_fine() {
    let notes = Notes::open();
    let clone = Database::clone(&notes);
    clone.close().await;
    notes.close().await;
    assert!(is_closed(&notes).await);
    assert!(is_closed(&clone).await);
}

#[tokio::test]
async fn close_leaves_one_file_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    notes.write(insert("x")).await.unwrap();
    notes.bodies().await;
    notes.close().await;
    // SQLite removes its side files when the last connection goes: none was left open.
    let mut files: Vec<_> = std::fs::read_dir(notes.place.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["lock", "stoa.db"]);
}

fn may_be_locked(folder: &Path) -> bool {
    FolderLock::acquire(folder).is_ok()
}

#[tokio::test]
async fn the_folder_stays_locked_while_queued_commands_still_run() {
    let notes = Notes::open_with(one_writer);
    let folder = notes.place.folder();
    let (mut gate, doorway) = gate();
    let (done, mut is_done) = tokio::sync::mpsc::unbounded_channel();
    drop(
        submit(notes.write(move |tx| {
            doorway.pass();
            let done = done.clone();
            tx.after_commit(move || _ = done.send(()));
            insert_in(tx, "x")
        }))
        .await,
    );
    gate.reached().await;
    // The last handle goes without a close; the command it was given is still at work.
    let place = notes.forsake();
    assert!(!may_be_locked(&folder), "a second hub must not start beside a writer of the first");
    gate.open();
    is_done.recv().await.unwrap();
    while !may_be_locked(&folder) {
        std::thread::yield_now();
    }
    let db = place.open(NOTES).unwrap();
    assert_eq!(crate::support::bodies(&db).await, ["x"]);
}

#[tokio::test]
async fn long_reads_hold_up_no_other() {
    let notes = Notes::open_with(|options| (options.readers, options.long_readers) = (1, 1));
    notes.write(insert("x")).await.unwrap();
    let (mut gate, doorway) = gate();
    let long = submit(notes.read_long(MINUTE, move |tx| {
        doorway.pass();
        bodies_in(tx)
    }))
    .await;
    gate.reached().await;
    let mut waiting = submit(notes.read_long(MINUTE, bodies_in)).await;
    assert_eq!(notes.bodies().await, ["x"]);
    assert!(!waiting.is_answered().await);
    gate.open();
    assert_eq!(
        (long.answer().await.unwrap(), waiting.answer().await.unwrap()),
        (vec!["x".to_owned()], vec!["x".to_owned()])
    );
}

#[tokio::test]
async fn a_long_read_is_cut_off_at_its_limit() {
    let notes = Notes::open_with(|options| options.long_readers = 1);
    let endless = |tx: &mut Tx<'_>| {
        let sql = "with recursive number (n) as (select cast(1 as bigint) union all select n + 1 from number)
             select count(*) as n from number";
        tx.query_one(sql, &[], |row| row.get::<i64>("n"))
    };
    let cut = notes.read_long(Duration::from_millis(20), endless).await;
    assert!(matches!(cut, Err(DbError::Late)), "{cut:?}");
    // No statement begins after the limit, and the reader goes on.
    let late: Result<(), DbError> = notes
        .read_long(Duration::ZERO, |tx| {
            assert_eq!(tx.time_left(), Some(Duration::ZERO));
            bodies_in(tx).map(drop)
        })
        .await;
    assert!(matches!(late, Err(DbError::Late)), "{late:?}");
    assert_eq!(notes.read_long(MINUTE, bodies_in).await.unwrap(), [""; 0]);
}
