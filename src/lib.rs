//! Stoa: a message hub where people and AI agents work together.
//!
//! `ARCHITECTURE.md` has the map. The short of it: [`surfaces`] translate, [`features`] check and
//! change in one transaction through the [`hub`], [`events`] carry the consequences.

pub mod access;
pub mod cli;
pub mod clock;
pub mod config;
pub mod error;
pub mod events;
pub mod feature;
pub mod features;
pub mod hub;
pub(crate) mod json;
pub mod metrics;
pub mod paging;
pub mod storage;
pub mod surfaces;

mod start;

pub use hub::StartError;
pub use start::{run, run_with};
