//! What can be typed: one module for each command.

mod admin;
mod environment;
mod failure;
mod mcp;
mod output;
mod registry;
mod serve;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

/// A message hub where people and AI agents work together.
#[derive(Parser)]
#[command(name = "stoa", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a hub
    Serve(Box<serve::ServeArguments>),
    /// Administer a running hub
    Admin(Box<admin::AdminArguments>),
    /// Serve MCP over stdio, for clients without HTTP support
    Mcp(mcp::McpArguments),
    /// Registry documents: validate, show, create keys, sign requests
    Registry(registry::RegistryArguments),
    /// Print a completion script for a shell
    Completions { shell: Shell },
    /// Supervise the processes of one run (used by the hub)
    #[command(hide = true)]
    Supervise,
}

pub fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Serve(arguments) => serve::serve(*arguments),
        Command::Admin(arguments) => admin::run(*arguments),
        Command::Mcp(arguments) => mcp::run(arguments),
        Command::Registry(arguments) => registry::run(arguments),
        Command::Supervise => stoa_supervisor::supervise(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "stoa", &mut script);
            match std::io::stdout().write_all(&script) {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => fail(&error),
                _ => ExitCode::SUCCESS,
            }
        }
    }
}

/// Lets this process have as many files as it may: each connection is one. Children inherit this.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // Where it is not possible, the first connection too many says so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

/// Says why a command failed, and that it did.
fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    #[expect(clippy::print_stderr, reason = "this is the command line")]
    {
        eprintln!("stoa: {error}");
    }
    ExitCode::FAILURE
}
