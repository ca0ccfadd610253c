use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::AppendHeaders;
use stoa_model::page::Page;
use stoa_model::users::{
    ChangePasswordRequest, EndedSessions, InvitationView, LoginRequest, LoginView, RegisterRequest, SessionView,
    UpdateProfileRequest, UserView,
};
use stoa_model::{Secret, SessionId};
use utoipa_axum::routes;

use super::service::{self, NewLogin};
use super::{http_join, http_login, invitations};
use crate::access::{Actor, device};
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{Anonymous, ApiRouter, Body, Device, NoBody, Path, Query};

type WithCookies<T> = (AppendHeaders<Vec<(HeaderName, HeaderValue)>>, Json<T>);
/// The headers of an answer after which nobody is logged in.
pub type LoggedOut = AppendHeaders<[(HeaderName, HeaderValue); 2]>;

const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(log_in))
        .routes(routes!(log_out))
        .routes(routes!(register))
        .routes(routes!(change_password))
        .routes(routes!(update_profile))
        .routes(routes!(list_sessions, end_sessions))
        .routes(routes!(end_session))
        .routes(routes!(list_users))
        .routes(routes!(list_invitations))
        .routes(routes!(revoke_invitation))
        .route("/join/{invite}", axum::routing::get(http_join::show).post(http_join::submit))
        .route("/login", axum::routing::get(http_login::show).post(http_login::submit))
}

/// The cookie that carries a session, or, without a token, the one that takes it away.
fn session_cookie(hub: &Hub, token: Option<&Secret>) -> Result<HeaderValue, HubError> {
    cookie(hub.session_cookie_name(), token, hub.config().session_lifetime.as_secs())
}

fn cookie(name: &str, value: Option<&Secret>, lifetime_seconds: u64) -> Result<HeaderValue, HubError> {
    let secure = if name.starts_with("__Host-") { "; Secure" } else { "" };
    let (value, max_age) = value.map_or(("", 0), |value| (value.expose(), lifetime_seconds));
    let cookie = format!("{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}");
    let mut value = HeaderValue::try_from(cookie).map_err(HubError::internal)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The cookies of a new login: the session, and what the browser is known by at its next login.
pub(super) fn login_cookies(
    hub: &Hub,
    login: &NewLogin,
) -> Result<AppendHeaders<Vec<(HeaderName, HeaderValue)>>, HubError> {
    let mut cookies = vec![(header::SET_COOKIE, session_cookie(hub, Some(&login.token))?)];
    if let Some(device) = &login.device {
        let device = cookie(hub.device_cookie_name(), Some(device), device::LIFETIME_SECONDS)?;
        cookies.push((header::SET_COOKIE, device));
    }
    Ok(AppendHeaders(cookies))
}

/// Takes the session away from the browser, with drafts and everything else that the page has stored there. The device cookie
/// stays: it gives no access, and the next login of this browser is known by it.
pub fn logged_out(hub: &Hub) -> Result<LoggedOut, HubError> {
    let stored = HeaderValue::from_static(r#""cache", "storage""#);
    Ok(AppendHeaders([(header::SET_COOKIE, session_cookie(hub, None)?), (CLEAR_SITE_DATA, stored)]))
}

fn logged_in(hub: &Hub, login: NewLogin) -> Result<WithCookies<LoginView>, HubError> {
    Ok((login_cookies(hub, &login)?, Json(LoginView { user: login.user })))
}

/// Logs in and starts a session.
#[utoipa::path(post, path = "/auth/login", tag = "auth", request_body = LoginRequest,
    responses((status = 200, body = LoginView, description = "The session is in the cookie")))]
async fn log_in(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    Device(device): Device,
    Body(request): Body<LoginRequest>,
) -> Result<WithCookies<LoginView>, HubError> {
    let login = service::log_in(&hub, &actor, request, device).await?;
    logged_in(&hub, login)
}

