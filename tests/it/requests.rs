//! What holds for every request: its id, its headers, and what happens when there is nothing to find.

use serde_json::json;

use crate::support::TestHub;

#[tokio::test]
async fn a_request_keeps_its_id_or_gets_one() {
    let hub = TestHub::start().await;
    let long = "x".repeat(128);
    for given in ["abc", "A.b_c-9", &long] {
        let reply = hub.nobody().get("/api/version").header("x-request-id", given).await.ok();
        assert_eq!(reply.header("x-request-id"), Some(given));
        let refused =
            hub.nobody().get("/api/agents").header("x-request-id", given).await.problem(401, "unauthenticated");
        assert_eq!(refused.json()["request_id"], given);
    }
    let longer = "x".repeat(129);
    for given in ["", "a b", "a/b", "ä", "a\"b", &longer] {
        let reply = hub.nobody().get("/api/version").header("x-request-id", given).await.ok();
        let made = reply.header("x-request-id").unwrap();
        assert!(made.len() == 36 && made != given, "{given} became {made}");
    }
    let ada = hub.human("ada").await;
    ada.post("/api/agents", &json!({"name": "scout"})).header("x-request-id", "traced").await.ok();
    assert_eq!(hub.audit().await[0]["request_id"], "traced");
    hub.finish().await;
}

#[tokio::test]
async fn where_there_is_nothing_there_is_a_problem_document() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for path in ["/api", "/api/", "/auth", "/oauth", "/mcp/nothing", "/machine", "/.well-known"] {
        for end in ["", "/", "/nothing", "/nothing/at/all", "/../x", "/%2e%2e/x"] {
            for client in [&hub.nobody(), &ada.client] {
                client.get(&format!("{path}{end}")).await.problem(404, "not_found");
            }
        }
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        hub.nobody().call(method, "/api/nothing").await.problem(404, "not_found");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for (method, path, allowed) in [
        ("PUT", "/api/agents", &["GET", "HEAD", "POST"][..]),
        ("POST", "/api/agents/scout", &["GET", "HEAD", "PATCH", "DELETE"]),
        ("GET", "/auth/login", &["POST"]),
        ("DELETE", "/api/version", &["GET", "HEAD"]),
        ("OPTIONS", "/api/keys", &["GET", "HEAD", "POST"]),
        ("BREW", "/healthz", &["GET", "HEAD"]),
    ] {
        let reply = ada.call(method, path).await.problem(405, "method_not_allowed");
        let mut allow: Vec<_> = reply.header("allow").unwrap().split(',').map(str::trim).collect();
        let mut allowed = allowed.to_vec();
        allow.sort_unstable();
        allowed.sort_unstable();
        assert_eq!(allow, allowed, "{method} {path}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn every_answer_is_guarded() {
    let plain = TestHub::start().await;
    let secure = TestHub::setup().base_url("https://hub.example/").start().await;
    for (hub, is_secure) in [(&plain, false), (&secure, true)] {
        let ada = hub.human("ada").await;
        let replies = [
            ada.get("/auth/me").await.status(200),
            hub.nobody().get("/auth/me").await.status(401),
            hub.nobody().get("/nothing").await.status(404),
            hub.nobody().call("PUT", "/healthz").await.status(405),
            ada.post("/api/agents", &json!({})).await.status(422),
            hub.nobody().get("/login").await.status(200),
            hub.nobody().get("/metrics").await.status(200),
        ];
        for reply in replies {
            for (name, value) in [
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "same-origin"),
                ("cross-origin-resource-policy", "same-origin"),
                ("cache-control", "no-store"),
            ] {
                assert_eq!(reply.header(name), Some(value), "{name} of {reply:?}");
            }
            // Apps open the login in a window that has to find back to them.
            let opener = if reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
                "unsafe-none"
            } else {
                "same-origin"
            };
            assert_eq!(reply.header("cross-origin-opener-policy"), Some(opener), "{reply:?}");
            let policy = reply.header("content-security-policy").unwrap();
            assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
            assert!(reply.header("permissions-policy").is_some());
            assert_eq!(reply.header("strict-transport-security").is_some(), is_secure, "{reply:?}");
            assert!(reply.header("server").is_none());
            assert!(reply.header("access-control-allow-origin").is_none());
        }
    }
    assert_eq!(secure.inner().base_url(), "https://hub.example");
    plain.finish().await;
    secure.finish().await;
}

#[tokio::test]
async fn a_head_request_gets_the_headers_of_a_get() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    for path in ["/api/version", "/api/agents/scout"] {
        let (head, get) = (ada.call("HEAD", path).await.status(200), ada.get(path).await.status(200));
        assert!(head.body.is_empty());
        for name in ["content-type", "content-length", "etag"] {
            assert_eq!(head.header(name), get.header(name), "{name} of {path}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn requests_that_are_not_http_end_their_connection_only() {
    let hub = TestHub::start().await;
    for bytes in [&b"\x16\x03\x01\x02\x00\x01"[..], b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"\r\n\r\n\0\0\0\0\r\n\r\n"] {
        let answer = hub.raw(bytes).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let huge = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(200 * 1024));
    let answer = hub.raw(huge.as_bytes()).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer:.80}");
    hub.nobody().get("/healthz").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn the_description_is_complete() {
    let hub = TestHub::start().await;
    let document = hub.nobody().get("/api/openapi.json").await.ok().json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["title"], "Stoa");
    // Every reference leads somewhere.
    fn references<'a>(value: &'a serde_json::Value, found: &mut Vec<&'a str>) {
        match value {
            serde_json::Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(|reference| reference.as_str()));
                fields.values().for_each(|value| references(value, found));
            }
            serde_json::Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
    hub.finish().await;
}
