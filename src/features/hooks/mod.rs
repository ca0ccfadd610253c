//! Incoming webhooks: a request of another service becomes a message in a channel or to an agent.
//!
//! `service` is what owners do with their hooks, `verify` checks whether a request comes from the service that it claims to come from,
//! and `receive` posts its message. The author is the hook itself, a principal of the kind machine.

mod admin;
mod http;
mod planner;
mod receive;
mod service;
mod store;
mod verify;

use std::time::Duration;

use crate::feature::{Chore, Feature, Sealed};

pub use service::list_of_owner;

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        planner: Some(planner::plan),
        chores: vec![Chore {
            name: "hook deliveries",
            every: Duration::from_secs(10 * 60),
            run: |_, tx| Ok(store::prune_deliveries(tx)?),
        }],
        sealed: Some(Sealed { columns: &["hooks.secret"], seal_again: service::seal_again }),
        ..Feature::new("hooks")
    }
}
