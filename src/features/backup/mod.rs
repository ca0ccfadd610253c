//! Backups: one file with everything a hub is, taken while it runs, restored while none does. The
//! format is the same for both engines, so a hub can move from SQLite to PostgreSQL and back.

mod admin;
mod archive;
mod service;

pub use admin::add_methods;
pub use archive::ArchiveError;
pub use service::{BackupView, RestoreError, RestoreTarget, RestoredView, restore};
