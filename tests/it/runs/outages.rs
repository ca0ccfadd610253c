//! Outages of a model's provider: the run waits, and nobody is blamed.

use std::time::Duration;

use serde_json::{Value, json};

use super::{details, home_of_run, notices, reactive, run_of, status};
use crate::support::{Client, Human, Setup, TestHub, eventually};

/// A program that meets an outage so many times, and then answers. The provider says that it is over in two minutes, if it says so.
fn overloaded(times: u32, says_when: bool) -> Value {
    let when = if says_when { "Try again in 2 minutes." } else { "" };
    let outage = json!({
        "type": "result", "subtype": "success", "is_error": true, "api_error_status": 529, "session_id": "SESSION", "num_turns": 1,
        "total_cost_usd": 0.25, "usage": {"input_tokens": 10, "output_tokens": 1}, "result": format!("API Error: 529 Overloaded. {when}"),
    });
    let answer = json!({
        "type": "result", "subtype": "success", "is_error": false, "session_id": "5c1f", "num_turns": 1, "total_cost_usd": 0.5,
        "usage": {"input_tokens": 100, "output_tokens": 10}, "result": "Done.",
    });
    let text = format!(
        "echo x >> \"$HOME/tries\"; cp message.json \"$HOME/messages\"
         if [ $(wc -l < \"$HOME/tries\") -le {times} ]; then echo '{outage}' | sed \"s/SESSION/s$(wc -l < \"$HOME/tries\")/\"; exit 1; fi; echo '{answer}'"
    );
    json!({"backend": "subprocess", "adapter": "claude-code", "command": ["sh", "-c", text, "sh"]})
}

async fn deferred(client: &Client, run: i64, attempt: i64) -> Value {
    let is_deferred = async || {
        let run = details(client, run).await["run"].clone();
        run["status"] == "deferred" && run["attempt"] == attempt + 1
    };
    eventually("the run is deferred", is_deferred).await;
    details(client, run).await
}

async fn reactions(client: &Human, message: &Value) -> Value {
    client.get(&format!("/api/messages/{}", message["id"])).await.ok().json()["reactions"].clone()
}

#[tokio::test]
async fn a_run_waits_until_the_outage_is_over() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    ada.agent_with(reactive("scribe", overloaded(5, true))).await;
    let trust = ada.get("/api/trust/scribe").await.ok().json();
    let first = ada.dm("scribe", "Write the notes.").await;
    let run = run_of(&first);
    let waiting = deferred(&ada, run, 1).await;
    let began = hub.now_ms();
    assert_eq!(waiting["run"]["reason"], "model_unavailable");
    assert!(waiting["run"]["finished_at"].is_null() && waiting["run"]["deferred_until"].is_string(), "{waiting}");
    assert!(waiting["run"]["last_step"].as_str().unwrap().contains("529 Overloaded"), "{waiting}");
    assert_eq!(reactions(&ada, &first).await, json!([]), "it is neither in progress nor rejected");
    // What comes now waits for the same run.
    for text in ["And the agenda.", "And the list of guests."] {
        let sent = ada.dm("scribe", text).await;
        assert_eq!(sent["delivery"][0]["state"], "deferred", "{sent}");
    }
    for attempt in 1..=5 {
        deferred(&ada, run, attempt).await;
        hub.advance(Duration::from_secs(121));
    }
    eventually("it has succeeded", async || status(&ada, run).await == "succeeded").await;
    assert!(hub.now_ms() - began < 5 * 130_000, "each wait ended when the provider said so");
    let done = details(&ada, run).await;
    assert_eq!((&done["run"]["attempt"], &done["run"]["reason"]), (&json!(6), &Value::Null));
    assert_eq!(done["covered_message_ids"].as_array().unwrap().len(), 3, "{done}");
    assert_eq!(done["outgoing_message"]["body"], "Done.");
    // All attempts are paid for, each with a session of its own.
    assert_eq!((&done["run"]["tokens"], &done["run"]["cost_usd"]), (&json!(5 * 11 + 110), &json!(5.0 * 0.25 + 0.5)));
    assert_eq!(done["harness_run"]["tokens_in"], 150);
    let shown = std::fs::read_to_string(home_of_run(&hub).await.join("messages")).unwrap();
    assert!(shown.contains("And the list of guests."), "{shown}");
    assert_eq!(notices(&ada).await, Vec::<String>::new());
    let runs = ada.get("/api/runs?agent=scribe").await.ok().json();
    assert_eq!(runs["total"], 1, "{runs}");
    assert_eq!(ada.get("/api/trust/scribe").await.ok().json(), trust);
    hub.finish().await;
}

#[tokio::test]
async fn without_a_moment_the_waits_get_longer_and_end_after_a_day() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    ada.agent_with(reactive("scribe", overloaded(1000, false))).await;
    let run = run_of(&ada.dm("scribe", "Write the notes.").await);
    let mut waits = Vec::new();
    let mut attempt = 1;
    let mut ada = ada;
    loop {
        eventually("it waits or has ended", async || {
            let run = &details(&ada, run).await["run"];
            run["status"] == "failed" || (run["status"] == "deferred" && run["attempt"] == attempt + 1)
        })
        .await;
        let found = details(&ada, run).await["run"].clone();
        if found["status"] == "failed" {
            assert_eq!(found["reason"], "model_unavailable");
            break;
        }
        let until: stoa_model::Timestamp = serde_json::from_value(found["deferred_until"].clone()).unwrap();
        let wait = until.as_ms() - hub.now_ms();
        waits.push((wait + 5_000) / 10_000);
        hub.advance(Duration::from_millis(wait.try_into().unwrap()) + Duration::from_secs(1));
        ada = ada.again().await;
        attempt += 1;
    }
    assert_eq!(waits[..8], [3, 6, 12, 24, 48, 96, 180, 180], "tens of seconds");
    assert!((50..60).contains(&waits.len()), "{} waits in a day", waits.len());
    let told = notices(&ada).await;
    assert_eq!(told.len(), 1, "{told:?}");
    hub.finish().await;
}

