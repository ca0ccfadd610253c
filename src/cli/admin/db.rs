//! `stoa admin db`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Output, show};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum DbCommand {
    /// Show the database and listener progress
    Info,
    /// Reclaim disk space (may be slow)
    Vacuum,
    /// Encrypt secrets with a new key and delete the old one
    RotateKey,
}

impl DbCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            DbCommand::Info => {
                let system = session.call("db.info", &json!({}))?;
                session.output.result(&system, |output| info(output, &system))
            }
            DbCommand::Vacuum => {
                let database = session.call("db.vacuum", &json!({}))?;
                session.output.result(&database, |_| format!("The database now takes up {}.\n", size(&database)))
            }
            DbCommand::RotateKey => {
                let rotation = session.call("db.rotate_key", &json!({}))?;
                session.output.result(&rotation, |_| format!("{}\n", show(&rotation["note"])))
            }
        }
    }
}

fn info(output: &Output, system: &Value) -> String {
    let database = &system["database"];
    let behind: Vec<_> = system["listeners"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|listener| format!("{} {}", show(&listener["name"]), show(&listener["behind"])))
        .collect();
    output.properties(&[
        ("hub version", show(&system["version"])),
        ("address", show(&system["base_url"])),
        ("started", show(&system["started_at"])),
        ("engine", format!("{} {}", show(&database["engine"]), show(&database["engine_version"]))),
        ("schema version", show(&database["schema_version"])),
        ("size", size(database)),
        ("users", show(&system["users"])),
        ("agents", show(&system["agents"])),
        ("writes waiting", show(&system["write_queue_length"])),
        ("events not followed", behind.join("\n")),
    ])
}

fn size(database: &Value) -> String {
    let bytes = database["size_bytes"].as_u64().unwrap_or_default();
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
