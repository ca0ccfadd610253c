//! The page on which a person decides who may act for them: what it shows, and who can press its buttons.

use std::time::Duration;

use serde_json::json;

use crate::support::oauth::{
    ALL, App, CALLBACK, Consent, Parameters, STATE, authorize, consent_path, decide, forms, log_in_at, unescaped,
};
use crate::support::{Call, Client, DAY, Human, MINUTE, Reply, TestHub, how_many, together};

/// The directive of a policy, without its name.
fn directive(page: &Reply, name: &str) -> Option<String> {
    let policy = page.header("content-security-policy").unwrap();
    let found = policy.split(';').map(str::trim).find_map(|part| part.strip_prefix(name)?.strip_prefix(' '));
    found.map(str::to_owned)
}

#[tokio::test]
async fn the_page_says_who_asks_for_what() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for name in ["scout", "finder"] {
        ada.agent(name).await;
    }
    bob.agent("errand").await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    let text = page.page.text();
    for word in ["An App", "app.example", "ada"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let mut agents = page.agents.clone();
    agents.sort_unstable();
    assert_eq!(agents, ["finder", "scout", "self"]);
    assert!(!text.contains("errand"), "other people's agents are not offered: {text}");
    assert!(!unescaped(&text).contains(STATE), "the page needs no state");
    assert_eq!(page.page.header("x-frame-options").unwrap_or("DENY"), "DENY");
    assert_eq!(page.page.header("referrer-policy"), Some("same-origin"));
    // Somebody without agents can still let it act for themself.
    let carol = hub.human("carol").await;
    assert_eq!(app.consent(&carol).await.agents, ["self"]);
    hub.finish().await;
}

#[tokio::test]
async fn the_page_tells_reading_from_writing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let shown = async |scope: &str| {
        let page = Consent::of(authorize(&ada, &app.parameters().set("scope", scope)).await).page.text();
        // Without what differs from one request to the next.
        let hidden = forms(&page).into_iter().flat_map(|form| form.fields).filter(|field| field.kind == "hidden");
        hidden.fold(page.clone(), |page, field| page.replace(&field.value, ""))
    };
    assert_ne!(shown("mcp:read").await, shown(ALL).await);
    assert_eq!(shown("mcp:read").await, shown("mcp:read").await);
    hub.finish().await;
}

/// Whoever listens on this computer gets the code: it need not be the program that the person thinks of.
#[tokio::test]
async fn the_page_warns_of_programs_on_this_computer() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let shown = async |uri: &str| {
        let app = App::redirecting_to(&hub.nobody(), uri).await;
        app.consent(&ada).await.page.text().to_lowercase()
    };
    let warning = "this computer";
    for uri in ["http://localhost:3118/callback", "http://127.0.0.1:33418/", "http://[::1]:1/x"] {
        let text = shown(uri).await;
        let host = uri.split("//").nth(1).unwrap().rsplit_once(':').unwrap().0;
        assert!(text.contains(warning) && text.contains(host), "{uri}: {text}");
    }
    assert!(!shown(CALLBACK).await.contains(warning));
    hub.finish().await;
}

#[tokio::test]
async fn a_client_cannot_write_the_page() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let name = "</title><script>alert(1)</script><form action=//evil.example><b onclick=x>\"'&";
    let metadata = json!({"redirect_uris": [CALLBACK], "client_name": name, "token_endpoint_auth_method": "none"});
    let app = App::register_with(&hub.nobody(), &metadata).await;
    let page = app.consent(&ada).await;
    let text = page.page.text();
    assert!(!text.contains("<script") && !text.contains("<b onclick"), "{text}");
    assert!(forms(&text).iter().all(|form| form.action == "/oauth/authorize/decision"), "{text}");
    // A name cannot end the quotation that it stands in.
    assert!(unescaped(&text).contains(&name.replace('"', "'")), "{text}");
    // Text that turns the page around is not kept, and long names do not push the rest out of sight.
    let name = format!("a\u{202e}elpmaxe\u{200b}\u{ad}” act for you? “{}", "x".repeat(150));
    let metadata = json!({"redirect_uris": [CALLBACK], "client_name": name, "token_endpoint_auth_method": "none"});
    let app = App::register_with(&hub.nobody(), &metadata).await;
    let text = app.consent(&ada).await.page.text();
    assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{ad}']), "{text}");
    assert!(text.matches('”').count() == text.matches('“').count() && !text.contains(&"x".repeat(100)), "{text}");
    hub.finish().await;
}

