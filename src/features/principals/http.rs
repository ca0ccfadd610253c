use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use stoa_model::page::Page;
use stoa_model::principals::Card;
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(directory))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DirectoryQuery {
    /// A part of a handle or display name.
    #[serde(default)]
    #[param(max_length = 100)]
    q: String,
}

/// Searches people and agents by name, for example to complete mentions.
#[utoipa::path(get, path = "/api/directory", tag = "directory", params(DirectoryQuery, ListQuery),
    responses((status = 200, body = Page<Card>)), security(("session" = []), ("bearer" = [])))]
async fn directory(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<DirectoryQuery>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<Card>>, HubError> {
    Ok(Json(service::directory(&hub, &actor, &query.q, list).await?))
}
