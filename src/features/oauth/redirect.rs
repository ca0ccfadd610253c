//! Redirect URIs: which may be registered, which match, and what is sent along.

use url::{Host, Url};

/// The longest that is registered.
pub(super) const MAX_BYTES: usize = 2048;
const LOOPBACK_NAME: &str = "localhost";
const LOOPBACK_ADDRESS: &str = "127.0.0.1";

/// Whether an operator may allow this URI beside those that are allowed anyway: a scheme of a program's own, and none by
/// which a browser would run or read something.
pub fn check_private(uri: &str) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#';
    let url = Url::parse(uri).ok().filter(|_| uri.bytes().all(is_plain));
    let url = url.ok_or("must be an absolute URL without a fragment")?;
    let is_known = ["http", "https", "javascript", "data", "file", "blob", "about", "ftp", "ws", "wss", "vbscript"]
        .contains(&url.scheme());
    if is_known { Err("must have a private scheme such as myapp://".to_owned()) } else { Ok(()) }
}

/// Whether a client may register this URI. `private` are the URIs with schemes of their own that the operator allows.
pub(super) fn check(uri: &str, private: &[String]) -> Result<(), String> {
    if private.iter().any(|allowed| allowed == uri) {
        return Ok(());
    }
    let url = plain_url(uri)?;
    match url.scheme() {
        "https" => Ok(()),
        "http" if loopback_host(&url).is_some() => Ok(()),
        "http" => Err("may use http only for this computer: localhost, 127.0.0.1 or [::1]".to_owned()),
        _ => Err("must start with https://, or with http:// and a loopback host; the operator decides which other \
                  schemes are allowed"
            .to_owned()),
    }
}

/// Whether a client that registered the one may ask to be answered at the other. Programs on a person's computer take
/// whatever port is free, so for them the port does not count.
pub(super) fn matches(registered: &str, requested: &str) -> bool {
    registered == requested || is_same_loopback(registered, requested, false)
}

/// Whether the URI of a token request is the one that the code was sent to.
pub(super) fn is_where_the_code_went(sent_to: &str, stated: &str) -> bool {
    sent_to == stated || is_same_loopback(sent_to, stated, true)
}

fn is_same_loopback(one: &str, other: &str, with_port: bool) -> bool {
    let (Ok(one), Ok(other)) = (plain_url(one), plain_url(other)) else { return false };
    let (Some(host), Some(other_host)) = (loopback_host(&one), loopback_host(&other)) else { return false };
    let is_same = host == other_host && one.path() == other.path() && one.query() == other.query();
    is_same && (!with_port || one.port_or_known_default() == other.port_or_known_default())
}

/// The host of an http URL that can only lead to the person's own computer, by one name for `localhost` and `127.0.0.1`.
fn loopback_host(url: &Url) -> Option<String> {
    if url.scheme() != "http" {
        return None;
    }
    match url.host()? {
        Host::Domain(LOOPBACK_NAME) => Some(LOOPBACK_ADDRESS.to_owned()),
        Host::Ipv4(address) if address.to_string() == LOOPBACK_ADDRESS => Some(LOOPBACK_ADDRESS.to_owned()),
        Host::Ipv6(address) if address.is_loopback() => Some(format!("[{address}]")),
        _ => None,
    }
}

/// Whether it leads to the person's own computer, whatever the scheme.
pub(super) fn is_loopback(uri: &str) -> bool {
    plain_url(uri).is_ok_and(|url| match url.host() {
        Some(Host::Domain(name)) => name == LOOPBACK_NAME || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    })
}

