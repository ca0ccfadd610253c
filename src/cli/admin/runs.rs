//! `stoa admin runs`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Output, show, show_text};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum RunsCommand {
    /// List runs, newest first
    List {
        /// Only those of this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// queued, running, succeeded, failed, cancelled or timed_out; several comma-separated
        #[arg(long)]
        status: Option<String>,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=200))]
        limit: u64,
        /// How many to skip, counted from the newest
        #[arg(long, default_value_t = 0)]
        offset: u64,
    },
    /// Show a run: its trigger, output and error
    Show {
        id: i64,
        /// Include all steps
        #[arg(long)]
        steps: bool,
    },
    /// Retry a run
    Retry { id: i64 },
    /// Cancel a run
    Cancel { id: i64 },
}

impl RunsCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            RunsCommand::List { agent, status, limit, offset } => {
                let query = json!({"agent": agent, "status": status, "limit": limit, "offset": offset});
                let list = session.call("runs.list", &query)?;
                let runs = list["items"].as_array().cloned().unwrap_or_default();
                session.output.list(
                    &runs,
                    &[
                        ("ID", |run| show(&run["id"])),
                        ("AGENT", |run| show(&run["agent"])),
                        ("STATUS", |run| show(&run["status"])),
                        ("REASON", |run| show(&run["reason"])),
                        ("MESSAGE", |run| show(&run["trigger_message_id"])),
                        ("CREATED", |run| show(&run["created_at"])),
                        ("LAST STEP", |run| show(&run["last_step"])),
                    ],
                )
            }
            RunsCommand::Show { id, steps } => {
                let run = session.call("runs.show", &json!({"id": id, "steps": steps}))?;
                session.output.result(&run, |output| details(output, &run))
            }
            RunsCommand::Retry { id } => {
                let run = session.call("runs.retry", &json!({"id": id}))?;
                session.output.result(&run, |_| format!("Run {} repeats run {id}.\n", show(&run["id"])))
            }
            RunsCommand::Cancel { id } => {
                let run = session.call("runs.cancel", &json!({"id": id}))?;
                let is_over = run["status"] == "cancelled";
                session.output.result(&run, |_| {
                    if is_over {
                        format!("Run {id} is cancelled.\n")
                    } else {
                        format!("Run {id} ends within 15 seconds.\n")
                    }
                })
            }
        }
    }
}

fn details(output: &Output, details: &Value) -> String {
    let (run, harness, workspace) = (&details["run"], &details["harness_run"], &details["workspace"]);
    let mut text = output.properties(&[
        ("id", show(&run["id"])),
        ("agent", show(&run["agent"])),
        ("status", show(&run["status"])),
        ("reason", show(&run["reason"])),
        ("message", show(&run["trigger_message_id"])),
        ("from", show(&run["trigger_from"])),
        ("depth", show(&run["depth"])),
        ("attempt", show(&run["attempt"])),
        ("created", show(&run["created_at"])),
        ("started", show(&run["started_at"])),
        ("finished", show(&run["finished_at"])),
        ("exit code", show(&harness["exit_code"])),
        ("tokens in", show(&harness["tokens_in"])),
        ("tokens out", show(&harness["tokens_out"])),
        ("cost in USD", show(&harness["cost_usd"])),
        ("workspace", show(&workspace["path"])),
        ("branch", show(&workspace["branch"])),
        ("changed files", show(&workspace["files"])),
        ("response", show_text(&harness["response"])),
        ("error", show_text(&harness["error_log"])),
    ]);
    for step in details["steps"].as_array().into_iter().flatten() {
        text.push_str(&format!("{}  {}  {}\n", show(&step["at"]), show(&step["kind"]), show(&step["text"])));
    }
    text
}
