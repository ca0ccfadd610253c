use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::Value;
use stoa_model::machines::{
    EventSchema, Evidence, IngestAnswer, MachinePage, MachineView, RuntimeStatusRequest, RuntimeStatusView,
    SourceConfigList, SourceConfigRequest, SourceConfigView,
};
use stoa_model::page::Page;
use utoipa_axum::routes;

use super::configs::Expected;
use super::evidence::EvidenceQuery;
use super::http_signed::Signed;
use super::ingest::Events;
use super::{configs, evidence, ingest, overview, status};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::json::{media_type, parse_json, parse_json_value};
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Path, Query, WithEtag, expected_revision, with_etag};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(list_source_configs))
        .routes(routes!(get_source_config, put_source_config, delete_source_config))
        .routes(routes!(put_runtime_status, delete_runtime_status))
        .routes(routes!(ingest_events))
        .routes(routes!(list_evidence))
        .routes(routes!(list_principals))
        .routes(routes!(get_principal))
        .routes(routes!(registry_schema))
}

/// Lists the caller's source configs by name.
#[utoipa::path(get, path = "/machine/source-configs", tag = "machines",
    responses((status = 200, body = SourceConfigList)), security(("signature" = [])))]
async fn list_source_configs(State(hub): State<Hub>, signed: Signed<()>) -> Result<Json<SourceConfigList>, HubError> {
    Ok(Json(configs::list_configs(&hub, &signed.actor).await?))
}

/// Returns a source config, with its version as ETag.
#[utoipa::path(get, path = "/machine/source-configs/{source}", tag = "machines", params(("source" = String, Path)),
    responses((status = 200, body = SourceConfigView)), security(("signature" = [])))]
async fn get_source_config(
    State(hub): State<Hub>,
    signed: Signed<Path<String>>,
) -> Result<WithEtag<SourceConfigView>, HubError> {
    let Path(source) = signed.parameters;
    let config = configs::get_config(&hub, &signed.actor, source).await?;
    with_etag(config.version, config)
}

/// Defines how the caller's events become messages; with `If-Match`, only if the config has not changed since it was read.
#[utoipa::path(put, path = "/machine/source-configs/{source}", tag = "machines", request_body = SourceConfigRequest,
    params(("source" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The ETag of the config when it was read"),
        ("If-None-Match" = Option<String>, Header, description = "`*` to only create a new one")),
    responses((status = 200, body = SourceConfigView), (status = 201, body = SourceConfigView)),
    security(("signature" = [])))]
async fn put_source_config(
    State(hub): State<Hub>,
    signed: Signed<Path<String>>,
) -> Result<(StatusCode, WithEtag<SourceConfigView>), HubError> {
    signed.require_json()?;
    let request = parse_json(&signed.body)?;
    let expected = expected_config(&signed.headers)?;
    let Path(source) = signed.parameters;
    let (config, is_new) = configs::put_config(&hub, &signed.actor, source, expected, request).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, with_etag(config.version, config)?))
}

/// Deletes a source config; with `If-Match`, only if it has not changed since it was read.
#[utoipa::path(delete, path = "/machine/source-configs/{source}", tag = "machines",
    params(("source" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The ETag of the config when it was read")),
    responses((status = 204)), security(("signature" = [])))]
async fn delete_source_config(State(hub): State<Hub>, signed: Signed<Path<String>>) -> Result<StatusCode, HubError> {
    let expected = expected_config(&signed.headers)?;
    let Path(source) = signed.parameters;
    configs::delete_config(&hub, &signed.actor, source, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn expected_config(headers: &HeaderMap) -> Result<Expected, HubError> {
    if let Some(value) = headers.get(header::IF_NONE_MATCH) {
        return match value.as_bytes() {
            b"*" => Ok(Expected::Nothing),
            _ => Err(HubError::invalid_field("If-None-Match", "must be * where it is given")),
        };
    }
    Ok(match expected_revision(headers)? {
        Some(version) => Expected::Version(version),
        None if headers.contains_key(header::IF_MATCH) => Expected::Something,
        None => Expected::Anything,
    })
}

/// Reports the status of a component. A component without a report for 90 seconds is stale.
#[utoipa::path(put, path = "/machine/runtime-status/{component}", tag = "machines", request_body = RuntimeStatusRequest,
    params(("component" = String, Path)), responses((status = 200, body = RuntimeStatusView)),
    security(("signature" = [])))]
async fn put_runtime_status(
    State(hub): State<Hub>,
    signed: Signed<Path<String>>,
) -> Result<Json<RuntimeStatusView>, HubError> {
    signed.require_json()?;
    let report = parse_json(&signed.body)?;
    let Path(component) = signed.parameters;
    Ok(Json(status::put_status(&hub, &signed.actor, component, report).await?))
}

