//! `stoa-bench auth`: authentication must not care how many agents there are.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::arguments::{CommonArguments, parse_seconds};
use super::hub_process::{HubProcess, copy_folder};
use super::load::{Ask, Extent, Load, LoadFigures, LoadProcess, Order};
use super::machine::Machine;
use super::progress::show_progress;
use super::real_time::{now, pause};
use super::report::{Budget, Figure, Outcome, json, table, verdict};

/// The CPU time with many agents against that with few, without the cache.
const BUDGET: f64 = 1.1;
/// Only people may ask this, so an agent is authenticated, then refused, and nothing else is read: the
/// cost of authentication is not lost among that of an answer.
const PATH: &str = "/auth/me";
const STATUS: u16 = 403;
/// The hub notes the use of a key once in this time, which costs a write.
const NOTED_EVERY: Duration = Duration::from_secs(60);
/// What a measurement takes beyond its own time: its warm-up as a factor, then the rest in seconds.
const WARM_UP: f64 = 1.2;
const BEFORE_AND_AFTER: f64 = 0.1;

#[derive(Args)]
pub(super) struct AuthArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How long each measurement takes
    #[arg(long, default_value_t = 0.25, value_parser = parse_seconds)]
    seconds: f64,

    /// Agents of the hub with many
    #[arg(long, default_value_t = 10_000, value_parser = parse_agents)]
    agents: usize,

    /// Agents of the hub with few
    #[arg(long, default_value_t = 10, value_parser = parse_agents)]
    few_agents: usize,

    /// Connections that requests come over
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1000))]
    connections: u16,

    /// Two empty PostgreSQL databases to use instead of SQLite: for few agents, then for many
    #[arg(long, num_args = 2, value_names = ["FEW", "MANY"])]
    database_url: Vec<String>,

    /// Fail when a budget is exceeded
    #[arg(long)]
    check: bool,
}

fn parse_agents(text: &str) -> Result<usize, String> {
    let agents = text.parse().map_err(|_| "must be a number".to_owned())?;
    if (1..=900_000).contains(&agents) { Ok(agents) } else { Err("must be between 1 and 900000".to_owned()) }
}

#[derive(Serialize)]
struct AuthReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    connections: u16,
    request: &'static str,
    hubs: Vec<HubFigures>,
    ratios: Ratios,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct HubFigures {
    agents: usize,
    has_cache: bool,
    #[serde(flatten)]
    figures: LoadFigures,
}

/// Many agents against few, in CPU time.
#[derive(Serialize)]
struct Ratios {
    /// Each request looks its key up in the database. The ratio of each round, whose measurements
    /// follow each other closely: on a shared machine it varies less than that of the medians.
    without_cache: Figure,
    without_cache_of_medians: f64,
    with_cache: Option<f64>,
    /// Of the lookup alone: what a request costs more without the cache than with it.
    lookup_alone: Option<f64>,
    lookup_us_few: Option<f64>,
    lookup_us_many: Option<f64>,
}

/// A hub that is measured, and what was found.
struct Candidate {
    hub: HubProcess,
    keys: Vec<String>,
    has_cache: bool,
    rounds: Vec<Load>,
}

pub(super) async fn auth(arguments: AuthArguments) -> Result<Outcome, String> {
    let common = &arguments.common;
    // Declared first, so that the hubs are gone before their folders.
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let mut candidates = prepare(&arguments, folder.path()).await?;
    let info = candidates[0].hub.info().await?;
    measure(&arguments, &mut candidates).await?;
    let report = AuthReport::of(&arguments, machine, &info, &candidates);
    for candidate in candidates {
        candidate.hub.stop().await?;
    }
    let code = verdict(arguments.check, &report.budgets);
    let text = if common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

/// Hubs with few and with many agents, without the cache; on SQLite also with it.
async fn prepare(arguments: &AuthArguments, folder: &Path) -> Result<Vec<Candidate>, String> {
    let program = arguments.common.hub_program()?;
    let mut candidates = Vec::new();
    let sizes = [("few", arguments.few_agents), ("many", arguments.agents)];
    let mut urls = arguments.database_url.iter();
    for (name, agents) in sizes {
        show_progress(&format!("making a hub with {agents} agents"));
        let own = folder.join(name);
        let url = urls.next().map(String::as_str);
        let hub = HubProcess::start(&program, &own, false, url).await?;
        if hub.info().await?["agents"] != 0 {
            return Err("the database has agents already; give one that is empty".to_owned());
        }
        let keys = hub.fill(agents).await?;
        // Begun anew, a hub has nothing in memory from being filled.
        hub.stop().await?;
        if url.is_none() {
            let twin = folder.join(format!("{name}-cached"));
            copy_folder(&own, &twin).map_err(|error| format!("{} cannot be copied: {error}", own.display()))?;
            let hub = HubProcess::start(&program, &twin, true, None).await?;
            candidates.push(Candidate { hub, keys: keys.clone(), has_cache: true, rounds: Vec::new() });
        }
        let hub = HubProcess::start(&program, &own, false, url).await?;
        candidates.push(Candidate { hub, keys, has_cache: false, rounds: Vec::new() });
    }
    // In the order in which they are shown: without the cache first.
    candidates.sort_by_key(|candidate| candidate.has_cache);
    Ok(candidates)
}

async fn measure(arguments: &AuthArguments, candidates: &mut [Candidate]) -> Result<(), String> {
    let mut load = LoadProcess::start()?;
    let round_takes = (arguments.seconds * WARM_UP + BEFORE_AND_AFTER) * candidates.len() as f64;
    let round_takes = Duration::from_secs_f64(round_takes);
    let mut warmed: Option<(Instant, Instant)> = None;
    show_progress(&format!("measuring for about {:.0} s", round_takes.as_secs_f64() * f64::from(arguments.rounds)));
    for round in 0..arguments.rounds {
        // No use of a key may become due to be noted while it is being measured: then the hub would
        // be asked for writes, and the one with many keys for many.
        if warmed.is_none_or(|(began, _)| began.elapsed() + round_takes >= NOTED_EVERY) {
            if let Some((_, ended)) = warmed {
                show_progress("waiting until the use of all keys can be noted again");
                pause((NOTED_EVERY + Duration::from_secs(1)).saturating_sub(ended.elapsed())).await;
            }
            let began = now();
            for candidate in &*candidates {
                load.send(&candidate.order(arguments, Extent::EachCredential)).await?;
            }
            warmed = Some((began, now()));
        }
        // There and back again, so that none is always the first one after a pause.
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            let measured = load.send(&candidates[place].order(arguments, Extent::Seconds(arguments.seconds))).await?;
            candidates[place].rounds.push(measured);
        }
    }
    Ok(())
}