/// A URL in which browsers and we can only see the same thing.
fn plain_url(uri: &str) -> Result<Url, String> {
    let fault = |words: &str| Err(words.to_owned());
    if uri.len() > MAX_BYTES {
        return Err(format!("must be at most {MAX_BYTES} bytes long"));
    }
    if !uri.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        return fault("must be printable ASCII characters without spaces and backslashes");
    }
    if uri.contains('#') {
        return fault("must not have a fragment");
    }
    let Some((scheme, rest)) = uri.split_once("://") else { return fault("must be an absolute URL") };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return fault("must not have a user name or password");
    }
    // `https:///evil.example/`, `http://0x7f.1/` and `http://%6cocalhost/` are read by browsers as hosts that are not
    // written there.
    let host = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(authority, |(host, _)| host);
    match Url::parse(uri) {
        Ok(url)
            if url.scheme() == scheme
                && url.host_str().is_some_and(|read| read.eq_ignore_ascii_case(host))
                && url.host().is_some_and(is_plain_host) =>
        {
            Ok(url)
        }
        _ => fault("must be an absolute URL with a host, written as it is called"),
    }
}

/// Whether a policy can name the host. URLs would allow more, like `*` and `;`, which no host has.
fn is_plain_host(host: Host<&str>) -> bool {
    match host {
        Host::Domain(name) => name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
        Host::Ipv4(_) | Host::Ipv6(_) => true,
    }
}

/// Where the person will be sent, in the form in which they are asked about it.
pub(super) fn shown_host(uri: &str) -> String {
    let host = plain_url(uri).ok().filter(|url| matches!(url.scheme(), "https" | "http")).and_then(|url| {
        let host = url.host_str()?.to_owned();
        Some(match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host,
        })
    });
    host.unwrap_or_else(|| uri.split_once(':').map_or("?", |(scheme, _)| scheme).to_owned() + "://")
}

/// The origin as a content security policy names it. None for what it cannot name: schemes of programs, and IPv6.
pub(super) fn policy_origin(uri: &str) -> Option<String> {
    let url = plain_url(uri).ok().filter(|url| matches!(url.scheme(), "https" | "http"))?;
    if matches!(url.host()?, Host::Ipv6(_)) {
        return None;
    }
    Some(url.origin().ascii_serialization())
}

