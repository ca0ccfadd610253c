//! People decide who is in a channel: keys and agents let no stranger in and take nobody out.

use serde_json::json;

use crate::support::TestHub;

#[tokio::test]
async fn programs_let_no_stranger_into_a_channel_and_take_nobody_out() {
    let hub = TestHub::start().await;
    let (ada, bob, _eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let worker = ada.agent("worker").await;
    ada.agent("helper").await;
    let (_, key) = ada.key("worker", json!(["*"])).await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    for name in ["worker", "bob"] {
        ada.add_member("den", name).await.ok();
    }
    for program in [&worker.client, &hub.nobody().bearer(&key)] {
        program.call("PUT", "/api/channels/den/members/eve").await.problem(403, "forbidden");
        program.delete("/api/channels/den/members/bob").await.problem(403, "forbidden");
        program.patch("/api/channels/den", &json!({"public": true})).await.problem(403, "forbidden");
        program.patch("/api/channels/den", &json!({"owner": "bob"})).await.problem(403, "forbidden");
    }
    assert_eq!(ada.members("den").await, ["ada", "bob", "worker"]);
    // Those of the same owner it may add, and itself it may take out.
    worker.call("PUT", "/api/channels/den/members/helper").await.ok();
    worker.delete("/api/channels/den/members/helper").await.problem(403, "forbidden");
    worker.delete("/api/channels/den/members/worker").await.status(204);
    assert_eq!(ada.members("den").await, ["ada", "bob", "helper"]);
    // Whom a person took out, a program of the same owner does not bring back.
    ada.add_member("den", "worker").await.ok();
    let spare = ada.agent("spare").await;
    ada.add_member("den", "spare").await.ok();
    hub.admin().await.get("/api/channels/den").await.problem(404, "not_found");
    ada.delete("/api/channels/den/members/bob").await.status(204);
    spare.call("PUT", "/api/channels/den/members/bob").await.problem(403, "forbidden");
    bob.get("/api/channels/den").await.problem(404, "not_found");
    hub.finish().await;
}
