//! The gate: from the headers of a request to the machine principal that signed it.
//!
//! The order of the checks is part of the contract: what the headers say, the key, the tag, the time, the components, the digest of
//! the body, the signature itself, and that it was never seen before. Whether its scopes reach is for services to ask.

use std::sync::Arc;

use axum::http::request::Parts;
use stoa_model::permissions::PermissionSet;
use stoa_model::principals::PrincipalKind;
use stoa_model::users::Role;
use stoa_registry::{Audience, Scope, UsableKey};
use stoa_signature::{Claim, Request, SKEW_SECONDS, SignatureError, TAG_PREFIX, accept_signature, authority_of};

use super::registry::{self, Loaded, Memory};
use super::{store, tallies};
use crate::access::{Actor, Credential, Principal, Reach};
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;

/// How much longer than it could be accepted a nonce is kept: clocks are set back at times.
const KEPT_LONGER_SECONDS: i64 = 15 * 60;

/// The gate as it stands open for one request: with the registry that is in force.
pub struct Opened {
    hub: Hub,
    loaded: Arc<Loaded>,
    audience: Audience,
}

/// A request whose headers are in order. Its body is still to be looked at.
pub struct Admission {
    claim: Claim,
    authority: String,
    scheme: &'static str,
}

/// Opens the gate, unless there is no registry to go by.
pub fn open(hub: &Hub) -> Result<Opened, HubError> {
    let loaded = hub.memory::<Memory>().loaded();
    let (loaded, audience) = loaded.zip(hub.config().audience).ok_or_else(registry::unavailable)?;
    Ok(Opened { hub: hub.clone(), loaded, audience })
}

