//! A second process for the tests that need one: this test binary again, told by its environment
//! what to do. A program of its own would have to be found, and built, by other means.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stoa_db::{Database, DbError, OpenError, Options};

use crate::support::{NOTES, Place, insert, insert_in, submit, value_in, while_writer_is_held};

const ROLE: &str = "STOA_DB_TEST_CHILD";
const FOLDER: &str = "STOA_DB_TEST_CHILD_FOLDER";
const URL: &str = "STOA_DB_TEST_CHILD_URL";

/// What the child does.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    /// Opens the database, or says why it cannot; then stays until it is told to end.
    Open,
    /// Commits a note, says so before the answer is given, and never gets any further.
    StopAfterCommit,
    /// Stores notes from several clients and acknowledges each one.
    Acknowledge,
    /// Runs out of space in the middle of a batch, and goes on when there is some again.
    FillDisk { spills: bool },
}

const ROLES: &[(Role, &str)] = &[
    (Role::Open, "open"),
    (Role::StopAfterCommit, "stop-after-commit"),
    (Role::Acknowledge, "acknowledge"),
    (Role::FillDisk { spills: false }, "fill-disk"),
    (Role::FillDisk { spills: true }, "fill-disk-early"),
];

pub(crate) const ACKNOWLEDGING_CLIENTS: usize = 6;
pub(crate) const ACKNOWLEDGED_EACH: usize = 8;
pub(crate) const NOTES_OF_FULL_BATCH: usize = 24;

/// A running child. It is killed when the test lets go of it.
pub(crate) struct Helper {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Helper {
    pub(crate) fn start(role: Role, place: &Place) -> Self {
        Self::start_under(&[], role, &place.folder(), place.url())
    }

