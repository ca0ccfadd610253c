//! Contents on their way elsewhere: a gzipped tar with one file for each, named by its sum. Names and senders are in the
//! database, and come with its own backup.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_model::attachments::{MAX_ATTACHMENT_BYTES, is_sha256};
use tokio::runtime::Handle;

use super::receiving::{Received, Receiving};
use super::store::{self, Blob};
use super::{collect, upload};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::features::audit;
use crate::hub::Hub;
use crate::storage::blobs::{BlobError, BlobStore};
use crate::storage::tarball;

const BATCH: i64 = 500;
/// Times its own size that an archive may unpack to, and what it may in any case.
const MAX_RATIO: u64 = 100;
const UNPACKED_IN_ANY_CASE: u64 = 64 * 1024 * 1024;
const PIECE: usize = 128 * 1024;

/// What was written into an archive.
#[derive(Debug, Serialize, Deserialize)]
pub struct ArchiveView {
    pub path: PathBuf,
    pub attachments: u64,
    pub size_bytes: u64,
    /// The sums of what the store has lost.
    pub missing: Vec<String>,
}

/// What was taken from an archive.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RestoredView {
    /// Contents that were not there.
    pub restored: u64,
    pub restored_bytes: u64,
    /// Contents that were there already.
    pub present: u64,
}

fn require_absolute(path: &Path) -> Result<(), HubError> {
    if path.is_absolute() { Ok(()) } else { Err(HubError::invalid_field("path", "must be an absolute path")) }
}

/// Writes all contents into a file, while the hub goes on working.
pub async fn back_up(hub: &Hub, actor: &Actor, path: PathBuf) -> Result<ArchiveView, HubError> {
    actor.require_admin()?;
    require_absolute(&path)?;
    if path.exists() {
        return Err(HubError::conflict("file_exists", format!("{} already exists.", path.display()))
            .hint("Choose another name. A backup never replaces a file."));
    }
    let hold = collect::hold(hub).await?;
    let (hub_in, runtime) = (hub.clone(), Handle::current());
    let written = tokio::task::spawn_blocking(move || write(&hub_in, &runtime, path)).await;
    hold.end().await?;
    let view = written.map_err(HubError::internal)??;
    let (actor_in, shown, count) = (actor.clone(), view.path.display().to_string(), view.attachments);
    hub.write(move |tx| {
        audit::record(tx, &actor_in, "attachments.backed_up", Some(&shown), &json!({"attachments": count}))
    })
    .await?;
    Ok(view)
}

fn write(hub: &Hub, runtime: &Handle, path: PathBuf) -> Result<ArchiveView, HubError> {
    let refused = |error: io::Error| {
        HubError::new(ErrorKind::Invalid, "backup_failed", format!("The backup could not be written: {error}."))
            .hint("The hub's user must be able to write to the folder, with enough space.")
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    // In a folder of our own on the same disk, where nobody can have put something in its place.
    let workshop = tempfile::Builder::new().prefix(".stoa-backup-").tempdir_in(folder).map_err(refused)?;
    let partial = workshop.path().join("backup.partial");
    let file = tarball::create_private(&partial).map_err(refused)?;
    // Images and PDFs do not get any shorter, and what gets very much shorter could not be told from a bomb.
    let mut archive = tar::Builder::new(GzEncoder::new(BufWriter::new(file), Compression::none()));
    let (mut attachments, mut missing) = (0, Vec::new());
    let mut behind = String::new();
    loop {
        let after = behind.clone();
        let blobs = runtime.block_on(hub.read(move |tx| store::list_blobs(tx, &after, BATCH)))?;
        let Some(last) = blobs.last() else { break };
        behind.clone_from(&last.sha256);
        for blob in blobs {
            let size = blob.size.unsigned_abs();
            match runtime.block_on(hub.blobs().read(&blob.object, size, 0, size)) {
                Ok(reader) => {
                    tarball::append(&mut archive, &blob.sha256, size, reader.blocking(runtime.clone()))
                        .map_err(refused)?;
                    attachments += 1;
                }
                Err(BlobError::Missing(_)) => missing.push(blob.sha256),
                Err(error) => return Err(error.into()),
            }
        }
    }
    let finish = || archive.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error);
    let file = finish().map_err(refused)?;
    let size_bytes = tarball::settle(&file, &partial, &path).map_err(refused)?;
    Ok(ArchiveView { path, attachments, size_bytes, missing })
}

/// Takes contents from a file. Everything in it is checked before anything of it is kept, and what is there already is not
/// written once more.
pub async fn restore(hub: &Hub, actor: &Actor, path: PathBuf) -> Result<RestoredView, HubError> {
    actor.require_admin()?;
    require_absolute(&path)?;
    let (store, shown) = (hub.blobs().clone(), path.display().to_string());
    let unpacked = tokio::task::spawn_blocking(move || unpack(&store, &path)).await.map_err(HubError::internal)??;
    let mut view = RestoredView::default();
    // What is left of it in the end goes with this.
    let Unpacked { files, folder: _folder } = unpacked;
    for received in files {
        let size = received.size;
        if keep(hub, received).await? {
            view.restored += 1;
            view.restored_bytes += size;
        } else {
            view.present += 1;
        }
    }
    let (actor_in, details) = (actor.clone(), json!(view));
    hub.write(move |tx| audit::record(tx, &actor_in, "attachments.restored", Some(&shown), &details)).await?;
    Ok(view)
}

