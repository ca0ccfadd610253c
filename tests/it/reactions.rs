//! Reactions: made and taken back, seen wherever a message is, and what is refused.

use serde_json::{Value, json};

use crate::support::{Call, DAY, MINUTE, TestHub, each, how_many, items, together};
use crate::walk::{Row, either_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either_thing("POST /api/messages/{id}/reactions").body(json!({"reaction": "approve"})),
        either_thing("GET /api/messages/{id}/reactions"),
        either_thing("DELETE /api/messages/{id}/reactions").body(json!({"reaction": "approve"})).aimed(
            "reaction=approve&by={owner}",
            404,
            "not_found",
        ),
    ]
}

#[tokio::test]
async fn a_reaction_toggles() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let message = ada.say("general", "who takes this?").await;
    assert_eq!((&message["reactions"], &message["workflow_state"]), (&json!([]), &json!(null)));
    let path = format!("/api/messages/{}/reactions", message["id"]);
    let request = json!({"reaction": "in_progress", "metadata": {"eta": "noon"}});
    let reacted = scout.post(&path, &request).await.status(200).json();
    let expected = json!([{"reaction": "in_progress", "metadata": {"eta": "noon"}, "created_at": "2027-01-15T08:00:00.000Z",
        "from": {"kind": "agent", "name": "scout", "display_name": "scout"}}]);
    assert_eq!(reacted, json!({"action": "added", "reactions": expected, "workflow_state": "in_progress"}));
    assert_eq!(ada.get(&path).await.ok().json(), json!({"reactions": expected, "workflow_state": "in_progress"}));
    let removed = scout.post(&path, &json!({"reaction": "in_progress"})).await.status(200).json();
    assert_eq!(removed, json!({"action": "removed", "reactions": [], "workflow_state": null}));
    // Each has reactions of their own, in the order in which they were made.
    for (who, reaction) in [(&ada.client, "approve"), (&scout.client, "done"), (&ada.client, "reject")] {
        assert_eq!(who.react(&message, reaction).await.ok().json()["action"], "added");
    }
    let listed = ada.get(&path).await.ok().json();
    assert_eq!(each(listed["reactions"].as_array().unwrap(), "reaction"), ["approve", "done", "reject"]);
    assert_eq!(listed["workflow_state"], "done");
    hub.finish().await;
}

#[tokio::test]
async fn a_reaction_is_taken_back_in_three_ways() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "x").await;
    let path = format!("/api/messages/{}/reactions", message["id"]);
    let both = format!("{path}?reaction=approve");
    let calls: [&dyn Fn() -> Call; 3] =
        [&|| ada.delete(&both), &|| ada.delete(&path).json(&json!({"reaction": "approve"})), &|| {
            ada.delete(&both).json(&json!({"reaction": "approve"}))
        }];
    for call in calls {
        ada.react(&message, "approve").await.ok();
        let removed = call().await.status(200).json();
        assert_eq!(removed, json!({"action": "removed", "reactions": [], "workflow_state": null}));
        let missing = call().await.problem(404, "not_found").json();
        assert!(missing["detail"].as_str().unwrap().contains("approve"), "{missing}");
    }
    ada.delete(&path).await.invalid(&["reaction"]);
    ada.delete(&path).json(&json!({})).await.invalid(&["reaction"]);
    ada.delete(&both).json(&json!({"reaction": "done"})).await.invalid(&["reaction"]);
    ada.delete(&path).json(&json!({"reactoin": "done"})).await.invalid(&["reactoin"]);
    ada.unreact(&message, "like").await.invalid(&["reaction"]);
    hub.finish().await;
}