/// Deletes a component.
#[utoipa::path(delete, path = "/machine/runtime-status/{component}", tag = "machines",
    params(("component" = String, Path)), responses((status = 204)), security(("signature" = [])))]
async fn delete_runtime_status(State(hub): State<Hub>, signed: Signed<Path<String>>) -> Result<StatusCode, HubError> {
    let Path(component) = signed.parameters;
    status::delete_status(&hub, &signed.actor, component).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Receives one CloudEvent (`application/cloudevents+json`) or up to 500 (`application/cloudevents-batch+json`). An event with a known id is a duplicate and is ignored.
#[utoipa::path(post, path = "/machine/events", tag = "machines",
    request_body(content((EventSchema = "application/cloudevents+json"), (Vec<EventSchema> = "application/cloudevents-batch+json"))),
    responses((status = 202, body = IngestAnswer)), security(("signature" = [])))]
async fn ingest_events(
    State(hub): State<Hub>,
    signed: Signed<()>,
) -> Result<(StatusCode, Json<IngestAnswer>), HubError> {
    let events = read_events(&signed.headers, &signed.body)?;
    Ok((StatusCode::ACCEPTED, Json(ingest::ingest(&hub, &signed.actor, events).await?)))
}

fn read_events(headers: &HeaderMap, body: &[u8]) -> Result<Events, HubError> {
    const BINARY_MODE: &str = "Binary mode (ce-… headers) is not supported.";
    const ONE: &str = "application/cloudevents+json";
    const BATCH: &str = "application/cloudevents-batch+json";
    let kind = media_type(headers).unwrap_or_default();
    if ![ONE, BATCH, "application/json"].contains(&kind.as_str()) {
        let detail = format!("The body must be {ONE} or {BATCH}.");
        return Err(HubError::new(ErrorKind::UnsupportedMediaType, "unsupported_media_type", detail).hint(BINARY_MODE));
    }
    if kind == "application/json" && headers.keys().any(|name| name.as_str().starts_with("ce-")) {
        let detail = "Send the whole event in the body.";
        return Err(HubError::new(ErrorKind::UnsupportedMediaType, "unsupported_media_type", detail).hint(BINARY_MODE));
    }
    match parse_json_value(body)? {
        Value::Array(_) if kind == ONE => {
            Err(HubError::invalid_field("", "must be one event, as its content type says")
                .hint(format!("Send a batch as {BATCH}.")))
        }
        Value::Array(events) if kind != ONE => Ok(Events::Batch(events)),
        event if kind != BATCH => Ok(Events::One(event)),
        _ => Err(HubError::invalid_field("", "must be a list of events, as its content type says")
            .hint(format!("Send a single event as {ONE}."))),
    }
}

/// Lists the results of the caller's events: messages, replies, reactions, runs, deliveries and traces, oldest first.
#[utoipa::path(get, path = "/machine/evidence", tag = "machines", params(EvidenceQuery),
    responses((status = 200, body = Page<Evidence>)), security(("signature" = [])))]
async fn list_evidence(
    State(hub): State<Hub>,
    signed: Signed<Query<EvidenceQuery>>,
) -> Result<Json<Page<Evidence>>, HubError> {
    let Query(query) = signed.parameters;
    Ok(Json(evidence::list_evidence(&hub, &signed.actor, query).await?))
}

/// Lists machine principals with their keys, last use, rejected requests and component status.
#[utoipa::path(get, path = "/api/admin/principals", tag = "admin", params(ListQuery),
    responses((status = 200, body = MachinePage)), security(("session" = [])))]
async fn list_principals(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<MachinePage>, HubError> {
    Ok(Json(overview::list_principals(&hub, &actor, list).await?))
}

/// Returns a machine principal.
#[utoipa::path(get, path = "/api/admin/principals/{principal_id}", tag = "admin",
    params(("principal_id" = String, Path)), responses((status = 200, body = MachineView)), security(("session" = [])))]
async fn get_principal(
    State(hub): State<Hub>,
    actor: Actor,
    Path(principal_id): Path<String>,
) -> Result<Json<MachineView>, HubError> {
    Ok(Json(overview::get_principal(&hub, &actor, principal_id).await?))
}

/// Returns the JSON Schema of registry documents.
#[utoipa::path(get, path = "/.well-known/svc-machine-principal-registry/v1/schema.json", tag = "machines",
    responses((status = 200, body = Value, content_type = "application/schema+json")))]
async fn registry_schema() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "application/schema+json"), (header::CACHE_CONTROL, "public, max-age=86400")];
    (headers, stoa_registry::SCHEMA)
}
