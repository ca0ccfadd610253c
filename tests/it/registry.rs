//! The registry's files: loaded at the start, watched, swapped whole, and never half.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;

use crate::support::{ALL_SCOPES, Identity, KEY, Machine, RegistryFile, TestHub, eventually, on_postgres};

const DEMO: &str = "svc:sense:demo";

async fn answers(machine: &Machine, code: u16) -> bool {
    machine.get("/machine/evidence").await.code() == code
}

/// Lets time pass until the registry is in force as it is meant to be.
async fn until(hub: &TestHub, machine: &Machine, code: u16) {
    eventually("the registry is in force", async || {
        hub.advance(Duration::from_secs(1));
        answers(machine, code).await
    })
    .await;
}

#[tokio::test]
async fn a_change_is_in_force_within_ten_seconds() {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let demo = hub.machine(&identity);
    assert!(answers(&demo, 200).await);

    registry.change(|document| document["principals"][0]["enabled"] = json!(false));
    until(&hub, &demo, 401).await;
    registry.change(|document| document["principals"][0]["enabled"] = json!(true));
    until(&hub, &demo, 200).await;
    registry.change(|document| document["principals"][0]["keys"][0]["status"] = json!("revoked"));
    until(&hub, &demo, 401).await;
    registry.change(|document| {
        document["principals"][0]["keys"][0]["status"] = json!("active");
        document["principals"][0]["keys"][0]["scopes"] = json!(["events:ingest"]);
    });
    until(&hub, &demo, 403).await;
    let newcomer = registry.add("svc:brain:newcomer", &ALL_SCOPES);
    until(&hub, &hub.machine(&newcomer), 200).await;

    assert_eq!(hub.metric("stoa_registry_reloads_total").await, 6.0);
    let audit = hub.audit().await;
    assert_eq!(audit.iter().filter(|entry| entry["action"] == "registry.loaded").count(), 6);
    hub.finish().await;
}

#[tokio::test]
async fn a_change_reaches_every_hub() {
    if !on_postgres() {
        return;
    }
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).key(KEY).start().await;
    let other = hub.beside().start().await;
    let machines = [hub.machine(&identity), other.machine(&identity)];
    for machine in &machines {
        assert!(answers(machine, 200).await);
    }
    registry.change(|document| document["principals"][0]["keys"][0]["status"] = json!("revoked"));
    for machine in &machines {
        until(&hub, machine, 401).await;
    }
    other.finish().await;
    hub.finish().await;
}

