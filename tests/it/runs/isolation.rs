//! Isolation: a program sees the system and its own folders, and nothing of the hub or of other runs. Where bubblewrap does not work,
//! for instance in most containers, there is nothing to test.

use serde_json::{Value, json};
use stoa::config::{Isolation, Subprocesses};

use super::{can_isolate, details, ended, home_of_run, reactive, run, run_of, running, script, scripted, status};
use crate::support::{Setup, TestHub, eventually};

fn isolated() -> Setup {
    TestHub::setup().configure(|config| {
        config.runs.isolation = Isolation::Bubblewrap;
        config.runs.subprocesses = Subprocesses::Everyone;
    })
}

/// None where bubblewrap does not work.
async fn start() -> Option<TestHub> {
    if can_isolate() { Some(isolated().start().await) } else { None }
}

/// A script that reports each command that succeeds. None of them should.
fn attempts(commands: &[String]) -> String {
    let tried = commands.iter().enumerate();
    let lines = tried
        .map(|(number, command)| format!("if ( {command} ) > /dev/null 2>&1; then echo \"succeeded: {number}\"; fi\n"));
    format!("{}echo all were tried", lines.collect::<String>())
}

#[tokio::test]
async fn a_program_finds_nothing_of_the_hub_or_of_other_runs() {
    let Some(hub) = start().await else { return };
    let ada = hub.admin().await;
    let secret = json!({"scope": "agent:other", "name": "OTHER_KEY", "value": "the-key-of-the-other-run"});
    scripted(&ada, "other", "echo the-note > note; while [ ! -e \"$HOME/go\" ]; do sleep 0.05; done").await;
    hub.operator().call("secrets.set", secret).await;
    let other = run_of(&ada.dm("other", "Wait.").await);
    running(&ada, other).await;
    let home = home_of_run(&hub).await;
    let (data, runs) = (hub.folder().display().to_string(), hub.folder().with_file_name("runs").display().to_string());
    let work = std::path::Path::new(&runs).join("work");
    let noted =
        || std::fs::read_dir(&work).ok()?.filter_map(Result::ok).find(|entry| entry.path().join("note").exists());
    eventually("the other run has written its note", async || noted().is_some()).await;
    let other_folder = noted().unwrap().path().display().to_string();
    let hub_process = std::process::id();
    let commands = [
        format!("[ -n \"$(ls -A {data})\" ]"),
        format!("[ -e {data}/admin.sock ]"),
        format!("[ -e {data}/key ]"),
        format!("[ -n \"$(ls -A {runs}/homes | grep -vx \"${{HOME##*/}}\")\" ]"),
        format!("[ \"$(ls -A {runs}/work | wc -l)\" -gt 1 ]"),
        format!("cat {other_folder}/note"),
        format!("ls {}", home.display()),
        format!("[ -e /proc/{hub_process}/root ] || kill -0 {hub_process}"),
        "cat /proc/[0-9]*/environ | grep -a the-key-of-the-other-run".to_owned(),
        "env | grep OTHER_KEY".to_owned(),
        "[ \"$(ls -d /proc/[0-9]* | wc -l)\" -gt 12 ]".to_owned(),
        "cat /etc/shadow".to_owned(),
        "[ -e /root ] || [ -e /home ] || [ -e /var ] || [ -e /run ] || [ -e /sys ]".to_owned(),
        "touch /written || touch /usr/written || touch /etc/written || touch /usr/bin/written".to_owned(),
        "[ -w /proc/sys/kernel/core_pattern ] || [ -w /proc/sysrq-trigger ] || touch /dev/written".to_owned(),
        "[ -e /etc/ssl/private ]".to_owned(),
        "head -c 300000000 /dev/zero > /tmp/much".to_owned(),
        "mount -t tmpfs none /mnt || mount -o remount,rw /usr".to_owned(),
        format!("curl -s --unix-socket {data}/admin.sock http://hub/"),
    ];
    // A folder below /tmp is one in a /tmp of its own.
    let elsewhere = format!(
        "mkdir -p {data} {runs}/homes; touch {data}/written {runs}/written {runs}/work/written {runs}/homes/written\n"
    );
    let tries = format!("{}\n{elsewhere}", attempts(&commands));
    ada.agent_with(reactive("spy", script(&tries))).await;
    let found = run(&ada, "spy", "Look around.").await;
    assert_eq!(found["harness_run"]["response"], "all were tried", "{commands:#?}");
    for folder in [&data, &runs, &format!("{runs}/work"), &format!("{runs}/homes")] {
        assert!(!std::path::Path::new(folder).join("written").exists(), "{folder}");
    }
    std::fs::write(home.join("go"), "").unwrap();
    assert_eq!(ended(&ada, other).await["run"]["status"], "succeeded");
    hub.finish().await;
}

