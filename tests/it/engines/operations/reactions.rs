//! Reactions and the state that follows from them.

use serde_json::{Value, json};

use super::{Draw, Operation, operation};
use crate::engines::step::{Draft, reference};
use crate::engines::text;

const REACTIONS: &[&str] = &["approve", "approve", "reject", "in_progress", "in_progress", "done", "published"];

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("POST /api/messages/{id}/reactions", 130, |draw| {
            let (message, actor) = draw.message_and_party()?;
            let mut body = draw.reaction();
            let again = draw.dice.recent(&draw.world.reactions).cloned();
            if draw.dice.chance(15)
                && let Some((message, actor, reaction)) = again
            {
                body["reaction"] = json!(reaction);
                let path = format!("/api/messages/{}/reactions", reference(&message));
                return Some(Draft::call(&actor, "POST", path).json(&body));
            }
            let path = format!("/api/messages/{}/reactions", reference(&message.reference));
            Some(Draft::call(&actor, "POST", path).json(&body))
        }),
        operation("DELETE /api/messages/{id}/reactions", 30, |draw| {
            let (message, actor, reaction) = draw.dice.recent(&draw.world.reactions).cloned()?;
            let actor = if draw.dice.chance(80) { actor } else { draw.anyone() };
            let path = format!("/api/messages/{}/reactions", reference(&message));
            if draw.dice.chance(50) {
                return Some(Draft::call(&actor, "DELETE", format!("{path}?reaction={reaction}")));
            }
            Some(Draft::call(&actor, "DELETE", path).json(&json!({"reaction": reaction})))
        }),
        operation("GET /api/messages/{id}/reactions", 20, |draw| {
            let (actor, message) = (draw.anyone(), draw.message_reference()?);
            Some(Draft::call(&actor, "GET", format!("/api/messages/{message}/reactions")))
        }),
        operation("GET /api/channels/{name}/messages/by-state", 20, |draw| {
            let (actor, channel, limit) = (draw.anyone(), draw.channel(), draw.limit());
            let states = &["proposed", "approved", "in_progress", "rejected", "done", "published", "odd"];
            let (channel, state) = (Draw::segment(&channel), draw.dice.pick(states));
            let path = format!("/api/channels/{channel}/messages/by-state?state={state}&limit={limit}");
            Some(Draft::call(&actor, "GET", path).all_pages())
        }),
        operation("GET /api/trust/{agent}", 25, |draw| {
            let actor = draw.anyone();
            let name = if draw.dice.chance(85) { draw.agent() } else { draw.name() };
            Some(Draft::call(&actor, "GET", format!("/api/trust/{}", Draw::segment(&name))))
        }),
    ]
}

impl Draw<'_> {
    pub(crate) fn reaction(&mut self) -> Value {
        let reaction = if self.dice.chance(2) { "like" } else { self.dice.pick(REACTIONS) };
        let mut body = json!({"reaction": reaction});
        if self.dice.chance(10) {
            body["metadata"] = json!({"note": text::hostile(self.dice)});
        }
        body
    }
}
