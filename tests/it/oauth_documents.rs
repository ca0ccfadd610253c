//! Clients whose id is an address: a document there says what they are, and the hub fetches it with care.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::oauth::{App, CALLBACK, Consent, authorize, consent_path};
use crate::support::{DAY, Elsewhere, HOUR, Human, MINUTE, Setup, TestHub};

const ID: &str = "https://app.example/oauth/client.json";
const SECOND: Duration = Duration::from_secs(1);

fn document() -> Value {
    json!({
        "client_id": ID, "client_name": "A Described App", "client_uri": "https://app.example",
        "redirect_uris": [CALLBACK], "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"], "token_endpoint_auth_method": "none",
    })
}

fn changed(name: &str, value: Value) -> Value {
    let mut document = document();
    document[name] = value;
    document
}

fn without(name: &str) -> Value {
    let mut document = document();
    document.as_object_mut().unwrap().remove(name);
    document
}

fn with(elsewhere: &Elsewhere) -> Setup {
    let client = elsewhere.client();
    TestHub::setup().session_lifetime(10 * DAY).configure(|config| config.outbound = Some(client))
}

async fn start(elsewhere: &Elsewhere) -> (TestHub, Human, App) {
    let hub = with(elsewhere).start().await;
    let ada = hub.human("ada").await;
    let app = App::known_as(&hub.nobody(), ID, CALLBACK);
    (hub, ada, app)
}

#[tokio::test]
async fn a_described_client_needs_no_registration() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    elsewhere.put(ID, "", &document());
    let (hub, ada, app) = start(&elsewhere).await;
    ada.agent("scout").await;
    let page = app.consent(&ada).await;
    for word in ["A Described App", "app.example"] {
        assert!(page.page.text().contains(word), "{word}");
    }
    let landing = page.approve(&ada, "scout").await.landing();
    assert_eq!(landing.place, CALLBACK);
    let tokens = app.exchange(&landing.get("code")).await.tokens();
    let tokens = app.refresh(&tokens.refresh).await.tokens();
    let said = hub.inspector().await.introspect(&tokens.access).await;
    assert_eq!((&said["client_id"], &said["agent"]), (&json!(ID), &json!("scout")));
    let grants = ada.grants().await;
    assert_eq!(grants[0]["client"], json!({"client_id": ID, "name": "A Described App", "kind": "document"}));
    let clients = hub.admin().await.list("/api/admin/oauth-clients").await;
    assert!(clients.iter().any(|client| client["client_id"] == ID && client["kind"] == "document"), "{clients:?}");
    // It is public, and gets no tokens without a person.
    app.ask_for_own().await.oauth_error(400, "unauthorized_client");
    assert_eq!(elsewhere.asked(), [ID]);
    app.revoke(&tokens.refresh).await.status(200);
    assert!(ada.grants().await.is_empty());
    hub.finish().await;
}

