//! Work that stands still: a reminder, then a call for help, each once, and whatever is due at one time in one message.

use serde_json::{Value, json};

use crate::support::{Client, DAY, HOUR, KEY, MINUTE, Setup, TestHub, each, items, on_postgres};

impl Client {
    /// What the hub has told one about work that stands still, oldest first.
    async fn stalemates(&self) -> Vec<Value> {
        items(self.get("/api/dm/system/messages").await.ok())
    }

    async fn last_stalemate(&self) -> Value {
        self.stalemates().await.pop().unwrap_or_default()
    }
}

/// Kind, and the messages that it is about.
fn about(notice: &Value) -> (Value, Vec<Value>) {
    let told = &notice["metadata"]["stalemate"];
    (told["kind"].clone(), each(told["messages"].as_array().map_or(&[], Vec::as_slice), "message_id"))
}

/// A hub at which people stay logged in while weeks go by.
fn patient() -> Setup {
    TestHub::setup().session_lifetime(365 * DAY)
}

async fn pass(hub: &TestHub, time: std::time::Duration) {
    hub.advance(time);
    hub.settle().await;
}

#[tokio::test]
async fn the_owner_is_reminded_once_and_people_are_called_once() {
    let hub = patient().start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    ada.make_workflow("work", json!({})).await;
    for name in ["bob", "scout"] {
        ada.add_member("work", name).await.ok();
    }
    let message = bob.propose("work", "who takes\nthis?").await;
    pass(&hub, 24 * HOUR - MINUTE).await;
    assert!(ada.stalemates().await.is_empty());
    pass(&hub, MINUTE).await;
    let notice = ada.last_stalemate().await;
    assert_eq!(about(&notice), (json!("reminder"), vec![message["id"].clone()]));
    assert_eq!(
        (&notice["from"]["name"], &notice["status"], &notice["to"]),
        (&json!("system"), &json!("pending"), &json!("ada"))
    );
    let body = notice["body"].as_str().unwrap();
    let id = &message["id"];
    let line = format!("- #work, [message {id}](/channels/work?at={id}), proposed for 24 hours: \"who takes");
    assert!(body.contains(&line), "{body}");
    let told = &notice["metadata"]["stalemate"]["messages"][0];
    let expected = json!({"channel": "work", "message_id": message["id"], "state": "proposed",
        "since": "2027-01-15T08:00:00.000Z"});
    assert_eq!(told, &expected);
    pass(&hub, 47 * HOUR).await;
    assert_eq!(ada.stalemates().await.len(), 1, "once");
    assert!(bob.stalemates().await.is_empty());
    pass(&hub, HOUR).await;
    for human in [&ada, &bob] {
        assert_eq!(about(&human.last_stalemate().await), (json!("escalation"), vec![message["id"].clone()]));
    }
    pass(&hub, 30 * DAY).await;
    assert_eq!((ada.stalemates().await.len(), bob.stalemates().await.len()), (2, 1), "once");
    assert!(eve.stalemates().await.is_empty() && scout.stalemates().await.is_empty());
    // A notice is a message like others: it can be settled.
    ada.settle(&notice, "done", json!({})).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn who_has_claimed_it_is_reminded() {
    let hub = patient().start().await;
    let ada = hub.human("ada").await;
    let (scout, bee) = (ada.agent("scout").await, ada.agent("bee").await);
    ada.make_workflow("work", json!({"stalemate_remind_after": "30m", "stalemate_escalate_after": "0"})).await;
    let message = ada.propose("work", "who takes this?").await;
    hub.advance(20 * MINUTE);
    scout.react(&message, "in_progress").await.ok();
    pass(&hub, 29 * MINUTE).await;
    assert!(ada.stalemates().await.is_empty() && scout.stalemates().await.is_empty(), "a new state begins anew");
    pass(&hub, MINUTE).await;
    assert_eq!(about(&scout.inbox().await[0]), (json!("reminder"), vec![message["id"].clone()]));
    assert!(scout.inbox().await[0]["body"].as_str().unwrap().contains("in progress for 30 minutes"));
    assert!(ada.stalemates().await.is_empty());
    // Another state, another reminder, to whoever has it then.
    scout.react(&message, "in_progress").await.ok();
    bee.react(&message, "in_progress").await.ok();
    pass(&hub, 30 * MINUTE).await;
    assert_eq!((scout.stalemates().await.len(), bee.stalemates().await.len()), (1, 1));
    // A claimed answer counts; others are talk.
    let (answer, _talk) = (ada.reply("work", &message, "this part?").await, ada.reply("work", &message, "hm").await);
    scout.react(&answer, "in_progress").await.ok();
    pass(&hub, 30 * MINUTE).await;
    assert_eq!(about(&scout.last_stalemate().await).1, [answer["id"].clone()]);
    assert!(ada.stalemates().await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_claimant_who_cannot_be_told_is_passed_over() {
    let hub = patient().start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let spy = eve.agent("spy").await;
    ada.make_workflow("work", json!({"stalemate_remind_after": "30m", "stalemate_escalate_after": "0"})).await;
    let message = ada.propose("work", "a secret to be").await;
    spy.react(&message, "in_progress").await.ok();
    // It was public when it was claimed; now the claimant sees nothing of it.
    ada.patch("/api/channels/work", &json!({"public": false})).await.ok();
    pass(&hub, 30 * MINUTE).await;
    assert!(spy.stalemates().await.is_empty());
    assert_eq!(about(&ada.last_stalemate().await), (json!("reminder"), vec![message["id"].clone()]));
    hub.finish().await;
}

#[tokio::test]
async fn only_open_work_is_told_of() {
    let hub = patient().start().await;
    let ada = hub.human("ada").await;
    let fast = json!({"stalemate_remind_after": "30m", "stalemate_escalate_after": "60m"});
    ada.make_channel(json!({"name": "work"})).await;
    ada.put("/api/channels/work/settings", &fast).await.ok();
    let _chat = ada.say("work", "before it was work").await;
    let enable = |on: bool| ada.put("/api/channels/work/settings", &json!({"workflow_enabled": on}));
    enable(true).await.ok();
    for reaction in ["done", "reject", "published"] {
        let settled = ada.propose("work", "settled").await;
        ada.react(&settled, reaction).await.ok();
    }
    let deleted = ada.propose("work", "deleted").await;
    ada.take_back(&deleted).await.ok();
    let open = ada.propose("work", "open").await;
    enable(false).await.ok();
    pass(&hub, 10 * DAY).await;
    assert!(ada.stalemates().await.is_empty(), "where messages are not work, none stands still");
    enable(true).await.ok();
    pass(&hub, MINUTE).await;
    let told: Vec<_> = ada.stalemates().await.iter().map(about).collect();
    let open = vec![open["id"].clone()];
    assert_eq!(told, [(json!("reminder"), open.clone()), (json!("escalation"), open)]);
    hub.finish().await;
}

#[tokio::test]
async fn each_of_the_two_can_be_off() {
    let hub = patient().start().await;
    let ada = hub.human("ada").await;
    ada.make_workflow("quiet", json!({"stalemate_remind_after": "0", "stalemate_escalate_after": "0"})).await;
    ada.make_workflow("calling", json!({"stalemate_remind_after": "0", "stalemate_escalate_after": "60m"})).await;
    ada.make_workflow("reminding", json!({"stalemate_remind_after": "60m", "stalemate_escalate_after": "0"})).await;
    let mut said = Vec::new();
    for channel in ["quiet", "calling", "reminding"] {
        said.push(ada.propose(channel, "x").await["id"].clone());
    }
    pass(&hub, 10 * DAY).await;
    let mut told: Vec<_> = ada.stalemates().await.iter().map(about).collect();
    told.sort_by_key(|(kind, _)| kind.to_string());
    let expected = [(json!("escalation"), vec![said[1].clone()]), (json!("reminder"), vec![said[2].clone()])];
    assert_eq!(told, expected);
    hub.finish().await;
}

#[tokio::test]
async fn several_at_once_are_one_message() {
    let hub = patient().start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    for channel in ["one", "two"] {
        ada.make_workflow(channel, json!({"stalemate_remind_after": "30m", "stalemate_escalate_after": "60m"})).await;
        ada.add_member(channel, "bob").await.ok();
    }
    let mut said = Vec::new();
    for n in 0..26 {
        said.push(ada.propose(if n % 2 == 0 { "one" } else { "two" }, &format!("number {n}")).await);
    }
    for message in &said[..3] {
        scout.react(message, "in_progress").await.ok();
    }
    pass(&hub, 30 * MINUTE).await;
    let (owner, claimant) = (ada.stalemates().await, scout.stalemates().await);
    assert_eq!((owner.len(), claimant.len(), bob.stalemates().await.len()), (1, 1, 0));
    assert_eq!(about(&claimant[0]).1, each(&said[..3], "id"));
    // A long digest names the oldest, and counts the rest.
    assert_eq!(about(&owner[0]).1, each(&said[3..23], "id"));
    assert_eq!(owner[0]["metadata"]["stalemate"]["count"], 23);
    let body = owner[0]["body"].as_str().unwrap();
    assert!(body.contains("number 22") && !body.contains("number 23") && body.ends_with("and 3 more."), "{body}");
    pass(&hub, 30 * MINUTE).await;
    assert_eq!((ada.stalemates().await.len(), bob.stalemates().await.len()), (2, 1));
    assert_eq!(bob.last_stalemate().await["metadata"]["stalemate"]["count"], 26);
    pass(&hub, 10 * DAY).await;
    assert_eq!((ada.stalemates().await.len(), bob.stalemates().await.len()), (2, 1));
    hub.finish().await;
}

#[tokio::test]
async fn nothing_is_told_twice_after_a_crash_or_by_two_hubs() {
    let hub = patient().key(KEY).start().await;
    let ada = hub.human("ada").await;
    ada.make_workflow("work", json!({})).await;
    let message = ada.propose("work", "x").await;
    hub.advance(25 * HOUR);
    // Whether it had been told by then or not.
    let hub = hub.crash().await.start().await;
    let second = if on_postgres() { Some(hub.beside().start().await) } else { None };
    hub.advance(MINUTE);
    hub.settle().await;
    if let Some(second) = &second {
        second.settle().await;
    }
    let ada = hub.log_in("ada").await;
    let told: Vec<_> = ada.stalemates().await.iter().map(about).collect();
    assert_eq!(told, [(json!("reminder"), vec![message["id"].clone()])]);
    if let Some(second) = second {
        second.finish().await;
    }
    hub.finish().await;
}
