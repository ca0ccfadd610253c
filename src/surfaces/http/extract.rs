//! Reading requests. What is wrong with one is said here, in one way for all routes.

use std::net::IpAddr;
use std::sync::Arc;

use axum::RequestPartsExt;
use axum::body::Body as HttpBody;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Uri, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use stoa_model::Secret;

use super::arriving::{Reading, Whole};
use super::deadline;
use super::envelope::ResponseNotes;
use crate::access::budget::Payer;
use crate::access::identity::Use;
use crate::access::{Actor, Call, Principal};
use crate::error::{ErrorKind, HubError};
use crate::hub::{Hub, guards};
use crate::json::{content_fault, is_json_type, media_type, parse_json};
use crate::surfaces::auth;

pub(crate) const MAX_BODY_BYTES: usize = 1024 * 1024;
/// For callers who have not proved who they are: nobody needs more to log in.
const MAX_ACCOUNT_BODY_BYTES: usize = 64 * 1024;
/// Where they come in. The last three are other names of routes under `/oauth`.
const ACCOUNT_PATHS: [&str; 7] = ["/auth", "/login", "/join", "/oauth", "/register", "/token", "/authorize"];

/// Questions that do not wait for other reads of their owner: a search has a line of its own, and so has what waits for messages.
const SEARCH: &str = "/api/messages/search";
const INBOX: &str = "/api/inbox";

/// A JSON body.
pub struct Body<T>(pub T);

/// For calls that say everything in their path: nothing, or an empty object. A field that somebody put
/// there would be ignored in silence.
pub struct NoBody;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct EmptyObject {}

/// A JSON body whose fields are all optional, so that nothing at all will do for it.
pub struct OptionalBody<T>(pub T);

/// A form's body.
pub struct Form<T>(pub T);

/// The query. Parameters that a route does not know are ignored.
pub struct Query<T>(pub T);

/// The variable parts of the path.
pub struct Path<T>(pub T);

/// Somebody at a page, who is logged in or is nobody yet. A session that has ended is as good as none.
pub struct Visitor(pub Actor);

/// A caller who asks for one command and nothing else. The command looks at the credential itself, so one that was good a moment ago
/// will do until then.
pub struct Commander {
    actor: Actor,
    headers: HeaderMap,
}

/// The whole body of a request, whatever it is.
pub struct RawBody(pub Bytes);

/// A page sends the name of its user in this header.
const USER: HeaderName = HeaderName::from_static("stoa-user");

/// A caller who need not prove who they are.
pub struct Anonymous(pub Actor);

/// The device cookie of a browser, as it was sent.
pub struct Device(pub Option<Secret>);

impl FromRequestParts<Hub> for Actor {
    type Rejection = HubError;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, HubError> {
        let principal = principal_of(&parts.headers, hub, call(parts).client_ip, Use::ReliedOn).await?;
        note_owner(parts, &principal);
        hub.limits().take_run_call(&principal, hub.clock().now_ms())?;
        if parts.method.is_safe() {
            admit_read(hub, &principal, parts).await?;
        } else {
            admit_write(hub, &principal, parts)?;
        }
        Ok(Actor::new(principal, call(parts)))
    }
}

/// Refuses a request without a credential that is good here.
pub(super) async fn require_credential(hub: &Hub, parts: &Parts) -> Result<(), HubError> {
    let principal = principal_of(&parts.headers, hub, call(parts).client_ip, Use::LookedAtAgain).await?;
    note_owner(parts, &principal);
    Ok(())
}

/// Whose credential a request carries.
async fn principal_of(
    headers: &HeaderMap,
    hub: &Hub,
    client: Option<IpAddr>,
    purpose: Use,
) -> Result<Arc<Principal>, HubError> {
    if let Some(credential) = bearer(headers)? {
        let principal = auth::authenticate_bearer(hub, credential, purpose).await?;
        auth::require_own_machine(hub, &principal, client)?;
        return Ok(principal);
    }
    match cookie(headers, hub.session_cookie_name()) {
        Some(token) => {
            let principal = auth::authenticate_session(hub, token, purpose).await?;
            require_same_user(headers, &principal)?;
            Ok(principal)
        }
        None => Err(HubError::unauthenticated("unauthenticated", "Requires a session or an API key.")
            .hint("Log in with POST /auth/login, or send `Authorization: Bearer <key>`.")),
    }
}

