//! What people see of all this: the clients that they made, and what they let others do.

use serde_json::{Value, json};

use crate::support::oauth::{ALL, App, CALLBACK, Parameters, basic};
use crate::support::{Client, DAY, MINUTE, TestHub, each};
use crate::walk::{Row, admin, public, session, session_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        session("GET /api/oauth/clients"),
        session_thing("POST /api/oauth/clients")
            .body(json!({"name": "c", "agent": "{name}"}))
            .refused(422, "validation_failed"),
        session_thing("DELETE /api/oauth/clients/{client_id}"),
        session("GET /api/oauth/grants"),
        session_thing("DELETE /api/oauth/grants/{id}"),
        // These know clients and questions, not people: without one of them nobody gets anywhere.
        public("GET /.well-known/oauth-authorization-server", 200),
        public("GET /.well-known/oauth-protected-resource", 200),
        public("GET /.well-known/oauth-protected-resource/mcp", 200),
        public("POST /oauth/register", 201).body(json!({"redirect_uris": ["https://app.example/"]})),
        public("GET /oauth/register/{client_id}", 401),
        public("DELETE /oauth/register/{client_id}", 401),
        public("GET /oauth/authorize", 400),
        public("POST /oauth/authorize/decision", 400),
        public("POST /oauth/token", 400),
        public("POST /oauth/introspect", 400),
        public("POST /oauth/revoke", 400),
        admin("GET /api/admin/oauth-clients"),
    ]
}

#[tokio::test]
async fn a_person_makes_lists_and_deletes_clients() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let created = ada.post("/api/oauth/clients", &json!({"name": "The CI", "agent": "scout"})).await.status(201).json();
    assert!(created["client_secret"].as_str().is_some_and(|secret| secret.len() >= 43), "{created}");
    let mut client = created["client"].clone();
    let expected = json!({
        "client_id": client["client_id"], "kind": "owned", "name": "The CI", "owner": "ada", "agent": "scout",
        "auth_method": client["auth_method"], "redirect_uris": [], "grant_types": ["client_credentials"],
        "scope": client["scope"], "introspects_all": false, "grants": 0,
        "created_at": "2027-01-15T08:00:00.000Z", "last_used_at": null,
    });
    assert_eq!(client, expected);
    assert_eq!(ada.list("/api/oauth/clients").await, std::slice::from_ref(&client));
    hub.advance(MINUTE);
    let app = App::owned(&hub.nobody(), &created);
    app.own_token().await;
    client["last_used_at"] = json!("2027-01-15T08:01:00.000Z");
    assert_eq!(ada.list("/api/oauth/clients").await[0]["last_used_at"], client["last_used_at"]);
    let path = format!("/api/oauth/clients/{}", app.id);
    ada.delete(&path).await.status(204);
    ada.delete(&path).await.problem(404, "not_found");
    assert!(ada.list("/api/oauth/clients").await.is_empty());
    app.ask_for_own().await.oauth_error(401, "invalid_client");
    let actions = each(&hub.audit().await, "action");
    assert!(actions.contains(&json!("oauth.client_created")) && actions.contains(&json!("oauth.client_deleted")));
    hub.finish().await;
}

