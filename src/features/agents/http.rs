use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use stoa_model::agents::{AgentView, CreateAgentRequest, CreatedAgent, UpdateAgentRequest};
use stoa_model::page::Page;
use stoa_model::users::MeView;
use utoipa_axum::routes;

use super::connect::{self, ConnectQuery};
use super::service::{self, RevisedAgent};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Body, NoBody, Path, Query, WithEtag, expected_revision, with_etag};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(me))
        .routes(routes!(list_agents, create_agent))
        .routes(routes!(get_agent, update_agent, delete_agent))
        .routes(routes!(rotate_key))
        .routes(routes!(pause_agent))
        .routes(routes!(resume_agent))
        .routes(routes!(unquarantine_agent))
        .routes(routes!(mcp_config))
}

fn revised(agent: RevisedAgent) -> Result<WithEtag<AgentView>, HubError> {
    with_etag(agent.revision, agent.agent)
}

/// Returns the logged-in user and their agents (the first 200 by name).
#[utoipa::path(get, path = "/auth/me", tag = "auth", responses((status = 200, body = MeView)),
    security(("session" = [])))]
async fn me(State(hub): State<Hub>, actor: Actor) -> Result<Json<MeView>, HubError> {
    Ok(Json(service::me(&hub, &actor).await?))
}

/// Lists the caller's agents by name.
#[utoipa::path(get, path = "/api/agents", tag = "agents", params(ListQuery),
    responses((status = 200, body = Page<AgentView>)), security(("session" = []), ("bearer" = [])))]
async fn list_agents(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<AgentView>>, HubError> {
    Ok(Json(service::list_agents(&hub, &actor, list).await?))
}

/// Creates an agent. The response shows its key once.
#[utoipa::path(post, path = "/api/agents", tag = "agents", request_body = CreateAgentRequest,
    responses((status = 201, body = CreatedAgent)), security(("session" = [])))]
async fn create_agent(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<CreateAgentRequest>,
) -> Result<(StatusCode, Json<CreatedAgent>), HubError> {
    Ok((StatusCode::CREATED, Json(service::create_agent(&hub, &actor, request).await?)))
}

/// Returns an agent, with its revision as ETag.
#[utoipa::path(get, path = "/api/agents/{name}", tag = "agents", params(("name" = String, Path)),
    responses((status = 200, body = AgentView)), security(("session" = []), ("bearer" = [])))]
async fn get_agent(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
) -> Result<WithEtag<AgentView>, HubError> {
    revised(service::get_agent(&hub, &actor, name).await?)
}

/// Updates the given settings; with `If-Match`, only if they have not changed since they were read.
#[utoipa::path(patch, path = "/api/agents/{name}", tag = "agents", request_body = UpdateAgentRequest,
    params(("name" = String, Path), ("If-Match" = Option<String>, Header, description = "The ETag of the agent when it was read")),
    responses((status = 200, body = AgentView)), security(("session" = [])))]
async fn update_agent(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    headers: HeaderMap,
    Body(request): Body<UpdateAgentRequest>,
) -> Result<WithEtag<AgentView>, HubError> {
    let expected = expected_revision(&headers)?;
    revised(service::update_agent(&hub, &actor, name, expected, request).await?)
}

/// Deletes an agent and its keys.
#[utoipa::path(delete, path = "/api/agents/{name}", tag = "agents", params(("name" = String, Path)),
    responses((status = 204)), security(("session" = [])))]
async fn delete_agent(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    service::delete_agent(&hub, &actor, name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Replaces the agent's key. The old key stops working.
#[utoipa::path(post, path = "/api/agents/{name}/key", tag = "agents", params(("name" = String, Path)),
    responses((status = 200, body = CreatedAgent)), security(("session" = [])))]
async fn rotate_key(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<Json<CreatedAgent>, HubError> {
    Ok(Json(service::rotate_key(&hub, &actor, name).await?))
}

/// Pauses an agent.
#[utoipa::path(post, path = "/api/agents/{name}/pause", tag = "agents", params(("name" = String, Path)),
    responses((status = 200, body = AgentView)), security(("session" = [])))]
async fn pause_agent(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<WithEtag<AgentView>, HubError> {
    revised(service::pause_agent(&hub, &actor, name).await?)
}

/// Resumes a paused agent.
#[utoipa::path(post, path = "/api/agents/{name}/resume", tag = "agents", params(("name" = String, Path)),
    responses((status = 200, body = AgentView)), security(("session" = [])))]
async fn resume_agent(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<WithEtag<AgentView>, HubError> {
    revised(service::resume_agent(&hub, &actor, name).await?)
}

/// Releases an agent from quarantine. Admins can do this for any agent.
#[utoipa::path(post, path = "/api/agents/{name}/unquarantine", tag = "agents", params(("name" = String, Path)),
    responses((status = 200, body = AgentView)), security(("session" = [])))]
async fn unquarantine_agent(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<WithEtag<AgentView>, HubError> {
    revised(service::unquarantine_agent(&hub, &actor, name).await?)
}

/// Returns the settings with which a client connects over MCP as this agent. For Codex, whose settings are
/// TOML, the text is in the field `toml`. Nothing is stored, and queries are not logged.
#[utoipa::path(get, path = "/api/agents/{name}/mcp-config", tag = "agents",
    params(("name" = String, Path), ConnectQuery),
    responses((status = 200, body = serde_json::Value, content_type = "application/json")),
    security(("session" = []), ("bearer" = [])))]
async fn mcp_config(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    Query(query): Query<ConnectQuery>,
) -> Result<impl IntoResponse, HubError> {
    let settings = connect::mcp_config(&hub, &actor, name, query).await?;
    let text = serde_json::to_string_pretty(&settings).map_err(HubError::internal)?;
    // The address may have a key in it: it is to stay where it was typed.
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, text + "\n"))
}
