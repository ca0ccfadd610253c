//! Backups: one file with everything a hub is, taken while it runs, restored while none does. The
//! format is the same for both engines, so a hub can move from SQLite to PostgreSQL and back.

mod admin;
mod archive;
mod service;

use crate::feature::Feature;

pub use archive::ArchiveError;
pub use service::{BackupView, RestoreError, RestoreTarget, RestoredView, restore};

pub fn feature() -> Feature {
    Feature { admin_methods: admin::add_methods, ..Feature::new("backup") }
}
