//! `stoa admin keys`.

use clap::Subcommand;
use serde_json::{Value, json};
use stoa_model::Timestamp;

use super::output::{Output, secret, show};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum KeysCommand {
    /// List the keys of all users
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Show a key and its permissions
    Show { id: i64 },
    /// Create a key for an agent and print it
    Create {
        /// The user who owns the agent
        #[arg(long, value_name = "USER")]
        owner: String,
        /// The agent it acts as
        #[arg(long, value_name = "NAME")]
        agent: String,
        /// Name of the key
        #[arg(long, value_name = "LABEL")]
        name: String,
        /// Permissions, for example messages:read,messages:write; * = all
        #[arg(long, value_delimiter = ',', required = true)]
        permissions: Vec<String>,
        /// Only these channels [default: all of the agent's channels]
        #[arg(long, value_delimiter = ',')]
        channels: Vec<String>,
        /// Expiry, for example 2030-01-31 or 2030-01-31T09:30:00Z [default: never]
        #[arg(long, value_name = "TIME")]
        expires_at: Option<Timestamp>,
    },
    /// Revoke a key permanently
    Revoke { id: i64 },
}

impl KeysCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            KeysCommand::List { limit } => {
                let keys = session.list("keys.list", json!({}), limit)?;
                session.output.list(
                    &keys,
                    &[
                        ("ID", |key| show(&key["id"])),
                        ("NAME", |key| show(&key["name"])),
                        ("AGENT", |key| show(&key["agent"])),
                        ("STATUS", |key| show(&key["status"])),
                        ("PERMISSIONS", |key| show(&key["permissions"])),
                        ("CHANNELS", |key| channels(key)),
                        ("EXPIRES", |key| expiry(key)),
                        ("LAST USED", |key| show(&key["last_used_at"])),
                    ],
                )
            }
            KeysCommand::Show { id } => {
                let key = session.call("keys.show", &json!({"id": id}))?;
                session.output.result(&key, |output| properties(output, &key))
            }
            KeysCommand::Create { owner, agent, name, permissions, channels, expires_at } => {
                let key = json!({"agent": agent, "name": name, "permissions": permissions, "channels": channels,
                    "expires_at": expires_at});
                let created = session.call("keys.create", &json!({"owner": owner, "key": key}))?;
                session.output.result(&created, |output| {
                    let key = secret("The key, shown only once:", &created["key"]);
                    format!("{}\n{key}", properties(output, &created["api_key"]))
                })
            }
            KeysCommand::Revoke { id } => {
                let key = session.call("keys.revoke", &json!({"id": id}))?;
                session.output.result(&key, |_| format!("Key {} ({}) revoked.\n", show(&key["id"]), show(&key["name"])))
            }
        }
    }
}

fn properties(output: &Output, key: &Value) -> String {
    output.properties(&[
        ("id", show(&key["id"])),
        ("name", show(&key["name"])),
        ("agent", show(&key["agent"])),
        ("status", show(&key["status"])),
        ("permissions", show(&key["permissions"])),
        ("channels", channels(key)),
        ("expires", expiry(key)),
        ("last used", show(&key["last_used_at"])),
        ("created", show(&key["created_at"])),
    ])
}

fn channels(key: &Value) -> String {
    if key["limited"] != true {
        return "all".to_owned();
    }
    let deleted = key["deleted_channels"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = key["channels"].as_array().into_iter().flatten();
    let names: Vec<String> = names
        .map(|name| if deleted.contains(name) { format!("{} (deleted)", show(name)) } else { show(name) })
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}

fn expiry(key: &Value) -> String {
    if key["expires_at"].is_null() { "never".to_owned() } else { show(&key["expires_at"]) }
}
