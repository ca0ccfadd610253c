//! Finding `@name` in a text, but not in the code that is quoted in it.

use std::collections::{BTreeSet, HashMap};

/// Different names that one text may call out, whether they are anybody's or not. A text with more is
/// not meant for people.
pub const MAX_CANDIDATES: usize = 1000;
/// Principals whom one message may tell of itself by name.
pub const MAX_MENTIONS: usize = 50;
/// Stands for every member of a channel.
pub const CHANNEL: &str = "channel";
/// Stands for every member of a channel who was there lately.
pub const HERE: &str = "here";

/// The names after an `@`, in lower case, each once. Emails, escaped signs and code have none.
pub fn mentions_in(body: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for prose in prose_of(body) {
        collect(prose, &mut names);
    }
    names
}

fn collect(prose: &str, names: &mut BTreeSet<String>) {
    let bytes = prose.as_bytes();
    for (at, _) in prose.match_indices('@') {
        let before = prose[..at].chars().next_back();
        if before.is_some_and(|before| before.is_alphanumeric() || "_-.@\\/".contains(before)) {
            continue;
        }
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let end = at + 1 + bytes[at + 1..].iter().take_while(|byte| is_part(byte)).count();
        let is_inside = prose[end..].chars().next().is_some_and(|after| after.is_alphanumeric() || after == '@');
        let name = &prose[at + 1..end];
        if is_inside || name.len() < 2 || name.len() > 64 {
            continue;
        }
        names.insert(name.to_ascii_lowercase());
        // A dash may belong to the name or to the sentence.
        let trimmed = name.trim_end_matches('-');
        if trimmed.len() >= 2 && trimmed.len() < name.len() {
            names.insert(trimmed.to_ascii_lowercase());
        }
    }
}

/// The parts of a Markdown text that are neither fenced code nor code spans.
fn prose_of(body: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    // A paragraph is where a code span has to end.
    let mut paragraph = 0..0;
    let mut fence: Option<(u8, usize)> = None;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match (fence, fence_of(line)) {
            (Some((open, length)), Some((sign, run, is_bare))) if sign == open && run >= length && is_bare => {
                fence = None
            }
            (Some(_), _) => {}
            (None, Some((sign, run, is_bare)))
                if sign == b'~' || is_bare || !line.trim_start().trim_start_matches('`').contains('`') =>
            {
                outside_spans(&body[paragraph.clone()], &mut parts);
                fence = Some((sign, run));
            }
            (None, _) if line.trim().is_empty() => outside_spans(&body[paragraph.clone()], &mut parts),
            (None, _) => {
                if paragraph.is_empty() {
                    paragraph.start = start;
                }
                paragraph.end = at;
                continue;
            }
        }
        paragraph = at..at;
    }
    outside_spans(&body[paragraph], &mut parts);
    parts
}

/// The sign and length of a fence that the line begins with, and whether nothing follows it.
fn fence_of(line: &str) -> Option<(u8, usize, bool)> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let sign = text.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let run = text.bytes().take_while(|byte| *byte == sign).count();
    (run >= 3).then(|| (sign, run, text[run..].trim().is_empty()))
}

/// Adds what lies between the code spans of a paragraph. A run of backticks opens a span if another
/// run of the same length follows.
fn outside_spans<'t>(paragraph: &'t str, parts: &mut Vec<&'t str>) {
    let bytes = paragraph.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'`' {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
        runs.push((at, length));
        at += length;
    }
    // For each length the places of its runs, the last one first, so that the next one can be popped.
    let mut by_length: HashMap<usize, Vec<usize>> = HashMap::new();
    for (place, (_, length)) in runs.iter().enumerate().rev() {
        by_length.entry(*length).or_default().push(place);
    }
    let (mut begin, mut place) = (0, 0);
    while let Some((start, length)) = runs.get(place).copied() {
        let same = by_length.entry(length).or_default();
        while same.last().is_some_and(|other| *other <= place) {
            same.pop();
        }
        match same.last() {
            Some(closing) => {
                parts.push(&paragraph[begin..start]);
                begin = runs[*closing].0 + length;
                place = closing + 1;
            }
            None => place += 1,
        }
    }
    parts.push(&paragraph[begin..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> String {
        mentions_in(body).into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_are_found_in_prose() {
        for (body, names) in [
            ("@ada", "ada"),
            ("hello @Ada, @scout-2: go", "ada scout-2"),
            ("(@ada) \"@bob\" @ada's @eve.", "ada bob eve"),
            ("@ada@bob", ""),
            ("mail ada@example.com or x.@ada", ""),
            ("\\@ada /@bob", ""),
            ("@a @", ""),
            ("ä@ada @adaä", ""),
            ("@ada\n@bob\n\n@eve", "ada bob eve"),
            ("@scout- and go", "scout scout-"),
            ("日本 @ada。", "ada"),
            (&format!("@{}", "x".repeat(65)), ""),
        ] {
            assert_eq!(found(body), names, "{body:?}");
        }
    }

    #[test]
    fn code_mentions_nobody() {
        for (body, names) in [
            ("`@ada` @bob", "bob"),
            ("``@ada ` @eve`` @bob", "bob"),
            ("` @ada", "ada"),
            ("` @ada\n\n`", "ada"),
            ("`@ada\n@eve` @bob", "bob"),
            ("```\n@ada\n```\n@bob", "bob"),
            ("```rust\n@ada\n````\n@bob", "bob"),
            ("````\n@ada\n```\n@eve\n````\n@bob", "bob"),
            ("~~~ x\n@ada\n```\n~~~\n@bob", "bob"),
            ("```\n@ada", ""),
            ("@bob\n```\n@ada\n```", "bob"),
            ("```@ada```", ""),
            ("    ```\n@ada", "ada"),
        ] {
            assert_eq!(found(body), names, "{body:?}");
        }
    }

    #[test]
    fn hostile_texts_take_no_longer_than_others() {
        let ticks: String = (1..700).map(|length| format!("{} ", "`".repeat(length))).collect();
        assert_eq!(found(&format!("{ticks}@ada")), "ada");
        assert_eq!(found(&"`` ` ".repeat(50_000)), "");
        assert_eq!(mentions_in(&(0..10_000).map(|n| format!("@name{n} ")).collect::<String>()).len(), 10_000);
    }
}
