//! Workspaces: an agent works in a folder that the operator allows, or in a copy of a git repository, whose changes become a branch.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use stoa::config::{Isolation, Subprocesses};
use tempfile::TempDir;

use super::{can_isolate, details, ended, notices, reactive, run, run_of, running};
use crate::cli_support::Place;
use crate::support::{Client, Human, TestHub, eventually};

/// Git as a person uses it, without settings of this machine.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder that the operator allows, with a repository `project` in it that has one commit.
struct Allowed {
    folder: TempDir,
}

impl Allowed {
    fn new() -> Self {
        let allowed = Self { folder: tempfile::tempdir().unwrap() };
        let project = allowed.project();
        std::fs::create_dir(&project).unwrap();
        git(&project, &["init", "-q", "-b", "main"]);
        git(&project, &["config", "user.name", "Ada"]);
        git(&project, &["config", "user.email", "ada@example.com"]);
        std::fs::write(project.join("a.txt"), "one\ntwo\n").unwrap();
        std::fs::write(project.join("old.txt"), "old\n").unwrap();
        std::fs::write(project.join(".gitignore"), "*.log\n").unwrap();
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-q", "-m", "First"]);
        allowed
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    async fn hub(&self, isolation: Isolation) -> TestHub {
        let folder = self.folder.path().to_owned();
        let setup = TestHub::setup().configure(move |config| {
            config.runs.workspaces = vec![folder];
            config.runs.isolation = isolation;
            config.runs.subprocesses =
                if isolation == Isolation::None { Subprocesses::Admins } else { Subprocesses::Everyone };
        });
        setup.start().await
    }

    /// What a person would notice if a run had left something in the repository.
    #[track_caller]
    fn assert_untouched(&self, head: &str) {
        let project = self.project();
        assert_eq!(git(&project, &["rev-parse", "HEAD"]).trim(), head);
        assert_eq!(git(&project, &["status", "--porcelain"]), "");
        assert_eq!(git(&project, &["worktree", "list"]).lines().count(), 1);
        assert_eq!(git(&project, &["stash", "list"]), "");
        let locks = Command::new("find").arg(&project).args(["-name", "*.lock"]).output().unwrap();
        assert_eq!(String::from_utf8(locks.stdout).unwrap(), "");
        git(&project, &["fsck", "--no-progress", "--strict"]);
    }
}

/// Both, where isolation works.
fn modes() -> Vec<Isolation> {
    if can_isolate() { vec![Isolation::None, Isolation::Bubblewrap] } else { vec![Isolation::None] }
}

fn script_in(kind: &str, path: &Path, text: &str) -> Value {
    json!({"backend": "subprocess", "command": ["sh", "-c", text], "workspace": {"kind": kind, "path": path}})
}

async fn agent_in(owner: &Human, name: &str, kind: &str, path: &Path, text: &str) {
    owner.agent_with(reactive(name, script_in(kind, path, text))).await;
}

#[tokio::test]
async fn changes_in_a_copy_become_a_branch() {
    for mode in modes() {
        let allowed = Allowed::new();
        let project = allowed.project();
        let head = git(&project, &["rev-parse", "HEAD"]).trim().to_owned();
        let hub = allowed.hub(mode).await;
        let ada = hub.admin().await;
        let text = "set -e; pwd; test \"$STOA_WORKSPACE\" = \"$(pwd)\"; git log -1 --format=%s; test -e \"$STOA_RUN_FOLDER/message.json\"; \
             test -z \"$(git remote)\"; \
             echo three >> a.txt; git rm -q old.txt; mkdir -p 'new folder'; printf 'no newline' > 'new folder/ü\"x.txt'; \
             printf '\\000\\001' > picture.bin; echo noise > out.log; ln -s a.txt link; \
             git add a.txt; git commit -q -m 'Add three'; echo four >> a.txt";
        let coder = ada.agent_with(reactive("coder", script_in("git", &project, text))).await;
        let done = run(&ada, "coder", "Work.").await;
        assert_eq!(done["run"]["status"], "succeeded", "{done}");
        let workspace = &done["workspace"];
        let id = done["run"]["id"].as_i64().unwrap();
        assert_eq!(coder.tool("get_run", json!({"run_id": id})).await["branch"], workspace["branch"]);
        let branch = format!("stoa/run-{id}");
        assert_eq!(workspace["branch"], json!(branch), "{workspace}");
        assert_eq!(workspace["base_commit"], json!(head));
        assert_eq!(workspace["commit"], json!(git(&project, &["rev-parse", &branch]).trim()));
        assert_eq!(workspace["path"], json!(project));
        // What the page shows is what git says.
        let range = format!("{head}..{branch}");
        assert_eq!(workspace["patch"].as_str().unwrap(), git(&project, &["diff", &range]));
        let figures = git(&project, &["diff", "--shortstat", &range]);
        assert_eq!(figures.trim(), "5 files changed, 4 insertions(+), 1 deletion(-)");
        assert_eq!((&workspace["files"], &workspace["insertions"]), (&json!(5), &json!(4)));
        assert_eq!((&workspace["deletions"], &workspace["truncated"]), (&json!(1), &json!(false)));
        // The program's own commit is in it, and the rest on top.
        let log = git(&project, &["log", "--format=%an: %s", &range]);
        assert_eq!(log, format!("coder: Changes of run {id}\ncoder: Add three\n"));
        assert_eq!(git(&project, &["branch", "--format=%(refname:short)"]), format!("main\n{branch}\n"));
        allowed.assert_untouched(&head);
        assert!(done["harness_run"]["prompt"].as_str().unwrap().contains("a copy of the git repository"));
        hub.finish().await;
    }
}

#[tokio::test]
async fn a_run_that_changes_nothing_makes_no_branch() {
    let allowed = Allowed::new();
    let project = allowed.project();
    let head = git(&project, &["rev-parse", "HEAD"]).trim().to_owned();
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    agent_in(&ada, "reader", "git", &project, "touch a.txt; echo noise > out.log; git status --porcelain; cat a.txt")
        .await;
    let done = run(&ada, "reader", "Read.").await;
    assert_eq!(done["harness_run"]["response"], "one\ntwo", "{done}");
    let workspace = &done["workspace"];
    assert_eq!((&workspace["branch"], &workspace["patch"]), (&Value::Null, &Value::Null), "{workspace}");
    assert_eq!((&workspace["files"], &workspace["base_commit"]), (&json!(0), &json!(head)));
    assert_eq!(git(&project, &["branch", "--format=%(refname:short)"]), "main\n");
    allowed.assert_untouched(&head);
    hub.finish().await;
}

#[tokio::test]
async fn two_runs_at_once_do_not_see_each_other() {
    let allowed = Allowed::new();
    let project = allowed.project();
    let head = git(&project, &["rev-parse", "HEAD"]).trim().to_owned();
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    let go = allowed.folder.path().join("go");
    for name in ["first", "second"] {
        let text = format!(
            "echo {name} >> a.txt; echo {name} > {name}.txt; while [ ! -e {} ]; do sleep 0.02; done; cat a.txt; ls {name}.txt",
            go.display()
        );
        agent_in(&ada, name, "git", &project, &text).await;
    }
    let mut runs = Vec::new();
    for name in ["first", "second"] {
        let id = run_of(&ada.dm(name, "Work.").await);
        running(&ada, id).await;
        runs.push((name, id));
    }
    std::fs::write(&go, "").unwrap();
    for (name, id) in runs {
        let done = ended(&ada, id).await;
        let response = format!("one\ntwo\n{name}\n{name}.txt");
        assert_eq!(done["harness_run"]["response"], json!(response), "{done}");
        let patch = done["workspace"]["patch"].as_str().unwrap();
        assert_eq!(patch, git(&project, &["diff", &head, &format!("stoa/run-{id}")]));
        assert!(patch.contains(&format!("+{name}\n")), "{patch}");
    }
    allowed.assert_untouched(&head);
    hub.finish().await;
}

#[tokio::test]
async fn a_failed_run_keeps_its_changes_and_a_taken_branch_is_left_alone() {
    let allowed = Allowed::new();
    let project = allowed.project();
    // Another hub has used the same numbers.
    for number in 1..20 {
        git(&project, &["branch", &format!("stoa/run-{number}")]);
    }
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    agent_in(&ada, "coder", "git", &project, "echo half >> a.txt; exit 3").await;
    let done = run(&ada, "coder", "Work.").await;
    assert_eq!((&done["run"]["status"], &done["run"]["reason"]), (&json!("failed"), &json!("exit_code")));
    let id = done["run"]["id"].as_i64().unwrap();
    assert_eq!(done["workspace"]["branch"], json!(format!("stoa/run-{id}-2")));
    assert!(done["workspace"]["patch"].as_str().unwrap().contains("+half"));
    hub.finish().await;
}

#[tokio::test]
async fn a_run_continues_after_an_outage_with_what_it_had() {
    let allowed = Allowed::new();
    let project = allowed.project();
    let head = git(&project, &["rev-parse", "HEAD"]).trim().to_owned();
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    let outage = json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": 529, "session_id": "s1",
        "num_turns": 1, "result": "API Error: 529 Overloaded. Try again in 2 minutes."});
    let answer = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s2", "num_turns": 1, "result": "Done."});
    let text = format!(
        "echo x >> \"$HOME/tries\"; echo line$(wc -l < \"$HOME/tries\") >> a.txt
         if [ $(wc -l < \"$HOME/tries\") -le 2 ]; then echo '{outage}'; exit 1; fi; echo '{answer}'"
    );
    let mut harness = script_in("git", &project, &text);
    harness["adapter"] = json!("claude-code");
    harness["command"].as_array_mut().unwrap().push(json!("sh"));
    ada.agent_with(reactive("coder", harness)).await;
    let run = run_of(&ada.dm("coder", "Work.").await);
    for attempt in 1..=2 {
        eventually("it waits", async || {
            let run = &details(&ada, run).await["run"];
            run["status"] == "deferred" && run["attempt"] == attempt + 1
        })
        .await;
        let kept = details(&ada, run).await["workspace"].clone();
        assert_eq!(
            (&kept["branch"], &kept["insertions"]),
            (&json!(format!("stoa/run-{run}")), &json!(attempt)),
            "{kept}"
        );
        hub.advance(std::time::Duration::from_secs(121));
    }
    let done = ended_after_outage(&ada, run).await;
    assert_eq!(done["run"]["status"], "succeeded", "{done}");
    let branch = format!("stoa/run-{run}");
    assert_eq!((&done["workspace"]["branch"], &done["workspace"]["insertions"]), (&json!(branch), &json!(3)), "{done}");
    let patch = done["workspace"]["patch"].as_str().unwrap();
    assert_eq!(patch, git(&project, &["diff", &head, &branch]));
    assert!(patch.contains("+line1\n+line2\n+line3\n"), "{patch}");
    hub.finish().await;
}

async fn ended_after_outage(client: &Client, run: i64) -> Value {
    eventually("the run has ended", async || !details(client, run).await["run"]["finished_at"].is_null()).await;
    details(client, run).await
}

#[tokio::test]
async fn what_an_attempt_left_is_shown_if_the_next_one_cannot_begin() {
    let allowed = Allowed::new();
    let project = allowed.project();
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    let outage = json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": 529, "session_id": "s1",
        "num_turns": 1, "result": "API Error: 529 Overloaded. Try again in 2 minutes."});
    let mut harness = script_in("git", &project, &format!("echo more >> a.txt; echo '{outage}'; exit 1"));
    harness["adapter"] = json!("claude-code");
    harness["command"].as_array_mut().unwrap().push(json!("sh"));
    ada.agent_with(reactive("coder", harness)).await;
    let run = run_of(&ada.dm("coder", "Work.").await);
    eventually("it waits", async || details(&ada, run).await["run"]["status"] == "deferred").await;
    std::fs::rename(&project, project.with_file_name("away")).unwrap();
    hub.advance(std::time::Duration::from_secs(121));
    let done = ended_after_outage(&ada, run).await;
    assert_eq!(done["run"]["reason"], "workspace_unavailable", "{done}");
    assert_eq!(done["workspace"]["branch"], json!(format!("stoa/run-{run}")), "{done}");
    hub.finish().await;
}

