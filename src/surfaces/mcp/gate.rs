//! The way in: who is calling, from where, with what; then the protocol.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use http_body_util::{BodyExt, Collected};
use rmcp::model::ProtocolVersion;
use rmcp::transport::common::http_header::{HEADER_MCP_METHOD, HEADER_MCP_PROTOCOL_VERSION};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::{Value, json};
use stoa_model::mcp::Toolset;
use stoa_model::permissions::Permission;

use super::long_ones::{LongOnes, Turn};
use super::origin::Doors;
use super::server::{Caller, McpServer};
use super::tools::{Effect, Tool};
use super::{Offer, origin};
use crate::access::{Actor, Call, Credential};
use crate::config::MCP_PATH;
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::json::{Banned, extent, media_type, refuse_banned};
use crate::surfaces::auth;
use crate::surfaces::http::{Reading, announced_length, begin_body, call_of, keep_counted, note_owner};

/// Files come in base64, which is a third longer.
const MAX_BODY_BYTES: usize = 70 * 1024 * 1024;
/// Enough for a message that is as long as messages can be, however it is written.
const MAX_PLAIN_BODY_BYTES: usize = 2 * 1024 * 1024;
/// How long such a message may take to arrive once it is its turn: others wait for theirs.
const LONG_TIMEOUT: Duration = Duration::from_secs(30);
/// Names and values in a message, and how deep they lie.
const MAX_PARTS: usize = 50_000;
const MAX_DEPTH: usize = 64;
const LISTEN: &str = "subscriptions/listen";
const ALL_SCOPES: &str = "mcp:read mcp:write";

type Service = StreamableHttpService<McpServer, NeverSessionManager>;

#[derive(Clone)]
struct Gate {
    hub: Hub,
    offer: Arc<Offer>,
    service: Service,
    long_ones: Arc<LongOnes>,
}

/// `/mcp`, with all that features offer.
pub(crate) fn router(hub: &Hub, offer: Offer) -> Router<Hub> {
    let offer = Arc::new(offer);
    let (hub_in, offer_in) = (hub.clone(), offer.clone());
    // Without sessions, and with plain JSON wherever it will do. Hosts and origins are judged here, before anybody is
    // looked up. The library is not told when the hub stops: it would drop the calls that wait, and who waits is to get an
    // answer.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .disable_allowed_hosts();
    let make = move || Ok(McpServer::new(hub_in.clone(), offer_in.clone()));
    let service = StreamableHttpService::new(make, Arc::new(NeverSessionManager::default()), config);
    let gate = Gate { hub: hub.clone(), offer, service, long_ones: Arc::default() };
    // Many write a slash behind it.
    let both = [MCP_PATH.to_owned(), format!("{MCP_PATH}/")];
    both.iter().fold(Router::new(), |router, path| router.route(path, any(enter).with_state(gate.clone())))
}

async fn enter(State(gate): State<Gate>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let config = gate.hub.config();
    let base_url = call_of(&parts).base_url.clone();
    let doors = Doors { base_url: &base_url, is_named: config.base_url.is_some(), origins: &config.mcp_origins };
    let origin = match doors.check_host(&parts.headers).and_then(|()| doors.check_origin(&parts.headers)) {
        Ok(origin) => origin,
        Err(error) => return error.into_response(),
    };
    let mut response = match (&parts.method, &origin) {
        (&Method::OPTIONS, Some(_)) => StatusCode::NO_CONTENT.into_response(),
        _ => match gate.admit(&mut parts, body).await {
            Ok((body, turn)) => gate.serve(parts, body, turn).await,
            Err(refusal) => *refusal,
        },
    };
    if let Some(origin) = origin {
        origin::allow(&origin, response.headers_mut());
    }
    response
}

