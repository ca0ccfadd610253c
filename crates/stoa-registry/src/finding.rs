//! What is wrong, where, in a sentence.

use std::fmt;

/// More than these are counted, not listed: a document can have as many faults as characters.
const MAX_FINDINGS: usize = 100;
/// Longest part of a value or of a name that is repeated in a finding, in characters.
const MAX_QUOTED: usize = 80;

/// A fault that makes a document worthless, or a warning about a key that cannot be used.
///
/// ```
/// use stoa_registry::Document;
///
/// let faults = Document::parse(b"[]").unwrap_err();
/// assert_eq!(faults[0].to_string(), "the document must be an object, not an array");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file that it is about, if there is one.
    pub file: Option<String>,
    /// JSON Pointer (RFC 6901) to the place; empty for the whole document. A name in it that is very long is cut.
    pub pointer: String,
    /// A sentence. It never has a control character or a whole long value in it.
    pub message: String,
}

impl Finding {
    pub(crate) fn of_document(message: impl Into<String>) -> Self {
        Self { file: None, pointer: String::new(), message: message.into() }
    }

    pub(crate) fn in_file(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }
}

/// `file: pointer: sentence`, without what is empty, on one line that a terminal does not act on.
impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(formatter, "{}: ", harmless(file))?;
        }
        if !self.pointer.is_empty() {
            write!(formatter, "{}: ", harmless(&self.pointer))?;
        }
        formatter.write_str(&harmless(&self.message))
    }
}

/// Findings as they come, of which the first hundred are kept.
#[derive(Default)]
pub(crate) struct Findings {
    listed: Vec<Finding>,
    unlisted: usize,
}

impl Findings {
    /// Adds one. It is only put into words if it will be listed.
    pub(crate) fn add(&mut self, finding: impl FnOnce() -> Finding) {
        if self.listed.len() < MAX_FINDINGS {
            self.listed.push(finding());
        } else {
            self.unlisted += 1;
        }
    }

    pub(crate) fn add_at(&mut self, place: DocumentLocation<'_>, message: impl FnOnce() -> String) {
        self.add(|| Finding { file: None, pointer: place.pointer(), message: message() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub(crate) fn into_list(mut self) -> Vec<Finding> {
        if self.unlisted > 0 {
            self.listed.push(Finding::of_document(format!("and {} more that are not listed", self.unlisted)));
        }
        self.listed
    }
}

/// A place in a document, known by the way there. Only written out when there is something to say about it.
#[derive(Clone, Copy)]
pub(crate) enum DocumentLocation<'a> {
    Document,
    Property(&'a DocumentLocation<'a>, &'a str),
    Item(&'a DocumentLocation<'a>, usize),
}

impl DocumentLocation<'_> {
    pub(crate) fn pointer(self) -> String {
        match self {
            DocumentLocation::Document => String::new(),
            DocumentLocation::Property(parent, name) => {
                format!("{}/{}", parent.pointer(), cut(name).replace('~', "~0").replace('/', "~1"))
            }
            DocumentLocation::Item(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }
}

/// A value in a message: the beginning of it, in quotation marks.
pub(crate) fn quote(value: &str) -> String {
    format!("\"{}\"", harmless(&cut(value)))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}

/// Writes out what would move the cursor, colour the screen or turn the text around.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut safe, character| {
        match character {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            character if is_unprintable(character) => safe.extend(character.escape_unicode()),
            character => safe.push(character),
        }
        safe
    })
}

fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_escaped_and_cut() {
        let principals = DocumentLocation::Property(&DocumentLocation::Document, "principals");
        let third = DocumentLocation::Item(&principals, 2);
        assert_eq!(DocumentLocation::Property(&third, "a/b~c").pointer(), "/principals/2/a~1b~0c");
        let long = "é".repeat(1000);
        assert_eq!(DocumentLocation::Property(&third, &long).pointer(), format!("/principals/2/{}…", "é".repeat(80)));
    }

    #[test]
    fn a_finding_is_one_harmless_line() {
        let finding = Finding {
            file: Some("a\u{1b}[2J.json".to_owned()),
            pointer: "/x\n/y".to_owned(),
            message: format!("is {}", quote("\u{202e}\r\t")),
        };
        assert_eq!(finding.to_string(), "a\\u{1b}[2J.json: /x\\n/y: is \"\\u{202e}\\r\\t\"");
        assert_eq!(Finding::of_document("is empty").to_string(), "is empty");
    }

    #[test]
    fn the_rest_is_counted() {
        let mut findings = Findings::default();
        for number in 0..MAX_FINDINGS + 3 {
            findings.add_at(DocumentLocation::Item(&DocumentLocation::Document, number), || "is wrong".to_owned());
        }
        let list = findings.into_list();
        assert_eq!(list.len(), MAX_FINDINGS + 1);
        assert_eq!(list[MAX_FINDINGS].message, "and 3 more that are not listed");
    }
}
