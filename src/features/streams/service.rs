use std::time::Duration;

use bytes::Bytes;
use stoa_model::permissions::Permission;

use super::registry::{Registry, StreamBody};
use super::{backlog, frames};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{Position, outbox};
use crate::hub::Hub;

/// How long clients may take to fetch the last frame when the hub stops.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where a stream begins.
struct Start {
    epoch: String,
    from: Position,
    /// Whether there are events after that.
    has_missed: bool,
    /// Whether the client asked to go on from a place that cannot be gone on from.
    is_lost: bool,
}

/// Opens a stream for the caller, from the event that they name or from now on.
pub(super) async fn open(hub: &Hub, actor: &Actor, since: Option<Vec<u8>>) -> Result<StreamBody, HubError> {
    actor.require(Permission::MessagesRead)?;
    // A stream has events of all conversations. A run that others have started waits for its inbox instead.
    actor.require_beyond_conversation()?;
    let registry = hub.memory::<Registry>();
    let body = registry.open(hub, &actor.principal)?;
    let actor_in = actor.clone();
    let start = hub
        .read(move |tx| {
            // From here on the tap sees to it.
            actor_in.require_still_valid(tx)?;
            let (epoch, end) = (outbox::history_epoch(tx)?, outbox::end(tx)?);
            let Some(since) = &since else {
                return Ok(Start { epoch, from: end, has_missed: false, is_lost: false });
            };
            let place = str::from_utf8(since).ok().and_then(|since| frames::parse_id(since, &epoch));
            let pruned = outbox::pruned_through(tx)?;
            let place = place.filter(|place| (pruned..=end).contains(place));
            let from = place.unwrap_or(end);
            Ok::<_, HubError>(Start { epoch, from, has_missed: from < end, is_lost: place.is_none() })
        })
        .await?;
    let id = frames::id_text(&start.epoch, start.from);
    body.stream.push(if start.is_lost { frames::resync(&id) } else { frames::greeting(&id) });
    registry.state().epoch = start.epoch;
    // Missed events come from the outbox even if the tap has not reached them yet: it does not ask whether the account is newer.
    let is_live = !start.has_missed && {
        let turn = registry.turn.lock().await;
        registry.go_live(&turn, &body.stream, start.from)
    };
    if !is_live {
        tokio::spawn(backlog::catch_up(hub.clone(), actor.clone(), body.stream.clone(), start.from));
    }
    Ok(body)
}

/// Tells all clients that the hub stops, and lets no new ones in.
pub(crate) async fn close_all(hub: &Hub) {
    let registry = hub.memory::<Registry>();
    registry.begin_closing();
    for stream in registry.all_streams() {
        stream.finish(Bytes::from_static(frames::SHUTDOWN));
        registry.remove(hub, &stream);
    }
    // Who does not read is not waited for.
    let _ = tokio::time::timeout(FAREWELL, registry.all_answered()).await;
}
