//! Contents in a bucket that speaks S3.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path as FilePath;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload,
};

use super::{BlobError, BlobReader};

const TRASH: &str = "trash";
const OWNER: &str = "owner";
const SHARD_DIGITS: usize = 2;
/// What is sent at once; the least that a part of an upload may have.
const PART: usize = 5 * 1024 * 1024;

/// What comes of a content, as it comes.
pub(super) type Pieces = BoxStream<'static, Result<Bytes, Error>>;

#[derive(Debug)]
pub(super) struct Bucket {
    url: String,
    store: AmazonS3,
    prefix: Path,
}

impl fmt::Display for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.url)
    }
}

impl From<Error> for BlobError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound { path, .. } => BlobError::Missing(path),
            other => BlobError::Failed(other.to_string()),
        }
    }
}

impl Bucket {
    /// Where it is and who we are there, the usual variables say: `AWS_REGION`, `AWS_ENDPOINT`, `AWS_ACCESS_KEY_ID` and so on.
    pub(super) fn open(url: &str) -> Result<Self, String> {
        // It does no harm if somebody has said before by whom TLS is spoken.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (bucket, prefix) = url.trim_start_matches("s3://").split_once('/').unwrap_or((&url["s3://".len()..], ""));
        if bucket.is_empty() {
            return Err("it must be s3://bucket/prefix".to_owned());
        }
        let prefix = Path::parse(prefix.trim_matches('/')).map_err(|error| error.to_string())?;
        let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build().map_err(|error| error.to_string())?;
        Ok(Self { url: url.to_owned(), store, prefix })
    }

    fn key(&self, object: &str) -> Path {
        let (shard, rest) = object.split_at_checked(SHARD_DIGITS).unwrap_or((object, ""));
        self.prefix.clone().join(shard).join(rest)
    }

    /// Whose it is: the first one's who asked.
    pub(super) async fn claim(&self, owner: &str) -> Result<String, BlobError> {
        let key = self.prefix.clone().join(OWNER);
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&key, PutPayload::from(owner.as_bytes().to_vec()), options).await {
            Ok(_) | Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let found = self.store.get_opts(&key, GetOptions::default()).await?.bytes().await?;
        Ok(String::from_utf8_lossy(&found).trim().to_owned())
    }

    pub(super) async fn put(&self, file: &FilePath, object: &str) -> Result<(), BlobError> {
        let key = self.key(object);
        let file = File::open(file)?;
        let (first, file) = read_part(file).await?;
        if first.len() < PART {
            self.store.put_opts(&key, first.into(), PutOptions::default()).await?;
            return Ok(());
        }
        let mut upload = self.store.put_multipart_opts(&key, object_store::PutMultipartOptions::default()).await?;
        let sent = send_parts(&mut *upload, first, file).await;
        if sent.is_err() {
            // What was sent is of no use to anybody, and would be paid for.
            let _ = upload.abort().await;
        }
        sent
    }

    pub(super) async fn read(&self, object: &str, size: u64, begin: u64, length: u64) -> Result<BlobReader, BlobError> {
        let missing = || BlobError::Missing(object.to_owned());
        if length == 0 {
            let is_there = self.has(object, size).await?;
            let nothing = futures_util::stream::empty().boxed();
            return if is_there { Ok(BlobReader::of_stream(object.to_owned(), nothing, 0)) } else { Err(missing()) };
        }
        let range = Some(GetRange::Bounded(begin..begin + length));
        let found = self.store.get_opts(&self.key(object), GetOptions { range, ..GetOptions::default() }).await?;
        if found.meta.size != size {
            return Err(missing());
        }
        Ok(BlobReader::of_stream(object.to_owned(), found.into_stream(), length))
    }

    pub(super) async fn remove(&self, object: &str) -> Result<(), BlobError> {
        match self.store.delete(&self.key(object)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn discard(&self, object: &str) -> Result<(), BlobError> {
        let key = self.key(object);
        match self.store.copy(&key, &self.prefix.clone().join(TRASH).join(object)).await {
            Ok(()) => self.remove(object).await,
            Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn empty_trash(&self, age: Duration) -> Result<(), BlobError> {
        for found in self.list_old(TRASH, age).await? {
            match self.store.delete(&found).await {
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    pub(super) async fn has(&self, object: &str, size: u64) -> Result<bool, BlobError> {
        match self.store.head(&self.key(object)).await {
            Ok(found) => Ok(found.size == size),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn list_older(&self, beginning: u8, age: Duration) -> Result<Vec<String>, BlobError> {
        let shard = format!("{beginning:02x}");
        let found = self.list_old(&shard, age).await?;
        Ok(found.iter().filter_map(|key| Some(format!("{shard}{}", key.filename()?))).collect())
    }

    async fn list_old(&self, folder: &str, age: Duration) -> Result<Vec<Path>, BlobError> {
        #[expect(clippy::disallowed_methods, reason = "stored things have the time of the world")]
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let newest = i64::try_from(now.saturating_sub(age).as_secs()).unwrap_or(i64::MAX);
        let is_old = |found: &ObjectMeta| age.is_zero() || found.last_modified.timestamp() <= newest;
        let mut listed = self.store.list(Some(&self.prefix.clone().join(folder)));
        let mut old = Vec::new();
        while let Some(found) = listed.next().await {
            let found = found?;
            if is_old(&found) {
                old.push(found.location);
            }
        }
        Ok(old)
    }
}

async fn send_parts(upload: &mut dyn MultipartUpload, first: Vec<u8>, file: File) -> Result<(), BlobError> {
    let (mut part, mut file) = (first, file);
    // One after the other: several at once would each be in memory.
    while !part.is_empty() {
        upload.put_part(part.into()).await?;
        (part, file) = read_part(file).await?;
    }
    upload.complete().await?;
    Ok(())
}

/// The next bytes of a file, as many as make up a part.
async fn read_part(file: File) -> Result<(Vec<u8>, File), BlobError> {
    let read = tokio::task::spawn_blocking(move || {
        let mut part = Vec::new();
        (&file).take(PART as u64).read_to_end(&mut part)?;
        Ok::<_, io::Error>((part, file))
    });
    Ok(read.await??)
}

pub(super) async fn next(pieces: &mut Pieces) -> Result<Option<Bytes>, BlobError> {
    Ok(pieces.next().await.transpose()?)
}
