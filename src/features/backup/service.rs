use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_db::{Database, DbError, Engine, OpenError, Options, SnapshotError};
use stoa_model::{Secret, Timestamp};
use stoa_schema::MIGRATIONS;
use tempfile::TempPath;
use tokio::runtime::Handle;

use super::archive::{self, ArchiveError, Content, Manifest, Spool};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::events::{outbox, work};
use crate::features::{acting, attachments, audit, machines};
use crate::hub::{Hub, engine_mark};
use crate::storage::blobs::{self, BlobError, BlobStore};
use crate::storage::keys::{KeyError, KeyRing};

/// What was backed up.
#[derive(Debug, Serialize, Deserialize)]
pub struct BackupView {
    pub path: PathBuf,
    pub size_bytes: u64,
    pub rows: u64,
    pub attachments: u64,
    /// The sums of attachments that the store has lost, which are not in the backup.
    pub missing_attachments: Vec<String>,
    pub created_at: Timestamp,
}

/// What was restored.
#[derive(Debug, Serialize, Deserialize)]
pub struct RestoredView {
    pub data: PathBuf,
    pub rows: u64,
    pub attachments: u64,
    /// When the backup was taken.
    pub created_at: Timestamp,
}

/// Where a backup is restored to: a new data folder, and PostgreSQL if an address is given.
pub struct RestoreTarget {
    pub data: PathBuf,
    pub database_url: Option<Secret>,
    /// Where attachments go; none means into the data folder.
    pub attachments_url: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{0} is not empty; restore a backup into a new data folder")]
    NotEmpty(PathBuf),
    #[error(transparent)]
    Attachments(#[from] blobs::OpenError),
    #[error("the attachments could not be restored: {0}")]
    Store(#[from] BlobError),
    #[error("the backup could not be loaded: {0}")]
    Load(#[from] SnapshotError),
    #[error("the database refused: {0}")]
    Database(#[from] DbError),
    #[error("the backup is damaged: its key does not belong to its database")]
    WrongKey,
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("{path}: {reason}")]
    File { path: PathBuf, reason: String },
}

/// Takes a consistent backup while the hub goes on working.
pub async fn back_up(hub: &Hub, actor: &Actor, path: PathBuf) -> Result<BackupView, HubError> {
    actor.require_admin()?;
    if !path.is_absolute() {
        return Err(HubError::invalid_field("path", "must be an absolute path"));
    }
    if path.exists() {
        return Err(HubError::conflict("file_exists", format!("{} already exists.", path.display()))
            .hint("Choose another name. A backup never replaces a file."));
    }
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    let refused = |error: &dyn std::fmt::Display| {
        HubError::new(ErrorKind::Invalid, "backup_failed", format!("The backup could not be written: {error}."))
            .hint("The hub's user must be able to write to the folder, with enough space.")
    };
    // Beside the backup, where there is room for it.
    let spool_folder = tempfile::Builder::new()
        .prefix(".stoa-backup-")
        .tempdir_in(&folder)
        .map_err(|error| refused(&format!("{}: {error}", folder.display())))?;
    // First, so that what the tables name is still there when it is read.
    let hold = attachments::hold(hub).await?;
    let written = write(hub, path.clone(), spool_folder.path()).await;
    hold.end().await?;
    let view = written?.map_err(|error| refused(&error))?;
    let (actor_in, shown, rows) = (actor.clone(), path.display().to_string(), view.rows);
    hub.write(move |tx| audit::record(tx, &actor_in, "backup.created", Some(&shown), &json!({"rows": rows}))).await?;
    Ok(view)
}

async fn write(hub: &Hub, path: PathBuf, folder: &Path) -> Result<Result<BackupView, ArchiveError>, HubError> {
    let (snapshot, spool, keys) = dump(hub, folder).await?;
    let rows = snapshot.tables.iter().map(|table| table.rows).sum();
    let created_at = hub.clock().now();
    let (store, runtime) = (hub.blobs().clone(), Handle::current());
    let write = move || {
        let fault = |source: std::io::Error| ArchiveError::Io { path: path.clone(), source };
        let key = keys.to_text();
        let (mut attachments, mut missing_attachments) = (0, Vec::new());
        for content in spool.contents(&snapshot).map_err(fault)? {
            let content = content?;
            let is_there = runtime.block_on(store.has(&content.object, content.size));
            match is_there.map_err(std::io::Error::other).map_err(fault)? {
                true => attachments += 1,
                false => missing_attachments.push(content.sha256),
            }
        }
        let open = |content: &Content| {
            let reading = store.read(&content.object, content.size, 0, content.size);
            Ok(runtime.block_on(reading).map_err(std::io::Error::other)?.blocking(runtime.clone()))
        };
        let manifest = archive::manifest(snapshot, &key, created_at, missing_attachments);
        let size_bytes = archive::write(&path, &spool, &manifest, &key, open)?;
        let missing_attachments = manifest.missing_attachments;
        Ok(BackupView { path, size_bytes, rows, attachments, missing_attachments, created_at })
    };
    tokio::task::spawn_blocking(write).await.map_err(HubError::internal)
}

/// The tables, and the keys that belong to them.
async fn dump(hub: &Hub, folder: &Path) -> Result<(stoa_db::Snapshot, Spool, std::sync::Arc<KeyRing>), HubError> {
    // A change of key in the meantime would make a backup that does not fit together.
    let _no_rotation = hub.begin_key_rotation().await;
    let dumped = hub.db().dump(Spool::new(folder)).await;
    let (snapshot, spool) = dumped.map_err(HubError::internal)?;
    let keys = hub.keys();
    let current = keys.without_old_keys();
    let stored = hub.read(|tx| Hub::meta(tx, Hub::KEY_CHECK)).await?;
    // This process may still know keys that have been put out of force.
    let needs_old = stored.is_some_and(|stored| !current.has_check_value(&stored));
    Ok((snapshot, spool, if needs_old { keys } else { current.into() }))
}

/// Restores a backup into a new data folder. Everything is verified before anything is kept, and
/// the folder appears only when it is whole.
pub async fn restore(path: &Path, target: RestoreTarget) -> Result<RestoredView, RestoreError> {
    let is_free = match fs::read_dir(&target.data) {
        Ok(mut found) => found.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !is_free {
        return Err(RestoreError::NotEmpty(target.data));
    }
    let parent = match target.data.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let fault = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| RestoreError::File { path, reason: error.to_string() }
    };
    fs::create_dir_all(&parent).map_err(fault(&parent))?;
    let workshop = tempfile::Builder::new().prefix(".stoa-restore-").tempdir_in(&parent).map_err(fault(&parent))?;
    let (tables, data) = (workshop.path().join("tables"), workshop.path().join("data"));
    fs::create_dir(&tables).map_err(fault(&tables))?;
    let (path_in, tables_in) = (path.to_owned(), tables.clone());
    let read = tokio::task::spawn_blocking(move || archive::read(&path_in, &tables_in)).await;
    let (manifest, key, spool) = read.map_err(|error| fault(&tables)(std::io::Error::other(error)))??;
    let known = MIGRATIONS.last().map_or(0, |migration| migration.number);
    if manifest.database.schema_version > known {
        return Err(ArchiveError::Newer.into());
    }
    let keys = KeyRing::read(&key).ok_or(RestoreError::WrongKey)?;
    let rows = manifest.database.tables.iter().map(|table| table.rows).sum();
    let attachments = restore_contents(&data, &target, &manifest, &spool).await?;
    load(&data, &target, manifest.database, spool, &keys).await?;
    keys.store(&data)?;
    let engine = if target.database_url.is_some() { Engine::Postgres } else { Engine::Sqlite };
    engine_mark::write(&data, engine).map_err(fault(&data))?;
    // An empty folder of that name may be there.
    let _ = fs::remove_dir(&target.data);
    fs::rename(&data, &target.data).map_err(fault(&target.data))?;
    fs::File::open(&parent).and_then(|folder| folder.sync_all()).map_err(fault(&parent))?;
    Ok(RestoredView { data: target.data, rows, attachments, created_at: manifest.created_at })
}

/// Puts the contents that were in a backup where its rows say that they are.
async fn restore_contents(
    data: &Path,
    target: &RestoreTarget,
    manifest: &Manifest,
    spool: &Spool,
) -> Result<u64, RestoreError> {
    let fault =
        |path: &Path, error: std::io::Error| RestoreError::File { path: path.to_owned(), reason: error.to_string() };
    fs::DirBuilder::new().mode(0o700).create(data).map_err(|error| fault(data, error))?;
    let store = BlobStore::open(target.attachments_url.as_deref(), data)?;
    let mut restored = 0;
    for content in spool.contents(&manifest.database).map_err(|error| fault(data, error))? {
        let content = content?;
        let path = spool.content(&content);
        // One that was missing when the backup was made is missing still.
        if path.exists() {
            let file = TempPath::try_from_path(&path).map_err(|error| fault(&path, error))?;
            store.put(file, content.object).await?;
            restored += 1;
        }
    }
    Ok(restored)
}

async fn load(
    data: &Path,
    target: &RestoreTarget,
    snapshot: stoa_db::Snapshot,
    spool: Spool,
    keys: &KeyRing,
) -> Result<(), RestoreError> {
    let options = Options {
        postgres_url: target.database_url.as_ref().map(|url| url.expose().to_owned()),
        migrate_to: Some(snapshot.schema_version),
        readers: 1,
        postgres_writers: 1,
        ..Options::new(data)
    };
    let opened = tokio::task::spawn_blocking(move || Database::open(options, MIGRATIONS)).await;
    let db = opened.map_err(|error| RestoreError::File { path: data.to_owned(), reason: error.to_string() })??;
    let keys = keys.clone();
    let loaded = async {
        db.load(snapshot, spool).await?;
        let fits = db
            .write(move |tx| {
                outbox::begin_new_history(tx)?;
                machines::note_restored(tx)?;
                work::release_all(tx)?;
                // A copy of a hub must not do again what the hub has done.
                acting::set_stop(tx, acting::EVERYBODY, "restored")?;
                let stored = Hub::meta(tx, Hub::KEY_CHECK)?;
                Ok::<_, DbError>(stored.is_none_or(|stored| keys.has_check_value(&stored)))
            })
            .await?;
        if fits { Ok(()) } else { Err(RestoreError::WrongKey) }
    }
    .await;
    db.close().await;
    loaded
}
