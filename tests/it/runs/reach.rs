//! What a run reaches that others have started: the conversation of its message, public channels, and the owner.

use std::time::Duration;

use serde_json::{Value, json};

use super::{reactive, run_of};
use crate::support::{Agent, Client, Human, TestHub, each, eventually, items};
use crate::webhooks::receiver::{Received, Receiver};

/// A hub whose agents can run elsewhere, on this machine.
pub(super) async fn start() -> TestHub {
    let settings = |config: &mut stoa::config::Config| {
        config.allow_http_webhooks = true;
        config.outbound_allow = vec!["127.0.0.0/8".parse().unwrap()];
        // The clock stands still, and the tables are long.
        config.runs.calls_per_minute = 0;
    };
    TestHub::setup().configure(settings).start().await
}

/// An agent of the owner, and what strangers must not learn through it.
pub(super) struct World {
    pub(super) hub: TestHub,
    /// Where the agent runs. It takes each run on.
    receiver: Receiver,
    pub(super) ada: Human,
    pub(super) bob: Human,
    pub(super) carol: Human,
    pub(super) scribe: Agent,
    /// A message in a private channel of the owner, with a file.
    pub(super) post: Value,
    pub(super) sha256: String,
    /// A message in a public channel.
    pub(super) news: Value,
    /// Messages to the agent, of somebody else and of the owner.
    pub(super) of_carol: Value,
    pub(super) of_ada: Value,
    /// A message in a private channel that the agent does not see.
    pub(super) hidden: Value,
}

impl World {
    pub(super) async fn make() -> Self {
        let hub = start().await;
        let ada = hub.admin().await;
        let (bob, carol) = (hub.human("bob").await, hub.human("carol").await);
        let receiver = Receiver::start().await;
        receiver.always_answer(202);
        let scribe = ada.agent_with(reactive("scribe", json!({"backend": "webhook", "url": receiver.url}))).await;
        ada.make_channel(json!({"name": "vault", "public": false})).await;
        ada.add_member("vault", "scribe").await.ok();
        let sha256 = ada.uploaded("plan.txt", b"vault-secret in a file").await;
        let post = ada.send(json!({"channel": "vault", "body": "vault-secret", "attachments": [sha256]})).await;
        ada.make_channel(json!({"name": "news"})).await;
        let news = ada.say("news", "It is raining.").await;
        let quiet =
            async |from: &Human, body: &str| from.send(json!({"to": "scribe", "body": body, "no_wake": true})).await;
        let of_carol = quiet(&carol, "carol-secret").await;
        let of_ada = quiet(&ada, "ada-secret").await;
        carol.make_channel(json!({"name": "carols", "public": false})).await;
        let hidden = carol.say("carols", "carol-secret").await;
        // What comes next is later than all this.
        hub.advance(Duration::from_secs(60));
        Self { hub, receiver, ada, bob, carol, scribe, post, sha256, news, of_carol, of_ada, hidden }
    }

    /// What the run that a message started calls the hub with.
    pub(super) async fn program_of(&self, sent: &Value) -> Client {
        let is_its = |received: &Received| received.body["data"]["run_id"] == run_of(sent);
        eventually("the token is there", async || self.receiver.all().iter().any(is_its)).await;
        let received = self.receiver.all().into_iter().find(is_its).unwrap();
        self.hub.nobody().bearer(received.body["data"]["token"].as_str().unwrap())
    }

    /// Ends the run.
    pub(super) async fn end(&self, sent: &Value, program: &Client) {
        program.post(&format!("/api/runs/{}/result", run_of(sent)), &json!({})).await.ok();
    }

    /// Bob writes to the agent and so starts a run.
    pub(super) async fn started_by_bob(&self) -> (Value, Client) {
        let sent = self.bob.dm("scribe", "What is new in the vault?").await;
        let program = self.program_of(&sent).await;
        (sent, program)
    }
}

/// Whether a text shows what the stranger must not learn.
pub(super) fn shows_secret(text: &str) -> bool {
    ["vault-secret", "carol-secret", "ada-secret"].iter().any(|secret| text.contains(secret))
}

