//! Logging in and out, and the sessions in between.

use serde_json::json;

use crate::support::{DAY, Human, MINUTE, PASSWORD, TestHub};
use crate::walk::{Row, admin, public, session, session_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        public("POST /auth/login", 200).body(json!({"username": "stranger", "password": PASSWORD})),
        session("POST /auth/logout"),
        session("GET /auth/me"),
        session("PUT /auth/password").body(json!({"current_password": PASSWORD, "new_password": PASSWORD})),
        session("PUT /auth/profile").body(json!({"display_name": "Another name"})),
        session("GET /auth/sessions"),
        session("DELETE /auth/sessions"),
        session_thing("DELETE /auth/sessions/{id}"),
        admin("GET /api/admin/users"),
    ]
}

#[tokio::test]
async fn a_person_logs_in_looks_and_logs_out() {
    let hub = TestHub::start().await;
    let ada = hub.human("Ada").await;
    ada.agent("scout").await;
    let me = ada.get("/auth/me").await.status(200).json();
    assert_eq!(me["user"]["username"], "Ada");
    assert_eq!(me["user"]["display_name"], "Ada");
    assert_eq!(me["user"]["role"], "member");
    assert_eq!(me["user"]["created_at"], "2027-01-15T08:00:00.000Z");
    assert!(me["user"]["disabled_at"].is_null());
    assert_eq!(me["agents"][0]["name"], "scout");
    assert!(!me.to_string().contains("password"));

    let gone = ada.call("POST", "/auth/logout").await.status(204);
    assert!(gone.header("set-cookie").unwrap().starts_with("stoa_session=; Path=/; Max-Age=0"), "{gone:?}");
    // Drafts of the page end with the session.
    assert_eq!(gone.header("clear-site-data"), Some(r#""cache", "storage""#));
    ada.get("/auth/me").await.problem(401, "session_expired");
    hub.finish().await;
}

#[tokio::test]
async fn names_are_found_whatever_their_case() {
    let hub = TestHub::start().await;
    hub.human("Ada").await;
    let login = hub.nobody().post("/auth/login", &json!({"username": "aDA", "password": PASSWORD})).await.ok();
    assert_eq!(login.json()["user"]["username"], "Ada");
    hub.finish().await;
}

#[tokio::test]
async fn the_cookie_is_as_strict_as_the_base_url_allows() {
    let credentials = json!({"username": "ada", "password": PASSWORD});
    for (base_url, name, end) in [
        ("http://hub.example", "stoa_session", "; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax"),
        ("https://hub.example", "__Host-stoa_session", "; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax; Secure"),
    ] {
        let hub = TestHub::setup().base_url(base_url).start().await;
        hub.human("ada").await;
        let reply = hub.nobody().post("/auth/login", &credentials).await.ok();
        let cookie = reply.header("set-cookie").unwrap();
        let (key, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
        assert_eq!(key, name);
        assert!(value.len() >= 43, "{cookie}");
        assert!(cookie.ends_with(end), "{cookie}");
        hub.nobody().cookie(&format!("{key}={value}")).get("/auth/me").await.ok();
        // The name of the other kind is no credential here.
        let other = if name == "stoa_session" { "__Host-stoa_session" } else { "stoa_session" };
        hub.nobody().cookie(&format!("{other}={value}")).get("/auth/me").await.problem(401, "unauthenticated");
        hub.finish().await;
    }
}

#[tokio::test]
async fn a_session_is_found_among_other_cookies() {
    let hub = TestHub::start().await;
    let login = json!({"username": "ada", "password": PASSWORD});
    hub.human("ada").await;
    let cookie = hub.nobody().post("/auth/login", &login).await.cookie();
    hub.nobody().cookie(&format!("a=1; {cookie}; b=2")).get("/auth/me").await.ok();
    for wrong in ["stoa_session=", "stoa_session", "xstoa_session=abc"] {
        hub.nobody().cookie(wrong).get("/auth/me").await.problem(401, "unauthenticated");
    }
    hub.nobody().cookie("stoa_session=abc").get("/auth/me").await.problem(401, "session_expired");
    hub.finish().await;
}

#[tokio::test]
async fn a_profile_can_be_changed() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let reply = ada.put("/auth/profile", &json!({"display_name": "Ada Lovelace"})).await.ok().json();
    assert_eq!(reply["user"]["display_name"], "Ada Lovelace");
    assert_eq!(ada.get("/auth/me").await.json()["user"]["display_name"], "Ada Lovelace");
    for bad in ["", " Ada", "a\nb", "a\u{202e}b", &"x".repeat(101)] {
        ada.put("/auth/profile", &json!({"display_name": bad})).await.invalid(&["display_name"]);
    }
    ada.put("/auth/profile", &json!({"display_name": "x", "role": "admin"})).await.invalid(&["role"]);
    assert_eq!(ada.get("/auth/me").await.json()["user"]["display_name"], "Ada Lovelace");
    hub.finish().await;
}

#[tokio::test]
async fn a_new_password_ends_all_other_sessions() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let elsewhere = ada.again().await;
    let request = json!({"current_password": PASSWORD, "new_password": "another password"});
    let reply = ada.put("/auth/password", &request).await.status(200);
    let renewed = ada.cookie(&reply.cookie());
    for old in [&ada, &elsewhere] {
        old.get("/auth/me").await.problem(401, "session_expired");
    }
    let sessions = renewed.get("/auth/sessions").await.ok().json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1);
    let old = json!({"username": "ada", "password": PASSWORD});
    hub.nobody().post("/auth/login", &old).await.problem(401, "invalid_credentials");
    Human::log_in(&hub.nobody(), "ada", "another password").await;
    assert_eq!(hub.audit().await[0]["action"], "user.password_changed");
    hub.finish().await;
}

