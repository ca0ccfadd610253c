//! Managed API keys: an owner lets a program act as one of their agents, within permissions,
//! channels and time.

mod admin;
mod http;
mod planner;
mod service;
mod store;

use crate::feature::Feature;

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        credentials: &[service::API_KEY],
        planner: Some(planner::plan),
        ..Feature::new("api_keys")
    }
}
