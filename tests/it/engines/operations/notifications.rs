//! What is unread, threads, and how much one wants to be told.

use serde_json::{Value, json};

use super::{Draw, Operation, operation};
use crate::engines::step::{Draft, reference};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("GET /api/notifications/unread", 40, |draw| {
            Some(Draft::call(&draw.anyone(), "GET", "/api/notifications/unread"))
        }),
        operation("POST /api/notifications/mark-read", 50, |draw| {
            let (body, actor) = draw.mark_read()?;
            Some(Draft::call(&actor, "POST", "/api/notifications/mark-read").json(&body))
        }),
        operation("GET /api/notifications/settings", 8, |draw| {
            Some(Draft::call(&draw.anyone(), "GET", "/api/notifications/settings"))
        }),
        operation("PUT /api/notifications/settings", 12, |draw| {
            let level = draw.dice.pick(&["all", "mentions", "none"]);
            let body = match draw.dice.below(3) {
                0 => json!({"default_level": level}),
                1 => {
                    json!({"channels": [{"channel": draw.channel(), "level": level}, {"channel": draw.channel(), "level": "all"}]})
                }
                _ => json!({"channels": [{"channel": draw.channel(), "level": level}]}),
            };
            Some(Draft::call(&draw.anyone(), "PUT", "/api/notifications/settings").json(&body))
        }),
        operation("GET /api/threads", 15, |draw| {
            let (actor, limit) = (draw.anyone(), draw.limit());
            Some(Draft::call(&actor, "GET", format!("/api/threads?limit={limit}")).all_pages())
        }),
        operation("PUT /api/threads/{message_id}/mute", 8, |draw| draw.mute("PUT")),
        operation("DELETE /api/threads/{message_id}/mute", 6, |draw| draw.mute("DELETE")),
        operation("GET /api/dm/partners", 12, |draw| {
            let agent = if draw.dice.chance(30) { format!("?as={}", draw.agent()) } else { String::new() };
            Some(Draft::call(&draw.anyone(), "GET", format!("/api/dm/partners{agent}")))
        }),
        operation("GET /api/dm/{name}/messages", 40, |draw| {
            let (message, actor) = draw.message_and_party()?;
            let other = if message.author == actor { message.to.unwrap_or_default() } else { message.author };
            let (name, limit) = if draw.dice.chance(15) { (draw.name(), draw.limit()) } else { (other, draw.limit()) };
            let agent = if draw.dice.chance(15) { format!("&as={}", draw.agent()) } else { String::new() };
            let query = draw.around(&limit);
            Some(Draft::call(&actor, "GET", format!("/api/dm/{}/messages?{query}{agent}", Draw::segment(&name))))
        }),
    ]
}

impl Draw<'_> {
    /// What to mark as read, and by whom.
    pub(crate) fn mark_read(&mut self) -> Option<(Value, String)> {
        let (message, actor) = self.message_and_party()?;
        let mut body = match message.channel {
            Some(channel) => json!({"channel": channel}),
            None if message.author == actor => json!({"dm": message.to}),
            None => json!({"dm": message.author}),
        };
        match self.dice.below(10) {
            0..5 => body["message_id"] = json!(reference(&message.reference)),
            5 => body["message_id"] = json!(self.message_reference()),
            6 => body["message_id"] = json!(0),
            _ => {}
        }
        Some((body, actor))
    }

    fn mute(&mut self, method: &str) -> Option<Draft> {
        let (message, actor) = self.message_and_party()?;
        Some(Draft::call(&actor, method, format!("/api/threads/{}/mute", reference(&message.reference))))
    }
}