#[tokio::test]
async fn what_is_no_reaction_is_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "x").await;
    let path = format!("/api/messages/{}/reactions", message["id"]);
    let refused = ada.react(&message, "like").await.invalid(&["reaction"]).json();
    let said = refused["errors"][0]["message"].as_str().unwrap();
    for word in ["approve", "reject", "in_progress", "done", "published"] {
        assert!(said.contains(word), "{said}");
    }
    for (request, field) in [
        (json!({}), "reaction"),
        (json!({"reaction": 5}), "reaction"),
        (json!({"reaction": null}), "reaction"),
        (json!({"reaction": "Approve"}), "reaction"),
        (json!({"reaction": "done", "metadata": []}), "metadata"),
        (json!({"reaction": "done", "metadata": "x"}), "metadata"),
        (json!({"reaction": "done", "metadata": {"x": "y".repeat(1100)}}), "metadata"),
        (json!({"reaction": "done", "metadata": {"x": [[[[[[[[[0]]]]]]]]]}}), "metadata"),
        (json!({"reaction": "done", "from": "scout"}), "from"),
    ] {
        ada.post(&path, &request).await.invalid(&[field]);
    }
    ada.post(&path, &json!({"reaction": "done", "metadata": {"x": "a\u{0}b"}})).await.problem(422, "validation_failed");
    ada.post(&path, &json!({"reaction": "done", "metadata": null})).await.ok();
    ada.post("/api/messages/999999/reactions", &json!({"reaction": "done"})).await.problem(404, "not_found");
    ada.post("/api/messages/x/reactions", &json!({"reaction": "done"})).await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn one_reacts_to_what_one_sees() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let (scout, spy) = (ada.agent("scout").await, eve.agent("spy").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "scout").await.ok();
    let (secret, dm) = (ada.say("den", "a secret").await, ada.dm("scout", "another secret").await);
    for message in [&secret, &dm] {
        for stranger in [&eve.client, &spy.client] {
            stranger.react(message, "approve").await.problem(404, "not_found");
            stranger.unreact(message, "approve").await.problem(404, "not_found");
            stranger.get(&format!("/api/messages/{}/reactions", message["id"])).await.problem(404, "not_found");
        }
        scout.react(message, "approve").await.ok();
        ada.react(message, "approve").await.ok();
    }
    // Whoever sees a public channel reacts there, and joins nothing by it.
    ada.make_channel(json!({"name": "open"})).await;
    let open = ada.say("open", "x").await;
    spy.react(&open, "approve").await.ok();
    assert_eq!(ada.members("open").await, ["ada"]);
    // A person reacts to what their agent sees, as themself.
    let told = scout.dm("spy", "for you").await;
    let reacted = eve.react(&told, "done").await.ok().json();
    assert_eq!(reacted["reactions"][0]["from"]["name"], "eve");
    // A key needs the permission, and reaches only its channels.
    let (_, reader) = ada.key("scout", json!(["messages:read"])).await;
    let reader = hub.nobody().bearer(&reader);
    reader.react(&open, "done").await.problem(403, "forbidden");
    reader.unreact(&secret, "approve").await.problem(403, "forbidden");
    reader.get(&format!("/api/messages/{}/reactions", open["id"])).await.ok();
    let request = json!({"name": "k", "agent": "scout", "permissions": ["reactions:write"], "channels": ["open"]});
    let limited = ada.post("/api/keys", &request).await.status(201).json();
    let limited = hub.nobody().bearer(limited["key"].as_str().unwrap());
    limited.react(&open, "done").await.ok();
    limited.react(&secret, "done").await.problem(404, "not_found");
    limited.get(&format!("/api/messages/{}/reactions", open["id"])).await.problem(403, "forbidden");
    hub.finish().await;
}

#[tokio::test]
async fn the_deleted_are_past_reacting() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let message = ada.say("general", "x").await;
    scout.react(&message, "approve").await.ok();
    ada.take_back(&message).await.ok();
    scout.react(&message, "done").await.problem(409, "message_deleted");
    // What was said about it stays on its tombstone, and it is on no list of work.
    assert_eq!(ada.message(&message).await["reactions"][0]["reaction"], "approve");
    assert!(ada.in_state("general", "approved").await.is_empty());
    // It can be taken back, and not said again.
    scout.unreact(&message, "approve").await.ok();
    scout.react(&message, "approve").await.problem(409, "message_deleted");
    hub.finish().await;
}

#[tokio::test]
async fn the_first_claim_wins() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (ant, bee) = (ada.agent("ant").await, ada.agent("bee").await);
    let message = ada.say("general", "who takes this?").await;
    ant.react(&message, "in_progress").await.ok();
    for other in [&bee.client, &ada.client] {
        let refused = other.react(&message, "in_progress").await.problem(409, "already_claimed").json();
        assert!(refused["detail"].as_str().unwrap().contains("ant"), "{refused}");
        other.unreact(&message, "in_progress").await.problem(404, "not_found");
    }
    // Given back, it can be claimed again; elsewhere there is another claim.
    ant.react(&message, "in_progress").await.ok();
    bee.react(&message, "in_progress").await.ok();
    ant.react(&message, "in_progress").await.problem(409, "already_claimed");
    let second = ada.say("general", "and this?").await;
    ant.react(&second, "in_progress").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn of_a_thousand_who_claim_at_once_one_wins() {
    const CLAIMANTS: usize = 1000;
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let mut agents = Vec::new();
    for start in (0..CLAIMANTS).step_by(100) {
        let calls = (start..start + 100).map(|n| ada.post("/api/agents", &json!({"name": format!("agent{n}")})));
        agents.extend(together(calls).await.into_iter().map(|made| {
            let made = made.status(201).json();
            (made["agent"]["name"].clone(), hub.nobody().bearer(made["key"].as_str().unwrap()))
        }));
    }
    let message = ada.say("general", "who takes this?").await;
    let replies = together(agents.iter().map(|(_, agent)| agent.react(&message, "in_progress"))).await;
    assert_eq!((how_many(&replies, 200), how_many(&replies, 409)), (1, CLAIMANTS - 1));
    let winner = &agents[replies.iter().position(|reply| reply.code() == 200).unwrap()].0;
    for reply in replies.iter().filter(|reply| reply.code() == 409) {
        let refused = reply.clone().problem(409, "already_claimed").json();
        assert!(refused["detail"].as_str().unwrap().starts_with(winner.as_str().unwrap()), "{refused}");
    }
    let shown = ada.message(&message).await;
    assert_eq!(shown["reactions"].as_array().unwrap().len(), 1);
    assert_eq!((&shown["reactions"][0]["from"]["name"], &shown["workflow_state"]), (winner, &json!("in_progress")));
    hub.finish().await;
}