impl Opened {
    /// What a caller who was refused should know: headers that say which signature is wanted.
    pub fn challenge(&self, has_body: bool) -> [(&'static str, String); 2] {
        [
            ("www-authenticate", format!("Signature realm=\"{}\"", self.audience.name())),
            ("accept-signature", accept_signature(&self.tag(), has_body)),
        ]
    }

    fn tag(&self) -> String {
        format!("{TAG_PREFIX}{}", self.audience.name())
    }

    /// Everything that can be checked before the body is there.
    pub fn check_head(&self, parts: &Parts, base_url: &str) -> Result<Admission, HubError> {
        let tag = self.tag();
        let claim =
            Claim::from_headers(&parts.headers, &tag).map_err(|error| self.refuse(None, error, "signature_invalid"))?;
        let Some(claim) = claim else {
            tallies::refused(&self.hub, None, "unauthenticated");
            return Err(HubError::unauthenticated("unauthenticated", "Requires a machine principal's signature.")
                .hint("Sign the request as described in the Accept-Signature header, for example with `stoa registry sign`."));
        };
        self.find_key(&self.loaded, &claim)?;
        let authority = authority_of(base_url).ok_or_else(|| HubError::malformed("The Host header is not a host."))?;
        let scheme = if base_url.starts_with("https:") { "https" } else { "http" };
        let admission = Admission { claim, authority, scheme };
        let now = self.hub.clock().now_ms().div_euclid(1000);
        let checked = admission.claim.check_head(&admission.request(parts), &tag, now);
        // What was used after a backup was made is not known any more once it is restored.
        let is_forgotten = admission.claim.created() * 1000 < self.hub.memory::<Memory>().restored_at();
        let checked = checked.and(if is_forgotten {
            Err(SignatureError::Expired("The signature is older than the restored data of this hub.".to_owned()))
        } else {
            Ok(())
        });
        checked.map_err(|error| self.refuse(Some(&admission.claim), error, "other_audience"))?;
        Ok(admission)
    }

    /// The rest: the digest, the signature, and that it is used for the first time.
    pub async fn admit(&self, admission: Admission, parts: &Parts, body: &[u8]) -> Result<Principal, HubError> {
        let claim = &admission.claim;
        // The registry as it is by now: a body may take its time, and keys are revoked meanwhile.
        let loaded = self.hub.memory::<Memory>().loaded().unwrap_or_else(|| self.loaded.clone());
        let found = self.find_key(&loaded, claim)?;
        claim
            .check_body(&admission.request(parts), found.verifying_key, body)
            .map_err(|error| self.refuse(Some(claim), error, "bad_signature"))?;
        let id = registry::principal_row(&self.hub, claim.principal_id()).await?;
        let (key_id, nonce) = (claim.key_id().to_owned(), claim.nonce().to_owned());
        let forget_at = (claim.expires() + SKEW_SECONDS + KEPT_LONGER_SECONDS) * 1000;
        let is_new = self.hub.write(move |tx| store::insert_nonce(tx, &key_id, &nonce, forget_at)).await?;
        if !is_new {
            tallies::refused(&self.hub, Some(claim.principal_id()), "signature_replayed");
            return Err(HubError::unauthenticated("signature_replayed", "This signature was already used.")
                .hint("Sign each request separately, with a new nonce."));
        }
        tallies::used(&self.hub, claim.principal_id(), claim.kid());
        Ok(Principal {
            id,
            kind: PrincipalKind::Machine,
            handle: claim.principal_id().to_owned(),
            // Nobody but itself answers for it.
            human: id,
            role: Role::Member,
            credential: Credential::Signature(found.key.scopes),
            permissions: PermissionSet::NONE,
            reach: Reach::Everything,
            expires_at: None,
            proof: None,
        })
    }

    /// The key that the claim names, if it is to be believed.
    fn find_key<'a>(&self, loaded: &'a Loaded, claim: &Claim) -> Result<UsableKey<'a>, HubError> {
        let found = loaded.registry.find_key(claim.principal_id(), claim.kid());
        found.map_err(|refused| self.refuse(Some(claim), SignatureError::Invalid, refused.code()))
    }

    /// Counts a refusal and words it. Who is unknown, disabled, revoked, signs for another hub or signs wrongly is told
    /// one and the same; `why` is for whoever runs the hub.
    fn refuse(&self, claim: Option<&Claim>, error: SignatureError, why: &'static str) -> HubError {
        let is_invalid = matches!(error, SignatureError::Invalid);
        let refusal = match error {
            SignatureError::Malformed(detail) => HubError::new(ErrorKind::Malformed, "signature_malformed", detail),
            SignatureError::Invalid => {
                let detail = "The signature was rejected.";
                HubError::unauthenticated("signature_invalid", detail).hint(format!(
                    "The key must be in the registry, enabled and active; the tag must be {}; `@authority` is that of the \
                     hub's public address; and the request must arrive as it was signed. Who runs the hub finds the \
                     reason in its log.",
                    self.tag()
                ))
            }
            SignatureError::Expired(detail) => HubError::unauthenticated("signature_expired", detail)
                .hint("Signatures are valid for at most 300 seconds. Clocks can differ by up to 60 seconds."),
            SignatureError::Incomplete(detail) => HubError::unauthenticated("signature_incomplete", detail).hint(
                "Accept-Signature says which components are wanted. The parameters created, expires, nonce, keyid and tag \
                 are all needed.",
            ),
            SignatureError::DigestMismatch => HubError::new(
                ErrorKind::Malformed,
                "digest_mismatch",
                "The body does not match Content-Digest.",
            )
            .hint("Send exactly the bytes that were signed."),
        };
        let reason = if is_invalid { why } else { refusal.code };
        // Strangers could fill the log.
        match claim.filter(|claim| self.loaded.registry.principal(claim.principal_id()).is_some()) {
            Some(known) => {
                tracing::info!(
                    key_id = known.key_id(),
                    reason,
                    detail = refusal.detail,
                    "a signed request was refused"
                );
            }
            None => tracing::debug!(
                key_id = claim.map(Claim::key_id),
                reason,
                detail = refusal.detail,
                "a signed request of a stranger was refused"
            ),
        }
        tallies::refused(&self.hub, claim.map(Claim::principal_id), reason);
        refusal
    }
}

/// The last check, which services make: whether the key reaches what is asked for.
pub(super) fn require_scope(hub: &Hub, actor: &Actor, scope: Scope) -> Result<(), HubError> {
    actor.require_scope(scope).inspect_err(|error| tallies::refused(hub, Some(&actor.principal.handle), error.code))
}

impl Admission {
    fn request<'a>(&'a self, parts: &'a Parts) -> Request<'a> {
        Request {
            method: parts.method.as_str(),
            scheme: self.scheme,
            authority: &self.authority,
            path: parts.uri.path(),
            query: parts.uri.query(),
            headers: &parts.headers,
        }
    }
}
