//! Secrets: environment variables for the runs of a user's agents, or of one agent. Only the operator sets them, and nobody can read
//! them back.

mod admin;
mod planner;
mod service;
mod store;

use crate::feature::{Feature, Sealed};

pub use service::{RunSecrets, list_model_keys, secrets_of_run};

pub fn feature() -> Feature {
    Feature {
        admin_methods: admin::add_methods,
        planner: Some(planner::plan),
        sealed: Some(Sealed { columns: &["secrets.value"], seal_again: service::seal_again }),
        ..Feature::new("secrets")
    }
}
