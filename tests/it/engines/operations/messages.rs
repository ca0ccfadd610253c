//! Sending, editing and deleting messages.

use serde_json::{Value, json};

use super::{Draw, Operation, operation};
use crate::engines::step::{Draft, reference};
use crate::engines::text;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("POST /api/messages", 230, |draw| {
            let actor = draw.anyone();
            let body = draw.send_request();
            let draft = Draft::call(&actor, "POST", "/api/messages").json(&body);
            Some(if draw.dice.chance(4) { draft.header("webhook-loop-depth", "3") } else { draft })
        }),
        operation("PATCH /api/messages/{id}", 50, |draw| {
            let (message, actor) = draw.message_and_author()?;
            let path = format!("/api/messages/{}", reference(&message.reference));
            let body = match draw.dice.below(8) {
                0 => json!({"action_type": draw.dice.pick(&["publish", "deploy.prod", "Not a label"])}),
                1 => json!({"action_type": null}),
                _ => json!({"body": draw.text()}),
            };
            Some(Draft::call(&actor, "PATCH", path).json(&body))
        }),
        operation("DELETE /api/messages/{id}", 30, |draw| {
            let (message, actor) = draw.message_and_author()?;
            Some(Draft::call(&actor, "DELETE", format!("/api/messages/{}", reference(&message.reference))))
        }),
        operation("GET /api/messages/{id}", 60, |draw| {
            let (actor, message) = (draw.anyone(), draw.message_reference()?);
            Some(Draft::call(&actor, "GET", format!("/api/messages/{message}")))
        }),
        operation("GET /api/messages/{id}/history", 15, |draw| {
            let (message, actor) = draw.message_and_party()?;
            let (path, limit) = (reference(&message.reference), draw.limit());
            Some(Draft::call(&actor, "GET", format!("/api/messages/{path}/history?limit={limit}")).all_pages())
        }),
        operation("GET /api/messages/{id}/replies", 20, |draw| {
            let (message, actor) = draw.message_and_party()?;
            let (path, limit) = (reference(&message.reference), draw.limit());
            Some(Draft::call(&actor, "GET", format!("/api/messages/{path}/replies?limit={limit}")).all_pages())
        }),
    ]
}

impl Draw<'_> {
    /// What is sent, and where to. The same fields are arguments of the tools.
    pub(crate) fn send_request(&mut self) -> Value {
        let mut body = json!({"body": self.text()});
        if self.dice.chance(55) {
            let prefix = if self.dice.chance(5) { "#" } else { "" };
            let open = self.dice.pick(&["general", "work", "ops"]).to_owned();
            let channel = if self.dice.chance(50) { open } else { self.channel() };
            body["channel"] = json!(format!("{prefix}{channel}"));
        } else {
            let prefix = if self.dice.chance(5) { "@" } else { "" };
            body["to"] = json!(format!("{prefix}{}", self.name()));
        }
        self.add_options(&mut body);
        body
    }

    pub(crate) fn add_options(&mut self, body: &mut Value) {
        if self.dice.chance(25)
            && let Some(message) = self.message_reference()
        {
            body["reply_to"] = json!(message);
        }
        if self.dice.chance(12) {
            body["priority"] = json!(self.dice.below(12));
        }
        if self.dice.chance(10) {
            body["subject"] = if self.dice.chance(40) { json!(text::hostile(self.dice)) } else { json!("a subject") };
        }
        if self.dice.chance(20) {
            body["metadata"] = match self.dice.below(5) {
                0 => json!({"action_type": "approve"}),
                1 => json!({"action_type": "deploy.prod"}),
                2 => json!({"action_type": "No such label!"}),
                3 => json!({"note": text::hostile(self.dice), "nested": {"list": [1, 2.5, null]}}),
                _ => json!({"action_type": "publish", "n": 12345678901234567890_u64}),
            };
        }
        if self.dice.chance(10)
            && let Some(file) = self.dice.recent(&self.world.files).cloned()
        {
            body["attachments"] = if self.dice.chance(10) { json!([file, file]) } else { json!([file]) };
        }
        if self.dice.chance(20) && body["channel"].is_string() {
            body["action_type"] = json!(self.dice.pick(&["publish", "deploy.prod", "no/label"]));
        }
        if self.dice.chance(3) {
            body["no_wake"] = json!(true);
        }
    }
}
