use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde::Serialize;
use stoa_model::oauth::{
    AboutTokenRequest, AuthorizationServerMetadata, ClientInformation, ClientRegistration, ConsentDecision,
    CreateOauthClientRequest, CreatedOauthClient, GrantView, Introspection, OauthClientView, OauthErrorView,
    ProtectedResourceMetadata, TokenAnswer, TokenRequest,
};
use stoa_model::page::Page;
use stoa_model::{GrantId, Secret};
use utoipa_axum::routes;

use super::failure::{Failure, Refusal};
use super::parameters::Parameters;
use super::{about, authorize, grants, metadata, owned, registration, tokens};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::json::media_type;
use crate::paging::ListQuery;
use crate::surfaces::http::{Anonymous, ApiRouter, Body, NoBody, Path, Query, RawBody, Visitor};

const FORM: &str = "application/x-www-form-urlencoded";

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(authorization_server))
        .routes(routes!(protected_resource))
        .routes(routes!(protected_resource_of_mcp))
        .routes(routes!(authorize_page))
        .routes(routes!(decide))
        .routes(routes!(request_token))
        .routes(routes!(introspect_token))
        .routes(routes!(revoke_token))
        .routes(routes!(register_client))
        .routes(routes!(read_registration, delete_registration))
        .routes(routes!(list_oauth_clients, create_oauth_client))
        .routes(routes!(delete_oauth_client))
        .routes(routes!(list_grants))
        .routes(routes!(revoke_grant))
        .routes(routes!(list_all_oauth_clients))
}

/// For clients that do not look at the metadata.
pub fn alias_routes() -> Router<Hub> {
    Router::new()
        .route("/authorize", get(authorize_page))
        .route("/token", post(request_token))
        .route("/register", post(register_client))
}

/// Authorization server metadata (RFC 8414).
#[utoipa::path(get, path = "/.well-known/oauth-authorization-server", tag = "oauth",
    responses((status = 200, body = AuthorizationServerMetadata)))]
async fn authorization_server(Anonymous(actor): Anonymous) -> Response {
    cacheable(metadata::authorization_server(&actor.call.base_url))
}

/// Protected resource metadata of this hub (RFC 9728).
#[utoipa::path(get, path = "/.well-known/oauth-protected-resource", tag = "oauth",
    responses((status = 200, body = ProtectedResourceMetadata)))]
async fn protected_resource(Anonymous(actor): Anonymous) -> Response {
    cacheable(metadata::protected_resource(&actor.call.base_url, ""))
}

/// Protected resource metadata of the MCP endpoint (RFC 9728).
#[utoipa::path(get, path = "/.well-known/oauth-protected-resource/mcp", tag = "oauth",
    responses((status = 200, body = ProtectedResourceMetadata)))]
async fn protected_resource_of_mcp(Anonymous(actor): Anonymous) -> Response {
    let audience = metadata::audience(&actor.call.base_url);
    let path = audience.strip_prefix(&actor.call.base_url).unwrap_or_default();
    cacheable(metadata::protected_resource(&actor.call.base_url, path))
}

fn cacheable(document: impl Serialize) -> Response {
    let caching = (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    ([caching, (header::VARY, HeaderValue::from_static("Host"))], Json(document)).into_response()
}

/// Shows the consent page in the browser. A page, not an API.
#[utoipa::path(get, path = "/oauth/authorize", tag = "oauth",
    params(
        ("response_type" = Option<String>, Query, description = "`code`"),
        ("client_id" = Option<String>, Query),
        ("redirect_uri" = Option<String>, Query, description = "Optional if the client registered only one"),
        ("code_challenge" = Option<String>, Query, description = "43 characters of base64url"),
        ("code_challenge_method" = Option<String>, Query, description = "`S256`"),
        ("scope" = Option<String>, Query), ("state" = Option<String>, Query), ("resource" = Option<String>, Query)),
    responses((status = 200, description = "The question", content_type = "text/html", body = String),
        (status = 303, description = "To the login, or back to the client with `error`, `state` and `iss`"),
        (status = 400, description = "Unknown client or redirect", content_type = "text/html", body = String),
        (status = 403, description = "Request of another login", content_type = "text/html", body = String),
        (status = 429, description = "Too many requests", content_type = "text/html", body = String)))]
