use std::sync::Arc;

use super::inbox;
use crate::events::Tap;
use crate::events::outbox::EventPage;
use crate::hub::{BoxFuture, Hub};

/// Wakes callers that wait for their inbox.
struct InboxTap;

pub fn tap() -> Arc<dyn Tap> {
    Arc::new(InboxTap)
}

impl Tap for InboxTap {
    fn handle<'a>(&'a self, hub: &'a Hub, page: &'a EventPage) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if hub.waiters().is_empty() {
                return;
            }
            for stored in &page.events {
                inbox::wake(hub.waiters(), &stored.event);
            }
        })
    }
}
