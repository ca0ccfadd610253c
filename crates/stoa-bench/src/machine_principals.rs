//! `stoa-bench machine`: what a signed request costs, and what the events of services cost.
//!
//! Checking a signature is compared with the arithmetic that nobody gets around, in this process; ingestion with
//! the same rows through the bare writer.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use hyper::StatusCode;
use serde::Serialize;
use stoa_model::machines::MAX_BATCH;

use super::arguments::{CommonArguments, parse_seconds};
use super::events::{AUDIENCE, EventOrder, ROUTED, Service, UNROUTED, registry_document};
use super::fill::{Filled, SizeArguments, fill_folder};
use super::hub_process::{HubProcess, copy_folder};
use super::load::{Client, Extent, Load, LoadFigures, LoadProcess, Order};
use super::machine::Machine;
use super::population::Room;
use super::progress::show_progress;
use super::raw_events::{self, Sender};
use super::raw_writer::{RawWriter, WriterRound};
use super::report::{Budget, Figure, Outcome, json, show, table, verdict};
use super::verification::{Round, Verification, VerificationFigures};

/// The CPU time of a check against that of the bare one.
const VERIFICATION_BUDGET: f64 = 2.5;
/// Events a second that become messages, against the bare writer.
const SHARE_BUDGET: f64 = 0.5;

#[derive(Args)]
pub(super) struct MachineArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How long each measurement takes
    #[arg(long, default_value_t = 1.0, value_parser = parse_seconds)]
    seconds: f64,

    /// Services that send at the same time, over a connection each
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    clients: u16,

    /// Events in each batch
    #[arg(long, default_value_t = MAX_BATCH, value_parser = parse_batch)]
    batch: usize,

    /// Services that the registry has
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u16).range(1..=3000))]
    principals: u16,

    /// Messages that are there before
    #[arg(long, default_value_t = 10_000)]
    messages_before: u64,

    #[command(flatten)]
    size: SizeArguments,

    /// Fail when a budget is not kept
    #[arg(long)]
    check: bool,
}

fn parse_batch(text: &str) -> Result<usize, String> {
    let events = text.parse().map_err(|_| "must be a number".to_owned())?;
    if (2..=MAX_BATCH).contains(&events) { Ok(events) } else { Err(format!("must be between 2 and {MAX_BATCH}")) }
}

#[derive(Serialize)]
struct MachineReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    clients: u16,
    batch: usize,
    principals: u16,
    messages_before: u64,
    verification: Vec<VerificationFigures>,
    /// Requests with one event each, which becomes a message.
    single: LoadFigures,
    ingestion: Vec<IngestionFigures>,
    budgets: Vec<Budget>,
}

/// Batches of one kind of events.
#[derive(Serialize)]
struct IngestionFigures {
    events: &'static str,
    hub: EventFigures,
    raw: EventFigures,
    /// Events a second of the hub against the bare writer, round by round.
    share_of_raw: Figure,
}

#[derive(Serialize)]
struct EventFigures {
    events: u64,
    events_per_second: Figure,
    /// Of a whole batch.
    p50_ms: Figure,
    p99_ms: Figure,
    cpu_us_per_event: Figure,
    writer_cpu_us_per_event: Figure,
}

/// A kind of events, with what came of it.
struct Kind {
    name: &'static str,
    event_type: &'static str,
    loads: Vec<Load>,
    raw: Vec<WriterRound>,
}

