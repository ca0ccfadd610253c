//! Why a message was not answered, in sentences for whoever set the bridge up.

use axum::http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use stoa_model::credentials::recognise;
use stoa_outbound::{OutboundError, TlsFault};

/// JSON-RPC leaves this number to servers. What it was in particular is in the data.
const CODE: i64 = -32000;
/// Of what the hub said, so much is repeated.
const MAX_REPEATED: usize = 500;

#[derive(Debug)]
pub(super) struct Fault {
    pub(super) said: String,
    code: &'static str,
    status: Option<u16>,
    retry_after: Option<u64>,
    pub(super) repeat: Repeat,
}

/// Whether it helps to send the message again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    Never,
    /// Perhaps, if it does no harm that it was done already.
    IfHarmless,
    /// The same, but there is little hope.
    IfHarmlessAndNotOften,
    /// The hub has not seen it.
    Always,
}

impl Fault {
    fn new(code: &'static str, repeat: Repeat, said: String) -> Self {
        Self { said, code, status: None, retry_after: None, repeat }
    }

    pub(super) fn of_call(url: &str, error: &OutboundError) -> Self {
        let (code, repeat, said) = match error {
            OutboundError::ConnectFailed(_) | OutboundError::Unresolvable | OutboundError::TimedOut { .. }
                if error.is_before_sending() =>
            {
                let said =
                    format!("The hub at {url} cannot be reached. Is it running, and is STOA_MCP_URL right? {error}");
                ("unreachable", Repeat::Always, said)
            }
            OutboundError::Broken | OutboundError::TimedOut { .. } => {
                ("broken", Repeat::IfHarmless, format!("The connection to the hub at {url} broke."))
            }
            OutboundError::NoRoots | OutboundError::Tls(TlsFault::UnknownIssuer) => {
                let said = format!(
                    "The certificate of the hub at {url} comes from an authority that this machine does not trust. \
                     Install the authority's certificate (the package ca-certificates has the usual ones), or name a \
                     file with it in SSL_CERT_FILE."
                );
                ("tls", Repeat::Never, said)
            }
            _ => (error.code(), Repeat::Never, format!("The hub at {url} cannot be called. {error}")),
        };
        Self::new(code, repeat, said)
    }

    /// An answer that is none.
    pub(super) fn no_answer(url: &str) -> Self {
        let said = format!("The response of {url} is not MCP. Is STOA_MCP_URL the address of a Stoa hub?");
        Self::new("no_hub", Repeat::Never, said)
    }

    /// The hub stopped in the middle of an answer.
    pub(super) fn cut_short(url: &str) -> Self {
        Self::of_call(url, &OutboundError::Broken)
    }

    pub(super) fn too_long(url: &str, max_bytes: usize) -> Self {
        let said = format!("The response of {url} is longer than {} MiB. Ask for less.", max_bytes >> 20);
        Self::new("too_long", Repeat::Never, said)
    }

    pub(super) fn of_status(url: &str, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let details = details_of(body);
        let retry_after = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let again = retry_after.map_or("later".to_owned(), |seconds: u64| format!("in {seconds} seconds"));
        let number = status.as_u16();
        let (code, repeat, said) = match number {
            401 => (
                "unauthenticated",
                Repeat::Never,
                format!(
                    "The hub at {url} does not accept the key.{details} Set STOA_MCP_KEY (or the file of --key-file) to the \
                     key of an agent; `stoa admin agents rotate-key` on the server creates a new one."
                ),
            ),
            403 => {
                ("forbidden", Repeat::Never, format!("The hub at {url} does not allow this with this key.{details}"))
            }
            404 | 405 => (
                "no_hub",
                Repeat::Never,
                format!(
                    "No MCP at {url} (status {number}). Is STOA_MCP_URL the address of a Stoa hub, such as \
                     http://127.0.0.1:8080/mcp?"
                ),
            ),
            413 => (
                "too_large",
                Repeat::Never,
                format!("The message is too long for the hub.{details} Send less at once."),
            ),
            429 => {
                ("rate_limited", Repeat::Never, format!("This agent sent too many messages.{details} Retry {again}."))
            }
            300..=399 => {
                let place = headers.get(header::LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
                let said =
                    format!("{url} redirects to {}. If that is the hub, set STOA_MCP_URL to its address.", cut(place));
                ("redirected", Repeat::Never, said)
            }
            500 => (
                "hub_failed",
                Repeat::IfHarmlessAndNotOften,
                format!("The hub at {url} failed.{details} Retry; see its log for details."),
            ),
            501..=599 => (
                "unavailable",
                Repeat::IfHarmless,
                format!("The hub at {url} is not available (status {number}).{details} Retry {again}."),
            ),
            _ => ("refused", Repeat::Never, format!("The hub refused the message (status {number}).{details}")),
        };
        Self { status: Some(number), retry_after, ..Self::new(code, repeat, said) }
    }

    /// Says that nobody knows whether it was done.
    pub(super) fn with_doubt(mut self) -> Self {
        if matches!(self.repeat, Repeat::IfHarmless | Repeat::IfHarmlessAndNotOften) {
            self.said.push_str(" The call may or may not have been carried out: check before you repeat it.");
        }
        self
    }

    /// The error of an answer.
    pub(super) fn to_error(&self) -> Value {
        let mut data = json!({"code": self.code});
        if let Some(status) = self.status {
            data["status"] = status.into();
        }
        if let Some(seconds) = self.retry_after {
            data["retry_after_seconds"] = seconds.into();
        }
        json!({"code": CODE, "message": self.said, "data": data})
    }
}

/// What the hub itself says of it, with a space before, or nothing.
fn details_of(body: &[u8]) -> String {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    match problem["detail"].as_str() {
        Some(detail) => format!(" {}", cut(&without_keys(detail))),
        None => String::new(),
    }
}

/// A server that is no hub may say again what it was sent, and what is said here is read by a model.
fn without_keys(text: &str) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = text.split(|character| !is_part(character)).filter(|word| recognise(word).is_some());
    words.fold(text.to_owned(), |text, key| text.replace(key, "(key)"))
}

