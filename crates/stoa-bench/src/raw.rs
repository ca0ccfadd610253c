//! `stoa-bench raw`: what there is before the hub does anything.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::arguments::{CommonArguments, parse_seconds};
use super::fill::fill_folder;
use super::load::{Ask, Extent, Load, LoadFigures, LoadProcess, Order};
use super::machine::Machine;
use super::population::Size;
use super::progress::show_progress;
use super::raw_writer::{BODY, RawWriter, WriterFigures, WriterRound};
use super::real_time::now;
use super::report::{Figure, Latency, Outcome, json, show, table};

const CLIENTS: [usize; 3] = [1, 64, 256];
const CONNECTIONS: usize = 64;
/// Trees of some depth, as those of a hub in use.
const MESSAGES_BEFORE: u64 = 2_000;

#[derive(Args)]
pub(super) struct RawArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How long each measurement takes
    #[arg(long, default_value_t = 1.0, value_parser = parse_seconds)]
    seconds: f64,
}

#[derive(Serialize)]
struct RawReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    disk_sync: DiskSync,
    group_commit: Vec<WriterFigures>,
    /// What one client waits for one message: the median of its rounds' medians.
    single_commit_p50_ms: f64,
    http_echo: EchoFigures,
}

/// Writing and syncing 4 KiB, with no database at all.
#[derive(Serialize)]
struct DiskSync {
    p50_ms: Figure,
    p99_ms: Figure,
}

#[derive(Serialize)]
struct EchoFigures {
    connections: usize,
    #[serde(flatten)]
    figures: LoadFigures,
}

pub(super) async fn raw(arguments: RawArguments) -> Result<Outcome, String> {
    let RawArguments { common, rounds, seconds } = arguments;
    let duration = Duration::from_secs_f64(seconds);
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let data = folder.path().join("raw");
    let filled = fill_folder(&data, Size::default(), MESSAGES_BEFORE, 1).await?;
    let writer = RawWriter::open(&data, &filled).await?;
    let engine = format!("SQLite {}", writer.db.info().await.map_err(|error| error.to_string())?.engine_version);
    let mut echo = EchoServer::start().await?;

    show_progress(&format!("measuring for about {:.0} s in {}", f64::from(rounds) * seconds * 5.0, machine.folder));
    writer.run(64, duration / 2).await?;
    let (mut syncs, mut echoes) = (Vec::new(), Vec::new());
    let mut writes: Vec<Vec<WriterRound>> = CLIENTS.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        syncs.push(sync_disk(folder.path(), duration / 4).await?);
        for (clients, rounds) in CLIENTS.iter().zip(&mut writes) {
            rounds.push(writer.run(*clients, duration).await?);
        }
        echoes.push(echo.load(seconds).await?);
    }
    writer.db.close().await;

    let group_commit: Vec<_> =
        CLIENTS.iter().zip(&writes).map(|(clients, rounds)| WriterFigures::of(*clients, rounds)).collect();
    let report = RawReport {
        bench: "raw",
        machine,
        engine,
        rounds,
        seconds,
        disk_sync: DiskSync {
            p50_ms: Figure::of(syncs.iter().map(|latency| latency.p50_ms)),
            p99_ms: Figure::of(syncs.iter().map(|latency| latency.p99_ms)),
        },
        single_commit_p50_ms: group_commit.first().map_or(0.0, |alone| alone.p50_ms.median),
        group_commit,
        http_echo: EchoFigures { connections: CONNECTIONS, figures: LoadFigures::of(&echoes) },
    };
    let text = if common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code: ExitCode::SUCCESS })
}

impl RawReport {
    fn show(&self) -> String {
        let writes = self.group_commit.iter().map(WriterFigures::cells);
        let echo = &self.http_echo.figures;
        let echoes = vec![
            self.http_echo.connections.to_string(),
            echo.requests_per_second.show_range(),
            echo.p50_ms.show(),
            echo.p99_ms.show(),
            echo.server_cpu_us_per_request.show_range(),
        ];
        [
            self.machine.heading("raw", &self.engine),
            format!("medians of {} rounds of {} s (least–most)\n\n", self.rounds, self.seconds),
            format!(
                "write and sync of 4 KiB: p50 {} ms, p99 {} ms\none message alone on disk: p50 {} ms\n\n",
                self.disk_sync.p50_ms.show(),
                self.disk_sync.p99_ms.show(),
                show(self.single_commit_p50_ms)
            ),
            "bare group commit: the rows of a message, without a hub\n".to_owned(),
            table(&WriterFigures::COLUMNS, writes.collect()),
            "\nbare axum: a JSON POST that is sent back\n".to_owned(),
            table(&["connections", "requests/s", "p50 ms", "p99 ms", "server CPU µs/request"], vec![echoes]),
        ]
        .concat()
    }
}

/// Overwrites the blocks of a file as a write-ahead log does, and waits for each to be on disk.
async fn sync_disk(folder: &Path, duration: Duration) -> Result<Latency, String> {
    const BLOCK: usize = 4096;
    const BLOCKS: u64 = 256;
    let path = folder.join("sync");
    let measure = move || {
        let file = File::create(path)?;
        file.write_all_at(&vec![1; BLOCK * BLOCKS as usize], 0)?;
        file.sync_all()?;
        let (end, block, mut samples) = (now() + duration, [2; BLOCK], Vec::new());
        for place in (0..BLOCKS).cycle() {
            let started = now();
            if started >= end {
                break;
            }
            file.write_all_at(&block, place * BLOCK as u64)?;
            file.sync_data()?;
            samples.push(started.elapsed());
        }
        Ok::<_, std::io::Error>(Latency::of(samples))
    };
    let measured = tokio::task::spawn_blocking(measure).await.map_err(|error| error.to_string())?;
    measured.map_err(|error| format!("the disk cannot be written: {error}"))
}

#[derive(Serialize, Deserialize)]
struct Echo {
    channel: String,
    body: String,
    reply_to: Option<i64>,
    mentions: Vec<String>,
}

/// A handler in this process that does nothing but read and write JSON.
struct EchoServer {
    order: Order,
    serving: AbortHandle,
    load: LoadProcess,
}

impl EchoServer {
    async fn start() -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let router = Router::new().route("/echo", post(async |Json(echo): Json<Echo>| Json(echo)));
        let listener = listener.tap_io(|stream| {
            // Where it cannot be set, the latency shows.
            let _ = stream.set_nodelay(true);
        });
        let serving = tokio::spawn(async move { drop(axum::serve(listener, router).await) }).abort_handle();
        let body = json!({"channel": "#general", "body": BODY, "reply_to": 4711, "mentions": ["ant", "bee"]});
        let order = Order {
            server: std::process::id(),
            address,
            asks: vec![Ask { path: "/echo".to_owned(), body: Some(body.to_string()), credential: None }],
            events: None,
            status: 200,
            credentials: Vec::new(),
            connections: CONNECTIONS,
            extent: Extent::Seconds(0.0),
            rate: None,
        };
        Ok(Self { order, serving, load: LoadProcess::start()? })
    }

    async fn load(&mut self, seconds: f64) -> Result<Load, String> {
        self.load.send(&Order { extent: Extent::Seconds(seconds), ..self.order.clone() }).await
    }
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
