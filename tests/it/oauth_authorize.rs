//! Requests for a code: which are refused on a page, which are sent back, and to which addresses at all.

use serde_json::json;

use crate::support::oauth::{App, CALLBACK, CHALLENGE, Consent, Parameters, STATE, authorize, challenge_of};
use crate::support::{Human, Proof, TestHub};

/// Refused on a page: the person is not sent to whoever asked.
async fn stays_here(person: &Human, parameters: &Parameters, what: &str) {
    for client in [&person.client, &person.client.with(Proof::Nothing)] {
        let reply = authorize(client, parameters).await;
        assert_eq!(reply.code(), 400, "{what}: {reply:?}");
        assert_eq!(reply.header("location"), None, "{what}");
        reply.page(400);
    }
}

#[tokio::test]
async fn a_good_request_leads_back_with_a_code() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let landing = app.consent(&ada).await.approve(&ada, "self").await.landing();
    assert_eq!(landing.place, CALLBACK);
    assert_eq!(landing.get("state"), STATE);
    assert_eq!(landing.get("iss"), format!("http://{}", hub.address));
    assert!(landing.get("code").len() >= 43, "{landing:?}");
    assert_eq!(landing.find("error"), None);
    hub.finish().await;
}

#[tokio::test]
async fn who_asks_must_be_known() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (app, owned) = (hub.app().await, ada.owned_app("scout").await);
    let good = app.parameters();
    for (parameters, what) in [
        (good.clone().without("client_id"), "no client"),
        (good.clone().set("client_id", ""), "an empty one"),
        (good.clone().set("client_id", "nobody"), "an unknown one"),
        (good.clone().set("client_id", &format!("{} ", app.id)), "with a blank"),
        (good.clone().set("client_id", &app.id.to_uppercase()), "in capitals"),
        (good.clone().set("client_id", "a\0b"), "with NUL"),
        (good.clone().set("client_id", &"x".repeat(5000)), "a long one"),
        (good.clone().and("client_id", &app.id), "the same one twice"),
        (good.clone().set("client_id", &owned.id), "one that has no redirect URI"),
        (good.clone().and("redirect_uri", CALLBACK), "two redirect URIs"),
        (good.clone().and("redirect_uri", "https://evil.example/"), "a second redirect URI"),
    ] {
        stays_here(&ada, &parameters, what).await;
    }
    // Everything at once: the client counts first.
    let hopeless = Parameters::new(&[("response_type", "token"), ("redirect_uri", "javascript:alert(1)")]);
    stays_here(&ada, &hopeless, "hopeless").await;
    stays_here(&ada, &Parameters::default(), "nothing at all").await;
    // Bytes that are no text.
    for query in ["client_id=%ff&redirect_uri=%ff", "client_id=%", "%00=%00"] {
        ada.get(&format!("/oauth/authorize?{query}")).await.page(400);
    }
    // Agents do not consent to anything.
    let reply = authorize(&scout, &good).await;
    assert!(!reply.text().contains("authorize/decision"), "{reply:?}");
    hub.finish().await;
}

/// The list of those who would like the code of another.
#[tokio::test]
async fn a_redirect_uri_is_the_registered_one_to_the_letter() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    for evil in [
        "https://evil.example/callback",
        "https://app.example.evil.example/callback",
        "https://app.example@evil.example/callback",
        "https://evil.example@app.example/callback",
        "https://user@app.example/callback",
        "https://app.example/callback#",
        "https://app.example/callback#fragment",
        "https://app.example/callback?",
        "https://app.example/callback?more=1",
        "https://app.example/callback/",
        "https://app.example/callback/../evil",
        "https://app.example/./callback",
        "https://app.example//callback",
        "https://app.example/",
        "https://app.example",
        "https://app.example/Callback",
        "https://APP.example/callback",
        "HTTPS://app.example/callback",
        "https://app.example:443/callback",
        "https://app.example:8443/callback",
        "https://app.example./callback",
        "https://app.example/%63allback",
        "https://app%2eexample/callback",
        "https://app.example\\callback",
        "https://app.example/callback\\",
        "https:\\\\app.example\\callback",
        "https://app.example/callback\n",
        "https://app.example/callback\0",
        " https://app.example/callback",
        "https://app.example/callback ",
        "http://app.example/callback",
        "//app.example/callback",
        "javascript:alert(1)",
        "data:text/html,x",
    ] {
        stays_here(&ada, &app.parameters().set("redirect_uri", evil), evil).await;
    }
    hub.finish().await;
}