impl Gate {
    /// Finds out who is calling and reads what they say.
    async fn admit(&self, parts: &mut Parts, body: Body) -> Result<(Bytes, Option<Turn>), Box<Response>> {
        let call = call_of(parts);
        let actor = self.authenticate(&call, &parts.headers).await?;
        note_owner(parts, &actor.principal);
        let toolsets = toolsets(parts.uri.query().unwrap_or_default()).map_err(boxed)?;
        let (bytes, turn) = match parts.method {
            Method::POST => self.read(parts, body, &actor).await.map_err(boxed)?,
            _ => (Bytes::new(), None),
        };
        if matches!(actor.principal.credential, Credential::AccessToken(_)) {
            self.require_scope(&actor, &bytes)?;
        }
        let listens = parts.headers.get(HEADER_MCP_METHOD).is_some_and(|method| method == LISTEN);
        let from = match self.offer.events.as_ref().filter(|_| listens) {
            Some(events) => Some(events.end(&self.hub).await.map_err(boxed)?),
            None => None,
        };
        let knows_links = knows_links(&parts.headers);
        parts.extensions.insert(Caller { actor, toolsets, from, knows_links });
        Ok((bytes, turn))
    }

    async fn authenticate(&self, call: &Arc<Call>, headers: &HeaderMap) -> Result<Actor, Box<Response>> {
        let credential = headers.get(header::AUTHORIZATION).map(|value| {
            let (scheme, credential) = value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| credential.trim())
        });
        let refused = |error: HubError, fault: &str| Box::new(with_challenge(error, &call.base_url, fault));
        let Some(credential) = credential else {
            let error = HubError::unauthenticated("unauthenticated", "MCP requires a bearer token or an API key.")
                .hint("Send `Authorization: Bearer <key>`, or log in with OAuth.");
            return Err(refused(error, ""));
        };
        let outcome = match credential {
            Some(credential) => auth::authenticate_mcp_bearer(&self.hub, credential).await,
            None => Err(HubError::unauthenticated(
                "invalid_credentials",
                "The Authorization header is not `Bearer <token or key>`.",
            )),
        };
        match outcome {
            Ok(principal) => match auth::require_own_machine(&self.hub, &principal, call.client_ip) {
                Ok(()) => {
                    self.hub.limits().take_run_call(&principal, self.hub.clock().now_ms()).map_err(boxed)?;
                    Ok(Actor::new(principal, call.clone()))
                }
                Err(error) => Err(refused(error, r#", error="invalid_token""#)),
            },
            Err(error) if error.kind == ErrorKind::Unauthenticated => Err(refused(error, r#", error="invalid_token""#)),
            Err(error) => Err(boxed(error)),
        }
    }

    /// The whole message. A long one is read only when it is its turn.
    async fn read(&self, parts: &Parts, body: Body, actor: &Actor) -> Result<(Bytes, Option<Turn>), HubError> {
        if media_type(&parts.headers).as_deref() != Some("application/json") {
            let detail = "The body must be application/json.";
            return Err(HubError::new(ErrorKind::UnsupportedMediaType, "unsupported_media_type", detail)
                .hint("Send the header Content-Type: application/json."));
        }
        let accepts = |kind: &str| {
            let mut values = parts.headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
            values.any(|value| value.contains(kind) || value.contains("*/*"))
        };
        if !(accepts("application/json") && accepts("text/event-stream")) {
            let detail = "The Accept header must have application/json and text/event-stream.";
            return Err(HubError::new(ErrorKind::NotAcceptable, "not_acceptable", detail));
        }
        // Only files are so long.
        let uploads = actor.principal.permissions.contains(Permission::AttachmentsWrite);
        let limit = if uploads { MAX_BODY_BYTES } else { MAX_PLAIN_BODY_BYTES };
        let announced = announced_length(&parts.headers).unwrap_or(0);
        if announced > limit {
            return Err(HubError::too_large(limit));
        }
        let mut whole = begin_body(&self.hub, parts, body);
        if announced <= MAX_PLAIN_BODY_BYTES && whole.read_to(MAX_PLAIN_BODY_BYTES).await? == Reading::AtItsEnd {
            return Ok((keep_counted(parts, whole), None));
        }
        if !uploads {
            return Err(HubError::too_large(limit));
        }
        let turn = self.long_ones.take(actor.principal.human).await?;
        whole.finish_within(LONG_TIMEOUT);
        match whole.read_to(limit).await? {
            Reading::AtItsEnd => Ok((keep_counted(parts, whole), Some(turn))),
            Reading::TooLong => Err(HubError::too_large(limit)),
        }
    }

    /// An OAuth client that lacks a scope is told which, in the way by which clients ask for more (RFC 6750).
    fn require_scope(&self, actor: &Actor, body: &[u8]) -> Result<(), Box<Response>> {
        let Ok(asked) = serde_json::from_slice::<Asked<'_>>(body) else { return Ok(()) };
        let Some(tool) = asked.tool(&self.offer) else { return Ok(()) };
        if tool.spec.is_open_to(actor.principal.permissions) {
            return Ok(());
        }
        let scope = if tool.spec.effect == Effect::Reads { "mcp:read" } else { ALL_SCOPES };
        let detail = format!("The token lacks the scope for {}.", tool.spec.name);
        let error = HubError::forbidden("insufficient_scope", detail).hint(format!("Request the scope {scope}."));
        let metadata = metadata_address(&actor.call.base_url);
        let challenge =
            format!(r#"Bearer error="insufficient_scope", scope="{scope}", resource_metadata="{metadata}""#);
        Err(Box::new(challenged(error, &challenge)))
    }

    /// Finds out what is wrong with a message before anybody understands it. The turn of a long one is kept until its file is
    /// stored. What is long for no such reason is refused, so nobody keeps a turn while a tool waits for something else.
    async fn look_through(
        &self,
        body: Bytes,
        turn: Option<Turn>,
    ) -> Result<Result<(Bytes, Option<Turn>), String>, HubError> {
        if turn.is_none() {
            return Ok(judge(&body).map(|()| (body, None)));
        }
        let offer = self.offer.clone();
        // Others shall not wait meanwhile.
        let looking = tokio::task::spawn_blocking(move || {
            if let Err(said) = judge(&body) {
                return Ok(Err(said));
            }
            if takes_files(&offer, &body) {
                return Ok(Ok((body, turn)));
            }
            let tight = without_blanks(&body);
            if tight.len() > MAX_PLAIN_BODY_BYTES {
                let hint = "Only upload_attachment calls can be longer.";
                return Err(HubError::too_large(MAX_PLAIN_BODY_BYTES).hint(hint));
            }
            Ok(Ok((tight.into(), None)))
        });
        looking.await.map_err(HubError::internal)?
    }

    async fn serve(&self, mut parts: Parts, body: Bytes, turn: Option<Turn>) -> Response {
        let (body, turn) = match self.look_through(body, turn).await {
            Ok(Ok(looked_through)) => looked_through,
            Ok(Err(said)) => return protocol_error(-32600, &said),
            Err(error) => return error.into_response(),
        };
        // Some clients say only that they take anything.
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        parts.headers.insert(header::ACCEPT, accept);
        let is_post = parts.method == Method::POST;
        // A long one is not kept beside what is made of it.
        let kept = if turn.is_some() { Bytes::new() } else { body.clone() };
        let request = axum::http::Request::from_parts(parts, http_body_util::Full::new(body));
        let response = self.service.handle(request).await;
        drop(turn);
        // What cannot be read is called a wrong content type by the library; it is a wrong message.
        if is_post && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return unreadable(&kept);
        }
        let is_text = response.headers().get(header::CONTENT_TYPE).is_none_or(|kind| kind != "application/json");
        if response.status() == StatusCode::BAD_REQUEST && is_text {
            // A few refusals of the library are bare texts.
            let said = response.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
            return protocol_error(-32600, &String::from_utf8_lossy(&said));
        }
        response.map(Body::new).into_response()
    }
}

/// Links to resources are new in revision 2025-06-18: strict clients of the revision before refuse a whole result that has one.
/// The header is as new, so a client that sends none is older.
fn knows_links(headers: &HeaderMap) -> bool {
    let revision = headers.get(HEADER_MCP_PROTOCOL_VERSION);
    // Revisions are dates.
    revision.is_some_and(|revision| revision.as_bytes() > ProtocolVersion::V_2025_03_26.as_str().as_bytes())
}

/// What is wrong with a message before anybody understands it.
fn judge(body: &[u8]) -> Result<(), String> {
    // The library keeps each value several times over, so a message may be long, but not made of much.
    let (parts, depth) = extent(body);
    if parts > MAX_PARTS || depth > MAX_DEPTH {
        return Err("The message has too many values or is nested too deeply.".to_owned());
    }
    refuse_banned(body).map_err(|Banned(said)| format!("The message {said}."))
}

/// The beginning of a message, as far as it has to be known before it is let in.
#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<AskedParams<'a>>,
}

impl Asked<'_> {
    /// The tool that is called.
    fn tool<'o>(&self, offer: &'o Offer) -> Option<&'o Tool> {
        let is_call = self.method.as_deref() == Some("tools/call");
        let name = self.params.as_ref().filter(|_| is_call)?.name.as_ref()?;
        offer.tools.find(name)
    }
}

