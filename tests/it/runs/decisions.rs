//! What becomes of a message to an agent: the chain, what waits, and what is read again about it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ended, reactive, run_of, running, script, scripted};
use crate::support::{Client, DAY, HOUR, Human, TestHub, each, eventually};

/// What a message to an agent has set in motion, as its answer says and as it is read again.
async fn decision(from: &Client, to: &str, body: &str) -> (String, Option<String>) {
    let sent = from.dm(to, body).await;
    let delivery = sent["delivery"][0].clone();
    let again = from.get(&format!("/api/messages/{}/delivery", sent["id"])).await.ok().json();
    assert_eq!(again["items"][0]["state"], delivery["state"]);
    assert_eq!(again["items"][0]["reason"], delivery["reason"]);
    (delivery["state"].as_str().unwrap().to_owned(), delivery["reason"].as_str().map(str::to_owned))
}

fn not_woken(reason: &str) -> (String, Option<String>) {
    ("not_woken".to_owned(), Some(reason.to_owned()))
}

fn woken() -> (String, Option<String>) {
    ("woken".to_owned(), None)
}

async fn set(owner: &Human, agent: &str, changes: Value) {
    owner.patch(&format!("/api/agents/{agent}"), &changes).await.ok();
}

#[tokio::test]
async fn each_reason_is_said_and_stored() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let bob = hub.human("bob").await;
    scripted(&ada, "scribe", "true").await;
    let sent = ada.send(json!({"to": "scribe", "body": "Later.", "no_wake": true})).await;
    assert_eq!(sent["delivery"][0]["reason"], "no_wake");
    ada.post("/api/automation/stop", &json!({})).await.ok();
    assert_eq!(decision(&ada, "scribe", "x").await, not_woken("acting_off"));
    ada.post("/api/automation/resume", &json!({})).await.ok();
    ada.post("/api/agents/scribe/pause", &json!({})).await.ok();
    assert_eq!(decision(&ada, "scribe", "x").await, not_woken("paused"));
    ada.post("/api/agents/scribe/resume", &json!({})).await.ok();
    set(&ada, "scribe", json!({"trigger_mode": "passive"})).await;
    assert_eq!(decision(&ada, "scribe", "x").await, not_woken("passive"));
    set(&ada, "scribe", json!({"trigger_mode": "disabled"})).await;
    assert_eq!(decision(&ada, "scribe", "x").await, not_woken("disabled"));
    set(&ada, "scribe", json!({"trigger_mode": "reactive"})).await;
    // Programs run with the hub's rights, so only the owner's side starts this one.
    assert_eq!(decision(&bob, "scribe", "x").await, not_woken("sender"));
    set(&ada, "scribe", json!({"max_trigger_depth": 0})).await;
    assert_eq!(decision(&ada, "scribe", "x").await, not_woken("depth"));
    set(&ada, "scribe", json!({"max_trigger_depth": 4, "budget": {"runs_per_day": 1}})).await;
    let first = ada.dm("scribe", "x").await;
    ended(&ada, run_of(&first)).await;
    assert_eq!(decision(&ada, "scribe", "x").await, not_woken("budget"));
    hub.advance(DAY);
    let ada = ada.again().await;
    assert_eq!(decision(&ada, "scribe", "x").await, woken());
    // Strangers see nothing of it.
    let carol = hub.human("carol").await;
    carol.get(&format!("/api/messages/{}/delivery", first["id"])).await.problem(404, "not_found");
    hub.finish().await;
}