/// What the programs of others publish, with the redirect URIs that they then use.
#[tokio::test]
async fn real_documents_are_understood() {
    let claude = "https://claude.ai/oauth/claude-code-client-metadata";
    let code = "https://vscode.dev/oauth/client-metadata.json";
    let elsewhere = Elsewhere::new(&["claude.ai", "vscode.dev"]);
    let describe = |id: &str, name: &str, uris: Value| {
        json!({
            "client_id": id, "client_name": name, "client_uri": "https://example.com", "redirect_uris": uris,
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none", "application_type": "native", "logo_uri": "https://example.com/x.png",
        })
    };
    let loopback = json!(["http://localhost/callback", "http://127.0.0.1/callback"]);
    elsewhere.put(claude, "", &describe(claude, "Claude Code", loopback));
    let uris = json!(["http://127.0.0.1:33418/", "http://127.0.0.1/", "https://vscode.dev/redirect"]);
    elsewhere.put(
        code,
        "; charset=utf-8\r\ncache-control: public, max-age=600",
        &describe(code, "Visual Studio Code", uris),
    );
    let hub = with(&elsewhere).start().await;
    let ada = hub.human("ada").await;
    for (id, uri) in [
        (claude, "http://localhost:54213/callback"),
        (claude, "http://127.0.0.1:54213/callback"),
        (code, "http://127.0.0.1:33418/"),
        (code, "http://127.0.0.1:41000/"),
        (code, "https://vscode.dev/redirect"),
    ] {
        let app = App::known_as(&hub.nobody(), id, uri);
        app.tokens(&ada, "self").await;
    }
    for (id, uri) in [(claude, "http://localhost:54213/other"), (code, "https://vscode.dev/redirect/more")] {
        let app = App::known_as(&hub.nobody(), id, uri);
        authorize(&ada, &app.parameters()).await.page(400);
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_document_is_kept_as_long_as_it_says_within_bounds() {
    for (header, kept) in [
        ("", 5 * MINUTE),
        ("\r\ncache-control: no-store", 5 * MINUTE),
        ("\r\ncache-control: no-cache, max-age=7200", 5 * MINUTE),
        ("\r\ncache-control: max-age=0", 5 * MINUTE),
        ("\r\ncache-control: max-age=nonsense", 5 * MINUTE),
        ("\r\ncache-control: public, max-age=7200", 2 * HOUR),
        ("\r\ncache-control: max-age=31536000, immutable", DAY),
    ] {
        let elsewhere = Elsewhere::new(&["app.example"]);
        elsewhere.put(ID, header, &document());
        let (hub, ada, app) = start(&elsewhere).await;
        app.tokens(&ada, "self").await;
        let mut tokens = app.tokens(&ada, "self").await;
        hub.advance(kept - SECOND);
        app.consent(&ada).await;
        tokens = app.refresh(&tokens.refresh).await.tokens();
        assert_eq!(elsewhere.asked().len(), 1, "{header:?}: it was kept for less");
        hub.advance(2 * SECOND);
        app.consent(&ada).await;
        assert_eq!(elsewhere.asked().len(), 2, "{header:?}: it was kept for longer");
        app.refresh(&tokens.refresh).await.tokens();
        hub.finish().await;
    }
}

/// What is fetched anew counts from then on.
#[tokio::test]
async fn a_changed_document_changes_the_client() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    elsewhere.put(ID, "", &document());
    let (hub, ada, app) = start(&elsewhere).await;
    let tokens = app.tokens(&ada, "self").await;
    let mut moved = changed("redirect_uris", json!(["https://app.example/moved"]));
    moved["client_name"] = json!("Another Name");
    elsewhere.put(ID, "", &moved);
    app.consent(&ada).await;
    hub.advance(6 * MINUTE);
    authorize(&ada, &app.parameters()).await.page(400);
    let page = app.using("https://app.example/moved").consent(&ada).await;
    assert!(page.page.text().contains("Another Name"));
    app.refresh(&tokens.refresh).await.tokens();
    // One that went away, or is broken, is no client any more; what it has been granted is the person's to end.
    elsewhere.answer(ID, "404 Not Found", "");
    hub.advance(6 * MINUTE);
    authorize(&ada, &app.using("https://app.example/moved").parameters()).await.page(400);
    hub.finish().await;
}

#[tokio::test]
async fn bad_documents_are_refused() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    let (hub, ada, app) = start(&elsewhere).await;
    let mut fetched = 0;
    let mut refused = async |what: &str| {
        let reply = authorize(&ada, &app.parameters()).await;
        assert_eq!(reply.code(), 400, "{what}: {reply:?}");
        reply.page(400);
        fetched += 1;
        assert_eq!(elsewhere.connections(), fetched, "{what}: it was asked for once");
        hub.advance(MINUTE);
    };
    refused("there is none").await;
    for (document, what) in [
        (changed("client_id", json!("https://app.example/other.json")), "that of another"),
        (changed("client_id", json!("https://app.example/oauth/client.json/")), "almost its own"),
        (without("client_id"), "without an id"),
        (without("client_name"), "without a name"),
        (changed("client_name", json!("")), "with an empty name"),
        (changed("client_name", json!(1)), "with a number for a name"),
        (without("redirect_uris"), "without redirect URIs"),
        (changed("redirect_uris", json!([])), "with no redirect URI"),
        (changed("redirect_uris", json!([CALLBACK, "javascript:alert(1)"])), "with a bad redirect URI"),
        (changed("redirect_uris", json!(["http://app.example/callback"])), "with http"),
        (changed("token_endpoint_auth_method", json!("client_secret_basic")), "with a secret"),
        (changed("token_endpoint_auth_method", json!("client_secret_post")), "with another secret"),
        (changed("token_endpoint_auth_method", json!("private_key_jwt")), "with a key"),
        (changed("client_secret", json!("well known")), "with its secret in it"),
        (changed("grant_types", json!(["client_credentials"])), "without a code"),
        (json!([]), "a list"),
        (json!("text"), "a word"),
        (changed("padding", json!("x".repeat(5 * 1024))), "too long"),
    ] {
        elsewhere.put(ID, "", &document);
        refused(what).await;
    }
    for (head, body, what) in [
        ("200 OK\r\ncontent-type: application/json", &b"{\"client_id\":"[..], "half of one"),
        ("200 OK\r\ncontent-type: application/json", b"<html></html>", "a page"),
        ("200 OK\r\ncontent-type: application/json", b"\xff\xfe", "bytes"),
        ("200 OK\r\ncontent-type: application/json", b"", "nothing"),
        ("500 Internal Server Error", b"", "a fault"),
        ("404 Not Found", b"", "a gap"),
        ("204 No Content", b"", "silence"),
    ] {
        elsewhere.answer(ID, head, body);
        refused(what).await;
    }
    elsewhere.answer(ID, "200 OK\r\ncontent-type: text/html", document().to_string());
    refused("not sent as JSON").await;
    // A document elsewhere, however good, is not at the address that names the client.
    let other = "https://app.example/elsewhere.json";
    elsewhere.put(other, "", &document());
    for status in ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect"] {
        elsewhere.answer(ID, &format!("{status}\r\nlocation: {other}"), document().to_string());
        refused(status).await;
    }
    assert!(!elsewhere.asked().contains(&other.to_owned()));
    elsewhere.put(ID, "", &document());
    app.tokens(&ada, "self").await;
    hub.finish().await;
}

