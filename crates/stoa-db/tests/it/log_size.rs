//! The write-ahead log becomes short again, whoever reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stoa_db::{Engine, HeldSnapshot};

use crate::support::{Notes, insert, runs_on};

const MIB: u64 = 1024 * 1024;
/// Larger than what the log may keep, also when only half of it is written to it.
const NOTES_TO_FILL_IT: usize = 640;

fn log_size(notes: &Notes) -> u64 {
    std::fs::metadata(notes.place.folder().join("stoa.db-wal")).map_or(0, |file| file.len())
}

fn large(number: usize) -> String {
    format!("{number} {}", "x".repeat(128 * 1024))
}

#[tokio::test]
async fn the_log_is_short_again_after_a_reader_that_took_its_time() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    notes.write(insert("first")).await.unwrap();
    let snapshot = HeldSnapshot::open(&notes.place.folder()).unwrap();
    for number in 0..NOTES_TO_FILL_IT {
        notes.write(insert(large(number))).await.unwrap();
    }
    assert!(log_size(&notes) > 100 * MIB, "{}", log_size(&notes));
    drop(snapshot);
    for number in 0..4 {
        notes.write(insert(format!("after {number}"))).await.unwrap();
    }
    assert!(log_size(&notes) <= 65 * MIB, "{}", log_size(&notes));
    notes.shut().await;
}

#[tokio::test]
async fn readers_who_follow_one_another_do_not_keep_the_log_from_ending() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    notes.write(insert("first")).await.unwrap();
    let (folder, is_over) = (notes.place.folder(), Arc::new(AtomicBool::new(false)));
    let has_ended = is_over.clone();
    // The next one is there before the last one goes, and each sees several commits come.
    let readers = std::thread::spawn(move || {
        let mut snapshot = HeldSnapshot::open(&folder).unwrap();
        while !has_ended.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(15));
            let next = HeldSnapshot::open(&folder).unwrap();
            drop(std::mem::replace(&mut snapshot, next));
        }
    });
    let mut largest = 0;
    for number in 0..NOTES_TO_FILL_IT {
        notes.write(insert(large(number))).await.unwrap();
        largest = largest.max(log_size(&notes));
    }
    is_over.store(true, Ordering::Relaxed);
    readers.join().unwrap();
    // Without being made to, it would have kept everything that was written.
    assert!(largest <= 100 * MIB, "{largest}");
    notes.shut().await;
}
