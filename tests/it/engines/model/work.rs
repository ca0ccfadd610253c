//! Messages as work: their status, the reactions on them and the state that follows, and trust.

use serde_json::Value;

use super::{Judgement, Message, Model, Request, dm};

/// The state of the highest reaction, highest first.
const STATES: &[(&str, &str)] = &[
    ("published", "published"),
    ("done", "done"),
    ("reject", "rejected"),
    ("in_progress", "in_progress"),
    ("approve", "approved"),
];

fn state_of(reactions: &[(String, String)], is_proposed: bool) -> Option<&'static str> {
    let found = STATES.iter().find(|(reaction, _)| reactions.iter().any(|(_, made)| made == reaction));
    found.map(|(_, state)| *state).or(is_proposed.then_some("proposed"))
}

fn is_terminal(state: &str) -> bool {
    matches!(state, "published" | "done" | "rejected")
}

/// `deploy.prod`, for example.
fn kind_of(fields: &Value) -> Option<&str> {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_.-".contains(letter);
    fields["action_type"].as_str().filter(|label| !label.is_empty() && label.chars().all(is_plain))
}

/// What is no such word counts as `publish`.
fn action_type(fields: &Value) -> String {
    kind_of(fields).unwrap_or("publish").to_owned()
}

impl Model {
    pub(super) fn apply_to_work(&mut self, request: &Request<'_>) {
        match request.operation.as_str() {
            "POST /api/messages" | "tool send_message" | "tool send_channel_message" => self.apply_send(request),
            "PATCH /api/messages/{}" => self.apply_edit(request),
            "DELETE /api/messages/{}" => self.apply_delete(request),
            "POST /api/messages/{}/reactions" | "tool react" => self.apply_reaction(request, true),
            "DELETE /api/messages/{}/reactions" | "tool unreact" => self.apply_reaction(request, false),
            "POST /api/inbox/claim" | "tool claim_messages" => self.apply_claim(request),
            "POST /api/messages/{}/done" => self.apply_status(request, "done"),
            "POST /api/messages/{}/fail" => self.apply_status(request, "failed"),
            "POST /api/messages/{}/release" => self.apply_status(request, "pending"),
            "tool mark_done" => {
                let status = request.text("status").unwrap_or_else(|| "done".to_owned());
                self.apply_status(request, if status == "released" { "pending" } else { &status });
            }
            "GET /api/trust/{}" => self.check_trust(request),
            _ => {}
        }
    }

    fn apply_send(&mut self, request: &Request<'_>) {
        let reference = request.answer["id"].as_str().map(str::to_owned);
        let to = request.text("to").and_then(|name| self.handle(&name));
        let channel = request.channel().filter(|_| to.is_none());
        if let Some(channel) = &channel {
            self.join(channel, request.actor);
        }
        let channel = channel.map(|channel| self.channel_names.get(&channel).cloned().unwrap_or_default());
        let recipients: Vec<String> = {
            let entries = request.answer["delivery"].as_array().into_iter().flatten();
            entries.filter_map(|entry| entry["recipient"].as_str()).map(str::to_owned).collect()
        };
        let has_kind = |fields: &Value| kind_of(fields).is_some();
        let is_proposal = channel.is_some()
            && request.fields["reply_to"].is_null()
            && (has_kind(&request.fields["metadata"]) || has_kind(&request.fields));
        let is_work = is_proposal && channel.as_ref().is_some_and(|channel| self.is_workflow(channel));
        let is_talk = channel.is_some() && !is_work;
        let kind = if has_kind(&request.fields) { &request.fields } else { &request.fields["metadata"] };
        let conversation = channel.clone().unwrap_or_else(|| dm(request.actor, to.as_deref().unwrap_or_default()));
        // The hub itself approves what trusted agents propose.
        let state = request.answer["workflow_state"].as_str().or(request.answer["state"].as_str());
        let is_approved = state == Some("approved");
        let message = Message {
            reference,
            author: request.actor.to_owned(),
            conversation,
            to,
            action_type: action_type(kind),
            is_proposal,
            state: match (is_approved, is_work) {
                (true, _) => Some("approved"),
                (false, true) => Some("proposed"),
                (false, false) => None,
            },
            mention_of: None,
            is_deleted: false,
            is_fading: false,
            status: if is_talk { "done" } else { "pending" }.to_owned(),
            lease_until: None,
            reactions: if is_approved { vec![("system".to_owned(), "approve".to_owned())] } else { Vec::new() },
        };
        let place = self.add(message.clone());
        for recipient in recipients.iter().filter(|_| channel.is_some()) {
            self.add_copy(&message, place, recipient);
        }
    }

