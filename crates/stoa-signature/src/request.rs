//! The parts of a request that can be signed.

use std::net::Ipv6Addr;

use http::HeaderMap;
use http::header::HeaderName;

use crate::SignatureError;

pub(crate) static SIGNATURE: HeaderName = HeaderName::from_static("signature");
pub(crate) static SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
pub(crate) static CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");

/// A request as signer and verifier see it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub method: &'a str,
    /// `http` or `https`.
    pub scheme: &'a str,
    /// Host and port of the public address, as [`authority_of`] gives it. A verifier takes it from its configuration and
    /// not from the Host header, so that a request to another host cannot be passed on to it.
    pub authority: &'a str,
    /// As sent: percent-encoded, not decoded.
    pub path: &'a str,
    /// Without the question mark.
    pub query: Option<&'a str>,
    pub headers: &'a HeaderMap,
}

impl Request<'_> {
    /// Whether its method says that there is a body, be it an empty one.
    pub(crate) fn is_about_a_body(&self) -> bool {
        matches!(self.method, "POST" | "PUT" | "PATCH")
    }

    /// Appends the authority in lower case and without the port that its scheme implies anyway.
    pub(crate) fn write_authority(&self, base: &mut String) -> Result<(), SignatureError> {
        let default_port = if self.scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
        write_lower(base, self.authority.strip_suffix(default_port).unwrap_or(self.authority), "host")
    }

    pub(crate) fn write_scheme(&self, base: &mut String) -> Result<(), SignatureError> {
        write_lower(base, self.scheme, "scheme")
    }

    pub(crate) fn write_method(&self, base: &mut String) -> Result<(), SignatureError> {
        write_visible(base, self.method, "method")
    }

    pub(crate) fn write_path(&self, base: &mut String) -> Result<(), SignatureError> {
        write_visible(base, if self.path.is_empty() { "/" } else { self.path }, "path")
    }

    /// Appends the query with its question mark.
    pub(crate) fn write_query(&self, base: &mut String) -> Result<(), SignatureError> {
        base.push('?');
        write_visible(base, self.query.unwrap_or_default(), "query")
    }

    /// Appends path and query as they stand in the first line of a request.
    pub(crate) fn write_target(&self, base: &mut String) -> Result<(), SignatureError> {
        self.write_path(base)?;
        if self.query.is_some() { self.write_query(base) } else { Ok(()) }
    }
}

fn write_lower(base: &mut String, text: &str, what: &str) -> Result<(), SignatureError> {
    let start = base.len();
    write_visible(base, text, what)?;
    if let Some(written) = base.get_mut(start..) {
        written.make_ascii_lowercase();
    }
    Ok(())
}

/// A line break here would let one component pass for two.
fn write_visible(base: &mut String, text: &str, what: &str) -> Result<(), SignatureError> {
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(SignatureError::malformed(format!(
            "The {what} of the request has characters that must be percent-encoded."
        )));
    }
    base.push_str(text);
    Ok(())
}

/// Host and port of an address, in the one form that is signed: lower case, without a port that the scheme implies.
/// None when it is no http or https address, has a user in it, or a host that is not ASCII (use its `xn--` form).
///
/// ```
/// use stoa_signature::authority_of;
/// assert_eq!(authority_of("https://Hub.Example:443").as_deref(), Some("hub.example"));
/// assert_eq!(authority_of("http://[::1]:8080/base").as_deref(), Some("[::1]:8080"));
/// assert_eq!(authority_of("ftp://hub.example"), None);
/// ```
pub fn authority_of(base_url: &str) -> Option<String> {
    let (scheme, rest) = base_url.split_once("://")?;
    let default_port = match scheme {
        _ if scheme.eq_ignore_ascii_case("https") => 443,
        _ if scheme.eq_ignore_ascii_case("http") => 80,
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = if let Some(inside) = authority.strip_prefix('[') {
        let (address, port) = inside.split_once(']')?;
        address.parse::<Ipv6Addr>().ok()?;
        (format!("[{address}]"), if port.is_empty() { "" } else { port.strip_prefix(':')? })
    } else {
        let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        if host.is_empty() || !host.bytes().all(is_name) {
            return None;
        }
        (host.to_owned(), port)
    };
    let host = host.to_ascii_lowercase();
    if port.is_empty() {
        return Some(host);
    }
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match port.parse::<u16>().ok()? {
        0 => None,
        port if port == default_port => Some(host),
        port => Some(format!("{host}:{port}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_have_one_form() {
        for (address, authority) in [
            ("https://hub.example", Some("hub.example")),
            ("HTTPS://HUB.Example:443/x", Some("hub.example")),
            ("https://hub.example:80", Some("hub.example:80")),
            ("http://hub.example:80?x", Some("hub.example")),
            ("http://hub.example:443#x", Some("hub.example:443")),
            ("http://hub.example:", Some("hub.example")),
            ("http://hub.example:08080", Some("hub.example:8080")),
            ("http://127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("http://[2001:DB8::1]", Some("[2001:db8::1]")),
            ("https://[::1]:443", Some("[::1]")),
            ("https://xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("https://bücher.example", None),
            ("https://user@hub.example", None),
            ("https://hub.example:0", None),
            ("https://hub.example:65536", None),
            ("https://hub.example:+1", None),
            ("https://hub.example:1:2", None),
            ("https://[::1", None),
            ("https://[::1]8080", None),
            ("https://[nonsense]", None),
            ("https:///path", None),
            ("https://", None),
            ("hub.example", None),
            ("ftp://hub.example", None),
            ("", None),
        ] {
            assert_eq!(authority_of(address).as_deref(), authority, "{address}");
        }
    }
}
