//! `stoa-bench send`: durable messages through REST, against the same rows through the bare writer.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::arguments::{CommonArguments, parse_seconds};
use super::fill::{Filled, SizeArguments, fill_folder};
use super::hub_process::{HubProcess, copy_folder};
use super::hub_program::HubProgram;
use super::load::{Load, LoadFigures, LoadProcess};
use super::machine::Machine;
use super::progress::show_progress;
use super::raw_writer::{RawWriter, WriterFigures, WriterRound};
use super::read::{ListingFigures, SizedHub, compare_listings, largest_against_smallest};
use super::report::{Budget, Figure, Outcome, json, show, table, verdict};
use super::requests::{messages, order};
use super::send_postgres::on_postgres;

/// Messages a second of all clients, against the bare writer.
const SHARE_BUDGET: f64 = 0.5;
/// What one client waits more than for the bare commit.
const ALONE_BUDGET_MS: f64 = 0.5;
/// With many messages before it against few.
const SIZE_BUDGET: f64 = 1.2;

#[derive(Args)]
pub(super) struct SendArguments {
    #[command(flatten)]
    pub(super) common: CommonArguments,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) rounds: u32,

    /// How long each measurement takes
    #[arg(long, default_value_t = 1.0, value_parser = parse_seconds)]
    pub(super) seconds: f64,

    /// Connections that send at the same time
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=10000))]
    clients: u16,

    /// Messages that are there before
    #[arg(long, default_value_t = 10_000, conflicts_with = "sizes")]
    pub(super) messages_before: u64,

    /// A PostgreSQL server to measure instead of SQLite, one and three hubs on it. The bench makes databases of its own there, and drops
    /// them
    #[arg(long, value_name = "URL", conflicts_with_all = ["sizes", "clients"])]
    database_url: Option<String>,

    /// Compare hubs with these many messages instead: what a send costs, and what pages cost
    #[arg(long, value_delimiter = ',', num_args = 1..)]
    sizes: Vec<u64>,

    #[command(flatten)]
    pub(super) size: SizeArguments,

    /// Fail when a budget is not kept
    #[arg(long)]
    pub(super) check: bool,
}

#[derive(Serialize)]
struct SendReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    messages_before: u64,
    hub: Vec<HubFigures>,
    raw: Vec<WriterFigures>,
    /// Messages a second of the hub against the bare writer, round by round.
    share_of_raw: Figure,
    /// What one client waits more than for the bare commit.
    alone_over_raw_ms: Figure,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct HubFigures {
    clients: usize,
    #[serde(flatten)]
    figures: LoadFigures,
    messages_per_commit: Figure,
}

pub(super) async fn send(arguments: SendArguments) -> Result<Outcome, String> {
    if let Some(url) = arguments.database_url.clone() {
        return Box::pin(on_postgres(arguments, &url)).await;
    }
    if arguments.sizes.is_empty() { against_raw(arguments).await } else { by_size(arguments).await }
}

/// One hub that is sent to, with what came of it.
struct Candidate {
    clients: usize,
    loads: Vec<Load>,
    commits: Vec<f64>,
    raw: Vec<WriterRound>,
}