    /// Starts it under a program that becomes the child in the end, such as `setpriv`.
    pub(crate) fn start_under(wrapper: &[&str], role: Role, folder: &Path, url: Option<&str>) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut command = match wrapper {
            [] => Command::new(&program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(&program);
                command
            }
        };
        let (_, name) = ROLES.iter().find(|(candidate, _)| *candidate == role).unwrap();
        command.args(["--exact", "child::run_as_child", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, name).env(FOLDER, folder).env_remove(URL);
        if let Some(url) = url {
            command.env(URL, url);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        Self { process, input, output: BufReader::new(output) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The next line the child has said; none when it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            // The test harness talks on the same pipe.
            if let Some(said) = line.strip_prefix("child: ") {
                return Some(said.trim_end().to_owned());
            }
            line.clear();
        }
        None
    }

    pub(crate) fn expect(&mut self, said: &str) {
        assert_eq!(self.hear().as_deref(), Some(said));
    }

    pub(crate) fn tell(&mut self) {
        self.input.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// SIGKILL. When this returns, the process is gone with all that it held.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::iter::from_fn(|| self.hear()).collect()
    }

    /// Lets it end by itself; returns what it said on the way.
    pub(crate) fn finish(mut self) -> Vec<String> {
        drop(self.input.take());
        let said = std::iter::from_fn(|| self.hear()).collect();
        let status = self.process.wait().unwrap();
        assert!(status.success(), "the child failed: {status}, after {said:?}");
        said
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // Both fail when it has ended, which is what is wanted.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One write, so that nothing of another thread gets in between.
fn say(what: &str) {
    let mut output = std::io::stdout().lock();
    output.write_all(format!("child: {what}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}

/// Waits until the parent tells us to go on; false when it wants us to end.
fn hear() -> bool {
    std::io::stdin().lock().read(&mut [0]).unwrap() == 1
}

#[test]
fn run_as_child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (role, _) = ROLES.iter().find(|(_, name)| *name == role).unwrap();
    // The harness has begun a line of its own.
    std::io::stdout().lock().write_all(b"\n").unwrap();
    let mut options = Options::new(std::env::var(FOLDER).unwrap());
    options.postgres_url = std::env::var(URL).ok();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    match role {
        Role::Open => open(options),
        Role::StopAfterCommit => runtime.block_on(stop_after_commit(options)),
        Role::Acknowledge => runtime.block_on(acknowledge(options)),
        Role::FillDisk { spills } => runtime.block_on(fill_disk(options, *spills)),
    }
}

fn open(options: Options) {
    match Database::open(options, NOTES) {
        Ok(_db) => {
            say("opened");
            hear();
        }
        Err(error) => {
            let kind = match error {
                OpenError::Locked(_) => "Locked",
                OpenError::Folder { .. } => "Folder",
                OpenError::Full(_) => "Full",
                OpenError::Damaged { .. } => "Damaged",
                _ => "another",
            };
            say(&format!("{kind}: {error}"));
        }
    }
}

async fn stop_after_commit(mut options: Options) {
    options.observer = Some(Arc::new(|_| {
        say("committed");
        // Until the end of this process, which is near.
        loop {
            std::thread::park();
        }
    }));
    let db = Database::open(options, NOTES).unwrap();
    let outcome = db.write(insert("once")).await;
    say(&format!("answered {outcome:?}"));
}

async fn acknowledge(options: Options) {
    let db = Database::open(options, NOTES).unwrap();
    let clients: Vec<_> = (0..ACKNOWLEDGING_CLIENTS)
        .map(|client| {
            let db = db.clone();
            tokio::spawn(async move {
                for number in 0..ACKNOWLEDGED_EACH {
                    let marker = crate::sync_order::marker(client * 1000 + number);
                    db.write(insert(marker.clone())).await.unwrap();
                    say(&format!("ack {marker}"));
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    db.close().await;
}

async fn fill_disk(options: Options, spills: bool) {
    let db = Database::open(options, NOTES).unwrap();
    db.write(insert("before")).await.unwrap();
    // The parent takes the space away.
    say("ready");
    hear();
    for round in 0..2 {
        let (ran, outcomes) = big_batch(&db, &format!("full {round}"), spills).await;
        // Of a batch that outgrows the cache, the rest is not even tried.
        assert_eq!(ran < NOTES_OF_FULL_BATCH, spills, "{ran} commands ran");
        for outcome in outcomes {
            assert!(
                matches!(&outcome, Err(error @ (DbError::Full | DbError::Unavailable(_))) if error.is_unavailable()),
                "{outcome:?}"
            );
            say(if matches!(outcome, Err(DbError::Full)) { "full" } else { "unavailable" });
        }
        assert_eq!(crate::support::bodies(&db).await, ["before"], "reads go on, and see none of it");
    }
    // The parent gives it back, and the same handle works.
    say("give");
    hear();
    let (ran, outcomes) = big_batch(&db, "after", spills).await;
    assert_eq!(ran, NOTES_OF_FULL_BATCH);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(crate::support::bodies(&db).await.len(), 1 + NOTES_OF_FULL_BATCH);
    let integrity: String =
        db.read(|tx| value_in(tx, "select integrity_check as value from pragma_integrity_check")).await.unwrap();
    assert_eq!(integrity, "ok");
    db.close().await;
    say("done");
}

/// Commands of 64 KiB each in one batch: how many ran, and what was answered.
async fn big_batch(db: &Database, name: &str, spills: bool) -> (usize, Vec<Result<i64, DbError>>) {
    if spills {
        // With a cache this small SQLite writes to the disk long before the commit.
        db.write(|tx| tx.execute_batch("pragma cache_size = 10")).await.unwrap();
    }
    let ran = Arc::new(AtomicUsize::new(0));
    let queued = while_writer_is_held(db, async || {
        let mut queued = Vec::new();
        for number in 0..NOTES_OF_FULL_BATCH {
            let (ran, body) = (ran.clone(), format!("{name} {number} {}", "x".repeat(64 << 10)));
            let command = db.write(move |tx| {
                ran.fetch_add(1, Ordering::SeqCst);
                insert_in(tx, &body)
            });
            queued.push(submit(command).await);
        }
        queued
    })
    .await;
    let mut outcomes = Vec::new();
    for command in queued {
        outcomes.push(command.answer().await);
    }
    (ran.load(Ordering::SeqCst), outcomes)
}
