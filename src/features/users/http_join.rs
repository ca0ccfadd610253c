//! The page where a person creates their account with an invitation. Rendered here, without scripts, like the login.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use stoa_model::Secret;
use stoa_model::users::{InvitationView, RegisterRequest};

use super::http::{logged_out, login_cookies};
use super::{invitations, service};
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::surfaces::http::{Form, FormTarget, Path, Visitor, html_page};

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

#[derive(Template)]
#[template(path = "join.html")]
struct JoinPage<'a> {
    invitation: Option<&'a InvitationView>,
    expires: String,
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

    fn of(error: &HubError) -> Self {
        let mut faults = Self::default();
        if error.code == "name_taken" {
            faults.username = Some("Username already taken. Choose another username.".to_owned());
            return faults;
        }
        for fault in &error.errors {
            let text = Some(match fault.field.as_str() {
                "username" => "Use 3 to 64 letters, digits or _.".to_owned(),
                "password" => "Use at least 8 characters, and at most 72 bytes.".to_owned(),
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
    render(status, invitation.as_ref(), &invite, name, Typed::default(), Faults::default())
}

pub(super) async fn submit(
    State(hub): State<Hub>,
    Visitor(visitor): Visitor,
    Path(invite): Path<String>,
    Form(form): Form<JoinForm>,
) -> Result<Response, HubError> {
    let typed = Typed { username: form.username.trim(), display_name: form.display_name.trim() };
    let invitation = invitations::find_open(&hub, &invite).await?;
    if invitation.is_some() && visitor.is_person() {
        if form.log_out.is_none() {
            let name = Some(visitor.principal.handle.as_str());
            return render(StatusCode::CONFLICT, invitation.as_ref(), &invite, name, typed, Faults::default());
        }
        service::log_out(&hub, &visitor).await?;
        return private((logged_out(&hub)?, Redirect::to(&format!("/join/{invite}"))).into_response());
    }
    if invitation.is_none() {
        return render(StatusCode::FORBIDDEN, None, &invite, None, typed, Faults::default());
    }
    let request = RegisterRequest {
        invite: Some(Secret::new(invite.clone())),
        username: typed.username.to_owned(),
        password: form.password.unwrap_or_else(|| Secret::new(String::new())),
        display_name: Some(typed.display_name.to_owned()).filter(|name| !name.is_empty()),
    };
    let error = match invitations::register(&hub, &visitor, request).await {
        Ok(login) => return private((login_cookies(&hub, &login)?, Redirect::to("/")).into_response()),
        Err(error) => error,
    };
    let status = StatusCode::from_u16(error.kind.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
    match error.kind {
        // Somebody else may have used it a moment ago.
        ErrorKind::Forbidden => render(status, None, &invite, None, typed, Faults::default()),
        ErrorKind::Internal => Err(error),
        _ => {
            let mut response = render(status, invitation.as_ref(), &invite, None, typed, Faults::of(&error))?;
            if let Some(seconds) = error.retry_after_seconds {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            Ok(response)
        }
    }
}

fn render(
    status: StatusCode,
    invitation: Option<&InvitationView>,
    invite: &str,
    visitor: Option<&str>,
    typed: Typed<'_>,
    faults: Faults,
) -> Result<Response, HubError> {
    let expires = invitation.map(|invitation| day_of(&invitation.expires_at.to_string())).unwrap_or_default();
    let page = JoinPage { invitation, expires, invite, visitor, typed, faults };
    private(html_page(status, &page, FormTarget::Own)?)
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
