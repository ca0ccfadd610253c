//! What the program of a run is given, and what becomes of what it prints.

use serde_json::json;

use super::{details, ended, notices, reactive, run, run_of, running, script, scripted};
use crate::support::{TestHub, each, eventually};

#[tokio::test]
async fn a_message_starts_a_program_and_its_output_is_the_answer() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "echo 'Section 4 is done.'").await;
    let sent = ada.dm("scribe", "Write section 4.").await;
    let run = run_of(&sent);
    assert_eq!(sent["delivery"], json!([{"recipient": "scribe", "state": "woken", "run_id": run}]));
    let ended = ended(&ada, run).await;
    assert_eq!(ended["run"]["status"], "succeeded", "{ended:#}");
    assert_eq!(ended["run"]["trigger_message_id"], sent["id"]);
    assert_eq!(ended["trigger_message"]["body"], "Write section 4.");
    assert_eq!(ended["run"]["trigger_preview"], "Write section 4.");
    assert_eq!(ended["run"]["trigger_from"], "admin");
    assert_eq!(ended["run"]["attempt"], 1);
    assert_eq!(ended["agent"]["name"], "scribe");
    assert_eq!(ended["covered_message_ids"], json!([sent["id"]]));
    let harness = &ended["harness_run"];
    assert_eq!((&harness["backend"], &harness["exit_code"]), (&json!("subprocess"), &json!(0)));
    assert_eq!(harness["response"], "Section 4 is done.");
    assert!(harness["prompt"].as_str().unwrap().contains("Write section 4."));
    // It is sent as the agent's reply, and says where it comes from.
    let answer = &ended["outgoing_message"];
    assert_eq!((&answer["body"], &answer["to"]), (&json!("Section 4 is done."), &json!("admin")));
    assert_eq!((&answer["run_id"], &answer["depth"]), (&json!(run), &json!(1)));
    assert_eq!(answer["reply_to"], sent["id"]);
    // The message shows what became of it, and is not open in the inbox.
    let message = ada.message(&sent).await;
    assert_eq!((&message["workflow_state"], &message["status"]), (&json!("done"), &json!("done")));
    assert_eq!(each(message["reactions"].as_array().unwrap(), "reaction"), ["in_progress", "done"]);
    let kinds: Vec<_> = ended["steps"].as_array().unwrap().iter().map(|step| step["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["started", "output", "message_sent", "finished"]);
    assert_eq!(notices(&ada).await, Vec::<String>::new());
    let again = ada.get(&format!("/api/messages/{}/delivery", sent["id"])).await.ok().json();
    assert_eq!(again["items"], sent["delivery"]);
    let listed = ada.get("/api/runs").await.ok().json();
    assert_eq!((&listed["total"], &listed["items"][0]), (&json!(1), &ended["run"]));
    hub.finish().await;
}

#[tokio::test]
async fn a_program_is_given_what_it_needs_and_nothing_else() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let harness = json!({
        "backend": "subprocess", "env": {"TONE": "calm"},
        "command": ["sh", "-c", "env; echo ---; cat; echo ---; cat message.json; echo ---; cat AGENTS.md .mcp.json; echo ---; ls -la . | head -20; umask"],
    });
    let mut settings = reactive("scribe", harness);
    settings["instructions"] = json!("Be brief.");
    ada.agent_with(settings).await;
    hub.operator()
        .call("secrets.set", json!({"scope": "user:admin", "name": "DEPLOY_KEY", "value": "s3cret-of-ada"}))
        .await;
    ada.send(json!({"to": "scribe", "body": "Earlier.", "no_wake": true})).await;
    let ended = run(&ada, "scribe", "Look around.").await;
    assert_eq!(ended["run"]["status"], "succeeded", "{ended:#}");
    let response = ended["harness_run"]["response"].as_str().unwrap();
    let parts: Vec<&str> = response.split("---\n").collect();
    let environment = parts[0];
    let names: Vec<&str> = environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    for name in [
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "STOA_URL",
        "STOA_MCP_URL",
        "STOA_MCP_KEY",
        "STOA_AGENT",
        "STOA_RUN_ID",
        "TONE",
        "DEPLOY_KEY",
    ] {
        assert!(names.contains(&name), "{name} is missing: {environment}");
    }
    for name in ["STOA_DATABASE_URL", "CARGO", "USER", "STOA_KEY"] {
        assert!(!names.contains(&name), "{name} was passed on");
    }
    // Secrets and the token are masked in what is kept.
    assert!(environment.contains("DEPLOY_KEY=***") && environment.contains("STOA_MCP_KEY=***"), "{environment}");
    let prompt = parts[1];
    assert!(
        prompt.contains("from @admin (a person) in a direct message") && prompt.contains("Look around."),
        "{prompt}"
    );
    assert!(prompt.contains("Earlier."), "{prompt}");
    assert!(prompt.contains("Be brief."), "{prompt}");
    assert!(parts[2].contains("\"body\": \"Look around.\""), "{}", parts[2]);
    assert!(parts[3].starts_with("Be brief.") && parts[3].contains("/mcp"), "{}", parts[3]);
    assert!(parts[4].contains("drwx------"), "{}", parts[4]);
    hub.finish().await;
}

