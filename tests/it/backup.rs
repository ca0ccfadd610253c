//! Backups: taken while the hub works, restored into a hub that is the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use stoa::features::backup::{self, RestoreTarget};
use stoa_model::Secret;

use crate::support::{HOUR, Human, MINUTE, PASSWORD, Setup, TestDatabase, TestHub, eventually};

/// A place to restore to, on the engine of this run.
pub(crate) struct Target {
    folder: tempfile::TempDir,
    database: Option<Arc<TestDatabase>>,
}

impl Target {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: TestDatabase::create() }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("restored")
    }

    pub(crate) async fn restore(&self, backup: &Path) -> Result<(), backup::RestoreError> {
        let database_url = self.database.as_ref().map(|database| Secret::new(database.url.clone()));
        backup::restore(backup, RestoreTarget { data: self.data(), database_url, attachments_url: None })
            .await
            .map(drop)
    }

    /// The setup of `original`, on what was restored.
    pub(crate) fn setup(&self, original: &Setup) -> Setup {
        let mut setup = original.clone().configure(|config| {
            config.data = self.data();
            config.admin_socket = Some(self.data().join("admin.sock"));
            config.database_url = self.database.as_ref().map(|database| Secret::new(database.url.clone()));
        });
        setup.database = self.database.clone();
        setup
    }
}

pub(crate) async fn back_up(hub: &TestHub, folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    hub.operator().call("backup.create", json!({"path": path})).await;
    path
}

#[tokio::test]
async fn a_restored_hub_is_the_same_hub() {
    let hub = TestHub::start().await;
    let owner = hub.human("owner").await;
    let agent = owner.agent("scout").await;
    let (_, key) = owner.key("scout", json!(["messages:read"])).await;
    let gone = owner.agent("gone").await;
    owner.delete("/api/agents/gone").await.ok();
    let first = owner.post("/api/agents", &json!({"name": "once"})).header("Idempotency-Key", "k").await.ok();
    let page = owner.get("/api/agents?limit=1").await.ok().json();

    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup.tar.gz").await;
    let after = owner.agent("after-the-backup").await;
    let original = hub.stop().await;

    let target = Target::new();
    target.restore(&backup).await.unwrap();
    let restored = target.setup(&original).start().await;

    // Passwords, sessions, keys, names, cursors and answers that were given once: all as they were.
    let owner_again = restored.log_in("owner").await;
    let same_session = restored.nobody().with(owner.proof.clone());
    same_session.get("/auth/me").await.status(200);
    restored.nobody().bearer(&agent.key).get("/api/agents/scout").await.status(200);
    restored.nobody().bearer(&key).get("/api/agents/scout").await.status(200);
    restored.nobody().bearer(&gone.key).get("/api/agents").await.problem(401, "invalid_credentials");
    owner_again.post("/api/agents", &json!({"name": "gone"})).await.problem(409, "name_taken");
    let cursor = page["next_cursor"].as_str().unwrap();
    same_session.get(&format!("/api/agents?limit=1&cursor={cursor}")).await.status(200);
    let replayed = owner_again.post("/api/agents", &json!({"name": "once"})).header("Idempotency-Key", "k").await.ok();
    assert_eq!(replayed.json(), first.json());

    // What came after the backup is not there, and its number is free again only because of that.
    restored.nobody().bearer(&after.key).get("/api/agents").await.problem(401, "invalid_credentials");
    let next = owner_again.agent("next").await;
    assert!(next.id > first.json()["agent"]["id"].as_i64().unwrap());
    restored.finish().await;
}

