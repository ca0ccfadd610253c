//! Taking events in: each once, and into the channel that a source config has for it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use stoa_db::Tx;
use stoa_model::cloud_events::CloudEvent;
use stoa_model::machines::{EventOutcome, IngestAnswer, IngestResult, IngestStatus, MAX_BATCH};
use stoa_model::messages::Draft;
use stoa_model::validation::FieldError;
use stoa_model::{ChannelId, MessageId};
use stoa_registry::Scope;

use super::gate::require_scope;
use super::routing::Routing;
use super::store::{self, NewEvent, RouteChannel};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::features::channels::{self, ChannelForPosting};
use crate::features::messages;
use crate::hub::Hub;

/// What one transaction takes in: an event weighs one, and more if it calls people out or is long. Everybody else waits
/// as long as one takes.
const AT_ONCE: usize = 250;
const BYTES_THAT_WEIGH: usize = 8 * 1024;

/// What a request brings.
pub enum Events {
    One(Value),
    Batch(Vec<Value>),
}

/// Takes events in. One that is not acceptable is refused; in a batch it is only left out.
pub async fn ingest(hub: &Hub, actor: &Actor, events: Events) -> Result<IngestAnswer, HubError> {
    require_scope(hub, actor, Scope::EventsIngest)?;
    let source = actor.principal.handle.as_str();
    let checked: Vec<Result<CloudEvent, Rejected>> = match events {
        Events::One(value) => vec![Ok(CloudEvent::from_value(value, source)?)],
        Events::Batch(values) if values.len() > MAX_BATCH => {
            let said = format!("must be at most {MAX_BATCH} events, not {}", values.len());
            return Err(HubError::invalid_field("", said).hint("Send them in several requests."));
        }
        Events::Batch(values) => values.into_iter().map(|value| check(value, source)).collect(),
    };
    if actor.call.idempotency.is_none() {
        return take_in(hub, actor, checked).await;
    }
    // The answer is stored when all is done. Who repeats the request before that finds its events taken in already.
    const NOT_ANSWERED: &str = "not_answered";
    match hub.command(actor, |_| Err(HubError::conflict(NOT_ANSWERED, "It was not answered before."))).await {
        Err(error) if error.code == NOT_ANSWERED => {
            let answer = take_in(hub, &actor.without_idempotency(), checked).await?;
            hub.command(actor, move |_| Ok(answer.clone())).await
        }
        answered => answered,
    }
}

/// An event that is left out, and why.
struct Rejected {
    id: Option<String>,
    errors: Vec<FieldError>,
}

fn check(value: Value, source: &str) -> Result<CloudEvent, Rejected> {
    let id = value.get("id").and_then(Value::as_str).filter(|id| id.len() <= 255).map(str::to_owned);
    CloudEvent::from_value(value, source).map_err(|errors| Rejected { id, errors })
}

/// An event with all that can be made of it before it is written.
struct Prepared {
    event_id: String,
    event_type: String,
    text: String,
    message: Option<PreparedMessage>,
}

struct PreparedMessage {
    source: String,
    version: i64,
    channel: Option<RouteChannel>,
    draft: Draft,
    own_words: String,
    weight: usize,
}

impl Prepared {
    fn new(event: &CloudEvent, routing: &Routing) -> Result<Self, HubError> {
        let text = serde_json::to_string(&event.fields).map_err(HubError::internal)?;
        let message = routing.find(&event.event_type).map(|route| {
            let draft = route.draft(event);
            PreparedMessage {
                source: route.source.clone(),
                version: route.version,
                channel: route.channel,
                weight: route.calls + draft.body.len() / BYTES_THAT_WEIGH,
                draft,
                own_words: route.own_words.clone(),
            }
        });
        Ok(Self { event_id: event.id.clone(), event_type: event.event_type.clone(), text, message })
    }

    fn weight(&self) -> usize {
        1 + self.text.len() / BYTES_THAT_WEIGH + self.message.as_ref().map_or(0, |message| message.weight)
    }
}

type Item = Result<Prepared, Rejected>;
type Destinations = BTreeMap<ChannelId, Option<ChannelForPosting>>;

async fn take_in(
    hub: &Hub,
    actor: &Actor,
    checked: Vec<Result<CloudEvent, Rejected>>,
) -> Result<IngestAnswer, HubError> {
    let id = actor.id();
    let routing = Routing::new(hub.read(move |tx| store::list_configs(tx, id)).await?);
    let items = checked.into_iter().map(|event| match event {
        Ok(event) => Prepared::new(&event, &routing).map(Ok),
        Err(rejected) => Ok(Err(rejected)),
    });
    // Shared, so that they are let go here and not by the thread that writes.
    let items: Arc<Vec<Item>> = Arc::new(items.collect::<Result<_, HubError>>()?);
    let mut answer = IngestAnswer::default();
    for portion in portions(&items) {
        let (hub_in, actor_in, items) = (hub.clone(), actor.clone(), items.clone());
        let taken_in = hub.command(actor, move |tx| {
            let portion = items.get(portion.clone()).unwrap_or_default();
            ingest_in(&hub_in, tx, &actor_in, portion)
        });
        answer.append(taken_in.await?);
    }
    count(hub, &answer);
    Ok(answer)
}

