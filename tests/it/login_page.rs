//! The login form, which works without any script.

use crate::support::{Call, PASSWORD, TestHub};

pub(crate) fn form(call: Call, fields: &[(&str, &str)]) -> Call {
    let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
    call.body("application/x-www-form-urlencoded", body.join("&"))
}

#[tokio::test]
async fn the_form_logs_a_person_in_and_sends_them_on() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let page = hub.nobody().get("/login?next=/oauth/authorize%3Fx%3D1").await.status(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self';") && policy.contains("style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe-inline"), "{policy}");
    assert!(!page.text().contains("<script"), "{page:?}");
    assert!(page.text().contains("/oauth/authorize?x=1") || page.text().contains("/oauth/authorize?x&#61;1"));
    assert!(page.text().contains("continue to the app"), "{page:?}");
    let page = hub.nobody().get("/login?next=/oauth/authorizes").await.status(200);
    assert!(!page.text().contains("continue to the app"), "{page:?}");

    let fields = [("username", "ada"), ("password", PASSWORD), ("next", "/oauth/authorize?x=1")];
    let reply = form(hub.nobody().call("POST", "/login"), &fields).await.status(303);
    assert_eq!(reply.header("location"), Some("/oauth/authorize?x=1"));
    hub.nobody().cookie(&reply.cookie()).get("/auth/me").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn the_form_leads_to_no_other_site() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    for next in ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""] {
        let fields = [("username", "ada"), ("password", PASSWORD), ("next", next)];
        let reply = form(hub.nobody().call("POST", "/login"), &fields).await.status(303);
        assert_eq!(reply.header("location"), Some("/"), "{next}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_wrong_password_shows_the_form_again_and_is_throttled() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let guess = [("username", "<b>ada</b>"), ("password", "wrong password")];
    for _ in 0..5 {
        let page = form(hub.nobody().call("POST", "/login"), &guess).await.status(401);
        assert!(page.header("set-cookie").is_none());
        assert!(page.header("content-type").unwrap().starts_with("text/html"));
        assert!(!page.text().contains("<b>ada") && !page.text().contains("wrong password"), "{page:?}");
        assert!(page.text().contains("&#60;b&#62;ada") && page.text().contains("role=\"alert\""), "{page:?}");
    }
    let page = form(hub.nobody().call("POST", "/login"), &guess).await.status(429);
    assert_eq!(page.header("retry-after"), Some("60"));
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    hub.finish().await;
}

#[tokio::test]
async fn a_broken_form_is_refused() {
    let hub = TestHub::start().await;
    let nobody = hub.nobody();
    nobody.call("POST", "/login").body("application/json", "{}").await.problem(415, "unsupported_media_type");
    form(nobody.call("POST", "/login"), &[("username", "ada")]).await.invalid(&["password"]);
    let fields = [("username", "a\0da"), ("password", PASSWORD)];
    form(nobody.call("POST", "/login"), &fields).await.invalid(&[""]);
    let raw = "username=%ff&password=x";
    let reply = nobody.call("POST", "/login").body("application/x-www-form-urlencoded", raw).await;
    reply.problem(400, "malformed_request");
    hub.finish().await;
}

#[tokio::test]
async fn another_site_cannot_log_a_person_in() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let fields = [("username", "ada"), ("password", PASSWORD)];
    let call = || form(hub.nobody().call("POST", "/login"), &fields);
    call().header("sec-fetch-site", "cross-site").await.problem(403, "csrf_failed");
    call().header("origin", "https://evil.example").await.problem(403, "csrf_failed");
    call().header("sec-fetch-site", "same-origin").await.status(303);
    hub.finish().await;
}
