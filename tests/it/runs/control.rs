//! Cancelling runs, the switch that stops everything, and what becomes of runs whose agent may no longer run.

use serde_json::{Value, json};

use super::{details, ended, is_alive, notices, reactive, run_of, running, script, scripted, status};
use crate::support::{Human, KEY, TestHub, each, eventually, on_postgres};

/// Runs until somebody ends it, and does not want to.
const STUBBORN: &str = "trap '' TERM; touch $HOME/began; while :; do sleep 0.05; done";
/// Ends when it is asked to.
const WILLING: &str = "touch $HOME/began; while :; do sleep 0.05; done";

#[tokio::test]
async fn a_run_is_cancelled_and_nothing_of_it_is_left() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let bob = hub.human("bob").await;
    scripted(&ada, "scribe", WILLING).await;
    let sent = ada.dm("scribe", "Go.").await;
    let run = run_of(&sent);
    running(&ada, run).await;
    bob.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.problem(404, "not_found");
    ada.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.ok();
    let ended = ended(&ada, run).await;
    assert_eq!((&ended["run"]["status"], &ended["run"]["reason"]), (&json!("cancelled"), &json!("by_owner")));
    ada.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.problem(409, "run_finished");
    // It is neither done nor failed: the message is as it was.
    let message = ada.message(&sent).await;
    assert_eq!((&message["reactions"], &message["status"]), (&json!([]), &json!("pending")));
    assert_eq!(notices(&ada).await, Vec::<String>::new());
    let mark = hub.folder().with_file_name("runs").display().to_string();
    eventually("no process is left", async || !is_alive(&mark)).await;
    hub.finish().await;
}

#[tokio::test]
async fn a_run_that_waits_for_its_turn_is_cancelled_at_once() {
    let hub = TestHub::setup().configure(|config| config.runs.workers = 1).start().await;
    let ada = hub.admin().await;
    scripted(&ada, "one", WILLING).await;
    scripted(&ada, "two", "true").await;
    let first = run_of(&ada.dm("one", "Go.").await);
    running(&ada, first).await;
    let second = run_of(&ada.dm("two", "Go.").await);
    let cancelled = ada.post(&format!("/api/runs/{second}/cancel"), &json!({})).await.ok().json();
    assert_eq!((&cancelled["status"], &cancelled["started_at"]), (&json!("cancelled"), &json!(null)));
    ada.post(&format!("/api/runs/{first}/cancel"), &json!({})).await.ok();
    ended(&ada, first).await;
    hub.finish().await;
}

/// Who may not run any longer is stopped, whether the run waits or is under way.
#[tokio::test]
async fn pausing_deleting_and_disabling_end_runs() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let bob = super::second_admin(&hub, "bob").await;
    for name in ["paused", "deleted"] {
        scripted(&ada, name, WILLING).await;
    }
    let paused = run_of(&ada.dm("paused", "Go.").await);
    let deleted = run_of(&ada.dm("deleted", "Go.").await);
    running(&ada, paused).await;
    running(&ada, deleted).await;
    ada.post("/api/agents/paused/pause", &json!({})).await.ok();
    ada.delete("/api/agents/deleted").await.ok();
    assert_eq!(ended(&ada, paused).await["run"]["reason"], "paused");
    assert_eq!(ended(&ada, deleted).await["run"]["reason"], "agent_deleted");
    scripted(&bob, "worker", WILLING).await;
    let run = run_of(&bob.dm("worker", "Go.").await);
    running(&bob, run).await;
    hub.operator().call("users.disable", json!({"username": "bob"})).await;
    let shown = async || hub.operator().call("runs.show", json!({"id": run})).await;
    eventually("it has ended", async || shown().await["run"]["reason"] == "owner_disabled").await;
    hub.finish().await;
}

#[tokio::test]
async fn a_message_that_is_deleted_before_its_run_begins_is_not_run() {
    let hub = TestHub::setup().configure(|config| config.runs.workers = 1).start().await;
    let ada = hub.admin().await;
    scripted(&ada, "one", WILLING).await;
    scripted(&ada, "two", "true").await;
    let first = run_of(&ada.dm("one", "Go.").await);
    running(&ada, first).await;
    let sent = ada.dm("two", "Go.").await;
    ada.take_back(&sent).await.ok();
    ada.post(&format!("/api/runs/{first}/cancel"), &json!({})).await.ok();
    let ended = ended(&ada, run_of(&sent)).await;
    assert_eq!((&ended["run"]["status"], &ended["run"]["reason"]), (&json!("cancelled"), &json!("message_deleted")));
    hub.finish().await;
}

async fn agents(owner: &Human, count: usize, text: &str) -> Vec<i64> {
    let mut runs = Vec::new();
    for number in 0..count {
        let name = format!("agent{number}");
        owner.agent_with(reactive(&name, script(text))).await;
        runs.push(run_of(&owner.dm(&name, "Go.").await));
    }
    runs
}

/// How many runs have a status.
async fn count(owner: &Human, status: &str) -> usize {
    let list = owner.get(&format!("/api/runs?limit=1&status={status}")).await.ok().json();
    usize::try_from(list["total"].as_u64().unwrap()).unwrap()
}

