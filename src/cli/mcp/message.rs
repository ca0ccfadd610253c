//! Messages of JSON-RPC, as far as whoever carries them has to know what is in them. They can be long, so nothing is built of
//! them that is not asked for.

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A message of the client, as it came and as it goes.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) text: Bytes,
    /// None: nobody waits for an answer.
    pub(super) id: Option<Id>,
    /// Empty for an answer to the server.
    pub(super) method: String,
    /// The revision of the protocol that the message itself says it is of.
    pub(super) version: Option<String>,
}

/// What an answer belongs to: a text or a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Id(String);

impl Id {
    /// None when it is neither a text nor a number.
    fn of(raw: &RawValue) -> Option<Self> {
        match serde_json::from_str(raw.get()).ok()? {
            // Written anew, so that two ways to write the same are the same.
            id @ (Value::String(_) | Value::Number(_)) => Some(Self(id.to_string())),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Also what is null is there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "taskId")]
    task_id: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestId")]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
}

/// A line that is no message: what to answer.
#[derive(Debug)]
pub(super) struct NoMessage {
    pub(super) id: Option<Id>,
    pub(super) code: i64,
    pub(super) said: String,
}

impl NoMessage {
    pub(super) fn invalid(id: Option<Id>, said: &str) -> Self {
        Self { id, code: -32600, said: said.to_owned() }
    }
}

impl Message {
    pub(super) fn parse(line: Vec<u8>) -> Result<Self, NoMessage> {
        let no_json = |fault: &dyn std::fmt::Display| {
            let said = format!("The line is not a message in JSON: {fault}.");
            NoMessage { id: None, code: -32700, said }
        };
        let text = std::str::from_utf8(&line).map_err(|error| no_json(&error))?;
        serde_json::from_str::<&RawValue>(text).map_err(|error| no_json(&error))?;
        if text.trim_start().starts_with('[') {
            return Err(NoMessage::invalid(None, "Batches are not supported. Send one message at a time."));
        }
        let envelope =
            envelope(text).ok_or_else(|| NoMessage::invalid(None, "Not a JSON-RPC 2.0 message. Check its fields."))?;
        let id = envelope.id.map(Id::of);
        if id == Some(None) {
            return Err(NoMessage::invalid(None, "The id of a message must be a text or a number."));
        }
        let id = id.flatten();
        let is_answer = envelope.result.is_some() || envelope.error.is_some();
        let meta = params_of(&envelope).meta.and_then(|meta| serde_json::from_str::<Meta>(meta.get()).ok());
        let version = meta.and_then(|meta| meta.version);
        let (id, method) = match envelope.method {
            Some(method) => (id, method),
            None if is_answer => (None, String::new()),
            None => return Err(NoMessage::invalid(id, "The message has neither a method nor a result.")),
        };
        Ok(Self { text: Bytes::from(line), id, method, version })
    }

    fn with_params<T>(&self, look: impl FnOnce(&Params<'_>) -> Option<T>) -> Option<T> {
        let text = std::str::from_utf8(&self.text).ok()?;
        look(&params_of(&envelope(text)?))
    }

    /// What the message is about: the name of a tool or prompt, the address of a resource, the id of a task.
    pub(super) fn subject(&self) -> Option<String> {
        self.with_params(|params| {
            let subject = match self.method.as_str() {
                "tools/call" | "prompts/get" => params.name,
                "resources/read" | "resources/subscribe" | "resources/unsubscribe" => params.uri,
                "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id,
                _ => None,
            };
            serde_json::from_str(subject?.get()).ok()
        })
    }

    /// Which request is not wanted any more.
    pub(super) fn cancelled(&self) -> Option<Id> {
        if self.method != "notifications/cancelled" {
            return None;
        }
        self.with_params(|params| Id::of(params.request_id?))
    }

    /// What a tool is called with.
    pub(super) fn arguments(&self) -> Value {
        self.with_params(|params| serde_json::from_str(params.arguments?.get()).ok()).unwrap_or_default()
    }
}

fn envelope(text: &str) -> Option<Envelope<'_>> {
    // A list would be taken for the fields in their order.
    if !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Params that are no object have nothing in them that matters here.
fn params_of<'a>(envelope: &Envelope<'a>) -> Params<'a> {
    let params = envelope.params.map(RawValue::get).filter(|params| params.starts_with('{'));
    params.and_then(|params| serde_json::from_str(params).ok()).unwrap_or_default()
}

/// A message of the server.
pub(super) struct ServerMessage<'a> {
    pub(super) kind: ServerMessageKind<'a>,
    text: &'a str,
}

pub(super) enum ServerMessageKind<'a> {
    /// A notification, or a request to the client.
    News,
    Result {
        id: Option<Id>,
        result: &'a str,
    },
    Error {
        id: Option<Id>,
        error: &'a str,
    },
}

impl<'a> ServerMessage<'a> {
    /// None when it is no message of JSON-RPC.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim();
        let envelope = envelope(text)?;
        if envelope.jsonrpc?.get() != r#""2.0""# {
            return None;
        }
        let id = envelope.id.and_then(Id::of);
        let kind = match (envelope.method, envelope.result, envelope.error) {
            (Some(_), ..) => ServerMessageKind::News,
            (None, Some(result), None) => ServerMessageKind::Result { id, result: result.get() },
            (None, None, Some(error)) => ServerMessageKind::Error { id, error: error.get() },
            _ => return None,
        };
        Some(Self { kind, text })
    }

    /// The message on one line. JSON has no line breaks but between its parts.
    pub(super) fn to_line(&self) -> String {
        self.text.replace(['\n', '\r'], " ")
    }
}

