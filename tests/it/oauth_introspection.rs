//! Asking about tokens, taking them back, and what else ends them.

use serde_json::{Value, json};

use crate::support::oauth::{App, CALLBACK, Parameters, Tokens, basic};
use crate::support::{Human, TestHub};

/// Ada with her agent, an app of hers and what it got, and somebody who can look.
struct Scene {
    hub: TestHub,
    ada: Human,
    inspector: App,
    app: App,
    tokens: Tokens,
}

impl Scene {
    async fn new() -> Self {
        let hub = TestHub::start().await;
        let ada = hub.human("ada").await;
        ada.agent("scout").await;
        let inspector = hub.inspector().await;
        let app = hub.app().await;
        let tokens = app.tokens(&ada, "scout").await;
        assert!(inspector.is_active(&tokens.access).await);
        Self { hub, ada, inspector, app, tokens }
    }

    /// Nothing that was issued works any more.
    async fn is_over(&self) {
        assert!(!self.inspector.is_active(&self.tokens.access).await);
        assert!(!self.inspector.is_active(&self.tokens.refresh).await);
        let reply = self.app.refresh(&self.tokens.refresh).await;
        assert!([400, 401].contains(&reply.code()), "{reply:?}");
        let error = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(["invalid_grant", "invalid_client"].contains(&error.as_str()), "{reply:?}");
    }
}

#[tokio::test]
async fn only_clients_with_a_secret_may_ask() {
    let scene = Scene::new().await;
    let nobody = scene.hub.nobody();
    let asked = Parameters::new(&[("token", &scene.tokens.access)]);
    let post = |parameters: &Parameters| nobody.call("POST", "/oauth/introspect").form(parameters);
    post(&asked).await.oauth_error(401, "invalid_client");
    post(&asked.clone().set("client_id", &scene.app.id)).await.oauth_error(401, "invalid_client");
    post(&asked.clone().set("client_id", &scene.inspector.id)).await.oauth_error(401, "invalid_client");
    let wrong = asked.clone().set("client_id", &scene.inspector.id).set("client_secret", "wrong");
    post(&wrong).await.oauth_error(401, "invalid_client");
    let reply = post(&asked).header("authorization", basic(&scene.inspector.id, "wrong")).await;
    let reply = reply.oauth_error(401, "invalid_client");
    assert!(reply.header("www-authenticate").is_some_and(|value| value.starts_with("Basic")), "{reply:?}");
    // A token proves nothing about who asks, and neither does a session.
    nobody.bearer(&scene.tokens.access).call("POST", "/oauth/introspect").form(&asked).await.status(401);
    scene.ada.call("POST", "/oauth/introspect").form(&asked).await.status(401);
    let secret = scene.inspector.secret.clone().unwrap();
    let in_body = asked.set("client_id", &scene.inspector.id).set("client_secret", &secret);
    let reply = post(&in_body).await.status(200);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.json()["active"], true);
    post(&in_body.without("token")).await.oauth_error(400, "invalid_request");
    scene.hub.finish().await;
}

/// A client that may not look at everything learns of its own tokens only; the rest are as if they were not.
#[tokio::test]
async fn each_client_sees_its_own() {
    let scene = Scene::new().await;
    let metadata = json!({"redirect_uris": [CALLBACK]});
    let (own, other) = (
        App::register_with(&scene.hub.nobody(), &metadata).await,
        App::register_with(&scene.hub.nobody(), &metadata).await,
    );
    let tokens = own.tokens(&scene.ada, "scout").await;
    assert!(own.is_active(&tokens.access).await);
    assert!(!other.is_active(&tokens.access).await && !own.is_active(&scene.tokens.access).await);
    let owned = scene.ada.owned_app("scout").await;
    let token = owned.own_token().await;
    assert!(owned.is_active(&token).await && !own.is_active(&token).await);
    assert!(!owned.is_active(&tokens.access).await, "not even those of the same agent");
    for token in [&tokens.access, &token, &scene.tokens.access] {
        assert!(scene.inspector.is_active(token).await);
    }
    scene.hub.finish().await;
}

