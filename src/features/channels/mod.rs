//! Channels, their members, and conversations in general: who may see one, and how far each has read.
//!
//! The rule of visibility lives here, for every surface and every feature above: see [`visibility`].

mod admin;
mod http;
mod levels;
mod mcp;
mod members;
mod planner;
mod service;
mod store;
pub mod visibility;
pub mod working;

use crate::feature::Feature;

pub use levels::list_quiet;
pub(crate) use mcp::complete_name;
pub use members::require_let_in;
pub use service::{
    ChannelForPosting, conversation_between, cursor, find_conversation_between, find_for_editing, find_for_posting,
    find_known_for_posting, find_owner, find_seen_by, find_settings, find_visible, find_writable_by, get_channel,
    is_kept_out, is_member, is_public, list_human_members, list_members, list_workflow_channels, move_cursor,
    purge_deleted,
};
pub use store::{ChannelRow, Member, WorkflowChannel};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        mcp: |offer| mcp::add_tools(&mut offer.tools),
        mcp_order: 3,
        planner: Some(planner::plan),
        start: Some(|hub| Box::pin(async move { Ok(service::ensure_general(hub).await?) })),
        ..Feature::new("channels")
    }
}
