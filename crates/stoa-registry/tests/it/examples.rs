//! The examples beside the contract do what its `reasons.json` says.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use stoa_registry::{Document, Finding, Principal};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/machine-principal-registry/v1/examples"))
}

/// The examples of a kind, by name.
fn examples(kind: &str) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder().join(kind)).unwrap().map(|entry| entry.unwrap().path());
    let examples: BTreeMap<_, _> =
        files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect();
    assert!(!examples.is_empty(), "there are no {kind} examples");
    examples
}

/// What `reasons.json` says of the examples of a kind: of exactly those that there are.
fn reasons(kind: &str) -> Value {
    let mut reasons: Value = serde_json::from_slice(&fs::read(folder().join("reasons.json")).unwrap()).unwrap();
    let of_kind = reasons[kind].take();
    let named: Vec<_> = of_kind.as_object().unwrap().keys().cloned().collect();
    let mut there: Vec<_> = examples(kind).into_keys().collect();
    there.sort();
    let mut sorted = named;
    sorted.sort();
    assert_eq!(sorted, there);
    of_kind
}

fn pointers(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.pointer.as_str()).collect()
}

#[test]
fn valid_ones_are_valid_and_every_key_is_usable() {
    for (name, bytes) in examples("valid") {
        let document = Document::parse(&bytes).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
        assert_eq!(document.warnings(), [], "{name}");
    }
}

#[test]
fn invalid_ones_fail_at_the_one_place_named() {
    let reasons = reasons("invalid");
    for (name, bytes) in examples("invalid") {
        let faults = Document::parse(&bytes).expect_err(&name);
        assert_eq!(pointers(&faults), [reasons[&name]["pointer"].as_str().unwrap()], "{name}: {faults:?}");
    }
}

#[test]
fn warned_ones_are_valid_with_the_warnings_named() {
    let reasons = reasons("warned");
    for (name, bytes) in examples("warned") {
        let document = Document::parse(&bytes).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
        let expected: Vec<_> = reasons[&name].as_array().unwrap().iter().collect();
        let expected_pointers: Vec<_> = expected.iter().map(|reason| reason["pointer"].as_str().unwrap()).collect();
        assert_eq!(pointers(document.warnings()), expected_pointers, "{name}");

        let unusable = document.principals().iter().flat_map(|principal: &Principal| &principal.keys);
        let unusable: Vec<_> = unusable.filter_map(|key| key.verifying_key().err()).map(|why| why.code()).collect();
        let expected_codes: Vec<_> = expected.iter().map(|reason| reason["code"].as_str().unwrap()).collect();
        assert_eq!(unusable, expected_codes, "{name}");
    }
}

#[test]
fn the_schema_catches_what_it_is_said_to_catch() {
    let schema: Value = serde_json::from_str(stoa_registry::SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let schema = jsonschema::validator_for(&schema).unwrap();
    let is_valid = |bytes: &[u8]| schema.is_valid(&serde_json::from_slice(bytes).unwrap());
    for (name, bytes) in examples("valid").into_iter().chain(examples("warned")) {
        assert!(is_valid(&bytes), "{name}");
    }
    let reasons = reasons("invalid");
    for (name, bytes) in examples("invalid") {
        match reasons[&name]["caught_by"].as_str().unwrap() {
            "schema" => assert!(!is_valid(&bytes), "{name}"),
            "rule" => assert!(is_valid(&bytes), "{name}"),
            other => panic!("{name} is caught by {other}"),
        }
    }
}
