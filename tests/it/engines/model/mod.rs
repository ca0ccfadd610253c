//! A small model of the hub, which knows nothing of the hub's code. It follows a sequence and says what each answer has to
//! show: the status of messages, the state that follows from reactions, who sees what, trust, and what is unread.

mod channels;
mod reading;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names::Answer;
use super::run::PEOPLE;
use super::step::{Action, MARKS, Step};
use crate::support::START_MS;

/// A message, in the order of the list that it is in.
#[derive(Clone, Debug)]
struct Message {
    /// None for a copy that tells of a mention and that nobody has seen yet.
    reference: Option<String>,
    author: String,
    conversation: String,
    to: Option<String>,
    action_type: String,
    /// Whether it is work in a workflow channel, also without reactions.
    is_proposal: bool,
    /// None for talk.
    state: Option<&'static str>,
    /// The place of the channel message that this is a copy of.
    mention_of: Option<usize>,
    is_deleted: bool,
    /// Whether its channel was deleted. Housekeeping takes such copies away, some time later.
    is_fading: bool,
    status: String,
    lease_until: Option<String>,
    /// Who reacted how, in order.
    reactions: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default)]
struct Channel {
    is_public: bool,
    is_workflow: bool,
    members: BTreeSet<String>,
    /// Those whom somebody else took out.
    removed: BTreeSet<String>,
}

/// A reaction of a person to what an agent said.
#[derive(Clone, Debug, PartialEq)]
struct Judgement {
    agent: String,
    action_type: String,
    message: usize,
    human: String,
    reaction: String,
}

#[derive(Default)]
pub(crate) struct Model {
    now_ms: i64,
    /// Everybody, with their owner if they are an agent.
    principals: BTreeMap<String, Option<String>>,
    /// The agents that managed keys act for.
    keys: BTreeMap<String, String>,
    /// How many channels were created.
    opened: usize,
    /// By a name that no other channel ever has. Deleted channels are not in it.
    channels: BTreeMap<String, Channel>,
    /// Those names, by the names that people use.
    channel_names: BTreeMap<String, String>,
    messages: Vec<Message>,
    places: BTreeMap<String, usize>,
    /// How many of all messages somebody had before them when they last read a conversation.
    read: BTreeMap<(String, String), usize>,
    /// Who wants to hear of mentions only, by default and by channel.
    default_levels: BTreeMap<String, String>,
    levels: BTreeMap<(String, String), String>,
    judgements: Vec<Judgement>,
    /// Conversations with messages that no answer has announced, for example those of the hub itself.
    unknown: BTreeSet<String>,
    /// Whether the current answer shows the caller's inbox.
    is_inbox: bool,
    faults: Vec<String>,
}

/// What was asked, whichever way it was asked.
pub(crate) struct Request<'a> {
    actor: &'a str,
    /// `POST /api/messages/{}/done` or `tool mark_done`: without the names in it.
    operation: String,
    /// The names in the path.
    names: Vec<String>,
    fields: Value,
    answer: &'a Value,
}

impl Request<'_> {
    fn text(&self, field: &str) -> Option<String> {
        self.fields[field].as_str().map(|text| text.trim_matches([MARKS.0, MARKS.1]).to_owned())
    }

    /// The message that it is about.
    fn message(&self) -> Option<String> {
        self.text("message_id").or_else(|| self.names.first().cloned())
    }

    /// The channel that it is about.
    fn channel(&self) -> Option<String> {
        let name = self.text("channel").or_else(|| self.names.first().cloned())?;
        Some(name.strip_prefix('#').unwrap_or(&name).to_owned())
    }
}

impl Model {
    pub(crate) fn new() -> Self {
        let mut model = Self { now_ms: START_MS, ..Self::default() };
        let people = PEOPLE.iter().chain(&["root", "admin"]).map(|name| (*name).to_owned());
        model.principals = people.map(|name| (name, None)).collect();
        model
    }