    pub(super) fn add(&mut self, message: Message) -> usize {
        let place = self.messages.len();
        if let Some(reference) = &message.reference {
            self.places.insert(reference.clone(), place);
        }
        self.messages.push(message);
        place
    }

    fn add_copy(&mut self, message: &Message, place: usize, recipient: &str) -> usize {
        self.add(Message {
            reference: None,
            conversation: dm(&message.author, recipient),
            to: Some(recipient.to_owned()),
            mention_of: Some(place),
            status: "pending".to_owned(),
            is_proposal: false,
            state: None,
            reactions: Vec::new(),
            ..message.clone()
        })
    }

    /// The place of a message that a view shows. Copies and the hub's own messages are first seen there. Tools that
    /// show an inbox leave out the recipient.
    pub(super) fn place_of(&mut self, viewer: &str, view: &Value) -> Option<usize> {
        let reference = view["id"].as_str()?.to_owned();
        if let Some(place) = self.places.get(&reference) {
            return Some(*place);
        }
        let author = view["from"]["name"].as_str().or(view["from"].as_str())?.to_owned();
        let to = view["to"].as_str().or(Some(viewer).filter(|_| self.is_inbox))?.to_owned();
        let origin = view["metadata"]["mention"]["message_id"].as_str().and_then(|origin| self.places.get(origin));
        if let Some(origin) = origin.copied() {
            let is_it = |known: &Message| known.reference.is_none() && known.mention_of == Some(origin);
            let known = self.messages.iter().position(|known| is_it(known) && known.to.as_ref() == Some(&to));
            let place = known.unwrap_or_else(|| {
                // An edit has added a mention. The answer to an edit does not name the recipients.
                let message = self.messages[origin].clone();
                self.unknown.insert(dm(&author, &to));
                self.add_copy(&message, origin, &to)
            });
            self.messages[place].reference = Some(reference.clone());
            self.places.insert(reference, place);
            return Some(place);
        }
        // The hub itself sent it, or it is a copy whose channel is gone.
        let is_fading = author != "system";
        let conversation = dm(&author, &to);
        self.unknown.insert(conversation.clone());
        let status = view["status"].as_str().unwrap_or("pending").to_owned();
        Some(self.add(Message {
            reference: Some(reference),
            author,
            conversation,
            to: Some(to),
            action_type: "publish".to_owned(),
            is_proposal: false,
            state: None,
            mention_of: None,
            is_deleted: !view["deleted_at"].is_null(),
            is_fading,
            status,
            lease_until: view["lease_until"].as_str().map(str::to_owned),
            reactions: Vec::new(),
        }))
    }

    fn is_workflow(&self, conversation: &str) -> bool {
        self.channels.get(conversation).is_some_and(|channel| channel.is_workflow)
    }

    fn known(&self, request: &Request<'_>) -> Option<usize> {
        self.places.get(&request.message()?).copied()
    }

    fn apply_edit(&mut self, request: &Request<'_>) {
        let Some(place) = self.known(request) else { return };
        self.apply_kind(place, request);
        self.lapse(place, request.answer);
        let author = self.messages[place].author.clone();
        for name in request.answer["mentions"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let everybody: Vec<String> = self.principals.keys().cloned().collect();
            let is_for_all = matches!(name, "channel" | "here");
            let called = everybody.into_iter().filter(|known| is_for_all || known == name);
            self.unknown.extend(called.map(|known| dm(&author, &known)));
        }
    }

