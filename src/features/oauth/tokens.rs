//! Tokens: how they are got, renewed and known again.

use std::time::Duration;

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use stoa_db::{DbError, Tx};
use stoa_model::Secret;
use stoa_model::credentials::{CredentialKind, recognise};
use stoa_model::oauth::{ClientKind, GrantType, OauthScopes, TokenAnswer};
use stoa_model::principals::PrincipalKind;
use stoa_model::users::Role;
use subtle::ConstantTimeEq;

use super::client_store::{self, Client};
use super::clients;
use super::failure::{Failure, Refusal};
use super::grants;
use super::metadata::is_own_resource;
use super::parameters::Parameters;
use super::redirect::is_where_the_code_went;
use super::store::{self, Grant, NewGrant};
use super::successor;
use crate::access::auth_log::AuthEvent;
use crate::access::identity::{CredentialForm, CredentialStore, Door, FoundIdentity, credential_hash};
use crate::access::{Actor, Call, Credential, Principal, Reach};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::principals;
use crate::hub::Hub;

const ACCESS_LIFETIME: Duration = Duration::from_secs(3600);
/// How long a refresh token waits to be used.
const REFRESH_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long a grant lasts, however often it is renewed.
pub(super) const GRANT_LIFETIME: Duration = Duration::from_secs(90 * 24 * 3600);
/// Within this time a client that refreshes twice at once, or did not receive the answer, gets the same refresh token again, once.
const REFRESH_GRACE: Duration = Duration::from_secs(10);
/// Used refresh tokens that are remembered, so that whoever shows one again is noticed: six weeks of renewing every hour.
const MAX_GENERATIONS: i64 = 1000;
/// Grants of clients that owners made last as long as the client.
const FOR_EVER: i64 = i64::MAX;

/// What a token request came to. A refusal may have changed something: whoever shows a used code or token puts all
/// that came of it out of force, and that must be stored.
type Outcome = Result<Issued, Refusal>;

struct Issued {
    answer: TokenAnswer,
    grant: Grant,
}

/// `POST /oauth/token`.
pub(super) async fn request_token(
    hub: &Hub,
    call: &Call,
    headers: &HeaderMap,
    parameters: &Parameters,
) -> Result<TokenAnswer, Failure> {
    let grant_type = parameters.one("grant_type")?;
    let Some(grant_type) = grant_type else {
        return Err(Refusal::invalid_request("The grant_type is missing.").into());
    };
    let Some(grant_type) = GrantType::from_name(grant_type) else {
        let words = "The grant_type must be authorization_code, refresh_token or client_credentials.";
        return Err(Refusal::new("unsupported_grant_type", words).into());
    };
    let client = clients::authenticate(hub, call, headers, parameters).await?;
    let address = call.client_ip.filter(|_| client.is_public());
    hub.limits().take_token(client.id, address, hub.clock().now_ms())?;
    if !client.may_use(grant_type) {
        let words = format!("This client cannot use the grant type {}.", grant_type.name());
        return Err(Refusal::new("unauthorized_client", words).into());
    }
    let own = [call.base_url.as_str(), hub.base_url()];
    if !parameters.all("resource").all(|resource| is_own_resource(resource, own)) {
        return Err(Refusal::new("invalid_target", format!("The resource must be {}/mcp.", own[0])).into());
    }
    match grant_type {
        GrantType::AuthorizationCode => exchange_code(hub, call, client, parameters).await,
        GrantType::RefreshToken => refresh(hub, call, client, parameters).await,
        GrantType::ClientCredentials => client_credentials(hub, call, client, parameters).await,
    }
}

fn required(parameters: &Parameters, name: &'static str) -> Result<String, Refusal> {
    let value = parameters.one(name)?;
    value.map(str::to_owned).ok_or_else(|| Refusal::invalid_request(format!("The parameter {name} is missing.")))
}

fn wanted_scope(parameters: &Parameters) -> Result<Option<OauthScopes>, Refusal> {
    let text = parameters.one("scope")?;
    text.map(str::parse).transpose().map_err(|words: String| Refusal::new("invalid_scope", words))
}

