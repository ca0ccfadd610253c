//! From an event to the message that it becomes. All of it happens before the transaction: whoever writes holds up
//! everybody else.

use serde_json::{Map, json};
use stoa_model::cloud_events::CloudEvent;
use stoa_model::machines::{MAX_RENDERED_BYTES, Route};
use stoa_model::mentions::mentions_in;
use stoa_model::messages::{Draft, MAX_SUBJECT, Target};
use stoa_model::templates::Template;
use stoa_model::text::{is_unprintable, without_stacked_marks};
use stoa_model::trust::ACTION_TYPE;

use super::store::{RouteChannel, RouteChannels, SourceConfigRow};

/// The routes of a principal, in the order in which they are tried: configs by name, routes as they stand.
pub(super) struct Routing(Vec<PreparedRoute>);

/// A route with its templates parsed.
pub(super) struct PreparedRoute {
    /// Of the config that it stands in.
    pub(super) source: String,
    pub(super) version: i64,
    route: Route,
    /// None if there was none when channels were first held by id.
    pub(super) channel: Option<RouteChannel>,
    body: Template,
    subject: Option<Template>,
    /// The words of the template itself: only they may call somebody out.
    pub(super) own_words: String,
    /// How many names they call.
    pub(super) calls: usize,
}

impl Routing {
    pub(super) fn new(configs: Vec<SourceConfigRow>) -> Self {
        let routes = configs.into_iter().flat_map(|config| {
            let (source, version, channels) = (config.source, config.version, config.channels);
            config.routes.into_iter().filter_map(move |route| PreparedRoute::new(&source, version, &channels, route))
        });
        Self(routes.collect())
    }

    pub(super) fn find(&self, event_type: &str) -> Option<&PreparedRoute> {
        self.0.iter().find(|prepared| prepared.route.fits(event_type))
    }
}

impl PreparedRoute {
    /// None for templates that cannot be read, which none can be that was ever accepted.
    fn new(source: &str, version: i64, channels: &RouteChannels, route: Route) -> Option<Self> {
        let (body, subject) = (route.body_template().ok()?, route.subject_template().ok()?);
        let own_words = body.own_words();
        let calls = mentions_in(&own_words).len();
        let channel = channels.get(&route.channel).copied();
        Some(Self { source: source.to_owned(), version, route, channel, body, subject, own_words, calls })
    }

    /// What the message says.
    pub(super) fn draft(&self, event: &CloudEvent) -> Draft {
        let mut metadata = Map::new();
        metadata.insert("event".to_owned(), json!({"id": event.id, "type": event.event_type}));
        if let Some(action_type) = &self.route.action_type {
            metadata.insert(ACTION_TYPE.to_owned(), json!(action_type));
        }
        let subject = self.subject.as_ref().map(|subject| {
            let text = subject.render(&event.fields, MAX_SUBJECT * 4);
            let shown: String =
                text.chars().filter(|character| !is_unprintable(*character)).take(MAX_SUBJECT).collect();
            without_stacked_marks(&shown).trim().to_owned()
        });
        let body = self.body.render(&event.fields, MAX_RENDERED_BYTES).trim().to_owned();
        Draft {
            subject: subject.filter(|subject| !subject.is_empty()),
            priority: self.route.priority(),
            metadata,
            ..Draft::new(Target::Channel(self.route.channel.clone()), body)
        }
    }
}
