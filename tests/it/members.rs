//! Coming into channels and going out of them.

use serde_json::json;

use crate::support::{TestHub, each};
use crate::walk::{Row, either_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either_thing("PUT /api/channels/{name}/members/{principal}"),
        either_thing("DELETE /api/channels/{name}/members/{principal}"),
    ]
}

#[tokio::test]
async fn a_public_channel_is_joined_and_left() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let errand = bob.agent("errand").await;
    ada.make_channel(json!({"name": "work"})).await;
    assert_eq!(bob.get("/api/channels/work").await.ok().json()["channel"]["is_member"], false);
    for _ in 0..2 {
        let joined = bob.call("POST", "/api/channels/work/join").await.ok().json();
        assert_eq!((&joined["channel"]["is_member"], &joined["channel"]["member_count"]), (&json!(true), &json!(2)));
    }
    errand.call("POST", "/api/channels/work/join").await.ok();
    let members = ada.get("/api/channels/work").await.ok().json()["members"].clone();
    assert_eq!(each(members.as_array().unwrap(), "name"), ["ada", "bob", "errand"]);
    assert_eq!(each(members.as_array().unwrap(), "kind"), ["user", "user", "agent"]);
    assert_eq!(members[2]["owner"], "bob");
    // An agent goes alone, a person takes their agents along.
    errand.call("POST", "/api/channels/work/leave").await.status(204);
    assert_eq!(ada.members("work").await, ["ada", "bob"]);
    errand.call("POST", "/api/channels/work/join").await.ok();
    for _ in 0..2 {
        bob.call("POST", "/api/channels/work/leave").await.status(204);
        assert_eq!(ada.members("work").await, ["ada"]);
    }
    ada.call("POST", "/api/channels/work/leave").await.problem(409, "owner_cannot_leave");
    for path in ["join", "leave"] {
        bob.call("POST", &format!("/api/channels/nowhere/{path}")).await.problem(404, "not_found");
    }
    hub.finish().await;
}

#[tokio::test]
async fn leaving_takes_agents_along_from_where_they_are_alone() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let (errand, other) = (bob.agent("errand").await, bob.agent("other").await);
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    for agent in [&errand, &other, &scout] {
        agent.call("POST", "/api/channels/work/join").await.ok();
    }
    bob.call("POST", "/api/channels/work/leave").await.status(204);
    assert_eq!(ada.members("work").await, ["ada", "scout"]);
    hub.finish().await;
}

#[tokio::test]
async fn writing_into_a_public_channel_joins_it() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let errand = bob.agent("errand").await;
    ada.make_channel(json!({"name": "work"})).await;
    errand.say("work", "hello").await;
    assert_eq!(ada.members("work").await, ["ada", "errand"]);
    bob.say("work", "hello").await;
    assert_eq!(ada.members("work").await, ["ada", "bob", "errand"]);
    // What was refused joins nothing.
    let eve = hub.human("eve").await;
    let wrong = json!({"channel": "work", "body": "x", "reply_to": 999_999});
    eve.post("/api/messages", &wrong).await.problem(404, "not_found");
    assert_eq!(ada.members("work").await.len(), 3);
    hub.finish().await;
}