/// MCP says the same as REST, and the same is stored.
#[tokio::test]
async fn tools_say_what_is_stored() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let mut settings = reactive("scribe", script("true"));
    settings["cooldown_seconds"] = json!(30);
    ada.agent_with(settings).await;
    ada.agent("quiet").await;
    let bot = ada.agent("bot").await;
    let mut seen = Vec::new();
    for (to, body) in [("scribe", "Do this."), ("scribe", "And this."), ("scribe", "Thanks!"), ("quiet", "Do this.")] {
        let sent = bot.tool("send_message", json!({"to": to, "body": body})).await;
        let stored = bot.get(&format!("/api/messages/{}/delivery", sent["id"])).await.ok().json();
        assert_eq!(sent["delivery"], stored["items"], "{to}: {body}");
        seen.push((stored["items"][0]["state"].clone(), stored["items"][0]["reason"].clone()));
        hub.settle().await;
    }
    let expected = [
        ("woken", None),
        ("deferred", Some("cooldown")),
        ("not_woken", Some("damped")),
        ("not_woken", Some("passive")),
    ];
    assert_eq!(seen, expected.map(|(state, reason)| (json!(state), json!(reason))));
    let sent =
        bot.tool("send_channel_message", json!({"channel": "general", "body": "@scribe and @quiet, look."})).await;
    let stored = bot.get(&format!("/api/messages/{}/delivery", sent["id"])).await.ok().json();
    assert_eq!(sent["delivery"], stored["items"]);
    hub.finish().await;
}

/// Limits on what others may start: an agent that others may start, though its backend does not exist yet.
#[tokio::test]
async fn others_start_an_agent_within_limits() {
    let hub = TestHub::setup().configure(|config| config.runs.wakes_per_sender = 2).start().await;
    let ada = hub.human("ada").await;
    let bob = hub.human("bob").await;
    let elsewhere = json!({"backend": "webhook", "url": "https://example.com/run"});
    for number in 0..7 {
        ada.agent_with(reactive(&format!("open{number}"), elsewhere.clone())).await;
    }
    let bot = bob.agent("bot").await;
    assert_eq!(decision(&bot, "open0", "Hello there.").await, not_woken("sender"));
    set(&ada, "open0", json!({"trigger_allow": ["bob"]})).await;
    assert_eq!(decision(&bot, "open0", "Hello there.").await, woken());
    hub.settle().await;
    assert_eq!(decision(&bob, "open0", "x").await, woken());
    hub.settle().await;
    // A person and their agents count together.
    assert_eq!(decision(&bob, "open0", "x").await, not_woken("sender_limit"));
    assert_eq!(decision(&bot, "open0", "Hello there.").await, not_woken("sender_limit"));
    hub.advance(HOUR);
    assert_eq!(decision(&bob, "open0", "x").await, woken());
    hub.settle().await;
    set(&ada, "open1", json!({"budget": {"runs_per_day": 2}})).await;
    assert_eq!(decision(&bob, "open1", "x").await, woken());
    hub.settle().await;
    assert_eq!(decision(&bob, "open1", "x").await, not_woken("others_budget"));
    assert_eq!(decision(&ada, "open1", "x").await, woken());
    hub.settle().await;
    // One message wakes five agents of others, and calling everybody wakes nobody.
    hub.advance(DAY);
    let (ada, bob) = (ada.again().await, bob.again().await);
    let sent = bob.say("general", "@open0 @open1 @open2 @open3 @open4 @open5 @open6 look").await;
    let states = each(sent["delivery"].as_array().unwrap(), "state");
    assert_eq!(states.iter().filter(|state| **state == "woken").count(), 5, "{sent:#}");
    let reasons = each(sent["delivery"].as_array().unwrap(), "reason");
    assert_eq!(reasons.iter().filter(|reason| **reason == "fan_out").count(), 2);
    hub.settle().await;
    let sent = ada.say("general", "@channel look").await;
    let open: Vec<_> = sent["delivery"].as_array().unwrap().iter().filter(|one| one["recipient"] == "open2").collect();
    assert_eq!((&open[0]["state"], &open[0]["reason"]), (&json!("not_woken"), &json!("no_wake")));
    hub.finish().await;
}