#[tokio::test]
async fn a_hostile_copy_harms_nobody() {
    let allowed = Allowed::new();
    let project = allowed.project();
    let head = git(&project, &["rev-parse", "HEAD"]).trim().to_owned();
    let Some(mode) = modes().pop() else { return };
    let hub = allowed.hub(mode).await;
    let ada = hub.admin().await;
    let outside = allowed.folder.path().join("touched");
    let trap = format!("#!/bin/sh\ntouch {}\n", outside.display());
    // Programs that git would start, repositories in the repository, files that cannot be read, and a name like an option.
    let text = format!(
        "printf '%s' '{trap}' > trap; chmod +x trap; for name in fsmonitor sshCommand pager editor; do git config core.$name \"$PWD/trap\"; done; \
         git config filter.x.clean \"$PWD/trap\"; git config diff.external \"$PWD/trap\"; git config uploadpack.packObjectsHook \"$PWD/trap\"; \
         echo '* filter=x diff=x' > .gitattributes; mkdir -p .git/hooks; \
         for hook in post-checkout reference-transaction pre-commit post-index-change; do cp trap .git/hooks/$hook; done; \
         git init -q empty; git init -q inner; git -C inner -c user.name=x -c user.email=x commit -q --allow-empty -m x; \
         git -C inner config core.fsmonitor \"$PWD/trap\"; echo closed > closed; chmod 000 closed; mkfifo pipe; \
         echo dash > ./-rf; ln -s /etc/passwd passwords; rm -f {0}",
        outside.display()
    );
    agent_in(&ada, "hostile", "git", &project, &text).await;
    let done = run(&ada, "hostile", "Work.").await;
    assert_eq!(done["run"]["status"], "succeeded", "{done}");
    let patch = done["workspace"]["patch"].as_str().unwrap();
    assert!(done["run"]["last_step"].as_str().unwrap().contains("Not in the branch: closed, empty/, inner/"), "{done}");
    assert!(patch.contains("+dash") && patch.contains("+/etc/passwd") && !patch.contains("root:"), "{patch}");
    assert!(!outside.exists());
    allowed.assert_untouched(&head);

    for (name, text) in [
        ("gone", "cd /; rm -rf \"$STOA_WORKSPACE\""),
        ("link", "cd /; rm -rf \"$STOA_WORKSPACE\"; ln -s /etc \"$STOA_WORKSPACE\""),
    ] {
        agent_in(&ada, name, "git", &project, text).await;
        let done = run(&ada, name, "Work.").await;
        assert_eq!(done["run"]["reason"], "workspace_unavailable", "{done}");
        assert!(done["workspace"]["patch"].is_null());
    }
    // Commits that do not follow the first one, and a copy that is no longer a repository.
    for (name, text) in [
        ("orphan", "git checkout -q --orphan other; git commit -q -m x; echo kept >> a.txt"),
        ("broken", "rm -rf .git; echo kept >> a.txt"),
    ] {
        agent_in(&ada, name, "git", &project, text).await;
        let done = run(&ada, name, "Work.").await;
        assert_eq!(
            (&done["run"]["status"], &done["workspace"]["insertions"]),
            (&json!("succeeded"), &json!(1)),
            "{done}"
        );
    }
    allowed.assert_untouched(&head);
    hub.finish().await;
}

