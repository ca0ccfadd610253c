//! The code and the published schema agree on whatever document. `PROPTEST_CASES=1000000` looks longer.

use std::collections::HashSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use stoa_registry::Document;

use crate::support::{KEYS, good, key, parse, principal};

static SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&serde_json::from_str(stoa_registry::SCHEMA).unwrap()).unwrap());

/// The rules that no schema can state, as short as they can be said. A `Value` has each property once.
fn follows_the_rules_beyond(document: &Value) -> bool {
    let are_unique = |items: &Value, name: &str| {
        let mut seen = HashSet::new();
        items.as_array().unwrap().iter().all(|item| seen.insert(item[name].as_str().unwrap().to_owned()))
    };
    let principals = &document["principals"];
    are_unique(principals, "principal_id")
        && principals.as_array().unwrap().iter().all(|principal| are_unique(&principal["keys"], "kid"))
}

#[track_caller]
fn assert_agreement(document: &Value) {
    let by_contract = SCHEMA.is_valid(document) && follows_the_rules_beyond(document);
    let by_code = parse(document);
    assert_eq!(by_contract, by_code.is_ok(), "{document:#}\n{by_code:#?}");
}

/// Where something can be changed: pointers to every value.
fn places(value: &Value, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(properties) => {
            for (name, item) in properties {
                places(item, &format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        _ => {}
    }
}

#[derive(Debug, Clone)]
enum Change {
    Replace(Value),
    /// Removes a property or an item.
    Remove(Index),
    /// Adds a property or an item.
    Add(String, Value),
    /// Repeats an item of a list.
    Repeat(Index),
    Append(char),
    Prepend(char),
    ReplaceCharacter(Index, char),
    Truncate(Index),
}

impl Change {
    fn apply(&self, value: &mut Value) {
        match (self, value) {
            (Change::Replace(new), value) => *value = new.clone(),
            (Change::Remove(index), Value::Array(items)) if !items.is_empty() => {
                items.remove(index.index(items.len()));
            }
            (Change::Remove(index), Value::Object(properties)) if !properties.is_empty() => {
                let name = properties.keys().nth(index.index(properties.len())).unwrap().clone();
                properties.remove(&name);
            }
            (Change::Add(_, new), Value::Array(items)) => items.push(new.clone()),
            (Change::Add(name, new), Value::Object(properties)) => {
                properties.insert(name.clone(), new.clone());
            }
            (Change::Repeat(index), Value::Array(items)) if !items.is_empty() => {
                items.push(items[index.index(items.len())].clone());
            }
            (Change::Append(character), Value::String(text)) => text.push(*character),
            (Change::Prepend(character), Value::String(text)) => text.insert(0, *character),
            (Change::ReplaceCharacter(index, new), Value::String(text)) if !text.is_empty() => {
                let at = index.index(text.chars().count());
                *text = text.chars().enumerate().map(|(number, old)| if number == at { *new } else { old }).collect();
            }
            (Change::Truncate(index), Value::String(text)) if !text.is_empty() => {
                let length = index.index(text.chars().count());
                *text = text.chars().take(length).collect();
            }
            _ => {}
        }
    }
}

/// Values of which many fit somewhere.
fn some_value() -> impl Strategy<Value = Value> {
    let fitting = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1.5),
        json!(""),
        json!([]),
        json!({}),
        json!("svc.machine-principal-registry/v1"),
        json!("svc-bell"),
        json!("svc:bell:other"),
        json!("svc:sense:demo"),
        json!("svc:sense:new"),
        json!("key-2026-01"),
        json!("key-2026-09"),
        json!("active"),
        json!("revoked"),
        json!(["events:ingest"]),
        json!(["source-config:write", "runtime-status:write", "events:ingest", "evidence:read"]),
        json!("evidence:read"),
        json!("runtime-status:write"),
        json!(KEYS[3]),
        json!("A".repeat(43)),
        key("key-2026-03", KEYS[3]),
        principal("svc:brain:third", &[]),
        json!([principal("svc:brain:third", &[])]),
    ]);
    let formed = prop_oneof![
        "svc:(sense|brain|bell|hub):[a-z0-9.-]{0,64}",
        "[A-Za-z0-9._-]{6,66}",
        "[A-Za-z0-9_-]{42,44}",
        "[A-Za-z0-9_-]{43}",
        ".{0,10}",
    ]
    .prop_map(Value::String);
    prop_oneof![3 => fitting, 2 => formed]
}

fn some_character() -> impl Strategy<Value = char> {
    prop_oneof![
        prop::sample::select(vec!['\n', '\r', '\u{2028}', '\0', ' ', '.', '-', '_', ':', '=', 'A', 'a', '0', '/', '~']),
        any::<char>()
    ]
}

