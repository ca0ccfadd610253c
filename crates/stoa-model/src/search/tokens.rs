//! Words: what a text is searched by. The one place that says what they are, for both engines, for texts and for queries.
//!
//! * A word is a run of letters and digits, in lower case and without accents: `Café` is `cafe`. Everything else only
//!   separates, so `snake_case`, `foo::bar` and `path/to/file.rs` are words that follow each other, and whoever looks
//!   for the whole looks for the words in this order.
//! * A run like `camelCase` or `sha256` is a word, and has *parts* (`camel`, `case`) that are found as well.
//! * Scripts without blanks between words (Han, Kana, Hangul, Thai and their like) give each pair of neighbours, and the
//!   last character of a run by itself: `東京都` is `東京`, `京都`, `都`. So every substring is found: one of several
//!   characters as pairs that follow each other, a single character as the beginning of a pair.
//! * An emoji is a word.

use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

/// Longer words are known by their first characters.
pub const MAX_WORD_CHARACTERS: usize = 64;
/// A run that falls into more parts is a hash, not a name.
const MAX_PARTS: usize = 8;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    /// Two neighbours of a script without blanks.
    Pair,
    /// The last character of a run in such a script.
    Last,
    /// A piece of the word that comes after it. It has no place of its own among the words.
    Part,
}

/// A word of a text, and where it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'t> {
    pub word: &'t str,
    pub kind: Kind,
    /// Bytes of the text.
    pub start: usize,
    pub end: usize,
}

/// Shows each word of a text to `visit`, in order.
pub fn visit_tokens(text: &str, visit: &mut dyn FnMut(Token<'_>)) {
    let mut scanner = Scanner { visit, run: Run::default(), earlier: None, last: None };
    for (start, character) in text.char_indices() {
        let end = start + character.len_utf8();
        if character.is_ascii() {
            if character.is_ascii_alphanumeric() {
                scanner.end_pairs();
                scanner.run.push(character.to_ascii_lowercase(), Case::of(character), start, end);
            } else {
                scanner.end_all();
            }
            continue;
        }
        match character {
            // They join what stands around them, or say how it is to look.
            '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' => {}
            _ if is_whole(character) => scanner.push_unspaced(character, start, end),
            _ => decompose_compatible(character, |piece| scanner.push(piece, character, start, end)),
        }
    }
    scanner.end_all();
}

/// Lower and upper case, where names like `camelCase` fall apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
    Digit,
}

impl Case {
    fn of(character: char) -> Self {
        if character.is_numeric() {
            Case::Digit
        } else if character.is_uppercase() {
            Case::Upper
        } else {
            Case::Lower
        }
    }
}

/// Where a part can begin: in the folded word, and in the text.
#[derive(Debug, Clone, Copy)]
struct Cut {
    folded: usize,
    text: usize,
}

/// A word that is being read.
#[derive(Default)]
struct Run {
    word: String,
    characters: usize,
    start: usize,
    end: usize,
    cuts: Vec<Cut>,
    /// The characters before: what they were, and where.
    before: Option<(Case, Cut)>,
    before_that: Option<Case>,
}

impl Run {
    fn push(&mut self, folded: char, case: Case, start: usize, end: usize) {
        if self.characters == 0 {
            self.start = start;
        }
        self.end = end;
        if self.characters == MAX_WORD_CHARACTERS {
            return;
        }
        let here = Cut { folded: self.word.len(), text: start };
        if let Some((before, cut)) = self.before {
            if case == Case::Lower && before == Case::Upper && self.before_that == Some(Case::Upper) {
                // The last of several capitals begins the next word: `HTTPServer`.
                self.cuts.push(cut);
            } else if (before == Case::Digit) != (case == Case::Digit) || (before, case) == (Case::Lower, Case::Upper) {
                self.cuts.push(here);
            }
        }
        self.before_that = self.before.map(|(case, _)| case);
        self.before = Some((case, here));
        self.word.push(folded);
        self.characters += 1;
    }

    /// What one letter of the text becomes.
    fn push_all(&mut self, folded: impl Iterator<Item = char>, case: Case, start: usize, end: usize) {
        for (place, letter) in folded.enumerate() {
            if place == 0 {
                self.push(letter, case, start, end);
            } else {
                self.extend(letter, end);
            }
        }
    }

    /// A letter more that belongs to the one before it.
    fn extend(&mut self, folded: char, end: usize) {
        self.end = end;
        if self.characters < MAX_WORD_CHARACTERS {
            self.word.push(folded);
            self.characters += 1;
        }
    }

    fn clear(&mut self) {
        self.word.clear();
        self.cuts.clear();
        (self.characters, self.before, self.before_that) = (0, None, None);
    }
}

/// A character of a script without blanks.
#[derive(Clone, Copy)]
struct Unspaced {
    character: char,
    start: usize,
    end: usize,
}

