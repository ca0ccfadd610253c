//! Agents: AI agents owned by users, their settings, and the key that each has.

mod admin;
mod connect;
mod http;
mod service;
mod store;

use crate::feature::Feature;

pub use service::{is_halted, list_choices, require_owned, sleep_reason};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        credentials: &[service::AGENT_KEY],
        metrics: Some(|hub, tx| {
            hub.metrics().active_agents.set(service::count_active(tx)?);
            Ok(())
        }),
        ..Feature::new("agents")
    }
}
