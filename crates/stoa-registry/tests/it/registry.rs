//! Several documents together, and which keys are believed.

use serde_json::{Value, json};
use stoa_registry::{Audience, Finding, Refused, Registry, Unusable};

use crate::support::{KEYS, document, good, key, parse, principal};

fn registry(documents: &[(&str, Value)]) -> Result<Registry, Vec<Finding>> {
    let documents = documents.iter().map(|(file, document)| ((*file).to_owned(), parse(document).unwrap()));
    Registry::new(Audience::Brain, documents.collect())
}

fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::to_string).collect()
}

#[test]
fn only_active_keys_of_enabled_principals_are_believed() {
    let mut document = good();
    document["principals"][0]["keys"][1]["status"] = json!("revoked");
    document["principals"][1]["enabled"] = json!(false);
    let registry = registry(&[("a.json", document)]).unwrap();
    assert_eq!(registry.audience(), Audience::Brain);

    let usable = registry.usable_key("svc:sense:demo", "key-2026-01").unwrap();
    assert_eq!((&*usable.principal.principal_id, &*usable.key.kid), ("svc:sense:demo", "key-2026-01"));
    assert_eq!(usable.verifying_key, usable.key.verifying_key().unwrap());
    assert_eq!(usable.verifying_key.as_bytes(), usable.key.public_key_bytes());
    for (principal_id, kid) in [
        ("svc:sense:demo", "key-2026-02"),
        ("svc:bell:other", "key-2026-01"),
        ("svc:sense:demo", "key-2026-03"),
        ("svc:sense:nobody", "key-2026-01"),
        ("svc:sense:demo", ""),
        ("", ""),
    ] {
        assert!(registry.usable_key(principal_id, kid).is_none(), "{principal_id} {kid}");
    }
    assert!(!registry.principal("svc:bell:other").unwrap().enabled);
    assert!(registry.principal("svc:bell:nobody").is_none());
}

#[test]
fn why_a_key_is_not_believed_is_told() {
    let mut document = good();
    let keys = document["principals"][0]["keys"].as_array_mut().unwrap();
    keys[1]["status"] = json!("revoked");
    keys.push(key("key-2026-03", &"A".repeat(43)));
    document["principals"][1]["enabled"] = json!(false);
    let registry = registry(&[("a.json", document)]).unwrap();
    assert!(registry.find_key("svc:sense:demo", "key-2026-01").is_ok());
    for (principal_id, kid, refused, code, sentence) in [
        (
            "svc:sense:nobody",
            "key-2026-01",
            Refused::UnknownPrincipal,
            "unknown_principal",
            "the registry does not know the principal",
        ),
        ("svc:bell:other", "key-2026-01", Refused::Disabled, "principal_disabled", "the principal is disabled"),
        ("svc:sense:demo", "key-2026-09", Refused::UnknownKey, "unknown_key", "the principal has no key with this kid"),
        ("svc:sense:demo", "key-2026-02", Refused::Revoked, "key_revoked", "the key is revoked"),
        (
            "svc:sense:demo",
            "key-2026-03",
            Refused::Unusable(Unusable::SmallOrder),
            "key_unusable",
            "the key cannot be used: it is a point of small order, for which anyone can sign; create a new key",
        ),
    ] {
        let found = registry.find_key(principal_id, kid).unwrap_err();
        assert_eq!((found, found.code(), &*found.to_string()), (refused, code, sentence));
        assert!(registry.usable_key(principal_id, kid).is_none());
    }
}

#[test]
fn of_several_reasons_the_hardest_to_mend_is_told() {
    let mut document = good();
    document["principals"][0]["enabled"] = json!(false);
    document["principals"][0]["keys"][0]["status"] = json!("revoked");
    document["principals"][0]["keys"][1]["status"] = json!("revoked");
    document["principals"][0]["keys"][1]["public_key_base64url"] = json!(KEYS[2]);
    let registry = registry(&[("a.json", document)]).unwrap();
    for (kid, refused) in [
        ("key-2026-01", Refused::Revoked),
        ("key-2026-02", Refused::Unusable(Unusable::UsedTwice)),
        ("key-2026-03", Refused::UnknownKey),
    ] {
        assert_eq!(registry.find_key("svc:sense:demo", kid).unwrap_err(), refused);
    }
}