impl Candidate {
    fn order(&self, arguments: &AuthArguments, extent: Extent) -> Order {
        Order {
            server: self.hub.pid,
            address: self.hub.address,
            asks: vec![Ask { path: PATH.to_owned(), body: None, credential: None }],
            events: None,
            status: STATUS,
            credentials: self.keys.clone(),
            connections: arguments.connections.into(),
            extent,
            rate: None,
        }
    }
}

impl AuthReport {
    fn of(arguments: &AuthArguments, machine: Machine, info: &Value, candidates: &[Candidate]) -> Self {
        let hubs: Vec<_> = candidates
            .iter()
            .map(|candidate| HubFigures {
                agents: candidate.keys.len(),
                has_cache: candidate.has_cache,
                figures: LoadFigures::of(&candidate.rounds),
            })
            .collect();
        let cpu: Vec<f64> = hubs.iter().map(|hub| hub.figures.server_cpu_us_per_request.median).collect();
        let by_round = candidates[0].rounds.iter().zip(&candidates[1].rounds);
        let by_round = by_round.map(|(few, many)| many.server_cpu_us_per_request / few.server_cpu_us_per_request);
        // The first two are without the cache; on PostgreSQL there are no others.
        let cached = cpu.get(2).zip(cpu.get(3));
        let lookup_us_few = cached.map(|(few, _)| cpu[0] - few);
        let lookup_us_many = cached.map(|(_, many)| cpu[1] - many);
        let ratios = Ratios {
            without_cache: Figure::of(by_round),
            without_cache_of_medians: cpu[1] / cpu[0],
            with_cache: cached.map(|(few, many)| many / few),
            lookup_alone: lookup_us_many.zip(lookup_us_few).map(|(many, few)| many / few),
            lookup_us_few,
            lookup_us_many,
        };
        let what = format!(
            "CPU of an authenticated request with {} agents against {}, cache bypassed",
            arguments.agents, arguments.few_agents
        );
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let engine = match text(&info["database"]["engine"]).as_str() {
            "sqlite" => "SQLite",
            _ => "PostgreSQL",
        };
        Self {
            bench: "auth",
            machine,
            engine: format!("{engine} {}", text(&info["database"]["engine_version"])),
            rounds: arguments.rounds,
            seconds: arguments.seconds,
            connections: arguments.connections,
            request: PATH,
            budgets: vec![Budget::at_most(what, ratios.without_cache.median, BUDGET)],
            hubs,
            ratios,
        }
    }

    fn show(&self) -> String {
        let rows = self.hubs.iter().map(|hub| {
            vec![
                hub.agents.to_string(),
                if hub.has_cache { "on" } else { "bypassed" }.to_owned(),
                hub.figures.requests_per_second.show_range(),
                hub.figures.p50_ms.show(),
                hub.figures.p99_ms.show(),
                hub.figures.server_cpu_us_per_request.show_range(),
            ]
        });
        let Ratios { without_cache, without_cache_of_medians, with_cache, lookup_alone, .. } = &self.ratios;
        let mut text = [
            self.machine.heading("auth", &self.engine),
            format!(
                "GET {PATH} with random keys over {} connections; medians of {} rounds of {} s (least–most)\n\n",
                self.connections, self.rounds, self.seconds
            ),
            table(&["agents", "cache", "requests/s", "p50 ms", "p99 ms", "server CPU µs/request"], rows.collect()),
            format!("\nmany against few, cache bypassed: {}x by round", without_cache.show_range()),
            format!(", {without_cache_of_medians:.3}x of the medians\n"),
        ]
        .concat();
        if let Some(with_cache) = with_cache {
            text += &format!("many against few, cache on: {with_cache:.3}x\n");
        }
        let lookups = self.ratios.lookup_us_few.zip(self.ratios.lookup_us_many);
        if let Some((ratio, (few, many))) = lookup_alone.zip(lookups) {
            text += &format!("the lookup alone (bypassed less cached): {few:.1} µs, {many:.1} µs, {ratio:.3}x\n");
        }
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}
