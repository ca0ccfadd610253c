//! `stoa-bench mixed`: sends at a steady rate, alone and beside something that takes its time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper::header::{COOKIE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde_json::{Value, json as object};
use stoa_db::HeldSnapshot;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::arguments::{CommonArguments, parse_seconds};
use super::fill::fill_folder;
use super::hub_process::HubProcess;
use super::load::{Load, LoadFigures, LoadProcess};
use super::machine::Machine;
use super::population::Size;
use super::progress::show_progress;
use super::real_time::pause;
use super::receivers::Receivers;
use super::report::{Budget, Figure, Outcome, json, table, verdict};
use super::requests::{messages, order};

/// What a send may take longer beside something else.
const BUDGET: f64 = 1.1;
/// What the write-ahead log may keep when nobody holds it up: its limit in `stoa-db`, and a commit.
const LOG_BUDGET_MB: f64 = 80.0;
/// Few people, so that one of them has much to export.
const SIZE: Size = Size { users: 2, agents: 200, channels: 40 };
const SAMPLING: Duration = Duration::from_millis(20);

#[derive(Args)]
pub(super) struct MixedArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How long each measurement takes, and the reader holds its snapshot
    #[arg(long, default_value_t = 10.0, value_parser = parse_seconds)]
    seconds: f64,

    /// Messages a second
    #[arg(long, default_value_t = 500.0, value_parser = parse_rate)]
    rate: f64,

    /// Connections that send them
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1000))]
    clients: u16,

    /// Messages that are there before
    #[arg(long, default_value_t = 100_000)]
    messages_before: u64,

    /// Measure also beside two webhooks, one with a receiver that is down and one with a slow receiver
    #[arg(long)]
    webhooks: bool,

    /// Fail when a budget is exceeded
    #[arg(long)]
    check: bool,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().map_err(|_| "must be a number".to_owned())?;
    if (1.0..=100_000.0).contains(&rate) { Ok(rate) } else { Err("must be between 1 and 100000".to_owned()) }
}

#[derive(Serialize)]
struct MixedReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    rate: f64,
    messages_before: u64,
    kinds: Vec<KindFigures>,
    /// Why something was not measured.
    notes: Vec<String>,
    budgets: Vec<Budget>,
}

#[derive(Serialize)]
struct KindFigures {
    beside: &'static str,
    #[serde(flatten)]
    figures: LoadFigures,
    /// The p50 against that of the sends alone, round by round.
    ratio: Option<Figure>,
    log: Vec<LogSize>,
}

/// The write-ahead log in one round, in bytes.
#[derive(Clone, Copy, Serialize)]
struct LogSize {
    before: u64,
    peak: u64,
    after: u64,
}

/// What goes on while messages are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    Snapshot,
    Export,
    Webhooks,
}

impl Beside {
    fn name(self) -> &'static str {
        match self {
            Beside::Nothing => "nothing",
            Beside::Snapshot => "a held snapshot",
            Beside::Export => "an export of all traces",
            Beside::Webhooks => "a dead and a slow receiver",
        }
    }
}

struct Rounds {
    beside: Beside,
    loads: Vec<Load>,
    log: Vec<LogSize>,
}

