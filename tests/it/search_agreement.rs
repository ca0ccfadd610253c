//! Both engines find the same: what a reader of the rules would find, told in another way than the hub does it.

use std::collections::BTreeSet;

use serde_json::json;

use crate::search::{encoded, indexed};
use crate::support::{Client, TestHub};

/// A piece of a text: a word, an emoji, or one character of a script without blanks.
#[derive(Debug, Clone, PartialEq)]
struct Unit {
    text: String,
    /// Another character of such a script stands right before it.
    is_joined: bool,
    is_unspaced: bool,
}

/// A text as a list of units, and the parts of names in it.
fn read(text: &str) -> (Vec<Unit>, BTreeSet<String>) {
    let (mut units, mut parts, mut run): (Vec<Unit>, _, String) = (Vec::new(), BTreeSet::new(), String::new());
    let mut was_unspaced = false;
    for character in text.chars().chain([' ']) {
        let is_unspaced = matches!(character, '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
        let is_emoji = character == '🚀';
        if character == '\u{301}' {
            continue;
        }
        if character.is_alphanumeric() && !is_unspaced {
            run.push(character);
            was_unspaced = false;
            continue;
        }
        if !run.is_empty() {
            parts.extend(parts_of(&run));
            units.push(Unit { text: folded(&run), is_joined: false, is_unspaced: false });
            run.clear();
        }
        if is_unspaced || is_emoji {
            units.push(Unit { text: character.to_string(), is_joined: was_unspaced && is_unspaced, is_unspaced });
        }
        was_unspaced = is_unspaced;
    }
    (units, parts)
}

fn folded(word: &str) -> String {
    word.to_lowercase().replace(['é', 'è'], "e").replace('ß', "ss").replace('ø', "o")
}

/// `camelCase` is `camel` and `case`; `HTTPServer` is `http` and `server`.
fn parts_of(run: &str) -> Vec<String> {
    let letters: Vec<char> = run.chars().collect();
    let mut parts = vec![String::new()];
    for (place, letter) in letters.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| letters[place]);
        let behind = letters.get(place + 1);
        let begins = before.is_some_and(|before| {
            before.is_numeric() != letter.is_numeric()
                || (before.is_lowercase() && letter.is_uppercase())
                || (before.is_uppercase() && letter.is_uppercase() && behind.is_some_and(|next| next.is_lowercase()))
        });
        if begins {
            parts.push(String::new());
        }
        parts.last_mut().unwrap().push(*letter);
    }
    if parts.len() == 1 {
        return Vec::new();
    }
    parts.into_iter().filter(|part| part.chars().count() > 1).map(|part| folded(&part)).collect()
}

/// What is looked for: pieces of text, which must or must not be there.
#[derive(Debug, Clone)]
struct Wish {
    text: String,
    is_prefix: bool,
    is_negative: bool,
}

impl Wish {
    fn typed(&self) -> String {
        let (minus, star) = (if self.is_negative { "-" } else { "" }, if self.is_prefix { "*" } else { "" });
        if self.text.contains(char::is_whitespace) {
            format!("{minus}\"{}\"{star}", self.text)
        } else {
            format!("{minus}{}{star}", self.text)
        }
    }

    fn is_in(&self, text: &str) -> bool {
        let (wanted, _) = read(&self.text);
        let (units, parts) = read(text);
        let Some(last) = wanted.len().checked_sub(1) else { return false };
        let fits = |wanted: &Unit, found: &Unit, place: usize| {
            let is_joined_alike = place == 0 || wanted.is_joined == found.is_joined;
            let goes_on = self.is_prefix && place == last && !wanted.is_unspaced;
            let is_text = if goes_on { found.text.starts_with(&wanted.text) } else { found.text == wanted.text };
            is_joined_alike && is_text
        };
        let in_units = units.windows(wanted.len()).any(|window| {
            window.iter().zip(&wanted).enumerate().all(|(place, (found, wanted))| fits(wanted, found, place))
        });
        let in_parts = last == 0
            && parts
                .iter()
                .any(|part| if self.is_prefix { part.starts_with(&wanted[0].text) } else { *part == wanted[0].text });
        in_units || in_parts
    }
}

const PIECES: [&str; 34] = [
    "deploy",
    "Deploy",
    "deployment",
    "failed",
    "café",
    "CAFÉ",
    "cafe\u{301}",
    "cafe",
    "snake_case",
    "snake",
    "case",
    "camelCase",
    "parseHTTPServer",
    "http",
    "Vec<T>",
    "vec",
    "path/to/file.rs",
    "file.rs",
    "path",
    "v1.2.3",
    "sha256",
    "東京",
    "東京都",
    "京都",
    "東",
    "都庁へ",
    "東京tower",
    "ガイド",
    "🚀",
    "x",
    "a-b",
    "Straße",
    "foo::bar",
    "don't",
];

