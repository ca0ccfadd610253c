//! The lock that keeps a second hub out of a data folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::OpenError;

/// Holds the data folder for this process. The operating system lets go of it when the process
/// ends, however it ends.
///
/// Two things are locked: the file `lock`, and the folder itself. Somebody who removes the file while a hub runs makes room for a
/// new file, which another hub could lock. The folder cannot be removed with a database in it.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
    /// None where the file system has no locks for folders.
    folder: Option<File>,
}

impl FolderLock {
    /// Makes the folder if it is missing, private to this user, and locks it.
    pub fn acquire(folder: &Path) -> Result<Self, OpenError> {
        let fault = |error: std::io::Error| folder_error(folder, &error);
        if !folder.exists() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fault)?;
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(folder.join("lock"))
            .map_err(fault)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::Locked(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(fault(error)),
        }
        let mut lock = Self { file, folder: None };
        if let Ok(opened) = File::open(folder) {
            match opened.try_lock() {
                Ok(()) => lock.folder = Some(opened),
                Err(TryLockError::WouldBlock) => return Err(OpenError::Locked(folder.to_owned())),
                Err(TryLockError::Error(error)) => tracing::debug!(%error, "the data folder itself cannot be locked"),
            }
        }
        Ok(lock)
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing a file is not enough when another thread is starting a program just now: until
        // that has begun, it holds a copy of the descriptor, and with it the lock.
        for locked in self.folder.iter().chain([&self.file]) {
            let _ = locked.unlock();
        }
    }
}

fn folder_error(folder: &Path, error: &std::io::Error) -> OpenError {
    if error.kind() == std::io::ErrorKind::StorageFull {
        OpenError::Full(folder.to_owned())
    } else {
        OpenError::Folder { path: folder.to_owned(), reason: error.to_string() }
    }
}