#[tokio::test]
async fn git_starts_nothing_that_a_run_has_left() {
    let allowed = Allowed::new();
    let project = allowed.project();
    let Some(mode) = modes().pop() else { return };
    let hub = allowed.hub(mode).await;
    let ada = hub.admin().await;
    // Git looks into a repository inside for changes, and would use its settings. The trap would change what is kept.
    let text = "git init -q inner; cd inner; echo one > f; git add f; git -c user.name=x -c user.email=x commit -q -m x; \
         printf '#!/bin/sh\\ntouch \"%s/trapped\"; cat\\n' \"$STOA_WORKSPACE\" > ../../trap; chmod +x ../../trap; cp ../../trap ..; \
         git config filter.x.clean \"$STOA_WORKSPACE/trap\"; git config core.fsmonitor \"$STOA_WORKSPACE/trap\"; echo 'f filter=x' > .gitattributes; \
         cd ..; git add inner; git commit -q -m inner; echo two > inner/f; echo kept >> a.txt";
    agent_in(&ada, "hostile", "git", &project, text).await;
    let done = run(&ada, "hostile", "Work.").await;
    assert_eq!(done["run"]["status"], "succeeded", "{done}");
    let patch = done["workspace"]["patch"].as_str().unwrap();
    assert!(patch.contains("+kept") && patch.contains("Subproject commit") && !patch.contains("b/trapped"), "{patch}");
    let work = hub.folder().with_file_name("runs").join("work");
    let trapped = Command::new("find").arg(&work).args(["-name", "trapped"]).output().unwrap();
    assert_eq!(String::from_utf8(trapped.stdout).unwrap(), "");

    // Files become folders and the other way round, and one is a pipe that is never written to.
    let text = "rm a.txt; mkdir a.txt; echo in > a.txt/b; mkdir d; rm old.txt; mkdir old.txt; ls -A";
    agent_in(&ada, "mover", "git", &project, text).await;
    let done = run(&ada, "mover", "Work.").await;
    let id = done["run"]["id"].as_i64().unwrap();
    let files = git(&project, &["ls-tree", "-r", "--name-only", &format!("stoa/run-{id}")]);
    assert_eq!(files, ".gitignore\na.txt/b\n", "{done}");
    hub.finish().await;
}