/// Steps come while the program runs, and are streamed to the owner.
#[tokio::test]
async fn steps_are_seen_while_the_program_runs() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let mut stream = ada.events().await;
    scripted(&ada, "scribe", "echo first; while [ ! -e $HOME/go ]; do sleep 0.02; done; echo second").await;
    let sent = ada.dm("scribe", "Count.").await;
    let run = run_of(&sent);
    eventually("the first step is there", async || {
        let shown = details(&ada, run).await;
        each(shown["steps"].as_array().unwrap(), "text").contains(&json!("first"))
    })
    .await;
    assert_eq!(super::status(&ada, run).await, "running");
    assert_eq!(details(&ada, run).await["run"]["last_step"], "first");
    let home = super::home_of_run(&hub).await;
    std::fs::write(home.join("go"), "").unwrap();
    let ended = ended(&ada, run).await;
    assert!(each(ended["steps"].as_array().unwrap(), "text").contains(&json!("second")));
    let mut statuses = Vec::new();
    while statuses.last().is_none_or(|status| status != "succeeded") {
        let event = stream.next().await;
        if event.event == "run" {
            assert_eq!(event.data["run_id"], run);
            statuses.push(event.data["status"].as_str().unwrap().to_owned());
        }
    }
    statuses.dedup();
    assert_eq!(statuses, ["queued", "running", "succeeded"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_mention_is_answered_in_its_channel() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    ada.make_channel(json!({"name": "notes"})).await;
    let scribe = scripted(&ada, "scribe", "echo here").await;
    ada.add_member("notes", "scribe").await;
    let sent = ada.say("notes", "@scribe where are you?").await;
    let ended = ended(&ada, run_of(&sent)).await;
    assert_eq!(ended["run"]["trigger_message_id"], sent["id"]);
    assert_eq!(ended["run"]["trigger_channel"], "notes");
    let answer = &ended["outgoing_message"];
    assert_eq!((&answer["channel"], &answer["reply_to"]), (&json!("notes"), &sent["id"]));
    assert_eq!(ada.message(&sent).await["workflow_state"], "done");
    assert_eq!(scribe.inbox().await, Vec::<serde_json::Value>::new());
    hub.finish().await;
}

#[tokio::test]
async fn a_failure_says_why_and_can_be_retried() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "scribe", "test -e $HOME/mended && echo fine || { echo 'no key' >&2; touch $HOME/mended; exit 3; }")
        .await;
    let sent = ada.dm("scribe", "Try.").await;
    let failed = ended(&ada, run_of(&sent)).await;
    assert_eq!((&failed["run"]["status"], &failed["run"]["reason"]), (&json!("failed"), &json!("exit_code")));
    assert_eq!(failed["harness_run"]["exit_code"], 3);
    assert!(failed["harness_run"]["error_log"].as_str().unwrap().contains("no key"));
    assert_eq!(failed["outgoing_message"], json!(null));
    let message = ada.message(&sent).await;
    assert_eq!((&message["workflow_state"], &message["status"]), (&json!("rejected"), &json!("failed")));
    let told = notices(&ada).await;
    assert_eq!(told.len(), 1);
    let expected =
        format!("Run {} of @scribe failed: The command failed with exit code 3. Output: no key", run_of(&sent));
    assert!(told[0].starts_with(&expected), "{}", told[0]);

    let retried = ada.post(&format!("/api/runs/{}/retry", run_of(&sent)), &json!({})).await.status(201).json();
    assert_eq!((&retried["attempt"], &retried["retry_of"]), (&json!(2), &json!(run_of(&sent))));
    let second = ended(&ada, retried["id"].as_i64().unwrap()).await;
    // The messages belong to the later run, so who may see them is asked there.
    assert_eq!(details(&ada, run_of(&sent)).await["harness_run"]["prompt"], json!(null));
    assert_eq!(second["run"]["status"], "succeeded");
    let message = ada.message(&sent).await;
    assert_eq!(message["workflow_state"], "done");
    assert_eq!(each(message["reactions"].as_array().unwrap(), "reaction"), ["in_progress", "done"]);
    let delivery = ada.get(&format!("/api/messages/{}/delivery", sent["id"])).await.ok().json();
    assert_eq!(delivery["items"][0]["run_id"], retried["id"]);
    hub.finish().await;
}