/// An agent in a private channel with the other is heard there, and nowhere else.
#[tokio::test]
async fn agents_of_others_are_heard_in_private_channels() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let bob = hub.human("bob").await;
    let bot = bob.agent("bot").await;
    ada.agent_with(reactive("open", json!({"backend": "webhook", "url": "https://example.com/run"}))).await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    for name in ["open", "bob", "bot"] {
        ada.add_member("den", name).await;
    }
    let public = bot.say("general", "@open look at this").await;
    assert_eq!(public["delivery"][0]["reason"], "sender");
    let private = bot.say("den", "@open look at this").await;
    assert_eq!(private["delivery"][0]["state"], "woken", "{private:#}");
    hub.finish().await;
}

/// What waits is covered by one run, and each message says by which.
#[tokio::test]
async fn one_run_covers_what_waited() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let mut settings = reactive("scribe", script("cat; echo; cat message.json"));
    settings["cooldown_seconds"] = json!(30);
    ada.agent_with(settings).await;
    let first = ada.dm("scribe", "one").await;
    ended(&ada, run_of(&first)).await;
    let mut waiting = Vec::new();
    for text in ["two", "three", "four"] {
        let sent = ada.dm("scribe", text).await;
        assert_eq!(sent["delivery"][0], json!({"recipient": "scribe", "state": "deferred", "reason": "cooldown"}));
        waiting.push(sent);
    }
    let agent = ada.get("/api/agents/scribe").await.ok().json();
    assert_eq!(agent["pending_work"], true);
    // A message that is deleted waits for nothing.
    ada.take_back(&waiting[1]).await.ok();
    hub.advance(Duration::from_secs(29));
    hub.settle().await;
    assert_eq!(ada.get("/api/runs").await.ok().json()["total"], 1);
    hub.advance(Duration::from_secs(2));
    eventually("there is a second run", async || ada.get("/api/runs").await.ok().json()["total"] == 2).await;
    let second = ada.get("/api/runs").await.ok().json()["items"][0]["id"].as_i64().unwrap();
    let second = ended(&ada, second).await;
    assert_eq!(second["covered_message_ids"], json!([waiting[0]["id"], waiting[2]["id"]]));
    assert_eq!(second["run"]["trigger_message_id"], waiting[2]["id"]);
    let response = second["harness_run"]["response"].as_str().unwrap();
    assert!(response.contains("two") && response.contains("four") && !response.contains("three"), "{response}");
    for sent in [&waiting[0], &waiting[2]] {
        let delivery = ada.get(&format!("/api/messages/{}/delivery", sent["id"])).await.ok().json();
        assert_eq!(delivery["items"][0]["run_id"], second["run"]["id"]);
        assert_eq!(ada.message(sent).await["status"], "done");
    }
    assert_eq!(ada.get("/api/agents/scribe").await.ok().json()["pending_work"], false);
    hub.finish().await;
}

