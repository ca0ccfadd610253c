//! Headers that revisions of the protocol want beside a message, so that what stands between need not read it.

use axum::http::{HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::message::Message;
use super::tools::Tool;

/// From this revision on, headers say what the message is about.
const WITH_SUBJECT: &str = "2026-07-28";
const BASE64_PREFIX: &str = "=?base64?";
const BASE64_SUFFIX: &str = "?=";

/// `negotiated` is the revision that was agreed on with `initialize`, if there was one; `tool` is the one that is called.
pub(super) fn of_message(
    message: &Message,
    negotiated: Option<&str>,
    tool: Option<&Tool>,
) -> Vec<(HeaderName, HeaderValue)> {
    // At the beginning the two sides are still to agree, also when they do so for the second time.
    if message.method == "initialize" {
        return Vec::new();
    }
    let mut headers = Vec::new();
    let mut add = |name: &str, value: &str| {
        // What cannot be a header is found missing by the hub, which says so.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.push((name, value));
        }
    };
    let Some(version) = message.version.as_deref().or(negotiated) else { return headers };
    add("mcp-protocol-version", version);
    // Revisions are dates, so the later one is the greater text.
    if version < WITH_SUBJECT || message.method.is_empty() {
        return headers;
    }
    add("mcp-method", &message.method);
    if let Some(subject) = message.subject() {
        add("mcp-name", &encoded(&subject));
    }
    let wanted = tool.map(|tool| tool.header_arguments.as_slice()).unwrap_or_default();
    if !wanted.is_empty() {
        let arguments = message.arguments();
        for argument in wanted {
            let given = argument.path.iter().try_fold(&arguments, |value, name| value.get(name));
            if let Some(text) = given.and_then(plain) {
                add(&format!("mcp-param-{}", argument.header), &encoded(&text));
            }
        }
    }
    headers
}

/// A value as a header says it. Lists and objects are none.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// In base64, with a mark that says so, if the text itself cannot be the value of a header.
fn encoded(text: &str) -> String {
    let is_printable = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    let is_trimmed = text.trim_matches([' ', '\t']).len() == text.len();
    let is_marked = text.starts_with(BASE64_PREFIX) && text.ends_with(BASE64_SUFFIX);
    if is_printable && is_trimmed && !is_marked {
        return text.to_owned();
    }
    format!("{BASE64_PREFIX}{}{BASE64_SUFFIX}", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tools::Tools;
    use super::*;

    fn headers(message: &Value, negotiated: Option<&str>) -> Vec<String> {
        let mut tools = Tools::default();
        let properties = json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "place": {"properties": {"zone": {"type": "integer", "x-mcp-header": "Zone"}}},
        });
        tools.learn(&json!({"tools": [{"name": "deploy", "inputSchema": {"properties": properties}}]}).to_string());
        let message = Message::parse(message.to_string().into_bytes()).unwrap();
        let tool = message.subject().and_then(|name| tools.get(&name));
        let headers = of_message(&message, negotiated, tool);
        let mut lines: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        lines.sort();
        lines
    }

    fn call(params: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    }

    #[test]
    fn the_beginning_has_none() {
        let initialize = json!({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}});
        assert!(headers(&initialize, None).is_empty());
        assert!(headers(&initialize, Some("2025-06-18")).is_empty());
        assert!(headers(&json!({"id": 1, "method": "ping"}), None).is_empty());
    }

    #[test]
    fn what_was_agreed_on_holds_until_a_message_says_otherwise() {
        let old = json!({"id": 1, "method": "tools/list"});
        assert_eq!(headers(&old, Some("2025-11-25")), ["mcp-protocol-version: 2025-11-25"]);
        assert_eq!(
            headers(&call(&json!({"name": "deploy"})), Some("2025-06-18")),
            ["mcp-protocol-version: 2025-06-18"]
        );
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let new = json!({"id": 1, "method": "tools/list", "params": {"_meta": meta}});
        let expected = ["mcp-method: tools/list", "mcp-protocol-version: 2026-07-28"];
        assert_eq!(headers(&new, Some("2025-11-25")), expected);
        assert_eq!(headers(&new, None), expected);
        let answer = json!({"id": 1, "result": {}});
        assert_eq!(headers(&answer, Some("2026-07-28")), ["mcp-protocol-version: 2026-07-28"]);
    }

    #[test]
    fn the_subject_is_a_header() {
        let named = |params: Value| {
            let lines = headers(&call(&params), Some("2026-07-28"));
            lines.into_iter().filter(|line| line.starts_with("mcp-name") || line.starts_with("mcp-param")).collect()
        };
        let none: Vec<String> = named(json!({}));
        assert!(none.is_empty());
        let found: Vec<String> = named(json!({"name": "deploy", "arguments": {
            "region": "eu", "place": {"zone": 7}, "zone": 8,
        }}));
        assert_eq!(found, ["mcp-name: deploy", "mcp-param-Region: eu", "mcp-param-Zone: 7"].map(str::to_lowercase));
        let found: Vec<String> = named(json!({"name": "deploy", "arguments": {"region": null, "place": {"zone": []}}}));
        assert_eq!(found, ["mcp-name: deploy"]);
        let read = json!({"id": 1, "method": "resources/read", "params": {"uri": "stoa://channels/é"}});
        assert_eq!(headers(&read, Some("2026-07-28"))[1], "mcp-name: =?base64?c3RvYTovL2NoYW5uZWxzL8Op?=");
    }

    #[test]
    fn what_no_header_can_hold_is_encoded() {
        for plain in ["", "send_message", "a b", "=?base64?", "?="] {
            assert_eq!(encoded(plain), plain);
        }
        for (text, expected) in [
            (" a", "=?base64?IGE=?="),
            ("a\t", "=?base64?YQk=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("é", "=?base64?w6k=?="),
            ("\u{7f}", "=?base64?fw==?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(encoded(text), expected, "{text:?}");
        }
    }
}