#[tokio::test]
async fn a_run_whose_files_cannot_be_read_can_be_cancelled() {
    let allowed = Allowed::new();
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    agent_in(&ada, "stuck", "git", &allowed.project(), "rm .gitignore; mkfifo .gitignore; echo said").await;
    let id = run_of(&ada.dm("stuck", "Work.").await);
    eventually("the program has ended", async || {
        details(&ada, id).await["steps"].as_array().unwrap().iter().any(|step| step["text"] == "said")
    })
    .await;
    ada.post(&format!("/api/runs/{id}/cancel"), &json!({})).await.ok();
    let done = ended(&ada, id).await;
    assert_eq!((&done["run"]["status"], &done["run"]["reason"]), (&json!("cancelled"), &json!("by_owner")), "{done}");
    hub.finish().await;
}

#[tokio::test]
async fn a_branch_of_others_is_never_overwritten() {
    let allowed = Allowed::new();
    let project = allowed.project();
    git(&project, &["branch", "stoa"]);
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    let text = format!("echo more >> a.txt; git -C {} branch stoa-run-$STOA_RUN_ID", project.display());
    agent_in(&ada, "coder", "git", &project, &text).await;
    let done = run(&ada, "coder", "Work.").await;
    let branch = done["workspace"]["branch"].as_str().unwrap();
    let id = done["run"]["id"].as_i64().unwrap();
    assert!(branch.starts_with(&format!("stoa-run-{id}-")), "{branch}");
    assert_eq!(git(&project, &["rev-parse", &format!("stoa-run-{id}")]), git(&project, &["rev-parse", "main"]));
    hub.finish().await;
}

