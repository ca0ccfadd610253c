//! Reads JSON from outside, with the same validation errors for every surface.

mod banned;

use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use crate::error::HubError;

pub(crate) use banned::{Banned, RESERVED_SAID, extent, has_nul, refuse_banned};

/// The content type without its parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next().unwrap_or("").trim().to_ascii_lowercase())
}

pub(crate) fn is_json_type(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json")
}

/// How many bytes a text takes in JSON.
pub(crate) fn text_length(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    });
    escaped.sum::<usize>() + 2
}

/// Parses JSON into a request, with the fault's field named if it is one of content.
pub(crate) fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, HubError> {
    refuse_banned(bytes).map_err(|Banned(said)| HubError::invalid_field("", said))?;
    // Every request is an object. Otherwise a list of the fields' values would do for one.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
        && serde_json::from_slice::<serde_json::Value>(bytes).is_ok()
    {
        return Err(HubError::invalid_field("", "must be an object"));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        // The kind of the error does not tell: the parser stops at the first fault of content, and it
        // calls it a fault of syntax when it meets a number where a word should be.
        if let Err(error) = serde_json::from_slice::<serde_json::Value>(bytes) {
            return HubError::malformed(format!("The body is not JSON: {error}."));
        }
        match inner.classify() {
            serde_json::error::Category::Data => content_fault(&path, &inner.to_string()),
            _ => content_fault(&path, "it is of the wrong type"),
        }
    })?;
    deserializer.end().map_err(|error| HubError::malformed(format!("The body is not JSON: {error}.")))?;
    Ok(value)
}

/// Parses JSON of any shape.
pub(crate) fn parse_json_value(bytes: &[u8]) -> Result<serde_json::Value, HubError> {
    refuse_banned(bytes).map_err(|Banned(said)| HubError::invalid_field("", said))?;
    serde_json::from_slice(bytes).map_err(|error| HubError::malformed(format!("The body is not JSON: {error}.")))
}

/// Makes a request of JSON that was parsed already, with the fault's field named.
pub(crate) fn from_json_value<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, HubError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        content_fault(&path, &error.into_inner().to_string())
    })
}

/// Turns serde's message into a field and what is wrong with it.
pub(crate) fn content_fault(path: &str, message: &str) -> HubError {
    let message = message.split(" at line ").next().unwrap_or(message);
    let parent = if path == "." { "" } else { path };
    for (prefix, said) in [
        ("unknown field `", "Unknown field"),
        ("missing field `", "Missing field"),
        ("duplicate field `", "Duplicate field"),
    ] {
        if let Some(name) = message.strip_prefix(prefix).and_then(|rest| rest.split('`').next()) {
            // The path of an unknown field ends with the field itself, that of a missing one does not.
            let field = match parent {
                "" => name.to_owned(),
                parent if parent == name || parent.ends_with(&format!(".{name}")) => parent.to_owned(),
                parent => format!("{parent}.{name}"),
            };
            return HubError::invalid_field(&field, format!("{said} `{field}`"));
        }
    }
    HubError::invalid_field(parent, in_plain_words(message))
}

/// serde speaks to those who write Rust; callers write JSON.
fn in_plain_words(message: &str) -> String {
    if let Some((_, words)) = message.strip_prefix("unknown variant ").and_then(|rest| rest.split_once("expected ")) {
        let words = words.trim_start_matches("one of ").replace('`', "");
        return format!("must be one of {words}");
    }
    let is_type_fault =
        ["invalid type", "invalid value", "invalid length", "invalid digit", "cannot parse", "number too"]
            .iter()
            .any(|start| message.starts_with(start));
    if !is_type_fault {
        return format!("is invalid: {message}");
    }
    let wanted = message.rsplit_once("expected ").map_or("", |(_, wanted)| wanted);
    let wanted = match wanted {
        "a string" | "string" => "a string",
        "a boolean" | "bool" => "true or false",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        wanted if wanted.starts_with("struct ") => "an object",
        wanted if wanted.contains("enum ") || wanted.contains("variant") => "one of the allowed values",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0 within range",
        _ => "a whole number",
    };
    format!("must be {wanted}")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed")]
    struct Outer {
        name: String,
        inner: Option<Inner>,
        word: Option<Word>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        Known,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed")]
    struct Inner {
        count: u32,
    }

    #[test]
    fn faults_name_their_field() {
        let cases = [
            (r#"{"name":1}"#, "name"),
            (r#"{}"#, "name"),
            (r#"{"name":"x","nmae":1}"#, "nmae"),
            (r#"{"name":"x","inner":{}}"#, "inner.count"),
            (r#"{"name":"x","inner":{"count":-1}}"#, "inner.count"),
            (r#"{"name":"x","inner":{"count":1,"y":2}}"#, "inner.y"),
            (r#"{"name":"x","name":"y"}"#, "name"),
            (r#"{"name":"a\u0000b"}"#, ""),
            (r#"[]"#, ""),
            (r#"{"name":"x","word":"other"}"#, "word"),
            (r#"{"name":"x","word":7}"#, "word"),
            (r#"{"name":"x","word":[1]}"#, "word"),
        ];
        for (body, field) in cases {
            let error = parse_json::<Outer>(body.as_bytes()).unwrap_err();
            assert_eq!((error.code, error.errors[0].field.as_str()), ("validation_failed", field), "{body}");
        }
        assert!(parse_json::<Outer>(br#"{"name":"a\\u0000b"}"#).is_ok());
    }

    #[test]
    fn what_is_not_json_is_malformed() {
        let deep = "[".repeat(100_000);
        for body in ["", "{", "{}x", "nul", "\u{feff}{}", r#"{"name":"\ud800"}"#, &deep] {
            assert_eq!(parse_json::<Outer>(body.as_bytes()).unwrap_err().code, "malformed_request", "{body:.20}");
        }
        assert_eq!(parse_json::<Outer>(b"{\"name\":\"\xff\"}").unwrap_err().code, "malformed_request");
    }
}