/// The switch ends what is running on all hubs, and nothing starts until it is lifted.
#[tokio::test]
async fn the_switch_stops_everything() {
    // Twenty at a time, on one hub or on two.
    let workers = if on_postgres() { 10 } else { 20 };
    let hub = TestHub::setup().key(KEY).configure(|config| config.runs.workers = workers).start().await;
    // A second hub takes its part where hubs can share a database.
    let second = if on_postgres() { Some(hub.beside().start().await) } else { None };
    let ada = hub.admin().await;
    let wanted = 20;
    let runs = agents(&ada, wanted + 4, WILLING).await;
    eventually("all places are taken", async || count(&ada, "running").await == wanted).await;
    let stopped = ada.post("/api/automation/stop", &json!({})).await.ok().json();
    assert_eq!((&stopped["stopped"], &stopped["queued_runs"]), (&json!(true), &json!(4)));
    eventually("all have ended", async || count(&ada, "cancelled").await == wanted).await;
    let mark = hub.folder().with_file_name("runs").display().to_string();
    eventually("no process is left", async || !is_alive(&mark)).await;
    // Nothing starts: neither what waited nor what comes now.
    let sent = ada.dm("agent0", "Again.").await;
    assert_eq!(sent["delivery"][0], json!({"recipient": "agent0", "state": "not_woken", "reason": "acting_off"}));
    hub.settle().await;
    assert_eq!(count(&ada, "queued").await, 4);
    ada.post(&format!("/api/runs/{}/retry", runs[0]), &json!({})).may_fail().await.problem(503, "acting_off");
    let view = ada.get("/api/automation").await.ok().json();
    assert_eq!(view["items"].as_array().unwrap().len(), wanted + 4);
    let resumed = ada.post("/api/automation/resume", &json!({})).await.ok().json();
    assert_eq!(resumed["stopped"], false);
    eventually("what waited is run", async || count(&ada, "running").await == 4).await;
    ada.post("/api/automation/stop", &json!({})).await.ok();
    eventually("all have ended", async || count(&ada, "cancelled").await == wanted + 4).await;
    if let Some(second) = second {
        second.finish().await;
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_waits_can_be_dropped() {
    let hub = TestHub::setup().configure(|config| config.runs.workers = 1).start().await;
    let ada = hub.admin().await;
    let runs = agents(&ada, 2, WILLING).await;
    running(&ada, runs[0]).await;
    let waiting = ada.dm("agent0", "And this.").await;
    assert_eq!(waiting["delivery"][0]["reason"], "sequential");
    ada.post("/api/automation/stop", &json!({})).await.ok();
    ended(&ada, runs[0]).await;
    ada.post("/api/automation/resume", &json!({"waiting": "drop"})).await.ok();
    assert_eq!(status(&ada, runs[1]).await, "cancelled");
    let delivery = ada.get(&format!("/api/messages/{}/delivery", waiting["id"])).await.ok().json();
    assert_eq!(delivery["items"][0], json!({"recipient": "agent0", "state": "not_woken", "reason": "acting_off"}));
    hub.settle().await;
    assert_eq!(ada.get("/api/runs").await.ok().json()["total"], 2);
    ada.post("/api/automation/resume", &json!({"waiting": "later"})).await.invalid(&["waiting"]);
    hub.finish().await;
}

#[tokio::test]
async fn the_operator_stops_everybody() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", WILLING).await;
    let run = run_of(&ada.dm("scribe", "Go.").await);
    running(&ada, run).await;
    let off = hub.operator().call("acting.off", json!({})).await;
    assert_eq!((&off["acting"], &off["reason"]), (&json!(false), &json!("operator")));
    assert_eq!(ended(&ada, run).await["run"]["reason"], "acting_off");
    assert_eq!(ada.get("/api/automation").await.ok().json()["hub_stopped"], true);
    // An owner cannot lift it.
    ada.post("/api/automation/resume", &json!({})).await.ok();
    assert_eq!(ada.dm("scribe", "Go.").await["delivery"][0]["reason"], "acting_off");
    assert_eq!(hub.operator().call("acting.on", json!({})).await["acting"], true);
    let again = run_of(&ada.dm("scribe", "Go.").await);
    running(&ada, again).await;
    ada.post(&format!("/api/runs/{again}/cancel"), &json!({})).await.ok();
    ended(&ada, again).await;
    hub.finish().await;
}

#[tokio::test]
async fn a_setting_keeps_a_hub_from_acting() {
    let hub = TestHub::setup().configure(|config| config.acting = false).start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "true").await;
    assert_eq!(ada.dm("scribe", "Go.").await["delivery"][0]["reason"], "acting_off");
    assert_eq!(hub.operator().call("acting.show", json!({})).await["reason"], "setting");
    hub.finish().await;
}

