//! What the hub keeps on disk beside its rows: attachments, the key file and archives.

pub mod blobs;
pub mod columns;
pub mod keys;
pub mod tarball;
