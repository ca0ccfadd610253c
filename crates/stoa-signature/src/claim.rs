//! Verifying: what a request claims about its origin, and whether that holds.

use ed25519_dalek::{Signature, VerifyingKey};
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE};

use crate::component::{Covered, Kind};
use crate::digest::ContentDigest;
use crate::fields::{Bare, Dictionary, InnerList, Member};
use crate::headers::{dictionary, only_line};
use crate::request::{CONTENT_DIGEST, SIGNATURE, SIGNATURE_INPUT};
use crate::{ALGORITHM, MAX_LIFETIME_SECONDS, Request, SKEW_SECONDS, SignatureError, names};

/// The one signature of a request that is meant for us: parsed, and not yet believed.
///
/// Look up the key of [`Claim::key_id`], then call [`Claim::check_head`], read the body, call [`Claim::check_body`], and
/// refuse a [`Claim::nonce`] that this key has used before, until [`SKEW_SECONDS`] after [`Claim::expires`]. Only then it
/// holds.
#[derive(Debug, Clone)]
pub struct Claim {
    covered: Covered,
    key_id: String,
    nonce: String,
    tag: String,
    created: i64,
    expires: i64,
    is_our_algorithm: bool,
    signature: Signature,
}

impl Claim {
    /// Finds the signature with this tag. None when the request carries neither Signature nor Signature-Input.
    ///
    /// Signatures with other tags are passed over, because a proxy may add its own. A signature that stands alone becomes
    /// the claim whatever its tag is: [`Claim::check_head`] refuses it then, no sooner than the key is known.
    pub fn from_headers(headers: &HeaderMap, tag: &str) -> Result<Option<Self>, SignatureError> {
        let inputs = only_line(headers, &SIGNATURE_INPUT, "Signature-Input")?;
        let signatures = only_line(headers, &SIGNATURE, "Signature")?;
        let (inputs, signatures) = match (inputs, signatures) {
            (Some(inputs), Some(signatures)) => (inputs, signatures),
            (None, None) => return Ok(None),
            (Some(_), None) => {
                return Err(SignatureError::malformed("The request has Signature-Input but no Signature."));
            }
            (None, Some(_)) => {
                return Err(SignatureError::malformed("The request has Signature but no Signature-Input."));
            }
        };
        if headers.contains_key(AUTHORIZATION) {
            return Err(SignatureError::malformed("A signed request must not have an Authorization header."));
        }
        only_line(headers, &CONTENT_TYPE, "Content-Type")?;
        ContentDigest::from_headers(headers)?;

        let inputs = dictionary(inputs, "Signature-Input")?;
        let signatures = dictionary(signatures, "Signature")?;
        let has_partner = |label: &str| signatures.iter().any(|(other, _)| *other == label);
        if inputs.len() != signatures.len() || !inputs.iter().all(|(label, _)| has_partner(label)) {
            return Err(SignatureError::malformed("Signature and Signature-Input must have the same labels."));
        }
        let (label, input) = select(&inputs, tag)?;
        let signature = signatures.iter().find(|(other, _)| *other == label).map(|(_, member)| member);
        let claim = Self::new(input, signature_of(signature)?)?;
        Ok(Some(claim))
    }

    fn new(input: &InnerList<'_>, signature: Signature) -> Result<Self, SignatureError> {
        let covered = Covered::new(input)?;
        let (mut created, mut expires) = (None, None);
        let (mut key_id, mut nonce, mut tag, mut algorithm) = (None, None, None, None);
        for (name, value) in &input.parameters {
            match *name {
                "created" => created = Some(integer(name, value)?),
                "expires" => expires = Some(integer(name, value)?),
                "keyid" => key_id = Some(string(name, value)?),
                "nonce" => nonce = Some(string(name, value)?),
                "tag" => tag = Some(string(name, value)?),
                "alg" => algorithm = Some(string(name, value)?),
                // Whatever else is there is signed as well, and means nothing to us.
                _ => {}
            }
        }
        let created = created.ok_or_else(|| missing("created"))?;
        let expires = expires.ok_or_else(|| missing("expires"))?;
        let nonce = nonce.ok_or_else(|| missing("nonce"))?;
        let key_id = key_id.ok_or_else(|| missing("keyid"))?;
        let tag = tag.ok_or_else(|| missing("tag"))?;
        if !names::is_nonce(nonce) {
            return Err(SignatureError::malformed(
                "The signature parameter nonce must be 22 to 64 characters of the base64url alphabet.",
            ));
        }
        if !names::is_key_id(key_id) {
            return Err(SignatureError::malformed(
                "The signature parameter keyid must be PRINCIPAL/KID, for instance svc:sense:demo/key-2026-01.",
            ));
        }
        Ok(Self {
            covered,
            key_id: key_id.to_owned(),
            nonce: nonce.to_owned(),
            tag: tag.to_owned(),
            created,
            expires,
            is_our_algorithm: algorithm.is_none_or(|name| name == ALGORITHM),
            signature,
        })
    }

