//! Files that tests upload, and what is stored of them.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{TestHub, eventually};

pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
pub(crate) const PDF: &[u8] = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n";
pub(crate) const ELF: &[u8] =
    b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0\x10\x20\0\0\0\0\0\0\x40\0\0\0\0\0\0\0";
pub(crate) const MAX_BYTES: usize = 50 * 1024 * 1024;

pub(crate) fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many contents are stored or on their way in.
pub(crate) async fn count_stored(hub: &TestHub) -> usize {
    let blobs = hub.inner().blobs();
    let mut stored = std::fs::read_dir(blobs.incoming()).unwrap().count();
    for beginning in 0..=u8::MAX {
        stored += blobs.list_older(beginning, Duration::ZERO).await.unwrap().len();
    }
    stored
}

/// Makes sure that so many are there. What was put into a bucket for nothing is taken away after the answer.
pub(crate) async fn assert_stored(hub: &TestHub, expected: usize) {
    if hub.inner().blobs().is_far() {
        return eventually("as much is stored", async || count_stored(hub).await == expected).await;
    }
    assert_eq!(count_stored(hub).await, expected);
}

/// What a content is called in the store.
pub(crate) async fn object_of(hub: &TestHub, sha256: &str) -> String {
    let sql = format!("select object from blobs where sha256 = '{sha256}'");
    let found = hub.inner().read(move |tx| tx.query_one(&sql, &[], |row| row.get::<String>("object"))).await;
    found.unwrap_or_else(|error: stoa_db::DbError| panic!("{error}"))
}

pub(crate) async fn rows(hub: &TestHub) -> (i64, i64) {
    (hub.count("select count(*) as n from blobs").await, hub.count("select count(*) as n from uploads").await)
}
