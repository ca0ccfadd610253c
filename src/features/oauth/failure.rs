//! How the protocol says no: JSON with `error` and `error_description` (RFC 6749 §5.2).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use stoa_db::DbError;
use stoa_model::oauth::OauthErrorView;

use super::parameters::Repeated;
use crate::error::{ErrorKind, HubError};

/// Why a request was refused, in one of the words that clients know.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) error: &'static str,
    pub(super) description: String,
    challenge: Option<&'static str>,
    retry_after: Option<u64>,
}

impl Refusal {
    pub(super) fn new(error: &'static str, description: impl Into<String>) -> Self {
        let status = StatusCode::BAD_REQUEST;
        Self { status, error, description: description.into(), challenge: None, retry_after: None }
    }

    /// For what will be possible later.
    pub(super) fn unavailable(description: impl Into<String>, retry_after_seconds: u64) -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after: Some(retry_after_seconds),
            ..Self::new("temporarily_unavailable", description)
        }
    }

    pub(super) fn invalid_request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }

    pub(super) fn invalid_grant(description: impl Into<String>) -> Self {
        Self::new("invalid_grant", description)
    }

    /// `challenge` is what the caller used and may try again.
    pub(super) fn invalid_client(description: impl Into<String>, challenge: Option<&'static str>) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, challenge, ..Self::new("invalid_client", description) }
    }

    pub(super) fn invalid_token(description: impl Into<String>) -> Self {
        let challenge = Some(r#"Bearer realm="stoa", error="invalid_token""#);
        Self { status: StatusCode::UNAUTHORIZED, challenge, ..Self::new("invalid_token", description) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = OauthErrorView { error: self.error.to_owned(), error_description: self.description };
        let mut response = (self.status, Json(body)).into_response();
        if let Some(challenge) = self.challenge {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<Repeated> for Refusal {
    fn from(repeated: Repeated) -> Self {
        Self::invalid_request(repeated.description())
    }
}

/// A refusal, or a fault of the hub, which is told like every other one.
#[derive(Debug)]
pub(super) enum Failure {
    Refused(Box<Refusal>),
    Hub(HubError),
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Failure::Refused(refusal) => refusal.into_response(),
            Failure::Hub(error) => error.into_response(),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(Box::new(refusal))
    }
}

impl From<Repeated> for Failure {
    fn from(repeated: Repeated) -> Self {
        Refusal::from(repeated).into()
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        Failure::Hub(error.into())
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        if error.kind != ErrorKind::RateLimited {
            return Failure::Hub(error);
        }
        let refusal = Refusal::new("temporarily_unavailable", error.detail.clone());
        let retry_after = error.retry_after_seconds;
        Failure::Refused(Box::new(Refusal { status: StatusCode::TOO_MANY_REQUESTS, retry_after, ..refusal }))
    }
}
