use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use stoa_model::page::Page;
use stoa_model::webhooks::{
    CreateWebhookRequest, CreatedWebhook, DeliveryDetails, DeliveryRecord, DeliveryStatus, Retried, RetryDeadRequest,
    RotateSecretRequest, UpdateWebhookRequest, WebhookView,
};
use stoa_model::{DeliveryId, WebhookId};
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::deliveries::{self, DeliveryQuery};
use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Body, NoBody, OptionalBody, Path, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(list_webhooks, create_webhook))
        .routes(routes!(list_deliveries))
        .routes(routes!(list_dead_letters))
        .routes(routes!(get_delivery))
        .routes(routes!(retry_delivery))
        .routes(routes!(get_webhook, update_webhook, delete_webhook))
        .routes(routes!(test_webhook))
        .routes(routes!(enable_webhook))
        .routes(routes!(rotate_secret))
        .routes(routes!(list_deliveries_of_webhook))
        .routes(routes!(retry_dead))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct WebhookQuery {
    /// Only this agent's webhooks.
    agent: Option<String>,
}

/// Lists the webhooks of the caller's agents, newest first; agents see their own.
#[utoipa::path(get, path = "/api/webhooks", tag = "webhooks", params(WebhookQuery, ListQuery),
    responses((status = 200, body = Page<WebhookView>)), security(("session" = []), ("key" = [])))]
async fn list_webhooks(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<WebhookQuery>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<WebhookView>>, HubError> {
    Ok(Json(service::list_webhooks(&hub, &actor, query.agent, list).await?))
}

/// Creates a webhook for an agent's events. The response shows its secret once.
#[utoipa::path(post, path = "/api/webhooks", tag = "webhooks", request_body = CreateWebhookRequest,
    responses((status = 201, body = CreatedWebhook)), security(("session" = []), ("key" = [])))]
async fn create_webhook(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<CreateWebhookRequest>,
) -> Result<(StatusCode, Json<CreatedWebhook>), HubError> {
    Ok((StatusCode::CREATED, Json(service::create_webhook(&hub, &actor, request).await?)))
}

#[utoipa::path(get, path = "/api/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = 200, body = WebhookView)), security(("session" = []), ("key" = [])))]
async fn get_webhook(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<WebhookId>,
) -> Result<Json<WebhookView>, HubError> {
    Ok(Json(service::get_webhook(&hub, &actor, id).await?))
}

/// Updates the address or the events, or enables or disables the webhook.
#[utoipa::path(patch, path = "/api/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body = UpdateWebhookRequest, responses((status = 200, body = WebhookView)),
    security(("session" = []), ("key" = [])))]
async fn update_webhook(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<WebhookId>,
    Body(request): Body<UpdateWebhookRequest>,
) -> Result<Json<WebhookView>, HubError> {
    Ok(Json(service::update_webhook(&hub, &actor, id, request).await?))
}

/// Deletes a webhook and all its deliveries, including pending ones.
#[utoipa::path(delete, path = "/api/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = 204)), security(("session" = []), ("key" = [])))]
async fn delete_webhook(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<WebhookId>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    service::delete_webhook(&hub, &actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends `webhook.ping` once, even if the webhook is disabled. The result is in its deliveries.
#[utoipa::path(post, path = "/api/webhooks/{id}/test", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = 202, body = DeliveryRecord)), security(("session" = []), ("key" = [])))]
async fn test_webhook(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<WebhookId>,
    _: NoBody,
) -> Result<(StatusCode, Json<DeliveryRecord>), HubError> {
    Ok((StatusCode::ACCEPTED, Json(service::test_webhook(&hub, &actor, id).await?)))
}

/// Enables a webhook. If it was disabled because of failures, held deliveries are sent.
#[utoipa::path(post, path = "/api/webhooks/{id}/enable", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = 200, body = WebhookView)), security(("session" = []), ("key" = [])))]
async fn enable_webhook(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<WebhookId>,
    _: NoBody,
) -> Result<Json<WebhookView>, HubError> {
    Ok(Json(service::enable_webhook(&hub, &actor, id).await?))
}

/// Creates a new secret. Deliveries are signed with both secrets for 24 hours, unless `keep_old` is false.
#[utoipa::path(post, path = "/api/webhooks/{id}/rotate-secret", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body = Option<RotateSecretRequest>, responses((status = 200, body = CreatedWebhook)),
    security(("session" = []), ("key" = [])))]