#[tokio::test]
async fn runs_that_change_a_folder_are_alone_in_it() {
    let allowed = Allowed::new();
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    let (root, project) = (allowed.folder.path().to_owned(), allowed.project());
    let go = root.join("go");
    let wait = format!("touch begun; while [ ! -e {} ]; do sleep 0.02; done; rm begun", go.display());
    agent_in(&ada, "first", "folder", &root, &wait).await;
    agent_in(&ada, "second", "folder", &project, "if [ -e ../begun ]; then echo both; else echo alone; fi").await;
    agent_in(&ada, "third", "git", &project, "ls").await;
    let first = run_of(&ada.dm("first", "Work.").await);
    eventually("the first one works", async || root.join("begun").exists()).await;
    let second = run_of(&ada.dm("second", "Work.").await);
    let third = run_of(&ada.dm("third", "Work.").await);
    running(&ada, second).await;
    running(&ada, third).await;
    // One that waits can be cancelled.
    ada.post(&format!("/api/runs/{third}/cancel"), &json!({})).await.ok();
    assert_eq!(ended(&ada, third).await["run"]["status"], "cancelled");
    std::fs::write(&go, "").unwrap();
    assert_eq!(ended(&ada, first).await["run"]["status"], "succeeded");
    assert_eq!(ended(&ada, second).await["harness_run"]["response"], "alone");
    hub.finish().await;
}

