//! Tokens of runs: a program calls the hub with one, as its agent, while its run is running.

use std::sync::LazyLock;

use stoa_db::{DbError, Tx};
use stoa_model::credentials::CredentialKind;
use stoa_model::permissions::{Permission, PermissionSet};
use stoa_model::principals::PrincipalKind;
use stoa_model::users::Role;

use super::store;
use crate::access::identity::{CredentialForm, CredentialStore, Door, FoundIdentity};
use crate::access::reach::{ALLOWED_WITHIN_RUN_REACH, FORBIDDEN_TO_RUNS};
use crate::access::{Credential, Principal, Reach, RunCredential};
use crate::error::HubError;
use crate::features::{principals, secrets};
use crate::hub::{BoxFuture, Hub};

static PERMISSIONS: LazyLock<PermissionSet> = LazyLock::new(|| {
    let allowed = Permission::ALL.into_iter().filter(|permission| !FORBIDDEN_TO_RUNS.contains(permission));
    allowed.fold(PermissionSet::NONE, PermissionSet::with)
});

/// Of a run that others have started.
static FOREIGN_PERMISSIONS: LazyLock<PermissionSet> =
    LazyLock::new(|| ALLOWED_WITHIN_RUN_REACH.into_iter().fold(PermissionSet::NONE, PermissionSet::with));

pub(super) const RUN_TOKEN: CredentialStore = CredentialStore {
    form: CredentialForm::Bearer(CredentialKind::RunToken),
    doors: &[Door::RestBearer, Door::McpBearer],
    find,
    note_use: |tx, principal| principals::note_seen(tx, principal.id),
};

/// Refuses what a program writes if a secret of its agent is in it.
pub(super) fn guard<'a>(hub: &'a Hub, principal: &'a Principal, text: &'a [u8]) -> BoxFuture<'a, Result<(), HubError>> {
    Box::pin(async move {
        let Some(run) = principal.run() else { return Ok(()) };
        let (hub_in, agent) = (hub.clone(), principal.id);
        let masker = hub.read(move |tx| {
            let is_foreign = store::find_run(tx, run.run)?.is_none_or(|run| run.is_foreign);
            Ok::<_, HubError>(secrets::secrets_of_run(&hub_in, tx, agent, is_foreign)?.masker())
        });
        if masker.await?.finds_secret(&String::from_utf8_lossy(text)) {
            return Err(HubError::refused(
                "secret_in_text",
                "The text contains a secret and was not sent.",
                Vec::new(),
            )
            .hint("Remove the secret from the text."));
        }
        Ok(())
    })
}

fn find(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<FoundIdentity>, DbError> {
    let Some(found) = store::find_token(tx, hash)? else { return Ok(None) };
    let (permissions, reach) = match found.reach {
        Some(reach) => (*FOREIGN_PERMISSIONS, Reach::Run(reach)),
        None => (*PERMISSIONS, Reach::Everything),
    };
    let credential =
        RunCredential { run: found.run, depth: found.depth, chain: found.chain, is_remote: found.is_remote };
    Ok(Some(FoundIdentity {
        principal: Principal {
            id: found.agent,
            kind: PrincipalKind::Agent,
            handle: found.name,
            human: found.owner,
            role: Role::Member,
            credential: Credential::Run(credential),
            permissions,
            reach,
            expires_at: None,
            proof: None,
        },
        seen_at: None,
    }))
}
