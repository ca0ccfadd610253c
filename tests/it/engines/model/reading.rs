//! Who sees what, and what is unread.

use serde_json::Value;

use super::{Model, Request, dm};

/// Counting stops here.
const MAX_UNREAD: usize = 100;

impl Model {
    pub(super) fn apply_to_reading(&mut self, request: &Request<'_>) {
        match request.operation.as_str() {
            "GET /api/notifications/unread" => {
                for entry in request.answer.as_array().into_iter().flatten() {
                    self.check_unread(request.actor, entry);
                }
            }
            "POST /api/notifications/mark-read" | "tool mark_read" => self.apply_mark_read(request),
            "PUT /api/notifications/settings" => self.apply_levels(request),
            _ => {}
        }
    }

    fn apply_mark_read(&mut self, request: &Request<'_>) {
        let conversation = match request.text("dm").and_then(|name| self.handle(&name)) {
            Some(partner) => dm(request.actor, &partner),
            None => self.channel_names.get(&request.channel().unwrap_or_default()).cloned().unwrap_or_default(),
        };
        let read = match request.text("message_id") {
            Some(reference) => self.places.get(&reference).map(|place| place + 1),
            None if request.fields["message_id"] == 0 => Some(0),
            None => Some(self.messages.len()),
        };
        if let Some(read) = read {
            self.read.insert((request.actor.to_owned(), conversation), read);
        }
        self.check_unread(request.actor, request.answer);
    }

    fn apply_levels(&mut self, request: &Request<'_>) {
        let person = request.actor.to_owned();
        if let Some(level) = request.text("default_level") {
            self.default_levels.insert(person.clone(), level);
        }
        let Some(channels) = request.fields["channels"].as_array() else { return };
        self.levels.retain(|(known, _), _| *known != person);
        for entry in channels {
            let name = entry["channel"].as_str().unwrap_or_default();
            let reference = self.channel_names.get(name.strip_prefix('#').unwrap_or(name)).cloned();
            let level = entry["level"].as_str().unwrap_or_default().to_owned();
            if let Some(reference) = reference {
                self.levels.insert((person.clone(), reference), level);
            }
        }
    }

    fn check_unread(&mut self, reader: &str, entry: &Value) {
        let (Some(kind), Some(name)) = (entry["kind"].as_str(), entry["name"].as_str()) else { return };
        let conversation = match kind {
            "dm" => dm(reader, name),
            _ => self.channel_names.get(name).cloned().unwrap_or_default(),
        };
        // No answer announces what the hub itself sends.
        if self.unknown.contains(&conversation) || name == "system" {
            return;
        }
        let of_reader = (reader.to_owned(), conversation.clone());
        let read = self.read.get(&of_reader).copied().unwrap_or(0);
        let level = self.levels.get(&of_reader).or(self.default_levels.get(reader));
        let is_quiet = kind == "channel" && level.is_some_and(|level| level == "mentions");
        let is_unread = |message: &&super::Message| {
            message.conversation == conversation && message.author != reader && !message.is_deleted
        };
        let count = self.messages[read..].iter().filter(is_unread).count().min(MAX_UNREAD);
        let count = if is_quiet { 0 } else { count };
        let shown = entry["unread_count"].clone();
        self.expect(shown == count, || format!("{reader} has {shown} unread in {name}, and should have {count}"));
    }

    /// Who gets a 404 must not see the message.
    pub(super) fn expect_hidden(&mut self, request: &Request<'_>) {
        let place = request.message().and_then(|reference| self.places.get(&reference).copied());
        let Some(message) = place.map(|place| self.messages[place].clone()) else { return };
        let is_hidden = !self.sees(request.actor, &message.conversation);
        self.expect(is_hidden, || format!("{} should see {message:?}", request.actor));
    }

    /// Compares every message that an answer shows with what is known about it.
    pub(super) fn check_views(&mut self, viewer: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                let is_message = value["id"].as_str().is_some_and(|id| id.starts_with("message "));
                if is_message {
                    self.check_view(viewer, value);
                }
                fields.values().for_each(|field| self.check_views(viewer, field));
            }
            Value::Array(items) => items.iter().for_each(|item| self.check_views(viewer, item)),
            _ => {}
        }
    }

    fn check_view(&mut self, viewer: &str, view: &Value) {
        let Some(place) = self.place_of(viewer, view) else { return };
        let conversation = self.messages[place].conversation.clone();
        let is_visible = self.sees(viewer, &conversation);
        self.expect(is_visible, || format!("{viewer} should not see {view}"));
        if self.messages[place].is_fading {
            return;
        }
        // Only REST shows whether a message was deleted.
        let is_deleted = self.messages[place].is_deleted;
        if view.get("deleted_at").is_some() {
            let shown = !view["deleted_at"].is_null();
            self.expect(shown == is_deleted, || format!("deleted is {shown}, and should be {is_deleted}: {view}"));
        }
        if is_deleted {
            return;
        }
        if let Some(shown) = view["status"].as_str() {
            let status = self.status(place).to_owned();
            self.expect(shown == status, || format!("status {shown} should be {status}: {view}"));
        }
        self.check_state(place, view);
    }
}
