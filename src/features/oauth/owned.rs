//! Clients that owners make for their agents, and what operators do with clients of any kind.

use serde_json::json;
use stoa_db::Tx;
use stoa_model::PrincipalId;
use stoa_model::oauth::{
    AuthMethod, ClientKind, CreateOauthClientRequest, CreatedOauthClient, GrantType, OauthClientView,
};
use stoa_model::page::Page;

use super::client_store::{self, ListedClient, NewClient, Whose};
use super::registration::{new_client_id, random_secret};
use super::{grants, store};
use crate::access::Actor;
use crate::access::auth_log::{self, AuthEvent};
use crate::access::password_line::Caller;
use crate::error::HubError;
use crate::features::{agents, audit, users};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

impl From<ListedClient> for OauthClientView {
    fn from(row: ListedClient) -> Self {
        Self {
            client_id: row.client_id,
            kind: row.kind,
            name: row.name,
            owner: row.owner,
            agent: row.agent,
            auth_method: row.auth_method,
            redirect_uris: row.redirect_uris,
            grant_types: row.grant_types,
            scope: row.scope,
            introspects_all: row.introspects_all,
            grants: row.grants,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
        }
    }
}

/// Makes a client for an agent of the caller's.
pub async fn create_client(
    hub: &Hub,
    actor: &Actor,
    request: CreateOauthClientRequest,
) -> Result<CreatedOauthClient, HubError> {
    create_client_for(hub, actor, None, request, false).await
}

/// Makes a client for the user of that name, or for the caller. One that `introspects_all` may ask about everybody's
/// tokens, as a resource server has to; only operators make such.
pub async fn create_client_for(
    hub: &Hub,
    actor: &Actor,
    owner: Option<String>,
    request: CreateOauthClientRequest,
    introspects_all: bool,
) -> Result<CreatedOauthClient, HubError> {
    actor.require_session()?;
    if owner.is_some() || introspects_all {
        actor.require_admin()?;
    }
    request.check()?;
    let client_secret = random_secret()?;
    let secret_hash = hub.client_secrets().hash(Caller::Client(actor.call.client_ip), &client_secret).await?;
    let actor_in = actor.clone();
    let created = hub
        .command(actor, move |tx| {
            let (owner, whose) = match &owner {
                Some(name) => (users::find_user_id(tx, name)?, name.as_str()),
                None => (actor_in.id(), actor_in.principal.handle.as_str()),
            };
            let agent = agents::require_owned(tx, owner, &request.agent).map_err(|error| match error.code {
                "not_found" => HubError::invalid_field("agent", format!("is not an agent of {whose}'s")),
                _ => error,
            })?;
            let client_id = new_client_id(tx);
            let client = NewClient {
                client_id: client_id.clone(),
                kind: ClientKind::Owned,
                name: request.name.clone(),
                auth_method: AuthMethod::ClientSecretBasic,
                secret_hash: Some(secret_hash.clone()),
                registration_hash: None,
                redirect_uris: Vec::new(),
                grant_types: vec![GrantType::ClientCredentials],
                scope: None,
                application_type: None,
                owner: Some(owner),
                agent: Some(agent),
                introspects_all,
                fresh_until: None,
            };
            client_store::put_client(tx, &client)?;
            let details = json!({"owner": whose, "agent": request.agent, "name": request.name,
                "introspects_all": introspects_all});
            audit::record(tx, &actor_in, "oauth.client_created", Some(&client_id), &details)?;
            let client = client_store::find_listed(tx, &client_id)?;
            let client = client.ok_or_else(|| HubError::internal("the new client is missing"))?;
            // In here, so that a repeated request is shown the same one again.
            Ok(CreatedOauthClient { client: client.into(), client_secret: client_secret.clone() })
        })
        .await?;
    Ok(created)
}

/// The clients that the caller made, newest first.
pub async fn list_own_clients(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<OauthClientView>, HubError> {
    actor.require_session()?;
    let whose = if actor.is_operator() { Whose::Everybodys } else { Whose::Owned(actor.id()) };
    list_clients(hub, actor, whose, list).await
}

/// Clients of every kind, newest first, for administrators.
pub async fn list_all_clients(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<OauthClientView>, HubError> {
    actor.require_admin()?;
    list_clients(hub, actor, Whose::Everybodys, list).await
}

async fn list_clients(
    hub: &Hub,
    actor: &Actor,
    whose: Whose,
    list: ListQuery,
) -> Result<Page<OauthClientView>, HubError> {
    let scope = format!("oauth clients {whose:?}");
    let before = list.position(hub, actor, &scope)?.unwrap_or(i64::MAX);
    let limit = list.limit()?;
    let clients = hub.read(move |tx| client_store::list_clients(tx, whose, before, limit + 1)).await?;
    let clients = clients.into_iter().map(|client| (client.id, client.into())).collect();
    page_of(hub, actor, &scope, clients, limit)
}

/// Takes a client away, and all its tokens with it. Owners can do it to those they made, operators to any.
pub async fn delete_client(hub: &Hub, actor: &Actor, client_id: String) -> Result<OauthClientView, HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let deleted = hub
        .command(actor, move |tx| {
            let client = client_store::find_client(tx, &client_id)?;
            let client = client.filter(|client| actor_in.is_operator() || client.owner == Some(actor_in.id()));
            let client = client.ok_or_else(|| HubError::not_found("client"))?;
            let listed = client_store::find_listed(tx, &client_id)?.ok_or_else(|| HubError::not_found("client"))?;
            remove(&hub_in, tx, &actor_in, client.id)?;
            let details = json!({"name": listed.name, "kind": listed.kind});
            audit::record(tx, &actor_in, "oauth.client_deleted", Some(&client_id), &details)?;
            Ok(OauthClientView::from(listed))
        })
        .await?;
    let detail = format!("all of OAuth client {}", deleted.client_id);
    auth_log::record(AuthEvent::TokenRevoked, &actor.call, Some(actor.id().0), actor.audit_name(), Some(&detail));
    Ok(deleted)
}

/// Takes a client away, and all that it was allowed.
pub(super) fn remove(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, client: i64) -> Result<(), HubError> {
    for grant in store::list_grants_of_client(tx, client)? {
        grants::withdraw(hub, tx, actor, &grant, "client_deleted")?;
    }
    client_store::delete_client(tx, client)?;
    Ok(())
}

/// Takes the clients along that were made for an agent, as part of taking the agent away.
pub(super) fn remove_all_of_agent(hub: &Hub, tx: &mut Tx<'_>, agent: PrincipalId) -> Result<(), HubError> {
    for (id, client_id) in client_store::list_clients_of_agent(tx, agent)? {
        remove(hub, tx, &Actor::system(), id)?;
        let details = json!({"kind": ClientKind::Owned, "reason": "agent_deleted"});
        audit::record(tx, &Actor::system(), "oauth.client_deleted", Some(&client_id), &details)?;
    }
    Ok(())
}