#[tokio::test]
async fn on_this_computer_the_port_does_not_matter() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let good = [
        ("http://127.0.0.1:33418/", "http://127.0.0.1:33418/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:50000/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1/"),
        ("http://127.0.0.1:33418/", "http://localhost:50000/"),
        ("http://localhost/callback", "http://localhost:3118/callback"),
        ("http://localhost/callback", "http://127.0.0.1:3118/callback"),
        ("http://localhost:8787/callback?a=1", "http://127.0.0.1:1/callback?a=1"),
        ("http://[::1]/callback", "http://[::1]:3118/callback"),
    ];
    for (registered, asked) in good {
        let app = App::redirecting_to(&hub.nobody(), registered).await.using(asked);
        let landing = app.consent(&ada).await.approve(&ada, "self").await.landing();
        // Where the client listens, as it said it.
        let separator = if asked.contains('?') { '&' } else { '?' };
        assert!(landing.location.starts_with(&format!("{asked}{separator}")), "{asked}: {landing:?}");
        app.exchange(&landing.get("code")).await.tokens();
    }
    let bad = [
        ("http://127.0.0.1:33418/", "http://127.0.0.1:33418/callback"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:33418/?x=1"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:33418/#x"),
        ("http://127.0.0.1:33418/", "https://127.0.0.1:33418/"),
        ("http://127.0.0.1:33418/", "http://user@127.0.0.1:33418/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:33418@evil.example/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1.evil.example/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1.evil.example:33418/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1\\@evil.example/"),
        ("http://127.0.0.1:33418/", "http://evil.example\\@127.0.0.1/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.2:33418/"),
        ("http://127.0.0.1:33418/", "http://2130706433:33418/"),
        ("http://127.0.0.1:33418/", "http://0x7f.1:33418/"),
        ("http://127.0.0.1:33418/", "http://127.1:33418/"),
        ("http://127.0.0.1:33418/", "http://[::1]:33418/"),
        ("http://127.0.0.1:33418/", "http://[::ffff:127.0.0.1]:33418/"),
        ("http://127.0.0.1:33418/", "http://0.0.0.0:33418/"),
        ("http://127.0.0.1:33418/", "http://localhost.evil.example:33418/"),
        ("http://127.0.0.1:33418/", "http://localhost.:33418/"),
        ("http://127.0.0.1:33418/", "http://notlocalhost:33418/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:99999/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:x/"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1%2eevil.example/"),
        ("http://localhost/callback", "http://[::1]:3118/callback"),
        ("http://localhost/callback", "http://localhost:3118/%63allback"),
        ("http://localhost/callback", "http://localhost:3118/callback/"),
        ("http://localhost/callback", "http://%6cocalhost:3118/callback"),
        ("http://localhost/callback", "http://evil.example:3118/callback"),
        ("http://[::1]/callback", "http://localhost:3118/callback"),
        ("http://[::1]/callback", "http://127.0.0.1:3118/callback"),
        ("https://localhost:4000/callback", "https://localhost:5000/callback"),
        ("https://127.0.0.1:4000/callback", "http://127.0.0.1:4000/callback"),
    ];
    for (registered, asked) in bad {
        let app = App::redirecting_to(&hub.nobody(), registered).await;
        stays_here(&ada, &app.parameters().set("redirect_uri", asked), asked).await;
    }
    hub.finish().await;
}

#[tokio::test]
async fn the_only_redirect_uri_need_not_be_said() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let page = Consent::of(authorize(&ada, &app.parameters().without("redirect_uri")).await);
    let landing = page.approve(&ada, "self").await.landing();
    assert_eq!(landing.place, CALLBACK);
    let exchange = app.exchange_parameters(&landing.get("code")).without("redirect_uri");
    app.token(exchange).await.tokens();
    // Of two, one has to be chosen.
    let metadata =
        json!({"redirect_uris": [CALLBACK, "https://app.example/other"], "token_endpoint_auth_method": "none"});
    let app = App::register_with(&hub.nobody(), &metadata).await;
    stays_here(&ada, &app.parameters().without("redirect_uri"), "two are registered").await;
    hub.finish().await;
}