/// A browser has one session for all its tabs. A page that names its user does not act as the next one, who logged in elsewhere.
fn require_same_user(headers: &HeaderMap, principal: &Principal) -> Result<(), HubError> {
    match headers.get(USER) {
        Some(user) if user.as_bytes() != principal.handle.as_bytes() => {
            let said = format!("This browser is now logged in as @{}.", principal.handle);
            Err(HubError::conflict("other_user", said).hint("Reload the page."))
        }
        _ => Ok(()),
    }
}

impl FromRequestParts<Hub> for Commander {
    type Rejection = HubError;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, HubError> {
        let call = call(parts);
        // What was answered before is answered again without running the command.
        let purpose = if call.idempotency.is_some() { Use::ReliedOn } else { Use::LookedAtAgain };
        let principal = principal_of(&parts.headers, hub, call.client_ip, purpose).await?;
        note_owner(parts, &principal);
        hub.limits().take_run_call(&principal, hub.clock().now_ms())?;
        admit_write(hub, &principal, parts)?;
        Ok(Self { actor: Actor::new(principal, call), headers: parts.headers.clone() })
    }
}

impl Commander {
    /// Runs a command of the caller. If the credential has changed since the hub last looked it up, the hub looks it up again.
    pub async fn command<T, F>(self, hub: &Hub, command: impl Fn(Actor) -> F) -> Result<T, HubError>
    where
        F: Future<Output = Result<T, HubError>>,
    {
        let (proof, call) = (self.actor.principal.proof, self.actor.call.clone());
        match (command(self.actor).await, proof) {
            (Err(error), Some(proof)) if error.kind == ErrorKind::Unauthenticated => {
                hub.identities().forget(&proof.key);
                let principal = principal_of(&self.headers, hub, call.client_ip, Use::ReliedOn).await?;
                command(Actor::new(principal, call)).await
            }
            (outcome, _) => outcome,
        }
    }
}

/// Refuses a read of an owner who has read too much, or has too much unread; else waits until it is the read's turn.
async fn admit_read(hub: &Hub, principal: &Principal, parts: &Parts) -> Result<(), HubError> {
    let owner = principal.human;
    hub.admit_read(owner)?;
    let has_own_line = match parts.uri.path() {
        SEARCH => true,
        INBOX => deadline::waits(&parts.uri),
        _ => false,
    };
    if let Some(notes) = parts.extensions.get::<ResponseNotes>().filter(|_| !has_own_line) {
        notes.keep_turn(hub.reads().take(owner).await);
        // Others may have filled the owner's share meanwhile.
        hub.admit_read(owner)?;
    }
    Ok(())
}

/// Counts a write, and refuses it when there were too many. The envelope learns whose it is, for its trace.
pub(crate) fn admit_write(hub: &Hub, principal: &Arc<Principal>, parts: &Parts) -> Result<(), HubError> {
    hub.refuse_if_unread(principal.human)?;
    let notes = parts.extensions.get::<ResponseNotes>();
    let now = hub.clock().now_ms();
    let allowance = hub.limits().take_write(principal.id, now);
    let is_allowed = allowance.is_none_or(|allowance| allowance.allowed);
    if let Some(notes) = notes {
        if is_allowed || hub.limits().take_refusal(principal.id, now) {
            notes.note_caller(principal);
        }
        if let Some(allowance) = allowance {
            notes.note_allowance(allowance);
        }
    }
    match allowance.filter(|_| !is_allowed) {
        Some(allowance) => {
            let detail = format!("At most {} writes per minute are allowed.", allowance.limit);
            Err(HubError::rate_limited(detail, allowance.reset_seconds.max(1)))
        }
        None => Ok(()),
    }
}

impl FromRequestParts<Hub> for Anonymous {
    type Rejection = HubError;

    async fn from_request_parts(parts: &mut Parts, _: &Hub) -> Result<Self, HubError> {
        Ok(Self(Actor::anonymous(call(parts))))
    }
}

