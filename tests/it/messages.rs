//! Messages: what is sent, who sees it, and what becomes of it.

use serde_json::json;

use crate::support::TestHub;

#[tokio::test]
async fn a_dm_is_sent_read_and_answered() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let sent = ada.post("/api/messages", &json!({"to": "bob", "body": "hello"})).await.status(201).json();
    assert_eq!(sent["delivery"], json!([{"recipient": "bob", "state": "stored"}]));
    let expected = json!({
        "id": sent["id"], "conversation_id": sent["conversation_id"], "channel_id": null, "channel": null,
        "from": {"kind": "user", "name": "ada", "display_name": "ada"}, "to": "bob", "subject": null, "body": "hello",
        "reply_to": null, "status": "pending", "priority": 5, "metadata": {}, "mentions": [],
        "created_at": "2027-01-15T08:00:00.000Z", "edited_at": null, "deleted_at": null, "reply_count": 0,
        "attachments": [], "reactions": [], "workflow_state": "proposed", "run_id": null, "depth": 0,
        "lease_until": null,
    });
    for reader in [&ada, &bob] {
        assert_eq!(reader.get(&format!("/api/messages/{}", sent["id"])).await.ok().json(), expected);
    }
    let answer = json!({"to": "ada", "body": "hi", "reply_to": sent["id"]});
    bob.post("/api/messages", &answer).await.status(201);
    let page = ada.get("/api/dm/bob/messages").await.ok().json();
    let bodies: Vec<_> = page["items"].as_array().unwrap().iter().map(|item| item["body"].clone()).collect();
    assert_eq!(bodies, ["hello", "hi"]);
    assert_eq!(page["items"][0]["reply_count"], 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_channel_message_mentions_its_members() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let sent = ada.post("/api/messages", &json!({"channel": "general", "body": "@scout look, `@ada`"})).await;
    let sent = sent.status(201).json();
    assert_eq!(sent["mentions"], json!(["scout"]));
    assert_eq!(sent["delivery"], json!([{"recipient": "scout", "state": "not_woken", "reason": "passive"}]));
    let inbox = scout.get("/api/inbox").await.ok().json();
    assert_eq!(inbox["items"][0]["metadata"], json!({"mention": {"channel": "general", "message_id": sent["id"]}}));
    assert_eq!(inbox["items"][0]["reply_to"], sent["id"]);
    let claimed = scout.post("/api/inbox/claim", &json!({"limit": 5})).await.ok().json();
    assert_eq!(claimed["items"].as_array().unwrap().len(), 1);
    let id = claimed["items"][0]["id"].clone();
    let done = scout.post(&format!("/api/messages/{id}/done"), &json!({"result": "seen"})).await.ok().json();
    assert_eq!(done["status"], "done");
    let partners = ada.get("/api/dm/partners").await.ok().json();
    assert_eq!(partners[0]["preview"], "seen");
    assert_eq!(partners[0]["unread_count"], 1);
    let unread = scout.get("/api/notifications/unread").await.ok().json();
    assert_eq!(unread[0]["unread_count"], 1, "{unread}");
    ada.get("/api/threads").await.ok();
    hub.finish().await;
}