#[tokio::test]
async fn a_redirect_uri_keeps_its_own_query() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let uri = "https://app.example/callback?tenant=a%20b&x";
    let app = App::redirecting_to(&hub.nobody(), uri).await;
    let landing = app.consent(&ada).await.approve(&ada, "self").await.landing();
    assert!(landing.location.starts_with(&format!("{uri}&")), "{landing:?}");
    assert_eq!((landing.get("tenant"), landing.get("state")), ("a b".to_owned(), STATE.to_owned()));
    app.exchange(&landing.get("code")).await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn other_faults_are_told_to_the_client() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let good = app.parameters();
    let base = format!("http://{}", hub.address);
    let challenge = |value: &str| good.clone().set("code_challenge", value);
    let cases = [
        (good.clone().without("response_type"), "invalid_request"),
        (good.clone().set("response_type", ""), "invalid_request"),
        (good.clone().set("response_type", "token"), "unsupported_response_type"),
        (good.clone().set("response_type", "code id_token"), "unsupported_response_type"),
        (good.clone().without("code_challenge"), "invalid_request"),
        (good.clone().without("code_challenge").without("code_challenge_method"), "invalid_request"),
        (good.clone().without("code_challenge_method"), "invalid_request"),
        (good.clone().set("code_challenge_method", "plain"), "invalid_request"),
        (good.clone().set("code_challenge_method", "s256"), "invalid_request"),
        (good.clone().set("code_challenge_method", ""), "invalid_request"),
        (challenge(""), "invalid_request"),
        (challenge(&CHALLENGE[..42]), "invalid_request"),
        (challenge(&format!("{CHALLENGE}A")), "invalid_request"),
        (challenge(&format!("{}=", &CHALLENGE[..42])), "invalid_request"),
        (challenge(&format!("{}+", &CHALLENGE[..42])), "invalid_request"),
        (challenge(&format!("{}/", &CHALLENGE[..42])), "invalid_request"),
        (challenge(&format!("{}é", &CHALLENGE[..41])), "invalid_request"),
        (good.clone().set("scope", "everything"), "invalid_scope"),
        (good.clone().set("scope", "mcp:read mcp:admin"), "invalid_scope"),
        (good.clone().set("scope", "MCP:READ"), "invalid_scope"),
        (good.clone().set("scope", "mcp:read,mcp:write"), "invalid_scope"),
        (good.clone().set("resource", "https://evil.example/mcp"), "invalid_target"),
        (good.clone().set("resource", &format!("{base}/api")), "invalid_target"),
        (good.clone().set("resource", &format!("{base}/mcp#x")), "invalid_target"),
        (good.clone().set("resource", &format!("{base}/mcp?x=1")), "invalid_target"),
        (good.clone().set("resource", &format!("{base}/mcp//")), "invalid_target"),
        (good.clone().set("resource", &format!("{base}.evil.example/mcp")), "invalid_target"),
        (good.clone().set("resource", "mcp"), "invalid_target"),
        (good.clone().set("request", "eyJhbGciOiJub25lIn0.e30."), "request_not_supported"),
        (good.clone().set("request_uri", "https://app.example/request"), "request_not_supported"),
        (good.clone().set("response_mode", "fragment"), "invalid_request"),
        (good.clone().set("response_mode", "form_post"), "invalid_request"),
        (good.clone().and("response_type", "code"), "invalid_request"),
        (good.clone().and("code_challenge", CHALLENGE), "invalid_request"),
        (good.clone().and("code_challenge_method", "S256"), "invalid_request"),
        (good.clone().set("scope", "mcp:read").and("scope", "mcp:write"), "invalid_request"),
    ];
    for (parameters, error) in cases {
        let reply = authorize(&ada, &parameters).await;
        assert_eq!(reply.code(), 303, "{parameters:?}: {reply:?}");
        let landing = reply.landing();
        assert_eq!(landing.find("error").as_deref(), Some(error), "{parameters:?}: {landing:?}");
        let landing = landing.error(error);
        assert_eq!(landing.place, CALLBACK);
        assert_eq!((landing.get("state"), landing.get("iss")), (STATE.to_owned(), base.clone()), "{parameters:?}");
        assert!(!landing.get("error_description").is_empty());
    }
    // Which of two states should come back?
    let landing = authorize(&ada, &good.clone().and("state", "another")).await.landing().error("invalid_request");
    assert_eq!(landing.place, CALLBACK);
    // Bytes that are no text, or no text for a database.
    for (name, bytes) in [("state", "%00"), ("state", "%ff"), ("scope", "%00"), ("resource", "%ff"), ("%ff", "x")] {
        let reply = ada.get(&format!("/oauth/authorize?{}&{name}={bytes}", good.clone().without(name).encode())).await;
        assert!([200, 303, 400].contains(&reply.code()), "{name}={bytes}: {reply:?}");
    }
    // What was not said does not come back.
    let landing = authorize(&ada, &good.without("state").set("scope", "everything")).await.landing();
    assert_eq!(landing.error("invalid_scope").find("state"), None);
    hub.finish().await;
}