/// The owner's messages and those of others never share a run.
#[tokio::test]
async fn what_waits_is_run_apart_by_whose_it_is() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let bob = hub.human("bob").await;
    let mut settings = reactive("open", json!({"backend": "webhook", "url": "https://example.com/run"}));
    settings["cooldown_seconds"] = json!(30);
    ada.agent_with(settings).await;
    ada.dm("open", "begin").await;
    hub.settle().await;
    let mut sent = Vec::new();
    for (from, text) in [(&ada, "a"), (&bob, "b"), (&ada, "c"), (&bob, "d")] {
        sent.push(from.dm("open", text).await);
    }
    for _ in 0..2 {
        hub.advance(Duration::from_secs(31));
        hub.settle().await;
    }
    let runs = ada.get("/api/runs").await.ok().json();
    assert_eq!(each(runs["items"].as_array().unwrap(), "foreign"), [true, false, false]);
    let of = async |id: &Value| super::details(&ada, id.as_i64().unwrap()).await["covered_message_ids"].clone();
    assert_eq!(of(&runs["items"][1]["id"]).await, json!([sent[0]["id"], sent[2]["id"]]));
    assert_eq!(of(&runs["items"][0]["id"]).await, json!([sent[1]["id"], sent[3]["id"]]));
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_has_one_run_at_a_time() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "while [ ! -e $HOME/go ]; do sleep 0.02; done; echo done").await;
    let first = ada.dm("scribe", "one").await;
    running(&ada, run_of(&first)).await;
    let second = ada.dm("scribe", "two").await;
    assert_eq!(second["delivery"][0], json!({"recipient": "scribe", "state": "deferred", "reason": "sequential"}));
    let reactive = ada.get("/api/agents/reactive").await.ok().json();
    assert_eq!(reactive["items"][0]["waiting"], 1);
    assert_eq!(reactive["items"][0]["run"]["id"], run_of(&first));
    ada.post(&format!("/api/runs/{}/retry", run_of(&first)), &json!({})).await.problem(409, "run_active");
    let home = super::home_of_run(&hub).await;
    std::fs::write(home.join("go"), "").unwrap();
    ended(&ada, run_of(&first)).await;
    eventually("the second run has ended", async || {
        let runs = ada.get("/api/runs?status=succeeded").await.ok().json();
        runs["total"] == 2
    })
    .await;
    hub.finish().await;
}

/// Two agents that answer one another come to an end.
#[tokio::test]
async fn agents_that_answer_one_another_come_to_an_end() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "ping", "echo 'What about this one?'").await;
    scripted(&ada, "pong", "echo 'And what about that one?'").await;
    // With its own key and without a reply, an agent that runs is as deep as its run.
    let send = "curl -s -H \"Authorization: Bearer $STOA_MCP_KEY\" -H 'Content-Type: application/json' \
                -d '{\"to\": \"pong\", \"body\": \"Your turn.\"}' $STOA_URL/api/messages";
    scripted(&ada, "chain", send).await;
    ada.dm("chain", "Begin.").await;
    let settled = async || {
        hub.settle().await;
        let runs = ada.get("/api/runs?status=queued,running").await.ok().json();
        runs["total"] == 0
    };
    eventually("everything has come to an end", settled).await;
    let runs = ada.get("/api/runs").await.ok().json();
    let depths: Vec<i64> = runs["items"].as_array().unwrap().iter().map(|run| run["depth"].as_i64().unwrap()).collect();
    assert_eq!(depths, [3, 2, 1, 0], "{runs:#}");
    hub.finish().await;
}

#[tokio::test]
async fn a_bare_acknowledgement_of_an_agent_wakes_nobody() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "true").await;
    let bot = ada.agent("bot").await;
    assert_eq!(decision(&bot, "scribe", "Thanks!").await, not_woken("damped"));
    assert_eq!(decision(&bot, "scribe", "Thanks, now do the next one.").await, woken());
    hub.settle().await;
    assert_eq!(decision(&ada, "scribe", "ok").await, woken());
    hub.settle().await;
    set(&ada, "scribe", json!({"max_round_trips": 2})).await;
    for _ in 0..2 {
        assert_eq!(decision(&bot, "scribe", "And this?").await, woken());
        hub.settle().await;
    }
    assert_eq!(decision(&bot, "scribe", "And this?").await, not_woken("damped"));
    assert_eq!(decision(&ada, "scribe", "Go on.").await, woken());
    hub.settle().await;
    assert_eq!(decision(&bot, "scribe", "And this?").await, woken());
    hub.finish().await;
}

