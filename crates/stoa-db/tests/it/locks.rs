//! Locks that somebody else holds, on PostgreSQL: who needs them waits for a while, and nobody else does.

use stoa_db::{DbError, Engine, Tx, params};

use crate::support::{Notes, insert, off_the_runtime, one_writer, runs_on, submit, value_in};

/// A transaction outside of any hub.
struct Outsider(Option<::postgres::Client>);

impl Outsider {
    fn begin(notes: &Notes, statement: &str) -> Self {
        let url = notes.place.url().unwrap();
        Self(Some(off_the_runtime(|| {
            let mut client = ::postgres::Client::connect(url, ::postgres::NoTls).unwrap();
            client.batch_execute("begin").unwrap();
            client.batch_execute(statement).unwrap();
            client
        })))
    }
}

impl Drop for Outsider {
    fn drop(&mut self) {
        let client = self.0.take();
        off_the_runtime(|| drop(client));
    }
}

fn add(name: &'static str) -> impl Fn(&mut Tx<'_>) -> Result<u64, DbError> + Send + 'static {
    move |tx| tx.execute("update counters set value = value + 1 where name = $1", params![name])
}

async fn counters() -> Notes {
    let notes = Notes::open_with(one_writer);
    let prepare =
        |tx: &mut Tx<'_>| tx.execute("insert into counters (name, value) values ('held', 0), ('free', 0)", &[]);
    notes.write(prepare).await.unwrap();
    notes
}

#[tokio::test]
async fn a_held_row_keeps_only_those_waiting_who_need_it() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = counters().await;
    let outsider = Outsider::begin(&notes, "select * from counters where name = 'held' for update");
    let mut waiting = Vec::new();
    for _ in 0..12 {
        waiting.push(submit(notes.write(add("held"))).await);
    }
    // One writer serves them all, and those who need the row came first.
    for number in 0..20 {
        notes.write(add("free")).await.unwrap();
        notes.write_together(insert(format!("note {number}"))).await.unwrap();
    }
    for command in waiting {
        let outcome = command.answer().await;
        assert!(matches!(&outcome, Err(error @ DbError::Locked(_)) if error.is_unavailable()), "{outcome:?}");
    }
    drop(outsider);
    notes.write(add("held")).await.unwrap();
    let value = |name: &str| notes.place.peek(&format!("select value from counters where name = '{name}'"));
    assert_eq!((value("held"), value("free")), (1, 20));
}

#[tokio::test]
async fn a_row_that_is_let_go_of_in_time_is_got() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let notes = counters().await;
    let outsider = Outsider::begin(&notes, "select * from counters where name = 'held' for update");
    let waiting = submit(notes.write(add("held"))).await;
    // Until the hub waits for it.
    let waits = "select count(*) as value from pg_stat_activity
        where datname = current_database() and application_name = 'stoa' and wait_event_type = 'Lock'";
    while notes.read(move |tx| value_in::<i64>(tx, waits)).await.unwrap() == 0 {}
    drop(outsider);
    assert_eq!(waiting.answer().await.unwrap(), 1);
}
