//! The lock that keeps a second hub out of a data folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::OpenError;

/// Holds the data folder for this process. The operating system lets go of it when the process
/// ends, however it ends.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
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
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(OpenError::Locked(folder.to_owned())),
            Err(TryLockError::Error(error)) => Err(fault(error)),
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing the file is not enough when another thread is starting a program just now: until
        // that has begun, it holds a copy of the descriptor, and with it the lock.
        let _ = self.file.unlock();
    }
}

fn folder_error(folder: &Path, error: &std::io::Error) -> OpenError {
    if error.kind() == std::io::ErrorKind::StorageFull {
        OpenError::Full(folder.to_owned())
    } else {
        OpenError::Folder { path: folder.to_owned(), reason: error.to_string() }
    }
}
