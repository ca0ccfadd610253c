//! `stoa serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::config::{
    AgentWebhooks, CURSOR_REDIRECT, Config, Isolation, Network, RunSettings, Subprocesses, parse_duration,
};
use crate::hub::Hub;
use clap::{Args, ValueEnum};
use stoa_model::Secret;
use stoa_model::dispatch::TriggerFrom;
use stoa_programs::PriceList;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::{environment, fail, raise_file_limit};

/// How long threads may take to end after the hub has stopped.
const THREADS_WITHIN: Duration = Duration::from_secs(1);
/// How long the process may take to end after a signal, whatever happens. Operators are promised 10 seconds.
const END_WITHIN: Duration = Duration::from_secs(9);

const SECRETS: &str = "\
Secrets, from the environment only:
  STOA_KEY            key, 32 bytes in base64, instead of the key file (new,old while rotating)
  STOA_METRICS_TOKEN  bearer token for /metrics; without it /metrics is open";

#[derive(Args)]
#[command(after_help = SECRETS)]
pub(super) struct ServeArguments {
    /// Address to listen on
    #[arg(long, env = "STOA_LISTEN", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,

    /// Data folder: database, key file, attachments
    #[arg(long, env = "STOA_DATA", default_value = "./data")]
    data: PathBuf,

    /// PostgreSQL to use instead of the embedded SQLite, as postgres://user:password@host/database
    #[arg(long, env = "STOA_DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,

    /// Connections to PostgreSQL for commands and reads, at least 3; the hub opens three more for notifications and monitoring, three for searches, and one while a command waits for a lock
    #[arg(long, env = "STOA_DATABASE_CONNECTIONS", default_value_t = 16, value_parser = clap::value_parser!(u16).range(3..=1000))]
    database_connections: u16,

    /// Memory for cached pages of the SQLite database, in MiB, 8 to 65536, shared by all connections; ignored with PostgreSQL
    #[arg(long, env = "STOA_CACHE", value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(8..=65536))]
    cache: u32,

    /// How much to log: error, warn, info, debug or trace, or a filter such as stoa=debug,warn
    #[arg(long, env = "STOA_LOG_LEVEL", default_value = "info")]
    log_level: String,

    /// Log format
    #[arg(long, env = "STOA_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,

    /// How long traces are kept, for example 30d; 0 keeps them forever
    #[arg(long, env = "STOA_TRACE_RETENTION", default_value = "30d", value_parser = parse_duration)]
    trace_retention: Duration,

    /// Unix socket for `stoa admin` [default: <data>/admin.sock, in a container /tmp/stoa-<uid>/admin.sock if it is free]
    #[arg(long, env = "STOA_ADMIN_SOCKET")]
    admin_socket: Option<PathBuf>,

    /// Public address of the hub, for example https://hub.example [default: http://<listen>]
    #[arg(long, env = "STOA_BASE_URL")]
    base_url: Option<String>,

    /// Cost of password hashes
    #[arg(long, env = "STOA_BCRYPT_COST", default_value_t = 12, value_parser = clap::value_parser!(u32).range(4..=20))]
    bcrypt_cost: u32,

    /// How long a login lasts, for example 24h
    #[arg(long, env = "STOA_SESSION_LIFETIME", default_value = "24h", value_parser = parse_lifetime)]
    session_lifetime: Duration,

    /// Writes per minute for each caller; 0 = no limit
    #[arg(long, env = "STOA_RATE_LIMIT", default_value_t = 600)]
    rate_limit: u32,

    /// Timeout of a request, for example 10s; calls that wait for messages get this time on top
    #[arg(long, env = "STOA_REQUEST_TIMEOUT", default_value = "10s", value_parser = parse_lifetime)]
    request_timeout: Duration,

    /// Open event streams per user with their agents on this hub; 0 = no limit
    #[arg(long, env = "STOA_MAX_STREAMS", default_value_t = 50)]
    max_streams: usize,

    /// Connections from one address, except trusted proxies and this machine; 0 = no limit
    #[arg(long, env = "STOA_MAX_CONNECTIONS_PER_ADDRESS", default_value_t = 2000)]
    max_connections_per_address: usize,

    /// Memory for request bodies, in MiB, 32 to 65536
    #[arg(long, env = "STOA_BODY_MEMORY", value_name = "MIB", default_value_t = 128, value_parser = clap::value_parser!(u32).range(32..=65536))]
    body_memory: u32,

