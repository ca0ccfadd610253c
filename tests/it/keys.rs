//! Managed keys: made once, shown once, and worth nothing once revoked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stoa::access::{Actor, Call, Credential};
use stoa_model::credentials::CredentialKind;
use stoa_model::permissions::Permission;

use crate::support::{DAY, MINUTE, TestHub, on_postgres, together};
use crate::walk::{Row, session, session_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        session("GET /api/keys"),
        session_thing("POST /api/keys")
            .body(json!({"name": "k", "agent": "{name}", "permissions": ["*"]}))
            .refused(422, "validation_failed")
            .aimed_with(
                json!({"name": "k", "agent": "{visitor}s-agent", "permissions": ["*"], "channels": ["{channel}"]}),
                422,
                "validation_failed",
            ),
        session_thing("GET /api/keys/{id}"),
        session_thing("DELETE /api/keys/{id}"),
    ]
}

#[tokio::test]
async fn a_key_is_made_listed_and_revoked() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    ada.make_channel(json!({"name": "x"})).await;
    let request = json!({
        "name": "CI", "agent": "scout", "permissions": ["messages:write", "messages:read"],
        "channels": ["general", "x"], "expires_at": "2027-02-01",
    });
    let created = ada.post("/api/keys", &request).await.status(201).json();
    let key = created["key"].as_str().unwrap();
    assert!(key.starts_with("stoa_key_") && key.len() == "stoa_key_".len() + 49, "{key}");
    let mut expected = json!({
        "id": created["api_key"]["id"], "name": "CI", "agent": "scout",
        "permissions": ["messages:read", "messages:write"], "channels": ["general", "x"], "limited": true, "status": "active",
        "expires_at": "2027-02-01T00:00:00.000Z", "last_used_at": null, "created_at": "2027-01-15T08:00:00.000Z",
    });
    assert_eq!(created["api_key"], expected);
    let path = format!("/api/keys/{}", expected["id"]);
    assert_eq!(ada.get(&path).await.ok().json(), expected);

    hub.advance(MINUTE);
    let managed = hub.nobody().bearer(key);
    assert_eq!(managed.list("/api/agents").await[0]["name"], "scout");
    expected["last_used_at"] = json!("2027-01-15T08:01:00.000Z");
    assert_eq!(ada.list("/api/keys").await, std::slice::from_ref(&expected));

    expected["status"] = json!("revoked");
    assert_eq!(ada.delete(&path).await.status(200).json(), expected);
    managed.get("/api/agents").await.problem(401, "invalid_credentials");
    // Again is as good as once.
    let entries = hub.audit().await.len();
    assert_eq!(ada.delete(&path).await.status(200).json(), expected);
    assert_eq!(hub.audit().await.len(), entries);
    ada.delete("/api/keys/999999").await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn newest_keys_come_first_in_pages() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, ada.key("scout", json!(["*"])).await.0["id"].as_i64().unwrap());
    }
    let first = ada.get("/api/keys?limit=3").await.ok().json();
    let rest =
        ada.get(&format!("/api/keys?limit=3&cursor={}", first["next_cursor"].as_str().unwrap())).await.ok().json();
    let shown: Vec<_> = [&first, &rest]
        .iter()
        .flat_map(|page| page["items"].as_array().unwrap().iter().map(|key| key["id"].as_i64().unwrap()))
        .collect();
    assert_eq!(shown, ids);
    assert!(rest["next_cursor"].is_null());
    hub.finish().await;
}

#[tokio::test]
async fn bad_requests_make_no_key() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.agent("scout").await;
    bob.agent("errand").await;
    let good = json!({"name": "k", "agent": "scout", "permissions": ["*"]});
    let cases = [
        (json!({"name": ""}), "name"),
        (json!({"name": "x".repeat(101)}), "name"),
        (json!({"name": "a\tb"}), "name"),
        (json!({"permissions": []}), "permissions"),
        (json!({"permissions": ["messages:reed"]}), "permissions"),
        (json!({"permissions": ["messages:read,wiki:read"]}), "permissions"),
        (json!({"permissions": "*"}), "permissions"),
        (json!({"agent": "errand"}), "agent"),
        (json!({"agent": "nobody"}), "agent"),
        (json!({"agent": "ada"}), "agent"),
        (json!({"channels": ["General"]}), "channels[0]"),
        (json!({"channels": ["a", "b,c"]}), "channels[1]"),
        (json!({"channels": vec!["a"; 101]}), "channels"),
        (json!({"expires_at": "2027-01-15T08:00:00Z"}), "expires_at"),
        (json!({"expires_at": "2020-01-01"}), "expires_at"),
        (json!({"expires_at": "tomorrow"}), "expires_at"),
        (json!({"expires_at": 1}), "expires_at"),
        (json!({"scope": "all"}), "scope"),
    ];
    for (change, field) in cases {
        let mut request = good.clone();
        request.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        ada.post("/api/keys", &request).await.invalid(&[field]);
    }
    for field in ["name", "agent", "permissions"] {
        let mut request = good.clone();
        request.as_object_mut().unwrap().remove(field);
        ada.post("/api/keys", &request).await.invalid(&[field]);
    }
    assert!(ada.list("/api/keys").await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn a_key_ends_when_its_time_has_come() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let request = json!({"name": "k", "agent": "scout", "permissions": ["*"], "expires_at": "2027-01-16T08:00:00Z"});
    let created = ada.post("/api/keys", &request).await.status(201).json();
    let managed = hub.nobody().bearer(created["key"].as_str().unwrap());
    hub.advance(DAY - Duration::from_millis(1));
    managed.get("/api/agents").await.ok();
    hub.advance(Duration::from_millis(1));
    managed.get("/api/agents").await.problem(401, "invalid_credentials");
    hub.finish().await;
}

