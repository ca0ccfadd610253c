//! The text around a hit, with what was found in it marked.

use std::ops::Range;

use super::query::Term;
use super::tokens::{Kind, visit_tokens};

/// Characters of a snippet.
pub const SNIPPET_CHARACTERS: usize = 200;
/// Of these, before the first hit.
const BEFORE_HIT: usize = 60;
/// How much of a body is looked through for hits. A hit further behind is not shown.
const MAX_LOOKED_THROUGH: usize = 64 * 1024;
const MAX_MARKS: usize = 100;

/// A part of a text, and which parts of it were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    /// Bytes of `text`, in order.
    pub marks: Vec<Range<usize>>,
}

/// The part of the body, or else of the subject, where the first of the terms is; or the body's beginning.
pub fn excerpt(subject: Option<&str>, body: &str, terms: &[Term]) -> Excerpt {
    let marks = find(body, terms);
    match subject {
        Some(subject) if marks.is_empty() => {
            let in_subject = find(subject, terms);
            if in_subject.is_empty() { cut(body, &marks) } else { cut(subject, &in_subject) }
        }
        _ => cut(body, &marks),
    }
}

impl Excerpt {
    /// As HTML in which nothing but the marks is markup, whatever the text says.
    pub fn to_html(&self) -> String {
        let mut html = String::with_capacity(self.text.len() + 16);
        let mut at = 0;
        for mark in &self.marks {
            escape(self.text.get(at..mark.start).unwrap_or_default(), &mut html);
            html += "<mark>";
            escape(self.text.get(mark.clone()).unwrap_or_default(), &mut html);
            html += "</mark>";
            at = mark.end;
        }
        escape(self.text.get(at..).unwrap_or_default(), &mut html);
        html
    }
}

fn escape(text: &str, html: &mut String) {
    for character in text.chars() {
        match character {
            '&' => *html += "&amp;",
            '<' => *html += "&lt;",
            '>' => *html += "&gt;",
            '"' => *html += "&quot;",
            '\'' => *html += "&#39;",
            other => html.push(other),
        }
    }
}

