//! Accounts come from the operator, directly or by an invitation.

use serde_json::{Value, json};
use stoa_model::credentials::CredentialKind;

use crate::support::{DAY, Human, PASSWORD, TestHub, how_many, together};
use crate::walk::{Row, admin, public};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        public("POST /auth/register", 403).body(json!({"username": "newcomer", "password": PASSWORD})),
        admin("GET /api/admin/invitations"),
        admin("DELETE /api/admin/invitations/{id}"),
    ]
}

async fn invite(hub: &TestHub, role: &str) -> String {
    let invitation = hub.operator().call("users.invite", json!({"role": role})).await;
    let expires_at = if role == "admin" { "2027-01-16T08:00:00.000Z" } else { "2027-01-22T08:00:00.000Z" };
    assert_eq!(invitation["expires_at"], expires_at);
    invitation["invite"].as_str().unwrap().to_owned()
}

fn account(invite: &str, username: &str) -> Value {
    json!({"invite": invite, "username": username, "password": PASSWORD})
}

#[tokio::test]
async fn an_invitation_makes_one_account() {
    let hub = TestHub::start().await;
    let invite = invite(&hub, "member").await;
    let mut request = account(&invite, "Ada");
    request["display_name"] = json!("Ada Lovelace");
    let reply = hub.nobody().post("/auth/register", &request).await.status(201);
    assert_eq!(reply.json()["user"]["display_name"], "Ada Lovelace");
    assert_eq!(reply.json()["user"]["role"], "member");
    hub.nobody().cookie(&reply.cookie()).get("/auth/me").await.ok();
    hub.log_in("ada").await;
    hub.nobody().post("/auth/register", &account(&invite, "bob")).await.problem(403, "registration_closed");
    assert_eq!(hub.audit().await[0]["action"], "user.registered");
    hub.finish().await;
}

#[tokio::test]
async fn an_invitation_carries_a_role_and_expires() {
    let hub = TestHub::start().await;
    let (first, second) = (invite(&hub, "admin").await, invite(&hub, "admin").await);
    let member = invite(&hub, "member").await;
    hub.advance(DAY - std::time::Duration::from_millis(1));
    let reply = hub.nobody().post("/auth/register", &account(&first, "ada")).await.status(201);
    assert_eq!(reply.json()["user"]["role"], "admin");
    hub.advance(std::time::Duration::from_millis(1));
    hub.nobody().post("/auth/register", &account(&second, "bob")).await.problem(403, "registration_closed");
    hub.advance(6 * DAY);
    hub.nobody().post("/auth/register", &account(&member, "bob")).await.problem(403, "registration_closed");
    hub.finish().await;
}

#[tokio::test]
async fn nobody_learns_names_without_an_invitation() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let used = invite(&hub, "member").await;
    hub.nobody().post("/auth/register", &account(&used, "first")).await.status(201);
    let foreign_key = hub.log_in("ada").await.agent("scout").await.key;
    let made_up = stoa_model::credentials::CredentialKind::Invitation.render([7; 32]);
    let before = hub.metric("stoa_bcrypt_verifications_total").await;
    let mut seen = Vec::new();
    for invite in ["", "x", &used[..used.len() - 1], &used, &foreign_key, &made_up] {
        // Taken, free, malformed: all the same.
        for name in ["ada", "free_name", "system", "!"] {
            let call = hub.nobody().post("/auth/register", &account(invite, name));
            let mut problem = call.await.problem(403, "registration_closed").json();
            problem["request_id"] = Value::Null;
            seen.push(problem);
        }
    }
    let without = json!({"username": "ada", "password": PASSWORD});
    let mut problem = hub.nobody().post("/auth/register", &without).await.problem(403, "registration_closed").json();
    problem["request_id"] = Value::Null;
    seen.push(problem);
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:#?}");
    assert_eq!(hub.metric("stoa_bcrypt_verifications_total").await, before);
    hub.finish().await;
}

