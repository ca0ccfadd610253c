//! URLs that mean something else than they seem to.

use proptest::prelude::*;
use stoa_outbound::{Limits, MAX_URL_BYTES, OutboundError, Policy, Request};

use crate::support::{World, http_policy};

/// Ways to write an address that is not public.
const FORBIDDEN: [&str; 48] = [
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://127.0.1/",
    "http://0x7f.1/",
    "http://0X7F.0x0.0x0.0x1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://00000177.0.0.1/",
    "http://0/",
    "http://0x/",
    "http://0.0.0.0:8080/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://127｡0｡0｡1/",
    "http://%31%32%37.0.0.1/",
    "http://%6c%6f.127.0.0.1.@127.0.0.1/",
    "http://1\u{ad}27.0.0.1/",
    "http://127.0.\t0.1/",
    "http://127.0.\n0.1/",
    "  http://127.0.0.1/  ",
    "\u{0}http://127.0.0.1/",
    "HTTP://127.0.0.1/",
    "http:127.0.0.1",
    "http:/127.0.0.1",
    "http:///127.0.0.1",
    "http:////127.0.0.1",
    "http:\\\\127.0.0.1\\",
    "http://127.0.0.1\\@hooks.example/",
    "http://127.0.0.1#@hooks.example/",
    "http://127.0.0.1?@hooks.example/",
    "http://@127.0.0.1/",
    "http://:@127.0.0.1/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::FFFF:7F00:1]/",
    "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]:8080/",
    "http://169.254.169.254/latest/meta-data/",
];

/// What no host can be read from.
const MALFORMED: [&str; 26] = [
    "",
    "hooks.example",
    "//hooks.example/",
    "/path",
    "http://",
    "http:///",
    "http://:80/",
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://0x7f.0.0.0.1/",
    "http://127.0.0.1.1/",
    "http://example.08/",
    "http://4294967296/",
    "http://[::1/",
    "http://[fe80::1%25eth0]/",
    "http://[::ffff:127.0.0.256]/",
    "http://[v1.x]/",
    "http://hooks.example:65536/",
    "http://hooks.example:0/",
    "http://hooks.example:port/",
    "http://hooks example/",
    "http://hooks%00.example/",
    "http://hooks%2fexample/",
    "http://hooks..example/",
    "http://./",
    "http://-hooks.example/",
];

#[tokio::test]
async fn addresses_are_judged_as_what_they_are() {
    let world = World::new();
    let client = world.http_client();
    for url in FORBIDDEN {
        // A user name before an address is wrong in two ways; which is told does not matter.
        let expected = if url.contains("%6c") { "bad_url" } else { "forbidden_address" };
        assert_eq!(http_policy().check_url(url).unwrap_err().code(), expected, "{url:?}");
        assert_eq!(client.send(Request::get(url)).await.unwrap_err().code(), expected, "{url:?}");
    }
    assert!(world.asked().is_empty());
    assert!(world.connected().is_empty());
}

#[tokio::test]
async fn what_is_no_url_is_refused() {
    let world = World::new();
    let client = world.http_client();
    for url in MALFORMED {
        assert_eq!(http_policy().check_url(url).unwrap_err().code(), "bad_url", "{url:?}");
        assert_eq!(client.send(Request::get(url)).await.unwrap_err().code(), "bad_url", "{url:?}");
    }
    assert!(world.asked().is_empty());
    assert!(world.connected().is_empty());
}

#[test]
fn other_schemes_are_refused() {
    let refused = OutboundError::ForbiddenScheme { allowed: "https://" };
    for url in [
        "http://hooks.example/",
        "ftp://hooks.example/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:25/",
        "ws://hooks.example/",
        "wss://hooks.example/",
        "unix:/run/docker.sock",
        "javascript:alert(1)",
        "data:text/plain,hello",
        "blob:https://hooks.example/",
        "mailto:owner@hooks.example",
        "hooks.example:8080/path",
    ] {
        assert_eq!(Policy::default().check_url(url).unwrap_err(), refused, "{url}");
    }
    assert!(http_policy().check_url("http://hooks.example/").is_ok());
    let refused = http_policy().check_url("ftp://hooks.example/").unwrap_err();
    assert_eq!(refused.to_string(), "The URL must start with https:// or http://.");
}