/// Where the terms are, in order and without overlaps.
fn find(text: &str, terms: &[Term]) -> Vec<Range<usize>> {
    if terms.is_empty() {
        return Vec::new();
    }
    let text = &text[..text.floor_char_boundary(MAX_LOOKED_THROUGH)];
    let mut words: Vec<(String, Range<usize>)> = Vec::new();
    let mut parts = Vec::new();
    visit_tokens(text, &mut |token| {
        let known = (token.word.to_owned(), token.start..token.end);
        if token.kind == Kind::Part { parts.push(known) } else { words.push(known) }
    });
    let mut marks = Vec::new();
    for term in terms {
        let Some((last, before)) = term.words.split_last() else { continue };
        let is_last = |word: &str| if term.is_prefix { word.starts_with(last.as_str()) } else { word == last };
        for window in words.windows(term.words.len()) {
            let Some(((end, found), beginning)) = window.split_last() else { continue };
            if is_last(end) && beginning.iter().map(|(word, _)| word).eq(before) {
                let start = beginning.first().map_or(found.start, |(_, first)| first.start);
                marks.push(start..found.end);
            }
        }
        if before.is_empty() {
            marks.extend(parts.iter().filter(|(word, _)| is_last(word)).map(|(_, found)| found.clone()));
        }
    }
    marks.sort_by_key(|mark| (mark.start, mark.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match merged.last_mut() {
            Some(last) if mark.start <= last.end => last.end = last.end.max(mark.end),
            _ => merged.push(mark),
        }
    }
    merged
}

/// As much of the text as a snippet may have, with the first mark not far from its beginning.
fn cut(text: &str, marks: &[Range<usize>]) -> Excerpt {
    let hit = marks.first().map_or(0, |mark| mark.start);
    // Between characters, and between words if one ends near by.
    let before = text[..hit].char_indices().rev().take(BEFORE_HIT).last().map_or(hit, |(at, _)| at);
    let start = if before == 0 {
        0
    } else {
        text[before..hit].find(char::is_whitespace).map_or(before, |blank| before + blank)
    };
    let start = start + text[start..].len() - text[start..].trim_start().len();
    let start = if marks.is_empty() { start } else { start.min(hit) };
    let end = text[start..].char_indices().nth(SNIPPET_CHARACTERS).map_or(text.len(), |(at, _)| start + at);
    let shown = marks.iter().filter(|mark| mark.start >= start && mark.start < end).take(MAX_MARKS);
    let marks = shown.map(|mark| mark.start - start..mark.end.min(end) - start).collect();
    Excerpt { text: text[start..end].to_owned(), marks }
}

#[cfg(test)]
mod tests {
    use super::super::query::{Parameters, Query};
    use super::*;

    fn html(subject: Option<&str>, body: &str, q: &str) -> String {
        let query = Query::parse(&Parameters { q: Some(q), ..Parameters::default() }).unwrap();
        excerpt(subject, body, &query.required).to_html()
    }

    #[test]
    fn hits_are_marked_and_everything_else_is_escaped() {
        for (body, q, wanted) in [
            ("The deploy failed.", "deploy", "The <mark>deploy</mark> failed."),
            ("The deploy failed.", "\"deploy failed\"", "The <mark>deploy failed</mark>."),
            ("deploy, then fail; deploy", "deploy", "<mark>deploy</mark>, then fail; <mark>deploy</mark>"),
            ("use Vec<T> & <b>", "vec<t>", "use <mark>Vec&lt;T</mark>&gt; &amp; &lt;b&gt;"),
            ("Un CAFÉ cafe\u{301}!", "café", "Un <mark>CAFÉ</mark> <mark>cafe\u{301}</mark>!"),
            ("東京都庁へ", "京都庁", "東<mark>京都庁</mark>へ"),
            ("東京都庁へ", "庁", "東京都<mark>庁へ</mark>"),
            ("東京", "京", "東<mark>京</mark>"),
            ("call parseHTTP now", "http", "call parse<mark>HTTP</mark> now"),
            ("deployment", "dep*", "<mark>deployment</mark>"),
            ("<mark>x</mark>", "nothing", "&lt;mark&gt;x&lt;/mark&gt;"),
            ("\"q\" 'a'", "a", "&quot;q&quot; &#39;<mark>a</mark>&#39;"),
        ] {
            assert_eq!(html(None, body, q), wanted, "{q} in {body}");
        }
        assert_eq!(html(Some("Deploy"), "it failed", "deploy"), "<mark>Deploy</mark>");
        assert_eq!(html(Some("Deploy"), "it failed", "failed deploy"), "it <mark>failed</mark>");
    }

    #[test]
    fn snippets_are_short_and_have_the_hit_in_them() {
        let body = format!("{}needle {}", "äöü 東京 ".repeat(500), "more ".repeat(500));
        let found = excerpt(None, &body, &[Term::of("needle", false).unwrap()]);
        assert_eq!(&found.text[found.marks[0].clone()], "needle");
        assert_eq!(found.text.chars().count(), SNIPPET_CHARACTERS);
        let far = format!("{}needle", "x ".repeat(100_000));
        assert!(excerpt(None, &far, &[Term::of("needle", false).unwrap()]).marks.is_empty());
        assert_eq!(excerpt(None, "  \n beginning", &[]).text, "beginning");
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_cut(body in ".{0,600}", q in "\\PC{0,20}") {
            if let Ok(query) = Query::parse(&Parameters { q: Some(&q), ..Parameters::default() }) {
                let found = excerpt(Some(&q), &body, &query.required);
                assert!(found.text.chars().count() <= SNIPPET_CHARACTERS);
                assert!(!found.to_html().replace("<mark>", "").replace("</mark>", "").contains('<'));
            }
        }
    }
}