struct Scanner<'v> {
    visit: &'v mut dyn FnMut(Token<'_>),
    run: Run,
    /// The last two characters of a run without blanks. The later one may still change: marks come behind.
    earlier: Option<Unspaced>,
    last: Option<Unspaced>,
}

impl Scanner<'_> {
    /// A piece of what `original` is made of.
    fn push(&mut self, piece: char, original: char, start: usize, end: usize) {
        if is_accent(piece) {
            self.run.end = if self.run.characters > 0 { end } else { self.run.end };
            return;
        }
        if is_unspaced(piece) {
            return self.push_unspaced(piece, start, end);
        }
        if is_emoji(piece) {
            self.end_all();
            let mut buffer = [0; 4];
            (self.visit)(Token { word: piece.encode_utf8(&mut buffer), kind: Kind::Word, start, end });
            return;
        }
        if is_combining_mark(piece) {
            if self.run.characters > 0 {
                self.run.extend(piece, end);
            }
            return;
        }
        if !piece.is_alphanumeric() {
            return self.end_all();
        }
        self.end_pairs();
        let case = Case::of(original);
        match unfolded(piece) {
            Some(letters) => self.run.push_all(letters.chars(), case, start, end),
            None => self.run.push_all(piece.to_lowercase().filter(|letter| !is_accent(*letter)), case, start, end),
        }
    }

    fn push_unspaced(&mut self, character: char, start: usize, end: usize) {
        self.end_run();
        if let Some(last) = &mut self.last {
            if let Some(composed) = compose(last.character, character) {
                (last.character, last.end) = (composed, end);
                return;
            }
            let last = *last;
            self.emit_pair(last);
            self.earlier = Some(last);
        }
        self.last = Some(Unspaced { character, start, end });
    }

    fn emit_pair(&mut self, last: Unspaced) {
        let Some(earlier) = self.earlier else { return };
        let mut word = [0; 8];
        let length = earlier.character.encode_utf8(&mut word).len();
        let length = length + last.character.encode_utf8(&mut word[length..]).len();
        let word = std::str::from_utf8(&word[..length]).unwrap_or_default();
        (self.visit)(Token { word, kind: Kind::Pair, start: earlier.start, end: last.end });
    }

    fn end_pairs(&mut self) {
        let Some(last) = self.last.take() else { return };
        self.emit_pair(last);
        self.earlier = None;
        let mut buffer = [0; 4];
        let word = last.character.encode_utf8(&mut buffer);
        (self.visit)(Token { word, kind: Kind::Last, start: last.start, end: last.end });
    }

    fn end_run(&mut self) {
        let run = &mut self.run;
        if run.characters == 0 {
            return;
        }
        if !run.cuts.is_empty() && run.cuts.len() < MAX_PARTS {
            let mut from = Cut { folded: 0, text: run.start };
            let end = Cut { folded: run.word.len(), text: run.end };
            for to in run.cuts.iter().copied().chain([end]) {
                let word = run.word.get(from.folded..to.folded).unwrap_or_default();
                // A single character says too little.
                if word.chars().nth(1).is_some() {
                    (self.visit)(Token { word, kind: Kind::Part, start: from.text, end: to.text });
                }
                from = to;
            }
        }
        (self.visit)(Token { word: &run.word, kind: Kind::Word, start: run.start, end: run.end });
        run.clear();
    }

    fn end_all(&mut self) {
        self.end_run();
        self.end_pairs();
    }
}

/// Whether there is nothing to take apart in a character: the common ones of scripts without blanks.
fn is_whole(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30fe}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Characters of scripts that leave no blanks between words, or that are found by parts of words as well.
fn is_unspaced(character: char) -> bool {
    is_whole(character)
        || matches!(character,
            // Thai and Lao; Myanmar; Khmer.
            '\u{e01}'..='\u{e4e}' | '\u{e81}'..='\u{ecd}' | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{109f}'
            | '\u{1780}'..='\u{17d3}'
            // Hangul that is written letter by letter.
            | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97c}' | '\u{d7b0}'..='\u{d7fb}'
            // What else there is of Han, Kana and Bopomofo.
            | '\u{2e80}'..='\u{2fd5}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
            | '\u{3038}'..='\u{303c}' | '\u{3099}'..='\u{309a}' | '\u{309d}'..='\u{309f}' | '\u{30ff}'
            | '\u{3105}'..='\u{312f}' | '\u{3131}'..='\u{318e}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
            | '\u{f900}'..='\u{faff}' | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{323af}')
}

/// Marks that are left out: accents of Latin, Greek and Cyrillic letters, points of Hebrew and Arabic. Others, like the
/// vowels of Indic scripts, make another word.
fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}'
        | '\u{5c4}' | '\u{5c5}' | '\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

