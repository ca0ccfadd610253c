//! Clients that register themselves: what they may say, what they get, and how long they stay.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::oauth::{App, CALLBACK, authorize, basic, registration};
use crate::support::{Call, Client, DAY, HOUR, MINUTE, START_MS, TestHub, how_many, together};

/// Registers with one redirect URI and this besides.
fn with(http: &Client, more: Value) -> Call {
    let mut metadata = json!({"redirect_uris": [CALLBACK]});
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    registration(http, &metadata)
}

/// A client's own record, asked for with the token that it got.
fn own_record(app: &App, method: &str) -> Call {
    let token = app.registered["registration_access_token"].as_str().unwrap();
    app.http.bearer(token).call(method, &format!("/oauth/register/{}", app.id))
}

#[tokio::test]
async fn a_client_needs_to_say_little() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let reply = with(&hub.nobody(), json!({})).await.status(201);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let said = reply.json();
    let id = said["client_id"].as_str().unwrap();
    assert!(!id.is_empty() && !id.starts_with("http"), "{said}");
    assert_eq!(said["redirect_uris"], json!([CALLBACK]));
    assert_eq!(said["token_endpoint_auth_method"], "client_secret_basic");
    assert_eq!(said["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert_eq!(said["response_types"], json!(["code"]));
    assert_eq!(said["client_id_issued_at"], START_MS / 1000);
    assert_eq!(said["client_secret_expires_at"], 0);
    assert!(said["client_secret"].as_str().is_some_and(|secret| secret.len() >= 43), "{said}");
    assert!(said["registration_access_token"].as_str().is_some_and(|token| token.len() >= 43), "{said}");
    assert_eq!(said["registration_client_uri"], format!("https://hub.example/oauth/register/{id}"));
    hub.finish().await;
}

#[tokio::test]
async fn what_a_client_says_comes_back() {
    let hub = TestHub::start().await;
    let metadata = json!({
        "client_name": "Ein Prüfer 日本", "grant_types": ["authorization_code"], "response_types": ["code"],
        "scope": "mcp:read", "application_type": "native", "token_endpoint_auth_method": "none",
    });
    let said = with(&hub.nobody(), metadata.clone()).await.status(201).json();
    for (name, value) in metadata.as_object().unwrap() {
        assert_eq!(said[name], *value, "{name}");
    }
    assert!(said.get("client_secret").is_none() && said.get("client_secret_expires_at").is_none(), "{said}");
    hub.finish().await;
}

/// Standards grow: what is not known here is no fault.
#[tokio::test]
async fn what_is_not_known_is_left_out() {
    let hub = TestHub::start().await;
    let said = with(
        &hub.nobody(),
        json!({
            "software_id": "x", "logo_uri": "https://app.example/logo.png", "contacts": ["a@b.example"], "jwks": {"keys": []},
            "client_name#de": "Eine App", "unheard_of": {"deeply": [1, 2, 3]},
            "scope": "openid mcp:read profile offline_access",
            "grant_types": ["authorization_code", "implicit", "client_credentials", "refresh_token",
                "urn:ietf:params:oauth:grant-type:device_code"],
            "response_types": ["code", "token", "id_token"],
        }),
    )
    .await
    .status(201)
    .json();
    assert_eq!(said["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert_eq!(said["response_types"], json!(["code"]));
    let mut scopes: Vec<_> = said["scope"].as_str().unwrap().split(' ').collect();
    scopes.sort_unstable();
    assert_eq!(scopes, ["mcp:read", "offline_access"]);
    hub.finish().await;
}

#[tokio::test]
async fn bad_metadata_is_refused() {
    let hub = TestHub::start().await;
    let http = hub.nobody();
    for more in [
        json!({"client_name": 1}),
        json!({"client_name": "x".repeat(201)}),
        json!({"client_name": "a\u{0}b"}),
        json!({"redirect_uris": ["https://app.example/\u{0}"]}),
        json!({"token_endpoint_auth_method": "private_key_jwt"}),
        json!({"token_endpoint_auth_method": "client_secret_jwt"}),
        json!({"token_endpoint_auth_method": ["none"]}),
        json!({"grant_types": "authorization_code"}),
        json!({"grant_types": [1]}),
        json!({"grant_types": ["client_credentials"]}),
        json!({"grant_types": ["refresh_token"]}),
        json!({"grant_types": ["implicit"]}),
        json!({"response_types": "code"}),
        json!({"scope": ["mcp:read"]}),
        json!({"scope": 5}),
    ] {
        let what = more.to_string();
        let reply = with(&http, more).await;
        assert_eq!(reply.code(), 400, "{what}: {reply:?}");
        reply.oauth_error(400, "invalid_client_metadata");
    }
    // Two hundred letters are fine, whatever they weigh.
    with(&http, json!({"client_name": "日".repeat(200)})).await.status(201);
    hub.finish().await;
}

#[tokio::test]
async fn bodies_that_make_no_sense_are_refused() {
    let hub = TestHub::start().await;
    let post = |body: Vec<u8>, address: &str| {
        hub.nobody().call("POST", "/oauth/register").body("application/json", body).sent_from(address)
    };
    let mut large = json!({"redirect_uris": [CALLBACK], "padding": ""});
    large["padding"] = json!("x".repeat(60_000));
    let mut just_too_large = large.clone();
    just_too_large["padding"] = json!("x".repeat(16 * 1024));
    let mut fits = large.clone();
    fits["padding"] = json!("x".repeat(15 * 1024));
    let nested = format!(r#"{{"redirect_uris": ["{CALLBACK}"], "x": {}"#, "[".repeat(10_000));
    let cases: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"redirect_uris=x".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"x\"".to_vec(),
        b"{\"redirect_uris\":".to_vec(),
        b"{\"redirect_uris\":[\"https://app.example/\xff\"]}".to_vec(),
        b"{\"client_name\":\"\xc3\x28\",\"redirect_uris\":[\"https://app.example/\"]}".to_vec(),
        b"\0".to_vec(),
        large.to_string().into_bytes(),
        just_too_large.to_string().into_bytes(),
        nested.into_bytes(),
        vec![b'['; 10_000],
    ];
    for (number, body) in cases.into_iter().enumerate() {
        let address = format!("203.0.113.{number}");
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        let reply = post(body, &address).await;
        assert_eq!(reply.code(), 400, "{shown}: {reply:?}");
        reply.oauth_error(400, "invalid_client_metadata");
    }
    post(fits.to_string().into_bytes(), "203.0.113.200").await.status(201);
    hub.finish().await;
}

#[tokio::test]
async fn redirect_uris_are_needed_and_counted() {
    let hub = TestHub::start().await;
    let http = hub.nobody();
    // The standard has two words for it; only a URI that is there and is bad has one.
    for metadata in [
        json!({}),
        json!({"redirect_uris": []}),
        json!({"redirect_uris": null}),
        json!({"redirect_uris": CALLBACK}),
        json!({"redirect_uris": [1]}),
        json!({"redirect_uris": [CALLBACK, null]}),
    ] {
        let reply = registration(&http, &metadata).await;
        assert_eq!(reply.code(), 400, "{metadata}: {reply:?}");
        let error = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(["invalid_client_metadata", "invalid_redirect_uri"].contains(&error.as_str()), "{reply:?}");
    }
    let many = |count: usize| (0..count).map(|number| format!("{CALLBACK}/{number}")).collect::<Vec<_>>();
    registration(&http, &json!({"redirect_uris": many(20)})).await.status(201);
    let status = registration(&http, &json!({"redirect_uris": many(21)})).await.code();
    assert_eq!(status, 400);
    let long = |length: usize| format!("{CALLBACK}/{}", "x".repeat(length - CALLBACK.len() - 1));
    registration(&http, &json!({"redirect_uris": [long(2048)]})).await.status(201);
    registration(&http, &json!({"redirect_uris": [long(2049)]})).await.oauth_error(400, "invalid_redirect_uri");
    hub.finish().await;
}

#[tokio::test]
async fn redirect_uris_lead_to_the_client_and_nowhere_else() {
    let hub = TestHub::start().await;
    let http = hub.nobody();
    for uri in [
        // Not https, and not this computer.
        "http://app.example/callback",
        "http://192.168.0.1/callback",
        "http://0.0.0.0/callback",
        "http://localhost.evil.example/callback",
        "http://127.0.0.1.evil.example/callback",
        "http://127.0.0.1@evil.example/callback",
        "http://localhost@evil.example/callback",
        "http://localhost:80@evil.example/callback",
        "http://evil.example/127.0.0.1",
        "http://evil.example#@127.0.0.1/",
        "http://evil.example\\@127.0.0.1/callback",
        "http://127.0.0.1\\@evil.example/callback",
        "http://[::ffff:1.2.3.4]/callback",
        "http:/evil.example/callback",
        "http:evil.example",
        // Who carries a name or a fragment.
        "https://user@app.example/callback",
        "https://user:password@app.example/callback",
        "https://@app.example/callback",
        "https://app.example/callback#fragment",
        "https://app.example/callback#",
        // Not a place at all.
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "vbscript:x",
        "blob:https://app.example/x",
        "about:blank",
        "ftp://app.example/callback",
        "ws://app.example/",
        "mailto:a@b.example",
        "urn:ietf:wg:oauth:2.0:oob",
        "//app.example/callback",
        "/callback",
        "callback",
        "",
        " ",
        "https://",
        "https:///callback",
        "https://app.example:99999/callback",
        "https://app example/callback",
        "https://app.example/call back",
        " https://app.example/callback",
        "https://app.example/callback\n",
        "https://app.example/call\tback",
        "https://app.example\\evil.example/callback",
        // Private schemes that nobody has listed, and one that looks like it.
        "myapp://callback",
        "com.example.app:/callback",
        "cursor://evil/oauth/callback",
        "cursor://anysphere.cursor-mcp/oauth/callback/more",
        "cursor://anysphere.cursor-mcp/oauth/callback?x=1",
        "CURSOR://anysphere.cursor-mcp/oauth/callback",
    ] {
        // One bad one spoils the rest, or its owner would wonder later.
        for uris in [json!([uri]), json!([CALLBACK, uri])] {
            let reply = registration(&http, &json!({"redirect_uris": uris})).await;
            assert_eq!(reply.code(), 400, "{uri:?}: {reply:?}");
            reply.oauth_error(400, "invalid_redirect_uri");
        }
    }
    for uri in [
        "https://claude.ai/api/mcp/auth_callback",
        "https://claude.com/api/mcp/auth_callback",
        "http://localhost:3118/callback",
        "https://vscode.dev/redirect",
        "http://127.0.0.1:33418/",
        "http://127.0.0.1:33418",
        "http://127.0.0.1/",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "http://localhost:6274/oauth/callback/debug",
        "http://[::1]:4000/callback",
        "http://localhost/callback",
        "https://app.example:8443/callback?with=query&and=more",
        "https://app.example",
    ] {
        let said = registration(&http, &json!({"redirect_uris": [uri]})).await.status(201).json();
        assert_eq!(said["redirect_uris"], json!([uri]), "it stays as it was written");
    }
    hub.finish().await;
}

/// Cursor registers all its callbacks together: one that were refused would keep it out.
#[tokio::test]
async fn cursor_registers_all_its_callbacks_at_once() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let uris = [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ];
    let metadata = json!({
        "client_name": "Cursor", "redirect_uris": uris, "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"], "token_endpoint_auth_method": "none",
    });
    let app = App::register_with(&hub.nobody(), &metadata).await;
    assert_eq!(app.registered["redirect_uris"], json!(uris));
    for uri in uris {
        let app = app.using(uri);
        let landing = app.consent(&ada).await.approve(&ada, "self").await.landing();
        assert_eq!(landing.place, uri);
        app.exchange(&landing.get("code")).await.tokens();
    }
    hub.finish().await;
}

#[tokio::test]
async fn private_schemes_are_the_operators_to_allow() {
    let schemes = vec!["myapp://callback".to_owned(), "com.example.app:/oauth".to_owned()];
    let hub = TestHub::setup().configure(|config| config.oauth_redirects = schemes.clone()).start().await;
    let ada = hub.human("ada").await;
    for uri in &schemes {
        let app = App::redirecting_to(&hub.nobody(), uri).await;
        let page = app.consent(&ada).await;
        // A browser would keep the person from ever arriving there.
        let policy = page.page.header("content-security-policy").unwrap().to_owned();
        assert!(!policy.contains("form-action"), "{policy}");
        let landing = page.approve(&ada, "self").await.landing();
        assert!(landing.location.starts_with(&format!("{uri}?")), "{landing:?}");
        app.exchange(&landing.get("code")).await.tokens();
    }
    for uri in ["myapp://callback/", "myapp://callback?x=1", "myapp://other", "MYAPP://callback", "com.example.app:/"] {
        registration(&hub.nobody(), &json!({"redirect_uris": [uri]})).await.oauth_error(400, "invalid_redirect_uri");
    }
    // The list is whole: what stands there by default does not come with it.
    let uri = "cursor://anysphere.cursor-mcp/oauth/callback";
    registration(&hub.nobody(), &json!({"redirect_uris": [uri]})).await.oauth_error(400, "invalid_redirect_uri");
    hub.finish().await;
}

/// Claude.ai asks for a secret in the body, and wants to find its record again.
#[tokio::test]
async fn a_secret_in_the_body_can_be_asked_for() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let metadata = json!({
        "client_name": "Claude", "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_post", "scope": "mcp:read mcp:write offline_access",
    });
    // It registers twice for each connection; both are clients.
    let (unused, app) =
        (App::register_with(&hub.nobody(), &metadata).await, App::register_with(&hub.nobody(), &metadata).await);
    assert_ne!(unused.id, app.id);
    for app in [unused, app] {
        assert_eq!(app.registered["token_endpoint_auth_method"], "client_secret_post");
        let code = app.code(&ada, "self").await;
        let parameters = app.exchange_parameters(&code);
        let parameters = parameters.set("client_id", &app.id).set("client_secret", app.secret.as_deref().unwrap());
        hub.nobody().call("POST", "/oauth/token").form(&parameters).await.tokens();
        own_record(&app, "GET").await.status(200);
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_client_reads_and_deletes_its_own_record() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let (app, other) = (hub.app().await, hub.app().await);
    let record = own_record(&app, "GET").await.status(200);
    assert_eq!(record.header("cache-control"), Some("no-store"));
    let record = record.json();
    for name in
        ["client_id", "redirect_uris", "client_name", "grant_types", "response_types", "token_endpoint_auth_method"]
    {
        assert_eq!(record[name], app.registered[name], "{name}");
    }
    assert_eq!(record["registration_client_uri"], app.registered["registration_client_uri"]);

    // Another's token, no token, a token in the wrong place: none of them says whether the client is there.
    let path = format!("/oauth/register/{}", app.id);
    let token = app.registered["registration_access_token"].as_str().unwrap();
    let others = other.registered["registration_access_token"].as_str().unwrap();
    for method in ["GET", "DELETE"] {
        for reply in [
            hub.nobody().call(method, &path).await,
            hub.nobody().bearer(others).call(method, &path).await,
            hub.nobody().bearer("nonsense").call(method, &path).await,
            hub.nobody().bearer("").call(method, &path).await,
            hub.nobody().bearer(token).call(method, "/oauth/register/nobody").await,
            hub.nobody().call(method, &format!("{path}?access_token={token}")).await,
            hub.nobody().call(method, &path).header("authorization", basic(&app.id, token)).await,
            ada.call(method, &path).await,
        ] {
            let reply = reply.status(401);
            assert!(reply.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")), "{reply:?}");
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{reply:?}");
        }
    }
    // It opens this door and no other.
    hub.nobody().bearer(token).get("/api/agents").await.problem(401, "invalid_credentials");

    let tokens = app.tokens(&ada, "self").await;
    let code = app.code(&ada, "self").await;
    let page = app.consent(&ada).await;
    assert!(own_record(&app, "DELETE").await.status(204).body.is_empty());
    own_record(&app, "GET").await.status(401);
    own_record(&app, "DELETE").await.status(401);
    assert!(!inspector.is_active(&tokens.access).await);
    app.refresh(&tokens.refresh).await.oauth_error(401, "invalid_client");
    app.exchange(&code).await.oauth_error(401, "invalid_client");
    authorize(&ada, &app.parameters()).await.page(400);
    let status = page.approve(&ada, "self").await.code();
    assert_eq!(status, 400, "the request went with its client");
    assert!(ada.grants().await.is_empty());
    own_record(&other, "GET").await.status(200);
    hub.finish().await;
}

#[tokio::test]
async fn clients_that_nobody_uses_go_after_a_day() {
    let hub = TestHub::setup().session_lifetime(10 * DAY).start().await;
    let ada = hub.human("ada").await;
    let (used, unused) = (hub.app().await, hub.app().await);
    let tokens = used.tokens(&ada, "self").await;
    hub.advance(DAY - HOUR);
    hub.settle().await;
    own_record(&unused, "GET").await.status(200);
    let late = hub.app().await;
    hub.advance(2 * HOUR);
    hub.settle().await;
    own_record(&unused, "GET").await.status(401);
    authorize(&ada, &unused.parameters()).await.page(400);
    own_record(&late, "GET").await.status(200);
    own_record(&used, "GET").await.status(200);
    used.refresh(&tokens.refresh).await.tokens();
    hub.advance(3 * DAY);
    hub.settle().await;
    own_record(&used, "GET").await.status(200);
    own_record(&late, "GET").await.status(401);
    used.tokens(&ada, "self").await;
    hub.finish().await;
}

/// Clients that owners made stay, used or not.
#[tokio::test]
async fn clients_of_owners_do_not_go_away() {
    let hub = TestHub::setup().session_lifetime(10 * DAY).start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let app = ada.owned_app("scout").await;
    hub.advance(3 * DAY);
    hub.settle().await;
    app.own_token().await;
    hub.finish().await;
}

#[tokio::test]
async fn twenty_registrations_a_minute_from_one_address() {
    let hub = TestHub::start().await;
    let metadata = json!({"redirect_uris": [CALLBACK]});
    let from = |address: &str| hub.nobody().post("/oauth/register", &metadata).sent_from(address);
    for _ in 0..20 {
        from("203.0.113.9").await.status(201);
    }
    let refused = from("203.0.113.9").await.oauth_error(429, "temporarily_unavailable");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{refused:?}");
    // The other name of the same endpoint is no way around it, and others are not held up.
    let alias = hub.nobody().post("/register", &metadata).sent_from("203.0.113.9");
    alias.await.oauth_error(429, "temporarily_unavailable");
    from("203.0.113.10").await.status(201);
    hub.advance(Duration::from_secs(wait));
    from("203.0.113.9").await.status(201);
    hub.advance(MINUTE);
    let replies = together((0..30).map(|_| from("203.0.113.11"))).await;
    assert_eq!(how_many(&replies, 201), 20);
    hub.finish().await;
}
