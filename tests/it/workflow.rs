//! Workflow: states, the status that follows where messages are work, and what each switch of a channel does.

use serde_json::{Value, json};

use crate::support::{Agent, Client, Human, TestHub, each, items};
use crate::walk::{Row, ToolRow, either_thing, refused};

/// What agents of other owners must be refused; see `walk/tools.rs`.
pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![
        refused("react", json!({"message_id": "{post}", "reaction": "approve"})),
        refused("react", json!({"message_id": "{dm}", "reaction": "in_progress"})),
        refused("unreact", json!({"message_id": "{dm}", "reaction": "in_progress"})),
        refused("get_reactions", json!({"message_id": "{post}"})),
        refused("list_by_state", json!({"channel": "{channel}", "state": "proposed"})),
    ]
}

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![either_thing("GET /api/channels/{name}/messages/by-state").query("state=proposed")]
}

/// Earns an agent trust in a kind of work, a twentieth with each message.
pub(crate) async fn earn(human: &Human, agent: &Agent, action_type: &str, approvals: usize) {
    for _ in 0..approvals {
        let metadata = json!({"action_type": action_type});
        let message = agent.send(json!({"to": human.name, "body": "work", "metadata": metadata})).await;
        human.react(&message, "approve").await.ok();
    }
}

async fn status(client: &Client, message: &Value) -> (Value, Value) {
    let message = client.message(message).await;
    (message["workflow_state"].clone(), message["status"].clone())
}

#[tokio::test]
async fn where_messages_are_work_the_status_follows_the_state() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_workflow("work", json!({})).await;
    let message = ada.propose("work", "who takes this?").await;
    assert_eq!(message["status"], "pending");
    let mut events = ada.events().await;
    for (who, reaction, state, expected) in [
        (&ada.client, "approve", "approved", "pending"),
        (&scout.client, "in_progress", "in_progress", "pending"),
        (&scout.client, "done", "done", "done"),
        (&ada.client, "reject", "done", "done"),
        (&scout.client, "done", "rejected", "done"),
        (&ada.client, "reject", "in_progress", "pending"),
        (&ada.client, "published", "published", "done"),
        (&ada.client, "published", "in_progress", "pending"),
        (&scout.client, "in_progress", "approved", "pending"),
        (&ada.client, "approve", "proposed", "pending"),
    ] {
        let before = status(&ada, &message).await.1;
        who.react(&message, reaction).await.ok();
        assert_eq!(status(&ada, &message).await, (json!(state), json!(expected)), "{reaction}");
        assert_eq!(events.until("reaction").await["workflow_state"], state);
        if before != expected {
            assert_eq!(events.until("message_updated").await["status"], expected);
        }
    }
    drop(events);
    hub.finish().await;
}

#[tokio::test]
async fn elsewhere_the_state_is_only_shown() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (said, dm) = (ada.say("general", "x").await, ada.dm("scout", "x").await);
    for (message, unmoved) in [(&said, "done"), (&dm, "pending")] {
        for (reaction, state) in [("in_progress", "in_progress"), ("done", "done"), ("done", "in_progress")] {
            scout.react(message, reaction).await.ok();
            assert_eq!(status(&ada, message).await, (json!(state), json!(unmoved)));
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn turning_it_on_and_off_leaves_what_was_said_before() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "work"})).await;
    let turn = async |on: bool| ada.put("/api/channels/work/settings", &json!({"workflow_enabled": on})).await.ok();
    let old = ada.propose("work", "before").await;
    turn(true).await;
    assert_eq!(status(&ada, &old).await, (json!(null), json!("done")));
    let new = ada.propose("work", "after").await;
    // It is work as soon as somebody reacts to it.
    ada.react(&old, "approve").await.ok();
    assert_eq!(status(&ada, &old).await, (json!("approved"), json!("pending")));
    turn(false).await;
    ada.react(&new, "done").await.ok();
    assert_eq!(status(&ada, &new).await, (json!("done"), json!("pending")));
    assert_eq!(ada.in_state("work", "done").await, [new["id"].clone()]);
    hub.finish().await;
}

