//! Finding things in JSON that programs of others print.

use serde_json::Value;

/// A text at a path.
pub(crate) fn text_of<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path).and_then(Value::as_str)
}

/// A count at a path; nothing that is negative.
pub(crate) fn count_at(value: &Value, path: &[&str]) -> Option<i64> {
    at(value, path).and_then(Value::as_i64).filter(|count| *count >= 0)
}

pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

pub(crate) fn list_at<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A call of a tool with its arguments, on one line.
pub(crate) fn call(name: &str, arguments: Option<&Value>) -> String {
    match arguments {
        None | Some(Value::Null) => name.to_owned(),
        Some(Value::Object(fields)) if fields.is_empty() => name.to_owned(),
        Some(arguments) => format!("{name} {arguments}"),
    }
}

/// What a tool returned: a text, or the texts of several blocks.
pub(crate) fn result_text(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match text_of(block, &["text"]) {
                Some(text) => text.to_owned(),
                None => format!("[{}]", text_of(block, &["type"]).unwrap_or("data")),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// The name of a tool without the prefix by which programs mark those of the hub.
pub(crate) fn short_name(name: &str) -> &str {
    ["mcp__stoa__", "mcp_stoa_"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// The last line with something in it.
pub(crate) fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}
