//! What every request gets, whatever it asks for.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use sha2::{Digest, Sha256};
use stoa_model::PrincipalId;
use stoa_model::credentials::recognise;
use stoa_model::traces::NewTrace;
use tracing::Instrument;
use uuid::Uuid;

use super::csrf::INVITATIONS;
use super::leftover::Leftover;
use super::openapi::Operations;
use super::{address, cors, csrf, deadline, extract, unread};
use crate::access::budget::{Holding, Payer};
use crate::access::lines::Turn;
use crate::access::rate_limit::Allowance;
use crate::access::{Call, Idempotency, Principal};
use crate::config::MCP_PATH;
use crate::error::{ErrorKind, HubError};
use crate::hub::{Hub, catch_panic};
use crate::storage::keys::Purpose;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// All that changes anything below this needs a credential.
const API: &str = "/api/";
/// All that changes anything below this needs a signature.
const MACHINES: &str = "/machine/";
/// Requests of other services. They are posted once by the id of their delivery, and their paths can contain a secret.
const HOOKS: &str = "/hooks/";
const IDEMPOTENCY_KEY: &str = "idempotency-key";
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const MAX_IDEMPOTENCY_KEY: usize = 255;
const ACCEPT_SIGNATURE: HeaderName = HeaderName::from_static("accept-signature");
const LOOP_DEPTH: &str = "webhook-loop-depth";
const MAX_LOOP_DEPTH: i64 = 1000;
const MAX_TRACED_PATH: usize = 300;
/// What people see on their way from an app through the login and back.
const IN_WINDOWS_OF_OTHERS: [&str; 4] = ["/login", "/oauth/authorize", "/oauth/authorize/decision", "/authorize"];

/// The connection's other end, put into each request by the server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// What extractors found out and the envelope needs: for the answer's headers, and for the trace.
#[derive(Debug, Clone, Default)]
pub(super) struct ResponseNotes(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    allowance: Option<Allowance>,
    caller: Option<Arc<Principal>>,
    /// Where the caller is, as far as throttling goes by it.
    address: Option<IpAddr>,
    owner: Option<PrincipalId>,
    run: Option<Arc<Principal>>,
    /// Memory that the request takes until it is answered.
    held: Vec<Holding>,
    /// The turn of a read, until it is answered.
    turn: Option<Turn>,
}

impl ResponseNotes {
    pub(super) fn note_allowance(&self, allowance: Allowance) {
        self.notes().allowance = Some(allowance);
    }

    /// Who makes the write, if it is to be traced.
    pub(super) fn note_caller(&self, caller: &Arc<Principal>) {
        self.notes().caller = Some(caller.clone());
    }

    pub(super) fn note_owner(&self, caller: &Arc<Principal>) {
        let mut notes = self.notes();
        notes.owner = Some(caller.human);
        notes.run = caller.run().map(|_| caller.clone());
    }

    /// The caller, if it is the program of a run.
    pub(super) fn run(&self) -> Option<Arc<Principal>> {
        self.notes().run.clone()
    }

    /// On whose account the request takes memory.
    pub(super) fn payer(&self) -> Payer {
        let notes = self.notes();
        notes.owner.map_or_else(|| Payer::stranger(notes.address), Payer::Owner)
    }

    pub(super) fn keep(&self, holding: Holding) {
        self.notes().held.push(holding);
    }

    pub(super) fn keep_turn(&self, turn: Option<Turn>) {
        self.notes().turn = turn;
    }

    fn owner(&self) -> Option<PrincipalId> {
        self.notes().owner
    }

    /// Lets go of what the request took: its answer is made.
    fn release(&self) {
        let mut notes = self.notes();
        notes.held.clear();
        notes.turn = None;
    }

    fn note_address(&self, address: Option<IpAddr>) {
        self.notes().address = address;
    }

    fn allowance(&self) -> Option<Allowance> {
        self.notes().allowance
    }

