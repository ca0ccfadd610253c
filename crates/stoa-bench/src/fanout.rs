//! `stoa-bench fanout`: one message to many streams, to each once, in order, and to nobody else.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use stoa_db::{Database, Options};
use stoa_schema::MIGRATIONS;

use super::arguments::CommonArguments;
use super::broadcast::BareServer;
use super::fill::{Filled, fill_folder};
use super::hub_process::HubProcess;
use super::machine::{Machine, resident_bytes};
use super::population::{Size, insert_room};
use super::progress::show_progress;
use super::real_time::pause;
use super::report::{Budget, Figure, Outcome, json, table, verdict};
use super::streams::{Audience, Broadcast, Delivered, Faults, StreamOrder, StreamProcess};

/// CPU for a delivery against the bare server.
const CPU_BUDGET: f64 = 2.0;
/// Memory of a client that only listens, in thousands of bytes.
const MEMORY_BUDGET_KB: f64 = 25.0;
const STAGE: &str = "stage";
/// Those who must hear nothing.
const STRANGERS_EVERY: usize = 20;
/// Agents of one person.
const AGENTS_EACH: usize = 10;
/// Messages a second while the time is taken that each needs to arrive.
const PACE: f64 = 20.0;
const SETTLING: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(super) struct FanoutArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// Streams that get each message
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u16).range(1..=10000))]
    clients: u16,

    /// Messages to send in each round as fast as they go
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: u32,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Of so many clients, one hangs up in the middle and comes back; 0 means that none does
    #[arg(long, default_value_t = 10)]
    reconnect_every: usize,

    /// Fail when a budget is exceeded; what was lost, doubled or leaked fails in any case
    #[arg(long)]
    check: bool,
}

#[derive(Serialize)]
struct FanoutReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    clients: u16,
    strangers: usize,
    messages: u32,
    rounds: u32,
    servers: Vec<ServerFigures>,
    /// CPU for a delivery against the bare server, round by round.
    cpu_ratio: Figure,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct ServerFigures {
    server: &'static str,
    deliveries: u64,
    other_frames: u64,
    resumed: u64,
    deliveries_per_second: Figure,
    cpu_us_per_delivery: Figure,
    /// From the send to the frame, at a steady pace.
    p50_ms: Figure,
    p99_ms: Figure,
    bytes_per_client: f64,
    #[serde(flatten)]
    faults: Faults,
}

/// A server with clients on it, and what came of them.
struct Candidate {
    name: &'static str,
    clients: StreamProcess,
    sender: String,
    bytes_per_client: f64,
    bursts: Vec<Delivered>,
    paced: Vec<Delivered>,
}

