//! HTTP message signatures of machine principals: RFC 9421, with the body tied in by Content-Digest (RFC 9530).
//!
//! One narrow profile, for signer and verifier: Ed25519; `@method`, `@authority`, `@path` and `@query` always covered, and
//! `content-type` and `content-digest` whenever there is or could be a body; `created`, `expires`, `nonce`, `keyid` and
//! `tag` always there. What the standard leaves to taste is refused here when two readers could disagree about it. It is
//! a crate of its own, without anything of the hub, for services that talk to one.
//!
//! Signing:
//!
//! ```
//! use ed25519_dalek::SigningKey;
//! use http::HeaderMap;
//! use http::header::{CONTENT_TYPE, HeaderValue};
//! use stoa_signature::{Request, Signer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let signer = Signer::new(
//!     SigningKey::from_bytes(&[7; 32]), // from where the service keeps its secrets
//!     "svc:sense:demo/key-2026-01",
//!     "svc-machine-v1:svc-brain",
//! )?;
//! let body = br#"{"specversion":"1.0","id":"e1","source":"svc:sense:demo","type":"svc.demo.ping"}"#;
//! let mut headers = HeaderMap::new();
//! headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/cloudevents+json"));
//! let request = Request {
//!     method: "POST",
//!     scheme: "https",
//!     authority: "hub.example",
//!     path: "/machine/events",
//!     query: None,
//!     headers: &headers,
//! };
//! let now = 1_800_000_000; // seconds of Unix time
//! let nonce = "AAECAwQFBgcICQoLDA0ODw"; // 16 random bytes, new for each request
//! let added = signer.sign(&request, Some(body), now, 120, nonce)?;
//! headers.extend(added); // Content-Digest, Signature-Input, Signature
//! # assert_eq!(headers.len(), 4);
//! # Ok(()) }
//! ```
//!
//! Verifying, with the request as it arrived:
//!
//! ```
//! use ed25519_dalek::VerifyingKey;
//! use stoa_signature::{Claim, Request, SignatureError};
//!
//! fn verify(
//!     request: &Request<'_>,
//!     body: &[u8],
//!     now: i64,
//!     find_key: impl Fn(&str, &str) -> Option<VerifyingKey>,
//!     insert_nonce: impl Fn(&str, &str, i64) -> bool,
//! ) -> Result<Claim, SignatureError> {
//!     let tag = "svc-machine-v1:svc-brain";
//!     let missing = SignatureError::Incomplete("The request is not signed.".to_owned());
//!     let claim = Claim::from_headers(request.headers, tag)?.ok_or(missing)?;
//!     let key = find_key(claim.principal_id(), claim.kid()).ok_or(SignatureError::Invalid)?;
//!     claim.check_head(request, tag, now)?;
//!     claim.check_body(request, &key, body)?;
//!     // Last, so that nobody but the owner of the key can use up a nonce.
//!     let keep_until = claim.expires() + stoa_signature::SKEW_SECONDS;
//!     if insert_nonce(claim.key_id(), claim.nonce(), keep_until) { Ok(claim) } else { Err(SignatureError::Invalid) }
//! }
//! # use ed25519_dalek::SigningKey;
//! # let key = SigningKey::from_bytes(&[7; 32]);
//! # let signer = stoa_signature::Signer::new(key.clone(), "svc:sense:demo/key-2026-01", "svc-machine-v1:svc-brain").unwrap();
//! # let unsigned = http::HeaderMap::new();
//! # let request =
//! #     Request { method: "GET", scheme: "https", authority: "hub.example", path: "/", query: None, headers: &unsigned };
//! # let signed = signer.sign(&request, None, 1000, 60, "AAECAwQFBgcICQoLDA0ODw").unwrap().into_iter().collect();
//! # let request = Request { headers: &signed, ..request };
//! # assert!(verify(&request, b"", 1000, |_, _| Some(key.verifying_key()), |_, _, _| true).is_ok());
//! # assert!(verify(&request, b"", 1000, |_, _| None, |_, _, _| true).is_err());
//! # assert!(verify(&request, b"", 1000, |_, _| Some(key.verifying_key()), |_, _, _| false).is_err());
//! ```

mod claim;
mod component;
mod digest;
mod error;
mod fields;
mod headers;
mod names;
mod request;
mod signer;

pub use claim::Claim;
pub use error::{SignatureError, SigningError};
pub use request::{Request, authority_of};
pub use signer::{Signer, accept_signature};

/// Stands before the audience in the tag of a signature.
pub const TAG_PREFIX: &str = "svc-machine-v1:";
/// From `created` to `expires`.
pub const MAX_LIFETIME_SECONDS: i64 = 300;
/// How far the clocks of signer and verifier may be apart, in either direction.
pub const SKEW_SECONDS: i64 = 60;

const ALGORITHM: &str = "ed25519";