#[tokio::test]
async fn messages_are_listed_by_state() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    ada.make_workflow("work", json!({})).await;
    let mut said = Vec::new();
    for n in 0..7 {
        said.push(ada.propose("work", &format!("number {n}")).await);
    }
    let states = ["approved", "in_progress", "rejected", "done", "published"];
    for (message, reaction) in said.iter().zip(["approve", "in_progress", "reject", "done", "published"]) {
        ada.react(message, reaction).await.ok();
    }
    for (state, message) in states.iter().zip(&said) {
        assert_eq!(ada.in_state("work", state).await, [message["id"].clone()], "{state}");
    }
    // Newest first; answers are talk, unless somebody reacts to them; what is deleted is gone.
    let answer = ada.reply("work", &said[6], "an answer").await;
    assert_eq!(ada.in_state("work", "proposed").await, [said[6]["id"].clone(), said[5]["id"].clone()]);
    scout.react(&answer, "in_progress").await.ok();
    assert_eq!(ada.in_state("work", "in_progress").await, [answer["id"].clone(), said[1]["id"].clone()]);
    ada.take_back(&said[6]).await.ok();
    assert_eq!(ada.in_state("work", "proposed").await, [said[5]["id"].clone()]);
    // Pages.
    for n in 0..5 {
        ada.propose("work", &format!("more {n}")).await;
    }
    let path = "/api/channels/work/messages/by-state?state=proposed&limit=4";
    let page = ada.get(path).await.ok().json();
    assert_eq!(each(page["items"].as_array().unwrap(), "body"), ["more 4", "more 3", "more 2", "more 1"]);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = ada.get(&format!("{path}&cursor={cursor}")).await.ok().json();
    assert_eq!(each(rest["items"].as_array().unwrap(), "body"), ["more 0", "number 5"]);
    assert_eq!(rest["next_cursor"], Value::Null);
    let other = "/api/channels/work/messages/by-state?state=done";
    ada.get(&format!("{other}&cursor={cursor}")).await.problem(400, "invalid_cursor");
    eve.get(&format!("{path}&cursor={cursor}")).await.problem(400, "invalid_cursor");
    // What is wrong.
    ada.get("/api/channels/work/messages/by-state").await.invalid(&["state"]);
    ada.get("/api/channels/work/messages/by-state?state=").await.invalid(&["state"]);
    let refused = ada.get("/api/channels/work/messages/by-state?state=open").await.invalid(&["state"]).json();
    assert!(refused["errors"][0]["message"].as_str().unwrap().contains("in_progress"), "{refused}");
    ada.get("/api/channels/none/messages/by-state?state=done").await.problem(404, "not_found");
    ada.patch("/api/channels/work", &json!({"public": false})).await.ok();
    eve.get(other).await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_approves_as_far_as_it_is_trusted() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (scout, bee) = (ada.agent("scout").await, ada.agent("bee").await);
    ada.make_workflow("work", json!({})).await;
    let message = bee.propose("work", "shall we?").await;
    let refused = scout.react(&message, "approve").await.problem(403, "trust_too_low").json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("0.6") && detail.contains("yours is 0."), "{detail}");
    assert!(refused["hint"].is_string());
    // Trust in something else does not count; twelve twentieths are enough, eleven are not.
    earn(&ada, &scout, "publish", 13).await;
    earn(&ada, &scout, "approve", 11).await;
    scout.react(&message, "approve").await.problem(403, "trust_too_low");
    earn(&ada, &scout, "approve", 1).await;
    scout.react(&message, "approve").await.ok();
    // Its own messages by the same rule, and anybody's in a channel with another threshold.
    bee.react(&message, "approve").await.problem(403, "trust_too_low");
    ada.put("/api/channels/work/settings", &json!({"approve_threshold": 0.65})).await.ok();
    let second = scout.propose("work", "shall we?").await;
    scout.react(&second, "approve").await.problem(403, "trust_too_low");
    ada.put("/api/channels/work/settings", &json!({"approve_threshold": 0.0})).await.ok();
    bee.react(&second, "approve").await.ok();
    ada.put("/api/channels/work/settings", &json!({"approve_threshold": 1.0})).await.ok();
    // What was approved can be taken back, whatever the trust is now; people are never limited.
    bee.react(&second, "approve").await.ok();
    ada.react(&second, "approve").await.ok();
    // Where messages are not work, nobody is.
    let chat = ada.say("general", "shall we?").await;
    bee.react(&chat, "approve").await.ok();
    bee.react(&chat, "published").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_publishes_as_far_as_it_is_trusted_or_a_person_approved() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (scout, bee) = (ada.agent("scout").await, ada.agent("bee").await);
    ada.make_workflow("work", json!({"approve_threshold": 0.0})).await;
    let message = scout.propose("work", "an article").await;
    let refused = scout.react(&message, "published").await.problem(403, "trust_too_low").json();
    assert!(refused["detail"].as_str().unwrap().contains("0.8"), "{refused}");
    // An agent's approval is not a person's.
    bee.react(&message, "approve").await.ok();
    scout.react(&message, "published").await.problem(403, "trust_too_low");
    ada.react(&message, "approve").await.ok();
    scout.react(&message, "published").await.ok();
    // That holds for the message that was approved, as long as it is.
    let second = scout.propose("work", "another").await;
    ada.react(&second, "approve").await.ok();
    ada.react(&second, "approve").await.ok();
    scout.react(&second, "published").await.problem(403, "trust_too_low");
    earn(&ada, &scout, "publish", 14).await;
    scout.react(&second, "published").await.problem(403, "trust_too_low");
    earn(&ada, &scout, "publish", 1).await;
    scout.react(&second, "published").await.ok();
    ada.put("/api/channels/work/settings", &json!({"publish_threshold": 0.85})).await.ok();
    let third = scout.propose("work", "one more").await;
    scout.react(&third, "published").await.problem(403, "trust_too_low");
    // Claiming, finishing and rejecting take no trust.
    for reaction in ["in_progress", "done", "reject"] {
        bee.react(&third, reaction).await.ok();
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_trusted_agents_propose_is_approved() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (scout, bee) = (ada.agent("scout").await, ada.agent("bee").await);
    ada.make_workflow("work", json!({"auto_approve": true})).await;
    ada.add_member("work", "scout").await.ok();
    earn(&ada, &scout, "publish", 12).await;
    let mut events = ada.events().await;
    let approved = scout.propose("work", "an article").await;
    let expected = json!([{"reaction": "approve", "metadata": {}, "created_at": approved["created_at"],
        "from": {"kind": "system", "name": "system", "display_name": approved["reactions"][0]["from"]["display_name"]}}]);
    assert_eq!((&approved["reactions"], &approved["workflow_state"]), (&expected, &json!("approved")));
    assert_eq!(approved["status"], "pending");
    assert_eq!(ada.message(&approved).await["reactions"], expected);
    while events.until("new_message").await["message_id"] != approved["id"] {}
    assert_eq!(events.until("reaction").await["workflow_state"], "approved");
    let another = json!({"channel": "work", "body": "another", "action_type": "publish"});
    let sent = scout.tool("send_channel_message", another).await;
    assert_eq!(sent["state"], "approved");
    // It adds no trust, and is no person's approval.
    let trust = ada.get("/api/trust/scout").await.ok().json();
    assert_eq!((&trust[0]["score"], &trust[0]["adjustments"]), (&json!(0.6), &json!(12)));
    scout.react(&approved, "published").await.problem(403, "trust_too_low");
    // By the kind of work that the message says it is.
    let other = json!({"channel": "work", "body": "x", "metadata": {"action_type": "deploy"}});
    assert_eq!(scout.send(other.clone()).await["workflow_state"], "proposed");
    earn(&ada, &bee, "deploy", 12).await;
    assert_eq!(bee.send(other).await["workflow_state"], "approved");
    assert_eq!(bee.propose("work", "x").await["workflow_state"], "proposed");
    // Not answers, not people, not elsewhere, and not when one of the switches is off or the threshold is higher.
    let answer = scout.reply("work", &approved, "and so on").await;
    assert_eq!(answer["workflow_state"], Value::Null);
    assert_eq!(ada.propose("work", "x").await["workflow_state"], "proposed");
    assert_eq!(scout.propose("general", "x").await["workflow_state"], Value::Null);
    assert_eq!(scout.dm("ada", "x").await["workflow_state"], Value::Null);
    for off in [json!({"auto_approve": false}), json!({"workflow_enabled": false}), json!({"approve_threshold": 0.61})]
    {
        ada.put("/api/channels/work/settings", &off).await.ok();
        let state = if off["workflow_enabled"] == false { Value::Null } else { json!("proposed") };
        assert_eq!(scout.propose("work", "x").await["workflow_state"], state, "{off}");
        let on = json!({"auto_approve": true, "workflow_enabled": true, "approve_threshold": 0.6});
        ada.put("/api/channels/work/settings", &on).await.ok();
        assert_eq!(scout.propose("work", "x").await["workflow_state"], "approved");
    }
    drop(events);
    hub.finish().await;
}

