//! Requests that machine principals sign. They are checked before anything else is read from them.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use super::gate::{self, Opened};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::surfaces::http::{MAX_BODY_BYTES, admit_write, call_of, note_owner, read_whole_body, require_json};

/// A request that was signed, with its body as it came. `P` is what else is taken from it, once it is known whose it is.
pub struct Signed<P> {
    pub actor: Actor,
    pub parameters: P,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl<P> Signed<P> {
    pub fn require_json(&self) -> Result<(), HubError> {
        require_json(&self.headers)
    }
}

impl<P> FromRequest<Hub> for Signed<P>
where
    P: FromRequestParts<Hub> + Send,
    P::Rejection: Into<SignedRefusal>,
{
    type Rejection = SignedRefusal;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, SignedRefusal> {
        let (mut parts, body) = request.into_parts();
        let gate = gate::open(hub)?;
        let has_body = matches!(parts.method, Method::POST | Method::PUT | Method::PATCH);
        refuse_encoded(&parts.headers)?;
        let refuse = |error: HubError| SignedRefusal::with_challenge(error, &gate, has_body);
        let call = call_of(&parts);
        let admission = gate.check_head(&parts, &call.base_url).map_err(refuse)?;
        let body = read_whole_body(hub, &parts, body, MAX_BODY_BYTES).await?;
        let principal = std::sync::Arc::new(gate.admit(admission, &parts, &body).await.map_err(refuse)?);
        note_owner(&parts, &principal);
        if parts.method.is_safe() {
            hub.admit_read(principal.human)?;
        } else {
            admit_write(hub, &principal, &parts)?;
        }
        let parameters = P::from_request_parts(&mut parts, hub).await.map_err(Into::into)?;
        Ok(Self { actor: Actor::new(principal, call), parameters, headers: parts.headers, body })
    }
}

/// What is signed is what was sent, and nothing is unpacked here.
fn refuse_encoded(headers: &HeaderMap) -> Result<(), HubError> {
    if headers.get(header::CONTENT_ENCODING).is_none_or(|coding| coding == "identity") {
        return Ok(());
    }
    let detail = "Content-Encoding is not supported.";
    Err(HubError::new(ErrorKind::UnsupportedMediaType, "unsupported_media_type", detail)
        .hint("Send the body uncompressed."))
}

/// Why a signed request is not served, with headers that say which signature would be.
pub struct SignedRefusal {
    error: HubError,
    challenge: Option<[(&'static str, String); 2]>,
}

impl SignedRefusal {
    fn with_challenge(error: HubError, gate: &Opened, has_body: bool) -> Self {
        let challenge = (error.kind == ErrorKind::Unauthenticated).then(|| gate.challenge(has_body));
        Self { error, challenge }
    }
}

impl From<HubError> for SignedRefusal {
    fn from(error: HubError) -> Self {
        Self { error, challenge: None }
    }
}

impl From<std::convert::Infallible> for SignedRefusal {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl IntoResponse for SignedRefusal {
    fn into_response(self) -> Response {
        let mut response = self.error.into_response();
        for (name, value) in self.challenge.into_iter().flatten() {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        response
    }
}
