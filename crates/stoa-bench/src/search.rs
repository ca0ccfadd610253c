//! `stoa-bench search`: what finding costs, with many messages and with few, and what indexing costs those who send.

use std::fs;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use stoa_model::Timestamp;

use super::arguments::{CommonArguments, parse_seconds};
use super::dice::Dice;
use super::fill::{Filled, SizeArguments, fill_folder};
use super::history::{PLANTED, Writer};
use super::hub_process::{HubProcess, copy_folder};
use super::hub_program::HubProgram;
use super::load::{Ask, Load, LoadFigures, LoadProcess};
use super::machine::Machine;
use super::progress::show_progress;
use super::read::largest_against_smallest;
use super::real_time::{now, pause, unix_seconds};
use super::report::{Budget, Figure, Outcome, json, show, table, verdict};
use super::requests::{messages, order};

/// Page and total, on a quiet machine.
const TIME_BUDGET_MS: f64 = 30.0;
/// As many hits among many messages against few.
const SIZE_BUDGET: f64 = 1.3;
/// What indexing may cost those who send.
const SEND_BUDGET: f64 = 1.2;
/// Different questions of each kind.
const QUESTIONS: usize = 64;
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Messages that are there before sends are measured.
const MESSAGES_BEFORE: u64 = 10_000;

#[derive(Args)]
pub(super) struct SearchArguments {
    #[command(flatten)]
    common: CommonArguments,

    /// How often everything is measured; the medians are reported
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How long each measurement takes
    #[arg(long, default_value_t = 1.0, value_parser = parse_seconds)]
    seconds: f64,

    /// Messages of the hubs that are compared
    #[arg(long, value_delimiter = ',', num_args = 1.., default_values_t = [100_000, 1_000_000])]
    sizes: Vec<u64>,

    /// Connections that send at the same time
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=10000))]
    clients: u16,

    #[command(flatten)]
    size: SizeArguments,

    /// Fail when a budget is exceeded
    #[arg(long)]
    check: bool,
}

#[derive(Serialize)]
struct SearchReport {
    bench: &'static str,
    machine: Machine,
    engine: String,
    rounds: u32,
    seconds: f64,
    clients: u16,
    hubs: Vec<IndexFigures>,
    kinds: Vec<KindFigures>,
    sends: Vec<SendFigures>,
    budgets: Vec<Budget>,
}

/// A hub of some size, and its index.
#[derive(Serialize)]
struct IndexFigures {
    messages: u64,
    /// From the first start, without an index, to the first answer.
    built_seconds: f64,
    index_bytes: u64,
}

/// Questions of one kind, asked of hubs of each size.
#[derive(Serialize)]
struct KindFigures {
    kind: &'static str,
    /// Whether there are as many hits, whatever the size.
    is_planted: bool,
    /// Whether it has to look at more than its hits: at all that is said with the words of a phrase or a prefix.
    is_wide: bool,
    sizes: Vec<KindSize>,
    /// CPU with most messages against fewest, round by round.
    ratio: Figure,
}

#[derive(Serialize)]
struct KindSize {
    messages: u64,
    #[serde(flatten)]
    figures: LoadFigures,
}

#[derive(Serialize)]
struct SendFigures {
    clients: usize,
    indexed: LoadFigures,
    unindexed: LoadFigures,
    /// The time of a message with indexing against without, round by round.
    ratio: Figure,
}

struct Indexed {
    hub: HubProcess,
    filled: Filled,
    figures: IndexFigures,
}

/// What is asked, by a kind of its own.
struct Kind {
    name: &'static str,
    is_planted: bool,
    is_wide: bool,
    asks: Vec<Ask>,
}

