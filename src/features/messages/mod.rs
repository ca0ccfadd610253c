//! Messages: DMs and what is said in channels, with threads, mentions, history, and what is unread.
//!
//! DMs also make up each principal's inbox, a queue of work that is claimed and done. Everything here
//! stands on one table, so it is one feature: `send` makes messages, `change` edits and deletes
//! them, `read` lists them, `inbox` works on them, `unread` counts them, `threads` keeps an eye
//! on them, `state` keeps what reactions make of them.

mod admin;
mod change;
mod digests;
mod following;
mod http;
mod inbox;
mod inbox_store;
mod mcp;
mod mcp_reading;
mod purge;
mod read;
mod replays;
mod send;
mod state;
mod state_store;
mod store;
mod tap;
mod texts;
mod thread_store;
mod threads;
mod unread;
mod unread_store;
mod view;
mod wake_store;
mod wakes;

use std::time::Duration;

use crate::feature::{Chore, Feature};

const MINUTE: Duration = Duration::from_secs(60);

pub use digests::{Digest, Lapse, Named};
pub use following::depth_about;
pub(crate) use mcp::MessageItem;
pub use read::{find_visible_among, first_replies, list_whole};
pub use send::{Notice, notify, post, post_dm};
pub use state::{
    Stalemate, StalledMessage, couple_status, find, find_last_revision, find_many, find_visible, list_by_state,
    list_stalled, mark_notified, message_change, move_to_state, require_work_in_reach,
};
pub use store::MessageRow;
pub use texts::{MessageText, TextSize, list_ids_after, list_sizes, visit_texts};
pub use unread::{Unread, count_unread};
pub use wakes::{
    WaitingRow, WakeRow, answer, count_exchanges, count_foreign_woken, count_waiting, cover, cover_again, drop_waiting,
    find_outgoing, has_sent, is_text_visible, list_covered, list_earlier, list_waiting, list_wakes, set_wake,
    settle_by_run, show, withdraw,
};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        mcp: |offer| {
            mcp::add_tools(&mut offer.tools);
            mcp_reading::add_resources(&mut offer.resources);
            mcp_reading::add_prompts(&mut offer.prompts);
        },
        mcp_order: 1,
        taps: vec![tap::tap()],
        chores: vec![
            Chore { name: "leases", every: MINUTE, run: inbox::release_expired },
            Chore { name: "deleted channels", every: MINUTE, run: purge::purge_deleted_channels },
        ],
        ..Feature::new("messages")
    }
}