async fn exchange_code(
    hub: &Hub,
    call: &Call,
    client: Client,
    parameters: &Parameters,
) -> Result<TokenAnswer, Failure> {
    let code_hash = credential_hash(&required(parameters, "code")?);
    let verifier = required(parameters, "code_verifier")?;
    let is_verifier = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    if !is_verifier {
        let words = "The code_verifier must be 43 to 128 letters, digits, and -._~.";
        return Err(Refusal::invalid_grant(words).into());
    }
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let stated = parameters.one("redirect_uri")?.map(str::to_owned);
    let (hub_in, client_id) = (hub.clone(), client.id);
    let may_refresh = client.may_use(GrantType::RefreshToken);
    let (outcome, revoked) = hub
        .write(move |tx| {
            let unknown = || Refusal::invalid_grant("The authorization code is unknown or belongs to another client.");
            let Some(grant) = store::find_grant_by_code(tx, &code_hash)?.filter(|grant| grant.client == client_id)
            else {
                return Ok((Err(unknown()), None));
            };
            if grant.code_used_at.is_some() {
                // Somebody else may have read the code: what it gave is taken back.
                let words = "The authorization code was already used. All tokens issued for it have been revoked.";
                let is_news = grants::withdraw(&hub_in, tx, &Actor::system(), &grant, "code_reused")?;
                return Ok((Err(Refusal::invalid_grant(words)), is_news.then_some(grant)));
            }
            if let Err(refusal) = check_code(tx, &grant, stated.as_deref(), &challenge) {
                return Ok((Err(refusal), None));
            }
            store::update_code_used(tx, grant.id)?;
            let scope = grant.scope;
            let refresh = if may_refresh { Refresh::First } else { Refresh::None };
            let issued = issue(&hub_in, tx, grant, scope, refresh)?;
            Ok::<(Outcome, _), HubError>((Ok(issued), None))
        })
        .await?;
    conclude(call, AuthEvent::TokenIssued, outcome, revoked)
}

fn check_code(tx: &Tx<'_>, grant: &Grant, stated: Option<&str>, challenge: &str) -> Result<(), Refusal> {
    if grant.code_expires_at.is_none_or(|expires_at| expires_at <= tx.now_ms()) {
        return Err(Refusal::invalid_grant("The authorization code has expired (codes are valid for 60 seconds)."));
    }
    if !grant.is_standing {
        return Err(Refusal::invalid_grant("This authorization has been revoked."));
    }
    let sent_to = grant.redirect_uri.as_deref().unwrap_or_default();
    if stated.is_some_and(|stated| !is_where_the_code_went(sent_to, stated)) {
        return Err(Refusal::invalid_grant("The redirect_uri does not match the authorization request."));
    }
    let expected = grant.code_challenge.as_deref().unwrap_or_default();
    if !bool::from(expected.as_bytes().ct_eq(challenge.as_bytes())) {
        return Err(Refusal::invalid_grant("The code_verifier does not match the code_challenge."));
    }
    Ok(())
}

