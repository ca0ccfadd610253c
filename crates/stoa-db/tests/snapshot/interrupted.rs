//! Dumps beside writers, and dumps and loads that somebody ends.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stoa_db::{DbError, SnapshotError, SnapshotSink, SnapshotSource};

use crate::store::{Dump, Memory, Store, engines, fill_notes, insert_pair};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_shows_one_moment() {
    for engine in engines() {
        let store = Store::new(engine);
        store
            .write(|tx| {
                for _ in 0..2000 {
                    insert_pair(tx)?;
                }
                Ok::<_, DbError>(())
            })
            .await
            .unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let (db, stop) = (store.db.clone(), stop.clone());
                tokio::spawn(async move {
                    let mut written: i64 = 0;
                    while !stop.load(Ordering::Relaxed) {
                        db.write(insert_pair).await.unwrap();
                        written += 1;
                    }
                    written
                })
            })
            .collect();
        let mut sizes = Vec::new();
        for _ in 0..4 {
            let before = store.number("select count(*) from rights").await;
            // `log` and `lefts` come before `rights`; a pause between them leaves time to write.
            let (manifest, sink) = store.dump(Slow::default()).await.unwrap();
            let after = store.number("select count(*) from rights").await;
            assert!(after > before, "writes went on");
            let dump = Dump { manifest, memory: sink.memory };
            dump.verify().unwrap();
            let copy = Store::restored(engine, &dump).await;
            let (lefts, rights) = (
                copy.number("select count(*) from lefts").await,
                copy.number("select count(*) from rights join lefts on lefts.id = left_id").await,
            );
            assert_eq!(lefts, rights);
            assert_eq!(lefts, copy.number("select count(*) from log").await);
            assert!((before..after).contains(&lefts), "{before} {lefts} {after}");
            sizes.push(lefts);
        }
        stop.store(true, Ordering::Relaxed);
        let mut written = 2000;
        for writer in writers {
            written += writer.await.unwrap();
        }
        assert_eq!(store.number("select count(*) from rights").await, written);
        assert!(sizes.is_sorted());
    }
}

/// Takes its time between tables, as a sink does that compresses.
#[derive(Default)]
struct Slow {
    memory: Memory,
}

impl SnapshotSink for Slow {
    fn begin_table(&mut self, name: &str) -> io::Result<()> {
        self.memory.begin_table(name)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.memory.write(bytes)
    }

    fn end_table(&mut self) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(30));
        self.memory.end_table()
    }
}

/// Fails, panics or waits at the first bytes of a table.
struct Stubborn {
    behaviour: Behaviour,
    reached: Option<tokio::sync::oneshot::Sender<()>>,
}

#[derive(Clone, Copy)]
enum Behaviour {
    Fail,
    Panic,
    WaitForEver,
}

impl SnapshotSink for Stubborn {
    fn begin_table(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        if let Some(reached) = self.reached.take() {
            let _ = reached.send(());
        }
        match self.behaviour {
            Behaviour::Fail => Err(io::ErrorKind::StorageFull.into()),
            Behaviour::Panic => panic!("a test's sink"),
            Behaviour::WaitForEver => {
                std::thread::sleep(Duration::from_millis(5));
                Ok(())
            }
        }
    }

    fn end_table(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_ends_when_its_sink_or_its_caller_does() {
    for engine in engines() {
        let store = Store::new(engine);
        fill_notes(&store, 20_000, 500).await;
        let stubborn = |behaviour| {
            let (reached, wait) = tokio::sync::oneshot::channel();
            (Stubborn { behaviour, reached: Some(reached) }, wait)
        };
        let error = store.dump(stubborn(Behaviour::Fail).0).await.err().unwrap();
        assert!(
            matches!(&error, SnapshotError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull),
            "{error}"
        );
        let error = store.dump(stubborn(Behaviour::Panic).0).await.err().unwrap();
        assert!(matches!(error, SnapshotError::Database(DbError::Panicked)), "{error}");

        // The caller goes away: the sink is dropped soon after.
        let (sink, reached) = stubborn(Behaviour::WaitForEver);
        let (gone, is_gone) = tokio::sync::oneshot::channel();
        let db = store.db.clone();
        let dump = tokio::spawn(async move { db.dump(Dropped { sink, _gone: gone }).await.map(drop) });
        reached.await.unwrap();
        dump.abort();
        assert!(is_gone.await.is_err());

        // The database is closed: the dump ends, and `close` waits for that.
        let (sink, reached) = stubborn(Behaviour::WaitForEver);
        let db = store.db.clone();
        let dump = tokio::spawn(async move { db.dump(sink).await.map(drop) });
        reached.await.unwrap();
        store.close().await;
        let error = dump.await.unwrap().unwrap_err();
        assert!(matches!(error, SnapshotError::Database(DbError::Closed)), "{error}");
        assert!(matches!(store.dump(Memory::default()).await, Err(SnapshotError::Database(DbError::Closed))));
    }
}

/// Tells when it is dropped.
struct Dropped {
    sink: Stubborn,
    _gone: tokio::sync::oneshot::Sender<()>,
}

impl SnapshotSink for Dropped {
    fn begin_table(&mut self, name: &str) -> io::Result<()> {
        self.sink.begin_table(name)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.write(bytes)
    }

    fn end_table(&mut self) -> io::Result<()> {
        self.sink.end_table()
    }
}

/// Rows without end, slowly. Tells when the first is read, and when it is dropped.
struct Endless {
    reached: Option<tokio::sync::oneshot::Sender<()>>,
    _gone: tokio::sync::oneshot::Sender<()>,
    rows: u64,
    memory: Memory,
}

impl SnapshotSource for Endless {
    fn open_table(&mut self, name: &str) -> io::Result<Box<dyn BufRead + '_>> {
        if name == "lefts" { Ok(Box::new(BufReader::new(self))) } else { self.memory.open_table(name) }
    }
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(reached) = self.reached.take() {
            let _ = reached.send(());
        }
        std::thread::sleep(Duration::from_millis(1));
        self.rows += 1;
        let line = format!("[{},\"endless\"]\n", self.rows);
        buffer[..line.len()].copy_from_slice(line.as_bytes());
        Ok(line.len())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_that_nobody_waits_for_is_undone() {
    for engine in engines() {
        let store = Store::new(engine);
        let before = store.dump_to_memory().await;
        let mut dump = before.clone();
        dump.entry("lefts").rows = u64::MAX;
        let (reached, is_reached) = tokio::sync::oneshot::channel();
        let (gone, is_gone) = tokio::sync::oneshot::channel();
        let source = Endless { reached: Some(reached), _gone: gone, rows: 0, memory: dump.memory };
        let (db, manifest) = (store.db.clone(), dump.manifest);
        let load = tokio::spawn(async move { db.load(manifest, source).await });
        is_reached.await.unwrap();
        load.abort();
        assert!(is_gone.await.is_err());
        before.assert_same(&store.dump_to_memory().await);
        store.write(insert_pair).await.unwrap();
        assert_eq!(store.number("select max(id) from lefts").await, 1);
    }
}
