//! What `stoa-db` promises, tested on SQLite, or on PostgreSQL when `STOA_TEST_DATABASE_URL` names
//! a server on which databases may be created (`scripts/with-postgres` starts one).
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails must fail its test, and clippy.toml excuses only the test functions themselves"
)]

mod support;

mod batches;
mod cable;
mod catalog;
mod changes;
mod child;
mod companion;
mod connections;
mod disk_full;
mod durability;
mod folder;
mod locks;
mod log_size;
mod migrations;
mod pulse;
mod queues;
mod repetition;
mod snapshots;
mod sync_order;
mod together;
mod values;
