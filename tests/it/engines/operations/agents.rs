//! Agents and managed keys.

use serde_json::json;

use super::{Draw, Operation, operation};
use crate::engines::step::{Draft, reference};
use crate::engines::text;

const NAMES: &[&str] = &["scout", "bee", "ant-2", "o_wl", "0x", "scout-", "fox", "gnu"];

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("GET /api/agents", 8, |draw| {
            let (actor, limit) = (draw.anyone(), draw.limit());
            Some(Draft::call(&actor, "GET", format!("/api/agents?limit={limit}")).all_pages())
        }),
        operation("POST /api/agents", 8, |draw| {
            let odd = draw.dice.chance(15);
            let name = if odd { text::odd_name(draw.dice) } else { draw.dice.pick(NAMES).to_owned() };
            let mut body = json!({"name": name});
            if draw.dice.chance(30) {
                body["display_name"] = json!(text::display_name(draw.dice));
            }
            Some(Draft::call(&draw.anyone(), "POST", "/api/agents").json(&body))
        }),
        operation("GET /api/agents/{name}", 10, |draw| draw.on_agent("GET", "")),
        operation("PATCH /api/agents/{name}", 12, |draw| {
            let body = match draw.dice.below(5) {
                0 => json!({"display_name": text::display_name(draw.dice)}),
                1 => json!({"trigger_mode": draw.dice.pick(&["passive", "disabled", "reactive", "odd"])}),
                2 => json!({"instructions": draw.text(), "cooldown_seconds": draw.dice.below(100)}),
                3 => {
                    json!({"budget": {"cost_usd_per_day": draw.dice.pick(&[&0.1, &0.30000000000000004, &-1.0, &1e6])}})
                }
                _ => json!({"archetype": draw.dice.pick(&["researcher", "writer", "pilot"])}),
            };
            Some(draw.on_agent("PATCH", "")?.json(&body))
        }),
        operation("DELETE /api/agents/{name}", 2, |draw| draw.on_agent("DELETE", "")),
        operation("POST /api/agents/{name}/key", 4, |draw| draw.on_agent("POST", "/key")),
        operation("POST /api/agents/{name}/pause", 4, |draw| draw.on_agent("POST", "/pause")),
        operation("POST /api/agents/{name}/resume", 5, |draw| draw.on_agent("POST", "/resume")),
        operation("POST /api/agents/{name}/unquarantine", 2, |draw| draw.on_agent("POST", "/unquarantine")),
        operation("GET /api/agents/{name}/mcp-config", 3, |draw| {
            let client = draw.dice.pick(&["generic", "claude-code", "codex", "stdio", "odd"]);
            draw.on_agent("GET", &format!("/mcp-config?client={client}"))
        }),
        operation("GET /api/directory", 12, |draw| {
            let (actor, limit) = (draw.anyone(), draw.limit());
            let query = match draw.dice.below(6) {
                0 => String::new(),
                1 => text::hostile(draw.dice),
                2 => text::display_name(draw.dice),
                3 => text::display_name(draw.dice).chars().take(3).collect(),
                _ => draw.name().chars().take(2).collect(),
            };
            let query = crate::search::encoded(&query.replace(text::LONE_SURROGATE, "%"));
            Some(Draft::call(&actor, "GET", format!("/api/directory?q={query}&limit={limit}")).all_pages())
        }),
        operation("GET /api/directory/{name}", 6, |draw| {
            let (actor, name) = (draw.anyone(), draw.name());
            Some(Draft::call(&actor, "GET", format!("/api/directory/{}", crate::search::encoded(&name))))
        }),
        operation("GET /api/starred", 4, |draw| Some(Draft::call(&draw.anyone(), "GET", "/api/starred"))),
        operation("PUT /api/starred/{conversation}", 8, |draw| draw.on_star("PUT")),
        operation("DELETE /api/starred/{conversation}", 4, |draw| draw.on_star("DELETE")),
        operation("GET /api/keys", 6, |draw| Some(Draft::call(&draw.anyone(), "GET", "/api/keys?limit=2").all_pages())),
        operation("POST /api/keys", 10, |draw| {
            let (agent, owner) = draw.dice.one_of(&draw.world.agents).cloned()?;
            let permissions = match draw.dice.below(5) {
                0 => json!(["messages:read"]),
                1 => json!(["messages:read", "messages:write", "reactions:write", "search:read"]),
                2 => json!(["channels:read", "channels:write", "odd"]),
                _ => json!(["*"]),
            };
            let mut body = json!({"name": text::hostile(draw.dice), "agent": agent, "permissions": permissions});
            if draw.dice.chance(60) {
                body["name"] = json!("a key");
            }
            if draw.dice.chance(35) {
                body["channels"] = json!([draw.channel()]);
            }
            if draw.dice.chance(20) {
                body["expires_at"] = json!("2027-01-15T20:00:00Z");
            }
            let actor = if draw.dice.chance(85) { owner } else { draw.anyone() };
            Some(Draft::call(&actor, "POST", "/api/keys").json(&body))
        }),
        operation("GET /api/keys/{id}", 4, |draw| draw.on_key("GET")),
        operation("DELETE /api/keys/{id}", 4, |draw| draw.on_key("DELETE")),
    ]
}

impl Draw<'_> {
    /// Something about an agent, most often by its owner.
    fn on_star(&mut self, method: &str) -> Option<Draft> {
        let actor = self.anyone();
        let conversation = match self.dice.below(8) {
            0 => "general".to_owned(),
            1..=4 => format!("channel:{}", self.channel()),
            _ => format!("dm:{}", self.name()),
        };
        Some(Draft::call(&actor, method, format!("/api/starred/{}", crate::search::encoded(&conversation))))
    }

    fn on_agent(&mut self, method: &str, path: &str) -> Option<Draft> {
        let (agent, owner) = self.dice.one_of(&self.world.agents).cloned()?;
        let actor = if self.dice.chance(80) { owner } else { self.anyone() };
        let agent = if self.dice.chance(10) { self.name() } else { agent };
        Some(Draft::call(&actor, method, format!("/api/agents/{}{path}", Draw::segment(&agent))))
    }

    fn on_key(&mut self, method: &str) -> Option<Draft> {
        let key = self.dice.recent(&self.world.keys).cloned()?;
        let owner = self.world.agents.iter().find(|(agent, _)| self.world.key_agents.get(&key) == Some(agent));
        let owner = owner.map(|(_, owner)| owner.clone()).filter(|_| self.dice.chance(80));
        let actor = owner.unwrap_or_else(|| self.person());
        Some(Draft::call(&actor, method, format!("/api/keys/{}", reference(&key))))
    }
}