#[test]
fn names_and_passwords_are_refused() {
    for url in [
        "https://owner@hooks.example/",
        "https://owner:secret@hooks.example/",
        "https://:secret@hooks.example/",
        "https://hooks.example@127.0.0.1/",
        "https://hooks.example%40:x@9.9.9.9/",
        "https://owner@9.9.9.9\\@hooks.example/",
    ] {
        assert_eq!(Policy::default().check_url(url).unwrap_err().code(), "bad_url", "{url}");
    }
}

#[test]
fn a_url_has_a_greatest_length() {
    let begin = "https://hooks.example/";
    let longest = format!("{begin}{}", "a".repeat(MAX_URL_BYTES - begin.len()));
    assert!(Policy::default().check_url(&longest).is_ok());
    let refused = Policy::default().check_url(&format!("{longest}a")).unwrap_err().to_string();
    assert!(refused.contains(&MAX_URL_BYTES.to_string()), "{refused}");
}

/// What is asked of the DNS, connected to and said in `Host` comes from one reading of the URL.
#[tokio::test]
async fn urls_are_called_as_they_are_read() {
    for (url, asked, connected, host, line) in [
        ("http://hooks.example", "hooks.example", "93.184.216.34:80", "hooks.example", "GET / HTTP/1.1"),
        ("http://HOOKS.Example:80/A", "hooks.example", "93.184.216.34:80", "hooks.example", "GET /A HTTP/1.1"),
        ("http://hooks.example:8080/", "hooks.example", "93.184.216.34:8080", "hooks.example:8080", "GET / HTTP/1.1"),
        ("http://hooks.example:443/", "hooks.example", "93.184.216.34:443", "hooks.example:443", "GET / HTTP/1.1"),
        ("http://hooks.example./", "hooks.example.", "93.184.216.34:80", "hooks.example.", "GET / HTTP/1.1"),
        (
            "http://hooks.example\\@127.0.0.1/",
            "hooks.example",
            "93.184.216.34:80",
            "hooks.example",
            "GET /@127.0.0.1/ HTTP/1.1",
        ),
        (
            "http://hooks.example?a=b c#d",
            "hooks.example",
            "93.184.216.34:80",
            "hooks.example",
            "GET /?a=b%20c HTTP/1.1",
        ),
        ("http://hooks.example//x/../y", "hooks.example", "93.184.216.34:80", "hooks.example", "GET //y HTTP/1.1"),
        ("http://hooks.example/\r\nX: y", "hooks.example", "93.184.216.34:80", "hooks.example", "GET /X:%20y HTTP/1.1"),
        (
            "http://bücher.example/ü",
            "xn--bcher-kva.example",
            "93.184.216.34:80",
            "xn--bcher-kva.example",
            "GET /%C3%BC HTTP/1.1",
        ),
        ("http://hooks_1.example/", "hooks_1.example", "93.184.216.34:80", "hooks_1.example", "GET / HTTP/1.1"),
        ("http://0x9.0x9.0x909/", "", "9.9.9.9:80", "9.9.9.9", "GET / HTTP/1.1"),
        ("http://[2606:4700:0::1111]:81/", "", "[2606:4700::1111]:81", "[2606:4700::1111]:81", "GET / HTTP/1.1"),
    ] {
        let world = World::new();
        let answer = world.http_client().send(Request::get(url)).await.unwrap();
        assert_eq!(answer.status, 200, "{url}");
        assert_eq!(world.asked().join(" "), asked, "{url}");
        assert_eq!(world.connected(), [connected], "{url}");
        let heard = world.heard().join("");
        assert_eq!(heard.lines().next().unwrap(), line, "{url}");
        assert_eq!(crate::support::header(&heard, "host"), Some(host), "{url}");
    }
}

proptest! {
    /// Whatever is written: no panic, and only what the resolver said is connected to, or a public literal.
    #[test]
    fn any_text_is_refused_or_called_properly(text in "(http://)?[a-z0-9.:@/\\\\%#?\\[\\]①。ü \\t-]{0,24}") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let world = World::new();
        let client = world.client(http_policy(), Limits::default());
        let sent = runtime.block_on(client.send(Request::get(text.as_str())));
        prop_assert_eq!(sent.is_ok(), http_policy().check_url(&text).is_ok());
        prop_assert_eq!(world.connected().len(), usize::from(sent.is_ok()));
        for address in world.connected() {
            let address: std::net::SocketAddr = address.parse().unwrap();
            prop_assert!(stoa_outbound::is_public(address.ip()));
        }
    }
}