/// Chromium checks where a form leads in the end, so the policy has to name the client's place.
#[tokio::test]
async fn the_form_may_lead_to_the_client_and_nowhere_else() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for (uri, origin) in [
        ("https://claude.ai/api/mcp/auth_callback", "https://claude.ai"),
        ("https://app.example:8443/callback?x=1", "https://app.example:8443"),
        ("http://localhost:3118/callback", "http://localhost:3118"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:33418"),
    ] {
        let app = App::redirecting_to(&hub.nobody(), uri).await;
        let page = app.consent(&ada).await;
        let leads_to = directive(&page.page, "form-action").unwrap();
        assert!(leads_to.starts_with(&format!("'self' {origin} ")), "{leads_to}");
        // The app's page may hand the answer on to the app itself.
        assert!(leads_to.contains(" claude:") && !leads_to.contains('*'), "{leads_to}");
        assert_eq!(directive(&page.page, "default-src"), Some("'none'".to_owned()));
        assert_eq!(directive(&page.page, "frame-ancestors"), Some("'none'".to_owned()));
        page.approve(&ada, "self").await.landing();
    }
    // The port that is asked for is the one that counts.
    let app =
        App::redirecting_to(&hub.nobody(), "http://localhost/callback").await.using("http://127.0.0.1:9/callback");
    let page = app.consent(&ada).await;
    assert!(directive(&page.page, "form-action").unwrap().starts_with("'self' http://127.0.0.1:9 "));
    // No policy can name a private scheme, or an address of this kind.
    for uri in ["cursor://anysphere.cursor-mcp/oauth/callback", "http://[::1]:4000/callback"] {
        let app = App::redirecting_to(&hub.nobody(), uri).await;
        let page = app.consent(&ada).await;
        assert_eq!(directive(&page.page, "form-action"), None);
        page.approve(&ada, "self").await.landing();
    }
    hub.finish().await;
}

#[tokio::test]
async fn somebody_without_a_session_logs_in_first() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let sent = authorize(&hub.nobody(), &app.parameters()).await.status(303);
    let location = sent.header("location").unwrap().to_owned();
    assert!(location.starts_with("/login?next=%2Foauth%2Fauthorize%3Frequest_id%3D"), "{location}");
    // The request waits in the hub; the address has nothing of it.
    for word in [&app.id, "app.example", "state", "challenge"] {
        assert!(!location.contains(word), "{word}: {location}");
    }
    let logged_in = log_in_at(&hub, &location, "ada").await;
    let back = logged_in.header("location").unwrap().to_owned();
    assert!(back.starts_with("/oauth/authorize?request_id="), "{back}");
    let session = hub.nobody().cookie(&logged_in.cookie());
    let page = Consent::of(session.get(&back).await);
    // Looking again shows it again.
    assert_eq!(Consent::of(session.get(&back).await).request_id(), page.request_id());
    let landing = page.approve(&session, "self").await.landing();
    assert_eq!((landing.place.as_str(), landing.get("state").as_str()), (CALLBACK, STATE));
    let tokens = app.exchange(&landing.get("code")).await.tokens();
    assert_eq!(hub.inspector().await.introspect(&tokens.access).await["username"], ada.name);
    hub.finish().await;
}

