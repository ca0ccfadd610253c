//! Event streams (`GET /api/events`): what happens, told to everybody who may see it, as it happens.
//!
//! Every hub reads the end of the outbox once (the `tap`), renders each event once, and shares the bytes
//! between the queues of all its streams that may see it. An event's id is its place in the outbox, so a
//! client that comes back says where it was and misses nothing (`backlog`). One task (`keeper`) sends
//! the heartbeats, closes streams whose credential has ended, and notes who is online.

mod backlog;
mod follow;
mod frames;
mod http;
mod keeper;
mod registry;
mod room;
mod service;
mod tap;

pub(crate) use follow::{StreamPosition, current_position, follow};
pub use http::routes;
pub(crate) use keeper::keep;
pub(crate) use service::close_all;
pub use tap::tap;
