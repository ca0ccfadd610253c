//! `stoa registry`: machine principal registry documents, the keys in them, and what is signed with those. No hub is needed.
//!
//! A new command is a file with its arguments and a line in [`RegistryCommand`].

mod entry;
mod key_file;
mod keygen;
mod reading;
mod show;
mod sign;
mod validate;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::failure::Failure;
use super::output::Output;

const EXIT_CODES: &str = "\
Exit codes:
  0  done, or valid
  1  failed, or not valid
  2  usage error";

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct RegistryArguments {
    /// Print JSON, and errors as JSON to standard error
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,

    #[command(subcommand)]
    command: RegistryCommand,
}

#[derive(Subcommand)]
enum RegistryCommand {
    /// Validate documents
    #[command(after_help = EXIT_CODES)]
    Validate(validate::ValidateArguments),
    /// Create a key pair: writes the private key to a file and prints the registry entry
    #[command(after_help = EXIT_CODES)]
    Keygen(keygen::KeygenArguments),
    /// Print the registry entry of an existing key
    #[command(after_help = EXIT_CODES)]
    Entry(entry::EntryArguments),
    /// List principals and keys, and which are usable
    #[command(after_help = EXIT_CODES)]
    Show(show::ShowArguments),
    /// Sign a request and print its headers
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", sign::EXAMPLE))]
    Sign(Box<sign::SignArguments>),
}

pub(super) fn run(arguments: RegistryArguments) -> ExitCode {
    let output = Output::new(arguments.json);
    let outcome = match arguments.command {
        RegistryCommand::Validate(command) => command.run(&output),
        RegistryCommand::Keygen(command) => command.run(&output),
        RegistryCommand::Entry(command) => command.run(&output),
        RegistryCommand::Show(command) => command.run(&output),
        RegistryCommand::Sign(command) => command.run(&output),
    };
    outcome.unwrap_or_else(|failure| {
        output.failure(&failure);
        failure.exit_code()
    })
}

fn fill(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|error| Failure::Other(format!("the system gives no random numbers: {error}")))
}
