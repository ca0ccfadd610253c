//! Traces: what principals did, call by call, for the human who answers for them. They are written in
//! batches, after the answer, so that no call waits for its trace; a crash loses the last ones.

mod admin;
mod http;
mod service;
mod store;
mod writer;

use std::time::Duration;

use crate::feature::{Chore, Feature};

pub use service::{TraceQuery, find_by_request};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        chores: vec![Chore {
            name: "traces",
            every: Duration::from_secs(10 * 60),
            run: |hub, tx| Ok(service::prune(hub, tx)?),
        }],
        start: Some(writer::start),
        // Last of all, when nothing happens that has to be traced.
        close: Some(writer::close),
        ..Feature::new("traces")
    }
}
