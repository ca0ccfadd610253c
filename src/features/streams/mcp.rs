//! Event streams for MCP, whose subscriptions are notified of what the events change.

use std::collections::VecDeque;
use std::sync::Arc;

use http_body_util::BodyExt;
use serde_json::Value;
use stoa_db::DbError;

use super::registry::StreamBody;
use super::{frames, service};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::outbox;
use crate::hub::{BoxFuture, Hub};
use crate::surfaces::mcp::{EventFollower, EventSource, Offer};

pub fn offer(offer: &mut Offer) {
    offer.events = Some(Arc::new(StreamsForMcp));
}

struct StreamsForMcp;

/// What happens, as a caller may see it.
struct Followed {
    body: StreamBody,
    read: VecDeque<(String, Value)>,
}

impl EventSource for StreamsForMcp {
    fn end<'a>(&'a self, hub: &'a Hub) -> BoxFuture<'a, Result<String, HubError>> {
        Box::pin(async move {
            let (epoch, end) = hub.read(|tx| Ok::<_, DbError>((outbox::history_epoch(tx)?, outbox::end(tx)?))).await?;
            Ok(frames::id_text(&epoch, end))
        })
    }

    fn follow<'a>(
        &'a self,
        hub: &'a Hub,
        actor: &'a Actor,
        from: Option<String>,
    ) -> BoxFuture<'a, Result<Box<dyn EventFollower>, HubError>> {
        Box::pin(async move {
            let body = service::open(hub, actor, from.map(String::into_bytes)).await?;
            Ok(Box::new(Followed { body, read: VecDeque::new() }) as Box<dyn EventFollower>)
        })
    }
}

impl EventFollower for Followed {
    fn next(&mut self) -> BoxFuture<'_, Option<(String, Value)>> {
        Box::pin(async move {
            loop {
                if let Some(event) = self.read.pop_front() {
                    return Some(event).filter(|(name, _)| name != "shutdown");
                }
                let Ok(frame) = self.body.frame().await?;
                let Ok(bytes) = frame.into_data() else { continue };
                self.read.extend(events(&String::from_utf8_lossy(&bytes)));
            }
        })
    }
}

/// The events of whole frames; comments and greetings are none.
fn events(text: &str) -> Vec<(String, Value)> {
    let frame = |frame: &str| {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        Some((field("event")?.to_owned(), serde_json::from_str(field("data")?).ok()?))
    };
    text.split("\n\n").filter_map(frame).collect()
}

#[cfg(test)]
mod tests {
    use super::events;

    #[test]
    fn frames_are_read() {
        let text = "retry: 3000\nid: a\n\n: \n\nevent: new_message\ndata: {\"message_id\":1}\nid: b\n\nevent: shutdown\ndata: {}\n\n";
        let names: Vec<_> = events(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["new_message", "shutdown"]);
    }
}
