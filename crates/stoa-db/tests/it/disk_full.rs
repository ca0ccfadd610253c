//! A disk that fills up in the middle of a batch: the whole batch fails, none of it is stored, and
//! the same handle works again once there is space.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use stoa_db::{Database, DbError, Engine, Tx, params};

use crate::child::{Helper, NOTES_OF_FULL_BATCH, Role};
use crate::support::{Notes, Place, gate, insert, runs_on, skip, submit, value_in, while_writer_is_held};

/// Follows a child that runs out of space; `take` and `give` do so to its space.
fn runs_full_and_recovers(mut child: Helper, expected: &str, take: impl FnOnce(&Helper), give: impl FnOnce(&Helper)) {
    child.expect("ready");
    take(&child);
    child.tell();
    for _ in 0..2 * NOTES_OF_FULL_BATCH {
        child.expect(expected);
    }
    child.expect("give");
    give(&child);
    child.tell();
    child.expect("done");
    child.finish();
}

fn on_a_small_file_system(spills: bool) {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let place = Place::new();
    fs::create_dir_all(place.folder()).unwrap();
    // The mount belongs to the child alone and goes with it.
    let mount = "mount -t tmpfs -o size=4m none \"$0\" && exec \"$@\"";
    let folder = place.folder().to_str().unwrap().to_owned();
    let can_mount = Command::new("unshare")
        .args(["--mount", "sh", "-c", mount, &folder, "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !can_mount {
        return skip("a file system can only be mounted by root");
    }
    let wrapper = ["unshare", "--mount", "sh", "-c", mount, &folder];
    let child = Helper::start_under(&wrapper, Role::FillDisk { spills }, &place.folder(), None);
    let inside = |child: &Helper| PathBuf::from(format!("/proc/{}/root{folder}/ballast", child.id()));
    runs_full_and_recovers(
        child,
        "full",
        // All but a part of what the batch needs.
        |child| fs::write(inside(child), vec![0; 3 << 20]).unwrap(),
        |child| fs::remove_file(inside(child)).unwrap(),
    );
}

#[test]
fn a_file_system_that_is_full_at_the_commit() {
    on_a_small_file_system(false);
}

#[test]
fn a_file_system_that_is_full_in_the_middle_of_a_batch() {
    on_a_small_file_system(true);
}

fn with_a_limit_on_file_size(spills: bool) {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let place = Place::new();
    // Ignored, so that a write beyond the limit is an error and not the end of the process.
    let wrapper = ["env", "--ignore-signal=SIGXFSZ"];
    let child = Helper::start_under(&wrapper, Role::FillDisk { spills }, &place.folder(), None);
    let limit = |child: &Helper, size: &str| {
        let status = Command::new("prlimit")
            .args(["--pid", &child.id().to_string(), &format!("--fsize={size}:unlimited")])
            .status()
            .unwrap();
        assert!(status.success());
    };
    // The operating system calls this an I/O error and not a full disk, and so do we.
    runs_full_and_recovers(child, "unavailable", |child| limit(child, "1000000"), |child| limit(child, "unlimited"));
}

#[test]
fn a_write_that_fails_at_the_commit() {
    with_a_limit_on_file_size(false);
}

#[test]
fn a_write_that_fails_in_the_middle_of_a_batch() {
    with_a_limit_on_file_size(true);
}

/// Leaves SQLite no room to grow. The limit is the connection's, so it goes when that is replaced.
async fn leave_no_room(db: &Database) {
    db.write(|tx| {
        let pages: i64 = value_in(tx, "select page_count as value from pragma_page_count")?;
        tx.execute_batch(&format!("pragma max_page_count = {}", pages + 4))
    })
    .await
    .unwrap();
}

fn large(name: &str) -> String {
    format!("{name} {}", "x".repeat(1 << 20))
}

/// SQLite keeps no journal of a statement as simple as this. When it cannot end it, it has to roll
/// back the whole transaction.
fn insert_plainly(tx: &mut Tx<'_>, body: &str) -> Result<u64, DbError> {
    tx.execute("insert into notes (body) values ($1)", params![body])
}

#[tokio::test]
async fn a_full_database_fails_the_whole_batch_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    notes.write(insert("before")).await.unwrap();
    leave_no_room(&notes).await;
    let commits = notes.commits().len();
    let queued = while_writer_is_held(&notes, async || {
        let mut queued = Vec::new();
        for number in 0..10 {
            let body = if number == 5 { large("too much") } else { format!("small {number}") };
            queued.push(submit(notes.write(move |tx| insert_plainly(tx, &body))).await);
        }
        queued
    })
    .await;
    for command in queued {
        let outcome = command.answer().await;
        assert!(matches!(outcome, Err(DbError::Full)), "{outcome:?}");
    }
    assert_eq!(notes.bodies().await, ["before"]);
    assert_eq!(notes.commits().len(), commits + 1, "only the command that held the writer was committed");
    // The limit went with the connection, as a full disk goes when somebody makes room.
    notes.write(insert(large("enough room"))).await.unwrap();
    assert_eq!(notes.bodies().await.len(), 2);
    let integrity = "select integrity_check as value from pragma_integrity_check";
    assert_eq!(notes.read(move |tx| value_in::<String>(tx, integrity)).await.unwrap(), "ok");
}

