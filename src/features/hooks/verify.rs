//! Checks that a request comes from a service that knows the secret of the hook.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::Mac;
use sha2::{Digest, Sha256};
use stoa_model::Secret;
use stoa_model::hooks::{HookKind, HookOutcome, MAX_DELIVERY_ID, STANDARD_SECRET_PREFIX, TOLERANCE_SECONDS, clean};
use subtle::ConstantTimeEq;

use crate::access::webhook_signature::{is_signed, mac};
use crate::error::HubError;

const MAX_EVENT: usize = 100;

/// A request that another service sent.
pub(super) struct Received<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) path_secret: Option<&'a Secret>,
    pub(super) body: &'a [u8],
}

/// What the headers of a verified request say.
#[derive(Debug, Clone)]
pub(super) struct Verified {
    /// None if the body names it.
    pub(super) event: Option<String>,
    pub(super) delivery_id: Option<String>,
    /// Hashes by which the hub recognises a repeated request.
    pub(super) delivery_hashes: Vec<[u8; 32]>,
}

impl Received<'_> {
    /// Checks the proof of a request. `now_ms` is for kinds that sign a time.
    pub(super) fn verify(&self, kind: HookKind, secret: &[u8], now_ms: i64) -> Result<Verified, HookOutcome> {
        match kind {
            HookKind::Github => self.verify_github(secret),
            HookKind::Standard => self.verify_standard(secret, now_ms),
            HookKind::Url => self.verify_url(secret),
        }
    }

    fn verify_github(&self, secret: &[u8]) -> Result<Verified, HookOutcome> {
        let given = self.header("x-hub-signature-256").and_then(|value| hex(value.strip_prefix("sha256=")?));
        let mac = mac(secret, &[self.body]).map_err(|_| HookOutcome::InvalidSignature)?;
        let is_good = self.path_secret.is_none() && given.is_some_and(|given| mac.verify_slice(&given).is_ok());
        if !is_good {
            return Err(HookOutcome::InvalidSignature);
        }
        let delivery_id = self.delivery_id("x-github-delivery");
        // The signature covers the body only. A replay could have another id.
        let mut delivery_hashes = vec![hash(b"body", self.body)];
        delivery_hashes.extend(delivery_id.as_deref().map(hash_of_id));
        Ok(Verified { event: self.header("x-github-event").map(shown_event), delivery_id, delivery_hashes })
    }

    fn verify_standard(&self, secret: &[u8], now_ms: i64) -> Result<Verified, HookOutcome> {
        let id = self.delivery_id("webhook-id").unwrap_or_default();
        let timestamp = self.header("webhook-timestamp").unwrap_or_default();
        let given = self.header("webhook-signature").unwrap_or_default();
        let is_good = is_signed(&standard_key(secret), &id, timestamp, self.body, given);
        let is_good = is_good.map_err(|_| HookOutcome::InvalidSignature)?;
        if !is_good || id.is_empty() || self.path_secret.is_some() {
            return Err(HookOutcome::InvalidSignature);
        }
        let seconds: i64 = timestamp.parse().map_err(|_| HookOutcome::InvalidSignature)?;
        if now_ms.div_euclid(1000).saturating_sub(seconds).unsigned_abs() > TOLERANCE_SECONDS.unsigned_abs() {
            return Err(HookOutcome::Expired);
        }
        Ok(Verified { event: None, delivery_hashes: vec![hash_of_id(&id)], delivery_id: Some(id) })
    }

    fn verify_url(&self, secret: &[u8]) -> Result<Verified, HookOutcome> {
        let given = self.path_secret.map(Secret::expose).unwrap_or_default();
        if !bool::from(hash(b"secret", given.as_bytes()).ct_eq(&hash(b"secret", secret))) {
            return Err(HookOutcome::InvalidSignature);
        }
        // Slack's senders have no id. Two equal texts are two messages.
        let delivery_id = self.delivery_id("webhook-id").or_else(|| self.delivery_id("idempotency-key"));
        let delivery_hashes = delivery_id.as_deref().map(hash_of_id).into_iter().collect();
        Ok(Verified { event: None, delivery_id, delivery_hashes })
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn delivery_id(&self, name: &str) -> Option<String> {
        self.header(name).filter(|id| (1..=MAX_DELIVERY_ID).contains(&id.len())).map(str::to_owned)
    }
}

pub(super) fn shown_event(event: &str) -> String {
    clean(event, MAX_EVENT)
}

/// The key of a Standard Webhooks secret: `whsec_` and base64, or the bytes themselves.
fn standard_key(secret: &[u8]) -> Vec<u8> {
    let encoded = secret.strip_prefix(STANDARD_SECRET_PREFIX.as_bytes());
    encoded.and_then(|encoded| STANDARD.decode(encoded).ok()).unwrap_or_else(|| secret.to_vec())
}

/// Refuses a secret that begins like one of Standard Webhooks and has no base64 after that.
pub(super) fn check_standard_secret(secret: &Secret) -> Result<(), HubError> {
    match secret.expose().strip_prefix(STANDARD_SECRET_PREFIX) {
        Some(encoded) if STANDARD.decode(encoded).is_err() => {
            Err(HubError::invalid_field("secret", "must have base64 after whsec_"))
        }
        _ => Ok(()),
    }
}

fn hash(label: &[u8], bytes: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(label);
    hash.update([0]);
    hash.update(bytes);
    hash.finalize().into()
}

fn hash_of_id(id: &str) -> [u8; 32] {
    hash(b"id", id.as_bytes())
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok()))
        .collect::<Option<_>>()?;
    (digits.len() == 64)
        .then(|| digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}
