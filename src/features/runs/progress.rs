//! What happens in a run, as it happens: steps that are stored, traced and sent to the owner's page.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::json;
use stoa_db::Tx;
use stoa_model::runs::{MAX_STEP_TEXT, StepKind};
use stoa_model::traces::NewTrace;
use stoa_model::{PrincipalId, RunId, Timestamp};

use super::{harness_store, store};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, RunChange, RunEvent};
use crate::hub::Hub;

static ACTION: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from("run_step"));

/// Emits what a run is like now.
pub(super) fn tell(hub: &Hub, tx: &mut Tx<'_>, run: RunId, is_status_new: bool) -> Result<(), HubError> {
    let Some(row) = store::find_run(tx, run)? else { return Ok(()) };
    let change = RunChange {
        run,
        agent: row.agent,
        agent_name: row.agent_name,
        owner: row.owner,
        status: row.status,
        reason: row.reason,
        trigger_message: row.trigger_message,
        depth: row.depth,
        last_step: row.last_step,
        steps: row.steps,
        is_status_new,
    };
    events::emit(hub, tx, &Actor::system(), RunEvent::Changed(Box::new(change)))?;
    Ok(())
}

/// Adds a step that the hub itself notes.
pub(super) fn add_step(
    hub: &Hub,
    tx: &mut Tx<'_>,
    run: RunId,
    at: Timestamp,
    kind: StepKind,
    text: &str,
) -> Result<(), HubError> {
    harness_store::insert_step(tx, run, at, kind, cut(text), None)?;
    if let Some(row) = store::find_run(tx, run)? {
        trace(hub, tx, run, row.agent, row.owner, kind);
    }
    tell(hub, tx, run, false)
}

/// Notes a step among the traces, once it is committed.
pub(super) fn trace(hub: &Hub, tx: &mut Tx<'_>, run: RunId, agent: PrincipalId, owner: PrincipalId, kind: StepKind) {
    let hub = hub.clone();
    let trace = NewTrace {
        owner,
        principal: agent,
        key: None,
        action: ACTION.clone(),
        details: json!({"kind": kind}),
        error: None,
        duration: Duration::ZERO,
        request_id: None,
        run_id: Some(run.0),
    };
    tx.after_commit(move || hub.record_trace(trace));
}

/// The beginning of a text, as much as a step keeps.
pub(super) fn cut(text: &str) -> &str {
    cut_at(text, MAX_STEP_TEXT).0
}

/// The beginning of a text up to so many bytes, and whether that is not all of it.
pub(super) fn cut_at(text: &str, max: usize) -> (&str, bool) {
    if text.len() <= max {
        return (text, false);
    }
    let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (text.get(..end).unwrap_or_default(), true)
}

/// The end of a text.
pub(super) fn last_part(text: &str, max: usize) -> &str {
    let start = text.len().saturating_sub(max);
    let start = (start..=text.len()).find(|start| text.is_char_boundary(*start)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}