fn is_emoji(character: char) -> bool {
    matches!(character, '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
        && !character.is_alphanumeric()
        || matches!(character, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Letters that people without the right keyboard write as others.
fn unfolded(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'þ' | 'Þ' => "th",
        'ł' | 'Ł' => "l",
        'ħ' | 'Ħ' => "h",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words with their places, and parts in brackets.
    fn shown(text: &str) -> String {
        let mut words = Vec::new();
        visit_tokens(text, &mut |token| {
            words.push(if token.kind == Kind::Part { format!("({})", token.word) } else { token.word.to_owned() });
        });
        words.join(" ")
    }

    #[test]
    fn texts_and_their_words() {
        for (text, words) in [
            ("", ""),
            (" -- ... ", ""),
            ("Hello, World!", "hello world"),
            ("don't", "don t"),
            ("snake_case kebab-case", "snake case kebab case"),
            ("path/to/file.rs:12", "path to file rs 12"),
            ("Vec<T> foo::bar<u8>", "vec t foo bar u8"),
            ("v1.2.3", "v1 2 3"),
            ("camelCase", "(camel) (case) camelcase"),
            ("parseHTTPServer2", "(parse) (http) (server) parsehttpserver2"),
            ("HTTPServer", "(http) (server) httpserver"),
            ("sha256 utf8 x86_64", "(sha) (256) sha256 (utf) utf8 (86) x86 64"),
            ("ALLCAPS iPhone", "allcaps (phone) iphone"),
            ("3f2a9c0d1e4b5a6f", "3f2a9c0d1e4b5a6f"),
            ("Café CAFÉ cafe\u{301}", "cafe cafe cafe"),
            ("naïve Ærø Straße STRASSE Łódź Ðð", "naive aero strasse strasse lodz dd"),
            ("ΟΔΟΣ οδος οδός", "οδοσ οδοσ οδοσ"),
            ("İstanbul ıstanbul", "istanbul istanbul"),
            ("ﬁne ① Ｆｕｌｌ", "fine 1 full"),
            ("½", "1 2"),
            ("Ёлка ёлка", "елка елка"),
            ("हिन्दी", "हिन्दी"),
            ("שָׁלוֹם", "שלום"),
            ("co\u{ad}operate a\u{200d}b", "cooperate ab"),
            ("東京都", "東京 京都 都"),
            ("東", "東"),
            ("東京tower", "東京 京 tower"),
            ("カタカナ ガ カ\u{3099} ｶﾞ", "カタ タカ カナ ナ ガ ガ ガ"),
            ("ガギ カ\u{3099}キ\u{3099}", "ガギ ギ ガギ ギ"),
            ("한국어 \u{1112}\u{1161}\u{11ab}국어", "한국 국어 어 한국 국어 어"),
            ("㍿", "株式 式会 会社 社"),
            ("ไทย", "ไท ทย ย"),
            ("🚀🚀 go 👍🏽 ❤\u{fe0f}", "🚀 🚀 go 👍 ❤"),
            ("🇩🇪", "🇩 🇪"),
            ("a\u{0}b", "a b"),
        ] {
            assert_eq!(shown(text), words, "{text:?}");
        }
    }

    #[test]
    fn long_words_are_known_by_their_beginning() {
        let long = "x".repeat(100_000);
        assert_eq!(shown(&long), "x".repeat(MAX_WORD_CHARACTERS));
        assert_eq!(shown(&format!("a{}", "\u{301}".repeat(100_000))), "a");
    }

    #[test]
    fn tokens_know_where_they_stand() {
        let text = "Ein Café, 東京 und camelCase; e\u{301}t";
        let mut found = Vec::new();
        visit_tokens(text, &mut |token| found.push(&text[token.start..token.end]));
        let wanted = ["Ein", "Café", "東京", "京", "und", "camel", "Case", "camelCase", "e\u{301}t"];
        assert_eq!(found, wanted);
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_text_tokens_lie_in_it(text in "\\PC*|.{0,40}|[a-zA-Z0-9éß東京ガ\u{3099}🚀_. -]{0,60}") {
            visit_tokens(&text, &mut |token| {
                assert!(text.get(token.start..token.end).is_some_and(|piece| !piece.is_empty()), "{token:?}");
                assert!(!token.word.is_empty() && !token.word.contains(|c: char| c.is_whitespace() || c.is_ascii_punctuation()));
                assert!(token.word.chars().count() <= MAX_WORD_CHARACTERS);
            });
        }

        #[test]
        fn words_are_their_own_words(text in "[a-zA-Zéß0-9Σςøあ東ガ_ ]{0,40}") {
            let mut again = String::new();
            let words = shown(&text);
            for word in words.split(' ').filter(|word| !word.starts_with('(')) {
                let told = shown(word);
                // Whoever types a word as it is stored finds it: it is its own word, but for the pairs of a script
                // without blanks.
                assert!(told.split(' ').any(|token| token == word) || word.is_empty(), "{word} {told}");
                again += word;
            }
        }
    }
}
