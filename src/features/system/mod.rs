//! What the hub says about itself: health, version, figures, the state of its database.

mod admin;
mod http;
mod service;

pub use admin::add_methods;
pub use http::routes;
