//! The promises about attachments, with their contents in a bucket: `scripts/check-s3` runs this against a server that speaks S3.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails must fail its test, and clippy.toml excuses only the test functions themselves"
)]

#[path = "../it/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "these few tests do not need all of it")]
mod support;

#[path = "../it/attachments.rs"]
mod attachments;
#[path = "../it/attachments_access.rs"]
mod attachments_access;
#[path = "../it/attachments_kept.rs"]
mod attachments_kept;

#[test]
fn there_is_a_bucket() {
    assert!(support::TestHub::setup().config.attachments_url.is_some(), "run scripts/check-s3");
}
