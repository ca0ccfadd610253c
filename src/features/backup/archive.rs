//! The backup file: a gzipped tar whose first entry says what the others must be.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use stoa_db::{Snapshot, SnapshotError, SnapshotSink, SnapshotSource};
use stoa_model::Timestamp;
use stoa_model::attachments::{MAX_ATTACHMENT_BYTES, is_sha256};

use crate::storage::tarball::{self, append, hex_digest};

/// The second one has attachments behind the tables.
const FORMAT: u32 = 2;
const FORMAT_WITH_ATTACHMENTS: u32 = 2;
const MANIFEST: &str = "manifest.json";
const CHECKSUM: &str = "manifest.sha256";
const KEY: &str = "key";
const BLOBS: &str = "blobs";
const PIECE: usize = 128 * 1024;
/// Entries that are read into memory are never larger.
const MAX_SMALL_ENTRY: u64 = 16 * 1024 * 1024;

/// What a backup holds. Its own checksum is the entry after it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    pub stoa_version: String,
    pub created_at: Timestamp,
    pub key_sha256: String,
    pub database: Snapshot,
    /// The sums of contents that the store had lost when the backup was made.
    #[serde(default)]
    pub missing_attachments: Vec<String>,
}

/// A content that the tables of a backup name.
pub(super) struct Content {
    pub(super) sha256: String,
    pub(super) object: String,
    pub(super) size: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("the backup {path} cannot be read or written: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("the file is not a backup of Stoa: {0}")]
    NotABackup(String),
    #[error("the backup was made by a newer version; upgrade this program")]
    Newer,
    #[error("the backup is damaged: {0}")]
    Damaged(String),
    #[error("the backup is damaged: {0}")]
    Table(#[from] SnapshotError),
}

/// A folder with one file for each table, on the way into a backup or out of it.
pub(super) struct Spool {
    folder: PathBuf,
    current: Option<BufWriter<File>>,
}

impl Spool {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), current: None }
    }

    fn path(&self, table: &str) -> PathBuf {
        self.folder.join(format!("{table}.jsonl"))
    }

    /// Where a content is until the whole backup is known to be good.
    pub(super) fn content(&self, content: &Content) -> PathBuf {
        self.folder.join(format!("{}.content", content.sha256))
    }

    /// The contents that the tables name; none for a database that knows no attachments yet.
    pub(super) fn contents(
        &self,
        database: &Snapshot,
    ) -> io::Result<Box<dyn Iterator<Item = Result<Content, ArchiveError>> + '_>> {
        let Some(table) = database.tables.iter().find(|table| table.name == BLOBS) else {
            return Ok(Box::new(std::iter::empty()));
        };
        let place = |name: &str| table.columns.iter().position(|column| column == name).unwrap_or(usize::MAX);
        let (sha256, object, size) = (place("sha256"), place("object"), place("size"));
        let lines = BufReader::new(File::open(self.path(BLOBS))?).lines();
        Ok(Box::new(lines.map(move |line| {
            let damaged = || ArchiveError::Damaged("the table of attachments cannot be read".to_owned());
            let row: Vec<Value> = serde_json::from_str(&line.map_err(|_| damaged())?).map_err(|_| damaged())?;
            let text = |place: usize| row.get(place).and_then(Value::as_str).map(str::to_owned);
            let sha256 = text(sha256).filter(|sum| is_sha256(sum)).ok_or_else(damaged)?;
            let object = text(object).ok_or_else(damaged)?;
            let size = row.get(size).and_then(Value::as_u64).filter(|size| *size <= MAX_ATTACHMENT_BYTES);
            Ok(Content { sha256, object, size: size.ok_or_else(damaged)? })
        })))
    }
}

impl SnapshotSink for Spool {
    fn begin_table(&mut self, name: &str) -> io::Result<()> {
        self.current = Some(BufWriter::new(tarball::create_private(&self.path(name))?));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.current.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    fn end_table(&mut self) -> io::Result<()> {
        self.current.take().map_or(Ok(()), |mut file| file.flush())
    }
}

impl SnapshotSource for Spool {
    fn open_table(&mut self, name: &str) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(BufReader::new(File::open(self.path(name))?)))
    }
}

/// Writes the backup beside its final place and moves it there when it is whole and on disk. `open` reads a content.
pub(super) fn write<R: Read>(
    path: &Path,
    spool: &Spool,
    manifest: &Manifest,
    key: &str,
    open: impl Fn(&Content) -> io::Result<R>,
) -> Result<u64, ArchiveError> {
    let fault = |source: io::Error| ArchiveError::Io { path: path.to_owned(), source };
    let write = || -> io::Result<u64> {
        // In our own folder on the same disk, where nobody can have put something in its place.
        let partial = spool.folder.join("backup.partial");
        let file = tarball::create_private(&partial)?;
        let mut archive = tar::Builder::new(GzEncoder::new(BufWriter::new(file), Compression::fast()));
        let text = serde_json::to_vec_pretty(manifest)?;
        append(&mut archive, MANIFEST, text.len() as u64, &text[..])?;
        let checksum = hex_digest(&text);
        append(&mut archive, CHECKSUM, checksum.len() as u64, checksum.as_bytes())?;
        append(&mut archive, KEY, key.len() as u64, key.as_bytes())?;
        for table in &manifest.database.tables {
            let file = File::open(spool.path(&table.name))?;
            append(&mut archive, &table_entry(&table.name), file.metadata()?.len(), BufReader::new(file))?;
        }
        let missing: HashSet<_> = manifest.missing_attachments.iter().collect();
        for content in spool.contents(&manifest.database)? {
            let content = content.map_err(io::Error::other)?;
            if !missing.contains(&content.sha256) {
                append(&mut archive, &content_entry(&content), content.size, open(&content)?)?;
            }
        }
        let file = archive.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        tarball::settle(&file, &partial, path)
    };
    write().map_err(fault)
}