    fn take_caller(&self) -> Option<Arc<Principal>> {
        self.notes().caller.take()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
pub(super) struct EnvelopeState {
    hub: Hub,
    /// Requests with an idempotency key that are being worked on.
    in_flight: Arc<Mutex<HashSet<[u8; 32]>>>,
    operations: Arc<Operations>,
}

impl EnvelopeState {
    pub(super) fn new(hub: Hub, operations: Operations) -> Self {
        Self { hub, in_flight: Arc::default(), operations: Arc::new(operations) }
    }
}

/// Carries a [`HubError`] to the envelope, which knows the request's id and the hub's address.
#[derive(Clone)]
struct Refusal(Arc<HubError>);

impl IntoResponse for HubError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        response.extensions_mut().insert(Refusal(Arc::new(self)));
        response
    }
}

pub(super) async fn envelope(State(state): State<EnvelopeState>, request: Request, next: Next) -> Response {
    #[expect(clippy::disallowed_methods, reason = "measures a duration for the metrics")]
    let started = Instant::now();
    let hub = state.hub.clone();
    let request_id = request_id(request.headers());
    let base_url = address::base_url(&hub, request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let notes = ResponseNotes::default();
    let replayed = Arc::new(AtomicBool::new(false));
    let mut trace = PendingTrace::begin(&state, &request, &request_id, &notes, &replayed, started);
    let leftover = Leftover::new(is_upload(&method, &path));
    // Who waits for a "100 Continue" has not begun to send.
    let is_sending = !request.headers().contains_key(header::EXPECT);
    let limit = deadline::limit(&hub, &method, request.uri());
    let request = request.map(|body| leftover.watch(body));
    let span = tracing::info_span!("request", request_id);
    let answer = prepare_and_run(state, request, next, &request_id, &base_url, notes.clone(), replayed.clone());
    let answer = async {
        tokio::select! {
            biased;
            answer = answer => answer,
            late = deadline::passed(limit, leftover.progress()) => Err(late),
        }
    };
    let mut response = match answer.instrument(span).await {
        Ok(response) => response,
        Err(error) => error.into_response(),
    };
    let is_traced = trace.is_some();
    if let Some(trace) = &mut trace {
        let refusal = response.extensions().get::<Refusal>();
        trace.answer = Some((response.status().as_u16(), refusal.map(|refusal| refusal.0.code)));
    }
    drop(trace);
    notes.release();
    if is_sending {
        leftover.discard(&hub);
    }
    let is_refusal = response.extensions().get::<Refusal>().is_some();
    if !is_refusal {
        response = counted(&hub, &notes, &method, response);
    }
    if let Some(Refusal(error)) = response.extensions_mut().remove::<Refusal>() {
        response = problem_response(&hub, &request_id, &base_url, &error, response.headers());
    }
    add_headers(&hub, &mut response, &request_id, &path);
    cors::add_headers(&path, response.headers_mut());
    if replayed.load(Ordering::Relaxed) {
        response.headers_mut().insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    if let Some(allowance) = notes.allowance() {
        add_rate_headers(&mut response, allowance);
    }
    let status = response.status().as_u16();
    // Writes are counted with their traces.
    if status >= 500 && !is_traced {
        hub.metrics().errors_total.inc();
    }
    hub.metrics().requests.with_label_values(&[method_label(&method), response.status().as_str()]).inc();
    hub.metrics().request_seconds.with_label_values(&[method_label(&method)]).observe(started.elapsed().as_secs_f64());
    // The query is left out: it may carry what must not be logged.
    let duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    tracing::debug!(request_id, %method, path = shown_path(&path), status, duration_us, "request");
    response
}

/// The answer, counted until the client has read it. If there is no room for it, a refusal instead.
fn counted(hub: &Hub, notes: &ResponseNotes, method: &Method, response: Response) -> Response {
    if let Some(owner) = notes.owner() {
        let length = if method == Method::HEAD { 0 } else { unread::length(&response) };
        hub.limits().note_read(owner, length, hub.clock().now_ms());
    }
    unread::count(hub, notes.payer(), response).unwrap_or_else(|| {
        let error = HubError::busy("Too many responses to you are unread.");
        let hint = if method.is_safe() {
            "Read the pending responses first."
        } else {
            "The request was carried out. Retry with the same Idempotency-Key if you sent one."
        };
        error.hint(hint).into_response()
    })
}

/// A write under /api or /machine that is to be traced when this goes: with its answer, or without one when the caller
/// hung up. It may have been done all the same, and nobody shall act untraced by not waiting.
struct PendingTrace {
    hub: Hub,
    notes: ResponseNotes,
    replayed: Arc<AtomicBool>,
    started: Instant,
    action: Arc<str>,
    method: Method,
    path: String,
    request_id: String,
    /// The status, and the problem's code if it is one.
    answer: Option<(u16, Option<&'static str>)>,
}

impl PendingTrace {
    fn begin(
        state: &EnvelopeState,
        request: &Request,
        request_id: &str,
        notes: &ResponseNotes,
        replayed: &Arc<AtomicBool>,
        started: Instant,
    ) -> Option<Self> {
        let (method, path) = (request.method(), request.uri().path());
        if method.is_safe() || !["/api/", "/machine/"].iter().any(|beginning| path.starts_with(beginning)) {
            return None;
        }
        let route = request.extensions().get::<MatchedPath>()?;
        let action = state.operations.get(&(method.clone(), route.as_str().to_owned()))?;
        Some(Self {
            hub: state.hub.clone(),
            notes: notes.clone(),
            replayed: replayed.clone(),
            started,
            action: action.clone(),
            method: method.clone(),
            path: shown_path(path),
            request_id: request_id.to_owned(),
            answer: None,
        })
    }
}

impl Drop for PendingTrace {
    fn drop(&mut self) {
        let Some(caller) = self.notes.take_caller() else { return };
        let (status, error) = self.answer.map_or((None, Some("caller_gone")), |(status, code)| (Some(status), code));
        let mut details = json!({"method": self.method.as_str(), "path": self.path, "status": status});
        if self.replayed.load(Ordering::Relaxed) {
            details["replayed"] = json!(true);
        }
        let trace = NewTrace {
            owner: caller.human,
            principal: caller.id,
            key: caller.api_key(),
            action: self.action.clone(),
            details,
            error: error.map(str::to_owned),
            duration: self.started.elapsed(),
            request_id: Some(std::mem::take(&mut self.request_id)),
            run_id: caller.run().map(|run| run.run.0),
        };
        self.hub.record_trace(trace);
    }
}

/// A path as traces and the log show it: not too long, and without keys that somebody put there by mistake.
fn shown_path(path: &str) -> String {
    // Also where the address of a hook is misspelt: with two slashes, capitals or escapes.
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8_lossy().to_ascii_lowercase();
    if decoded.contains(HOOKS) && !decoded.starts_with("/api/hooks") {
        return format!("{HOOKS}(hidden)");
    }
    // The same goes for invitations.
    if decoded.contains(INVITATIONS) || decoded.contains("stoa_inv_") {
        return format!("{INVITATIONS}(hidden)");
    }
    let segments = path.split('/').map(|segment| if recognise(segment).is_some() { "(key)" } else { segment });
    let path = segments.collect::<Vec<_>>().join("/");
    match path.char_indices().nth(MAX_TRACED_PATH) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path,
    }
}

async fn prepare_and_run(
    state: EnvelopeState,
    request: Request,
    next: Next,
    request_id: &str,
    base_url: &str,
    notes: ResponseNotes,
    replayed: Arc<AtomicBool>,
) -> Result<Response, HubError> {
    let hub = &state.hub;
    if hub.is_stopping() {
        return Err(HubError::unavailable("The hub is shutting down."));
    }
    check_hosts(hub, &request)?;
    if let Some(answer) = cors::preflight(request.method(), request.uri().path()) {
        return Ok(answer);
    }
    let (mut parts, mut body) = request.into_parts();
    csrf::check(&parts.method, parts.uri.path(), &parts.headers, base_url)?;
    let peer: Option<IpAddr> = parts.extensions.get::<Peer>().map(|peer| peer.0.ip());
    let mut call = Call {
        request_id: request_id.to_owned(),
        base_url: base_url.to_owned(),
        peer_ip: peer,
        remote_ip: address::remote_ip(&parts.headers, peer),
        client_ip: address::client_ip(&parts.headers, peer, &hub.config().trusted_proxies),
        user_agent: parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).map(str::to_owned),
        idempotency: None,
        loop_depth: loop_depth(&parts.headers)?,
    };
    notes.note_address(call.client_ip);
    parts.extensions.insert(notes);
    let mut _guard = None;
    // What is repeated over MCP is said to each tool by itself.
    let is_mcp = parts.uri.path().trim_end_matches('/') == MCP_PATH;
    let is_hook = parts.uri.path().starts_with(HOOKS);
    let has_key = |_: &String| !is_mcp && !is_hook && !lacks_signature(&parts);
    if let Some(key) = idempotency_key(&parts.method, &parts.headers)?.filter(has_key) {
        // The query may hold what must not be stored in the open, and may be long.
        let route = hex(&Sha256::digest(format!("{} {}", parts.method, parts.uri)));
        let request_digest: [u8; 32] = if is_upload(&parts.method, parts.uri.path()) {
            // What is in it is known when it is there; the one who takes it in says it then.
            [0; 32]
        } else {
            // Nobody has to be listened to who may not do anything here. The handler looks again.
            if parts.uri.path().starts_with(API) {
                extract::require_credential(hub, &parts).await?;
            }
            let bytes = extract::read_body(hub, &parts, body, extract::body_limit(&parts.uri)).await?;
            let digest = Sha256::digest(&bytes).into();
            body = Body::from(bytes);
            parts.extensions.insert(extract::CountedBody);
            digest
        };
        _guard = Some(InFlight::enter(&state, &parts.headers, &route, &key, &request_digest)?);
        let anonymous = hub.keys().sign(Purpose::AnonymousCaller, &[&request_digest]);
        let anonymous_caller = format!("anonymous {}", hex(&anonymous));
        call.idempotency = Some(Idempotency { key, route, request_digest, anonymous_caller, replayed });
    }
    parts.extensions.insert(Arc::new(call));
    // A panic is our mistake: it ends its own request with a 500 and nothing else.
    let answer = catch_panic(next.run(Request::from_parts(parts, body))).await;
    answer.ok_or_else(|| HubError::internal("a handler panicked"))
}

/// Refuses a request to a host that is not one, or not the hub's. Proxies may write the host into the request line, too.
fn check_hosts(hub: &Hub, request: &Request) -> Result<(), HubError> {
    if request.headers().get_all(header::HOST).iter().count() > 1 {
        return Err(HubError::malformed("The request names more than one host."));
    }
    let in_line = request.uri().authority().map(|authority| Some(authority.as_str()));
    let in_header = request.headers().get(header::HOST).filter(|host| !host.is_empty()).map(|host| host.to_str().ok());
    for host in [in_line, in_header].into_iter().flatten() {
        let host = host.filter(|host| address::is_host(host));
        let host = host.ok_or_else(|| HubError::malformed("The Host header is not a host with or without a port."))?;
        address::check_host(hub, host)?;
    }
    Ok(())
}

/// Whether a body is a file, which is read as it comes and may be long.
fn is_upload(method: &Method, path: &str) -> bool {
    method == Method::POST && path == "/api/attachments"
}

fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok()).filter(|id| {
        (1..=128).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    });
    given.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn idempotency_key(method: &Method, headers: &HeaderMap) -> Result<Option<String>, HubError> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY).filter(|_| !method.is_safe()) else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| {
        (1..=MAX_IDEMPOTENCY_KEY).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    });
    key.map(|key| Some(key.to_owned()))
        .ok_or_else(|| HubError::invalid_field("Idempotency-Key", "must be 1 to 255 printable ASCII characters"))
}