#[tokio::test]
async fn what_is_not_valid_changes_nothing() {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let demo = hub.machine(&identity);
    let good = std::fs::read_to_string(registry.path()).unwrap();
    let reload = async || hub.operator().try_call("principals.reload", &json!({})).await;

    let half = &good[..good.len() / 2];
    let duplicate = good.replacen("\"enabled\":true", "\"enabled\":true,\"enabled\":false", 1);
    let elsewhere = good.replace("\"audience\":\"svc-brain\"", "\"audience\":\"svc-bell\"");
    let huge = format!("{good}{}", " ".repeat(10 * 1024 * 1024));
    for text in [half, "", "{}", "\u{feff}{}", &duplicate, &elsewhere, &huge] {
        registry.write_text(text);
        let error = reload().await.unwrap_err();
        assert!(error == "registry_refused", "{text:.40}: {error}");
        assert!(answers(&demo, 200).await, "what was in force still is");
    }
    assert_eq!(hub.metric("stoa_registry_faulty").await, 1.0);
    let shown = hub.operator().call("principals.list", json!({})).await["registry"].clone();
    assert!(!shown["faults"].as_array().unwrap().is_empty(), "{shown}");
    let folder = registry.path().parent().unwrap().display().to_string();
    assert!(!shown.to_string().contains(&folder), "paths stay inside: {shown}");

    // A file that others may write is not believed, whatever it says.
    registry.write_text(&good);
    let mode = |mode| std::fs::set_permissions(registry.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    for open in [0o666, 0o664, 0o646] {
        mode(open);
        assert!(reload().await.is_err(), "{open:o}");
    }
    std::fs::remove_file(registry.path()).unwrap();
    assert!(reload().await.is_err());
    assert!(answers(&demo, 200).await);

    registry.write_text(&good);
    assert!(reload().await.is_ok());
    assert_eq!(hub.metric("stoa_registry_faulty").await, 0.0);
    assert_eq!(hub.operator().call("principals.list", json!({})).await["registry"]["faults"], json!([]));
    assert!(hub.audit().await.iter().any(|entry| entry["action"] == "registry.refused"));
    hub.finish().await;
}

/// Whoever writes the file in place, piece by piece, is read when it is whole.
#[tokio::test]
async fn a_file_that_is_being_written_is_read_in_the_end() {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let demo = hub.machine(&identity);
    let text = std::fs::read_to_string(registry.path()).unwrap().replace("\"enabled\":true", "\"enabled\":false");
    for end in [0, text.len() / 3, text.len() - 1] {
        std::fs::write(registry.path(), &text[..end]).unwrap();
        eventually("the hub has looked", async || {
            hub.advance(Duration::from_secs(1));
            hub.metric("stoa_registry_faulty").await == 1.0
        })
        .await;
        assert!(answers(&demo, 200).await);
    }
    std::fs::write(registry.path(), &text).unwrap();
    until(&hub, &demo, 401).await;
    hub.finish().await;
}

#[tokio::test]
async fn a_hub_does_not_start_with_a_registry_that_is_not_valid() {
    let registry = RegistryFile::new();
    registry
        .write_text(r#"{"version": "svc.machine-principal-registry/v2", "audience": "svc-brain", "principals": [7]}"#);
    let Err(error) = TestHub::setup().registry(&registry).try_start().await else { panic!("it started") };
    let told = error.to_string();
    for part in ["registry.json", "/version", "/principals/0"] {
        assert!(told.contains(part), "{told}");
    }
    let missing = TestHub::setup().registry(&registry).configure(|config| config.audience = None);
    let Err(error) = missing.try_start().await else { panic!("it started") };
    assert!(error.to_string().contains("STOA_AUDIENCE"), "{error}");
    let nowhere = TestHub::setup().registry(&registry).configure(|config| config.registry = Some("/nowhere".into()));
    assert!(nowhere.try_start().await.is_err());
}

#[tokio::test]
async fn a_folder_holds_documents_of_many() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, audience: &str, identity: &Identity| {
        let principal =
            json!({"principal_id": identity.principal_id, "enabled": true, "keys": [identity.entry(&ALL_SCOPES)]});
        let document =
            json!({"version": "svc.machine-principal-registry/v1", "audience": audience, "principals": [principal]});
        let path = folder.path().join(name);
        std::fs::write(&path, document.to_string()).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    };
    let [first, second, foreign] =
        ["svc:sense:first", "svc:sense:second", "svc:sense:foreign"].map(|name| Identity::new(name, "key-2026-01"));
    put("a.json", "svc-brain", &first);
    put("b.json", "svc-bell", &foreign);
    let setup = TestHub::setup().configure(|config| {
        config.registry = Some(folder.path().to_owned());
        config.audience = Some("svc-brain".parse().unwrap());
    });
    let hub = setup.start().await;
    assert!(answers(&hub.machine(&first), 200).await);
    assert!(answers(&hub.machine(&foreign), 401).await);
    put("c.json", "svc-brain", &second);
    until(&hub, &hub.machine(&second), 200).await;
    std::fs::remove_file(folder.path().join("a.json")).unwrap();
    until(&hub, &hub.machine(&first), 401).await;
    // An emptied folder is more likely a mishap than a wish.
    std::fs::remove_file(folder.path().join("c.json")).unwrap();
    let refused = hub.operator().try_call("principals.reload", &json!({})).await;
    assert_eq!(refused.unwrap_err(), "registry_refused");
    assert!(answers(&hub.machine(&second), 200).await);
    hub.finish().await;
}

/// A key that cannot verify anything does no harm to the others.
#[tokio::test]
async fn keys_that_cannot_be_used_are_warned_of() {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    registry.change(|document| {
        let mut weak = Identity::new(DEMO, "key-zero").entry(&ALL_SCOPES);
        weak["public_key_base64url"] = json!("A".repeat(43));
        document["principals"][0]["keys"].as_array_mut().unwrap().push(weak);
    });
    let hub = TestHub::setup().registry(&registry).start().await;
    assert!(answers(&hub.machine(&identity), 200).await);
    let shown = hub.operator().call("principals.show", json!({"principal_id": DEMO})).await;
    assert_eq!((&shown["keys"][0]["usable"], &shown["keys"][1]["usable"]), (&json!(true), &json!(false)));
    assert!(shown["keys"][1]["reason"].is_string());
    let list = hub.operator().call("principals.list", json!({})).await;
    assert_eq!(list["registry"]["warnings"].as_array().unwrap().len(), 1);
    hub.finish().await;
}

/// A body may take its time. Who is revoked meanwhile does not get in any more.
#[tokio::test]
async fn a_key_that_is_revoked_during_a_request_is_refused() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let demo = hub.machine(&identity);
    let event = demo.made("e1", "t", json!(1)).to_string();
    let letter = demo.sign("POST", "/machine/events", &[("content-type", "application/json")], Some(&event));
    let mut head = format!("POST /machine/events HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", hub.address);
    for (name, value) in &letter.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", event.len()));
    let mut stream = tokio::net::TcpStream::connect(hub.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&event.as_bytes()[..10]).await.unwrap();
    registry.change(|document| document["principals"][0]["keys"][0]["status"] = json!("revoked"));
    hub.operator().call("principals.reload", json!({})).await;
    stream.write_all(&event.as_bytes()[10..]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("signature_invalid"), "{answer}");
    let shown = hub.operator().call("principals.show", json!({"principal_id": DEMO})).await;
    assert_eq!(shown["refusals"], json!({"key_revoked": 1}));
    hub.finish().await;
}

/// One that was taken out of the registry keeps its history.
#[tokio::test]
async fn who_is_taken_out_is_still_remembered() {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let demo = hub.machine(&identity);
    assert!(answers(&demo, 200).await);
    registry.change(|document| document["principals"] = json!([]));
    until(&hub, &demo, 401).await;
    let shown = hub.operator().call("principals.show", json!({"principal_id": DEMO})).await;
    assert_eq!((&shown["registered"], &shown["enabled"], &shown["keys"]), (&json!(false), &json!(false), &json!([])));
    assert!(shown["last_used_at"].is_string());
    hub.finish().await;
}
