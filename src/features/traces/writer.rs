//! Writes traces in batches, after the calls that they are about.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use stoa_db::DbError;
use stoa_model::traces::{MAX_DETAILS_BYTES, MAX_ERROR_CHARACTERS, NewTrace};
use tokio::task::JoinHandle;

use super::store::{self, NewRow};
use crate::clock::milliseconds;
use crate::hub::{BoxFuture, Hub, StartError, pause};

const BATCH: usize = 64;
const BATCH_WITHIN: Duration = Duration::from_millis(100);
/// How long to wait after each failure of a batch; after the last it is given up.
const RETRIES: [Duration; 6] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
    Duration::from_millis(1600),
    Duration::from_millis(3200),
];

/// The task that writes.
#[derive(Default)]
struct Writer(Mutex<Option<JoinHandle<()>>>);

pub(super) fn start(hub: &Hub) -> BoxFuture<'_, Result<(), StartError>> {
    Box::pin(async move {
        let writing = tokio::spawn(write_batches(hub.clone()));
        *hub.memory::<Writer>().0.lock().unwrap_or_else(PoisonError::into_inner) = Some(writing);
        Ok(())
    })
}

/// Writes what is left.
pub(super) fn close(hub: &Hub) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        hub.traces().close();
        let writing = hub.memory::<Writer>().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writing) = writing
            && let Err(error) = writing.await
        {
            tracing::error!(%error, "the last traces could not be written");
        }
    })
}

/// Writes traces in batches until their queue is closed, and then the rest.
async fn write_batches(hub: Hub) {
    let has_given_up = AtomicBool::new(false);
    hub.traces().write_all(hub.clock(), BATCH, BATCH_WITHIN, |batch| write(&hub, batch, &has_given_up)).await;
}

async fn write(hub: &Hub, batch: Vec<(i64, NewTrace)>, has_given_up: &AtomicBool) {
    let metrics = hub.metrics();
    let rows: Arc<[NewRow]> = batch.into_iter().map(|(created_at, trace)| new_row(created_at, trace)).collect();
    #[expect(clippy::cast_precision_loss, reason = "a batch has at most 64 traces")]
    metrics.trace_batch_size.observe(rows.len() as f64);
    for wait in RETRIES.into_iter().map(Some).chain([None]) {
        // A hub that stops tries each batch, until one fails: it must come to an end.
        if hub.is_stopping() && has_given_up.load(Ordering::Relaxed) {
            break;
        }
        let rows_in = rows.clone();
        match hub.write(move |tx| store::insert_traces(tx, &rows_in)).await {
            Ok(()) => return,
            Err::<(), DbError>(error) => match wait.filter(|_| !hub.is_stopping()) {
                Some(wait) => {
                    tracing::debug!(%error, "traces could not be written; trying again");
                    pause(wait).await;
                }
                None => {
                    tracing::error!(%error, traces = rows.len(), "traces could not be written and are lost");
                    has_given_up.store(hub.is_stopping(), Ordering::Relaxed);
                    break;
                }
            },
        }
    }
    metrics.traces_dropped.inc_by(rows.len() as u64);
}

fn new_row(created_at: i64, trace: NewTrace) -> NewRow {
    let mut details = trace.details.to_string();
    if details.len() > MAX_DETAILS_BYTES {
        details = json!({"truncated": true}).to_string();
    }
    NewRow {
        owner: trace.owner,
        principal: trace.principal,
        key: trace.key.map(|key| key.0),
        action: trace.action,
        details,
        // PostgreSQL cannot store NUL.
        error: trace.error.map(|error| error.chars().filter(|c| *c != '\0').take(MAX_ERROR_CHARACTERS).collect()),
        duration_ms: milliseconds(trace.duration),
        request_id: trace.request_id,
        run_id: trace.run_id,
        created_at,
    }
}