/// Cheap numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap() % limit
    }

    fn text(&mut self, pieces: usize) -> String {
        let mut text = String::new();
        for place in 0..pieces {
            if place > 0 {
                text += [" ", ", ", "\n", " - "][self.below(4)];
            }
            text += PIECES[self.below(PIECES.len())];
        }
        text
    }

    fn wish(&mut self) -> Wish {
        let pieces = [1, 1, 1, 2, 3][self.below(5)];
        let mut text = self.text(pieces).replace(['\n', ','], " ").replace(" - ", " ");
        let is_prefix = self.below(4) == 0;
        if is_prefix && text.is_ascii() && self.below(2) == 0 {
            text.truncate(text.len() - self.below(3).min(text.len() - 1));
        }
        Wish { text: text.trim().to_owned(), is_prefix, is_negative: self.below(4) == 0 }
    }
}

async fn compare(ada: &Client, corpus: &[String], queries: &[Vec<Wish>], when: &str) {
    for wishes in queries {
        let typed: Vec<String> = wishes.iter().map(Wish::typed).collect();
        let typed = typed.join(" ");
        let wanted: Vec<&String> =
            corpus.iter().rev().filter(|text| wishes.iter().all(|wish| wish.is_in(text) != wish.is_negative)).collect();
        let answer = ada.search(&format!("limit=200&q={}", encoded(&typed))).await;
        let found: Vec<&str> =
            answer["items"].as_array().unwrap().iter().map(|item| item["body"].as_str().unwrap()).collect();
        assert_eq!(found, wanted, "{typed} ({when})");
        assert_eq!(answer["total"], wanted.len(), "{typed} ({when})");
    }
}

#[tokio::test]
async fn a_reader_of_the_rules_finds_the_same() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let mut dice = Dice(0x5eed);
    let mut corpus: Vec<String> = PIECES.iter().map(|piece| (*piece).to_owned()).collect();
    corpus.extend((0..110).map(|_| {
        let pieces = 2 + dice.below(7);
        dice.text(pieces)
    }));
    for text in &corpus {
        ada.say("general", text).await;
    }
    let mut queries: Vec<Vec<Wish>> = PIECES
        .iter()
        .map(|piece| vec![Wish { text: (*piece).to_owned(), is_prefix: false, is_negative: false }])
        .collect();
    queries.extend((0..160).map(|_| (0..1 + dice.below(3)).map(|_| dice.wish()).collect()));
    hub.settle().await;
    assert_eq!(indexed(&hub).await, i64::try_from(corpus.len()).unwrap());
    compare(&ada, &corpus, &queries, "indexed").await;
    hub.finish().await;

    // The same where nothing is indexed.
    let hub = TestHub::setup().without_listeners().start().await;
    let ada = hub.human("ada").await;
    for text in &corpus {
        ada.say("general", text).await;
    }
    compare(&ada, &corpus, &queries, "not indexed").await;
    hub.finish().await;
}

#[tokio::test]
async fn long_texts_are_found_by_their_first_words() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    // Words with as many letters as there are words.
    let word = |number: usize| -> String {
        let letter = |place| char::from(b'a' + u8::try_from(number / 26usize.pow(place) % 26).unwrap());
        (0..6).map(letter).collect()
    };
    let words: String = (0..36_000).map(|number| word(number) + " ").collect();
    let few: String = (0..40_000).map(|number| word(number % 9_000) + " ").collect::<String>();
    let few = few[..few.len() - 70_000].to_owned() + "the last word";
    let han: String = (0..80_000u32).filter_map(|number| char::from_u32(0x4e00 + (number * 7919) % 20_000)).collect();
    let repeated = format!("{} end of it", "la la lo ".repeat(3_000));
    for body in [&words, &few, &han] {
        assert!(body.len() > 180_000 && body.len() <= 262_144, "{}", body.len());
    }
    // A search looks through no more long texts than two by itself.
    for body in [&words, &repeated] {
        ada.send(json!({"channel": "general", "body": body})).await;
    }
    hub.settle().await;
    for body in [&few, &han] {
        ada.send(json!({"channel": "general", "body": body})).await;
    }
    let pair = |place| han.chars().skip(place).take(2).collect::<String>();
    let phrase = |first: usize| format!("\"{} {}\"", word(first), word(first + 1));
    for settled in [false, true] {
        if settled {
            hub.settle().await;
            assert_eq!(indexed(&hub).await, 4);
        }
        for (q, hits) in [
            // A text is found by its first 10,000 distinct words.
            (word(9_998).as_str(), 1),
            (word(9_999).as_str(), 1),
            (word(10_000).as_str(), 0),
            (word(35_999).as_str(), 0),
            (pair(9_000).as_str(), 1),
            (pair(19_998).as_str(), 0),
            // Phrases are found among the first 16,000 words.
            (phrase(8_500).as_str(), 2),
            (phrase(9_500).as_str(), 1),
            ("last", 1),
            ("\"last word\"", 0),
            ("\"end of\"", 1),
            // And among the first 255 occurrences of a word.
            ("\"lo la\"", 1),
            ("\"lo end\"", 0),
            ("la lo end", 1),
        ] {
            let total = ada.search(&format!("limit=1&q={}", encoded(q))).await["total"].clone();
            assert_eq!(total, hits, "{q}, settled: {settled}");
        }
    }
    hub.finish().await;
}
