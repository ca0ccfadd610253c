//! A message as an index holds it: its words in their order, and a bag of what else it is found by.
//!
//! Both engines hold the same two lists, so both find the same. A single word is looked for in both of them; words that
//! follow each other only in the first, where every word has a place. What the engines can hold of places differs, so it is
//! cut here, for both alike: beyond [`MAX_PLACES`] words, and beyond [`MAX_REPEATED`] of the same word, a word is still
//! found, but not as a part of a phrase. A text is indexed up to its [`MAX_WORDS`]th distinct word, so that no message costs
//! much more than others.

use std::collections::{BTreeSet, HashMap};

use super::query::Term;
use super::tokens::{Kind, visit_tokens};

/// Words that have a place. PostgreSQL knows 16,383.
pub const MAX_PLACES: usize = 16_000;
/// Places of one word. PostgreSQL knows 256, of which one is for the bag.
pub const MAX_REPEATED: u32 = 255;
/// Distinct words of one message, parts of words included. A book has fewer in as many bytes.
pub const MAX_WORDS: usize = 10_000;
/// The tokeniser gets this many bytes of a text at once, so that it can stop where the last word is.
const PIECE: usize = 8 * 1024;
/// What PostgreSQL holds of one message is less than a megabyte, and each word costs it this beside its letters.
const MAX_BYTES: usize = 1_000_000;
const BYTES_PER_WORD: usize = 6;

/// Stands where there is no word to be found, so that what lies on both sides of it does not follow each other; and before
/// each mark, so that no word can be taken for one. No word contains it.
pub const GAP: &str = "¶";

/// The words of a text, with blanks between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// In their order; each stands for one place, and so does each [`GAP`].
    pub words: String,
    /// Without any order: parts of words, words beyond the last place, and marks.
    pub bag: String,
}

#[derive(Default)]
struct Builder {
    words: String,
    places: usize,
    bag: BTreeSet<String>,
    bytes: usize,
    /// How often each word has a place; known as soon as it matters.
    counts: Option<HashMap<String, u32>>,
    /// Whether there was one word too many.
    is_full: bool,
}

impl Builder {
    fn add_text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() && !self.is_full {
            let (piece, behind) = split_piece(rest);
            rest = behind;
            visit_tokens(piece, &mut |token| match token.kind {
                _ if !self.has_room(token.word) => self.is_full = true,
                Kind::Part => self.add_to_bag(token.word),
                Kind::Word | Kind::Pair | Kind::Last => self.add_word(token.word),
            });
        }
    }

    /// Whether a word can be added. Texts with fewer words than are allowed need not count the distinct ones.
    fn has_room(&mut self, word: &str) -> bool {
        if self.is_full {
            return false;
        }
        if self.places + self.bag.len() < MAX_WORDS {
            return true;
        }
        let counts = counted(&mut self.counts, &self.words);
        counts.len() + self.bag.len() < MAX_WORDS || counts.contains_key(word) || self.bag.contains(word)
    }

    fn place(&mut self, word: &str) {
        if self.places > 0 {
            self.words.push(' ');
        }
        self.words.push_str(word);
        self.places += 1;
        self.bytes += word.len() + BYTES_PER_WORD;
    }

    fn add_word(&mut self, word: &str) {
        if self.places >= MAX_PLACES || self.bytes >= MAX_BYTES / 2 {
            return self.add_beyond(word);
        }
        if self.places < MAX_REPEATED as usize {
            return self.place(word);
        }
        match counted(&mut self.counts, &self.words).get_mut(word) {
            Some(count) if *count >= MAX_REPEATED => self.place(GAP),
            Some(count) => {
                *count += 1;
                self.place(word);
            }
            None => {
                self.counts.get_or_insert_default().insert(word.to_owned(), 1);
                self.place(word);
            }
        }
    }

    /// A word beyond the last place; one that has a place is found anyway.
    fn add_beyond(&mut self, word: &str) {
        if self.counts.as_ref().is_none_or(|counts| !counts.contains_key(word)) {
            self.add_to_bag(word);
        }
    }

    fn add_to_bag(&mut self, word: &str) {
        if self.bytes < MAX_BYTES && !self.bag.contains(word) {
            self.bytes += word.len() + BYTES_PER_WORD;
            self.bag.insert(word.to_owned());
        }
    }
}

/// How often each of the words has a place.
fn counted<'c>(counts: &'c mut Option<HashMap<String, u32>>, words: &str) -> &'c mut HashMap<String, u32> {
    counts.get_or_insert_with(|| {
        let mut counts = HashMap::new();
        for word in words.split(' ') {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
        counts
    })
}

/// A piece from the beginning of a text, which ends at a blank or a line break, and the rest.
fn split_piece(text: &str) -> (&str, &str) {
    let is_end = |(place, byte): (usize, &u8)| (place >= PIECE && byte.is_ascii_whitespace()).then_some(place);
    text.split_at(text.as_bytes().iter().enumerate().skip(PIECE).find_map(is_end).unwrap_or(text.len()))
}

