//! Commands that share a transaction, and the order of the rows that they add.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use stoa_db::{Database, DbError, Engine, Insert, Tx, params};

use crate::support::{NOTES, Notes, Place, gate, insert_in, one_writer, runs_on, submit, value_in};

static NOTE: Insert = Insert::new("notes", "id", &["body"]);

fn append_in(tx: &mut Tx<'_>, body: &str) -> Result<i64, DbError> {
    tx.append_numbered(&NOTE, params![body]).map(|row| row.number)
}

fn append(body: impl Into<String>) -> impl Fn(&mut Tx<'_>) -> Result<i64, DbError> + Send + 'static {
    let body = body.into();
    move |tx| append_in(tx, &body)
}

/// What a command of a batch does.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Act {
    Adds,
    Asks,
    Changes,
    Violates,
    Refuses,
    Panics,
    Ignores,
}

const ACTS: [Act; 7] = [Act::Adds, Act::Asks, Act::Changes, Act::Violates, Act::Refuses, Act::Panics, Act::Ignores];

fn act(tx: &mut Tx<'_>, act: Act, number: usize) -> Result<i64, DbError> {
    let body = format!("{act:?} {number:02}");
    match act {
        Act::Adds => append_in(tx, &body),
        Act::Asks => {
            // The second question depends on the first answer.
            let value: i64 = value_in(tx, "select value from counters where name = 'all'")?;
            let sql = "select name from counters where value >= $1 order by name limit 1";
            let name: String = tx.query_one(sql, params![value], |row| row.get("name"))?;
            append_in(tx, &format!("{body} {name}"))
        }
        Act::Changes => {
            tx.execute("update counters set value = value + 1 where name = 'changed'", &[])?;
            append_in(tx, &body)
        }
        Act::Violates => append_in(tx, "taken"),
        Act::Refuses => {
            tx.append(&NOTE, params![body])?;
            Err(DbError::NoRow)
        }
        Act::Panics => {
            tx.append(&NOTE, params![body])?;
            panic!("in the middle of a batch (this is part of a test)")
        }
        Act::Ignores => {
            let _ = tx.query("select nothing from no_such_table", &[], |_| Ok(()));
            append_in(tx, &body)
        }
    }
}

#[tokio::test]
async fn each_command_of_a_batch_comes_out_as_it_does_alone() {
    const EACH: usize = 4;
    let notes = Notes::open_with(one_writer);
    let prepare = |tx: &mut Tx<'_>| {
        insert_in(tx, "taken")?;
        tx.execute("insert into counters (name, value) values ('all', 5), ('changed', 0)", &[])
    };
    notes.write(prepare).await.unwrap();
    let effects = Arc::new(Mutex::new(Vec::new()));
    // The first keeps the thread busy until all others wait.
    let (mut gate, doorway) = gate();
    let first = submit(notes.write_together(move |tx| {
        tx.append(&NOTE, params!["first"])?;
        doorway.pass();
        Ok::<_, DbError>(())
    }))
    .await;
    gate.reached().await;
    let mut submitted = Vec::new();
    for number in 0..EACH {
        for does in ACTS {
            let effects = effects.clone();
            let command = notes.write_together(move |tx| {
                let effects = effects.clone();
                tx.after_commit(move || effects.lock().unwrap().push(does));
                act(tx, does, number)
            });
            submitted.push((does, number, submit(command).await));
        }
    }
    gate.open();
    first.answer().await.unwrap();
    let mut stored = BTreeSet::from(["first".to_owned(), "taken".to_owned()]);
    let mut ids = BTreeSet::new();
    for (does, number, command) in submitted {
        let outcome = command.answer().await;
        match (does, &outcome) {
            (Act::Violates, Err(error)) if error.is_unique_violation() => {}
            (Act::Refuses, Err(DbError::NoRow))
            | (Act::Panics, Err(DbError::Panicked))
            | (Act::Ignores, Err(DbError::Statement(_))) => {}
            (Act::Adds | Act::Asks | Act::Changes, Ok(id)) => {
                assert!(ids.insert(*id));
                let body = format!("{does:?} {number:02}");
                stored.insert(if does == Act::Asks { format!("{body} all") } else { body });
            }
            _ => panic!("{does:?} {number}: {outcome:?}"),
        }
    }
    assert_eq!(BTreeSet::from_iter(notes.bodies().await), stored);
    assert_eq!(notes.place.peek("select value from counters where name = 'changed'"), EACH as i64);
    let effects = effects.lock().unwrap().clone();
    assert_eq!(effects.len(), 3 * EACH, "{effects:?}");
}

