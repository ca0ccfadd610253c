//! `stoa-bench send --database-url`: durable messages through one hub and through three on PostgreSQL, against bare inserts.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::bare_postgres::{BareInserts, BareRound, BenchDatabases};
use super::fill::{Filled, fill_database};
use super::hub_process::HubProcess;
use super::hub_program::HubProgram;
use super::load::{Ask, Load, LoadProcess};
use super::machine::Machine;
use super::progress::show_progress;
use super::report::{Budget, Figure, Outcome, json, table, verdict};
use super::requests::{messages, order};
use super::send::SendArguments;

/// Messages a second of many clients, against the best that bare inserts come to.
const SHARE_BUDGET: f64 = 0.35;
/// What one client waits more than for a bare insert.
const ALONE_BUDGET_MS: f64 = 1.5;
/// Messages a second of several hubs together, against one.
const SEVERAL_BUDGET: f64 = 1.0;
const HUBS: usize = 3;
const CLIENTS: [usize; 2] = [64, 256];
/// How many connections bare inserts are tried with; the best counts.
const BARE_CONNECTIONS: [usize; 4] = [8, 16, 32, 64];

#[derive(Serialize)]
struct PostgresReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    messages_before: u64,
    hubs: Vec<HubsFigures>,
    bare: Vec<BareFigures>,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct HubsFigures {
    hubs: usize,
    clients: usize,
    messages_per_second: Figure,
    p50_ms: Figure,
    p99_ms: Figure,
    hub_cpu_us_per_message: Figure,
}

#[derive(Serialize)]
struct BareFigures {
    connections: usize,
    messages_per_second: Figure,
    p50_ms: Figure,
    p99_ms: Figure,
}

/// What clients of one hub or several came to in one round.
struct HubsRound(Vec<Load>);

impl HubsRound {
    fn messages_per_second(&self) -> f64 {
        self.0.iter().map(|load| load.requests as f64 / load.seconds).sum()
    }

    /// Of what each hub has, weighed by how much it did.
    fn mean(&self, figure: impl Fn(&Load) -> f64) -> f64 {
        let requests: f64 = self.0.iter().map(|load| load.requests as f64).sum();
        self.0.iter().map(|load| figure(load) * load.requests as f64).sum::<f64>() / requests.max(1.0)
    }
}

/// A number of hubs and clients that is measured in each round.
struct Candidate {
    hubs: usize,
    clients: usize,
    rounds: Vec<HubsRound>,
}

struct BareCandidate {
    connections: usize,
    rounds: Vec<BareRound>,
}

pub(super) async fn on_postgres(arguments: SendArguments, url: &str) -> Result<Outcome, String> {
    let databases = BenchDatabases::create(url).await?;
    let measured = measure(&arguments, &databases).await;
    let dropped = databases.drop_both().await;
    let outcome = measured?;
    dropped?;
    Ok(outcome)
}