#[test]
fn principals_of_all_documents_are_sorted() {
    let one = document(&[principal("svc:sense:b", &[key("key-2026-01", KEYS[0])]), principal("svc:brain:c", &[])]);
    let two = document(&[principal("svc:sense:a", &[key("key-2026-01", KEYS[1])])]);
    let registry = registry(&[("1.json", one), ("2.json", two)]).unwrap();
    let ids: Vec<_> = registry.principals().iter().map(|principal| &*principal.principal_id).collect();
    assert_eq!(ids, ["svc:brain:c", "svc:sense:a", "svc:sense:b"]);
    for id in ids {
        assert_eq!(registry.principal(id).unwrap().principal_id, id);
    }
    assert!(registry.usable_key("svc:sense:a", "key-2026-01").is_some());
    assert!(registry.warnings().is_empty());
}

#[test]
fn documents_are_counted_also_empty_ones() {
    for count in 0..3 {
        let documents: Vec<_> =
            ["1.json", "2.json"].into_iter().take(count).map(|file| (file, document(&[]))).collect();
        assert_eq!(registry(&documents).unwrap().documents(), count);
    }
}

#[test]
fn a_principal_stands_in_one_document() {
    let other = document(&[principal("svc:bell:x", &[]), principal("svc:sense:demo", &[])]);
    let faults = registry(&[("1.json", good()), ("2.json", other)]).unwrap_err();
    assert_eq!(
        lines(&faults),
        [
            "2.json: /principals/1/principal_id: \"svc:sense:demo\" is the principal_id of /principals/0 of 1.json already"
        ]
    );
}

#[test]
fn a_document_for_somebody_else_is_refused() {
    let mut other = document(&[]);
    other["audience"] = json!("svc-bell");
    let faults = registry(&[("1.json", good()), ("2.json", other)]).unwrap_err();
    assert_eq!(lines(&faults), ["2.json: /audience: the document is for svc-bell, but one for svc-brain is needed"]);
}

#[test]
fn a_public_key_that_is_listed_twice_is_not_believed_anywhere() {
    let mut revoked = key("key-2025-01", KEYS[1]);
    revoked["status"] = json!("revoked");
    let one = document(&[
        principal("svc:sense:a", &[key("key-2026-01", KEYS[0]), key("key-2026-02", KEYS[1])]),
        principal("svc:sense:b", &[revoked]),
    ]);
    let two = document(&[principal("svc:sense:c", &[key("key-2026-01", KEYS[0]), key("key-2026-02", KEYS[2])])]);
    let registry = registry(&[("1.json", one), ("2.json", two)]).unwrap();
    let why = "the key cannot be used: it is listed more than once; each kid needs a key of its own";
    assert_eq!(
        lines(registry.warnings()),
        [
            format!(
                "1.json: /principals/0/keys/0/public_key_base64url: {why} \
                 (it is also 2.json: /principals/0/keys/0/public_key_base64url)"
            ),
            format!(
                "1.json: /principals/0/keys/1/public_key_base64url: {why} \
                 (it is also /principals/1/keys/0/public_key_base64url)"
            ),
            format!(
                "1.json: /principals/1/keys/0/public_key_base64url: {why} \
                 (it is also /principals/0/keys/1/public_key_base64url)"
            ),
            format!(
                "2.json: /principals/0/keys/0/public_key_base64url: {why} \
                 (it is also 1.json: /principals/0/keys/0/public_key_base64url)"
            ),
        ]
    );
    for (id, kid) in [("svc:sense:a", "key-2026-01"), ("svc:sense:a", "key-2026-02"), ("svc:sense:c", "key-2026-01")] {
        assert!(registry.usable_key(id, kid).is_none(), "{id} {kid}");
    }
    assert!(registry.usable_key("svc:sense:c", "key-2026-02").is_some());
    let unusable = registry.principal("svc:sense:c").unwrap().keys[0].verifying_key();
    assert_eq!(unusable, Err(Unusable::UsedTwice));
}

#[test]
fn an_empty_registry_knows_nobody() {
    let registry = Registry::empty(Audience::Bell);
    assert!(registry.principals().is_empty() && registry.usable_key("svc:sense:demo", "key-2026-01").is_none());
    assert_eq!((registry.audience(), registry.documents()), (Audience::Bell, 0));
}
