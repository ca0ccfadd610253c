//! From a credential to a [`Principal`], for every surface alike.

use std::sync::Arc;

use stoa_db::{DbError, Tx};
use stoa_model::credentials::{CredentialKind, recognise};

use crate::access::identity::{FoundIdentity, SEEN_EVERY_MS, credential_hash};
use crate::access::{Credential, Principal, Proof};
use crate::error::HubError;
use crate::features::{agents, api_keys, oauth, principals, users};
use crate::hub::Hub;

/// Whose bearer credential this is: an agent key, a managed API key.
pub async fn authenticate_bearer(hub: &Hub, credential: &str) -> Result<Arc<Principal>, HubError> {
    let refused = || {
        HubError::unauthenticated("invalid_credentials", "The key is not valid: unknown, expired or revoked.")
            .hint("Ask the owner of the agent for a current key.")
    };
    let find = match recognise(credential) {
        Some(CredentialKind::AgentKey) => agents::find_by_key_hash,
        Some(CredentialKind::ApiKey) => api_keys::find_by_key_hash,
        Some(CredentialKind::AccessToken) => {
            return Err(HubError::unauthenticated("invalid_credentials", "OAuth tokens are for /mcp.")
                .hint("Programs use a managed API key here; people a session."));
        }
        _ => return Err(refused()),
    };
    authenticate(hub, credential_hash(credential), find).await?.ok_or_else(refused)
}

/// Whose bearer credential this is where OAuth tokens count too.
pub async fn authenticate_agent_bearer(hub: &Hub, credential: &str) -> Result<Arc<Principal>, HubError> {
    if recognise(credential) != Some(CredentialKind::AccessToken) {
        return authenticate_bearer(hub, credential).await;
    }
    authenticate(hub, credential_hash(credential), oauth::find_by_token_hash).await?.ok_or_else(|| {
        HubError::unauthenticated("invalid_credentials", "The token is not valid: unknown, expired or revoked.")
            .hint("Renew it with the refresh token, or let the person log in again.")
    })
}

/// Whose session this is.
pub async fn authenticate_session(hub: &Hub, token: &str) -> Result<Arc<Principal>, HubError> {
    let found = authenticate(hub, credential_hash(token), users::find_by_session_hash).await?;
    found.ok_or_else(|| {
        HubError::unauthenticated("session_expired", "The session has ended.")
            .hint("Log in again with POST /auth/login.")
    })
}

type Find = fn(&mut Tx<'_>, &[u8; 32]) -> Result<Option<FoundIdentity>, DbError>;

async fn authenticate(hub: &Hub, hash: [u8; 32], find: Find) -> Result<Option<Arc<Principal>>, HubError> {
    let now = hub.clock().now_ms();
    let cache = hub.identities();
    let (principal, is_stale) = match cache.get(&hash, now) {
        Some(hit) => {
            hub.metrics().identity_lookups.with_label_values(&["cache"]).inc();
            hit
        }
        None => {
            hub.metrics().identity_lookups.with_label_values(&["database"]).inc();
            // Read before the lookup: a change that comes in between makes the entry worthless.
            let generation = cache.generation();
            let Some(found) = hub.read_urgent(move |tx| find(tx, &hash)).await? else { return Ok(None) };
            let proof = Some(Proof { hash, find });
            let principal = Arc::new(Principal { proof, ..found.principal });
            let is_stale = found.seen_at.is_none_or(|seen_at| now - seen_at >= SEEN_EVERY_MS);
            cache.insert(
                hash,
                generation,
                principal.clone(),
                if is_stale { now } else { found.seen_at.unwrap_or(now) },
            );
            (principal, is_stale)
        }
    };
    // Time passes for cached entries too.
    if principal.expires_at.is_some_and(|expires_at| expires_at <= now) {
        return Ok(None);
    }
    if is_stale {
        note_use(hub, &principal).await;
    }
    Ok(Some(principal))
}

/// Notes when a credential and its principal were last seen. Failing to is no reason to refuse.
async fn note_use(hub: &Hub, principal: &Principal) {
    let (id, credential) = (principal.id, principal.credential);
    let noted = hub
        .write(move |tx| {
            principals::note_seen(tx, id)?;
            match credential {
                Credential::Session(session) => users::note_session_use(tx, session),
                Credential::AgentKey => agents::note_key_use(tx, id),
                Credential::ApiKey(key) => api_keys::note_use(tx, key),
                Credential::AccessToken(grant) => oauth::note_use(tx, grant),
                // Those of machines are counted where they are checked.
                Credential::Signature(_) | Credential::Operator | Credential::None => Ok(()),
            }
        })
        .await;
    if let Err::<(), DbError>(error) = noted {
        tracing::warn!(%error, "the use of a credential could not be noted");
    }
}
