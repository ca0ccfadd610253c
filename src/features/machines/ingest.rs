//! Taking events in: each once, and into the channel that a source config has for it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};
use stoa_db::Tx;
use stoa_model::MessageId;
use stoa_model::cloud_events::CloudEvent;
use stoa_model::machines::{
    EventOutcome, IngestAnswer, IngestResult, IngestStatus, MAX_BATCH, Route, SourceConfigView,
};
use stoa_model::messages::{Draft, MAX_BODY_BYTES, MAX_SUBJECT, Target};
use stoa_model::templates::Template;
use stoa_model::text::is_unprintable;
use stoa_model::validation::FieldError;
use stoa_registry::Scope;

use super::gate::require_scope;
use super::store::{self, NewEvent};
use crate::actor::Actor;
use crate::error::{ErrorKind, HubError};
use crate::features::channels::{self, Place};
use crate::features::messages;
use crate::hub::Hub;

/// Events that one transaction takes in. Everybody else waits as long as one takes.
const AT_ONCE: usize = 100;

/// What a request brings.
pub enum Events {
    One(Value),
    Batch(Vec<Value>),
}

/// Takes events in. One that is not acceptable is refused; in a batch it is only left out.
pub async fn ingest(hub: &Hub, actor: &Actor, events: Events) -> Result<IngestAnswer, HubError> {
    require_scope(hub, actor, Scope::EventsIngest)?;
    let source = actor.principal.handle.as_str();
    let checked: Vec<Result<Checked, Rejected>> = match events {
        Events::One(value) => vec![Ok(Checked::new(CloudEvent::from_value(value, source)?)?)],
        Events::Batch(values) if values.len() > MAX_BATCH => {
            return Err(HubError::invalid_field(
                "",
                format!("must be at most {MAX_BATCH} events, not {}", values.len()),
            )
            .hint("Send them in several requests."));
        }
        Events::Batch(values) => {
            let checked = values.into_iter().map(|value| match check(value, source) {
                Ok(event) => Checked::new(event).map(Ok),
                Err(rejected) => Ok(Err(rejected)),
            });
            checked.collect::<Result<_, HubError>>()?
        }
    };
    // Shared, so that it is let go here and not by the thread that writes.
    let checked = Arc::new(checked);
    // The one answer to a request that may be repeated is stored with what it did, so that is done in one go.
    let at_once = if actor.call.idempotency.is_some() { MAX_BATCH } else { AT_ONCE };
    let mut answer = IngestAnswer::default();
    // Even if there is nothing to take in.
    for start in (0..checked.len().max(1)).step_by(at_once) {
        let (hub_in, actor_in, events) = (hub.clone(), actor.clone(), checked.clone());
        let taken_in = hub.command(actor, move |tx| {
            let end = events.len().min(start + at_once);
            ingest_in(&hub_in, tx, &actor_in, events.get(start..end).unwrap_or_default())
        });
        answer.append(taken_in.await?);
    }
    let routed = answer.results.iter().filter(|result| is_new_message(result)).count();
    hub.metrics().messages.with_label_values(&["channel"]).inc_by(u64::try_from(routed).unwrap_or(0));
    for (status, count) in [
        (IngestStatus::Accepted, answer.accepted),
        (IngestStatus::Duplicate, answer.duplicates),
        (IngestStatus::Rejected, answer.rejected),
    ] {
        hub.metrics().machine_events.with_label_values(&[status.name()]).inc_by(u64::try_from(count).unwrap_or(0));
    }
    Ok(answer)
}

fn is_new_message(result: &IngestResult) -> bool {
    result.status == IngestStatus::Accepted && result.message_id.is_some()
}

/// An event that can be taken in, and its text: made here, for whoever writes holds up everybody else.
struct Checked {
    event: CloudEvent,
    text: String,
}

