//! Each fault is found, at its place, and said in a sentence; many at once, but not without end.

use serde_json::{Value, json};
use stoa_registry::{Document, MAX_DOCUMENT_BYTES};

use crate::support::{KEYS, document, faults_of, good, key, parse, principal};

/// A good document with one value replaced.
fn with(pointer: &str, value: Value) -> Value {
    let mut document = good();
    *document.pointer_mut(pointer).unwrap() = value;
    document
}

#[track_caller]
fn assert_fault(bytes: &[u8], pointer: &str, words: &str) {
    let faults = faults_of(bytes);
    assert!(
        matches!(&faults[..], [(at, message)] if at == pointer && message.contains(words)),
        "{words:?} at {pointer:?} is not the one fault of {faults:#?}"
    );
}

#[test]
fn a_good_document_says_what_it_says() {
    let document = parse(&good()).unwrap();
    let principals = document.principals();
    assert_eq!((principals.len(), &*principals[0].principal_id, principals[0].enabled), (2, "svc:sense:demo", true));
    assert_eq!(principals[0].keys[1].kid, "key-2026-02");
    assert_eq!(principals[0].keys[1].scopes.to_string(), "events:ingest");
    assert!(principals[0].keys[1].verifying_key().is_ok());
}

#[test]
fn all_faults_are_found_at_once() {
    let text = br#"{
        "version": "v1",
        "audience": "svc-brain", "audience": "svc-bell",
        "principals": [
            {"principal_id": "svc:hub:x", "enabled": 1, "keys": {}, "note": {"a": 1, "a": 2}},
            7,
            {"principal_id": "svc:sense:x", "enabled": true, "keys": [
                {"kid": "short", "public_key_base64url": "", "status": "on", "scopes": []},
                {"scopes": ["events:ingest", "events:ingest", 1, "x", "evidence:read"]}
            ]},
            {"principal_id": "svc:sense:x"}
        ]
    }"#;
    let found = faults_of(text);
    let expected = [
        ("/audience", "given more than once"),
        ("/principals/0/note/a", "given more than once"),
        ("/version", "must be svc.machine-principal-registry/v1, not \"v1\""),
        ("/principals/0/note", "no such property; a principal has principal_id, enabled, keys and no others"),
        ("/principals/0/principal_id", "must be svc:sense:, svc:brain: or svc:bell: and then"),
        ("/principals/0/enabled", "must be true or false, not a number"),
        ("/principals/0/keys", "must be an array, not an object"),
        ("/principals/1", "a principal must be an object, not a number"),
        ("/principals/2/keys/0/kid", "must be 8 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen, not \"short\""),
        ("/principals/2/keys/0/public_key_base64url", "this has 0 characters"),
        ("/principals/2/keys/0/status", "must be active or revoked, not \"on\""),
        ("/principals/2/keys/0/scopes", "must have 1 to 4 items, but has 0"),
        ("/principals/2/keys/1", "kid is missing"),
        ("/principals/2/keys/1", "public_key_base64url is missing"),
        ("/principals/2/keys/1", "status is missing"),
        ("/principals/2/keys/1/scopes/1", "the scope events:ingest is listed twice"),
        ("/principals/2/keys/1/scopes/2", "must be a string, not a number"),
        ("/principals/2/keys/1/scopes/3", "must be source-config:write, runtime-status:write, events:ingest or"),
        ("/principals/2/keys/1/scopes", "must have 1 to 4 items, but has 5"),
        ("/principals/3", "enabled is missing"),
        ("/principals/3", "keys is missing"),
        ("/principals/3/principal_id", "\"svc:sense:x\" is the principal_id of /principals/2 already"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for ((pointer, message), (expected_pointer, words)) in found.iter().zip(expected) {
        assert!(pointer == expected_pointer && message.contains(words), "{pointer}: {message}");
    }
}

#[test]
fn what_is_not_a_json_text_is_said_to_be_so() {
    let text = good().to_string();
    for (bytes, words) in [
        (Vec::new(), "the document is empty"),
        (b" \r\n\t".to_vec(), "the document is empty"),
        (b"\xef\xbb\xbf{}".to_vec(), "byte order mark"),
        (b"{\"a\": \"\xff\"}".to_vec(), "not UTF-8: byte 7"),
        (b"\xff\xfe{\0}\0".to_vec(), "not UTF-8: byte 0"),
        (format!("{text}x").into_bytes(), "not JSON: trailing characters at line 1"),
        (format!("{text}{text}").into_bytes(), "not JSON: trailing characters"),
        (format!("{text}\0").into_bytes(), "not JSON: trailing characters"),
        (text.as_bytes()[..text.len() - 1].to_vec(), "not JSON: EOF"),
        (text.replace("true", "True").into_bytes(), "not JSON: expected value"),
        (text.replace("true", "1e999").into_bytes(), "not JSON: number out of range"),
        (text.replace("demo", "\\ud800").into_bytes(), "not JSON"),
        (text.replace("demo", "de\nmo").into_bytes(), "not JSON: control character"),
        ("[".repeat(MAX_DOCUMENT_BYTES).into_bytes(), "not JSON: recursion limit exceeded"),
        ("{\"a\":".repeat(100_000).into_bytes(), "not JSON: recursion limit exceeded"),
    ] {
        assert_fault(&bytes, "", words);
    }
}

#[test]
fn a_document_has_at_most_a_mebibyte() {
    let mut text = good().to_string().into_bytes();
    text.resize(MAX_DOCUMENT_BYTES, b' ');
    assert!(Document::parse(&text).is_ok());
    text.push(b' ');
    assert_fault(&text, "", "1048577 bytes long; at most 1048576 (1 MiB)");
}

#[test]
fn line_breaks_at_the_end_are_no_part_of_a_name() {
    let kk = "/principals/0/keys/0";
    for line_break in ["\n", "\r", "\r\n", "\u{85}", "\u{2028}"] {
        for (pointer, value) in [
            ("/version".to_owned(), stoa_registry::VERSION),
            ("/audience".to_owned(), "svc-brain"),
            ("/principals/0/principal_id".to_owned(), "svc:sense:demo"),
            (format!("{kk}/kid"), "key-2026-01"),
            (format!("{kk}/public_key_base64url"), KEYS[0]),
            (format!("{kk}/status"), "active"),
            (format!("{kk}/scopes/0"), "events:ingest"),
        ] {
            let document = with(&pointer, json!(format!("{value}{line_break}")));
            assert_fault(document.to_string().as_bytes(), &pointer, "must be");
        }
    }
}

#[test]
fn long_lists_of_faults_end() {
    let document = document(&vec![json!(0); 1000]);
    let faults = parse(&document).unwrap_err();
    assert_eq!(faults.len(), 101);
    assert_eq!((&*faults[99].pointer, &*faults[100].pointer), ("/principals/99", ""));
    assert_eq!(faults[100].message, "and 900 more that are not listed");
}

#[test]
fn long_lists_of_warnings_end() {
    let keys: Vec<_> = (0..150).map(|number| key(&format!("key-{number:04}"), &"A".repeat(43))).collect();
    let document = parse(&document(&[principal("svc:sense:demo", &keys)])).unwrap();
    assert_eq!(document.warnings().len(), 101);
    assert_eq!(document.warnings()[100].message, "and 50 more that are not listed");
}

#[test]
fn values_are_cut_and_made_harmless() {
    let long = "\u{1b}".repeat(100_000);
    for pointer in ["/version", "/audience", "/principals/0/principal_id", "/principals/0/keys/0/kid"] {
        let faults = parse(&with(pointer, json!(long))).unwrap_err();
        assert!(faults.len() == 1 && faults[0].message.len() < 1000, "{faults:?}");
        assert!(!faults[0].message.contains('\u{1b}') && faults[0].message.contains("\\u{1b}"), "{faults:?}");
    }
    let mut document = good();
    document[&long] = json!(long);
    let faults = parse(&document).unwrap_err();
    assert!(faults.len() == 1 && faults[0].to_string().len() < 1000, "{faults:?}");
    assert!(!faults[0].to_string().contains('\u{1b}'));
}

#[test]
fn a_private_key_in_the_wrong_place_is_not_repeated() {
    let secret = "MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
    let document = with("/principals/0/keys/0/public_key_base64url", json!(secret));
    let faults = parse(&document).unwrap_err();
    assert!(!format!("{faults:?}").contains("MC4CAQ"), "{faults:?}");
    let mut document = good();
    document["principals"][0]["keys"][0]["private_key"] = json!(secret);
    let faults = parse(&document).unwrap_err();
    assert!(!format!("{faults:?}").contains("MC4CAQ"), "{faults:?}");
}
