use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::environment::is_reserved_variable;
use stoa_model::masking::Masker;
use stoa_model::page::Page;
use stoa_model::principals::PrincipalKind;
use stoa_model::secrets::{MAX_SECRETS_PER_SCOPE, SecretScope, SecretView, SetSecretRequest, is_model_key};
use stoa_model::validation::FieldError;
use stoa_model::{PrincipalId, Secret};

use super::store::{self, SealedRow, SecretRow};
use crate::access::Actor;
use crate::error::HubError;
use crate::features::{audit, principals};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};
use crate::storage::keys::{KeyRing, Purpose};

/// How many are sealed again at once: all of them together may not fit into memory.
const SEALED_AT_ONCE: i64 = 100;

impl From<SecretRow> for SecretView {
    fn from(row: SecretRow) -> Self {
        let scope = match row.holder_kind {
            PrincipalKind::Agent => SecretScope::Agent(row.holder),
            _ => SecretScope::User(row.holder),
        };
        Self { name: row.name, scope, all_runs: row.all_runs, created_at: row.created_at, updated_at: row.updated_at }
    }
}

/// Stores a secret, or replaces its value.
pub async fn set_secret(hub: &Hub, actor: &Actor, request: SetSecretRequest) -> Result<SecretView, HubError> {
    actor.require_admin()?;
    request.check()?;
    refuse_reserved(&request)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let SetSecretRequest { scope, name, value, all_runs } = &request;
        let holder = require_holder(tx, scope)?;
        // The keys are asked for here, because they may have changed while the command waited.
        let sealed = seal(&hub_in.keys(), tx, holder, name, value.expose().as_bytes())?;
        let known = store::find_secret(tx, holder, name)?;
        let all_runs = all_runs.unwrap_or_else(|| known.as_ref().is_some_and(|known| known.all_runs));
        let action = if known.is_some() {
            store::update_secret(tx, holder, name, &sealed, all_runs)?;
            "secret.updated"
        } else {
            if store::count_secrets(tx, holder)? >= MAX_SECRETS_PER_SCOPE {
                let detail = format!("{scope} already has {MAX_SECRETS_PER_SCOPE} secrets.");
                return Err(HubError::conflict("too_many_secrets", detail).hint("Delete one that is no longer used."));
            }
            let created_by = (!actor_in.is_operator()).then(|| actor_in.id());
            store::insert_secret(tx, holder, name, &sealed, all_runs, created_by)?;
            "secret.created"
        };
        let secret = find_view(tx, holder, name)?;
        record(tx, &actor_in, action, &secret)?;
        Ok(secret)
    })
    .await
}

fn refuse_reserved(request: &SetSecretRequest) -> Result<(), HubError> {
    if !request.is_reserved() {
        return Ok(());
    }
    let detail = format!("The variable {} is reserved.", request.name);
    let fault = FieldError { field: "name".to_owned(), message: "is reserved".to_owned() };
    Err(HubError::refused("reserved_variable", detail, vec![fault])
        .hint("Choose another name, for example one that ends with _KEY, _TOKEN, _SECRET or _PASSWORD."))
}

/// Lists secrets without their values.
pub async fn list_secrets(
    hub: &Hub,
    actor: &Actor,
    scope: Option<SecretScope>,
    list: ListQuery,
) -> Result<Page<SecretView>, HubError> {
    actor.require_admin()?;
    let list_name = scope.as_ref().map_or_else(|| "secrets".to_owned(), |scope| format!("secrets {scope}"));
    let after: (String, String) = list.position(hub, actor, &list_name)?.unwrap_or_default();
    let limit = list.limit()?;
    let secrets = hub
        .read(move |tx| {
            let holder = scope.as_ref().map(|scope| require_holder(tx, scope)).transpose()?;
            Ok::<_, HubError>(store::list_secrets(tx, holder, &after, limit + 1)?)
        })
        .await?;
    let positioned = |row: SecretRow| ((row.folded_holder.clone(), row.name.clone()), row.into());
    page_of(hub, actor, &list_name, secrets.into_iter().map(positioned).collect(), limit)
}

/// Deletes a secret and returns what is shown of it.
pub async fn delete_secret(hub: &Hub, actor: &Actor, scope: SecretScope, name: String) -> Result<SecretView, HubError> {
    actor.require_admin()?;
    let actor_in = actor.clone();
    hub.command(actor, move |tx| {
        let holder = require_holder(tx, &scope)?;
        let secret = find_view(tx, holder, &name)?;
        store::delete_secret(tx, holder, &name)?;
        record(tx, &actor_in, "secret.deleted", &secret)?;
        Ok(secret)
    })
    .await
}

pub(super) fn delete_all_of(tx: &mut Tx<'_>, holder: PrincipalId) -> Result<(), DbError> {
    store::delete_all_of(tx, holder)
}