    /// Follows a step, and says what is wrong with its answer.
    pub(crate) fn follow(&mut self, step: &Step, answer: &Answer) -> Vec<String> {
        self.faults.clear();
        if let Action::Advance(seconds) = step.action {
            self.now_ms += i64::try_from(seconds).unwrap() * 1000;
        }
        // A repeated answer shows how things were, and changes nothing.
        let is_replay = answer.headers.contains_key("idempotency-replayed");
        let actor = self.keys.get(&step.actor).cloned().unwrap_or_else(|| step.actor.clone());
        let Some(request) = request(step, &actor, answer).filter(|_| !is_replay) else { return Vec::new() };
        let inboxes = ["tool read_inbox", "tool wait_for_messages", "tool claim_messages"];
        self.is_inbox = inboxes.contains(&request.operation.as_str());
        let is_refused = answer.status >= 300 || answer.body["result"]["isError"] == true;
        if is_refused {
            let is_known = self.principals.contains_key(&step.actor);
            if is_known && request.operation == "GET /api/messages/{}" && answer.status == 404 {
                self.expect_hidden(&request);
            }
        } else {
            self.apply_to_channels(&request);
            self.apply_to_work(&request);
            self.apply_to_reading(&request);
            self.check_views(&actor, request.answer);
        }
        std::mem::take(&mut self.faults)
    }

    fn expect(&mut self, is_so: bool, fault: impl FnOnce() -> String) {
        if !is_so {
            self.faults.push(fault());
        }
    }

    fn now(&self) -> String {
        stoa_model::Timestamp::from_ms(self.now_ms).to_string()
    }

    /// The name that somebody has, whatever the case it is written in.
    fn handle(&self, name: &str) -> Option<String> {
        let name = name.strip_prefix('@').unwrap_or(name);
        self.principals.keys().find(|known| known.eq_ignore_ascii_case(name)).cloned()
    }

    fn owner_of(&self, name: &str) -> Option<&String> {
        self.principals.get(name).and_then(Option::as_ref)
    }

    fn is_agent(&self, name: &str) -> bool {
        self.owner_of(name).is_some()
    }

    /// Somebody and the agents they own.
    fn household<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a String> {
        let is_of_it =
            move |(known, owner): &(&String, &Option<String>)| *known == name || owner.as_deref() == Some(name);
        self.principals.iter().filter(is_of_it).map(|(known, _)| known)
    }

    fn sees(&self, viewer: &str, conversation: &str) -> bool {
        if let Some(sides) = conversation.strip_prefix("dm ") {
            return self.household(viewer).any(|name| sides.split('|').any(|side| side == name));
        }
        let Some(channel) = self.channels.get(conversation) else { return false };
        channel.is_public || self.household(viewer).any(|name| channel.members.contains(name))
    }
}

/// The conversation of two.
fn dm(one: &str, other: &str) -> String {
    if one < other { format!("dm {one}|{other}") } else { format!("dm {other}|{one}") }
}

fn request<'a>(step: &'a Step, actor: &'a str, answer: &'a Answer) -> Option<Request<'a>> {
    let parse = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
    let (operation, names, fields, answer) = match &step.action {
        Action::Call(call) => {
            let (path, query) = call.path.split_once('?').unwrap_or((&call.path, ""));
            let (path, names) = template(path);
            let mut fields = call.body.as_deref().map_or(Value::Null, parse);
            if let Some(reaction) = query.strip_prefix("reaction=") {
                fields = serde_json::json!({"reaction": reaction});
            }
            (format!("{} {path}", call.method), names, fields, &answer.body)
        }
        Action::Tool { name, arguments } => {
            (format!("tool {name}"), Vec::new(), parse(arguments), &answer.body["result"]["structuredContent"])
        }
        Action::Upload { .. } | Action::Advance(_) => return None,
    };
    Some(Request { actor, operation, names, fields, answer })
}

/// A path with `{}` in the place of its names, and the names.
fn template(path: &str) -> (String, Vec<String>) {
    const NAMED: &[&str] = &["messages", "channels", "members", "pins", "agents", "trust", "keys", "dm", "threads"];
    const FIXED: &[&str] = &["search", "partners"];
    let mut names = Vec::new();
    let mut before = "";
    let mut parts = Vec::new();
    for part in path.split('/') {
        let is_name =
            NAMED.contains(&before) && !FIXED.contains(&part) && !(before == "messages" && part == "by-state");
        if is_name {
            let decoded = percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned();
            names.push(decoded.trim_matches([MARKS.0, MARKS.1]).to_owned());
        }
        parts.push(if is_name { "{}" } else { part });
        // What follows a name is no name, even if it is called `messages`.
        before = if is_name { "" } else { part };
    }
    (parts.join("/"), names)
}
