//! Agent programs that the hub knows how to start.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::agents::{HarnessAdapter, HarnessTools, MAX_TURNS};
use crate::validation::{Faults, FieldError};

/// What is kept of the version that a program prints.
pub const MAX_VERSION_BYTES: usize = 64;

#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ProgramQuery {
    /// One of the caller's agents. Its secrets count as well as those of the caller.
    #[serde(default)]
    pub agent: Option<String>,
    /// The following settings are those of `harness`, and appear in `arguments`.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    #[param(inline)]
    pub tools: Option<HarnessTools>,
    #[serde(default)]
    #[param(minimum = 1, maximum = 1000)]
    pub max_turns: Option<u32>,
    #[serde(default)]
    pub max_cost_usd: Option<f64>,
}

impl ProgramQuery {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        let fits = self.max_turns.is_none_or(|turns| (1..=MAX_TURNS).contains(&turns));
        faults.require("max_turns", fits, "must be 1 to 1000");
        faults.finish()
    }
}

/// A program that the hub can start without more settings than the key of its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProgramView {
    pub adapter: HarnessAdapter,
    #[schema(example = "Claude Code")]
    pub name: String,
    /// The name under which the hub looks for it.
    #[schema(example = "claude")]
    pub command: String,
    /// What the hub adds to the command.
    pub arguments: Vec<String>,
    /// The files with settings that the hub writes into the home of the agent before each run.
    pub files: Vec<String>,
    /// Whether it is installed on the server. Null if the caller is not told.
    pub found: Option<bool>,
    /// Null if it is not installed or does not say it.
    pub version: Option<String>,
    /// Secrets of which it needs one.
    pub key_names: Vec<String>,
    /// Those of `key_names` that are set, for the agent or for the caller.
    pub keys_found: Vec<String>,
    /// Some models that it can use.
    pub models: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProgramList {
    pub items: Vec<ProgramView>,
    /// Whether runs are isolated from the hub and from one another.
    pub isolated: bool,
    /// Folders in which agents may have a workspace. Empty if the caller is not told.
    pub workspaces: Vec<String>,
    /// Git repositories in these folders, at most 100.
    pub repositories: Vec<String>,
    /// The data folder of the hub, which commands of the operator name with `--data`. Null unless the caller is an administrator.
    pub data_folder: Option<String>,
    /// Why the caller is not told what is installed.
    #[schema(example = "subprocess_not_allowed")]
    pub reason: Option<String>,
}

/// The version in the first line that a program printed for `--version`: plain characters only, and without its own name if the rest
/// looks like a version.
pub fn version_in(printed: &str) -> Option<String> {
    let is_plain = |sign: &char| sign.is_ascii_graphic() || *sign == ' ';
    let lines = printed.lines().map(|line| line.chars().filter(is_plain).take(MAX_VERSION_BYTES).collect::<String>());
    let line = lines.map(|line| line.trim().to_owned()).find(|line| !line.is_empty())?;
    let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
    let version = line.split(' ').map(|word| word.trim_start_matches('v')).find(is_version).map(str::to_owned);
    Some(version.unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let long = "9".repeat(500);
        for (printed, expected) in [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("\n\n0.61.0\nmore", Some("0.61.0")),
            ("program v1.2", Some("1.2")),
            ("\u{1b}[31mred\u{7}\u{202e}", Some("[31mred")),
            ("<b>no version</b>", Some("<b>no version</b>")),
            ("ünïcödé", Some("ncd")),
            (&long, Some(&long[..MAX_VERSION_BYTES])),
            ("", None),
            ("\u{0}\n \n", None),
        ] {
            assert_eq!(version_in(printed).as_deref(), expected, "{printed:?}");
        }
    }
}
