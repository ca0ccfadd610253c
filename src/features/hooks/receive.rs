//! Requests of other services: each is checked, then posted once.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::HeaderMap;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use stoa_db::Tx;
use stoa_model::hooks::{HookAnswer, HookContent, HookKind, HookMessage, HookOutcome, takes_event};
use stoa_model::messages::{Draft, Target as MessageTarget};
use stoa_model::permissions::PermissionSet;
use stoa_model::principals::PrincipalKind;
use stoa_model::users::Role;
use stoa_model::{MessageId, PrincipalId, Secret};

use super::service::open_secret;
use super::store::{self, HookRow, NewRequest, Target};
use super::verify::{Received, Verified, shown_event};
use crate::access::limits::network_of;
use crate::access::rate_limit::{Limiter, Window};
use crate::access::{Actor, Call, Credential, Principal, Reach};
use crate::error::{ErrorKind, HubError};
use crate::features::channels::working::Working;
use crate::features::{channels, messages, principals};
use crate::hub::Hub;
use crate::json::{media_type, parse_json_value};

const MINUTE_MS: i64 = 60_000;
const REQUESTS_PER_MINUTE: u32 = 60;
/// As many as a caller with a credential may write.
const REQUESTS_OF_OWNER_PER_MINUTE: u32 = 600;
/// Requests from one address that are not verified.
const UNVERIFIED_PER_ADDRESS: u32 = 120;
/// Refused requests of one hook that are recorded in a minute. Strangers must not keep the disk busy.
const RECORDED_REFUSALS: u32 = 20;
/// For hooks that do not exist, so that they cost as much as others.
const NO_SECRET: &str = "there is no hook with this id";

struct Limits {
    unverified: Window<Option<IpAddr>>,
    requests: Limiter<String>,
    of_owner: Limiter<PrincipalId>,
    refusals: Limiter<String>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            unverified: Window::new(UNVERIFIED_PER_ADDRESS, MINUTE_MS),
            requests: Limiter::new(REQUESTS_PER_MINUTE, MINUTE_MS),
            of_owner: Limiter::new(REQUESTS_OF_OWNER_PER_MINUTE, MINUTE_MS),
            refusals: Limiter::new(RECORDED_REFUSALS, MINUTE_MS),
        }
    }
}

/// Counts a request as unverified before its body is read. A good signature takes that back.
pub fn admit(hub: &Hub, call: &Call) -> Result<(), HubError> {
    let allowance = hub.memory::<Limits>().unverified.take(call.client_ip.map(network_of), hub.clock().now_ms());
    if allowance.allowed {
        return Ok(());
    }
    let detail = format!("At most {UNVERIFIED_PER_ADDRESS} requests per minute without a valid signature are allowed.");
    Err(HubError::rate_limited(detail, allowance.reset_seconds.max(1)))
}

/// A request as it came.
pub struct HookRequest {
    pub id: String,
    pub path_secret: Option<Secret>,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub call: Arc<Call>,
}

/// Posts the message of a request, unless the same request was posted before.
pub async fn receive(hub: &Hub, request: HookRequest) -> Result<HookAnswer, HubError> {
    let id = request.id.clone();
    let hook = hub.read(move |tx| store::find_hook(tx, &id)).await?;
    let secret = match &hook {
        Some(hook) => open_secret(&hub.keys(), hook)?,
        None => Secret::new(NO_SECRET),
    };
    let kind = hook.as_ref().map_or(HookKind::Github, |hook| hook.kind);
    let received =
        Received { headers: &request.headers, path_secret: request.path_secret.as_ref(), body: &request.body };
    let verified = received.verify(kind, secret.expose().as_bytes(), hub.clock().now_ms());
    let hook = hook.ok_or_else(|| HubError::not_found("hook"))?;
    let mut record = NewRequest { outcome: HookOutcome::Posted, event: None, delivery_id: None, message: None };
    let done = match verified {
        Ok(verified) => {
            hub.memory::<Limits>().unverified.refund(&request.call.client_ip.map(network_of));
            post_verified(hub, &hook, &secret, request, verified, &mut record).await
        }
        Err(outcome) => Err(refusal(outcome)),
    };
    match &done {
        // The transaction of the message has recorded it.
        Ok(HookAnswer { outcome: HookOutcome::Posted }) => {}
        Ok(answer) => note(hub, &hook, NewRequest { outcome: answer.outcome, ..record }).await?,
        Err(error) => {
            if let Some(outcome) = outcome_of(error)
                && hub.memory::<Limits>().refusals.take(hook.id.clone(), hub.clock().now_ms()).allowed
            {
                note(hub, &hook, NewRequest { outcome, ..record }).await?;
            }
        }
    }
    done
}