#[tokio::test]
async fn an_expired_session_is_no_session() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    ada.call("POST", "/auth/logout").await.status(204);
    let sent = authorize(&ada, &app.parameters()).await.status(303);
    assert!(sent.header("location").unwrap().starts_with("/login?next="), "{sent:?}");
    // Nobody decides anything with it either.
    let reply = page.approve(&ada, "self").await;
    assert!([303, 400, 401, 403].contains(&reply.code()), "{reply:?}");
    assert!(!reply.header("location").unwrap_or_default().contains("code="), "{reply:?}");
    assert!(hub.log_in("ada").await.grants().await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_token_acts_as_who_was_chosen() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let tokens = app.tokens(&ada, "scout").await;
    let said = inspector.introspect(&tokens.access).await;
    assert_eq!((&said["username"], &said["agent"]), (&json!("ada"), &json!("scout")), "{said}");
    // What follows stays with the agent.
    let tokens = app.refresh(&tokens.refresh).await.tokens();
    assert_eq!(inspector.introspect(&tokens.access).await["agent"], "scout");
    let tokens = app.tokens(&ada, "self").await;
    let said = inspector.introspect(&tokens.access).await;
    assert_eq!(said["username"], "ada");
    assert!(said.get("agent").is_none_or(serde_json::Value::is_null), "{said}");
    let grants = ada.grants().await;
    let mut agents: Vec<_> = grants.iter().map(|grant| grant["agent"].clone()).collect();
    agents.sort_by_key(ToString::to_string);
    assert_eq!(agents, [json!("scout"), json!(null)]);
    hub.finish().await;
}

#[tokio::test]
async fn no_means_no() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    let landing = page.deny(&ada).await.landing().error("access_denied");
    assert_eq!((landing.place.as_str(), landing.get("state").as_str()), (CALLBACK, STATE));
    page.approve(&ada, "self").await.page(400);
    // Nobody has to choose an agent to say no.
    let page = app.consent(&ada).await;
    decide(&ada, &page.choice("self", "deny").without("agent")).await.landing().error("access_denied");
    assert!(ada.grants().await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_decision_is_made_once() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    page.approve(&ada, "self").await.landing();
    page.approve(&ada, "self").await.page(400);
    page.deny(&ada).await.page(400);
    ada.get(&consent_path(&page.request_id())).await.page(400);
    // Also when somebody presses the button twice.
    let page = app.consent(&ada).await;
    let replies = together((0..8).map(|_| page.approve(&ada, "self"))).await;
    assert_eq!(how_many(&replies, 303), 1, "{replies:?}");
    assert_eq!(how_many(&replies, 400), 7, "{replies:?}");
    hub.finish().await;
}

#[tokio::test]
async fn a_request_waits_ten_minutes() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let (page, late) = (app.consent(&ada).await, app.consent(&ada).await);
    let sent = authorize(&hub.nobody(), &app.parameters()).await.status(303);
    hub.advance(10 * MINUTE - Duration::from_secs(1));
    page.approve(&ada, "self").await.landing();
    hub.advance(Duration::from_secs(2));
    late.approve(&ada, "self").await.page(400);
    ada.get(&consent_path(&late.request_id())).await.page(400);
    // Whoever took so long to log in learns why nothing comes of it.
    let logged_in = log_in_at(&hub, sent.header("location").unwrap(), "ada").await;
    let session = hub.nobody().cookie(&logged_in.cookie());
    session.get(logged_in.header("location").unwrap()).await.page(400);
    hub.settle().await;
    late.approve(&ada, "self").await.page(400);
    hub.finish().await;
}

/// Refused, with the request left as it was.
async fn changes_nothing(ada: &Human, page: &Consent, call: Call, what: &str) {
    let reply = call.await;
    assert_eq!(reply.code(), 403, "{what}: {reply:?}");
    assert_eq!(reply.header("location"), None, "{what}");
    assert_eq!(Consent::of(ada.get(&consent_path(&page.request_id())).await).request_id(), page.request_id(), "{what}");
}

