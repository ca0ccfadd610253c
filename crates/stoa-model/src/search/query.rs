//! What can be typed to search: words, phrases, and operators between them.

use super::tokens::{Kind, visit_tokens};
use super::{Has, MAX_PREFIXES, MAX_QUERY_CHARACTERS, MAX_TERM_WORDS, MAX_TERMS};
use crate::messages::WorkflowState;
use crate::timestamp::Timestamp;
use crate::validation::{Faults, FieldError};

/// Words that follow each other; mostly it is one. If it is a prefix, the last may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    pub words: Vec<String>,
    pub is_prefix: bool,
}

impl Term {
    /// What is looked for when somebody types this; none if there is no word in it.
    pub fn of(text: &str, is_prefix: bool) -> Option<Self> {
        let mut words = Vec::new();
        let mut kinds = Vec::new();
        visit_tokens(text, &mut |token| {
            if token.kind != Kind::Part {
                words.push(token.word.to_owned());
                kinds.push(token.kind);
            }
        });
        let is_prefix = match kinds.as_slice() {
            [] => return None,
            // The pair before it says enough, and the text may go on behind it.
            [.., Kind::Pair, Kind::Last] => {
                words.pop();
                false
            }
            // Alone, it is found as the beginning of a pair.
            [.., Kind::Last] => true,
            _ => is_prefix,
        };
        Some(Self { words, is_prefix })
    }
}

/// Names of which one must match, and names of which none may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Of each of these lists one.
    pub any_of: Vec<Vec<String>>,
    pub none_of: Vec<String>,
}

impl Names {
    /// What a parameter says: a list with commas, where a leading `-` excludes.
    fn add_list(&mut self, faults: &mut Faults, field: &str, list: &str) {
        let mut wanted = Vec::new();
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match item.strip_prefix('-') {
                Some(item) => self.none_of.push(bare(item).to_owned()),
                None => wanted.push(bare(item).to_owned()),
            }
        }
        faults.require(field, wanted.len() + self.none_of.len() <= MAX_NAMES, "can have at most 50 names");
        if !wanted.is_empty() {
            self.any_of.push(wanted);
        }
    }
}

/// Names in one list.
const MAX_NAMES: usize = 50;

/// `@name` and `#channel` are also written without the sign.
fn bare(name: &str) -> &str {
    name.strip_prefix(['@', '#']).unwrap_or(name)
}

/// All that a search asks for. Each part narrows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub required: Vec<Term>,
    pub excluded: Vec<Term>,
    /// Something was typed that has no word in it, and nothing that has: nothing is found by it.
    pub is_unfindable: bool,
    pub authors: Names,
    pub channels: Names,
    /// Of each of these lists one.
    pub states: Vec<Vec<WorkflowState>>,
    pub states_not: Vec<WorkflowState>,
    pub has: Vec<Has>,
    pub has_not: Vec<Has>,
    /// The first moment.
    pub after: Option<Timestamp>,
    /// The moment before which it was.
    pub before: Option<Timestamp>,
}

/// What a search is asked with beside the text.
#[derive(Debug, Clone, Default)]
pub struct Parameters<'p> {
    pub q: Option<&'p str>,
    pub channel: Option<&'p str>,
    pub agent: Option<&'p str>,
    pub state: Option<&'p str>,
    pub has: Option<&'p str>,
    pub after: Option<&'p str>,
    pub before: Option<&'p str>,
}

