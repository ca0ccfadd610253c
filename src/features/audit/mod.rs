//! The audit log: who changed what about accounts, keys and the hub itself. Entries are written in
//! the transaction of what they tell.

mod admin;
mod http;
mod service;
mod store;

use crate::feature::Feature;

pub use service::{AuditQuery, list_entries, record};

pub fn feature() -> Feature {
    Feature { routes: http::routes, admin_methods: admin::add_methods, ..Feature::new("audit") }
}
