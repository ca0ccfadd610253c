//! Clients that register themselves (RFC 7591) and look after their registration (RFC 7592).

use std::sync::{Mutex, PoisonError};

use serde_json::json;
use stoa_db::Tx;
use stoa_model::Secret;
use stoa_model::credentials::base62;
use stoa_model::oauth::{
    AuthMethod, ClientInformation, ClientKind, ClientRegistration, GrantType, OauthScopes, shown_client_name,
};

use super::client_store::{self, Client, NewClient};
use super::failure::{Failure, Refusal};
use super::{owned, prune, redirect};
use crate::access::auth_log::{self, AuthEvent};
use crate::access::identity::credential_hash;
use crate::access::password_line::Caller;
use crate::access::{Actor, Call};
use crate::config::Config;
use crate::error::HubError;
use crate::features::audit;
use crate::hub::Hub;

const MAX_BODY_BYTES: usize = 16 * 1024;
/// When those who found no room may try again.
const RETRY_SECONDS: u64 = 600;
const MAX_REDIRECT_URIS: usize = 20;
const MAX_NAME_CHARACTERS: usize = 200;
/// Characters of a client's id: 130 bits, which nobody guesses and nobody needs to.
const ID_CHARACTERS: usize = 22;
pub(super) const UNNAMED: &str = "An app without a name";

/// What a client says of itself, found to be acceptable.
pub(super) struct Described {
    pub(super) name: Option<String>,
    pub(super) redirect_uris: Vec<String>,
    pub(super) grant_types: Vec<GrantType>,
    pub(super) scope: Option<OauthScopes>,
    pub(super) application_type: Option<String>,
}

/// Reads a client's own words. What this hub does not know is left out, where the rest makes sense without it: clients
/// offer all that they can do to every server alike.
pub(super) fn describe(config: &Config, request: &ClientRegistration) -> Result<Described, Refusal> {
    let fault = |words: &str| Refusal::new("invalid_client_metadata", words);
    if request.redirect_uris.is_empty() || request.redirect_uris.len() > MAX_REDIRECT_URIS {
        let words = format!("redirect_uris must be 1 to {MAX_REDIRECT_URIS} addresses.");
        return Err(Refusal::new("invalid_redirect_uri", words));
    }
    for (index, uri) in request.redirect_uris.iter().enumerate() {
        redirect::check(uri, &config.oauth_redirects)
            .map_err(|reason| Refusal::new("invalid_redirect_uri", format!("redirect_uris[{index}] {reason}.")))?;
    }
    let name = request.client_name.as_deref().unwrap_or_default();
    if name.chars().count() > MAX_NAME_CHARACTERS {
        return Err(fault("client_name must be at most 200 characters long."));
    }
    let grant_types = match &request.grant_types {
        Some(named) => {
            let mut known = Vec::new();
            for grant_type in named.iter().filter_map(|name| GrantType::from_name(name)) {
                // Nobody vouches for a client that registered itself, so it can act for people only.
                if grant_type != GrantType::ClientCredentials && !known.contains(&grant_type) {
                    known.push(grant_type);
                }
            }
            known
        }
        None => vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
    };
    if !grant_types.contains(&GrantType::AuthorizationCode) {
        return Err(fault(
            "grant_types must contain authorization_code: client credentials are only for clients created by \
                          an owner.",
        ));
    }
    if request.response_types.as_ref().is_some_and(|types| !types.iter().any(|name| name == "code")) {
        return Err(fault("response_types must contain code."));
    }
    if request.application_type.as_ref().is_some_and(|kind| !matches!(kind.as_str(), "web" | "native")) {
        return Err(fault("application_type must be web or native."));
    }
    Ok(Described {
        name: shown_client_name(name),
        redirect_uris: request.redirect_uris.clone(),
        grant_types,
        scope: request.scope.as_deref().and_then(OauthScopes::known),
        application_type: request.application_type.clone(),
    })
}

/// Reads the body of a registration, of which strangers may send anything.
pub(super) fn parse(body: &[u8]) -> Result<ClientRegistration, Refusal> {
    let fault = |words: String| Refusal::new("invalid_client_metadata", words);
    if body.len() > MAX_BODY_BYTES {
        return Err(fault(format!("Client metadata can be up to {MAX_BODY_BYTES} bytes.")));
    }
    crate::json::parse_json(body).map_err(|error: HubError| {
        let is_redirect = error.errors.iter().any(|fault| fault.field.starts_with("redirect_uris"));
        let word = if is_redirect { "invalid_redirect_uri" } else { "invalid_client_metadata" };
        Refusal::new(word, error.detail.clone())
    })
}

/// Registers a client. Its secrets are in the answer and are never shown again.
pub(super) async fn register(hub: &Hub, call: &Call, body: &[u8]) -> Result<ClientInformation, Failure> {
    hub.limits().take_client_registration(call.client_ip, hub.clock().now_ms())?;
    let request = parse(body)?;
    let described = describe(hub.config(), &request)?;
    let auth_method = match request.token_endpoint_auth_method.as_deref() {
        None => AuthMethod::ClientSecretBasic,
        Some(name) => AuthMethod::from_name(name).ok_or_else(|| {
            let words = "token_endpoint_auth_method must be none, client_secret_basic or client_secret_post.";
            Refusal::new("invalid_client_metadata", words)
        })?,
    };
    make_room(hub).await?;
    let secret = if auth_method == AuthMethod::None { None } else { Some(random_secret()?) };
    let secret_hash = match &secret {
        Some(secret) => Some(hub.client_secrets().hash(Caller::Client(call.client_ip), secret).await?),
        None => None,
    };
    let registration_token = random_secret()?;
    let new = NewClient {
        client_id: String::new(),
        kind: ClientKind::Registered,
        name: described.name.unwrap_or_else(|| UNNAMED.to_owned()),
        auth_method,
        secret_hash,
        registration_hash: Some(credential_hash(registration_token.expose())),
        redirect_uris: described.redirect_uris,
        grant_types: described.grant_types,
        scope: described.scope,
        application_type: described.application_type,
        owner: None,
        agent: None,
        introspects_all: false,
        fresh_until: None,
    };
    let client = hub
        .write(move |tx| {
            let client_id = new_client_id(tx);
            client_store::put_client(tx, &NewClient { client_id, ..new.clone() })
        })
        .await?;
    tracing::info!(client_id = client.client_id, request_id = call.request_id, "an OAuth client registered itself");
    Ok(information(call, client, secret, registration_token))
}