async fn note(hub: &Hub, hook: &HookRow, record: NewRequest) -> Result<(), HubError> {
    let id = hook.id.clone();
    hub.write(move |tx| Ok(store::insert_request(tx, &id, &record)?)).await
}

async fn post_verified(
    hub: &Hub,
    hook: &HookRow,
    secret: &Secret,
    request: HookRequest,
    verified: Verified,
    record: &mut NewRequest,
) -> Result<HookAnswer, HubError> {
    record.event = verified.event.clone();
    record.delivery_id = verified.delivery_id.clone();
    let (limits, now) = (hub.memory::<Limits>(), hub.clock().now_ms());
    let allowance = limits.requests.take(hook.id.clone(), now);
    if !allowance.allowed {
        let detail = format!("A hook accepts at most {REQUESTS_PER_MINUTE} requests per minute.");
        return Err(HubError::rate_limited(detail, allowance.reset_seconds.max(1)));
    }
    let allowance = limits.of_owner.take(hook.owner, now);
    if !allowance.allowed {
        let detail =
            format!("All hooks of a user together accept at most {REQUESTS_OF_OWNER_PER_MINUTE} requests per minute.");
        return Err(HubError::rate_limited(detail, allowance.reset_seconds.max(1)));
    }
    if !hook.is_enabled {
        return Err(refusal(HookOutcome::Disabled));
    }
    let body = read_body(&request.headers, &request.body)?;
    let event = verified.event.clone().or_else(|| event_in(hook.kind, &body));
    record.event = event.clone();
    let content = HookContent { event, id: verified.delivery_id.clone(), body };
    if !takes_event(&hook.events, content.event.as_deref(), content.action()) {
        return Ok(HookAnswer { outcome: HookOutcome::Ignored });
    }
    let message = content.message(hook.kind, hook.template.as_deref()).map_err(HubError::internal)?;
    if message.body.is_empty() {
        return Err(refusal(HookOutcome::Empty));
    }
    let actor = Actor::new(Arc::new(author(hook)), request.call).without_idempotency();
    let (hub_in, actor_in, id, secret) = (hub.clone(), actor.clone(), hook.id.clone(), secret.clone());
    let (hashes, record) = (verified.delivery_hashes, record.clone());
    let outcome = hub
        .command(&actor, move |tx| {
            let hook = find_still_valid(&hub_in, tx, &id, &secret)?;
            let mut is_new = true;
            for hash in &hashes {
                is_new &= store::insert_delivery(tx, &hook.id, hash)?;
            }
            if !is_new {
                return Ok(HookOutcome::Duplicate);
            }
            let posted = post(&hub_in, tx, &actor_in, &hook, &message, &record)?;
            let record = NewRequest { message: Some(posted), ..record.clone() };
            store::insert_request(tx, &hook.id, &record)?;
            Ok(HookOutcome::Posted)
        })
        .await?;
    if outcome == HookOutcome::Posted {
        let kind = if matches!(hook.target, Target::Channel(_)) { "channel" } else { "dm" };
        hub.metrics().messages.with_label_values(&[kind]).inc();
    }
    Ok(HookAnswer { outcome })
}

/// The hook as it is by now: it may have been changed since the request was verified.
fn find_still_valid(hub: &Hub, tx: &mut Tx<'_>, id: &str, secret: &Secret) -> Result<HookRow, HubError> {
    let hook = store::find_hook(tx, id)?.ok_or_else(|| HubError::not_found("hook"))?;
    if open_secret(&hub.keys(), &hook)? != *secret {
        return Err(refusal(HookOutcome::InvalidSignature));
    }
    let owner = principals::find_by_id(tx, hook.owner)?;
    if !hook.is_enabled || !owner.is_some_and(|owner| owner.is_reachable()) {
        return Err(refusal(HookOutcome::Disabled));
    }
    Ok(hook)
}