async fn measure(arguments: &SendArguments, databases: &BenchDatabases) -> Result<Outcome, String> {
    let program = arguments.common.hub_program()?;
    let folder = arguments.common.folder()?;
    let url = databases.url()?;
    show_progress(&format!("making {} messages", arguments.messages_before));
    let filled = fill_database(
        &folder.path().join("filled"),
        Some(url.clone()),
        arguments.size.into(),
        arguments.messages_before,
        1,
    )
    .await?;
    databases.copy().await?;
    let most = BARE_CONNECTIONS.into_iter().max().unwrap_or(1);
    let bare = BareInserts::connect(databases, &filled, most).await?;
    let hubs = start_hubs(&program, folder.path(), &url).await?;
    let mut candidates: Vec<Candidate> = vec![Candidate { hubs: 1, clients: 1, rounds: Vec::new() }];
    for hubs in [1, HUBS] {
        candidates.extend(CLIENTS.iter().map(|clients| Candidate { hubs, clients: *clients, rounds: Vec::new() }));
    }
    let connections = std::iter::once(1).chain(BARE_CONNECTIONS);
    let mut bare_candidates: Vec<BareCandidate> =
        connections.map(|connections| BareCandidate { connections, rounds: Vec::new() }).collect();
    let mut loads: Vec<LoadProcess> = (0..HUBS).map(|_| LoadProcess::start()).collect::<Result<_, _>>()?;
    let (asks, duration) = (messages(&filled), Duration::from_secs_f64(arguments.seconds));
    let parts = (candidates.len() + bare_candidates.len()) as f64;
    show_progress(&format!(
        "measuring for about {:.0} s",
        f64::from(arguments.rounds) * arguments.seconds * 1.15 * parts
    ));
    // Once before it counts, so that every statement is prepared.
    send(&hubs, &mut loads, &filled, &asks, 64, arguments.seconds / 2.0).await?;
    for _ in 0..arguments.rounds {
        for candidate in &mut bare_candidates {
            candidate.rounds.push(bare.run(candidate.connections, duration).await?);
        }
        for candidate in &mut candidates {
            let hubs = &hubs[..candidate.hubs];
            let sent = send(hubs, &mut loads, &filled, &asks, candidate.clients, arguments.seconds).await?;
            candidate.rounds.push(sent);
        }
    }
    for hub in hubs {
        hub.stop().await?;
    }
    let engine = format!("PostgreSQL {}", databases.server_version().await?);
    let machine = Machine::with_folder(folder.path());
    let report = PostgresReport::of(arguments, machine, engine, &candidates, &bare_candidates);
    let code = verdict(arguments.check, &report.budgets);
    let text = if arguments.common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

/// Several hubs with one key on one database.
async fn start_hubs(program: &HubProgram, folder: &Path, url: &str) -> Result<Vec<HubProcess>, String> {
    let mut hubs = Vec::new();
    for number in 0..HUBS {
        let data = folder.join(format!("hub{number}"));
        std::fs::create_dir_all(&data).map_err(|error| error.to_string())?;
        hubs.push(HubProcess::start_beside(program, &data, url).await?);
    }
    Ok(hubs)
}

/// Has clients send to hubs, each hub having its share of them.
async fn send(
    hubs: &[HubProcess],
    loads: &mut [LoadProcess],
    filled: &Filled,
    asks: &[Ask],
    clients: usize,
    seconds: f64,
) -> Result<HubsRound, String> {
    let orders = hubs.iter().enumerate().map(|(place, hub)| {
        let share = (clients + place) / hubs.len();
        order(hub, filled, asks.to_vec(), 201, share.max(1), seconds)
    });
    let orders: Vec<_> = orders.collect();
    let sending = loads.iter_mut().zip(&orders).map(|(load, order)| load.send(order));
    Ok(HubsRound(futures_util::future::try_join_all(sending).await?))
}

impl PostgresReport {
    fn of(
        arguments: &SendArguments,
        machine: Machine,
        engine: String,
        candidates: &[Candidate],
        bare: &[BareCandidate],
    ) -> Self {
        let hubs = candidates.iter().map(|candidate| {
            let figure =
                |figure: &dyn Fn(&Load) -> f64| Figure::of(candidate.rounds.iter().map(|round| round.mean(figure)));
            HubsFigures {
                hubs: candidate.hubs,
                clients: candidate.clients,
                messages_per_second: Figure::of(candidate.rounds.iter().map(HubsRound::messages_per_second)),
                p50_ms: figure(&|load| load.p50_ms),
                p99_ms: figure(&|load| load.p99_ms),
                hub_cpu_us_per_message: figure(&|load| load.server_cpu_us_per_request),
            }
        });
        let shown = bare.iter().map(|candidate| BareFigures {
            connections: candidate.connections,
            messages_per_second: Figure::of(candidate.rounds.iter().map(BareRound::messages_per_second)),
            p50_ms: Figure::of(candidate.rounds.iter().map(|round| round.latency.p50_ms)),
            p99_ms: Figure::of(candidate.rounds.iter().map(|round| round.latency.p99_ms)),
        });
        Self {
            bench: "send",
            machine,
            engine,
            rounds: arguments.rounds,
            seconds: arguments.seconds,
            messages_before: arguments.messages_before,
            hubs: hubs.collect(),
            bare: shown.collect(),
            budgets: budgets(candidates, bare),
        }
    }

    fn show(&self) -> String {
        let hubs = self.hubs.iter().map(|case| {
            vec![
                case.hubs.to_string(),
                case.clients.to_string(),
                case.messages_per_second.show_range(),
                case.p50_ms.show(),
                case.p99_ms.show(),
                case.hub_cpu_us_per_message.show(),
            ]
        });
        let bare = self.bare.iter().map(|case| {
            vec![
                case.connections.to_string(),
                case.messages_per_second.show_range(),
                case.p50_ms.show(),
                case.p99_ms.show(),
            ]
        });
        let mut text = [
            self.machine.heading("send", &self.engine),
            format!(
                "{} messages before; medians of {} rounds of {} s (least–most)\n\n",
                self.messages_before, self.rounds, self.seconds
            ),
            "POST /api/messages to hubs on one database\n".to_owned(),
            table(&["hubs", "clients", "messages/s", "p50 ms", "p99 ms", "hub CPU µs/message"], hubs.collect()),
            "\nbare inserts: the rows of a message by one statement, without a hub\n".to_owned(),
            table(&["connections", "messages/s", "p50 ms", "p99 ms"], bare.collect()),
            "\n".to_owned(),
        ]
        .concat();
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}

/// Each compares round by round, and counts the median of that.
fn budgets(candidates: &[Candidate], bare: &[BareCandidate]) -> Vec<Budget> {
    let find = |hubs: usize, clients: usize| {
        candidates.iter().find(|candidate| candidate.hubs == hubs && candidate.clients == clients)
    };
    let rounds = candidates.first().map_or(0, |candidate| candidate.rounds.len());
    let best = |round: usize| {
        let many = bare.iter().filter(|candidate| candidate.connections > 1);
        many.map(|candidate| candidate.rounds[round].messages_per_second()).fold(0.0, f64::max)
    };
    let mut budgets = Vec::new();
    for clients in CLIENTS {
        let (Some(one), Some(several)) = (find(1, clients), find(HUBS, clients)) else { continue };
        let share = Figure::of((0..rounds).map(|round| one.rounds[round].messages_per_second() / best(round)));
        let what = format!("messages a second of {clients} clients against the best of bare inserts");
        budgets.push(Budget::at_least(what, share.median, SHARE_BUDGET));
        let pairs = one.rounds.iter().zip(&several.rounds);
        let gain = Figure::of(pairs.map(|(one, several)| several.messages_per_second() / one.messages_per_second()));
        let what = format!("messages a second of {clients} clients through {HUBS} hubs against one");
        budgets.push(Budget::at_least(what, gain.median, SEVERAL_BUDGET));
    }
    if let (Some(alone), Some(bare)) = (find(1, 1), bare.iter().find(|candidate| candidate.connections == 1)) {
        let pairs = alone.rounds.iter().zip(&bare.rounds);
        let over = Figure::of(pairs.map(|(alone, bare)| alone.mean(|load| load.p50_ms) - bare.latency.p50_ms));
        let what = "one client's p50 over that of a bare insert".to_owned();
        budgets.push(Budget::at_most_of(what, over.median, ALONE_BUDGET_MS, " ms"));
    }
    budgets
}