#[tokio::test]
async fn secrets_are_masked_and_long_patches_cut() {
    let allowed = Allowed::new();
    let project = allowed.project();
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    agent_in(&ada, "leaky", "git", &project, "echo \"$SOME_KEY\" > key.txt").await;
    hub.operator()
        .call("secrets.set", json!({"scope": "agent:leaky", "name": "SOME_KEY", "value": "hunter2hunter2"}))
        .await;
    let done = run(&ada, "leaky", "Work.").await;
    assert!(!done.to_string().contains("hunter2"), "{done}");
    assert!(done["workspace"]["patch"].as_str().unwrap().contains("key.txt"));

    // A file that is too long to be found in pieces, with a sign of the patch before each line.
    let words: Vec<String> = (0..30).map(|number| format!("token{number}: secret-word-number-{number:04}")).collect();
    let scope = json!({"scope": "agent:leaky", "name": "SOME_FILE", "value": words.join("\n")});
    hub.operator().call("secrets.set", scope).await;
    let harness = script_in("git", &project, "printf '%s' \"$SOME_FILE\" > file.txt");
    ada.patch("/api/agents/leaky", &json!({"harness": harness})).await.ok();
    let done = run(&ada, "leaky", "Work.").await;
    assert!(done["workspace"]["patch"].as_str().unwrap().contains("token29: ***"), "{done}");
    assert!(!done.to_string().contains("secret-word-number"), "{done}");

    agent_in(&ada, "long", "git", &project, "yes 'a line of text' | head -60000 > long.txt").await;
    let done = run(&ada, "long", "Work.").await;
    assert_eq!(done["workspace"]["truncated"], true);
    assert_eq!(done["workspace"]["insertions"], 60000);
    assert_eq!(done["workspace"]["patch"].as_str().unwrap().len(), 512 * 1024);
    // A secret that begins before the cut.
    let value = "a-long-secret-that-is-cut".repeat(20);
    hub.operator().call("secrets.set", json!({"scope": "agent:long", "name": "SOME_KEY", "value": value})).await;
    let text = "head -c 524000 /dev/zero | tr '\\0' x | fold -w 100 > long.txt; for n in 1 2 3 4; do echo \"$SOME_KEY\" >> long.txt; done";
    ada.patch("/api/agents/long", &json!({"harness": script_in("git", &project, text)})).await.ok();
    let done = run(&ada, "long", "Work.").await;
    assert_eq!(done["workspace"]["truncated"], true);
    assert!(!done["workspace"]["patch"].as_str().unwrap().contains("a-long-secret"), "{done}");
    hub.finish().await;
}

