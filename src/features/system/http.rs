use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use stoa_model::system::{HealthView, ReadyView, SystemView, VersionView};
use subtle::ConstantTimeEq;
use utoipa_axum::routes;

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::surfaces::http::ApiRouter;

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(version))
        .routes(routes!(health))
        .routes(routes!(ready))
        .routes(routes!(system))
        .routes(routes!(metrics))
}

#[utoipa::path(get, path = "/api/version", tag = "system", responses((status = 200, body = VersionView)))]
async fn version() -> Json<VersionView> {
    Json(VersionView { name: "stoa".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}

/// Checks that the process is up.
#[utoipa::path(get, path = "/healthz", tag = "system", responses((status = 200, body = HealthView)))]
async fn health() -> Json<HealthView> {
    Json(HealthView { status: "ok".to_owned() })
}

/// Checks that the hub can serve requests: it is not stopping, its database responds, and its disk is not full.
#[utoipa::path(get, path = "/readyz", tag = "system", responses((status = 200, body = ReadyView)))]
async fn ready(State(hub): State<Hub>) -> Result<Json<ReadyView>, HubError> {
    Ok(Json(service::readiness(&hub).await?))
}

/// Returns system information for admins.
#[utoipa::path(get, path = "/api/admin/system", tag = "admin", responses((status = 200, body = SystemView)),
    security(("session" = [])))]
async fn system(State(hub): State<Hub>, actor: Actor) -> Result<Json<SystemView>, HubError> {
    Ok(Json(service::system(&hub, &actor).await?))
}

/// Returns metrics in the Prometheus text format. Public unless the operator has set a token.
#[utoipa::path(get, path = "/metrics", tag = "system",
    responses((status = 200, body = String, content_type = "text/plain")))]
async fn metrics(State(hub): State<Hub>, headers: HeaderMap) -> Result<Response, HubError> {
    if let Some(token) = &hub.config().metrics_token {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        if !given.is_some_and(|given| given.ct_eq(token.expose().as_bytes()).into()) {
            return Err(HubError::unauthenticated("unauthenticated", "The metrics require a token."));
        }
    }
    let text = service::metrics(&hub).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
