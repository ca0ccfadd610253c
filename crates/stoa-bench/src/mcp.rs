//! `stoa-bench mcp`: what agents pay for calling a tool, and what those who wait cost.

use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::arguments::{CommonArguments, parse_seconds};
use super::fill::{SizeArguments, fill_folder};
use super::hub_process::HubProcess;
use super::load::{Extent, Load, LoadFigures, LoadProcess, Order};
use super::machine::Machine;
use super::mcp_waits::{WaitRound, Waiters};
use super::progress::show_progress;
use super::raw_mcp::BareMcp;
use super::report::{Budget, Figure, Outcome, json, table, verdict};
use super::requests::{messages, order, tool_calls};

/// CPU of a send by a tool against a bare tool and a send by REST together.
const CPU_BUDGET: f64 = 1.5;
/// CPU milliseconds in a second for all who wait: what nobody would notice.
const PARKED_BUDGET_MS: f64 = 1.0;

#[derive(Args)]
pub(super) struct McpArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How long each measurement takes
    #[arg(long, default_value_t = 1.0, value_parser = parse_seconds)]
    seconds: f64,

    /// Connections that send at the same time
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10000))]
    clients: u16,

    /// Agents that wait for messages at the same time; each user's may hold 100 calls open
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(2..=10000))]
    waits: u16,

    /// Messages that are there before
    #[arg(long, default_value_t = 10_000)]
    messages_before: u64,

    #[command(flatten)]
    size: SizeArguments,

    /// Fail when a budget is not kept
    #[arg(long)]
    check: bool,
}

#[derive(Serialize)]
struct McpReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    clients: u16,
    messages_before: u64,
    calls: Vec<CallFigures>,
    /// CPU of a tool's send against the bare tool and the REST send together, round by round.
    cpu_ratio: Figure,
    waits: WaitFigures,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct CallFigures {
    call: &'static str,
    #[serde(flatten)]
    figures: LoadFigures,
}

#[derive(Serialize)]
struct WaitFigures {
    waits: u16,
    /// CPU of the hub with nobody waiting, for each second.
    idle_ms_per_second: Figure,
    parked_ms_per_second: Figure,
    /// From the answer to the send to that of the wait.
    wake_p50_ms: Figure,
    wake_p99_ms: Figure,
}

/// One way to call, with what came of it.
struct Candidate {
    name: &'static str,
    order: Order,
    loads: Vec<Load>,
}

