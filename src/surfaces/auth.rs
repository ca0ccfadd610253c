//! From a credential to a [`Principal`], for every surface alike.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use stoa_db::DbError;
use stoa_model::credentials::{CredentialKind, recognise};

use crate::access::identity::{
    CredentialForm, CredentialStore, CredentialStores, Door, IdentityKey, SEEN_EVERY_MS, Use, credential_hash,
};
use crate::access::{Principal, Proof};
use crate::error::HubError;
use crate::hub::{Hub, Supervisors, pause};

/// How long a caller waits until the use of their credential is noted.
const NOTE_PATIENCE: Duration = Duration::from_secs(1);

/// Whose bearer credential this is: an agent key, a managed API key.
pub async fn authenticate_bearer(hub: &Hub, credential: &str, purpose: Use) -> Result<Arc<Principal>, HubError> {
    if recognise(credential) == Some(CredentialKind::AccessToken) {
        return Err(HubError::unauthenticated("invalid_credentials", "OAuth tokens are accepted only at /mcp.")
            .hint("Use an API key or a session."));
    }
    authenticate_bearer_at(hub, Door::RestBearer, credential, purpose).await
}

/// Whose bearer credential this is at `/mcp`, where OAuth tokens count too.
pub async fn authenticate_mcp_bearer(hub: &Hub, credential: &str) -> Result<Arc<Principal>, HubError> {
    authenticate_bearer_at(hub, Door::McpBearer, credential, Use::ReliedOn).await
}

async fn authenticate_bearer_at(
    hub: &Hub,
    door: Door,
    credential: &str,
    purpose: Use,
) -> Result<Arc<Principal>, HubError> {
    let kind = recognise(credential);
    let found = match kind {
        Some(kind) => authenticate(hub, CredentialForm::Bearer(kind), door, credential, purpose).await?,
        None => None,
    };
    found.ok_or_else(|| {
        if kind == Some(CredentialKind::AccessToken) {
            HubError::unauthenticated("invalid_credentials", "The token is unknown, expired or revoked.")
                .hint("Refresh the token, or authorize the client again.")
        } else {
            HubError::unauthenticated("invalid_credentials", "The key is unknown, expired or revoked.")
                .hint("Ask the agent's owner for a new key.")
        }
    })
}

/// The token of a run works at the hub that runs it, for programs on its machine: somebody elsewhere can only have stolen it. Agents that
/// run elsewhere are an exception.
pub fn require_own_machine(hub: &Hub, principal: &Principal, client: Option<IpAddr>) -> Result<(), HubError> {
    let Some(run) = principal.run() else { return Ok(()) };
    // Its agent runs elsewhere, so it calls from there.
    if run.is_remote {
        return Ok(());
    }
    let is_here = client.is_some_and(|client| hub.is_own_address(client));
    if is_here && hub.memory::<Supervisors>().has_run(run.run) {
        return Ok(());
    }
    Err(HubError::unauthenticated("invalid_credentials", "Run tokens work only on the server itself."))
}

/// Whose session this is.
pub async fn authenticate_session(hub: &Hub, token: &str, purpose: Use) -> Result<Arc<Principal>, HubError> {
    let found = authenticate(hub, CredentialForm::Session, Door::Cookie, token, purpose).await?;
    found.ok_or_else(|| {
        HubError::unauthenticated("session_expired", "The session has ended.")
            .hint("Log in again with POST /auth/login.")
    })
}

async fn authenticate(
    hub: &Hub,
    form: CredentialForm,
    door: Door,
    credential: &str,
    purpose: Use,
) -> Result<Option<Arc<Principal>>, HubError> {
    let store = hub.part::<CredentialStores>().and_then(|stores| stores.find(form, door));
    let Some(store) = store else { return Ok(None) };
    let key = IdentityKey { form, door, hash: credential_hash(credential) };
    let now = hub.clock().now_ms();
    let cache = hub.identities();
    let (principal, is_stale) = match cache.get(&key, now, purpose) {
        Some(hit) => {
            hub.metrics().identity_lookups.with_label_values(&["cache"]).inc();
            hit
        }
        None => {
            hub.metrics().identity_lookups.with_label_values(&["database"]).inc();
            // Read before the lookup: a change that comes in between makes the entry worthless.
            let generation = cache.generation();
            let Some(found) = hub.read_urgent(move |tx| (store.find)(tx, &key.hash)).await? else { return Ok(None) };
            let proof = Some(Proof { key, store });
            let principal = Arc::new(Principal { proof, ..found.principal });
            let is_stale = found.seen_at.is_none_or(|seen_at| now - seen_at >= SEEN_EVERY_MS);
            let seen_at = if is_stale { now } else { found.seen_at.unwrap_or(now) };
            cache.insert(key, generation, principal.clone(), seen_at, now);
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