    /// Memory for unread responses, in MiB, 8 to 65536
    #[arg(long, env = "STOA_ANSWER_MEMORY", value_name = "MIB", default_value_t = 128, value_parser = clap::value_parser!(u32).range(8..=65536))]
    answer_memory: u32,

    /// MiB of responses per minute for a user and their agents; 0 = no limit
    #[arg(long, env = "STOA_READ_LIMIT", value_name = "MIB", default_value_t = 8192)]
    read_limit: u32,

    /// MiB of stored responses for repeated requests, per user with their agents; 0 = no limit
    #[arg(long, env = "STOA_STORED_ANSWERS", value_name = "MIB", default_value_t = 1024)]
    stored_answers: u32,

    /// Trusted proxies (X-Forwarded-For), as addresses or ranges
    #[arg(long, env = "STOA_TRUSTED_PROXIES", value_delimiter = ',', default_value = "127.0.0.0/8,::1")]
    trusted_proxies: Vec<Network>,

    /// Registry of machine principals: a JSON file or a folder; reloaded when it changes and on SIGHUP
    #[arg(long, env = "STOA_REGISTRY")]
    registry: Option<PathBuf>,

    /// Which component this hub is to machine principals: svc-sense, svc-brain or svc-bell
    #[arg(long, env = "STOA_AUDIENCE")]
    audience: Option<String>,

    /// Private networks that the hub may call, for webhooks and client metadata documents: comma-separated addresses or ranges, or 1 for all
    #[arg(long, env = "STOA_ALLOW_PRIVATE_NETWORKS", value_name = "NETWORKS")]
    allow_private_networks: Option<String>,

    /// Public networks that the hub must not call: comma-separated addresses or ranges
    #[arg(long, env = "STOA_OUTBOUND_DENY", value_name = "NETWORKS")]
    outbound_deny: Option<String>,

    /// Whether webhooks can use unencrypted http:// addresses
    #[arg(long, env = "STOA_ALLOW_HTTP_WEBHOOKS", value_parser = environment::parse_switch, default_value = "false", num_args = 0..=1, default_missing_value = "true")]
    allow_http_webhooks: bool,

    /// Webhooks that an agent registers: enabled, and the owner is notified (notify), or disabled until the owner enables them (confirm)
    #[arg(long, env = "STOA_AGENT_WEBHOOKS", default_value = "notify", value_parser = ["notify", "confirm"])]
    agent_webhooks: String,

    /// Whose agents may run commands on this machine, with the hub's rights: nobody's (off), admins' (admins), or everyone's
    #[arg(long, env = "STOA_SUBPROCESS", default_value = "admins", value_parser = ["off", "admins", "everyone"])]
    subprocess: String,

    /// Concurrent runs on this hub
    #[arg(long, env = "STOA_RUN_WORKERS", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    run_workers: u16,

    /// Where runs of agents have their folders [default: a folder beside the data folder, with -runs at the end of its name]
    #[arg(long, env = "STOA_RUN_DIR", value_name = "FOLDER")]
    run_dir: Option<PathBuf>,

    /// MiB that one run can write to its folder
    #[arg(long, env = "STOA_RUN_DISK", value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    run_disk: u64,

    /// PATH of runs: colon-separated folders
    #[arg(long, env = "STOA_RUN_PATH", value_name = "FOLDERS", default_value = "/usr/local/bin:/usr/bin:/bin")]
    run_path: String,

    /// Isolation of runs from the hub and from each other: with bubblewrap where it works (auto), always or the hub does not start (bwrap), or none
    #[arg(long, env = "STOA_RUN_ISOLATION", default_value = "auto", value_parser = ["auto", "bwrap", "none"])]
    run_isolation: String,

    /// Folders that isolated runs can read, beside those of the system and of their PATH: colon-separated
    #[arg(long, env = "STOA_RUN_READABLE", value_name = "FOLDERS")]
    run_readable: Option<String>,

    /// Folders in which agents may work, if their owners choose so: colon-separated
    #[arg(long, env = "STOA_WORKSPACES", value_name = "FOLDERS")]
    workspaces: Option<String>,

