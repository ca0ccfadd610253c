//! `stoa admin traces`.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use stoa_model::Timestamp;
use stoa_model::page::MAX_LIMIT;
use stoa_model::traces::{ExportFormat, ExportWriter, OwnedTrace};

use super::output::show;
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum TracesCommand {
    /// List calls, newest first
    List {
        #[command(flatten)]
        filter: FilterArguments,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
        limit: u64,
        /// How many to skip
        #[arg(long, default_value_t = 0)]
        offset: u64,
    },
    /// Show call counts and failures per action
    Stats {
        #[command(flatten)]
        filter: FilterArguments,
    },
    /// Export all traces to a file, newest first
    Export {
        /// File to write; must not exist yet; - = standard output
        file: PathBuf,
        #[command(flatten)]
        filter: FilterArguments,
        #[arg(long, value_enum, default_value_t = Format::Json)]
        format: Format,
    },
}

#[derive(Args)]
pub(super) struct FilterArguments {
    /// Only this user and their agents
    #[arg(long, value_name = "USER")]
    owner: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this action, for example create_agent
    #[arg(long)]
    action: Option<String>,
    /// From this time on, for example 2030-01-31 or 2030-01-31T09:30:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Format {
    /// One array
    Json,
    /// A table for spreadsheets
    Csv,
}

impl FilterArguments {
    fn params(&self) -> Value {
        json!({"owner": self.owner, "agent": self.agent, "action": self.action, "since": self.since,
            "until": self.until})
    }
}

impl TracesCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            TracesCommand::List { filter, limit, offset } => {
                let page = list(session, filter.params(), limit, offset)?;
                session.output.result(&page, |output| {
                    let traces = page["items"].as_array().map_or(&[][..], Vec::as_slice);
                    output.rows(
                        traces,
                        &[
                            ("TIME", |trace| show(&trace["created_at"])),
                            ("OWNER", |trace| show(&trace["owner"])),
                            ("AGENT", |trace| show(&trace["agent"])),
                            ("ACTION", |trace| show(&trace["action"])),
                            ("ERROR", |trace| show(&trace["error"])),
                            ("MS", |trace| show(&trace["duration_ms"])),
                            ("DETAILS", |trace| show(&trace["details"])),
                            ("REQUEST", |trace| show(&trace["request_id"])),
                        ],
                    )
                })
            }
            TracesCommand::Stats { filter } => {
                let stats = session.call("traces.stats", &filter.params())?;
                session.output.result(&stats, |output| {
                    let actions = stats["items"].as_array().map_or(&[][..], Vec::as_slice);
                    output.rows(
                        actions,
                        &[
                            ("ACTION", |action| show(&action["action"])),
                            ("COUNT", |action| show(&action["count"])),
                            ("ERRORS", |action| show(&action["errors"])),
                            ("AVERAGE MS", |action| show(&action["average_duration_ms"])),
                            ("LONGEST MS", |action| show(&action["longest_duration_ms"])),
                            ("LAST", |action| show(&action["last_at"])),
                        ],
                    )
                })
            }
            TracesCommand::Export { file, filter, format } => {
                let format = match format {
                    Format::Json => ExportFormat::Json,
                    Format::Csv => ExportFormat::Csv,
                };
                if file == Path::new("-") {
                    to_stdout(session, &filter, format)
                } else {
                    to_file(session, &filter, format, &file)
                }
            }
        }
    }
}

/// As many as are wanted, however many the hub gives at once.
fn list(session: &mut Session, mut params: Value, limit: u64, offset: u64) -> Result<Value, Failure> {
    let mut answer = Value::Null;
    let (mut items, mut known) = (Vec::new(), HashSet::new());
    let mut passed = offset;
    while (items.len() as u64) < limit {
        params["offset"] = json!(passed);
        params["limit"] = json!((limit - items.len() as u64).min(u64::from(MAX_LIMIT)));
        let mut page = session.call("traces.list", &params)?;
        let Value::Array(found) = page["items"].take() else {
            return Err(Failure::Other("the hub's answer to traces.list has no items".to_owned()));
        };
        if answer.is_null() {
            answer = page;
        }
        if found.is_empty() {
            break;
        }
        passed += found.len() as u64;
        // What came in since the first page has pushed some of it down, and it comes again.
        items.extend(found.into_iter().filter(|trace| known.insert(trace["id"].as_i64())));
    }
    answer["items"] = Value::Array(items);
    Ok(answer)
}

fn to_stdout(session: &mut Session, filter: &FilterArguments, format: ExportFormat) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written =
        export(session, filter, format, |text| stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
    match written {
        // Whoever reads us may stop when they have enough.
        Err(Fault::File(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(fault) => Err(fault.into_failure("standard output")),
        Ok(_) => Ok(()),
    }
}

fn to_file(session: &mut Session, filter: &FilterArguments, format: ExportFormat, path: &Path) -> Result<(), Failure> {
    let shown = path.display().to_string();
    // A hub that is not there must not leave a file behind.
    session.connect()?;
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::Usage(format!("{shown} already exists")),
            _ => Failure::Other(format!("{shown} cannot be written: {error}")),
        })?;
    let written = export(session, filter, format, |text| file.write_all(text.as_bytes()));
    let written = written.and_then(|traces| file.sync_all().map(|()| traces).map_err(Fault::File));
    let traces = written.map_err(|fault| {
        // A part must not be taken for the whole.
        let _ = fs::remove_file(path);
        fault.into_failure(&shown)
    })?;
    let result = json!({"path": shown, "traces": traces});
    session.output.result(&result, |_| format!("{traces} traces are in {shown}.\n"))
}

enum Fault {
    Hub(Failure),
    File(io::Error),
}

impl Fault {
    fn into_failure(self, place: &str) -> Failure {
        match self {
            Fault::Hub(failure) => failure,
            Fault::File(error) => Failure::Other(format!("{place} cannot be written: {error}")),
        }
    }
}

/// Fetches page by page and writes each before the next. Returns how many traces there were.
fn export(
    session: &mut Session,
    filter: &FilterArguments,
    format: ExportFormat,
    mut write: impl FnMut(&str) -> io::Result<()>,
) -> Result<u64, Fault> {
    let unexpected =
        |error: serde_json::Error| Fault::Hub(Failure::Other(format!("the hub's answer is no page: {error}")));
    let mut params = filter.params();
    params["limit"] = json!(MAX_LIMIT);
    let mut writer = ExportWriter::new(format, true);
    let mut text = String::new();
    let mut traces = 0;
    writer.begin(&mut text);
    loop {
        let mut page = session.call("traces.export", &params).map_err(Fault::Hub)?;
        let items: Vec<OwnedTrace> = serde_json::from_value(page["items"].take()).map_err(unexpected)?;
        for trace in &items {
            writer.push(&mut text, trace).map_err(unexpected)?;
        }
        traces += items.len() as u64;
        params["cursor"] = page["next_cursor"].take();
        if params["cursor"].is_null() {
            writer.end(&mut text);
        }
        write(&text).map_err(Fault::File)?;
        if params["cursor"].is_null() {
            return Ok(traces);
        }
        text.clear();
    }
}
