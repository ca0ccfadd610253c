//! Outages of a model's provider: no failures of the agent. A run that meets one waits and starts again by itself.

use std::time::Duration;

use stoa_db::Tx;
use stoa_model::Timestamp;
use stoa_model::runs::{RunStatus, StepKind};

use super::finish::{self, Ending, Outage};
use super::store::{self, RunRow};
use super::{harness_store, progress, worker};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::hub::Hub;

/// The wait after the first outage. It is doubled after each further one, where the provider names no moment.
const FIRST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 60);
/// A moment that the provider names may be a little early. One that names such moments again and again is not believed.
const SHORTEST_WAIT: Duration = Duration::from_secs(2);
const BELIEVED: i64 = 10;
const SHORTEST_WAIT_LATER: Duration = Duration::from_secs(60);
/// Starts again for one run, at most.
const MAX_DEFERRALS: i64 = 100;
/// After this an outage is a failure.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// When a run is to start again. None if it has waited for so long that it fails.
pub(super) fn moment(run: &RunRow, outage: Outage, now_ms: i64) -> Option<i64> {
    let last = run.deferred_since.unwrap_or(now_ms) + milliseconds(LONGEST);
    if now_ms >= last || run.deferrals >= MAX_DEFERRALS {
        return None;
    }
    let backoff = || {
        let doublings = u32::try_from(run.deferrals).unwrap_or(u32::MAX).min(10);
        now_ms + milliseconds((FIRST_WAIT * 2_u32.pow(doublings)).min(LONGEST_WAIT))
    };
    let wanted = outage.until_ms.unwrap_or_else(backoff);
    let shortest = if run.deferrals < BELIEVED { SHORTEST_WAIT } else { SHORTEST_WAIT_LATER };
    Some(wanted.max(now_ms + milliseconds(shortest)).min(last))
}

/// Has a run wait. The hub tells nobody, and frees its message: the agent has not failed.
pub(super) fn defer(hub: &Hub, tx: &mut Tx<'_>, run: &RunRow, ending: &Ending, until: i64) -> Result<(), HubError> {
    let report = finish::without_earlier_runs(hub, tx, run, &ending.report)?;
    harness_store::update_report(tx, run.id, &report)?;
    store::update_deferred(tx, run.id, until, report.used())?;
    // The token of this attempt is worthless from now on.
    hub.identities().forget_after(tx);
    worker::cancel(tx, run.id)?;
    worker::enqueue_at(tx, run.agent, run.id, until)?;
    finish::react(hub, tx, &finish::actor_of(run), run, RunStatus::Deferred)?;
    let text = format!("{} The run starts again at {}.", ending.detail, Timestamp::from_ms(until));
    progress::add_step(hub, tx, run.id, Timestamp::from_ms(tx.now_ms()), StepKind::Note, &text)?;
    progress::tell(hub, tx, run.id, true)?;
    let hub = hub.clone();
    tx.after_commit(move || hub.metrics().runs.with_label_values(&[RunStatus::Deferred.name()]).inc());
    Ok(())
}
