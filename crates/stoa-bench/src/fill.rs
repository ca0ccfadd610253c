//! `stoa-bench fill`: a hub with a past, to measure or to look at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use stoa_db::{Database, Options};
use stoa_schema::MIGRATIONS;

use super::history::{self, History};
use super::population::{Population, Size};
use super::progress::show_progress;
use super::real_time::now;
use super::report::{Outcome, json, show};

#[derive(Args)]
pub(super) struct FillArguments {
    /// The data folder of a hub that is not running (on SQLite), or a new one
    #[arg(long)]
    data: PathBuf,

    /// Messages to create
    #[arg(long, default_value_t = 100_000)]
    messages: u64,

    #[command(flatten)]
    size: SizeArguments,

    /// The same seed makes the same messages; keys differ each time
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Print one JSON object, with the keys of all agents
    #[arg(long)]
    json: bool,
}

/// Who is to be there.
#[derive(Args, Clone, Copy)]
pub(super) struct SizeArguments {
    /// People
    #[arg(long, default_value_t = 50, value_parser = parse_count)]
    users: usize,

    /// Agents, which belong to the people in turn
    #[arg(long, default_value_t = 200, value_parser = parse_count)]
    agents: usize,

    /// Channels, from one with everyone to some with few members
    #[arg(long, default_value_t = 40, value_parser = parse_count)]
    channels: usize,
}

fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse().map_err(|_| "must be a number".to_owned())?;
    if (2..=20_000).contains(&count) { Ok(count) } else { Err("must be between 2 and 20000".to_owned()) }
}

impl From<SizeArguments> for Size {
    fn from(arguments: SizeArguments) -> Self {
        let SizeArguments { users, agents, channels } = arguments;
        Self { users, agents, channels }
    }
}

/// A folder that was filled.
#[derive(Clone, Serialize)]
pub(super) struct Filled {
    pub(super) population: Population,
    pub(super) history: History,
    pub(super) seconds: f64,
}

#[derive(Serialize)]
struct FillReport<'f> {
    bench: &'static str,
    data: String,
    seconds: f64,
    messages: u64,
    bytes: u64,
    agents: Vec<AgentKey<'f>>,
    channels: Vec<&'f str>,
}

#[derive(Serialize)]
struct AgentKey<'f> {
    name: &'f str,
    key: &'f str,
}

pub(super) async fn fill(arguments: FillArguments) -> Result<Outcome, String> {
    let filled = fill_folder(&arguments.data, arguments.size.into(), arguments.messages, arguments.seed).await?;
    let agents = filled.population.agents();
    let agents = agents.iter().filter_map(|agent| Some(AgentKey { name: &agent.name, key: agent.key.as_deref()? }));
    let report = FillReport {
        bench: "fill",
        data: arguments.data.display().to_string(),
        seconds: filled.seconds,
        messages: filled.history.messages,
        bytes: fs::metadata(arguments.data.join("stoa.db")).map_or(0, |file| file.len()),
        agents: agents.collect(),
        channels: filled.population.rooms.iter().map(|room| room.name.as_str()).collect(),
    };
    let text = if arguments.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code: ExitCode::SUCCESS })
}

impl FillReport<'_> {
    fn show(&self) -> String {
        let mut text = format!(
            "{} messages in {} s ({}/s), {} agents and {} channels; the database has {} MB\n",
            self.messages,
            show(self.seconds),
            show(self.messages as f64 / self.seconds),
            self.agents.len(),
            self.channels.len(),
            self.bytes / 1_000_000
        );
        if let Some(agent) = self.agents.first() {
            text += &format!("the key of {}: {}\n", agent.name, agent.key);
        }
        text
    }
}

/// Fills a folder that no hub has open.
pub(super) async fn fill_folder(folder: &Path, size: Size, messages: u64, seed: u64) -> Result<Filled, String> {
    if fs::read_to_string(folder.join("engine")).is_ok_and(|engine| engine.trim() != "sqlite") {
        return Err(format!("the hub of {} is not on SQLite", folder.display()));
    }
    fill_database(folder, None, size, messages, seed).await
}

/// Fills the database of a folder, or the one on PostgreSQL.
pub(super) async fn fill_database(
    folder: &Path,
    postgres_url: Option<String>,
    size: Size,
    messages: u64,
    seed: u64,
) -> Result<Filled, String> {
    fs::create_dir_all(folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    let options = Options { postgres_url, ..Options::new(folder) };
    let db = tokio::task::spawn_blocking(move || Database::open(options, MIGRATIONS)).await;
    let db = db.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    let started = now();
    let filled = async {
        let population = Population::create(&db, size, seed).await?;
        let history = history::tell(&db, &population, messages, seed, |told| {
            if told % 250_000 == 0 {
                show_progress(&format!("{told} messages"));
            }
        })
        .await?;
        history::continue_numbers(&db).await?;
        Ok::<_, String>((population, history))
    };
    let filled = filled.await;
    db.close().await;
    let (population, history) = filled?;
    Ok(Filled { population, history, seconds: started.elapsed().as_secs_f64() })
}