async fn authorize_page(
    State(hub): State<Hub>,
    Visitor(visitor): Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, HubError> {
    authorize::authorize(&hub, &visitor, &query.unwrap_or_default()).await
}

/// Receives the decision from the consent page.
#[utoipa::path(post, path = "/oauth/authorize/decision", tag = "oauth",
    request_body(content_type = "application/x-www-form-urlencoded", content = ConsentDecision),
    responses((status = 303, description = "Back to the client with `code` or `error`, `state` and `iss`; or to the login"),
        (status = 400, description = "The request has expired, or the form was changed", content_type = "text/html", body = String),
        (status = 403, description = "Another login's request, or not the person's agent", content_type = "text/html", body = String)),
    security(("session" = [])))]
async fn decide(
    State(hub): State<Hub>,
    Visitor(visitor): Visitor,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, HubError> {
    // What is no form has none of the fields, which the page says.
    let form = if media_type(&headers).as_deref() == Some(FORM) { body } else { Bytes::new() };
    authorize::decide(&hub, &visitor, &form).await
}

/// Issues tokens for a code, a refresh token, or client credentials.
#[utoipa::path(post, path = "/oauth/token", tag = "oauth",
    request_body(content_type = "application/x-www-form-urlencoded", content = TokenRequest),
    responses((status = 200, body = TokenAnswer), (status = 400, body = OauthErrorView, description = "Invalid request"),
        (status = 401, body = OauthErrorView, description = "Client authentication failed"), (status = 429, body = OauthErrorView, description = "Too many requests")), security((), ("client" = [])))]
async fn request_token(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Failure> {
    let answer = tokens::request_token(&hub, &actor.call, &headers, &form(&headers, &body)?).await?;
    Ok(unstored(answer))
}

/// Introspects a token (RFC 7662), for clients with a secret.
#[utoipa::path(post, path = "/oauth/introspect", tag = "oauth",
    request_body(content_type = "application/x-www-form-urlencoded", content = AboutTokenRequest),
    responses((status = 200, body = Introspection), (status = 400, body = OauthErrorView, description = "Invalid request"),
        (status = 401, body = OauthErrorView, description = "Client authentication failed")), security((), ("client" = [])))]
async fn introspect_token(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Failure> {
    let answer = about::introspect(&hub, &actor.call, &headers, &form(&headers, &body)?).await?;
    Ok(unstored(answer))
}

/// Revokes a token (RFC 7009). Revoking a refresh token revokes its whole family.
#[utoipa::path(post, path = "/oauth/revoke", tag = "oauth",
    request_body(content_type = "application/x-www-form-urlencoded", content = AboutTokenRequest),
    responses((status = 200, description = "The token is revoked or never existed"),
        (status = 400, body = OauthErrorView, description = "Invalid request"), (status = 401, body = OauthErrorView, description = "Client authentication failed")), security((), ("client" = [])))]
async fn revoke_token(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<StatusCode, Failure> {
    about::revoke(&hub, &actor.call, &headers, &form(&headers, &body)?).await?;
    Ok(StatusCode::OK)
}

/// Registers a client (RFC 7591). The response shows its secrets once.
#[utoipa::path(post, path = "/oauth/register", tag = "oauth", request_body = ClientRegistration,
    responses((status = 201, body = ClientInformation), (status = 400, body = OauthErrorView, description = "Invalid request"),
        (status = 429, body = OauthErrorView, description = "Too many requests")))]
async fn register_client(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    RawBody(body): RawBody,
) -> Result<Response, Failure> {
    let answer = registration::register(&hub, &actor.call, &body).await?;
    Ok((StatusCode::CREATED, unstored(answer)).into_response())
}

