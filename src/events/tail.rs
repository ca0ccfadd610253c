//! The end of the outbox, as it grows: every hub reads it once for all who wait or stream there.
//!
//! Unlike a [listener](super::listener), a tap has no durable cursor: it serves connections to this
//! process, and whoever reconnects says where they had come to.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::{DbError, Engine};

use super::lag::{Lag, unsignalled};
use super::outbox::{self, EventPage, Position, SkippedRow};
use crate::hub::{BoxFuture, Hub, catch_panic, pause};

const BATCH: i64 = 500;
/// Characters of a kind that the log shows.
const MAX_LOGGED_KIND: usize = 64;
const FAILURE_PAUSE: Duration = Duration::from_millis(500);
/// How long the tail leaves the database alone after it has read something.
const REST: Duration = Duration::from_millis(4);
/// How many such rests it takes while nobody streams or waits here.
const RESTS_WHILE_IDLE: u32 = 12;

/// Something that sees the events on every hub, in order, while a caller needs them.
pub trait Tap: Send + Sync + 'static {
    /// Called once, before anything is served: what comes to [`handle`](Self::handle) is behind this.
    fn begin(&self, _hub: &Hub, _position: Position) {}

    /// Whether no caller needs events now.
    fn is_idle(&self, hub: &Hub) -> bool;

    /// If it is still idle, moves on to `end` and returns true. Events before `end` may still come, if another tap needs them.
    fn skip_to(&self, hub: &Hub, end: Position) -> bool;

    /// A page may have rows but no events, if they cannot be read.
    fn handle<'a>(&'a self, hub: &'a Hub, page: &'a EventPage) -> BoxFuture<'a, ()>;
}

/// Where the outbox ends now; taps are told of it before the hub serves anybody.
pub(crate) async fn begin(hub: &Hub, taps: &[Arc<dyn Tap>]) -> Result<Position, DbError> {
    let position = hub.read(outbox::end).await?;
    for tap in taps {
        tap.begin(hub, position);
    }
    Ok(position)
}

/// Follows the outbox until the hub has stopped serving.
pub(crate) async fn follow(hub: Hub, taps: Vec<Arc<dyn Tap>>, mut position: Position) {
    let mut changes = hub.db().changes();
    let lag = hub.memory::<Lag>();
    loop {
        changes.mark_unchanged();
        lag.begin(hub.clock().now_ms());
        if let Some(end) = skip_unwanted(&hub, &taps).await {
            position = end;
            lag.end();
            rest_while_idle(&hub, &taps).await;
            tokio::select! {
                () = hub.stopping() => return,
                _ = changes.changed() => {}
                () = unsignalled(&hub) => {}
            }
            continue;
        }
        let read = hub.read_urgent(move |tx| outbox::events_after(tx, position, BATCH));
        let next_look = match read.await {
            Ok(page) => {
                if let Some(end) = page.end {
                    report_skipped(&hub, &page.skipped);
                    for tap in &taps {
                        // A panic of a feature must not end the tail for everybody.
                        if catch_panic(tap.handle(&hub, &page)).await.is_none() {
                            tracing::error!("a tap panicked; the streams of this hub may have missed an event");
                        }
                    }
                    position = end;
                    let is_full = i64::try_from(page.rows()).is_ok_and(|rows| rows >= BATCH);
                    if let Some(last) = page.events.last().filter(|_| is_full) {
                        lag.seen_until(last.at_ms);
                        continue;
                    }
                    if hub.db().engine() == Engine::Postgres {
                        // Other hubs tell of each of their commits. While they come one after another, some are read together.
                        pause(REST).await;
                    }
                }
                lag.end();
                None
            }
            Err::<EventPage, DbError>(error) => {
                tracing::error!(%error, "the outbox could not be read; trying again");
                Some(FAILURE_PAUSE)
            }
        };
        let wait = async {
            match next_look {
                Some(duration) => pause(duration).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = hub.stopping() => return,
            _ = changes.changed() => {}
            () = unsignalled(&hub) => {}
            () = wait => {}
        }
    }
}

/// The end of the outbox, if no tap needs the events before it. A caller who comes later finds them in the database, because the
/// end was read before the taps were asked.
async fn skip_unwanted(hub: &Hub, taps: &[Arc<dyn Tap>]) -> Option<Position> {
    if !taps.iter().all(|tap| tap.is_idle(hub)) {
        return None;
    }
    let end = hub.read_urgent(outbox::end).await.ok()?;
    taps.iter().all(|tap| tap.skip_to(hub, end)).then_some(end)
}

/// Ends soon after somebody comes who needs events.
async fn rest_while_idle(hub: &Hub, taps: &[Arc<dyn Tap>]) {
    for _ in 0..RESTS_WHILE_IDLE {
        if hub.is_stopping() || !taps.iter().all(|tap| tap.is_idle(hub)) {
            return;
        }
        pause(REST).await;
    }
}

/// Counts and logs the rows that cannot be read: one line for each page, so that many of them do not fill the log.
fn report_skipped(hub: &Hub, skipped: &[SkippedRow]) {
    let (Some(first), Some(last)) = (skipped.first(), skipped.last()) else { return };
    hub.metrics().events_skipped.inc_by(skipped.len() as u64);
    let kind: String = first.kind.chars().take(MAX_LOGGED_KIND).collect();
    let fault = first.fault.as_deref().unwrap_or("this version does not know its kind");
    let (from, to) = (first.position, last.position);
    tracing::warn!(rows = skipped.len(), ?from, ?to, kind, fault, "events were skipped; this is the first of them");
}
