//! Followers are woken after a commit that signalled a change, in every hub, and only then.

use std::sync::{Arc, Mutex};

use stoa_db::{Database, DbError, Engine};
use tokio::sync::watch;

use crate::support::{NOTES, Notes, Place, break_in, gate, insert, insert_in, one_writer, runs_on, submit};

/// A follower that has seen the tick with which a PostgreSQL hub begins to listen.
async fn follow(db: &Database) -> watch::Receiver<u64> {
    let mut changes = db.changes();
    if db.engine() == Engine::Postgres {
        changes.wait_for(|ticks| *ticks > 0).await.unwrap();
    }
    changes.mark_unchanged();
    changes
}

#[tokio::test]
async fn a_change_ticks_after_its_commit_and_before_its_answer() {
    let notes = Notes::open_with(one_writer);
    let changes = follow(&notes).await;
    let (mut gate, doorway) = gate();
    let ticks_at_effect = Arc::new(Mutex::new(None));
    let command = {
        let (changes, ticks_at_effect) = (changes.clone(), ticks_at_effect.clone());
        notes.write(move |tx| {
            insert_in(tx, "x")?;
            tx.signal_change();
            doorway.pass();
            let (changes, ticks_at_effect) = (changes.clone(), ticks_at_effect.clone());
            tx.after_commit(move || *ticks_at_effect.lock().unwrap() = Some(changes.has_changed().unwrap()));
            Ok::<_, DbError>(())
        })
    };
    let command = submit(command).await;
    gate.reached().await;
    assert!(!changes.has_changed().unwrap(), "nothing is committed yet");
    gate.open();
    command.answer().await.unwrap();
    assert!(changes.has_changed().unwrap());
    // Whoever follows may rely on what the effects have prepared.
    assert_eq!(*ticks_at_effect.lock().unwrap(), Some(false));
}

#[tokio::test]
async fn failed_and_silent_commands_do_not_tick() {
    let notes = Notes::open_with(one_writer);
    let changes = follow(&notes).await;
    for number in 0..4 {
        let outcome = notes
            .write(move |tx| {
                tx.signal_change();
                insert_in(tx, "x")?;
                match number {
                    0 => Err(DbError::NoRow),
                    1 => break_in(tx).map(drop),
                    2 => panic!("after a signal (this is part of a test)"),
                    _ => {
                        let _ = break_in(tx);
                        Ok(())
                    }
                }
            })
            .await;
        assert!(outcome.is_err());
    }
    notes.write(insert("silent")).await.unwrap();
    let signalling_read = notes.read(|tx| {
        tx.signal_change();
        Ok::<_, DbError>(())
    });
    signalling_read.await.unwrap();
    assert!(!changes.has_changed().unwrap());
}

#[tokio::test]
async fn a_follower_finds_what_woke_it() {
    let notes = Notes::open();
    let mut changes = follow(&notes).await;
    let db = Database::clone(&notes);
    let follower = tokio::spawn(async move {
        loop {
            changes.changed().await.unwrap();
            if crate::support::bodies(&db).await.len() == 30 {
                return;
            }
        }
    });
    for number in 0..30 {
        notes
            .write(move |tx| {
                tx.signal_change();
                insert_in(tx, &number.to_string())
            })
            .await
            .unwrap();
    }
    follower.await.unwrap();
}

async fn two_hubs(place: &Place, other_folder: &tempfile::TempDir) -> (Database, Database) {
    let hub = place.open(NOTES).unwrap();
    let other = Database::open(place.options_in(other_folder.path()), NOTES).unwrap();
    (hub, other)
}

async fn announce(db: &Database, body: String) {
    db.write(move |tx| {
        tx.signal_change();
        insert_in(tx, &body)
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_change_wakes_the_other_hub_on_postgres() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let (place, other_folder) = (Place::new(), tempfile::tempdir().unwrap());
    let (hub, other) = two_hubs(&place, &other_folder).await;
    let (mut hub_changes, mut other_changes) = (follow(&hub).await, follow(&other).await);
    for round in 0..5 {
        announce(&hub, format!("from one {round}")).await;
        other_changes.changed().await.unwrap();
        assert!(crate::support::bodies(&other).await.contains(&format!("from one {round}")));
        announce(&other, format!("from the other {round}")).await;
        hub_changes.changed().await.unwrap();
        // A hub hears its own calls too, so wait until the other's is what is found.
        while !crate::support::bodies(&hub).await.contains(&format!("from the other {round}")) {
            hub_changes.changed().await.unwrap();
        }
        other_changes.mark_unchanged();
    }
}

#[tokio::test]
async fn the_last_change_before_a_close_wakes_the_other_hub_on_postgres() {
    if !runs_on(Engine::Postgres) {
        return;
    }
    let (place, other_folder) = (Place::new(), tempfile::tempdir().unwrap());
    let mut folders = Vec::new();
    let (first, other) = two_hubs(&place, &other_folder).await;
    first.close().await;
    let mut changes = follow(&other).await;
    for round in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let hub = Database::open(place.options_in(folder.path()), NOTES).unwrap();
        // While the first is being passed on, the second comes in and the hub goes.
        announce(&hub, format!("{round} a")).await;
        announce(&hub, format!("{round} b")).await;
        hub.close().await;
        while !crate::support::bodies(&other).await.contains(&format!("{round} b")) {
            changes.changed().await.unwrap();
        }
        folders.push(folder);
    }
}