#[derive(Deserialize)]
struct AskedParams<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

/// Whether it is a call of a tool that takes files.
fn takes_files(offer: &Offer, body: &[u8]) -> bool {
    let asked = serde_json::from_slice::<Asked<'_>>(body);
    asked.is_ok_and(|asked| asked.tool(offer).is_some_and(|tool| tool.spec.takes_files))
}

/// A message without the blanks between its values.
fn without_blanks(body: &[u8]) -> Vec<u8> {
    let mut tight = Vec::new();
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in body {
        if !in_text && byte.is_ascii_whitespace() {
            continue;
        }
        tight.push(*byte);
        in_text = in_text != (*byte == b'"' && !is_escaped);
        is_escaped = in_text && *byte == b'\\' && !is_escaped;
    }
    tight
}

fn unreadable(body: &[u8]) -> Response {
    match serde_json::from_slice::<Value>(body) {
        Err(error) => protocol_error(-32700, &format!("The message is not JSON: {error}.")),
        Ok(Value::Array(_)) => protocol_error(-32600, "Batches are not supported. Send one message at a time."),
        Ok(_) => protocol_error(-32600, "Not a JSON-RPC 2.0 message with an MCP method."),
    }
}

fn protocol_error(code: i64, message: &str) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    (StatusCode::BAD_REQUEST, axum::Json(body)).into_response()
}