#[tokio::test]
async fn a_backup_taken_while_writes_go_on_is_one_moment() {
    let hub = TestHub::start().await;
    let writers = 4;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks = Vec::new();
    for writer in 0..writers {
        let owner: Human = hub.human(&format!("writer{writer}")).await;
        let is_over = is_over.clone();
        tasks.push(tokio::spawn(async move {
            let mut made = 0;
            while !is_over.load(Ordering::Relaxed) {
                owner.agent(&format!("agent-{writer}-{made}")).await;
                made += 1;
            }
            made
        }));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut backups = Vec::new();
    for number in 0..3 {
        backups.push(back_up(&hub, folder.path(), &format!("{number}.tar.gz")).await);
    }
    is_over.store(true, Ordering::Relaxed);
    for task in tasks {
        assert!(task.await.unwrap() > 0);
    }
    let original = hub.stop().await;

    for backup in backups {
        let target = Target::new();
        target.restore(&backup).await.unwrap();
        let restored = target.setup(&original).start().await;
        // Each agent comes with its key, its audit entry and its event, or not at all.
        let agents = restored.count("select count(*) as n from agents").await;
        for sql in [
            "select count(*) as n from principals where kind = 'agent'",
            "select count(*) as n from agent_keys",
            "select count(*) as n from audit where action = 'agent.created'",
            "select count(*) as n from outbox where payload like '%\"principal_kind\":\"agent\"%'",
        ] {
            assert_eq!(restored.count(sql).await, agents, "{sql}");
        }
        // And no agent is missing among those made before another.
        for writer in 0..writers {
            let owner = restored.log_in(&format!("writer{writer}")).await;
            let names: Vec<_> = owner.list("/api/agents").await.iter().map(|agent| agent["name"].to_string()).collect();
            for number in 0..names.len() {
                let name = format!("\"agent-{writer}-{number}\"");
                assert!(names.contains(&name), "{name} is missing in {names:?}");
            }
        }
        restored.finish().await;
    }
}

#[tokio::test]
async fn a_damaged_backup_is_refused_and_leaves_nothing() {
    let hub = TestHub::start().await;
    hub.human("owner").await.agent("scout").await;
    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "good.tar.gz").await;
    hub.finish().await;
    let good = std::fs::read(&backup).unwrap();
    let damaged = folder.path().join("damaged.tar.gz");
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        // A single bit may be one that the compressed form does not use.
        bytes[at..at + 16].iter_mut().for_each(|byte| *byte ^= 0xff);
        bytes
    };
    let cases = [
        Vec::new(),
        b"not a backup".to_vec(),
        good[..good.len() / 2].to_vec(),
        flipped(good.len() / 3),
        flipped(good.len() / 2),
        flipped(good.len() * 2 / 3),
    ];
    for (number, bytes) in cases.into_iter().enumerate() {
        std::fs::write(&damaged, bytes).unwrap();
        let target = Target::new();
        assert!(target.restore(&damaged).await.is_err(), "case {number}");
        let left: Vec<_> = std::fs::read_dir(target.folder.path()).unwrap().collect();
        assert!(left.is_empty(), "case {number} left {left:?}");
    }
}

#[tokio::test]
async fn a_backup_goes_to_a_new_file_and_a_restore_to_a_new_folder() {
    use std::os::unix::fs::PermissionsExt;
    let hub = TestHub::start().await;
    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup.tar.gz").await;
    assert_eq!(std::fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    let before = std::fs::read(&backup).unwrap();
    for (path, code) in [
        (backup.clone(), "file_exists"),
        (PathBuf::from("relative.tar.gz"), "validation_failed"),
        (folder.path().join("no/such/folder.tar.gz"), "backup_failed"),
    ] {
        let refused = hub.operator().try_call("backup.create", &json!({"path": path})).await;
        assert_eq!(refused.unwrap_err(), code, "{}", path.display());
    }
    assert_eq!(std::fs::read(&backup).unwrap(), before);

    let target = Target::new();
    std::fs::create_dir(target.data()).unwrap();
    std::fs::write(target.data().join("something"), "precious").unwrap();
    assert!(matches!(target.restore(&backup).await, Err(backup::RestoreError::NotEmpty(_))));
    assert_eq!(std::fs::read_to_string(target.data().join("something")).unwrap(), "precious");
    std::fs::remove_file(target.data().join("something")).unwrap();
    target.restore(&backup).await.unwrap();
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1, "nothing is left beside the backup");
    hub.finish().await;
}

#[tokio::test]
async fn a_backup_crosses_from_one_engine_to_the_other() {
    let hub = TestHub::start().await;
    hub.human("owner").await.agent("scout").await;
    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup.tar.gz").await;
    let original = hub.stop().await;
    // Into SQLite from either engine; into PostgreSQL is what every other test here does there.
    let target = Target { folder: tempfile::tempdir().unwrap(), database: None };
    target.restore(&backup).await.unwrap();
    let restored = target.setup(&original).start().await;
    let owner = Human::log_in(&restored.nobody(), "owner", PASSWORD).await;
    owner.get("/api/agents/scout").await.status(200);
    owner.agent("another").await;
    let second = back_up(&restored, folder.path(), "second.tar.gz").await;
    let original = restored.stop().await;

    let back = Target::new();
    back.restore(&second).await.unwrap();
    let restored = back.setup(&original).start().await;
    restored.log_in("owner").await.get("/api/agents/another").await.status(200);
    restored.finish().await;
}

#[tokio::test]
async fn a_backup_holds_only_the_key_that_is_in_force() {
    let hub = TestHub::start().await;
    hub.operator().call("db.rotate_key", json!({})).await;
    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup.tar.gz").await;
    let target = Target::new();
    target.restore(&backup).await.unwrap();
    let key = std::fs::read_to_string(target.data().join("key")).unwrap();
    assert_eq!(key, std::fs::read_to_string(hub.folder().join("key")).unwrap());
    assert_eq!(key.lines().count(), 1);
    hub.finish().await;
}

/// Reads an archive's entries: their names and contents.
pub(crate) fn unpacked(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()));
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).unwrap();
        (String::from_utf8(entry.path_bytes().into_owned()).unwrap(), content)
    });
    entries.collect()
}

