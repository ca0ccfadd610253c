//! CloudEvents 1.0 in JSON: what an event must have to be taken in.

use serde_json::{Map, Value};

use crate::Timestamp;
use crate::text::is_unprintable;
use crate::validation::{Faults, FieldError};

pub const SPEC_VERSION: &str = "1.0";
/// Of ids and types, in bytes.
pub const MAX_TYPE: usize = 255;
const MAX_SUBJECT_BYTES: usize = 1024;
const MAX_NAME: usize = 64;

/// An event whose attributes are in order.
#[derive(Debug, Clone, PartialEq)]
pub struct CloudEvent {
    pub id: String,
    pub event_type: String,
    /// All attributes and the data, as they came. Attributes that are null count as left out.
    pub fields: Map<String, Value>,
}

impl CloudEvent {
    /// The event, or everything that is wrong with it. `source` is the only one that it may come from.
    pub fn from_value(value: Value, source: &str) -> Result<Self, Vec<FieldError>> {
        let mut faults = Faults::default();
        let Value::Object(mut fields) = value else {
            faults.add("", "must be an object");
            return Err(faults.finish().err().unwrap_or_default());
        };
        fields.retain(|name, value| !value.is_null() || name == "data");
        let id = required_text(&mut faults, &fields, "id");
        let event_type = required_text(&mut faults, &fields, "type");
        match text(&fields, "specversion") {
            Some(SPEC_VERSION) => {}
            Some(_) => faults.add("specversion", "must be 1.0"),
            None => faults.add("specversion", missing_or_wrong(&fields, "specversion")),
        }
        match text(&fields, "source") {
            Some(given) if given == source => {}
            Some(_) => faults.add("source", format!("must be the principal that sends it, {source}")),
            None => faults.add("source", missing_or_wrong(&fields, "source")),
        }
        if fields.contains_key("subject") {
            let fits = |subject: &str| !subject.is_empty() && subject.len() <= MAX_SUBJECT_BYTES;
            let is_good = text(&fields, "subject").is_some_and(fits);
            faults.require("subject", is_good, "must be a string of 1 to 1024 bytes");
        }
        if fields.contains_key("time") {
            let is_moment = |time: &str| time.len() > 10 && time.parse::<Timestamp>().is_ok();
            let is_good = text(&fields, "time").is_some_and(is_moment);
            faults.require("time", is_good, "must be a time such as 2026-01-31T09:30:00Z");
        }
        for name in ["datacontenttype", "dataschema"] {
            let is_good = !fields.contains_key(name) || text(&fields, name).is_some_and(|value| !value.is_empty());
            faults.require(name, is_good, "must be a non-empty string");
        }
        if fields.contains_key("data_base64") {
            faults.require("data_base64", text(&fields, "data_base64").is_some_and(is_base64), "must be base64");
            faults.require("data_base64", !fields.contains_key("data"), "cannot be combined with `data`");
        }
        for (name, value) in &fields {
            check_extension(&mut faults, name, value);
        }
        faults.finish()?;
        Ok(Self { id: id.unwrap_or_default(), event_type: event_type.unwrap_or_default(), fields })
    }
}

/// Attributes of whoever made the event, which the standard allows for.
fn check_extension(faults: &mut Faults, name: &str, value: &Value) {
    const KNOWN: [&str; 10] = [
        "specversion",
        "id",
        "source",
        "type",
        "subject",
        "time",
        "datacontenttype",
        "dataschema",
        "data",
        "data_base64",
    ];
    if KNOWN.contains(&name) {
        return;
    }
    let is_name = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let shown: String = name.chars().filter(|character| !is_unprintable(*character)).take(MAX_NAME).collect();
    faults.require(&shown, is_name, "is not a valid attribute name: use a-z and 0-9, at most 64 characters");
    let is_simple = match value {
        Value::Number(number) => number.is_i64(),
        Value::String(_) | Value::Bool(_) => true,
        _ => false,
    };
    faults.require(&shown, is_simple, "must be a string, a whole number or a boolean; put other values into `data`");
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

fn missing_or_wrong(fields: &Map<String, Value>, name: &str) -> &'static str {
    if fields.contains_key(name) { "must be a string" } else { "is required" }
}

fn required_text(faults: &mut Faults, fields: &Map<String, Value>, name: &str) -> Option<String> {
    match text(fields, name) {
        Some(value) if !value.is_empty() && value.len() <= MAX_TYPE && !value.chars().any(char::is_control) => {
            Some(value.to_owned())
        }
        Some(_) => {
            faults.add(name, "must be 1 to 255 bytes long and have no control characters");
            None
        }
        None => {
            faults.add(name, missing_or_wrong(fields, name));
            None
        }
    }
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SOURCE: &str = "svc:sense:demo";

    fn event() -> Value {
        json!({"specversion": "1.0", "id": "e1", "source": SOURCE, "type": "svc.demo.ping"})
    }

    #[test]
    fn what_the_standard_allows_is_taken() {
        let mut full = event();
        full["subject"] = json!("disk");
        full["time"] = json!("2027-01-15T08:00:00.123Z");
        full["datacontenttype"] = json!("application/json");
        full["dataschema"] = json!("https://example.com/schema");
        full["traceparent"] = json!("00-…");
        full["sampledrate"] = json!(30);
        full["comexampleflag"] = json!(true);
        full["left"] = json!(null);
        full["data"] = json!({"any": ["thing", null, 1.5]});
        let taken = CloudEvent::from_value(full, SOURCE).unwrap();
        assert_eq!((taken.id.as_str(), taken.event_type.as_str()), ("e1", "svc.demo.ping"));
        assert!(!taken.fields.contains_key("left") && taken.fields.contains_key("data"));
        let mut binary = event();
        binary["data_base64"] = json!("AAEC");
        assert!(CloudEvent::from_value(binary, SOURCE).is_ok());
    }

    #[test]
    fn each_fault_names_its_attribute() {
        let cases = [
            ("specversion", json!("0.3")),
            ("specversion", json!(1.0)),
            ("specversion", json!(null)),
            ("id", json!("")),
            ("id", json!(7)),
            ("id", json!("x".repeat(256))),
            ("id", json!("a\nb")),
            ("source", json!("svc:sense:other")),
            ("source", json!(null)),
            ("type", json!([])),
            ("type", json!("")),
            ("subject", json!("")),
            ("subject", json!({})),
            ("time", json!("yesterday")),
            ("time", json!("2027-01-15")),
            ("dataschema", json!("")),
            ("data_base64", json!("…")),
            ("Upper", json!("x")),
            ("with_underscore", json!("x")),
            ("nested", json!({"a": 1})),
            ("fraction", json!(1.5)),
        ];
        for (name, value) in cases {
            let mut broken = event();
            broken[name] = value.clone();
            let faults = CloudEvent::from_value(broken, SOURCE).unwrap_err();
            assert!(faults.iter().any(|fault| fault.field == name), "{name} {value}: {faults:?}");
        }
        for value in [json!(7), json!([]), json!("text"), json!(null)] {
            assert!(CloudEvent::from_value(value, SOURCE).is_err());
        }
        assert_eq!(CloudEvent::from_value(json!({}), SOURCE).unwrap_err().len(), 4);
    }
}
