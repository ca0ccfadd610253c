//! The store of contents: bytes under names that are given out once.
//!
//! It knows nothing of who may read what. A content comes in through a file of its own in the folder `incoming`, and is put in
//! its place when it is whole and on disk; so under a name there is everything or nothing, whatever breaks in between. A name is the
//! SHA-256 sum of the content and a generation: whoever stores a content a second time does it under another name, and whoever
//! removes a name removes nothing that somebody else has just stored.

mod folder;
mod reading;
#[cfg(feature = "s3")]
mod s3;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempPath;

use crate::error::{ErrorKind, HubError};
use folder::Folder;
pub use reading::{BlobReader, Blocking};

const OWN_FOLDER: &str = "attachments";
/// A file in `incoming` that nobody has written to for this long belongs to nobody.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Why a content could not be stored or read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BlobError {
    #[error("the content {0} is missing from the store of attachments, or is not whole")]
    Missing(String),
    #[error("there is no space left for attachments")]
    Full,
    #[error("the store of attachments failed: {0}")]
    Failed(String),
}

impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => BlobError::Full,
            _ => BlobError::Failed(error.to_string()),
        }
    }
}

impl From<tokio::task::JoinError> for BlobError {
    fn from(error: tokio::task::JoinError) -> Self {
        BlobError::Failed(error.to_string())
    }
}

impl From<BlobError> for HubError {
    fn from(error: BlobError) -> Self {
        match &error {
            BlobError::Missing(_) => {
                let detail = "The content of this attachment is missing on the hub.";
                HubError::new(ErrorKind::Internal, "attachment_missing", detail)
                    .because(&error)
                    .hint("Upload the file again, or ask the operator to run `stoa admin attachments check`.")
            }
            BlobError::Full => HubError::storage_full("The hub has no space left for files.").because(&error),
            BlobError::Failed(_) => HubError::unavailable("The hub's file storage is unavailable.")
                .because(&error)
                .hint("Retry in a moment."),
        }
    }
}

/// Where contents are kept. Clones share it.
#[derive(Debug, Clone)]
pub struct BlobStore {
    location: BlobLocation,
    /// Where contents are on their way in, on a disk of this machine.
    incoming: Arc<Folder>,
    /// Whether hubs in other folders may use it, too.
    is_shared: bool,
}

#[derive(Debug, Clone)]
enum BlobLocation {
    Folder(Arc<Folder>),
    #[cfg(feature = "s3")]
    Bucket(Arc<s3::Bucket>),
}

/// Why the place that was named for contents cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the place for attachments {place} cannot be used: {reason}")]
pub struct OpenError {
    place: String,
    reason: String,
}

impl BlobStore {
    /// Opens the store at an address or, without one, in the data folder, which has to be locked by now.
    pub fn open(url: Option<&str>, data: &Path) -> Result<Self, OpenError> {
        let own = data.join(OWN_FOLDER);
        let shown = url.map_or_else(|| own.display().to_string(), str::to_owned);
        let fault = |reason: String| OpenError { place: shown.clone(), reason };
        let opened = |path: &Path| Folder::open(path).map(Arc::new).map_err(|error| fault(error.to_string()));
        let (location, incoming) = match url {
            Some(url) if url.starts_with("s3://") => (open_bucket(url).map_err(fault)?, opened(&own)?),
            Some(url) => {
                let path = Path::new(url.strip_prefix("file://").unwrap_or(url));
                if !path.is_absolute() {
                    return Err(fault("it must be an absolute path, file:///path or s3://bucket/prefix".to_owned()));
                }
                let folder = opened(path)?;
                (BlobLocation::Folder(folder.clone()), folder)
            }
            None => {
                let folder = opened(&own)?;
                (BlobLocation::Folder(folder.clone()), folder)
            }
        };
        // In a folder of our own, whatever is on its way in was left there by a crash; in another one it may be somebody else's.
        let is_own = incoming.root() == own;
        let age = if is_own { Duration::ZERO } else { ABANDONED_AFTER };
        incoming.tidy_incoming(age).map_err(|error| fault(error.to_string()))?;
        Ok(Self { location, incoming, is_shared: url.is_some() })
    }

    /// Makes sure that a place that others could use belongs to the database with this name: hubs of another one would take away
    /// what they do not know.
    pub async fn claim(&self, owner: &str) -> Result<(), OpenError> {
        if !self.is_shared {
            return Ok(());
        }
        let (shown, claimed) = match &self.location {
            BlobLocation::Folder(folder) => {
                let (folder_in, owner) = (folder.clone(), owner.to_owned());
                let claimed =
                    tokio::task::spawn_blocking(move || folder_in.claim(&owner).map_err(BlobError::from)).await;
                (folder.root().display().to_string(), claimed.unwrap_or_else(|error| Err(error.into())))
            }
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(bucket) => (bucket.to_string(), bucket.claim(owner).await),
        };
        match claimed {
            Ok(found) if found == owner => Ok(()),
            Ok(_) => Err(OpenError { place: shown, reason: "it has the attachments of another hub".to_owned() }),
            Err(error) => Err(OpenError { place: shown, reason: error.to_string() }),
        }
    }