/// Returns a client's registration (RFC 7592). Needs its registration access token.
#[utoipa::path(get, path = "/oauth/register/{client_id}", tag = "oauth", params(("client_id" = String, Path)),
    responses((status = 200, body = ClientInformation), (status = 401, body = OauthErrorView, description = "Client authentication failed")), security(("registration" = [])))]
async fn read_registration(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    Path(client_id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    Ok(unstored(registration::read(&hub, &actor.call, client_id, bearer(&headers)).await?))
}

/// Deletes a registration (RFC 7592) and revokes all tokens of the client.
#[utoipa::path(delete, path = "/oauth/register/{client_id}", tag = "oauth", params(("client_id" = String, Path)),
    responses((status = 204), (status = 401, body = OauthErrorView, description = "Client authentication failed")), security(("registration" = [])))]
async fn delete_registration(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    Path(client_id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Failure> {
    registration::delete(&hub, &actor, client_id, bearer(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn bearer(headers: &HeaderMap) -> Option<Secret> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| Secret::new(token.trim()))
}

fn form(headers: &HeaderMap, body: &[u8]) -> Result<Parameters, Refusal> {
    if media_type(headers).as_deref() != Some(FORM) {
        return Err(Refusal::invalid_request(format!("The body must be a form: send Content-Type: {FORM}.")));
    }
    Parameters::parse(body).ok_or_else(|| Refusal::invalid_request("The form is not UTF-8, or contains NUL."))
}

/// An answer with secrets in it. Caches of the old kind know only `Pragma`.
fn unstored(answer: impl Serialize) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];
    (headers, Json(answer)).into_response()
}

/// Lists the caller's clients, newest first.
#[utoipa::path(get, path = "/api/oauth/clients", tag = "oauth", params(ListQuery),
    responses((status = 200, body = Page<OauthClientView>)), security(("session" = [])))]
async fn list_oauth_clients(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<OauthClientView>>, HubError> {
    Ok(Json(owned::list_own_clients(&hub, &actor, list).await?))
}

/// Creates a client that acts as one of the caller's agents. The response shows its secret once.
#[utoipa::path(post, path = "/api/oauth/clients", tag = "oauth", request_body = CreateOauthClientRequest,
    responses((status = 201, body = CreatedOauthClient)), security(("session" = [])))]
async fn create_oauth_client(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<CreateOauthClientRequest>,
) -> Result<(StatusCode, Json<CreatedOauthClient>), HubError> {
    Ok((StatusCode::CREATED, Json(owned::create_client(&hub, &actor, request).await?)))
}

/// Deletes a client and its tokens.
#[utoipa::path(delete, path = "/api/oauth/clients/{client_id}", tag = "oauth", params(("client_id" = String, Path)),
    responses((status = 204)), security(("session" = [])))]
async fn delete_oauth_client(
    State(hub): State<Hub>,
    actor: Actor,
    Path(client_id): Path<String>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    owned::delete_client(&hub, &actor, client_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the caller's grants, newest first.
#[utoipa::path(get, path = "/api/oauth/grants", tag = "oauth", params(ListQuery),
    responses((status = 200, body = Page<GrantView>)), security(("session" = [])))]
async fn list_grants(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<GrantView>>, HubError> {
    Ok(Json(grants::list_grants(&hub, &actor, None, list).await?))
}

/// Revokes a grant.
#[utoipa::path(delete, path = "/api/oauth/grants/{id}", tag = "oauth", params(("id" = GrantId, Path)),
    responses((status = 204)), security(("session" = [])))]
async fn revoke_grant(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<GrantId>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    grants::revoke_grant(&hub, &actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists all clients, newest first.
#[utoipa::path(get, path = "/api/admin/oauth-clients", tag = "admin", params(ListQuery),
    responses((status = 200, body = Page<OauthClientView>)), security(("session" = [])))]
async fn list_all_oauth_clients(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<OauthClientView>>, HubError> {
    Ok(Json(owned::list_all_clients(&hub, &actor, list).await?))
}
