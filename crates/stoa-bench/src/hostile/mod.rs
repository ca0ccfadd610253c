//! `stoa-bench hostile`: attacks that one agent with an ordinary key, or a stranger, can play against a hub, and what
//! another owner notices of them. Every attack has a hub of its own, which may have 1 GiB of memory for data.

mod bodies;
mod figures;
mod held;
mod http;
mod indexing;
mod logins;
mod mcp_bodies;
mod oauth_registrations;
mod other;
mod replies;
mod scene;
mod searching;
mod stopping;
mod stored_answers;
mod unread_answers;
mod watch;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::task::JoinSet;

use self::bodies::Bodies;
use self::figures::{AttackFigures, HostileReport, Limits};
use self::logins::Logins;
use self::other::{Kind, Other};
use self::scene::{Scene, Shared};
use self::watch::{Watch, folder_bytes};
use super::arguments::CommonArguments;
use super::bare_postgres::BenchDatabases;
use super::hub_process::HubProcess;
use super::hub_program::HubProgram;
use super::machine::Machine;
use super::progress::show_progress;
use super::real_time::{now, pause};
use super::report::{Outcome, json};

/// What the hub may have for data: above it, an allocation fails and the hub aborts.
const DATA_BYTES: u64 = 1024 * 1024 * 1024;
/// A hub that has not stopped by then is killed.
const STOP_PATIENCE: Duration = Duration::from_secs(60);
/// How long a hub has to give memory back after an attack.
const SETTLE: Duration = Duration::from_secs(2);

#[derive(Args)]
pub(super) struct HostileArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// Use PostgreSQL: a server on which the bench may create and drop a database for each attack
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,

    /// Play only this attack, or all whose names begin with it and a hyphen; may be repeated
    #[arg(long, value_name = "NAME", value_parser = parse_attack)]
    attack: Vec<String>,

    /// How long most attacks go on
    #[arg(long, default_value_t = 8.0, value_parser = parse_duration)]
    seconds: f64,

    /// How much of each attack to play: 0.1 opens a tenth of the connections
    #[arg(long, default_value_t = 1.0, value_parser = parse_scale)]
    scale: f64,

    /// How long an answer to the other owner may take; raise it on a busy machine
    #[arg(long, default_value_t = 2.0, value_parser = parse_duration)]
    answer_seconds: f64,
}

fn parse_duration(text: &str) -> Result<f64, String> {
    let seconds = text.parse().map_err(|_| "must be a number".to_owned())?;
    if (0.01..=3600.0).contains(&seconds) { Ok(seconds) } else { Err("must be between 0.01 and 3600".to_owned()) }
}

fn parse_scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().map_err(|_| "must be a number".to_owned())?;
    if (0.0001..=10.0).contains(&scale) { Ok(scale) } else { Err("must be between 0.0001 and 10".to_owned()) }
}

fn parse_attack(text: &str) -> Result<String, String> {
    if ATTACKS.iter().any(|attack| attack.is_named(text)) {
        return Ok(text.to_owned());
    }
    let names: Vec<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
    Err(format!("there are {}", names.join(", ")))
}

#[derive(Clone, Copy)]
enum Play {
    /// The other owner alone: what the figures of the attacks are compared with.
    Nothing,
    Bodies(Bodies),
    McpUploads,
    McpWaits,
    UnreadAnswers,
    StoredAnswers,
    Search,
    Indexing,
    Logins(Logins),
    /// Prepared with a hub of its own; then the other owner reads.
    Replies,
    OauthRegistrations,
    Stopping,
}

struct Attack {
    name: &'static str,
    play: Play,
}

