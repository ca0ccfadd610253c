//! Work that somebody has claimed is theirs and the channel's: strangers neither finish it nor block it.

use serde_json::{Value, json};

use crate::support::{Agent, Human, TestHub};

/// A public workflow channel of Ada's with work that a stranger's agent or Ada's own can claim.
struct Scene {
    hub: TestHub,
    ada: Human,
    eve: Human,
    worker: Agent,
    thief: Agent,
    work: Value,
}

impl Scene {
    async fn begin() -> Self {
        let hub = TestHub::start().await;
        let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
        let (worker, thief) = (ada.agent("worker").await, eve.agent("thief").await);
        ada.make_workflow("board", json!({})).await;
        let work = ada.propose("board", "build it").await;
        Self { hub, ada, eve, worker, thief, work }
    }

    fn remove(&self, by: &str, reaction: &str) -> String {
        format!("/api/messages/{}/reactions?reaction={reaction}&by={by}", self.work["id"])
    }

    async fn state(&self) -> Value {
        self.ada.message(&self.work).await["workflow_state"].clone()
    }
}

#[tokio::test]
async fn claimed_work_is_finished_by_its_holder_or_a_person_of_the_channel() {
    let scene = Scene::begin().await;
    scene.worker.react(&scene.work, "in_progress").await.ok();
    for reaction in ["done", "published"] {
        for stranger in [&scene.thief.client, &scene.eve.client] {
            stranger.react(&scene.work, reaction).await.problem(403, "claimed_by_other");
        }
    }
    assert_eq!(scene.state().await, "in_progress");
    // People of the channel may, and so may who holds it.
    scene.eve.call("POST", "/api/channels/board/join").await.ok();
    scene.eve.react(&scene.work, "done").await.ok();
    scene.eve.unreact(&scene.work, "done").await.ok();
    // Their agents are not people.
    scene.thief.call("POST", "/api/channels/board/join").await.ok();
    scene.thief.react(&scene.work, "done").await.problem(403, "claimed_by_other");
    scene.worker.react(&scene.work, "done").await.ok();
    assert_eq!(scene.state().await, "done");
    // What nobody holds, everybody may finish.
    scene.worker.unreact(&scene.work, "done").await.ok();
    scene.worker.unreact(&scene.work, "in_progress").await.ok();
    scene.thief.react(&scene.work, "done").await.ok();
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_channel_gets_its_work_back() {
    let scene = Scene::begin().await;
    scene.thief.react(&scene.work, "in_progress").await.ok();
    scene.thief.react(&scene.work, "reject").await.ok();
    // Neither a stranger nor an agent of the owner takes it away.
    let bob = scene.hub.human("bob").await;
    for other in [&bob.client, &scene.worker.client] {
        other.delete(&scene.remove("thief", "in_progress")).await.problem(403, "forbidden");
    }
    // A person of the channel takes away a claim, and nothing else.
    bob.call("POST", "/api/channels/board/join").await.ok();
    bob.delete(&scene.remove("thief", "reject")).await.problem(403, "forbidden");
    bob.delete(&scene.remove("thief", "in_progress")).await.ok();
    bob.delete(&scene.remove("thief", "in_progress")).await.problem(404, "not_found");
    bob.delete(&scene.remove("nobody", "in_progress")).await.problem(404, "not_found");
    // The owner takes away anything.
    scene.ada.delete(&scene.remove("@thief", "reject")).await.ok();
    assert_eq!(scene.state().await, "proposed");
    scene.worker.react(&scene.work, "in_progress").await.ok();
    let removals: Vec<_> =
        scene.hub.audit().await.into_iter().filter(|entry| entry["action"] == "reaction.removed").collect();
    assert_eq!(removals.len(), 2);
    scene.hub.finish().await;
}

#[tokio::test]
async fn nobody_fills_a_message_with_reactions() {
    let scene = Scene::begin().await;
    let mut agents = vec![scene.thief];
    for number in 1..=3 {
        agents.push(scene.eve.agent(&format!("thief{number}")).await);
    }
    let (mut taken, mut refused) = (0, 0);
    for agent in &agents {
        for reaction in ["reject", "done", "approve"] {
            let reply = agent.react(&scene.work, reaction).await;
            match reply.code() {
                200 => taken += 1,
                409 => {
                    refused += 1;
                    reply.problem(409, "too_many_reactions");
                }
                403 => {
                    // Without trust nobody approves here.
                    reply.problem(403, "trust_too_low");
                }
                other => panic!("{other}"),
            }
        }
    }
    for reaction in ["approve", "reject", "done", "published"] {
        let reply = scene.eve.react(&scene.work, reaction).await;
        if reply.code() == 200 { taken += 1 } else { refused += 1 }
    }
    assert_eq!((taken, refused), (10, 2));
    scene.ada.react(&scene.work, "approve").await.ok();
    scene.hub.finish().await;
}

#[tokio::test]
async fn who_is_taken_out_loses_their_claims_and_stays_out() {
    let scene = Scene::begin().await;
    let spare = scene.eve.agent("spare").await;
    let second = scene.ada.propose("board", "and this").await;
    scene.eve.call("POST", "/api/channels/board/join").await.ok();
    scene.thief.say("board", "hello").await;
    scene.thief.react(&scene.work, "in_progress").await.ok();
    // It works here without being a member.
    spare.react(&second, "in_progress").await.ok();
    scene.ada.delete("/api/channels/board/members/eve").await.status(204);
    assert_eq!(scene.state().await, "proposed");
    assert_eq!(scene.ada.message(&second).await["workflow_state"], "proposed");
    for out in [&scene.eve.client, &scene.thief.client, &spare.client] {
        out.call("POST", "/api/channels/board/join").await.problem(403, "removed_from_channel");
        let post = json!({"channel": "board", "body": "let me in"});
        out.post("/api/messages", &post).await.problem(403, "removed_from_channel");
        out.react(&scene.work, "in_progress").await.problem(403, "removed_from_channel");
    }
    for name in ["eve", "thief"] {
        let add = format!("/api/channels/board/members/{name}");
        scene.eve.call("PUT", &add).await.problem(403, "removed_from_channel");
    }
    assert_eq!(scene.ada.members("board").await, ["ada"]);
    scene.ada.add_member("board", "eve").await.ok();
    scene.thief.say("board", "again").await;
    scene.thief.react(&scene.work, "in_progress").await.ok();

    // One agent alone: its owner stays, and cannot bring it back.
    scene.ada.delete("/api/channels/board/members/thief").await.status(204);
    assert_eq!(scene.state().await, "proposed");
    scene.eve.call("PUT", "/api/channels/board/members/thief").await.problem(403, "removed_from_channel");
    scene.eve.say("board", "still here").await;
    // Who leaves by themselves may come back.
    scene.eve.call("POST", "/api/channels/board/leave").await.status(204);
    scene.eve.call("POST", "/api/channels/board/join").await.ok();
    scene.hub.finish().await;
}

#[tokio::test]
async fn an_approval_can_be_taken_back_after_the_message_was_deleted() {
    let scene = Scene::begin().await;
    let said = scene.worker.propose("board", "please").await;
    scene.ada.react(&said, "approve").await.ok();
    let trust = async || scene.ada.get("/api/trust/worker").await.ok().json()[0]["score"].clone();
    assert_eq!(trust().await, 0.05);
    scene.worker.take_back(&said).await.status(204);
    scene.ada.react(&said, "reject").await.problem(409, "message_deleted");
    scene.ada.unreact(&said, "approve").await.ok();
    assert_ne!(trust().await, 0.05);
    scene.ada.react(&said, "approve").await.problem(409, "message_deleted");
    scene.hub.finish().await;
}

/// In a public channel everybody reacts without joining, and who left may come back.
#[tokio::test]
async fn an_owner_keeps_out_who_is_no_member() {
    let scene = Scene::begin().await;
    scene.thief.react(&scene.work, "in_progress").await.ok();
    // Who does not answer for the channel finds no such member.
    scene.thief.delete("/api/channels/board/members/ada-not").await.problem(404, "not_found");
    scene.eve.delete("/api/channels/board/members/worker").await.problem(404, "not_found");
    scene.worker.delete("/api/channels/board/members/eve").await.problem(404, "not_found");
    for _ in 0..2 {
        scene.ada.delete("/api/channels/board/members/eve").await.status(204);
    }
    assert_eq!(scene.state().await, "proposed");
    for out in [&scene.eve.client, &scene.thief.client] {
        out.call("POST", "/api/channels/board/join").await.problem(403, "removed_from_channel");
        out.react(&scene.work, "in_progress").await.problem(403, "removed_from_channel");
    }
    // Not themselves, and not their own agents.
    scene.ada.delete("/api/channels/board/members/worker").await.problem(404, "not_found");
    scene.ada.add_member("board", "thief").await.problem(403, "removed_from_channel");
    scene.ada.add_member("board", "eve").await.ok();
    scene.thief.react(&scene.work, "in_progress").await.ok();
    // What they wrote before stays as it is.
    let said = scene.eve.say("board", "hello").await;
    scene.ada.delete("/api/channels/board/members/eve").await.status(204);
    scene.eve.edit(&said, "@worker come here").await.problem(403, "removed_from_channel");
    scene.eve.take_back(&said).await.status(204);
    scene.hub.finish().await;
}

#[tokio::test]
async fn an_owner_brings_their_own_agent_back() {
    let scene = Scene::begin().await;
    scene.ada.add_member("board", "worker").await.ok();
    scene.hub.admin().await.delete("/api/channels/board/members/worker").await.status(204);
    scene.worker.call("POST", "/api/channels/board/join").await.problem(403, "removed_from_channel");
    scene.ada.add_member("board", "worker").await.ok();
    scene.worker.react(&scene.work, "in_progress").await.ok();
    scene.hub.finish().await;
}

/// Claims elsewhere, however many and however new, do not keep one here.
#[tokio::test]
async fn claims_end_however_many_others_there_are() {
    let scene = Scene::begin().await;
    scene.thief.say("board", "hello").await;
    scene.thief.react(&scene.work, "in_progress").await.ok();
    scene.eve.make_channel(json!({"name": "elsewhere"})).await;
    let other = scene.eve.say("elsewhere", "mine").await;
    let thief = scene.hub.count("select id as n from principals where handle = 'thief'").await;
    let (work, channel) = (other["id"].as_i64().unwrap(), other["conversation_id"].as_i64().unwrap());
    let filled = scene.hub.inner().write(move |tx| {
        tx.execute(
            "with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1100)
             insert into messages (conversation_id, channel_id, author_id, body, status, priority, metadata, mentions, depth,
                 workflow_state, created_at)
             select $1, m.channel_id, m.author_id, 'x', 'pending', 5, '{}', '[]', 0, 'in_progress', 0
             from numbers join messages m on m.id = $2",
            stoa_db::params![channel, work],
        )?;
        tx.execute(
            "insert into reactions (message_id, principal_id, reaction, metadata, is_by_person, created_at)
             select id, $1, 'in_progress', '{}', 0, 0 from messages where body = 'x'",
            stoa_db::params![thief],
        )
    });
    let filled: Result<u64, stoa_db::DbError> = filled.await;
    assert_eq!(filled.unwrap(), 1100);
    scene.ada.delete("/api/channels/board/members/thief").await.status(204);
    assert_eq!(scene.state().await, "proposed");
    scene.hub.finish().await;
}
