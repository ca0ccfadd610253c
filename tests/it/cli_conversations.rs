//! `stoa admin channels` and `stoa admin messages`, through the real binary.

use serde_json::{Value, json};

use crate::cli_support::{Hub, Place, password_of};

/// A hub with two people, each with an agent: ada's scout and bob's finder.
fn with_people(place: &Place) -> Hub {
    let hub = place.start();
    for (user, agent) in [("ada", "scout"), ("bob", "finder")] {
        hub.create_user(user);
        hub.json(&["agents", "create", agent, "--owner", user]);
    }
    hub
}

/// The hub says no, with this code.
#[track_caller]
fn refused(hub: &Hub, arguments: &[&str], code: &str) {
    let said = hub.admin(&[arguments, &["--json"]].concat()).fails(4, &[]);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["error"]["data"]["code"], code, "{said}");
}

fn send_as(hub: &Hub, user: &str, message: &Value) -> Value {
    let session = hub.log_in(user, &password_of(user)).unwrap();
    let sent = hub.http("POST", "/api/messages", &[("cookie", &session)], Some(message));
    assert_eq!(sent.status, 201, "{sent:?}");
    sent.body
}

#[test]
fn channels_are_made_shown_changed_and_taken_away() {
    let place = Place::new();
    let hub = with_people(&place);
    let table = hub.admin(&["channels", "list"]).ok();
    assert!(table.lines().count() == 2 && table.contains("general") && table.contains("admin"), "{table}");

    let made = hub.json(&["channels", "create", "den", "--owner", "ada", "--topic", "Hush", "--private"]);
    assert_eq!((&made["channel"]["public"], &made["channel"]["owner"]), (&json!(false), &json!("ada")));
    refused(&hub, &["channels", "create", "den", "--owner", "bob"], "name_taken");
    refused(&hub, &["channels", "create", "other", "--owner", "nobody"], "not_found");

    let shown = hub.admin(&["channels", "show", "den"]).ok();
    assert!(shown.contains("Hush") && shown.contains("24h"), "{shown}");
    refused(&hub, &["channels", "show", "nowhere"], "not_found");

    let all = [
        "channels",
        "update",
        "den",
        "--topic",
        "",
        "--description",
        "Work",
        "--public",
        "true",
        "--workflow-enabled",
        "true",
        "--auto-approve",
        "true",
        "--stalemate-remind-after",
        "30m",
        "--stalemate-escalate-after",
        "0",
        "--publish-threshold",
        "0.5",
        "--approve-threshold",
        "1",
    ];
    let changed = hub.json(&all)["channel"].clone();
    for (field, value) in [
        ("topic", json!("")),
        ("description", json!("Work")),
        ("public", json!(true)),
        ("workflow_enabled", json!(true)),
        ("auto_approve", json!(true)),
        ("stalemate_remind_after", json!("30m")),
        ("stalemate_escalate_after", json!("0")),
        ("publish_threshold", json!(0.5)),
        ("approve_threshold", json!(1.0)),
    ] {
        assert_eq!(changed[field], value, "{field}");
    }
    refused(&hub, &["channels", "update", "den", "--approve-threshold", "1.5"], "validation_failed");
    hub.admin(&["channels", "update", "den"]).fails(2, &["nothing to change"]);

    let names = |list: &Value| -> Vec<String> {
        list["items"].as_array().unwrap().iter().map(|member| member["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&hub.json(&["channels", "members", "den"])), ["ada"]);
    assert_eq!(names(&hub.json(&["channels", "members", "den", "--add", "bob"])), ["ada", "bob"]);
    assert_eq!(names(&hub.json(&["channels", "members", "den", "--add", "finder"])), ["ada", "bob", "finder"]);
    assert_eq!(hub.json(&["channels", "update", "den", "--owner", "bob"])["channel"]["owner"], "bob");
    refused(&hub, &["channels", "update", "den", "--owner", "scout"], "validation_failed");
    refused(&hub, &["channels", "members", "den", "--remove", "bob"], "owner_cannot_leave");
    assert_eq!(names(&hub.json(&["channels", "members", "den", "--remove", "ada"])), ["bob", "finder"]);

    hub.admin(&["channels", "delete", "den"]).fails(2, &["--yes"]);
    assert_eq!(hub.admin(&["channels", "delete", "den", "--yes"]).ok(), "The channel den was deleted.\n");
    refused(&hub, &["channels", "show", "den"], "not_found");
    refused(&hub, &["channels", "delete", "general", "--yes"], "general_channel");
}

#[test]
fn looking_at_a_message_is_noted() {
    let place = Place::new();
    let hub = with_people(&place);
    let sent = send_as(&hub, "ada", &json!({"to": "bob", "body": "between us"}));
    let id = sent["id"].to_string();
    let list = hub.admin(&["messages", "list"]).ok();
    assert!(list.contains("ada") && list.contains("bob") && !list.contains("between us"), "{list}");
    assert_eq!(hub.json(&["messages", "list", "--between", "bob", "ada"])["items"][0]["body_bytes"], 10);
    assert_eq!(hub.json(&["messages", "list", "--between", "bob", "scout"])["items"], json!([]));
    assert_eq!(hub.json(&["audit", "list", "--action", "message.shown"])["items"], json!([]));

    assert!(hub.admin(&["messages", "show", &id]).ok().contains("between us"));
    let looks = hub.json(&["audit", "list", "--action", "message.shown"]);
    assert_eq!(looks["items"].as_array().unwrap().len(), 1);
    assert_eq!((&looks["items"][0]["actor"], &looks["items"][0]["target"]), (&json!("operator"), &json!(id)));
    assert!(!looks.to_string().contains("between us"));
    refused(&hub, &["messages", "show", "4711"], "not_found");
}

#[test]
fn notices_come_from_the_hub_itself() {
    let place = Place::new();
    let hub = with_people(&place);
    let said = hub.admin_with(&["messages", "send", "--to", "ada", "--subject", "Tonight", "-"], "The hub will rest.");
    assert!(said.ok().ends_with(" sent to ada.\n"));
    hub.json(&["messages", "send", "--channel", "general", "@ada look"]);
    let session = hub.log_in("ada", &password_of("ada")).unwrap();
    let inbox = hub.http("GET", "/api/inbox", &[("cookie", &session)], None).body;
    let notice = &inbox["items"][0];
    assert_eq!((&notice["body"], &notice["subject"]), (&json!("The hub will rest."), &json!("Tonight")));
    assert_eq!(notice["from"], json!({"kind": "system", "name": "system", "display_name": "System"}));
    assert_eq!(inbox["items"][1]["metadata"]["mention"]["channel"], "general");
    // Nobody answers for the hub.
    let answer = json!({"to": "system", "body": "thanks"});
    let answer = hub.http("POST", "/api/messages", &[("cookie", &session)], Some(&answer));
    assert_eq!((answer.status, &answer.body["code"]), (404, &json!("unknown_recipient")));
    refused(&hub, &["messages", "send", "--to", "nobody", "hello"], "unknown_recipient");
    hub.admin(&["messages", "send", "hello"]).fails(2, &["--to"]);
}

#[test]
fn old_messages_are_purged() {
    let place = Place::new();
    let hub = with_people(&place);
    let parent = send_as(&hub, "ada", &json!({"channel": "general", "body": "old"}));
    send_as(&hub, "bob", &json!({"channel": "general", "body": "answer", "reply_to": parent["id"]}));
    send_as(&hub, "ada", &json!({"to": "bob", "body": "old too"}));
    assert_eq!(hub.json(&["messages", "purge", "--older-than", "1d", "--yes"])["purged"], 0);
    for age in ["", "0", "-1d", "old"] {
        refused(&hub, &["messages", "purge", &format!("--older-than={age}"), "--yes"], "validation_failed");
    }
    hub.admin(&["messages", "purge", "--older-than", "1d"]).fails(2, &["--yes"]);
}