    /// A JSON file with prices of models in US dollars for a million tokens, for commands that do not report their cost: {"gpt-5": {"input": 1.25, "cached": 0.125, "output": 10}} [default: a table of known list prices]
    #[arg(long, env = "STOA_PRICES", value_name = "FILE")]
    prices: Option<PathBuf>,

    /// Maximum duration of a run in seconds, for all agents
    #[arg(long, env = "STOA_MAX_RUN_SECONDS", value_name = "SECONDS", default_value_t = 1800, value_parser = clap::value_parser!(u32).range(1..=86400))]
    max_run_seconds: u32,

    /// Default for who can start a new agent: its owner and their agents (owner), also other people (people), or everyone
    #[arg(long, env = "STOA_TRIGGER_FROM", default_value = "people", value_parser = ["owner", "people", "everyone"])]
    trigger_from: String,

    /// Runs per hour that a person and their agents can start of another owner's agent
    #[arg(long, env = "STOA_WAKES_PER_SENDER", value_name = "RUNS", default_value_t = 20)]
    wakes_per_sender: u32,

    /// Maximum runs caused by one message
    #[arg(long, env = "STOA_MAX_RUNS_PER_CHAIN", value_name = "RUNS", default_value_t = 50)]
    max_runs_per_chain: u32,

    /// Automation on this hub: runs and webhook deliveries on or off
    #[arg(long, env = "STOA_ACTING", default_value = "on", value_parser = ["on", "off"])]
    acting: String,

    /// Whether to also serve OAuth at /register, /token and /authorize
    #[arg(long, env = "STOA_OAUTH_ALIASES", default_value_t = true, action = clap::ArgAction::Set)]
    oauth_aliases: bool,

    /// Redirect URIs with a private scheme that OAuth clients may register, exactly as written, comma-separated; replaces the default
    #[arg(long, env = "STOA_OAUTH_REDIRECTS", value_delimiter = ',', default_value = CURSOR_REDIRECT)]
    oauth_redirects: Vec<String>,

    /// Origins of web pages that may call /mcp, comma-separated, for example https://app.example
    #[arg(long, env = "STOA_MCP_ORIGINS")]
    mcp_origins: Option<String>,

    /// Where attachments are stored: a path that several hubs can share, or s3://bucket/prefix (with AWS_… variables) [default: <data>/attachments]
    #[arg(long, env = "STOA_ATTACHMENTS_URL")]
    attachments_url: Option<String>,

    /// MiB of uploads per 24 hours for a user and their agents; 0 = no limit
    #[arg(long, env = "STOA_UPLOAD_QUOTA", value_name = "MIB", default_value_t = 10 * 1024)]
    upload_quota: u64,

    /// Whether to cache checked credentials (SQLite only)
    #[arg(long, env = "STOA_AUTH_CACHE", default_value_t = true, action = clap::ArgAction::Set)]
    auth_cache: bool,

    /// Whether to index messages for search (for benchmarks)
    #[arg(long, env = "STOA_SEARCH_INDEXING", default_value_t = true, action = clap::ArgAction::Set, hide = true)]
    search_indexing: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum LogFormat {
    Text,
    Json,
}

fn parse_lifetime(text: &str) -> Result<Duration, String> {
    parse_duration(text)
        .and_then(|duration| if duration.is_zero() { Err("must be greater than 0".to_owned()) } else { Ok(duration) })
}

pub(super) fn serve(arguments: ServeArguments) -> ExitCode {
    if let Err(error) = start_log(&arguments.log_level, arguments.log_format) {
        return fail(&error);
    }
    hide_from_programs();
    environment::warn_of_unknown();
    // What a shell allows by default is less than the streams that one hub can hold.
    raise_file_limit();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    let outcome = runtime.block_on(listen_and_run(arguments));
    // A thread that hashes a password, or waits for a disk that does not answer, must not keep the process.
    runtime.shutdown_timeout(THREADS_WITHIN);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Programs that the hub runs are this user's, too. They shall read neither its memory nor its environment.
fn hide_from_programs() {
    use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
    let hidden = set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .and_then(|()| setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }));
    if let Err(error) = hidden {
        tracing::warn!(%error, "programs of runs could read the memory of the hub");
    }
}

/// Connections that wait to be accepted, if the system allows so many. Who finds no place tries again after a second.
const MAX_WAITING: u32 = 4096;

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A hub that is started again must not wait until its old connections are forgotten.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(MAX_WAITING)
}

