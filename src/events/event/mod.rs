//! The events, in groups. Names are in the past tense: an event is a fact.
//!
//! A reader decides about each group, without `_`, so the compiler lists who must decide about a new group. Within a group a
//! reader names the events that it needs. What several readers ask of an event is answered here, event by event:
//! where it happened, whose access it changed, which messages it changed.

mod channel;
mod message;
mod principal;
mod reaction;
mod reading;
mod run;

use serde::Serialize;
use stoa_model::{ConversationId, PrincipalId};

use super::Position;

pub use channel::ChannelEvent;
pub use message::{MessageChange, MessageEvent, MessageSent};
pub use principal::PrincipalEvent;
pub use reaction::{ReactionChange, ReactionEvent};
pub use reading::ReadingEvent;
pub use run::{RunChange, RunEvent};

/// Declares a group. The word before each event is its kind: it is stored in the outbox, so it never changes.
macro_rules! event_group {
    ($(#[$about:meta])* pub enum $group:ident {
        $($(#[$about_event:meta])* $kind:literal => $event:ident $fields:tt,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind")]
        pub enum $group {
            $($(#[$about_event])* #[serde(rename = $kind)] $event $fields,)*
        }

        impl $group {
            pub(super) const KINDS: &[&str] = &[$($kind),*];

            pub(super) fn kind(&self) -> &'static str {
                match self { $($group::$event { .. } => $kind,)* }
            }
        }
    };
}
use event_group;

macro_rules! events {
    ($($(#[$about:meta])* $group:ident($type:ident),)*) => {
        /// Something that happened.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum Event {
            $($(#[$about])* $group($type),)*
        }

        impl Event {
            pub fn kind(&self) -> &'static str {
                match self { $(Event::$group(event) => event.kind(),)* }
            }

            /// The conversation in which it happened.
            pub fn conversation(&self) -> Option<ConversationId> {
                match self { $(Event::$group(event) => event.conversation(),)* }
            }

            /// Reads an event as the outbox stores it. None if this version does not know its kind.
            pub(super) fn parse(kind: &str, payload: &str) -> Result<Option<Self>, serde_json::Error> {
                $(if $type::KINDS.contains(&kind) {
                    return serde_json::from_str(payload).map(|event| Some(Event::$group(event)));
                })*
                Ok(None)
            }
        }

        $(impl From<$type> for Event {
            fn from(event: $type) -> Self {
                Event::$group(event)
            }
        })*
    };
}

events! {
    // The most frequent ones first: they are looked for in this order.
    Message(MessageEvent),
    Reading(ReadingEvent),
    Reaction(ReactionEvent),
    Channel(ChannelEvent),
    Run(RunEvent),
    Principal(PrincipalEvent),
}

/// An event as the outbox stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub position: Position,
    pub at_ms: i64,
    pub actor: Option<PrincipalId>,
    pub event: Event,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of event as an earlier version wrote it. Lines are added here and never changed.
    const STORED: &str = include_str!("stored_events.jsonl");

    #[test]
    fn stored_events_of_earlier_versions_are_read_and_written_the_same() {
        let mut kinds = Vec::new();
        for line in STORED.lines() {
            let kind = serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].as_str().unwrap().to_owned();
            let event = Event::parse(&kind, line).unwrap().unwrap_or_else(|| panic!("{kind} is not known"));
            assert_eq!(event.kind(), kind);
            let written = serde_json::to_string(&event).unwrap();
            assert_eq!(Event::parse(&kind, &written).unwrap(), Some(event), "{kind}");
            kinds.push(kind);
        }
        let groups = [
            MessageEvent::KINDS,
            ReadingEvent::KINDS,
            ReactionEvent::KINDS,
            ChannelEvent::KINDS,
            RunEvent::KINDS,
            PrincipalEvent::KINDS,
        ];
        for kind in groups.concat() {
            assert!(kinds.iter().any(|stored| stored == kind), "stored_events.jsonl has no {kind}");
        }
    }

    #[test]
    fn an_unknown_kind_is_no_fault_and_a_broken_payload_is_one() {
        assert_eq!(Event::parse("goal_reached", r#"{"kind":"goal_reached","goal":1}"#).unwrap(), None);
        assert!(Event::parse("read_moved", r#"{"kind":"read_moved"}"#).is_err());
    }
}
