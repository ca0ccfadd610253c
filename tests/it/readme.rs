//! The tours of the README and of the pages behind it, typed as they are printed.

use std::path::Path;

use serde_json::{Value, json};
use stoa::clock::Clock;

use crate::support::TestHub;

/// The commands of a page's tour, block by block, without the lines that a reader fills in.
fn tour(page: &str) -> Vec<String> {
    let blocks = page.split("```sh tour\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let is_given = |line: &&str| !line.starts_with("HUB=") && !line.starts_with("PASSWORD=");
    blocks.map(|block| block.lines().filter(is_given).collect::<Vec<_>>().join("\n")).collect()
}

/// Types commands in a folder, and returns the JSON that they print.
async fn type_in(folder: &Path, commands: &[String], environment: &[(&str, String)]) -> Vec<Value> {
    let binaries = Path::new(env!("CARGO_BIN_EXE_stoa")).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap();
    let output = tokio::process::Command::new("bash")
        .args(["-euo", "pipefail", "-c", &commands.join("\necho\n")])
        .current_dir(folder)
        .env("PATH", format!("{binaries}:{path}"))
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let answers = serde_json::Deserializer::from_str(&text).into_iter();
    answers.map(|answer| answer.unwrap_or_else(|error| panic!("{error}: {text}"))).collect()
}

#[tokio::test]
async fn the_tour_works_as_printed() {
    let hub = TestHub::start().await;
    let folder = tempfile::tempdir().unwrap();
    let environment = [("HUB", format!("http://{}", hub.address)), ("PASSWORD", hub.admin_password())];
    let answers = type_in(folder.path(), &tour(include_str!("../../README.md")), &environment).await;
    let [login, agent, shown, sent, claimed, done, dm, channel, post, unread, key, directory, problem] =
        answers.as_slice()
    else {
        panic!("{answers:#?}")
    };
    assert_eq!(login["user"]["username"], "admin");
    assert_eq!(agent["agent"]["name"], "scout");
    assert_eq!(shown["archetype"], "researcher");
    assert_eq!(sent["delivery"][0]["recipient"], "scout");
    assert_eq!(claimed["items"][0]["id"], sent["id"]);
    assert_eq!((&done["status"], &done["reply_id"]), (&"done".into(), &dm["items"][1]["id"]));
    assert_eq!(dm["items"][1]["body"], "Nothing yet.");
    assert_eq!(channel["channel"]["name"], "work");
    assert_eq!(post["mentions"][0], "scout");
    assert_eq!(unread[1]["name"], "admin");
    assert_eq!(key["api_key"]["channels"][0], "general");
    assert_eq!(directory["items"][0]["name"], "scout");
    assert_eq!((&problem["status"], &problem["code"]), (&422.into(), &"validation_failed".into()));
    assert_eq!(problem["errors"][0]["field"], "cooldwon_seconds");
    hub.finish().await;
}

#[tokio::test]
async fn the_tour_of_machines_works_as_printed() {
    let tour = tour(include_str!("../../docs/machines.md"));
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = tour.split_at(2);
    let (keygen, validate) = before.split_at(1);
    type_in(folder.path(), keygen, &[]).await;
    // What validate says is for people; that it agrees is all there is to see.
    type_in(folder.path(), &[format!("({}) >&2", validate[0])], &[]).await;
    let setup = TestHub::setup().configure(|config| {
        config.registry = Some(folder.path().join("registry.json"));
        config.audience = Some("svc-brain".parse().unwrap());
        // Signatures are made by the clock on the wall.
        config.clock = Clock::system();
    });
    let hub = setup.start().await;
    let answers = type_in(folder.path(), after, &[("HUB", format!("http://{}", hub.address))]).await;
    let [config, ingested, evidence] = answers.as_slice() else { panic!("{answers:#?}") };
    assert_eq!(config["version"], 1);
    assert_eq!(ingested["results"][0]["outcome"], "routed");
    assert_eq!(evidence["items"][0]["message"]["id"], ingested["results"][0]["message_id"]);
    let admin = hub.admin().await;
    let said = admin.get("/api/channels/general/messages").await.ok().json();
    assert_eq!(said["items"][0]["body"], json!("web-1 has 3 % left"));
    hub.finish().await;
}

#[tokio::test]
async fn the_tour_of_mcp_works_as_printed() {
    let tour = tour(include_str!("../../docs/mcp.md"));
    let hub = TestHub::start().await;
    let scout = hub.human("ada").await.agent("scout").await;
    let folder = tempfile::tempdir().unwrap();
    let environment = [("HUB", format!("http://{}", hub.address)), ("KEY", scout.key.clone())];
    let answers = type_in(folder.path(), &tour, &environment).await;
    assert_eq!(answers[0]["result"]["structuredContent"]["name"], "scout");
    hub.finish().await;
}

#[tokio::test]
async fn the_tour_of_oauth_works_as_printed() {
    let hub = TestHub::start().await;
    let folder = tempfile::tempdir().unwrap();
    let environment = [("HUB", format!("http://{}", hub.address)), ("PASSWORD", hub.admin_password())];
    let answers = type_in(folder.path(), &tour(include_str!("../../docs/oauth.md")), &environment).await;
    let [app, tokens, renewed, grants, _login, agent, client, token, known, unknown] = answers.as_slice() else {
        panic!("{answers:#?}")
    };
    assert_eq!((&app["client_name"], &app["client_secret"]), (&"By hand".into(), &Value::Null));
    assert!(renewed["refresh_token"].is_string() && renewed["refresh_token"] != tokens["refresh_token"]);
    let grant = &grants["items"][0];
    assert_eq!((&grant["client"]["client_id"], &grant["redirect_host"]), (&app["client_id"], &"localhost:4711".into()));
    assert_eq!(agent["agent"]["name"], "reporter");
    assert_eq!((&client["client"]["kind"], &client["client"]["agent"]), (&"owned".into(), &"reporter".into()));
    assert_eq!((&token["scope"], &token["token_type"]), (&"mcp:read".into(), &"Bearer".into()));
    assert_eq!((&known["active"], &known["agent"]), (&true.into(), &"reporter".into()));
    assert_eq!(unknown, &json!({"active": false}));
    hub.finish().await;
}
