//! Questions about tokens (RFC 7662), and the wish that one be no more (RFC 7009).

use axum::http::HeaderMap;
use stoa_model::credentials::CredentialKind;
use stoa_model::oauth::Introspection;

use super::clients;
use super::failure::{Failure, Refusal};
use super::grants;
use super::metadata::audience;
use super::parameters::Parameters;
use super::store::{self, Grant};
use super::tokens::token_kind;
use crate::access::auth_log::AuthEvent;
use crate::access::identity::credential_hash;
use crate::access::{Actor, Call};
use crate::error::HubError;
use crate::features::principals;
use crate::hub::Hub;

fn token(parameters: &Parameters) -> Result<(Option<CredentialKind>, [u8; 32]), Refusal> {
    let token = parameters.one("token")?.ok_or_else(|| Refusal::invalid_request("The parameter token is missing."))?;
    Ok((token_kind(token), credential_hash(token)))
}

/// `POST /oauth/introspect`: what a token stands for, for the client that it was given to. Hints are not needed: a token
/// says itself what it is.
pub(super) async fn introspect(
    hub: &Hub,
    call: &Call,
    headers: &HeaderMap,
    parameters: &Parameters,
) -> Result<Introspection, Failure> {
    let client = clients::authenticate(hub, call, headers, parameters).await?;
    if client.is_public() {
        let words = "Only clients with a secret can introspect tokens.";
        return Err(Refusal::invalid_client(words, None).into());
    }
    let (kind, hash) = token(parameters)?;
    let found = hub
        .read(move |tx| {
            let now = tx.now_ms();
            let found = match kind {
                Some(CredentialKind::AccessToken) => store::find_access_token(tx, &hash)?
                    .filter(|(token, _)| token.expires_at > now)
                    .map(|(token, grant)| (token.scope, token.created_at, token.expires_at, grant)),
                Some(CredentialKind::RefreshToken) => store::find_refresh_token(tx, &hash)?
                    .filter(|(token, _)| token.used_at.is_none() && token.expires_at > now)
                    .map(|(token, grant)| (grant.scope, token.created_at, token.expires_at, grant)),
                _ => None,
            };
            Ok::<_, HubError>(found)
        })
        .await?;
    let is_shown = |grant: &Grant| grant.is_standing && (client.introspects_all || grant.client == client.id);
    let Some((scope, created_at, expires_at, grant)) = found.filter(|(.., grant)| is_shown(grant)) else {
        return Ok(Introspection::default());
    };
    Ok(Introspection {
        active: true,
        scope: Some(scope),
        client_id: Some(grant.client_id),
        sub: Some(grant.username.clone()),
        username: Some(grant.username),
        agent: grant.agent_name,
        aud: Some(audience(&call.base_url)),
        iss: Some(call.base_url.clone()),
        exp: Some(expires_at / 1000),
        iat: Some(created_at / 1000),
        token_type: Some(if kind == Some(CredentialKind::RefreshToken) { "refresh_token" } else { "Bearer" }),
    })
}

/// `POST /oauth/revoke`: a refresh token takes everything along that came of the same grant, an access token only itself.
/// Of what is not the client's nothing is said, not even that it is there.
pub(super) async fn revoke(
    hub: &Hub,
    call: &Call,
    headers: &HeaderMap,
    parameters: &Parameters,
) -> Result<(), Failure> {
    let client = clients::authenticate(hub, call, headers, parameters).await?;
    let (Some(kind), hash) = token(parameters)? else { return Ok(()) };
    let hub_in = hub.clone();
    let revoked = hub
        .write(move |tx| {
            let grant = match kind {
                CredentialKind::RefreshToken => store::find_refresh_token(tx, &hash)?.map(|(_, grant)| grant),
                _ => store::find_access_token(tx, &hash)?.map(|(_, grant)| grant),
            };
            let Some(grant) = grant.filter(|grant| grant.client == client.id) else { return Ok(None) };
            let is_news = if kind == CredentialKind::RefreshToken {
                grants::withdraw(&hub_in, tx, &Actor::system(), &grant, "by_the_client")?
            } else {
                store::delete_access_token(tx, &hash)?;
                principals::withdraw_access(&hub_in, tx, &Actor::system(), grant.acting())?;
                true
            };
            Ok::<_, HubError>(is_news.then_some(grant))
        })
        .await?;
    if let Some(grant) = revoked {
        grants::log(AuthEvent::TokenRevoked, call, &grant, Some("By the client."));
    }
    Ok(())
}