pub(super) async fn mcp(arguments: McpArguments) -> Result<Outcome, String> {
    let McpArguments { common, rounds, seconds, .. } = &arguments;
    let program = common.hub_program()?;
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let data = folder.path().join("hub");
    show_progress(&format!("making {} messages", arguments.messages_before));
    let filled = fill_folder(&data, arguments.size.into(), arguments.messages_before, 1).await?;
    let hub = HubProcess::start(&program, &data, true, None).await?;
    let info = hub.info().await?;
    let engine = format!("SQLite {}", info["database"]["engine_version"].as_str().unwrap_or_default());
    let bare = BareMcp::start().await?;
    let mut waiters = Waiters::connect(&hub, &filled, arguments.waits.into()).await?;
    let mut load = LoadProcess::start()?;
    let sends = messages(&filled);
    let calls = tool_calls(&sends)?;
    let to_hub = |asks, status| order(&hub, &filled, asks, status, arguments.clients.into(), *seconds);
    let tool = to_hub(calls, 200);
    let bare_tool = Order { server: std::process::id(), address: bare.address, ..tool.clone() };
    let mut candidates = [("send, tool", tool), ("send, REST", to_hub(sends, 201)), ("bare tool", bare_tool)]
        .map(|(name, order)| Candidate { name, order, loads: Vec::new() });
    show_progress(&format!("measuring for about {:.0} s", f64::from(*rounds) * (seconds * 5.5 + 1.0)));
    for candidate in &candidates {
        load.send(&Order { extent: Extent::Seconds(seconds / 2.0), ..candidate.order.clone() }).await?;
    }
    let mut waits = Vec::new();
    for _ in 0..*rounds {
        for candidate in &mut candidates {
            candidate.loads.push(load.send(&candidate.order).await?);
        }
        waits.push(waiters.measure(Duration::from_secs_f64(*seconds)).await?);
    }
    drop(waiters);
    hub.stop().await?;
    let report = McpReport::of(&arguments, machine, engine, &candidates, &waits);
    let code = verdict(arguments.check, &report.budgets);
    let text = if arguments.common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

impl McpReport {
    fn of(
        arguments: &McpArguments,
        machine: Machine,
        engine: String,
        candidates: &[Candidate; 3],
        waits: &[WaitRound],
    ) -> Self {
        let [tool, rest, bare] = candidates;
        let by_round = tool.loads.iter().zip(&rest.loads).zip(&bare.loads);
        let cpu_ratio = Figure::of(by_round.map(|((tool, rest), bare)| {
            tool.server_cpu_us_per_request / (rest.server_cpu_us_per_request + bare.server_cpu_us_per_request)
        }));
        let figures = WaitFigures::of(arguments.waits, waits);
        let parked = figures.parked_ms_per_second.median - figures.idle_ms_per_second.median;
        Self {
            bench: "mcp",
            machine,
            engine,
            rounds: arguments.rounds,
            seconds: arguments.seconds,
            clients: arguments.clients,
            messages_before: arguments.messages_before,
            calls: candidates
                .iter()
                .map(|candidate| CallFigures { call: candidate.name, figures: LoadFigures::of(&candidate.loads) })
                .collect(),
            cpu_ratio,
            waits: figures,
            budgets: vec![
                Budget::at_most(
                    "CPU of a send by a tool against a bare tool and a send by REST".to_owned(),
                    cpu_ratio.median,
                    CPU_BUDGET,
                ),
                Budget::at_most_of(
                    format!("CPU in a second of {} waits", arguments.waits),
                    parked.max(0.0),
                    PARKED_BUDGET_MS,
                    " ms",
                ),
            ],
        }
    }

    fn show(&self) -> String {
        let calls = self.calls.iter().map(|case| {
            let figures = &case.figures;
            vec![
                case.call.to_owned(),
                figures.requests_per_second.show_range(),
                figures.p50_ms.show(),
                figures.p99_ms.show(),
                figures.server_cpu_us_per_request.show_range(),
                figures.writer_cpu_us_per_request.show(),
            ]
        });
        let columns = ["call", "calls/s", "p50 ms", "p99 ms", "CPU µs/call", "writer µs/call"];
        let waits = &self.waits;
        let cells = vec![
            waits.waits.to_string(),
            waits.idle_ms_per_second.show_range(),
            waits.parked_ms_per_second.show_range(),
            waits.wake_p50_ms.show(),
            waits.wake_p99_ms.show(),
        ];
        let wait_columns = ["waits", "CPU ms/s without", "CPU ms/s with", "woken after p50 ms", "p99 ms"];
        let mut text = [
            self.machine.heading("mcp", &self.engine),
            format!(
                "{} clients, {} messages before; medians of {} rounds of {} s (least–most)\n\n",
                self.clients, self.messages_before, self.rounds, self.seconds
            ),
            table(&columns, calls.collect()),
            format!("\ntool against bare tool and REST together, CPU: {}x by round\n\n", self.cpu_ratio.show_range()),
            "wait_for_messages: a hub with nothing to do, and the time from a send's answer to that of the wait\n"
                .to_owned(),
            table(&wait_columns, vec![cells]),
            "\n".to_owned(),
        ]
        .concat();
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}

impl WaitFigures {
    fn of(waits: u16, rounds: &[WaitRound]) -> Self {
        let wake = |percent: usize| {
            Figure::of(rounds.iter().map(|round| {
                let mut all = round.wake_ms.clone();
                all.sort_by(f64::total_cmp);
                let place = (all.len() * percent / 100).min(all.len().saturating_sub(1));
                all.get(place).copied().unwrap_or_default()
            }))
        };
        Self {
            waits,
            idle_ms_per_second: Figure::of(rounds.iter().map(|round| round.idle_us_per_second / 1000.0)),
            parked_ms_per_second: Figure::of(rounds.iter().map(|round| round.parked_us_per_second / 1000.0)),
            wake_p50_ms: wake(50),
            wake_p99_ms: wake(99),
        }
    }
}
