//! Search: finding what was said, among what one may see.
//!
//! `index` is what is asked and `sqlite` and `postgres` are the two that can be; `listener` keeps them up to date, some
//! moments late, and `service` makes up for these moments: it looks at what has happened since itself.

mod entries;
mod http;
mod index;
mod listener;
mod mcp;
mod plan;
mod postgres;
mod service;
mod sqlite;

pub use http::routes;
pub use listener::{LISTENER, listener, prepare};
pub use mcp::add_tools;
pub use sqlite::COMPANION;
