//! `stoa admin acting`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Output, show};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum ActingCommand {
    /// Say whether anything acts
    Show,
    /// Stop everything that acts on the hub: runs end, and webhooks receive nothing
    Off,
    /// Let everything act again
    On {
        /// What becomes of what has waited: it is run, or dropped
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
        ("runs under way", show(&acting["running_runs"])),
        ("runs that wait", show(&acting["queued_runs"])),
    ])
}