#[tokio::test]
async fn bad_requests_make_no_client() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.agent("scout").await;
    bob.agent("errand").await;
    for (request, field) in [
        (json!({"name": "", "agent": "scout"}), "name"),
        (json!({"name": "x".repeat(201), "agent": "scout"}), "name"),
        (json!({"name": "a\u{202e}b", "agent": "scout"}), "name"),
        (json!({"name": 1, "agent": "scout"}), "name"),
        (json!({"agent": "scout"}), "name"),
        (json!({"name": "x"}), "agent"),
        (json!({"name": "x", "agent": "errand"}), "agent"),
        (json!({"name": "x", "agent": "nobody"}), "agent"),
        (json!({"name": "x", "agent": "self"}), "agent"),
        (json!({"name": "x", "agent": "ada"}), "agent"),
        (json!({"name": "x", "agent": "scout", "introspects_all": true}), "introspects_all"),
        (json!({"name": "x", "agent": "scout", "redirect_uris": [CALLBACK]}), "redirect_uris"),
        (json!({"name": "x", "agent": "scout", "client_secret": "mine"}), "client_secret"),
    ] {
        ada.post("/api/oauth/clients", &request).await.invalid(&[field]);
    }
    assert!(ada.list("/api/oauth/clients").await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn the_same_request_twice_makes_one_client() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let request = json!({"name": "The CI", "agent": "scout"});
    let call = || ada.post("/api/oauth/clients", &request).header("idempotency-key", "once");
    let first = call().await.status(201);
    let again = call().await.status(201);
    assert!(again.is_replay());
    assert_eq!(first.json(), again.json());
    App::owned(&hub.nobody(), &again.json()).own_token().await;
    assert_eq!(ada.list("/api/oauth/clients").await.len(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn newest_clients_come_first_in_pages() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, json!(ada.owned_app("scout").await.id));
    }
    let first = ada.get("/api/oauth/clients?limit=3").await.ok().json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = ada.get(&format!("/api/oauth/clients?limit=3&cursor={cursor}")).await.ok().json();
    let shown: Vec<Value> =
        [&first, &rest].iter().flat_map(|page| each(page["items"].as_array().unwrap(), "client_id")).collect();
    assert_eq!(shown, ids);
    assert!(rest["next_cursor"].is_null());
    ada.get("/api/oauth/clients?cursor=nonsense").await.problem(400, "invalid_cursor");
    ada.get("/api/oauth/grants?cursor=nonsense").await.problem(400, "invalid_cursor");
    hub.finish().await;
}

#[tokio::test]
async fn a_person_sees_what_acts_for_them() {
    let hub = TestHub::setup().session_lifetime(200 * DAY).start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let app = hub.app().await;
    assert!(ada.grants().await.is_empty());
    app.consent(&ada).await;
    assert!(ada.grants().await.is_empty(), "a question is no grant");
    let tokens = app.tokens(&ada, "scout").await;
    let grants = ada.grants().await;
    assert_eq!(grants.len(), 1);
    let expected = json!({
        "id": grants[0]["id"], "user": "ada", "client": {"client_id": app.id, "name": "An App", "kind": "registered"},
        "redirect_host": "app.example", "agent": "scout", "scope": ALL, "created_at": "2027-01-15T08:00:00.000Z",
        "last_used_at": grants[0]["last_used_at"], "expires_at": grants[0]["expires_at"],
    });
    assert_eq!(grants[0], expected);
    assert!(grants[0]["id"].is_i64());
    // When it ends at the latest: ninety days from its beginning, however it is used.
    assert_eq!(grants[0]["expires_at"], "2027-04-15T08:00:00.000Z");
    hub.advance(DAY);
    app.refresh(&tokens.refresh).await.tokens();
    let grants = ada.grants().await;
    assert_eq!(grants[0]["last_used_at"], "2027-01-16T08:00:00.000Z");
    assert_eq!(grants[0]["expires_at"], "2027-04-15T08:00:00.000Z");

    app.using(CALLBACK).tokens(&ada, "self").await;
    let grants = ada.grants().await;
    assert_eq!(each(&grants, "agent"), [json!(null), json!("scout")], "the newest first");
    let path = format!("/api/oauth/grants/{}", grants[1]["id"]);
    ada.delete(&path).await.status(204);
    ada.delete(&path).await.problem(404, "not_found");
    ada.delete("/api/oauth/grants/999999").await.problem(404, "not_found");
    assert_eq!(each(&ada.grants().await, "agent"), [json!(null)]);
    assert!(each(&hub.audit().await, "action").contains(&json!("oauth.grant_revoked")));
    hub.finish().await;
}