#[tokio::test]
async fn commands_that_came_in_together_are_committed_together() {
    const COMMANDS: usize = 20;
    let notes = Notes::open_with(one_writer);
    let (mut gate, doorway) = gate();
    let first = submit(notes.write_together(move |tx| {
        doorway.pass();
        tx.append(&NOTE, params!["first"])
    }))
    .await;
    gate.reached().await;
    let mut submitted = Vec::new();
    for number in 0..COMMANDS {
        submitted.push(submit(notes.write_together(append(format!("{number:02}")))).await);
    }
    gate.open();
    first.answer().await.unwrap();
    let mut ids = Vec::new();
    for command in submitted {
        ids.push(command.answer().await.unwrap());
    }
    assert!(ids.is_sorted() && ids.len() == COMMANDS, "{ids:?}");
    assert_eq!(notes.commits().last(), Some(&(COMMANDS, 0)));
}

/// Reads on from the last number it has seen, as a client with a cursor does, until the writers are done.
async fn follow(db: &Database, writers: &mut tokio::task::JoinSet<()>) -> Vec<i64> {
    let mut seen: Vec<i64> = Vec::new();
    loop {
        while let Some(ended) = writers.try_join_next() {
            ended.unwrap();
        }
        let is_last = writers.is_empty();
        let last = seen.last().copied().unwrap_or(0);
        let next = db.read(move |tx| {
            tx.query("select id from notes where id > $1 order by id", params![last], |row| row.get::<i64>("id"))
        });
        seen.extend(next.await.unwrap());
        if is_last {
            return seen;
        }
    }
}

#[tokio::test]
async fn who_reads_on_from_a_number_misses_nothing() {
    const TASKS: usize = 6;
    const EACH: usize = 25;
    let (place, other_folder) = (Place::new(), tempfile::tempdir().unwrap());
    let hub = place.open(NOTES).unwrap();
    let other =
        runs_on(Engine::Postgres).then(|| Database::open(place.options_in(other_folder.path()), NOTES).unwrap());
    let hubs: Vec<Database> = [Some(hub.clone()), other].into_iter().flatten().collect();
    let mut writing = tokio::task::JoinSet::new();
    for (number, hub) in hubs.iter().enumerate() {
        for task in 0..TASKS {
            let hub = hub.clone();
            writing.spawn(async move {
                for turn in 0..EACH {
                    let body = format!("{number} {task} {turn}");
                    // Alone and together, with and without something to do between the number and the commit.
                    match turn % 3 {
                        0 => drop(hub.write(append(body)).await.unwrap()),
                        1 => drop(hub.write_together(append(body)).await.unwrap()),
                        _ => {
                            let command = move |tx: &mut Tx<'_>| {
                                let id = append_in(tx, &body)?;
                                value_in::<i64>(tx, "select count(*) as value from counters")?;
                                Ok::<_, DbError>(id)
                            };
                            hub.write(command).await.unwrap();
                        }
                    }
                }
            });
        }
    }
    let seen = follow(&hub, &mut writing).await;
    assert_eq!(seen.len(), hubs.len() * TASKS * EACH);
    for hub in hubs {
        hub.close().await;
    }
}

#[tokio::test]
async fn a_hub_that_holds_the_order_and_does_nothing_loses_it() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let (place, other_folder) = (Place::new(), tempfile::tempdir().unwrap());
    let hub = place.open(NOTES).unwrap();
    let other = Database::open(place.options_in(other_folder.path()), NOTES).unwrap();
    for round in 0..2 {
        let (mut gate, doorway) = gate();
        let attempts = Arc::new(AtomicUsize::new(0));
        let stuck = {
            let attempts = attempts.clone();
            hub.write(move |tx| {
                let id = append_in(tx, &format!("stuck {round}"))?;
                if attempts.fetch_add(1, Ordering::SeqCst) == 0 {
                    doorway.pass();
                }
                // Here it finds out, and is run again.
                value_in::<i64>(tx, "select count(*) as value from counters")?;
                Ok::<_, DbError>(id)
            })
        };
        let stuck = submit(stuck).await;
        gate.reached().await;
        // Both alone and beside others.
        let (one, two, three) = tokio::join!(
            other.write(append(format!("alone {round}"))),
            other.write_together(append(format!("together {round}"))),
            other.write_together(append(format!("also together {round}"))),
        );
        gate.open();
        let last = stuck.answer().await.unwrap();
        assert_eq!(attempts.load(Ordering::SeqCst), 2);
        assert!([one, two, three].into_iter().all(|id| id.unwrap() < last));
    }
    hub.close().await;
    other.close().await;
}