/// Strangers register clients, from as many addresses as they have, so there is a limit to those that nobody has used.
async fn make_room(hub: &Hub) -> Result<(), Failure> {
    let (room, now) = (hub.memory::<Room>(), hub.clock().now_ms());
    match room.take(now) {
        Some(true) => return Ok(()),
        Some(false) => {}
        None => {
            let mut free = hub.read(prune::room_for_unused).await?;
            if free == 0 {
                free = hub.write(prune::prune_oldest_unused).await? as i64;
            }
            if room.note_counted(free, now) {
                return Ok(());
            }
        }
    }
    let words = "Too many unused clients registered in the last hour. Retry later.";
    Err(Refusal::unavailable(words, RETRY_SECONDS).into())
}

/// How many clients may register before those that nobody has used are counted again: counting them takes longer than registering one.
#[derive(Default)]
struct Room(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    left: i64,
    /// None until they were counted.
    at: Option<i64>,
}

/// Clients that are let in after one count. Other hubs let clients in, too.
const MAX_BETWEEN_COUNTS: i64 = 20;
/// How long it is believed that there is no room.
const FULL_MS: i64 = 1000;

impl Room {
    /// Whether there is room for another client; none if it has to be counted.
    fn take(&self, now_ms: i64) -> Option<bool> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.left > 0 {
            counted.left -= 1;
            return Some(true);
        }
        let is_full = counted.at.is_some_and(|at| now_ms.abs_diff(at) < FULL_MS.unsigned_abs());
        is_full.then_some(false)
    }

    /// Notes for how many clients there is room, and takes it for one.
    fn note_counted(&self, free: i64, now_ms: i64) -> bool {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = free > 0;
        // A count that found room is not asked how old it is.
        *counted =
            Counted { left: free.min(MAX_BETWEEN_COUNTS) - i64::from(has_room), at: (!has_room).then_some(now_ms) };
        has_room
    }
}

pub(super) fn new_client_id(tx: &mut Tx<'_>) -> String {
    let digits = base62(tx.random_bytes());
    // The first digits are not evenly spread.
    digits[digits.len() - ID_CHARACTERS..].to_owned()
}

pub(super) fn random_secret() -> Result<Secret, HubError> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(HubError::internal)?;
    Ok(Secret::new(base62(random)))
}

fn information(call: &Call, client: Client, secret: Option<Secret>, registration_token: Secret) -> ClientInformation {
    ClientInformation {
        client_id_issued_at: client.created_at / 1000,
        client_secret_expires_at: secret.as_ref().map(|_| 0),
        client_secret: secret,
        registration_client_uri: format!("{}/oauth/register/{}", call.base_url, client.client_id),
        registration_access_token: registration_token,
        client_name: Some(client.name).filter(|name| name != UNNAMED),
        redirect_uris: client.redirect_uris,
        grant_types: client.grant_types,
        response_types: vec!["code"],
        token_endpoint_auth_method: client.auth_method,
        application_type: client.application_type,
        scope: client.scope.unwrap_or(OauthScopes::USUAL),
        client_id: client.client_id,
    }
}

/// A registration, for whoever holds its token. The client's secret is not kept and so not shown.
pub(super) async fn read(
    hub: &Hub,
    call: &Call,
    client_id: String,
    token: Option<Secret>,
) -> Result<ClientInformation, Failure> {
    let token = token.ok_or_else(refused)?;
    let hash = credential_hash(token.expose());
    let client = hub.read(move |tx| client_store::find_registration(tx, &client_id, &hash)).await?;
    Ok(information(call, client.ok_or_else(refused)?, None, token))
}

/// Ends a registration, with all that people let the client do.
pub(super) async fn delete(hub: &Hub, actor: &Actor, client_id: String, token: Option<Secret>) -> Result<(), Failure> {
    let hash = credential_hash(token.ok_or_else(refused)?.expose());
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let client = hub
        .write(move |tx| {
            let client = client_store::find_registration(tx, &client_id, &hash)?.ok_or_else(refused)?;
            owned::remove(&hub_in, tx, &Actor::system(), client.id)?;
            let details = json!({"name": client.name, "kind": client.kind, "by": "itself"});
            audit::record(tx, &actor_in, "oauth.client_deleted", Some(&client.client_id), &details)?;
            Ok::<_, Failure>(client)
        })
        .await?;
    let detail = format!("all of OAuth client {}, by itself", client.client_id);
    auth_log::record(AuthEvent::TokenRevoked, &actor.call, None, None, Some(&detail));
    Ok(())
}

fn refused() -> Refusal {
    Refusal::invalid_token("Unknown registration or wrong token.")
}
