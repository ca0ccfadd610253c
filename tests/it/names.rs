//! One namespace for people and agents.

use serde_json::json;

use crate::support::oauth::{App, CALLBACK};
use crate::support::{PASSWORD, TestHub, how_many, together};
use crate::walk::{Row, ToolRow, either, shows_own};

/// What agents of other owners must be refused; see `walk/tools.rs`.
pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![shows_own("list_agents", json!({}))]
}

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![either("GET /api/directory").shows_cards(), either("GET /api/directory/{name}").shows_cards()]
}

#[tokio::test]
async fn people_and_agents_share_their_names() {
    let hub = TestHub::start().await;
    let ada = hub.human("Ada").await;
    ada.agent("scout").await;
    for taken in ["ada", "scout"] {
        ada.post("/api/agents", &json!({"name": taken})).await.problem(409, "name_taken");
    }
    for taken in ["ada", "ADA", "scout", "Scout"] {
        let account = json!({"username": taken, "password": PASSWORD});
        assert_eq!(hub.operator().try_call("users.create", &account).await, Err("name_taken".to_owned()), "{taken}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn reserved_names_are_nobodys() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for name in ["system", "all", "channel", "here", "self", "reactive", "admin"] {
        ada.post("/api/agents", &json!({"name": name})).await.problem(409, "name_taken");
        for spelling in [name.to_owned(), name.to_uppercase()] {
            let account = json!({"username": spelling, "password": PASSWORD});
            let refused = hub.operator().try_call("users.create", &account).await;
            assert_eq!(refused, Err("name_taken".to_owned()), "{spelling}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn the_name_of_a_deleted_agent_stays_taken() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    ada.delete("/api/agents/scout").await.status(204);
    ada.post("/api/agents", &json!({"name": "scout"})).await.problem(409, "name_taken");
    let account = json!({"username": "Scout", "password": PASSWORD});
    assert_eq!(hub.operator().try_call("users.create", &account).await, Err("name_taken".to_owned()));
    let hub = hub.restart().await;
    hub.log_in("ada").await.post("/api/agents", &json!({"name": "scout"})).await.problem(409, "name_taken");
    hub.finish().await;
}

#[tokio::test]
async fn of_many_who_want_a_name_at_once_one_gets_it() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let owners = [&ada, &bob];
    let replies = together((0..20).map(|n| owners[n % 2].post("/api/agents", &json!({"name": "scout"})))).await;
    assert_eq!((how_many(&replies, 201), how_many(&replies, 409)), (1, 19), "{replies:?}");
    let agents = ada.list("/api/agents").await.len() + bob.list("/api/agents").await.len();
    assert_eq!(agents, 1);
    assert_eq!(hub.count("select count(*) as n from audit where action = 'agent.created'").await, 1);
    assert_eq!(hub.count("select count(*) as n from agent_keys").await, 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_user_and_an_agent_who_want_a_name_at_once_do_not_both_get_it() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for round in 0..5 {
        let name = format!("wanted{round}");
        let (operator, account) = (hub.operator(), json!({"username": name.to_uppercase(), "password": PASSWORD}));
        let request = json!({"name": name});
        let (user, agent) =
            tokio::join!(operator.try_call("users.create", &account), ada.post("/api/agents", &request));
        assert_eq!(usize::from(user.is_ok()) + usize::from(agent.code() == 201), 1, "{user:?} {agent:?}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn everybody_has_a_card_in_the_directory() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("Ada").await, hub.human("bob").await);
    ada.put("/auth/profile", &json!({"display_name": "Ädä_100%"})).await.ok();
    let scout = ada.agent("scout").await;
    ada.agent("gone").await;
    ada.delete("/api/agents/gone").await.status(204);
    let names = |items: Vec<serde_json::Value>| -> Vec<String> {
        items.iter().map(|card| card["name"].as_str().unwrap().to_owned()).collect()
    };
    for client in [&bob.client, &scout.client] {
        assert_eq!(names(client.list("/api/directory").await), ["Ada", "admin", "bob", "scout"]);
        let card = client.get("/api/directory?q=SCO").await.ok().json()["items"][0].clone();
        let fields: Vec<_> = card.as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields, ["description", "display_name", "kind", "last_seen_at", "name", "owner", "presence"]);
        assert_eq!((&card["kind"], &card["owner"]), (&json!("agent"), &json!("Ada")));
    }
    for (query, found) in [("%C3%A4D%C3%84", vec!["Ada"]), ("_", vec!["Ada"]), ("100%25", vec!["Ada"]), ("%5C", vec![])]
    {
        let page = bob.get(&format!("/api/directory?q={query}")).await.ok().json();
        assert_eq!(names(page["items"].as_array().unwrap().clone()), found, "{query}");
    }
    bob.get(&format!("/api/directory?q={}", "x".repeat(101))).await.invalid(&["q"]);
    bob.get("/api/directory?q=%00").await.invalid(&[""]);
    hub.finish().await;
}

#[tokio::test]
async fn profiles_say_whether_somebody_can_be_expected_to_answer() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent_with(json!({"name": "scout", "description": "Finds things."})).await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "scout").await.status(200);
    let profile = async |client: &crate::support::Client, name: &str| {
        client.get(&format!("/api/directory/{name}")).await.ok().json()
    };
    let presence = async |name: &str| profile(&bob, name).await["presence"].clone();
    let shown = profile(&bob, "@Scout").await;
    assert_eq!((&shown["description"], &shown["owner"]), (&json!("Finds things."), &json!("ada")));
    assert_eq!((&shown["role"], &shown["trust"], &shown["kind"]), (&json!(null), &json!([]), &json!("agent")));
    assert_eq!(shown["shared_channels"], json!(["general"]), "not the private one");
    assert_eq!(profile(&ada, "scout").await["shared_channels"], json!(["den", "general"]));
    assert_eq!(profile(&scout, "ada").await["role"], "member");
    assert_eq!(presence("scout").await, "online", "it has just asked");
    hub.advance(10 * crate::support::MINUTE);
    assert_eq!(presence("scout").await, "offline");
    let sent = ada.dm("scout", "look for the tower").await;
    scout.post("/api/inbox/claim", &json!({"limit": 1})).await.ok();
    assert_eq!(presence("scout").await, "working");
    scout.settle(&sent, "done", json!({})).await.ok();
    ada.post("/api/agents/scout/pause", &json!({})).await.ok();
    assert_eq!(presence("scout").await, "paused");
    let card = bob.get("/api/directory?q=scout").await.ok().json()["items"][0].clone();
    assert_eq!((&card["presence"], &card["description"]), (&json!("paused"), &json!("Finds things.")));
    for unknown in ["nobody", "system", "svc:x"] {
        bob.get(&format!("/api/directory/{unknown}")).await.problem(404, "not_found");
    }
    let long = json!({"description": "x".repeat(1001)});
    ada.patch("/api/agents/scout", &long).await.invalid(&["description"]);
    bob.patch("/api/agents/scout", &json!({"description": "mine"})).await.problem(404, "not_found");
    hub.finish().await;
}

/// Marks that pile up cover the lines above and below, which belong to others.
#[tokio::test]
async fn shown_names_have_at_most_three_combining_marks_in_a_row() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    ada.make_channel(json!({"name": "den"})).await;
    let marked = |count: usize| format!("a{}", "\u{301}".repeat(count));
    for (count, is_good) in [(3, true), (4, false), (60, false)] {
        let name = marked(count);
        let calls = [
            (ada.put("/auth/profile", &json!({"display_name": name})), "display_name"),
            (ada.patch("/api/agents/scout", &json!({"display_name": name})), "display_name"),
            (ada.patch("/api/channels/den", &json!({"topic": name})), "topic"),
            (ada.post("/api/messages", &json!({"channel": "den", "body": "x", "subject": name})), "subject"),
            (ada.post("/api/keys", &json!({"name": name, "agent": "scout", "permissions": ["*"]})), "name"),
            (ada.post("/api/oauth/clients", &json!({"name": name, "agent": "scout"})), "name"),
        ];
        for (call, field) in calls {
            let reply = call.await;
            if is_good {
                reply.ok();
            } else {
                reply.invalid(&[field]);
            }
        }
    }
    // Names that come from programs are cleaned.
    let metadata = json!({"redirect_uris": [CALLBACK], "client_name": marked(9), "token_endpoint_auth_method": "none"});
    let app = App::register_with(&hub.nobody(), &metadata).await;
    assert_eq!(app.registered["client_name"], marked(3));
    let uploaded = ada.upload(&format!("{}.txt", marked(9)), b"text").await.status(201).json();
    assert_eq!(uploaded["filename"], format!("{}.txt", marked(3)));
    hub.finish().await;
}