    /// The principal and the name of its key: `svc:sense:demo/key-2026-01`.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    pub fn principal_id(&self) -> &str {
        self.key_id.split_once('/').map_or("", |(principal, _)| principal)
    }

    pub fn kid(&self) -> &str {
        self.key_id.split_once('/').map_or("", |(_, kid)| kid)
    }

    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// In seconds of Unix time, like all times here.
    pub fn created(&self) -> i64 {
        self.created
    }

    pub fn expires(&self) -> i64 {
        self.expires
    }

    /// Tag and algorithm, then the time, then whether all is covered that must be. Needs no body yet.
    pub fn check_head(&self, request: &Request<'_>, tag: &str, now_seconds: i64) -> Result<(), SignatureError> {
        if self.tag != tag || !self.is_our_algorithm {
            return Err(SignatureError::Invalid);
        }
        self.check_time(now_seconds)?;
        self.check_covered(request, &[])?;
        self.covered.check_presence(request.headers)
    }

    /// The digest of the body as it was sent, then the signature. Call [`Claim::check_head`] first: this alone says
    /// nothing about the time and the tag.
    pub fn check_body(&self, request: &Request<'_>, key: &VerifyingKey, body: &[u8]) -> Result<(), SignatureError> {
        self.check_covered(request, body)?;
        if let Some(digest) = ContentDigest::from_headers(request.headers)? {
            digest.check(body)?;
        }
        let base = self.covered.base(request)?;
        // Strict: no second signature can be made of the first, and no key of small order fits many messages.
        key.verify_strict(base.as_bytes(), &self.signature).map_err(|_| SignatureError::Invalid)
    }

    /// The text that must have been signed; for finding out why signer and verifier disagree.
    pub fn signature_base(&self, request: &Request<'_>) -> Result<String, SignatureError> {
        self.covered.base(request)
    }

    fn check_time(&self, now: i64) -> Result<(), SignatureError> {
        // Both are of at most 15 digits; only `now` is whatever the caller says.
        let lifetime = self.expires - self.created;
        let early = self.created.saturating_sub(now);
        let late = now.saturating_sub(self.expires);
        let sentence = if lifetime <= 0 {
            "The signature must expire after it was created.".to_owned()
        } else if lifetime > MAX_LIFETIME_SECONDS {
            format!("The signature is valid for {lifetime} seconds; {MAX_LIFETIME_SECONDS} are allowed.")
        } else if early > SKEW_SECONDS {
            format!("The signature was created {early} seconds in the future; {SKEW_SECONDS} are tolerated.")
        } else if late > SKEW_SECONDS {
            format!("The signature expired {late} seconds ago; {SKEW_SECONDS} are tolerated.")
        } else {
            return Ok(());
        };
        Err(SignatureError::Expired(sentence))
    }

    fn check_covered(&self, request: &Request<'_>, body: &[u8]) -> Result<(), SignatureError> {
        let has_body = request.is_about_a_body() || !body.is_empty();
        let always = [
            (Kind::Method, "@method"),
            (Kind::Authority, "@authority"),
            (Kind::Path, "@path"),
            (Kind::Query, "@query"),
        ];
        let with_body =
            [(Kind::Field(CONTENT_TYPE), "content-type"), (Kind::Field(CONTENT_DIGEST.clone()), "content-digest")];
        let missing = always
            .iter()
            .chain(with_body.iter().filter(|_| has_body))
            .filter(|(kind, _)| !self.covered.has(kind))
            .map(|(_, name)| *name)
            .collect::<Vec<_>>();
        if missing.is_empty() {
            return Ok(());
        }
        Err(SignatureError::incomplete(format!("The signature must also cover {}.", missing.join(", "))))
    }
}

/// The entry that is meant for us.
fn select<'a, 'b>(inputs: &'b Dictionary<'a>, tag: &str) -> Result<(&'a str, &'b InnerList<'a>), SignatureError> {
    let mut ours = None;
    for (label, member) in inputs {
        let Member::InnerList(input) = member else {
            return Err(SignatureError::malformed("The entries of Signature-Input must be lists of components."));
        };
        let is_ours = input.parameters.iter().any(|(name, value)| *name == "tag" && *value == Bare::String(tag));
        if is_ours && ours.replace((*label, input)).is_some() {
            return Err(SignatureError::malformed(
                "The request has more than one signature with the tag of this service.",
            ));
        }
        if inputs.len() == 1 {
            return Ok((label, input));
        }
    }
    ours.ok_or_else(|| {
        SignatureError::malformed(if inputs.is_empty() {
            "Signature-Input is empty."
        } else {
            "The request has several signatures, and none has the tag of this service."
        })
    })
}

fn signature_of(member: Option<&Member<'_>>) -> Result<Signature, SignatureError> {
    if let Some(Member::Item(item)) = member
        && item.parameters.is_empty()
        && let Bare::Bytes(bytes) = &item.value
        && let Ok(signature) = Signature::from_slice(bytes)
    {
        return Ok(signature);
    }
    Err(SignatureError::malformed("The signature must be 64 bytes in base64, between colons."))
}

fn missing(parameter: &str) -> SignatureError {
    SignatureError::incomplete(format!("The signature parameter {parameter} is missing."))
}

fn integer(name: &str, value: &Bare<'_>) -> Result<i64, SignatureError> {
    match value {
        Bare::Integer(value) => Ok(*value),
        _ => Err(SignatureError::malformed(format!("The signature parameter {name} must be an integer."))),
    }
}

fn string<'a>(name: &str, value: &Bare<'a>) -> Result<&'a str, SignatureError> {
    match value {
        Bare::String(text) => Ok(text),
        _ => Err(SignatureError::malformed(format!("The signature parameter {name} must be a string in quotes."))),
    }
}
