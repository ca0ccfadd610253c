//! What a sequence knows so far: who can act, and what they can act on. It learns from answers, in references.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names::Answer;
use super::run::PEOPLE;
use super::step::{Action, Draft, MARKS, Step};

/// A message that somebody has seen.
#[derive(Clone, Debug)]
pub(crate) struct KnownMessage {
    pub(crate) reference: String,
    pub(crate) author: String,
    pub(crate) channel: Option<String>,
    pub(crate) to: Option<String>,
}

#[derive(Default)]
pub(crate) struct World {
    pub(crate) people: Vec<String>,
    /// Agents with their owners.
    pub(crate) agents: Vec<(String, String)>,
    /// Managed keys, which act for agents.
    pub(crate) keys: Vec<String>,
    pub(crate) key_agents: BTreeMap<String, String>,
    pub(crate) channels: Vec<String>,
    pub(crate) channel_owners: BTreeMap<String, String>,
    pub(crate) messages: Vec<KnownMessage>,
    /// SHA-256 sums of uploaded files.
    pub(crate) files: Vec<String>,
    pub(crate) sessions: Vec<String>,
    /// OAuth clients.
    pub(crate) clients: Vec<String>,
    /// Reactions that were added: the message, who reacted, and how.
    pub(crate) reactions: Vec<(String, String, String)>,
    /// Messages that were claimed, and by whom.
    pub(crate) claims: Vec<(String, String)>,
    /// Callers whose credential no longer works.
    pub(crate) locked_out: BTreeSet<String>,
    /// Lists that have another page: the caller, the path, and the cursor.
    pub(crate) pages: Vec<(String, String, String)>,
    /// Requests that were sent with an idempotency key.
    pub(crate) repeatable: Vec<Draft>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            people: PEOPLE.iter().map(|name| (*name).to_owned()).collect(),
            channels: vec!["general".to_owned()],
            ..Self::default()
        }
    }

    /// Everybody who has a name.
    pub(crate) fn names(&self) -> Vec<String> {
        self.people.iter().cloned().chain(self.agents.iter().map(|(agent, _)| agent.clone())).collect()
    }

    /// The person who answers for somebody.
    pub(crate) fn owner_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.agents.iter().find(|(agent, _)| agent == name).map_or(name, |(_, owner)| owner)
    }

    pub(crate) fn learn(&mut self, step: &Step, answer: &Answer) {
        let body = &answer.body;
        if answer.status == 401 {
            self.locked_out.insert(step.actor.clone());
        }
        if answer.status >= 300 {
            return;
        }
        self.locked_out.remove(&step.actor);
        if let Some(user) = body["user"]["username"].as_str() {
            self.locked_out.remove(user);
        }
        self.learn_work(step, body);
        if let Action::Call(call) = &step.action {
            if call.headers.iter().any(|(name, _)| name == "idempotency-key") {
                self.repeatable.push(Draft { actor: step.actor.clone(), action: step.action.clone() });
            }
            if let Some(cursor) = body["next_cursor"].as_str() {
                self.pages.push((step.actor.clone(), call.path.clone(), cursor.to_owned()));
            }
        }
        self.learn_from(body);
    }

    /// Who has reacted to what, and who works on what.
    fn learn_work(&mut self, step: &Step, body: &Value) {
        match &step.action {
            Action::Call(call) if call.path.ends_with("/reactions") && body["action"] == "added" => {
                let message = call.path.split([MARKS.0, MARKS.1]).nth(1).unwrap_or_default();
                let reaction = body["reactions"].as_array().and_then(|all| all.last()).map(|last| &last["reaction"]);
                let reaction = reaction.and_then(Value::as_str).unwrap_or_default();
                self.reactions.push((message.to_owned(), step.actor.clone(), reaction.to_owned()));
            }
            Action::Call(call) if call.path == "/api/inbox/claim" => {
                let claimed = body["items"].as_array().into_iter().flatten().filter_map(|item| item["id"].as_str());
                self.claims.extend(claimed.map(|message| (message.to_owned(), step.actor.clone())));
            }
            _ => {}
        }
    }

    fn learn_from(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                self.learn_thing(value);
                fields.values().for_each(|field| self.learn_from(field));
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn_from(item)),
            _ => {}
        }
    }

    fn learn_thing(&mut self, thing: &Value) {
        let text = |field: &str| thing[field].as_str().map(str::to_owned);
        if let Some(sha256) = text("sha256").filter(|sha256| !self.files.contains(sha256)) {
            self.files.push(sha256);
        }
        if let Some(client) = text("client_id").filter(|client| !self.clients.contains(client)) {
            self.clients.push(client);
        }
        let Some(id) = text("id") else { return };
        match (id.split(' ').next(), text("name")) {
            (Some("message"), _) => self.learn_message(id, thing),
            (Some("agent"), Some(name)) => {
                let is_known = self.agents.iter().any(|(agent, _)| *agent == name);
                if let Some(owner) = text("owner").filter(|_| !is_known) {
                    self.agents.push((name, owner));
                }
            }
            (Some("channel"), Some(name)) => {
                self.channel_owners.extend(text("owner").map(|owner| (name.clone(), owner)));
                if !self.channels.contains(&name) {
                    self.channels.push(name);
                }
            }
            (Some("key"), _) if !self.keys.contains(&id) => {
                self.key_agents.extend(text("agent").map(|agent| (id.clone(), agent)));
                self.keys.push(id);
            }
            (Some("session"), _) if !self.sessions.contains(&id) => self.sessions.push(id),
            _ => {}
        }
    }

    fn learn_message(&mut self, reference: String, view: &Value) {
        if self.messages.iter().any(|known| known.reference == reference) {
            return;
        }
        // Tools show the author as a name, REST as an object.
        let author = view["from"]["name"].as_str().or(view["from"].as_str());
        let Some(author) = author.map(str::to_owned) else { return };
        let text = |field: &str| view[field].as_str().map(str::to_owned);
        self.messages.push(KnownMessage { reference, author, channel: text("channel"), to: text("to") });
    }
}