const ATTACKS: [Attack; 21] = [
    Attack { name: "nothing", play: Play::Nothing },
    Attack { name: "bodies-login", play: Play::Bodies(Bodies::Login) },
    Attack { name: "bodies-small-login", play: Play::Bodies(Bodies::SmallLogin) },
    Attack { name: "bodies-token", play: Play::Bodies(Bodies::Token) },
    Attack { name: "bodies-key", play: Play::Bodies(Bodies::Key) },
    Attack { name: "bodies-idempotent", play: Play::Bodies(Bodies::Idempotent) },
    Attack { name: "bodies-stranger", play: Play::Bodies(Bodies::Stranger) },
    Attack { name: "bodies-chunked", play: Play::Bodies(Bodies::Chunked) },
    Attack { name: "bodies-drip", play: Play::Bodies(Bodies::Drip) },
    Attack { name: "mcp-bodies", play: Play::McpUploads },
    Attack { name: "mcp-waits", play: Play::McpWaits },
    Attack { name: "unread-answers", play: Play::UnreadAnswers },
    Attack { name: "stored-answers", play: Play::StoredAnswers },
    Attack { name: "search", play: Play::Search },
    Attack { name: "indexing", play: Play::Indexing },
    Attack { name: "logins-addresses", play: Play::Logins(Logins::Addresses) },
    Attack { name: "logins-networks", play: Play::Logins(Logins::Networks) },
    Attack { name: "logins-register", play: Play::Logins(Logins::Register) },
    Attack { name: "replies", play: Play::Replies },
    Attack { name: "oauth-registrations", play: Play::OauthRegistrations },
    Attack { name: "stopping", play: Play::Stopping },
];

impl Attack {
    fn is_named(&self, name: &str) -> bool {
        self.name == name || self.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
    }

    /// What the other owner does meanwhile.
    fn kinds(&self) -> Vec<Kind> {
        let mut kinds = vec![Kind::Read, Kind::Channels, Kind::Send, Kind::Search, Kind::Login];
        match self.play {
            Play::McpUploads | Play::McpWaits => kinds.push(Kind::Upload),
            Play::Logins(_) => kinds.push(Kind::FirstLogin),
            Play::Replies => kinds.push(Kind::Replies),
            _ => {}
        }
        kinds
    }
}

/// Plays an attack until its time is up. What is returned goes on until it is dropped.
async fn play(play: Play, scene: Shared) -> Result<JoinSet<()>, String> {
    match play {
        Play::Nothing | Play::Replies => {
            scene.begin();
            Ok(scene.play([std::future::pending::<()>()]).await)
        }
        Play::Bodies(kind) => Ok(bodies::play(scene, kind).await),
        Play::McpUploads => Ok(mcp_bodies::play_uploads(scene).await),
        Play::McpWaits => Ok(mcp_bodies::play_waits(scene).await),
        Play::UnreadAnswers => unread_answers::play(scene).await,
        Play::StoredAnswers => stored_answers::play(scene).await,
        Play::Search => searching::play(scene).await,
        Play::Indexing => indexing::play(scene).await,
        Play::Logins(kind) => Ok(logins::play(scene, kind).await),
        Play::OauthRegistrations => Ok(oauth_registrations::play(scene).await),
        Play::Stopping => stopping::play(scene).await,
    }
}

pub(super) async fn hostile(arguments: HostileArguments) -> Result<Outcome, String> {
    let program = arguments.common.hub_program()?;
    let folder = arguments.common.folder()?;
    let chosen = ATTACKS
        .iter()
        .filter(|attack| arguments.attack.is_empty() || arguments.attack.iter().any(|name| attack.is_named(name)));
    let (mut attacks, mut engine) = (Vec::new(), String::new());
    for attack in chosen {
        show_progress(&format!("playing {}", attack.name));
        let data = folder.path().join(attack.name);
        std::fs::create_dir_all(&data).map_err(|error| error.to_string())?;
        let databases = match &arguments.database_url {
            Some(url) => Some(BenchDatabases::create(url).await?),
            None => None,
        };
        let played = Box::pin(measure(attack, &arguments, &program, &data, databases.as_ref())).await;
        if let Some(databases) = &databases {
            databases.drop_both().await?;
        }
        let (figures, measured_engine) = played.map_err(|error| format!("{}: {error}", attack.name))?;
        engine = measured_engine;
        show_progress(&figures.summary());
        attacks.push(figures);
        // The next hub may need the space.
        std::fs::remove_dir_all(&data).map_err(|error| error.to_string())?;
    }
    let machine = Machine::with_folder(folder.path());
    let is_failed = attacks.iter().any(|figures| !figures.faults.is_empty());
    let report = HostileReport { bench: "hostile", machine, engine, scale: arguments.scale, attacks };
    let text = if arguments.common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code: if is_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS } })
}

