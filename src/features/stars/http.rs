use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use stoa_model::messages::Items;
use stoa_model::stars::StarView;
use utoipa_axum::routes;

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::surfaces::http::{ApiRouter, NoBody, Path};

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(list_starred)).routes(routes!(star, unstar))
}

/// The caller's starred conversations, by kind and name.
#[utoipa::path(get, path = "/api/starred", tag = "channels", responses((status = 200, body = Items<StarView>)),
    security(("session" = []), ("bearer" = [])))]
async fn list_starred(State(hub): State<Hub>, actor: Actor) -> Result<Json<Items<StarView>>, HubError> {
    Ok(Json(service::list(&hub, &actor).await?))
}

/// Stars a conversation: `channel:NAME`, or `dm:NAME` for the direct messages with someone.
#[utoipa::path(put, path = "/api/starred/{conversation}", tag = "channels", params(("conversation" = String, Path)),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn star(
    State(hub): State<Hub>,
    actor: Actor,
    Path(conversation): Path<String>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    service::set(&hub, &actor, &conversation, true).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a star.
#[utoipa::path(delete, path = "/api/starred/{conversation}", tag = "channels", params(("conversation" = String, Path)),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn unstar(
    State(hub): State<Hub>,
    actor: Actor,
    Path(conversation): Path<String>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    service::set(&hub, &actor, &conversation, false).await?;
    Ok(StatusCode::NO_CONTENT)
}
