//! Clients that a document describes: their id is the https address where it lies.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use stoa_model::oauth::{AuthMethod, ClientKind, ClientRegistration};
use stoa_outbound::{Limits, Request};
use tokio::sync::Semaphore;
use url::Url;

use super::client_store::{self, Client, NewClient};
use super::registration::{UNNAMED, describe};
use crate::access::Call;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::hub::Hub;
use crate::json::{is_json_type, media_type, parse_json_value};

const MAX_ID_BYTES: usize = 2048;
const LIMITS: Limits = Limits {
    connect_timeout: Duration::from_secs(3),
    total_timeout: Duration::from_secs(3),
    max_answer_bytes: 5 * 1024,
};
/// A document is believed at least and at most this long, whatever its server says.
const FRESH_AT_LEAST: Duration = Duration::from_secs(5 * 60);
const FRESH_AT_MOST: Duration = Duration::from_secs(24 * 3600);

/// How long an address that led to nothing is not tried again.
const FAILED_FOR: Duration = Duration::from_secs(60);
const MAX_FETCHES: usize = 8;

/// Why there is no client to be had from an address, for the person who was sent here.
pub(super) enum NoClient {
    Refused(String),
    Hub(HubError),
}

impl From<HubError> for NoClient {
    fn from(error: HubError) -> Self {
        NoClient::Hub(error)
    }
}

impl From<stoa_db::DbError> for NoClient {
    fn from(error: stoa_db::DbError) -> Self {
        NoClient::Hub(error.into())
    }
}

/// Fetches under way, and those that lately came to nothing: trying them again at once would only help somebody who wants
/// to keep the hub, or another server, busy.
struct Fetches {
    turns: Semaphore,
    failures: Mutex<HashMap<String, (i64, String)>>,
}

impl Default for Fetches {
    fn default() -> Self {
        Self { turns: Semaphore::new(MAX_FETCHES), failures: Mutex::default() }
    }
}

impl Fetches {
    fn recent_failure(&self, client_id: &str, now: i64) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get(client_id).filter(|(until, _)| *until > now).map(|(_, reason)| reason.clone())
    }

    fn note_failure(&self, client_id: &str, reason: &str, now: i64) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|_, (until, _)| *until > now);
        failures.insert(client_id.to_owned(), (now + milliseconds(FAILED_FOR), reason.to_owned()));
    }
}

/// Whether an id is meant as an address.
pub(super) fn is_address(client_id: &str) -> bool {
    client_id.starts_with("https://")
}

/// The client whose description lies at `client_id`: as it was read lately, or read now.
pub(super) async fn find(hub: &Hub, call: &Call, client_id: &str) -> Result<Client, NoClient> {
    let host = check_address(client_id).map_err(|reason| NoClient::Refused(reason.to_owned()))?;
    let name = client_id.to_owned();
    let known = hub.read(move |tx| client_store::find_client(tx, &name)).await?;
    let now = hub.clock().now_ms();
    if let Some(client) = known.filter(|client| client.fresh_until.is_some_and(|until| until > now)) {
        return Ok(client);
    }
    hub.limits().take_client_document(call.client_ip, now)?;
    let fetches = hub.memory::<Fetches>();
    if let Some(reason) = fetches.recent_failure(client_id, now) {
        return Err(NoClient::Refused(reason));
    }
    let Ok(_turn) = fetches.turns.try_acquire() else {
        return Err(HubError::unavailable("Too many apps are being looked up.").into());
    };
    let (document, fresh_for) = fetch(hub, client_id).await.inspect_err(|reason| {
        if let NoClient::Refused(reason) = reason {
            fetches.note_failure(client_id, reason, now);
        }
    })?;
    let described = describe(hub.config(), &document)
        .map_err(|refusal| NoClient::Refused(format!("The client's metadata is invalid: {}", refusal.description)))?;
    let new = NewClient {
        client_id: client_id.to_owned(),
        kind: ClientKind::Document,
        name: described.name.unwrap_or_else(|| UNNAMED.to_owned()),
        auth_method: AuthMethod::None,
        secret_hash: None,
        registration_hash: None,
        redirect_uris: described.redirect_uris,
        grant_types: described.grant_types,
        scope: described.scope,
        application_type: described.application_type,
        owner: None,
        agent: None,
        introspects_all: false,
        fresh_until: Some(now + milliseconds(fresh_for)),
    };
    tracing::info!(host, request_id = call.request_id, "the description of an OAuth client was read");
    Ok(hub.write(move |tx| client_store::put_client(tx, &new)).await?)
}

