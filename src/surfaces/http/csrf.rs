//! Refusing requests that another site makes a person's browser send.

use axum::http::{HeaderMap, HeaderValue, Method, header};

use crate::error::HubError;

/// Calls that make a session instead of using one. Another site must not be able to log a person
/// in as somebody else.
const SESSION_MAKERS: [&str; 3] = ["/auth/login", "/auth/register", "/login"];
/// The same, below this path.
pub(super) const INVITATIONS: &str = "/join/";

pub(super) fn check(method: &Method, path: &str, headers: &HeaderMap, base_url: &str) -> Result<(), HubError> {
    // A browser never adds a key by itself (a Basic password it does), so whoever sent it meant to.
    let is_bearer =
        |value: &HeaderValue| value.as_bytes().get(..7).is_some_and(|start| start.eq_ignore_ascii_case(b"bearer "));
    let has_bearer = headers.get(header::AUTHORIZATION).is_some_and(is_bearer);
    let uses_session =
        headers.contains_key(header::COOKIE) || SESSION_MAKERS.contains(&path) || path.starts_with(INVITATIONS);
    if method.is_safe() || has_bearer || !uses_session {
        return Ok(());
    }
    let is_foreign = match headers.get("sec-fetch-site") {
        Some(site) => site == "cross-site" || site == "same-site",
        // The page of an invitation tells nobody its address, so its forms come without an origin. Who could send one from elsewhere has an
        // invitation, and it makes an account for nobody but them.
        None if path.starts_with(INVITATIONS) && headers.get(header::ORIGIN).is_some_and(|origin| origin == "null") => {
            false
        }
        None => headers.get(header::ORIGIN).is_some_and(|origin| {
            let origin = origin.to_str().ok().and_then(authority);
            let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
            !origin.is_some_and(|origin| {
                [host, authority(base_url)].iter().flatten().any(|own| own.eq_ignore_ascii_case(origin))
            })
        }),
    };
    if is_foreign {
        return Err(HubError::forbidden("csrf_failed", "Cross-site requests cannot use your session.")
            .hint("Use an API key in the Authorization header instead of a cookie."));
    }
    Ok(())
}

/// `host:port` of an origin or base URL.
fn authority(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split('/').next().filter(|authority| !authority.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(method: Method, path: &str, pairs: &[(&str, &str)]) -> bool {
        let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        check(&method, path, &headers, "https://hub.example").is_ok()
    }

    #[test]
    fn foreign_pages_are_refused() {
        let cookie = ("cookie", "stoa_session=x");
        let host = ("host", "127.0.0.1:8080");
        let write = |pairs: &[(&str, &str)]| verdict(Method::POST, "/api/agents", pairs);
        for site in ["cross-site", "same-site"] {
            assert!(!write(&[cookie, ("sec-fetch-site", site)]));
            assert!(!verdict(Method::POST, "/auth/login", &[("sec-fetch-site", site)]));
            // A read changes nothing, a key is meant, and without a cookie there is nothing to steal.
            assert!(verdict(Method::GET, "/api/agents", &[cookie, ("sec-fetch-site", site)]));
            assert!(write(&[cookie, ("sec-fetch-site", site), ("authorization", "Bearer x")]));
            assert!(write(&[("sec-fetch-site", site)]));
        }
        for origin in ["https://evil.example", "null", "http://127.0.0.1:9999", "https://hub.example.evil.example"] {
            assert!(!write(&[cookie, host, ("origin", origin)]), "{origin}");
        }
        for origin in ["http://127.0.0.1:8080", "https://hub.example", "https://HUB.example"] {
            assert!(write(&[cookie, host, ("origin", origin)]), "{origin}");
        }
        assert!(write(&[cookie, ("sec-fetch-site", "same-origin"), ("origin", "https://odd.example")]));
        assert!(write(&[cookie]));
    }
}