/// What a run gets of its agent's secrets.
#[derive(Debug)]
pub struct RunSecrets {
    /// The variables of the run. Those of the agent win over those of its owner.
    pub variables: BTreeMap<String, Secret>,
    /// The values of all secrets of the agent and its owner, also those that the run does not get.
    known_values: Vec<Secret>,
}

impl RunSecrets {
    /// Hides the values in all that the run prints and writes. It knows more of them than the run gets: an earlier run may have left
    /// them in a file.
    pub fn masker(&self) -> Masker {
        Masker::new(self.known_values.iter().map(Secret::expose))
    }
}

/// The secrets of a run of this agent. A foreign run, which somebody other than the owner started, gets only keys of models and secrets
/// that are marked for all runs.
pub fn secrets_of_run(
    hub: &Hub,
    tx: &mut Tx<'_>,
    agent: PrincipalId,
    is_foreign: bool,
) -> Result<RunSecrets, HubError> {
    let owner = principals::find_by_id(tx, agent)?.and_then(|agent| agent.owner);
    let owner = owner.ok_or_else(|| HubError::not_found("agent"))?;
    let mut rows = store::list_sealed(tx, owner)?;
    rows.extend(store::list_sealed(tx, agent)?);
    let keys = hub.keys();
    let mut known_values = Vec::with_capacity(rows.len());
    // The agent's secrets come last and replace those of the owner. What a foreign run gets is decided after that, so that it never gets
    // another value than the owner's run.
    let mut effective = BTreeMap::new();
    for row in rows {
        let value = open(&keys, &row)?;
        known_values.push(value.clone());
        effective.insert(row.name, (value, row.all_runs));
    }
    // A name may have become reserved after it was set.
    effective
        .retain(|name, (_, all_runs)| !is_reserved_variable(name) && (!is_foreign || *all_runs || is_model_key(name)));
    let variables = effective.into_iter().map(|(name, (value, _))| (name, value)).collect();
    Ok(RunSecrets { variables, known_values })
}

/// Which keys of models are set for a user, or for one of their agents. Owners may know that, because they choose the program that gets
/// the values.
pub fn list_model_keys(
    tx: &mut Tx<'_>,
    owner: PrincipalId,
    agent: Option<PrincipalId>,
) -> Result<BTreeSet<String>, DbError> {
    let mut names = store::list_names(tx, owner)?;
    if let Some(agent) = agent {
        names.extend(store::list_names(tx, agent)?);
    }
    Ok(names.into_iter().filter(|name| is_model_key(name)).collect())
}

/// Seals all secrets with the current key, so that an older one can be removed.
pub(super) fn seal_again(tx: &mut Tx<'_>, keys: &KeyRing) -> Result<(), HubError> {
    let mut after = (PrincipalId(0), String::new());
    loop {
        let rows = store::list_all_sealed(tx, (after.0, &after.1), SEALED_AT_ONCE)?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = (last.principal, last.name.clone());
        for row in rows {
            let value = open(keys, &row)?;
            let sealed = seal(keys, tx, row.principal, &row.name, value.expose().as_bytes())?;
            store::update_sealed(tx, row.principal, &row.name, &sealed)?;
        }
    }
}

fn seal(keys: &KeyRing, tx: &mut Tx<'_>, holder: PrincipalId, name: &str, value: &[u8]) -> Result<Vec<u8>, HubError> {
    keys.seal(Purpose::Secret, &context(holder, name), tx.random_bytes(), value).map_err(HubError::internal)
}

fn open(keys: &KeyRing, row: &SealedRow) -> Result<Secret, HubError> {
    let context = context(row.principal, &row.name);
    let value = keys.open(Purpose::Secret, &context, &row.value).map_err(HubError::internal)?;
    Ok(Secret::new(std::str::from_utf8(&value).map_err(HubError::internal)?))
}

/// Where a value belongs: it cannot be opened under another name or for somebody else.
fn context(holder: PrincipalId, name: &str) -> String {
    format!("{} {name}", holder.0)
}

/// The user or agent that a scope names. A disabled user keeps their secrets.
fn require_holder(tx: &mut Tx<'_>, scope: &SecretScope) -> Result<PrincipalId, HubError> {
    let (kind, what) = match scope {
        SecretScope::User(_) => (PrincipalKind::User, "user"),
        SecretScope::Agent(_) => (PrincipalKind::Agent, "agent"),
    };
    let holder = principals::find(tx, scope.name())?.filter(|found| found.kind == kind && !found.is_deleted);
    Ok(holder.ok_or_else(|| HubError::not_found(what))?.id)
}

fn find_view(tx: &mut Tx<'_>, holder: PrincipalId, name: &str) -> Result<SecretView, HubError> {
    let secret = store::find_secret(tx, holder, name)?;
    secret.map(Into::into).ok_or_else(|| HubError::not_found("secret"))
}

fn record(tx: &mut Tx<'_>, actor: &Actor, action: &str, secret: &SecretView) -> Result<(), DbError> {
    let details = json!({"scope": secret.scope, "all_runs": secret.all_runs});
    audit::record(tx, actor, action, Some(&secret.name), &details)
}