#[tokio::test]
async fn a_private_channel_is_entered_by_being_added() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let (errand, other) = (bob.agent("errand").await, bob.agent("other").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    for call in [
        bob.get("/api/channels/den"),
        bob.call("POST", "/api/channels/den/join"),
        bob.call("POST", "/api/channels/den/leave"),
        bob.call("PUT", "/api/channels/den/members/bob"),
        bob.call("PUT", "/api/channels/den/members/errand"),
        bob.delete("/api/channels/den/members/ada"),
    ] {
        call.await.problem(404, "not_found");
    }
    ada.add_member("den", "errand").await.ok();
    // Now bob sees it through his agent, and that is all.
    assert_eq!(bob.get("/api/channels/den").await.ok().json()["channel"]["is_member"], false);
    bob.call("POST", "/api/channels/den/join").await.problem(403, "not_a_member");
    bob.add_member("den", "bob").await.problem(403, "forbidden");
    bob.add_member("den", "other").await.problem(403, "forbidden");
    errand.add_member("den", "other").await.problem(403, "forbidden");
    other.get("/api/channels/den").await.problem(404, "not_found");
    ada.add_member("den", "bob").await.ok();
    // A member brings agents of their own, and nobody else.
    bob.add_member("den", "other").await.ok();
    bob.add_member("den", "eve").await.problem(403, "forbidden");
    eve.get("/api/channels/den").await.problem(404, "not_found");
    assert_eq!(ada.members("den").await, ["ada", "bob", "errand", "other"]);
    // Put out, bob is gone with all his agents, and sees nothing any more.
    ada.delete("/api/channels/den/members/bob").await.status(204);
    assert_eq!(ada.members("den").await, ["ada"]);
    bob.get("/api/channels/den").await.problem(404, "not_found");
    errand.get("/api/channels/den/messages").await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn the_owner_says_who_is_in_and_others_speak_for_themselves() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let (scout, errand) = (ada.agent("scout").await, bob.agent("errand").await);
    ada.make_channel(json!({"name": "work"})).await;
    // Anybody brings themselves and their agents into a public channel, but nobody else.
    bob.add_member("work", "errand").await.ok();
    bob.add_member("work", "bob").await.ok();
    bob.add_member("work", "BOB").await.ok();
    bob.add_member("work", "eve").await.problem(403, "forbidden");
    errand.add_member("work", "bob").await.problem(403, "forbidden");
    // The owner brings anybody; an agent of theirs only those who have the same owner.
    ada.add_member("work", "eve").await.ok();
    scout.add_member("work", "admin").await.problem(403, "forbidden");
    ada.add_member("work", "admin").await.ok();
    assert_eq!(ada.members("work").await, ["ada", "admin", "bob", "errand", "eve"]);
    for name in ["nobody", "system", ""] {
        let reply = ada.add_member("work", name).await;
        assert_eq!(reply.code(), 404, "{reply:?}");
    }
    let out = |name: &str| format!("/api/channels/work/members/{name}");
    bob.delete(&out("eve")).await.problem(403, "forbidden");
    bob.delete(&out("ada")).await.problem(403, "forbidden");
    errand.delete(&out("bob")).await.problem(403, "forbidden");
    ada.delete(&out("ada")).await.problem(409, "owner_cannot_leave");
    scout.delete(&out("ada")).await.problem(403, "forbidden");
    bob.delete(&out("errand")).await.status(204);
    bob.delete(&out("errand")).await.problem(404, "not_found");
    eve.delete(&out("eve")).await.status(204);
    bob.add_member("work", "errand").await.ok();
    ada.delete(&out("errand")).await.status(204);
    assert_eq!(ada.members("work").await, ["ada", "admin", "bob"]);
    bob.add_member("work", "errand").await.problem(403, "removed_from_channel");
    ada.add_member("work", "errand").await.ok();
    ada.delete(&out("bob")).await.status(204);
    assert_eq!(ada.members("work").await, ["ada", "admin"]);
    // What one did to another is on record.
    let actions = each(&hub.audit().await, "action");
    assert!(actions.contains(&json!("channel.member_added")) && actions.contains(&json!("channel.member_removed")));
    hub.finish().await;
}

#[tokio::test]
async fn who_is_gone_is_a_member_of_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    for name in ["work", "den"] {
        ada.add_member(name, "scout").await.ok();
        scout.say(name, "hello").await;
    }
    ada.delete("/api/agents/scout").await.ok();
    for name in ["work", "den", "general"] {
        assert!(!ada.members(name).await.contains(&"scout".to_owned()), "{name}");
    }
    ada.add_member("work", "scout").await.problem(404, "not_found");
    // What it said stays.
    let said = ada.get("/api/channels/den/messages").await.ok().json();
    assert_eq!(said["items"][0]["from"]["name"], "scout");
    hub.finish().await;
}

#[tokio::test]
async fn the_operator_puts_people_in_and_out() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    hub.human("bob").await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    let who = json!({"name": "den", "member": "bob"});
    hub.operator().call("channels.add_member", who.clone()).await;
    assert_eq!(ada.members("den").await, ["ada", "bob"]);
    for _ in 0..2 {
        hub.operator().call("channels.remove_member", who.clone()).await;
    }
    let nobody = json!({"name": "den", "member": "nobody"});
    assert_eq!(hub.operator().try_call("channels.remove_member", &nobody).await, Err("not_found".to_owned()));
    assert_eq!(ada.members("den").await, ["ada"]);
    hub.finish().await;
}