#[tokio::test]
async fn reads_that_everybody_waits_for_are_answered_each_with_its_own() {
    let notes = Notes::open();
    let prepare =
        |tx: &mut Tx<'_>| tx.execute("insert into counters (name, value) values ('a', 1), ('b', 2), ('c', 3)", &[]);
    notes.write(prepare).await.unwrap();
    let asked: Vec<(&str, i64)> = vec![("a", 1), ("b", 2), ("c", 3), ("a", 1)];
    let mut submitted = Vec::new();
    for turn in 0..40 {
        let (name, value) = asked[turn % asked.len()];
        let read = notes.read_urgent(move |tx| {
            let sql = "select value from counters where name = $1";
            let value: i64 = tx.query_one(sql, params![name], |row| row.get("value"))?;
            match turn % 4 {
                // A second question needs the snapshot of the first.
                2 => Ok(value * value_in::<i64>(tx, "select count(*) as value from counters")?),
                3 => Err(DbError::NoRow),
                _ => Ok(value),
            }
        });
        submitted.push((turn, value, submit(read).await));
    }
    for (turn, value, read) in submitted {
        match (turn % 4, read.answer().await) {
            (3, Err(DbError::NoRow)) => {}
            (2, Ok(found)) => assert_eq!(found, 3 * value),
            (_, found) => assert_eq!(found.unwrap(), value),
        }
    }
}

#[tokio::test]
async fn a_command_finds_the_row_that_it_has_added() {
    let notes = Notes::open();
    let mut submitted = Vec::new();
    for number in 0..10 {
        let body = format!("note {number}");
        submitted.push((
            number,
            submit(notes.write_together(move |tx| {
                let id = append_in(tx, &body)?;
                let found: String =
                    tx.query_one("select body from notes where id = $1", params![id], |row| row.get("body"))?;
                Ok::<_, DbError>(found)
            }))
            .await,
        ));
    }
    for (number, command) in submitted {
        assert_eq!(command.answer().await.unwrap(), format!("note {number}"));
    }
    assert_eq!(notes.bodies().await.len(), 10);
}

#[tokio::test]
async fn a_read_cannot_append() {
    let notes = Notes::open();
    let append = |tx: &mut Tx<'_>| tx.append(&NOTE, params!["x"]);
    assert!(notes.read(append).await.is_err());
    assert!(notes.read_urgent(append).await.is_err());
    assert_eq!(notes.bodies().await, [""; 0]);
}

#[tokio::test]
async fn without_a_server_every_command_and_read_is_answered() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    const COMMANDS: usize = 12;
    let notes = Notes::open();
    notes.write_together(append("before")).await.unwrap();
    notes.read_urgent(|tx| value_in::<i64>(tx, "select count(*) as value from notes")).await.unwrap();
    notes.place.go_away();
    let mut commands = Vec::new();
    let mut reads = Vec::new();
    for number in 0..COMMANDS {
        commands.push(submit(notes.write_together(append(format!("{number}")))).await);
        reads.push(submit(notes.read_urgent(|tx| value_in::<i64>(tx, "select count(*) as value from notes"))).await);
    }
    for command in commands {
        assert!(matches!(command.answer().await, Err(DbError::Unavailable(_))));
    }
    for read in reads {
        assert!(matches!(read.answer().await, Err(DbError::Unavailable(_))));
    }
    notes.place.come_back();
    notes.write_together(append("after")).await.unwrap();
}

/// Adds one to a counter by reading and writing it, as a command that runs alone may.
fn count_up(tx: &mut Tx<'_>, counter: &str) -> Result<i64, DbError> {
    tx.hold("counter", params![counter])?;
    let sql = "select value from counters where name = $1";
    let value: i64 = tx.query_one(sql, params![counter], |row| row.get("value"))?;
    let changed = tx.execute("update counters set value = $2 where name = $1", params![counter, value + 1])?;
    assert_eq!(changed, 1);
    // It sees what it has changed.
    let now = tx.query_one(sql, params![counter], |row| row.get("value"))?;
    tx.append(&NOTE, params![format!("{counter} {now}")])?;
    Ok(now)
}