pub(super) async fn fanout(arguments: FanoutArguments) -> Result<Outcome, String> {
    let program = arguments.common.hub_program()?;
    let folder = arguments.common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let strangers = (usize::from(arguments.clients) / STRANGERS_EVERY).max(1);
    let data = folder.path().join("hub");
    let (members, outsiders, sender) = prepare(&data, arguments.clients.into(), strangers).await?;
    let hub = HubProcess::start(&program, &data, true, None).await?;
    let info = hub.info().await?;
    let bare = BareServer::start().await?;
    show_progress(&format!("opening {} streams on each of two servers", members.len() + strangers));
    let audience = Audience { server: hub.pid, address: hub.address, members: members.clone(), strangers: outsiders };
    let mut hub_side = Candidate::open("hub", audience, sender).await?;
    let names = |kind: &str, count: usize| (0..count).map(|number| format!("{kind}-{number}")).collect();
    let audience = Audience {
        server: std::process::id(),
        address: bare.address,
        members: names("member", members.len()),
        strangers: names("stranger", strangers),
    };
    let mut bare_side = Candidate::open("bare broadcast", audience, "sender".to_owned()).await?;
    for round in 1..=arguments.rounds {
        show_progress(&format!("round {round} of {}", arguments.rounds));
        hub_side.measure(&arguments).await?;
        bare_side.measure(&arguments).await?;
    }
    let report = FanoutReport::of(&arguments, machine, strangers, &info["database"], &[&hub_side, &bare_side]);
    drop((hub_side, bare_side));
    hub.stop().await?;
    let has_faults = report.servers.iter().any(|server| server.faults.any());
    let code = if has_faults { ExitCode::FAILURE } else { verdict(arguments.check, &report.budgets) };
    let text = if arguments.common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

/// A hub with a private channel; the keys of its members, of strangers, and of the one who speaks there.
async fn prepare(data: &Path, members: usize, strangers: usize) -> Result<(Vec<String>, Vec<String>, String), String> {
    let agents = members + strangers + 1;
    let size = Size { users: agents.div_ceil(AGENTS_EACH), agents, channels: 2 };
    let filled: Filled = fill_folder(data, size, 1000, 1).await?;
    let (people, first_agent) = (filled.population.people.clone(), filled.population.first_agent);
    let options = Options::new(data);
    let db = tokio::task::spawn_blocking(move || Database::open(options, MIGRATIONS)).await;
    let db = db.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    // The last agent speaks; its owner has the channel.
    let owner = (agents - 1) % first_agent;
    let on_stage: Vec<usize> = (first_agent..first_agent + members).chain([first_agent + agents - 1, owner]).collect();
    let made = db.write(move |tx| insert_room(tx, STAGE, false, &people, owner, on_stage.clone())).await;
    made.map_err(|error: stoa_db::DbError| error.to_string())?;
    db.close().await;
    let mut keys = filled.population.keys();
    let sender = keys.pop().ok_or("there is nobody to speak")?;
    let outsiders = keys.split_off(members);
    Ok((keys, outsiders, sender))
}

impl Candidate {
    async fn open(name: &'static str, audience: Audience, sender: String) -> Result<Self, String> {
        let (server, count) = (audience.server, audience.members.len() + audience.strangers.len());
        let mut clients = StreamProcess::start()?;
        let before = resident_bytes(server)?;
        clients.order(&StreamOrder::Open(audience)).await?;
        pause(SETTLING).await;
        let bytes_per_client = resident_bytes(server)?.saturating_sub(before) as f64 / count as f64;
        Ok(Self { name, clients, sender, bytes_per_client, bursts: Vec::new(), paced: Vec::new() })
    }

    async fn measure(&mut self, arguments: &FanoutArguments) -> Result<(), String> {
        let order = |messages: usize, rate: Option<f64>| {
            StreamOrder::Send(Broadcast {
                sender: self.sender.clone(),
                channel: STAGE.to_owned(),
                messages,
                rate,
                reconnect_every: arguments.reconnect_every,
            })
        };
        let all = arguments.messages as usize;
        let (burst, paced) = (order(all, None), order(all.div_ceil(10).min(100), Some(PACE)));
        self.bursts.push(self.clients.order(&burst).await?);
        self.paced.push(self.clients.order(&paced).await?);
        Ok(())
    }

    fn figures(&self) -> ServerFigures {
        let mut faults = Faults::default();
        for delivered in self.bursts.iter().chain(&self.paced) {
            faults.add(&delivered.faults);
        }
        let sum = |of: &dyn Fn(&Delivered) -> u64| self.bursts.iter().chain(&self.paced).map(of).sum();
        ServerFigures {
            server: self.name,
            deliveries: sum(&|delivered| delivered.deliveries),
            other_frames: sum(&|delivered| delivered.other_frames),
            // It counts from the beginning, so the last one tells.
            resumed: self.paced.last().map_or(0, |delivered| delivered.resumed),
            deliveries_per_second: Figure::of(self.bursts.iter().map(|load| load.deliveries as f64 / load.seconds)),
            cpu_us_per_delivery: Figure::of(self.bursts.iter().map(|load| load.server_cpu_us_per_delivery)),
            p50_ms: Figure::of(self.paced.iter().map(|load| load.p50_ms)),
            p99_ms: Figure::of(self.paced.iter().map(|load| load.p99_ms)),
            bytes_per_client: self.bytes_per_client,
            faults,
        }
    }
}

impl FanoutReport {
    fn of(
        arguments: &FanoutArguments,
        machine: Machine,
        strangers: usize,
        database: &serde_json::Value,
        candidates: &[&Candidate; 2],
    ) -> Self {
        let [hub, bare] = candidates;
        let by_round = hub.bursts.iter().zip(&bare.bursts);
        let cpu_ratio =
            Figure::of(by_round.map(|(hub, bare)| hub.server_cpu_us_per_delivery / bare.server_cpu_us_per_delivery));
        let memory = hub.bytes_per_client / 1000.0;
        Self {
            bench: "fanout",
            machine,
            engine: format!("SQLite {}", database["engine_version"].as_str().unwrap_or_default()),
            clients: arguments.clients,
            strangers,
            messages: arguments.messages,
            rounds: arguments.rounds,
            servers: candidates.iter().map(|candidate| candidate.figures()).collect(),
            cpu_ratio,
            budgets: vec![
                Budget::at_most("CPU for a delivery against a bare broadcast".to_owned(), cpu_ratio.median, CPU_BUDGET),
                Budget::at_most_of("memory of a client that listens".to_owned(), memory, MEMORY_BUDGET_KB, " KB"),
            ],
        }
    }

    fn show(&self) -> String {
        let rows = self.servers.iter().map(|server| {
            let Faults { lost, doubled, out_of_order, leaked, resyncs } = server.faults;
            vec![
                server.server.to_owned(),
                server.deliveries_per_second.show_range(),
                server.cpu_us_per_delivery.show_range(),
                server.p50_ms.show(),
                server.p99_ms.show(),
                format!("{:.1}", server.bytes_per_client / 1000.0),
                server.resumed.to_string(),
                format!("{lost}, {doubled}, {out_of_order}, {leaked}, {resyncs}"),
            ]
        });
        let columns = [
            "server",
            "deliveries/s",
            "CPU µs/delivery",
            "p50 ms",
            "p99 ms",
            "KB/client",
            "came back",
            "lost, doubled, disordered, leaked, resynced",
        ];
        let mut text = [
            self.machine.heading("fanout", &self.engine),
            format!(
                "{} clients and {} strangers, {} messages; medians of {} rounds (least–most)\n\n",
                self.clients, self.strangers, self.messages, self.rounds
            ),
            table(&columns, rows.collect()),
            format!("\nhub against bare broadcast, CPU: {}x by round\n", self.cpu_ratio.show_range()),
        ]
        .concat();
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}
