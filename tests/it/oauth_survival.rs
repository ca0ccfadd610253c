//! A hub that stops, or falls over, goes on where it was: questions, codes, tokens and clients. None of them is stored
//! so that a reader of the database could use it, and none is logged.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli_support::{Hub, Place, password_of, with_scout};
use crate::support::oauth::{App, CALLBACK, Consent, VERIFIER, authorize, log_in_at};
use crate::support::{Client, DAY, KEY, MINUTE, TestHub, how_many, on_postgres, together};

/// Everything that can be under way, across an end of the hub.
async fn lives_through(end: impl AsyncFn(TestHub) -> TestHub) {
    // Under a name that stays: the port does not.
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let inspector = hub.inspector().await;
    let (public, owned) = (hub.app().await, ada.owned_app("scout").await);
    let confidential = App::register_with(&hub.nobody(), &json!({"redirect_uris": [CALLBACK]})).await;
    let sent = authorize(&hub.nobody(), &public.parameters()).await.status(303);
    let page = public.consent(&ada).await;
    let code = public.code(&ada, "scout").await;
    let used = public.code(&ada, "scout").await;
    let of_used = public.exchange(&used).await.tokens();
    let tokens = public.tokens(&ada, "scout").await;
    let first = confidential.tokens(&ada, "self").await;
    let second = confidential.refresh(&first.refresh).await.tokens();
    let own = owned.own_token().await;
    let revoked = public.tokens(&ada, "self").await;
    public.revoke(&revoked.refresh).await.status(200);
    let grants = ada.grants().await;

    let hub = end(hub).await;
    let session = hub.found_by(&ada);
    let (public, owned, confidential, inspector) =
        (public.at(&hub), owned.at(&hub), confidential.at(&hub), inspector.at(&hub));
    assert_eq!(session.list("/api/oauth/grants").await, grants);
    // Tokens, good and bad.
    for token in [&tokens.access, &second.access, &own] {
        assert!(inspector.is_active(token).await);
    }
    assert!(!inspector.is_active(&revoked.access).await);
    public.refresh(&revoked.refresh).await.oauth_error(400, "invalid_grant");
    // A client that did not hear the answer asks again and gets what it should have got.
    assert_eq!(confidential.refresh(&first.refresh).await.tokens().refresh, second.refresh);
    confidential.refresh(&second.refresh).await.tokens();
    public.refresh(&tokens.refresh).await.tokens();
    // Codes: one is still good, one is still used up.
    let exchanged = public.exchange(&code).await.tokens();
    assert_eq!(inspector.introspect(&exchanged.access).await["agent"], "scout");
    public.exchange(&used).await.oauth_error(400, "invalid_grant");
    assert!(!inspector.is_active(&of_used.access).await);
    // Questions, asked before and after the login.
    let landing = page.approve(&session, "self").await.landing();
    public.exchange(&landing.get("code")).await.tokens();
    page.approve(&session, "self").await.page(400);
    let logged_in = log_in_at(&hub, sent.header("location").unwrap(), "ada").await;
    let session = hub.nobody().cookie(&logged_in.cookie());
    let page = Consent::of(session.get(logged_in.header("location").unwrap()).await);
    page.approve(&session, "self").await.landing();
    // Clients.
    owned.own_token().await;
    let token = public.registered["registration_access_token"].as_str().unwrap();
    hub.nobody().bearer(token).get(&format!("/oauth/register/{}", public.id)).await.status(200);
    // On PostgreSQL the listeners of a hub that crashed are its own until their leases end.
    hub.advance(Duration::from_secs(31));
    hub.finish().await;
}

#[tokio::test]
async fn a_restart_loses_nothing() {
    lives_through(async |hub: TestHub| hub.restart().await).await;
}

#[tokio::test]
async fn a_crash_loses_nothing() {
    lives_through(async |hub: TestHub| hub.crash().await.start().await).await;
}

