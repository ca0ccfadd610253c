//! `stoa bench raw`: what there is before the hub does anything.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_db::{Database, DbError, Migration, Options, Tx, params};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use super::load::{Extent, Load, LoadFigures, LoadProcess, Order};
use super::machine::{CpuTimes, Machine};
use super::report::{Figure, Latency, Outcome, json, per, show, table};
use super::{CommonArguments, Dice, now, parse_seconds, pause, say};

const CLIENTS: [usize; 3] = [1, 64, 256];
const CONNECTIONS: usize = 64;
const WRITER_THREAD: &str = "stoa-db-write";

#[derive(Args)]
pub(in crate::cli) struct RawArguments {
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
struct WriterFigures {
    clients: usize,
    messages: u64,
    messages_per_second: Figure,
    p50_ms: Figure,
    p99_ms: Figure,
    /// Of the whole process: the writer and the clients, which are tasks here.
    cpu_us_per_message: Figure,
    writer_cpu_us_per_message: Figure,
    messages_per_commit: Figure,
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
    let writer = RawWriter::open(folder.path())?;
    let engine = format!("SQLite {}", writer.db.info().await.map_err(|error| error.to_string())?.engine_version);
    let mut echo = EchoServer::start().await?;

    say(&format!("measuring for about {:.0} s in {}", f64::from(rounds) * seconds * 5.0, machine.folder));
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
        let writes = self.group_commit.iter().map(|case| {
            vec![
                case.clients.to_string(),
                case.messages_per_second.show_range(),
                case.p50_ms.show(),
                case.p99_ms.show(),
                case.cpu_us_per_message.show(),
                case.writer_cpu_us_per_message.show(),
                case.messages_per_commit.show(),
            ]
        });
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
            table(
                &[
                    "clients",
                    "messages/s",
                    "p50 ms",
                    "p99 ms",
                    "CPU µs/message",
                    "writer µs/message",
                    "messages/commit",
                ],
                writes.collect(),
            ),
            "\nbare axum: a JSON POST that is sent back\n".to_owned(),
            table(&["connections", "requests/s", "p50 ms", "p99 ms", "server CPU µs/request"], vec![echoes]),
        ]
        .concat()
    }
}

/// What a message costs in rows and indexes, as a hub has them.
const MIGRATIONS: &[Migration] = &[Migration {
    number: 1,
    name: "bench",
    sqlite: "
        create table messages (
            id integer primary key autoincrement,
            conversation_id integer not null,
            author_id integer not null,
            reply_to integer,
            priority text not null,
            body text not null,
            request_id blob not null,
            created_at integer not null
        ) strict;
        create index messages_conversation on messages (conversation_id, id);
        create index messages_author on messages (author_id, id);
        create index messages_reply on messages (reply_to, id) where reply_to is not null;
        create index messages_age on messages (created_at);
        create unique index messages_request on messages (request_id);
        create index messages_visible on messages (id, conversation_id, author_id, created_at);

        create table inbox (
            principal_id integer not null,
            message_id integer not null references messages (id),
            created_at integer not null,
            primary key (principal_id, message_id)
        ) strict, without rowid;

        create table traces (
            id integer primary key autoincrement,
            at integer not null,
            principal_id integer not null,
            action text not null,
            subject text not null,
            duration_us integer not null
        ) strict;",
    postgres: "select 1",
}];

const BODY: &str = "The nightly run is green again: the flaky test waited for a clock that nobody moved. \
    I have put the fix up for review, please have a look.";

/// One message as a client sends it.
struct Draft {
    conversation: i64,
    author: i64,
    /// Messages back in the same stream; every fourth is a reply.
    reply_to: Option<i64>,
    /// Every second one is for somebody's inbox.
    recipient: Option<i64>,
}

impl Draft {
    fn from(dice: &mut Dice) -> Self {
        let kind = dice.below(4);
        Self {
            conversation: 1 + dice.below(200) as i64,
            author: 1 + dice.below(500) as i64,
            reply_to: (kind == 0).then(|| 1 + dice.below(5000) as i64),
            recipient: (kind % 2 == 1).then(|| 1 + dice.below(500) as i64),
        }
    }

