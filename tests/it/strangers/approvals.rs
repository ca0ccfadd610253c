//! An approval is of one text: an edit takes it back.

use serde_json::{Value, json};

use crate::support::{TestHub, items};

#[tokio::test]
async fn an_edit_takes_back_what_approved_the_text_before() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let scout = eve.agent("scout").await;
    ada.make_workflow("board", json!({})).await;
    let work = scout.propose("board", "water the plants").await;
    ada.react(&work, "approve").await.ok();
    ada.react(&work, "published").await.ok();
    bob.react(&work, "approve").await.ok();
    bob.react(&work, "done").await.ok();
    let trust = async || ada.get("/api/trust/scout").await.ok().json()[0]["score"].clone();
    assert_eq!((trust().await, ada.message(&work).await["status"].clone()), (json!(0.1), json!("done")));

    // The same text again is no edit.
    scout.edit(&work, "water the plants").await.ok();
    assert_eq!(ada.message(&work).await["workflow_state"], "published");
    let edited = scout.edit(&work, "sell the house").await.ok().json();
    assert_eq!(edited["lapsed_approvals"], json!(["ada", "bob"]));
    let shown = ada.message(&work).await;
    assert_eq!((&shown["workflow_state"], &shown["lapsed_approvals"]), (&json!("done"), &json!(["ada", "bob"])));
    assert!(ada.in_state("board", "approved").await.is_empty() && ada.in_state("board", "published").await.is_empty());
    // Trust was earned by the text that was there.
    assert_eq!(trust().await, 0.1);

    // Both hear of it, once.
    for reader in [&ada, &bob] {
        let notices = items(reader.get("/api/dm/system/messages").await.ok());
        assert_eq!(notices.len(), 1, "{notices:?}");
        let told = &notices[0]["metadata"]["lapsed_approval"];
        assert_eq!(*told, json!({"message_id": work["id"], "channel": "board", "revision": 1, "reaction": "approve"}));
        assert!(!notices[0]["body"].as_str().unwrap().contains("house"));
    }
    scout.edit(&work, "sell the house today").await.ok();
    assert_eq!(items(ada.get("/api/dm/system/messages").await.ok()).len(), 1);

    // Who decides about the new text is no longer asked. The history says who approved what.
    ada.react(&work, "approve").await.ok();
    bob.react(&work, "reject").await.ok();
    assert_eq!(ada.message(&work).await["lapsed_approvals"], Value::Null);
    let history = items(ada.get(&format!("/api/messages/{}/history", work["id"])).await.ok());
    let approvals: Vec<Vec<(&str, &str)>> = history
        .iter()
        .map(|text| {
            let approvals = text["approvals"].as_array().into_iter().flatten();
            approvals.map(|one| (one["by"].as_str().unwrap(), one["reaction"].as_str().unwrap())).collect()
        })
        .collect();
    assert_eq!(
        approvals,
        [vec![("ada", "approve"), ("ada", "published"), ("bob", "approve")], vec![], vec![("ada", "approve")]]
    );
    hub.finish().await;
}

/// Between reading and deciding lies a moment in which the text can change.
#[tokio::test]
async fn an_approval_can_name_the_text_that_was_read() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = eve.agent("scout").await;
    let work = scout.say("general", "benign").await;
    let path = format!("/api/messages/{}/reactions", work["id"]);
    let edited = scout.edit(&work, "malign").await.ok().json();
    let approve = |read: &Value| json!({"reaction": "approve", "edited_at": read});
    ada.post(&path, &approve(&Value::Null)).await.problem(409, "edited_meanwhile");
    ada.post(&path, &approve(&json!("yesterday"))).await.invalid(&["edited_at"]);
    assert_eq!(ada.message(&work).await["reactions"], json!([]));
    ada.post(&path, &approve(&edited["edited_at"])).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_does_not_publish_what_was_approved_as_something_else() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = eve.agent("scout").await;
    ada.make_workflow("board", json!({})).await;
    let work = scout.propose("board", "benign").await;
    ada.react(&work, "approve").await.ok();
    scout.edit(&work, "malign").await.ok();
    scout.react(&work, "published").await.problem(403, "trust_too_low");
    // It is on the list of what waits for a decision again.
    assert_eq!(ada.in_state("board", "proposed").await.len(), 1);
    ada.react(&work, "approve").await.ok();
    scout.react(&work, "published").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn who_left_does_not_hear_of_edits() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    for name in ["bob", "eve", "scout"] {
        ada.add_member("den", name).await.ok();
    }
    let work = scout.propose("den", "one").await;
    for approver in [&bob, &eve] {
        approver.react(&work, "approve").await.ok();
    }
    ada.delete("/api/channels/den/members/bob").await.status(204);
    scout.edit(&work, "two").await.ok();
    let notices = async |reader: &crate::support::Human| items(reader.get("/api/dm/system/messages").await.ok());
    assert_eq!(notices(&bob).await, Vec::<Value>::new());
    let told = notices(&eve).await;
    assert!(told[0]["body"].as_str().unwrap().contains("in #den after you approved it"), "{told:?}");
    // What the notice says of the channel is for who sees it.
    ada.delete("/api/channels/den/members/eve").await.status(204);
    let told = notices(&eve).await;
    assert!(!told[0].to_string().contains("den"), "{told:?}");
    assert_eq!(told[0]["metadata"], json!({}));
    hub.finish().await;
}

#[tokio::test]
async fn a_message_names_few_who_approved_it_before() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let work = scout.say("general", "text").await;
    for round in 0..3 {
        for number in 0..10 {
            ada.agent(&format!("agent{round}-{number}")).await.react(&work, "approve").await.ok();
        }
        scout.edit(&work, &format!("text {round}")).await.ok();
    }
    let shown = ada.message(&work).await;
    assert_eq!(shown["lapsed_approvals"].as_array().unwrap().len(), 20);
    hub.finish().await;
}
