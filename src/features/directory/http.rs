use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use stoa_model::page::Page;
use stoa_model::principals::{Card, Profile};
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Path, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(directory)).routes(routes!(get_profile))
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
    Ok(Json(service::list(&hub, &actor, &query.q, list).await?))
}

/// What everyone may know about a user or an agent.
#[utoipa::path(get, path = "/api/directory/{name}", tag = "directory", params(("name" = String, Path)),
    responses((status = 200, body = Profile)), security(("session" = []), ("bearer" = [])))]
async fn get_profile(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
) -> Result<Json<Profile>, HubError> {
    Ok(Json(service::get_profile(&hub, &actor, name).await?))
}
