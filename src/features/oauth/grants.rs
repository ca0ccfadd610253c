//! What people let clients do: seeing it, and taking it back.

use serde_json::json;
use stoa_db::Tx;
use stoa_model::oauth::{GrantClient, GrantView};
use stoa_model::page::Page;
use stoa_model::{GrantId, PrincipalId};

use super::redirect;
use super::store::{self, Grant, ListedGrant};
use crate::access::auth_log::{self, AuthEvent};
use crate::access::{Actor, Call};
use crate::error::HubError;
use crate::features::{audit, principals, users};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

impl From<ListedGrant> for GrantView {
    fn from(row: ListedGrant) -> Self {
        Self {
            id: row.id,
            user: row.username,
            client: GrantClient { client_id: row.client_id, name: row.client_name, kind: row.client_kind },
            redirect_host: row.redirect_uri.map(|uri| redirect::shown_host(&uri)),
            agent: row.agent,
            scope: row.scope,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            expires_at: row.expires_at,
        }
    }
}

/// Puts a grant out of force, with all its tokens. False when it was already.
pub(super) fn withdraw(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    grant: &Grant,
    reason: &str,
) -> Result<bool, HubError> {
    if !store::update_revoked(tx, grant.id)? {
        return Ok(false);
    }
    principals::withdraw_access(hub, tx, actor, grant.acting())?;
    let details = json!({"grant": grant.id, "user": grant.username, "agent": grant.agent_name, "reason": reason});
    audit::record(tx, actor, "oauth.grant_revoked", Some(&grant.client_id), &details)?;
    Ok(true)
}

/// One line of the auth log about a client's tokens.
pub(super) fn log(event: AuthEvent, call: &Call, grant: &Grant, why: Option<&str>) {
    let acting = grant.agent_name.as_ref().map_or_else(|| "themself".to_owned(), |agent| format!("agent {agent}"));
    let mut detail = format!("OAuth client {}, acting as {acting}", grant.client_id);
    if let Some(why) = why {
        detail = format!("{detail}. {why}");
    }
    auth_log::record(event, call, Some(grant.user.0), Some(&grant.username), Some(&detail));
}

/// What acts for the caller; for the operator, for anybody or for the user of that name. Newest first.
pub async fn list_grants(
    hub: &Hub,
    actor: &Actor,
    user: Option<String>,
    list: ListQuery,
) -> Result<Page<GrantView>, HubError> {
    actor.require_session()?;
    let scope = format!("oauth grants {}", user.as_deref().unwrap_or_default());
    let before = list.position(hub, actor, &scope)?.unwrap_or(i64::MAX);
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let grants = hub
        .read(move |tx| {
            let user = match (&user, actor_in.is_operator()) {
                (Some(name), true) => Some(users::find_user_id(tx, name)?),
                (None, true) => None,
                (_, false) => Some(actor_in.id()),
            };
            Ok::<_, HubError>(store::list_grants(tx, user, before, limit + 1)?)
        })
        .await?;
    let grants = grants.into_iter().map(|grant| (grant.id.0, grant.into())).collect();
    page_of(hub, actor, &scope, grants, limit)
}

/// Takes back what a client was allowed: its tokens are out of force at once.
pub async fn revoke_grant(hub: &Hub, actor: &Actor, id: GrantId) -> Result<GrantView, HubError> {
    actor.require_session()?;
    let reason = if actor.is_operator() { "by_the_operator" } else { "by_the_person" };
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let (user, view) = hub
        .command(actor, move |tx| {
            let listed = store::find_listed_grant(tx, id)?;
            let listed = listed.filter(|listed| actor_in.is_operator() || listed.user == actor_in.id());
            let listed = listed.ok_or_else(|| HubError::not_found("grant"))?;
            let grant = store::find_grant(tx, id)?.ok_or_else(|| HubError::not_found("grant"))?;
            withdraw(&hub_in, tx, &actor_in, &grant, reason)?;
            Ok((listed.user, GrantView::from(listed)))
        })
        .await?;
    let acting = view.agent.as_ref().map_or_else(|| "themself".to_owned(), |agent| format!("agent {agent}"));
    let detail = format!("OAuth client {}, acting as {acting}. {reason}", view.client.client_id);
    auth_log::record(AuthEvent::TokenRevoked, &actor.call, Some(user.0), Some(&view.user), Some(&detail));
    Ok(view)
}

/// Puts everything out of force that clients may do as an agent, as part of taking the agent away.
pub(super) fn withdraw_all_of_agent(hub: &Hub, tx: &mut Tx<'_>, agent: PrincipalId) -> Result<(), HubError> {
    for grant in store::list_grants_of_agent(tx, agent)? {
        withdraw(hub, tx, &Actor::system(), &grant, "agent_deleted")?;
    }
    Ok(())
}