/// What real clients send beside what is needed.
#[tokio::test]
async fn what_is_not_known_is_ignored() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let parameters = app.parameters();
    let parameters = parameters.and("prompt", "consent").and("access_type", "offline").and("nonce", "1");
    let parameters = parameters.and("response_mode", "query").and("ui_locales", "de").and("ui_locales", "en");
    let landing = Consent::of(authorize(&ada, &parameters).await).approve(&ada, "self").await.landing();
    app.exchange(&landing.get("code")).await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn a_state_comes_back_as_it_was() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let long = "x".repeat(2000);
    for state in ["simple", "a b+c%20d", "é日本語\u{1f600}", "\"'<>&;", "code=x&iss=evil", "\r\nlocation: x", &long]
    {
        let page = Consent::of(authorize(&ada, &app.parameters().set("state", state)).await);
        assert_eq!(page.approve(&ada, "self").await.landing().get("state"), state);
        let page = Consent::of(authorize(&ada, &app.parameters().set("state", state)).await);
        assert_eq!(page.deny(&ada).await.landing().error("access_denied").get("state"), state);
    }
    let page = Consent::of(authorize(&ada, &app.parameters().without("state")).await);
    assert_eq!(page.approve(&ada, "self").await.landing().find("state"), None);
    hub.finish().await;
}

#[tokio::test]
async fn the_resource_is_the_hub_in_all_its_spellings() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let spellings =
        ["https://hub.example/mcp", "https://hub.example/mcp/", "https://hub.example", "https://hub.example/"];
    for resource in spellings {
        let page = Consent::of(authorize(&ada, &app.parameters().set("resource", resource)).await);
        let code = page.approve(&ada, "self").await.landing().get("code");
        let tokens = app.token(app.exchange_parameters(&code).set("resource", resource)).await.tokens();
        assert_eq!(inspector.introspect(&tokens.access).await["aud"], "https://hub.example/mcp");
        let refresh = Parameters::new(&[("grant_type", "refresh_token"), ("refresh_token", &tokens.refresh)]);
        let tokens = app.token(refresh.set("resource", resource)).await.tokens();
        assert_eq!(inspector.introspect(&tokens.access).await["aud"], "https://hub.example/mcp");
    }
    // Unsaid it is the same, and said late it may still be said.
    let tokens = app.tokens(&ada, "self").await;
    assert_eq!(inspector.introspect(&tokens.access).await["aud"], "https://hub.example/mcp");
    for other in ["https://other.example/mcp", "https://hub.example/api", "http://hub.example/mcp", "x"] {
        let code = app.code(&ada, "self").await;
        let exchange = app.exchange_parameters(&code).set("resource", other);
        let reply = app.token(exchange).await;
        assert_eq!(reply.code(), 400, "{other}: {reply:?}");
        reply.oauth_error(400, "invalid_target");
        let refresh = Parameters::new(&[("grant_type", "refresh_token"), ("refresh_token", &tokens.refresh)]);
        app.token(refresh.set("resource", other)).await.oauth_error(400, "invalid_target");
    }
    app.refresh(&tokens.refresh).await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn scopes_are_what_was_asked_for() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    for (asked, granted) in [
        (None, vec!["mcp:read", "mcp:write"]),
        (Some("mcp:read"), vec!["mcp:read"]),
        (Some("mcp:write"), vec!["mcp:write"]),
        (Some("mcp:read mcp:write"), vec!["mcp:read", "mcp:write"]),
        (Some("mcp:write mcp:read mcp:read"), vec!["mcp:read", "mcp:write"]),
        (Some("mcp:read offline_access"), vec!["mcp:read", "offline_access"]),
    ] {
        let parameters = match asked {
            Some(scope) => app.parameters().set("scope", scope),
            None => app.parameters(),
        };
        let page = Consent::of(authorize(&ada, &parameters).await);
        let tokens = app.exchange(&page.approve(&ada, "self").await.landing().get("code")).await.tokens();
        let sorted = |text: &str| {
            let mut scopes: Vec<_> = text.split(' ').map(str::to_owned).collect();
            scopes.sort_unstable();
            scopes
        };
        // The right to refresh may be left out: it is no right on anything here.
        let without =
            |scopes: Vec<String>| scopes.into_iter().filter(|scope| scope != "offline_access").collect::<Vec<_>>();
        let granted: Vec<_> = granted.into_iter().map(str::to_owned).collect();
        assert_eq!(without(sorted(&tokens.scope)), without(granted.clone()), "{asked:?}");
        let said = inspector.introspect(&tokens.access).await;
        assert_eq!(without(sorted(said["scope"].as_str().unwrap())), without(granted), "{asked:?}");
    }
    hub.finish().await;
}

