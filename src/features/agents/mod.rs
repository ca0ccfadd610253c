//! Agents: AI agents owned by users, their settings, and the key that each has.

mod admin;
mod connect;
mod http;
mod running;
mod service;
mod store;

use crate::feature::Feature;

pub use running::{
    Runnable, begin_decision, find_runnable, list_reactive, list_with_pending_work, note_run_ended, set_pending_work,
};
pub use service::{
    RevisedAgent, get_agent, is_halted, list_choices, may_start_subprocess, require_managed, require_owned,
    sleep_reason,
};

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
