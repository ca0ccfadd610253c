use axum::Json;
use axum::extract::State;
use stoa_model::automation::{AutomationView, ResumeRequest};
use utoipa_axum::routes;

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::surfaces::http::{ApiRouter, NoBody, OptionalBody};

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(get_automation)).routes(routes!(stop_automation)).routes(routes!(resume_automation))
}

/// Lists the caller's automation and its pending work.
#[utoipa::path(get, path = "/api/automation", tag = "automation", responses((status = 200, body = AutomationView)),
    security(("session" = [])))]
async fn get_automation(State(hub): State<Hub>, actor: Actor) -> Result<Json<AutomationView>, HubError> {
    Ok(Json(service::get_automation(&hub, &actor).await?))
}

/// Stops the caller's automation. Active runs end within 15 seconds, and nothing starts until it is resumed.
#[utoipa::path(post, path = "/api/automation/stop", tag = "automation",
    responses((status = 200, body = AutomationView)), security(("session" = [])))]
async fn stop_automation(State(hub): State<Hub>, actor: Actor, _: NoBody) -> Result<Json<AutomationView>, HubError> {
    Ok(Json(service::stop(&hub, &actor).await?))
}

/// Resumes the caller's automation. Pending work is run or dropped.
#[utoipa::path(post, path = "/api/automation/resume", tag = "automation", request_body = Option<ResumeRequest>,
    responses((status = 200, body = AutomationView)), security(("session" = [])))]
async fn resume_automation(
    State(hub): State<Hub>,
    actor: Actor,
    OptionalBody(request): OptionalBody<ResumeRequest>,
) -> Result<Json<AutomationView>, HubError> {
    Ok(Json(service::resume(&hub, &actor, request).await?))
}
