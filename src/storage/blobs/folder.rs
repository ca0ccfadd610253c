//! Contents in a folder, in as many folders as there are beginnings of names.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempPath;

use super::BlobError;

const INCOMING: &str = "incoming";
const TRASH: &str = "trash";
const OWNER: &str = "owner";
/// Digits of a name that its folder is called by.
const SHARD_DIGITS: usize = 2;

#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    incoming: PathBuf,
}

impl Folder {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let incoming = root.join(INCOMING);
        make_private(&incoming)?;
        // It may have been made by hand, or come from a backup of files.
        fs::set_permissions(root, fs::Permissions::from_mode(0o700))?;
        Ok(Self { root: root.to_owned(), incoming })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Whose it is: the first one's who asked.
    pub(super) fn claim(&self, owner: &str) -> io::Result<String> {
        let path = self.root.join(OWNER);
        if !path.exists() {
            let mut file = tempfile::Builder::new().prefix("owner-").tempfile_in(&self.incoming)?;
            file.write_all(owner.as_bytes())?;
            file.as_file().sync_all()?;
            match file.persist_noclobber(&path) {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => return Err(error.error),
                _ => sync_folder(&self.root)?,
            }
        }
        Ok(fs::read_to_string(path)?.trim().to_owned())
    }

    pub(super) fn incoming(&self) -> &Path {
        &self.incoming
    }

    fn shard(&self, object: &str) -> io::Result<(PathBuf, PathBuf)> {
        let is_name = object.len() > SHARD_DIGITS
            && object.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f' | b'.'))
            && !object.starts_with('.');
        let (shard, rest) = object
            .split_at_checked(SHARD_DIGITS)
            .filter(|_| is_name)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("{object:?} is not a name")))?;
        let shard = self.root.join(shard);
        let path = shard.join(rest);
        Ok((shard, path))
    }

    pub(super) fn put(&self, file: TempPath, object: &str) -> io::Result<()> {
        let (shard, path) = self.shard(object)?;
        if !shard.exists() {
            make_private(&shard)?;
            sync_folder(&self.root)?;
        }
        file.persist(&path).map_err(|error| error.error)?;
        // Only now is the name on disk, too.
        sync_folder(&shard)
    }

    pub(super) fn open_object(&self, object: &str, size: u64, begin: u64) -> Result<File, BlobError> {
        let (_, path) = self.shard(object)?;
        let missing = || BlobError::Missing(object.to_owned());
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.len() != size {
            return Err(missing());
        }
        file.seek(SeekFrom::Start(begin))?;
        Ok(file)
    }

    pub(super) fn remove(&self, object: &str) -> io::Result<()> {
        let (_, path) = self.shard(object)?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn discard(&self, object: &str) -> io::Result<()> {
        let (_, path) = self.shard(object)?;
        let trash = self.root.join(TRASH);
        make_private(&trash)?;
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        // It lies there for as long as it has not been written to.
        #[expect(clippy::disallowed_methods, reason = "files have the time of the system")]
        file.set_modified(SystemTime::now())?;
        fs::rename(path, trash.join(object))?;
        sync_folder(&trash)
    }

    pub(super) fn empty_trash(&self, age: Duration) -> io::Result<()> {
        for (path, is_file) in old_entries(&self.root.join(TRASH), age)? {
            match fs::remove_file(&path) {
                Err(error) if is_file && error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn list_older(&self, beginning: u8, age: Duration) -> io::Result<Vec<String>> {
        let shard = format!("{beginning:02x}");
        let names = old_entries(&self.root.join(&shard), age)?;
        let names = names.iter().filter(|(_, is_file)| *is_file);
        Ok(names.filter_map(|(path, _)| Some(format!("{shard}{}", path.file_name()?.to_str()?))).collect())
    }

    pub(super) fn tidy_incoming(&self, age: Duration) -> io::Result<()> {
        for (path, is_file) in old_entries(&self.incoming, age)? {
            // The folders are of archives that are being unpacked; their files are as old as they are.
            let removed = if is_file { fs::remove_file(&path) } else { fs::remove_dir_all(&path) };
            match removed {
                // Its owner was faster.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// What is in a folder and has not been written to for that long, and whether it is a file.
fn old_entries(folder: &Path, age: Duration) -> io::Result<Vec<(PathBuf, bool)>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    #[expect(clippy::disallowed_methods, reason = "files have the time of the system")]
    let now = SystemTime::now();
    let mut old = Vec::new();
    for entry in entries {
        let entry = entry?;
        let found = match entry.metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        // A time that lies in the future is of a clock that was put back: the file is new.
        let is_old = found.modified().is_ok_and(|at| now.duration_since(at).is_ok_and(|found| found >= age));
        if is_old || age.is_zero() {
            old.push((entry.path(), found.is_file()));
        }
    }
    Ok(old)
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