impl Query {
    /// The query, or everything that is wrong with it.
    pub fn parse(parameters: &Parameters<'_>) -> Result<Self, Vec<FieldError>> {
        let mut query = Self::default();
        let mut faults = Faults::default();
        let Parameters { channel, agent, state: states, has, .. } = parameters;
        for (field, text) in [("channel", channel), ("agent", agent), ("state", states), ("has", has)] {
            faults.require(field, !text.unwrap_or_default().contains('\0'), "must not contain NUL");
        }
        if let Some(list) = parameters.channel {
            query.channels.add_list(&mut faults, "channel", list);
        }
        if let Some(list) = parameters.agent {
            query.authors.add_list(&mut faults, "agent", list);
        }
        let listed = |text: Option<&str>| -> Vec<(bool, String)> {
            let items = text.unwrap_or_default().split(',').map(str::trim).filter(|item| !item.is_empty());
            items
                .map(|item| item.strip_prefix('-').map_or((false, item), |item| (true, item)))
                .map(|(n, i)| (n, i.to_owned()))
                .collect()
        };
        let mut states = Vec::new();
        for (is_negative, name) in listed(parameters.state) {
            match faults.check("state", state(&name)) {
                Some(state) if is_negative => query.states_not.push(state),
                state => states.extend(state),
            }
        }
        if !states.is_empty() {
            query.states.push(states);
        }
        for (is_negative, name) in listed(parameters.has) {
            query.add_has(&mut faults, "has", is_negative, &name);
        }
        for (field, text) in [("after", parameters.after), ("before", parameters.before)] {
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                query.add_date(&mut faults, field, field, text.trim());
            }
        }
        if let Some(q) = parameters.q {
            query.add_text(&mut faults, q);
        }
        if let (Some(after), Some(before)) = (query.after, query.before) {
            let field = if parameters.before.is_some() { "before" } else { "q" };
            faults.require(field, after < before, "`before` must be later than `after`");
        }
        faults.finish()?;
        Ok(query)
    }

    fn add_text(&mut self, faults: &mut Faults, q: &str) {
        if q.contains('\0') {
            return faults.add("q", "must not contain NUL");
        }
        if q.chars().nth(MAX_QUERY_CHARACTERS).is_some() {
            return faults.add("q", format!("must be at most {MAX_QUERY_CHARACTERS} characters long"));
        }
        let (mut states, mut authors, mut channels) = (Vec::new(), Vec::new(), Vec::new());
        let mut has_wordless = false;
        let mut prefixes = 0;
        for piece in pieces(q) {
            let Piece { is_negative, operator, text, is_prefix } = piece;
            match operator {
                None => match Term::of(&text, is_prefix) {
                    None => has_wordless |= !is_negative,
                    Some(term) => {
                        prefixes += usize::from(is_prefix);
                        let terms = if is_negative { &mut self.excluded } else { &mut self.required };
                        if !terms.contains(&term) {
                            terms.push(term);
                        }
                    }
                },
                Some(Operator::From) if is_negative => self.authors.none_of.push(bare(&text).to_owned()),
                Some(Operator::From) => authors.push(bare(&text).to_owned()),
                Some(Operator::In) if is_negative => self.channels.none_of.push(bare(&text).to_owned()),
                Some(Operator::In) => channels.push(bare(&text).to_owned()),
                Some(Operator::Has) => self.add_has(faults, "q", is_negative, &text),
                Some(Operator::Is) => match faults.check("q", state(&text)) {
                    Some(state) if is_negative => self.states_not.push(state),
                    state => states.extend(state),
                },
                Some(Operator::After | Operator::Before) if is_negative => {
                    faults.add("q", "Dates cannot be excluded: use `before:` instead of `-after:`, and vice versa");
                }
                Some(Operator::After) => self.add_date(faults, "q", "after", &text),
                Some(Operator::Before) => self.add_date(faults, "q", "before", &text),
            }
        }
        for (names, list) in [(&mut self.authors, authors), (&mut self.channels, channels)] {
            if !list.is_empty() {
                names.any_of.push(list);
            }
        }
        if !states.is_empty() {
            self.states.push(states);
        }
        self.is_unfindable = has_wordless && self.required.is_empty();
        let terms = || self.required.iter().chain(&self.excluded);
        let names = self.authors.none_of.len() + self.channels.none_of.len();
        let names = names + self.authors.any_of.iter().chain(&self.channels.any_of).map(Vec::len).sum::<usize>();
        if terms().count() > MAX_TERMS || names > 2 * MAX_NAMES {
            faults.add("q", format!("must have at most {MAX_TERMS} words and phrases"));
        } else if prefixes > MAX_PREFIXES {
            faults.add("q", format!("must have at most {MAX_PREFIXES} words that end with `*`"));
        } else if terms().any(|term| term.words.len() > MAX_TERM_WORDS) {
            faults.add("q", format!("must have at most {MAX_TERM_WORDS} words in a phrase"));
        }
    }

    fn add_has(&mut self, faults: &mut Faults, field: &str, is_negative: bool, name: &str) {
        let found = Has::from_name(&name.to_ascii_lowercase());
        let found = found
            .ok_or_else(|| format!("Unknown value `has:{name}`. Use one of: {}", listing(Has::ALL.map(Has::name))));
        if let Some(has) = faults.check(field, found) {
            if is_negative { &mut self.has_not } else { &mut self.has }.push(has);
        }
    }

    fn add_date(&mut self, faults: &mut Faults, field: &str, operator: &str, text: &str) {
        let parsed = text
            .parse::<Timestamp>()
            .map_err(|fault| if field == "q" { format!("`{operator}:{text}` {fault}") } else { fault.to_owned() });
        let Some(date) = faults.check(field, parsed) else { return };
        if operator == "after" {
            self.after = self.after.max(Some(date));
        } else {
            self.before = Some(self.before.map_or(date, |before| before.min(date)));
        }
    }
}

