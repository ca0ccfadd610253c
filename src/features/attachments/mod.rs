//! Attachments: files that people and agents upload and send with messages.
//!
//! What is in a file is stored once, however often it is uploaded, and is read through a message that the reader may see, or by
//! the one who uploaded it: its sum alone opens nothing. `upload` takes files in, `reading` says who may read them, `messages`
//! hang them on messages, `collect` takes away what nobody has any more, `archive` carries them elsewhere.

mod admin;
mod archive;
mod collect;
mod http;
mod mcp;
mod messages;
mod reading;
mod receiving;
mod serving;
mod store;
mod upload;

use crate::feature::Feature;

pub use collect::{Collected, Hold, hold, warning};
pub use mcp::link;
pub use messages::{attach, find_attachable, of, release};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        mcp: |offer| {
            mcp::add_tools(&mut offer.tools);
            mcp::add_resources(&mut offer.resources);
        },
        mcp_order: 5,
        workers: vec![collect::worker()],
        prepare: Some(collect::prepare),
        ..Feature::new("attachments")
    }
}
