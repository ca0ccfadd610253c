//! The names by which a hub can be called. A page can make its own name lead to loopback, where the hub trusts whoever connects.

use serde_json::json;

use crate::support::{PASSWORD, RegistryFile, TestHub};

/// Something of every surface: reads, writes, pages, preflights, what operators watch, and what does not exist.
const REQUESTS: [(&str, &str); 16] = [
    ("GET", "/"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("POST", "/auth/login"),
    ("GET", "/auth/me"),
    ("GET", "/api/openapi.json"),
    ("POST", "/api/messages"),
    ("POST", "/mcp"),
    ("OPTIONS", "/mcp"),
    ("GET", "/.well-known/oauth-authorization-server"),
    ("OPTIONS", "/oauth/token"),
    ("GET", "/machine/evidence"),
    ("GET", "/no/such/page"),
];
const OWN: [&str; 7] =
    ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "127.8.8.8:80", "[::1]", "[::1]:8080"];
const FOREIGN: [&str; 9] = [
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "hub",
    "10.0.0.1:8080",
    "0.0.0.0",
    "[::2]:80",
    "localhost.",
];

async fn answers(hub: &TestHub, method: &str, path: &str, host: &str) -> bool {
    let reply = hub.nobody().call(method, path).header("host", host).await;
    if reply.code() == 421 {
        reply.problem(421, "misdirected_request");
        return false;
    }
    true
}

#[tokio::test]
async fn a_hub_on_loopback_answers_only_loopback_hosts() {
    let registry = RegistryFile::new();
    let hub = TestHub::setup().registry(&registry).start().await;
    for (method, path) in REQUESTS {
        for host in OWN {
            assert!(answers(&hub, method, path, host).await, "{method} {path} at {host}");
        }
        for host in FOREIGN.into_iter().chain(["hub.example"]) {
            assert!(!answers(&hub, method, path, host).await, "{method} {path} at {host}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_base_url_adds_its_host() {
    let registry = RegistryFile::new();
    let hub = TestHub::setup().registry(&registry).base_url("https://Hub.example").start().await;
    for (method, path) in REQUESTS {
        for host in OWN.into_iter().chain(["hub.example", "HUB.EXAMPLE", "hub.example:443", "hub.example:8080"]) {
            assert!(answers(&hub, method, path, host).await, "{method} {path} at {host}");
        }
        for host in FOREIGN.into_iter().chain(["evil.hub.example", "hub.example.evil.example"]) {
            assert!(!answers(&hub, method, path, host).await, "{method} {path} at {host}");
        }
    }
    hub.finish().await;
}

/// A hub that others can reach does not know all its names, so it answers to any; only `/mcp` refuses names of the public DNS.
#[tokio::test]
async fn a_hub_on_other_addresses_answers_any_host() {
    for setup in [TestHub::setup(), TestHub::setup().base_url("https://hub.example")] {
        let hub = setup.listen("0.0.0.0:0").start().await;
        for (method, path) in REQUESTS.into_iter().filter(|(_, path)| !["/mcp", "/machine/evidence"].contains(path)) {
            for host in OWN.into_iter().chain(FOREIGN) {
                assert!(answers(&hub, method, path, host).await, "{method} {path} at {host}");
            }
        }
        assert!(!answers(&hub, "POST", "/mcp", "evil.example").await);
        assert!(answers(&hub, "POST", "/mcp", "10.0.0.1:8080").await && answers(&hub, "POST", "/mcp", "hub").await);
        hub.finish().await;
    }
}

/// Nothing is done for a foreign host: no password is compared, and no limit is used up.
#[tokio::test]
async fn a_rebound_page_cannot_guess_passwords() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let compared = hub.metric("stoa_bcrypt_verifications_total").await;
    let right = json!({"username": "ada", "password": PASSWORD});
    for number in 0..30 {
        let guess = hub.nobody().post("/auth/login", &right).header("host", "evil.example");
        let guess =
            guess.header("origin", "http://evil.example").header("x-forwarded-for", format!("203.0.113.{number}"));
        let refused = guess.await.problem(421, "misdirected_request");
        assert_eq!(refused.header("set-cookie"), None);
    }
    assert_eq!(hub.metric("stoa_bcrypt_verifications_total").await, compared);
    hub.nobody().post("/auth/login", &right).await.status(200);
    hub.finish().await;
}

/// The host in the request line counts as well; without any, the request is served as before.
#[tokio::test]
async fn both_places_of_the_host_count() {
    let hub = TestHub::start().await;
    let status = async |line: &str, host: &str| {
        let answer = hub.raw(format!("GET {line} HTTP/1.1\r\n{host}connection: close\r\n\r\n").as_bytes()).await;
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(status("/healthz", "host: localhost\r\n").await, "200");
    assert_eq!(status("http://localhost/healthz", "host: localhost\r\n").await, "200");
    assert_eq!(status("http://evil.example/healthz", "host: localhost\r\n").await, "421");
    assert_eq!(status("http://localhost/healthz", "host: evil.example\r\n").await, "421");
    assert_eq!(status("http://evil.example/healthz", "").await, "421");
    assert_eq!(status("/healthz", "host: a b\r\n").await, "400");
    assert_eq!(status("/healthz", "").await, "200");
    hub.finish().await;
}