#[tokio::test]
async fn what_is_no_token_is_not_active() {
    let scene = Scene::new().await;
    let agent = scene.ada.agent("finder").await;
    let secret = scene.inspector.secret.clone().unwrap();
    let code = scene.app.code(&scene.ada, "self").await;
    for other in ["nonsense", "", "stoa_at_x", "é", &agent.key, &secret, &code, &scene.tokens.access[1..]] {
        let reply = scene.inspector.call("/oauth/introspect", Parameters::new(&[("token", other)])).await;
        if other.is_empty() {
            assert!([200, 400].contains(&reply.code()), "{reply:?}");
        } else {
            assert_eq!(reply.status(200).json(), json!({"active": false}), "{other}");
        }
    }
    // A hint is a hint: wrong or unheard of, it changes nothing.
    for hint in ["access_token", "refresh_token", "id_token", ""] {
        let asked = Parameters::new(&[("token", &scene.tokens.access), ("token_type_hint", hint)]);
        let said = scene.inspector.call("/oauth/introspect", asked).await.status(200).json();
        assert_eq!(said["active"], true, "{hint}");
    }
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_revoked_refresh_token_takes_its_family_along() {
    let scene = Scene::new().await;
    let bystander = scene.app.tokens(&scene.ada, "scout").await;
    let next = scene.app.refresh(&scene.tokens.refresh).await.tokens();
    let reply = scene.app.revoke(&next.refresh).await.status(200);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert!(!scene.inspector.is_active(&next.access).await);
    scene.is_over().await;
    assert!(scene.inspector.is_active(&bystander.access).await);
    assert_eq!(scene.ada.grants().await.len(), 1);
    // Doing it again is as good as doing it once.
    scene.app.revoke(&next.refresh).await.status(200);
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_revoked_access_token_is_over() {
    let scene = Scene::new().await;
    scene.app.revoke(&scene.tokens.access).await.status(200);
    assert!(!scene.inspector.is_active(&scene.tokens.access).await);
    let owned = scene.ada.owned_app("scout").await;
    let (token, other) = (owned.own_token().await, owned.own_token().await);
    owned.revoke(&token).await.status(200);
    assert!(!scene.inspector.is_active(&token).await && scene.inspector.is_active(&other).await);
    scene.hub.finish().await;
}

#[tokio::test]
async fn revoking_what_is_not_there_is_no_fault() {
    let scene = Scene::new().await;
    for other in ["nonsense", "stoa_rt_x", "é", &"x".repeat(5000)] {
        scene.app.revoke(other).await.status(200);
    }
    scene.app.revoke("a\0b").await.oauth_error(400, "invalid_request");
    for hint in ["refresh_token", "access_token", "unheard_of"] {
        let tokens = scene.app.tokens(&scene.ada, "self").await;
        let asked = Parameters::new(&[("token", &tokens.access), ("token_type_hint", hint)]);
        scene.app.call("/oauth/revoke", asked).await.status(200);
        assert!(!scene.inspector.is_active(&tokens.access).await, "{hint}");
    }
    scene.app.call("/oauth/revoke", Parameters::default()).await.oauth_error(400, "invalid_request");
    let twice = Parameters::new(&[("token", "a"), ("token", "b")]);
    scene.app.call("/oauth/revoke", twice).await.oauth_error(400, "invalid_request");
    scene.hub.finish().await;
}

#[tokio::test]
async fn nobody_revokes_what_is_not_theirs() {
    let scene = Scene::new().await;
    let thief = scene.hub.app().await;
    for token in [&scene.tokens.access, &scene.tokens.refresh] {
        let status = thief.revoke(token).await.code();
        assert!([200, 400].contains(&status), "{status}");
        let unknown = App::known_as(&scene.hub.nobody(), "nobody", CALLBACK);
        unknown.revoke(token).await.oauth_error(401, "invalid_client");
        let bare = scene.hub.nobody().call("POST", "/oauth/revoke").form(&Parameters::new(&[("token", token)]));
        let status = bare.await.code();
        assert!([400, 401].contains(&status), "{status}");
        let status = scene.inspector.revoke(token).await.code();
        assert!([200, 400].contains(&status), "{status}");
    }
    let confidential = App::register_with(&scene.hub.nobody(), &json!({"redirect_uris": [CALLBACK]})).await;
    let tokens = confidential.tokens(&scene.ada, "self").await;
    let bare = App { secret: None, ..confidential.clone() };
    bare.revoke(&tokens.refresh).await.oauth_error(401, "invalid_client");
    for token in [&scene.tokens.access, &tokens.access] {
        assert!(scene.inspector.is_active(token).await);
    }
    scene.app.refresh(&scene.tokens.refresh).await.tokens();
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_disabled_persons_tokens_are_over() {
    let scene = Scene::new().await;
    let owned = scene.ada.owned_app("scout").await;
    let own = owned.own_token().await;
    scene.hub.operator().call("users.disable", json!({"username": "ada"})).await;
    scene.is_over().await;
    assert!(!scene.inspector.is_active(&own).await);
    let reply = owned.ask_for_own().await;
    assert!([400, 401].contains(&reply.code()), "{reply:?}");
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_deleted_agents_tokens_are_over() {
    let scene = Scene::new().await;
    let owned = scene.ada.owned_app("scout").await;
    let own = owned.own_token().await;
    let of_ada = scene.app.tokens(&scene.ada, "self").await;
    scene.ada.delete("/api/agents/scout").await.ok();
    scene.is_over().await;
    assert!(!scene.inspector.is_active(&own).await);
    let reply = owned.ask_for_own().await;
    assert!([400, 401].contains(&reply.code()), "{reply:?}");
    assert!(scene.inspector.is_active(&of_ada.access).await, "she herself is still there");
    // Somebody who takes the name does not take the tokens with it.
    let reply = scene.ada.post("/api/agents", &json!({"name": "scout"})).await;
    assert!([201, 409].contains(&reply.code()), "{reply:?}");
    scene.is_over().await;
    assert!(!scene.inspector.is_active(&own).await);
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_revoked_grants_tokens_are_over() {
    let scene = Scene::new().await;
    let bystander = scene.app.tokens(&scene.ada, "self").await;
    let grants = scene.ada.grants().await;
    let of_scout: Vec<&Value> = grants.iter().filter(|grant| grant["agent"] == "scout").collect();
    assert_eq!(of_scout.len(), 1, "{grants:?}");
    scene.ada.delete(&format!("/api/oauth/grants/{}", of_scout[0]["id"])).await.status(204);
    scene.is_over().await;
    assert!(scene.inspector.is_active(&bystander.access).await);
    scene.hub.finish().await;
}

#[tokio::test]
async fn a_deleted_clients_tokens_are_over() {
    let scene = Scene::new().await;
    scene.hub.operator().call("oauth.clients.delete", json!({"client_id": scene.app.id})).await;
    scene.is_over().await;
    assert!(scene.ada.grants().await.is_empty());

    let owned = scene.ada.owned_app("scout").await;
    let own = owned.own_token().await;
    scene.ada.delete(&format!("/api/oauth/clients/{}", owned.id)).await.status(204);
    assert!(!scene.inspector.is_active(&own).await);
    owned.ask_for_own().await.oauth_error(401, "invalid_client");
    scene.hub.finish().await;
}

/// Logging out ends sessions; what was granted goes on until it is taken back.
#[tokio::test]
async fn a_grant_outlives_the_session_that_gave_it() {
    let scene = Scene::new().await;
    scene.ada.call("POST", "/auth/logout").await.status(204);
    assert!(scene.inspector.is_active(&scene.tokens.access).await);
    scene.app.refresh(&scene.tokens.refresh).await.tokens();
    scene.hub.finish().await;
}