fn state(name: &str) -> Result<WorkflowState, String> {
    let found = WorkflowState::ALL.into_iter().find(|state| state.name().eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        format!("Unknown state `{name}`. Use one of: {}", listing(WorkflowState::ALL.map(WorkflowState::name)))
    })
}

fn listing<const N: usize>(names: [&str; N]) -> String {
    names.join(", ")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    From,
    In,
    Before,
    After,
    Has,
    Is,
}

/// One thing that was typed.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    is_negative: bool,
    operator: Option<Operator>,
    text: String,
    is_prefix: bool,
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„')
}

/// Takes a query apart. A quotation mark without a second one reaches to the end.
fn pieces(q: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = q.trim_start();
    while let Some(first) = rest.chars().next() {
        // `--flag` is something that people look for.
        let is_negative =
            first == '-' && rest[1..].chars().next().is_some_and(|next| next != '-' && !next.is_whitespace());
        if is_negative {
            rest = &rest[1..];
        }
        let (operator, behind) = operator(rest);
        rest = behind;
        let (text, is_prefix, behind) = match rest.strip_prefix(is_quote) {
            Some(quoted) => {
                let end = quoted.find(is_quote);
                let (text, behind) = (&quoted[..end.unwrap_or(quoted.len())], end.map_or("", |end| &quoted[end..]));
                let behind = behind.strip_prefix(is_quote).unwrap_or(behind);
                let is_prefix = behind.starts_with('*');
                (text, is_prefix, behind.strip_prefix('*').unwrap_or(behind))
            }
            None => {
                let end = rest.find(|next: char| next.is_whitespace() || is_quote(next)).unwrap_or(rest.len());
                let text = &rest[..end];
                (text, text.ends_with('*'), &rest[end..])
            }
        };
        pieces.push(Piece { is_negative, operator, text: text.to_owned(), is_prefix });
        rest = behind.trim_start();
    }
    pieces
}

