//! Which pages may call, and by which names the hub may be called.
//!
//! A page of another site cannot be kept from sending requests, and a name of another site can be made to lead here. Both
//! are turned away before anybody is looked up.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::error::HubError;

/// What the hub is called, and what else its operator allows.
pub(super) struct Doors<'a> {
    pub(super) base_url: &'a str,
    /// Whether the operator has said what the hub is called.
    pub(super) is_named: bool,
    pub(super) origins: &'a [String],
}

const CORS: [(HeaderName, &str); 3] = [
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, "WWW-Authenticate, Retry-After, Mcp-Session-Id, MCP-Protocol-Version"),
    (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE, OPTIONS"),
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID",
    ),
];

impl Doors<'_> {
    /// Refuses names that somebody else could have made to lead here: those of the public DNS that are not the hub's own. A hub
    /// on loopback has already refused more than these.
    pub(super) fn check_host(&self, headers: &HeaderMap) -> Result<(), HubError> {
        let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return Ok(()) };
        let name = name_of(host);
        let is_own = name_of(authority(self.base_url)).eq_ignore_ascii_case(name);
        // An address leads where it says, and a name without a dot is of a network that is the operator's.
        let is_harmless = bare(name).parse::<IpAddr>().is_ok() || !name.trim_end_matches('.').contains('.');
        if is_own || is_harmless {
            return Ok(());
        }
        Err(HubError::misdirected(self.is_named))
    }

    /// The page that calls, if it may; none if it is no page.
    pub(super) fn check_origin(&self, headers: &HeaderMap) -> Result<Option<HeaderValue>, HubError> {
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(None) };
        let text = origin.to_str().unwrap_or_default();
        let is_own = text.eq_ignore_ascii_case(self.base_url);
        let is_allowed = self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(text));
        if is_own || is_allowed || (is_loopback(self.base_url) && is_loopback(text)) {
            return Ok(Some(origin.clone()));
        }
        Err(HubError::forbidden("forbidden", "This origin is not allowed.")
            .hint("The operator can allow it with STOA_MCP_ORIGINS."))
    }
}

/// Lets the page read the answer.
pub(super) fn allow(origin: &HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    for (name, value) in CORS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    }
}

fn bare(name: &str) -> &str {
    name.trim_start_matches('[').trim_end_matches(']')
}

fn is_loopback(origin: &str) -> bool {
    let name = name_of(authority(origin));
    name.eq_ignore_ascii_case("localhost") || bare(name).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn names_that_lead_here() {
        let hub = Doors { base_url: "https://hub.example", is_named: true, origins: &[] };
        let may = |host: &str| hub.check_host(&headers(header::HOST, host)).is_ok();
        assert!(
            ["hub.example", "HUB.example:443", "127.0.0.1:8080", "[::1]:8080", "localhost", "stoa:8080"]
                .into_iter()
                .all(may)
        );
        assert!(!["evil.example", "hub.example.evil.example", "localhost.evil.example:8080"].into_iter().any(may));
    }

    #[test]
    fn pages_that_may_call() {
        let origins = ["https://app.example".to_owned()];
        let named = Doors { base_url: "https://hub.example", is_named: true, origins: &origins };
        let local = Doors { base_url: "http://127.0.0.1:8080", is_named: false, origins: &[] };
        let may = |doors: &Doors<'_>, origin: &str| doors.check_origin(&headers(header::ORIGIN, origin)).is_ok();
        assert!(may(&named, "https://hub.example") && may(&named, "https://app.example"));
        assert!(may(&local, "http://localhost:6274") && may(&local, "http://127.0.0.1:8080"));
        for origin in [
            "https://evil.example",
            "null",
            "http://hub.example",
            "https://hub.example.evil.example",
            "http://localhost:6274",
        ] {
            assert!(!may(&named, origin), "{origin}");
        }
        assert!(!may(&local, "https://evil.example") && !may(&local, "http://localhost.evil.example"));
    }
}
