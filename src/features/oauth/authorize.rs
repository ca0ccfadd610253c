//! Asking a person: the request of a client, the page with the question, and the answer that goes back.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use stoa_db::Tx;
use stoa_model::credentials::base62;
use stoa_model::oauth::{ClientKind, GrantType, OauthScopes};
use stoa_model::{PrincipalId, SessionId, Timestamp};

use super::client_store::{self, Client};
use super::documents::{self, NoClient};
use super::http_pages::{self, AgentChoice, Consent, Origin};
use super::metadata::is_own_resource;
use super::parameters::{Parameters, Repeated};
use super::redirect;
use super::store::{self, NewGrant, PendingRequest};
use super::tokens::GRANT_LIFETIME;
use crate::access::identity::credential_hash;
use crate::access::{Actor, Call};
use crate::clock::milliseconds;
use crate::error::{ErrorKind, HubError};
use crate::features::{agents, audit, users};
use crate::hub::Hub;
use crate::storage::keys::Purpose;

const REQUEST_LIFETIME: Duration = Duration::from_secs(10 * 60);
const CODE_LIFETIME: Duration = Duration::from_secs(60);
const MAX_STATE_BYTES: usize = 8 * 1024;
const MAX_QUERY_BYTES: usize = 16 * 1024;
/// A SHA-256 in base64url.
const CHALLENGE_CHARACTERS: usize = 43;
const REQUEST_ID_CHARACTERS: usize = 43;
/// What stands for the person among the names of agents; no agent can have it.
const SELF: &str = "self";

/// Why there is no question, or no answer to it.
enum Stop {
    /// The person is told, and nobody else: it is not certain who asked.
    Page {
        status: StatusCode,
        title: &'static str,
        detail: String,
        hint: &'static str,
    },
    /// The person is told to come back after so many seconds.
    TooMany {
        detail: String,
        retry_after: u64,
    },
    /// The client is told.
    Client(String),
    Hub(HubError),
}

impl Stop {
    fn page(status: StatusCode, title: &'static str, detail: impl Into<String>, hint: &'static str) -> Self {
        Stop::Page { status, title, detail: detail.into(), hint }
    }

    fn bad_request(detail: impl Into<String>) -> Self {
        let hint = "Go back to the app and retry. If this happens again, contact the app's developer.";
        Stop::page(StatusCode::BAD_REQUEST, "Invalid request", detail, hint)
    }

    fn gone() -> Self {
        let detail = "This request is unknown, already answered, or older than 10 minutes.";
        let hint = "If you already answered it, you are done. Otherwise start again from the app.";
        Stop::page(StatusCode::BAD_REQUEST, "This request has expired", detail, hint)
    }

    fn foreign() -> Self {
        let detail = "This request belongs to another login or another page.";
        Stop::page(StatusCode::FORBIDDEN, "This is not your request", detail, START_AGAIN)
    }
}

const START_AGAIN: &str = "Nothing was allowed. Start again from the app.";

impl From<HubError> for Stop {
    fn from(error: HubError) -> Self {
        match error.retry_after_seconds {
            Some(retry_after) if error.kind == ErrorKind::RateLimited => {
                Stop::TooMany { detail: error.detail.clone(), retry_after }
            }
            _ => Stop::Hub(error),
        }
    }
}

impl From<stoa_db::DbError> for Stop {
    fn from(error: stoa_db::DbError) -> Self {
        Stop::Hub(error.into())
    }
}

fn answer(outcome: Result<Response, Stop>) -> Result<Response, HubError> {
    match outcome {
        Ok(response) => Ok(response),
        Err(Stop::Client(location)) => see_other(&location),
        Err(Stop::Page { status, title, detail, hint }) => http_pages::refusal(status, title, &detail, Some(hint)),
        Err(Stop::TooMany { detail, retry_after }) => {
            let hint = Some("Wait a minute, then retry.");
            let mut page = http_pages::refusal(StatusCode::TOO_MANY_REQUESTS, "Too many requests", &detail, hint)?;
            page.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
            Ok(page)
        }
        Err(Stop::Hub(error)) => Err(error),
    }
}

/// Never 307: it would have the browser post the form to the client.
fn see_other(location: &str) -> Result<Response, HubError> {
    let location = HeaderValue::try_from(location).map_err(HubError::internal)?;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response())
}