#[tokio::test]
async fn commands_that_cannot_start_fail_with_their_reason() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let text = hub.folder().join("not-a-program");
    std::fs::write(&text, "text").unwrap();
    for (name, harness, reason) in [
        ("missing", json!({"backend": "subprocess", "command": ["no-such-program-here"]}), "command_not_found"),
        ("absent", json!({"backend": "subprocess", "command": ["/no/such/program"]}), "command_not_found"),
        ("relative", json!({"backend": "subprocess", "command": ["./run.sh"]}), "command_not_found"),
        ("text", json!({"backend": "subprocess", "command": [text]}), "command_not_executable"),
        ("elsewhere", json!({"backend": "kubernetes"}), "backend_unavailable"),
        ("nothing", json!(null), "no_harness"),
    ] {
        ada.agent_with(reactive(name, harness)).await;
        let ended = run(&ada, name, "Go.").await;
        assert_eq!((&ended["run"]["status"], &ended["run"]["reason"]), (&json!("failed"), &json!(reason)), "{name}");
    }
    assert_eq!(notices(&ada).await.len(), 6);
    hub.finish().await;
}

#[tokio::test]
async fn a_run_ends_at_its_time_limit_even_if_it_does_not_want_to() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let mut harness = script("trap 'echo leaving; exit 0' TERM; echo ready; while :; do sleep 0.02; done");
    harness["timeout_seconds"] = json!(60);
    ada.agent_with(reactive("scribe", harness)).await;
    let sent = ada.dm("scribe", "Wait.").await;
    let run = run_of(&sent);
    eventually("it is ready", async || details(&ada, run).await["run"]["last_step"] == "ready").await;
    hub.advance(std::time::Duration::from_secs(59));
    hub.advance(std::time::Duration::from_secs(2));
    let ended = ended(&ada, run).await;
    assert_eq!((&ended["run"]["status"], &ended["run"]["reason"]), (&json!("timed_out"), &json!("timeout")));
    assert!(
        each(ended["steps"].as_array().unwrap(), "text").contains(&json!("leaving")),
        "what it said while ending is kept"
    );
    assert_eq!(ada.message(&sent).await["workflow_state"], "rejected");
    assert!(notices(&ada).await[0].contains("was stopped: The run exceeded its time limit of 60 seconds."));
    hub.finish().await;
}