async fn refresh(hub: &Hub, call: &Call, client: Client, parameters: &Parameters) -> Result<TokenAnswer, Failure> {
    let shown = Secret::new(required(parameters, "refresh_token")?);
    let token_hash = credential_hash(shown.expose());
    let wanted = wanted_scope(parameters)?;
    let (hub_in, client_id) = (hub.clone(), client.id);
    let (outcome, revoked) = hub
        .write(move |tx| {
            let refused = |words: &str| Ok((Err(Refusal::invalid_grant(words)), None));
            let found = store::find_refresh_token(tx, &token_hash)?.filter(|(_, grant)| grant.client == client_id);
            let Some((token, grant)) = found else {
                return refused("The refresh token is unknown or belongs to another client.");
            };
            if !grant.is_standing {
                return refused("This authorization has been revoked.");
            }
            let is_current = token.generation == grant.generation;
            let is_predecessor = token.generation == grant.generation - 1;
            let successor = if is_predecessor { store::find_successor(tx, &token_hash)? } else { None };
            if !is_current && successor.is_none() {
                // A thief and the client both have it, and nobody can tell which of them this is.
                let words = "The refresh token was already used. All tokens issued for it have been revoked.";
                let is_news = grants::withdraw(&hub_in, tx, &Actor::system(), &grant, "refresh_token_reused")?;
                return Ok((Err(Refusal::invalid_grant(words)), is_news.then_some(grant)));
            }
            if is_current && token.expires_at <= tx.now_ms() {
                return refused("The refresh token has expired (refresh tokens are valid for 30 days).");
            }
            let scope = wanted.unwrap_or(grant.scope);
            if !grant.scope.covers(scope) {
                let words = "The scope exceeds what was granted.";
                return Ok((Err(Refusal::new("invalid_scope", words)), None));
            }
            let issued = match successor {
                None => {
                    store::update_refresh_used(tx, &token_hash)?;
                    issue(&hub_in, tx, grant, scope, Refresh::After(&shown))?
                }
                Some(sealed) => {
                    // The copy is for one replay.
                    store::delete_successor(tx, &token_hash)?;
                    let successor = successor::open(&hub_in.keys(), &shown, &sealed)?;
                    let access = issue_access_token(tx, &grant, scope)?;
                    Issued { answer: TokenAnswer { refresh_token: Some(successor), ..access }, grant }
                }
            };
            Ok::<(Outcome, _), HubError>((Ok(issued), None))
        })
        .await?;
    conclude(call, AuthEvent::TokenRefreshed, outcome, revoked)
}

/// For clients that an owner made: they act as one agent, and ask again instead of renewing.
async fn client_credentials(
    hub: &Hub,
    call: &Call,
    client: Client,
    parameters: &Parameters,
) -> Result<TokenAnswer, Failure> {
    let wanted = wanted_scope(parameters)?;
    let scope = OauthScopes { offline: false, ..wanted.unwrap_or(OauthScopes::USUAL) };
    let (Some(owner), Some(agent), ClientKind::Owned) = (client.owner, client.agent, client.kind) else {
        let words = "Client credentials are only for clients created by an owner.";
        return Err(Refusal::new("unauthorized_client", words).into());
    };
    let (hub_in, client_id) = (hub.clone(), client.id);
    let outcome = hub
        .write(move |tx| {
            let grant = match store::find_grant_of_client(tx, client_id)? {
                Some(grant) => grant,
                None => {
                    let most = OauthScopes::USUAL;
                    store::insert_grant(tx, client_id, owner, Some(agent), most, FOR_EVER, &NewGrant::Client)?;
                    store::find_grant_of_client(tx, client_id)?.ok_or(DbError::NoRow)?
                }
            };
            if !grant.is_standing {
                let words = "The client's owner is disabled, or its agent was deleted.";
                return Ok(Err(Refusal::new("unauthorized_client", words)));
            }
            let issued = issue(&hub_in, tx, grant, scope, Refresh::None)?;
            Ok::<Outcome, HubError>(Ok(issued))
        })
        .await?;
    conclude(call, AuthEvent::TokenIssued, outcome, None)
}

/// Says in the log what happened, and gives the answer.
fn conclude(call: &Call, event: AuthEvent, outcome: Outcome, revoked: Option<Grant>) -> Result<TokenAnswer, Failure> {
    if let Some(grant) = &revoked {
        let why = outcome.as_ref().err().map_or("", |refusal| refusal.description.as_str());
        grants::log(AuthEvent::TokenRevoked, call, grant, Some(why));
    }
    let issued = outcome?;
    grants::log(event, call, &issued.grant, None);
    Ok(issued.answer)
}

/// Whether an answer has a refresh token in it.
#[derive(Clone, Copy)]
enum Refresh<'a> {
    None,
    First,
    /// In place of this one.
    After(&'a Secret),
}

