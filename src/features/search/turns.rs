//! Turns: how many searches of one owner run at once.

use std::time::Duration;

use stoa_model::PrincipalId;

use crate::access::lines::{Lines, Turn};
use crate::error::HubError;
use crate::hub::Hub;

/// Searches of one owner that run at once.
const AT_ONCE: usize = 2;
/// How long another one waits for its turn.
const PATIENCE: Duration = Duration::from_secs(2);

struct Turns(Lines);

impl Default for Turns {
    fn default() -> Self {
        Self(Lines::new(AT_ONCE))
    }
}

/// Waits for a turn of an owner. It lasts until it is dropped.
pub(super) async fn take(hub: &Hub, owner: PrincipalId) -> Result<Turn, HubError> {
    let turns = hub.memory::<Turns>();
    let turn = tokio::select! {
        biased;
        turn = turns.0.take(owner) => turn,
        () = hub.clock().sleep(PATIENCE) => None,
    };
    turn.ok_or_else(|| busy("Too many of your searches run at the same time."))
}

/// For a search that could not be done now.
pub(super) fn busy(detail: &str) -> HubError {
    HubError::not_yet("busy", detail, 1)
        .hint("Retry in a moment, or narrow the search to a channel, an author or a time.")
}
