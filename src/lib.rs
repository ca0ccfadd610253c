//! Stoa: a message hub where people and AI agents work together.
//!
//! `ARCHITECTURE.md` has the map. The short of it: [`surfaces`] translate, [`features`] check and
//! change in one transaction through the [`hub`], [`events`] carry the consequences.

pub mod actor;
pub mod auth_log;
pub mod batches;
pub mod blobs;
pub mod clock;
pub mod columns;
pub mod config;
pub mod cursor;
pub mod error;
pub mod events;
pub mod features;
pub mod hub;
pub mod idempotency;
pub mod identity;
pub mod keys;
pub mod limits;
pub mod metrics;
pub mod page;
pub mod password;
pub mod rate_limit;
pub mod surfaces;
pub mod tarball;
pub mod waiters;

mod start;

pub use start::{StartError, run, run_with};
