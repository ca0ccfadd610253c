//! What the environment says to a hub, looked at before it is believed.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use clap::{Args, Command};
use stoa_model::handles;

use super::serve::ServeArguments;

const PREFIX: &str = "STOA_";
/// Those that are not options of `stoa serve`: secrets, and what other commands and a page under development read.
const OTHERS: &[&str] =
    &["STOA_KEY", "STOA_METRICS_TOKEN", "STOA_DEV_WEB", "STOA_MCP_KEY", "STOA_MCP_RETRY", "STOA_MCP_URL"];

/// Warns of variables that nobody reads: a typo would otherwise change nothing, in silence.
pub(super) fn warn_of_unknown() {
    let known = known();
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in set.filter(|name| is_unknown(name, &known)) {
        match nearest(&name, &known) {
            Some(nearest) => tracing::warn!("unknown variable {name}; did you mean {nearest}?"),
            None => tracing::warn!("unknown variable {name}"),
        }
    }
}

/// The known name that was probably meant. What all of them begin with makes none of them likelier.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let known = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
    let nearest = handles::nearest(name.strip_prefix(PREFIX)?, known);
    nearest.first().map(|nearest| format!("{PREFIX}{nearest}"))
}

fn is_unknown(name: &str, known: &[String]) -> bool {
    name.starts_with(PREFIX) && !known.iter().any(|known| known == name)
}

fn known() -> Vec<String> {
    let command = ServeArguments::augment_args(Command::new("serve"));
    let options = command.get_arguments().filter_map(|option| Some(option.get_env()?.to_str()?.to_owned()));
    options.chain(OTHERS.iter().map(|name| (*name).to_owned())).collect()
}

/// Warns if others on this machine can change what is in the data folder: who can put a file there can become anybody.
pub(super) fn warn_of_open_folder(data: &Path) {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let Ok(found) = std::fs::metadata(data) else { return };
    if found.is_dir() && found.mode() & WRITABLE_BY_OTHERS != 0 {
        let folder = data.display();
        tracing::warn!("other users can write to the data folder {folder}; fix this with chmod go-w");
    }
}

/// A switch: on or off, in the words that people use for it.
pub(super) fn parse_switch(text: &str) -> Result<bool, String> {
    match text.trim() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "" | "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("it is 1 or 0".to_owned()),
    }
}

/// An origin as browsers send it: a scheme, a host, and a port if it is not the usual one.
pub(super) fn check_origin(text: &str) -> Result<String, String> {
    let wrong = || format!("--mcp-origins {text}: use an origin such as https://app.example or http://localhost:3000");
    let (scheme, authority) = text.split_once("://").ok_or_else(wrong)?;
    let is_authority = |authority: &str| {
        let parsed = authority.parse::<axum::http::uri::Authority>();
        parsed.is_ok_and(|parsed| !parsed.host().is_empty() && !authority.contains('@'))
    };
    let usual_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return Err(wrong()),
    };
    if !is_authority(authority) {
        return Err(wrong());
    }
    // Browsers leave the usual port out, and write hosts in small letters.
    Ok(format!("{scheme}://{}", authority.strip_suffix(usual_port).unwrap_or(authority).to_ascii_lowercase()))
}

/// A token that a client can send as a bearer token.
pub(super) fn check_metrics_token(token: &str) -> Result<(), String> {
    let is_sendable = token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_sendable && token.len() >= 8 {
        return Ok(());
    }
    Err("STOA_METRICS_TOKEN must be 8 printable ASCII characters or more, without spaces".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins() {
        for good in ["https://app.example", "http://localhost:3000", "https://[::1]:8443", "http://a.example:443"] {
            assert_eq!(check_origin(good).as_deref(), Ok(good));
        }
        assert_eq!(check_origin("https://App.example:443").as_deref(), Ok("https://app.example"));
        assert_eq!(check_origin("http://[::1]:80").as_deref(), Ok("http://[::1]"));
        for bad in [
            "*",
            "null",
            "app.example",
            "https://",
            "https://app.example/",
            "https://a b",
            "ftp://app.example",
            "https://u@a.example",
        ] {
            assert!(check_origin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tokens() {
        assert!(check_metrics_token("a-long-token").is_ok());
        for bad in ["", "short", "with a space", "n\u{e4}chster-halt", "tab\tinside-it"] {
            assert!(check_metrics_token(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_option_is_known() {
        let known = known();
        for name in ["STOA_LISTEN", "STOA_CACHE", "STOA_KEY", "STOA_MCP_ORIGINS", "STOA_UPLOAD_QUOTA"] {
            assert!(!is_unknown(name, &known), "{name}");
        }
        assert!(is_unknown("STOA_LISTN", &known) && !is_unknown("HOME", &known));
        assert_eq!(nearest("STOA_LISTN", &known).as_deref(), Some("STOA_LISTEN"));
        assert_eq!(nearest("STOA_BODYMEMORY", &known).as_deref(), Some("STOA_BODY_MEMORY"));
        for far in ["STOA_FOO", "STOA_URL", "STOA_"] {
            assert_eq!(nearest(far, &known), None, "{far}");
        }
    }
}