async fn listen_and_run(arguments: ServeArguments) -> Result<(), String> {
    let address = arguments.listen;
    let mut features = crate::features::all();
    if !arguments.search_indexing {
        for feature in &mut features.0 {
            feature.listeners.retain(|listener| listener.name() != crate::features::search::LISTENER);
        }
    }
    let config = configuration(arguments)?;
    let listener = listen(address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    let shutdown = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        end_in_any_case();
    };
    // Taken over before the hub starts: until then a hangup would end the process.
    let mut hangup = signal(SignalKind::hangup()).map_err(|error| error.to_string())?;
    let started = move |hub: Hub| {
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                reload_registry(&hub).await;
            }
        });
    };
    crate::run_with(config, features, listener, started, shutdown).await.map_err(|error| error.to_string())
}

/// Ends the process after a while, if it does not end by itself: a thread that is stuck, also in writing the log, could keep it.
///
/// That is safe at any moment. An answer follows the sync of its commit, so nothing that was answered is lost, and what a crash
/// leaves behind is mended at the next start.
fn end_in_any_case() {
    let end = || {
        std::thread::sleep(END_WITHIN);
        #[expect(clippy::disallowed_methods, reason = "the way through main is the one that is stuck")]
        std::process::exit(0);
    };
    if let Err(error) = std::thread::Builder::new().name("stop".to_owned()).spawn(end) {
        tracing::warn!(%error, "no thread could be started that ends the process in any case");
    }
}

async fn reload_registry(hub: &Hub) {
    // What is wrong with the files, the registry says in the log itself.
    if let Err(error) = crate::features::machines::reload(hub).await {
        tracing::warn!(%error, "the registry was not reloaded");
    }
}

fn configuration(arguments: ServeArguments) -> Result<Config, String> {
    let data = std::path::absolute(&arguments.data)
        .map_err(|error| format!("the data folder {} cannot be used: {error}", arguments.data.display()))?;
    environment::warn_of_open_folder(&data);
    let audience = arguments.audience.as_deref().filter(|audience| !audience.is_empty());
    let audience = audience
        .map(|audience| {
            audience.parse().map_err(|_| format!("--audience {audience}: use svc-sense, svc-brain or svc-bell"))
        })
        .transpose()?;
    let outbound_allow = match arguments.allow_private_networks.as_deref() {
        Some("1") => parse_networks("--allow-private-networks", "0.0.0.0/0,::/0")?,
        networks => parse_networks("--allow-private-networks", networks.unwrap_or_default())?,
    };
    let outbound_deny = parse_networks("--outbound-deny", arguments.outbound_deny.as_deref().unwrap_or_default())?;
    let agent_webhooks = match arguments.agent_webhooks.as_str() {
        "confirm" => AgentWebhooks::Confirm,
        _ => AgentWebhooks::Notify,
    };
    let subprocesses = match arguments.subprocess.as_str() {
        "off" => Subprocesses::Off,
        "everyone" => Subprocesses::Everyone,
        _ => Subprocesses::Admins,
    };
    let runs = RunSettings {
        subprocesses,
        workers: arguments.run_workers.into(),
        folder: arguments.run_dir.filter(|folder| !folder.as_os_str().is_empty()),
        disk_mib: arguments.run_disk,
        max_seconds: arguments.max_run_seconds,
        path: arguments.run_path,
        isolation: match arguments.run_isolation.as_str() {
            "bwrap" => Isolation::Bubblewrap,
            "none" => Isolation::None,
            _ => Isolation::Auto,
        },
        readable: absolute_folders("--run-readable", arguments.run_readable.as_deref())?,
        workspaces: absolute_folders("--workspaces", arguments.workspaces.as_deref())?,
        wakes_per_sender: arguments.wakes_per_sender,
        max_per_chain: arguments.max_runs_per_chain,
        prices: match arguments.prices.filter(|file| !file.as_os_str().is_empty()) {
            Some(file) => read_prices(&file)?,
            None => PriceList::default(),
        },
        ..RunSettings::default()
    };
    let mcp_origins = listed(arguments.mcp_origins.as_deref().unwrap_or_default())
        .map(environment::check_origin)
        .collect::<Result<_, String>>()?;
    // Secrets come from the environment only: arguments can be read by every user of the machine.
    let secret = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty()).map(Secret::new);
    // An empty one is refused, too: the figures would be open to everybody, and nobody would notice.
    let metrics_token = std::env::var("STOA_METRICS_TOKEN").ok().map(Secret::new);
    if let Some(token) = &metrics_token {
        environment::check_metrics_token(token.expose())?;
    }
    Ok(Config {
        admin_socket: arguments.admin_socket,
        database_url: arguments.database_url.filter(|url| !url.is_empty()).map(Secret::new),
        database_connections: arguments.database_connections.into(),
        cache_mib: arguments.cache,
        base_url: arguments.base_url.filter(|url| !url.is_empty()),
        bcrypt_cost: arguments.bcrypt_cost,
        session_lifetime: arguments.session_lifetime,
        trace_retention: arguments.trace_retention,
        rate_limit: arguments.rate_limit,
        request_timeout: arguments.request_timeout,
        max_streams: arguments.max_streams,
        body_memory_mib: arguments.body_memory,
        answer_memory_mib: arguments.answer_memory,
        read_limit_mib: arguments.read_limit,
        stored_answers_bytes: u64::from(arguments.stored_answers) * 1024 * 1024,
        max_connections_per_address: arguments.max_connections_per_address,
        trusted_proxies: arguments.trusted_proxies,
        key: secret("STOA_KEY"),
        metrics_token,
        registry: arguments.registry.filter(|path| !path.as_os_str().is_empty()),
        audience,
        outbound_allow,
        outbound_deny,
        allow_http_webhooks: arguments.allow_http_webhooks,
        agent_webhooks,
        acting: arguments.acting != "off",
        runs,
        trigger_from: TriggerFrom::from_name(&arguments.trigger_from).unwrap_or_default(),
        oauth_aliases: arguments.oauth_aliases,
        oauth_redirects: listed(&arguments.oauth_redirects.join(",")).map(str::to_owned).collect(),
        mcp_origins,
        attachments_url: arguments.attachments_url.filter(|url| !url.is_empty()),
        upload_quota_mib: arguments.upload_quota,
        auth_cache: arguments.auth_cache,
        ..Config::new(data)
    })
}