    fn apply_kind(&mut self, place: usize, request: &Request<'_>) {
        let Some(kind) = request.fields.get("action_type") else { return };
        let message = &mut self.messages[place];
        message.is_proposal = !kind.is_null();
        message.action_type = action_type(&request.fields);
        if !message.reactions.is_empty() {
            return;
        }
        self.couple(place);
        let message = &mut self.messages[place];
        if message.state.is_none() {
            message.status = "done".to_owned();
        }
    }

    /// An approval is of one text, so an edit takes it back. The same text again takes back nothing.
    fn lapse(&mut self, place: usize, answer: &Value) {
        fn approves((_, reaction): &(String, String)) -> bool {
            matches!(reaction.as_str(), "approve" | "published")
        }
        let approved: Vec<String> =
            self.messages[place].reactions.iter().filter(|made| approves(made)).map(|(who, _)| who.clone()).collect();
        let shown = answer["reactions"].as_array().into_iter().flatten();
        let is_same = shown.into_iter().any(|made| made["reaction"] == "approve" || made["reaction"] == "published");
        if is_same {
            return;
        }
        for who in approved.iter().filter(|who| *who != "system") {
            let has_rejected = self.messages[place].reactions.contains(&(who.clone(), "reject".to_owned()));
            let is_named =
                answer["lapsed_approvals"].as_array().is_some_and(|names| names.iter().any(|name| name == who));
            self.expect(is_named != has_rejected, || format!("{who} should be among those who approved before"));
            if *who != self.messages[place].author {
                self.unknown.insert(dm("system", who));
            }
        }
        if approved.is_empty() {
            return;
        }
        self.messages[place].reactions.retain(|made| !approves(made));
        self.couple(place);
        let conversation = self.messages[place].conversation.clone();
        for other in 0..self.messages.len() {
            let copy = &self.messages[other];
            let is_copy = copy.mention_of == Some(place) && !copy.is_deleted;
            if is_copy && self.sees(&copy.to.clone().unwrap_or_default(), &conversation) {
                self.messages[other].reactions.retain(|made| !approves(made));
                self.couple(other);
            }
        }
    }

    fn apply_delete(&mut self, request: &Request<'_>) {
        let Some(place) = self.known(request) else { return };
        let conversation = self.messages[place].conversation.clone();
        for other in 0..self.messages.len() {
            if other == place {
                self.messages[other].is_deleted = true;
            } else if self.messages[other].mention_of == Some(place) {
                // For who does not see the channel nothing changes, until they see it again.
                let recipient = self.messages[other].to.clone().unwrap_or_default();
                let sees = self.sees(&recipient, &conversation);
                let copy = &mut self.messages[other];
                (copy.is_deleted, copy.is_fading) = (sees, copy.is_fading || !sees);
                if !sees {
                    let dm = copy.conversation.clone();
                    self.unknown.insert(dm);
                }
            }
        }
    }

    fn apply_reaction(&mut self, request: &Request<'_>, toggles: bool) {
        let (Some(place), Some(reaction)) = (self.known(request), request.text("reaction")) else { return };
        let made = (request.actor.to_owned(), reaction.clone());
        let had = self.messages[place].reactions.iter().position(|known| *known == made);
        let action = if had.is_some() { "removed" } else { "added" };
        let said = request.answer["action"].clone();
        self.expect(said == action && (toggles || had.is_some()), || format!("{said} should be {action}"));
        let holder = self.messages[place].reactions.iter().any(|(_, known)| known == "in_progress");
        self.expect(reaction != "in_progress" || had.is_some() || !holder, || "a second claim was accepted".to_owned());
        let judgement = self.judgement(place, &made);
        match had {
            Some(place_of_it) => {
                self.messages[place].reactions.remove(place_of_it);
                // Its kind may have been given since.
                let is_it = |known: &Judgement, gone: &Judgement| {
                    (known.message, &known.human, &known.reaction) == (gone.message, &gone.human, &gone.reaction)
                };
                self.judgements.retain(|known| !judgement.as_ref().is_some_and(|gone| is_it(known, gone)));
            }
            None => {
                self.messages[place].reactions.push(made);
                // Trust stays when an edit takes an approval back, and does not come twice.
                self.judgements.extend(judgement.filter(|judgement| !self.judgements.contains(judgement)));
            }
        }
        self.couple(place);
        self.check_state(place, request.answer);
    }

