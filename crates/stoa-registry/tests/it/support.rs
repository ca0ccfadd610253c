//! Documents to begin with.

use serde_json::{Value, json};
use stoa_registry::{Document, Finding};

/// Different public keys, the first being that of the contract's test vector.
pub(crate) const KEYS: [&str; 4] = [
    "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg",
    "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w",
    "gTl3Dqh9F19Wo1Rmw0x-zMuNipG07jeiXfYPW4_Js5Q",
    "7UkoxijRwsbq6QM4kFmVYSlZJzpcY_k2NsFGFKyHN9E",
];

pub(crate) fn key(kid: &str, public_key: &str) -> Value {
    json!({"kid": kid, "public_key_base64url": public_key, "status": "active", "scopes": ["events:ingest"]})
}

pub(crate) fn principal(id: &str, keys: &[Value]) -> Value {
    json!({"principal_id": id, "enabled": true, "keys": keys})
}

pub(crate) fn document(principals: &[Value]) -> Value {
    json!({"version": stoa_registry::VERSION, "audience": "svc-brain", "principals": principals})
}

/// Two principals, three keys.
pub(crate) fn good() -> Value {
    document(&[
        principal("svc:sense:demo", &[key("key-2026-01", KEYS[0]), key("key-2026-02", KEYS[1])]),
        principal("svc:bell:other", &[key("key-2026-01", KEYS[2])]),
    ])
}

pub(crate) fn parse(document: &Value) -> Result<Document, Vec<Finding>> {
    Document::parse(document.to_string().as_bytes())
}

/// Faults as pairs of pointer and message.
pub(crate) fn faults_of(bytes: &[u8]) -> Vec<(String, String)> {
    let faults = Document::parse(bytes).unwrap_err();
    faults.into_iter().map(|fault| (fault.pointer, fault.message)).collect()
}
