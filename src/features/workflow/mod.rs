//! Workflow: reactions make work of messages. What a reaction does is here: who may react how, the state and status that
//! follow, how far agents come to be trusted, what the hub approves by itself, and who is told when work stands still.

mod board;
mod http;
mod mcp;
mod planner;
mod react;
mod stalemate;
mod trust;
mod trust_store;

use std::time::Duration;

use crate::feature::{Chore, Feature};

pub use react::{clear_reaction, set_reaction};
pub use trust::list_trust;

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        mcp: |offer| mcp::add_tools(&mut offer.tools),
        mcp_order: 4,
        planner: Some(planner::plan),
        chores: vec![Chore {
            name: "stalemates",
            every: Duration::from_secs(60),
            run: stalemate::send_stalemate_notices,
        }],
        ..Feature::new("workflow")
    }
}
