//! Messages as an index takes them in.

use std::collections::BTreeSet;

use stoa_db::{DbError, Tx};
use stoa_model::MessageId;
use stoa_model::messages::WorkflowState;
use stoa_model::search::document::{Document, mark};
use stoa_model::search::{Has, has_link};

use crate::features::messages::{self, MessageText};
use crate::features::{attachments, reactions};

/// The facts about a message that are marks among its words. None of them changes unless the text does: the state of work
/// and reactions are not here, so nothing is indexed again because of them.
pub(super) const CONVERSATION: char = 'c';
pub(super) const AUTHOR: char = 'a';
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

/// A message before its text is split into words, which takes longer than reading it.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) text: MessageText,
    has: BTreeSet<Has>,
}

/// Messages that are loaded at once: few enough that their texts together are of bearable size.
const CHUNK: usize = 50;

/// Those of the messages that can be found, as they are now, oldest first in each chunk.
pub(super) fn load(tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<Vec<Source>, DbError> {
    let mut sources = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(CHUNK) {
        let attached = attachments::of(tx, chunk)?;
        messages::visit_texts(tx, chunk, |text| {
            let mut has = BTreeSet::new();
            for attachment in attached.get(&text.id).into_iter().flatten() {
                has.insert(Has::Attachment);
                has.extend(Has::of_mime_type(&attachment.mime_type));
            }
            sources.push(Source { text, has });
            Ok(())
        })?;
    }
    Ok(sources)
}

/// What changes without the text.
pub(super) struct Standing {
    /// None for talk.
    pub(super) state: Option<WorkflowState>,
    pub(super) has_reaction: bool,
}

/// The same with what changes without the text.
pub(super) fn load_with_standing(tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<Vec<(Source, Standing)>, DbError> {
    let reacted = reactions::reacted_among(tx, ids)?;
    let standing = |source: Source| {
        let standing = Standing { state: source.text.state, has_reaction: reacted.contains(&source.text.id) };
        (source, standing)
    };
    Ok(load(tx, ids)?.into_iter().map(standing).collect())
}

impl Source {
    pub(super) fn bytes(&self) -> usize {
        self.text.body.len()
    }

    pub(super) fn into_entry(self) -> Entry {
        let Self { text, mut has } = self;
        if text.has_mentions {
            has.insert(Has::Mention);
        }
        if has_link(&text.body) {
            has.insert(Has::Link);
        }
        let facts = [mark(MESSAGE, ""), mark(CONVERSATION, text.conversation.0), mark(AUTHOR, text.author.0)];
        let marks = facts.into_iter().chain(has.into_iter().map(|has| mark(HAS, has.name())));
        Entry {
            id: text.id.0,
            conversation: text.conversation.0,
            author: text.author.0,
            created_at_ms: text.created_at_ms,
            document: Document::new(text.subject.as_deref(), &text.body, marks),
        }
    }
}
