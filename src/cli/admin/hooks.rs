//! `stoa admin hooks`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Output, secret, show};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum HooksCommand {
    /// List the incoming webhooks of all users
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Show a hook
    Show { id: String },
    /// Create a hook, and print its address and its secret
    Create {
        /// The user that the hook posts for
        #[arg(long, value_name = "USER")]
        owner: String,
        /// Shown as the author of its messages
        #[arg(long, value_name = "LABEL")]
        name: String,
        /// How requests are verified: github, standard or url
        #[arg(long)]
        kind: String,
        /// The channel it posts to
        #[arg(long, value_name = "NAME", required_unless_present = "agent", conflicts_with = "agent")]
        channel: Option<String>,
        /// The agent it sends messages to
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Only post these events, for example push,pull_request.opened [default: all]
        #[arg(long, value_delimiter = ',')]
        events: Vec<String>,
        /// Message template, for example "{{event}} in {{body.repository.full_name}}" [default: by kind]
        #[arg(long, value_name = "TEXT")]
        template: Option<String>,
    },
    /// Enable a hook
    Enable { id: String },
    /// Disable a hook
    Disable { id: String },
    /// Delete a hook; its messages remain
    Delete { id: String },
    /// List the last 20 requests of a hook
    Requests { id: String },
}

impl HooksCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            HooksCommand::List { limit } => {
                let hooks = session.list("hooks.list", json!({}), limit)?;
                session.output.list(
                    &hooks,
                    &[
                        ("ID", |hook| show(&hook["id"])),
                        ("NAME", |hook| show(&hook["name"])),
                        ("OWNER", |hook| show(&hook["owner"])),
                        ("KIND", |hook| show(&hook["kind"])),
                        ("TARGET", |hook| target(hook)),
                        ("ENABLED", |hook| show(&hook["enabled"])),
                        ("LAST REQUEST", |hook| show(&hook["last_request_at"])),
                    ],
                )
            }
            HooksCommand::Show { id } => {
                let hook = session.call("hooks.show", &json!({"id": id}))?;
                session.output.result(&hook, |output| properties(output, &hook))
            }
            HooksCommand::Create { owner, name, kind, channel, agent, events, template } => {
                let target = match channel {
                    Some(channel) => json!({"channel": channel}),
                    None => json!({"agent": agent}),
                };
                let hook =
                    json!({"name": name, "kind": kind, "target": target, "events": events, "template": template});
                let created = session.call("hooks.create", &json!({"owner": owner, "hook": hook}))?;
                session.output.result(&created, |output| {
                    let url = secret("The address for the other service:", &created["url"]);
                    let key = secret("The secret, shown only once:", &created["secret"]);
                    format!("{}\n{url}\n{key}", properties(output, &created["hook"]))
                })
            }
            HooksCommand::Enable { id } => set_enabled(session, &id, true),
            HooksCommand::Disable { id } => set_enabled(session, &id, false),
            HooksCommand::Delete { id } => {
                let answer = session.call("hooks.delete", &json!({"id": id}))?;
                session.output.result(&answer, |_| format!("The hook {id} is deleted.\n"))
            }
            HooksCommand::Requests { id } => {
                let requests = session.call("hooks.requests", &json!({"id": id}))?;
                let items = requests["items"].as_array().cloned().unwrap_or_default();
                session.output.list(
                    &items,
                    &[
                        ("RECEIVED", |request| show(&request["received_at"])),
                        ("OUTCOME", |request| show(&request["outcome"])),
                        ("EVENT", |request| show(&request["event"])),
                        ("DELIVERY", |request| show(&request["delivery_id"])),
                        ("MESSAGE", |request| show(&request["message_id"])),
                    ],
                )
            }
        }
    }
}

fn set_enabled(session: &mut Session, id: &str, enabled: bool) -> Result<(), Failure> {
    let hook = session.call("hooks.update", &json!({"id": id, "changes": {"enabled": enabled}}))?;
    session.output.result(&hook, |output| properties(output, &hook))
}

fn target(hook: &Value) -> String {
    let name = match &hook["target"]["channel"] {
        Value::String(channel) => format!("#{channel}"),
        _ => show(&hook["target"]["agent"]),
    };
    if hook["target_deleted"] == json!(true) { format!("{name} (deleted)") } else { name }
}

fn properties(output: &Output, hook: &Value) -> String {
    output.properties(&[
        ("id", show(&hook["id"])),
        ("name", show(&hook["name"])),
        ("author", show(&hook["author"])),
        ("owner", show(&hook["owner"])),
        ("kind", show(&hook["kind"])),
        ("target", target(hook)),
        ("events", show(&hook["events"])),
        ("template", show(&hook["template"])),
        ("enabled", show(&hook["enabled"])),
        ("url", show(&hook["url"])),
        ("last request", show(&hook["last_request_at"])),
        ("created", show(&hook["created_at"])),
    ])
}
