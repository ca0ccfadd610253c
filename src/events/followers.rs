//! What features register to plan and follow events, and how it is started with the hub.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::DbError;
use tokio_util::task::TaskTracker;

use super::{Listener, Planner, Position, Tap, Worker, lag, listener, tail, work};
use crate::error::HubError;
use crate::hub::{Hub, pause};

/// Everything that acts on events, a part of the hub.
#[derive(Default)]
pub struct Followers {
    pub planners: Vec<Planner>,
    pub listeners: Vec<Arc<dyn Listener>>,
    pub workers: Vec<Arc<dyn Worker>>,
    pub taps: Vec<Arc<dyn Tap>>,
}

static NO_FOLLOWERS: Followers =
    Followers { planners: Vec::new(), listeners: Vec::new(), workers: Vec::new(), taps: Vec::new() };

impl Followers {
    pub(super) fn of(hub: &Hub) -> &Self {
        hub.part().unwrap_or(&NO_FOLLOWERS)
    }
}

/// Gives the taps the end of the outbox, before anybody is served.
pub(crate) async fn begin_taps(hub: &Hub) -> Result<Position, DbError> {
    tail::begin(hub, &Followers::of(hub).taps).await
}

/// Starts the taps, listeners and workers.
pub(crate) fn start(hub: &Hub, tasks: &TaskTracker, outbox_end: Position) {
    let followers = Followers::of(hub);
    tasks.spawn(lag::watch(hub.clone()));
    tasks.spawn(tail::follow(hub.clone(), followers.taps.clone(), outbox_end));
    for listener in &followers.listeners {
        tasks.spawn(listener::follow(hub.clone(), listener.clone()));
    }
    for worker in &followers.workers {
        tasks.spawn(work::serve(hub.clone(), worker.clone()));
    }
}

pub(crate) fn listener_names(hub: &Hub) -> Vec<&'static str> {
    Followers::of(hub).listeners.iter().map(|listener| listener.name()).collect()
}

/// Waits until every listener has seen every event, no work is due and every trace is written. For tests, and for
/// operators who want to know that nothing is left.
pub async fn settle(hub: &Hub) -> Result<(), HubError> {
    const PATIENCE: u32 = 10_000;
    let listeners = listener_names(hub);
    let mut left = String::new();
    for _ in 0..PATIENCE {
        let (behind, unsettled) =
            hub.read(|tx| Ok::<_, HubError>((listener::backlog(tx)?, work::unsettled(tx)?))).await?;
        let waiting: Vec<_> = listeners
            .iter()
            .filter(|name| behind.iter().find(|(known, _)| known == *name).is_none_or(|(_, events)| *events > 0))
            .collect();
        if waiting.is_empty() && unsettled == 0 {
            hub.traces().flush().await;
            return Ok(());
        }
        left = format!("listeners {waiting:?} and {unsettled} items of work");
        hub.hurry();
        pause(Duration::from_millis(2)).await;
    }
    Err(HubError::internal(format!("still not settled: {left}")))
}
