//! `stoa admin oauth`: clients of all kinds, and what people have granted them.

use serde_json::{Value, json};

use crate::cli_support::{Hub, Outcome, Place, password_of, secret_after, stoa, with_scout};
use crate::support::Client;
use crate::support::oauth::App;

fn anybody(hub: &Hub) -> Client {
    Client::new(format!("http://{}", hub.address))
}

/// Somebody who is logged in.
fn person(hub: &Hub, name: &str) -> Client {
    anybody(hub).cookie(&hub.log_in(name, &password_of(name)).unwrap())
}

#[tokio::test]
async fn clients_are_made_listed_and_deleted() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    let create = ["oauth", "clients", "create", "--owner", "ada", "--agent", "scout", "--name", "The CI"];
    let created = hub.admin(&create).ok();
    let secret = secret_after(&created, "shown only once", "");
    for word in ["The CI", "ada", "scout", "its own"] {
        assert!(created.contains(word), "{word}: {created}");
    }
    let list = hub.json(&["oauth", "clients", "list"]);
    assert_eq!(list.as_object().unwrap().len(), 1, "a complete list has no cursor: {list}");
    let client = &list["items"][0];
    let expected = json!(["The CI", "owned", "ada", "scout", false]);
    assert_eq!(
        json!([client["name"], client["kind"], client["owner"], client["agent"], client["introspects_all"]]),
        expected
    );
    let id = client["client_id"].as_str().unwrap().to_owned();
    assert!(created.contains(&id), "{created}");
    let app = App::owned(&anybody(&hub), &json!({"client": client, "client_secret": secret}));
    let token = app.own_token().await;

    // A second one, for programs, which may ask about the tokens of the first.
    let inspector = hub.json(&[&create[..], &["--introspects-all"]].concat());
    assert_eq!(inspector["client"]["introspects_all"], true);
    let inspector = App::owned(&anybody(&hub), &inspector);
    assert!(inspector.is_active(&token).await && !app.is_active(&inspector.own_token().await).await);

    let registered = App::register(&anybody(&hub)).await;
    let table = hub.admin(&["oauth", "clients", "list"]).ok();
    for word in ["CLIENT ID", "owned", "registered", "An App", "all tokens", &registered.id] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(!table.contains(&secret) && !list.to_string().contains(&secret));
    assert_eq!(hub.json(&["oauth", "clients", "list", "--limit", "2"])["items"].as_array().unwrap().len(), 2);

    let deleted = hub.admin(&["oauth", "clients", "delete", &id]).ok();
    assert_eq!(deleted, format!("Client {id} (The CI) and its tokens deleted.\n"));
    assert!(!inspector.is_active(&token).await);
    app.ask_for_own().await.oauth_error(401, "invalid_client");
    hub.admin(&["oauth", "clients", "delete", &id]).fails(4, &["No such client."]);
    let deleted = hub.json(&["oauth", "clients", "delete", &registered.id]);
    assert_eq!((&deleted["client_id"], &deleted["kind"]), (&json!(registered.id), &json!("registered")));
    assert_eq!(hub.json(&["oauth", "clients", "list"])["items"].as_array().unwrap().len(), 1);
    let audit = hub.json(&["audit", "list"]).to_string();
    assert!(audit.contains("oauth.client_created") && audit.contains("oauth.client_deleted"), "{audit}");
    assert!(!audit.contains(&secret));
    hub.stop();
}

