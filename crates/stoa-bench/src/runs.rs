//! `stoa-bench runs`: how soon a message starts a program, and what many of them at once cost.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use clap::Args;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use serde::Serialize;
use serde_json::{Value, json as object};

use super::arguments::CommonArguments;
use super::hub_process::HubProcess;
use super::load::Client;
use super::machine::{Machine, resident_bytes};
use super::progress::show_progress;
use super::real_time::{now, pause};
use super::report::{Budget, Latency, Outcome, json, table, verdict};

/// From the answer to a send, which follows its commit, to the first line of the program.
const START_BUDGET_MS: f64 = 100.0;
const GROWTH_BUDGET_MB: f64 = 50.0;
const LOOK: Duration = Duration::from_millis(20);
/// A program that says when it began.
const PROGRAM: [&str; 3] = ["bash", "-c", "echo $EPOCHREALTIME"];

#[derive(Args)]
pub(super) struct RunsArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// Runs that are started one after the other, while there is a free place
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    single: u32,

    /// Agents that are all started at once
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    agents: u32,

    /// Fail when a budget is exceeded
    #[arg(long)]
    check: bool,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    single: u32,
    start: StartFigures,
    agents: u32,
    seconds: f64,
    runs_per_second: f64,
    growth_mb: f64,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct StartFigures {
    p50_ms: f64,
    p99_ms: f64,
}

pub(super) async fn runs(arguments: RunsArguments) -> Result<Outcome, String> {
    let folder = arguments.common.folder()?;
    let data = folder.path().join("hub");
    std::fs::create_dir(&data).map_err(|error| error.to_string())?;
    let machine = Machine::with_folder(&data);
    let hub = HubProcess::start(&arguments.common.hub_program()?, &data, true, None).await?;
    let sender = hub.fill(1).await?.pop().ok_or("there is no sender")?;
    show_progress("making agents");
    let agents = arguments.agents.max(arguments.single);
    for number in 0..agents {
        let agent = object!({
            "name": format!("runner-{number:06}"), "trigger_mode": "reactive", "cooldown_seconds": 0,
            "harness": {"backend": "subprocess", "command": PROGRAM},
        });
        hub.admin("agents.create", object!({"owner": "admin", "agent": agent})).await?;
    }
    show_progress("starting one after the other");
    let mut caller = Caller { address: hub.address, key: sender, client: Client::connect(hub.address, 0).await? };
    let mut started = Vec::new();
    for number in 0..arguments.single {
        let (run, sent) = caller.start(number).await?;
        caller.wait_for_end(run, &hub).await?;
        let began = caller.began(run, &hub).await?;
        started.push(began.saturating_sub(sent));
    }
    let start = Latency::of(started);
    show_progress("starting all at once");
    pause(Duration::from_secs(1)).await;
    let before = resident_bytes(hub.pid)?;
    let begun = now();
    for number in 0..arguments.agents {
        caller.start(number).await?;
    }
    let mut most = before;
    loop {
        most = most.max(resident_bytes(hub.pid)?);
        let open = hub.admin("runs.list", object!({"status": "queued,running", "limit": 1})).await?;
        if open["total"] == 0 {
            break;
        }
        pause(LOOK).await;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let succeeded = hub.admin("runs.list", object!({"status": "succeeded", "limit": 1})).await?;
    let expected = i64::from(arguments.single) + i64::from(arguments.agents);
    if succeeded["total"] != expected {
        return Err(format!("{} of {expected} runs succeeded", succeeded["total"]));
    }
    hub.stop().await?;
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    let growth_mb = most.saturating_sub(before) as f64 / 1e6;
    let budgets = vec![
        Budget::at_most_of("from the commit to a started program, p99".to_owned(), start.p99_ms, START_BUDGET_MS, "ms"),
        Budget::at_most_of("growth of the hub with all agents at once".to_owned(), growth_mb, GROWTH_BUDGET_MB, "MB"),
    ];
    let code = verdict(arguments.check, &budgets);
    let report = Report {
        machine,
        single: arguments.single,
        start: StartFigures { p50_ms: start.p50_ms, p99_ms: start.p99_ms },
        agents: arguments.agents,
        seconds,
        runs_per_second: f64::from(arguments.agents) / seconds,
        growth_mb,
        budgets,
    };
    let text = if arguments.common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

impl Report {
    fn show(&self) -> String {
        let rows = vec![
            vec![
                "one after the other".to_owned(),
                self.single.to_string(),
                format!("p50 {:.1} ms, p99 {:.1} ms to a started program", self.start.p50_ms, self.start.p99_ms),
            ],
            vec![
                "all at once".to_owned(),
                self.agents.to_string(),
                format!(
                    "{:.1} s, {:.0} runs/s, the hub grew by {:.1} MB",
                    self.seconds, self.runs_per_second, self.growth_mb
                ),
            ],
        ];
        let mut text = self.machine.heading("runs", "sqlite");
        text.push_str(&table(&["", "runs", ""], rows));
        for budget in &self.budgets {
            text.push_str(&budget.show());
        }
        text
    }
}

/// Somebody who writes to agents.
struct Caller {
    address: SocketAddr,
    key: String,
    client: Client,
}

impl Caller {
    /// Starts an agent. Returns its run, and when the hub had answered.
    async fn start(&mut self, number: u32) -> Result<(i64, Duration), String> {
        let body = object!({"to": format!("runner-{number:06}"), "body": "Say when you begin, please."}).to_string();
        let request = Request::builder()
            .method(Method::POST)
            .uri("/api/messages")
            .header(HOST, self.address.to_string())
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, format!("Bearer {}", self.key))
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| error.to_string())?;
        let answer = self.client.send(request, StatusCode::CREATED).await?;
        let sent = since_1970();
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let run = answer["delivery"][0]["run_id"].as_i64();
        Ok((run.ok_or_else(|| format!("no run was started: {}", answer["delivery"]))?, sent))
    }

    async fn wait_for_end(&mut self, run: i64, hub: &HubProcess) -> Result<(), String> {
        loop {
            let details = hub.admin("runs.show", object!({"id": run})).await?;
            match details["run"]["status"].as_str() {
                Some("queued" | "running") => pause(Duration::from_millis(2)).await,
                Some("succeeded") => return Ok(()),
                _ => return Err(format!("a run did not succeed: {}", details["run"])),
            }
        }
    }

    /// When the program of a run began.
    async fn began(&mut self, run: i64, hub: &HubProcess) -> Result<Duration, String> {
        let details = hub.admin("runs.show", object!({"id": run})).await?;
        let said = details["harness_run"]["response"].as_str().unwrap_or_default();
        let seconds: f64 = said.trim().parse().map_err(|_| format!("the program said {said:?}"))?;
        Ok(Duration::from_secs_f64(seconds))
    }
}

fn since_1970() -> Duration {
    #[expect(clippy::disallowed_methods, reason = "compares with what another process says")]
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
