//! Reads and commands beside each other: a read keeps its snapshot, and neither waits for the other.

use stoa_db::DbError;

use crate::support::{Notes, bodies_in, gate, insert, insert_in, submit};

#[tokio::test]
async fn a_read_keeps_its_snapshot_while_writes_go_on() {
    const WRITES: usize = 20;
    let notes = Notes::open();
    notes.write(insert("old")).await.unwrap();
    let (mut gate, doorway) = gate();
    let mut reader = submit(notes.read(move |tx| {
        // The first statement takes the snapshot, on both engines.
        let mut looks = vec![bodies_in(tx)?];
        for _ in 0..WRITES {
            doorway.pass();
            looks.push(bodies_in(tx)?);
        }
        Ok::<_, DbError>(looks)
    }))
    .await;
    for number in 0..WRITES {
        gate.reached().await;
        // Answered while the read is open: the writer does not wait for it.
        notes.write(insert(format!("new {number}"))).await.unwrap();
        notes.write(|tx| tx.execute("delete from notes where body = 'old'", &[])).await.unwrap();
        assert_eq!(notes.bodies().await.len(), number + 1, "a read that begins now sees all of it");
        assert!(!reader.is_answered().await);
        gate.let_one_pass();
    }
    let looks = reader.answer().await.unwrap();
    assert_eq!(looks.len(), WRITES + 1);
    assert!(looks.iter().all(|look| look == &["old"]), "{looks:?}");
}

#[tokio::test]
async fn reads_go_on_while_a_command_is_open() {
    let notes = Notes::open();
    notes.write(insert("old")).await.unwrap();
    let (mut gate, doorway) = gate();
    let mut command = submit(notes.write(move |tx| {
        tx.execute("update notes set body = 'changed'", &[])?;
        insert_in(tx, "new")?;
        doorway.pass();
        bodies_in(tx)
    }))
    .await;
    gate.reached().await;
    for _ in 0..20 {
        assert_eq!(notes.bodies().await, ["old"]);
    }
    assert!(!command.is_answered().await);
    gate.open();
    assert_eq!(command.answer().await.unwrap(), ["changed", "new"]);
    assert_eq!(notes.bodies().await, ["changed", "new"]);
}

#[tokio::test]
async fn a_read_sees_all_of_a_command_or_nothing_of_it() {
    let notes = Notes::open();
    notes.write(|tx| tx.execute("insert into counters (name, value) values ('a', 0), ('b', 0)", &[])).await.unwrap();
    let moves = async {
        for _ in 0..60 {
            notes
                .write(|tx| {
                    tx.execute("update counters set value = value - 1 where name = 'a'", &[])?;
                    tx.execute("update counters set value = value + 1 where name = 'b'", &[])
                })
                .await
                .unwrap();
        }
    };
    let looks = async {
        for _ in 0..120 {
            let (a, b) = notes
                .read(|tx| {
                    // Two statements, so that a snapshot per statement would be found out.
                    let value = |tx: &mut stoa_db::Tx<'_>, sql: &str| crate::support::value_in::<i64>(tx, sql);
                    let a = value(tx, "select value from counters where name = 'a'")?;
                    let b = value(tx, "select value from counters where name = 'b'")?;
                    Ok::<_, DbError>((a, b))
                })
                .await
                .unwrap();
            assert_eq!(a + b, 0);
        }
    };
    tokio::join!(moves, looks);
}

#[tokio::test]
async fn an_answered_command_is_seen_by_the_next_read() {
    let notes = Notes::open();
    for number in 1..=60 {
        notes.write(insert(format!("{number:03}"))).await.unwrap();
        assert_eq!(notes.bodies().await.len(), number);
    }
}