async fn measure(
    attack: &Attack,
    arguments: &HostileArguments,
    program: &HubProgram,
    data: &Path,
    databases: Option<&BenchDatabases>,
) -> Result<(AttackFigures, String), String> {
    let url = databases.map(BenchDatabases::url).transpose()?;
    let mut hub = HubProcess::start_limited(program, data, url.as_deref(), DATA_BYTES).await?;
    let info = hub.info().await?;
    let version = info["database"]["engine_version"].as_str().unwrap_or_default();
    let engine = format!("{} {version}", if url.is_some() { "PostgreSQL" } else { "SQLite" });
    let duration = Duration::from_secs_f64(arguments.seconds);
    let mut scene = Scene::set(&hub, duration, arguments.scale).await?;
    if matches!(attack.play, Play::Replies) {
        hub.stop().await?;
        replies::prepare(program, data, url.as_deref(), &mut scene).await?;
        hub = HubProcess::start_limited(program, data, url.as_deref(), DATA_BYTES).await?;
        scene.move_to(&hub);
    }
    let scene = Arc::new(scene);
    let mut playing = tokio::spawn(Box::pin(play(attack.play, scene.clone())));
    // A preparation that fails is the end of the task, and nothing has begun.
    tokio::select! {
        () = scene.wait_until_begun() => {}
        ended = &mut playing => {
            ended.map_err(|error| error.to_string())??;
            return Err("the attack did not begin".to_owned());
        }
    }
    let started = now();
    let disk_before = disk_bytes(data, databases).await?;
    let watch = Watch::begin(hub.pid)?;
    let other = Other::start(scene.hub, scene.other.clone(), attack.kinds());
    let held = playing.await.map_err(|error| error.to_string())??;
    let seconds = started.elapsed().as_secs_f64();
    // Dropping what is held ends the attack.
    let held = Some(held).filter(|_| matches!(attack.play, Play::Stopping));
    let answers = other.finish().await?;
    pause(SETTLE).await;
    let after = watch.now();
    let is_alive = after.is_some() && watch.is_alive();
    let (before, most) = (watch.before(), watch.most());
    let disk_after = disk_bytes(data, databases).await?;
    drop(watch);
    let stopping = now();
    let status = hub.stop_within(STOP_PATIENCE).await?;
    let stop_seconds = stopping.elapsed().as_secs_f64();
    drop(held);
    let figures = AttackFigures {
        attack: attack.name,
        seconds,
        sent_bytes: scene.sent(),
        heard: scene.heard(),
        resident_before_bytes: before.resident_bytes,
        resident_most_bytes: most.resident_bytes,
        resident_after_bytes: after.map(|usage| usage.resident_bytes),
        data_most_bytes: most.data_bytes,
        disk_growth_bytes: disk_after.saturating_sub(disk_before),
        cpu_seconds: most.cpu_seconds - before.cpu_seconds,
        other: answers,
        has_lived: is_alive,
        ended: describe(status),
        stop_seconds: is_alive.then_some(stop_seconds),
        faults: Vec::new(),
    };
    Ok((figures.judged(&Limits { answer_seconds: arguments.answer_seconds }), engine))
}

async fn disk_bytes(data: &Path, databases: Option<&BenchDatabases>) -> Result<u64, String> {
    let in_database = match databases {
        Some(databases) => databases.bytes().await?,
        None => 0,
    };
    Ok(folder_bytes(data) + in_database)
}

/// How a process ended; none if it had to be killed.
fn describe(status: Option<ExitStatus>) -> String {
    match status {
        None => "killed, because it did not stop".to_owned(),
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "unknown".to_owned(),
        },
    }
}
