//! `stoa admin audit`.

use clap::Subcommand;
use serde_json::json;

use super::output::show;
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum AuditCommand {
    /// List the audit log, newest first
    List {
        /// Only what this user, agent or the operator did
        #[arg(long, value_name = "NAME")]
        actor: Option<String>,
        /// Only this action, for example agent.created
        #[arg(long)]
        action: Option<String>,
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
}

impl AuditCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        let AuditCommand::List { actor, action, limit } = self;
        let entries = session.list("audit.list", json!({"actor": actor, "action": action}), limit)?;
        session.output.list(
            &entries,
            &[
                ("TIME", |entry| show(&entry["at"])),
                ("ACTOR", |entry| show(&entry["actor"])),
                ("ACTION", |entry| show(&entry["action"])),
                ("TARGET", |entry| show(&entry["target"])),
                ("DETAILS", |entry| show(&entry["details"])),
                ("ADDRESS", |entry| show(&entry["remote_ip"])),
            ],
        )
    }
}