    fn store(&self, tx: &mut Tx<'_>) -> Result<i64, DbError> {
        let (now_ms, request_id) = (tx.now_ms(), tx.random_bytes::<16>());
        let id: i64 = tx.query_one(
            "insert into messages (conversation_id, author_id, reply_to, priority, body, request_id, created_at)
             values ($1, $2, $3, $4, $5, $6, $7) returning id",
            params![self.conversation, self.author, self.reply_to, "normal", BODY, request_id, now_ms],
            |row| row.get("id"),
        )?;
        if let Some(recipient) = self.recipient {
            tx.execute(
                "insert into inbox (principal_id, message_id, created_at) values ($1, $2, $3)
                 on conflict (principal_id, message_id) do nothing",
                params![recipient, id, now_ms],
            )?;
        }
        tx.execute(
            "insert into traces (at, principal_id, action, subject, duration_us) values ($1, $2, $3, $4, $5)",
            params![now_ms, self.author, "send_channel_message", "#general", 250],
        )?;
        Ok(id)
    }
}

/// The hub's own writer, and nothing of the hub.
struct RawWriter {
    db: Database,
    commits: Arc<AtomicU64>,
}

struct WriterRound {
    messages: u64,
    seconds: f64,
    latency: Latency,
    cpu_us_per_message: f64,
    writer_cpu_us_per_message: f64,
    messages_per_commit: f64,
}

impl RawWriter {
    fn open(folder: &Path) -> Result<Self, String> {
        let commits = Arc::new(AtomicU64::new(0));
        let counted = commits.clone();
        let options = Options {
            observer: Some(Arc::new(move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
            })),
            ..Options::new(folder)
        };
        let db = Database::open(options, MIGRATIONS).map_err(|error| error.to_string())?;
        Ok(Self { db, commits })
    }

    async fn run(&self, clients: usize, duration: Duration) -> Result<WriterRound, String> {
        let pid = std::process::id();
        let before = CpuTimes::of(pid)?;
        let commits = self.commits.load(Ordering::Relaxed);
        let started = now();
        let end = started + duration;
        let mut running = JoinSet::new();
        for seed in 0..clients {
            let (db, mut dice) = (self.db.clone(), Dice::new(seed as u64 + commits));
            running.spawn(async move {
                let mut samples = Vec::new();
                loop {
                    let sent = now();
                    if sent >= end {
                        return Ok::<_, DbError>(samples);
                    }
                    let draft = Draft::from(&mut dice);
                    db.write(move |tx| draft.store(tx)).await?;
                    samples.push(sent.elapsed());
                }
            });
        }
        let mut samples = Vec::new();
        while let Some(ended) = running.join_next().await {
            let ended = ended.map_err(|error| error.to_string())?;
            samples.extend(ended.map_err(|error| error.to_string())?);
        }
        let seconds = started.elapsed().as_secs_f64();
        // Threads that run just now are not counted up to the moment.
        pause(Duration::from_millis(5)).await;
        let after = CpuTimes::of(pid)?;
        let commits = self.commits.load(Ordering::Relaxed) - commits;
        let messages = samples.len() as u64;
        Ok(WriterRound {
            messages,
            seconds,
            latency: Latency::of(samples),
            cpu_us_per_message: per(after.since(&before), messages),
            writer_cpu_us_per_message: per(after.since_of(&before, WRITER_THREAD), messages),
            messages_per_commit: messages as f64 / commits.max(1) as f64,
        })
    }
}

impl WriterFigures {
    fn of(clients: usize, rounds: &[WriterRound]) -> Self {
        Self {
            clients,
            messages: rounds.iter().map(|round| round.messages).sum(),
            messages_per_second: Figure::of(rounds.iter().map(|round| round.messages as f64 / round.seconds)),
            p50_ms: Figure::of(rounds.iter().map(|round| round.latency.p50_ms)),
            p99_ms: Figure::of(rounds.iter().map(|round| round.latency.p99_ms)),
            cpu_us_per_message: Figure::of(rounds.iter().map(|round| round.cpu_us_per_message)),
            writer_cpu_us_per_message: Figure::of(rounds.iter().map(|round| round.writer_cpu_us_per_message)),
            messages_per_commit: Figure::of(rounds.iter().map(|round| round.messages_per_commit)),
        }
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
            path: "/echo".to_owned(),
            status: 200,
            body: Some(body.to_string()),
            credentials: Vec::new(),
            connections: CONNECTIONS,
            extent: Extent::Seconds(0.0),
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
