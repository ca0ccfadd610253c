//! What clients read before anything else: who issues tokens, where, and for what. Browsers read it too.

use serde_json::{Value, json};

use crate::support::oauth::{App, CALLBACK, Consent, Parameters, authorize};
use crate::support::{Call, Client, Reply, TestHub};

const SERVER: &str = "/.well-known/oauth-authorization-server";
const RESOURCE: &str = "/.well-known/oauth-protected-resource";

async fn document(client: &Client, path: &str) -> Value {
    client.get(path).await.status(200).json()
}

fn described(base: &str) -> Value {
    json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/oauth/authorize"),
        "token_endpoint": format!("{base}/oauth/token"),
        "registration_endpoint": format!("{base}/oauth/register"),
        "revocation_endpoint": format!("{base}/oauth/revoke"),
        "introspection_endpoint": format!("{base}/oauth/introspect"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["mcp:read", "mcp:write", "offline_access"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    })
}

#[tokio::test]
async fn the_server_describes_itself() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let said = document(&hub.nobody(), SERVER).await;
    for (name, value) in described("https://hub.example").as_object().unwrap() {
        assert_eq!(said[name], *value, "{name}");
    }
    // A client that sees a secret's methods there believes that they work.
    for name in ["revocation_endpoint_auth_methods_supported", "introspection_endpoint_auth_methods_supported"] {
        let methods = said[name].as_array().cloned().unwrap_or_default();
        let known = ["none", "client_secret_basic", "client_secret_post"];
        assert!(methods.iter().all(|method| known.contains(&method.as_str().unwrap())), "{name}: {methods:?}");
    }
    let methods = said["introspection_endpoint_auth_methods_supported"].as_array().cloned().unwrap_or_default();
    assert!(!methods.contains(&json!("none")), "nobody asks about tokens without a secret: {methods:?}");
    hub.finish().await;
}

#[tokio::test]
async fn the_resource_says_who_issues_its_tokens() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let issuer = document(&hub.nobody(), SERVER).await["issuer"].clone();
    for (path, resource) in
        [(format!("{RESOURCE}/mcp"), "https://hub.example/mcp"), (RESOURCE.to_owned(), "https://hub.example")]
    {
        let said = document(&hub.nobody(), &path).await;
        // Clients compare it with the address that they were given, byte by byte.
        assert_eq!(said["resource"], resource);
        assert_eq!(said["authorization_servers"], json!([issuer]));
        assert_eq!(said["bearer_methods_supported"], json!(["header"]));
        assert_eq!(said["scopes_supported"], json!(["mcp:read", "mcp:write"]), "no offline_access: {said}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn other_documents_are_not_there() {
    let hub = TestHub::start().await;
    for path in [
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/oauth-authorization-server/",
        "/.well-known/oauth-protected-resource/api",
        "/.well-known/oauth-protected-resource/mcp/more",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/openid-configuration",
        "/.well-known/anything",
        "/.well-known/",
        "/oauth/anything",
        "/oauth",
    ] {
        hub.nobody().get(path).await.problem(404, "not_found");
    }
    for (method, path) in [
        ("POST", SERVER),
        ("GET", "/oauth/token"),
        ("GET", "/oauth/register"),
        ("GET", "/oauth/revoke"),
        ("GET", "/oauth/introspect"),
        ("PUT", "/oauth/authorize"),
        ("GET", "/oauth/authorize/decision"),
    ] {
        hub.nobody().call(method, path).await.problem(405, "method_not_allowed");
    }
    hub.finish().await;
}

/// One slash more or less, and a strict client believes that somebody else has answered.
#[tokio::test]
async fn the_issuer_is_the_same_everywhere() {
    for base in ["https://hub.example", "https://hub.example/", "https://hub.example:8443"] {
        let hub = TestHub::setup().base_url(base).start().await;
        let expected = base.trim_end_matches('/');
        let ada = hub.human("ada").await;
        let app = hub.app().await;
        let issuer = document(&ada, SERVER).await["issuer"].as_str().unwrap().to_owned();
        assert_eq!(issuer, expected);
        assert_eq!(document(&ada, RESOURCE).await["authorization_servers"][0], issuer);
        assert_eq!(app.consent(&ada).await.approve(&ada, "self").await.landing().get("iss"), issuer);
        assert_eq!(app.consent(&ada).await.deny(&ada).await.landing().error("access_denied").get("iss"), issuer);
        let bad = app.parameters().set("scope", "everything");
        assert_eq!(authorize(&ada, &bad).await.landing().error("invalid_scope").get("iss"), issuer);
        let tokens = app.tokens(&ada, "self").await;
        assert_eq!(hub.inspector().await.introspect(&tokens.access).await["iss"], issuer);
        assert_eq!(app.registered["registration_client_uri"], format!("{issuer}/oauth/register/{}", app.id));
        hub.finish().await;
    }
}

/// Without a public address, a loopback hub is what its caller calls it.
#[tokio::test]
async fn on_loopback_the_issuer_has_the_name_that_was_used() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let port = hub.address.port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("LocalHost:{port}")] {
        let called = |call: Call| call.header("host", &host);
        let issuer = format!("http://{}", host.to_lowercase());
        let said = called(ada.get(SERVER)).await.status(200).json();
        assert_eq!(
            (&said["issuer"], &said["token_endpoint"]),
            (&json!(issuer), &json!(format!("{issuer}/oauth/token")))
        );
        let said = called(ada.get(&format!("{RESOURCE}/mcp"))).await.status(200).json();
        assert_eq!(
            (&said["authorization_servers"][0], &said["resource"]),
            (&json!(issuer), &json!(format!("{issuer}/mcp")))
        );
        let app = hub.app().await;
        let asked = app.parameters().set("resource", &format!("{issuer}/mcp"));
        let page = Consent::of(called(authorize(&ada, &asked)).await);
        let landing = called(page.approve(&ada, "self")).await.landing();
        assert_eq!(landing.get("iss"), issuer);
        let again = app.exchange_parameters(&landing.get("code")).set("resource", &format!("{issuer}/mcp"));
        called(app.token(again)).await.tokens();
        let bad = app.parameters().set("code_challenge_method", "plain");
        assert_eq!(called(authorize(&ada, &bad)).await.landing().error("invalid_request").get("iss"), issuer);
        // The name lasts through a login.
        let sent = called(authorize(&hub.nobody(), &app.parameters())).await.status(303);
        let location = sent.header("location").unwrap();
        assert!(location.starts_with("/login?next="), "{location}");
    }
    // Nobody can put another name into what the hub says of itself.
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"] {
        let said = hub.nobody().get(SERVER).header("host", host).await.problem(421, "misdirected_request");
        assert!(!said.text().contains("evil"), "{said:?}");
    }
    hub.finish().await;
}

