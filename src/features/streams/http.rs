use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::surfaces::http::{ApiRouter, Query};

const LAST_EVENT_ID: &str = "last-event-id";

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(stream_events))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct StreamQuery {
    /// The id of an event to continue from, for clients that cannot send `Last-Event-ID`. The header wins.
    since: Option<String>,
}

/// Streams events as server-sent events until the client disconnects.
#[utoipa::path(get, path = "/api/events", tag = "events",
    params(StreamQuery, ("last-event-id" = Option<String>, Header, description = "The id of the last event received")),
    responses((status = 200, body = String, content_type = "text/event-stream")),
    security(("session" = []), ("bearer" = [])))]
async fn stream_events(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, HubError> {
    // A browser that comes back asks the same address again, with a newer id in its header.
    let last_event_id = headers.get(LAST_EVENT_ID).map(|value| value.as_bytes().to_vec());
    let since = last_event_id.filter(|id| !id.is_empty()).or(query.since.map(String::into_bytes));
    let body = service::open(&hub, &actor, since.filter(|id| !id.is_empty())).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies that collect an answer before they pass it on would never pass this one on.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::new(body)).into_response())
}