    /// Notes the state. In a workflow channel, work is done when nothing is left to do, and talk always.
    fn couple(&mut self, place: usize) {
        let is_workflow = self.is_workflow(&self.messages[place].conversation);
        let message = &mut self.messages[place];
        message.state = state_of(&message.reactions, is_workflow && message.is_proposal);
        if self.messages[place].is_deleted || !self.is_workflow(&self.messages[place].conversation) {
            return;
        }
        let is_over = self.messages[place].state.is_none_or(is_terminal);
        let is_open = matches!(self.status(place), "pending" | "processing");
        if is_over == is_open {
            self.messages[place].status = if is_over { "done" } else { "pending" }.to_owned();
            self.messages[place].lease_until = None;
        }
    }

    /// Frees the open work of somebody who is gone or no longer sees it.
    pub(super) fn give_back(&mut self, name: &str, is_gone: bool) {
        let claim = (name.to_owned(), "in_progress".to_owned());
        for place in 0..self.messages.len() {
            let message = &self.messages[place];
            let is_open = !message.is_deleted && !message.state.is_some_and(is_terminal);
            let is_kept_out = self.is_kept_out(&message.conversation, name);
            let can_go_on = !is_gone && !is_kept_out && self.sees(name, &message.conversation);
            if is_open && !can_go_on && message.reactions.contains(&claim) {
                self.messages[place].reactions.retain(|known| *known != claim);
                self.couple(place);
            }
        }
    }

    fn judgement(&self, place: usize, (who, reaction): &(String, String)) -> Option<Judgement> {
        let message = &self.messages[place];
        let is_by_person = !self.is_agent(who) && matches!(reaction.as_str(), "approve" | "reject");
        let is_about_agent = self.is_agent(&message.author) && message.mention_of.is_none();
        (is_by_person && is_about_agent).then(|| Judgement {
            agent: message.author.clone(),
            action_type: message.action_type.clone(),
            message: place,
            human: who.clone(),
            reaction: reaction.clone(),
        })
    }

    /// The score of an agent is what people said about it and did not take back, replayed from nothing.
    fn check_trust(&mut self, request: &Request<'_>) {
        let Some(agent) = request.names.first().and_then(|name| self.handle(name)) else { return };
        for shown in request.answer.as_array().into_iter().flatten() {
            let kind = shown["action_type"].as_str().unwrap_or_default();
            let of_kind = self.judgements.iter().filter(|known| known.agent == agent && known.action_type == kind);
            let deltas: Vec<i64> = of_kind.map(|known| if known.reaction == "approve" { 5 } else { -10 }).collect();
            let score = deltas.iter().fold(0, |score: i64, delta| (score + delta).clamp(0, 100));
            #[expect(clippy::cast_possible_truncation, reason = "a score has few digits")]
            let found = (shown["score"].as_f64().unwrap_or(-1.0) * 100.0).round() as i64;
            let is_right = found == score && shown["adjustments"] == deltas.len();
            self.expect(is_right, || format!("trust of {agent} in {kind} should be {score} of 100 after {deltas:?}"));
        }
        let kinds = request.answer.as_array().map_or(0, Vec::len);
        let known: std::collections::BTreeSet<_> =
            self.judgements.iter().filter(|known| known.agent == agent).map(|known| &known.action_type).collect();
        let enough = known.len() <= kinds;
        self.expect(enough, || format!("{agent} is judged in more kinds of work than {kinds}"));
    }

