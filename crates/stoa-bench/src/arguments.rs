//! The options that benches share.

use std::path::PathBuf;

use clap::Args;
use tempfile::TempDir;

use super::hub_program::HubProgram;

/// Options that every bench has.
#[derive(Args)]
pub(super) struct CommonArguments {
    /// A folder on the disk to measure; the bench works in a temporary folder inside, and removes it
    #[arg(long, default_value = ".")]
    data: PathBuf,

    /// The hub to measure, a file [default: `stoa` beside this program]
    #[arg(long, alias = "program", value_name = "PATH")]
    stoa: Option<PathBuf>,

    /// Print one JSON object instead of tables
    #[arg(long)]
    pub(super) json: bool,
}

impl CommonArguments {
    pub(super) fn hub_program(&self) -> Result<HubProgram, String> {
        HubProgram::find(self.stoa.as_deref())
    }

    /// A temporary folder on the disk to measure.
    pub(super) fn folder(&self) -> Result<TempDir, String> {
        let parent = std::path::absolute(&self.data).map_err(|error| error.to_string())?;
        tempfile::Builder::new()
            .prefix("stoa-bench-")
            .tempdir_in(&parent)
            .map_err(|error| format!("no temporary folder can be made in {}: {error}", parent.display()))
    }
}

/// Ten seconds at most: every key of a hub must be measured within a minute of its last use.
pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().map_err(|_| "must be a number".to_owned())?;
    if (0.01..=10.0).contains(&seconds) { Ok(seconds) } else { Err("must be between 0.01 and 10".to_owned()) }
}
