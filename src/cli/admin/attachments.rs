//! `stoa admin attachments`.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::show;
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum AttachmentsCommand {
    /// List stored files and how often they are used, without names
    List {
        /// How many at most
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Check that no stored file is missing
    Check,
    /// Delete files that no message uses and nobody uploaded within a day
    Gc,
    /// Back up all files into one archive while the hub runs
    Backup {
        /// File to write (tar.gz); must not exist yet
        file: PathBuf,
    },
    /// Restore missing files from an archive
    Restore {
        /// File to read
        file: PathBuf,
    },
}

/// The hub reads and writes the file, and need not stand where we stand.
pub(super) fn absolute(file: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    let path = path.to_str().map(str::to_owned);
    path.ok_or_else(|| Failure::Usage("the name of the file must be UTF-8".to_owned()))
}

impl AttachmentsCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            AttachmentsCommand::List { limit } => {
                let stored = session.list("attachments.list", json!({}), limit)?;
                session.output.list(
                    &stored,
                    &[
                        ("SHA-256", |one| show(&one["sha256"])),
                        ("BYTES", |one| show(&one["size"])),
                        ("TYPE", |one| show(&one["mime_type"])),
                        ("UPLOADS", |one| show(&one["uploads"])),
                        ("MESSAGES", |one| show(&one["messages"])),
                        ("STORED", |one| show(&one["created_at"])),
                    ],
                )
            }
            AttachmentsCommand::Check => {
                let checked = session.call("attachments.check", &json!({}))?;
                session.output.result(&checked, |_| {
                    let missing = listed(&checked["missing"]);
                    format!("{} attachments checked.\n{missing}", show(&checked["checked"]))
                })?;
                // For scripts that watch over it.
                match checked["missing"].as_array().map_or(0, Vec::len) {
                    0 => Ok(()),
                    missing => Err(Failure::Other(format!("{missing} attachments are missing from the store"))),
                }
            }
            AttachmentsCommand::Gc => {
                let collected = session.call("attachments.gc", &json!({}))?;
                session.output.result(&collected, |_| {
                    let (removed, freed) = (show(&collected["removed"]), show(&collected["freed_bytes"]));
                    format!("{removed} attachments deleted ({freed} bytes).\n")
                })
            }
            AttachmentsCommand::Backup { file } => {
                let written = session.call("attachments.backup", &json!({"path": absolute(&file)?}))?;
                session.output.result(&written, |_| {
                    format!(
                        "{} attachments are in {} ({} bytes).\n{}",
                        show(&written["attachments"]),
                        show(&written["path"]),
                        show(&written["size_bytes"]),
                        listed(&written["missing"])
                    )
                })
            }
            AttachmentsCommand::Restore { file } => {
                let restored = session.call("attachments.restore", &json!({"path": absolute(&file)?}))?;
                session.output.result(&restored, |_| {
                    format!(
                        "{} attachments restored ({} bytes), {} already existed.\n",
                        show(&restored["restored"]),
                        show(&restored["restored_bytes"]),
                        show(&restored["present"])
                    )
                })
            }
        }
    }
}

fn listed(missing: &Value) -> String {
    let missing = missing.as_array().into_iter().flatten();
    missing.map(|sum| format!("Missing from the store: {}\n", show(sum))).collect()
}
