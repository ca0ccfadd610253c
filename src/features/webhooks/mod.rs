//! Webhooks: an agent's owner, or the agent, registers an address; the hub sends a signed request there when something happens to the
//! agent. Deliveries are rows that are written in the transaction of their cause.

mod admin;
mod content;
mod deliveries;
mod delivery_store;
mod http;
mod mcp;
mod planner;
mod probing;
mod sending;
mod service;
mod signing;
mod store;
mod switch;

use std::sync::Arc;
use std::time::Duration;

use crate::feature::{Chore, Feature, Sealed};

pub use deliveries::list_evidence;
pub use sending::Outgoing;
pub use signing::{render as render_secret, sign_with};
pub use switch::{drop_waiting, list_of_owner, resume};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        mcp: mcp::offer,
        mcp_order: 60,
        planner: Some(planner::plan),
        workers: vec![Arc::new(sending::Sender), Arc::new(probing::Prober)],
        chores: vec![
            Chore { name: "webhooks", every: Duration::from_secs(600), run: deliveries::prune },
            Chore { name: "webhook backlogs", every: Duration::from_secs(60), run: deliveries::limit_backlogs },
        ],
        sealed: Some(Sealed { columns: &["webhooks.secret", "webhooks.old_secret"], seal_again: signing::seal_again }),
        metrics: Some(deliveries::update_gauges),
        ..Feature::new("webhooks")
    }
}
