//! `stoa admin messages`.

use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Value, json};

use super::input;
use super::output::{Output, show, show_text};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum MessagesCommand {
    /// List message metadata, newest first
    List {
        /// Only in this channel
        #[arg(long, value_name = "NAME", conflicts_with = "between")]
        channel: Option<String>,
        /// Only between these two
        #[arg(long, value_names = ["NAME", "NAME"], num_args = 2)]
        between: Option<Vec<String>>,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
        limit: u64,
    },
    /// Show a message; recorded in the audit log
    Show { id: i64 },
    /// Send a notice from the hub
    Send(SendArguments),
    /// Permanently delete old messages
    Purge {
        /// Minimum age, for example 90d
        #[arg(long, value_name = "AGE")]
        older_than: String,
        /// Only in this channel
        #[arg(long, value_name = "NAME")]
        channel: Option<String>,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args)]
#[command(group(ArgGroup::new("target").required(true).args(["to", "channel"])))]
pub(super) struct SendArguments {
    /// Message text; - reads standard input
    body: String,
    /// A user or an agent
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    #[arg(long)]
    subject: Option<String>,
    /// 1 to 10
    #[arg(long)]
    priority: Option<i64>,
    /// Do not start reactive agents
    #[arg(long)]
    no_wake: bool,
}

impl MessagesCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            MessagesCommand::List { channel, between, limit } => {
                let params = json!({"channel": channel, "between": between});
                let messages = session.list("messages.list", params, Some(limit))?;
                session.output.list(
                    &messages,
                    &[
                        ("ID", |message| show(&message["id"])),
                        ("TIME", |message| show(&message["created_at"])),
                        ("FROM", |message| show(&message["from"])),
                        ("TO", target),
                        ("REPLY TO", |message| show(&message["reply_to"])),
                        ("STATUS", |message| show(&message["status"])),
                        ("BYTES", |message| show(&message["body_bytes"])),
                    ],
                )
            }
            MessagesCommand::Show { id } => {
                let message = session.call("messages.show", &json!({"id": id}))?;
                session.output.result(&message, |output| properties(output, &message))
            }
            MessagesCommand::Send(arguments) => {
                // No `@FILE` here: a notice may well begin with somebody's name.
                let body = if arguments.body == "-" { input::read_text("the message")? } else { arguments.body };
                let params = json!({
                    "to": arguments.to, "channel": arguments.channel, "subject": arguments.subject,
                    "body": body, "priority": arguments.priority,
                    "no_wake": arguments.no_wake,
                });
                let sent = session.call("messages.send", &params)?;
                session.output.result(&sent, |_| format!("Message {} sent to {}.\n", show(&sent["id"]), target(&sent)))
            }
            MessagesCommand::Purge { older_than, channel, yes } => {
                if !yes {
                    session.connect()?;
                    let place = channel.as_ref().map_or_else(String::new, |channel| format!(" of #{channel}"));
                    input::confirm(&format!("Delete all messages{place} that are older than {older_than}?"))?;
                }
                let purged = session.call("messages.purge", &json!({"older_than": older_than, "channel": channel}))?;
                session.output.result(&purged, |_| format!("{} messages deleted.\n", show(&purged["purged"])))
            }
        }
    }
}

fn target(message: &Value) -> String {
    match message["channel"].as_str() {
        Some(channel) => format!("#{channel}"),
        None => show(&message["to"]),
    }
}

/// What the files of a message are called, and how to ask for them.
fn attachments(message: &Value) -> String {
    let files = message["attachments"].as_array().into_iter().flatten();
    files.map(|file| format!("{} ({})", show(&file["filename"]), show(&file["sha256"]))).collect::<Vec<_>>().join(", ")
}

fn properties(output: &Output, message: &Value) -> String {
    output.properties(&[
        ("id", show(&message["id"])),
        ("from", show(&message["from"]["name"])),
        ("to", target(message)),
        ("time", show(&message["created_at"])),
        ("edited", show(&message["edited_at"])),
        ("deleted", show(&message["deleted_at"])),
        ("reply to", show(&message["reply_to"])),
        ("status", show(&message["status"])),
        ("priority", show(&message["priority"])),
        ("subject", show(&message["subject"])),
        ("metadata", show(&message["metadata"])),
        ("attachments", attachments(message)),
        ("body", show_text(&message["body"])),
    ])
}
