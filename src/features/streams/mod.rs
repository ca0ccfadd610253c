//! Event streams (`GET /api/events`): what happens is sent to everybody who may see it, as it happens.
//!
//! Every hub reads the end of the outbox once (the `tap`), renders each event once, and shares the bytes
//! between the queues of all its streams that may see it. An event's id is its place in the outbox, so a
//! client that comes back says where it was and misses nothing (`backlog`). One task (`keeper`) sends
//! the heartbeats, closes streams whose credential has ended, and notes who is online.

mod backlog;
mod frames;
mod http;
mod keeper;
mod mcp;
mod registry;
mod room;
mod service;
mod tap;

use crate::feature::Feature;

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        mcp: mcp::offer,
        taps: vec![tap::tap()],
        background: Some(|hub| Box::pin(keeper::keep(hub))),
        stop: Some(|hub| Box::pin(service::close_all(hub))),
        ..Feature::new("streams")
    }
}
