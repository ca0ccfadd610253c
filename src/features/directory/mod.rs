//! The directory: what everyone may know about every user and agent.

mod http;
mod mcp;
mod service;
mod store;

use crate::feature::Feature;

pub fn feature() -> Feature {
    Feature { routes: http::routes, mcp: |offer| mcp::add_tools(&mut offer.tools), ..Feature::new("directory") }
}
