//! What streams need from time to time: heartbeats, a look at their credentials, and word of who came and
//! went.

use std::time::Duration;

use bytes::Bytes;
use stoa_db::DbError;
use stoa_model::PrincipalId;

use super::frames;
use super::registry::{Offered, Registry, Woken};
use super::tap::close_slow;
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, Position, PrincipalEvent};
use crate::features::principals;
use crate::hub::{Hub, pause};

const HEARTBEAT_MS: i64 = 15_000;
const LOOK_MS: i64 = 60_000;
const FAILURE_PAUSE: Duration = Duration::from_millis(500);
/// Credentials that are looked up in one go.
const CREDENTIALS: usize = 200;

/// Runs until the hub stops.
pub(crate) async fn keep(hub: Hub) {
    let registry = hub.memory::<Registry>();
    let mut next_heartbeat = hub.clock().now_ms() + HEARTBEAT_MS;
    let mut next_look = hub.clock().now_ms() + LOOK_MS;
    let mut told = Position::default();
    loop {
        let next_leave = registry.state().next_leave().unwrap_or(i64::MAX);
        let next = next_heartbeat.min(next_look).min(next_leave);
        tokio::select! {
            () = hub.stopping() => return,
            () = hub.clock().sleep_until(next) => {}
            () = registry.bell.notified() => {}
        }
        let now = hub.clock().now_ms();
        if now >= next_heartbeat {
            next_heartbeat = now + HEARTBEAT_MS;
            close_expired(&hub, &registry, now);
            send_heartbeat(&hub, &registry, &mut told);
        }
        if now >= next_look {
            next_look = now + LOOK_MS;
            if let Err(error) = look(&hub, &registry).await {
                tracing::warn!(%error, "the credentials of streams could not be looked at; trying again in a minute");
            }
        }
        publish_presence(&hub, &registry, now).await;
    }
}

fn close_expired(hub: &Hub, registry: &Registry, now_ms: i64) {
    registry
        .all_streams()
        .into_iter()
        .filter(|stream| stream.is_expired(now_ms))
        .for_each(|stream| registry.close(hub, &stream));
}

/// One chunk for all. When something has happened since the last one, it says how far they have come:
/// otherwise a client that may see little would one day go on from an event that is long gone.
fn send_heartbeat(hub: &Hub, registry: &Registry, told: &mut Position) {
    let plain = Bytes::from_static(frames::HEARTBEAT);
    let turn = registry.turn.try_lock();
    let (epoch, position) = {
        let state = registry.state();
        (state.epoch.clone(), state.position)
    };
    // In the middle of a batch nobody can say how far each one is.
    let with_id = (turn.is_ok() && *told != position).then(|| {
        *told = position;
        frames::heartbeat(&frames::id_text(&epoch, position))
    });
    let (mut slow, mut woken) = (Vec::new(), Woken::default());
    for stream in registry.all_streams() {
        let chunk = with_id.as_ref().filter(|_| stream.is_at(position)).unwrap_or(&plain);
        if stream.offer(None, chunk, &mut woken) == Offered::Full {
            slow.push(stream);
        }
    }
    close_slow(hub, registry, &slow);
}

/// Looks whether all credentials are still good, and notes that their principals are still here.
async fn look(hub: &Hub, registry: &Registry) -> Result<(), DbError> {
    for streams in registry.all_streams().chunks(CREDENTIALS) {
        let principals: Vec<_> = streams.iter().map(|stream| stream.principal.clone()).collect();
        let are_valid: Vec<bool> = hub
            .read(move |tx| {
                principals.iter().map(|principal| principal.is_still_valid(tx)).collect::<Result<_, DbError>>()
            })
            .await?;
        let ended = streams.iter().zip(are_valid).filter(|(_, is_valid)| !is_valid);
        ended.for_each(|(stream, _)| registry.close(hub, stream));
    }
    let here = registry.state().connected_ids();
    if here.is_empty() {
        return Ok(());
    }
    hub.write(move |tx| principals::note_all_seen(tx, &here)).await
}

/// Tells who came and went, all in one command.
async fn publish_presence(hub: &Hub, registry: &Registry, now_ms: i64) {
    let presence = registry.state().take_presence(now_ms);
    if presence.is_empty() {
        return;
    }
    let (hub_in, told) = (hub.clone(), presence.clone());
    let outcome = hub
        .write(move |tx| {
            let ids: Vec<PrincipalId> = told.iter().map(|(principal, ..)| *principal).collect();
            principals::note_all_seen(tx, &ids)?;
            for (principal, name, is_online) in &told {
                let (principal, name, is_online) = (*principal, name.clone(), *is_online);
                let event = PrincipalEvent::PresenceChanged { principal, name, is_online };
                events::emit(&hub_in, tx, &Actor::system(), event)?;
            }
            Ok::<_, HubError>(())
        })
        .await;
    if let Err(error) = outcome {
        tracing::warn!(%error, "it could not be told who is online; trying again");
        registry.state().give_back_presence(presence);
        pause(FAILURE_PAUSE).await;
        registry.bell.notify_one();
    }
}