#[tokio::test]
async fn only_the_persons_own_agents_can_be_chosen() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.agent("scout").await;
    bob.agent("errand").await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    for agent in ["errand", "nobody", "bob", "ada", "system", "SELF", "scout,self", "*"] {
        changes_nothing(&ada, &page, page.approve(&ada, agent), agent).await;
    }
    // One that was there when the page was shown.
    ada.delete("/api/agents/scout").await.ok();
    changes_nothing(&ada, &page, page.approve(&ada, "scout"), "a deleted agent").await;
    page.approve(&ada, "self").await.landing();
    assert!(bob.grants().await.is_empty() && ada.grants().await.len() <= 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_page_works_in_its_own_session_only() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let again = ada.again().await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    for (visitor, what) in [(&bob, "somebody else"), (&again, "another session of the same person")] {
        changes_nothing(&ada, &page, page.approve(visitor, "self"), what).await;
        changes_nothing(&ada, &page, page.deny(visitor), what).await;
        let own = app.consent(visitor).await;
        let mixed = page.choice("self", "approve").set("csrf", &own.hidden.get("csrf"));
        changes_nothing(&ada, &page, decide(visitor, &mixed), what).await;
        // What belongs to another is not shown either.
        let reply = visitor.get(&consent_path(&page.request_id())).await;
        assert!([400, 403].contains(&reply.code()) && !reply.text().contains("An App"), "{reply:?}");
    }
    page.approve(&ada, "self").await.landing();
    assert!(bob.grants().await.is_empty());
    hub.finish().await;
}

/// The first session that comes with a waiting request keeps it.
#[tokio::test]
async fn a_request_from_before_the_login_belongs_to_who_logs_in() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let app = hub.app().await;
    let sent = authorize(&hub.nobody(), &app.parameters()).await.status(303);
    let logged_in = log_in_at(&hub, sent.header("location").unwrap(), "ada").await;
    let back = logged_in.header("location").unwrap().to_owned();
    let session = hub.nobody().cookie(&logged_in.cookie());
    let page = Consent::of(session.get(&back).await);
    for other in [&bob, &ada] {
        let reply = other.get(&back).await;
        assert!([400, 403].contains(&reply.code()), "{reply:?}");
        page.approve(other, "self").await.page(403);
    }
    page.approve(&session, "self").await.landing();
    hub.finish().await;
}

#[tokio::test]
async fn another_site_cannot_decide() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "https://hub.example.evil.example"),
        ("origin", "null"),
    ] {
        changes_nothing(&ada, &page, page.approve(&ada, "self").header(name, value), value).await;
        changes_nothing(&ada, &page, page.deny(&ada).header(name, value), value).await;
    }
    page.approve(&ada, "self").header("sec-fetch-site", "same-origin").await.landing();
    let page = app.consent(&ada).await;
    page.approve(&ada, "self").header("origin", "https://hub.example").await.landing();
    hub.finish().await;
}

#[tokio::test]
async fn a_decision_needs_the_token_of_its_page() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let (page, other) = (app.consent(&ada).await, app.consent(&ada).await);
    let csrf = page.hidden.get("csrf");
    assert!(csrf.len() >= 22, "{csrf}");
    let wrong: String = csrf.chars().rev().collect();
    for token in [wrong.as_str(), "x", &csrf[1..], &other.hidden.get("csrf")] {
        // One token for a whole session would do as well.
        if token != csrf {
            let choice = page.choice("self", "approve").set("csrf", token);
            changes_nothing(&ada, &page, decide(&ada, &choice), token).await;
        }
    }
    page.approve(&ada, "self").await.landing();
    hub.finish().await;
}