#[tokio::test]
async fn a_message_has_at_most_a_hundred_reactions() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "x").await;
    let mut agents = Vec::new();
    for owner in 0..10 {
        let owner_of_five = hub.human(&format!("owner{owner}")).await;
        for n in 0..5 {
            agents.push(owner_of_five.agent(&format!("agent{owner}-{n}")).await);
        }
    }
    for agent in &agents {
        agent.react(&message, "approve").await.ok();
        agent.react(&message, "done").await.ok();
    }
    // Another kind for one of them, and the first for somebody else.
    agents[0].react(&message, "reject").await.problem(409, "too_many_reactions");
    ada.react(&message, "approve").await.problem(409, "too_many_reactions");
    agents[0].react(&message, "approve").await.ok();
    ada.react(&message, "approve").await.ok();
    assert_eq!(ada.message(&message).await["reactions"].as_array().unwrap().len(), 100);
    hub.finish().await;
}

/// Every place where a message is shown.
#[tokio::test]
async fn reactions_are_seen_wherever_the_message_is() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    let said = ada.say("work", "@scout look").await;
    let answer = scout.reply("work", &said, "yes").await;
    let dm = ada.dm("scout", "hello").await;
    for message in [&said, &answer, &dm] {
        scout.react(message, "done").await.ok();
    }
    ada.call("PUT", &format!("/api/channels/work/pins/{}", said["id"])).await.ok();
    let is_shown = |message: &Value| {
        message["reactions"][0]["from"]["name"] == "scout"
            && message["reactions"][0]["reaction"] == "done"
            && message["workflow_state"] == "done"
    };
    let find = |listed: Vec<Value>, wanted: &Value| {
        let found = listed.into_iter().find(|message| message["id"] == wanted["id"]);
        found.unwrap_or_else(|| panic!("{wanted} is not there"))
    };
    assert!(is_shown(&ada.message(&said).await));
    assert!(is_shown(&find(items(ada.get("/api/channels/work/messages").await.ok()), &said)));
    assert!(is_shown(&find(items(ada.get("/api/channels/work/pins").await.ok()), &said)));
    assert!(is_shown(&find(ada.replies(&said).await, &answer)));
    assert!(is_shown(&find(items(ada.get("/api/dm/scout/messages").await.ok()), &dm)));
    assert!(is_shown(&find(scout.inbox().await, &dm)));
    let threads = items(ada.get("/api/threads").await.ok());
    assert!(threads.is_empty() || is_shown(&threads[0]["message"]), "{threads:?}");
    let edited = ada.edit(&said, "@scout look again").await.ok().json();
    assert!(is_shown(&edited));
    assert!(is_shown(&find(scout.claim(json!({"message_ids": [dm["id"]]})).await, &dm)));
    assert!(is_shown(&scout.settle(&dm, "done", json!({})).await.ok().json()));
    assert!(is_shown(&hub.operator().call("messages.show", json!({"id": said["id"]})).await));
    // The DM that tells of the mention is a message of its own.
    let copy = scout.inbox().await.into_iter().find(|message| message["reply_to"] == said["id"]).unwrap();
    assert_eq!((&copy["reactions"], &copy["workflow_state"]), (&json!([]), &json!(null)));
    ada.react(&copy, "approve").await.ok();
    assert_eq!(ada.message(&said).await["reactions"].as_array().unwrap().len(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn who_may_see_the_message_is_told() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "scout").await.ok();
    let said = ada.say("den", "x").await;
    let (mut own, mut foreign, from) = (ada.events().await, eve.events().await, scout.events().await.last_id);
    let reacted = scout.react(&said, "approve").await.ok().json();
    let told = own.until("reaction").await;
    let expected = json!({"message_id": said["id"], "conversation_id": said["conversation_id"], "channel": "den",
        "workflow_state": "approved", "reactions": reacted["reactions"]});
    assert_eq!(told, expected);
    scout.react(&said, "approve").await.ok();
    assert_eq!(own.until("reaction").await["reactions"], json!([]));
    ada.react(&said, "reject").await.ok();
    assert_eq!(own.until("reaction").await["workflow_state"], "rejected");
    // The other one hears of nothing until there is something for them.
    let open = ada.say("general", "for everybody").await;
    loop {
        let frame = foreign.next().await;
        assert_ne!(frame.event, "reaction", "{frame:?}");
        if frame.data["message_id"] == open["id"] {
            break;
        }
    }
    // Who was away is told afterwards, how it is now.
    let mut late = scout.events_after(&from).await;
    for _ in 0..3 {
        let told = late.until("reaction").await;
        assert_eq!((&told["message_id"], &told["workflow_state"]), (&said["id"], &json!("rejected")));
        assert_eq!(told["reactions"][0]["from"]["name"], "ada");
    }
    drop((own, foreign, late));
    hub.finish().await;
}