#[tokio::test]
async fn commands_that_hold_what_they_change_lose_nothing() {
    const COUNTERS: i64 = 5;
    const EACH: i64 = 4;
    let notes = Notes::open_with(one_writer);
    let prepare = |tx: &mut Tx<'_>| {
        for counter in 0..COUNTERS {
            tx.execute("insert into counters (name, value) values ($1, 0)", params![format!("c{counter}")])?;
        }
        Ok::<_, DbError>(())
    };
    notes.write(prepare).await.unwrap();
    let (mut gate, doorway) = gate();
    let first = submit(notes.write_holding(move |tx| {
        doorway.pass();
        count_up(tx, "c0")
    }))
    .await;
    gate.reached().await;
    let mut submitted = Vec::new();
    for _ in 0..EACH {
        for counter in 0..COUNTERS {
            submitted.push(submit(notes.write_holding(move |tx| count_up(tx, &format!("c{counter}")))).await);
        }
    }
    gate.open();
    first.answer().await.unwrap();
    for command in submitted {
        command.answer().await.unwrap();
    }
    let total = notes.place.peek("select cast(sum(value) as bigint) from counters");
    assert_eq!(total, COUNTERS * EACH + 1);
    // Each number was given out once.
    let bodies = notes.bodies().await;
    assert_eq!(BTreeSet::from_iter(&bodies).len(), bodies.len(), "{bodies:?}");
    if runs_on(Engine::Postgres) {
        // The first of each counter share a transaction, and the others come after them.
        assert!(notes.commits().contains(&(COUNTERS as usize, 0)), "{:?}", notes.commits());
    }
}

#[tokio::test]
async fn a_command_that_fails_after_a_change_takes_no_other_with_it() {
    let notes = Notes::open_with(one_writer);
    let prepare = |tx: &mut Tx<'_>| {
        tx.execute("insert into counters (name, value) values ('a', 0), ('b', 0), ('c', 0), ('d', 0)", &[])
    };
    notes.write(prepare).await.unwrap();
    let (mut gate, doorway) = gate();
    let first = submit(notes.write_holding(move |tx| {
        doorway.pass();
        count_up(tx, "a")
    }))
    .await;
    gate.reached().await;
    let good = submit(notes.write_holding(|tx| count_up(tx, "b"))).await;
    let bad = submit(notes.write_holding(|tx| {
        count_up(tx, "c")?;
        Err::<(), _>(DbError::NoRow)
    }))
    .await;
    // It does not say what it changes, so it is run alone.
    let unheld =
        submit(notes.write_holding(|tx| tx.execute("update counters set value = 9 where name = 'd'", &[]))).await;
    gate.open();
    first.answer().await.unwrap();
    assert_eq!(good.answer().await.unwrap(), 1);
    assert!(matches!(bad.answer().await, Err(DbError::NoRow)));
    assert_eq!(unheld.answer().await.unwrap(), 1);
    assert_eq!(notes.place.peek("select cast(sum(value) as bigint) from counters"), 1 + 1 + 9);
    assert_eq!(notes.bodies().await, ["a 1", "b 1"]);
}

#[tokio::test]
async fn what_is_asked_ahead_is_what_is_found() {
    let notes = Notes::open();
    let prepare =
        |tx: &mut Tx<'_>| tx.execute("insert into counters (name, value) values ('a', 1), ('b', 2), ('c', 3)", &[]);
    notes.write(prepare).await.unwrap();
    fn value(tx: &mut Tx<'_>, name: &str) -> Result<i64, DbError> {
        tx.query_one("select value from counters where name = $1", params![name], |row| row.get("value"))
    }
    fn both_ahead(tx: &mut Tx<'_>) -> Result<(), DbError> {
        tx.ahead(|tx| {
            let _ = value(tx, "a");
            let _ = value(tx, "b");
            let _ = value(tx, "nobody");
        })
    }
    let read = |tx: &mut Tx<'_>| {
        both_ahead(tx)?;
        // Asked ahead or not, once or twice.
        Ok::<_, DbError>([value(tx, "b")?, value(tx, "a")?, value(tx, "c")?, value(tx, "a")?])
    };
    assert_eq!(notes.read(read).await.unwrap(), [2, 1, 3, 1]);
    let change = |tx: &mut Tx<'_>| {
        both_ahead(tx)?;
        tx.execute("update counters set value = 10 where name = 'a'", &[])?;
        Ok::<_, DbError>([value(tx, "a")?, value(tx, "b")?])
    };
    assert_eq!(notes.write(change).await.unwrap(), [10, 2]);
    // Nothing is changed ahead, and a failure to come is not one yet.
    let careless = |tx: &mut Tx<'_>| {
        tx.ahead(|tx| {
            let _ = tx.execute("update counters set value = 20 where name = 'b'", &[]);
            let _ = value(tx, "nobody");
        })?;
        value(tx, "b")
    };
    assert_eq!(notes.write(careless).await.unwrap(), 2);
}