#[tokio::test]
async fn grants_are_listed_and_revoked() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    hub.create_user("bob");
    let app = App::register(&anybody(&hub)).await;
    let tokens = app.tokens(&person(&hub, "ada"), "scout").await;
    let of_bob = app.tokens(&person(&hub, "bob"), "self").await;
    let table = hub.admin(&["oauth", "grants", "list"]).ok();
    for word in ["ada", "scout", "bob", "self", "An App", "app.example", "mcp:read mcp:write", "EXPIRES"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let grants = hub.json(&["oauth", "grants", "list", "--user", "ada"]);
    let all = hub.json(&["oauth", "grants", "list"]);
    assert_eq!((grants["items"].as_array().unwrap().len(), all["items"].as_array().unwrap().len()), (1, 2));
    let id = grants["items"][0]["id"].to_string();
    let revoked = hub.admin(&["oauth", "grants", "revoke", &id]).ok();
    let expected = format!("Grant {id} of ada to An App and its tokens revoked.\n");
    assert_eq!(revoked, expected);
    app.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    app.refresh(&of_bob.refresh).await.tokens();
    assert_eq!(hub.json(&["oauth", "grants", "list", "--user", "ada"])["items"], json!([]));
    let rest = hub.json(&["oauth", "grants", "list"]);
    let second = rest["items"][0]["id"].to_string();
    let revoked: Value = hub.json(&["oauth", "grants", "revoke", &second]);
    assert_eq!((&revoked["user"], &revoked["agent"]), (&json!("bob"), &Value::Null));

    // Everything of one person at once, for when somebody else had their password.
    let (ada, bob) = (person(&hub, "ada"), person(&hub, "bob"));
    let first = app.tokens(&ada, "self").await;
    let second = app.tokens(&ada, "scout").await;
    let of_bob = app.tokens(&bob, "self").await;
    let said = hub.admin(&["oauth", "grants", "revoke", "--user", "ada"]).ok();
    assert_eq!(said.lines().filter(|line| line.contains("of ada to An App")).count(), 2, "{said}");
    for tokens in [first, second] {
        app.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    }
    app.refresh(&of_bob.refresh).await.tokens();
    assert_eq!(hub.admin(&["oauth", "grants", "revoke", "--user", "ada"]).ok(), "No active grants.\n");
    assert_eq!(hub.json(&["oauth", "grants", "revoke", "--user", "ada"]), json!({"items": []}));
    hub.stop();
}

#[test]
fn wrong_input_is_refused_by_name() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    hub.create_user("bob");
    let create =
        |owner, agent, name| ["oauth", "clients", "create", "--owner", owner, "--agent", agent, "--name", name];
    for (arguments, words) in [
        (&create("nobody", "scout", "x")[..], &["No such user."][..]),
        (&create("ada", "nobody", "x"), &["agent"]),
        (&create("bob", "scout", "x"), &["agent"]),
        (&create("ada", "scout", ""), &["name"]),
        (&create("ada", "scout", "a\u{202e}b"), &["name"]),
        (&["oauth", "clients", "delete", "nothing"], &["No such client."]),
        (&["oauth", "grants", "revoke", "99"], &["No such"]),
        (&["oauth", "grants", "revoke", "--user", "nobody"], &["No such user."]),
        (&["oauth", "grants", "list", "--user", "nobody"], &["No such user."]),
    ] {
        let said = hub.admin(arguments).fails(4, words);
        assert!(said.starts_with("stoa: "), "{said}");
        let error = hub.admin(&[arguments, &["--json"]].concat()).fails(4, &[]);
        let error: Value = serde_json::from_str(&error).unwrap();
        assert!(error["error"]["data"]["code"].is_string() && error["error"]["message"].is_string(), "{error}");
    }
    for (arguments, words) in [
        (&["oauth"][..], &["clients", "grants"][..]),
        (&["oauth", "clients", "create", "--owner", "ada", "--agent", "scout"], &["--name"]),
        (&["oauth", "clients", "create", "--agent", "scout", "--name", "x"], &["--owner"]),
        (&["oauth", "clients", "create", "--owner", "ada", "--name", "x"], &["--agent"]),
        (&["oauth", "clients", "delete"], &["<CLIENT_ID>"]),
        (&["oauth", "clients", "list", "--limit", "0"], &["--limit"]),
        (&["oauth", "grants", "revoke", "first"], &["[ID]"]),
        (&["oauth", "grants", "revoke"], &["ID", "--user"]),
        (&["oauth", "grants", "revoke", "1", "--user", "ada"], &["--user"]),
    ] {
        hub.admin(arguments).fails(2, words);
    }
    assert_eq!(hub.json(&["oauth", "clients", "list"])["items"], json!([]));
    assert_eq!(hub.admin(&["oauth", "clients", "list"]).ok().lines().count(), 1, "only the headings");
    hub.stop();
}

#[test]
fn help_tells_what_there_is() {
    let help = Outcome::of(&mut stoa(&["admin", "oauth", "--help"]), b"").ok();
    for word in ["clients", "grants", "Exit codes", "--json"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    let arguments = ["admin", "oauth", "clients", "create", "--help"];
    let help = Outcome::of(&mut stoa(&arguments), b"").ok();
    for word in ["--owner <USER>", "--agent <NAME>", "--name <LABEL>", "--introspects-all"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}
