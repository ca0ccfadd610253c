//! Stars: conversations that somebody wants on top of their list.

mod http;
mod service;
mod store;

use crate::feature::Feature;

pub fn feature() -> Feature {
    Feature { routes: http::routes, ..Feature::new("stars") }
}
