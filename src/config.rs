//! How a hub is set up. The command line fills this in; tests do it by hand.

use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use stoa_model::Secret;
use stoa_model::dispatch::TriggerFrom;
use stoa_programs::PriceList;
use stoa_registry::Audience;

use crate::clock::Clock;

/// Where agents reach the hub over MCP.
pub const MCP_PATH: &str = "/mcp";

/// The one private redirect URI that a widely used client insists on.
pub const CURSOR_REDIRECT: &str = "cursor://anysphere.cursor-mcp/oauth/callback";

/// What becomes of a webhook that an agent registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentWebhooks {
    /// It works at once, and the owner hears of it.
    Notify,
    /// The owner has to enable it.
    Confirm,
}

/// Whose agents may start programs on the hub's machine, with the hub's rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subprocesses {
    Off,
    /// Agents of administrators.
    Admins,
    Everyone,
}

/// Whether runs are isolated from the rest of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Where it works.
    Auto,
    /// The hub does not start without it.
    Bubblewrap,
    None,
}

/// How agents are run.
#[derive(Debug, Clone)]
pub struct RunSettings {
    pub subprocesses: Subprocesses,
    /// Runs at a time on this hub.
    pub workers: usize,
    /// Where runs have their folders; none means a folder beside the data folder.
    pub folder: Option<PathBuf>,
    /// MiB that the folder of one run may have.
    pub disk_mib: u64,
    /// The longest time limit of a run.
    pub max_seconds: u32,
    /// Where the programs of runs are looked for.
    pub path: String,
    pub isolation: Isolation,
    /// What isolated runs can read beside the folders of the system.
    pub readable: Vec<PathBuf>,
    /// Folders in which agents may have a workspace.
    pub workspaces: Vec<PathBuf>,
    /// How often one person and their agents may start an agent of somebody else within an hour.
    pub wakes_per_sender: u32,
    /// Runs that may descend from one message.
    pub max_per_chain: u32,
    /// What models cost, for programs that do not say it.
    pub prices: PriceList,
    /// Calls of the hub a minute for each run; 0 means no limit.
    pub calls_per_minute: u32,
    /// The program that looks after the processes of a run, when it is called with `supervise`: this one.
    pub supervisor: PathBuf,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            subprocesses: Subprocesses::Admins,
            workers: 4,
            folder: None,
            disk_mib: 1024,
            max_seconds: 1800,
            path: "/usr/local/bin:/usr/bin:/bin".to_owned(),
            isolation: Isolation::Auto,
            readable: Vec::new(),
            workspaces: Vec::new(),
            wakes_per_sender: 20,
            max_per_chain: 50,
            prices: PriceList::default(),
            calls_per_minute: 120,
            // The kernel's name for it still works after an upgrade has replaced the file.
            supervisor: PathBuf::from("/proc/self/exe"),
        }
    }
}

#[derive(Clone)]
pub struct Config {
    /// The data folder: database, key file, attachments.
    pub data: PathBuf,
    /// A `postgres://` address; none means SQLite in the data folder.
    pub database_url: Option<Secret>,
    /// Connections to PostgreSQL, about half of them for writing.
    pub database_connections: usize,
    /// MiB of SQLite's pages that are kept in memory.
    pub cache_mib: u32,
    /// The public address; none means the one it listens on.
    pub base_url: Option<String>,
    /// Where operators reach the hub; none means the first place that is free.
    pub admin_socket: Option<PathBuf>,
    pub bcrypt_cost: u32,
    pub session_lifetime: Duration,
    pub trace_retention: Duration,
    /// Writes a minute for each principal; 0 means no limit.
    pub rate_limit: u32,
    /// How long the hub may take to answer a request, but for one that waits for something to happen.
    pub request_timeout: Duration,
    /// How long a search may run.
    pub search_timeout: Duration,
    /// Event streams that a user and their agents may have open; 0 means no limit.
    pub max_streams: usize,
    /// Connections from one address that is neither a trusted proxy nor of this machine; 0 means no limit.
    pub max_connections_per_address: usize,
    /// MiB of the bodies of requests that may be in memory.
    pub body_memory_mib: u32,
    /// MiB of answers that may be in memory because clients have not read them yet.
    pub answer_memory_mib: u32,
    /// MiB of answers that a user and their agents may ask for in a minute; 0 means no limit.
    pub read_limit_mib: u32,
    /// Bytes of answers that are kept for a user and their agents, for requests that are repeated; 0 means no limit.
    pub stored_answers_bytes: u64,
    pub trusted_proxies: Vec<Network>,
    /// The key itself, instead of the key file.
    pub key: Option<Secret>,
    /// What `/metrics` asks for; none means that it is open.
    pub metrics_token: Option<Secret>,
    /// The registry of machine principals: a file, or a folder of them.
    pub registry: Option<PathBuf>,
    /// Which component this hub is, for machine principals.
    pub audience: Option<Audience>,
    /// Networks that the hub may call although they are not public.
    pub outbound_allow: Vec<stoa_outbound::Network>,
    /// Networks that are never called, though they are public.
    pub outbound_deny: Vec<stoa_outbound::Network>,
    /// Whether webhooks may go to `http://` addresses.
    pub allow_http_webhooks: bool,
    pub agent_webhooks: AgentWebhooks,
    /// Whether anything acts on this hub: runs, deliveries to webhooks.
    pub acting: bool,
    pub runs: RunSettings,
    /// Whose messages start a new agent that does not say so itself.
    pub trigger_from: TriggerFrom,
    /// What the hub calls others with; none means a client of its own.
    pub outbound: Option<stoa_outbound::Client>,
    /// Whether `/register`, `/token` and `/authorize` work too, for clients that look nowhere else.
    pub oauth_aliases: bool,
    /// Redirect URIs with a scheme of a program's own that clients may register.
    pub oauth_redirects: Vec<String>,
    /// Origins of pages that may call `/mcp`, beside the hub's own.
    pub mcp_origins: Vec<String>,
    /// Where the contents of attachments are: a folder that several hubs may share, as a path or `file://` address, or a bucket as
    /// `s3://bucket/prefix`. None means the folder `attachments` in the data folder.
    pub attachments_url: Option<String>,
    /// MiB that a user and their agents may upload in 24 hours; 0 means no limit.
    pub upload_quota_mib: u64,
    /// Whether credentials that were checked are remembered (on SQLite only).
    pub auth_cache: bool,
    pub clock: Clock,
    /// Where the password of the first administrator is shown, once.
    pub show_password: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Config {
    /// A hub in `data` with the defaults of the command line.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            admin_socket: None,
            database_url: None,
            database_connections: 16,
            cache_mib: 64,
            base_url: None,
            bcrypt_cost: 12,
            session_lifetime: Duration::from_secs(24 * 3600),
            trace_retention: Duration::from_secs(30 * 24 * 3600),
            rate_limit: 600,
            request_timeout: Duration::from_secs(10),
            search_timeout: Duration::from_secs(2),
            max_streams: 50,
            max_connections_per_address: 2000,
            body_memory_mib: 128,
            answer_memory_mib: 128,
            read_limit_mib: 8192,
            stored_answers_bytes: 1024 * 1024 * 1024,
            trusted_proxies: Network::loopback(),
            key: None,
            metrics_token: None,
            registry: None,
            audience: None,
            outbound_allow: Vec::new(),
            outbound_deny: Vec::new(),
            allow_http_webhooks: false,
            agent_webhooks: AgentWebhooks::Notify,
            acting: true,
            runs: RunSettings::default(),
            trigger_from: TriggerFrom::default(),
            outbound: None,
            oauth_aliases: true,
            oauth_redirects: vec![CURSOR_REDIRECT.to_owned()],
            mcp_origins: Vec::new(),
            attachments_url: None,
            upload_quota_mib: 10 * 1024,
            auth_cache: true,
            clock: Clock::system(),
            show_password: Arc::new(print_password),
        }
    }
}