/// The URI, unchanged, with parameters behind it.
pub(super) fn with_parameters(uri: &str, parameters: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    let joint = match uri.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some((_, query)) if query.ends_with('&') => "",
        Some(_) => "&",
    };
    format!("{uri}{joint}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn allowed() -> Vec<String> {
        vec!["cursor://anysphere.cursor-mcp/oauth/callback".to_owned()]
    }

    #[test]
    fn what_clients_register() {
        for good in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://app.example:8443/cb?tenant=1",
            "https://app.example",
            "https://App.Example/cb",
            "http://localhost/callback",
            "http://127.0.0.1:33418/",
            "http://[::1]:8080/cb",
            "cursor://anysphere.cursor-mcp/oauth/callback",
        ] {
            assert_eq!(check(good, &allowed()), Ok(()), "{good}");
        }
        for bad in [
            "",
            "callback",
            "//evil.example/cb",
            "https:evil.example",
            "https:/evil.example",
            "https://",
            "https:///app.example/cb",
            "https:////app.example/cb",
            "https://app%2eexample/cb",
            "http://%6cocalhost/cb",
            "http://0x7f.1/cb",
            "http://2130706433/cb",
            "http://[0:0:0:0:0:0:0:1]/cb",
            "http://app.example/cb",
            "http://localhost.evil.example/cb",
            "http://127.0.0.1.evil.example/cb",
            "http://127.0.0.1@evil.example/cb",
            "http://localhost:1@evil.example/cb",
            "https://user:password@app.example/cb",
            "https://@app.example/cb",
            "https://*/cb",
            "https://*.app.example/cb",
            "https://app;x.example/cb",
            "https://app,x.example/cb",
            "https://app.example/cb#top",
            "https://app.example/cb#",
            "https://app.example\\@evil.example/",
            "https://app.example/a b",
            "https://app.example/\u{e9}",
            "https://app.example/\r\nX: y",
            "HTTPS://app.example/cb",
            "http://127.0.0.2/cb",
            "http://0.0.0.0/cb",
            "javascript:alert(1)",
            "javascript://app.example/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "cursor://anysphere.cursor-mcp/oauth/callback/more",
            "cursor://evil/oauth/callback",
            "urn:ietf:wg:oauth:2.0:oob",
        ] {
            assert!(check(bad, &allowed()).is_err(), "{bad}");
        }
        assert!(check(&format!("https://app.example/{}", "a".repeat(2048)), &[]).is_err());
    }

    #[test]
    fn what_operators_may_allow() {
        for good in ["cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/oauth", "myapp://cb?x=1"] {
            assert_eq!(check_private(good), Ok(()), "{good}");
        }
        for bad in [
            "foo",
            "",
            "https://a.example/cb",
            "http://intranet/cb",
            "javascript:alert(1)",
            "data:text/html,x",
            "a://b#c",
            "a b://c",
        ] {
            assert!(check_private(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn programs_on_this_computer_take_any_port() {
        for (registered, requested) in [
            ("http://localhost/callback", "http://localhost:4711/callback"),
            ("http://127.0.0.1:33418/", "http://127.0.0.1:33419/"),
            ("http://127.0.0.1:33418", "http://127.0.0.1:33419/"),
            ("http://localhost:8787/callback", "http://127.0.0.1:1/callback"),
            ("http://[::1]/cb", "http://[::1]:9/cb"),
        ] {
            assert!(matches(registered, requested), "{registered} {requested}");
            assert!(!is_where_the_code_went(registered, requested), "{registered} {requested}");
        }
        assert!(is_where_the_code_went("http://localhost:9/cb", "http://127.0.0.1:9/cb"));
        for (registered, requested) in [
            ("http://localhost/callback", "http://localhost/other"),
            ("http://localhost/callback", "http://localhost/callback?x=1"),
            ("http://localhost/callback", "https://localhost/callback"),
            ("http://localhost/callback", "http://[::1]/callback"),
            ("http://localhost/callback", "http://localhost.evil.example/callback"),
            ("http://localhost/callback", "http://localhost@evil.example/callback"),
            ("http://localhost/callback", "http://localhost/callback#x"),
            ("https://app.example/cb", "https://app.example:8443/cb"),
            ("https://app.example/cb", "https://app.example/cb/"),
            ("https://app.example/cb", "https://app.example/cb?x=1"),
            ("https://app.example/cb", "https://APP.example/cb"),
            ("https://app.example/cb", "https://app.example/%63b"),
        ] {
            assert!(!matches(registered, requested), "{registered} {requested}");
        }
    }

    #[test]
    fn what_people_and_browsers_are_told() {
        assert_eq!(shown_host("http://127.0.0.1:33418/"), "127.0.0.1:33418");
        assert_eq!(shown_host("https://claude.ai/cb"), "claude.ai");
        assert_eq!(shown_host("cursor://anysphere.cursor-mcp/oauth/callback"), "cursor://");
        assert_eq!(policy_origin("https://claude.ai/cb").as_deref(), Some("https://claude.ai"));
        assert_eq!(policy_origin("http://localhost:9/cb").as_deref(), Some("http://localhost:9"));
        assert_eq!(policy_origin("http://[::1]:9/cb"), None);
        assert_eq!(policy_origin("cursor://anysphere.cursor-mcp/oauth/callback"), None);
    }

    #[test]
    fn parameters_come_behind_what_is_there() {
        let parameters = [("code", "a b"), ("iss", "http://x")];
        assert_eq!(with_parameters("https://a.example", &parameters), "https://a.example?code=a+b&iss=http%3A%2F%2Fx");
        assert_eq!(with_parameters("https://a.example/?t=1", &[("code", "c")]), "https://a.example/?t=1&code=c");
        assert_eq!(with_parameters("https://a.example/?", &[("code", "c")]), "https://a.example/?code=c");
    }

    proptest! {
        #[test]
        fn nothing_is_too_odd_to_be_judged(uri: String, other: String) {
            let _ = check(&uri, &[]);
            prop_assert_eq!(matches(&uri, &other), matches(&other, &uri));
            let _ = (shown_host(&uri), policy_origin(&uri), is_loopback(&uri));
        }
    }
}
