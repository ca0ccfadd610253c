//! The program that is measured.

use std::path::{Path, PathBuf};

/// The binary of a hub.
pub(super) struct HubProgram {
    path: PathBuf,
}

impl HubProgram {
    /// Takes the given file, or else the file `stoa` beside this program.
    pub(super) fn find(given: Option<&Path>) -> Result<Self, String> {
        let path = match given {
            // A bare file name would be looked up in `PATH`, which may have another hub.
            Some(path) => std::path::absolute(path),
            None => std::env::current_exe().map(|program| program.with_file_name("stoa")),
        };
        let path = path.map_err(|error| error.to_string())?;
        if path.is_file() {
            return Ok(Self { path });
        }
        Err(format!(
            "the hub to measure is missing: {} is not a file. Build it with `cargo build --release --package stoa`, \
             or choose another file with --stoa.",
            path.display()
        ))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
