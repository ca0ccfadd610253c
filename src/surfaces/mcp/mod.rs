//! MCP: what agents use all day. One endpoint, `/mcp`, for every revision that clients speak.
//!
//! Nothing is bound to a connection or kept in memory between two requests, so a restart breaks no client. Features say in
//! their own folders what tools, resources and prompts they offer; this surface translates and knows no rules. The library
//! that speaks the protocol is used in here and nowhere else in the hub.

use std::sync::Arc;

mod completion;
mod exchange;
mod gate;
mod long_ones;
mod origin;
mod prompts;
mod resources;
mod schema;
mod server;
mod subscriptions;
mod tools;

pub use completion::{Completer, MAX_COMPLETIONS};
pub use exchange::Exchange;
pub(crate) use gate::router;
pub use prompts::{PromptSpec, PromptValue, PromptValues, Prompts};
pub use resources::{File, FileContent, ResourceSpec, Resources};
pub use stoa_model::mcp::Toolset;
pub use subscriptions::{EventFollower, EventSource};
pub use tools::{Effect, MAX_LISTED, ShownTo, ToolSpec, Tools};

/// All that features offer here.
#[derive(Default)]
pub struct Offer {
    pub tools: Tools,
    pub resources: Resources,
    pub prompts: Prompts,
    /// Where subscriptions get their events from; without it there are none.
    pub events: Option<Arc<dyn EventSource>>,
}