    /// The status of a message. A lease that has expired counts as none.
    pub(super) fn status(&self, place: usize) -> &str {
        let message = &self.messages[place];
        let is_expired = message.lease_until.as_ref().is_some_and(|until| *until <= self.now());
        if message.status == "processing" && is_expired { "pending" } else { &message.status }
    }

    fn apply_claim(&mut self, request: &Request<'_>) {
        let items = request.answer["items"].as_array().cloned().unwrap_or_default();
        let wanted_status = if request.fields["extend"].is_array() { "processing" } else { "pending" };
        let known = self.messages.len();
        let claimed: Vec<usize> = items.iter().filter_map(|item| self.place_of(request.actor, item)).collect();
        // What is seen here for the first time was free before.
        self.messages[known..].iter_mut().for_each(|message| message.status = wanted_status.to_owned());
        let can_be = |model: &Self, place: usize| {
            let message = &model.messages[place];
            let is_mine = message.to.as_deref() == Some(request.actor) && !message.is_deleted;
            is_mine && (message.is_fading || model.status(place) == wanted_status)
        };
        for place in &claimed {
            let is_right = can_be(self, *place);
            let message = self.messages[*place].clone();
            self.expect(is_right, || format!("claimed without being {wanted_status}: {message:?}"));
        }
        let count = (0..self.messages.len()).filter(|place| can_be(self, *place)).count();
        let takes_next = request.fields["extend"].is_null() && request.fields["message_ids"].is_null();
        let limit = usize::try_from(request.fields["limit"].as_i64().unwrap_or(1)).unwrap_or(0);
        let is_all_known = !self.unknown.iter().any(|conversation| self.is_side(request.actor, conversation));
        let is_complete = !takes_next || !is_all_known || claimed.len() == count.min(limit);
        self.expect(is_complete, || format!("{} of {count} were claimed, and {limit} wanted", claimed.len()));
        for (place, item) in claimed.into_iter().zip(&items) {
            self.messages[place].status = "processing".to_owned();
            self.messages[place].lease_until = item["lease_until"].as_str().map(str::to_owned);
        }
    }

    fn is_side(&self, name: &str, conversation: &str) -> bool {
        conversation.strip_prefix("dm ").is_some_and(|sides| sides.split('|').any(|side| side == name))
    }

    fn apply_status(&mut self, request: &Request<'_>, status: &str) {
        let Some(place) = self.known(request) else { return };
        let before = self.status(place).to_owned();
        let may_move =
            if status == "pending" { before == "processing" } else { before != "done" && before != "failed" };
        let is_mine = self.messages[place].to.as_deref() == Some(request.actor);
        self.expect(may_move && is_mine, || format!("{before} became {status} for {}", request.actor));
        self.messages[place].status = status.to_owned();
        self.messages[place].lease_until = None;
        let Some(reply) = request.answer["reply_id"].as_str() else { return };
        let to = self.messages[place].author.clone();
        let sent = Message {
            reference: Some(reply.to_owned()),
            author: request.actor.to_owned(),
            conversation: dm(request.actor, &to),
            to: Some(to),
            action_type: "publish".to_owned(),
            is_proposal: false,
            state: None,
            mention_of: None,
            is_deleted: false,
            is_fading: false,
            status: "pending".to_owned(),
            lease_until: None,
            reactions: Vec::new(),
        };
        self.add(sent);
    }

    /// Compares reactions and state with what a view shows of them.
    pub(super) fn check_state(&mut self, place: usize, view: &Value) {
        let message = self.messages[place].clone();
        if let Some(shown) = view.get("workflow_state") {
            self.expect(shown.as_str() == message.state, || format!("state {shown} is wrong: {message:?}"));
        }
        let Some(shown) = view["reactions"].as_array().filter(|shown| shown.iter().all(Value::is_object)) else {
            return;
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name = |from: &Value| from["name"].as_str().or(from.as_str()).unwrap_or_default().to_owned();
        let shown: Vec<_> = shown.iter().map(|one| (name(&one["from"]), text(&one["reaction"]))).collect();
        self.expect(shown == message.reactions, || format!("reactions {shown:?} should be {:?}", message.reactions));
    }
}
