//! What the hub says about itself: health, version, figures, the state of its database.

mod admin;
mod http;
mod service;

use crate::feature::{Feature, Sealed};
use crate::hub::idempotency;

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        // Idempotency belongs to the hub itself, which registers nothing.
        sealed: Some(Sealed { columns: &["idempotency.answer"], seal_again: idempotency::seal_again }),
        ..Feature::new("system")
    }
}
