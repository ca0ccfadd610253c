use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use stoa_model::MessageId;
use stoa_model::messages::{MessageView, WorkflowState};
use stoa_model::page::Page;
use stoa_model::reactions::{ReactRequest, ReactedView, Reaction, ReactionsView, UnreactRequest};
use stoa_model::trust::TrustView;
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::{board, react, trust};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Body, OptionalBody, Path, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(react_to_message, get_reactions, remove_reaction))
        .routes(routes!(list_messages_by_state))
        .routes(routes!(get_trust))
}

/// Adds a reaction to a message, or removes the caller's same reaction.
#[utoipa::path(post, path = "/api/messages/{id}/reactions", tag = "reactions", params(("id" = i64, Path)),
    request_body = ReactRequest,
    responses((status = 200, body = ReactedView)), security(("session" = []), ("bearer" = [])))]
async fn react_to_message(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    Body(request): Body<ReactRequest>,
) -> Result<Json<ReactedView>, HubError> {
    Ok(Json(react::react(&hub, &actor, id, request).await?))
}

/// Lists the reactions on a message, oldest first.
#[utoipa::path(get, path = "/api/messages/{id}/reactions", tag = "reactions", params(("id" = i64, Path)),
    responses((status = 200, body = ReactionsView)), security(("session" = []), ("bearer" = [])))]
async fn get_reactions(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
) -> Result<Json<ReactionsView>, HubError> {
    Ok(Json(react::get_reactions(&hub, &actor, id).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ReactionParams {
    /// The reaction to remove, if it is not in the body.
    #[serde(default)]
    #[param(inline)]
    reaction: Option<Reaction>,
    /// The author of the reaction, if not the caller. Channel owners can remove any reaction, members can remove claims.
    #[serde(default)]
    by: Option<String>,
}

/// Removes a reaction of the caller, or with `by` someone else's.
#[utoipa::path(delete, path = "/api/messages/{id}/reactions", tag = "reactions",
    params(("id" = i64, Path), ReactionParams), request_body = Option<UnreactRequest>,
    responses((status = 200, body = ReactedView)), security(("session" = []), ("bearer" = [])))]
async fn remove_reaction(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    Query(query): Query<ReactionParams>,
    OptionalBody(request): OptionalBody<UnreactRequest>,
) -> Result<Json<ReactedView>, HubError> {
    let reaction = match (query.reaction, request.reaction) {
        (Some(one), Some(other)) if one != other => {
            return Err(HubError::invalid_field("reaction", "must be the same in the query and in the body"));
        }
        (one, other) => one.or(other).ok_or_else(|| HubError::invalid_field("reaction", "is required"))?,
    };
    match query.by {
        Some(by) => Ok(Json(react::remove_of(&hub, &actor, id, reaction, by).await?)),
        None => Ok(Json(react::unreact(&hub, &actor, id, reaction).await?)),
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct StateParams {
    /// The workflow state.
    #[param(inline)]
    state: WorkflowState,
}

/// Lists a channel's messages in a workflow state, newest first. Replies are included only if they have reactions.
#[utoipa::path(get, path = "/api/channels/{name}/messages/by-state", tag = "channels",
    params(("name" = String, Path), StateParams, ListQuery),
    responses((status = 200, body = Page<MessageView>)), security(("session" = []), ("bearer" = [])))]
async fn list_messages_by_state(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    Query(StateParams { state }): Query<StateParams>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<MessageView>>, HubError> {
    Ok(Json(board::list_by_state(&hub, &actor, name, state, list).await?))
}

/// Returns an agent's trust per action.
#[utoipa::path(get, path = "/api/trust/{agent}", tag = "trust", params(("agent" = String, Path)),
    responses((status = 200, body = Vec<TrustView>)), security(("session" = []), ("bearer" = [])))]
async fn get_trust(
    State(hub): State<Hub>,
    actor: Actor,
    Path(agent): Path<String>,
) -> Result<Json<Vec<TrustView>>, HubError> {
    Ok(Json(trust::get_trust(&hub, &actor, agent).await?))
}