impl Checked {
    fn new(event: CloudEvent) -> Result<Self, HubError> {
        let text = serde_json::to_string(&event.fields).map_err(HubError::internal)?;
        Ok(Self { event, text })
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

fn ingest_in(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    events: &[Result<Checked, Rejected>],
) -> Result<IngestAnswer, HubError> {
    let ids: Vec<&str> = events.iter().flatten().map(|checked| checked.event.id.as_str()).collect();
    let mut known: HashSet<String> = store::find_known(tx, actor.id(), &ids)?;
    let mut routing = Routing::load(tx, actor)?;
    let mut answer = IngestAnswer::default();
    for checked in events {
        let result = match checked {
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
            Ok(Checked { event, .. }) if known.contains(&event.id) => {
                answer.duplicates += 1;
                duplicate(tx, actor, &event.id)?
            }
            Ok(checked) => {
                answer.accepted += 1;
                known.insert(checked.event.id.clone());
                accept(hub, tx, actor, &mut routing, checked)?
            }
        };
        answer.results.push(result);
    }
    Ok(answer)
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
    routing: &mut Routing,
    Checked { event, text }: &Checked,
) -> Result<IngestResult, HubError> {
    let route = routing.find(&event.event_type);
    let (outcome, reason, message) = match route {
        None => (EventOutcome::Stored, None, None),
        Some(route) => match routing.follow(hub, tx, actor, route, event)? {
            Ok(message) => (EventOutcome::Routed, None, Some(message)),
            Err(reason) => (EventOutcome::NotRouted, Some(reason), None),
        },
    };
    let config = route.map(|route| routing.config_of(route));
    store::insert_event(
        tx,
        actor.id(),
        &NewEvent {
            event_id: &event.id,
            event_type: &event.event_type,
            event: text,
            outcome,
            reason,
            config,
            message,
            request_id: &actor.call.request_id,
        },
    )?;
    Ok(IngestResult {
        id: Some(event.id.clone()),
        status: IngestStatus::Accepted,
        outcome: Some(outcome),
        reason: reason.map(str::to_owned),
        message_id: message,
        errors: Vec::new(),
    })
}

/// The routes of a principal, in the order in which they are tried: configs by name, routes as they stand.
struct Routing {
    configs: Vec<SourceConfigView>,
    templates: HashMap<RouteIndex, Prepared>,
    /// Channels that were looked for; none where the principal may not write.
    places: HashMap<String, Option<Place>>,
}

/// The templates of a route, parsed once.
struct Prepared {
    body: Template,
    subject: Option<Template>,
    /// The words of the body that may call somebody out.
    own_words: String,
}

/// A config and a route in it.
type RouteIndex = (usize, usize);

impl Routing {
    fn load(tx: &mut Tx<'_>, actor: &Actor) -> Result<Self, HubError> {
        let configs = store::list_configs(tx, actor.id())?;
        Ok(Self { configs, templates: HashMap::new(), places: HashMap::new() })
    }

    fn find(&self, event_type: &str) -> Option<RouteIndex> {
        self.configs.iter().enumerate().find_map(|(config, view)| {
            view.routes.iter().position(|route| route.fits(event_type)).map(|route| (config, route))
        })
    }

    fn config_of(&self, (config, _): RouteIndex) -> (&str, i64) {
        self.configs.get(config).map_or(("", 0), |config| (config.source.as_str(), config.version))
    }

    /// Makes a message of the event. The inner error says why that is not possible, in a word.
    fn follow(
        &mut self,
        hub: &Hub,
        tx: &mut Tx<'_>,
        actor: &Actor,
        index: RouteIndex,
        event: &CloudEvent,
    ) -> Result<Result<MessageId, &'static str>, HubError> {
        let route = self.configs.get(index.0).and_then(|config| config.routes.get(index.1));
        let Some(route) = route else { return Ok(Err("no_route")) };
        if !self.places.contains_key(&route.channel) {
            let place = match channels::find_for_posting(hub, tx, actor, &route.channel) {
                Ok(place) => Some(place),
                Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Forbidden) => None,
                Err(error) => return Err(error),
            };
            self.places.insert(route.channel.clone(), place);
        }
        let prepared = match self.templates.entry(index) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let (Ok(body), Ok(subject)) = (route.body_template(), route.subject_template()) else {
                    return Ok(Err("bad_template"));
                };
                let own_words = body.own_words();
                unknown.insert(Prepared { body, subject, own_words })
            }
        };
        let Some(Some(place)) = self.places.get(&route.channel) else { return Ok(Err("channel_not_found")) };
        let draft = draft(route, prepared, event);
        if draft.body.is_empty() {
            return Ok(Err("empty_message"));
        }
        match messages::post(hub, tx, actor, place, &draft, &prepared.own_words) {
            Ok(message) => Ok(Ok(message)),
            Err(error) if error.code == "too_many_mentions" => Ok(Err("too_many_mentions")),
            Err(error) => Err(error),
        }
    }
}

fn draft(route: &Route, templates: &Prepared, event: &CloudEvent) -> Draft {
    let mut metadata = serde_json::Map::new();
    metadata.insert("event".to_owned(), json!({"id": event.id, "type": event.event_type}));
    let subject = templates.subject.as_ref().map(|subject| {
        let text = subject.render(&event.fields, MAX_SUBJECT * 4);
        let shown = text.chars().filter(|character| !is_unprintable(*character)).take(MAX_SUBJECT);
        shown.collect::<String>().trim().to_owned()
    });
    Draft {
        target: Target::Channel(route.channel.clone()),
        subject: subject.filter(|subject| !subject.is_empty()),
        body: templates.body.render(&event.fields, MAX_BODY_BYTES).trim().to_owned(),
        reply_to: None,
        priority: route.priority(),
        metadata,
        no_wake: false,
    }
}
