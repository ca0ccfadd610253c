//! `stoa mcp`: MCP over standard input and output, for clients that cannot call a hub themselves.
//!
//! Nothing is understood here that need not be: a message goes to the hub as it came, and what the hub says goes to the client.
//! The bridge adds what HTTP wants besides (the key, the headers of the protocol's revision), keeps going when the hub
//! restarts, and says in a sentence what is wrong when something is.

mod bridge;
mod event_stream;
mod exchange;
mod fault;
mod headers;
mod lines;
mod message;
mod tools;

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::config::parse_duration;
use axum::http::HeaderValue;
use clap::Args;
use stoa_outbound::{Client, Limits, Network, Parts, Policy, Roots, Url};
use zeroize::Zeroizing;

use super::failure::Failure;
use super::output::Output;
use super::serve::{LogFormat, start_log};
use exchange::Hub;

const KEY: &str = "STOA_MCP_KEY";
const DEFAULT_URL: &str = "http://127.0.0.1:8080/mcp";
/// No key or token is longer.
const MAX_KEY_BYTES: u64 = 16 * 1024;

const MORE: &str = "\
Secrets, from the environment only:
  STOA_MCP_KEY  the agent's key, unless --key-file is used

Example client configuration:
  {\"mcpServers\": {\"stoa\": {
    \"command\": \"stoa\", \"args\": [\"mcp\"],
    \"env\": {\"STOA_MCP_URL\": \"https://hub.example/mcp\", \"STOA_MCP_KEY\": \"<the agent's key>\"}}}}

Messages are JSON-RPC, one per line. Notices for people go to standard error.
Exits on EOF after pending requests finish, or on SIGTERM.

Exit codes:
  0  EOF or SIGTERM
  1  failed
  2  usage error or no key";

#[derive(Args)]
#[command(after_help = MORE)]
pub(super) struct McpArguments {
    /// Address of the hub, with or without /mcp; ?toolsets=core,channels selects tools
    #[arg(long, env = "STOA_MCP_URL", default_value = DEFAULT_URL)]
    url: String,

    /// File with the key, readable only by its owner [default: the key is in STOA_MCP_KEY]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,

    /// How long to retry when the hub does not respond, for example 20s; 0 = never
    #[arg(long, value_name = "TIME", env = "STOA_MCP_RETRY", default_value = "20s", value_parser = parse_duration)]
    retry: Duration,

    /// How much to log: error, warn, info, debug or trace
    #[arg(long, env = "STOA_LOG_LEVEL", default_value = "warn")]
    log_level: String,
}

pub(super) fn run(arguments: McpArguments) -> ExitCode {
    match carry_messages(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            Output::new(false).failure(&failure);
            failure.exit_code()
        }
    }
}

fn carry_messages(arguments: McpArguments) -> Result<(), Failure> {
    start_log(&arguments.log_level, LogFormat::Text).map_err(Failure::Usage)?;
    let policy = policy()?;
    // Settings of clients often have an empty text where nothing was filled in.
    let written = if arguments.url.trim().is_empty() { DEFAULT_URL } else { &arguments.url };
    let url = endpoint(&policy, written)
        .map_err(|fault| Failure::Usage(format!("the address {written} (--url, STOA_MCP_URL): {fault}")))?;
    let key = match &arguments.key_file {
        Some(path) => {
            read_key(path).map_err(|fault| Failure::Usage(format!("the key file {}: {fault}", path.display())))
        }
        None => key_in_environment(),
    }?;
    if !is_private(&url) {
        tracing::warn!("the key is sent to {url} unencrypted; use https");
    }
    if std::io::stdin().is_terminal() {
        tracing::warn!(
            "this is for MCP clients, which start it themselves; type messages of JSON-RPC, one a line, to try it"
        );
    }
    // Reading the certificates of the system takes time that a client without TLS need not spend.
    let roots = if url.scheme() == "https" { Roots::System } else { Roots::Only(Vec::new()) };
    let client = Client::with_parts(policy, Limits::default(), Parts { roots, ..Parts::default() })
        .map_err(|error| Failure::Other(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::Other(error.to_string()))?;
    let outcome = runtime.block_on(bridge::run(|output| Hub::new(client, url.into(), key, arguments.retry, output)));
    // Standard input is read by a thread that nobody can wake.
    runtime.shutdown_background();
    outcome.map_err(Failure::Other)
}

/// Everything may be called: whoever runs this has chosen the address, and could call it with any other program.
fn policy() -> Result<Policy, Failure> {
    let everywhere = ["0.0.0.0/0", "::/0"].iter().map(|network| network.parse::<Network>());
    let allow = everywhere.collect::<Result<_, _>>().map_err(|error| Failure::Other(error.to_string()))?;
    Ok(Policy { allow_http: true, allow, ..Policy::default() })
}

/// Where the hub answers, from its address as people write it.
fn endpoint(policy: &Policy, text: &str) -> Result<Url, String> {
    let mut url = policy.check_url(text.trim()).map_err(|error| error.to_string())?;
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&if path.ends_with("/mcp") { path } else { format!("{path}/mcp") });
    Ok(url)
}

