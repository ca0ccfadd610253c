//! How long a request may take.
//!
//! The time in which a client sends its body is its own affair, and has limits of its own. What counts is the time that the hub
//! takes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::Query;
use axum::http::{Method, Uri};
use stoa_model::messages::MAX_WAIT_SECONDS;

use crate::config::MCP_PATH;
use crate::error::HubError;
use crate::hub::{Hub, pause};

/// How far the body of a request has come.
#[derive(Debug, Default)]
pub(super) struct Progress(Mutex<Moved>);

#[derive(Debug, Default, Clone, Copy)]
struct Moved {
    at: Option<Instant>,
    /// Whether the hub waits for more of it.
    is_awaited: bool,
}

impl Progress {
    pub(super) fn note(&self, is_awaited: bool) {
        #[expect(clippy::disallowed_methods, reason = "a client sends its body in real time")]
        let at = Some(Instant::now());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Moved { at, is_awaited };
    }

    fn moved(&self) -> Moved {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long an answer may take.
pub(super) fn limit(hub: &Hub, method: &Method, uri: &Uri) -> Duration {
    let longest = MAX_WAIT_SECONDS.unsigned_abs();
    let seconds = if uri.path().trim_end_matches('/') == MCP_PATH {
        // Which of its calls wait for something to happen is known when they are read.
        longest
    } else if method == Method::GET {
        wait(uri).min(longest)
    } else {
        0
    };
    hub.config().request_timeout + Duration::from_secs(seconds)
}

/// The seconds for which a question wants to wait for something to happen.
fn wait(uri: &Uri) -> u64 {
    let seconds = || {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
        pairs.iter().find(|(name, _)| name == "wait")?.1.parse::<u64>().ok()
    };
    seconds().unwrap_or(0)
}

pub(super) fn waits(uri: &Uri) -> bool {
    wait(uri) > 0
}

/// Ends when the hub has taken longer than it may.
pub(super) async fn passed(limit: Duration, progress: &Progress) -> HubError {
    let mut left = limit;
    loop {
        pause(left).await;
        let Moved { at, is_awaited } = progress.moved();
        left = match at {
            _ if is_awaited => limit,
            Some(at) => limit.saturating_sub(at.elapsed()),
            None => Duration::ZERO,
        };
        if left.is_zero() {
            return HubError::too_late();
        }
    }
}
