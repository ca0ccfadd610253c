//! Search: finding what was said, among what one may see.
//!
//! `index` is what is asked and `sqlite` and `postgres` are the two that can be; `listener` keeps them up to date, some
//! moments late, and `service` makes up for these moments: it looks at what has happened since itself. Texts of an owner who
//! writes more than others wait in `queue`; `turns` says how many searches of one owner run at once.

mod entries;
mod http;
mod index;
mod listener;
mod mcp;
mod plan;
mod postgres;
mod queue;
mod service;
mod sqlite;
mod turns;

use crate::feature::Feature;

pub use listener::LISTENER;

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        mcp: |offer| mcp::add_tools(&mut offer.tools),
        mcp_order: 2,
        listeners: vec![listener::listener()],
        companion: Some(sqlite::COMPANION),
        prepare: Some(|hub| Box::pin(async move { Ok(listener::prepare(hub).await?) })),
        ..Feature::new("search")
    }
}