/// The first password goes to standard output and nowhere else.
fn print_password(password: &str) {
    let mut stdout = std::io::stdout();
    if let Err(error) = writeln!(stdout, "password: {password}").and_then(|()| stdout.flush()) {
        tracing::error!(%error, "the first password could not be shown; set one with `stoa admin users passwd admin`");
    }
}

/// Where the admin socket may be when nobody said where: in a container first under /tmp, where
/// it works whatever the data folder is mounted as, else in the data folder.
pub fn admin_socket_candidates(data: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let is_container = ["/.dockerenv", "/run/.containerenv"].iter().any(|marker| Path::new(marker).exists())
        || ["container", "KUBERNETES_SERVICE_HOST"].iter().any(|name| std::env::var_os(name).is_some());
    let mut candidates = Vec::new();
    if is_container && let Ok(own) = std::fs::metadata("/proc/self") {
        candidates.push(shared_admin_socket(own.uid()));
    }
    candidates.push(data.join("admin.sock"));
    candidates
}

/// The place under /tmp for the hubs of one user.
pub fn shared_admin_socket(uid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/stoa-{uid}/admin.sock"))
}

/// Reads `30s`, `15m`, `24h` or `7d`; `0` is no time at all.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "must be a number followed by s, m, h or d, such as 30m or 7d".to_owned();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86400,
        _ => return Err(wrong()),
    };
    let digits = &text[..text.len() - 1];
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    // A hundred years is enough for anything, and nothing overflows with it.
    Some(Duration::from_secs(count.saturating_mul(seconds)))
        .filter(|duration| duration.as_secs() <= 36_500 * 86_400)
        .ok_or_else(|| "must be at most 36500d".to_owned())
}

/// A range of addresses, like `10.0.0.0/8` or `::1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: u128,
    prefix: u32,
}

impl Network {
    pub fn loopback() -> Vec<Self> {
        ["127.0.0.0/8", "::1"].iter().filter_map(|text| text.parse().ok()).collect()
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        let differing = as_bits(address) ^ self.address;
        self.prefix == 0 || differing >> (128 - self.prefix) == 0
    }
}

/// IPv4 addresses in their mapped form, so that one comparison serves both families.
fn as_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an address or a range such as 10.0.0.0/8");
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u32>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.unwrap_or(width);
        if prefix > width {
            return Err(wrong());
        }
        Ok(Self { address: as_bits(address), prefix: prefix + (128 - width) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, seconds) in [("0", 0), ("30s", 30), ("15m", 900), ("24h", 86400), ("30d", 2_592_000)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "h", "1", "-1h", "+1h", "1.5h", "1w", "99999999999999999999d", "40000d", "1é"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn networks() {
        let contains =
            |network: &str, address: &str| network.parse::<Network>().unwrap().contains(address.parse().unwrap());
        assert!(contains("127.0.0.0/8", "127.3.2.1") && !contains("127.0.0.0/8", "128.0.0.1"));
        assert!(contains("10.1.2.3", "10.1.2.3") && !contains("10.1.2.3", "10.1.2.4"));
        assert!(contains("fd00::/8", "fd12::1") && !contains("fd00::/8", "fe80::1"));
        assert!(contains("127.0.0.0/8", "::ffff:127.0.0.1"));
        assert!(contains("0.0.0.0/0", "8.8.8.8") && !contains("0.0.0.0/0", "2001:db8::1"));
        for text in ["", "x", "10.0.0.0/33", "10.0.0.0/x", "::1/129"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