#[tokio::test]
async fn a_full_database_that_undoes_one_statement_fails_one_command_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    leave_no_room(&notes).await;
    // This one returns a row, so SQLite can undo it by itself, and the transaction goes on.
    let (small, large, last) = while_writer_is_held(&notes, async || {
        let small = submit(notes.write(insert("small"))).await;
        let large = submit(notes.write(insert(large("too much")))).await;
        let last = submit(notes.write(insert("last"))).await;
        (small, large, last)
    })
    .await;
    small.answer().await.unwrap();
    assert!(matches!(large.answer().await, Err(DbError::Full)));
    last.answer().await.unwrap();
    assert_eq!(notes.bodies().await, ["last", "small"]);
}

#[tokio::test]
async fn a_command_that_shrugs_at_a_full_disk_stores_nothing_afterwards_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    notes.write(|tx| tx.execute("insert into counters (name, value) values ('hits', 0)", &[])).await.unwrap();
    leave_no_room(&notes).await;
    let body = large("too much");
    let (shrugging, neighbour) = while_writer_is_held(&notes, async || {
        let shrugging = submit(notes.write(move |tx| {
            // SQLite has rolled back and left the transaction, so this update would be one by itself.
            let _ = insert_plainly(tx, &body);
            tx.execute("update counters set value = value + $1", params![1])
        }))
        .await;
        let neighbour = submit(notes.write(insert("neighbour"))).await;
        (shrugging, neighbour)
    })
    .await;
    assert!(matches!(shrugging.answer().await, Err(DbError::Full)));
    assert!(matches!(neighbour.answer().await, Err(DbError::Full)));
    assert_eq!(notes.place.peek("select value from counters"), 0);
    assert!(notes.bodies().await.is_empty());
    notes.write(insert("later")).await.unwrap();
}

#[tokio::test]
async fn a_reader_keeps_its_snapshot_while_the_disk_is_full_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    notes.write(insert("before")).await.unwrap();
    let (mut gate, doorway) = gate();
    let reader = submit(notes.read(move |tx| {
        let first = crate::support::bodies_in(tx)?;
        doorway.pass();
        Ok::<_, DbError>((first, crate::support::bodies_in(tx)?))
    }))
    .await;
    gate.reached().await;
    leave_no_room(&notes).await;
    assert!(matches!(notes.write(insert(large("too much"))).await, Err(DbError::Full)));
    notes.write(insert("after")).await.unwrap();
    gate.open();
    let (first, second) = reader.answer().await.unwrap();
    assert_eq!((first.as_slice(), second.as_slice()), (&["before".to_owned()][..], &["before".to_owned()][..]));
    assert_eq!(notes.bodies().await, ["after", "before"]);
}
