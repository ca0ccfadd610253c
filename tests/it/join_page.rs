//! The page where people create their account with an invitation.

use serde_json::{Value, json};

use crate::login_page::form;
use crate::support::{Human, PASSWORD, TestHub};

async fn invited(hub: &TestHub, request: Value) -> (i64, String) {
    let invitation = hub.operator().call("users.invite", request).await;
    let url = invitation["url"].as_str().unwrap();
    let path = url.find("/join/").map(|place| url[place..].to_owned()).unwrap();
    (invitation["id"].as_i64().unwrap(), path)
}

fn fields<'a>(username: &'a str, password: &'a str) -> [(&'a str, &'a str); 3] {
    [("username", username), ("password", password), ("display_name", "Jonas <b>Weber</b>")]
}

#[tokio::test]
async fn an_invitation_makes_one_account_however_often_it_is_looked_at() {
    let hub = TestHub::start().await;
    hub.human("mira").await;
    let (_, path) = invited(&hub, json!({"note": "Jonas", "from": "mira"})).await;
    for _ in 0..20 {
        let page = hub.nobody().get(&path).await.status(200);
        assert!(
            page.text().contains("<b><bdi>mira</bdi></b> invited you") && !page.text().contains("<script"),
            "{page:?}"
        );
        assert!(!page.text().contains("http://") && !page.text().contains("https://"), "no way out of the page");
        for (name, value) in
            [("referrer-policy", "no-referrer"), ("cache-control", "no-store"), ("x-robots-tag", "noindex")]
        {
            assert_eq!(page.header(name), Some(value));
        }
    }
    let reply = form(hub.nobody().call("POST", &path), &fields("jonas", PASSWORD)).await.status(303);
    assert_eq!(reply.header("location"), Some("/"));
    assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
    let me = hub.nobody().cookie(&reply.cookie()).get("/auth/me").await.ok().json();
    assert_eq!((&me["user"]["username"], &me["user"]["role"]), (&json!("jonas"), &json!("member")));
    assert_eq!(me["user"]["display_name"], "Jonas <b>Weber</b>");
    let again = form(hub.nobody().call("POST", &path), &fields("other", PASSWORD)).await.status(403);
    assert!(again.text().contains("Invitation not valid") && again.header("set-cookie").is_none(), "{again:?}");
    hub.nobody().get(&path).await.status(404);
    hub.finish().await;
}

#[tokio::test]
async fn a_failed_try_keeps_the_name_and_clears_the_password() {
    let hub = TestHub::start().await;
    hub.human("mira").await;
    let (_, path) = invited(&hub, json!({})).await;
    for (username, password, status, said) in [
        ("mira", PASSWORD, 409, "Username already taken."),
        ("no", PASSWORD, 422, "This username must be 3 to 64"),
        ("jonas weber", PASSWORD, 422, "Use only letters from a to z, digits and _."),
        ("jonas", "tiny123", 422, "This password is too short."),
    ] {
        let page = form(hub.nobody().call("POST", &path), &fields(username, password)).await.status(status);
        assert!(page.text().contains(said) && page.text().contains("aria-invalid=\"true\""), "{page:?}");
        assert!(page.text().contains(&format!("value=\"{username}\"")), "{page:?}");
        assert!(page.text().contains("Jonas &#60;b&#62;Weber"), "{page:?}");
        assert!(!page.text().contains(password) && page.header("set-cookie").is_none());
    }
    form(hub.nobody().call("POST", &path), &fields("@jonas", PASSWORD)).await.status(303);
    hub.finish().await;
}

#[tokio::test]
async fn who_is_logged_in_logs_out_first() {
    let hub = TestHub::start().await;
    let mira = hub.human("mira").await;
    let (_, path) = invited(&hub, json!({})).await;
    assert!(mira.get(&path).await.status(200).text().contains("You are logged in as <b>@mira</b>"));
    form(mira.call("POST", &path), &fields("jonas", PASSWORD)).await.status(409);
    let out = form(mira.call("POST", &path), &[("log_out", "true")]).await.status(303);
    assert_eq!(out.header("location"), Some(path.as_str()));
    mira.get("/auth/me").await.problem(401, "session_expired");
    form(hub.nobody().call("POST", &path), &fields("jonas", PASSWORD)).await.status(303);
    hub.finish().await;
}

#[tokio::test]
async fn another_site_cannot_create_an_account() {
    let hub = TestHub::start().await;
    let (_, path) = invited(&hub, json!({})).await;
    let foreign = hub.nobody().call("POST", &path).header("sec-fetch-site", "cross-site");
    form(foreign, &fields("jonas", PASSWORD)).await.problem(403, "csrf_failed");
    hub.finish().await;
}

#[tokio::test]
async fn administrators_list_and_revoke_invitations() {
    let hub = TestHub::start().await;
    let admin = hub.admin().await;
    let (open, path) = invited(&hub, json!({"note": "Jonas Weber, support", "from": "@admin", "valid": "2d"})).await;
    let (used, other) = invited(&hub, json!({"role": "admin"})).await;
    form(hub.nobody().call("POST", &other), &fields("boss", PASSWORD)).await.status(303);
    let listed = admin.get("/api/admin/invitations").await.ok().json();
    assert!(!listed.to_string().contains("stoa_inv_"));
    assert_eq!(
        listed["items"],
        json!([
            {"id": used, "note": null, "role": "admin", "invited_by": null, "status": "used",
             "created_at": "2027-01-15T08:00:00.000Z", "expires_at": "2027-01-16T08:00:00.000Z",
             "used_at": "2027-01-15T08:00:00.000Z", "used_by": "boss"},
            {"id": open, "note": "Jonas Weber, support", "role": "member", "invited_by": "admin", "status": "open",
             "created_at": "2027-01-15T08:00:00.000Z", "expires_at": "2027-01-17T08:00:00.000Z",
             "used_at": null, "used_by": null},
        ])
    );
    admin.delete(&format!("/api/admin/invitations/{used}")).await.problem(409, "invitation_not_open");
    admin.delete("/api/admin/invitations/99").await.problem(404, "not_found");
    admin.delete(&format!("/api/admin/invitations/{open}")).await.status(204);
    admin.delete(&format!("/api/admin/invitations/{open}")).await.problem(409, "invitation_not_open");
    hub.nobody().get(&path).await.status(404);
    form(hub.nobody().call("POST", &path), &fields("jonas", PASSWORD)).await.status(403);
    assert_eq!(hub.audit().await[0]["action"], "invitation.revoked");
    let (late, path) = invited(&hub, json!({"valid": "1m"})).await;
    hub.advance(crate::support::MINUTE);
    hub.nobody().get(&path).await.status(404);
    let listed = Human::log_in(&hub.nobody(), &admin.name, &admin.password).await.get("/api/admin/invitations").await;
    assert_eq!(
        (&listed.json()["items"][0]["id"], &listed.json()["items"][0]["status"]),
        (&json!(late), &json!("expired"))
    );
    for wrong in [
        json!({"valid": "31d"}),
        json!({"role": "admin", "valid": "2d"}),
        json!({"valid": "0"}),
        json!({"from": "nobody"}),
    ] {
        assert!(hub.operator().try_call("users.invite", &wrong).await.is_err(), "{wrong}");
    }
    hub.finish().await;
}
