//! One step of a sequence, as data: it can be carried out on any hub, left out, printed, and read again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::text::LONE_SURROGATE;

/// Begins and ends a reference, for example `‹message 12›`: what step 12 showed first. Each hub has its own id for it.
pub(crate) const MARKS: (char, char) = ('\u{2039}', '\u{203a}');

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) number: usize,
    #[serde(rename = "as")]
    pub(crate) actor: String,
    #[serde(flatten)]
    pub(crate) action: Action,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Call(Call),
    Tool {
        name: String,
        arguments: String,
    },
    Upload {
        filename: String,
        content: String,
    },
    /// So many seconds pass.
    Advance(u64),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) headers: Vec<(String, String)>,
    /// JSON, or what should have been JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
    /// Whether to follow `next_cursor` to the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) all_pages: bool,
}

/// A step that has no number yet.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) actor: String,
    pub(crate) action: Action,
}

impl Draft {
    pub(crate) fn call(actor: &str, method: &str, path: impl Into<String>) -> Self {
        let call =
            Call { method: method.to_owned(), path: path.into(), headers: Vec::new(), body: None, all_pages: false };
        Self { actor: actor.to_owned(), action: Action::Call(call) }
    }

    pub(crate) fn tool(actor: &str, name: &str, arguments: &Value) -> Self {
        let action = Action::Tool { name: name.to_owned(), arguments: json_text(arguments) };
        Self { actor: actor.to_owned(), action }
    }

    pub(crate) fn json(mut self, body: &Value) -> Self {
        if let Action::Call(call) = &mut self.action {
            call.body = Some(json_text(body));
        }
        self
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        if let Action::Call(call) = &mut self.action {
            call.headers.push((name.to_owned(), value.into()));
        }
        self
    }

    pub(crate) fn all_pages(mut self) -> Self {
        if let Action::Call(call) = &mut self.action {
            call.all_pages = true;
        }
        self
    }

    pub(crate) fn numbered(self, number: usize) -> Step {
        Step { number, actor: self.actor, action: self.action }
    }
}

fn json_text(value: &Value) -> String {
    value.to_string().replace(LONE_SURROGATE, "\\ud800")
}

/// A reference to put into a path or a body.
pub(crate) fn reference(name: &str) -> String {
    format!("{}{name}{}", MARKS.0, MARKS.1)
}

/// Replaces the references of a text. None if one is not known. In JSON an id is a number, so its quotes go.
pub(crate) fn resolve(text: &str, find: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut resolved = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARKS.0) {
        let (name, after) = after.split_once(MARKS.1)?;
        let value = find(name)?;
        let is_number = value.parse::<i64>().is_ok();
        let quoted = before.strip_suffix('"').zip(after.strip_prefix('"')).filter(|_| is_number);
        let (before, after) = quoted.unwrap_or((before, after));
        resolved.push_str(before);
        resolved.push_str(&value);
        rest = after;
    }
    resolved.push_str(rest);
    Some(resolved)
}

impl std::fmt::Display for Step {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| std::fmt::Error)?)
    }
}

impl Step {
    /// `POST /api/messages`, for example: what the step does, without its details.
    pub(crate) fn summary(&self) -> String {
        match &self.action {
            Action::Call(call) => format!("{} {}", call.method, call.path),
            Action::Tool { name, .. } => format!("tool {name}"),
            Action::Upload { .. } => "POST /api/attachments".to_owned(),
            Action::Advance(seconds) => format!("advance {seconds} s"),
        }
    }
}