#[tokio::test]
async fn who_goes_gives_back_what_they_had_claimed() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let (scout, spy) = (ada.agent("scout").await, eve.agent("spy").await);
    ada.make_workflow("work", json!({})).await;
    ada.make_workflow("den", json!({})).await;
    for name in ["spy", "scout"] {
        ada.add_member("den", name).await.ok();
    }
    ada.patch("/api/channels/den", &json!({"public": false})).await.ok();
    let (open, secret, done) =
        (ada.propose("work", "x").await, ada.say("den", "a secret").await, ada.propose("work", "y").await);
    for message in [&open, &secret, &done] {
        spy.react(message, "in_progress").await.ok();
    }
    spy.react(&done, "done").await.ok();
    // Out of a private channel one sees nothing of it any more.
    ada.delete("/api/channels/den/members/spy").await.ok();
    assert_eq!(status(&ada, &secret).await.0, Value::Null, "talk again");
    assert_eq!(status(&ada, &open).await.0, "in_progress");
    scout.react(&secret, "in_progress").await.ok();
    let mut events = ada.events().await;
    eve.delete("/api/agents/spy").await.ok();
    assert_eq!(events.until("reaction").await["message_id"], open["id"]);
    assert_eq!(status(&ada, &open).await.0, "proposed");
    // What is settled stays as it was.
    let settled = ada.message(&done).await;
    assert_eq!(each(settled["reactions"].as_array().unwrap(), "reaction"), ["in_progress", "done"]);
    drop(events);
    hub.finish().await;
}

