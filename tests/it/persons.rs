//! A person is somebody with a session. Keys and tokens are programs, also when they act for a person.

use serde_json::{Value, json};

use crate::support::{Client, Human, MINUTE, TestHub, each};
use crate::workflow::earn;

/// A program that a person lets act as themself.
async fn program_of(hub: &TestHub, person: &Human) -> Client {
    let tokens = hub.app().await.tokens(person, "self").await;
    hub.nobody().bearer(&tokens.access)
}

impl Client {
    /// Sends a message with a tool, and returns it as its author sees it.
    async fn tell(&self, reader: &Client, tool: &str, arguments: Value) -> Value {
        let sent = self.tool(tool, arguments).await;
        reader.message(&sent).await
    }
}

#[tokio::test]
async fn a_program_goes_on_where_it_answers() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = bob.agent("scout").await;
    let program = program_of(&hub, &ada).await;
    let asked = ada.say("general", "who knows?").await;
    let first = scout.reply("general", &asked, "I do").await;
    assert_eq!((&asked["depth"], &first["depth"]), (&json!(0), &json!(1)));
    let answer = json!({"channel": "general", "body": "go on", "reply_to": first["id"]});
    assert_eq!(program.tell(&ada, "send_channel_message", answer.clone()).await["depth"], 2);
    let dm = json!({"to": "scout", "body": "go on", "reply_to": first["id"]});
    assert_eq!(program.tell(&ada, "send_message", dm).await["depth"], 2);
    // A person begins anew.
    assert_eq!(ada.send(answer).await["depth"], 0);
    // So does a program that answers nothing and works on nothing.
    assert_eq!(program.tell(&ada, "send_message", json!({"to": "scout", "body": "x"})).await["depth"], 1);
    // What a request says of itself counts for programs, too.
    let call = json!({"name": "send_message", "arguments": {"to": "scout", "body": "x"}});
    let sent = program.mcp("tools/call", call).header("webhook-loop-depth", "3").await.tool_answer();
    assert_eq!(ada.message(&sent).await["depth"], 4);
    hub.finish().await;
}

#[tokio::test]
async fn a_program_goes_on_from_what_it_works_on() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let (scout, bee) = (ada.agent("scout").await, ada.agent("bee").await);
    let send = |to: &str, depth: u32| {
        let request = bob.post("/api/messages", &json!({"to": to, "body": "work"}));
        async move { request.header("webhook-loop-depth", depth.to_string()).await.status(201).json() }
    };
    let (deep, shallow) = (send("scout", 4).await, send("scout", 1).await);
    assert_eq!(scout.say("general", "not yet at work").await["depth"], 1);
    scout.claim(json!({"message_ids": [shallow["id"]]})).await;
    scout.claim(json!({"message_ids": [deep["id"]], "lease_seconds": 60})).await;
    // Neither an answer nor a header: the claim says it, in channels, in DMs, and for whoever is mentioned.
    assert_eq!(scout.say("general", "@bee help").await["depth"], 6);
    assert_eq!(bee.inbox().await[0]["depth"], 6);
    assert_eq!(scout.dm("bee", "help").await["depth"], 6);
    assert_eq!(scout.tell(&scout, "send_message", json!({"to": "bee", "body": "help"})).await["depth"], 6);
    // An answer to what is less deep is no way out.
    assert_eq!(scout.reply("general", &scout.say("general", "x").await, "y").await["depth"], 7);
    let plain = ada.dm("scout", "hello").await;
    assert_eq!(scout.send(json!({"to": "bee", "body": "x", "reply_to": plain["id"]})).await["depth"], 6);
    // Others go by their own work.
    assert_eq!(bee.say("general", "x").await["depth"], 1);
    // A claim that has run out counts no longer, nor does one that is settled.
    hub.advance(2 * MINUTE);
    assert_eq!(scout.say("general", "x").await["depth"], 3);
    scout.settle(&shallow, "release", json!({})).await.ok();
    assert_eq!(scout.say("general", "x").await["depth"], 1);
    hub.finish().await;
}

#[tokio::test]
async fn the_work_of_a_person_is_the_work_of_their_programs() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let program = program_of(&hub, &ada).await;
    let asked = scout.post("/api/messages", &json!({"to": "ada", "body": "x"})).header("webhook-loop-depth", "2");
    assert_eq!(asked.await.status(201).json()["depth"], 3);
    program.tool("claim_messages", json!({})).await;
    let said = json!({"channel": "general", "body": "help"});
    assert_eq!(program.tell(&ada, "send_channel_message", said.clone()).await["depth"], 4);
    assert_eq!(ada.send(said).await["depth"], 0);
    hub.finish().await;
}

