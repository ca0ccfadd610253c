//! Messages as an index takes them in.

use std::collections::BTreeSet;

use stoa_db::{DbError, Tx};
use stoa_model::MessageId;
use stoa_model::search::document::{Document, mark};
use stoa_model::search::{Has, has_link};

use crate::features::messages::{self, MessageText};
use crate::features::{attachments, reactions};

/// The facts about a message that are marks among its words.
pub(super) const CONVERSATION: char = 'c';
pub(super) const AUTHOR: char = 'a';
pub(super) const STATE: char = 's';
pub(super) const HAS: char = 'h';
/// What every message is.
pub(super) const MESSAGE: char = 'm';

/// A message that can be found.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: i64,
    pub(super) conversation: i64,
    pub(super) author: i64,
    pub(super) created_at_ms: i64,
    pub(super) document: Document,
}

/// Messages that are loaded at once: few enough that their texts together are of bearable size.
const CHUNK: usize = 50;

/// Entries that are gathered until there is enough for one transaction.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) entries: Vec<Entry>,
    bytes: usize,
}

impl Gathered {
    pub(super) fn add(&mut self, tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<(), DbError> {
        for chunk in ids.chunks(CHUNK) {
            let entries = load(tx, chunk)?;
            self.bytes +=
                entries.iter().map(|entry| entry.document.words.len() + entry.document.bag.len()).sum::<usize>();
            self.entries.extend(entries);
        }
        Ok(())
    }

    pub(super) fn is_enough(&self) -> bool {
        self.bytes > ENOUGH_BYTES
    }
}

/// Bytes of words in one transaction.
const ENOUGH_BYTES: usize = 8 * 1024 * 1024;

/// Those of the messages that can be found, as they are now, oldest first.
pub(super) fn load(tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<Vec<Entry>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let attached = attachments::of(tx, ids)?;
    let reacted = reactions::reacted_among(tx, ids)?;
    let mut entries = Vec::new();
    messages::visit_texts(tx, ids, |text| {
        let mut has = BTreeSet::new();
        for attachment in attached.get(&text.id).into_iter().flatten() {
            has.insert(Has::Attachment);
            has.extend(Has::of_mime_type(&attachment.mime_type));
        }
        if reacted.contains(&text.id) {
            has.insert(Has::Reaction);
        }
        entries.push(entry(&text, has));
        Ok(())
    })?;
    Ok(entries)
}

fn entry(text: &MessageText, mut has: BTreeSet<Has>) -> Entry {
    if text.has_mentions {
        has.insert(Has::Mention);
    }
    if has_link(&text.body) {
        has.insert(Has::Link);
    }
    let facts = [
        mark(MESSAGE, ""),
        mark(CONVERSATION, text.conversation.0),
        mark(AUTHOR, text.author.0),
        mark(STATE, text.state.name()),
    ];
    let marks = facts.into_iter().chain(has.into_iter().map(|has| mark(HAS, has.name())));
    Entry {
        id: text.id.0,
        conversation: text.conversation.0,
        author: text.author.0,
        created_at_ms: text.created_at_ms,
        document: Document::new(text.subject.as_deref(), &text.body, marks),
    }
}
