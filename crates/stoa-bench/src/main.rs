//! `stoa-bench`: what the hub costs, as ratios to what the machine can do at all.
//!
//! Each bench repeats short rounds in turn and reports medians, so that a neighbour who gets busy
//! disturbs all that is compared. Load comes from a process of its own ([`load`]), and CPU times are
//! those of the measured process alone. Times are reported, never asserted; a budget that is
//! exceeded fails the command only with `--check`.

mod arguments;
mod auth;
mod bare_postgres;
mod broadcast;
mod dice;
mod events;
mod fanout;
mod fill;
mod history;
mod hostile;
mod hub_process;
mod hub_program;
mod load;
mod machine;
mod machine_principals;
mod mcp;
mod mcp_waits;
mod mixed;
mod population;
mod progress;
mod raw;
mod raw_events;
mod raw_mcp;
mod raw_writer;
mod read;
mod real_time;
mod receivers;
mod report;
mod requests;
mod runs;
mod search;
mod send;
mod send_postgres;
mod streams;
mod verification;
mod worker_process;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use self::progress::show_progress;
use self::report::Outcome;

/// Measure this machine, and the hub on it
#[derive(Parser)]
#[command(name = "stoa-bench", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Baseline: disk, database writer and a bare HTTP handler
    Raw(raw::RawArguments),
    /// Cost of authentication with many agents and with few
    Auth(auth::AuthArguments),
    /// Durable messages per second over REST, against the bare writer
    Send(send::SendArguments),
    /// Cost of signed requests and machine events, against a bare check and the bare writer
    Machine(machine_principals::MachineArguments),
    /// Cost of an MCP tool against REST and a bare tool, and of waiting agents
    Mcp(mcp::McpArguments),
    /// Cost of listings with few messages and with many
    Read(read::ReadArguments),
    /// Cost of search with few messages and with many, and of indexing
    Search(search::SearchArguments),
    /// Sends beside other load: a slow reader, an export
    Mixed(mixed::MixedArguments),
    /// Time from a message to a started run, and cost of many runs
    Runs(runs::RunsArguments),
    /// One message to many streams: once each, in order, to nobody else
    Fanout(fanout::FanoutArguments),
    /// Attacks by a client, and their effect on another owner
    Hostile(hostile::HostileArguments),
    /// Seed a hub with test data (up to a million messages)
    Fill(fill::FillArguments),
    /// Send requests as the order on standard input says
    #[command(hide = true)]
    Load,
    /// Listen to streams as the orders on standard input say
    #[command(hide = true)]
    Streams,
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    // One thread is enough to send requests, and leaves the other cores to who answers them.
    let runtime = match command {
        Command::Load | Command::Streams => Builder::new_current_thread().enable_all().build(),
        _ => Builder::new_multi_thread().enable_all().build(),
    };
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    raise_file_limit();
    let outcome = runtime.block_on(async {
        tokio::select! {
            outcome = run(command) => outcome,
            // Dropping the bench stops its hubs and removes its folder.
            () = interrupted() => Err("interrupted".to_owned()),
        }
    });
    let written = outcome.and_then(|outcome| {
        std::io::stdout().write_all(outcome.text.as_bytes()).map_err(|error| error.to_string())?;
        Ok(outcome.code)
    });
    written.unwrap_or_else(|error| fail(&error))
}

async fn run(command: Command) -> Result<Outcome, String> {
    match command {
        Command::Raw(arguments) => Box::pin(raw::raw(arguments)).await,
        Command::Auth(arguments) => Box::pin(auth::auth(arguments)).await,
        Command::Fill(arguments) => Box::pin(fill::fill(arguments)).await,
        Command::Send(arguments) => Box::pin(send::send(arguments)).await,
        Command::Machine(arguments) => Box::pin(machine_principals::machine(arguments)).await,
        Command::Mcp(arguments) => Box::pin(mcp::mcp(arguments)).await,
        Command::Read(arguments) => Box::pin(read::read(arguments)).await,
        Command::Search(arguments) => Box::pin(search::search(arguments)).await,
        Command::Mixed(arguments) => Box::pin(mixed::mixed(arguments)).await,
        Command::Runs(arguments) => Box::pin(runs::runs(arguments)).await,
        Command::Fanout(arguments) => Box::pin(fanout::fanout(arguments)).await,
        Command::Hostile(arguments) => Box::pin(hostile::hostile(arguments)).await,
        Command::Streams => Box::pin(streams::streams()).await,
        Command::Load => Box::pin(load::load()).await,
    }
}

/// Lets this process and its children open as many files as they may: each connection is one.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Where the limit cannot be raised, the first connection above it fails and says why.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn fail(error: &dyn Display) -> ExitCode {
    show_progress(&format!("stoa-bench: {error}"));
    ExitCode::FAILURE
}

async fn interrupted() {
    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(mut interrupt), Ok(mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        // The signals then do what they do by themselves: they end the process.
        _ => std::future::pending().await,
    }
}