/// Whether nobody on the way can read what is sent.
fn is_private(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    url.scheme() == "https" || host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

// Never an argument: those can be read by every user of the machine.
fn key_in_environment() -> Result<HeaderValue, Failure> {
    let key = Zeroizing::new(std::env::var(KEY).unwrap_or_default());
    if key.trim().is_empty() {
        return Err(Failure::Usage(format!("no key: set {KEY} to the agent's key, or use --key-file")));
    }
    authorization(&key).map_err(|fault| Failure::Usage(format!("{KEY}: {fault}")))
}

fn read_key(path: &Path) -> Result<HeaderValue, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mode = file.metadata().map_err(|error| error.to_string())?.mode();
    if mode & 0o077 != 0 {
        return Err(format!("others may read or write it; run `chmod 600 {}`", path.display()));
    }
    let mut text = Zeroizing::new(String::new());
    file.take(MAX_KEY_BYTES).read_to_string(&mut text).map_err(|error| error.to_string())?;
    authorization(&text)
}

fn authorization(key: &str) -> Result<HeaderValue, String> {
    let key = key.trim();
    if key.contains("${") {
        return Err("the client has not filled in the variable; write the key itself into its settings".to_owned());
    }
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it is not a key: a key is one word of letters, digits and signs".to_owned());
    }
    let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_taken_as_people_write_it() {
        let policy = policy().ok().unwrap();
        for (written, called) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/mcp"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/mcp"),
            (" https://Hub.Example/mcp ", "https://hub.example/mcp"),
            ("https://hub.example/mcp/", "https://hub.example/mcp"),
            ("https://hub.example/team", "https://hub.example/team/mcp"),
            ("https://hub.example/?toolsets=core#top", "https://hub.example/mcp?toolsets=core"),
            ("http://[::1]:8080", "http://[::1]:8080/mcp"),
        ] {
            assert_eq!(endpoint(&policy, written).unwrap().as_str(), called, "{written}");
        }
        for wrong in ["", "127.0.0.1:8080", "localhost:8080", "ftp://hub.example", "https://user:word@hub.example"] {
            assert!(endpoint(&policy, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_this_machine_and_tls_are_private() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/mcp", true),
            ("http://[::1]/mcp", true),
            ("http://localhost/mcp", true),
            ("https://hub.example/mcp", true),
            ("http://hub.example/mcp", false),
            ("http://10.0.0.1/mcp", false),
        ] {
            assert_eq!(is_private(&url.parse().unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn a_key_is_one_word() {
        let value = authorization(" stoa_abc\n").unwrap();
        assert_eq!(value, "Bearer stoa_abc");
        assert!(!format!("{value:?}").contains("abc"));
        for wrong in ["", "two words", "kéy", "a\nb"] {
            assert!(authorization(wrong).is_err(), "{wrong:?}");
        }
    }
}