#[tokio::test]
async fn a_password_change_is_refused_without_the_current_one_or_with_a_bad_new_one() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let change = |current: &str, new: &str| json!({"current_password": current, "new_password": new});
    ada.put("/auth/password", &change("wrong password", "another password")).await.problem(403, "invalid_credentials");
    for bad in ["", "1234567", &"x".repeat(73), &"é".repeat(37)] {
        ada.put("/auth/password", &change(PASSWORD, bad)).await.invalid(&["new_password"]);
    }
    ada.get("/auth/me").await.ok();
    hub.log_in("ada").await;
    let longest = "x".repeat(72);
    ada.put("/auth/password", &change(PASSWORD, &longest)).await.ok();
    Human::log_in(&hub.nobody(), "ada", &longest).await;
    hub.finish().await;
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let other = ada.again().await;
    let list = ada.get("/auth/sessions").await.ok().json();
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    assert_eq!(items.iter().filter(|session| session["current"] == true).count(), 1);
    assert!(items[0]["id"].as_i64() > items[1]["id"].as_i64(), "newest first");
    assert_eq!(items[1]["current"], true);
    assert_eq!(items[0]["expires_at"], "2027-01-16T08:00:00.000Z");
    assert_eq!(items[0]["remote_ip"], "127.0.0.1");
    assert!(!list.to_string().contains("token"));

    let path = format!("/auth/sessions/{}", items[0]["id"]);
    ada.delete(&path).await.status(204);
    other.get("/auth/me").await.problem(401, "session_expired");
    ada.get("/auth/me").await.ok();
    ada.delete(&path).await.problem(404, "not_found");
    ada.delete("/auth/sessions/abc").await.problem(404, "not_found");

    let third = ada.again().await;
    let ended = third.delete("/auth/sessions").await.status(200);
    assert_eq!(ended.json()["ended"], 2);
    assert!(ended.cookie().ends_with('='));
    ada.get("/auth/me").await.problem(401, "session_expired");
    third.get("/auth/me").await.problem(401, "session_expired");
    hub.finish().await;
}

#[tokio::test]
async fn a_session_remembers_where_it_was_begun() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let login = hub.nobody().post("/auth/login", &json!({"username": "ada", "password": PASSWORD}));
    login.header("x-forwarded-for", "203.0.113.9").header("user-agent", "x".repeat(500)).await.ok();
    let newest = ada.get("/auth/sessions").await.json()["items"][0].clone();
    assert_eq!(newest["remote_ip"], "203.0.113.9");
    assert_eq!(newest["user_agent"], "x".repeat(200));
    hub.finish().await;
}

#[tokio::test]
async fn a_session_ends_by_itself_and_is_cleaned_up() {
    let hub = TestHub::setup().session_lifetime(30 * MINUTE).start().await;
    let ada = hub.human("ada").await;
    hub.advance(29 * MINUTE);
    ada.get("/auth/me").await.ok();
    hub.advance(MINUTE);
    ada.get("/auth/me").await.problem(401, "session_expired");
    // Housekeeping that is at it just now would come again only after a while.
    hub.settle().await;
    hub.advance(DAY);
    hub.settle().await;
    assert_eq!(hub.count("select count(*) as n from sessions").await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn the_last_use_of_a_session_is_noted() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    hub.advance(5 * MINUTE);
    ada.get("/auth/me").await.ok();
    let session = ada.get("/auth/sessions").await.json()["items"][0].clone();
    assert_eq!(session["last_seen_at"], "2027-01-15T08:05:00.000Z");
    let card = ada.get("/api/directory?q=ada").await.json()["items"][0].clone();
    assert_eq!(card["last_seen_at"], "2027-01-15T08:05:00.000Z");
    hub.finish().await;
}

#[tokio::test]
async fn a_disabled_user_is_shut_out_with_all_their_agents() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, key) = ada.key("scout", json!(["*"])).await;
    let managed = hub.nobody().bearer(&key);
    for client in [&ada.client, &scout.client, &managed] {
        client.get("/api/agents").await.ok();
    }
    let user = hub.operator().call("users.disable", json!({"username": "ADA"})).await;
    assert_eq!(user["disabled_at"], "2027-01-15T08:00:00.000Z");
    ada.get("/api/agents").await.problem(401, "session_expired");
    for client in [&scout.client, &managed] {
        client.get("/api/agents").await.problem(401, "invalid_credentials");
    }
    let login = json!({"username": "ada", "password": PASSWORD});
    hub.nobody().post("/auth/login", &login).await.problem(401, "invalid_credentials");

    hub.operator().call("users.enable", json!({"username": "ada"})).await;
    ada.get("/api/agents").await.problem(401, "session_expired");
    hub.log_in("ada").await;
    for client in [&scout.client, &managed] {
        client.get("/api/agents").await.ok();
    }
    hub.finish().await;
}

