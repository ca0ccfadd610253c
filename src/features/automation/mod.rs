//! Automation: the list of everything that may start by itself, and the switch that stops all of it: an owner's for theirs, the
//! operator's for the hub.

mod admin;
mod http;
mod service;

use crate::feature::Feature;

pub fn feature() -> Feature {
    Feature { routes: http::routes, admin_methods: admin::add_methods, ..Feature::new("automation") }
}
