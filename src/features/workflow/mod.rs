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

pub use http::routes;
pub use mcp::add_tools;
pub use planner::plan;
pub use stalemate::send_stalemate_notices;
