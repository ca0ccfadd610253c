//! The token endpoint: codes for tokens, once, for whom they were made; and how clients say who they are.

use std::time::Duration;

use serde_json::json;

use crate::support::oauth::{
    ALL, App, CALLBACK, CHALLENGE, Consent, FORM, Parameters, VERIFIER, authorize, basic, challenge_of,
};
use crate::support::{Call, HOUR, Proof, START_MS, TestHub, how_many, together};

#[tokio::test]
async fn a_code_becomes_tokens() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let tokens = app.tokens(&ada, "scout").await;
    assert_eq!((tokens.scope.as_str(), tokens.expires_in), (ALL, 3600));
    let said = inspector.introspect(&tokens.access).await;
    let expected = json!({
        "active": true, "scope": ALL, "client_id": app.id, "username": "ada", "agent": "scout", "token_type": "Bearer",
        "aud": "https://hub.example/mcp", "iss": "https://hub.example", "iat": START_MS / 1000, "exp": START_MS / 1000 + 3600,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(said[name], *value, "{name}: {said}");
    }
    assert!(said["sub"].as_str().is_some_and(|subject| !subject.is_empty()), "{said}");
    // An hour, to the second.
    hub.advance(HOUR - Duration::from_secs(1));
    assert!(inspector.is_active(&tokens.access).await);
    hub.advance(Duration::from_secs(2));
    assert!(!inspector.is_active(&tokens.access).await);
    hub.finish().await;
}

#[tokio::test]
async fn a_code_works_once_and_its_misuse_costs_what_it_gave() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let code = app.code(&ada, "self").await;
    let tokens = app.exchange(&code).await.tokens();
    let bystander = app.tokens(&ada, "self").await;
    app.exchange(&code).await.oauth_error(400, "invalid_grant");
    assert!(!inspector.is_active(&tokens.access).await);
    app.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    app.exchange(&code).await.oauth_error(400, "invalid_grant");
    // What the same client got otherwise has nothing to do with it.
    assert!(inspector.is_active(&bystander.access).await);
    app.refresh(&bystander.refresh).await.tokens();

    // Later tokens of the same family go too, and the time of the code does not matter.
    let code = app.code(&ada, "self").await;
    let first = app.exchange(&code).await.tokens();
    let second = app.refresh(&first.refresh).await.tokens();
    hub.advance(Duration::from_secs(300));
    app.exchange(&code).await.oauth_error(400, "invalid_grant");
    assert!(!inspector.is_active(&first.access).await && !inspector.is_active(&second.access).await);
    app.refresh(&second.refresh).await.oauth_error(400, "invalid_grant");
    hub.finish().await;
}

#[tokio::test]
async fn of_many_who_bring_a_code_at_most_one_is_served() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    for _ in 0..3 {
        let code = app.code(&ada, "self").await;
        let replies = together((0..8).map(|_| app.exchange(&code))).await;
        assert_eq!((how_many(&replies, 200), how_many(&replies, 400)), (1, 7), "{replies:?}");
        // And as others had the code too, not even that one keeps what it got.
        let tokens = replies.into_iter().find(|reply| reply.code() == 200).unwrap().tokens();
        assert!(!inspector.is_active(&tokens.access).await);
    }
    assert!(ada.grants().await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_code_lasts_a_minute() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let code = app.code(&ada, "self").await;
    hub.advance(Duration::from_secs(59));
    app.exchange(&code).await.tokens();
    let code = app.code(&ada, "self").await;
    hub.advance(Duration::from_secs(61));
    app.exchange(&code).await.oauth_error(400, "invalid_grant");
    hub.finish().await;
}

