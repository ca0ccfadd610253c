//! Search: words of texts, what can be asked, and what is answered.

pub mod document;
pub mod query;
pub mod snippet;
pub mod tokens;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::messages::MessageView;
use crate::named::named_enum;

/// Longest text of a query.
pub const MAX_QUERY_CHARACTERS: usize = 1000;
/// Words and phrases in one query.
pub const MAX_TERMS: usize = 32;
/// Of these, words that may go on: each stands for all words that begin like it.
pub const MAX_PREFIXES: usize = 4;
/// Words in one phrase.
pub const MAX_TERM_WORDS: usize = 64;
/// Hits that are counted.
pub const MAX_TOTAL: i64 = 10_000;
/// How far into the hits one can jump.
pub const MAX_SEARCH_OFFSET: i64 = 10_000;

named_enum! {
    /// What a message can have.
    #[derive(PartialOrd, Ord)]
    pub enum Has {
        Attachment = "attachment",
        Image = "image",
        Pdf = "pdf",
        Text = "text",
        Link = "link",
        Reaction = "reaction",
        Mention = "mention",
    }
}

impl Has {
    /// What an attachment of this type is, beside being one.
    pub fn of_mime_type(mime_type: &str) -> Option<Self> {
        match mime_type.split(['/', ';']).next() {
            Some("image") => Some(Has::Image),
            Some("text") => Some(Has::Text),
            _ if mime_type.starts_with("application/pdf") => Some(Has::Pdf),
            _ => None,
        }
    }
}

/// Whether a text has an address of the web in it.
pub fn has_link(body: &str) -> bool {
    let is_address = |(at, _): (usize, &str)| {
        let before = &body.as_bytes()[..at];
        let behind = body[at + 3..].chars().next();
        (before.ends_with(b"http") || before.ends_with(b"https"))
            && behind.is_some_and(|next| next.is_alphanumeric() || next == '[')
    };
    body.match_indices("://").any(is_address)
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Hit {
    #[serde(flatten)]
    pub message: MessageView,
    /// The text around the first hit, as HTML: escaped, with what was found between `<mark>` and `</mark>`.
    pub snippet: String,
}

/// Search results, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchPage {
    pub items: Vec<Hit>,
    /// Total number of results, counted up to 10,000.
    pub total: i64,
    /// Whether there are more than were counted.
    pub total_capped: bool,
    /// Number of results before this page. The next page starts at `offset` + the number of items.
    pub offset: i64,
    /// Whether some of the newest messages could not be searched: the index does not have them yet, and together they are too
    /// long to be looked through. Search again in a moment to find them.
    pub indexing: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links() {
        for text in ["http://a.b", "see https://x/y.", "<http://[::1]>", "x:http://1"] {
            assert!(has_link(text), "{text}");
        }
        for text in ["", "http", "http://", "https:// x", "ftp://a", "http:/a", "://a", "é://x"] {
            assert!(!has_link(text), "{text}");
        }
    }

    #[test]
    fn kinds_of_attachments() {
        let kinds =
            ["image/png", "text/plain; charset=utf-8", "application/pdf", "application/zip"].map(Has::of_mime_type);
        assert_eq!(kinds, [Some(Has::Image), Some(Has::Text), Some(Has::Pdf), None]);
    }
}