/// Hubs that share a database are one authorization server.
#[tokio::test]
async fn two_hubs_are_one_server() {
    if !on_postgres() {
        return;
    }
    let one = TestHub::setup().base_url("https://hub.example").key(KEY).start().await;
    let two = one.beside().start().await;
    let ada = one.human("ada").await;
    let there = two.found_by(&ada);
    let inspector = one.inspector().await;
    let app = one.app().await;
    let page = app.consent(&ada).await;
    let code = page.approve(&there, "self").await.landing().get("code");
    let tokens = app.at(&two).exchange(&code).await.tokens();
    assert!(inspector.is_active(&tokens.access).await);
    // Two processes that race get the same, also from two hubs.
    let hubs = [app.at(&one), app.at(&two)];
    let replies = together(hubs.iter().map(|app| app.refresh(&tokens.refresh))).await;
    let successors: HashSet<_> = replies.into_iter().map(|reply| reply.tokens().refresh).collect();
    assert_eq!(successors.len(), 1);
    let successor = successors.into_iter().next().unwrap();
    // Of those who bring a code, one; and what is taken back here is worth nothing there.
    let code = app.code(&ada, "self").await;
    let replies = together((0..8).map(|number| hubs[number % 2].exchange(&code))).await;
    assert_eq!(how_many(&replies, 200), 1);
    app.at(&two).revoke(&successor).await.status(200);
    assert!(!inspector.is_active(&tokens.access).await);
    app.refresh(&successor).await.oauth_error(400, "invalid_grant");
    two.finish().await;
    one.finish().await;
}

/// Time goes on while the hub is away.
#[tokio::test]
async fn what_runs_out_meanwhile_has_run_out() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let (code, page) = (app.code(&ada, "self").await, app.consent(&ada).await);
    let first = app.tokens(&ada, "self").await;
    app.refresh(&first.refresh).await.tokens();
    let setup = hub.stop().await;
    setup.clock.advance(11 * MINUTE);
    let hub = setup.start().await;
    let (app, session) = (app.at(&hub), hub.found_by(&ada));
    app.exchange(&code).await.oauth_error(400, "invalid_grant");
    page.approve(&session, "self").await.page(400);
    app.refresh(&first.refresh).await.oauth_error(400, "invalid_grant");
    hub.finish().await;
}

/// What somebody could use who got hold of it.
struct Secrets(Vec<String>);

impl Secrets {
    fn keep(&mut self, secret: &str) {
        assert!(secret.len() >= 20, "{secret}");
        self.0.push(secret.to_owned());
    }

    /// Goes through everything that hands out a secret.
    async fn collect(http: &Client, session: &Client, inspector: &App) -> Self {
        let mut secrets = Self(Vec::new());
        let public = App::register(http).await;
        let confidential = App::register_with(http, &json!({"redirect_uris": [CALLBACK]})).await;
        for app in [&public, &confidential] {
            secrets.keep(app.registered["registration_access_token"].as_str().unwrap());
            let token = app.registered["registration_access_token"].as_str().unwrap();
            http.bearer(token).get(&format!("/oauth/register/{}", app.id)).await.status(200);
            // A code that is used, one that is not, one that is used twice.
            let tokens = app.tokens(session, "scout").await;
            let unused = app.code(session, "self").await;
            let misused = app.code(session, "self").await;
            app.exchange(&misused).await.tokens();
            app.exchange(&misused).await.oauth_error(400, "invalid_grant");
            let next = app.refresh(&tokens.refresh).await.tokens();
            let again = app.refresh(&tokens.refresh).await.tokens();
            let wrong = App { secret: Some("a-secret-that-is-wrong".to_owned()), ..app.clone() };
            wrong.refresh(&next.refresh).await;
            for secret in
                [&tokens.access, &tokens.refresh, &next.access, &next.refresh, &again.access, &unused, &misused]
            {
                secrets.keep(secret);
            }
            inspector.introspect(&next.access).await;
            inspector.introspect("stoa_at_canaryforatokenthatisnobodys").await;
            app.revoke(&again.access).await.status(200);
        }
        secrets.keep("a-secret-that-is-wrong");
        secrets.keep("stoa_at_canaryforatokenthatisnobodys");
        secrets.keep(confidential.secret.as_deref().unwrap());
        secrets.keep(inspector.secret.as_deref().unwrap());
        secrets.keep(VERIFIER);
        let request = json!({"name": "A Daemon", "agent": "scout"});
        let created = session.post("/api/oauth/clients", &request).header("idempotency-key", "once").await.status(201);
        let owned = App::owned(http, &created.json());
        secrets.keep(owned.secret.as_deref().unwrap());
        secrets.keep(&owned.own_token().await);
        // Questions that wait, with and without a session.
        let page = public.consent(session).await;
        secrets.keep(&page.request_id());
        secrets.keep(&page.hidden.get("csrf"));
        // What is written where it should not be.
        let token = owned.own_token().await;
        http.get(&format!("/api/agents?access_token={token}")).await.status(401);
        http.get(&format!("/oauth/register/{token}")).await.status(401);
        http.call("POST", &format!("/oauth/token?client_secret={token}")).await.status(400);
        http.bearer(&token).get("/api/agents").await.status(401);
        http.cookie(&format!("stoa_session={token}")).get("/auth/me").await.status(401);
        secrets.keep(&token);
        secrets
    }
}