/// Cuts events into what one transaction takes in.
fn portions(items: &[Item]) -> Vec<Range<usize>> {
    let mut portions = Vec::new();
    let (mut start, mut weight) = (0, 0);
    for (place, item) in items.iter().enumerate() {
        let more = item.as_ref().map_or(0, Prepared::weight);
        if weight + more > AT_ONCE && place > start {
            portions.push(start..place);
            (start, weight) = (place, 0);
        }
        weight += more;
    }
    // Even if there is nothing to take in.
    portions.push(start..items.len());
    portions
}

fn count(hub: &Hub, answer: &IngestAnswer) {
    let is_new_message =
        |result: &&IngestResult| result.status == IngestStatus::Accepted && result.message_id.is_some();
    let routed = answer.results.iter().filter(is_new_message).count();
    hub.metrics().messages.with_label_values(&["channel"]).inc_by(u64::try_from(routed).unwrap_or(0));
    for (status, count) in [
        (IngestStatus::Accepted, answer.accepted),
        (IngestStatus::Duplicate, answer.duplicates),
        (IngestStatus::Rejected, answer.rejected),
    ] {
        hub.metrics().machine_events.with_label_values(&[status.name()]).inc_by(u64::try_from(count).unwrap_or(0));
    }
}

fn ingest_in(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, items: &[Item]) -> Result<IngestAnswer, HubError> {
    let ids: Vec<&str> = items.iter().flatten().map(|event| event.event_id.as_str()).collect();
    let mut known: HashSet<String> = store::find_known(tx, actor.id(), &ids)?;
    let channels = find_channels(hub, tx, actor, items)?;
    let received_at = store::next_received_at(tx, actor.id())?;
    let mut answer = IngestAnswer::default();
    for item in items {
        let result = match item {
            Err(rejected) => {
                answer.rejected += 1;
                IngestResult {
                    id: rejected.id.clone(),
                    status: IngestStatus::Rejected,
                    outcome: None,
                    reason: None,
                    message_id: None,
                    errors: rejected.errors.clone(),
                }
            }
            Ok(event) if known.contains(&event.event_id) => {
                answer.duplicates += 1;
                duplicate(tx, actor, &event.event_id)?
            }
            Ok(event) => {
                answer.accepted += 1;
                known.insert(event.event_id.clone());
                accept(hub, tx, actor, &channels, event, received_at)?
            }
        };
        answer.results.push(result);
    }
    Ok(answer)
}

/// The channels that the events go to; none where the principal may not write. They are locked in the order of
/// their conversations, so that two requests cannot wait for each other.
fn find_channels(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, items: &[Item]) -> Result<Destinations, HubError> {
    let mut found = Destinations::new();
    let messages = items.iter().flatten().filter_map(|event| event.message.as_ref());
    for id in messages.filter_map(|message| message.channel).map(|channel| channel.id) {
        if let Entry::Vacant(unknown) = found.entry(id) {
            unknown.insert(match channels::find_known_for_posting(hub, tx, actor, id) {
                Ok(channel) => Some(channel),
                Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Forbidden) => None,
                Err(error) => return Err(error),
            });
        }
    }
    Ok(found)
}

fn duplicate(tx: &mut Tx<'_>, actor: &Actor, event_id: &str) -> Result<IngestResult, HubError> {
    let earlier = store::find_event(tx, actor.id(), event_id)?
        .ok_or_else(|| HubError::internal("an event is missing that was there"))?;
    Ok(IngestResult {
        id: Some(earlier.event_id),
        status: IngestStatus::Duplicate,
        outcome: Some(earlier.outcome),
        reason: earlier.reason,
        message_id: earlier.message,
        errors: Vec::new(),
    })
}

fn accept(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channels: &Destinations,
    event: &Prepared,
    received_at: i64,
) -> Result<IngestResult, HubError> {
    let (outcome, reason, message) = match &event.message {
        None => (EventOutcome::Stored, None, None),
        Some(message) => match follow(hub, tx, actor, channels, message)? {
            Ok(message) => (EventOutcome::Routed, None, Some(message)),
            Err(reason) => (EventOutcome::NotRouted, Some(reason), None),
        },
    };
    store::insert_event(
        tx,
        actor.id(),
        &NewEvent {
            event_id: &event.event_id,
            event_type: &event.event_type,
            event: &event.text,
            outcome,
            reason,
            config: event.message.as_ref().map(|message| (message.source.as_str(), message.version)),
            message,
            request_id: &actor.call.request_id,
            received_at,
        },
    )?;
    Ok(IngestResult {
        id: Some(event.event_id.clone()),
        status: IngestStatus::Accepted,
        outcome: Some(outcome),
        reason: reason.map(str::to_owned),
        message_id: message,
        errors: Vec::new(),
    })
}

/// Puts the message where its route leads. The inner error says why that is not possible, in a word.
fn follow(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channels: &Destinations,
    message: &PreparedMessage,
) -> Result<Result<MessageId, &'static str>, HubError> {
    let Some(route) = message.channel else { return Ok(Err("channel_not_found")) };
    let Some(Some(channel)) = channels.get(&route.id) else {
        return Ok(Err(if route.is_deleted { "channel_deleted" } else { "channel_not_found" }));
    };
    if message.draft.body.is_empty() {
        return Ok(Err("empty_message"));
    }
    messages::post(hub, tx, actor, channel, &message.draft, &message.own_words).map(Ok)
}