/// `?toolsets=core,goals`: the only tools to list.
fn toolsets(query: &str) -> Result<Option<Arc<[Toolset]>>, HubError> {
    let Some((_, named)) = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "toolsets") else {
        return Ok(None);
    };
    let found = named.split(',').map(str::trim).filter(|name| !name.is_empty()).map(|name| {
        Toolset::from_name(name).ok_or_else(|| {
            let names = Toolset::ALL.map(Toolset::name).join(", ");
            HubError::invalid_field("toolsets", format!("has an unknown name. Use one of: {names}"))
        })
    });
    let found = found.collect::<Result<Vec<_>, _>>()?;
    Ok((!found.is_empty()).then(|| found.into()))
}

fn metadata_address(base_url: &str) -> String {
    format!("{base_url}/.well-known/oauth-protected-resource{MCP_PATH}")
}

/// A refusal that tells a client where to log in.
fn with_challenge(error: HubError, base_url: &str, fault: &str) -> Response {
    let metadata = metadata_address(base_url);
    challenged(error, &format!(r#"Bearer resource_metadata="{metadata}", scope="{ALL_SCOPES}"{fault}"#))
}

fn challenged(error: HubError, challenge: &str) -> Response {
    let mut response = error.into_response();
    if let Ok(value) = HeaderValue::try_from(challenge) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

fn boxed(error: HubError) -> Box<Response> {
    Box::new(error.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_texts_stay() {
        let body = br#" { "a b" : [ 1 , "c \" d" , "e\\" ] }  "#;
        assert_eq!(without_blanks(body), br#"{"a b":[1,"c \" d","e\\"]}"#);
    }
}
