//! Webhooks hear of runs that have ended.

use serde_json::json;

use super::{Receiver, register, setup};
use crate::runs::{ended, run_of, scripted};

#[tokio::test]
async fn a_run_that_has_ended_is_told() {
    let hub = setup().start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "exit 3").await;
    let receiver = Receiver::start().await;
    register(&ada, "scribe", &receiver.url, &["run.finished"]).await;
    let sent = ada.dm("scribe", "Go.").await;
    ended(&ada, run_of(&sent)).await;
    hub.settle().await;
    let [request] = &receiver.all()[..] else { panic!("{} requests", receiver.count()) };
    assert_eq!((&request.body["type"], &request.body["agent"]), (&json!("run.finished"), &json!("scribe")));
    let data = &request.body["data"];
    let run = json!({
        "id": run_of(&sent), "agent": "scribe", "status": "failed", "reason": "exit_code", "depth": 0,
        "trigger_message_id": sent["id"],
    });
    assert_eq!((&data["run"], &data["message_id"], &data["body"]), (&run, &sent["id"], &json!("Go.")));
    assert_eq!(request.header("webhook-loop-depth"), "1");
    hub.finish().await;
}