/// What a backup says about itself.
pub(super) fn manifest(
    database: Snapshot,
    key: &str,
    created_at: Timestamp,
    missing_attachments: Vec<String>,
) -> Manifest {
    Manifest {
        format: FORMAT,
        stoa_version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at,
        key_sha256: hex_digest(key.as_bytes()),
        database,
        missing_attachments,
    }
}

/// Reads a backup into `folder` and checks every byte of it. Nothing is believed before this.
pub(super) fn read(path: &Path, folder: &Path) -> Result<(Manifest, String, Spool), ArchiveError> {
    let fault = |source: io::Error| match source.kind() {
        io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::Other => ArchiveError::Damaged(source.to_string()),
        _ => ArchiveError::Io { path: path.to_owned(), source },
    };
    let file = File::open(path).map_err(fault)?;
    let mut archive = tar::Archive::new(GzDecoder::new(BufReader::new(file)));
    // Raw: a name that is a file of its own, as tar has them for long ones, would be read into memory whole.
    let mut entries = archive.entries().map_err(fault)?.raw(true);
    let mut next = |wanted: &str| -> Result<_, ArchiveError> {
        let missing = || ArchiveError::Damaged(format!("{wanted} is missing"));
        let entry = entries.next().ok_or_else(missing)?.map_err(fault)?;
        let is_wanted = entry.header().entry_type().is_file() && *entry.path_bytes() == *wanted.as_bytes();
        if is_wanted { Ok(entry) } else { Err(missing()) }
    };

    let not_a_backup = |error: ArchiveError| ArchiveError::NotABackup(error.to_string());
    let text = read_small(next(MANIFEST).map_err(not_a_backup)?).map_err(fault)?;
    let stated = read_small(next(CHECKSUM)?).map_err(fault)?;
    if stated != hex_digest(&text).as_bytes() {
        return Err(ArchiveError::Damaged("the manifest does not fit its checksum".to_owned()));
    }
    let format =
        serde_json::from_slice::<serde_json::Value>(&text).ok().and_then(|manifest| manifest["format"].as_u64());
    match format {
        Some(format) if format > u64::from(FORMAT) => return Err(ArchiveError::Newer),
        Some(_) => {}
        None => return Err(ArchiveError::NotABackup("the manifest has no format".to_owned())),
    }
    let manifest: Manifest =
        serde_json::from_slice(&text).map_err(|error| ArchiveError::NotABackup(error.to_string()))?;

    let key = read_small(next(KEY)?).map_err(fault)?;
    if hex_digest(&key) != manifest.key_sha256 {
        return Err(ArchiveError::Damaged("the key does not fit its checksum".to_owned()));
    }
    let key = String::from_utf8(key).map_err(|_| ArchiveError::Damaged("the key is not text".to_owned()))?;

    let spool = Spool::new(folder);
    for table in &manifest.database.tables {
        if table.name.is_empty() || !table.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(ArchiveError::Damaged(format!("{:?} is not the name of a table", table.name)));
        }
        let mut entry = next(&table_entry(&table.name))?;
        let mut file = tarball::create_private(&spool.path(&table.name)).map_err(fault)?;
        io::copy(&mut entry, &mut file).map_err(fault)?;
        let file = File::open(spool.path(&table.name)).map_err(fault)?;
        manifest.database.verify(&table.name, BufReader::new(file))?;
    }
    if manifest.format >= FORMAT_WITH_ATTACHMENTS {
        let missing: HashSet<_> = manifest.missing_attachments.iter().collect();
        for content in spool.contents(&manifest.database).map_err(fault)? {
            let content = content?;
            if !missing.contains(&content.sha256) {
                read_content(next(&content_entry(&content))?, &content, &spool.content(&content)).map_err(fault)?;
            }
        }
    }
    if entries.next().is_some() {
        return Err(ArchiveError::Damaged("there is more in it than the manifest says".to_owned()));
    }
    // To the very end, where gzip's own checksum is: it covers what is between the entries.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(fault)?;
    Ok((manifest, key, spool))
}

fn table_entry(table: &str) -> String {
    format!("tables/{table}.jsonl")
}

fn content_entry(content: &Content) -> String {
    format!("attachments/{}", content.sha256)
}

/// Reads a content into a file, if it is what its name says.
fn read_content(mut entry: impl Read, content: &Content, path: &Path) -> io::Result<()> {
    let mut file = tarball::create_private(path)?;
    let mut sum = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut left = content.size;
    loop {
        let read = entry.read(&mut piece)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        // Not more of it than there should be is ever on disk.
        left = left.checked_sub(read as u64).ok_or_else(|| io::Error::other("an attachment is too long"))?;
        sum.update(bytes);
        file.write_all(bytes)?;
    }
    if left > 0 || tarball::hex(&sum.finalize()) != content.sha256 {
        return Err(io::Error::other(format!("the attachment {} does not fit its sum", content.sha256)));
    }
    file.sync_all()
}

fn read_small(entry: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(MAX_SMALL_ENTRY).read_to_end(&mut bytes)?;
    Ok(bytes)
}