#[tokio::test]
async fn a_code_needs_the_verifier_of_its_challenge() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let attempt = async |verifier: &str| {
        let code = app.code(&ada, "self").await;
        app.token(app.exchange_parameters(&code).set("code_verifier", verifier)).await
    };
    let mut wrong = VERIFIER.to_owned();
    wrong.replace_range(0..1, "e");
    attempt(&wrong).await.oauth_error(400, "invalid_grant");
    attempt(CHALLENGE).await.oauth_error(400, "invalid_grant");
    // These can be nobody's verifier, so both words fit.
    for odd in ["short", &VERIFIER[..42], &"x".repeat(129), &format!("{} ", &VERIFIER[..42]), "é", "a\0b"] {
        let reply = attempt(odd).await.status(400);
        assert!(["invalid_grant", "invalid_request"].contains(&reply.json()["error"].as_str().unwrap()), "{reply:?}");
    }
    for missing in [true, false] {
        let code = app.code(&ada, "self").await;
        let parameters = app.exchange_parameters(&code).without("code_verifier");
        let parameters = if missing { parameters } else { parameters.set("code_verifier", "") };
        let reply = app.token(parameters).await.status(400);
        assert!(["invalid_grant", "invalid_request"].contains(&reply.json()["error"].as_str().unwrap()), "{reply:?}");
    }
    // The codes are on their way until their minute is over.
    hub.advance(Duration::from_secs(61));
    assert!(ada.grants().await.is_empty());
    attempt(VERIFIER).await.tokens();
    hub.finish().await;
}