pub(super) async fn search(arguments: SearchArguments) -> Result<Outcome, String> {
    let SearchArguments { common, rounds, seconds, .. } = &arguments;
    let program = common.hub_program()?;
    let folder = common.folder()?;
    let machine = Machine::with_folder(folder.path());
    let mut load = LoadProcess::start()?;
    let sends = compare_sends(&arguments, &program, folder.path(), &mut load).await?;
    let mut hubs = Vec::new();
    for messages in &arguments.sizes {
        hubs.push(start(&program, &folder.path().join(format!("hub-{messages}")), *messages, arguments.size).await?);
    }
    let info = hubs[0].hub.info().await?;
    let all: Vec<Vec<Kind>> = hubs.iter().map(|indexed| kinds(&indexed.filled)).collect();
    let mut loads: Vec<Vec<Vec<Load>>> = all[0].iter().map(|_| hubs.iter().map(|_| Vec::new()).collect()).collect();
    let takes = f64::from(*rounds) * (seconds * 1.2 + 0.06) * (all[0].len() * hubs.len()) as f64;
    show_progress(&format!("searching for about {takes:.0} s"));
    for _ in 0..*rounds {
        for (place, loads) in loads.iter_mut().enumerate() {
            for ((indexed, kinds), loads) in hubs.iter().zip(&all).zip(loads) {
                let order = order(&indexed.hub, &indexed.filled, kinds[place].asks.clone(), 200, 1, *seconds);
                loads.push(load.send(&order).await?);
            }
        }
    }
    let kinds = all[0].iter().zip(loads).map(|(kind, loads)| KindFigures {
        kind: kind.name,
        is_planted: kind.is_planted,
        is_wide: kind.is_wide,
        ratio: largest_against_smallest(&loads, &|load| load.server_cpu_us_per_request),
        sizes: hubs
            .iter()
            .zip(&loads)
            .map(|(indexed, loads)| KindSize { messages: indexed.figures.messages, figures: LoadFigures::of(loads) })
            .collect(),
    });
    let kinds: Vec<KindFigures> = kinds.collect();
    let mut figures = Vec::new();
    for indexed in hubs {
        indexed.hub.stop().await?;
        figures.push(indexed.figures);
    }
    let report = SearchReport {
        bench: "search",
        machine,
        engine: format!("SQLite {}", info["database"]["engine_version"].as_str().unwrap_or_default()),
        rounds: *rounds,
        seconds: *seconds,
        clients: arguments.clients,
        budgets: budgets(&kinds, &sends),
        hubs: figures,
        kinds,
        sends,
    };
    let code = verdict(arguments.check, &report.budgets);
    let text = if common.json { json(&report)? } else { report.show() };
    Ok(Outcome { text, code })
}

fn budgets(kinds: &[KindFigures], sends: &[SendFigures]) -> Vec<Budget> {
    let slowest = kinds
        .iter()
        .filter(|kind| !kind.is_wide)
        .filter_map(|kind| kind.sizes.last())
        .map(|size| size.figures.p99_ms.median);
    let what = "p99 of page and total, the slowest kind but phrases and prefixes".to_owned();
    let mut budgets = vec![Budget::at_most_of(what, slowest.fold(0.0, f64::max), TIME_BUDGET_MS, " ms")];
    for kind in kinds.iter().filter(|kind| kind.is_planted) {
        let what = format!("CPU of a search ({}), most messages against fewest", kind.kind);
        budgets.push(Budget::at_most(what, kind.ratio.median, SIZE_BUDGET));
    }
    for send in sends {
        let what = format!("time of a send with indexing against without, {} clients", send.clients);
        budgets.push(Budget::at_most(what, send.ratio.median, SEND_BUDGET));
    }
    budgets
}

/// Fills a hub and waits until all of it can be found.
async fn start(program: &HubProgram, data: &Path, messages: u64, size: SizeArguments) -> Result<Indexed, String> {
    let filled = fill_folder(data, size.into(), messages, 1).await?;
    show_progress(&format!("made {messages} messages in {:.1} s", filled.seconds));
    let started = now();
    let hub = HubProcess::start(program, data, true, None).await?;
    wait_until_indexed(&hub).await?;
    let built_seconds = started.elapsed().as_secs_f64();
    let index_bytes = fs::metadata(data.join("search.db")).map_or(0, |file| file.len());
    show_progress(&format!("indexed them in {built_seconds:.1} s"));
    Ok(Indexed { hub, filled, figures: IndexFigures { messages, built_seconds, index_bytes } })
}

