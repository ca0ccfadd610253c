//! Talk and work: only what somebody proposed or reacted to is work.

use serde_json::{Value, json};

use crate::support::{Client, DAY, MINUTE, TestHub};

async fn shown(client: &Client, message: &Value) -> (Value, Value) {
    let message = client.message(message).await;
    (message["workflow_state"].clone(), message["status"].clone())
}

fn work(state: &str, status: &str) -> (Value, Value) {
    (json!(state), json!(status))
}

fn talk() -> (Value, Value) {
    (Value::Null, json!("done"))
}

#[tokio::test]
async fn talk_is_not_work() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_workflow("work", json!({"auto_approve": true, "approve_threshold": 0.0})).await;
    let thanks = scout.say("work", "Thanks!").await;
    assert_eq!((&thanks["workflow_state"], &thanks["status"]), (&Value::Null, &json!("done")));
    assert_eq!(thanks["reactions"], json!([]), "nobody approves talk");
    let proposed = ada.propose("work", "Ship it").await;
    assert_eq!(proposed["metadata"], json!({"action_type": "publish"}));
    assert_eq!(shown(&ada, &proposed).await, work("proposed", "pending"));
    // A reply is talk about work, and outside of workflow channels there is no work.
    let reply = json!({"channel": "work", "body": "why?", "reply_to": proposed["id"], "action_type": "publish"});
    assert_eq!(shown(&ada, &ada.send(reply).await).await, talk());
    assert_eq!(shown(&ada, &ada.propose("general", "x").await).await, talk());
    assert_eq!(ada.dm("scout", "x").await["workflow_state"], Value::Null);
    assert_eq!(ada.in_state("work", "proposed").await, [proposed["id"].clone()]);
    hub.settle().await;
    for (query, found) in [("is:proposed", 1), ("-is:done in:work", 3), ("-is:proposed in:work", 2)] {
        let hits = ada.get(&format!("/api/messages/search?q={}", crate::search::encoded(query))).await.ok().json();
        assert_eq!(hits["total"], found, "{query}: {hits}");
    }
    // It is never stale.
    let digests = |messages: Vec<Value>| messages.into_iter().filter(|one| one["from"]["name"] == "system").count();
    hub.advance(30 * DAY);
    hub.settle().await;
    let ada = ada.again().await;
    ada.react(&proposed, "done").await.ok();
    hub.advance(30 * DAY);
    hub.settle().await;
    let ada = ada.again().await;
    let notices = ada.get("/api/dm/system/messages").await.json()["items"].as_array().cloned().unwrap_or_default();
    let about: Vec<&Value> =
        notices.iter().flat_map(|notice| notice["metadata"]["stalemate"]["messages"].as_array()).flatten().collect();
    assert!(about.iter().all(|named| named["message_id"] == proposed["id"]), "{about:?}");
    assert!(digests(notices.clone()) <= 2);
    hub.finish().await;
}

#[tokio::test]
async fn a_reaction_turns_talk_into_work() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_workflow("work", json!({})).await;
    let said = ada.say("work", "somebody should look").await;
    let mut events = ada.events().await;
    scout.react(&said, "in_progress").await.ok();
    assert_eq!(shown(&ada, &said).await, work("in_progress", "pending"));
    assert_eq!(events.until("reaction").await["workflow_state"], "in_progress");
    scout.unreact(&said, "in_progress").await.ok();
    assert_eq!(shown(&ada, &said).await, talk());
    assert_eq!(events.until("reaction").await["workflow_state"], Value::Null);
    let dm = ada.dm("scout", "and this").await;
    assert_eq!(scout.react(&dm, "approve").await.ok().json()["workflow_state"], "approved");
    assert_eq!(scout.unreact(&dm, "approve").await.ok().json()["workflow_state"], Value::Null);
    drop(events);
    hub.finish().await;
}