#[tokio::test]
async fn secrets_are_stored_nowhere() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let request = json!({"name": "k", "agent": "scout", "permissions": ["*"]});
    // With an idempotency key the answer itself is stored, sealed.
    let created = ada.post("/api/keys", &request).header("idempotency-key", "once").await.status(201).json();
    let key = created["key"].as_str().unwrap().to_owned();
    hub.nobody().bearer(&key).get("/api/agents").await.ok();
    let session = ada.get("/auth/me").await.ok();
    assert_eq!(session.code(), 200);
    let crate::support::Proof::Cookie(cookie) = &ada.client.proof else { panic!("a person has a cookie") };
    let token = cookie.split_once('=').unwrap().1.to_owned();
    let invite = hub.operator().call("users.invite", json!({})).await["invite"].as_str().unwrap().to_owned();
    let secrets = [scout.key.clone(), key, token, invite, ada.password.clone(), hub.admin_password()];
    for listing in ["/api/keys", "/api/agents", "/auth/sessions", "/auth/me", "/api/directory"] {
        let shown = ada.get(listing).await.ok().text();
        assert!(secrets.iter().all(|secret| !shown.contains(secret)), "{listing}");
    }
    let audit = serde_json::to_string(&hub.audit().await).unwrap();
    assert!(secrets.iter().all(|secret| !audit.contains(secret)));
    let stored = hub.everything_stored();
    for secret in &secrets {
        let is_stored = stored.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_stored, "{} is in the database", &secret[..10]);
    }
    // The search would find it if it were there.
    assert!(stored.windows(5).any(|window| window == b"scout"));
    hub.finish().await;
}

async fn actor(hub: &TestHub, key: &str) -> Actor {
    let principal = stoa::surfaces::auth::authenticate_bearer(hub.inner(), key, stoa::access::identity::Use::ReliedOn)
        .await
        .unwrap();
    Actor::new(principal, Arc::new(Call::default()))
}