fn some_change() -> impl Strategy<Value = Change> {
    let name = prop_oneof![
        prop::sample::select(vec!["version", "audience", "principals", "enabled", "keys", "kid", "status", "scopes"])
            .prop_map(str::to_owned),
        ".{0,8}"
    ];
    prop_oneof![
        3 => some_value().prop_map(Change::Replace),
        1 => any::<Index>().prop_map(Change::Remove),
        2 => (name, some_value()).prop_map(|(name, value)| Change::Add(name, value)),
        1 => any::<Index>().prop_map(Change::Repeat),
        1 => some_character().prop_map(Change::Append),
        1 => some_character().prop_map(Change::Prepend),
        1 => (any::<Index>(), some_character()).prop_map(|(index, new)| Change::ReplaceCharacter(index, new)),
        1 => any::<Index>().prop_map(Change::Truncate),
    ]
}

fn changed_document() -> impl Strategy<Value = Value> {
    prop::collection::vec((any::<Index>(), some_change()), 0..4).prop_map(|changes| {
        let mut document = good();
        for (place, change) in changes {
            let mut found = Vec::new();
            places(&document, "", &mut found);
            let place: &String = place.get(&found);
            change.apply(document.pointer_mut(place).unwrap());
        }
        document
    })
}

fn any_json() -> impl Strategy<Value = Value> {
    some_value().prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((".{0,6}", inner), 0..8).prop_map(|items| items.into_iter().collect()),
        ]
    })
}

/// A text with some bytes replaced, removed or put in.
fn damaged_text() -> impl Strategy<Value = Vec<u8>> {
    let damage = (any::<Index>(), prop::collection::vec(any::<u8>(), 0..3), 0..3_usize);
    prop::collection::vec(damage, 1..5).prop_map(|damages| {
        let mut text = good().to_string().into_bytes();
        for (place, new, removed) in damages {
            let start = place.index(text.len() + 1);
            let end = (start + removed).min(text.len());
            text.splice(start..end, new);
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_documents_with_a_few_changes(document in changed_document()) {
        assert_agreement(&document);
    }

    #[test]
    fn on_json_that_is_no_document(value in any_json()) {
        assert_agreement(&value);
        let mut document = good();
        document["principals"][0]["keys"] = value;
        assert_agreement(&document);
    }

    #[test]
    fn on_names(
        id in "(svc|x):(sense|brain|bell|hub):[a-z0-9][a-z0-9.-]{0,63}",
        kid in "[A-Za-z0-9._-]{7,65}",
        public_key in "[A-Za-z0-9_-]{42,44}",
        change in prop::option::weighted(0.3, some_change()),
        changed in 0..3_usize,
    ) {
        let mut names = [json!(id), json!(kid), json!(public_key)];
        if let Some(change) = change {
            change.apply(&mut names[changed]);
        }
        for (name, pointer) in names.into_iter().zip([
            "/principals/0/principal_id",
            "/principals/0/keys/0/kid",
            "/principals/0/keys/0/public_key_base64url",
        ]) {
            let mut document = good();
            *document.pointer_mut(pointer).unwrap() = name;
            assert_agreement(&document);
        }
    }

    #[test]
    fn a_property_that_is_given_twice_is_always_found(place in any::<Index>(), value in some_value()) {
        let document = good();
        let mut properties = Vec::new();
        places(&document, "", &mut properties);
        properties.retain(|pointer| pointer.rsplit_once('/').is_some_and(|(parent, _)| document.pointer(parent).unwrap().is_object()));
        let pointer: &String = place.get(&properties);
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        // Put in as a name that nothing else has, and renamed in the text.
        let mut with_both = document.clone();
        with_both.pointer_mut(parent).unwrap()["\u{1}"] = value;
        let text = with_both.to_string().replace("\\u0001", name);
        let faults = Document::parse(text.as_bytes()).unwrap_err();
        prop_assert!(
            faults.iter().any(|fault| fault.pointer == *pointer && fault.message.contains("more than once")),
            "{text}: {faults:?}"
        );
    }

    #[test]
    fn nothing_panics_on_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Document::parse(&bytes);
    }

    #[test]
    fn nothing_panics_on_damaged_documents(bytes in damaged_text()) {
        let outcome = Document::parse(&bytes);
        // Whatever is accepted is JSON to others too, and follows the schema for them.
        if outcome.is_ok() {
            prop_assert!(SCHEMA.is_valid(&serde_json::from_slice(&bytes).unwrap()));
        } else if let Err(faults) = outcome {
            prop_assert!(!faults.is_empty() && faults.iter().all(|fault| !fault.message.is_empty()));
        }
    }
}