#[tokio::test]
async fn the_operator_ends_sessions_and_sets_passwords() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let operator = hub.operator();
    assert_eq!(operator.call("users.end_sessions", json!({"username": "ada"})).await["ended"], 1);
    ada.get("/auth/me").await.problem(401, "session_expired");
    let ada = ada.again().await;
    operator.call("users.passwd", json!({"username": "ada", "password": "set by operator"})).await;
    ada.get("/auth/me").await.problem(401, "session_expired");
    Human::log_in(&hub.nobody(), "ada", "set by operator").await;
    let short = json!({"username": "ada", "password": "short"});
    assert_eq!(operator.try_call("users.passwd", &short).await, Err("validation_failed".to_owned()));
    hub.finish().await;
}

#[tokio::test]
async fn a_role_counts_from_the_next_request_on_and_one_admin_always_stays() {
    let hub = TestHub::start().await;
    let (ada, admin) = (hub.human("ada").await, hub.admin().await);
    let operator = hub.operator();
    ada.get("/api/admin/users").await.problem(403, "admin_required");
    for (method, params) in [
        ("users.role", json!({"username": "admin", "role": "member"})),
        ("users.disable", json!({"username": "admin"})),
    ] {
        assert_eq!(operator.try_call(method, &params).await, Err("last_admin".to_owned()), "{method}");
    }
    operator.call("users.role", json!({"username": "ada", "role": "admin"})).await;
    let users = ada.list("/api/admin/users").await;
    assert_eq!(users.iter().map(|user| user["username"].as_str().unwrap()).collect::<Vec<_>>(), ["admin", "ada"]);
    operator.call("users.role", json!({"username": "admin", "role": "member"})).await;
    admin.get("/api/admin/users").await.problem(403, "admin_required");
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_of_an_admin_is_no_admin() {
    let hub = TestHub::start().await;
    let scout = hub.admin().await.agent("scout").await;
    for path in ["/api/admin/users", "/api/admin/audit", "/api/admin/system"] {
        scout.get(path).await.problem(403, "admin_required");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_bearer_credential_goes_before_a_cookie() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let both = ada.get("/auth/me").header("authorization", format!("Bearer {}", scout.key)).await;
    both.problem(403, "forbidden");
    ada.get("/auth/me").header("authorization", "Bearer nonsense").await.problem(401, "invalid_credentials");
    ada.get("/auth/me").header("authorization", "Basic YTpi").await.problem(401, "invalid_credentials");
    hub.finish().await;
}

/// The cache of credentials remembers at which door each of them was let in.
#[tokio::test]
async fn a_key_in_a_cookie_is_no_session_even_after_it_was_used() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, managed) = ada.key("scout", json!(["*"])).await;
    for key in [scout.key.as_str(), managed.as_str()] {
        hub.nobody().bearer(key).get("/api/inbox").await.ok();
        let smuggled = hub.nobody().cookie(&format!("stoa_session={key}"));
        smuggled.get("/api/inbox").await.problem(401, "session_expired");
        hub.nobody().bearer(key).get("/api/inbox").await.ok();
    }
    hub.finish().await;
}

/// Tabs of one browser share a session, and one of them may still show the page of who was there before.
#[tokio::test]
async fn a_page_does_not_act_as_who_logged_in_elsewhere() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let send = |user: &str| {
        let message = json!({"channel": "general", "body": "hello"});
        ada.post("/api/messages", &message).header("stoa-user", user)
    };
    send("bob").await.problem(409, "other_user");
    assert_eq!(ada.get("/api/channels/general/messages").await.ok().json()["items"], json!([]));
    send("ada").await.status(201);
    hub.finish().await;
}