#[tokio::test]
async fn a_key_can_do_what_it_was_given_and_nothing_else() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for given in Permission::ALL {
        let (record, key) = ada.key("scout", json!([given.name()])).await;
        let actor = actor(&hub, &key).await;
        assert_eq!(actor.id().0, scout.id);
        assert_eq!(actor.principal.human.0, ada.id);
        assert!(matches!(actor.principal.credential, Credential::ApiKey(id) if id.0 == record["id"].as_i64().unwrap()));
        for asked in Permission::ALL {
            let allowed = actor.require(asked);
            assert_eq!(allowed.is_ok(), asked == given, "{} with {}", asked.name(), given.name());
            if let Err(error) = allowed {
                assert_eq!((error.kind.status(), error.code), (403, "forbidden"));
            }
        }
        assert!(actor.require_session().is_err() && actor.require_admin().is_err());
    }
    let (_, key) = ada.key("scout", json!(["*"])).await;
    for credential in [key, scout.key.clone()] {
        let actor = actor(&hub, &credential).await;
        for asked in Permission::ALL {
            assert!(actor.require(asked).is_ok(), "{}", asked.name());
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_key_reaches_the_channels_it_was_given_and_no_others() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for name in ["work", "wor", "works"] {
        ada.make_channel(json!({"name": name})).await;
    }
    let request = json!({"name": "k", "agent": "scout", "permissions": ["*"], "channels": ["general", "work"]});
    let created = ada.post("/api/keys", &request).await.status(201).json();
    let limited = hub.nobody().bearer(created["key"].as_str().unwrap());
    for channel in ["general", "work"] {
        limited.get(&format!("/api/channels/{channel}")).await.ok();
    }
    for channel in ["wor", "works", "general,work"] {
        limited.get(&format!("/api/channels/{channel}")).await.problem(404, "not_found");
    }
    let (_, free) = ada.key("scout", json!(["channels:read"])).await;
    for credential in [free, scout.key.clone()] {
        hub.nobody().bearer(&credential).get("/api/channels/works").await.ok();
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_is_no_key_is_refused_alike() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, managed) = ada.key("scout", json!(["*"])).await;
    let wrong_checksum = |key: &str| {
        let end = if key.ends_with('0') { '1' } else { '0' };
        format!("{}{end}", &key[..key.len() - 1])
    };
    let invite = hub.operator().call("users.invite", json!({})).await["invite"].as_str().unwrap().to_owned();
    let crate::support::Proof::Cookie(cookie) = &ada.client.proof else { panic!("a person has a cookie") };
    let mut keys = vec![
        String::new(),
        "x".to_owned(),
        "stoa_agent_".to_owned(),
        scout.key[..scout.key.len() - 1].to_owned(),
        format!("{}x", scout.key),
        scout.key.to_uppercase(),
        wrong_checksum(&scout.key),
        wrong_checksum(&managed),
        scout.key.replacen("stoa_agent_", "stoa_key_", 1),
        invite,
        cookie.split_once('=').unwrap().1.to_owned(),
        "x".repeat(10_000),
    ];
    use CredentialKind::{AccessToken, AgentKey, ApiKey, Invitation, RefreshToken, RunToken};
    keys.extend([AgentKey, ApiKey, AccessToken, RefreshToken, RunToken, Invitation].map(|kind| kind.render([9; 32])));
    for key in keys {
        let reply = hub.nobody().bearer(&key).get("/api/agents").await.problem(401, "invalid_credentials");
        assert_eq!(reply.header("www-authenticate"), Some(r#"Bearer realm="stoa", error="invalid_token""#), "{key}");
    }
    let reply = hub.nobody().get("/api/agents").await.problem(401, "unauthenticated");
    assert_eq!(reply.header("www-authenticate"), Some(r#"Bearer realm="stoa""#));
    for scheme in ["Bearer", "bearer", "BEARER"] {
        hub.nobody().get("/api/agents").header("authorization", format!("{scheme} {}", scout.key)).await.ok();
    }
    for header in [scout.key.clone(), format!("Basic {}", scout.key), "Bearer".to_owned()] {
        hub.nobody().get("/api/agents").header("authorization", header).await.problem(401, "invalid_credentials");
    }
    hub.finish().await;
}

#[tokio::test]
async fn whoever_hears_of_a_revocation_can_rely_on_it() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    for _ in 0..10 {
        let (record, key) = ada.key("scout", json!(["*"])).await;
        let managed = hub.nobody().bearer(&key);
        managed.get("/api/agents").await.ok();
        // In use all the while, so that a lookup may be under way when the key is revoked.
        let users: Vec<_> = (0..4)
            .map(|_| {
                let managed = managed.clone();
                tokio::spawn(async move { while managed.get("/api/agents").await.code() == 200 {} })
            })
            .collect();
        ada.delete(&format!("/api/keys/{}", record["id"])).await.status(200);
        for reply in together((0..4).map(|_| managed.get("/api/agents"))).await {
            reply.problem(401, "invalid_credentials");
        }
        for user in users {
            user.await.unwrap();
        }
        managed.get("/api/agents").await.problem(401, "invalid_credentials");
    }
    hub.finish().await;
}

#[tokio::test]
async fn credentials_are_remembered_on_sqlite_only_and_only_if_wanted() {
    for wanted in [true, false] {
        let hub = TestHub::setup().configure(|config| config.auth_cache = wanted).start().await;
        let scout = hub.human("ada").await.agent("scout").await;
        for _ in 0..5 {
            scout.get("/api/agents").await.ok();
        }
        let text = hub.nobody().get("/metrics").await.ok().text();
        let is_cached = text.lines().any(|line| line.starts_with(r#"stoa_identity_lookups_total{source="cache"}"#));
        assert_eq!(is_cached, wanted && !on_postgres(), "{text}");
        hub.finish().await;
    }
}

#[tokio::test]
async fn the_operator_manages_everybodys_keys() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let (record, key) = ada.key("scout", json!(["*"])).await;
    let keys: Value = hub.operator().call("keys.list", json!({})).await;
    assert_eq!(keys["items"], json!([record]));
    hub.operator().call("keys.revoke", json!({"id": record["id"]})).await;
    hub.nobody().bearer(&key).get("/api/agents").await.problem(401, "invalid_credentials");
    hub.finish().await;
}