/// Waits until every listener of a hub has seen everything, and the index is there.
async fn wait_until_indexed(hub: &HubProcess) -> Result<(), String> {
    loop {
        let system = hub.info().await?;
        let listeners = system["listeners"].as_array().ok_or("the hub does not tell of its listeners")?;
        if !listeners.is_empty() && listeners.iter().all(|listener| listener["behind"] == 0) {
            return Ok(());
        }
        pause(LOOK_AGAIN).await;
    }
}

/// Questions of all kinds, each by one of the agents.
fn kinds(filled: &Filled) -> Vec<Kind> {
    let (writer, mut dice) = (Writer::new(), Dice::new(11));
    let words = writer.words();
    let agents = filled.population.agents().len() as u64;
    let rooms: Vec<&str> = filled.population.rooms.iter().map(|room| room.name.as_str()).collect();
    let mut asks = |query: &mut dyn FnMut(&mut Dice) -> String| {
        let mut ask = || {
            let path = format!("/api/messages/search?limit=20&{}", query(&mut dice));
            Ask { path, body: None, credential: Some(dice.below(agents) as usize) }
        };
        (0..QUESTIONS).map(|_| ask()).collect::<Vec<_>>()
    };
    let word = |dice: &mut Dice, from: usize, to: usize| {
        let to = to.min(words.len());
        words[from.min(to - 1) + dice.below((to - from.min(to - 1)) as u64) as usize].as_str()
    };
    let (common, medium, rare) = ((0, 8), (150, 400), (15_000, 20_000));
    let pick = |dice: &mut Dice, (from, to): (usize, usize)| word(dice, from, to);
    let some_rooms: Vec<&str> = rooms.iter().take(4).copied().collect();
    let small_room = filled.population.rooms.iter().rfind(|room| room.is_public);
    let small_room = small_room.map_or("", |room| room.name.as_str());
    // The newer half.
    let middle = Timestamp::from_ms((unix_seconds() - 45 * 24 * 3600) * 1000);
    let filters = format!("channel={}&agent=-agent-00000&after={middle}", some_rooms.join(","));
    let plain = |name, asks| Kind { name, is_planted: false, is_wide: false, asks };
    let wide = |name, asks| Kind { is_wide: true, ..plain(name, asks) };
    let mut kinds = vec![
        plain("common word", asks(&mut |dice| format!("q={}", pick(dice, common)))),
        plain("medium word", asks(&mut |dice| format!("q={}", pick(dice, medium)))),
        plain("rare word", asks(&mut |dice| format!("q={}", pick(dice, rare)))),
        plain("two medium words", asks(&mut |dice| format!("q={}+{}", pick(dice, medium), pick(dice, medium)))),
        plain("common and medium", asks(&mut |dice| format!("q={}+{}", pick(dice, common), pick(dice, medium)))),
        wide("phrase of common", asks(&mut |dice| format!("q=%22{}+{}%22", pick(dice, common), pick(dice, common)))),
        wide("prefix", asks(&mut |dice| format!("q={}*", &pick(dice, medium).chars().take(3).collect::<String>()))),
        plain("common, filters", asks(&mut |dice| format!("q={}&{filters}", pick(dice, common)))),
        plain("medium, filters", asks(&mut |dice| format!("q={}&{filters}", pick(dice, medium)))),
        plain("common, small channel", asks(&mut |dice| format!("q={}&channel={small_room}", pick(dice, common)))),
        plain("only an exclusion", asks(&mut |dice| format!("q=-{}", pick(dice, common)))),
        plain("no words, an author", asks(&mut |dice| format!("agent=agent-{:05}", dice.below(agents)))),
    ];
    for (name, word, _) in PLANTED {
        kinds.push(Kind { is_planted: true, ..plain(name, asks(&mut |_| format!("q={word}"))) });
    }
    kinds
}

