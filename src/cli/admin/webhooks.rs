//! `stoa admin webhooks`.

use clap::Subcommand;
use serde_json::{Value, json};
use stoa_model::Timestamp;

use super::output::{Output, secret, show};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum WebhooksCommand {
    /// List webhooks
    List {
        /// Only those of this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Show a webhook
    Show { id: i64 },
    /// Create a webhook for an agent and print its secret
    Create {
        #[arg(long, value_name = "NAME")]
        agent: String,
        #[arg(long)]
        url: String,
        /// For example message.received,channel.message
        #[arg(long, value_delimiter = ',', required = true)]
        events: Vec<String>,
    },
    /// Delete a webhook with its deliveries
    Delete { id: i64 },
    /// Enable a webhook; sends held deliveries
    Enable { id: i64 },
    /// Disable a webhook
    Disable { id: i64 },
    /// Send a test
    Test { id: i64 },
    /// Create a new secret and print it; the old one stays valid for 24 hours
    Rotate {
        id: i64,
        /// Drop the old secret immediately
        #[arg(long)]
        drop_old: bool,
    },
    /// List deliveries, newest first
    Deliveries {
        /// Only those of this webhook
        #[arg(long, value_name = "ID")]
        webhook: Option<i64>,
        /// Only those of this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// pending, delivered, dead, held or suppressed_loop
        #[arg(long)]
        status: Option<String>,
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Retry a dead letter
    Retry { delivery: i64 },
    /// Retry all dead letters of a webhook
    RetryDead {
        id: i64,
        /// Only for events since this time
        #[arg(long, value_name = "TIME")]
        since: Option<Timestamp>,
    },
}

impl WebhooksCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            WebhooksCommand::List { agent, limit } => {
                let webhooks = session.list("webhooks.list", json!({"agent": agent}), limit)?;
                session.output.list(
                    &webhooks,
                    &[
                        ("ID", |webhook| show(&webhook["id"])),
                        ("AGENT", |webhook| show(&webhook["agent"])),
                        ("URL", |webhook| show(&webhook["url"])),
                        ("STATUS", |webhook| show(&webhook["status"])),
                        ("FAILURES", |webhook| show(&webhook["consecutive_failures"])),
                        ("WAITING", |webhook| show(&webhook["waiting"])),
                        ("DEAD", |webhook| show(&webhook["dead_letters"])),
                    ],
                )
            }
            WebhooksCommand::Show { id } => {
                let webhook = session.call("webhooks.show", &json!({"id": id}))?;
                session.output.result(&webhook, |output| properties(output, &webhook))
            }
            WebhooksCommand::Create { agent, url, events } => {
                let request = json!({"agent": agent, "url": url, "events": events});
                let created = session.call("webhooks.create", &request)?;
                show_secret(session, &created)
            }
            WebhooksCommand::Delete { id } => {
                session.call("webhooks.delete", &json!({"id": id}))?;
                session.output.result(&json!({"deleted": true}), |_| format!("The webhook {id} is deleted.\n"))
            }
            WebhooksCommand::Enable { id } => switch(session, "webhooks.enable", id),
            WebhooksCommand::Disable { id } => switch(session, "webhooks.disable", id),
            WebhooksCommand::Test { id } => {
                let delivery = session.call("webhooks.test", &json!({"id": id}))?;
                session.output.result(&delivery, |_| format!("The test is delivery {}.\n", show(&delivery["id"])))
            }
            WebhooksCommand::Rotate { id, drop_old } => {
                let rotated = session.call("webhooks.rotate", &json!({"id": id, "keep_old": !drop_old}))?;
                show_secret(session, &rotated)
            }
            WebhooksCommand::Deliveries { webhook, agent, status, limit } => {
                let params = json!({"webhook": webhook, "agent": agent, "status": status});
                let deliveries = session.list("webhooks.deliveries", params, limit)?;
                session.output.list(
                    &deliveries,
                    &[
                        ("ID", |delivery| show(&delivery["id"])),
                        ("WEBHOOK", |delivery| show(&delivery["webhook_id"])),
                        ("EVENT", |delivery| show(&delivery["event"])),
                        ("STATUS", |delivery| show(&delivery["status"])),
                        ("TRIES", |delivery| delivery["attempts"].as_array().map_or(0, Vec::len).to_string()),
                        ("LAST ANSWER", last_answer),
                        ("CREATED", |delivery| show(&delivery["created_at"])),
                    ],
                )
            }
            WebhooksCommand::Retry { delivery } => {
                let retried = session.call("webhooks.retry", &json!({"id": delivery}))?;
                session.output.result(&retried, |_| format!("Delivery {delivery} queued for retry.\n"))
            }
            WebhooksCommand::RetryDead { id, since } => {
                let retried = session.call("webhooks.retry_dead", &json!({"id": id, "since": since}))?;
                session.output.result(&retried, |_| format!("{} queued for retry.\n", show(&retried["retried"])))
            }
        }
    }
}

fn switch(session: &mut Session, method: &str, id: i64) -> Result<(), Failure> {
    let webhook = session.call(method, &json!({"id": id}))?;
    session.output.result(&webhook, |_| format!("The webhook {id} is {}.\n", show(&webhook["status"])))
}

fn show_secret(session: &mut Session, created: &Value) -> Result<(), Failure> {
    session.output.result(created, |output| {
        let secret = secret("The secret, shown only once:", &created["secret"]);
        format!("{}\n{secret}", properties(output, &created["webhook"]))
    })
}

fn last_answer(delivery: &Value) -> String {
    let last = delivery["attempts"].as_array().and_then(|attempts| attempts.last());
    last.map_or_else(String::new, |last| show(if last["status"].is_null() { &last["error"] } else { &last["status"] }))
}

fn properties(output: &Output, webhook: &Value) -> String {
    output.properties(&[
        ("id", show(&webhook["id"])),
        ("agent", show(&webhook["agent"])),
        ("url", show(&webhook["url"])),
        ("events", show(&webhook["events"])),
        ("status", show(&webhook["status"])),
        ("disabled because", show(&webhook["disabled_reason"])),
        ("failures in a row", show(&webhook["consecutive_failures"])),
        ("waiting", show(&webhook["waiting"])),
        ("dead letters", show(&webhook["dead_letters"])),
        ("last delivery", show(&webhook["last_delivery_at"])),
    ])
}
