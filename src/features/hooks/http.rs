use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use stoa_model::Secret;
use stoa_model::hooks::{CreateHookRequest, CreatedHook, HookAnswer, HookRequestList, HookView, UpdateHookRequest};
use stoa_model::page::Page;
use utoipa_axum::routes;

use super::receive::{self, HookRequest};
use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Body, MAX_BODY_BYTES, NoBody, Path, Query, call_of, read_whole_body};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(list_hooks, create_hook))
        .routes(routes!(get_hook, update_hook, delete_hook))
        .routes(routes!(list_hook_requests))
        .routes(routes!(receive_signed))
        .routes(routes!(receive_by_url))
}

/// Lists the caller's incoming webhooks, newest first.
#[utoipa::path(get, path = "/api/hooks", tag = "hooks", params(ListQuery),
    responses((status = 200, body = Page<HookView>)), security(("session" = [])))]
async fn list_hooks(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<HookView>>, HubError> {
    Ok(Json(service::list_hooks(&hub, &actor, list).await?))
}

/// Creates an incoming webhook. The response shows its secret once.
#[utoipa::path(post, path = "/api/hooks", tag = "hooks", request_body = CreateHookRequest,
    responses((status = 201, body = CreatedHook)), security(("session" = [])))]
async fn create_hook(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<CreateHookRequest>,
) -> Result<(StatusCode, Json<CreatedHook>), HubError> {
    Ok((StatusCode::CREATED, Json(service::create_hook(&hub, &actor, None, request).await?)))
}

#[utoipa::path(get, path = "/api/hooks/{id}", tag = "hooks", params(("id" = String, Path)),
    responses((status = 200, body = HookView)), security(("session" = [])))]
async fn get_hook(State(hub): State<Hub>, actor: Actor, Path(id): Path<String>) -> Result<Json<HookView>, HubError> {
    Ok(Json(service::get_hook(&hub, &actor, id).await?))
}

/// Updates a hook: its name, target, events, template or secret, or whether it is enabled.
#[utoipa::path(patch, path = "/api/hooks/{id}", tag = "hooks", request_body = UpdateHookRequest,
    params(("id" = String, Path)), responses((status = 200, body = HookView)), security(("session" = [])))]
async fn update_hook(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<String>,
    Body(request): Body<UpdateHookRequest>,
) -> Result<Json<HookView>, HubError> {
    Ok(Json(service::update_hook(&hub, &actor, id, request).await?))
}

/// Deletes a hook. Its messages remain.
#[utoipa::path(delete, path = "/api/hooks/{id}", tag = "hooks", params(("id" = String, Path)),
    responses((status = 204)), security(("session" = [])))]
async fn delete_hook(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<String>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    service::delete_hook(&hub, &actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the last 20 requests to a hook with their outcomes, newest first.
#[utoipa::path(get, path = "/api/hooks/{id}/requests", tag = "hooks", params(("id" = String, Path)),
    responses((status = 200, body = HookRequestList)), security(("session" = [])))]
async fn list_hook_requests(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<String>,
) -> Result<Json<HookRequestList>, HubError> {
    Ok(Json(service::list_requests(&hub, &actor, id).await?))
}

/// Receives a signed request from another service and posts one message for each delivery.
#[utoipa::path(post, path = "/hooks/{id}", tag = "hooks", params(("id" = String, Path)),
    request_body(content((serde_json::Value = "application/json"), (String = "application/x-www-form-urlencoded"))),
    responses((status = 200, body = HookAnswer)))]
async fn receive_signed(
    State(hub): State<Hub>,
    Path(id): Path<String>,
    request: Incoming,
) -> Result<Json<HookAnswer>, HubError> {
    Ok(Json(receive::receive(&hub, request.into_hook(id, None)).await?))
}

/// Receives a request from a service that cannot sign, in Slack's format: `{"text": "…"}`.
#[utoipa::path(post, path = "/hooks/{id}/{secret}", tag = "hooks",
    params(("id" = String, Path), ("secret" = String, Path)),
    request_body(content((serde_json::Value = "application/json"), (String = "application/x-www-form-urlencoded"))),
    responses((status = 200, body = HookAnswer)))]
async fn receive_by_url(
    State(hub): State<Hub>,
    Path((id, secret)): Path<(String, Secret)>,
    request: Incoming,
) -> Result<Json<HookAnswer>, HubError> {
    Ok(Json(receive::receive(&hub, request.into_hook(id, Some(secret))).await?))
}

/// A request of somebody unknown. Its address is counted before its body is read.
struct Incoming {
    headers: HeaderMap,
    body: Bytes,
    call: std::sync::Arc<crate::access::Call>,
}

impl Incoming {
    fn into_hook(self, id: String, path_secret: Option<Secret>) -> HookRequest {
        HookRequest { id, path_secret, headers: self.headers, body: self.body, call: self.call }
    }
}

impl FromRequest<Hub> for Incoming {
    type Rejection = HubError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, HubError> {
        let (parts, body) = request.into_parts();
        let call = call_of(&parts);
        receive::admit(hub, &call)?;
        let body = read_whole_body(hub, &parts, body, MAX_BODY_BYTES).await?;
        Ok(Self { headers: parts.headers, body, call })
    }
}
