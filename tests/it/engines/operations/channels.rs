//! Channels, their members, settings and pins.

use serde_json::{Value, json};

use super::{Draw, Operation, operation};
use crate::engines::step::{Draft, reference};
use crate::engines::text;

const NAMES: &[&str] = &["work", "den", "ops", "lab", "attic", "x", "news-2", "a_b"];

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("POST /api/channels", 14, |draw| {
            let actor = draw.anyone();
            let body = draw.new_channel();
            Some(Draft::call(&actor, "POST", "/api/channels").json(&body))
        }),
        operation("GET /api/channels", 15, |draw| {
            let (actor, limit) = (draw.anyone(), draw.limit());
            Some(Draft::call(&actor, "GET", format!("/api/channels?limit={limit}")).all_pages())
        }),
        operation("GET /api/channels/{name}", 20, |draw| draw.on_channel("GET", "")),
        operation("PATCH /api/channels/{name}", 16, |draw| {
            let body = match draw.dice.below(5) {
                0 => json!({"public": draw.dice.chance(50)}),
                1 => json!({"owner": draw.name()}),
                2 => json!({"topic": text::hostile(draw.dice), "description": draw.text()}),
                _ => json!({"topic": draw.text()}),
            };
            let draft = draw.manage_channel("PATCH", "")?.json(&body);
            Some(if draw.dice.chance(10) { draft.header("if-match", "\"1\"") } else { draft })
        }),
        operation("DELETE /api/channels/{name}", 3, |draw| draw.manage_channel("DELETE", "")),
        operation("PUT /api/channels/{name}/settings", 16, |draw| {
            let body = draw.settings();
            Some(draw.manage_channel("PUT", "/settings")?.json(&body))
        }),
        operation("POST /api/channels/{name}/join", 25, |draw| draw.on_channel("POST", "/join")),
        operation("POST /api/channels/{name}/leave", 12, |draw| draw.on_channel("POST", "/leave")),
        operation("PUT /api/channels/{name}/members/{principal}", 25, |draw| {
            let name = draw.name();
            draw.manage_channel("PUT", &format!("/members/{}", Draw::segment(&name)))
        }),
        operation("DELETE /api/channels/{name}/members/{principal}", 12, |draw| {
            let name = draw.name();
            draw.manage_channel("DELETE", &format!("/members/{}", Draw::segment(&name)))
        }),
        operation("GET /api/channels/{name}/messages", 70, |draw| {
            let limit = draw.limit();
            let query = draw.around(&limit);
            draw.on_channel("GET", &format!("/messages?{query}"))
        }),
        operation("PUT /api/channels/{name}/pins/{message_id}", 20, |draw| draw.pin("PUT")),
        operation("DELETE /api/channels/{name}/pins/{message_id}", 10, |draw| draw.pin("DELETE")),
        operation("GET /api/channels/{name}/pins", 10, |draw| {
            let limit = draw.limit();
            Some(draw.on_channel("GET", &format!("/pins?limit={limit}"))?.all_pages())
        }),
    ]
}

impl Draw<'_> {
    fn on_channel(&mut self, method: &str, path: &str) -> Option<Draft> {
        let (actor, channel) = (self.anyone(), self.channel());
        Some(Draft::call(&actor, method, format!("/api/channels/{}{path}", Draw::segment(&channel))))
    }

    /// Something that the owner of a channel may do.
    fn manage_channel(&mut self, method: &str, path: &str) -> Option<Draft> {
        let channel = self.channel();
        let actor = self.channel_owner(&channel);
        Some(Draft::call(&actor, method, format!("/api/channels/{}{path}", Draw::segment(&channel))))
    }

    pub(crate) fn new_channel(&mut self) -> Value {
        let name = if self.dice.chance(10) { text::odd_name(self.dice) } else { self.dice.pick(NAMES).to_owned() };
        let mut body = json!({"name": name, "public": self.dice.chance(50)});
        if self.dice.chance(30) {
            body["topic"] = json!(self.text());
        }
        body
    }

    pub(crate) fn settings(&mut self) -> Value {
        match self.dice.below(6) {
            0 => json!({"auto_approve": self.dice.chance(70), "approve_threshold": 0.05}),
            1 => json!({"publish_threshold": self.dice.pick(&[&0.0, &0.1, &0.5, &1.0, &1.5])}),
            2 => json!({"stalemate_remind_after": self.dice.pick(&["0", "5m", "1h", "-1h", "1w"]),
                "stalemate_escalate_after": self.dice.pick(&["0", "10m", "3h"])}),
            _ => json!({"workflow_enabled": self.dice.chance(75)}),
        }
    }

    /// Where a page of messages begins and ends.
    pub(crate) fn around(&mut self, limit: &str) -> String {
        let mut query = format!("limit={limit}");
        if self.dice.chance(45)
            && let Some(message) = self.message_reference()
        {
            let side = self.dice.pick(&["before", "after"]);
            query += &format!("&{side}={message}");
        }
        query
    }

    fn pin(&mut self, method: &str) -> Option<Draft> {
        let message = self.message()?;
        let known = message.channel.clone().filter(|_| self.dice.chance(90));
        let channel = known.unwrap_or_else(|| self.channel());
        let path = format!("/api/channels/{}/pins/{}", Draw::segment(&channel), reference(&message.reference));
        Some(Draft::call(&self.channel_owner(&channel), method, path))
    }
}
