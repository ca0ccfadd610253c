//! Checking signatures as the hub does, against nothing but the arithmetic that this takes.

use std::time::Duration;

use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use sha2::{Digest, Sha256};
use stoa_registry::{Document, Finding, Registry};
use stoa_signature::{Claim, Request, authority_of};

use super::events::{AUDIENCE, Service, fresh_nonce, registry_document, tag};
use super::real_time::{now, unix_seconds};
use super::report::{Figure, per};

/// Bodies of about these many bytes: an event, and a small batch.
const BODIES: [usize; 2] = [1024, 16 * 1024];
/// Different requests that are checked in turn, so that no memory is always at hand.
const REQUESTS: usize = 256;
/// Checks of one kind before the other has its turn: a millisecond or two.
const TURN: usize = 32;

const BASE_URL: &str = "http://hub.example:8080";
const PATH: &str = "/machine/events";

/// A registry, and those who are in it.
pub(super) struct Verification {
    registry: Registry,
    services: Vec<Service>,
}

/// A request as it arrives, and what is left of it for the bare check.
struct Signed {
    headers: HeaderMap,
    body: Vec<u8>,
    key: VerifyingKey,
    base: String,
    signature: Signature,
}

/// The CPU time of one check, for each size of body.
pub(super) struct Round(Vec<Checks>);

#[derive(Clone, Copy)]
struct Checks {
    hub_us: f64,
    bare_us: f64,
}

#[derive(Serialize)]
pub(super) struct VerificationFigures {
    pub(super) body_bytes: usize,
    pub(super) hub_us: Figure,
    /// `verify_strict` of as long a text, and SHA-256 of the body.
    pub(super) bare_us: Figure,
    /// Round by round.
    pub(super) ratio: Figure,
}

impl Verification {
    pub(super) fn new(services: &[Service]) -> Result<Self, String> {
        let faults = |faults: Vec<Finding>| {
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            format!("the registry is not valid: {first}")
        };
        let document = Document::parse(registry_document(services).as_bytes()).map_err(faults)?;
        let registry = Registry::new(AUDIENCE, vec![("bench".to_owned(), document)]).map_err(faults)?;
        Ok(Self { registry, services: services.to_vec() })
    }

    /// Checks for that long, in short turns, requests that are signed just before: they must not become too old.
    pub(super) fn run(&self, duration: Duration) -> Result<Round, String> {
        let each = duration / u32::try_from(BODIES.len()).unwrap_or(1);
        let checks = BODIES.into_iter().map(|bytes| {
            let services = self.services.iter().cycle().take(REQUESTS).enumerate();
            let requests = services.map(|(number, service)| Signed::new(service, number, bytes));
            self.run_one(&requests.collect::<Result<Vec<_>, _>>()?, each)
        });
        Ok(Round(checks.collect::<Result<_, _>>()?))
    }

    fn run_one(&self, requests: &[Signed], duration: Duration) -> Result<Checks, String> {
        let (end, moment) = (now() + duration, unix_seconds());
        let (mut hub, mut bare, mut checks) = (Duration::ZERO, Duration::ZERO, 0);
        for turn in requests.chunks(TURN).cycle() {
            hub += cpu_time_of(|| turn.iter().try_for_each(|request| request.check(&self.registry, moment)))?;
            bare += cpu_time_of(|| turn.iter().try_for_each(Signed::check_bare))?;
            checks += turn.len() as u64;
            if now() >= end {
                break;
            }
        }
        Ok(Checks { hub_us: per(hub, checks), bare_us: per(bare, checks) })
    }
}

/// The CPU time that this thread needs for it.
fn cpu_time_of(work: impl FnOnce() -> Result<(), String>) -> Result<Duration, String> {
    let thread_time = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    };
    let before = thread_time();
    work()?;
    Ok(thread_time().saturating_sub(before))
}

impl Signed {
    fn new(service: &Service, number: usize, bytes: usize) -> Result<Self, String> {
        let mut event = service.event(&format!("{number:016x}"), "svc.bench.checked");
        // It need not be JSON here: nobody reads it.
        event.extend(std::iter::repeat_n(' ', bytes.saturating_sub(event.len())));
        let body = event.into_bytes();
        let length = HeaderValue::from(body.len());
        let given: [(HeaderName, HeaderValue); 5] = [
            (HOST, HeaderValue::from_static("hub.example:8080")),
            (USER_AGENT, HeaderValue::from_static("bench/1.0")),
            (ACCEPT, HeaderValue::from_static("*/*")),
            (CONTENT_TYPE, HeaderValue::from_static("application/cloudevents+json")),
            (CONTENT_LENGTH, length),
        ];
        let mut headers: HeaderMap = given.into_iter().collect();
        let authority = authority_of(BASE_URL).ok_or("the base URL has no authority")?;
        let signer = service.signer()?;
        let added = signer
            .sign(
                &request(&headers, &authority),
                Some(&body),
                unix_seconds(),
                stoa_signature::MAX_LIFETIME_SECONDS,
                &fresh_nonce()?,
            )
            .map_err(|error| error.to_string())?;
        headers.extend(added);
        let claim = Claim::from_headers(&headers, &tag()).map_err(|error| error.to_string())?;
        let claim = claim.ok_or("the request is not signed")?;
        let base = claim.signature_base(&request(&headers, &authority)).map_err(|error| error.to_string())?;
        let signature = service.key().sign(base.as_bytes());
        Ok(Self { headers, body, key: service.key().verifying_key(), base, signature })
    }

    /// The steps of the hub's gate, up to what the database is asked.
    fn check(&self, registry: &Registry, now_seconds: i64) -> Result<(), String> {
        let refused = |error: stoa_signature::SignatureError| error.to_string();
        let tag = tag();
        let claim = Claim::from_headers(&self.headers, &tag).map_err(refused)?.ok_or("the request is not signed")?;
        registry.usable_key(claim.principal_id(), claim.kid()).ok_or("the key is not known")?;
        let authority = authority_of(BASE_URL).ok_or("the base URL has no authority")?;
        let request = request(&self.headers, &authority);
        claim.check_head(&request, &tag, now_seconds).map_err(refused)?;
        let found = registry.usable_key(claim.principal_id(), claim.kid()).ok_or("the key is not known")?;
        claim.check_body(&request, found.verifying_key, &self.body).map_err(refused)
    }

    fn check_bare(&self) -> Result<(), String> {
        std::hint::black_box(Sha256::digest(&self.body));
        self.key.verify_strict(self.base.as_bytes(), &self.signature).map_err(|error| error.to_string())
    }
}

fn request<'a>(headers: &'a HeaderMap, authority: &'a str) -> Request<'a> {
    Request { method: "POST", scheme: "http", authority, path: PATH, query: None, headers }
}

impl VerificationFigures {
    /// Of each size of body.
    pub(super) fn of(rounds: &[Round]) -> Vec<Self> {
        let bodies = BODIES.iter().enumerate();
        let figures = bodies.map(|(place, body_bytes)| {
            let checks: Vec<Checks> = rounds.iter().filter_map(|Round(checks)| checks.get(place).copied()).collect();
            Self {
                body_bytes: *body_bytes,
                hub_us: Figure::of(checks.iter().map(|checks| checks.hub_us)),
                bare_us: Figure::of(checks.iter().map(|checks| checks.bare_us)),
                ratio: Figure::of(checks.iter().map(|checks| checks.hub_us / checks.bare_us)),
            }
        });
        figures.collect()
    }
}