/// `GET /oauth/authorize`: a client's request, or one that was kept while its person logged in.
pub(super) async fn authorize(hub: &Hub, visitor: &Actor, query: &str) -> Result<Response, HubError> {
    answer(ask(hub, visitor, query).await)
}

async fn ask(hub: &Hub, visitor: &Actor, query: &str) -> Result<Response, Stop> {
    let parameters =
        Parameters::parse(query.as_bytes()).ok_or_else(|| Stop::bad_request("Its parameters are not valid text."))?;
    let once = |repeated: Repeated| Stop::bad_request(repeated.description());
    if let (None, Some(request_id)) =
        (parameters.one("client_id").map_err(once)?, parameters.one("request_id").map_err(once)?)
    {
        return resume(hub, visitor, request_id).await;
    }
    let (now, call) = (hub.clock().now_ms(), &visitor.call);
    hub.limits().take_authorization(call.client_ip, now)?;
    let client_id = parameters.one("client_id").map_err(once)?;
    let client_id = client_id.ok_or_else(|| Stop::bad_request("It has no client_id."))?;
    if documents::is_address(client_id) && visitor.session().is_none() {
        // Strangers cannot make the hub call addresses of their choice: that waits for the login.
        return put_off(hub, query).await;
    }
    let client = find_client(hub, call, client_id).await?;
    let redirect_uri = redirect_uri(&client, parameters.one("redirect_uri").map_err(once)?)?;
    let state = parameters.one("state");
    let own = [call.base_url.as_str(), hub.base_url()];
    let request = read_request(&parameters, &client, own).map_err(|(error, description)| {
        let state = state.as_ref().ok().copied().flatten().filter(|state| state.len() <= MAX_STATE_BYTES);
        let parameters = [("error", error), ("error_description", description.as_str())];
        Stop::Client(answer_location(&redirect_uri, &parameters, state, call))
    })?;
    let (scope, code_challenge) = request;
    let pending = PendingRequest {
        client: client.id,
        session: visitor.session(),
        redirect_uri,
        state: state.ok().flatten().map(str::to_owned),
        scope,
        code_challenge,
        expires_at: now + milliseconds(REQUEST_LIFETIME),
    };
    let request_id = hub
        .write(move |tx| {
            let request_id = base62(tx.random_bytes());
            store::insert_request(tx, &credential_hash(&request_id), &pending)?;
            Ok::<_, HubError>(request_id)
        })
        .await?;
    resume(hub, visitor, &request_id).await
}

/// Keeps a request as it came, until somebody has logged in.
async fn put_off(hub: &Hub, query: &str) -> Result<Response, Stop> {
    if query.len() > MAX_QUERY_BYTES {
        return Err(Stop::bad_request("It is longer than 16 KiB."));
    }
    let query = query.to_owned();
    let request_id = hub
        .write(move |tx| {
            let request_id = base62(tx.random_bytes());
            let expires_at = tx.now_ms() + milliseconds(REQUEST_LIFETIME);
            store::insert_unread_request(tx, &credential_hash(&request_id), &query, expires_at)?;
            Ok::<_, HubError>(request_id)
        })
        .await?;
    Ok(Redirect::to(&login_location(&request_id)).into_response())
}

async fn find_client(hub: &Hub, call: &Call, client_id: &str) -> Result<Client, Stop> {
    if documents::is_address(client_id) {
        return documents::find(hub, call, client_id).await.map_err(|reason| match reason {
            NoClient::Refused(detail) => {
                let hint = "Contact the app's developer. The hub's log shows the details.";
                Stop::page(StatusCode::BAD_REQUEST, "Unknown app", detail, hint)
            }
            NoClient::Hub(error) => error.into(),
        });
    }
    let name = client_id.to_owned();
    let found = hub.read(move |tx| client_store::find_client(tx, &name)).await?;
    found.ok_or_else(|| {
        let detail = "This app is not registered. Unused registrations expire after a day.";
        let hint = "Remove the hub from the app and add it again, so that the app registers again.";
        Stop::page(StatusCode::BAD_REQUEST, "Unknown app", detail, hint)
    })
}