/// What a program leaves behind ends with it, wherever it hides.
#[tokio::test]
async fn no_process_outlives_its_run() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let escape = "setsid sh -c 'setsid sh -c \"touch $HOME/escaped; exec sleep 1000\" &' & \
                  while [ ! -e $HOME/escaped ]; do sleep 0.01; done; echo left";
    scripted(&ada, "scribe", escape).await;
    let ended = run(&ada, "scribe", "Hide.").await;
    assert_eq!(ended["run"]["status"], "succeeded", "{ended:#}");
    let mark = hub.folder().with_file_name("runs").display().to_string();
    eventually("no process is left", async || !super::is_alive(&mark)).await;
    hub.finish().await;
}

#[tokio::test]
async fn a_run_may_not_fill_the_disk() {
    let hub = TestHub::setup().configure(|config| config.runs.disk_mib = 4).start().await;
    let ada = hub.admin().await;
    scripted(&ada, "many", "i=0; while :; do head -c 100000 /dev/zero > f$i; i=$((i+1)); sleep 0.001; done").await;
    scripted(&ada, "single", "head -c 100000000 /dev/zero > large || exit 9").await;
    let sent = ada.dm("many", "Write.").await;
    let single = run(&ada, "single", "Write.").await;
    assert_eq!(single["run"]["status"], "failed", "{single:#}");
    let many = ended(&ada, run_of(&sent)).await;
    assert_eq!((&many["run"]["status"], &many["run"]["reason"]), (&json!("failed"), &json!("disk_limit")));
    hub.finish().await;
}

/// Output that is long, is no text, or would change a terminal.
#[tokio::test]
async fn output_is_cut_and_cleaned() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    scripted(&ada, "loud", "head -c 30000000 /dev/zero | tr '\\0' x; echo; echo end").await;
    let loud = run(&ada, "loud", "Shout.").await;
    assert_eq!((&loud["run"]["status"], &loud["harness_run"]["truncated"]), (&json!("succeeded"), &json!(true)));
    assert_eq!(loud["harness_run"]["response"].as_str().unwrap().len(), 32 * 1024);
    scripted(&ada, "odd", "printf '\\033[31mred\\033[0m \\377\\376 \\033]52;c;ZXZpbA==\\007end\\n'; exec 0<&-").await;
    let odd = run(&ada, "odd", "Speak.").await;
    assert_eq!(odd["harness_run"]["response"], "red \u{fffd}\u{fffd} end");
    scripted(&ada, "many", "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done").await;
    let many = run(&ada, "many", "Count.").await;
    let steps = many["steps"].as_array().unwrap();
    assert!(steps.len() <= 2001, "{}", steps.len());
    assert_eq!(steps.last().unwrap()["kind"], "finished");
    hub.finish().await;
}

#[tokio::test]
async fn runs_of_different_owners_do_not_run_side_by_side() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let bob = super::second_admin(&hub, "bob").await;
    let wait = "touch $HOME/began; while [ ! -e $HOME/go ]; do sleep 0.02; done";
    scripted(&ada, "one", wait).await;
    scripted(&ada, "two", wait).await;
    scripted(&bob, "three", "true").await;
    let (first, second) = (run_of(&ada.dm("one", "Go.").await), run_of(&ada.dm("two", "Go.").await));
    running(&ada, first).await;
    running(&ada, second).await;
    let third = run_of(&bob.dm("three", "Go.").await);
    let homes = hub.folder().with_file_name("runs").join("homes");
    let begun = || {
        let found = std::fs::read_dir(&homes).into_iter().flatten().flatten();
        found.filter(|home| home.path().join("began").exists()).count()
    };
    eventually("both have begun", async || begun() == 2).await;
    assert_eq!(super::status(&bob, third).await, "queued");
    for home in std::fs::read_dir(&homes).unwrap() {
        std::fs::write(home.unwrap().path().join("go"), "").unwrap();
    }
    for (human, run) in [(&ada, first), (&ada, second), (&bob, third)] {
        assert_eq!(ended(human, run).await["run"]["status"], "succeeded");
    }
    hub.finish().await;
}