fn packed(entries: &[(String, Vec<u8>)], path: &Path) {
    let file = std::fs::File::create(path).unwrap();
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
    for (name, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, name, &content[..]).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
}

#[tokio::test]
async fn attachments_are_part_of_a_backup() {
    let hub = TestHub::setup().may_fail().start().await;
    let owner = hub.human("owner").await;
    let scout = owner.agent("scout").await;
    let kept = owner.uploaded("kept.txt", b"kept").await;
    let long: Vec<u8> = std::iter::repeat_n(b"0123456789abcdef", 20_000).flatten().copied().collect();
    let sent = owner.uploaded("long.txt", &long).await;
    let said = owner.send(json!({"channel": "general", "body": "", "attachments": [sent]})).await;
    let lost = owner.uploaded("lost.txt", b"lost").await;
    let shard = hub.folder().join("attachments").join(&lost[..2]);
    let file = std::fs::read_dir(&shard).unwrap().map(|entry| entry.unwrap().path());
    std::fs::remove_file(file.into_iter().find(|path| path.to_str().unwrap().contains(&lost[2..])).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.tar.gz");
    let made = hub.operator().call("backup.create", json!({"path": path})).await;
    assert_eq!((&made["attachments"], &made["missing_attachments"]), (&json!(2), &json!([lost])));
    let original = hub.stop().await;

    let target = Target::new();
    target.restore(&path).await.unwrap();
    let restored = target.setup(&original).may_fail().start().await;
    let owner = restored.log_in("owner").await;
    assert_eq!(owner.download(&kept).await.status(200).text(), "kept");
    assert_eq!(owner.download(&sent).await.status(200).body, long);
    owner.download(&lost).may_fail().await.problem(500, "attachment_missing");
    assert_eq!(owner.message(&said).await["attachments"][0]["filename"], "long.txt");
    restored.nobody().bearer(&scout.key).download(&sent).await.status(200);
    restored.finish().await;

    // One that says something else is refused, and so is one that is not there.
    let entries = unpacked(&path);
    let at = entries.iter().position(|(name, _)| *name == format!("attachments/{kept}")).unwrap();
    let changed = |content: &[u8]| {
        let mut entries = entries.clone();
        entries[at].1 = content.to_vec();
        entries
    };
    let mut without = entries.clone();
    without.remove(at);
    let more = [&entries[..], &[("attachments/more".to_owned(), b"x".to_vec())]].concat();
    for (number, entries) in
        [changed(b"kepT"), changed(b"kept and more"), changed(b""), without, more].iter().enumerate()
    {
        let bad = folder.path().join(format!("bad{number}.tar.gz"));
        packed(entries, &bad);
        let target = Target::new();
        assert!(target.restore(&bad).await.is_err(), "case {number}");
        assert_eq!(std::fs::read_dir(target.folder.path()).unwrap().count(), 0, "case {number}");
    }
    packed(&entries, &folder.path().join("same.tar.gz"));
    Target::new().restore(&folder.path().join("same.tar.gz")).await.unwrap();
}

/// What is forgotten while a backup reads it is there until it has been read.
#[tokio::test]
async fn a_backup_holds_what_it_is_about_to_read() {
    let hub = TestHub::start().await;
    let owner = hub.human("owner").await;
    let scout = owner.agent("scout").await;
    let files = || walk(&hub.folder().join("attachments"));
    let sha256 = scout.uploaded("a.txt", b"hello").await;
    let sent = scout.send(json!({"channel": "general", "body": "x", "attachments": [sha256]})).await;
    hub.advance(25 * HOUR);
    hub.settle().await;
    let hold = stoa::features::attachments::hold(hub.inner()).await.unwrap();
    scout.take_back(&sent).await.ok();
    let collect = async || {
        hub.operator().call("attachments.gc", json!({})).await;
        (files(), hub.count("select count(*) as n from blob_removals").await)
    };
    assert_eq!(collect().await, (1, 1));
    scout.download(&sha256).await.problem(404, "not_found");
    // It is renewed for as long as it takes.
    for _ in 0..12 {
        hub.advance(MINUTE);
        let due = hub.now_ms() + 10 * 60_000;
        eventually("the hold is renewed", async || hub.count("select max(until_ms) as n from blob_holds").await == due)
            .await;
    }
    assert_eq!(collect().await, (1, 1));
    hold.end().await.unwrap();
    assert_eq!(collect().await, (0, 0));
    // One whose hub has died is over after a while.
    let hold = stoa::features::attachments::hold(hub.inner()).await.unwrap();
    drop(hold);
    let sha256 = scout.uploaded("b.txt", b"other").await;
    let sent = scout.send(json!({"channel": "general", "body": "x", "attachments": [sha256]})).await;
    hub.advance(25 * HOUR);
    hub.settle().await;
    scout.take_back(&sent).await.ok();
    assert_eq!(collect().await, (0, 0));
    hub.finish().await;
}

fn walk(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}
