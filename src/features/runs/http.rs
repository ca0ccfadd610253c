use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use stoa_model::RunId;
use stoa_model::messages::Items;
use stoa_model::programs::{ProgramList, ProgramQuery};
use stoa_model::runs::{
    CheckRequest, CheckView, ReactiveAgent, ResultRequest, RunDetails, RunDetailsQuery, RunList, RunQuery, RunSecret,
    RunView,
};
use utoipa_axum::routes;

use super::{programs, remote, service};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::surfaces::http::{ApiRouter, Body, NoBody, OptionalBody, Path, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(list_runs))
        .routes(routes!(get_run))
        .routes(routes!(retry_run))
        .routes(routes!(cancel_run))
        .routes(routes!(list_reactive_agents))
        .routes(routes!(check_agent))
        .routes(routes!(submit_result))
        .routes(routes!(new_run_secret))
        .routes(routes!(list_programs))
}

/// Lists runs of the caller's agents, newest first.
#[utoipa::path(get, path = "/api/runs", tag = "runs", params(RunQuery),
    responses((status = 200, body = RunList)), security(("session" = []), ("bearer" = [])))]
async fn list_runs(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<RunQuery>,
) -> Result<Json<RunList>, HubError> {
    Ok(Json(service::list_runs(&hub, &actor, query).await?))
}

/// Returns a run with its trigger, prompt, output and outgoing message.
#[utoipa::path(get, path = "/api/runs/{id}", tag = "runs", params(("id" = i64, Path), RunDetailsQuery),
    responses((status = 200, body = RunDetails)), security(("session" = []), ("bearer" = [])))]
async fn get_run(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<RunId>,
    Query(query): Query<RunDetailsQuery>,
) -> Result<Json<RunDetails>, HubError> {
    Ok(Json(service::get_run(&hub, &actor, id, query).await?))
}

/// Retries a run as a new run. It counts against the budget and ignores the cooldown.
#[utoipa::path(post, path = "/api/runs/{id}/retry", tag = "runs", params(("id" = i64, Path)),
    responses((status = 201, body = RunView)), security(("session" = []), ("bearer" = [])))]
async fn retry_run(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<RunId>,
    _: NoBody,
) -> Result<(StatusCode, Json<RunView>), HubError> {
    Ok((StatusCode::CREATED, Json(service::retry_run(&hub, &actor, id).await?)))
}

/// Cancels a run. An active run ends within 15 seconds.
#[utoipa::path(post, path = "/api/runs/{id}/cancel", tag = "runs", params(("id" = i64, Path)),
    responses((status = 200, body = RunView)), security(("session" = []), ("bearer" = [])))]
async fn cancel_run(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<RunId>,
    _: NoBody,
) -> Result<Json<RunView>, HubError> {
    Ok(Json(service::cancel_run(&hub, &actor, id).await?))
}

/// Lists the caller's reactive agents and their current runs.
#[utoipa::path(get, path = "/api/agents/reactive", tag = "runs",
    responses((status = 200, body = Items<ReactiveAgent>)), security(("session" = []), ("bearer" = [])))]
async fn list_reactive_agents(State(hub): State<Hub>, actor: Actor) -> Result<Json<Items<ReactiveAgent>>, HubError> {
    Ok(Json(Items { items: service::list_reactive(&hub, &actor).await? }))
}

/// Checks whether a message would start the agent now. Starts nothing.
#[utoipa::path(post, path = "/api/agents/{name}/check", tag = "runs", params(("name" = String, Path)),
    request_body = Option<CheckRequest>, responses((status = 200, body = CheckView)),
    security(("session" = []), ("bearer" = [])))]
async fn check_agent(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    OptionalBody(request): OptionalBody<CheckRequest>,
) -> Result<Json<CheckView>, HubError> {
    Ok(Json(service::check(&hub, &actor, name, request).await?))
}

/// Sends the result of a run whose agent runs elsewhere, with the token of the run. Ends the run.
#[utoipa::path(post, path = "/api/runs/{id}/result", tag = "runs", params(("id" = i64, Path)), request_body = ResultRequest,
    responses((status = 200, body = RunView)), security(("bearer" = [])))]
async fn submit_result(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<RunId>,
    Body(request): Body<ResultRequest>,
) -> Result<Json<RunView>, HubError> {
    Ok(Json(remote::submit_result(&hub, &actor, id, request).await?))
}

/// Replaces the secret that signs calls to an agent that runs elsewhere, and returns the new one, once.
#[utoipa::path(post, path = "/api/agents/{name}/run-secret", tag = "runs", params(("name" = String, Path)),
    responses((status = 201, body = RunSecret)), security(("session" = [])))]
async fn new_run_secret(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<(StatusCode, Json<RunSecret>), HubError> {
    let secret = remote::new_secret(&hub, &actor, name).await?;
    Ok((StatusCode::CREATED, Json(RunSecret { secret })))
}

/// Lists the agent programs that the hub knows, whether they are installed on the server, and whether their keys are set.
#[utoipa::path(get, path = "/api/programs", tag = "runs", params(ProgramQuery),
    responses((status = 200, body = ProgramList)), security(("session" = [])))]
async fn list_programs(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<ProgramQuery>,
) -> Result<Json<ProgramList>, HubError> {
    Ok(Json(programs::list_programs(&hub, &actor, query).await?))
}
