//! Machine principals: a registry on the disk, and callers who sign.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ed25519_dalek::SigningKey;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use stoa::config::Config;
use stoa_signature::{Request, Signer};

use super::client::{Client, Reply};
use super::{Setup, TestHub};

pub(crate) const TAG: &str = "svc-machine-v1:svc-brain";
pub(crate) const ALL_SCOPES: [&str; 4] =
    ["source-config:write", "runtime-status:write", "events:ingest", "evidence:read"];

/// A registry document on the disk.
pub(crate) struct RegistryFile {
    folder: tempfile::TempDir,
    document: Mutex<Value>,
}

impl RegistryFile {
    /// For the hub that is `svc-brain`, without anybody in it.
    pub(crate) fn new() -> Self {
        let document =
            json!({"version": "svc.machine-principal-registry/v1", "audience": "svc-brain", "principals": []});
        let file = Self { folder: tempfile::tempdir().unwrap(), document: Mutex::new(document) };
        file.write();
        file
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("registry.json")
    }

    /// Adds a principal with one key, which depends on nothing but the names.
    pub(crate) fn add(&self, principal_id: &str, scopes: &[&str]) -> Identity {
        let identity = Identity::new(principal_id, "key-2026-01");
        let key = identity.entry(scopes);
        self.change(|document| {
            let principal = json!({"principal_id": principal_id, "enabled": true, "keys": [key]});
            document["principals"].as_array_mut().unwrap().push(principal);
        });
        identity
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Value)) {
        change(&mut self.document.lock().unwrap());
        self.write();
    }

    fn write(&self) {
        self.write_text(&self.document.lock().unwrap().to_string());
    }

    /// Puts a text in the file's place, all at once.
    pub(crate) fn write_text(&self, text: &str) {
        let draft = self.folder.path().join(".registry.json.new");
        std::fs::write(&draft, text).unwrap();
        std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::rename(draft, self.path()).unwrap();
    }

    pub(crate) fn configure(&self, config: &mut Config) {
        config.registry = Some(self.path());
        config.audience = Some("svc-brain".parse().unwrap());
    }
}

impl Setup {
    pub(crate) fn registry(self, file: &RegistryFile) -> Self {
        self.configure(|config| file.configure(config))
    }
}

/// A principal and one of its keys.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) principal_id: String,
    pub(crate) kid: String,
    pub(crate) key: SigningKey,
}

impl Identity {
    pub(crate) fn new(principal_id: &str, kid: &str) -> Self {
        use sha2::Digest;
        let seed: [u8; 32] = sha2::Sha256::digest(format!("{principal_id}/{kid}")).into();
        Self { principal_id: principal_id.to_owned(), kid: kid.to_owned(), key: SigningKey::from_bytes(&seed) }
    }

    /// The key as the registry has it.
    pub(crate) fn entry(&self, scopes: &[&str]) -> Value {
        use base64::Engine;
        let public = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(self.key.verifying_key().as_bytes());
        json!({"kid": self.kid, "public_key_base64url": public, "status": "active", "scopes": scopes})
    }
}

impl TestHub {
    /// A caller who signs as this principal.
    pub(crate) fn machine(&self, identity: &Identity) -> Machine {
        let clock = self.setup.clock.clone();
        Machine {
            identity: identity.clone(),
            client: self.nobody(),
            authority: self.address.to_string(),
            now: Arc::new(move || clock.now_ms() / 1000),
        }
    }
}

/// A machine principal that calls a hub.
#[derive(Clone)]
pub(crate) struct Machine {
    pub(crate) identity: Identity,
    client: Client,
    pub(crate) authority: String,
    now: Arc<dyn Fn() -> i64 + Send + Sync>,
}

/// A request before it is sent: it can still be changed, as somebody on the way could.
#[derive(Clone)]
pub(crate) struct Letter {
    client: Client,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
}

impl Machine {
    pub(crate) async fn get(&self, target: &str) -> Reply {
        self.sign("GET", target, &[], None).send().await
    }

    pub(crate) async fn put(&self, target: &str, body: &Value) -> Reply {
        self.sign("PUT", target, &[("content-type", "application/json")], Some(&body.to_string())).send().await
    }

    /// Sends one event.
    pub(crate) async fn event(&self, event: &Value) -> Reply {
        let headers = [("content-type", "application/cloudevents+json")];
        self.sign("POST", "/machine/events", &headers, Some(&event.to_string())).send().await
    }

    pub(crate) async fn batch(&self, events: &[Value]) -> Reply {
        let headers = [("content-type", "application/cloudevents-batch+json")];
        self.sign("POST", "/machine/events", &headers, Some(&json!(events).to_string())).send().await
    }

    /// An event of this principal.
    pub(crate) fn made(&self, id: &str, event_type: &str, data: Value) -> Value {
        json!({"specversion": "1.0", "id": id, "source": self.identity.principal_id, "type": event_type, "data": data})
    }

    pub(crate) fn sign(&self, method: &str, target: &str, headers: &[(&str, &str)], body: Option<&str>) -> Letter {
        let now = (self.now)();
        self.sign_as(method, target, headers, body, TAG, (now, 60), &fresh_nonce())
    }

    /// The same with everything that can be chosen: the tag, when it was made and for how long it is good, the nonce.
    #[expect(clippy::too_many_arguments, reason = "it is the whole of what is signed")]
    pub(crate) fn sign_as(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
        tag: &str,
        (created, lifetime): (i64, i64),
        nonce: &str,
    ) -> Letter {
        let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        let map: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect();
        let request = Request { method, scheme: "http", authority: &self.authority, path, query, headers: &map };
        let key_id = format!("{}/{}", self.identity.principal_id, self.identity.kid);
        let signer = Signer::new(self.identity.key.clone(), &key_id, tag).unwrap();
        let body = body.map(|body| body.as_bytes().to_vec());
        let added = signer.sign(&request, body.as_deref(), created, lifetime, nonce).unwrap();
        let mut all: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        all.extend(added.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())));
        Letter { client: self.client.clone(), method: method.to_owned(), target: target.to_owned(), headers: all, body }
    }
}

impl Letter {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Puts one text for another in a header.
    pub(crate) fn rewrite(mut self, name: &str, from: &str, to: &str) -> Self {
        let found = self.headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)).unwrap();
        assert!(found.1.contains(from), "{name} has no {from}: {}", found.1);
        found.1 = found.1.replacen(from, to, 1);
        self
    }

    pub(crate) fn value(&self, name: &str) -> String {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).unwrap().1.clone()
    }

    /// The same letter at another hub.
    pub(crate) fn to(mut self, hub: &TestHub) -> Self {
        self.client = hub.nobody();
        self
    }

    pub(crate) async fn send(self) -> Reply {
        let mut call = self.client.call(&self.method, &self.target).may_fail();
        for (name, value) in &self.headers {
            call = call.header(name, value);
        }
        if let Some(body) = self.body {
            call = call.bare_body(body);
        }
        call.await
    }
}

pub(crate) fn fresh_nonce() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!("nonce-{:06}-{:016}", std::process::id() % 1_000_000, COUNTER.fetch_add(1, Ordering::Relaxed))
}
