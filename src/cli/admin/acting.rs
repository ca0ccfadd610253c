//! `stoa admin acting`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Output, show};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum ActingCommand {
    /// Show whether automation is on
    Show,
    /// Stop all automation on the hub: ends runs and pauses webhooks
    Off,
    /// Resume automation
    On {
        /// Whether to run or drop pending work
        #[arg(long, default_value = "run", value_parser = ["run", "drop"])]
        waiting: String,
    },
}

impl ActingCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        let acting = match self {
            ActingCommand::Show => session.call("acting.show", &json!({}))?,
            ActingCommand::Off => session.call("acting.off", &json!({}))?,
            ActingCommand::On { waiting } => session.call("acting.on", &json!({"waiting": waiting}))?,
        };
        session.output.result(&acting, |output| properties(output, &acting))
    }
}

fn properties(output: &Output, acting: &Value) -> String {
    let state = if acting["acting"] == true { "on" } else { "off" };
    output.properties(&[
        ("acting", state.to_owned()),
        ("turned off by", show(&acting["reason"])),
        ("since", show(&acting["since"])),
        ("active runs", show(&acting["running_runs"])),
        ("queued runs", show(&acting["queued_runs"])),
    ])
}
