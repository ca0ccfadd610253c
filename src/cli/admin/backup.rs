//! `stoa admin backup` and `stoa admin restore`.

use std::path::PathBuf;

use crate::features::backup::{self, RestoreTarget};
use clap::Args;
use serde_json::json;
use stoa_model::Secret;

use super::attachments::absolute;
use super::output::show;
use super::{Failure, Session};

#[derive(Args)]
pub(super) struct BackupArguments {
    /// File to write; must not exist yet
    file: PathBuf,
}

#[derive(Args)]
pub(super) struct RestoreArguments {
    /// Backup to restore
    file: PathBuf,

    /// Empty PostgreSQL database to restore into, instead of SQLite in the data folder
    #[arg(long, env = "STOA_DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,

    /// Where to put attachments, instead of the data folder
    #[arg(long, env = "STOA_ATTACHMENTS_URL")]
    attachments_url: Option<String>,
}

impl BackupArguments {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        let path = absolute(&self.file)?;
        let backup = session.call("backup.create", &json!({"path": path}))?;
        session.output.result(&backup, |_| {
            let missing = backup["missing_attachments"].as_array().map_or(0, Vec::len);
            let lost = match missing {
                0 => String::new(),
                missing => format!("{missing} attachments are missing from the store, and from the backup.\n"),
            };
            format!(
                "{} rows and {} attachments are in {} ({} bytes).\n{lost}",
                show(&backup["rows"]),
                show(&backup["attachments"]),
                show(&backup["path"]),
                show(&backup["size_bytes"])
            )
        })
    }
}

impl RestoreArguments {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        let data = std::path::absolute(&session.location.data).map_err(|error| Failure::Usage(error.to_string()))?;
        let database_url = self.database_url.filter(|url| !url.is_empty()).map(Secret::new);
        let is_postgres = database_url.is_some();
        let attachments_url = self.attachments_url.filter(|url| !url.is_empty());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::Other(error.to_string()))?;
        let restored = runtime
            .block_on(backup::restore(&self.file, RestoreTarget { data, database_url, attachments_url }))
            .map_err(|error| Failure::Other(error.to_string()))?;
        let restored = serde_json::to_value(restored).map_err(|error| Failure::Other(error.to_string()))?;
        let (into, with) = if is_postgres { ("PostgreSQL", "the same STOA_DATABASE_URL and ") } else { ("SQLite", "") };
        session.output.result(&restored, |_| {
            format!(
                "{} rows and {} attachments of {} are restored into {into}; start the hub with {with}`stoa serve --data {}`.\n",
                show(&restored["rows"]),
                show(&restored["attachments"]),
                show(&restored["created_at"]),
                show(&restored["data"])
            )
        })
    }
}