#[tokio::test]
async fn talk_is_turned_into_work_and_back() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = eve.agent("scout").await;
    ada.make_workflow("work", json!({})).await;
    let said = eve.say("work", "the tower needs paint").await;
    let path = format!("/api/messages/{}", said["id"]);
    let set = |client: &Client, kind: Value| client.patch(&path, &json!({"action_type": kind}));
    let mut events = ada.events().await;
    set(&scout.client, json!("paint")).await.problem(403, "forbidden");
    for (who, kind, state) in [
        (&eve.client, json!("paint"), work("proposed", "pending")),
        (&ada.client, Value::Null, talk()),
        (&ada.client, json!("repair"), work("proposed", "pending")),
        (&eve.client, json!("repair"), work("proposed", "pending")),
    ] {
        let edited = set(who, kind.clone()).await.ok().json();
        assert_eq!(edited["metadata"].get("action_type").cloned().unwrap_or_default(), kind);
        assert_eq!(edited["body"], said["body"]);
        assert_eq!(shown(&ada, &said).await, state);
    }
    assert_eq!(events.until("message_updated").await["message_id"], said["id"]);
    ada.react(&said, "approve").await.ok();
    set(&eve.client, Value::Null).await.problem(409, "has_reactions");
    set(&eve.client, json!("other")).await.problem(409, "has_reactions");
    let praised = eve.say("work", "a typo").await;
    ada.react(&praised, "approve").await.ok();
    eve.patch(&format!("/api/messages/{}", praised["id"]), &json!({"action_type": "deploy"}))
        .await
        .problem(409, "has_reactions");
    ada.react(&said, "approve").await.ok();
    assert_eq!(shown(&ada, &said).await, work("proposed", "pending"), "it was proposed");
    // What is wrong changes nothing.
    for kind in [json!("Not a label"), json!(""), json!("a".repeat(65)), json!(5)] {
        set(&eve.client, kind).await.invalid(&["action_type"]);
    }
    eve.patch(&path, &json!({})).await.invalid(&["body"]);
    eve.patch(&path, &json!({"body": null})).await.invalid(&["body"]);
    ada.patch(&path, &json!({"body": "not mine", "action_type": null})).await.problem(403, "forbidden");
    let reply = eve.reply("work", &said, "blue?").await;
    let dm = eve.dm("ada", "x").await;
    for other in [&reply, &dm] {
        eve.patch(&format!("/api/messages/{}", other["id"]), &json!({"action_type": "x"}))
            .await
            .invalid(&["action_type"]);
    }
    let both = json!({"channel": "work", "body": "x", "action_type": "a", "metadata": {"action_type": "b"}});
    eve.post("/api/messages", &both).await.invalid(&["action_type"]);
    drop(events);
    hub.finish().await;
}

/// Others must not choose which trust of an agent they change, nor change what someone has approved.
#[tokio::test]
async fn a_kind_of_work_given_by_others_moves_no_trust_of_that_kind() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    crate::workflow::earn(&ada, &scout, "deploy", 4).await;
    eve.make_workflow("trap", json!({"auto_approve": true, "approve_threshold": 0.0})).await;
    let said = scout.say("trap", "hello").await;
    let path = format!("/api/messages/{}", said["id"]);
    let edited = eve.patch(&path, &json!({"action_type": "deploy"})).await.ok().json();
    assert_eq!((&edited["workflow_state"], &edited["reactions"]), (&json!("proposed"), &json!([])));
    assert_eq!(edited["metadata"]["action_type_by"], "eve");
    assert_eq!(hub.audit().await[0]["action"], "message.work_changed");
    eve.react(&said, "reject").await.ok();
    let trust = ada.get("/api/trust/scout").await.ok().json();
    let deploy = trust.as_array().unwrap().iter().find(|one| one["action_type"] == "deploy").unwrap();
    assert_eq!(deploy["score"], 0.2);
    scout.patch(&path, &json!({"action_type": "deploy"})).await.problem(409, "has_reactions");
    hub.finish().await;
}