fn redirect_uri(client: &Client, requested: Option<&str>) -> Result<String, Stop> {
    if client.kind == ClientKind::Owned {
        return Err(Stop::bad_request("This client uses client credentials and cannot ask users for access."));
    }
    match (requested, client.redirect_uris.as_slice()) {
        (Some(requested), registered) => registered
            .iter()
            .any(|registered| redirect::matches(registered, requested))
            .then(|| requested.to_owned())
            .ok_or_else(|| {
                let shown: String = requested.chars().take(200).collect();
                Stop::bad_request(format!("The app wants to redirect to {shown}, which is not registered."))
            }),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(Stop::bad_request("The app has several redirect addresses and did not choose one.")),
    }
}

/// What is asked for, or why it cannot be: an error's name, and what to mend.
fn read_request(
    parameters: &Parameters,
    client: &Client,
    own: [&str; 2],
) -> Result<(OauthScopes, String), (&'static str, String)> {
    let one = |name| parameters.one(name).map_err(|repeated| ("invalid_request", repeated.description()));
    let invalid = |words: &str| Err(("invalid_request", words.to_owned()));
    if one("state")?.is_some_and(|state| state.len() > MAX_STATE_BYTES) {
        return invalid("The state can be up to 8 KiB.");
    }
    if one("request")?.is_some() || one("request_uri")?.is_some() {
        return Err(("request_not_supported", "Send the parameters themselves, not a request object.".to_owned()));
    }
    match one("response_type")? {
        Some("code") => {}
        Some(_) => return Err(("unsupported_response_type", "The response_type must be code.".to_owned())),
        None => return invalid("The response_type is missing; it must be code."),
    }
    if !client.may_use(GrantType::AuthorizationCode) {
        return Err(("unauthorized_client", "This client cannot ask users for access.".to_owned()));
    }
    if one("response_mode")?.is_some_and(|mode| mode != "query") {
        return invalid("The response_mode must be query.");
    }
    match one("code_challenge_method")? {
        Some("S256") => {}
        Some(_) => return invalid("The code_challenge_method must be S256."),
        None => return invalid("PKCE is required: send code_challenge, and S256 as code_challenge_method."),
    }
    let is_challenge = |text: &&str| {
        text.len() == CHALLENGE_CHARACTERS
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let Some(challenge) = one("code_challenge")?.filter(is_challenge) else {
        return invalid("PKCE is required: code_challenge must be a SHA-256 in base64url, 43 characters.");
    };
    if !parameters.all("resource").all(|resource| is_own_resource(resource, own)) {
        return Err(("invalid_target", format!("The resource must be {}/mcp.", own[0])));
    }
    let scope = match one("scope")? {
        Some(text) => text.parse::<OauthScopes>().map_err(|words| ("invalid_scope", words))?,
        None => client.scope.unwrap_or(OauthScopes::USUAL),
    };
    if client.scope.is_some_and(|most| !most.covers(scope)) {
        return Err(("invalid_scope", "The requested scope exceeds the registered one.".to_owned()));
    }
    Ok((scope, challenge.to_owned()))
}

fn answer_location(redirect_uri: &str, parameters: &[(&str, &str)], state: Option<&str>, call: &Call) -> String {
    let mut parameters = parameters.to_vec();
    parameters.extend(state.map(|state| ("state", state)));
    parameters.push(("iss", &call.base_url));
    redirect::with_parameters(redirect_uri, &parameters)
}

/// Shows the question, after a login if there is none yet.
async fn resume(hub: &Hub, visitor: &Actor, request_id: &str) -> Result<Response, Stop> {
    if !is_request_id(request_id) {
        return Err(Stop::gone());
    }
    let Some(session) = visitor.session() else {
        return Ok(Redirect::to(&login_location(request_id)).into_response());
    };
    let id_hash = credential_hash(request_id);
    match hub.read(move |tx| store::find_unread_request(tx, &id_hash)).await? {
        Some(query) => {
            hub.write(move |tx| store::delete_request(tx, &id_hash)).await?;
            Box::pin(ask(hub, visitor, &query)).await
        }
        None => show(hub, visitor, session, request_id, StatusCode::OK, None, None).await,
    }
}

fn is_request_id(text: &str) -> bool {
    text.len() == REQUEST_ID_CHARACTERS && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn login_location(request_id: &str) -> String {
    format!("/login?next=%2Foauth%2Fauthorize%3Frequest_id%3D{request_id}")
}

/// What the page needs to know.
struct Question {
    request: PendingRequest,
    client: Client,
    agents: Vec<AgentChoice>,
}

async fn show(
    hub: &Hub,
    actor: &Actor,
    session: SessionId,
    request_id: &str,
    status: StatusCode,
    message: Option<&str>,
    selected: Option<&str>,
) -> Result<Response, Stop> {
    let id_hash = credential_hash(request_id);
    let is_bound = hub.read(move |tx| find_for(tx, &id_hash, session).map(|request| request.session.is_some())).await?;
    if !is_bound {
        // From here on it is this login's alone.
        hub.write(move |tx| {
            find_for(tx, &id_hash, session)?;
            Ok::<_, Stop>(store::update_request_session(tx, &id_hash, Some(session))?)
        })
        .await?;
    }
    let user = actor.id();
    let Question { request, client, agents } = hub.read(move |tx| find_question(tx, &id_hash, session, user)).await?;
    let registered_at = shown_time(client.created_at);
    let described_by = documents::shown_place(&client.client_id);
    let redirect_host = redirect::shown_host(&request.redirect_uri);
    let policy_origin = redirect::policy_origin(&request.redirect_uri);
    let csrf = form_token(hub, request_id, session);
    let page = Consent {
        client_name: &client.name,
        origin: match client.kind {
            ClientKind::Document => Origin::Document { host: &described_by },
            ClientKind::Registered | ClientKind::Owned => Origin::Registered { at: &registered_at },
        },
        redirect_host: &redirect_host,
        redirect_is_loopback: redirect::is_loopback(&request.redirect_uri),
        can_write: request.scope.write,
        username: &actor.principal.handle,
        selected: selected.or(agents.first().map(|agent| agent.name.as_str())).unwrap_or(SELF),
        agents: &agents,
        request_id,
        csrf: &csrf,
        message,
    };
    Ok(http_pages::consent(status, &page, policy_origin.as_deref())?)
}

fn find_question(tx: &mut Tx<'_>, id_hash: &[u8; 32], session: SessionId, user: PrincipalId) -> Result<Question, Stop> {
    let request = find_for(tx, id_hash, session)?;
    let client = client_store::find_client_by_id(tx, request.client)?.ok_or_else(Stop::gone)?;
    let choices = agents::list_choices(tx, user)?.into_iter();
    let agents = choices.map(|(name, display_name, archetype)| AgentChoice { name, display_name, archetype }).collect();
    Ok(Question { request, client, agents })
}

fn find_for(tx: &mut Tx<'_>, id_hash: &[u8; 32], session: SessionId) -> Result<PendingRequest, Stop> {
    let request = store::find_request(tx, id_hash)?.ok_or_else(Stop::gone)?;
    if request.session.is_some_and(|owner| owner != session) { Err(Stop::foreign()) } else { Ok(request) }
}

/// "2027-01-15 08:00 UTC"
fn shown_time(ms: i64) -> String {
    let text = Timestamp::from_ms(ms).to_string();
    let date_and_time = text.get(..16).unwrap_or(&text).replace('T', " ");
    format!("{date_and_time} UTC")
}

/// What only a page that this hub made for this login can have in its form.
fn form_token(hub: &Hub, request_id: &str, session: SessionId) -> String {
    let parts = [request_id.as_bytes(), &session.0.to_be_bytes()];
    URL_SAFE_NO_PAD.encode(hub.keys().sign(Purpose::ConsentForm, &parts))
}

fn is_form_token(hub: &Hub, token: &str, request_id: &str, session: SessionId) -> bool {
    let parts = [request_id.as_bytes(), &session.0.to_be_bytes()];
    URL_SAFE_NO_PAD.decode(token).is_ok_and(|bytes| hub.keys().verify(Purpose::ConsentForm, &parts, &bytes))
}

/// `POST /oauth/authorize/decision`: what the person said.
pub(super) async fn decide(hub: &Hub, visitor: &Actor, form: &[u8]) -> Result<Response, HubError> {
    answer(conclude(hub, visitor, form).await)
}

async fn conclude(hub: &Hub, visitor: &Actor, form: &[u8]) -> Result<Response, Stop> {
    let odd = || {
        let detail = "The form was changed.";
        Stop::page(StatusCode::BAD_REQUEST, "Invalid form", detail, START_AGAIN)
    };
    let form = Parameters::parse(form).ok_or_else(odd)?;
    let field = |name| form.one(name).map_err(|_| odd());
    let request_id = field("request_id")?.filter(|id| is_request_id(id)).ok_or_else(odd)?;
    let Some(session) = visitor.session() else {
        return Ok(Redirect::to(&login_location(request_id)).into_response());
    };
    if !is_form_token(hub, field("csrf")?.ok_or_else(odd)?, request_id, session) {
        return Err(Stop::foreign());
    }
    match field("decision")? {
        Some("approve") => {
            let Some(agent) = field("agent")? else {
                let message = Some("Choose who the app acts as.");
                return show(hub, visitor, session, request_id, StatusCode::BAD_REQUEST, message, None).await;
            };
            approve(hub, visitor, session, request_id, agent).await
        }
        Some("deny") => deny(hub, visitor, session, request_id).await,
        Some("switch") => switch(hub, visitor, session, request_id).await,
        _ => Err(odd()),
    }
}

async fn approve(
    hub: &Hub,
    actor: &Actor,
    session: SessionId,
    request_id: &str,
    agent: &str,
) -> Result<Response, Stop> {
    let (id_hash, agent, actor_in) = (credential_hash(request_id), agent.to_owned(), actor.clone());
    let (request, code) = hub
        .write(move |tx| {
            actor_in.require_still_valid(tx)?;
            let request = find_for(tx, &id_hash, session)?;
            let agent_id = chosen_agent(tx, actor_in.id(), &agent)?;
            let code = base62(tx.random_bytes());
            let grant = NewGrant::Consent {
                redirect_uri: &request.redirect_uri,
                code_hash: &credential_hash(&code),
                code_challenge: &request.code_challenge,
                code_expires_at: tx.now_ms() + milliseconds(CODE_LIFETIME),
            };
            let ends = tx.now_ms() + milliseconds(GRANT_LIFETIME);
            let id = store::insert_grant(tx, request.client, actor_in.id(), agent_id, request.scope, ends, &grant)?;
            store::delete_request(tx, &id_hash)?;
            let client = client_store::find_client_by_id(tx, request.client)?.ok_or_else(Stop::gone)?;
            let details = json!({"grant": id, "agent": agent_id.map(|_| &agent), "scope": request.scope,
                "redirect_host": redirect::shown_host(&request.redirect_uri)});
            audit::record(tx, &actor_in, "oauth.granted", Some(&client.client_id), &details)?;
            Ok::<_, Stop>((request, code))
        })
        .await?;
    Err(Stop::Client(answer_location(&request.redirect_uri, &[("code", &code)], request.state.as_deref(), &actor.call)))
}

/// The agent that was chosen, or none for the person.
fn chosen_agent(tx: &mut Tx<'_>, owner: PrincipalId, name: &str) -> Result<Option<PrincipalId>, Stop> {
    if name == SELF {
        return Ok(None);
    }
    match agents::require_owned(tx, owner, name) {
        Ok(agent) => Ok(Some(agent)),
        Err(error) if error.kind == ErrorKind::NotFound => {
            let detail = "You have no agent with this name.";
            let hint = "Nothing was allowed. Go back and choose one of your agents.";
            Err(Stop::page(StatusCode::FORBIDDEN, "This is not your agent", detail, hint))
        }
        Err(error) => Err(error.into()),
    }
}

async fn deny(hub: &Hub, actor: &Actor, session: SessionId, request_id: &str) -> Result<Response, Stop> {
    let (id_hash, actor_in) = (credential_hash(request_id), actor.clone());
    let request = hub
        .write(move |tx| {
            actor_in.require_still_valid(tx)?;
            let request = find_for(tx, &id_hash, session)?;
            store::delete_request(tx, &id_hash)?;
            Ok::<_, Stop>(request)
        })
        .await?;
    let parameters = [("error", "access_denied"), ("error_description", "The user denied access.")];
    Err(Stop::Client(answer_location(&request.redirect_uri, &parameters, request.state.as_deref(), &actor.call)))
}

/// Somebody else shall answer: this login ends, and the question waits for the next one.
async fn switch(hub: &Hub, actor: &Actor, session: SessionId, request_id: &str) -> Result<Response, Stop> {
    let (id_hash, actor_in) = (credential_hash(request_id), actor.clone());
    hub.write(move |tx| {
        actor_in.require_still_valid(tx)?;
        find_for(tx, &id_hash, session)?;
        store::update_request_session(tx, &id_hash, None)?;
        Ok::<_, Stop>(())
    })
    .await?;
    users::log_out(hub, actor).await?;
    Ok((users::logged_out(hub)?, Redirect::to(&login_location(request_id))).into_response())
}
