//! Bodies as they arrive: no slower than they must, and no more of them in memory than the caller may have there.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::time::Instant;

use crate::access::budget::Holding;
use crate::error::{ErrorKind, HubError};
use crate::hub::{Hub, pause};

/// A body has this long to begin, and then has to keep up this speed on average.
const HEAD_START: Duration = Duration::from_secs(5);
const MIN_BYTES_PER_SECOND: u64 = 4 * 1024;
/// The time that a body has once the hub is stopping: who sends half of one shall not hold it up.
const TIMEOUT_AT_STOP: Duration = Duration::from_secs(2);
/// Bytes of each body that are not counted. A connection takes as much for itself, and a login or a short message never has to wait
/// for the bodies of others.
const NOT_COUNTED: usize = 4 * 1024;

/// The pieces of a body.
pub(super) struct Pieces {
    hub: Hub,
    body: Body,
    started: Instant,
    arrived: u64,
    /// When it has to be there whole.
    deadline: Option<Instant>,
}

impl Pieces {
    pub(super) fn new(hub: &Hub, body: Body) -> Self {
        Self { hub: hub.clone(), body, started: Instant::now(), arrived: 0, deadline: None }
    }

    /// Asks for all of the rest within this time. The time before, in which nobody read, does not count.
    pub(super) fn finish_within(&mut self, time: Duration) {
        let now = Instant::now();
        (self.started, self.arrived, self.deadline) = (now, 0, Some(now + time));
    }

    /// The next bytes; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, HubError> {
        loop {
            let by_pace = self.started + pace(self.arrived);
            let until = self.deadline.map_or(by_pace, |deadline| deadline.min(by_pace));
            let read = tokio::select! {
                biased;
                read = tokio::time::timeout_at(until, self.body.frame()) => read,
                () = overdue_at_stop(&self.hub) => return Err(HubError::unavailable("The hub is shutting down.")),
            };
            match read {
                // Trailers are no part of the body.
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.arrived += bytes.len() as u64;
                        return Ok(Some(bytes));
                    }
                }
                Ok(Some(Err(_))) => return Err(HubError::malformed("The request body is incomplete.")),
                Ok(None) => return Ok(None),
                Err(_) => return Err(too_slow()),
            }
        }
    }
}

/// How long so many bytes may take to arrive.
fn pace(bytes: u64) -> Duration {
    HEAD_START + Duration::from_secs(bytes / MIN_BYTES_PER_SECOND)
}

fn too_slow() -> HubError {
    let detail = "The request body took too long to arrive.";
    HubError::new(ErrorKind::TimedOut, "request_timeout", detail)
        .hint("Send at least 4 KiB per second, or send smaller requests.")
}

async fn overdue_at_stop(hub: &Hub) {
    hub.stopping().await;
    pause(TIMEOUT_AT_STOP).await;
}

/// A body that is put together in memory.
pub(crate) struct Whole {
    pieces: Pieces,
    read: Read,
    /// None if somebody else counts it.
    holding: Option<Holding>,
}

/// What was read of a body. One piece, which most bodies are, is not copied.
enum Read {
    One(Bytes),
    Several(BytesMut),
}

/// Whether a body has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    AtItsEnd,
    /// There is more of it than was asked for.
    TooLong,
}

impl Whole {
    pub(super) fn new(hub: &Hub, body: Body, holding: Option<Holding>) -> Self {
        Self { pieces: Pieces::new(hub, body), read: Read::One(Bytes::new()), holding }
    }

    /// Stops counting, for a body that has a place of its own. From now on all of it must come within this time.
    pub(crate) fn finish_within(&mut self, time: Duration) {
        self.holding = None;
        self.pieces.finish_within(time);
    }

    /// Reads on until the body ends, or has more than so many bytes.
    pub(crate) async fn read_to(&mut self, limit: usize) -> Result<Reading, HubError> {
        loop {
            if self.len() > limit {
                return Ok(Reading::TooLong);
            }
            let Some(piece) = self.pieces.next().await? else { return Ok(Reading::AtItsEnd) };
            let counted_before = self.len().saturating_sub(NOT_COUNTED);
            let counted = (self.len() + piece.len()).saturating_sub(NOT_COUNTED);
            if let Some(holding) = &mut self.holding
                && !holding.grow((counted - counted_before) as u64)
            {
                return Err(HubError::busy("Too many large requests at the same time."));
            }
            match &mut self.read {
                Read::One(first) if first.is_empty() => *first = piece,
                Read::One(first) => {
                    let mut several = BytesMut::from(&**first);
                    several.extend_from_slice(&piece);
                    self.read = Read::Several(several);
                }
                Read::Several(several) => several.extend_from_slice(&piece),
            }
        }
    }

    fn len(&self) -> usize {
        match &self.read {
            Read::One(bytes) => bytes.len(),
            Read::Several(bytes) => bytes.len(),
        }
    }

    /// What was read, and what counts it.
    pub(crate) fn into_parts(self) -> (Bytes, Option<Holding>) {
        let bytes = match self.read {
            Read::One(bytes) => bytes,
            Read::Several(bytes) => bytes.freeze(),
        };
        (bytes, self.holding)
    }
}
