//! Whose address a request comes from, as far as it can be told, and which of ours it went to.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::{HeaderMap, header};

use crate::config::Network;
use crate::error::HubError;
use crate::hub::Hub;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// What the auth log calls `remote_ip`: the first address of `X-Forwarded-For` when there is one.
/// Anybody can write that header, so nothing but the log goes by it.
pub(super) fn remote_ip(headers: &HeaderMap, peer: Option<IpAddr>) -> Option<String> {
    forwarded(headers).next().flatten().or(peer).map(|address| address.to_string())
}

/// The address that throttling goes by: read from the right, trusting only proxies we know.
pub(super) fn client_ip(headers: &HeaderMap, peer: Option<IpAddr>, trusted: &[Network]) -> Option<IpAddr> {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut client = peer?;
    let hops: Vec<Option<IpAddr>> = forwarded(headers).collect();
    for hop in hops.into_iter().rev() {
        if !is_trusted(client) {
            break;
        }
        match hop {
            Some(address) => client = address,
            // What a proxy cannot have written ends what can be believed.
            None => break,
        }
    }
    Some(client)
}

/// The public address as this caller should write it. Where none is configured, a caller on this
/// machine keeps the name they used: `localhost` and `127.0.0.1` both work.
pub(super) fn base_url(hub: &Hub, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).filter(|host| is_loopback(host));
    match host {
        Some(host) if hub.config().base_url.is_none() => format!("http://{}", host.to_ascii_lowercase()),
        _ => hub.base_url().to_owned(),
    }
}

/// Refuses requests to other names than the hub's, if only this machine can reach the hub. A page can make its own name lead to
/// loopback, and its requests would then count as those of this machine, which limits trust.
pub(super) fn check_host(hub: &Hub, host: &str) -> Result<(), HubError> {
    let base_url = hub.config().base_url.as_ref().map(|_| hub.base_url());
    if !hub.is_on_loopback() || is_own_host(host, base_url) {
        return Ok(());
    }
    Err(HubError::misdirected(base_url.is_some()))
}

/// Whether a host is a loopback one or that of the base URL, on any port.
fn is_own_host(host: &str, base_url: Option<&str>) -> bool {
    let authority = base_url.and_then(|base_url| base_url.split_once("://")).map(|(_, authority)| authority);
    let names = authority.and_then(split_host).zip(split_host(host));
    is_loopback(host) || names.is_some_and(|((own, _), (name, _))| own.eq_ignore_ascii_case(name))
}

/// Whether a Host header names a host, and perhaps a port, as they are written.
pub(super) fn is_host(host: &str) -> bool {
    let Some((name, _)) = split_host(host) else { return false };
    match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        None => name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)),
    }
}

/// The name and the port of a host, if the port is one.
fn split_host(host: &str) -> Option<(&str, Option<u16>)> {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            let port = port.parse().ok().filter(|port| is_number && *port != 0)?;
            Some((name, Some(port)))
        }
        _ => Some((host, None)),
    }
}

fn is_loopback(host: &str) -> bool {
    let Some((name, _)) = split_host(host).filter(|_| is_host(host)) else { return false };
    name.eq_ignore_ascii_case("localhost") || parse(name).is_some_and(|address| address.is_loopback())
}

fn forwarded(headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
    headers
        .get_all(FORWARDED_FOR)
        .iter()
        .flat_map(|value| value.to_str().unwrap_or("").split(','))
        .map(|entry| parse(entry.trim()))
}

/// An address, perhaps with a port.
fn parse(entry: &str) -> Option<IpAddr> {
    let bare = entry.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| entry.parse::<std::net::SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(forwarded: &str) -> HeaderMap {
        HeaderMap::from_iter([("x-forwarded-for".parse().unwrap(), forwarded.parse().unwrap())])
    }

    #[test]
    fn the_log_takes_the_first_entry() {
        let peer = Some("127.0.0.1".parse().unwrap());
        assert_eq!(remote_ip(&headers("203.0.113.9, 10.0.0.1"), peer).as_deref(), Some("203.0.113.9"));
        assert_eq!(remote_ip(&headers("[2001:db8::1]:443"), peer).as_deref(), Some("2001:db8::1"));
        assert_eq!(remote_ip(&headers("<script>"), peer).as_deref(), Some("127.0.0.1"));
        assert_eq!(remote_ip(&HeaderMap::new(), peer).as_deref(), Some("127.0.0.1"));
    }

    #[test]
    fn hosts() {
        for host in ["localhost", "hub.example:8080", "127.0.0.1", "[::1]:80", "my_hub", "HUB.example"] {
            assert!(is_host(host), "{host}");
        }
        for host in
            ["a b", "a/b", "a:b", "a:0", "a:99999", "a:", "a:+1", "[127.0.0.1]", "127.0.0.1]", "[[::1]]", "::1:80"]
        {
            assert!(!is_host(host), "{host}");
        }
    }

    #[test]
    fn loopback_names() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]:8080", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "hub.example",
            "localhost.evil.example",
            "localhost:80/x",
            "10.0.0.1:80",
            "127.0.0.1:x",
            "[::2]",
            "127.0.0.1:80:90",
            "[[::1]]",
            "127.0.0.1]",
            "localhost:",
            "localhost:99999",
            "::1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn hosts_of_a_hub_on_loopback() {
        let (none, named, ported) = (None, Some("https://hub.example"), Some("http://Hub.example:8080"));
        for host in ["localhost", "localhost:1", "127.0.0.1", "127.0.0.2:8080", "[::1]", "[::1]:8080"] {
            assert!([none, named, ported].into_iter().all(|base_url| is_own_host(host, base_url)), "{host}");
        }
        for host in ["hub.example", "HUB.EXAMPLE", "hub.example:443", "hub.example:9999"] {
            assert!(!is_own_host(host, none), "{host}");
            assert!(is_own_host(host, named) && is_own_host(host, ported), "{host}");
        }
        for host in [
            "evil.example",
            "hub.example.evil.example",
            "evil.hub.example",
            "hub.example.",
            "localhost.",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "0.0.0.0",
            "[::]",
            "[::2]:80",
            "hub",
            "",
        ] {
            assert!(![none, named, ported].into_iter().any(|base_url| is_own_host(host, base_url)), "{host}");
        }
        assert!(is_own_host("[2001:db8::1]:80", Some("http://[2001:db8::1]")));
    }

    #[test]
    fn throttling_believes_only_trusted_proxies() {
        let trusted = ["127.0.0.0/8".parse().unwrap(), "10.0.0.0/8".parse().unwrap()];
        let client = |forwarded: &str, peer: &str| {
            client_ip(&headers(forwarded), Some(peer.parse().unwrap()), &trusted).unwrap().to_string()
        };
        assert_eq!(client("203.0.113.9, 10.0.0.1", "127.0.0.1"), "203.0.113.9");
        // A stranger may write what they like: their own address counts.
        assert_eq!(client("1.2.3.4", "198.51.100.7"), "198.51.100.7");
        assert_eq!(client("6.6.6.6, 203.0.113.9, 10.0.0.1", "127.0.0.1"), "203.0.113.9");
        assert_eq!(client("203.0.113.9, garbage", "127.0.0.1"), "127.0.0.1");
    }
}