/// Makes the tokens of a grant's next generation.
fn issue(
    hub: &Hub,
    tx: &mut Tx<'_>,
    grant: Grant,
    scope: OauthScopes,
    refresh: Refresh<'_>,
) -> Result<Issued, HubError> {
    let access = issue_access_token(tx, &grant, scope)?;
    client_store::update_used(tx, grant.client)?;
    store::update_grant_used(tx, grant.id)?;
    if matches!(refresh, Refresh::None) {
        return Ok(Issued { answer: access, grant });
    }
    let generation = grant.generation + 1;
    let random = tx.random_bytes();
    let token = CredentialKind::RefreshToken.render(random);
    let expires_at = (tx.now_ms() + milliseconds(REFRESH_LIFETIME)).min(grant.expires_at);
    store::insert_refresh_token(tx, &credential_hash(&token), grant.id, generation, expires_at)?;
    // A client that uses a token has received it, so nobody needs a copy of it.
    store::delete_successors(tx, grant.id)?;
    if let Refresh::After(old) = refresh {
        let sealed = successor::seal(&hub.keys(), tx, old, random)?;
        let copy_expires_at = tx.now_ms() + milliseconds(REFRESH_GRACE);
        store::insert_successor(tx, &credential_hash(old.expose()), grant.id, &sealed, copy_expires_at)?;
    }
    store::update_generation(tx, grant.id, generation)?;
    store::delete_old_refresh_tokens(tx, grant.id, generation - MAX_GENERATIONS)?;
    Ok(Issued { answer: TokenAnswer { refresh_token: Some(Secret::new(token)), ..access }, grant })
}

fn issue_access_token(tx: &mut Tx<'_>, grant: &Grant, scope: OauthScopes) -> Result<TokenAnswer, DbError> {
    let token = CredentialKind::AccessToken.render(tx.random_bytes());
    let expires_at = (tx.now_ms() + milliseconds(ACCESS_LIFETIME)).min(grant.expires_at);
    store::insert_access_token(tx, &credential_hash(&token), grant.id, scope, expires_at)?;
    let expires_in = (expires_at - tx.now_ms()) / 1000;
    Ok(TokenAnswer { access_token: Secret::new(token), token_type: "Bearer", expires_in, refresh_token: None, scope })
}

/// Whose access token this is, and how far it reaches. Asked at each request: that the person may log in, and that the
/// agent is there and theirs, can change at any time.
pub fn find_by_token_hash(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<FoundIdentity>, DbError> {
    let now = tx.now_ms();
    let found = store::find_access_token(tx, hash)?;
    let found = found.filter(|(token, grant)| token.expires_at > now && grant.is_standing);
    Ok(found.map(|(token, grant)| FoundIdentity {
        principal: Principal {
            id: grant.acting(),
            kind: if grant.agent.is_some() { PrincipalKind::Agent } else { PrincipalKind::User },
            handle: grant.acting_name().to_owned(),
            human: grant.user,
            role: Role::Member,
            credential: Credential::AccessToken(grant.id),
            permissions: token.scope.permissions(),
            reach: Reach::Everything,
            expires_at: Some(token.expires_at),
            proof: None,
        },
        seen_at: grant.last_used_at,
    }))
}

fn note_use(tx: &mut Tx<'_>, principal: &Principal) -> Result<(), DbError> {
    principals::note_seen(tx, principal.id)?;
    match principal.credential {
        Credential::AccessToken(grant) => store::update_grant_used(tx, grant),
        _ => Ok(()),
    }
}

pub(super) const ACCESS_TOKEN: CredentialStore = CredentialStore {
    form: CredentialForm::Bearer(CredentialKind::AccessToken),
    doors: &[Door::McpBearer],
    find: find_by_token_hash,
    note_use,
};

/// Which of the two kinds of token a text is, if it is one at all.
pub(super) fn token_kind(text: &str) -> Option<CredentialKind> {
    recognise(text).filter(|kind| matches!(kind, CredentialKind::AccessToken | CredentialKind::RefreshToken))
}
