use std::sync::Arc;

use super::inbox;
use crate::events::outbox::EventPage;
use crate::events::{Position, Tap};
use crate::hub::{BoxFuture, Hub};

/// Wakes callers that wait for their inbox.
struct InboxTap;

pub fn tap() -> Arc<dyn Tap> {
    Arc::new(InboxTap)
}

impl Tap for InboxTap {
    fn is_idle(&self, hub: &Hub) -> bool {
        hub.waiters().is_empty()
    }

    fn skip_to(&self, hub: &Hub, _end: Position) -> bool {
        // Who waits looks into the database once more after they have begun to wait.
        self.is_idle(hub)
    }

    fn handle<'a>(&'a self, hub: &'a Hub, page: &'a EventPage) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if self.is_idle(hub) {
                return;
            }
            for stored in &page.events {
                inbox::wake(hub.waiters(), &stored.event);
            }
        })
    }
}
