//! A stream for a reader inside the hub.

use std::collections::VecDeque;

use http_body_util::BodyExt;
use serde_json::Value;
use stoa_db::DbError;

use super::registry::StreamBody;
use super::{frames, service};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::outbox;
use crate::hub::Hub;

/// What happens, as a caller may see it. Dropping it ends the stream.
pub(crate) struct Followed {
    body: StreamBody,
    told: VecDeque<(String, Value)>,
}

/// A position in the event log, from which a stream can start later.
#[derive(Debug, Clone)]
pub(crate) struct StreamPosition(String);

/// The position after the latest event.
pub(crate) async fn current_position(hub: &Hub) -> Result<StreamPosition, HubError> {
    let (epoch, end) = hub.read(|tx| Ok::<_, DbError>((outbox::history_epoch(tx)?, outbox::end(tx)?))).await?;
    Ok(StreamPosition(frames::id_text(&epoch, end)))
}

/// Begins to follow what happens, from a position or from now on.
pub(crate) async fn follow(hub: &Hub, actor: &Actor, from: Option<StreamPosition>) -> Result<Followed, HubError> {
    let since = from.map(|position| position.0.into_bytes());
    Ok(Followed { body: service::open(hub, actor, since).await?, told: VecDeque::new() })
}

impl Followed {
    /// The next event: its name and what it says. None when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some(told) = self.told.pop_front() {
                return Some(told).filter(|(name, _)| name != "shutdown");
            }
            let Ok(frame) = self.body.frame().await?;
            let Ok(bytes) = frame.into_data() else { continue };
            self.told.extend(events(&String::from_utf8_lossy(&bytes)));
        }
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
