//! Content-Digest (RFC 9530): ties the body to the signature, which covers headers only.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use sha2::{Digest, Sha256, Sha512};

use crate::SignatureError;
use crate::fields::{Bare, Member};
use crate::headers::{dictionary, only_line};
use crate::request::CONTENT_DIGEST;

/// What Content-Digest says; at least one of the two.
pub(crate) struct ContentDigest {
    sha256: Option<Vec<u8>>,
    sha512: Option<Vec<u8>>,
}

impl ContentDigest {
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, SignatureError> {
        const NAME: &str = "Content-Digest";
        let Some(text) = only_line(headers, &CONTENT_DIGEST, NAME)? else { return Ok(None) };
        let mut digest = ContentDigest { sha256: None, sha512: None };
        for (algorithm, member) in dictionary(text, NAME)? {
            let (place, size) = match algorithm {
                "sha-256" => (&mut digest.sha256, 32),
                "sha-512" => (&mut digest.sha512, 64),
                _ => continue,
            };
            match member {
                Member::Item(item) => match item.value {
                    Bare::Bytes(bytes) if bytes.len() == size => *place = Some(bytes),
                    _ => {
                        let sentence =
                            format!("{algorithm} of Content-Digest must be {size} bytes in base64, between colons.");
                        return Err(SignatureError::Malformed(sentence));
                    }
                },
                Member::InnerList(_) => {
                    return Err(SignatureError::malformed("The values of Content-Digest must not be lists."));
                }
            }
        }
        if digest.sha256.is_none() && digest.sha512.is_none() {
            return Err(SignatureError::incomplete("Content-Digest must have sha-256 or sha-512."));
        }
        Ok(Some(digest))
    }

    /// All that are known must fit: a wrong one beside a right one is a mistake that somebody should hear of.
    pub(crate) fn check(&self, body: &[u8]) -> Result<(), SignatureError> {
        let fits = self.sha256.as_ref().is_none_or(|digest| digest[..] == Sha256::digest(body)[..])
            && self.sha512.as_ref().is_none_or(|digest| digest[..] == Sha512::digest(body)[..]);
        if fits { Ok(()) } else { Err(SignatureError::DigestMismatch) }
    }
}

/// The value of Content-Digest for a body.
pub(crate) fn content_digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))
}