/// How deep in a chain of automation the caller is. What cannot be read must not count as nothing: it
/// would let a chain go on for ever.
fn loop_depth(headers: &HeaderMap) -> Result<Option<i64>, HubError> {
    let Some(value) = headers.get(LOOP_DEPTH) else { return Ok(None) };
    let depth =
        value.to_str().ok().and_then(|text| text.parse().ok()).filter(|depth| (0..=MAX_LOOP_DEPTH).contains(depth));
    depth.map(Some).ok_or_else(|| HubError::invalid_field(LOOP_DEPTH, "must be a number from 0 to 1000"))
}

/// Whether the request needs a signature and has none. It is refused by its handler, which reads nothing of the body.
fn lacks_signature(parts: &Parts) -> bool {
    parts.uri.path().starts_with(MACHINES) && claimed_key(&parts.headers).is_none()
}

/// The key that a signed request names.
fn claimed_key(headers: &HeaderMap) -> Option<&str> {
    let input = headers.get("signature-input")?.to_str().ok()?;
    input.split_once("keyid=\"")?.1.split('"').next()
}

/// Keeps a second request with the same key out while the first one runs.
struct InFlight {
    requests: Arc<Mutex<HashSet<[u8; 32]>>>,
    id: [u8; 32],
}

impl InFlight {
    fn enter(
        state: &EnvelopeState,
        headers: &HeaderMap,
        route: &str,
        key: &str,
        request_digest: &[u8; 32],
    ) -> Result<Self, HubError> {
        let mut hash = Sha256::new();
        let credentials = [headers.get(header::AUTHORIZATION), headers.get(header::COOKIE)];
        for credential in credentials {
            hash.update(Sha256::digest(credential.map_or(&b""[..], HeaderValue::as_bytes)));
        }
        // Whose signature it claims to be; it differs itself from request to request.
        hash.update(Sha256::digest(claimed_key(headers).unwrap_or_default()));
        // Without a credential callers cannot be told apart, so only equal requests meet.
        if credentials.iter().all(Option::is_none) {
            hash.update(request_digest);
        }
        hash.update(Sha256::digest(route));
        hash.update(Sha256::digest(key));
        let id: [u8; 32] = hash.finalize().into();
        let is_first = state.in_flight.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        if is_first {
            Ok(Self { requests: state.in_flight.clone(), id })
        } else {
            Err(HubError::conflict("idempotency_in_progress", "A request with this Idempotency-Key is still running.")
                .hint("Wait for its response, or retry in a moment."))
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

fn problem_response(hub: &Hub, request_id: &str, base_url: &str, error: &HubError, kept: &HeaderMap) -> Response {
    if error.kind == ErrorKind::Internal {
        hub.metrics().internal_errors.inc();
        tracing::error!(request_id, cause = error.cause, code = error.code, "a request failed");
    } else if error.kind == ErrorKind::Unavailable && error.code == "busy" && error.cause.is_none() {
        // Who asks for too much must not fill the log as well.
        hub.metrics().busy_refusals.inc();
        tracing::debug!(request_id, detail = error.detail, "a request was too much");
    } else if error.kind == ErrorKind::Unavailable {
        tracing::warn!(request_id, cause = error.cause, detail = error.detail, "a request could not be served");
    }
    let problem = error.to_problem(base_url, request_id);
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    let kept_names = [
        header::ALLOW,
        header::WWW_AUTHENTICATE,
        ACCEPT_SIGNATURE,
        header::CONTENT_RANGE,
        header::VARY,
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
    ];
    for name in kept_names {
        if let Some(value) = kept.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    if let Some(seconds) = error.retry_after_seconds {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if error.kind == ErrorKind::Unauthenticated {
        let challenge = match error.code {
            "unauthenticated" => r#"Bearer realm="stoa""#,
            _ => r#"Bearer realm="stoa", error="invalid_token""#,
        };
        headers.entry(header::WWW_AUTHENTICATE).or_insert(HeaderValue::from_static(challenge));
    }
    response
}

fn add_headers(hub: &Hub, response: &mut Response, request_id: &str, path: &str) {
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::try_from(request_id) {
        headers.insert(REQUEST_ID, value);
    }
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=(), payment=()"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A page that opened the login in a window of its own waits for that window to come back to it.
    let opener = if IN_WINDOWS_OF_OTHERS.contains(&path) { "unsafe-none" } else { "same-origin" };
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static(opener));
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("same-origin"));
    // Pages bring a policy of their own; data needs none of what one could allow.
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if hub.base_url().starts_with("https://") {
        let value = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
}

fn add_rate_headers(response: &mut Response, allowance: Allowance) {
    let policy = format!("\"writes\";q={};w=60", allowance.limit);
    let state = format!("\"writes\";r={};t={}", allowance.remaining, allowance.reset_seconds);
    for (name, value) in [("ratelimit-policy", policy), ("ratelimit", state)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
}

/// Methods are written by callers, who could invent as many as they like.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}