/// An operator at the beginning, and what comes behind it. Without a value it is a word like others.
fn operator(text: &str) -> (Option<Operator>, &str) {
    let known = [
        ("from:", Operator::From),
        ("in:", Operator::In),
        ("before:", Operator::Before),
        ("after:", Operator::After),
        ("has:", Operator::Has),
        ("is:", Operator::Is),
    ];
    for (name, operator) in known {
        if let Some((head, value)) = text.split_at_checked(name.len())
            && head.eq_ignore_ascii_case(name)
            && value.chars().next().is_some_and(|next| !next.is_whitespace())
        {
            return (Some(operator), value);
        }
    }
    (None, text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(q: &str) -> Query {
        Query::parse(&Parameters { q: Some(q), ..Parameters::default() }).unwrap()
    }

    fn refused(q: &str) -> String {
        let faults = Query::parse(&Parameters { q: Some(q), ..Parameters::default() }).unwrap_err();
        assert!(faults.iter().all(|fault| fault.field == "q"));
        faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>().join("; ")
    }

    /// `word`, `two words`, `begin*`, and `-word` for those that must not be there.
    fn terms(q: &str) -> String {
        let query = parsed(q);
        let show = |term: &Term| term.words.join(" ") + if term.is_prefix { "*" } else { "" };
        let required = query.required.iter().map(show);
        required.chain(query.excluded.iter().map(|term| format!("-{}", show(term)))).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn words_phrases_prefixes_and_exclusions() {
        for (q, wanted) in [
            ("", ""),
            ("   ", ""),
            ("Deploy failed", "deploy|failed"),
            ("deploy deploy", "deploy"),
            ("\"deploy failed\" now", "deploy failed|now"),
            ("“deploy failed”", "deploy failed"),
            ("\"deploy failed", "deploy failed"),
            ("\"", ""),
            ("say\"hello world\"x", "say|hello world|x"),
            ("dep*", "dep*"),
            ("snake_ca*", "snake ca*"),
            ("\"snake ca\"*", "snake ca*"),
            ("*", ""),
            ("-failed", "-failed"),
            ("ok -\"not this\" -dep*", "ok|-not this|-dep*"),
            ("- -- --dry-run -", "dry run"),
            ("well-known", "well known"),
            ("snake_case Vec<T> path/to/file.rs foo::bar v1.2.3", "snake case|vec t|path to file rs|foo bar|v1 2 3"),
            ("a AND b OR c NEAR(d) ^e words:f NOT", "a|and|b|or|c|near d|e|words f|not"),
            ("from: in:", "from|in"),
            ("https://example.com/x", "https example com x"),
            ("東京", "東京"),
            ("東京都", "東京 京都"),
            ("東", "東*"),
            ("\"東京 tower\"", "東京 京 tower"),
            ("\"tower 東\"", "tower 東*"),
            ("東京*", "東京"),
            ("camelCase", "camelcase"),
            ("🚀", "🚀"),
            ("'; drop table messages; --", "drop|table|messages"),
        ] {
            assert_eq!(terms(q), wanted, "{q}");
        }
    }

    #[test]
    fn what_has_no_word_finds_nothing_by_itself() {
        assert!(parsed("???").is_unfindable && parsed("\"!\" from:ada").is_unfindable);
        assert!(!parsed("??? ok").is_unfindable && !parsed("-??? from:ada").is_unfindable && !parsed("").is_unfindable);
    }

    #[test]
    fn operators() {
        let query = parsed(
            "from:@Ada -from:bob IN:#work in:\"x\" -in:den has:pdf -has:link is:done is:approved -is:rejected after:2027-01-01 before:2027-01-02T00:00:00Z rest",
        );
        assert_eq!(query.authors, Names { any_of: vec![vec!["Ada".to_owned()]], none_of: vec!["bob".to_owned()] });
        assert_eq!(query.channels.any_of, [["work", "x"]]);
        assert_eq!((query.has, query.has_not), (vec![Has::Pdf], vec![Has::Link]));
        assert_eq!(query.states, [[WorkflowState::Done, WorkflowState::Approved]]);
        assert_eq!(query.states_not, [WorkflowState::Rejected]);
        assert!(query.after < query.before && query.required.len() == 1);
        for (q, word) in [
            ("is:lost", "proposed"),
            ("has:cake", "attachment"),
            ("after:yesterday", "yesterday"),
            ("-after:2027-01-01", "before:"),
            ("after:2027-01-02 before:2027-01-02", "before"),
            ("after:2027-01-03 before:2027-01-02", "before"),
            ("a\0b", "NUL"),
            (&"x".repeat(MAX_QUERY_CHARACTERS + 1), "1000"),
            (&(0..=MAX_TERMS).map(|n| format!("w{n} ")).collect::<String>(), "32"),
            ("a* b* c* -d* e*", "4 words"),
            (&"x ".repeat(MAX_TERM_WORDS + 1).replace("x ", "x-"), "64"),
        ] {
            assert!(refused(q).contains(word), "{q}: {}", refused(q));
        }
    }

    #[test]
    fn parameters_and_operators_narrow_together() {
        let parameters = Parameters {
            q: Some("from:ada x"),
            agent: Some("@bob, -eve,,"),
            channel: Some("-#den"),
            state: Some("done,-rejected"),
            has: Some("image,-link"),
            after: Some("2027-01-01"),
            before: Some(""),
        };
        let query = Query::parse(&parameters).unwrap();
        assert_eq!(query.authors.any_of, [["bob"], ["ada"]]);
        assert_eq!((query.authors.none_of, query.channels.none_of), (vec!["eve".to_owned()], vec!["den".to_owned()]));
        assert_eq!((query.has, query.has_not), (vec![Has::Image], vec![Has::Link]));
        let wrong = Parameters {
            state: Some("lost"),
            has: Some("cake"),
            after: Some("x"),
            before: Some("y"),
            ..Parameters::default()
        };
        let fields: Vec<_> = Query::parse(&wrong).unwrap_err().into_iter().map(|fault| fault.field).collect();
        assert_eq!(fields, ["state", "has", "after", "before"]);
        let many = "x,".repeat(51);
        assert!(Query::parse(&Parameters { agent: Some(&many), ..Parameters::default() }).is_err());
    }

    proptest! {
        #[test]
        fn no_query_is_too_strange(q in "\\PC{0,80}|[\"“* :a-z東é-]{0,60}|.{0,1200}") {
            let _ = Query::parse(&Parameters { q: Some(&q), channel: Some(&q), has: Some(&q), ..Parameters::default() });
            let _ = Query::parse(&Parameters { q: Some(&q), ..Parameters::default() });
        }
    }
}