impl FromRequestParts<Hub> for Device {
    type Rejection = HubError;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, HubError> {
        Ok(Self(cookie(&parts.headers, hub.device_cookie_name()).map(Secret::new)))
    }
}

impl FromRequestParts<Hub> for Visitor {
    type Rejection = HubError;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, HubError> {
        let Some(token) = cookie(&parts.headers, hub.session_cookie_name()) else {
            return Ok(Self(Actor::anonymous(call(parts))));
        };
        match auth::authenticate_session(hub, token, Use::ReliedOn).await {
            Ok(principal) => {
                note_owner(parts, &principal);
                if !parts.method.is_safe() {
                    admit_write(hub, &principal, parts)?;
                }
                Ok(Self(Actor::new(principal, call(parts))))
            }
            Err(error) if error.kind == ErrorKind::Unauthenticated => Ok(Self(Actor::anonymous(call(parts)))),
            Err(error) => Err(error),
        }
    }
}

impl FromRequest<Hub> for RawBody {
    type Rejection = HubError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, HubError> {
        let (parts, body) = request.into_parts();
        read_body(hub, &parts, body, body_limit(&parts.uri)).await.map(Self)
    }
}

pub(crate) fn call(parts: &Parts) -> Arc<Call> {
    parts.extensions.get::<Arc<Call>>().cloned().unwrap_or_default()
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, HubError> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let credential = value.to_str().ok().and_then(|text| {
        let (scheme, credential) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| credential.trim())
    });
    credential.map(Some).ok_or_else(|| {
        HubError::unauthenticated("invalid_credentials", "The Authorization header is not `Bearer <key>`.")
    })
}

/// Whether a browser sent a session, good or not.
pub(super) fn has_session(hub: &Hub, headers: &HeaderMap) -> bool {
    cookie(headers, hub.session_cookie_name()).is_some()
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name && !value.is_empty()).then_some(value))
}

/// How long the body of a request to this address may be.
pub(super) fn body_limit(uri: &Uri) -> usize {
    let path = uri.path();
    let is_below = |place: &str| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if ACCOUNT_PATHS.into_iter().any(is_below) { MAX_ACCOUNT_BODY_BYTES } else { MAX_BODY_BYTES }
}

/// Reads a whole body, unless it is too long, takes too long, or is more than the caller may have in memory.
pub(crate) async fn read_body(hub: &Hub, parts: &Parts, body: HttpBody, limit: usize) -> Result<Bytes, HubError> {
    if announced_length(&parts.headers).is_some_and(|length| length > limit) {
        return Err(HubError::too_large(limit));
    }
    let mut whole = begin_body(hub, parts, body);
    match whole.read_to(limit).await? {
        Reading::AtItsEnd => {
            let bytes = keep_counted(parts, whole);
            let run = parts.extensions.get::<ResponseNotes>().and_then(ResponseNotes::run);
            if let Some(principal) = run {
                guards::require_writable(hub, &principal, &bytes).await?;
            }
            Ok(bytes)
        }
        Reading::TooLong => Err(HubError::too_large(limit)),
    }
}

/// How long a body is going to be, if its sender has said.
pub(crate) fn announced_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Says of a request that its body is in memory and counts already.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedBody;

/// A body of which nothing is read yet. Its bytes count for the caller, once.
pub(crate) fn begin_body(hub: &Hub, parts: &Parts, body: HttpBody) -> Whole {
    if parts.extensions.get::<CountedBody>().is_some() {
        return Whole::new(hub, body, None);
    }
    let payer = parts.extensions.get::<ResponseNotes>().map_or(Payer::stranger(None), ResponseNotes::payer);
    Whole::new(hub, body, Some(hub.bodies().open(payer)))
}

/// The bytes of a body. They count until the request is answered: what is made of them is as long.
pub(crate) fn keep_counted(parts: &Parts, whole: Whole) -> Bytes {
    let (bytes, holding) = whole.into_parts();
    if let (Some(notes), Some(holding)) = (parts.extensions.get::<ResponseNotes>(), holding) {
        notes.keep(holding);
    }
    bytes
}

/// Whose request it is, for all that counts by owner.
pub(crate) fn note_owner(parts: &Parts, principal: &Arc<Principal>) {
    if let Some(notes) = parts.extensions.get::<ResponseNotes>() {
        notes.note_owner(principal);
    }
}

pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), HubError> {
    require_content_type(headers, is_json_type, "application/json")
}

fn require_content_type(headers: &HeaderMap, accepts: fn(&str) -> bool, wanted: &str) -> Result<(), HubError> {
    if media_type(headers).as_deref().is_some_and(accepts) {
        return Ok(());
    }
    let detail = format!("The body must be {wanted}.");
    Err(HubError::new(ErrorKind::UnsupportedMediaType, "unsupported_media_type", detail)
        .hint(format!("Send the header Content-Type: {wanted}.")))
}

impl<T: DeserializeOwned> FromRequest<Hub> for Body<T> {
    type Rejection = HubError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, HubError> {
        let (parts, body) = request.into_parts();
        require_json(&parts.headers)?;
        let bytes = read_body(hub, &parts, body, body_limit(&parts.uri)).await?;
        parse_json(&bytes).map(Self)
    }
}

impl<T: DeserializeOwned + Default> FromRequest<Hub> for OptionalBody<T> {
    type Rejection = HubError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, HubError> {
        let (parts, body) = request.into_parts();
        let bytes = read_body(hub, &parts, body, body_limit(&parts.uri)).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(T::default()));
        }
        Body::from_request(Request::from_parts(parts, HttpBody::from(bytes)), hub).await.map(|Body(value)| Self(value))
    }
}

/// PostgreSQL cannot store NUL, and nobody means to send one.
fn nul_refused() -> HubError {
    HubError::invalid_field("", "must not contain NUL characters")
}

impl FromRequest<Hub> for NoBody {
    type Rejection = HubError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, HubError> {
        let (parts, body) = request.into_parts();
        let bytes = read_body(hub, &parts, body, body_limit(&parts.uri)).await?;
        if !bytes.trim_ascii().is_empty() {
            parse_json::<EmptyObject>(&bytes)?;
        }
        Ok(Self)
    }
}

impl<T: DeserializeOwned> FromRequest<Hub> for Form<T> {
    type Rejection = HubError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, HubError> {
        let (parts, body) = request.into_parts();
        let is_form = |media_type: &str| media_type == "application/x-www-form-urlencoded";
        require_content_type(&parts.headers, is_form, "application/x-www-form-urlencoded")?;
        let bytes = read_body(hub, &parts, body, body_limit(&parts.uri)).await?;
        let text = str::from_utf8(&bytes).map_err(|_| HubError::malformed("The form is not UTF-8."))?;
        parse_encoded(text).map(Self)
    }
}

impl<T: DeserializeOwned> FromRequestParts<Hub> for Query<T> {
    type Rejection = HubError;

    async fn from_request_parts(parts: &mut Parts, _: &Hub) -> Result<Self, HubError> {
        parse_encoded(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

fn parse_encoded<T: DeserializeOwned>(text: &str) -> Result<T, HubError> {
    let decoded = percent_decoded(text);
    if decoded.contains(&0) {
        return Err(nul_refused());
    }
    if str::from_utf8(&decoded).is_err() {
        return Err(HubError::malformed("The parameters are not UTF-8."));
    }
    let deserializer = serde_urlencoded::Deserializer::new(form_urlencoded::parse(text.as_bytes()));
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let path = error.path().to_string();
        content_fault(&path, &error.into_inner().to_string())
    })
}

fn percent_decoded(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

impl<T: DeserializeOwned + Send + 'static> FromRequestParts<Hub> for Path<T> {
    type Rejection = HubError;

    async fn from_request_parts(parts: &mut Parts, _: &Hub) -> Result<Self, HubError> {
        let decoded = percent_decoded(parts.uri.path());
        if decoded.contains(&0) {
            return Err(nul_refused());
        }
        if str::from_utf8(&decoded).is_err() {
            return Err(HubError::malformed("The path is not UTF-8."));
        }
        // What is left is a number that is none: there is nothing of that name.
        let path = parts.extract::<axum::extract::Path<T>>().await;
        path.map(|axum::extract::Path(value)| Self(value)).map_err(|_| HubError::not_found("thing"))
    }
}