pub(super) async fn machine(mut arguments: MachineArguments) -> Result<Outcome, String> {
    // Whoever sends is in the registry.
    arguments.principals = arguments.principals.max(arguments.clients);
    let MachineArguments { common, rounds, seconds, .. } = &arguments;
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let services =
        (0..arguments.principals).map(|number| Service::new(number.into())).collect::<Result<Vec<_>, _>>()?;
    let verification = Arc::new(Verification::new(&services)?);
    let senders = &services[..arguments.clients.into()];
    let Prepared { hub, raw, raw_senders } = prepare(&arguments, folder.path(), &services, senders).await?;
    let engine = format!("SQLite {}", raw.db.info().await.map_err(|error| error.to_string())?.engine_version);
    let mut load = LoadProcess::start()?;
    let mut kinds = [("into a channel", ROUTED), ("stored only", UNROUTED)].map(|(name, event_type)| Kind {
        name,
        event_type,
        loads: Vec::new(),
        raw: Vec::new(),
    });
    let (mut checks, mut single): (Vec<Round>, Vec<Load>) = (Vec::new(), Vec::new());
    let clients = usize::from(arguments.clients);
    show_progress(&format!("measuring for about {:.0} s", f64::from(*rounds) * seconds * 6.6));
    for round in 0..=*rounds {
        // The first one is there to warm up.
        let (is_counted, seconds) = (round > 0, if round > 0 { *seconds } else { seconds / 4.0 });
        let duration = Duration::from_secs_f64(seconds);
        let checking = verification.clone();
        let checked = tokio::task::spawn_blocking(move || checking.run(duration)).await;
        checks.extend(Some(checked.map_err(|error| error.to_string())??).filter(|_| is_counted));
        let loaded = load.send(&order(&hub, senders, ROUTED, 1, seconds)).await?;
        single.extend(Some(loaded).filter(|_| is_counted));
        for kind in &mut kinds {
            let is_routed = kind.event_type == ROUTED;
            let written = raw_events::run(&raw, &raw_senders, clients, arguments.batch, is_routed, duration).await?;
            kind.raw.extend(Some(written).filter(|_| is_counted));
            let loaded = load.send(&order(&hub, senders, kind.event_type, arguments.batch, seconds)).await?;
            kind.loads.extend(Some(loaded).filter(|_| is_counted));
        }
    }
    raw.db.close().await;
    hub.stop().await?;
    let report = MachineReport::of(&arguments, machine, engine, &checks, &single, &kinds);
    let code = verdict(arguments.check, &report.budgets);
    let text = if arguments.common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

/// A hub that knows the services, and the bare writer with the same rows before it.
struct Prepared {
    hub: HubProcess,
    raw: RawWriter,
    raw_senders: Arc<Vec<Sender>>,
}

async fn prepare(
    arguments: &MachineArguments,
    folder: &Path,
    services: &[Service],
    senders: &[Service],
) -> Result<Prepared, String> {
    let program = arguments.common.hub_program()?;
    let (data, raw_data, registry) = (folder.join("hub"), folder.join("raw"), folder.join("registry.json"));
    show_progress(&format!("making {} messages", arguments.messages_before));
    let filled = fill_folder(&data, arguments.size.into(), arguments.messages_before, 1).await?;
    write_registry(&registry, services).map_err(|error| format!("the registry cannot be written: {error}"))?;
    // The hub makes the rows of the services, and is told their routes, before the folder is copied.
    let hub = HubProcess::start_with_registry(&program, &data, &registry, AUDIENCE).await?;
    for (service, room) in with_rooms(&filled, senders) {
        let request = service.put_config(hub.address, &room.name)?;
        Client::connect(hub.address, 0).await?.send(request, StatusCode::CREATED).await?;
    }
    hub.stop().await?;
    copy_folder(&data, &raw_data).map_err(|error| format!("the folder cannot be copied: {error}"))?;
    let raw = RawWriter::open(&raw_data, &filled).await?;
    let mut raw_senders = Vec::new();
    for (service, room) in with_rooms(&filled, senders) {
        raw_senders.push(Sender::find(&raw, service, room).await?);
    }
    let hub = HubProcess::start_with_registry(&program, &data, &registry, AUDIENCE).await?;
    Ok(Prepared { hub, raw, raw_senders: Arc::new(raw_senders) })
}

fn write_registry(path: &Path, services: &[Service]) -> std::io::Result<()> {
    std::fs::write(path, registry_document(services))?;
    // One that others may write is refused.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

/// Each service with the public channel that its events go to.
fn with_rooms<'a>(filled: &'a Filled, services: &'a [Service]) -> impl Iterator<Item = (&'a Service, &'a Room)> {
    let public = filled.population.rooms.iter().filter(|room| room.is_public).collect::<Vec<_>>();
    services.iter().zip(public.into_iter().cycle())
}

fn order(hub: &HubProcess, senders: &[Service], event_type: &str, events_each: usize, seconds: f64) -> Order {
    Order {
        server: hub.pid,
        address: hub.address,
        asks: Vec::new(),
        events: Some(EventOrder { services: senders.to_vec(), event_type: event_type.to_owned(), events_each }),
        status: StatusCode::ACCEPTED.as_u16(),
        credentials: Vec::new(),
        connections: senders.len(),
        extent: Extent::Seconds(seconds),
        rate: None,
    }
}

impl EventFigures {
    fn of_hub(loads: &[Load], batch: usize) -> Self {
        let each = batch as f64;
        Self {
            events: loads.iter().map(|load| load.requests * batch as u64).sum(),
            events_per_second: Figure::of(loads.iter().map(|load| load.requests as f64 * each / load.seconds)),
            p50_ms: Figure::of(loads.iter().map(|load| load.p50_ms)),
            p99_ms: Figure::of(loads.iter().map(|load| load.p99_ms)),
            cpu_us_per_event: Figure::of(loads.iter().map(|load| load.server_cpu_us_per_request / each)),
            writer_cpu_us_per_event: Figure::of(loads.iter().map(|load| load.writer_cpu_us_per_request / each)),
        }
    }

    fn of_raw(rounds: &[WriterRound]) -> Self {
        Self {
            events: rounds.iter().map(|round| round.messages).sum(),
            events_per_second: Figure::of(rounds.iter().map(WriterRound::messages_per_second)),
            p50_ms: Figure::of(rounds.iter().map(|round| round.latency.p50_ms)),
            p99_ms: Figure::of(rounds.iter().map(|round| round.latency.p99_ms)),
            cpu_us_per_event: Figure::of(rounds.iter().map(|round| round.cpu_us_per_message)),
            writer_cpu_us_per_event: Figure::of(rounds.iter().map(|round| round.writer_cpu_us_per_message)),
        }
    }

    fn cells(&self, events: &str, through: &str) -> Vec<String> {
        vec![
            format!("{events}, {through}"),
            self.events_per_second.show_range(),
            self.p50_ms.show(),
            self.p99_ms.show(),
            self.cpu_us_per_event.show(),
            self.writer_cpu_us_per_event.show(),
            show(self.cpu_us_per_event.median - self.writer_cpu_us_per_event.median),
        ]
    }
}

impl MachineReport {
    fn of(
        arguments: &MachineArguments,
        machine: Machine,
        engine: String,
        checks: &[Round],
        single: &[Load],
        kinds: &[Kind],
    ) -> Self {
        let verification = VerificationFigures::of(checks);
        let ingestion = kinds.iter().map(|kind| {
            let by_round = kind.loads.iter().zip(&kind.raw).map(|(load, raw)| {
                load.requests as f64 * arguments.batch as f64 / load.seconds / raw.messages_per_second()
            });
            IngestionFigures {
                events: kind.name,
                hub: EventFigures::of_hub(&kind.loads, arguments.batch),
                raw: EventFigures::of_raw(&kind.raw),
                share_of_raw: Figure::of(by_round),
            }
        });
        let ingestion: Vec<_> = ingestion.collect();
        let mut budgets: Vec<_> = verification
            .iter()
            .map(|case| {
                let what = format!(
                    "CPU of checking a signed request of {} bytes against signature and hash alone",
                    case.body_bytes
                );
                Budget::at_most(what, case.ratio.median, VERIFICATION_BUDGET)
            })
            .collect();
        budgets.extend(ingestion.first().map(|routed| {
            let what = format!("events a second into channels, {} clients, against the bare writer", arguments.clients);
            Budget::at_least(what, routed.share_of_raw.median, SHARE_BUDGET)
        }));
        Self {
            bench: "machine",
            machine,
            engine,
            rounds: arguments.rounds,
            seconds: arguments.seconds,
            clients: arguments.clients,
            batch: arguments.batch,
            principals: arguments.principals,
            messages_before: arguments.messages_before,
            verification,
            single: LoadFigures::of(single),
            ingestion,
            budgets,
        }
    }

    fn show(&self) -> String {
        let checks = self.verification.iter().map(|case| {
            vec![
                case.body_bytes.to_string(),
                case.hub_us.show_range(),
                case.bare_us.show_range(),
                case.ratio.show_range(),
            ]
        });
        let writer = self.single.writer_cpu_us_per_request.median;
        let single = vec![
            self.clients.to_string(),
            self.single.requests_per_second.show_range(),
            self.single.p50_ms.show(),
            self.single.p99_ms.show(),
            self.single.server_cpu_us_per_request.show(),
            show(writer),
            show(self.single.server_cpu_us_per_request.median - writer),
        ];
        let batches = self
            .ingestion
            .iter()
            .flat_map(|kind| [kind.hub.cells(kind.events, "hub"), kind.raw.cells(kind.events, "bare writer")]);
        let check_columns = ["body bytes", "hub's check µs", "signature and hash µs", "ratio"];
        let single_columns =
            ["clients", "requests/s", "p50 ms", "p99 ms", "CPU µs/request", "writer µs/request", "others µs/request"];
        let batch_columns =
            ["events", "events/s", "p50 ms", "p99 ms", "CPU µs/event", "writer µs/event", "others µs/event"];
        let mut text = [
            self.machine.heading("machine", &self.engine),
            format!(
                "{} principals, {} messages before; medians of {} rounds of {} s (least–most)\n\n",
                self.principals, self.messages_before, self.rounds, self.seconds
            ),
            "CPU of checking a signed request\n".to_owned(),
            table(&check_columns, checks.collect()),
            "\nPOST /machine/events to a hub, one event that becomes a message\n".to_owned(),
            table(&single_columns, vec![single]),
            format!("\nbatches of {} events from {} clients; times are those of a batch\n", self.batch, self.clients),
            table(&batch_columns, batches.collect()),
            "\n".to_owned(),
        ]
        .concat();
        for kind in &self.ingestion {
            text +=
                &format!("hub against bare writer, {}: {}x by round\n", kind.events, kind.share_of_raw.show_range());
        }
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}