/// Keeps a content, unless it is there already. It is collected after a day if no message has it by then.
async fn keep(hub: &Hub, received: Received) -> Result<bool, HubError> {
    let sha256 = received.sha256.clone();
    let found = hub.read(move |tx| store::find_blob(tx, &sha256)).await?;
    if let Some(blob) = found
        && hub.blobs().has(&blob.object, blob.size.unsigned_abs()).await?
    {
        return Ok(false);
    }
    let (blob, file) = Blob::of(received)?;
    hub.blobs().put(file, blob.object.clone()).await?;
    let blob_in = blob.clone();
    if !hub.write(move |tx| store::insert_blob(tx, &blob_in)).await? {
        upload::keep_one(hub, &blob).await?;
    }
    Ok(true)
}

/// What was in an archive, checked, in a folder of its own.
struct Unpacked {
    files: Vec<Received>,
    folder: tempfile::TempDir,
}

fn unpack(store: &BlobStore, path: &Path) -> Result<Unpacked, HubError> {
    let file = File::open(path).map_err(|error| {
        HubError::new(ErrorKind::Invalid, "archive_refused", format!("{} cannot be read: {error}.", path.display()))
            .hint("The hub's user must be able to read the file.")
    })?;
    let folder = tempfile::Builder::new().prefix("restore-").tempdir_in(store.incoming()).map_err(BlobError::from)?;
    let read = Arc::new(AtomicU64::new(0));
    let packed = Counted { inner: BufReader::new(file), count: read.clone() };
    let mut archive = tar::Archive::new(Bounded { inner: GzDecoder::new(packed), unpacked: 0, read });
    let (mut files, mut seen) = (Vec::new(), HashSet::new());
    // Raw: what stands in extensions of the format is no content, and could be of any length.
    for entry in archive.entries().map_err(|error| damaged(&error))?.raw(true) {
        let mut entry = entry.map_err(|error| damaged(&error))?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let received = receive(&folder, &mut entry, &name)?;
        if !seen.insert(name.clone()) {
            return Err(refused(&name, "appears twice"));
        }
        files.push(received);
    }
    // To the very end, where gzip's own checksum is.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|error| damaged(&error))?;
    Ok(Unpacked { files, folder })
}

fn receive(
    folder: &tempfile::TempDir,
    entry: &mut tar::Entry<'_, impl Read>,
    name: &str,
) -> Result<Received, HubError> {
    if !entry.header().entry_type().is_file() {
        return Err(refused(name, "is not a plain file"));
    }
    if !is_sha256(name) {
        return Err(refused(name, "is not named by a SHA-256 sum"));
    }
    let size = entry.header().entry_size().map_err(|error| damaged(&error))?;
    if size > MAX_ATTACHMENT_BYTES {
        return Err(refused(name, "is longer than a file may be"));
    }
    let mut receiving = Receiving::in_folder(folder.path())?;
    let mut piece = vec![0; PIECE];
    loop {
        let read = entry.read(&mut piece).map_err(|error| damaged(&error))?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        receiving.write(bytes)?;
    }
    let received = receiving.finish().map_err(|error| match error.code {
        "type_not_allowed" => refused(name, "is neither an image, nor a PDF, nor text"),
        _ => error,
    })?;
    if received.sha256 != name || received.size != size {
        return Err(refused(name, "has content that does not match its name"));
    }
    Ok(received)
}

fn refused(name: &str, why: &str) -> HubError {
    let shown: String = name.chars().filter(|character| !character.is_control()).take(100).collect();
    HubError::new(ErrorKind::Invalid, "archive_refused", format!("Nothing was restored: {shown} {why}.")).hint(
        "An archive has files named by their sums and nothing else, as `stoa admin attachments backup` writes it.",
    )
}

fn damaged(error: &io::Error) -> HubError {
    let detail = format!("Nothing was restored: the archive cannot be read to its end ({error}).");
    HubError::new(ErrorKind::Invalid, "archive_refused", detail).hint("Use another copy of it.")
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Ends when much more comes out than was put in.
struct Bounded<R> {
    inner: R,
    unpacked: u64,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.unpacked += read as u64;
        let most = self.read.load(Ordering::Relaxed).saturating_mul(MAX_RATIO).saturating_add(UNPACKED_IN_ANY_CASE);
        if self.unpacked > most {
            return Err(io::Error::other(format!("it unpacks to more than {MAX_RATIO} times its size")));
        }
        Ok(read)
    }
}