#[tokio::test]
async fn a_folder_is_shared_and_strangers_runs_only_read_it() {
    for mode in modes() {
        let allowed = Allowed::new();
        let (project, hub) = (allowed.project(), allowed.hub(mode).await);
        let ada = hub.admin().await;
        let text = "cat a.txt; (echo more >> a.txt) 2>/dev/null && echo written; (echo x >> .git/config) 2>/dev/null && echo configured; true";
        agent_in(&ada, "keeper", "folder", &project, text).await;
        let done = run(&ada, "keeper", "Work.").await;
        let response = done["harness_run"]["response"].as_str().unwrap();
        assert!(response.starts_with("one\ntwo\nwritten"), "{done}");
        // Who changes the settings of git has others run something.
        assert_eq!(response.contains("configured"), mode == Isolation::None, "{done}");
        assert_eq!((&done["workspace"]["kind"], &done["workspace"]["branch"]), (&json!("folder"), &Value::Null));
        if mode == Isolation::Bubblewrap {
            let eve = hub.human("eve").await;
            let id = run_of(&eve.dm("keeper", "Work for me.").await);
            let done = ended(&ada, id).await;
            assert_eq!(done["harness_run"]["response"], "one\ntwo\nmore", "{done}");
            ada.patch("/api/agents/keeper", &json!({"foreign_reach": "agent"})).await.ok();
            let id = run_of(&eve.dm("keeper", "Work for me.").await);
            let done = ended(&ada, id).await;
            assert_eq!(done["harness_run"]["response"], "one\ntwo\nmore\nwritten", "{done}");
        }
        hub.finish().await;
    }
}

#[tokio::test]
async fn folders_that_the_operator_does_not_allow_are_refused() {
    let allowed = Allowed::new();
    let root = allowed.folder.path().to_owned();
    std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
    std::fs::write(root.join("file"), "").unwrap();
    let hub = allowed.hub(Isolation::None).await;
    let ada = hub.admin().await;
    let refused = async |workspace: Value, words: &str| {
        let harness = json!({"backend": "subprocess", "command": ["true"], "workspace": workspace});
        let created = ada.post("/api/agents", &reactive("coder", harness)).await;
        let text = created.status(422).json().to_string();
        assert!(text.contains("harness.workspace") && text.contains(words), "{text}");
    };
    for path in ["/etc", "/", "/nowhere", "/tmp/../etc"] {
        refused(json!({"kind": "folder", "path": path}), "").await;
    }
    refused(json!({"kind": "folder", "path": root.join("out")}), "STOA_WORKSPACES").await;
    refused(json!({"kind": "folder", "path": root.join("none")}), "does not exist").await;
    refused(json!({"kind": "folder", "path": root.join("file")}), "is not a folder").await;
    refused(json!({"kind": "folder", "path": root.join("project/../../..")}), "absolute").await;
    refused(json!({"kind": "folder", "path": "project"}), "absolute").await;
    std::fs::create_dir(root.join(std::ffi::OsStr::from_bytes(b"\xff"))).unwrap();
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(b"\xff"), root.join("odd")).unwrap();
    refused(json!({"kind": "folder", "path": root.join("odd")}), "no text").await;
    refused(json!({"kind": "git"}), "absolute").await;
    refused(json!({"kind": "empty", "path": root}), "only for").await;
    let harness =
        json!({"backend": "webhook", "url": "https://example.com/x", "workspace": {"kind": "folder", "path": root}});
    ada.post("/api/agents", &reactive("coder", harness)).await.status(422);
    let programs = ada.get("/api/programs").await.ok().json();
    assert_eq!(programs["workspaces"], json!([root]));
    assert_eq!(programs["repositories"], json!([allowed.project()]));
    assert_eq!(programs["data_folder"], json!(hub.folder()));

    // The folder can change after the owner has set it.
    std::fs::create_dir(root.join("empty")).unwrap();
    refused(json!({"kind": "git", "path": root.join("empty")}), "is not a git repository").await;
    git(&root.join("empty"), &["init", "-q"]);
    agent_in(&ada, "late", "git", &root.join("empty"), "true").await;
    std::fs::remove_dir_all(root.join("empty/.git")).unwrap();
    let done = run(&ada, "late", "Work.").await;
    assert_eq!(done["run"]["reason"], "workspace_unavailable");
    assert!(notices(&ada).await[0].contains("it is not a git repository"), "{done}");
    git(&root.join("empty"), &["init", "-q"]);
    let done = run(&ada, "late", "Work.").await;
    assert!(done["harness_run"]["error_log"].is_null() && notices(&ada).await.len() == 2, "{done}");
    std::fs::remove_dir_all(root.join("empty")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("empty")).unwrap();
    let done = run(&ada, "late", "Work.").await;
    assert_eq!(done["run"]["reason"], "workspace_unavailable", "{done}");

    // A link in place of the settings of git leads away, and who can change those settings has others run something.
    std::fs::create_dir(root.join("linked")).unwrap();
    std::os::unix::fs::symlink("../../../../etc", root.join("linked/.git")).unwrap();
    for (name, path) in [("linked", "linked"), ("inside", "project/.git")] {
        agent_in(&ada, name, "folder", &root.join(path), "ls .git").await;
        let done = run(&ada, name, "Work.").await;
        assert_eq!(done["run"]["reason"], "workspace_unavailable", "{done}");
    }

    // People whose agents may not run commands learn nothing about folders.
    let eve = hub.human("eve").await;
    let harness = script_in("folder", &root.join("none"), "true");
    eve.post("/api/agents", &reactive("spy", harness)).await.problem(403, "subprocess_not_allowed");
    let programs = eve.get("/api/programs").await.ok().json();
    assert_eq!((&programs["workspaces"], &programs["repositories"]), (&json!([]), &json!([])));
    assert_eq!(programs["data_folder"], Value::Null);
    hub.finish().await;
}