/// A client that registered for less does not get more.
#[tokio::test]
async fn a_clients_own_scope_is_its_limit() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let metadata = json!({"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none", "scope": "mcp:read"});
    let app = App::register_with(&hub.nobody(), &metadata).await;
    let tokens = app.tokens(&ada, "self").await;
    assert!(!tokens.scope.contains("mcp:write"), "{tokens:?}");
    let reply = authorize(&ada, &app.parameters().set("scope", "mcp:read mcp:write")).await;
    if reply.code() == 303 {
        reply.landing().error("invalid_scope");
    } else {
        let code = Consent::of(reply).approve(&ada, "self").await.landing().get("code");
        let tokens = app.exchange(&code).await.tokens();
        assert!(!tokens.scope.contains("mcp:write"), "{tokens:?}");
    }
    hub.finish().await;
}

/// Whoever may write may read, and the right to renew is nobody's to refuse.
#[tokio::test]
async fn scopes_contain_each_other() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for (registered, asked, granted) in [
        ("mcp:read mcp:write", "mcp:read mcp:write offline_access", "mcp:write"),
        ("mcp:write", "mcp:read", "mcp:read"),
        ("mcp:read", "mcp:read offline_access", "mcp:read"),
        ("openid profile", "mcp:read mcp:write", "mcp:write"),
        ("offline_access", "mcp:read mcp:write", "mcp:write"),
        ("offline_access", "offline_access", "mcp:write"),
        ("", "mcp:read", "mcp:read"),
    ] {
        let metadata = json!({"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none", "scope": registered});
        let app = App::register_with(&hub.nobody(), &metadata).await;
        let page = Consent::of(authorize(&ada, &app.parameters().set("scope", asked)).await);
        let tokens = app.exchange(&page.approve(&ada, "self").await.landing().get("code")).await.tokens();
        assert!(tokens.scope.contains(granted), "{registered:?}, {asked:?}: {tokens:?}");
        let refresh = Parameters::new(&[("grant_type", "refresh_token"), ("refresh_token", &tokens.refresh)]);
        let less = app.token(refresh.set("scope", "mcp:read offline_access")).await.tokens();
        assert!(!less.scope.contains("mcp:write"), "{less:?}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn each_code_belongs_to_its_own_challenge() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let verifiers = ["a".repeat(43), "~.-_".repeat(32), format!("{}Z9", "0".repeat(64))];
    let mut codes = Vec::new();
    for verifier in &verifiers {
        let parameters = app.parameters().set("code_challenge", &challenge_of(verifier));
        let page = Consent::of(authorize(&ada, &parameters).await);
        codes.push(page.approve(&ada, "self").await.landing().get("code"));
    }
    for (code, verifier) in codes.iter().zip(&verifiers) {
        app.token(app.exchange_parameters(code).set("code_verifier", verifier)).await.tokens();
    }
    hub.finish().await;
}