/// A verifier that is too short is refused even where it fits its challenge.
#[tokio::test]
async fn a_short_verifier_is_refused_even_if_it_fits() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    for verifier in ["short", &"x".repeat(129)] {
        let parameters = app.parameters().set("code_challenge", &challenge_of(verifier));
        let page = Consent::of(authorize(&ada, &parameters).await);
        let code = page.approve(&ada, "self").await.landing().get("code");
        let reply = app.token(app.exchange_parameters(&code).set("code_verifier", verifier)).await.status(400);
        assert!(["invalid_grant", "invalid_request"].contains(&reply.json()["error"].as_str().unwrap()), "{reply:?}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_code_goes_back_to_where_it_was_sent() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let metadata =
        json!({"redirect_uris": [CALLBACK, "https://app.example/other"], "token_endpoint_auth_method": "none"});
    let app = App::register_with(&hub.nobody(), &metadata).await;
    let with = async |app: &App, uri: Option<&str>| {
        let code = app.code(&ada, "self").await;
        let parameters = app.exchange_parameters(&code);
        app.token(match uri {
            Some(uri) => parameters.set("redirect_uri", uri),
            None => parameters.without("redirect_uri"),
        })
        .await
    };
    for other in ["https://app.example/other", "https://evil.example/", "https://APP.example/callback", "x"] {
        with(&app, Some(other)).await.oauth_error(400, "invalid_grant");
    }
    with(&app, None).await.tokens();
    with(&app, Some(CALLBACK)).await.tokens();

    let native =
        App::redirecting_to(&hub.nobody(), "http://localhost/callback").await.using("http://localhost:3118/callback");
    with(&native, Some("http://localhost:3118/callback")).await.tokens();
    with(&native, Some("http://127.0.0.1:3118/callback")).await.tokens();
    for other in [
        "http://localhost:3119/callback",
        "http://localhost/callback",
        "http://[::1]:3118/callback",
        "http://localhost:3118/callback/",
        "https://localhost:3118/callback",
    ] {
        with(&native, Some(other)).await.oauth_error(400, "invalid_grant");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_code_is_for_the_client_that_asked() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (app, thief) = (hub.app().await, hub.app().await);
    let code = app.code(&ada, "self").await;
    thief.exchange(&code).await.oauth_error(400, "invalid_grant");
    for nonsense in ["nonsense", "stoa_at_x", &"x".repeat(5000), &code[1..], &format!("{code} ")] {
        app.exchange(nonsense).await.oauth_error(400, "invalid_grant");
    }
    hub.finish().await;
}

#[tokio::test]
async fn requests_must_be_whole_and_say_nothing_twice() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let code = app.code(&ada, "self").await;
    let good = app.exchange_parameters(&code);
    let refused = async |parameters: Parameters| {
        let reply = app.token(parameters.clone()).await;
        assert_eq!(reply.code(), 400, "{parameters:?}: {reply:?}");
        reply.oauth_error(400, "invalid_request");
    };
    refused(good.clone().without("grant_type")).await;
    refused(good.clone().set("grant_type", "")).await;
    refused(good.clone().without("code")).await;
    refused(good.clone().set("code", "")).await;
    refused(Parameters::new(&[("grant_type", "refresh_token")])).await;
    for name in ["grant_type", "code", "redirect_uri", "code_verifier"] {
        refused(good.clone().and(name, &good.get(name))).await;
    }
    refused(Parameters::new(&[("grant_type", "refresh_token"), ("refresh_token", "a"), ("refresh_token", "a")])).await;
    let twice = good.clone().set("client_id", &app.id).and("client_id", &app.id);
    hub.nobody().call("POST", "/oauth/token").form(&twice).await.oauth_error(400, "invalid_request");
    for grant in ["password", "implicit", "AUTHORIZATION_CODE", "urn:ietf:params:oauth:grant-type:device_code"] {
        app.token(good.clone().set("grant_type", grant)).await.oauth_error(400, "unsupported_grant_type");
    }
    // Text that no database takes.
    for name in ["grant_type", "code", "redirect_uri", "code_verifier", "scope", "resource"] {
        refused(good.clone().set(name, "a\0b")).await;
    }
    // Nothing of this has used the code up.
    app.token(good).await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn bodies_are_forms() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let code = app.code(&ada, "self").await;
    let good = app.exchange_parameters(&code).set("client_id", &app.id);
    let post = |path: &str| hub.nobody().call("POST", path);
    // What stands in an address is written into logs on the way.
    let reply = post(&format!("/oauth/token?{}", good.encode())).await;
    reply.oauth_error(400, "invalid_request");
    let reply = post(&format!("/oauth/token?{}", good.encode())).form(&Parameters::default()).await;
    reply.oauth_error(400, "invalid_request");
    let bodies = [
        ("application/json", json!({"grant_type": "authorization_code", "code": code}).to_string().into_bytes()),
        ("text/plain", good.encode().into_bytes()),
        (FORM, b"grant_type=%ff&code=%ff".to_vec()),
        (FORM, b"\xff\xfe\x00".to_vec()),
        (FORM, vec![]),
        (FORM, format!("{}&padding={}", good.encode(), "x".repeat(2_000_000)).into_bytes()),
    ];
    for (kind, body) in bodies {
        let reply = post("/oauth/token").body(kind, body).await;
        assert!([400, 413, 415].contains(&reply.code()), "{kind}: {reply:?}");
        assert!(reply.json()["error"].is_string() || reply.json()["code"].is_string(), "{reply:?}");
    }
    let reply = post("/oauth/token").body(&format!("{FORM};charset=UTF-8"), good.encode()).await;
    reply.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn clients_say_who_they_are() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for method in ["client_secret_basic", "client_secret_post"] {
        let metadata = json!({"redirect_uris": [CALLBACK], "token_endpoint_auth_method": method});
        let app = App::register_with(&hub.nobody(), &metadata).await;
        let secret = app.secret.clone().unwrap();
        let post = |parameters: &Parameters| hub.nobody().call("POST", "/oauth/token").form(parameters);
        let good = app.exchange_parameters(&app.code(&ada, "self").await);
        let named = good.clone().set("client_id", &app.id);

        // Nobody, somebody unknown, somebody without their secret or with another's.
        let refused = |call: Call| async move { call.await.oauth_error(401, "invalid_client") };
        refused(post(&named)).await;
        refused(post(&good.clone().set("client_id", "nobody"))).await;
        refused(post(&named.clone().set("client_secret", "wrong"))).await;
        refused(post(&named.clone().set("client_secret", ""))).await;
        refused(post(&named.clone().set("client_secret", &format!("{secret}x")))).await;
        let reply = post(&good).await;
        assert!([400, 401].contains(&reply.code()), "{reply:?}");
        for (id, secret) in [(app.id.as_str(), "wrong"), ("nobody", &secret), (&app.id, ""), ("", "")] {
            let reply = refused(post(&good).header("authorization", basic(id, secret))).await;
            let challenge = reply.header("www-authenticate").unwrap_or_default();
            assert!(challenge.starts_with("Basic"), "{reply:?}");
        }
        for header in ["Basic", "Basic !!!", "Basic eA==", "Bearer x", "Digest x", "Basic /////w=="] {
            let reply = post(&good).header("authorization", header).await;
            assert!([400, 401].contains(&reply.code()), "{header}: {reply:?}");
            assert!(reply.json()["error"].is_string(), "{header}: {reply:?}");
        }
        // Twice is once too often, also where both are right.
        let both = post(&named.clone().set("client_secret", &secret)).header("authorization", basic(&app.id, &secret));
        both.await.oauth_error(400, "invalid_request");
        let other = post(&good.clone().set("client_id", "other")).header("authorization", basic(&app.id, &secret));
        let reply = other.await;
        assert!([400, 401].contains(&reply.code()), "{reply:?}");

        // Both ways are good, whichever was registered; beside Basic the id may stand in the body.
        post(&named.clone().set("client_secret", &secret)).await.tokens();
        let by_header = |parameters: Parameters, id: &str, secret: &str| {
            post(&parameters).header("authorization", basic(id, secret))
        };
        let fresh = async || app.exchange_parameters(&app.code(&ada, "self").await);
        by_header(fresh().await, &app.id, &secret).await.tokens();
        by_header(fresh().await.set("client_id", &app.id), &app.id, &secret).await.tokens();
        let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        by_header(fresh().await, &escaped(&app.id), &escaped(&secret)).await.tokens();
    }
    hub.finish().await;
}

#[tokio::test]
async fn refreshing_needs_the_secret_too() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = App::register_with(&hub.nobody(), &json!({"redirect_uris": [CALLBACK]})).await;
    let tokens = app.tokens(&ada, "self").await;
    let bare = App { secret: None, ..app.clone() };
    bare.refresh(&tokens.refresh).await.oauth_error(401, "invalid_client");
    let wrong = App { secret: Some("wrong".to_owned()), ..app.clone() };
    wrong.refresh(&tokens.refresh).await.oauth_error(401, "invalid_client");
    app.refresh(&tokens.refresh).await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn a_client_that_does_not_refresh_gets_no_refresh_token() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let metadata = json!({
        "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none", "grant_types": ["authorization_code"],
    });
    let app = App::register_with(&hub.nobody(), &metadata).await;
    let code = app.code(&ada, "self").await;
    let said = app.exchange(&code).await.status(200).json();
    assert!(said["access_token"].is_string() && said.get("refresh_token").is_none(), "{said}");
    let other = hub.app().await.tokens(&ada, "self").await;
    app.refresh(&other.refresh).await.oauth_error(400, "unauthorized_client");
    hub.finish().await;
}