fn post(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    hook: &HookRow,
    message: &HookMessage,
    record: &NewRequest,
) -> Result<MessageId, HubError> {
    let about = json!({"event": record.event, "delivery_id": record.delivery_id});
    let metadata = Map::from_iter([("hook".to_owned(), about)]);
    let unavailable = || refusal(HookOutcome::TargetUnavailable);
    match hook.target {
        Target::Channel(id) => {
            let mut channel = channels::find_writable_by(tx, hook.owner, id)?.ok_or_else(unavailable)?;
            channel.author_display_name = hook.name.clone();
            channel.author_working = Working::default();
            let target = MessageTarget::Channel(channel.name.clone());
            let draft = Draft { metadata, ..Draft::new(target, message.body.clone()) };
            messages::post(hub, tx, actor, &channel, &draft, &message.own_words)
        }
        Target::Agent(id) => {
            let agent = principals::find_by_id(tx, id)?.filter(|agent| agent.is_reachable()).ok_or_else(unavailable)?;
            let target = MessageTarget::Principal(agent.handle.clone());
            let draft = Draft { metadata, ..Draft::new(target, message.body.clone()) };
            messages::post_dm(hub, tx, actor, &agent, &draft)
        }
    }
}

/// The hook as the author of its messages. It is a program, so depth and mentions count as for one.
fn author(hook: &HookRow) -> Principal {
    Principal {
        id: hook.principal,
        kind: PrincipalKind::Machine,
        handle: hook.author.clone(),
        human: hook.owner,
        role: Role::Member,
        credential: Credential::None,
        permissions: PermissionSet::NONE,
        reach: Reach::Everything,
        expires_at: None,
        proof: None,
    }
}

/// The JSON of a request. Forms have it in the field `payload`, as GitHub and senders for Slack can do it.
fn read_body(headers: &HeaderMap, body: &[u8]) -> Result<Value, HubError> {
    if media_type(headers).as_deref() == Some("application/x-www-form-urlencoded") {
        let payload = form_urlencoded::parse(body).find(|(name, _)| name == "payload");
        if let Some((_, payload)) = payload {
            return parse_json_value(payload.as_bytes());
        }
    }
    parse_json_value(body)
}

fn event_in(kind: HookKind, body: &Value) -> Option<String> {
    let event = (kind == HookKind::Standard).then(|| body.get("type"))??.as_str()?;
    Some(shown_event(event))
}

fn refusal(outcome: HookOutcome) -> HubError {
    match outcome {
        HookOutcome::Expired => {
            HubError::unauthenticated("expired_signature", "The timestamp is more than 5 minutes off.")
                .hint("Check the sender's clock, and sign each attempt again.")
        }
        HookOutcome::Disabled => HubError::conflict("hook_disabled", "This hook is disabled."),
        HookOutcome::TargetUnavailable => {
            HubError::conflict("target_unavailable", "The hook cannot post to its channel or agent.")
                .hint("The owner of the hook can choose another target.")
        }
        HookOutcome::Empty => HubError::new(ErrorKind::Invalid, "empty_message", "The message would be empty."),
        _ => HubError::unauthenticated("invalid_signature", "The signature or the secret is missing or wrong.")
            .hint("Use the secret that was shown when the hook was created."),
    }
}

/// How a refusal is recorded; none for faults of the hub.
fn outcome_of(error: &HubError) -> Option<HookOutcome> {
    Some(match (error.code, error.kind) {
        ("invalid_signature", _) => HookOutcome::InvalidSignature,
        ("expired_signature", _) => HookOutcome::Expired,
        ("hook_disabled", _) => HookOutcome::Disabled,
        ("target_unavailable", _) => HookOutcome::TargetUnavailable,
        ("empty_message", _) => HookOutcome::Empty,
        (_, ErrorKind::RateLimited) => HookOutcome::RateLimited,
        (_, ErrorKind::Malformed | ErrorKind::Invalid) => HookOutcome::Malformed,
        _ => return None,
    })
}
