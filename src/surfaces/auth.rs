//! From a credential to a [`Principal`], for every surface alike.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::DbError;
use stoa_model::credentials::{CredentialKind, recognise};

use crate::access::identity::{CredentialForm, CredentialStore, CredentialStores, SEEN_EVERY_MS, Use, credential_hash};
use crate::access::{Principal, Proof};
use crate::error::HubError;
use crate::hub::{Hub, pause};

/// How long a caller waits until the use of their credential is noted.
const NOTE_PATIENCE: Duration = Duration::from_secs(1);

/// Whose bearer credential this is: an agent key, a managed API key.
pub async fn authenticate_bearer(hub: &Hub, credential: &str, purpose: Use) -> Result<Arc<Principal>, HubError> {
    let refused = || {
        HubError::unauthenticated("invalid_credentials", "The key is not valid: unknown, expired or revoked.")
            .hint("Ask the owner of the agent for a current key.")
    };
    let kind = match recognise(credential) {
        Some(CredentialKind::AccessToken) => {
            return Err(HubError::unauthenticated("invalid_credentials", "OAuth tokens are for /mcp.")
                .hint("Programs use a managed API key here; people a session."));
        }
        Some(kind) => kind,
        None => return Err(refused()),
    };
    let found = authenticate(hub, CredentialForm::Bearer(kind), credential, purpose).await?;
    found.ok_or_else(refused)
}

/// Whose bearer credential this is where OAuth tokens count too.
pub async fn authenticate_agent_bearer(hub: &Hub, credential: &str) -> Result<Arc<Principal>, HubError> {
    if recognise(credential) != Some(CredentialKind::AccessToken) {
        return authenticate_bearer(hub, credential, Use::ReliedOn).await;
    }
    let form = CredentialForm::Bearer(CredentialKind::AccessToken);
    authenticate(hub, form, credential, Use::ReliedOn).await?.ok_or_else(|| {
        HubError::unauthenticated("invalid_credentials", "The token is not valid: unknown, expired or revoked.")
            .hint("Renew it with the refresh token, or let the person log in again.")
    })
}

/// Whose session this is.
pub async fn authenticate_session(hub: &Hub, token: &str, purpose: Use) -> Result<Arc<Principal>, HubError> {
    let found = authenticate(hub, CredentialForm::Session, token, purpose).await?;
    found.ok_or_else(|| {
        HubError::unauthenticated("session_expired", "The session has ended.")
            .hint("Log in again with POST /auth/login.")
    })
}

async fn authenticate(
    hub: &Hub,
    form: CredentialForm,
    credential: &str,
    purpose: Use,
) -> Result<Option<Arc<Principal>>, HubError> {
    let store = hub.part::<CredentialStores>().and_then(|stores| stores.find(form));
    let Some(store) = store else { return Ok(None) };
    let hash = credential_hash(credential);
    let now = hub.clock().now_ms();
    let cache = hub.identities();
    // What one door has let in is a stranger at another: a key in a cookie is no session, however often it was used before.
    let hit = cache
        .get(&hash, now, purpose)
        .filter(|(principal, _)| principal.proof.is_some_and(|proof| proof.store.form == form));
    let (principal, is_stale) = match hit {
        Some(hit) => {
            hub.metrics().identity_lookups.with_label_values(&["cache"]).inc();
            hit
        }
        None => {
            hub.metrics().identity_lookups.with_label_values(&["database"]).inc();
            // Read before the lookup: a change that comes in between makes the entry worthless.
            let generation = cache.generation();
            let Some(found) = hub.read_urgent(move |tx| (store.find)(tx, &hash)).await? else { return Ok(None) };
            let proof = Some(Proof { hash, store });
            let principal = Arc::new(Principal { proof, ..found.principal });
            let is_stale = found.seen_at.is_none_or(|seen_at| now - seen_at >= SEEN_EVERY_MS);
            cache.insert(
                hash,
                generation,
                principal.clone(),
                if is_stale { now } else { found.seen_at.unwrap_or(now) },
                now,
            );
            (principal, is_stale)
        }
    };
    // Time passes for cached entries too.
    if principal.expires_at.is_some_and(|expires_at| expires_at <= now) {
        return Ok(None);
    }
    if is_stale {
        note_use(hub, store, principal.clone()).await;
    }
    Ok(Some(principal))
}

/// Notes when a credential and its principal were last seen. A failure is no reason to refuse the caller.
async fn note_use(hub: &Hub, store: CredentialStore, principal: Arc<Principal>) {
    let note = hub.write(move |tx| (store.note_use)(tx, &principal));
    tokio::select! {
        biased;
        noted = note => if let Err::<(), DbError>(error) = noted {
            tracing::warn!(%error, "the use of a credential could not be noted");
        },
        // It is noted all the same, and the caller has come for something else.
        () = pause(NOTE_PATIENCE) => {}
    }
}
