//! Tokens of runs: what a program can do with one, and when it is worthless.

use serde_json::{Value, json};

use super::{ended, home_of_run, run_of, running, scripted};
use crate::support::{Client, TestHub, eventually};

/// An agent whose program writes its token into its home and waits.
const TELL: &str =
    "printf %s $STOA_MCP_KEY > $HOME/token; mv $HOME/token $HOME/ready; while [ ! -e $HOME/go ]; do sleep 0.02; done";

async fn token_of(hub: &TestHub) -> String {
    let file = home_of_run(hub).await.join("ready");
    eventually("the token is there", async || file.exists()).await;
    std::fs::read_to_string(file).unwrap()
}

#[tokio::test]
async fn a_token_acts_as_the_agent_while_the_run_is_running() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", TELL).await;
    let sent = ada.dm("scribe", "Go.").await;
    let run = run_of(&sent);
    running(&ada, run).await;
    let token = token_of(&hub).await;
    assert!(token.starts_with("stoa_run_"));
    let program = hub.nobody().bearer(&token);
    // What it says carries the run, and is one step deeper.
    let said = program.dm("admin", "Half of it is done.").await;
    assert_eq!((&said["run_id"], &said["depth"], &said["from"]["name"]), (&json!(run), &json!(1), &json!("scribe")));
    let by_tool = program.tool("send_message", json!({"to": "admin", "body": "All of it."})).await;
    assert_eq!(ada.message(&by_tool).await["run_id"], json!(run));
    assert_eq!(program.get(&format!("/api/runs/{run}")).await.ok().json()["outgoing_message"]["id"], said["id"]);
    for (method, path, body) in [
        (
            "POST",
            "/api/webhooks".to_owned(),
            json!({"agent": "scribe", "url": "https://example.com", "events": ["message.received"]}),
        ),
        ("POST", format!("/api/runs/{run}/retry"), json!({})),
        ("POST", format!("/api/runs/{run}/cancel"), json!({})),
        ("POST", "/api/agents".to_owned(), json!({"name": "other"})),
        ("PATCH", "/api/agents/scribe".to_owned(), json!({"budget": {"runs_per_day": 9}})),
        ("POST", "/api/keys".to_owned(), json!({"name": "k", "agent": "scribe", "permissions": ["*"]})),
        ("POST", "/api/hooks".to_owned(), json!({"name": "h", "kind": "url", "target": {"agent": "scribe"}})),
        ("POST", "/api/automation/resume".to_owned(), json!({})),
    ] {
        program.call(method, &path).json(&body).await.problem(403, "run_token_forbidden");
    }
    program
        .tool_refused("register_webhook", json!({"url": "https://example.com", "events": ["message.received"]}))
        .await;
    eventually("what it did is traced", async || {
        // Traces are written in batches.
        hub.advance(std::time::Duration::from_secs(1));
        let traces = ada.get("/api/traces?agent=scribe&action=send_message").await.ok().json();
        traces["items"].as_array().unwrap().iter().filter(|trace| trace["run_id"] == run).count() == 2
    })
    .await;
    let home = home_of_run(&hub).await;
    std::fs::write(home.join("go"), "").unwrap();
    let ended = ended(&ada, run).await;
    // What it printed is no second answer.
    assert_eq!(ended["outgoing_message"]["id"], said["id"]);
    program.get("/api/runs").await.problem(401, "invalid_credentials");
    program
        .post("/api/messages", &json!({"to": "admin", "body": "Still here."}))
        .await
        .problem(401, "invalid_credentials");
    hub.finish().await;
}

#[tokio::test]
async fn a_token_is_dead_after_a_crash_and_elsewhere() {
    let hub = TestHub::setup().trusted_proxies(&["127.0.0.0/8"]).start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", TELL).await;
    let run = run_of(&ada.dm("scribe", "Go.").await);
    running(&ada, run).await;
    let token = token_of(&hub).await;
    let program = hub.nobody().bearer(&token);
    program.get("/api/runs").await.ok();
    // Somebody on another machine has stolen it.
    program.get("/api/runs").header("x-forwarded-for", "203.0.113.7").await.problem(401, "invalid_credentials");
    ada.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.ok();
    ended(&ada, run).await;
    program.get("/api/runs").await.problem(401, "invalid_credentials");
    hub.finish().await;
}

#[tokio::test]
async fn a_run_makes_at_most_120_calls_a_minute() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", TELL).await;
    let run = run_of(&ada.dm("scribe", "Go.").await);
    running(&ada, run).await;
    let program = hub.nobody().bearer(&token_of(&hub).await);
    for _ in 0..60 {
        program.get("/api/channels").await.ok();
        program.tool("my_status", json!({})).await;
    }
    let refused = program.get("/api/channels").await.problem(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let message = json!({"to": "admin", "body": "x"});
    program.post("/api/messages", &message).await.problem(429, "rate_limited");
    program.mcp("tools/list", json!({})).await.status(429);
    hub.advance(std::time::Duration::from_secs(1));
    program.get("/api/channels").await.ok();
    // Others are not held up.
    ada.get("/api/channels").await.ok();
    let home = home_of_run(&hub).await;
    std::fs::write(home.join("go"), "").unwrap();
    ended(&ada, run).await;
    hub.finish().await;
}

async fn secret_refused(program: &Client, secret: &str) {
    let refused = |body: Value| program.post("/api/messages", &body);
    refused(json!({"to": "admin", "body": format!("It is {secret}.")})).await.problem(422, "secret_in_text");
    refused(json!({"to": "admin", "body": "x", "metadata": {"key": secret}})).await.problem(422, "secret_in_text");
    let hidden: String = secret.chars().skip(3).collect();
    refused(json!({"to": "admin", "body": hidden})).await.problem(422, "secret_in_text");
    program.tool_refused("send_message", json!({"to": "admin", "body": secret})).await;
    let file = format!("{}\n{secret}\n", "much text ".repeat(150_000));
    program.upload("notes.txt", file.as_bytes()).await.problem(422, "secret_in_text");
    program.upload("notes.txt", b"no secret at all\n").await.status(201);
}

/// A secret that the program prints or sends appears nowhere.
#[tokio::test]
async fn a_program_cannot_send_a_secret() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", &format!("echo $DEPLOY_KEY; {TELL}")).await;
    let canary = "canary-Zq8W4tR1yk7LmP0";
    hub.operator().call("secrets.set", json!({"scope": "agent:scribe", "name": "DEPLOY_KEY", "value": canary})).await;
    let run = run_of(&ada.dm("scribe", "Go.").await);
    running(&ada, run).await;
    let program = hub.nobody().bearer(&token_of(&hub).await);
    secret_refused(&program, canary).await;
    let home = home_of_run(&hub).await;
    std::fs::write(home.join("go"), "").unwrap();
    let ended = ended(&ada, run).await;
    assert_eq!(ended["harness_run"]["response"], "***");
    let stored = hub.everything_stored();
    assert!(!stored.windows(canary.len()).any(|window| window == canary.as_bytes()), "the secret is stored in clear");
    hub.finish().await;
}