#[tokio::test]
async fn nothing_that_works_is_in_the_database() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let inspector = hub.inspector().await;
    let secrets = Secrets::collect(&hub.nobody(), &ada, &inspector).await;
    let stored = hub.everything_stored();
    let stored = String::from_utf8_lossy(&stored);
    for secret in &secrets.0 {
        assert!(!stored.contains(secret), "{} is in the database", &secret[..10]);
    }
    // The search would find it if it were there.
    assert!(stored.contains("A Daemon"));
    let audit = Value::from(hub.audit().await).to_string();
    for listing in ["/api/oauth/clients", "/api/oauth/grants", "/api/traces"] {
        let shown = ada.get(listing).await.ok().text() + &audit;
        assert!(secrets.0.iter().all(|secret| !shown.contains(secret)), "{listing}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn nothing_that_works_is_in_the_log() {
    let place = Place::new();
    let hub = Hub::start(&mut place.serve(&["--log-level", "trace"]), place.data());
    hub.create_user("ada");
    hub.admin(&["agents", "create", "scout", "--owner", "ada"]).ok();
    let http = Client::new(format!("http://{}", hub.address));
    let session = http.cookie(&hub.log_in("ada", &password_of("ada")).unwrap());
    let create = ["oauth", "clients", "create", "--owner", "ada", "--agent", "scout", "--name", "Inspector"];
    let created = hub.json(&[&create[..], &["--introspects-all"]].concat());
    let inspector = App::owned(&http, &created);
    let secrets = Secrets::collect(&http, &session, &inspector).await;
    let said = hub.stop();
    for secret in &secrets.0 {
        let line = said.stderr.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "{secret}");
    }
    let entries: Vec<Value> = said.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in ["token_issued", "token_refreshed", "token_revoked"] {
        let entry = entries.iter().find(|entry| entry["event"] == event && entry["username"] == "ada");
        let entry = entry.unwrap_or_else(|| panic!("{event} is missing: {}", said.stderr));
        assert!(entry["request_id"].is_string() || event == "token_issued", "{entry}");
    }
    assert!(said.stderr.contains("DEBUG"), "{}", said.stderr);
}

/// A stolen token that comes back is seen by whoever reads the log.
#[tokio::test]
async fn the_log_tells_of_what_was_taken_back() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    let http = Client::new(format!("http://{}", hub.address));
    let session = http.cookie(&hub.log_in("ada", &password_of("ada")).unwrap());
    let app = App::register(&http).await;
    let code = app.code(&session, "scout").await;
    app.exchange(&code).await.tokens();
    app.exchange(&code).sent_from("203.0.113.66").await.oauth_error(400, "invalid_grant");
    let said = hub.stop();
    let entries: Vec<Value> = said.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let revoked = entries.iter().find(|entry| entry["event"] == "token_revoked");
    let revoked = revoked.unwrap_or_else(|| panic!("{}", said.stderr));
    assert_eq!((&revoked["username"], &revoked["remote_ip"]), (&json!("ada"), &json!("203.0.113.66")), "{revoked}");
}

/// Rows do not pile up: what has ended is forgotten, what is in force stays.
#[tokio::test]
async fn what_has_ended_is_forgotten() {
    let hub = TestHub::setup().session_lifetime(400 * DAY).start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let (app, owned) = (hub.app().await, ada.owned_app("scout").await);
    let mut kept = app.tokens(&ada, "self").await;
    for _ in 0..10 {
        app.consent(&ada).await;
        app.code(&ada, "self").await;
        app.tokens(&ada, "self").await;
        owned.own_token().await;
    }
    for _ in 0..8 {
        hub.advance(10 * DAY);
        hub.settle().await;
        kept = app.refresh(&kept.refresh).await.tokens();
    }
    assert_eq!(ada.grants().await.len(), 1);
    for (sql, most) in [
        ("select count(*) as n from oauth_requests", 0),
        ("select count(*) as n from oauth_access_tokens", 1),
        // One of the person's, and one in which the client's own tokens come.
        ("select count(*) as n from oauth_grants", 2),
        // Used ones are remembered while their grant lasts: whoever shows one is a thief.
        ("select count(*) as n from oauth_refresh_tokens", 9),
    ] {
        let count = hub.count(sql).await;
        assert!(count <= most, "{sql}: {count}");
    }
    hub.finish().await;
}
