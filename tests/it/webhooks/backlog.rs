//! Deliveries that wait: so many, and no more.

use serde_json::json;
use stoa_db::{DbError, params};

use super::{Receiver, Scene, advance_while_sending, deliveries, register, scene, webhook};
use crate::support::{TestHub, eventually};

/// Lets so many deliveries of a webhook wait, without any work to send them.
async fn fill(hub: &TestHub, webhook: i64, count: i64) {
    let filled: Result<u64, DbError> = hub
        .inner()
        .write(move |tx| {
            let now = tx.now_ms();
            tx.execute(
                "insert into webhook_deliveries (webhook_id, public_id, event, facts, depth, status, created_at, changed_at)
                 with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < $3)
                 select cast($1 as bigint), 'msg_' || n, 'message.received', '{}', 0, case when n < 100 then 'held' else 'pending' end,
                     cast($2 as bigint), cast($2 as bigint) from numbers",
                params![webhook, now, count],
            )
        })
        .await;
    assert_eq!(filled.unwrap(), u64::try_from(count).unwrap());
}

#[tokio::test]
async fn ten_thousand_deliveries_of_a_webhook_wait_and_no_more() {
    let Scene { hub, ada, receiver, .. } = scene().await;
    let other = Receiver::start().await;
    let (id, _) = register(&ada, "lookout", &receiver.url, &["message.received"]).await;
    register(&ada, "lookout", &other.url, &["message.received"]).await;
    fill(&hub, id, 9_999).await;
    receiver.door.close();
    ada.dm("lookout", "the last one that fits").await;
    receiver.has(1).await;
    for text in ["one too many", "two too many"] {
        ada.dm("lookout", text).await;
    }
    other.has(3).await;
    advance_while_sending(&hub, 70, 1).await;
    let state = async |number: usize| {
        let latest = deliveries(&ada, id).await;
        (latest[number]["status"].as_str().unwrap().to_owned(), latest[number]["reason"].as_str().map(str::to_owned))
    };
    let dead = ("dead".to_owned(), Some("backlog".to_owned()));
    eventually("the newest are dead", async || state(0).await == dead && state(1).await == dead).await;
    assert_eq!(state(2).await, ("pending".to_owned(), None));
    assert_eq!(webhook(&ada, id).await["waiting"], 10_000);
    let latest = deliveries(&ada, id).await;
    let retry = |number: usize| format!("/api/webhooks/deliveries/{}/retry", latest[number]["id"]);
    ada.post(&retry(1), &json!({})).await.problem(409, "backlog_full");
    let retried = ada.post(&format!("/api/webhooks/{id}/retry-dead"), &json!({})).await.ok().json();
    assert_eq!(retried["retried"], 0);
    receiver.door.open();
    hub.settle().await;
    assert_eq!(receiver.count(), 1);
    // There is room for one again.
    ada.post(&retry(1), &json!({})).await.status(202);
    assert_eq!(receiver.has(2).await[1].body["data"]["body"], "one too many");
    hub.settle().await;
    hub.finish().await;
}
