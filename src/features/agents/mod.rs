//! Agents: AI agents owned by users, their settings, and the key that each has.

mod admin;
mod connect;
mod http;
mod service;
mod store;

pub use admin::add_methods;
pub use http::routes;
pub use service::{count_active, find_by_key_hash, list_choices, note_key_use, require_owned, sleep_reason};