impl Document {
    /// What a message is found by. `marks` are facts about it, like who wrote it; an index finds them like words.
    pub fn new(subject: Option<&str>, body: &str, marks: impl IntoIterator<Item = String>) -> Self {
        let mut builder = Builder::default();
        if let Some(subject) = subject {
            builder.add_text(subject);
            if builder.places > 0 {
                builder.place(GAP);
            }
        }
        builder.add_text(body);
        let mut bag = String::new();
        for word in builder.bag.into_iter().chain(marks) {
            if !bag.is_empty() {
                bag.push(' ');
            }
            bag += &word;
        }
        Self { words: builder.words, bag }
    }

    /// Each word in its place, counted from one.
    pub fn places(&self) -> impl Iterator<Item = (usize, &str)> {
        self.words.split(' ').enumerate().map(|(place, word)| (place + 1, word)).filter(|(_, word)| is_word(word))
    }

    pub fn bag(&self) -> impl Iterator<Item = &str> {
        self.bag.split(' ').filter(|word| !word.is_empty())
    }

    /// Whether an index would find it.
    pub fn contains(&self, term: &Term) -> bool {
        let Some((last, before)) = term.words.split_last() else { return false };
        let is_last = |word: &str| if term.is_prefix { word.starts_with(last.as_str()) } else { word == last };
        if before.is_empty() {
            return self.words.split(' ').chain(self.bag()).any(is_last);
        }
        let words: Vec<&str> = self.words.split(' ').collect();
        words.windows(term.words.len()).any(|window| {
            window.split_last().is_some_and(|(end, beginning)| is_last(end) && beginning.iter().eq(before.iter()))
        })
    }
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word != GAP
}

/// A fact about a message, as the bag holds it. `kind` tells what about.
pub fn mark(kind: char, value: impl std::fmt::Display) -> String {
    format!("{GAP}{kind}{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(body: &str) -> Document {
        Document::new(None, body, [])
    }

    fn term(words: &[&str]) -> Term {
        Term { words: words.iter().map(|&word| word.to_owned()).collect(), is_prefix: false }
    }

    #[test]
    fn words_have_places_and_parts_have_none() {
        let made = Document::new(Some("Build"), "camelCase of snake_case", [mark('c', 7)]);
        assert_eq!(made.words, "build ¶ camelcase of snake case");
        assert_eq!(made.bag, "camel case ¶c7");
        for words in [&["camel"][..], &["case"], &["snake", "case"], &["camelcase", "of", "snake"], &["¶c7"]] {
            assert!(made.contains(&term(words)), "{words:?}");
        }
        for words in [&["build", "camelcase"][..], &["camel", "case"], &["case", "snake"], &["camelc"], &[]] {
            assert!(!made.contains(&term(words)), "{words:?}");
        }
        assert!(made.contains(&Term { words: vec!["snake".to_owned(), "ca".to_owned()], is_prefix: true }));
        assert!(!made.contains(&Term { words: vec!["¶".to_owned(), "xx".to_owned()], is_prefix: true }));
    }

    #[test]
    fn long_texts_keep_some_places() {
        let number = |number: usize| format!("{:03}", number % 1000);
        let body: String = (0..20_000).map(|place| number(place) + " ").collect();
        let long = document(&format!("{body} end of"));
        assert_eq!(long.places().last().unwrap().0, MAX_PLACES);
        assert!(long.contains(&term(&["998", "999"])) && !long.contains(&term(&["end", "of"])));
        assert!(long.contains(&term(&["end"])));
        let repeated = document(&"la ".repeat(1000));
        assert_eq!(repeated.places().count(), MAX_REPEATED as usize);
        let end = document(&format!("{} end la", "la ".repeat(1000)));
        assert!(end.contains(&term(&["end"])) && end.contains(&term(&["la"])));
        assert!(!end.contains(&term(&["end", "la"])));
    }

    #[test]
    fn a_text_is_indexed_up_to_a_number_of_distinct_words() {
        let word = |number: usize| {
            let letter = |place: u32| char::from(b'a' + u8::try_from(number / 26usize.pow(place) % 26).unwrap());
            (0..4).map(letter).collect::<String>()
        };
        for separator in [" ", ",", "\n"] {
            let body: String = (0..MAX_WORDS + 5).map(|number| word(number) + separator).collect();
            let long = document(&body);
            let (last, beyond) = (word(MAX_WORDS - 1), word(MAX_WORDS));
            assert!(long.contains(&term(&[&word(0), &word(1)])) && long.contains(&term(&[&last])), "{separator:?}");
            assert!(!long.contains(&term(&[&beyond])), "{separator:?}");
        }
        // Words that were there before do not count.
        let known = format!("{} end", "some few words ".repeat(20_000));
        assert!(document(&known).contains(&term(&["end"])));
    }

    #[test]
    fn the_largest_body_fits_what_postgres_can_hold() {
        let unique: String = (0x4e00..0x9fff).flat_map(char::from_u32).collect();
        let many: String =
            unique.chars().step_by(2).chain(unique.chars().step_by(3)).chain(unique.chars().rev()).collect();
        for body in [many.repeat(2), "a b ".repeat(65_536), "aB".repeat(131_072)] {
            let made = document(&body[..body.floor_char_boundary(256 * 1024)]);
            let words: BTreeSet<&str> = made.places().map(|(_, word)| word).chain(made.bag()).collect();
            let bytes: usize = words.iter().map(|word| word.len() + 5).sum::<usize>() + 2 * made.places().count();
            assert!(bytes < 1_048_000, "{bytes}");
        }
    }
}
