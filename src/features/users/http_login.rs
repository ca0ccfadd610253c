//! The login form: rendered here, no script, so that it works before anything else does.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use stoa_model::Secret;
use stoa_model::users::LoginRequest;

use super::http::login_cookies;
use super::service;
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::surfaces::http::{Anonymous, Device, Form, FormTarget, Query, html_page};

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    message: Option<&'a str>,
    username: &'a str,
    next: &'a str,
    /// An app has sent the person here, to ask for access.
    is_for_app: bool,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct LoginPageQuery {
    #[serde(default)]
    next: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct LoginForm {
    username: String,
    password: Secret,
    #[serde(default)]
    next: String,
}

pub(super) async fn show(Query(query): Query<LoginPageQuery>) -> Result<Response, HubError> {
    render(StatusCode::OK, None, "", local_path(&query.next))
}

pub(super) async fn submit(
    State(hub): State<Hub>,
    Anonymous(actor): Anonymous,
    Device(device): Device,
    Form(form): Form<LoginForm>,
) -> Result<Response, HubError> {
    let next = local_path(&form.next);
    let request = LoginRequest { username: form.username.clone(), password: form.password };
    let shown = [ErrorKind::Unauthenticated, ErrorKind::RateLimited, ErrorKind::Unavailable];
    match service::log_in(&hub, &actor, request, device).await {
        Ok(login) => Ok((login_cookies(&hub, &login)?, Redirect::to(next)).into_response()),
        Err(error) if shown.contains(&error.kind) => {
            let status = StatusCode::from_u16(error.kind.status()).unwrap_or(StatusCode::UNAUTHORIZED);
            let mut response = render(status, Some(&error.detail), &form.username, next)?;
            if let Some(seconds) = error.retry_after_seconds {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            Ok(response)
        }
        Err(error) => Err(error),
    }
}

fn render(status: StatusCode, message: Option<&str>, username: &str, next: &str) -> Result<Response, HubError> {
    let is_for_app = next.split('?').next() == Some("/oauth/authorize");
    html_page(status, &LoginPage { message, username, next, is_for_app }, FormTarget::Own)
}

/// Where to go after the login, if it is a path of this hub. Anything else could lead a person who
/// has just typed their password to somebody else's page.
fn local_path(next: &str) -> &str {
    let is_local = next.starts_with('/')
        && !next.starts_with("//")
        && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_local { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::local_path;

    #[test]
    fn only_own_paths_are_followed() {
        assert_eq!(local_path("/oauth/authorize?x=1"), "/oauth/authorize?x=1");
        for next in ["", "//evil.example", "/\\evil.example", "https://evil.example", "javascript:x", "/a\r\nb", "evil"]
        {
            assert_eq!(local_path(next), "/", "{next:?}");
        }
    }
}