/// Each operation with a stranger's things.
#[tokio::test]
async fn strangers_reach_nothing() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.agent("scout").await;
    bob.agent("errand").await;
    let (app, owned) = (hub.app().await, ada.owned_app("scout").await);
    let (others_app, others_owned) = (hub.app().await, bob.owned_app("errand").await);
    let inspector = hub.inspector().await;
    let tokens = app.tokens(&ada, "scout").await;
    let own = owned.own_token().await;
    let code = app.code(&ada, "self").await;
    let page = app.consent(&ada).await;
    let grant = ada.grants().await[0]["id"].clone();

    // Over REST what is another's is not there, for administrators too.
    for stranger in [&bob, &hub.admin().await] {
        stranger.delete(&format!("/api/oauth/clients/{}", owned.id)).await.problem(404, "not_found");
        stranger.delete(&format!("/api/oauth/clients/{}", app.id)).await.problem(404, "not_found");
        stranger.delete(&format!("/api/oauth/grants/{grant}")).await.problem(404, "not_found");
        stranger.post("/api/oauth/clients", &json!({"name": "x", "agent": "scout"})).await.invalid(&["agent"]);
        let clients = stranger.list("/api/oauth/clients").await;
        assert!(clients.iter().all(|client| client["owner"] == stranger.name.as_str()), "{clients:?}");
        assert!(stranger.grants().await.is_empty());
        page.approve(stranger, "self").await.page(403);
    }
    // Nobody deletes a client that registered itself over REST, and agents touch none of it.
    ada.delete(&format!("/api/oauth/clients/{}", app.id)).await.problem(404, "not_found");
    let agent = ada.agent("finder").await;
    for (method, path) in [
        ("GET", "/api/oauth/clients".to_owned()),
        ("POST", "/api/oauth/clients".to_owned()),
        ("DELETE", format!("/api/oauth/clients/{}", owned.id)),
        ("GET", "/api/oauth/grants".to_owned()),
        ("DELETE", format!("/api/oauth/grants/{grant}")),
    ] {
        let with_body = |client: &Client| {
            let call = client.call(method, &path);
            if method == "POST" { call.json(&json!({"name": "x", "agent": "finder"})) } else { call }
        };
        with_body(&agent).await.problem(403, "forbidden");
        with_body(&hub.nobody().bearer(&tokens.access)).await.status(401);
        with_body(&hub.nobody()).await.problem(401, "unauthenticated");
    }

    // At the token endpoints with the client of another.
    others_app.exchange(&code).await.oauth_error(400, "invalid_grant");
    others_app.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    let as_owned = App { id: owned.id.clone(), ..others_owned.clone() };
    as_owned.ask_for_own().await.oauth_error(401, "invalid_client");
    for token in [&tokens.access, &tokens.refresh, &own] {
        let status = others_app.revoke(token).await.code();
        assert!([200, 400].contains(&status), "{status}");
        let status = others_owned.revoke(token).await.code();
        assert!([200, 400].contains(&status), "{status}");
        assert!(!others_owned.is_active(token).await);
    }
    let token = others_app.registered["registration_access_token"].as_str().unwrap();
    for method in ["GET", "DELETE"] {
        hub.nobody().bearer(token).call(method, &format!("/oauth/register/{}", app.id)).await.status(401);
        hub.nobody().bearer(token).call(method, &format!("/oauth/register/{}", owned.id)).await.status(401);
    }

    // After all of this everything is as it was.
    assert!(inspector.is_active(&tokens.access).await && inspector.is_active(&own).await);
    app.refresh(&tokens.refresh).await.tokens();
    page.approve(&ada, "self").await.landing();
    owned.own_token().await;
    hub.finish().await;
}

#[tokio::test]
async fn administrators_see_clients_of_all_kinds() {
    let hub = TestHub::start().await;
    let (ada, admin) = (hub.human("ada").await, hub.admin().await);
    ada.agent("scout").await;
    let (app, owned) = (hub.app().await, ada.owned_app("scout").await);
    app.tokens(&ada, "self").await;
    let clients = admin.list("/api/admin/oauth-clients").await;
    let of =
        |id: &str| clients.iter().find(|client| client["client_id"] == id).unwrap_or_else(|| panic!("{clients:?}"));
    let registered = of(&app.id);
    assert_eq!(
        json!([registered["kind"], registered["owner"], registered["agent"], registered["grants"]]),
        json!(["registered", null, null, 1])
    );
    assert_eq!((&registered["redirect_uris"], &registered["auth_method"]), (&json!([CALLBACK]), &json!("none")));
    assert_eq!(of(&owned.id)["owner"], "ada");
    let secret = owned.secret.unwrap();
    assert!(clients.iter().all(|client| !client.to_string().contains(&secret)), "{clients:?}");
    ada.get("/api/admin/oauth-clients").await.problem(403, "admin_required");
    hub.finish().await;
}

