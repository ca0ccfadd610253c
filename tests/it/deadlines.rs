//! Requests that take too long: they are answered in time, and what had not begun is not done.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use stoa_db::DbError;

use crate::support::{TestHub, each, on_postgres};

/// Keeps every writer of a hub busy until it goes.
struct BusyWriters {
    _release: mpsc::Sender<()>,
}

impl BusyWriters {
    async fn of(hub: &TestHub) -> Self {
        // A hub of the tests has two on PostgreSQL, and two for commands that share a transaction, which are done here when one is alone.
        let writers = if on_postgres() { 2 } else { 1 };
        let (release, held) = mpsc::channel::<()>();
        let held = std::sync::Arc::new(std::sync::Mutex::new(held));
        let (reached, mut is_reached) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..writers {
            let (held, reached, db) = (held.clone(), reached.clone(), hub.inner().db().clone());
            tokio::spawn(async move {
                db.write(move |_| {
                    let _ = reached.send(());
                    let _ = held.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
                    Ok::<_, DbError>(())
                })
                .await
            });
        }
        for _ in 0..writers {
            is_reached.recv().await.unwrap();
        }
        Self { _release: release }
    }
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_answered_and_what_had_not_begun_is_not_done() {
    let hub = TestHub::setup().configure(|config| config.request_timeout = Duration::from_millis(300)).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let waiting = tokio::spawn({
        let wait = scout.get("/api/inbox?wait=50");
        async move { wait.await }
    });

    let busy = BusyWriters::of(&hub).await;
    let late = ada.post("/api/channels", &json!({"name": "late"})).may_fail().await.problem(503, "timeout");
    assert_eq!(late.header("retry-after"), Some("1"));
    let (code, _) = scout.tool_refused("create_channel", json!({"name": "late-too"})).await;
    assert_eq!(code, "timeout");
    // What needs no writer goes on.
    ada.get("/api/channels").await.ok();
    drop(busy);

    hub.settle().await;
    let channels = each(&ada.list("/api/channels").await, "name");
    assert_eq!(channels, ["general"], "what nobody waited for was done");
    // A call that waits for something to happen has its time besides.
    ada.post("/api/messages", &json!({"to": "scout", "body": "here"})).await.status(201);
    assert_eq!(waiting.await.unwrap().ok().json()["items"][0]["body"], "here");
    ada.post("/api/channels", &json!({"name": "late"})).await.status(201);
    hub.finish().await;
}