#[tokio::test]
async fn a_refused_registration_leaves_the_invitation_unused() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let invite = invite(&hub, "member").await;
    for taken in ["ada", "ADA", "admin", "system", "Here"] {
        hub.nobody().post("/auth/register", &account(&invite, taken)).await.problem(409, "name_taken");
    }
    let register = |change: Value| {
        let mut request = account(&invite, "bob");
        request.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        hub.nobody().post("/auth/register", &request)
    };
    for name in ["", "ab", "a-b", "a b", "ädä", &"x".repeat(65)] {
        register(json!({"username": name})).await.invalid(&["username"]);
    }
    for password in ["1234567", &"x".repeat(73)] {
        register(json!({"password": password})).await.invalid(&["password"]);
    }
    register(json!({"username": "!", "password": "", "display_name": ""})).await.invalid(&[
        "username",
        "password",
        "display_name",
    ]);
    register(json!({"role": "admin"})).await.invalid(&["role"]);
    register(json!({})).await.status(201);
    hub.finish().await;
}

#[tokio::test]
async fn of_many_who_use_an_invitation_at_once_one_gets_in() {
    let hub = TestHub::start().await;
    let invite = invite(&hub, "member").await;
    let calls = (0..10).map(|n| hub.nobody().post("/auth/register", &account(&invite, &format!("user{n}"))));
    let replies = together(calls).await;
    assert_eq!((how_many(&replies, 201), how_many(&replies, 403)), (1, 9), "{replies:?}");
    assert_eq!(hub.count("select count(*) as n from users").await, 2);
    hub.finish().await;
}

#[tokio::test]
async fn a_repeated_registration_gets_its_answer_again() {
    let hub = TestHub::start().await;
    let invite = invite(&hub, "member").await;
    let call = || hub.nobody().post("/auth/register", &account(&invite, "ada")).header("idempotency-key", "once");
    let first = call().await.status(201);
    let second = call().await.status(201);
    assert!(!first.is_replay() && second.is_replay());
    assert_eq!((first.body.clone(), first.cookie()), (second.body.clone(), second.cookie()));
    // Somebody else's request with the same key is another one.
    let other = account(&invite, "bob");
    let call = hub.nobody().post("/auth/register", &other).header("idempotency-key", "once");
    call.await.problem(403, "registration_closed");
    hub.finish().await;
}

#[tokio::test]
async fn the_operator_makes_accounts() {
    let hub = TestHub::start().await;
    let request = json!({"username": "ada", "password": PASSWORD, "display_name": "Ada L.", "role": "admin"});
    let user = hub.operator().call("users.create", request.clone()).await;
    assert_eq!(
        (&user["username"], &user["display_name"], &user["role"]),
        (&json!("ada"), &json!("Ada L."), &json!("admin"))
    );
    assert!(!user.to_string().contains("hash"));
    assert_eq!(hub.operator().try_call("users.create", &request).await, Err("name_taken".to_owned()));
    let mut bad = request.clone();
    bad["username"] = json!("a b");
    assert_eq!(hub.operator().try_call("users.create", &bad).await, Err("validation_failed".to_owned()));
    Human::log_in(&hub.nobody(), "ada", PASSWORD).await.get("/api/admin/system").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn no_password_is_hashed_for_an_invented_invitation() {
    let hub = TestHub::start().await;
    // Well-formed, as anybody can make one.
    let invented = CredentialKind::Invitation.render([7; 32]);
    for n in 0..20 {
        let request = json!({"invite": invented, "username": "mallory", "password": PASSWORD});
        let call = hub.nobody().post("/auth/register", &request).header("idempotency-key", format!("k{n}"));
        call.await.problem(403, "registration_closed");
    }
    let request = json!({"invite": invented, "username": "mallory", "password": PASSWORD});
    hub.nobody().post("/auth/register", &request).await.problem(429, "rate_limited");
    hub.finish().await;
}
