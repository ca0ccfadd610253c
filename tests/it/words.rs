//! Texts for people use plain words: none of the phrases of `tests/words/refused-phrases.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli_support::{Outcome, stoa};
use crate::support::TestHub;

/// Commands nested deeper do not exist.
const MAX_DEPTH: usize = 4;

/// The refused phrases, each with what to write instead.
fn refused() -> Vec<(&'static str, &'static str)> {
    let list = include_str!("../words/refused-phrases.txt");
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(" => ").unwrap()).collect()
}

/// The refused phrases in a text, each with the place and what to write instead.
fn faults(place: &str, text: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let words = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let stands_alone =
        |at: usize, phrase: &str| !words[..at].ends_with(is_part) && !words[at + phrase.len()..].starts_with(is_part);
    let found = refused()
        .into_iter()
        .filter(|(phrase, _)| words.match_indices(*phrase).any(|(at, _)| stands_alone(at, phrase)));
    found.map(|(phrase, better)| format!("{place}: \"{phrase}\", better: {better}. In: {text}")).collect()
}

/// The descriptions anywhere in a JSON document, checked.
fn faults_in(place: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let check = |(name, value): (&String, &Value)| match value {
                Value::String(text) if ["summary", "description", "title", "instructions"].contains(&name.as_str()) => {
                    faults(place, text)
                }
                value => faults_in(&format!("{place}/{name}"), value),
            };
            fields.iter().flat_map(check).collect()
        }
        Value::Array(items) => items.iter().flat_map(|item| faults_in(place, item)).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_refused_phrase_is_found_as_whole_words() {
    assert_eq!(faults("here", "It is not allowed ANY\n  more.").len(), 1);
    assert_eq!(faults("here", "Many mores, and wherewhoever").len(), 0);
    assert_eq!(faults_in("here", &json!({"a": [{"description": "for ever"}, {"name": "for ever"}]})).len(), 1);
}

#[tokio::test]
async fn the_descriptions_of_the_interfaces_use_plain_words() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let document = hub.nobody().get("/api/openapi.json").await.ok().json();
    let mut found = faults_in("openapi", &document);
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        found.extend(faults_in(method, &scout.mcp(method, json!({})).await.rpc_result()));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    hub.finish().await;
}

/// The help of a command and of all commands below it, checked.
fn faults_in_help(command: &[&str]) -> Vec<String> {
    let arguments: Vec<_> = command.iter().copied().chain(["--help"]).collect();
    let help = Outcome::of(&mut stoa(&arguments), b"").ok();
    let mut found = faults(&command.join(" "), &help);
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    if command.len() < MAX_DEPTH {
        // A line that continues a description is indented further.
        for name in names.filter(|name| *name != "help" && help.contains(&format!("\n  {name} "))) {
            let below: Vec<_> = command.iter().copied().chain([name]).collect();
            found.extend(faults_in_help(&below));
        }
    }
    found
}

#[test]
fn help_uses_plain_words() {
    let found = faults_in_help(&[]);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Where a text ends whose opening quote was read.
fn end_of_text(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The string literals of a source file, each with its line: without comments, characters and the tests at its end.
fn literals(source: &str) -> Vec<(usize, String)> {
    let source = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or(source);
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let (before, here) = rest.split_at(at);
        let length = if here.starts_with("//") {
            here.find('\n').unwrap_or(here.len())
        } else if here.starts_with("'\"'") {
            3
        } else if let Some(text) = here.strip_prefix('"') {
            let name = before.trim_end_matches('#');
            let hashes = &before[name.len()..];
            let end = if name.ends_with('r') {
                text.find(&format!("\"{hashes}")).unwrap_or(text.len())
            } else {
                end_of_text(text)
            };
            let line = source[..source.len() - here.len()].matches('\n').count() + 1;
            found.push((line, text[..end].replace("\\n", " ").replace('\\', " ")));
            (end + 2).min(here.len())
        } else {
            1
        };
        rest = &here[length..];
    }
    found
}

#[test]
fn literals_are_found_and_comments_are_not() {
    let source =
        "// \"one\"\nlet a = \"two \\\"and\\\" \\\n  three\"; '\"' r#\"four \"five\" \"# /// \"six\"\n\"seven\"";
    let found = literals(source);
    let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
    let words: Vec<_> = found.iter().flat_map(|(_, text)| text.split_whitespace()).collect();
    assert_eq!(lines, [2, 3, 4]);
    assert_eq!(words, ["two", "\"and", "\"", "three", "four", "\"five\"", "seven"]);
}

#[test]
fn the_strings_of_the_source_use_plain_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = vec![root.join("src"), root.join("crates/stoa-model/src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let shown = path.strip_prefix(root).unwrap().display().to_string();
                for (line, text) in literals(&fs::read_to_string(&path).unwrap()) {
                    found.extend(faults(&format!("{shown}:{line}"), &text));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
