//! Attachments.

use super::{Draw, Operation, operation};
use crate::engines::step::{Action, Draft};
use crate::engines::text;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("POST /api/attachments", 20, |draw| {
            let content = match draw.dice.below(5) {
                0 => String::new(),
                1 => "%PDF-1.7\n1 0 obj".to_owned(),
                2 => text::hostile(draw.dice),
                _ => format!("file {}", draw.dice.below(12)),
            };
            let names = ["a.txt", "b.pdf", "../c.sh", "no ending", "\u{e9}t\u{e9}.md", "x.HTML", "\u{202e}gpj.exe"];
            let filename = draw.dice.pick(&names).to_owned();
            Some(Draft { actor: draw.anyone(), action: Action::Upload { filename, content } })
        }),
        operation("GET /api/attachments", 10, |draw| {
            let (actor, limit) = (draw.anyone(), draw.limit());
            Some(Draft::call(&actor, "GET", format!("/api/attachments?limit={limit}")).all_pages())
        }),
        operation("GET /api/attachments/{sha256}", 15, |draw| {
            let draft = draw.on_file("")?;
            Some(if draw.dice.chance(25) { draft.header("range", "bytes=0-3") } else { draft })
        }),
        operation("GET /api/attachments/{sha256}/meta", 10, |draw| draw.on_file("/meta")),
    ]
}

impl Draw<'_> {
    fn on_file(&mut self, path: &str) -> Option<Draft> {
        let file = self.dice.recent(&self.world.files).cloned()?;
        Some(Draft::call(&self.anyone(), "GET", format!("/api/attachments/{file}{path}")))
    }
}