fn cut(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(MAX_REPEATED).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use stoa_outbound::{ConnectFault, Stage};

    use super::*;

    const URL: &str = "http://127.0.0.1:8080/mcp";

    fn of_status(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Fault {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        Fault::of_status(URL, StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes())
    }

    #[test]
    fn every_status_says_what_to_do() {
        let problem = r#"{"detail": "The key is not\u001b known.", "hint": "no"}"#;
        for (status, code, words) in [
            (401, "unauthenticated", &["STOA_MCP_KEY", " The key is not known. Set"][..]),
            (403, "forbidden", &["does not allow", "The key is not known."]),
            (404, "no_hub", &[URL, "STOA_MCP_URL"]),
            (405, "no_hub", &["STOA_MCP_URL"]),
            (413, "too_large", &["too long", "Send less"]),
            (429, "rate_limited", &["Retry in 7 seconds."]),
            (308, "redirected", &["https://hub.example/", "STOA_MCP_URL"]),
            (500, "hub_failed", &["failed", "log"]),
            (503, "unavailable", &["503", "in 7 seconds"]),
            (400, "refused", &["400", "The key is not known."]),
        ] {
            let fault = of_status(status, &[("retry-after", "7"), ("location", "https://hub.example/")], problem);
            let error = fault.to_error();
            assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32000), &json!(code)));
            assert_eq!((&error["data"]["status"], &error["data"]["retry_after_seconds"]), (&json!(status), &json!(7)));
            for word in words {
                assert!(fault.said.contains(word), "{word:?}: {}", fault.said);
            }
        }
        let key = stoa_model::credentials::CredentialKind::AgentKey.render([7; 32]);
        let echo = of_status(401, &[], &json!({"detail": format!("Bad header: Bearer {key}.")}).to_string());
        assert!(echo.said.contains("Bearer (key).") && !echo.said.contains(&key), "{}", echo.said);
        let fault = of_status(429, &[], "<html>");
        assert_eq!(fault.said, "This agent sent too many messages. Retry later.");
        assert!(fault.to_error()["data"].get("retry_after_seconds").is_none());
        assert!(of_status(400, &[], &json!({"detail": "x".repeat(5000)}).to_string()).said.len() < 600);
    }

    #[test]
    fn only_what_the_hub_has_not_seen_is_always_repeated() {
        let after = Duration::from_secs(5);
        for (error, repeat) in [
            (OutboundError::ConnectFailed(ConnectFault::Refused), Repeat::Always),
            (OutboundError::Unresolvable, Repeat::Always),
            (OutboundError::TimedOut { stage: Stage::Connecting, after }, Repeat::Always),
            (OutboundError::TimedOut { stage: Stage::Listening, after }, Repeat::IfHarmless),
            (OutboundError::Broken, Repeat::IfHarmless),
            (OutboundError::Tls(TlsFault::WrongName), Repeat::Never),
            (OutboundError::NoRoots, Repeat::Never),
        ] {
            let fault = Fault::of_call(URL, &error);
            assert_eq!(fault.repeat, repeat, "{error}");
            assert!(fault.said.contains(URL), "{}", fault.said);
            assert_eq!(fault.with_doubt().said.contains("may or may not"), repeat == Repeat::IfHarmless);
        }
        assert_eq!(of_status(500, &[], "").repeat, Repeat::IfHarmlessAndNotOften);
        assert_eq!(of_status(503, &[], "").repeat, Repeat::IfHarmless);
        assert_eq!(of_status(429, &[], "").repeat, Repeat::Never);
    }
}