/// The host of an address that can be a client's id. It must be written as browsers would write it, so that one client
/// cannot go by several names.
fn check_address(client_id: &str) -> Result<String, &'static str> {
    let url = Url::parse(client_id).map_err(|_| "The client id is not a valid URL.")?;
    if client_id.len() > MAX_ID_BYTES || url.as_str() != client_id || url.path() == "/" {
        return Err(
            "The client's id must be an https address with a path, as a browser would write it: without `.` or `..` as a part of the path, without the usual port.",
        );
    }
    if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Err("The client's id must not have a fragment, a user name or a password.");
    }
    url.host_str().map(str::to_owned).ok_or("The client's id has no host.")
}

/// Where a client's description lies, for people to see: on some hosts everybody has a place of their own.
pub(super) fn shown_place(client_id: &str) -> String {
    client_id.strip_prefix("https://").unwrap_or(client_id).to_owned()
}

async fn fetch(hub: &Hub, client_id: &str) -> Result<(ClientRegistration, Duration), NoClient> {
    let refused = |words: &str| NoClient::Refused(words.to_owned());
    let request = Request::get(client_id).header(header::ACCEPT, HeaderValue::from_static("application/json"));
    let answer = hub.outbound()?.with_limits(LIMITS).send(request).await.map_err(|error| {
        // What is wrong with an address is for whoever runs the hub: others could find out with it what is inside.
        let (code, reason) = (error.code(), error.to_string());
        tracing::info!(client_id, code, reason, "the description of an OAuth client could not be read");
        refused("The client's metadata could not be read: the address is unreachable or not allowed.")
    })?;
    if answer.status != StatusCode::OK {
        return Err(NoClient::Refused(format!("The client's server returned {} instead of metadata.", answer.status)));
    }
    if answer.is_cut {
        return Err(refused("The client's metadata is longer than 5 KiB."));
    }
    if !media_type(&answer.headers).is_some_and(|media_type| is_json_type(&media_type)) {
        return Err(refused("The client's metadata is not sent as JSON."));
    }
    let value = parse_json_value(&answer.body).map_err(|_| refused("The client's metadata is not valid JSON."))?;
    if value["client_id"] != client_id {
        return Err(refused("The client's metadata belongs to another client: client_id must be its own URL."));
    }
    if !matches!(value["token_endpoint_auth_method"].as_str(), None | Some("none"))
        || value.get("client_secret").is_some()
    {
        return Err(refused("A client with public metadata cannot have a secret."));
    }
    let document: ClientRegistration =
        serde_json::from_value(value).map_err(|_| refused("The client's metadata has missing or invalid fields."))?;
    if document.client_name.as_deref().unwrap_or_default().trim().is_empty() {
        return Err(refused("The client's metadata has no client_name."));
    }
    Ok((document, fresh_for(&answer.headers)))
}

/// How long an answer may be believed, by its Cache-Control, within our own bounds.
fn fresh_for(headers: &HeaderMap) -> Duration {
    let values = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let mut seconds = None;
    for directive in values.flat_map(|value| value.split(',')) {
        let directive = directive.trim().to_ascii_lowercase();
        if directive == "no-store" || directive == "no-cache" {
            return FRESH_AT_LEAST;
        }
        if let Some(number) = directive.strip_prefix("max-age=") {
            let digits = number.trim_matches('"');
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            // More than can be counted is long.
            seconds = is_number.then(|| digits.parse().unwrap_or(u64::MAX));
        }
    }
    Duration::from_secs(seconds.unwrap_or(0)).clamp(FRESH_AT_LEAST, FRESH_AT_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_can_be_ids() {
        for good in ["https://claude.ai/oauth/claude-code-client-metadata", "https://a.example:8443/c.json?v=1"] {
            assert!(check_address(good).is_ok(), "{good}");
        }
        for bad in [
            "https://a.example",
            "https://a.example/",
            "https://a.example/x/../c.json",
            "https://a.example/./c.json",
            "https://a.example/%2e%2e/c.json",
            "https://A.example/c.json",
            "https://a.example:443/c.json",
            "https://a.example/c.json#x",
            "https://user@a.example/c.json",
            "https://user:password@a.example/c.json",
            "https:///c.json",
            "https://a.example/c d.json",
            "https://a.example\\c.json",
        ] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn documents_are_believed_for_a_while() {
        let fresh = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CACHE_CONTROL, value.parse().unwrap());
            fresh_for(&headers).as_secs()
        };
        assert_eq!(fresh("max-age=3600"), 3600);
        assert_eq!(fresh("public, max-age=10"), 300);
        assert_eq!(fresh("max-age=99999999"), 86400);
        assert_eq!(fresh("max-age=99999999999999999999999"), 86400);
        assert_eq!(fresh("no-store, max-age=3600"), 300);
        assert_eq!(fresh("max-age=much"), 300);
        assert_eq!(fresh_for(&HeaderMap::new()).as_secs(), 300);
    }
}