/// Logs out and ends the current session.
#[utoipa::path(post, path = "/auth/logout", tag = "auth", responses((status = 204)), security(("session" = [])))]
async fn log_out(State(hub): State<Hub>, actor: Actor, _: NoBody) -> Result<(StatusCode, LoggedOut), HubError> {
    actor.require_session()?;
    service::log_out(&hub, &actor).await?;
    Ok((StatusCode::NO_CONTENT, logged_out(&hub)?))
}

/// Creates an account with an invitation and starts a session.
#[utoipa::path(post, path = "/auth/register", tag = "auth", request_body = RegisterRequest,
    responses((status = 201, body = LoginView, description = "The session is in the cookie")))]
async fn register(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    Body(request): Body<RegisterRequest>,
) -> Result<(StatusCode, WithCookies<LoginView>), HubError> {
    let login = invitations::register(&hub, &actor, request).await?;
    Ok((StatusCode::CREATED, logged_in(&hub, login)?))
}

/// Changes the password, ends all sessions and starts a new one.
#[utoipa::path(put, path = "/auth/password", tag = "auth", request_body = ChangePasswordRequest,
    responses((status = 200, body = LoginView, description = "The new session is in the cookie")),
    security(("session" = [])))]
async fn change_password(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<ChangePasswordRequest>,
) -> Result<WithCookies<LoginView>, HubError> {
    let login = service::change_password(&hub, &actor, request).await?;
    logged_in(&hub, login)
}

/// Changes the display name.
#[utoipa::path(put, path = "/auth/profile", tag = "auth", request_body = UpdateProfileRequest,
    responses((status = 200, body = LoginView)), security(("session" = [])))]
async fn update_profile(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<UpdateProfileRequest>,
) -> Result<Json<LoginView>, HubError> {
    let user = service::update_profile(&hub, &actor, request).await?;
    Ok(Json(LoginView { user }))
}

/// Lists the caller's sessions, newest first.
#[utoipa::path(get, path = "/auth/sessions", tag = "auth", params(ListQuery),
    responses((status = 200, body = Page<SessionView>)), security(("session" = [])))]
async fn list_sessions(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<SessionView>>, HubError> {
    Ok(Json(service::list_sessions(&hub, &actor, list).await?))
}

/// Ends all sessions of the caller, including this one.
#[utoipa::path(delete, path = "/auth/sessions", tag = "auth", responses((status = 200, body = EndedSessions)),
    security(("session" = [])))]
async fn end_sessions(
    State(hub): State<Hub>,
    actor: Actor,
    _: NoBody,
) -> Result<(LoggedOut, Json<EndedSessions>), HubError> {
    let ended = service::end_sessions(&hub, &actor).await?;
    Ok((logged_out(&hub)?, Json(ended)))
}

/// Ends one session of the caller.
#[utoipa::path(delete, path = "/auth/sessions/{id}", tag = "auth", params(("id" = SessionId, Path)),
    responses((status = 204)), security(("session" = [])))]
async fn end_session(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<SessionId>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    service::end_session(&hub, &actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists all accounts.
#[utoipa::path(get, path = "/api/admin/users", tag = "admin", params(ListQuery),
    responses((status = 200, body = Page<UserView>)), security(("session" = [])))]
async fn list_users(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<UserView>>, HubError> {
    Ok(Json(service::list_users(&hub, &actor, list).await?))
}

/// All invitations, newest first. `stoa admin users invite` creates them.
#[utoipa::path(get, path = "/api/admin/invitations", tag = "admin", params(ListQuery),
    responses((status = 200, body = Page<InvitationView>)), security(("session" = [])))]
async fn list_invitations(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<InvitationView>>, HubError> {
    Ok(Json(invitations::list(&hub, &actor, list).await?))
}

/// Revokes an open invitation.
#[utoipa::path(delete, path = "/api/admin/invitations/{id}", tag = "admin", params(("id" = i64, Path)),
    responses((status = 204)), security(("session" = [])))]
async fn revoke_invitation(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<i64>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    invitations::revoke(&hub, &actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