#[tokio::test]
async fn an_edit_that_mentions_somebody_is_as_deep_as_the_work_behind_it() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (scout, bee) = (ada.agent("scout").await, ada.agent("bee").await);
    let said = scout.say("general", "hello").await;
    let work = ada.post("/api/messages", &json!({"to": "scout", "body": "x"})).header("webhook-loop-depth", "2");
    work.await.status(201);
    scout.claim(json!({})).await;
    scout.edit(&said, "hello @bee").await.ok();
    assert_eq!(bee.inbox().await[0]["depth"], 4);
    hub.finish().await;
}

#[tokio::test]
async fn a_program_changes_no_trust() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = bob.agent("scout").await;
    let program = program_of(&hub, &ada).await;
    let said = scout.say("general", "an article").await;
    let react = |reaction: &str| json!({"message_id": said["id"], "reaction": reaction});
    let adjustments = async || ada.get("/api/trust/scout").await.ok().json()[0]["adjustments"].as_i64().unwrap_or(0);
    // Outside of workflow channels everybody may react; it is a state, and no more.
    assert_eq!(program.tool("react", react("approve")).await["state"], "approved");
    assert_eq!(adjustments().await, 0);
    program.tool("unreact", react("approve")).await;
    ada.react(&said, "approve").await.ok();
    assert_eq!(adjustments().await, 1);
    // What the person decided is not for their programs to take back.
    for (tool, reaction) in [("react", "approve"), ("unreact", "approve")] {
        assert_eq!(program.tool_refused(tool, react(reaction)).await.0, "forbidden");
    }
    assert_eq!(adjustments().await, 1);
    ada.react(&said, "reject").await.ok();
    assert_eq!(program.tool_refused("unreact", react("reject")).await.0, "forbidden");
    assert_eq!(adjustments().await, 2);
    // Claims are, and what the program did itself; and the person takes back whatever was done for them.
    ada.react(&said, "in_progress").await.ok();
    program.tool("unreact", react("in_progress")).await;
    ada.unreact(&said, "approve").await.ok();
    ada.unreact(&said, "reject").await.ok();
    assert_eq!(adjustments().await, 0);
    program.tool("react", react("reject")).await;
    ada.unreact(&said, "reject").await.ok();
    assert_eq!(adjustments().await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn a_program_is_trusted_like_any_other() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = bob.agent("scout").await;
    let program = program_of(&hub, &ada).await;
    ada.make_workflow("work", json!({})).await;
    let said = scout.propose("work", "an article").await;
    let react = |reaction: &str| json!({"message_id": said["id"], "reaction": reaction});
    for reaction in ["approve", "published"] {
        let (code, text) = program.tool_refused("react", react(reaction)).await;
        assert_eq!(code, "trust_too_low", "{text}");
        assert!(text.contains("Log in"), "{text}");
    }
    program.tool("react", react("in_progress")).await;
    program.tool("unreact", react("in_progress")).await;
    // Where anybody may approve, a program's approval is still no person's: it lets no agent publish.
    ada.put("/api/channels/work/settings", &json!({"approve_threshold": 0.0})).await.ok();
    program.tool("react", react("approve")).await;
    scout.react(&said, "published").await.problem(403, "trust_too_low");
    assert_eq!(scout.tool_refused("react", react("published")).await.0, "trust_too_low");
    // The person takes it over by saying it themself.
    ada.unreact(&said, "approve").await.ok();
    ada.react(&said, "approve").await.ok();
    assert_eq!(scout.tool("react", react("published")).await["state"], "published");
    let other = scout.propose("work", "another").await;
    ada.react(&other, "approve").await.ok();
    scout.react(&other, "published").await.ok();
    // An agent that has earned it needs no person.
    earn(&bob, &scout, "publish", 16).await;
    let third = scout.propose("work", "a third").await;
    scout.react(&third, "published").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn a_program_cannot_call_everybody() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let program = program_of(&hub, &ada).await;
    let call = json!({"channel": "general", "body": "@channel @here and @bob"});
    let said = program.tell(&ada, "send_channel_message", call.clone()).await;
    assert_eq!(said["mentions"], json!(["bob"]));
    assert_eq!(bob.inbox().await.len(), 1);
    let said = ada.send(call).await;
    assert_eq!(said["mentions"], json!(["bob", "channel", "here"]));
    assert!(each(said["delivery"].as_array().unwrap(), "recipient").contains(&json!("bob")));
    hub.finish().await;
}