#[tokio::test]
async fn odd_decisions_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    let good = page.choice("self", "approve");
    for parameters in [
        good.clone().without("agent"),
        good.clone().set("agent", ""),
        good.clone().set("agent", "self\0"),
        good.clone().without("decision"),
        good.clone().set("decision", ""),
        good.clone().set("decision", "maybe"),
        good.clone().set("decision", "APPROVE"),
        good.clone().and("decision", "deny"),
        good.clone().and("agent", "scout"),
        good.clone().set("request_id", "nothing"),
        good.clone().set("request_id", ""),
        good.clone().set("request_id", "a\0b"),
        good.clone().without("request_id"),
        good.clone().and("request_id", "nothing"),
    ] {
        let reply = decide(&ada, &parameters).await;
        assert_eq!(reply.code(), 400, "{parameters:?}: {reply:?}");
        reply.page(400);
    }
    for parameters in [good.clone().without("csrf"), good.clone().set("csrf", "")] {
        let reply = decide(&ada, &parameters).await;
        assert!([400, 403].contains(&reply.code()), "{reply:?}");
    }
    let post = |client: &Client, kind: &str, body: &'static [u8]| {
        client.call("POST", "/oauth/authorize/decision").body(kind, body)
    };
    for (kind, body) in [
        ("application/x-www-form-urlencoded", &b"request_id=%ff&csrf=%ff&agent=self&decision=approve"[..]),
        ("application/x-www-form-urlencoded", b"\xff\xfe"),
        ("application/x-www-form-urlencoded", b""),
        ("application/json", b"{}"),
        ("text/plain", b"request_id=1"),
    ] {
        let reply = post(&ada, kind, body).await;
        assert!([400, 415, 422].contains(&reply.code()), "{reply:?}");
    }
    // After all of this, the page still works.
    page.approve(&ada, "self").await.landing();
    hub.finish().await;
}

#[tokio::test]
async fn whoever_is_not_meant_can_switch() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    hub.human("bob").await;
    let app = hub.app().await;
    let page = app.consent(&ada).await;
    let form = forms(&page.page.text()).into_iter().find(|form| form.values("decision").any(|value| value == "switch"));
    let form = form.unwrap_or_else(|| panic!("nobody can say that it is not them: {:?}", page.page));
    assert_eq!((form.action.as_str(), form.method.as_str()), ("/oauth/authorize/decision", "post"));
    let fields = form.fields.iter().fold(Parameters::default(), |all, field| all.and(&field.name, &field.value));
    let foreign = decide(&ada, &fields).header("sec-fetch-site", "cross-site");
    changes_nothing(&ada, &page, foreign, "another site logs nobody out").await;

    let sent = decide(&ada, &fields).await.status(303);
    let location = sent.header("location").unwrap().to_owned();
    assert!(location.starts_with("/login?next=%2Foauth%2Fauthorize%3Frequest_id%3D"), "{location}");
    assert_eq!(ada.get("/auth/me").await.code(), 401, "the old session has ended");
    let logged_in = log_in_at(&hub, &location, "bob").await;
    let session = hub.nobody().cookie(&logged_in.cookie());
    let page = Consent::of(session.get(logged_in.header("location").unwrap()).await);
    let landing = page.approve(&session, "self").await.landing();
    assert_eq!(landing.get("state"), STATE);
    let tokens = app.exchange(&landing.get("code")).await.tokens();
    assert_eq!(hub.inspector().await.introspect(&tokens.access).await["username"], "bob");
    hub.finish().await;
}

/// A program that can register itself is nobody in particular: a yes of yesterday is none for it.
#[tokio::test]
async fn consent_is_asked_for_each_time() {
    let hub = TestHub::setup().session_lifetime(10 * DAY).start().await;
    let ada = hub.human("ada").await;
    let apps = [hub.app().await, App::redirecting_to(&hub.nobody(), "http://localhost:3118/callback").await];
    for app in apps {
        for _ in 0..3 {
            app.tokens(&ada, "self").await;
            hub.advance(MINUTE);
        }
        let silent = app.parameters().set("prompt", "none");
        let reply = authorize(&ada, &silent).await;
        assert!(!reply.header("location").unwrap_or_default().contains("code="), "{reply:?}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn consent_is_written_down() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    app.consent(&ada).await.deny(&ada).await.landing();
    assert!(hub.audit().await.iter().all(|entry| entry["action"] != "oauth.granted"));
    app.tokens(&ada, "self").await;
    let audit = hub.audit().await;
    let granted: Vec<_> = audit.iter().filter(|entry| entry["action"] == "oauth.granted").collect();
    assert_eq!(granted.len(), 1, "{audit:?}");
    assert!(granted[0].to_string().contains("ada"), "{granted:?}");
    hub.finish().await;
}
