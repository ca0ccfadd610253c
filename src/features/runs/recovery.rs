//! What a crash left behind: processes, and runs that nobody runs.

use stoa_db::{Engine, Tx};
use stoa_model::RunId;
use stoa_model::runs::RunStatus;

use super::begin::{self, MARK};
use super::control::UnderWay;
use super::{folder, harness_store, isolation, store, wake_store, worker, workspace_store};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub, StartError};

const BATCH: i64 = 200;
/// What was written and said in a run is kept for this long.
const TEXTS_KEPT_FOR: std::time::Duration = std::time::Duration::from_secs(30 * 24 * 3600);
const COUNTS_KEPT_FOR: std::time::Duration = std::time::Duration::from_secs(7 * 24 * 3600);

/// Ends the processes of a hub that was killed, and settles its runs.
pub(super) fn prepare(hub: &Hub) -> BoxFuture<'_, Result<(), StartError>> {
    Box::pin(async move {
        isolation::prepare(hub).await?;
        let root = folder::root(hub).display().to_string();
        // Only those of a hub that is no longer there: another one may share the folder.
        let is_orphan = move |mark: &str| {
            let mut parts = mark.splitn(3, ' ').skip(1);
            let (identity, of) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            of == root && !stoa_supervisor::is_alive(identity)
        };
        let ended = tokio::task::spawn_blocking(move || stoa_supervisor::end_marked(MARK, is_orphan)).await;
        match ended {
            Ok(Ok(0)) => {}
            Ok(Ok(count)) => tracing::warn!(count, "processes of earlier runs were ended"),
            Ok(Err(error)) => tracing::warn!(%error, "processes of earlier runs could not be looked for"),
            Err(error) => tracing::warn!(%error, "processes of earlier runs could not be looked for"),
        }
        let hub_in = hub.clone();
        let repaired = hub.write(move |tx| repair(&hub_in, tx)).await;
        repaired.map_err(|error: HubError| StartError::Other(format!("runs could not be settled: {error}")))
    })
}

fn repair(hub: &Hub, tx: &mut Tx<'_>) -> Result<(), HubError> {
    // With SQLite there is no other hub that could be running something.
    if tx.engine() == Engine::Sqlite {
        let mut after = RunId(0);
        loop {
            let running = store::list_active(tx, None, RunStatus::Running, after, BATCH)?;
            let Some(last) = running.last() else { break };
            after = last.id;
            // What a receiver has taken on goes on without a hub.
            for run in running.iter().filter(|run| !run.is_taken_on) {
                begin::settle_lost(hub, tx, run)?;
            }
        }
    }
    // A hub that must not act has taken runs out of their lines.
    Ok(worker::enqueue_waiting(tx, None)?)
}

/// Settles runs whose hub has not been heard of.
pub(super) fn settle_lost_runs(hub: &Hub, tx: &mut Tx<'_>) -> Result<u64, HubError> {
    let under_way = hub.memory::<UnderWay>();
    let mut settled = 0;
    for run in store::list_lost(tx, BATCH)? {
        // The clock may have jumped. This hub knows better.
        if !under_way.contains(run.id) {
            begin::settle_lost(hub, tx, &run)?;
            settled += 1;
        }
    }
    Ok(settled)
}

/// Forgets what old runs wrote and said.
pub(super) fn forget_old_texts(_: &Hub, tx: &mut Tx<'_>) -> Result<u64, HubError> {
    let old = store::list_ended_before(tx, tx.now_ms() - milliseconds(TEXTS_KEPT_FOR), BATCH)?;
    for run in &old {
        harness_store::update_forgotten(tx, *run)?;
        workspace_store::update_forgotten(tx, *run)?;
    }
    let counts = wake_store::delete_old_counts(tx, tx.now_ms() - milliseconds(COUNTS_KEPT_FOR), BATCH)?;
    Ok(old.len() as u64 + counts)
}