/// Sends to two hubs in turn, of which one indexes.
async fn compare_sends(
    arguments: &SearchArguments,
    program: &HubProgram,
    folder: &Path,
    load: &mut LoadProcess,
) -> Result<Vec<SendFigures>, String> {
    let (with, without) = (folder.join("with"), folder.join("without"));
    let filled = fill_folder(&with, arguments.size.into(), MESSAGES_BEFORE, 1).await?;
    copy_folder(&with, &without).map_err(|error| format!("the folder cannot be copied: {error}"))?;
    let indexed = HubProcess::start(program, &with, true, None).await?;
    let unindexed = HubProcess::start_without_indexing(program, &without).await?;
    wait_until_indexed(&indexed).await?;
    let asks = messages(&filled);
    let clients = [1, usize::from(arguments.clients)];
    let mut loads: Vec<(Vec<Load>, Vec<Load>)> = clients.iter().map(|_| (Vec::new(), Vec::new())).collect();
    let takes = f64::from(arguments.rounds) * (arguments.seconds * 1.2 + 0.3) * 2.0 * clients.len() as f64;
    show_progress(&format!("sending for about {takes:.0} s"));
    for hub in [&indexed, &unindexed] {
        load.send(&order(hub, &filled, asks.clone(), 201, 64, arguments.seconds / 2.0)).await?;
    }
    for round in 0..arguments.rounds {
        for (clients, (with, without)) in clients.iter().zip(&mut loads) {
            // Who comes first takes turns, too.
            for turn in 0..2 {
                let is_indexed = (round + turn) % 2 == 0;
                let (hub, loads) = if is_indexed { (&indexed, &mut *with) } else { (&unindexed, &mut *without) };
                loads.push(load.send(&order(hub, &filled, asks.clone(), 201, *clients, arguments.seconds)).await?);
                // What is left to be indexed must not be in the way of the other.
                wait_until_indexed(&indexed).await?;
            }
        }
    }
    indexed.stop().await?;
    unindexed.stop().await?;
    for folder in [with, without] {
        // The next hubs need the space.
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let figures = clients.iter().zip(&loads).map(|(clients, (with, without))| {
        let time = |load: &Load| load.seconds / load.requests as f64;
        SendFigures {
            clients: *clients,
            indexed: LoadFigures::of(with),
            unindexed: LoadFigures::of(without),
            ratio: Figure::of(with.iter().zip(without).map(|(with, without)| time(with) / time(without))),
        }
    });
    Ok(figures.collect())
}

impl SearchReport {
    fn show(&self) -> String {
        let hubs = self
            .hubs
            .iter()
            .map(|hub| vec![hub.messages.to_string(), show(hub.built_seconds), show(hub.index_bytes as f64 / 1e6)]);
        let kinds = self.kinds.iter().flat_map(|kind| {
            kind.sizes.iter().map(|size| {
                vec![
                    kind.kind.to_owned(),
                    size.messages.to_string(),
                    size.figures.p50_ms.show_range(),
                    size.figures.p99_ms.show_range(),
                    size.figures.server_cpu_us_per_request.show(),
                    kind.ratio.show_range(),
                ]
            })
        });
        let sends = self.sends.iter().map(|send| {
            vec![
                send.clients.to_string(),
                send.indexed.requests_per_second.show(),
                send.unindexed.requests_per_second.show(),
                send.indexed.p50_ms.show(),
                send.unindexed.p50_ms.show(),
                send.indexed.server_cpu_us_per_request.show(),
                send.unindexed.server_cpu_us_per_request.show(),
                send.ratio.show_range(),
            ]
        });
        let mut text = [
            self.machine.heading("search", &self.engine),
            format!("medians of {} rounds of {} s (least–most)\n\n", self.rounds, self.seconds),
            table(&["messages", "index made in s", "index MB"], hubs.collect()),
            "\none connection, pages of 20 with their totals\n".to_owned(),
            table(&["kind", "messages", "p50 ms", "p99 ms", "CPU µs/search", "CPU ratio"], kinds.collect()),
            "\nsends to a hub that indexes and to one that does not\n".to_owned(),
            table(
                &["clients", "messages/s", "without", "p50 ms", "without", "CPU µs/message", "without", "time ratio"],
                sends.collect(),
            ),
            "\n".to_owned(),
        ]
        .concat();
        for budget in &self.budgets {
            text += &budget.show();
        }
        text
    }
}
