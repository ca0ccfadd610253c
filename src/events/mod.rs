//! What happened, and who gets to hear of it.
//!
//! A command [`emit`]s an event inside its transaction: a row of the outbox. Planners add the rows of
//! work that follow from it there and then, so the plan commits with its cause. After the commit
//! [listeners](listener) follow the outbox by durable cursors, and [workers](work) take rows of
//! work by lease. Both tolerate doing a thing twice; neither can miss one.

mod event;
pub mod followers;
pub mod lag;
pub mod listener;
pub mod outbox;
mod planner;
pub mod prune;
pub mod tail;
pub mod work;

pub use event::{
    ChannelEvent, Event, MessageChange, MessageEvent, MessageSent, PrincipalEvent, ReactionChange, ReactionEvent,
    ReadingEvent, RunChange, RunEvent, StoredEvent,
};
pub use followers::{Followers, settle};
pub use listener::Listener;
pub use outbox::Position;
pub use planner::{Delivery, Outcome, Planner, emit};
pub use tail::Tap;
pub use work::{NewItem, Rate, Settlement, WorkItem, Worker};
