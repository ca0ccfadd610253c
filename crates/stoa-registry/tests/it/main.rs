//! What the crate promises: it agrees with the published contract, and says what is wrong.
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails must fail its test, and clippy.toml excuses only the test functions themselves"
)]

mod agreement;
mod examples;
mod faults;
mod files;
mod registry;
mod support;