async fn rotate_secret(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<WebhookId>,
    OptionalBody(request): OptionalBody<RotateSecretRequest>,
) -> Result<Json<CreatedWebhook>, HubError> {
    Ok(Json(service::rotate_secret(&hub, &actor, id, request).await?))
}

/// Lists a webhook's deliveries, newest first.
#[utoipa::path(get, path = "/api/webhooks/{id}/deliveries", tag = "webhooks",
    params(("id" = WebhookId, Path), DeliveryQuery, ListQuery), responses((status = 200, body = Page<DeliveryRecord>)),
    security(("session" = []), ("key" = [])))]
async fn list_deliveries_of_webhook(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<WebhookId>,
    Query(query): Query<DeliveryQuery>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<DeliveryRecord>>, HubError> {
    Ok(Json(deliveries::list_deliveries(&hub, &actor, Some(id), query, list).await?))
}

/// Lists the deliveries of the caller's webhooks, newest first.
#[utoipa::path(get, path = "/api/webhooks/deliveries", tag = "webhooks", params(DeliveryQuery, ListQuery),
    responses((status = 200, body = Page<DeliveryRecord>)), security(("session" = []), ("key" = [])))]
async fn list_deliveries(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<DeliveryQuery>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<DeliveryRecord>>, HubError> {
    Ok(Json(deliveries::list_deliveries(&hub, &actor, None, query, list).await?))
}

/// Lists dead letters, newest first.
#[utoipa::path(get, path = "/api/webhooks/dead-letters", tag = "webhooks", params(DeliveryQuery, ListQuery),
    responses((status = 200, body = Page<DeliveryRecord>)), security(("session" = []), ("key" = [])))]
async fn list_dead_letters(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<DeliveryQuery>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<DeliveryRecord>>, HubError> {
    let query = DeliveryQuery { status: Some(DeliveryStatus::Dead), ..query };
    Ok(Json(deliveries::list_deliveries(&hub, &actor, None, query, list).await?))
}

/// Returns a delivery with the request as it would be sent now.
#[utoipa::path(get, path = "/api/webhooks/deliveries/{id}", tag = "webhooks", params(("id" = DeliveryId, Path)),
    responses((status = 200, body = DeliveryDetails)), security(("session" = []), ("key" = [])))]
async fn get_delivery(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<DeliveryId>,
) -> Result<Json<DeliveryDetails>, HubError> {
    Ok(Json(deliveries::get_delivery(&hub, &actor, id).await?))
}

/// Retries a dead letter, with up to four attempts.
#[utoipa::path(post, path = "/api/webhooks/deliveries/{id}/retry", tag = "webhooks", params(("id" = DeliveryId, Path)),
    responses((status = 202, body = DeliveryRecord)), security(("session" = []), ("key" = [])))]
async fn retry_delivery(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<DeliveryId>,
    _: NoBody,
) -> Result<(StatusCode, Json<DeliveryRecord>), HubError> {
    Ok((StatusCode::ACCEPTED, Json(deliveries::retry_delivery(&hub, &actor, id).await?)))
}

/// Retries the dead letters of a webhook, oldest first, at most 1,000 at a time.
#[utoipa::path(post, path = "/api/webhooks/{id}/retry-dead", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body = Option<RetryDeadRequest>, responses((status = 202, body = Retried)),
    security(("session" = []), ("key" = [])))]
async fn retry_dead(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<WebhookId>,
    OptionalBody(request): OptionalBody<RetryDeadRequest>,
) -> Result<(StatusCode, Json<Retried>), HubError> {
    Ok((StatusCode::ACCEPTED, Json(deliveries::retry_dead(&hub, &actor, id, request).await?)))
}
