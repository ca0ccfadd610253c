//! Managed API keys: an owner lets a program act as one of their agents, within permissions,
//! channels and time.

mod admin;
mod http;
mod planner;
mod service;
mod store;

pub use admin::add_methods;
pub use http::routes;
pub use planner::plan;
pub use service::{find_by_key_hash, note_use};