#[tokio::test]
async fn a_client_of_an_owner_gets_tokens_for_its_agent() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let app = ada.owned_app("scout").await;
    let credentials = |more: &[(&str, &str)]| {
        let start = Parameters::new(&[("grant_type", "client_credentials")]);
        app.token(more.iter().fold(start, |parameters, (name, value)| parameters.set(name, value)))
    };
    let reply = credentials(&[]).await.status(200);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let said = reply.json();
    assert_eq!(
        (&said["token_type"], &said["expires_in"], &said["scope"]),
        (&json!("Bearer"), &json!(3600), &json!(ALL))
    );
    assert!(said.get("refresh_token").is_none(), "{said}");
    let token = said["access_token"].as_str().unwrap();
    assert!(token.starts_with("stoa_at_"));
    // Its own tokens it may ask about.
    let shown = app.introspect(token).await;
    assert_eq!((&shown["agent"], &shown["client_id"]), (&json!("scout"), &json!(app.id)), "{shown}");
    assert_eq!(shown["aud"], "https://hub.example/mcp");

    let said = credentials(&[("scope", "mcp:read offline_access")]).await.status(200).json();
    assert!(said.get("refresh_token").is_none(), "{said}");
    let said = credentials(&[("scope", "mcp:read"), ("resource", "https://hub.example/mcp/")]).await.status(200).json();
    assert_eq!(said["scope"], "mcp:read");
    credentials(&[("scope", "everything")]).await.oauth_error(400, "invalid_scope");
    credentials(&[("resource", "https://evil.example/")]).await.oauth_error(400, "invalid_target");
    // Nothing else works with it.
    let code = hub.app().await.code(&ada, "self").await;
    app.exchange(&code).await.oauth_error(400, "unauthorized_client");
    let tokens = hub.app().await.tokens(&ada, "self").await;
    app.refresh(&tokens.refresh).await.oauth_error(400, "unauthorized_client");
    // In the body is as good.
    let parameters = Parameters::new(&[
        ("grant_type", "client_credentials"),
        ("client_id", &app.id),
        ("client_secret", app.secret.as_deref().unwrap()),
    ]);
    hub.nobody().call("POST", "/oauth/token").form(&parameters).await.status(200);
    let bare = App { secret: None, ..app.clone() };
    bare.ask_for_own().await.oauth_error(401, "invalid_client");
    hub.finish().await;
}