#[test]
fn a_killed_hub_leaves_a_repository_as_it_was() {
    let allowed = Allowed::new();
    let project = allowed.project();
    let head = git(&project, &["rev-parse", "HEAD"]).trim().to_owned();
    let place = Place::new();
    let (runs, folder) = (place.root().join("runs"), allowed.folder.path().display().to_string());
    let options = ["--run-dir", runs.to_str().unwrap(), "--workspaces", &folder, "--run-isolation", "none"];
    let mut hub = place.start_with(&options);
    let key = hub.json(&["agents", "create", "sender", "--owner", "admin"])["key"].as_str().unwrap().to_owned();
    let (begun, go) = (allowed.folder.path().join("begun"), allowed.folder.path().join("go"));
    let text =
        format!("echo more >> a.txt; touch {}; while [ ! -e {} ]; do sleep 0.02; done", begun.display(), go.display());
    let harness = script_in("git", &project, &text).to_string();
    let settings = ["--trigger-mode", "reactive", "--cooldown-seconds", "0", "--harness", &harness];
    hub.json(&[&["agents", "create", "coder", "--owner", "admin"], &settings[..]].concat());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sender = Client::new(format!("http://{}", hub.address)).bearer(&key);
    let run = run_of(&runtime.block_on(sender.dm("coder", "Work.")));
    runtime.block_on(eventually("the run works", async || begun.exists()));
    hub.kill_now();
    allowed.assert_untouched(&head);

    std::fs::write(&go, "").unwrap();
    let hub = place.start_with(&options);
    let shown = || hub.json(&["runs", "show", &run.to_string()]);
    runtime.block_on(eventually("the run was repeated", async || shown()["run"]["status"] == "succeeded"));
    let workspace = shown()["workspace"].clone();
    assert_eq!(workspace["insertions"], 1, "{workspace}");
    let text = hub.admin(&["runs", "show", &run.to_string()]).ok();
    assert!(text.contains(&format!("stoa/run-{run}")) && text.contains(project.to_str().unwrap()), "{text}");
    let patch = workspace["patch"].as_str().unwrap();
    assert_eq!(patch, git(&project, &["diff", &head, &format!("stoa/run-{run}")]));
    allowed.assert_untouched(&head);
    assert_eq!(hub.stop().code, Some(0));
}
