//! Texts for messages and fields: plain ones, and some that engines, collations and parsers may read differently.

use super::dice::Dice;

/// Stands for half of a surrogate pair, which a JSON text can contain and a Rust string cannot.
pub(crate) const LONE_SURROGATE: char = '\u{e000}';

const WORDS: &[&str] = &[
    "deploy",
    "Release",
    "the",
    "queue",
    "is",
    "empty",
    "caf\u{e9}",
    "cafe\u{301}",
    "Stra\u{df}e",
    "STRASSE",
    "review",
    "HTTPServer",
    "error_42",
    "v1.2.3",
    "\u{6771}\u{4eac}",
    "\u{1f680}",
    "na\u{ef}ve",
    "\u{130}stanbul",
    "\u{131}rmak",
    "istanbul",
    "ISTANBUL",
    "quick",
    "brown",
    "fox",
];

/// Texts that have broken software before.
const HOSTILE: &[&str] = &[
    "\u{202e}\u{5e9}\u{5dc}\u{5d5}\u{5dd} abc\u{202c}",
    "\u{627}\u{644}\u{633}\u{644}\u{627}\u{645} \u{639}\u{644}\u{64a}\u{643}\u{645}",
    "e\u{301}\u{301}\u{301}\u{323} o\u{308}\u{304}",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
    "\u{1f1e9}\u{1f1ea}\u{1f1eb}",
    "nul \0 inside",
    "half \u{e000} pair",
    "100% _ \\% \\_ \\\\ ' '' \" ; -- /* */ $1 ?1 :name @x",
    "\" OR NEAR(a b) NOT c* ^d {col}: (e AND \"",
    "a & b | !c <-> d:* :A ''",
    ".*+?^${}()|[]\\ (?i)x{99}",
    "\u{fb01}nd \u{2163} \u{ff21}\u{ff22}\u{ff23} \u{212b} \u{3a9}",
    "\u{1e9e} \u{df} ss SS \u{17f}",
    "i I \u{131} \u{130} i\u{307}",
    "\u{feff}bom \u{200b}zero\u{200b}width\u{2060} \u{ad}soft",
    "\u{a0}no\u{a0}break\u{2003}em\u{3000}wide",
    "line\nbreak\r\nreturn\ttab\u{b}vertical\u{2028}separator\u{85}next",
    "\u{fffd}\u{ffff}\u{10ffff}\u{fdd0}",
    "<script>alert(1)</script> [x](javascript:y) `@bob` ```\n@ada\n```",
    "\u{1d518}\u{1d52b}\u{1d526} \u{10330}\u{10331} \u{20bb7}",
    "\u{0}",
    "\u{7f}\u{80}\u{9f}\u{1b}[31m",
    "   ",
];

/// A body of a message: some words, perhaps with a mention, perhaps hostile.
pub(crate) fn body(dice: &mut Dice, names: &[String]) -> String {
    let mut parts: Vec<String> = (0..=dice.below(5)).map(|_| dice.pick(WORDS).to_owned()).collect();
    if dice.chance(25) {
        let name = dice.one_of(names).cloned().unwrap_or_default();
        let name = match dice.below(6) {
            0 => name.to_uppercase(),
            1 => "nobody".to_owned(),
            // Not `here`: who was seen lately is written down in the background.
            2 => dice.pick(&["channel", "all", "system"]).to_owned(),
            _ => name,
        };
        parts.insert(dice.below(parts.len() + 1), format!("@{name}"));
    }
    if dice.chance(20) {
        parts.insert(dice.below(parts.len() + 1), hostile(dice));
    }
    parts.join(dice.pick(&[" ", " ", " ", "\n", "-", ""]))
}

pub(crate) fn hostile(dice: &mut Dice) -> String {
    match dice.below(12) {
        // One letter with very many marks on it.
        0 => format!("z{}", "\u{300}".repeat(40 + dice.below(400))),
        // Near the places where texts are cut short.
        1 => "\u{e4}".repeat(110 + dice.below(20)),
        2 => format!("{}\u{1f468}\u{200d}\u{1f469}", "x".repeat(112 + dice.below(10))),
        _ => dice.pick(HOSTILE).to_owned(),
    }
}

/// What somebody might want to be called.
pub(crate) fn display_name(dice: &mut Dice) -> String {
    let name = format!("{} {}", dice.pick(WORDS), dice.pick(WORDS));
    match dice.below(6) {
        0 => hostile(dice),
        1 => name.to_uppercase(),
        2 => name.to_lowercase(),
        _ => name,
    }
}

/// What somebody might look for.
pub(crate) fn query(dice: &mut Dice) -> String {
    let mut words: Vec<String> = (0..=dice.below(2)).map(|_| dice.pick(WORDS).to_owned()).collect();
    match dice.below(10) {
        0 => words.push(hostile(dice)),
        1 => words = vec![format!("\"{}\"", words.join(" "))],
        2 => words = vec![words.join(" ").to_uppercase()],
        3 => words.push(format!("-{}", dice.pick(WORDS))),
        4 => words = words.iter().map(|word| word.chars().take(3).collect()).collect(),
        _ => {}
    }
    words.join(" ")
}

/// A name that is not one, or one in another spelling.
pub(crate) fn odd_name(dice: &mut Dice) -> String {
    const ODD: &[&str] = &[
        "",
        "a",
        "-x",
        "UPPER",
        "with space",
        "sl/ash",
        "..",
        "nobody",
        "\u{e9}t\u{e9}",
        "\u{130}x",
        "system",
        "all",
        "general ",
        "GENERAL",
        "%",
        "_",
        "a\u{301}b",
        "nul\0",
        "x?y=z",
        "x#y",
        "1",
        "0",
        "null",
    ];
    if dice.chance(10) { "n".repeat(60 + dice.below(10)) } else { dice.pick(ODD).to_owned() }
}