pub(super) async fn mixed(arguments: MixedArguments) -> Result<Outcome, String> {
    let MixedArguments { common, rounds, seconds, rate, .. } = &arguments;
    let program = common.hub_program()?;
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let data = folder.path().join("hub");
    let filled = fill_folder(&data, SIZE, arguments.messages_before, 1).await?;
    show_progress(&format!("made {} messages in {:.1} s", arguments.messages_before, filled.seconds));
    let hub = HubProcess::start_calling_this_machine(&program, &data).await?;
    let info = hub.info().await?;
    let mut load = LoadProcess::start()?;
    let mut order = order(&hub, &filled, messages(&filled), 201, arguments.clients.into(), *seconds);
    order.rate = Some(*rate);
    let mut notes = Vec::new();
    let mut all = vec![Rounds::of(Beside::Nothing), Rounds::of(Beside::Snapshot)];
    let cookie = log_in(&hub, &filled.population.people[0].name).await?;
    match export(&hub, &cookie).await? {
        StatusCode::OK => all.push(Rounds::of(Beside::Export)),
        status => notes.push(format!("this hub has no export of traces ({status}), so none was measured")),
    }
    if arguments.webhooks {
        all.push(Rounds::of(Beside::Webhooks));
    }
    let receivers = Receivers::start().await?;
    show_progress(&format!("measuring for about {:.0} s", f64::from(*rounds) * seconds * 1.2 * all.len() as f64));
    for _ in 0..*rounds {
        for kind in &mut all {
            let log = Log::watch(&data);
            let snapshot = match kind.beside {
                Beside::Snapshot => Some(HeldSnapshot::open(&data).map_err(|error| error.to_string())?),
                _ => None,
            };
            let webhooks = match kind.beside {
                Beside::Webhooks => Some(receivers.register(&hub, filled.population.agents()).await?),
                _ => None,
            };
            let measured = async {
                match kind.beside {
                    Beside::Export => {
                        // One after the other, for as long as messages are sent.
                        let again = async {
                            loop {
                                if let Err(error) = export(&hub, &cookie).await {
                                    return error;
                                }
                            }
                        };
                        tokio::select! {
                            measured = load.send(&order) => measured,
                            error = again => Err(error),
                        }
                    }
                    _ => load.send(&order).await,
                }
            };
            kind.loads.push(measured.await?);
            drop(snapshot);
            if let Some(webhooks) = webhooks {
                webhooks.remove(&hub).await?;
            }
            // The log is begun anew by a commit that finds nobody in it.
            let mut settle = order.clone();
            settle.extent = super::load::Extent::Seconds((seconds / 4.0).max(0.1));
            load.send(&settle).await?;
            kind.log.push(log.end());
        }
    }
    hub.stop().await?;
    let report = MixedReport::of(&arguments, machine, &info, &all, notes);
    let code = verdict(arguments.check, &report.budgets);
    let text = if common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

impl Rounds {
    fn of(beside: Beside) -> Self {
        Self { beside, loads: Vec::new(), log: Vec::new() }
    }
}

/// Watches the size of the write-ahead log.
struct Log {
    file: PathBuf,
    before: u64,
    peak: watch::Receiver<u64>,
}

impl Log {
    fn watch(data: &Path) -> Self {
        let file = data.join("stoa.db-wal");
        let size = |file: &Path| fs::metadata(file).map_or(0, |found| found.len());
        let before = size(&file);
        let (sender, peak) = watch::channel(before);
        let watched = file.clone();
        tokio::spawn(async move {
            // Until nobody wants to know any more.
            while !sender.is_closed() {
                let found = size(&watched);
                sender.send_if_modified(|peak| {
                    let is_more = found > *peak;
                    *peak = found.max(*peak);
                    is_more
                });
                pause(SAMPLING).await;
            }
        });
        Self { file, before, peak }
    }

    fn end(self) -> LogSize {
        let after = fs::metadata(&self.file).map_or(0, |found| found.len());
        LogSize { before: self.before, peak: (*self.peak.borrow()).max(after), after }
    }
}

/// The session cookie of the person who owns half of the agents, and sees what they did.
async fn log_in(hub: &HubProcess, name: &str) -> Result<String, String> {
    let password = "the password of nobody but this bench";
    hub.admin("users.passwd", object!({"username": name, "password": password})).await?;
    let body = object!({"username": name, "password": password}).to_string();
    let request = Request::post("/auth/login")
        .header(HOST, hub.address.to_string())
        .header("content-type", "application/json")
        .body(http_body_util::Full::new(Bytes::from(body)))
        .map_err(|error| error.to_string())?;
    let answer = ask(hub, request).await?;
    let cookie = answer.headers().get("set-cookie").and_then(|value| value.to_str().ok()?.split(';').next());
    cookie.map(str::to_owned).ok_or_else(|| format!("nobody can log in: {}", answer.status()))
}

/// Reads all traces to their end.
async fn export(hub: &HubProcess, cookie: &str) -> Result<StatusCode, String> {
    let request = Request::get("/api/traces/export")
        .header(HOST, hub.address.to_string())
        .header(COOKIE, cookie)
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = ask(hub, request).await?;
    let status = answer.status();
    let mut body = answer.into_body();
    while let Some(frame) = body.frame().await {
        frame.map_err(|error| format!("the export was cut off: {error}"))?;
    }
    Ok(status)
}

pub(super) async fn ask<B>(
    hub: &HubProcess,
    request: Request<B>,
) -> Result<hyper::Response<hyper::body::Incoming>, String>
where
    B: hyper::body::Body<Data = Bytes, Error = std::convert::Infallible> + Send + 'static,
{
    let stream = TcpStream::connect(hub.address).await.map_err(|error| error.to_string())?;
    #[expect(clippy::disallowed_methods, reason = "calls only the hub that is measured")]
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tokio::spawn(async move { drop(connection.await) });
    sender.send_request(request).await.map_err(|error| error.to_string())
}

impl MixedReport {
    fn of(arguments: &MixedArguments, machine: Machine, info: &Value, all: &[Rounds], notes: Vec<String>) -> Self {
        let alone = &all[0].loads;
        let kinds: Vec<_> = all
            .iter()
            .map(|kind| KindFigures {
                beside: kind.beside.name(),
                figures: LoadFigures::of(&kind.loads),
                ratio: (kind.beside != Beside::Nothing)
                    .then(|| Figure::of(kind.loads.iter().zip(alone).map(|(load, alone)| load.p50_ms / alone.p50_ms))),
                log: kind.log.clone(),
            })
            .collect();
        let ratios = kinds.iter().filter_map(|kind| Some((kind.beside, kind.ratio?)));
        let mut budgets: Vec<_> = ratios
            .map(|(beside, ratio)| {
                Budget::at_most(format!("p50 of a send beside {beside} against alone"), ratio.median, BUDGET)
            })
            .collect();
        let left = all.iter().flat_map(|kind| &kind.log).map(|log| log.after).max().unwrap_or(0);
        let what = "the write-ahead log when all is over".to_owned();
        budgets.push(Budget::at_most_of(what, left as f64 / 1e6, LOG_BUDGET_MB, " MB"));
        Self {
            bench: "mixed",
            machine,
            engine: format!("SQLite {}", info["database"]["engine_version"].as_str().unwrap_or_default()),
            rounds: arguments.rounds,
            seconds: arguments.seconds,
            rate: arguments.rate,
            messages_before: arguments.messages_before,
            kinds,
            notes,
            budgets,
        }
    }

    fn show(&self) -> String {
        let rows = self.kinds.iter().map(|kind| {
            let most = |of: &dyn Fn(&LogSize) -> u64| kind.log.iter().map(of).max().unwrap_or(0) as f64 / 1e6;
            vec![
                kind.beside.to_owned(),
                kind.figures.requests_per_second.show(),
                kind.figures.p50_ms.show_range(),
                kind.figures.p99_ms.show(),
                kind.figures.server_cpu_us_per_request.show(),
                kind.ratio.map_or_else(String::new, |ratio| ratio.show()),
                format!("{:.1}, {:.1}, {:.1}", most(&|log| log.before), most(&|log| log.peak), most(&|log| log.after)),
            ]
        });
        let columns =
            ["beside", "messages/s", "p50 ms", "p99 ms", "CPU µs/message", "p50 ratio", "log MB before, peak, after"];
        let mut text = [
            self.machine.heading("mixed", &self.engine),
            format!(
                "{} messages a second, {} before; medians of {} rounds of {} s (least–most)\n\n",
                self.rate, self.messages_before, self.rounds, self.seconds
            ),
            table(&columns, rows.collect()),
            "\n".to_owned(),
        ]
        .concat();
        for note in &self.notes {
            text += &format!("{note}\n");
        }
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}