#[tokio::test]
async fn a_program_has_its_folders_the_hub_and_the_system() {
    let Some(hub) = start().await else { return };
    let ada = hub.admin().await;
    let text = "set -e; echo kept >> \"$HOME/kept\"; wc -l < \"$HOME/kept\"; test -s message.json; test -s .mcp.json; echo x > \"$TMPDIR/x\"; echo y > /tmp/y
        curl -fsS -H \"Authorization: Bearer $STOA_MCP_KEY\" \"$STOA_URL/api/inbox\" | grep -c scribe
        cat - | grep -q 'Do it'; echo asked; printf '{\"response\": \"From the file.\"}' > result.json";
    scripted(&ada, "scribe", text).await;
    for expected in 1..=2 {
        let done = run(&ada, "scribe", "Do it.").await;
        assert_eq!(done["run"]["status"], "succeeded", "{done}");
        assert_eq!(done["outgoing_message"]["body"], "From the file.");
        let printed = done["harness_run"]["logs_excerpt"].as_str().unwrap();
        assert!(printed.starts_with(&format!("{expected}\n1\nasked")), "{printed}");
    }
    for (name, harness, reason) in [
        ("gone", json!(["/usr/bin/no-such-command"]), "command_not_found"),
        ("unseen", json!([env!("CARGO_BIN_EXE_stoa"), "--version"]), "command_not_visible"),
        ("text", json!(["/usr/share/dict/../../../etc/passwd"]), "command_not_visible"),
        ("failing", json!(["sh", "-c", "exit 3"]), "exit_code"),
    ] {
        ada.agent_with(reactive(name, json!({"backend": "subprocess", "command": harness}))).await;
        assert_eq!(run(&ada, name, "Go.").await["run"]["reason"], reason, "{name}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn others_start_an_isolated_agent_and_owners_do_not_wait_for_each_other() {
    let Some(hub) = start().await else { return };
    let ada = hub.human("ada").await;
    let bob = hub.human("bob").await;
    scripted(&ada, "slow", "while [ ! -e \"$HOME/go\" ]; do sleep 0.05; done").await;
    scripted(&bob, "quick", "ls -A \"$HOME\" | wc -l; echo x > \"$HOME/x\"").await;
    let slow = run_of(&ada.dm("slow", "Wait.").await);
    running(&ada, slow).await;
    // A run that others start has an empty home, each time.
    for _ in 0..2 {
        let sent = ada.dm("quick", "Go.").await;
        assert_eq!(sent["delivery"][0]["state"], "woken", "{sent}");
        let done = ended(&bob, run_of(&sent)).await;
        assert_eq!((&done["run"]["status"], &done["run"]["foreign"]), (&json!("succeeded"), &json!(true)), "{done}");
        assert_eq!(done["harness_run"]["response"], "0");
    }
    assert_eq!(status(&ada, slow).await, "running");
    std::fs::write(home_of_run(&hub).await.join("go"), "").unwrap();
    ended(&ada, slow).await;
    hub.finish().await;
}

#[tokio::test]
async fn an_isolated_program_is_asked_to_end_before_it_is_killed() {
    let Some(hub) = start().await else { return };
    let ada = hub.admin().await;
    scripted(
        &ada,
        "polite",
        "trap 'echo bye > \"$HOME/bye\"; exit 0' TERM; touch \"$HOME/ready\"; while :; do sleep 0.05; done",
    )
    .await;
    let run = run_of(&ada.dm("polite", "Wait.").await);
    running(&ada, run).await;
    let home = home_of_run(&hub).await;
    eventually("it listens", async || home.join("ready").exists()).await;
    ada.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.ok();
    let done: Value = ended(&ada, run).await;
    assert_eq!(done["run"]["status"], "cancelled");
    assert!(home.join("bye").exists());
    assert_eq!(details(&ada, run).await["run"]["reason"], "by_owner");
    hub.finish().await;
}

#[tokio::test]
async fn a_hub_that_must_isolate_and_cannot_does_not_start() {
    let nowhere = |config: &mut stoa::config::Config| config.runs.supervisor = "/bin/false".into();
    let fault = isolated().configure(nowhere).try_start().await.err().unwrap().to_string();
    assert!(fault.contains("STOA_RUN_ISOLATION=bwrap does not work here"), "{fault}");
    let everyone = TestHub::setup().configure(|config| {
        config.runs.isolation = Isolation::None;
        config.runs.subprocesses = Subprocesses::Everyone;
    });
    let fault = everyone.try_start().await.err().unwrap().to_string();
    assert!(fault.contains("STOA_SUBPROCESS=everyone needs isolated runs"), "{fault}");
    // Without being told to, it starts, and says so.
    let hub =
        TestHub::setup().configure(nowhere).configure(|config| config.runs.isolation = Isolation::Auto).start().await;
    hub.finish().await;
}