/// Where a public address is set, it is the only one.
#[tokio::test]
async fn a_public_address_is_the_issuer_whatever_the_caller_says() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    for host in ["localhost", "hub.example", "hub.example:444"] {
        let call = hub.nobody().get(SERVER).header("host", host).header("x-forwarded-host", "evil.example");
        assert_eq!(call.await.status(200).json()["issuer"], "https://hub.example");
    }
    hub.finish().await;
}

fn list_of(reply: &Reply, header: &str) -> Vec<String> {
    reply.header(header).unwrap_or_default().split(',').map(|name| name.trim().to_lowercase()).collect()
}

#[tokio::test]
async fn browsers_may_call_what_holds_no_session() {
    let hub = TestHub::start().await;
    let app = hub.app().await;
    let origin = "http://localhost:6274";
    let own = app.registered["registration_client_uri"].as_str().unwrap();
    let own = &own[own.find("/oauth/").unwrap()..];
    let open = [
        ("GET", SERVER),
        ("GET", RESOURCE),
        ("GET", "/.well-known/oauth-protected-resource/mcp"),
        ("POST", "/oauth/token"),
        ("POST", "/oauth/register"),
        ("POST", "/oauth/revoke"),
        ("GET", own),
        ("POST", "/register"),
        ("POST", "/token"),
    ];
    for (method, path) in open {
        let preflight = hub.nobody().call("OPTIONS", path).header("origin", origin);
        let asked = "authorization,content-type,mcp-protocol-version";
        let preflight = preflight.header("access-control-request-method", method);
        let reply = preflight.header("access-control-request-headers", asked).await.status(204);
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{path}");
        assert!(list_of(&reply, "access-control-allow-methods").contains(&method.to_lowercase()), "{path}");
        let allowed = list_of(&reply, "access-control-allow-headers");
        for name in [
            "authorization",
            "content-type",
            "accept",
            "mcp-protocol-version",
            "mcp-method",
            "mcp-name",
            "mcp-session-id",
            "last-event-id",
        ] {
            assert!(allowed.iter().any(|found| found == name), "{name} at {path}: {allowed:?}");
        }
        assert_eq!(reply.header("access-control-allow-credentials"), None, "{path}");
        assert!(reply.body.is_empty(), "{reply:?}");

        // The answer itself, and a refusal too, or the page learns nothing of it.
        let reply =
            hub.nobody().call(method, path).header("origin", origin).header("sec-fetch-site", "cross-site").await;
        assert_ne!(reply.code(), 403, "{reply:?}");
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{reply:?}");
        assert_eq!(reply.header("access-control-allow-credentials"), None, "{reply:?}");
        let exposed = list_of(&reply, "access-control-expose-headers");
        assert!(exposed.iter().any(|found| found == "www-authenticate"), "{reply:?}");
    }
    hub.finish().await;
}

