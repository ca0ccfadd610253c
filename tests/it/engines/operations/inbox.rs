//! The inbox as a work queue.

use serde_json::{Value, json};

use super::{Draw, Operation, operation};
use crate::engines::step::{Draft, reference};

const STATUSES: &[&str] = &["pending", "processing", "done", "failed", "all", "odd"];

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("POST /api/inbox/claim", 60, |draw| {
            let actor = draw.anyone();
            let body = draw.claim();
            Some(Draft::call(&actor, "POST", "/api/inbox/claim").json(&body))
        }),
        operation("POST /api/messages/{id}/done", 45, |draw| {
            let (path, actor) = draw.work()?;
            let body = if draw.dice.chance(50) { json!({"result": draw.text()}) } else { json!({}) };
            Some(Draft::call(&actor, "POST", format!("{path}/done")).json(&body))
        }),
        operation("POST /api/messages/{id}/fail", 20, |draw| {
            let (path, actor) = draw.work()?;
            let body = json!({"error": draw.text()});
            Some(Draft::call(&actor, "POST", format!("{path}/fail")).json(&body))
        }),
        operation("POST /api/messages/{id}/release", 25, |draw| {
            let (path, actor) = draw.work()?;
            Some(Draft::call(&actor, "POST", format!("{path}/release")))
        }),
        operation("GET /api/inbox", 60, |draw| {
            let (actor, limit) = (draw.anyone(), draw.limit());
            let (status, full) = (draw.dice.pick(STATUSES), draw.dice.chance(50));
            let query = match draw.dice.below(4) {
                0 => format!("limit={limit}"),
                1 => format!("limit={limit}&status={status}&wait=0"),
                _ => format!("limit={limit}&status={status}&full={full}"),
            };
            let draft = Draft::call(&actor, "GET", format!("/api/inbox?{query}"));
            // With `wait` there is always a cursor to continue from.
            Some(if query.contains("wait") { draft } else { draft.all_pages() })
        }),
    ]
}

impl Draw<'_> {
    pub(crate) fn claim(&mut self) -> Value {
        let mut body = match self.dice.below(6) {
            0 => json!({"message_ids": [self.message_reference(), self.message_reference()]}),
            1 => json!({"extend": [self.message_reference()]}),
            2 => json!({}),
            _ => json!({"limit": self.dice.below(5)}),
        };
        if self.dice.chance(40) {
            body["lease_seconds"] = json!(self.dice.pick(&[&1, &30, &600, &86_400, &0, &-5]));
        }
        body
    }

    /// The path of a message, and most often its recipient.
    fn work(&mut self) -> Option<(String, String)> {
        let claim = self.dice.recent(&self.world.claims).cloned();
        if self.dice.chance(50)
            && let Some((message, actor)) = claim
        {
            return Some((format!("/api/messages/{}", reference(&message)), actor));
        }
        let (message, party) = self.message_and_party()?;
        let is_for_recipient = self.dice.chance(70);
        let actor = message.to.clone().filter(|_| is_for_recipient).unwrap_or(party);
        Some((format!("/api/messages/{}", reference(&message.reference)), actor))
    }
}
