//! Requests that another site makes a person's browser send.

use serde_json::json;

use crate::support::{PASSWORD, TestHub};

#[tokio::test]
async fn a_foreign_page_can_do_nothing_with_a_session() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let own_host = hub.address.to_string();
    let own_origin = format!("http://{own_host}");
    let site = |value: &'static str| vec![("sec-fetch-site", value.to_owned())];
    let origin = |value: &str| vec![("origin", value.to_owned())];
    let both =
        |site: &'static str, origin: &str| vec![("sec-fetch-site", site.to_owned()), ("origin", origin.to_owned())];
    let cases = [
        (vec![], true),
        (site("same-origin"), true),
        (site("none"), true),
        (site("cross-site"), false),
        (site("same-site"), false),
        (origin(&own_origin), true),
        (origin("https://hub.example"), true),
        (origin("https://HUB.example"), true),
        (origin("https://evil.example"), false),
        (origin("https://hub.example.evil.example"), false),
        (origin("https://evil.example/hub.example"), false),
        (origin("http://127.0.0.1:1"), false),
        (origin("null"), false),
        (origin(""), false),
        (both("cross-site", "https://hub.example"), false),
        (both("same-origin", "https://odd.example"), true),
    ];
    let changes = [("PATCH", "/api/agents/scout"), ("POST", "/api/agents/scout/pause"), ("PUT", "/auth/profile")];
    for (headers, is_own) in &cases {
        let with = |mut call: crate::support::Call| {
            for (name, value) in headers {
                call = call.header(name, value);
            }
            call
        };
        for (method, path) in changes {
            let body = if path == "/auth/profile" { json!({"display_name": "Ada"}) } else { json!({}) };
            let reply = with(ada.call(method, path).json(&body)).await;
            if *is_own {
                reply.ok()
            } else {
                reply.problem(403, "csrf_failed")
            };
            // A key is never sent by a browser on its own.
            let reply = with(scout.call(method, path).json(&body)).await;
            reply.problem(403, "forbidden");
        }
        with(ada.get("/auth/me")).await.ok();
        // Another site must not log a person in as somebody else either.
        let login = json!({"username": "ada", "password": PASSWORD});
        let reply = with(hub.nobody().post("/auth/login", &login)).await;
        if *is_own {
            reply.ok()
        } else {
            reply.problem(403, "csrf_failed")
        };
        let register = json!({"username": "bob", "password": PASSWORD});
        let code = if *is_own { "registration_closed" } else { "csrf_failed" };
        with(hub.nobody().post("/auth/register", &register)).await.problem(403, code);
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_refused_request_does_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let foreign = |method, path| ada.call(method, path).header("sec-fetch-site", "cross-site");
    foreign("POST", "/api/agents").json(&json!({"name": "scout"})).await.problem(403, "csrf_failed");
    foreign("POST", "/auth/logout").await.problem(403, "csrf_failed");
    foreign("DELETE", "/auth/sessions").await.problem(403, "csrf_failed");
    ada.get("/auth/me").await.ok();
    assert!(ada.list("/api/agents").await.is_empty());
    hub.finish().await;
}