#[tokio::test]
async fn five_kibibytes_fit() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    let room = 5 * 1024 - changed("padding", json!("")).to_string().len();
    elsewhere.put(ID, "", &changed("padding", json!("x".repeat(room))));
    let (hub, ada, app) = start(&elsewhere).await;
    app.consent(&ada).await;
    hub.finish().await;
}

#[tokio::test]
async fn nobody_inside_is_called() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    elsewhere.put(ID, "", &document());
    let (hub, ada, app) = start(&elsewhere).await;
    for addresses in [
        &["127.0.0.1"][..],
        &["10.0.0.1"],
        &["192.168.1.1"],
        &["169.254.169.254"],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["fd00::1"],
        &["0.0.0.0"],
        &["93.184.216.34", "10.0.0.1"],
        &[],
    ] {
        elsewhere.resolve("app.example", addresses);
        let page = authorize(&ada, &app.parameters()).await.page(400);
        for address in addresses {
            assert!(!page.text().contains(address), "{address} is nobody's business: {page:?}");
        }
    }
    for id in ["https://127.0.0.1/client.json", "https://[::1]/client.json", "https://localhost/client.json"] {
        let app = App::known_as(&hub.nobody(), id, CALLBACK);
        authorize(&ada, &app.parameters()).await.page(400);
    }
    assert_eq!(elsewhere.connections(), 0);
    hub.finish().await;
}

#[tokio::test]
async fn an_id_is_a_plain_https_address() {
    let elsewhere = Elsewhere::new(&["app.example", "other.example"]);
    let (hub, ada, _) = start(&elsewhere).await;
    for id in [
        "http://app.example/oauth/client.json",
        "https://app.example",
        "https://app.example/oauth/../client.json",
        "https://app.example/./client.json",
        "https://app.example/%2e%2e/client.json",
        "https://app.example/oauth/%2E/client.json",
        "https://app.example/oauth/client.json#fragment",
        "https://user@app.example/oauth/client.json",
        "https://user:password@app.example/oauth/client.json",
        "https://app.example\\@other.example/client.json",
        "https:///client.json",
        "HTTPS://app.example/oauth/client.json",
        "ftp://app.example/client.json",
        "file:///etc/passwd",
        "data:application/json,{}",
        "//app.example/client.json",
        "https://app.example/a b",
        "https://app.example/\n",
        &format!("https://app.example/{}", "x".repeat(5000)),
    ] {
        // Even where there is a document that says so.
        elsewhere.put(id, "", &changed("client_id", json!(id)));
        let app = App::known_as(&hub.nobody(), id, CALLBACK);
        let reply = authorize(&ada, &app.parameters()).await;
        assert_eq!(reply.code(), 400, "{id:?}: {reply:?}");
        reply.page(400);
        app.exchange("nothing").await.oauth_error(401, "invalid_client");
    }
    assert_eq!(elsewhere.connections(), 0, "{:?}", elsewhere.asked());
    hub.finish().await;
}