    /// Stores what is in a file of [`incoming`](Self::incoming) that was synced, and answers when it is there to stay.
    pub async fn put(&self, file: TempPath, object: String) -> Result<(), BlobError> {
        match &self.location {
            BlobLocation::Folder(folder) => {
                let folder = folder.clone();
                tokio::task::spawn_blocking(move || Ok(folder.put(file, &object)?)).await?
            }
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(bucket) => bucket.put(&file, &object).await,
        }
    }

    /// Begins to read a part of a content that is `size` bytes long.
    pub async fn read(&self, object: &str, size: u64, begin: u64, length: u64) -> Result<BlobReader, BlobError> {
        match &self.location {
            BlobLocation::Folder(folder) => {
                let (folder, object) = (folder.clone(), object.to_owned());
                tokio::task::spawn_blocking(move || {
                    let file = folder.open_object(&object, size, begin)?;
                    Ok(BlobReader::of_file(object, file, length))
                })
                .await?
            }
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(bucket) => bucket.read(object, size, begin, length).await,
        }
    }

    /// Removes a content; one that is not there is gone already.
    pub async fn remove(&self, object: &str) -> Result<(), BlobError> {
        match &self.location {
            BlobLocation::Folder(folder) => {
                let (folder, object) = (folder.clone(), object.to_owned());
                tokio::task::spawn_blocking(move || Ok(folder.remove(&object)?)).await?
            }
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(bucket) => bucket.remove(object).await,
        }
    }

    /// Puts a content aside that nothing refers to. It can be brought back by hand until the trash is [emptied](Self::empty_trash).
    pub async fn discard(&self, object: &str) -> Result<(), BlobError> {
        match &self.location {
            BlobLocation::Folder(folder) => {
                let (folder, object) = (folder.clone(), object.to_owned());
                tokio::task::spawn_blocking(move || Ok(folder.discard(&object)?)).await?
            }
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(bucket) => bucket.discard(object).await,
        }
    }

    /// Removes what was put aside longer ago than `age`.
    pub async fn empty_trash(&self, age: Duration) -> Result<(), BlobError> {
        match &self.location {
            BlobLocation::Folder(folder) => {
                let folder = folder.clone();
                tokio::task::spawn_blocking(move || Ok(folder.empty_trash(age)?)).await?
            }
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(bucket) => bucket.empty_trash(age).await,
        }
    }

    /// Whether a content is there, as long as it should be.
    pub async fn has(&self, object: &str, size: u64) -> Result<bool, BlobError> {
        match &self.location {
            BlobLocation::Folder(folder) => {
                let (folder, object) = (folder.clone(), object.to_owned());
                tokio::task::spawn_blocking(move || match folder.open_object(&object, size, 0) {
                    Ok(_) => Ok(true),
                    Err(BlobError::Missing(_)) => Ok(false),
                    Err(error) => Err(error),
                })
                .await?
            }
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(bucket) => bucket.has(object, size).await,
        }
    }

    /// The names that begin with these two digits and were stored longer ago than `age`, by the store's own clock.
    pub async fn list_older(&self, beginning: u8, age: Duration) -> Result<Vec<String>, BlobError> {
        match &self.location {
            BlobLocation::Folder(folder) => {
                let folder = folder.clone();
                tokio::task::spawn_blocking(move || Ok(folder.list_older(beginning, age)?)).await?
            }
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(bucket) => bucket.list_older(beginning, age).await,
        }
    }

    /// Whether it takes time to be seen that something is removed: by who waits for an answer, who shall not see it.
    pub fn is_far(&self) -> bool {
        match &self.location {
            BlobLocation::Folder(_) => false,
            #[cfg(feature = "s3")]
            BlobLocation::Bucket(_) => true,
        }
    }

    /// Takes away what uploads have left in `incoming` that never came to their end.
    pub async fn tidy_incoming(&self) -> Result<(), BlobError> {
        let folder = self.incoming.clone();
        tokio::task::spawn_blocking(move || Ok(folder.tidy_incoming(ABANDONED_AFTER)?)).await?
    }

    /// Where contents are on their way in: files that are moved from here to their places.
    pub fn incoming(&self) -> PathBuf {
        self.incoming.incoming().to_owned()
    }
}

#[cfg(feature = "s3")]
fn open_bucket(url: &str) -> Result<BlobLocation, String> {
    s3::Bucket::open(url).map(|bucket| BlobLocation::Bucket(Arc::new(bucket)))
}

#[cfg(not(feature = "s3"))]
fn open_bucket(_: &str) -> Result<BlobLocation, String> {
    Err("this program was built without S3; build it with `cargo build --release --features s3`".to_owned())
}

/// A name for a content that nobody has used before.
pub fn new_object(sha256: &str) -> Result<String, HubError> {
    let mut generation = [0; 8];
    getrandom::fill(&mut generation).map_err(HubError::internal)?;
    Ok(format!("{sha256}.{:016x}", u64::from_be_bytes(generation)))
}