#[tokio::test]
async fn operators_make_and_unmake() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let operator = hub.operator();
    let params = json!({"owner": "ada", "client": {"name": "x", "agent": "scout"}});
    let created = operator.call("oauth.clients.create", params.clone()).await;
    assert_eq!((&created["client"]["owner"], &created["client"]["introspects_all"]), (&json!("ada"), &json!(false)));
    App::owned(&hub.nobody(), &created).own_token().await;
    assert_eq!(ada.list("/api/oauth/clients").await[0]["client_id"], created["client"]["client_id"]);
    for bad in [
        json!({"owner": "ada", "client": {"name": "x", "agent": "scout", "kind": "owned"}}),
        json!({"owner": "ada", "client": {"name": "x", "agent": "scout"}, "secret": "mine"}),
        json!({"owner": "nobody", "client": {"name": "x", "agent": "scout"}}),
        json!({"owner": "ada", "client": {"name": "x", "agent": "nobody"}}),
        json!({"client": {"name": "x", "agent": "scout"}}),
    ] {
        assert!(operator.try_call("oauth.clients.create", &bad).await.is_err(), "{bad}");
    }
    let app = hub.app().await;
    let tokens = app.tokens(&ada, "scout").await;
    let page = operator.call("oauth.grants.list", json!({"user": "ada"})).await;
    assert_eq!(page["items"][0]["client"]["client_id"], app.id);
    assert!(operator.try_call("oauth.grants.list", &json!({"user": "nobody"})).await.is_err());
    let revoked = operator.call("oauth.grants.revoke", json!({"id": page["items"][0]["id"]})).await;
    assert_eq!(revoked["id"], page["items"][0]["id"]);
    assert!(operator.try_call("oauth.grants.revoke", &json!({"id": revoked["id"]})).await.is_err());
    app.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    let first = operator.call("oauth.clients.list", json!({"limit": 1})).await;
    let rest = operator.call("oauth.clients.list", json!({"limit": 1, "cursor": first["next_cursor"]})).await;
    assert_ne!(first["items"][0]["client_id"], rest["items"][0]["client_id"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_code_that_is_on_its_way_can_be_taken_back() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let code = app.code(&ada, "self").await;
    let grants = ada.grants().await;
    ada.delete(&format!("/api/oauth/grants/{}", grants[0]["id"])).await.status(204);
    app.exchange(&code).await.oauth_error(400, "invalid_grant");
    assert!(ada.grants().await.is_empty());
    hub.finish().await;
}

/// Who sends wrong secrets is stopped, at their address, and nobody who logs in has to wait for them.
#[tokio::test]
async fn secrets_cannot_be_guessed_without_end() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let app = ada.owned_app("scout").await;
    let asking = Parameters::new(&[("grant_type", "client_credentials")]);
    let guess = async |address: &str| {
        let call = hub.nobody().call("POST", "/oauth/token").form(&asking).sent_from(address);
        call.header("authorization", basic(&app.id, "wrong")).await
    };
    for _ in 0..20 {
        guess("198.51.100.7").await.oauth_error(401, "invalid_client");
    }
    let refused = guess("198.51.100.7").await.oauth_error(429, "temporarily_unavailable");
    assert!(refused.header("retry-after").is_some());
    guess("198.51.100.8").await.oauth_error(401, "invalid_client");
    // The client itself goes on, and so do people.
    app.own_token().await;
    hub.log_in("ada").await;
    hub.advance(MINUTE);
    guess("198.51.100.7").await.oauth_error(401, "invalid_client");
    hub.finish().await;
}
