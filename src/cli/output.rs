//! What is printed: tables for people, the hub's own JSON for programs.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, Write};

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};
use stoa_model::text::is_unprintable;

use super::failure::Failure;

/// A heading, and what to show of an item below it.
pub(super) type Column = (&'static str, fn(&Value) -> String);

pub(super) struct Output {
    is_json: bool,
    /// Columns of the terminal; none when the output goes to a file or a pipe.
    width: Option<u16>,
}

impl Output {
    pub(super) fn new(is_json: bool) -> Self {
        let width = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        Self { is_json, width: width.map(|(width, _)| width.0) }
    }

    /// Prints the hub's answer for programs, or what `text` makes of it for people.
    pub(super) fn result(&self, result: &Value, text: impl FnOnce(&Self) -> String) -> Result<(), Failure> {
        if self.is_json { print(&to_json(result)) } else { print(&text(self)) }
    }

    /// Prints a list, a line for each item.
    pub(super) fn list(&self, items: &[Value], columns: &[Column]) -> Result<(), Failure> {
        self.result(&json!({"items": items}), |output| output.rows(items, columns))
    }

    /// Things below each other, with a heading for each column.
    pub(super) fn rows(&self, items: &[Value], columns: &[Column]) -> String {
        let mut table = self.table();
        table.set_header(columns.iter().map(|(heading, _)| *heading));
        for item in items {
            table.add_row(columns.iter().map(|(_, cell)| harmless(&cell(item))));
        }
        lines_of(&table)
    }

    /// One thing with its properties below each other.
    pub(super) fn properties(&self, properties: &[(&str, String)]) -> String {
        let mut table = self.table();
        for (name, value) in properties {
            // Line by line, so that instructions stay readable.
            let value: Vec<_> = value.lines().map(harmless).collect();
            table.add_row([(*name).to_owned(), value.join("\n")]);
        }
        lines_of(&table)
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        if let Some(width) = self.width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        table
    }

    /// Says on standard error why a command was not done.
    pub(super) fn failure(&self, failure: &Failure) {
        let text = if self.is_json { to_json(&failure.to_json()) } else { describe(failure) };
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

fn describe(failure: &Failure) -> String {
    let error = match failure {
        Failure::Usage(message) | Failure::NoHub(message) | Failure::Other(message) => {
            return format!("stoa: {}\n", harmless(message));
        }
        Failure::Hub(error) => error,
    };
    let mut text = format!("stoa: {}\n", harmless(error["message"].as_str().unwrap_or("the hub refused")));
    // A single fault of a field is what the message says already.
    let is_said = |faults: &&Vec<Value>| faults.len() == 1 && error["data"]["code"] == "validation_failed";
    for fault in error["data"]["errors"].as_array().filter(|faults| !is_said(faults)).into_iter().flatten() {
        let _ = writeln!(text, "  {}: {}", show(&fault["field"]), show(&fault["message"]));
    }
    if let Some(hint) = error["data"]["hint"].as_str() {
        let _ = writeln!(text, "hint: {}", harmless(hint));
    }
    text
}

/// A secret on a line of its own, easy to copy and to find for programs.
pub(super) fn secret(note: &str, secret: &Value) -> String {
    format!("{note}\n{}\n", show(secret))
}

/// How a value looks to people: nothing for null, plain text, lists with commas, times to the second.
pub(super) fn show(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => without_milliseconds(text),
        Value::Array(items) => items.iter().map(show).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    harmless(&text)
}

/// The same for something that people write in several lines.
pub(super) fn show_text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn without_milliseconds(text: &str) -> String {
    let is_time = text.len() == 24
        && text
            .bytes()
            .zip(*b"0000-00-00T00:00:00.000Z")
            .all(|(byte, shape)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape });
    if is_time { format!("{}Z", &text[..19]) } else { text.to_owned() }
}

/// Writes out what would move the cursor, colour the screen or turn the text around.
fn harmless(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut safe, character| {
        match character {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            character if is_unprintable(character) => safe.extend(character.escape_unicode()),
            character => safe.push(character),
        }
        safe
    })
}

fn lines_of(table: &Table) -> String {
    // The first blank of each cell is for borders, which this table does not have.
    table.lines().fold(String::new(), |text, line| {
        let line = line.trim_end();
        text + line.strip_prefix(' ').unwrap_or(line) + "\n"
    })
}

fn to_json(value: &Value) -> String {
    // JSON leaves some characters as they are that a terminal acts on. Escaped they mean the same.
    let text = format!("{value:#}\n");
    text.chars().fold(String::with_capacity(text.len()), |mut safe, character| {
        if character != '\n' && is_unprintable(character) {
            let _ = write!(safe, "\\u{:04x}", u32::from(character));
        } else {
            safe.push(character);
        }
        safe
    })
}

/// Whoever reads us may stop when they have enough, as `head` does.
fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Other(format!("it was done, but the answer cannot be printed: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        assert_eq!(show(&json!("a\u{1b}[2Jb\nc\u{202e}d\u{9b}e")), "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{9b}e");
        assert_eq!(show(&json!("日本語 é")), "日本語 é");
        let value = json!({"name": "a\u{1b}[2J\u{9b}\u{7f}\u{202e}"});
        let text = to_json(&value);
        assert!(text.chars().all(|character| character == '\n' || !is_unprintable(character)), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn values_look_plain() {
        assert_eq!(show(&Value::Null), "");
        assert_eq!(show(&json!(["a", 1, null])), "a,1,");
        assert_eq!(show(&json!("2026-01-31T09:30:00.120Z")), "2026-01-31T09:30:00Z");
        assert_eq!(show(&json!("2026-01-31T09:30:00.12xZ")), "2026-01-31T09:30:00.12xZ");
        assert_eq!(show(&json!("ééééééééééé")), "ééééééééééé");
    }

    #[test]
    fn faults_are_named_one_a_line() {
        let errors = json!([{"field": "a", "message": "is wrong"}, {"field": "b", "message": "too"}]);
        let error = json!({"message": "2 fields are invalid.", "data": {"errors": errors, "hint": "Mend them."}});
        let text = describe(&Failure::Hub(error));
        assert_eq!(text, "stoa: 2 fields are invalid.\n  a: is wrong\n  b: too\nhint: Mend them.\n");
    }
}