/// A hub that is stopped ends its runs; one that has done nothing yet begins again, once.
#[tokio::test]
async fn a_restart_repeats_what_has_done_nothing_yet() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let once = "echo began; test -e $HOME/before && exit 0; touch $HOME/before; while :; do sleep 0.05; done";
    scripted(&ada, "harmless", once).await;
    let mut harness = script(once);
    harness["tools"] = json!("shell");
    ada.agent_with(reactive("shell", harness)).await;
    let harmless = run_of(&ada.dm("harmless", "Go.").await);
    let shell = run_of(&ada.dm("shell", "Go.").await);
    for run in [harmless, shell] {
        eventually("it has begun", async || details(&ada, run).await["run"]["last_step"] == "began").await;
    }
    let hub = hub.stop().await.start().await;
    let ada = ada_again(&hub, &ada).await;
    let ended_harmless = ended(&ada, harmless).await;
    assert_eq!((&ended_harmless["run"]["status"], &ended_harmless["run"]["attempt"]), (&json!("succeeded"), &json!(2)));
    let ended_shell = ended(&ada, shell).await;
    assert_eq!(
        (&ended_shell["run"]["status"], &ended_shell["run"]["reason"]),
        (&json!("failed"), &json!("hub_restarted"))
    );
    hub.finish().await;
}

async fn ada_again(hub: &TestHub, ada: &Human) -> Human {
    Human::log_in(&hub.nobody(), &ada.name, &ada.password).await
}

/// A run that keeps ignoring SIGTERM is killed after ten seconds.
#[tokio::test]
async fn a_program_that_does_not_want_to_end_is_killed() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", STUBBORN).await;
    let run = run_of(&ada.dm("scribe", "Go.").await);
    running(&ada, run).await;
    ada.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.ok();
    let ended = ended(&ada, run).await;
    assert_eq!(ended["run"]["status"], "cancelled");
    let mark = hub.folder().with_file_name("runs").display().to_string();
    eventually("no process is left", async || !is_alive(&mark)).await;
    hub.finish().await;
}

/// A program that stops the process which looks after it ends all the same.
#[tokio::test]
async fn a_program_cannot_stop_its_supervisor() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "kill -STOP $PPID; echo stopped; sleep 1000").await;
    let run = run_of(&ada.dm("scribe", "Go.").await);
    eventually("it has stopped its supervisor", async || details(&ada, run).await["run"]["last_step"] == "stopped")
        .await;
    ada.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.ok();
    assert_eq!(ended(&ada, run).await["run"]["status"], "cancelled");
    let mark = hub.folder().with_file_name("runs").display().to_string();
    eventually("no process is left", async || !is_alive(&mark)).await;
    hub.finish().await;
}

#[tokio::test]
async fn runs_are_listed_by_agent_and_status() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "good", "true").await;
    scripted(&ada, "bad", "false").await;
    for name in ["good", "bad", "good"] {
        super::run(&ada, name, "Go.").await;
    }
    let list = async |query: &str| -> Vec<Value> {
        let page = ada.get(&format!("/api/runs{query}")).await.ok().json();
        each(page["items"].as_array().unwrap(), "agent")
    };
    assert_eq!(list("").await, ["good", "bad", "good"]);
    assert_eq!(list("?agent=bad").await, ["bad"]);
    assert_eq!(list("?status=succeeded").await, ["good", "good"]);
    assert_eq!(list("?status=failed,timed_out").await, ["bad"]);
    assert_eq!(list("?offset=1&limit=1").await, ["bad"]);
    assert_eq!(list("?agent=nobody").await, Vec::<Value>::new());
    ada.get("/api/runs?status=lost").await.invalid(&["status"]);
    ada.get("/api/runs?limit=0").await.invalid(&["limit"]);
    // Everybody sees their own.
    let bob = hub.human("bob").await;
    assert_eq!(bob.get("/api/runs").await.ok().json()["total"], 0);
    bob.get("/api/runs/1").await.problem(404, "not_found");
    // Messages are for those who may read messages.
    let (_, key) = ada.key("good", json!(["runs:read"])).await;
    let reader = hub.nobody().bearer(&key);
    let seen = reader.get("/api/runs").await.ok().json();
    assert_eq!((&seen["total"], &seen["items"][0]["trigger_preview"]), (&json!(2), &json!(null)));
    let seen = details(&reader, seen["items"][0]["id"].as_i64().unwrap()).await;
    assert_eq!((&seen["trigger_message"], &seen["harness_run"]["prompt"]), (&json!(null), &json!(null)));
    let good = ada.post("/api/agents/good/key", &json!({})).await.ok().json();
    let good = hub.nobody().bearer(good["key"].as_str().unwrap());
    assert_eq!(good.get("/api/runs").await.ok().json()["total"], 2);
    let listed = good.tool("list_runs", json!({"status": "succeeded"})).await;
    assert_eq!(listed["total"], 2);
    let run = good.tool("get_run", json!({"run_id": listed["items"][0]["id"]})).await;
    assert_eq!((&run["run"]["status"], &run["exit_code"]), (&json!("succeeded"), &json!(0)));
    let retried = good.post(&format!("/api/runs/{}/retry", listed["items"][0]["id"]), &json!({})).await.status(201);
    ended(&ada, retried.json()["id"].as_i64().unwrap()).await;
    hub.finish().await;
}