#[tokio::test]
async fn a_run_of_a_stranger_works_in_its_conversation() {
    let world = World::make().await;
    let World { ada, bob, .. } = &world;
    let (sent, program) = world.started_by_bob().await;
    assert_eq!(each(&program.inbox().await, "id"), [sent["id"].clone()]);
    let status = program.tool("my_status", json!({})).await;
    assert_eq!((&status["name"], &status["pending"]), (&json!("scribe"), &json!(1)));
    let tools = program.tool_names("/mcp").await;
    assert!(!tools.iter().any(|tool| ["create_channel", "join_channel", "list_runs"].contains(&tool.as_str())));
    let page = program.get("/api/dm/bob/messages").await.ok().json();
    assert_eq!(each(page["items"].as_array().unwrap(), "id"), [sent["id"].clone()]);
    program.post(&format!("/api/messages/{}/reactions", sent["id"]), &json!({"reaction": "done"})).await.ok();
    let reply = json!({"to": "bob", "body": "Let me see.", "reply_to": sent["id"]});
    assert_eq!(program.send(reply).await["reply_to"], sent["id"]);

    // It writes to the owner. What the owner writes is for a run of the owner, whatever it is about.
    let question = program.dm("admin", "May I tell bob?").await;
    assert_eq!(program.message(&question).await["body"], "May I tell bob?");
    let answer = ada.send(json!({"to": "scribe", "body": "The password is hunter2.", "no_wake": true})).await;
    let news = program.tool("wait_for_messages", json!({"timeout_seconds": 1})).await;
    assert!(!news.to_string().contains("hunter2"), "{news}");
    program.get(&format!("/api/messages/{}", answer["id"])).await.problem(403, "outside_run_reach");
    program.settle(&answer, "done", json!({})).await.problem(403, "outside_run_reach");
    assert_eq!(each(&program.claim(json!({"limit": 10})).await, "id"), [sent["id"].clone()]);
    program.settle(&sent, "done", json!({"result": "There is nothing for you."})).await.ok();
    let page = bob.get("/api/dm/scribe/messages").await.ok().json();
    let texts = each(page["items"].as_array().unwrap(), "body");
    assert_eq!(texts, ["What is new in the vault?", "Let me see.", "There is nothing for you."]);
    world.end(&sent, &program).await;
    world.hub.finish().await;
}

#[tokio::test]
async fn a_run_by_a_mention_reaches_that_channel() {
    let world = World::make().await;
    let World { bob, .. } = &world;
    bob.make_channel(json!({"name": "team", "public": false})).await;
    bob.add_member("team", "scribe").await.ok();
    let sha256 = bob.uploaded("note.txt", b"for the team").await;
    let earlier = bob.send(json!({"channel": "team", "body": "The plan.", "attachments": [sha256]})).await;
    bob.send(json!({"to": "scribe", "body": "Only between us.", "no_wake": true})).await;
    let sent = bob.say("team", "@scribe read the plan, please.").await;
    let program = world.program_of(&sent).await;

    let inbox = program.inbox().await;
    assert_eq!(inbox[0]["metadata"]["mention"]["message_id"], sent["id"]);
    assert_eq!(inbox.len(), 1);
    let copy = program.get(&format!("/api/messages/{}", inbox[0]["id"])).await.ok().json();
    assert_eq!(copy["body"], sent["body"]);
    assert_eq!(
        each(&items(program.get("/api/channels/team/messages").await), "id"),
        [&earlier, &sent].map(|m| m["id"].clone())
    );
    program.download(&sha256).await.ok();
    let channels = each(&program.list("/api/channels").await, "name");
    assert_eq!(channels, ["general", "news", "team"]);
    let known = each(&program.list("/api/directory").await, "name");
    assert_eq!(known, ["admin", "bob", "scribe"]);

    program.reply("team", &sent, "I have read it.").await;
    program.get("/api/dm/bob/messages").await.problem(403, "outside_run_reach");
    program.post("/api/messages", &json!({"to": "bob", "body": "x"})).await.problem(403, "outside_run_reach");
    // What it says when it is done stays in the channel.
    let settled = program.settle(&inbox[0], "done", json!({"result": "Done."})).await.ok().json();
    assert_eq!(bob.message(&json!({"id": settled["reply_id"]})).await["channel"], "team");

    // Who takes the agent out of the channel takes its run out.
    bob.delete("/api/channels/team/members/scribe").await.ok();
    program.get("/api/channels/team/messages").await.problem(404, "not_found");
    program.get(&format!("/api/messages/{}", earlier["id"])).await.problem(404, "not_found");
    program.download(&sha256).await.problem(404, "not_found");
    world.end(&sent, &program).await;
    world.hub.finish().await;
}

