//! Commands below a supervisor: none of their processes outlives them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stoa_supervisor::{Ended, Limits, Obstacle, Order, Supervised, end_marked};
use tokio::io::AsyncReadExt;

use crate::support::eventually;

const MARK: &str = "SUPERVISOR_TEST_MARK";

/// A folder for a command, and a mark that all of its processes carry.
struct Scene {
    folder: tempfile::TempDir,
    mark: String,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().display().to_string();
        Self { folder, mark }
    }

    fn marks(&self) -> BTreeMap<String, String> {
        BTreeMap::from([(MARK.to_owned(), self.mark.clone())])
    }

    /// A script for the shell.
    fn script(&self, text: &str) -> Order {
        let environment = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into_iter().chain(self.marks()).collect();
        Order {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), text.to_owned()],
            environment,
            folder: self.folder.path().to_owned(),
            input: None,
            wrapper: None,
            limits: Limits::default(),
        }
    }

    async fn start(&self, order: &Order) -> Supervised {
        let program = Path::new(env!("CARGO_BIN_EXE_stoa"));
        let mut supervised = Supervised::prepare(program, &["supervise"], &self.marks()).unwrap();
        supervised.start(order).await.unwrap();
        supervised
    }

    async fn run(&self, text: &str) -> Supervised {
        self.start(&self.script(text)).await
    }

    /// The processes that are alive.
    fn alive(&self) -> Vec<u32> {
        let entry = format!("{MARK}={}", self.mark);
        let pids =
            std::fs::read_dir("/proc").unwrap().filter_map(|found| found.unwrap().file_name().to_str()?.parse().ok());
        let has_mark = |pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|one| one == entry.as_bytes())
        };
        pids.filter(has_mark).collect()
    }

    async fn nothing_is_left(&self) {
        eventually("no process is left", async || self.alive().is_empty()).await;
    }

    /// Waits for a file that a command writes when it is so far.
    async fn has(&self, name: &str) {
        eventually("the command is so far", async || self.folder.path().join(name).exists()).await;
    }
}

/// Leaves its group and its session, twice, and its parents.
const ESCAPE: &str = "setsid sh -c 'setsid sh -c \"touch escaped; exec sleep 1000\" & ' & \
                      while [ ! -e escaped ]; do sleep 0.01; done";

#[tokio::test]
async fn a_command_is_given_what_it_needs_and_nothing_else() {
    let scene = Scene::new();
    std::fs::write(scene.folder.path().join("input"), "the prompt").unwrap();
    let script = scene.script("cat; echo; pwd; env; ls /proc/self/fd | wc -l; ulimit -n; echo oops >&2; exit 7");
    let mut run = scene.start(&Order { input: Some(scene.folder.path().join("input")), ..script }).await;
    let (mut output, mut errors) = (String::new(), String::new());
    run.output.take().unwrap().read_to_string(&mut output).await.unwrap();
    run.errors.take().unwrap().read_to_string(&mut errors).await.unwrap();
    assert_eq!(run.ended().await, Ended::Exited(7));
    let lines: Vec<_> = output.lines().collect();
    let folder = scene.folder.path().canonicalize().unwrap();
    assert_eq!((lines[0], Path::new(lines[1])), ("the prompt", folder.as_path()));
    // The shell adds PWD and the like. What it has from here is only what the order says.
    assert!(!output.contains("CARGO") && output.contains(&scene.mark), "{output}");
    // Standard input, output and error, and the folder that `ls` reads.
    assert_eq!(lines[lines.len() - 2..], ["4", "1024"]);
    assert_eq!(errors, "oops\n");
    scene.nothing_is_left().await;
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let scene = Scene::new();
    let mut run = scene.run(ESCAPE).await;
    assert_eq!(run.ended().await, Ended::Exited(0));
    scene.nothing_is_left().await;
}

#[tokio::test]
async fn a_command_is_stopped_and_then_killed() {
    let scene = Scene::new();
    let mut run = scene.run("trap 'echo stopped; exit 3' TERM; touch ready; while :; do sleep 0.01; done").await;
    scene.has("ready").await;
    run.stop().await;
    assert_eq!(run.ended().await, Ended::Exited(3));
    scene.nothing_is_left().await;

    let stubborn = Scene::new();
    let escape = format!("trap '' TERM; {ESCAPE}; touch ready; while :; do sleep 0.01; done");
    let mut run = stubborn.run(&escape).await;
    stubborn.has("ready").await;
    run.stop().await;
    run.kill().await;
    assert_eq!(run.ended().await, Ended::Signalled(9));
    stubborn.nothing_is_left().await;
}

#[tokio::test]
async fn nothing_survives_the_one_who_started_it() {
    let scene = Scene::new();
    let run = scene.run(&format!("trap '' TERM HUP; {ESCAPE}; touch ready; sleep 1000")).await;
    scene.has("ready").await;
    drop(run);
    scene.nothing_is_left().await;
}

#[tokio::test]
async fn processes_of_a_killed_supervisor_are_found_by_their_mark() {
    let scene = Scene::new();
    let mut run = scene.run(&format!("{ESCAPE}; touch ready; sleep 1000")).await;
    scene.has("ready").await;
    let pid = rustix::process::Pid::from_raw(i32::try_from(run.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_eq!(run.ended().await, Ended::Lost);
    assert!(!scene.alive().is_empty(), "there is nothing to find");
    assert!(end_marked(MARK, |mark| mark == scene.mark).unwrap() > 0);
    scene.nothing_is_left().await;
    assert_eq!(end_marked(MARK, |mark| mark == scene.mark).unwrap(), 0);
}

#[tokio::test]
async fn a_fork_bomb_is_ended() {
    let scene = Scene::new();
    let mut order = scene.script("i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done; wait");
    order.limits.processes = 20;
    let mut run = scene.start(&order).await;
    assert_eq!(run.ended().await, Ended::TooManyProcesses);
    scene.nothing_is_left().await;
}

#[tokio::test]
async fn a_command_that_cannot_start_is_reported() {
    let scene = Scene::new();
    let missing = Order { program: PathBuf::from("/no/such/program"), ..scene.script("") };
    assert_eq!(scene.start(&missing).await.ended().await, Ended::NotStarted(Obstacle::NotFound));
    let text = scene.folder.path().join("text");
    std::fs::write(&text, "no program").unwrap();
    let text = Order { program: text, ..scene.script("") };
    assert_eq!(scene.start(&text).await.ended().await, Ended::NotStarted(Obstacle::NotExecutable));
    let elsewhere = Order { folder: PathBuf::from("/no/such/folder"), ..scene.script("") };
    assert_eq!(scene.start(&elsewhere).await.ended().await, Ended::NotStarted(Obstacle::NotFound));
    scene.nothing_is_left().await;
}