/// The whole dance of a client in a browser, with the headers that browsers add.
#[tokio::test]
async fn a_client_in_a_browser_gets_its_tokens() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let redirect_uri = "http://localhost:6274/oauth/callback/debug";
    let foreign = |call: Call| call.header("origin", "http://localhost:6274").header("sec-fetch-site", "cross-site");
    let metadata = json!({"redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"});
    let registered = foreign(hub.nobody().post("/oauth/register", &metadata)).await.status(201).json();
    let app = App::known_as(&hub.nobody(), registered["client_id"].as_str().unwrap(), redirect_uri);
    // A link from another site leads to the page: it changes nothing.
    let page = authorize(&ada, &app.parameters()).header("sec-fetch-site", "cross-site").await;
    let page = Consent::of(page);
    let code = page.approve(&ada, "self").header("sec-fetch-site", "same-origin").await.landing().get("code");
    let tokens = foreign(app.exchange(&code)).await.tokens();
    let tokens = foreign(app.refresh(&tokens.refresh)).await.tokens();
    foreign(app.revoke(&tokens.refresh)).await.status(200);
    foreign(app.refresh(&tokens.refresh)).await.oauth_error(400, "invalid_grant");
    hub.finish().await;
}

#[tokio::test]
async fn browsers_of_other_sites_read_nothing_else() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let authorize = format!("/oauth/authorize?{}", app.parameters().encode());
    for (method, path) in [
        ("GET", authorize.as_str()),
        ("POST", "/oauth/authorize/decision"),
        ("POST", "/oauth/introspect"),
        ("GET", "/api/oauth/grants"),
        ("GET", "/api/oauth/clients"),
        ("GET", "/api/agents"),
        ("GET", "/login"),
    ] {
        for client in [&ada.client, &hub.nobody()] {
            let reply = client.call(method, path).header("origin", "https://evil.example").await;
            let names: Vec<_> =
                reply.headers.keys().filter(|name| name.as_str().starts_with("access-control")).collect();
            assert!(names.is_empty(), "{path}: {names:?}");
        }
        let preflight = hub.nobody().call("OPTIONS", path).header("origin", "https://evil.example");
        let reply = preflight.header("access-control-request-method", method).await;
        assert_eq!(reply.header("access-control-allow-origin"), None, "{path}");
    }
    hub.finish().await;
}

/// Some clients read no metadata and know where everything is.
#[tokio::test]
async fn aliases_are_the_same_endpoints() {
    let hub = TestHub::setup().configure(|config| config.oauth_aliases = true).start().await;
    let ada = hub.human("ada").await;
    let metadata = json!({"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"});
    let registered = hub.nobody().post("/register", &metadata).await.status(201).json();
    let app = App::known_as(&hub.nobody(), registered["client_id"].as_str().unwrap(), CALLBACK);
    let page = ada.get(&format!("/authorize?{}", app.parameters().encode())).await;
    let page = Consent::of(page);
    let code = page.approve(&ada, "self").await.landing().get("code");
    let tokens = app.call("/token", app.exchange_parameters(&code)).await.tokens();
    let parameters = Parameters::new(&[("grant_type", "refresh_token"), ("refresh_token", &tokens.refresh)]);
    app.call("/token", parameters).await.tokens();
    app.call("/token", Parameters::default()).await.oauth_error(400, "invalid_request");
    // A person who has to log in first is not sent elsewhere either.
    let sent = hub.nobody().get(&format!("/authorize?{}", app.parameters().encode())).await.status(303);
    assert!(sent.header("location").unwrap().starts_with("/login?next=%2Foauth%2Fauthorize%3Frequest_id%3D"));
    // The document names the endpoints themselves.
    assert!(document(&hub.nobody(), SERVER).await["token_endpoint"].as_str().unwrap().ends_with("/oauth/token"));
    hub.finish().await;
}

#[tokio::test]
async fn aliases_can_be_switched_off() {
    let hub = TestHub::setup().configure(|config| config.oauth_aliases = false).start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let metadata = json!({"redirect_uris": [CALLBACK]});
    let status = hub.nobody().post("/register", &metadata).await.code();
    assert!([404, 405].contains(&status), "{status}");
    let status = app.call("/token", app.exchange_parameters("x")).await.code();
    assert!([404, 405].contains(&status), "{status}");
    let reply = ada.get(&format!("/authorize?{}", app.parameters().encode())).await;
    assert!(!reply.text().contains("/oauth/authorize/decision"), "{reply:?}");
    app.tokens(&ada, "self").await;
    hub.finish().await;
}
