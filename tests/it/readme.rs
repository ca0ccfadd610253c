//! The tour of the README, typed as it is printed.

use serde_json::Value;

use crate::support::TestHub;

/// The tour's commands, without the two lines that a reader fills in.
fn tour() -> String {
    let readme = include_str!("../../README.md");
    let blocks = readme.split("```sh tour\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let commands = blocks.collect::<Vec<_>>().join("\necho\n");
    let is_given = |line: &&str| !line.starts_with("HUB=") && !line.starts_with("PASSWORD=");
    commands.lines().filter(is_given).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_tour_works_as_printed() {
    let hub = TestHub::start().await;
    let folder = tempfile::tempdir().unwrap();
    let output = tokio::process::Command::new("bash")
        .args(["-euo", "pipefail", "-c", &tour()])
        .current_dir(folder.path())
        .env("HUB", format!("http://{}", hub.address))
        .env("PASSWORD", hub.admin_password())
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = serde_json::Deserializer::from_str(&text).into_iter().map(Result::unwrap).collect();
    let [login, agent, shown, sent, claimed, done, dm, channel, post, unread, key, directory, problem] =
        answers.as_slice()
    else {
        panic!("{text}")
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
