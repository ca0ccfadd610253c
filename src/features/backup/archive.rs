//! The backup file: a gzipped tar whose first entry says what the others must be.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stoa_db::{Snapshot, SnapshotError, SnapshotSink, SnapshotSource};
use stoa_model::Timestamp;

const FORMAT: u32 = 1;
const MANIFEST: &str = "manifest.json";
const CHECKSUM: &str = "manifest.sha256";
const KEY: &str = "key";
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
}

impl SnapshotSink for Spool {
    fn begin_table(&mut self, name: &str) -> io::Result<()> {
        self.current = Some(BufWriter::new(create_private(&self.path(name))?));
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

/// Writes the backup beside its final place and moves it there when it is whole and on disk.
pub(super) fn write(
    path: &Path,
    spool: &Spool,
    database: Snapshot,
    key: &str,
    created_at: Timestamp,
) -> Result<u64, ArchiveError> {
    let fault = |source: io::Error| ArchiveError::Io { path: path.to_owned(), source };
    let manifest = Manifest {
        format: FORMAT,
        stoa_version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at,
        key_sha256: hex_digest(key.as_bytes()),
        database,
    };
    let write = || -> io::Result<u64> {
        // In our own folder on the same disk, where nobody can have put something in its place.
        let partial = spool.folder.join("backup.partial");
        let file = create_private(&partial)?;
        let mut archive = tar::Builder::new(GzEncoder::new(BufWriter::new(file), Compression::fast()));
        let text = serde_json::to_vec_pretty(&manifest)?;
        append(&mut archive, MANIFEST, text.len() as u64, &text[..])?;
        let checksum = hex_digest(&text);
        append(&mut archive, CHECKSUM, checksum.len() as u64, checksum.as_bytes())?;
        append(&mut archive, KEY, key.len() as u64, key.as_bytes())?;
        for table in &manifest.database.tables {
            let file = File::open(spool.path(&table.name))?;
            append(&mut archive, &table_entry(&table.name), file.metadata()?.len(), BufReader::new(file))?;
        }
        let file = archive.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        let size = file.metadata()?.len();
        // Never over something that is there: it may be the only other backup.
        fs::hard_link(&partial, path)?;
        fs::remove_file(&partial)?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(size)
    };
    write().map_err(fault)
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
    let mut entries = archive.entries().map_err(fault)?;
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
        let mut file = create_private(&spool.path(&table.name)).map_err(fault)?;
        io::copy(&mut entry, &mut file).map_err(fault)?;
        let file = File::open(spool.path(&table.name)).map_err(fault)?;
        manifest.database.verify(&table.name, BufReader::new(file))?;
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

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)
}

fn append(archive: &mut tar::Builder<impl Write>, name: &str, size: u64, data: impl Read) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o600);
    header.set_entry_type(tar::EntryType::Regular);
    archive.append_data(&mut header, name, data)
}

fn read_small(entry: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(MAX_SMALL_ENTRY).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn hex_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
