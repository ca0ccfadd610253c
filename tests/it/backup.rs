//! Backups: taken while the hub works, restored into a hub that is the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use stoa::features::backup::{self, RestoreTarget};
use stoa_model::Secret;

use crate::support::{Human, PASSWORD, Setup, TestDatabase, TestHub};

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
        backup::restore(backup, RestoreTarget { data: self.data(), database_url }).await.map(drop)
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
        bytes[at] ^= 0x10;
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
