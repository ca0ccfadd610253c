//! `stoa admin principals`, and the registry of a running hub.

use std::process::Command;

use serde_json::{Value, json};

use crate::cli_support::{Hub, Place};
use crate::support::{ALL_SCOPES, RegistryFile};

const DEMO: &str = "svc:sense:demo";

fn start(place: &Place, registry: &RegistryFile) -> Hub {
    let path = registry.path().display().to_string();
    place.start_with(&["--registry", &path, "--audience", "svc-brain"])
}

fn hang_up(hub: &Hub) {
    assert!(Command::new("kill").args(["-HUP", &hub.pid().to_string()]).status().unwrap().success());
}

/// Asks until it is so: a signal is answered by nobody.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    assert!((0..500).any(|_| is_so()), "it never came to be that {what}");
}

#[test]
fn a_hangup_reads_the_registry_again() {
    let (place, registry) = (Place::new(), RegistryFile::new());
    registry.add(DEMO, &ALL_SCOPES);
    let hub = start(&place, &registry);
    let listed = || hub.json(&["principals", "list"])["items"][0].clone();
    assert_eq!((&listed()["principal_id"], &listed()["enabled"]), (&json!(DEMO), &json!(true)));
    registry.change(|document| document["principals"][0]["enabled"] = json!(false));
    hang_up(&hub);
    until("it is disabled", || listed()["enabled"] == json!(false));

    // What is not valid changes nothing, and everything that is wrong with it is said.
    registry.write_text(r#"{"version": 1, "audience": "svc-brain", "principals": 2}"#);
    hang_up(&hub);
    hub.admin(&["principals", "reload"]).fails(4, &["/version", "/principals", "registry.json"]);
    assert_eq!(listed()["registered"], true);
    let said = hub.stop();
    assert!(said.stderr.contains("the registry is invalid") && said.code == Some(0), "{said:?}");
}

#[test]
fn a_hub_without_a_registry_lives_through_a_hangup() {
    let place = Place::new();
    let hub = place.start();
    hang_up(&hub);
    hub.admin(&["principals", "reload"]).fails(1, &["no registry"]);
    assert_eq!(hub.json(&["principals", "list"])["items"], json!([]));
    assert_eq!(hub.http("GET", "/machine/evidence", &[], None).status, 503);
    assert_eq!(hub.stop().code, Some(0));
}

#[test]
fn principals_are_shown() {
    let (place, registry) = (Place::new(), RegistryFile::new());
    registry.add(DEMO, &ALL_SCOPES);
    registry.add("svc:bell:second", &["events:ingest"]);
    let hub = start(&place, &registry);
    let table = hub.admin(&["principals", "list"]).ok();
    assert!(table.contains("svc:bell:second") && table.contains("1 of 1"), "{table}");
    let shown = hub.admin(&["principals", "show", DEMO]).ok();
    for word in ["enabled", "key-2026-01", "active", "evidence:read"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let one: Value = hub.json(&["principals", "show", DEMO]);
    assert_eq!(one["keys"][0]["scopes"], json!(ALL_SCOPES));
    hub.admin(&["principals", "show", "svc:bell:nobody"]).fails(4, &["No such machine principal"]);
    let reloaded = hub.admin(&["principals", "reload"]).ok();
    assert!(reloaded.contains("2 principals, 2 usable keys"), "{reloaded}");
    hub.stop();
}

#[test]
fn a_registry_that_is_not_valid_keeps_the_hub_from_starting() {
    let (place, registry) = (Place::new(), RegistryFile::new());
    registry.write_text(r#"{"version": 1, "audience": "svc-brain", "principals": 2}"#);
    let path = registry.path().display().to_string();
    let failed = place.fails_to_start(&["--registry", &path, "--audience", "svc-brain"]);
    failed.fails(1, &["registry.json: /version:", "registry.json: /principals:"]);
    registry.change(|_| {});
    place.fails_to_start(&["--registry", &path]).fails(1, &["STOA_AUDIENCE", "svc-brain"]);
    place.fails_to_start(&["--registry", &path, "--audience", "brain"]).fails(1, &["--audience brain", "svc-brain"]);
    place.fails_to_start(&["--registry", &path, "--audience", "svc-bell"]).fails(1, &["/audience", "svc-bell"]);
}
