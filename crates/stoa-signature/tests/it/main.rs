//! Signing and verifying from outside, as a service and a hub do.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests may fail loudly")]

mod properties;
mod refusals;
mod vector;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use stoa_signature::{Claim, Request, SignatureError};

const TAG: &str = "svc-machine-v1:svc-brain";
const KEY_ID: &str = "svc:sense:demo/key-2026-01";
const NONCE: &str = "AAECAwQFBgcICQoLDA0ODw";
const CREATED: i64 = 1_800_000_000;
const BODY: &[u8] = br#"{"specversion":"1.0","id":"e1","source":"svc:sense:demo","type":"svc.demo.ping"}"#;
const DIGEST: &str = "sha-256=:4UkPwsQOgbKWDnZWVRXGjtmc8afve6KCrbNxmbVcglo=:";
const COMPONENTS: &str = r#""@method" "@authority" "@path" "@query" "content-type" "content-digest""#;
const PARAMETERS: &str = r#";created=1800000000;keyid="svc:sense:demo/key-2026-01";alg="ed25519";expires=1800000120;nonce="AAECAwQFBgcICQoLDA0ODw";tag="svc-machine-v1:svc-brain""#;
const SIGNATURE: &str = "1y8mVVSwoePDFuAsOcx7abe6lssa8CEK2EsVRtQH6ZLAOfHQPHEo/1711jS1kpTA/BMrSWNCp5/8YT7WjiHtBA==";

fn key() -> SigningKey {
    SigningKey::from_bytes(&std::array::from_fn(|index| index as u8))
}

/// A request that owns its parts, so that a test can change each of them.
#[derive(Debug, Clone)]
struct Sent {
    method: String,
    authority: String,
    path: String,
    query: Option<String>,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Sent {
    /// The request of the vector, without its signature.
    fn unsigned() -> Self {
        let sent = Sent {
            method: "POST".to_owned(),
            authority: "hub.example".to_owned(),
            path: "/machine/events".to_owned(),
            query: None,
            headers: HeaderMap::new(),
            body: BODY.to_vec(),
        };
        sent.with("content-type", "application/cloudevents+json").with("content-digest", DIGEST)
    }

    /// The request of the vector.
    fn vector() -> Self {
        Self::unsigned()
            .with("signature-input", &format!("sig=({COMPONENTS}){PARAMETERS}"))
            .with("signature", &format!("sig=:{SIGNATURE}:"))
    }

    /// The same with a good signature over whatever is said to be covered, by the key of the vector.
    fn signed_over(self, components: &str, parameters: &str) -> Self {
        let input = format!("({components}){parameters}");
        let base = self.base(components, &input);
        let signature = STANDARD.encode(key().sign(base.as_bytes()).to_bytes());
        self.with("signature-input", &format!("sig={input}")).with("signature", &format!("sig=:{signature}:"))
    }

    /// A signature base made without the crate.
    fn base(&self, components: &str, input: &str) -> String {
        let mut base = String::new();
        for component in components.split_whitespace() {
            let name = component.trim_matches('"');
            let value = match name {
                "@method" => self.method.clone(),
                "@authority" => self.authority.clone(),
                "@path" => self.path.clone(),
                "@query" => format!("?{}", self.query.as_deref().unwrap_or_default()),
                _ => self.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned(),
            };
            base += &format!("{component}: {value}\n");
        }
        base + &format!("\"@signature-params\": {input}")
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(HeaderName::try_from(name).unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        self
    }

    fn and(mut self, name: &str, value: &str) -> Self {
        self.headers.append(HeaderName::try_from(name).unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap().to_str().unwrap()
    }

    fn request(&self) -> Request<'_> {
        Request {
            method: &self.method,
            scheme: "https",
            authority: &self.authority,
            path: &self.path,
            query: self.query.as_deref(),
            headers: &self.headers,
        }
    }

    fn claim(&self) -> Result<Option<Claim>, SignatureError> {
        Claim::from_headers(&self.headers, TAG)
    }

    fn verify_at(&self, now: i64) -> Result<Claim, SignatureError> {
        let claim = self.claim()?.expect("the request has a signature");
        claim.check_head(&self.request(), TAG, now)?;
        claim.check_body(&self.request(), &key().verifying_key(), &self.body)?;
        Ok(claim)
    }

    fn verify(&self) -> Result<Claim, SignatureError> {
        self.verify_at(CREATED)
    }
}