/// An error as an answer. Without an id it is for a message that could not be read.
pub(super) fn error_line(id: Option<&Id>, error: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.map(Id::to_value), "error": error}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(value: &Value) -> Message {
        Message::parse(value.to_string().into_bytes()).unwrap()
    }

    fn refused(line: &str) -> (Option<Id>, i64) {
        let no_message = Message::parse(line.as_bytes().to_vec()).unwrap_err();
        assert!(no_message.said.ends_with('.'), "{}", no_message.said);
        (no_message.id, no_message.code)
    }

    #[test]
    fn requests_notifications_and_answers_are_told_apart() {
        let request = message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        assert_eq!((request.id, request.method.as_str()), (Some(Id("1".to_owned())), "ping"));
        let request = message(&json!({"jsonrpc": "2.0", "id": "a\"b", "method": "ping", "params": [1]}));
        assert_eq!(request.id.unwrap().to_value(), json!("a\"b"));
        assert!(message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).id.is_none());
        let answer = message(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
        assert_eq!((answer.id, answer.method.as_str()), (None, ""));
        assert!(message(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}})).id.is_none());
    }

    #[test]
    fn what_is_no_message_is_told_what_is_wrong() {
        for line in ["nonsense", "{\"jsonrpc\": ", "{} {}", "{\"a\":1}x"] {
            assert_eq!(refused(line), (None, -32700), "{line}");
        }
        assert_eq!(Message::parse(vec![b'"', 0xff, b'"']).unwrap_err().code, -32700);
        for line in ["1", "null", "\"text\"", "[]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "{}"] {
            assert_eq!(refused(line), (None, -32600), "{line}");
        }
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), (None, -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#), (None, -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7,"method":7}"#), (None, -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7}"#), (Some(Id("7".to_owned())), -32600));
    }

    #[test]
    fn what_a_message_is_about() {
        let about = |method: &str, params: Value| {
            message(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).subject()
        };
        assert_eq!(about("tools/call", json!({"name": "send_message", "uri": "x"})).unwrap(), "send_message");
        assert_eq!(about("prompts/get", json!({"name": "a\nb"})).unwrap(), "a\nb");
        assert_eq!(about("resources/read", json!({"name": "x", "uri": "stoa://inbox"})).unwrap(), "stoa://inbox");
        assert_eq!(about("tasks/get", json!({"taskId": "t1"})).unwrap(), "t1");
        for (method, params) in [
            ("tools/call", json!({"uri": "x"})),
            ("tools/call", json!({"name": 1})),
            ("tools/call", json!(["send_message"])),
            ("tools/list", json!({"name": "x"})),
        ] {
            assert_eq!(about(method, params), None, "{method}");
        }
    }

    #[test]
    fn a_cancellation_names_its_request() {
        let cancelled = |params: Value| {
            message(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).cancelled()
        };
        assert_eq!(cancelled(json!({"requestId": 7, "reason": "no"})), Some(Id("7".to_owned())));
        assert_eq!(cancelled(json!({"requestId": "7"})), Some(Id("\"7\"".to_owned())));
        assert_eq!(cancelled(json!({})), None);
        assert!(message(&json!({"method": "other", "params": {"requestId": 7}})).cancelled().is_none());
    }

    #[test]
    fn the_revision_is_that_of_the_message() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "other": {}});
        let request = message(&json!({"id": 1, "method": "ping", "params": {"_meta": meta}}));
        assert_eq!(request.version.as_deref(), Some("2026-07-28"));
        for meta in [json!({}), json!(null), json!({"io.modelcontextprotocol/protocolVersion": 1})] {
            assert_eq!(message(&json!({"id": 1, "method": "ping", "params": {"_meta": meta}})).version, None);
        }
    }

    #[test]
    fn what_the_server_says_becomes_one_line() {
        let said = ServerMessage::parse(b"{\r\n \"jsonrpc\": \"2.0\",\n \"id\": 1, \"result\": {\"a\": \"x\\ny\"}}\n")
            .unwrap();
        assert!(matches!(&said.kind, ServerMessageKind::Result { id: Some(_), result: "{\"a\": \"x\\ny\"}" }));
        let line = said.to_line();
        assert!(!line.contains(['\n', '\r']));
        assert_eq!(
            serde_json::from_str::<Value>(&line).unwrap(),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"a": "x\ny"}})
        );
        let error =
            ServerMessage::parse(br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#).unwrap();
        assert!(matches!(error.kind, ServerMessageKind::Error { id: None, .. }));
        let news = ServerMessage::parse(br#"{"jsonrpc":"2.0","method":"notifications/message"}"#).unwrap();
        assert!(matches!(news.kind, ServerMessageKind::News));
        for other in ["<html>", "[]", "{}", r#"{"error":"invalid_token"}"#, r#"{"jsonrpc":"2.0","id":1}"#, "1"] {
            assert!(ServerMessage::parse(other.as_bytes()).is_none(), "{other}");
        }
    }
}
