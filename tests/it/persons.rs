//! A person is somebody with a session. Keys and tokens are programs, also when they act for a person.

use serde_json::json;

use crate::support::{Client, Human, TestHub};
use crate::workflow::earn;

/// A program that a person lets act as themself.
async fn program_of(hub: &TestHub, person: &Human) -> Client {
    let tokens = hub.app().await.tokens(person, "self").await;
    hub.nobody().bearer(&tokens.access)
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
    let said = scout.say("work", "an article").await;
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
    let other = scout.say("work", "another").await;
    ada.react(&other, "approve").await.ok();
    scout.react(&other, "published").await.ok();
    // An agent that has earned it needs no person.
    earn(&bob, &scout, "publish", 16).await;
    let third = scout.say("work", "a third").await;
    scout.react(&third, "published").await.ok();
    hub.finish().await;
}