async fn against_raw(arguments: SendArguments) -> Result<Outcome, String> {
    let SendArguments { common, rounds, seconds, .. } = &arguments;
    let program = common.hub_program()?;
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let (data, raw_data) = (folder.path().join("hub"), folder.path().join("raw"));
    show_progress(&format!("making {} messages", arguments.messages_before));
    let filled = fill_folder(&data, arguments.size.into(), arguments.messages_before, 1).await?;
    copy_folder(&data, &raw_data).map_err(|error| format!("the folder cannot be copied: {error}"))?;
    let raw = RawWriter::open(&raw_data, &filled).await?;
    let engine = format!("SQLite {}", raw.db.info().await.map_err(|error| error.to_string())?.engine_version);
    let hub = HubProcess::start(&program, &data, true, None).await?;
    let mut load = LoadProcess::start()?;
    let (asks, duration) = (messages(&filled), Duration::from_secs_f64(*seconds));
    let alone = Candidate { clients: 1, loads: Vec::new(), commits: Vec::new(), raw: Vec::new() };
    let many = Candidate { clients: arguments.clients.into(), loads: Vec::new(), commits: Vec::new(), raw: Vec::new() };
    let mut candidates = [alone, many];
    show_progress(&format!("measuring for about {:.0} s", f64::from(*rounds) * seconds * 4.6));
    raw.run(64, duration / 2).await?;
    load.send(&order(&hub, &filled, asks.clone(), 201, 64, seconds / 2.0)).await?;
    for _ in 0..*rounds {
        for candidate in &mut candidates {
            candidate.raw.push(raw.run(candidate.clients, duration).await?);
            let before = hub.commits().await?;
            let order = order(&hub, &filled, asks.clone(), 201, candidate.clients, *seconds);
            candidate.loads.push(load.send(&order).await?);
            candidate.commits.push(hub.commits().await?.commands_each_since(before));
        }
    }
    raw.db.close().await;
    hub.stop().await?;
    let report = SendReport::of(&arguments, machine, engine, &candidates);
    let code = verdict(arguments.check, &report.budgets);
    let text = if arguments.common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

impl SendReport {
    fn of(arguments: &SendArguments, machine: Machine, engine: String, candidates: &[Candidate; 2]) -> Self {
        let [alone, many] = candidates;
        let by_round = many.loads.iter().zip(&many.raw);
        let share =
            Figure::of(by_round.map(|(load, raw)| load.requests as f64 / load.seconds / raw.messages_per_second()));
        let by_round = alone.loads.iter().zip(&alone.raw);
        let over = Figure::of(by_round.map(|(load, raw)| load.p50_ms - raw.latency.p50_ms));
        let hub = candidates.iter().map(|candidate| HubFigures {
            clients: candidate.clients,
            figures: LoadFigures::of(&candidate.loads),
            messages_per_commit: Figure::of(candidate.commits.iter().copied()),
        });
        let raw = candidates.iter().map(|candidate| WriterFigures::of(candidate.clients, &candidate.raw));
        let what = format!("messages a second of {} clients against the bare writer", many.clients);
        Self {
            bench: "send",
            machine,
            engine,
            rounds: arguments.rounds,
            seconds: arguments.seconds,
            messages_before: arguments.messages_before,
            hub: hub.collect(),
            raw: raw.collect(),
            share_of_raw: share,
            alone_over_raw_ms: over,
            budgets: vec![
                Budget::at_least(what, share.median, SHARE_BUDGET),
                Budget::at_most_of(
                    "one client's p50 over that of the bare commit".to_owned(),
                    over.median,
                    ALONE_BUDGET_MS,
                    " ms",
                ),
            ],
        }
    }

    fn show(&self) -> String {
        let hub = self.hub.iter().map(|case| {
            let figures = &case.figures;
            let writer = figures.writer_cpu_us_per_request.median;
            vec![
                case.clients.to_string(),
                figures.requests_per_second.show_range(),
                figures.p50_ms.show(),
                figures.p99_ms.show(),
                figures.server_cpu_us_per_request.show(),
                show(writer),
                show(figures.server_cpu_us_per_request.median - writer),
                case.messages_per_commit.show(),
            ]
        });
        let columns = [
            "clients",
            "messages/s",
            "p50 ms",
            "p99 ms",
            "CPU µs/message",
            "writer µs/message",
            "others µs/message",
            "messages/commit",
        ];
        let mut text = [
            self.machine.heading("send", &self.engine),
            format!(
                "{} messages before; medians of {} rounds of {} s (least–most)\n\n",
                self.messages_before, self.rounds, self.seconds
            ),
            "POST /api/messages to a hub\n".to_owned(),
            table(&columns, hub.collect()),
            "\nbare group commit: the rows of a message, without a hub\n".to_owned(),
            table(&WriterFigures::COLUMNS, self.raw.iter().map(WriterFigures::cells).collect()),
            format!("\nhub against bare writer: {}x by round\n", self.share_of_raw.show_range()),
        ]
        .concat();
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}

#[derive(Serialize)]
struct SizesReport {
    bench: &'static str,
    machine: Machine,
    rounds: u32,
    seconds: f64,
    clients: u16,
    sends: Vec<SizeFigures>,
    listings: Vec<ListingFigures>,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct SizeFigures {
    messages_before: u64,
    #[serde(flatten)]
    figures: LoadFigures,
}

async fn by_size(arguments: SendArguments) -> Result<Outcome, String> {
    let SendArguments { common, rounds, seconds, clients, .. } = &arguments;
    let program = common.hub_program()?;
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let hubs = start_sizes(&program, folder.path(), &arguments.sizes, arguments.size).await?;
    let mut load = LoadProcess::start()?;
    let asks: Vec<_> = hubs.iter().map(|sized| messages(&sized.filled)).collect();
    let mut loads: Vec<Vec<Load>> = hubs.iter().map(|_| Vec::new()).collect();
    show_progress(&format!(
        "measuring sends for about {:.0} s",
        f64::from(*rounds) * seconds * 1.2 * hubs.len() as f64
    ));
    for _ in 0..*rounds {
        for ((sized, asks), loads) in hubs.iter().zip(&asks).zip(&mut loads) {
            let order = order(&sized.hub, &sized.filled, asks.clone(), 201, (*clients).into(), *seconds);
            loads.push(load.send(&order).await?);
        }
    }
    let sends = hubs.iter().zip(&loads);
    let sends: Vec<_> = sends
        .map(|(sized, loads)| SizeFigures { messages_before: sized.messages, figures: LoadFigures::of(loads) })
        .collect();
    let listings = compare_listings(&hubs, &mut load, *rounds, seconds / 4.0).await?;
    for sized in hubs {
        sized.hub.stop().await?;
    }
    let ratio = |figure: &dyn Fn(&Load) -> f64| largest_against_smallest(&loads, figure).median;
    let mut budgets = vec![
        Budget::at_most(
            "CPU of a send, most messages against fewest".to_owned(),
            ratio(&|load| load.server_cpu_us_per_request),
            SIZE_BUDGET,
        ),
        Budget::at_most(
            "time of a send, most messages against fewest".to_owned(),
            ratio(&|load| load.seconds / load.requests as f64),
            SIZE_BUDGET,
        ),
    ];
    budgets.extend(listings.iter().map(ListingFigures::budget));
    let report = SizesReport {
        bench: "send-sizes",
        machine,
        rounds: *rounds,
        seconds: *seconds,
        clients: *clients,
        sends,
        listings,
        budgets,
    };
    let code = verdict(arguments.check, &report.budgets);
    let text = if common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

/// A hub of each size, all at once.
pub(super) async fn start_sizes(
    program: &HubProgram,
    folder: &Path,
    sizes: &[u64],
    size: SizeArguments,
) -> Result<Vec<SizedHub>, String> {
    let mut hubs = Vec::new();
    for messages in sizes {
        let data = folder.join(format!("hub-{messages}"));
        let filled: Filled = fill_folder(&data, size.into(), *messages, 1).await?;
        show_progress(&format!("made {messages} messages in {:.1} s", filled.seconds));
        hubs.push(SizedHub::start(program, &data, *messages, filled).await?);
    }
    Ok(hubs)
}

impl SizesReport {
    fn show(&self) -> String {
        let sends = self.sends.iter().map(|case| {
            let figures = &case.figures;
            vec![
                case.messages_before.to_string(),
                figures.requests_per_second.show_range(),
                figures.p50_ms.show(),
                figures.p99_ms.show(),
                figures.server_cpu_us_per_request.show_range(),
                figures.writer_cpu_us_per_request.show(),
            ]
        });
        let columns = ["messages before", "messages/s", "p50 ms", "p99 ms", "CPU µs/message", "writer µs/message"];
        let mut text = [
            self.machine.heading("send", "SQLite"),
            format!(
                "{} clients; medians of {} rounds of {} s (least–most)\n\n",
                self.clients, self.rounds, self.seconds
            ),
            table(&columns, sends.collect()),
            "\n".to_owned(),
            ListingFigures::table(&self.listings),
        ]
        .concat();
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}
