//! The page where a person creates their account with an invitation. Rendered here, without scripts, like the login.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use stoa_model::Secret;
use stoa_model::users::{MIN_PASSWORD_BYTES, RegisterRequest};

use super::http::{logged_out, login_cookies};
use super::invitations::OpenInvitation;
use super::{invitations, service};
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::surfaces::http::{Form, FormTarget, Path, Visitor, html_page};

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

#[derive(Template)]
#[template(path = "join.html")]
struct JoinPage<'a> {
    invitation: Option<&'a OpenInvitation>,
    /// The first letter of the inviter's name, in the place of a picture.
    initial: String,
    expires: String,
    /// Where the reader is, so that they know whose password they choose.
    host: &'a str,
    invite: &'a str,
    /// Who is logged in already.
    visitor: Option<&'a str>,
    typed: Typed<'a>,
    faults: Faults,
}

/// What the person typed and gets back. The password is not among it.
#[derive(Default, Clone, Copy)]
struct Typed<'a> {
    username: &'a str,
    display_name: &'a str,
}

/// What is wrong with each field, and with all of it.
#[derive(Default)]
struct Faults {
    username: Option<String>,
    display_name: Option<String>,
    password: Option<String>,
    other: Option<String>,
}

impl Faults {
    fn is_any(&self) -> bool {
        [&self.username, &self.display_name, &self.password, &self.other].into_iter().any(Option::is_some)
    }

    fn of(error: &HubError, username: &str, password_bytes: usize) -> Self {
        let mut faults = Self::default();
        if error.code == "name_taken" {
            faults.username = Some("Username already taken. Choose another username.".to_owned());
            return faults;
        }
        for fault in &error.errors {
            let text = Some(match fault.field.as_str() {
                "username" => username_fault(username, &fault.message),
                "password" if password_bytes == 0 => "Choose a password.".to_owned(),
                "password" if password_bytes < MIN_PASSWORD_BYTES => "This password is too short.".to_owned(),
                "password" => format!("This password {}.", fault.message),
                _ => format!("The name {}.", fault.message),
            });
            match fault.field.as_str() {
                "username" => faults.username = text,
                "password" => faults.password = text,
                "display_name" => faults.display_name = text,
                _ => faults.other = text,
            }
        }
        if !faults.is_any() {
            faults.other = Some(error.detail.clone());
        }
        faults
    }
}

/// The hint below the field has the rule; this says what the name lacks.
fn username_fault(username: &str, message: &str) -> String {
    if username.is_empty() {
        "Choose a username.".to_owned()
    } else if username.contains(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_') {
        "Use only letters from a to z, digits and _.".to_owned()
    } else {
        format!("This username {message}.")
    }
}

#[derive(Deserialize)]
pub(super) struct JoinForm {
    #[serde(default)]
    username: String,
    #[serde(default)]
    display_name: String,
    #[serde(default)]
    password: Option<Secret>,
    /// Ends the session of a visitor who is logged in.
    #[serde(default)]
    log_out: Option<String>,
}

/// Shows the form. It uses nothing up, however often it is asked for: programs that preview links do.
pub(super) async fn show(
    State(hub): State<Hub>,
    Visitor(visitor): Visitor,
    Path(invite): Path<String>,
) -> Result<Response, HubError> {
    let invitation = invitations::find_open(&hub, &invite).await?;
    let status = if invitation.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let name = visitor.is_person().then_some(visitor.principal.handle.as_str());
    render(&hub, status, invitation.as_ref(), &invite, name, Typed::default(), Faults::default())
}

pub(super) async fn submit(
    State(hub): State<Hub>,
    Visitor(visitor): Visitor,
    Path(invite): Path<String>,
    Form(form): Form<JoinForm>,
) -> Result<Response, HubError> {
    let typed = Typed { username: without_sign(form.username.trim()), display_name: form.display_name.trim() };
    let invitation = invitations::find_open(&hub, &invite).await?;
    if invitation.is_some() && visitor.is_person() {
        if form.log_out.is_none() {
            let name = Some(visitor.principal.handle.as_str());
            return render(&hub, StatusCode::CONFLICT, invitation.as_ref(), &invite, name, typed, Faults::default());
        }
        service::log_out(&hub, &visitor).await?;
        return private((logged_out(&hub)?, Redirect::to(&format!("/join/{invite}"))).into_response());
    }
    if invitation.is_none() {
        return render(&hub, StatusCode::FORBIDDEN, None, &invite, None, typed, Faults::default());
    }
    let password = form.password.unwrap_or_else(|| Secret::new(String::new()));
    let password_bytes = password.expose().len();
    let request = RegisterRequest {
        invite: Some(Secret::new(invite.clone())),
        username: typed.username.to_owned(),
        password,
        display_name: Some(typed.display_name.to_owned()).filter(|name| !name.is_empty()),
    };
    let error = match invitations::register(&hub, &visitor, request).await {
        Ok(login) => return private((login_cookies(&hub, &login)?, Redirect::to("/")).into_response()),
        Err(error) => error,
    };
    let status = StatusCode::from_u16(error.kind.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
    match error.kind {
        // Someone else may have used it a moment ago.
        ErrorKind::Forbidden => render(&hub, status, None, &invite, None, typed, Faults::default()),
        ErrorKind::Internal => Err(error),
        _ => {
            let mut response = render(
                &hub,
                status,
                invitation.as_ref(),
                &invite,
                None,
                typed,
                Faults::of(&error, typed.username, password_bytes),
            )?;
            if let Some(seconds) = error.retry_after_seconds {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            Ok(response)
        }
    }
}

fn render(
    hub: &Hub,
    status: StatusCode,
    invitation: Option<&OpenInvitation>,
    invite: &str,
    visitor: Option<&str>,
    typed: Typed<'_>,
    faults: Faults,
) -> Result<Response, HubError> {
    let expires = invitation.map(|invitation| day_of(&invitation.expires_at.to_string())).unwrap_or_default();
    let inviter = invitation.and_then(|invitation| invitation.inviter.as_deref()).unwrap_or_default();
    let initial = inviter.chars().next().into_iter().flat_map(char::to_uppercase).collect();
    let host = hub.base_url().split_once("://").map_or(hub.base_url(), |(_, host)| host);
    let page = JoinPage { invitation, initial, expires, host, invite, visitor, typed, faults };
    private(html_page(status, &page, FormTarget::Own)?)
}

/// The form shows `@` before the name, so some people type it.
fn without_sign(username: &str) -> &str {
    username.strip_prefix('@').unwrap_or(username)
}

/// The day of a time, as people write it: `24 November 2026`.
fn day_of(time: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let mut parts = time.get(..10).unwrap_or_default().split('-');
    let (year, month, day) = (parts.next().unwrap_or_default(), parts.next(), parts.next().unwrap_or_default());
    let month = month.and_then(|month| month.parse::<usize>().ok()).and_then(|month| MONTHS.get(month.wrapping_sub(1)));
    format!("{} {} {year}", day.trim_start_matches('0'), month.unwrap_or(&""))
}

/// The address is a secret: no other page learns it, and nothing that searches the web keeps it.
fn private(mut response: Response) -> Result<Response, HubError> {
    let headers = response.headers_mut();
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(ROBOTS, HeaderValue::from_static("noindex"));
    Ok(response)
}
