//! Signing, in the form that [`Claim`](crate::Claim) accepts.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};

use crate::component::Covered;
use crate::digest::content_digest;
use crate::fields::{Bare, InnerList, Item};
use crate::headers::only_line;
use crate::request::{CONTENT_DIGEST, SIGNATURE, SIGNATURE_INPUT};
use crate::{ALGORITHM, MAX_LIFETIME_SECONDS, Request, SignatureError, SigningError, names};

const LABEL: &str = "sig";
/// The times of a signature have at most 15 digits.
const MAX_TIME: i64 = 999_999_999_999_999;

const COMPONENTS: [&str; 4] = ["@method", "@authority", "@path", "@query"];
const BODY_COMPONENTS: [&str; 2] = ["content-type", "content-digest"];

/// Signs requests with one key, for one audience.
pub struct Signer {
    key: SigningKey,
    key_id: String,
    tag: String,
}

/// Without the key.
impl fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Signer").field("key_id", &self.key_id).field("tag", &self.tag).finish_non_exhaustive()
    }
}

impl Signer {
    /// `key_id` is `PRINCIPAL/KID` as in the registry, `tag` is [`TAG_PREFIX`](crate::TAG_PREFIX) and the audience.
    pub fn new(key: SigningKey, key_id: &str, tag: &str) -> Result<Self, SigningError> {
        if !names::is_key_id(key_id) {
            return Err(SigningError::KeyId);
        }
        if !names::is_tag(tag) {
            return Err(SigningError::Tag);
        }
        Ok(Self { key, key_id: key_id.to_owned(), tag: tag.to_owned() })
    }

    /// The headers to add: Content-Digest if there is a body, Signature-Input and Signature.
    ///
    /// A body must be sent byte for byte as it is given here, and the headers of the request must have its Content-Type
    /// already. POST, PUT and PATCH have a body, if only an empty one. The nonce is 22 to 64 characters of the base64url
    /// alphabet, drawn anew for each request: 16 random bytes make 22.
    pub fn sign(
        &self,
        request: &Request<'_>,
        body: Option<&[u8]>,
        created: i64,
        lifetime: i64,
        nonce: &str,
    ) -> Result<Vec<(HeaderName, HeaderValue)>, SigningError> {
        if !(1..=MAX_LIFETIME_SECONDS).contains(&lifetime) {
            return Err(SigningError::Lifetime);
        }
        if !(0..=MAX_TIME - MAX_LIFETIME_SECONDS).contains(&created) {
            return Err(SigningError::Time);
        }
        if !names::is_nonce(nonce) {
            return Err(SigningError::Nonce);
        }
        let unwelcome = [
            (&SIGNATURE, "Signature"),
            (&SIGNATURE_INPUT, "Signature-Input"),
            (&CONTENT_DIGEST, "Content-Digest"),
            (&AUTHORIZATION, "Authorization"),
        ];
        if let Some((_, name)) = unwelcome.into_iter().find(|(header, _)| request.headers.contains_key(*header)) {
            return Err(SigningError::Header(name));
        }

        let body = body.or_else(|| request.is_about_a_body().then_some(&[]));
        let mut headers = Vec::with_capacity(3);
        let mut signed = request.headers.clone();
        let mut components = COMPONENTS.to_vec();
        if let Some(body) = body {
            if only_line(request.headers, &CONTENT_TYPE, "Content-Type").map_err(SigningError::Request)?.is_none() {
                return Err(SigningError::ContentType);
            }
            let digest = header_value(&content_digest(body))?;
            signed.insert(CONTENT_DIGEST.clone(), digest.clone());
            headers.push((CONTENT_DIGEST.clone(), digest));
            components.extend(BODY_COMPONENTS);
        }

        let input = InnerList {
            items: components.iter().map(|name| Item { value: Bare::String(name), parameters: Vec::new() }).collect(),
            parameters: vec![
                ("created", Bare::Integer(created)),
                ("keyid", Bare::String(&self.key_id)),
                ("alg", Bare::String(ALGORITHM)),
                ("expires", Bare::Integer(created + lifetime)),
                ("nonce", Bare::String(nonce)),
                ("tag", Bare::String(&self.tag)),
            ],
        };
        let covered = Covered::new(&input).map_err(SigningError::Request)?;
        let base = covered.base(&Request { headers: &signed, ..*request }).map_err(SigningError::Request)?;
        let signature = STANDARD.encode(self.key.sign(base.as_bytes()).to_bytes());
        headers.push((SIGNATURE_INPUT.clone(), header_value(&format!("{LABEL}={}", covered.parameters()))?));
        headers.push((SIGNATURE.clone(), header_value(&format!("{LABEL}=:{signature}:"))?));
        Ok(headers)
    }
}

fn header_value(text: &str) -> Result<HeaderValue, SigningError> {
    let refused = |_| SigningError::Request(SignatureError::malformed("A header has characters that it may not have."));
    HeaderValue::from_str(text).map_err(refused)
}

/// The value of Accept-Signature (RFC 9421, section 5.1) for a 401: what the signature of such a request must have.
///
/// The nonce is not in it: there it would be a value to use, and signers draw their own.
pub fn accept_signature(tag: &str, has_body: bool) -> String {
    let body_components: &[&str] = if has_body { &BODY_COMPONENTS } else { &[] };
    let components = COMPONENTS.iter().chain(body_components).map(|name| format!("\"{name}\"")).collect::<Vec<_>>();
    format!("{LABEL}=({});created;expires;alg=\"{ALGORITHM}\";tag=\"{tag}\"", components.join(" "))
}
