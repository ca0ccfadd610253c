//! Tar files that the hub writes: private, whole, and never over something that is there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};

/// A new file that only this user can read.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)
}

pub fn append(archive: &mut tar::Builder<impl Write>, name: &str, size: u64, data: impl Read) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o600);
    header.set_entry_type(tar::EntryType::Regular);
    archive.append_data(&mut header, name, data)
}

/// Syncs a file that is whole and moves it to its place, and says how long it is.
pub fn settle(file: &File, partial: &Path, path: &Path) -> io::Result<u64> {
    file.sync_all()?;
    let size = file.metadata()?.len();
    // Never over something that is there: it may be the only other backup.
    fs::hard_link(partial, path)?;
    fs::remove_file(partial)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(size)
}

pub fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn hex_digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