#[tokio::test]
async fn a_run_that_waits_can_be_cancelled_and_survives_a_restart() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    for name in ["scribe", "herald"] {
        ada.agent_with(reactive(name, overloaded(1, true))).await;
    }
    let cancelled = run_of(&ada.dm("scribe", "Write the notes.").await);
    let kept = run_of(&ada.dm("herald", "Write the notes.").await);
    deferred(&ada, cancelled, 1).await;
    deferred(&ada, kept, 1).await;
    let listed = ada.get("/api/runs?status=deferred").await.ok().json();
    assert_eq!(listed["total"], 2, "{listed}");
    let later = ada.dm("scribe", "And the agenda.").await;
    assert_eq!(ada.post(&format!("/api/runs/{cancelled}/cancel"), &json!({})).await.ok().json()["status"], "cancelled");
    // What waited behind it has a run of its own now.
    eventually("the second message is dealt with", async || {
        let delivery = ada.get(&format!("/api/messages/{}/delivery", later["id"])).await.ok().json();
        delivery["items"][0]["run_id"].as_i64().is_some_and(|run| run != cancelled)
    })
    .await;
    let hub = hub.restart().await;
    let ada = hub.admin().await;
    assert_eq!(status(&ada, kept).await, "deferred");
    hub.advance(Duration::from_secs(121));
    eventually("it has succeeded", async || status(&ada, kept).await == "succeeded").await;
    assert_eq!(status(&ada, cancelled).await, "cancelled");
    hub.finish().await;
}