#[tokio::test]
async fn no_agent_gets_around_it() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    // An agent of the owner's makes work of messages, but does not end it: that would free it from every threshold.
    let settings = "/api/channels/work/settings";
    scout.put(settings, &json!({"workflow_enabled": true, "stalemate_remind_after": "1h"})).await.ok();
    for change in [
        json!({"workflow_enabled": false}),
        json!({"auto_approve": true}),
        json!({"approve_threshold": 0.0}),
        json!({"publish_threshold": 0.0}),
    ] {
        scout.put(settings, &change).await.problem(403, "forbidden");
        let mut arguments = change.clone();
        arguments["channel"] = json!("work");
        assert_eq!(scout.tool_refused("update_channel_settings", arguments).await.0, "forbidden", "{change}");
        ada.put(settings, &change).await.ok();
    }
    hub.finish().await;
}

#[tokio::test]
async fn settings_out_of_range_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_workflow("work", json!({})).await;
    for (field, value) in [
        ("approve_threshold", json!(1.01)),
        ("approve_threshold", json!(-0.1)),
        ("publish_threshold", json!(2)),
        ("publish_threshold", json!("high")),
        ("stalemate_remind_after", json!("24")),
        ("stalemate_remind_after", json!("-1h")),
        ("stalemate_remind_after", json!("366d")),
        ("stalemate_escalate_after", json!("1w")),
        ("stalemate_escalate_after", json!(0)),
        ("auto_approve", json!("yes")),
        ("workflow_enabled", json!(null)),
    ] {
        ada.put("/api/channels/work/settings", &json!({field: value})).await.invalid(&[field]);
    }
    // Nobody means a negative zero, and engines keep it differently.
    let changed = ada.put("/api/channels/work/settings", &json!({"approve_threshold": -0.0})).await.ok();
    assert!(changed.text().contains(r#""approve_threshold":0.0"#), "{}", changed.text());
    hub.finish().await;
}

#[tokio::test]
async fn the_operator_turns_every_switch() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "work"})).await;
    let settings = json!({"workflow_enabled": true, "auto_approve": true, "stalemate_remind_after": "30m",
        "stalemate_escalate_after": "0", "publish_threshold": 0.5, "approve_threshold": 0.25});
    hub.operator().call("channels.update", json!({"name": "work", "settings": settings.clone()})).await;
    let channel = ada.get("/api/channels/work").await.ok().json()["channel"].clone();
    for (field, value) in settings.as_object().unwrap() {
        assert_eq!(&channel[field], value, "{field}");
    }
    assert_eq!(items(ada.get("/api/channels").await.ok()).len(), 2);
    hub.finish().await;
}

#[tokio::test]
async fn a_channel_that_is_hidden_gets_back_what_strangers_had_claimed() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let spy = eve.agent("spy").await;
    ada.make_workflow("work", json!({})).await;
    let (one, two) = (ada.propose("work", "one").await, ada.propose("work", "two").await);
    spy.react(&one, "in_progress").await.ok();
    // Whoever sees a channel through their agent only, sees it no longer when that one goes.
    ada.put("/api/channels/work/members/spy", &json!({})).await;
    ada.patch("/api/channels/work", &json!({"public": false})).await.ok();
    ada.react(&one, "in_progress").await.problem(409, "already_claimed");
    eve.react(&two, "in_progress").await.ok();
    ada.delete("/api/channels/work/members/spy").await;
    for message in [&one, &two] {
        ada.react(message, "in_progress").await.ok();
    }
    let three = ada.say("general", "three").await;
    eve.react(&three, "in_progress").await.ok();
    hub.finish().await;
}