/// Nobody approves a kind that they have not read, and nobody says in another's name who gave a kind.
#[tokio::test]
async fn an_approval_is_for_the_kind_that_was_read() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_workflow("work", json!({})).await;
    scout.call("POST", "/api/channels/work/join").await.ok();
    let forged =
        json!({"channel": "work", "body": "x", "action_type": "deploy", "metadata": {"action_type_by": "ada"}});
    scout.post("/api/messages", &forged).await.invalid(&["metadata"]);
    let request = json!({"channel": "work", "body": "x", "action_type": "fix-typo"});
    let read = scout.post("/api/messages", &request).await.status(201).json();
    let path = format!("/api/messages/{}", read["id"]);
    hub.advance(crate::support::MINUTE);
    for step in [json!(null), json!("deploy")] {
        scout.patch(&path, &json!({"action_type": step})).await.ok();
    }
    let approval = json!({"reaction": "approve", "edited_at": read["edited_at"]});
    ada.post(&format!("{path}/reactions"), &approval).await.problem(409, "edited_meanwhile");
    let now = ada.get(&path).await.ok().json();
    let approval = json!({"reaction": "approve", "edited_at": now["edited_at"]});
    ada.post(&format!("{path}/reactions"), &approval).await.ok();
    hub.finish().await;
}

/// Who meant the same makes the kind their own.
#[tokio::test]
async fn authors_adopt_a_kind_that_the_owner_gave() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_workflow("work", json!({})).await;
    scout.call("POST", "/api/channels/work/join").await.ok();
    let said = scout.say("work", "hello").await;
    let path = format!("/api/messages/{}", said["id"]);
    let given = ada.patch(&path, &json!({"action_type": "deploy"})).await.ok().json();
    assert_eq!(given["metadata"]["action_type_by"], "ada");
    let adopted = scout.patch(&path, &json!({"action_type": "deploy"})).await.ok().json();
    assert_eq!(adopted["metadata"], json!({"action_type": "deploy"}));
    hub.finish().await;
}

/// Turning the workflow off and on leaves no message between work and talk.
#[tokio::test]
async fn a_kind_is_taken_away_while_the_workflow_is_off() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_workflow("work", json!({})).await;
    let turn = async |on: bool| ada.put("/api/channels/work/settings", &json!({"workflow_enabled": on})).await.ok();
    let proposed = ada.propose("work", "x").await;
    turn(false).await;
    let early = ada.propose("work", "y").await;
    ada.patch(&format!("/api/messages/{}", proposed["id"]), &json!({"action_type": null})).await.ok();
    assert_eq!(shown(&ada, &proposed).await, talk());
    turn(true).await;
    ada.patch(&format!("/api/messages/{}", early["id"]), &json!({"action_type": "publish"})).await.ok();
    assert_eq!(shown(&ada, &early).await, work("proposed", "pending"));
    hub.finish().await;
}

#[tokio::test]
async fn agents_propose_with_their_tool() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_workflow("work", json!({})).await;
    let request = json!({"channel": "work", "body": "a plan", "action_type": "plan"});
    assert_eq!(scout.tool("send_channel_message", request).await["state"], "proposed");
    let talk = scout.tool("send_channel_message", json!({"channel": "work", "body": "hello"})).await;
    assert_eq!(talk.get("state"), None);
    hub.finish().await;
}

/// A status says since when it is so.
#[tokio::test]
async fn a_status_has_a_time() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let sent = ada.dm("scout", "please").await;
    assert_eq!(sent["status_since"], Value::Null);
    hub.advance(MINUTE);
    scout.post("/api/inbox/claim", &json!({"limit": 1, "lease_seconds": 300})).await.ok();
    let claimed = ada.message(&sent).await;
    assert_eq!(
        (&claimed["status"], &claimed["status_since"]),
        (&json!("processing"), &json!("2027-01-15T08:01:00.000Z"))
    );
    hub.advance(MINUTE);
    scout.post("/api/inbox/claim", &json!({"extend": [sent["id"]], "lease_seconds": 60})).await.ok();
    assert_eq!(ada.message(&sent).await["status_since"], "2027-01-15T08:01:00.000Z", "the same claim");
    hub.advance(2 * MINUTE);
    let freed = ada.message(&sent).await;
    assert_eq!((&freed["status"], &freed["status_since"]), (&json!("pending"), &json!("2027-01-15T08:03:00.000Z")));
    scout.settle(&sent, "fail", json!({"error": "no paint"})).await.ok();
    let failed = ada.message(&sent).await;
    assert_eq!((&failed["status"], &failed["status_since"]), (&json!("failed"), &json!("2027-01-15T08:04:00.000Z")));
    hub.finish().await;
}