#[tokio::test]
async fn a_repeated_request_reacts_once() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "x").await;
    let react = || ada.react(&message, "approve").header("idempotency-key", "one");
    let first = react().await.ok();
    let second = react().await.ok();
    assert!(second.is_replay() && second.json() == first.json());
    assert_eq!(ada.message(&message).await["reactions"].as_array().unwrap().len(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn purged_messages_take_their_reactions_with_them() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_channel(json!({"name": "work"})).await;
    let message = ada.say("work", "x").await;
    ada.react(&message, "done").await.ok();
    ada.delete("/api/channels/work").await.ok();
    ada.react(&message, "done").await.problem(404, "not_found");
    hub.advance(MINUTE);
    hub.settle().await;
    assert_eq!(hub.count("select count(*) as n from reactions").await, 0);
    let old = ada.say("general", "old").await;
    ada.react(&old, "done").await.ok();
    hub.advance(2 * DAY);
    hub.operator().call("messages.purge", json!({"older_than": "1d"})).await;
    assert_eq!(hub.count("select count(*) as n from reactions").await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn agents_react_with_tools() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (ant, bee) = (ada.agent("ant").await, ada.agent("bee").await);
    let message = ada.say("general", "who takes this?").await;
    let claim = json!({"message_id": message["id"], "reaction": "in_progress", "metadata": {"eta": 5}});
    let reacted = ant.tool("react", claim.clone()).await;
    assert_eq!((&reacted["action"], &reacted["state"]), (&json!("added"), &json!("in_progress")));
    assert_eq!(reacted["reactions"][0]["metadata"], json!({"eta": 5}));
    let (code, said) = bee.tool_refused("react", claim).await;
    assert!(code == "already_claimed" && said.contains("ant"), "{said}");
    let known = bee.tool("get_reactions", json!({"message_id": message["id"]})).await;
    assert_eq!((&known["state"], &known["reactions"][0]["from"]), (&json!("in_progress"), &json!("ant")));
    let listed = bee.tool("list_by_state", json!({"channel": "#general", "state": "in_progress"})).await;
    assert_eq!((&listed["items"][0]["id"], &listed["items"][0]["state"]), (&message["id"], &json!("in_progress")));
    assert_eq!(listed["items"][0]["reactions"], json!(["in_progress ant"]));
    let removed = ant.tool("unreact", json!({"message_id": message["id"], "reaction": "in_progress"})).await;
    assert_eq!((&removed["action"], &removed["state"]), (&json!("removed"), &json!(null)));
    let again = json!({"message_id": message["id"], "reaction": "in_progress"});
    assert_eq!(ant.tool_refused("unreact", again).await.0, "not_found");
    for (tool, arguments) in [
        ("react", json!({"message_id": message["id"], "reaction": "like"})),
        ("react", json!({"message_id": message["id"], "reaction": "done", "metadata": "x"})),
        ("list_by_state", json!({"channel": "general", "state": "open"})),
    ] {
        assert_eq!(ant.tool_refused(tool, arguments).await.0, "validation_failed", "{tool}");
    }
    let repeated = json!({"message_id": message["id"], "reaction": "done", "idempotency_key": "k"});
    assert_eq!(ant.tool("react", repeated.clone()).await, ant.tool("react", repeated).await);
    hub.finish().await;
}