#[tokio::test]
async fn the_owner_can_let_runs_of_others_reach_more() {
    let world = World::make().await;
    let World { ada, scribe, post, .. } = &world;
    let (sent, program) = world.started_by_bob().await;
    let path = format!("/api/messages/{}", post["id"]);
    program.get(&path).await.problem(403, "outside_run_reach");
    let set = async |reach: &str| ada.patch("/api/agents/scribe", &json!({"foreign_reach": reach})).await;
    set("agent").await.ok();
    assert_eq!(program.get(&path).await.ok().json()["body"], "vault-secret");
    program.say("vault", "I was here.").await;
    program.get("/api/runs").await.ok();
    set("conversation").await.ok();
    program.get(&path).await.problem(403, "outside_run_reach");
    program.post("/api/messages", &json!({"channel": "vault", "body": "x"})).await.problem(403, "outside_run_reach");
    set("everything").await.invalid(&["foreign_reach"]);
    assert_eq!(scribe.get("/api/agents/scribe").await.ok().json()["foreign_reach"], "conversation");
    world.end(&sent, &program).await;
    // Runs of the owner reach what the agent reaches.
    let sent = ada.dm("scribe", "What is new in the vault?").await;
    let program = world.program_of(&sent).await;
    assert_eq!(program.get(&path).await.ok().json()["body"], "vault-secret");
    world.end(&sent, &program).await;
    world.hub.finish().await;
}

/// A run that reaches one conversation must not cover what was said in another.
#[tokio::test]
async fn messages_of_several_strangers_do_not_share_a_run() {
    let hub = start().await;
    let ada = hub.human("ada").await;
    let (bob, carol) = (hub.human("bob").await, hub.human("carol").await);
    let receiver = Receiver::start().await;
    receiver.say("{}");
    let mut settings = reactive("open", json!({"backend": "webhook", "url": receiver.url}));
    settings["cooldown_seconds"] = json!(30);
    ada.agent_with(settings).await;
    let covered = async || -> Vec<Value> {
        hub.settle().await;
        let mut covered = Vec::new();
        for run in ada.get("/api/runs").await.ok().json()["items"].as_array().unwrap() {
            covered.push(super::details(&ada, run["id"].as_i64().unwrap()).await["covered_message_ids"].clone());
        }
        covered
    };
    let mut expected = Vec::new();
    for reach in ["conversation", "agent"] {
        ada.patch("/api/agents/open", &json!({"foreign_reach": reach})).await.ok();
        let begin = ada.dm("open", "begin").await;
        hub.settle().await;
        expected.insert(0, json!([begin["id"]]));
        let mut sent = Vec::new();
        for (from, text) in [(&bob, "b"), (&carol, "c"), (&bob, "d")] {
            sent.push(from.dm("open", text).await["id"].clone());
        }
        for _ in 0..3 {
            hub.advance(Duration::from_secs(31));
            hub.settle().await;
        }
        if reach == "conversation" {
            expected.insert(0, json!([sent[0], sent[2]]));
            expected.insert(0, json!([sent[1]]));
        } else {
            expected.insert(0, json!(sent));
        }
        assert_eq!(covered().await, expected);
    }
    hub.finish().await;
}
