//! `stoa-bench read`: what pages cost must not depend on how much was ever said.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::arguments::{CommonArguments, parse_seconds};
use super::fill::{Filled, SizeArguments};
use super::hub_process::HubProcess;
use super::hub_program::HubProgram;
use super::load::{Load, LoadFigures, LoadProcess};
use super::machine::{Machine, resident_bytes};
use super::progress::show_progress;
use super::real_time::now;
use super::report::{Budget, Figure, Outcome, json, table, verdict};
use super::requests::{Listing, listings, order};
use super::send::start_sizes;

/// With many messages against few.
const SIZE_BUDGET: f64 = 1.2;
const CONNECTIONS: usize = 8;

#[derive(Args)]
pub(super) struct ReadArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How long each measurement takes
    #[arg(long, default_value_t = 0.3, value_parser = parse_seconds)]
    seconds: f64,

    /// Messages of the hubs that are compared
    #[arg(long, value_delimiter = ',', num_args = 1.., default_values_t = [10_000, 1_000_000])]
    sizes: Vec<u64>,

    #[command(flatten)]
    size: SizeArguments,

    /// Fail when a budget is exceeded
    #[arg(long)]
    check: bool,
}

#[derive(Serialize)]
struct ReadReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    hubs: Vec<SizeFigures>,
    listings: Vec<ListingFigures>,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct SizeFigures {
    messages: u64,
    /// From the start of the process to the first moment at which it serves.
    start_ms: f64,
    /// Memory before it was asked anything.
    idle_bytes: u64,
}

/// A hub that was filled with a number of messages.
pub(super) struct SizedHub {
    pub(super) hub: HubProcess,
    pub(super) filled: Filled,
    pub(super) messages: u64,
    start_ms: f64,
    idle_bytes: u64,
}

impl SizedHub {
    pub(super) async fn start(
        program: &HubProgram,
        data: &Path,
        messages: u64,
        filled: Filled,
    ) -> Result<Self, String> {
        // The first start makes what every hub has; it is the second that tells.
        HubProcess::start(program, data, true, None).await?.stop().await?;
        let started = now();
        let hub = HubProcess::start(program, data, true, None).await?;
        let start_ms = started.elapsed().as_secs_f64() * 1000.0;
        let idle_bytes = resident_bytes(hub.pid)?;
        Ok(Self { hub, filled, messages, start_ms, idle_bytes })
    }
}

/// One listing, on hubs of each size.
#[derive(Serialize)]
pub(super) struct ListingFigures {
    name: &'static str,
    sizes: Vec<ListingSize>,
    /// CPU with most messages against fewest, round by round.
    ratio: Figure,
}

#[derive(Serialize)]
struct ListingSize {
    messages: u64,
    #[serde(flatten)]
    figures: LoadFigures,
}

/// The last of these against the first, round by round.
pub(super) fn largest_against_smallest(loads: &[Vec<Load>], figure: &dyn Fn(&Load) -> f64) -> Figure {
    let (Some(fewest), Some(most)) = (loads.first(), loads.last()) else { return Figure::of([]) };
    Figure::of(fewest.iter().zip(most).map(|(fewest, most)| figure(most) / figure(fewest)))
}

/// Asks all hubs for all listings, in turn.
pub(super) async fn compare_listings(
    hubs: &[SizedHub],
    load: &mut LoadProcess,
    rounds: u32,
    seconds: f64,
) -> Result<Vec<ListingFigures>, String> {
    let all: Vec<Vec<Listing>> = hubs.iter().map(|sized| listings(&sized.filled)).collect();
    let names: Vec<&'static str> = all[0].iter().map(|listing| listing.name).collect();
    let mut loads: Vec<Vec<Vec<Load>>> = names.iter().map(|_| hubs.iter().map(|_| Vec::new()).collect()).collect();
    let takes = f64::from(rounds) * (seconds * 1.2 + 0.06) * (names.len() * hubs.len()) as f64;
    show_progress(&format!("measuring pages for about {takes:.0} s"));
    for _ in 0..rounds {
        for (place, name) in names.iter().enumerate() {
            for ((sized, listings), loads) in hubs.iter().zip(&all).zip(&mut loads[place]) {
                let listing = listings.iter().find(|listing| listing.name == *name);
                let listing = listing.ok_or_else(|| format!("not all hubs have something to show for {name}"))?;
                let order = order(&sized.hub, &sized.filled, listing.asks.clone(), 200, CONNECTIONS, seconds);
                loads.push(load.send(&order).await?);
            }
        }
    }
    let figures = names.into_iter().zip(loads).map(|(name, loads)| ListingFigures {
        name,
        ratio: largest_against_smallest(&loads, &|load| load.server_cpu_us_per_request),
        sizes: hubs
            .iter()
            .zip(&loads)
            .map(|(sized, loads)| ListingSize { messages: sized.messages, figures: LoadFigures::of(loads) })
            .collect(),
    });
    Ok(figures.collect())
}

impl ListingFigures {
    pub(super) fn budget(&self) -> Budget {
        let what = format!("CPU of a page ({}), most messages against fewest", self.name);
        Budget::at_most(what, self.ratio.median, SIZE_BUDGET)
    }

    pub(super) fn table(listings: &[Self]) -> String {
        let rows = listings.iter().flat_map(|listing| {
            listing.sizes.iter().map(|size| {
                vec![
                    listing.name.to_owned(),
                    size.messages.to_string(),
                    size.figures.requests_per_second.show(),
                    size.figures.p50_ms.show(),
                    size.figures.p99_ms.show(),
                    size.figures.server_cpu_us_per_request.show_range(),
                    listing.ratio.show(),
                ]
            })
        });
        table(&["page", "messages", "requests/s", "p50 ms", "p99 ms", "CPU µs/request", "ratio"], rows.collect())
    }
}

pub(super) async fn read(arguments: ReadArguments) -> Result<Outcome, String> {
    let ReadArguments { common, rounds, seconds, .. } = &arguments;
    let program = common.hub_program()?;
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let hubs = start_sizes(&program, folder.path(), &arguments.sizes, arguments.size).await?;
    let mut load = LoadProcess::start()?;
    let info = hubs[0].hub.info().await?;
    let listings = compare_listings(&hubs, &mut load, *rounds, *seconds).await?;
    let report = ReadReport {
        bench: "read",
        machine,
        engine: format!("SQLite {}", info["database"]["engine_version"].as_str().unwrap_or_default()),
        rounds: *rounds,
        seconds: *seconds,
        hubs: hubs
            .iter()
            .map(|sized| SizeFigures {
                messages: sized.messages,
                start_ms: sized.start_ms,
                idle_bytes: sized.idle_bytes,
            })
            .collect(),
        budgets: listings.iter().map(ListingFigures::budget).collect(),
        listings,
    };
    for sized in hubs {
        sized.hub.stop().await?;
    }
    let code = verdict(arguments.check, &report.budgets);
    let text = if common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

impl ReadReport {
    fn show(&self) -> String {
        let hubs = self.hubs.iter().map(|hub| {
            let (start, idle) = (format!("{:.0}", hub.start_ms), format!("{:.1}", hub.idle_bytes as f64 / 1e6));
            vec![hub.messages.to_string(), start, idle]
        });
        let mut text = [
            self.machine.heading("read", &self.engine),
            format!(
                "{CONNECTIONS} connections; medians of {} rounds of {} s (least–most)\n\n",
                self.rounds, self.seconds
            ),
            table(&["messages", "start ms", "idle MB"], hubs.collect()),
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