fn read_prices(file: &Path) -> Result<PriceList, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("--prices {}: {error}", file.display()))?;
    PriceList::parse(&text).map_err(|fault| format!("--prices {}: {fault}", file.display()))
}

/// Folders between colons.
fn absolute_folders(option: &str, text: Option<&str>) -> Result<Vec<PathBuf>, String> {
    let folders = text.unwrap_or_default().split(':').filter(|folder| !folder.is_empty());
    folders
        .map(|folder| {
            if folder.starts_with('/') {
                Ok(PathBuf::from(folder))
            } else {
                Err(format!("{option} {folder}: must be an absolute path"))
            }
        })
        .collect()
}

fn parse_networks<T: std::str::FromStr<Err: std::fmt::Display>>(option: &str, text: &str) -> Result<Vec<T>, String> {
    listed(text).map(|text| text.parse().map_err(|error| format!("{option} {text}: {error}"))).collect()
}

/// What stands between commas. An empty setting is none.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Logs go to standard error; standard output is for the first password.
pub(super) fn start_log(level: &str, format: LogFormat) -> Result<(), String> {
    // The filter takes a word that it does not know for the name of a module, and logs nothing else.
    let is_level =
        ["off", "error", "warn", "info", "debug", "trace"].iter().any(|known| level.eq_ignore_ascii_case(known));
    if !is_level && !level.contains('=') {
        return Err(format!(
            "--log-level {level}: use off, error, warn, info, debug or trace, or a filter such as stoa=debug,warn"
        ));
    }
    // The library that speaks MCP would log whole messages, with what is secret in them.
    if level.contains("rmcp") || level.contains('[') {
        return Err(format!(
            "--log-level {level}: neither rmcp nor single spans can be logged, as what people say would be"
        ));
    }
    let level = format!("{level},rmcp=off");
    let filter = EnvFilter::try_new(&level).map_err(|error| format!("--log-level {level}: {error}"))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => {
            let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
            log.with_ansi(is_terminal).try_init()
        }
        LogFormat::Json => log.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init(),
    };
    started.map_err(|error| error.to_string())
}
