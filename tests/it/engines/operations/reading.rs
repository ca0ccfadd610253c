//! Search, traces, and lists that are continued after something else has happened.

use super::{Draw, Operation, operation};
use crate::engines::step::{Draft, reference};
use crate::engines::text;
use crate::search::encoded;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("GET /api/messages/search", 45, |draw| {
            let actor = draw.anyone();
            let query = draw.search_query();
            Some(Draft::call(&actor, "GET", format!("/api/messages/search?{query}")))
        }),
        operation("GET /api/traces", 8, |draw| draw.traces("", "&limit=20")),
        operation("GET /api/traces/export", 2, |draw| draw.traces("/export", "&format=json")),
        operation("GET /api/traces/stats", 3, |draw| draw.traces("/stats", "")),
        operation("next page", 30, |draw| {
            let (actor, path, cursor) = draw.dice.recent(&draw.world.pages).cloned()?;
            let actor = if draw.dice.chance(5) { draw.anyone() } else { actor };
            // A second page was itself asked for with a cursor.
            let path = path.split(['&', '?']).filter(|part| !part.starts_with("cursor=")).collect::<Vec<_>>();
            let path = path.join("&").replacen('&', "?", 1);
            let separator = if path.contains('?') { '&' } else { '?' };
            Some(Draft::call(&actor, "GET", format!("{path}{separator}cursor={}", reference(&cursor))))
        }),
    ]
}

impl Draw<'_> {
    fn search_query(&mut self) -> String {
        let words = text::query(self.dice).replace(text::LONE_SURROGATE, "%");
        let mut query = format!("q={}&limit={}", encoded(&words), self.limit());
        if self.dice.chance(20) {
            query += &format!("&channel={}", encoded(&self.channel()));
        }
        if self.dice.chance(15) {
            query += &format!("&agent={}", encoded(&self.name()));
        }
        if self.dice.chance(10) {
            query += &format!("&state={}", self.dice.pick(&["proposed", "approved", "done", "odd"]));
        }
        if self.dice.chance(8) {
            query += &format!("&has={}", self.dice.pick(&["attachment", "reaction", "odd"]));
        }
        if self.dice.chance(10) {
            query += &format!("&after={}", self.dice.pick(&["2027-01-15", "2027-01-15T08:00:30Z", "odd"]));
        }
        if self.dice.chance(20) {
            query += &format!("&offset={}", self.dice.below(6));
        }
        query
    }

    fn traces(&mut self, path: &str, query: &str) -> Option<Draft> {
        let (agent, owner) = self.dice.one_of(&self.world.agents).cloned()?;
        let actor = if self.dice.chance(70) { owner } else { self.anyone() };
        Some(Draft::call(&actor, "GET", format!("/api/traces{path}?agent={agent}{query}")))
    }
}