/// A certificate for another name proves nothing.
#[tokio::test]
async fn the_server_must_be_who_it_says() {
    let elsewhere = Elsewhere::new(&["other.example"]);
    elsewhere.resolve("app.example", &["93.184.216.34"]);
    elsewhere.put(ID, "", &document());
    let (hub, ada, app) = start(&elsewhere).await;
    authorize(&ada, &app.parameters()).await.page(400);
    assert!(elsewhere.asked().is_empty());
    hub.finish().await;
}

/// The token endpoint asks nobody: whoever calls it could make the hub call others.
#[tokio::test]
async fn only_people_make_the_hub_fetch() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    elsewhere.put(ID, "", &document());
    let (hub, ada, app) = start(&elsewhere).await;
    app.exchange("nothing").await.oauth_error(401, "invalid_client");
    app.refresh("nothing").await.oauth_error(401, "invalid_client");
    app.revoke("nothing").await.oauth_error(401, "invalid_client");
    // A stranger is sent to the login first, and what they ask for waits until somebody has come through it.
    let reply = authorize(&hub.nobody(), &app.parameters()).await.status(303);
    let login = reply.header("location").unwrap().to_owned();
    let request_id = login.strip_prefix("/login?next=%2Foauth%2Fauthorize%3Frequest_id%3D").unwrap();
    assert_eq!(elsewhere.connections(), 0);
    let page = Consent::of(ada.get(&consent_path(request_id)).await);
    assert_eq!(elsewhere.connections(), 1);
    let landing = page.approve(&ada, "self").await.landing();
    app.exchange(&landing.get("code")).await.tokens();
    // It was read, so it is over.
    ada.get(&consent_path(request_id)).await.page(400);
    assert_eq!(elsewhere.connections(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn what_led_to_nothing_is_not_tried_again_at_once() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    let (hub, ada, app) = start(&elsewhere).await;
    for _ in 0..5 {
        authorize(&ada, &app.parameters()).await.page(400);
    }
    assert_eq!(elsewhere.connections(), 1);
    elsewhere.put(ID, "", &document());
    hub.advance(MINUTE);
    app.tokens(&ada, "self").await;
    assert_eq!(elsewhere.connections(), 2);
    hub.finish().await;
}

/// Which addresses lead where inside is nothing that a page tells.
#[tokio::test]
async fn a_page_does_not_tell_what_is_inside() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    let (hub, ada, _) = start(&elsewhere).await;
    let said = async |id: &str| {
        let app = App::known_as(&hub.nobody(), id, CALLBACK);
        authorize(&ada, &app.parameters()).await.page(400).text()
    };
    let unknown = said("https://nowhere.example/client.json").await;
    assert_eq!(said("https://127.0.0.1:1/client.json").await, unknown);
    assert_eq!(said("https://10.0.0.1/client.json").await, unknown);
    hub.finish().await;
}

#[tokio::test]
async fn a_described_client_can_be_deleted_and_comes_back_without_its_grants() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    elsewhere.put(ID, "", &document());
    let (hub, ada, app) = start(&elsewhere).await;
    let inspector = hub.inspector().await;
    let tokens = app.tokens(&ada, "self").await;
    hub.operator().call("oauth.clients.delete", json!({"client_id": ID})).await;
    assert!(!inspector.is_active(&tokens.access).await && ada.grants().await.is_empty());
    app.refresh(&tokens.refresh).await.oauth_error(401, "invalid_client");
    app.tokens(&ada, "self").await;
    app.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    assert!(!inspector.is_active(&tokens.access).await);
    hub.finish().await;
}
