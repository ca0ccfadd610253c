//! Services and the events that they send, each request signed anew.

use std::net::SocketAddr;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use ed25519_dalek::SigningKey;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stoa_registry::{Audience, Scope};
use stoa_signature::{Signer, TAG_PREFIX};

use super::raw_writer::BODY;
use super::real_time::unix_seconds;

/// The component that the hub is to the services.
pub(super) const AUDIENCE: Audience = Audience::Brain;
/// Events of this type have a route into a channel.
pub(super) const ROUTED: &str = "svc.bench.routed";
/// Nobody wants to hear of these: they are stored, and that is all.
pub(super) const UNROUTED: &str = "svc.bench.unrouted";
pub(super) const CONFIG: &str = "bench";

const KID: &str = "key-of-the-bench";
const PATH: &str = "/machine/events";
/// In seconds. Requests are sent right after they are signed.
const LIFETIME: i64 = 60;

pub(super) fn tag() -> String {
    format!("{TAG_PREFIX}{}", AUDIENCE.name())
}

/// A machine principal and its key.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Service {
    pub(super) principal_id: String,
    secret: [u8; 32],
}

impl Service {
    pub(super) fn new(number: usize) -> Result<Self, String> {
        Ok(Self { principal_id: format!("svc:sense:bench-{number:04}"), secret: random_bytes()? })
    }

    pub(super) fn key(&self) -> SigningKey {
        SigningKey::from_bytes(&self.secret)
    }

    pub(super) fn key_id(&self) -> String {
        format!("{}/{KID}", self.principal_id)
    }

    pub(super) fn signer(&self) -> Result<Signer, String> {
        Signer::new(self.key(), &self.key_id(), &tag()).map_err(|error| error.to_string())
    }

    fn entry(&self) -> Value {
        let public = BASE64_URL_SAFE_NO_PAD.encode(self.key().verifying_key().as_bytes());
        let scopes = [Scope::EventsIngest, Scope::SourceConfigWrite].map(Scope::name);
        json!({"principal_id": self.principal_id, "enabled": true, "keys": [
            {"kid": KID, "public_key_base64url": public, "status": "active", "scopes": scopes}
        ]})
    }

    /// Says into which channel this service's events go.
    pub(super) fn put_config(&self, address: SocketAddr, channel: &str) -> Result<Request<Full<Bytes>>, String> {
        let route = json!({"type": ROUTED, "channel": channel, "template": "{{data.text}}"});
        let body = Bytes::from(json!({"routes": [route]}).to_string());
        let path = format!("/machine/source-configs/{CONFIG}");
        signed(&self.signer()?, address, Method::PUT, &path, "application/json", body)
    }

    /// An event as this service makes it, ready to be stored too.
    pub(super) fn event(&self, id: &str, event_type: &str) -> String {
        let source = &self.principal_id;
        format!(
            r#"{{"data":{{"host":"web-12","load":0.93,"text":"{BODY}"}},"datacontenttype":"application/json","id":"{id}","source":"{source}","specversion":"1.0","subject":"web-12","time":"2026-01-31T09:30:00Z","type":"{event_type}"}}"#
        )
    }
}

/// The registry that has these services.
pub(super) fn registry_document(services: &[Service]) -> String {
    let principals: Vec<Value> = services.iter().map(Service::entry).collect();
    let version = "svc.machine-principal-registry/v1";
    json!({"version": version, "audience": AUDIENCE.name(), "principals": principals}).to_string()
}

pub(super) fn random_bytes<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

pub(super) fn fresh_nonce() -> Result<String, String> {
    Ok(BASE64_URL_SAFE_NO_PAD.encode(random_bytes::<16>()?))
}

/// The ids of the events of one request, as a service that counts within each of its runs would give them.
pub(super) fn event_ids(count: usize) -> Result<impl Iterator<Item = String>, String> {
    let run = u64::from_be_bytes(random_bytes()?);
    Ok((0..count).map(move |number| format!("{run:016x}-{number:04}")))
}

fn signed(
    signer: &Signer,
    address: SocketAddr,
    method: Method,
    path: &str,
    content_type: &'static str,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, String> {
    let authority = address.to_string();
    let mut request = Request::new(Full::new(body.clone()));
    let headers = request.headers_mut();
    headers.insert(HOST, HeaderValue::try_from(&authority).map_err(|error| error.to_string())?);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    let to_sign = stoa_signature::Request {
        method: method.as_str(),
        scheme: "http",
        authority: &authority,
        path,
        query: None,
        headers,
    };
    let added = signer.sign(&to_sign, Some(&body), unix_seconds(), LIFETIME, &fresh_nonce()?);
    headers.extend(added.map_err(|error| error.to_string())?);
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().map_err(|error| format!("{path}: {error}"))?;
    Ok(request)
}

/// Which events a load process is to send.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct EventOrder {
    /// Connections are of these in turn.
    pub(super) services: Vec<Service>,
    pub(super) event_type: String,
    /// Events in each request; one alone is not sent as a batch.
    pub(super) events_each: usize,
}

impl EventOrder {
    /// The requests of one connection.
    pub(super) fn source(&self, address: SocketAddr, connection: usize) -> Result<EventSource, String> {
        let service = self.services.get(connection % self.services.len().max(1)).ok_or("there is no service")?;
        Ok(EventSource { service: service.clone(), signer: service.signer()?, address, order: self.clone() })
    }
}

/// Makes requests with events that were never sent before.
pub(super) struct EventSource {
    service: Service,
    signer: Signer,
    address: SocketAddr,
    order: EventOrder,
}

impl EventSource {
    pub(super) fn next(&self) -> Result<Request<Full<Bytes>>, String> {
        let EventOrder { event_type, events_each, .. } = &self.order;
        let events = event_ids(*events_each)?.map(|id| self.service.event(&id, event_type));
        let events = events.collect::<Vec<_>>().join(",");
        let (content_type, body) = match events_each {
            1 => ("application/cloudevents+json", events),
            _ => ("application/cloudevents-batch+json", format!("[{events}]")),
        };
        signed(&self.signer, self.address, Method::POST, PATH, content_type, body.into())
    }

    /// The status alone does not say that all events were taken in, and went where they were to go.
    pub(super) fn check(&self, answer: &[u8]) -> Result<(), String> {
        let answer = std::str::from_utf8(answer).map_err(|error| error.to_string())?;
        let outcome = if self.order.event_type == ROUTED { "routed" } else { "stored" };
        let as_meant = answer.matches(&format!(r#""outcome":"{outcome}""#)).count();
        let all_accepted = answer.contains(&format!(r#""accepted":{},"#, self.order.events_each));
        if all_accepted && as_meant == self.order.events_each {
            return Ok(());
        }
        let beginning: String = answer.chars().take(500).collect();
        Err(format!("not all events were {outcome}: {beginning}"))
    }
}