/// Else anybody who can reach the hub could make tokens.
#[tokio::test]
async fn who_registers_themself_gets_no_token_without_a_person() {
    let hub = TestHub::start().await;
    for method in ["none", "client_secret_basic", "client_secret_post"] {
        let metadata = json!({
            "redirect_uris": [CALLBACK], "token_endpoint_auth_method": method,
            "grant_types": ["authorization_code", "client_credentials", "refresh_token"],
        });
        let app = App::register_with(&hub.nobody(), &metadata).await;
        app.ask_for_own().await.oauth_error(400, "unauthorized_client");
        let with_scope = Parameters::new(&[("grant_type", "client_credentials"), ("scope", "mcp:read offline_access")]);
        app.token(with_scope).await.oauth_error(400, "unauthorized_client");
    }
    hub.finish().await;
}

/// An answer that is given again is for whoever got it first, and here nobody can tell who that was.
#[tokio::test]
async fn no_answer_with_a_secret_is_given_again() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let once = |call: Call| call.header("idempotency-key", "the-same");
    let code = app.code(&ada, "self").await;
    let first = once(app.exchange(&code)).await.tokens();
    let again = once(app.exchange(&code)).await;
    assert!(!again.is_replay() && !again.text().contains(&first.access), "{again:?}");
    again.oauth_error(400, "invalid_grant");
    let metadata = json!({"redirect_uris": [CALLBACK]});
    let register = || once(hub.nobody().post("/oauth/register", &metadata));
    let (one, two) = (register().await.status(201).json(), register().await.status(201).json());
    assert_ne!(one["client_id"], two["client_id"]);
    assert_ne!(one["client_secret"], two["client_secret"]);
    hub.finish().await;
}

#[tokio::test]
async fn tokens_open_no_door_of_the_api() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let owned = ada.owned_app("scout").await;
    let tokens = hub.app().await.tokens(&ada, "scout").await;
    for token in [&tokens.access, &tokens.refresh, &owned.own_token().await] {
        let bearer = hub.nobody().bearer(token);
        for path in
            ["/api/agents", "/auth/me", "/api/oauth/grants", "/api/oauth/clients", "/api/channels", "/api/events"]
        {
            let reply = bearer.get(path).await.status(401);
            assert!(reply.header("www-authenticate").is_some(), "{reply:?}");
        }
        bearer.post("/api/messages", &json!({"channel": "general", "body": "hello"})).await.status(401);
        bearer.post("/auth/logout", &json!({})).await.status(401);
        // Nor in any other place than the header.
        for path in [format!("/api/agents?access_token={token}"), format!("/api/agents?token={token}")] {
            hub.nobody().get(&path).await.problem(401, "unauthenticated");
        }
        let in_body = Parameters::new(&[("access_token", token)]);
        let reply = hub.nobody().call("POST", "/api/messages").form(&in_body).await;
        assert!([401, 415].contains(&reply.code()), "{reply:?}");
        hub.nobody().with(Proof::Cookie(format!("stoa_session={token}"))).get("/auth/me").await.status(401);
    }
    // A person who sends both is not who the token says.
    hub.nobody().bearer("stoa_xx_unknown").get("/api/agents").await.problem(401, "invalid_credentials");
    hub.finish().await;
}
