//! The ids of one hub and the references that steps use for them. Numbers may have gaps on one engine and not on the other, so
//! answers are compared with references in the place of ids.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use crate::support::Reply;

/// Headers that differ from answer to answer, or say nothing about what the hub did.
const UNCOMPARED_HEADERS: &[&str] = &["date", "x-request-id", "content-length", "server-timing"];
/// Fields that depend on real time or on when a background task ran.
const UNCOMPARED_FIELDS: &[&str] =
    &["last_seen_at", "last_used_at", "presence", "duration_ms", "average_duration_ms", "longest_duration_ms"];
/// Fields that hold the id of a message, alone or in a list.
const MESSAGE_FIELDS: &[&str] = &[
    "message_id",
    "reply_to",
    "reply_id",
    "last_reply_id",
    "last_message_id",
    "last_read_message_id",
    "not_claimed",
    "message_ids",
];
/// Which field gives away what an `id` beside it belongs to. The first match counts.
const KINDS: &[(&str, &str)] = &[
    ("jsonrpc", "call"),
    ("username", "user"),
    ("trigger_mode", "agent"),
    ("permissions", "key"),
    ("user_agent", "session"),
    ("duration_ms", "trace"),
    ("remote_ip", "audit"),
    ("redirect_host", "grant"),
    ("workflow_enabled", "channel"),
    ("body", "message"),
    ("from", "message"),
    ("delivery", "message"),
    ("reply_id", "message"),
    ("status", "message"),
];

/// Whose ids the audit log writes as text, by the beginning of the action.
const AUDITED: &[(&str, &str)] = &[("message.", "message"), ("key.", "key"), ("oauth.", "client")];

/// An answer with references in the place of ids.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl std::fmt::Display for Answer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {:#}", self.status, self.body)
    }
}

#[derive(Default)]
pub(crate) struct Names {
    references: HashMap<(&'static str, String), String>,
    values: HashMap<String, String>,
    /// How many things of each kind the current step has shown first.
    shown_first: HashMap<&'static str, usize>,
    base: String,
}

impl Names {
    pub(crate) fn new(base: String) -> Self {
        Self { base, ..Self::default() }
    }

    /// What stands for a reference on this hub.
    pub(crate) fn find(&self, reference: &str) -> Option<String> {
        self.values.get(reference).cloned()
    }

    /// The answer of a step, with references in the place of ids. What is new in it is named after the step.
    pub(crate) fn translate(&mut self, step: usize, reply: &Reply) -> Answer {
        let mut headers = BTreeMap::new();
        for (name, value) in &reply.headers {
            if !UNCOMPARED_HEADERS.contains(&name.as_str()) {
                let value = String::from_utf8_lossy(value.as_bytes()).replace(&self.base, "http://hub");
                let is_cookie = name == "set-cookie";
                headers.insert(name.to_string(), if is_cookie { without_value(&value) } else { value });
            }
        }
        let body = match serde_json::from_slice(&reply.body) {
            Ok(body) => self.value(step, "", unpacked(body)),
            Err(_) => Value::String(reply.text().replace(&self.base, "http://hub")),
        };
        Answer { status: reply.code(), headers, body }
    }

    /// Forgets what was counted for the step before.
    pub(crate) fn begin(&mut self) {
        self.shown_first.clear();
    }

    fn value(&mut self, step: usize, field: &str, value: Value) -> Value {
        match value {
            Value::Object(fields) => self.object(step, fields),
            Value::Array(items) => items.into_iter().map(|item| self.value(step, field, item)).collect(),
            Value::Number(number) if MESSAGE_FIELDS.contains(&field) => self.name(step, "message", &number.to_string()),
            Value::Number(number) if field == "conversation_id" => self.name(step, "conversation", &number.to_string()),
            Value::Number(number) if field == "channel_id" => self.name(step, "channel", &number.to_string()),
            Value::String(text) if field == "next_cursor" => self.name(step, "cursor", &text),
            Value::String(_) if matches!(field, "key" | "client_secret") => "(secret)".into(),
            Value::String(text) if field == "client_id" => self.name(step, "client", &text),
            Value::String(_) if field == "request_id" => "(request)".into(),
            Value::String(text) if text.contains(&self.base) => text.replace(&self.base, "http://hub").into(),
            other => other,
        }
    }

    fn object(&mut self, step: usize, fields: Map<String, Value>) -> Value {
        let kind = KINDS.iter().find(|(field, _)| fields.contains_key(*field)).map(|(_, kind)| *kind);
        let action = fields.get("action").and_then(Value::as_str).unwrap_or_default().to_owned();
        let audited = AUDITED.iter().find(|(area, _)| action.starts_with(area)).map(|(_, kind)| *kind);
        let known: Vec<String> = fields.keys().cloned().collect();
        let mut translated = Map::new();
        for (field, value) in fields {
            let value = match (&value, field.as_str()) {
                (Value::Number(number), "id") => {
                    let kind = kind.unwrap_or_else(|| panic!("KINDS does not know what has this id: {known:?}"));
                    self.name(step, kind, &number.to_string())
                }
                (Value::String(id), "target") if audited.is_some() => self.name(step, audited.unwrap_or_default(), id),
                (_, field) if UNCOMPARED_FIELDS.contains(&field) => continue,
                _ => self.value(step, &field, value),
            };
            translated.insert(field, value);
        }
        translated.into()
    }

    fn name(&mut self, step: usize, kind: &'static str, id: &str) -> Value {
        let key = (kind, id.to_owned());
        // A cursor is a new one each time.
        if let Some(known) = self.references.get(&key).filter(|_| kind != "cursor") {
            return known.clone().into();
        }
        let count = self.shown_first.entry(kind).or_default();
        let name = if *count == 0 { format!("{kind} {step}") } else { format!("{kind} {step}.{count}") };
        *count += 1;
        self.references.insert(key, name.clone());
        self.values.insert(name.clone(), id.to_owned());
        name.into()
    }
}

/// The text of a tool repeats its structured content, so one of the two is enough if they agree.
fn unpacked(mut body: Value) -> Value {
    let Some(result) = body.get_mut("result") else { return body };
    let structured = result.get("structuredContent").cloned();
    let texts = result.get_mut("content").and_then(Value::as_array_mut);
    for block in texts.into_iter().flatten() {
        let Some(parsed) = block["text"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
            continue;
        };
        block["text"] = if Some(&parsed) == structured.as_ref() { "(the structured content)".into() } else { parsed };
    }
    body
}

/// A cookie with its attributes and without its secret.
fn without_value(cookie: &str) -> String {
    let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
    format!("{}=…;{attributes}", pair.split('=').next().unwrap_or_default())
}
