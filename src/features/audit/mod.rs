//! The audit log: who changed what about accounts, keys and the hub itself. Entries are written in
//! the transaction of what they tell.

mod admin;
mod http;
mod service;
mod store;

pub use admin::add_methods;
pub use http::routes;
pub use service::{AuditQuery, list_entries, record};
