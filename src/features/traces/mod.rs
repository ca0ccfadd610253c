//! Traces: what principals did, call by call, for the human who answers for them. They are written in
//! batches, after the answer, so that no call waits for its trace; a crash loses the last ones.

mod admin;
mod http;
mod service;
mod store;

pub use admin::add_methods;
pub use http::routes;
pub use service::{TraceQuery, find_by_request, prune, record, write_batches};
