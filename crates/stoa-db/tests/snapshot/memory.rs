//! Many rows need little memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stoa_db::{SnapshotSink, SnapshotSource};

use crate::store::{Store, engines, fill_notes};

/// Bytes of this process that no file backs.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// A file for each table, and the most memory that was seen in use.
struct Spool {
    folder: PathBuf,
    file: Option<File>,
    peak: Arc<AtomicU64>,
}

impl SnapshotSink for Spool {
    fn begin_table(&mut self, name: &str) -> io::Result<()> {
        self.file = Some(File::create(self.folder.join(name))?);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.peak.fetch_max(resident_bytes(), Ordering::Relaxed);
        self.file.as_mut().unwrap().write_all(bytes)
    }

    fn end_table(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SnapshotSource for Spool {
    fn open_table(&mut self, name: &str) -> io::Result<Box<dyn BufRead + '_>> {
        let file = File::open(self.folder.join(name))?;
        Ok(Box::new(BufReader::with_capacity(1 << 16, Watched { file, peak: self.peak.clone() })))
    }
}

struct Watched {
    file: File,
    peak: Arc<AtomicU64>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.peak.fetch_max(resident_bytes(), Ordering::Relaxed);
        self.file.read(buffer)
    }
}

#[expect(clippy::disallowed_methods, reason = "reports a rate")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_rows_need_little_memory() {
    const ROWS: i64 = 100_000;
    for engine in engines() {
        let source = Store::new(engine);
        fill_notes(&source, ROWS, 600).await;
        let folder = tempfile::tempdir().unwrap();
        let spool = || {
            let base = resident_bytes();
            (Spool { folder: folder.path().to_owned(), file: None, peak: Arc::new(AtomicU64::new(base)) }, base)
        };
        let mut report = String::new();
        let mut note = |what: &str, started: std::time::Instant, memory: u64| {
            let rate = 100_000.0 / started.elapsed().as_secs_f64();
            report += &format!("{}: {what} {rate:.0} rows/s, {} MiB more memory; ", engine.name(), memory >> 20);
        };

        let (sink, base) = spool();
        let started = now();
        let (manifest, sink) = source.dump(sink).await.unwrap();
        let dumping = sink.peak.load(Ordering::Relaxed) - base;
        note("dump", started, dumping);
        let size = std::fs::metadata(folder.path().join("samples")).unwrap().len();
        assert!(size > 70_000_000, "{size}");

        let started = now();
        let file = File::open(folder.path().join("samples")).unwrap();
        manifest.verify("samples", BufReader::new(file)).unwrap();
        note("verify", started, 0);

        let target = Store::new(engine);
        let (files, base) = spool();
        let peak = files.peak.clone();
        let started = now();
        target.load(manifest, files).await.unwrap();
        let loading = peak.load(Ordering::Relaxed) - base;
        note("load", started, loading);
        assert_eq!(target.number("select count(*) from samples").await, ROWS);
        println!("{report}{} MB", size / 1_000_000);
        // SQLite caches 8 MiB for the one and 64 MiB for the other; other tests run beside this one.
        assert!(dumping < 50 << 20 && loading < 100 << 20, "{report}");
    }
}
