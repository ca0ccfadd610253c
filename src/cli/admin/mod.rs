//! `stoa admin`: what the operator of a hub can do, over its admin socket.
//!
//! A new subject is a file with its subcommands and a line in [`Subject`].

mod acting;
mod agents;
mod attachments;
mod audit;
mod backup;
mod channels;
mod client;
mod db;
mod hooks;
mod input;
mod keys;
mod messages;
mod oauth;
mod principals;
mod runs;
mod secrets;
mod traces;
mod users;
mod webhooks;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::failure::Failure;
use super::output::{self, Output};
use client::{Client, HubLocation};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed
  2  usage error
  3  cannot connect or permission denied
  4  rejected by the hub";

const GLOBAL: &str = "Global options";

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct AdminArguments {
    /// Unix socket of the hub [default: where the hub of the data folder listens]
    #[arg(long, value_name = "PATH", env = "STOA_ADMIN_SOCKET", global = true, help_heading = GLOBAL)]
    admin_socket: Option<PathBuf>,

    /// Data folder of the hub [default: ./data]
    #[arg(long, value_name = "DIR", env = "STOA_DATA", global = true, help_heading = GLOBAL)]
    data: Option<PathBuf>,

    /// Print the response as JSON, and errors as JSON to standard error
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,

    #[command(subcommand)]
    subject: Subject,
}

#[derive(Subcommand)]
enum Subject {
    /// People: accounts, passwords, invitations
    #[command(subcommand, after_help = EXIT_CODES)]
    Users(users::UsersCommand),
    /// Agents: settings, keys, pause and resume
    #[command(subcommand, after_help = EXIT_CODES)]
    Agents(agents::AgentsCommand),
    /// Managed API keys
    #[command(subcommand, after_help = EXIT_CODES)]
    Keys(keys::KeysCommand),
    /// Incoming webhooks: turn requests from other services into messages
    #[command(subcommand, after_help = EXIT_CODES)]
    Hooks(hooks::HooksCommand),
    /// Secrets: environment variables for agents' commands
    #[command(subcommand, after_help = EXIT_CODES)]
    Secrets(secrets::SecretsCommand),
    /// OAuth clients and grants
    #[command(name = "oauth", subcommand, after_help = EXIT_CODES)]
    OAuth(oauth::OAuthCommand),
    /// Webhooks: where the hub sends agents' events, and their deliveries
    #[command(subcommand, after_help = EXIT_CODES)]
    Webhooks(webhooks::WebhooksCommand),
    /// Runs of agents
    #[command(subcommand, after_help = EXIT_CODES)]
    Runs(runs::RunsCommand),
    /// Stop or resume all automation
    #[command(subcommand, after_help = EXIT_CODES)]
    Acting(acting::ActingCommand),
    /// Channels: members, settings
    #[command(subcommand, after_help = EXIT_CODES)]
    Channels(channels::ChannelsCommand),
    /// Messages: list, send notices, purge
    #[command(subcommand, after_help = EXIT_CODES)]
    Messages(messages::MessagesCommand),
    /// Attachments: list and garbage-collect
    #[command(subcommand, after_help = EXIT_CODES)]
    Attachments(attachments::AttachmentsCommand),
    /// Audit log: who changed what
    #[command(subcommand, after_help = EXIT_CODES)]
    Audit(audit::AuditCommand),
    /// Traces: calls by users and agents
    #[command(subcommand, after_help = EXIT_CODES)]
    Traces(traces::TracesCommand),
    /// Machine principals: services that sign their requests
    #[command(subcommand, after_help = EXIT_CODES)]
    Principals(principals::PrincipalsCommand),
    /// The database and the key that protects its secrets
    #[command(subcommand, after_help = EXIT_CODES)]
    Db(db::DbCommand),
    /// Back up everything into one file while the hub runs
    #[command(after_help = EXIT_CODES)]
    Backup(backup::BackupArguments),
    /// Restore a backup into a new data folder, without a running hub
    #[command(after_help = EXIT_CODES)]
    Restore(backup::RestoreArguments),
}

/// What a command works with: the hub, found when it is first needed, and where to say what it said.
struct Session {
    location: HubLocation,
    client: Option<Client>,
    output: Output,
}

impl Session {
    /// Finds the hub. Commands that ask for something first do this before they ask.
    fn connect(&mut self) -> Result<&mut Client, Failure> {
        if self.client.is_none() {
            self.client = Some(self.location.connect()?);
        }
        self.client.as_mut().ok_or_else(|| Failure::Other("there is no connection".to_owned()))
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.connect()?.call(method, params)
    }

    /// The items of a list, page by page: all of them, or the first `limit`.
    fn list(&mut self, method: &str, mut params: Value, limit: Option<u64>) -> Result<Vec<Value>, Failure> {
        const PAGE: u64 = 200;
        let mut items = Vec::new();
        loop {
            let wanted = limit.map_or(u64::MAX, |limit| limit - items.len() as u64);
            params["limit"] = json!(wanted.min(PAGE));
            let mut page = self.call(method, &params)?;
            let Value::Array(found) = page["items"].take() else {
                return Err(Failure::Other(format!("the hub's answer to {method} has no items")));
            };
            let is_empty = found.is_empty();
            items.extend(found);
            let next = page["next_cursor"].take();
            if next.is_null() || is_empty || limit.is_some_and(|limit| items.len() as u64 >= limit) {
                return Ok(items);
            }
            params["cursor"] = next;
        }
    }
}

pub(super) fn run(arguments: AdminArguments) -> ExitCode {
    let output = Output::new(arguments.json);
    let location = HubLocation {
        socket: arguments.admin_socket,
        is_data_named: arguments.data.is_some(),
        data: arguments.data.unwrap_or_else(|| PathBuf::from("./data")),
    };
    let mut session = Session { location, client: None, output };
    let outcome = match arguments.subject {
        Subject::Users(command) => command.run(&mut session),
        Subject::Agents(command) => command.run(&mut session),
        Subject::Keys(command) => command.run(&mut session),
        Subject::Webhooks(command) => command.run(&mut session),
        Subject::Hooks(command) => command.run(&mut session),
        Subject::Runs(command) => command.run(&mut session),
        Subject::Acting(command) => command.run(&mut session),
        Subject::Secrets(command) => command.run(&mut session),
        Subject::OAuth(command) => command.run(&mut session),
        Subject::Channels(command) => command.run(&mut session),
        Subject::Messages(command) => command.run(&mut session),
        Subject::Attachments(command) => command.run(&mut session),
        Subject::Audit(command) => command.run(&mut session),
        Subject::Traces(command) => command.run(&mut session),
        Subject::Principals(command) => command.run(&mut session),
        Subject::Db(command) => command.run(&mut session),
        Subject::Backup(command) => command.run(&mut session),
        Subject::Restore(command) => command.run(&mut session),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            session.output.failure(&failure);
            failure.exit_code()
        }
    }
}