#[tokio::test]
async fn what_joins_a_run_counts_for_its_depth_and_is_answered_if_the_first_message_is_gone() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    ada.agent_with(reactive("scribe", overloaded(1, true))).await;
    let helper = ada.agent("helper").await;
    let first = ada.dm("scribe", "Write the notes.").await;
    let run = run_of(&first);
    assert_eq!(deferred(&ada, run, 1).await["run"]["depth"], 0);
    // Answers of agents are deeper than what people write.
    let asked = ada.dm("helper", "Ask the scribe.").await;
    let second =
        helper.post("/api/messages", &json!({"to": "scribe", "body": "And the agenda.", "reply_to": asked["id"]}));
    let second = second.await.status(201).json();
    assert_eq!(second["depth"], 1);
    ada.delete(&format!("/api/messages/{}", first["id"])).await.ok();
    hub.advance(Duration::from_secs(121));
    eventually("it has succeeded", async || status(&ada, run).await == "succeeded").await;
    let done = details(&ada, run).await;
    assert_eq!(done["run"]["depth"], 1);
    let inbox = helper.get("/api/dm/scribe/messages").await.ok().json();
    let answer = inbox["items"].as_array().unwrap().iter().find(|message| message["body"] == "Done.");
    assert_eq!(answer.map(|answer| &answer["reply_to"]), Some(&second["id"]), "{inbox}");
    hub.finish().await;
}

#[tokio::test]
async fn a_switch_keeps_a_run_waiting() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    ada.agent_with(reactive("scribe", overloaded(1, true))).await;
    let run = run_of(&ada.dm("scribe", "Write the notes.").await);
    deferred(&ada, run, 1).await;
    ada.post("/api/automation/stop", &json!({})).await.ok();
    hub.advance(Duration::from_secs(121));
    hub.settle().await;
    assert_eq!(status(&ada, run).await, "deferred");
    ada.post("/api/automation/resume", &json!({"waiting": "run"})).await.ok();
    eventually("it has succeeded", async || status(&ada, run).await == "succeeded").await;
    hub.finish().await;
}

#[tokio::test]
async fn runs_of_an_earlier_version_are_kept() {
    let setup = Setup::at_migration(30, move |tx| {
        for statement in [
            "insert into principals (id, kind, handle, folded_handle, display_name, folded_display_name, created_at)
             values (900, 'user', 'ada', 'ada', 'Ada', 'ada', 1)",
            "insert into principals (id, kind, handle, folded_handle, display_name, folded_display_name, owner_id, created_at)
             values (901, 'agent', 'scribe', 'scribe', 'Scribe', 'scribe', 900, 1)",
            "insert into reactive_runs (id, agent_id, owner_id, status, is_foreign, depth, chain_id, attempt, snapshot, created_at)
             values (7, 901, 900, 'failed', 0, 0, 1, 1, '{}', 1)",
            "insert into reactive_runs (id, agent_id, owner_id, status, is_foreign, depth, chain_id, attempt, retry_of, snapshot, tokens, created_at)
             values (8, 901, 900, 'succeeded', 0, 0, 1, 2, 7, '{}', 42, 1)",
            "insert into harness_runs (reactive_run_id, backend, session_cost_usd) values (8, 'subprocess', 0.5)",
            "insert into run_steps (run_id, position, at, kind, text) values (8, 0, 1, 'started', 'sh')",
        ] {
            tx.execute(statement, &[])?;
        }
        Ok(())
    })
    .await;
    let hub = setup.start().await;
    for (sql, expected) in [
        ("select count(*) as n from reactive_runs where id = 8 and retry_of = 7 and tokens = 42 and deferrals = 0", 1),
        (
            "select count(*) as n from harness_runs h join reactive_runs r on r.id = h.reactive_run_id where session_cost_usd = 0.5",
            1,
        ),
        ("select count(*) as n from run_steps s join reactive_runs r on r.id = s.run_id", 1),
    ] {
        assert_eq!(hub.count(sql).await, expected, "{sql}");
    }
    hub.finish().await;
}