#[tokio::test]
async fn a_check_says_what_would_happen_and_starts_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let bob = hub.human("bob").await;
    scripted(&ada, "scribe", "true").await;
    let check = async |request: Value| ada.post("/api/agents/scribe/check", &request).await.ok().json();
    let free = check(json!({})).await;
    assert_eq!((&free["state"], &free["reason"]), (&json!("woken"), &json!(null)));
    assert!(free["steps"].as_array().unwrap().iter().all(|step| step["passed"] == true), "{free:#}");
    let foreign = check(json!({"from": "bob"})).await;
    assert_eq!((&foreign["state"], &foreign["reason"]), (&json!("not_woken"), &json!("sender")));
    ada.post("/api/agents/scribe/pause", &json!({})).await.ok();
    let paused = check(json!({})).await;
    assert_eq!((&paused["reason"], &paused["detail"]), (&json!("paused"), &json!("The agent is paused.")));
    assert_eq!(ada.get("/api/runs").await.ok().json()["total"], 0);
    ada.post("/api/agents/scribe/check", &json!({"from": "nobody-here"})).await.invalid(&["from"]);
    bob.post("/api/agents/scribe/check", &json!({})).await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn who_may_have_programs_is_said_when_they_are_set() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let refused = ada.post("/api/agents", &reactive("scribe", script("true"))).await;
    refused.problem(403, "subprocess_not_allowed");
    ada.agent("scribe").await;
    ada.patch("/api/agents/scribe", &json!({"harness": script("true")})).await.problem(403, "subprocess_not_allowed");
    // Who is no longer an administrator has agents that are no longer run.
    let bob = super::second_admin(&hub, "bob").await;
    scripted(&bob, "worker", "true").await;
    hub.operator().call("users.role", json!({"username": "bob", "role": "member"})).await;
    let bob = bob.again().await;
    assert_eq!(decision(&bob, "worker", "x").await, not_woken("subprocess_not_allowed"));
    let off =
        TestHub::setup().configure(|config| config.runs.subprocesses = stoa::config::Subprocesses::Off).start().await;
    let admin = off.admin().await;
    admin.post("/api/agents", &reactive("scribe", script("true"))).await.problem(403, "subprocess_not_allowed");
    hub.finish().await;
    off.finish().await;
}

/// A command is set after messages of others were let in: they do not start it.
#[tokio::test]
async fn a_command_is_not_started_by_what_others_wrote_before() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let bob = hub.human("bob").await;
    let mut settings = reactive("scribe", json!({"backend": "webhook", "url": "https://example.com/run"}));
    settings["cooldown_seconds"] = json!(30);
    ada.agent_with(settings).await;
    let failed = bob.dm("scribe", "one").await;
    hub.settle().await;
    let waiting = bob.dm("scribe", "two").await;
    assert_eq!(waiting["delivery"][0]["state"], "deferred");
    set(&ada, "scribe", json!({"harness": script("true")})).await;
    ada.post(&format!("/api/runs/{}/retry", run_of(&failed)), &json!({})).await.problem(409, "sender");
    hub.advance(Duration::from_secs(31));
    hub.settle().await;
    let delivery = bob.get(&format!("/api/messages/{}/delivery", waiting["id"])).await.ok().json();
    assert_eq!(
        (&delivery["items"][0]["state"], &delivery["items"][0]["reason"]),
        (&json!("not_woken"), &json!("sender"))
    );
    assert_eq!(ada.get("/api/runs").await.ok().json()["total"], 1);
    hub.finish().await;
}

#[tokio::test]
async fn names_that_start_an_agent_must_exist() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scribe").await;
    ada.patch("/api/agents/scribe", &json!({"trigger_allow": ["nobody-here"]})).await.invalid(&["trigger_allow"]);
    ada.patch("/api/agents/scribe", &json!({"trigger_from": "anybody"})).await.invalid(&["trigger_from"]);
    ada.patch("/api/agents/scribe", &json!({"budget": {"others_percent": 101}}))
        .await
        .invalid(&["budget.others_percent"]);
    let template = json!({"backend": "webhook", "url": "https://example.com", "prompt_template": "{{message.secret}}"});
    ada.patch("/api/agents/scribe", &json!({"harness": template})).await.invalid(&["harness.prompt_template"]);
    hub.finish().await;
}
