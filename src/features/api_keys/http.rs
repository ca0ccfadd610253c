use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use stoa_model::ApiKeyId;
use stoa_model::api_keys::{ApiKeyView, CreateApiKeyRequest, CreatedApiKey};
use stoa_model::page::Page;
use utoipa_axum::routes;

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Body, NoBody, Path, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(list_keys, create_key)).routes(routes!(get_key, revoke_key))
}

/// Lists the caller's managed keys, newest first.
#[utoipa::path(get, path = "/api/keys", tag = "keys", params(ListQuery),
    responses((status = 200, body = Page<ApiKeyView>)), security(("session" = [])))]
async fn list_keys(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<ApiKeyView>>, HubError> {
    Ok(Json(service::list_keys(&hub, &actor, list).await?))
}

/// Creates a key. The response shows it once.
#[utoipa::path(post, path = "/api/keys", tag = "keys", request_body = CreateApiKeyRequest,
    responses((status = 201, body = CreatedApiKey)), security(("session" = [])))]
async fn create_key(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<CreateApiKeyRequest>,
) -> Result<(StatusCode, Json<CreatedApiKey>), HubError> {
    Ok((StatusCode::CREATED, Json(service::create_key(&hub, &actor, request).await?)))
}

#[utoipa::path(get, path = "/api/keys/{id}", tag = "keys", params(("id" = ApiKeyId, Path)),
    responses((status = 200, body = ApiKeyView)), security(("session" = [])))]
async fn get_key(State(hub): State<Hub>, actor: Actor, Path(id): Path<ApiKeyId>) -> Result<Json<ApiKeyView>, HubError> {
    Ok(Json(service::get_key(&hub, &actor, id).await?))
}

/// Revokes a key permanently.
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "keys", params(("id" = ApiKeyId, Path)),
    responses((status = 200, body = ApiKeyView)), security(("session" = [])))]
async fn revoke_key(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<ApiKeyId>,
    _: NoBody,
) -> Result<Json<ApiKeyView>, HubError> {
    Ok(Json(service::revoke_key(&hub, &actor, id).await?))
}
