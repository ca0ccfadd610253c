//! What a program says about its work: `result.json`, or else what it printed.

use serde_json::Value;
use stoa_model::runs::{MAX_COST_USD, MAX_TOKENS};

/// Deeper JSON is not looked at.
const MAX_DEPTH: usize = 32;
const MAX_SESSION_ID: usize = 128;

/// What `result.json` says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ProgramResult {
    pub(super) response: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) tokens_in: Option<i64>,
    pub(super) tokens_out: Option<i64>,
    pub(super) tokens_cached: Option<i64>,
    pub(super) cost_usd: Option<f64>,
}

/// Reads a result. Figures that cannot be are left out, and so is a session id that is no plain word: it becomes an argument of a command.
pub(super) fn parse(bytes: &[u8]) -> Result<ProgramResult, &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
    if depth_of(text) > MAX_DEPTH {
        return Err("is nested too deeply");
    }
    let value: Value = serde_json::from_str(text).map_err(|_| "is not JSON")?;
    let Value::Object(fields) = value else { return Err("is not a JSON object") };
    let response = match fields.get("response") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => return Err("has a response that is not text"),
    };
    let tokens =
        |name: &str| fields.get(name).and_then(Value::as_i64).filter(|tokens| (0..=MAX_TOKENS).contains(tokens));
    let session_id = fields.get("session_id").and_then(Value::as_str).filter(|id| is_session_id(id));
    let cost = fields.get("cost_usd").and_then(Value::as_f64).filter(|cost| (0.0..=MAX_COST_USD).contains(cost));
    Ok(ProgramResult {
        response,
        session_id: session_id.map(str::to_owned),
        tokens_in: tokens("tokens_in"),
        tokens_out: tokens("tokens_out"),
        tokens_cached: tokens("tokens_cached"),
        cost_usd: cost,
    })
}

pub(super) fn is_session_id(id: &str) -> bool {
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (1..=MAX_SESSION_ID).contains(&id.len()) && is_plain && !id.starts_with('-')
}

/// How many brackets are open at once, at most.
fn depth_of(text: &str) -> usize {
    let (mut open, mut deepest, mut is_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' if !is_string => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read() {
        let text = br#"{"response": "Done.", "session_id": "5f0c-91d2", "tokens_in": 700, "tokens_out": 55,
            "tokens_cached": 3, "cost_usd": 0.21, "more": [1]}"#;
        let expected = ProgramResult {
            response: Some("Done.".to_owned()),
            session_id: Some("5f0c-91d2".to_owned()),
            tokens_in: Some(700),
            tokens_out: Some(55),
            tokens_cached: Some(3),
            cost_usd: Some(0.21),
        };
        assert_eq!(parse(text), Ok(expected));
        assert_eq!(parse(b"{}"), Ok(ProgramResult::default()));
    }

    #[test]
    fn figures_that_cannot_be_are_left_out() {
        for text in [
            r#"{"cost_usd": -5, "tokens_in": -1}"#,
            r#"{"cost_usd": 1e308, "tokens_in": 1e30}"#,
            r#"{"cost_usd": "0", "tokens_in": "7"}"#,
            r#"{"session_id": "--yolo"}"#,
            r#"{"session_id": "a b"}"#,
            r#"{"session_id": ""}"#,
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(ProgramResult::default()), "{text}");
        }
    }

    #[test]
    fn what_is_no_result_is_refused() {
        for text in ["", "[]", "7", "{", r#"{"response": 7}"#, r#"{"cost_usd": NaN}"#] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(parse(&[0xff]), Err("is not UTF-8"));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(parse(format!("{{\"a\": {deep}}}").as_bytes()), Err("is nested too deeply"));
        assert!(parse(br#"{"response": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}"#).is_ok());
    }
}
