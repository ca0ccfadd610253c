//! `stoa registry validate`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use stoa_registry::Audience;

use super::reading::{Reading, findings_as_json};
use super::{Failure, Output};

#[derive(Args)]
pub(super) struct ValidateArguments {
    /// Documents, and folders of them; each by itself, as a hub would load it
    #[arg(required = true, value_name = "FILE|FOLDER")]
    paths: Vec<PathBuf>,

    /// Also reject documents with warnings: keys that match the schema but cannot be used
    #[arg(long)]
    strict: bool,

    /// The component they must be for: svc-sense, svc-brain or svc-bell; in a folder those for others are only checked for
    /// faults [default: any]
    #[arg(long)]
    audience: Option<Audience>,
}

impl ValidateArguments {
    pub(super) fn run(self, output: &Output) -> Result<ExitCode, Failure> {
        let (mut faults, mut warnings) = (Vec::new(), Vec::new());
        let (mut documents, mut principals, mut keys) = (0, 0, 0);
        for path in &self.paths {
            let reading = Reading::of(path, self.audience);
            documents += reading.documents;
            for principal in reading.registries.iter().flat_map(|registry| registry.principals()) {
                principals += 1;
                keys += principal.keys.len();
            }
            faults.extend(reading.faults);
            warnings.extend(reading.warnings);
        }
        let is_valid = faults.is_empty() && (warnings.is_empty() || !self.strict);
        let result = json!({
            "valid": is_valid,
            "documents": documents,
            "principals": principals,
            "keys": keys,
            "faults": findings_as_json(&faults),
            "warnings": findings_as_json(&warnings),
        });
        output.result(&result, |_| {
            let mut lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
            lines.extend(warnings.iter().map(|warning| {
                let mut warning = warning.clone();
                warning.message.insert_str(0, "warning: ");
                warning.to_string()
            }));
            lines.push(format!(
                "{}: {}, {} in {} with {} and {}.",
                if is_valid { "valid" } else { "not valid" },
                count(faults.len(), "fault"),
                count(warnings.len(), "warning"),
                count(documents, "document"),
                count(principals, "principal"),
                count(keys, "key")
            ));
            lines.join("\n") + "\n"
        })?;
        Ok(if is_valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
