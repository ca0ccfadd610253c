//! An MCP client that does what the protocol says and nothing more.

use serde_json::{Value, json};

use super::{Call, Client, Reply};

pub(crate) const LATEST: &str = "2026-07-28";
const ACCEPT: &str = "application/json, text/event-stream";

/// What each request of the newest revision says about itself.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

impl Client {
    /// A message to `/mcp`, as a client of the older revisions would send it.
    pub(crate) fn mcp(&self, method: &str, params: Value) -> Call {
        self.mcp_at("/mcp", &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    pub(crate) fn mcp_at(&self, path: &str, message: &Value) -> Call {
        self.post(path, message).header("accept", ACCEPT)
    }

    /// The same in the newest revision.
    pub(crate) fn mcp_latest(&self, method: &str, mut params: Value) -> Call {
        params["_meta"] = meta();
        let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
        let mut call = self.mcp(method, params).header("mcp-protocol-version", LATEST).header("mcp-method", method);
        if let Some(name) = name {
            call = call.header("mcp-name", name);
        }
        call
    }

    /// What a tool answers, if it does.
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Value {
        self.mcp("tools/call", json!({"name": name, "arguments": arguments})).await.tool_answer()
    }

    /// The code with which a tool refuses.
    pub(crate) async fn tool_refused(&self, name: &str, arguments: Value) -> (String, String) {
        let reply = self.mcp("tools/call", json!({"name": name, "arguments": arguments})).await;
        let result = reply.rpc_result();
        assert_eq!(result["isError"], true, "{name}: {result}");
        let code = result["_meta"]["stoa/error"]["code"].as_str().unwrap().to_owned();
        (code, result["content"][0]["text"].as_str().unwrap().to_owned())
    }

    pub(crate) async fn tool_names(&self, path: &str) -> Vec<String> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let result = self.mcp_at(path, &message).await.rpc_result();
        result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Reply {
    #[track_caller]
    pub(crate) fn rpc_result(&self) -> Value {
        assert_eq!(self.code(), 200, "{self:?}");
        let answer = self.json();
        assert!(answer["error"].is_null() && answer["jsonrpc"] == "2.0", "{self:?}");
        answer["result"].clone()
    }

    #[track_caller]
    pub(crate) fn rpc_error(&self, code: i64) -> String {
        let answer = self.json();
        assert_eq!(answer["error"]["code"], code, "{self:?}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    }

    /// The structured answer of a tool, which its text repeats.
    #[track_caller]
    pub(crate) fn tool_answer(&self) -> Value {
        let result = self.rpc_result();
        assert_eq!(result["isError"], false, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let structured = result["structuredContent"].clone();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured, "{result}");
        structured
    }
}

/// Messages that come one after the other, as events of a stream.
pub(crate) struct Messages {
    answer: reqwest::Response,
    buffer: String,
}

impl Messages {
    pub(crate) fn new(answer: reqwest::Response) -> Self {
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self { answer, buffer: String::new() }
    }

    /// The next message; a test that waits for long waits for what will not come.
    pub(crate) async fn next(&mut self) -> Value {
        loop {
            if let Some((frame, rest)) = self.buffer.split_once("\n\n") {
                let data = frame.lines().find_map(|line| line.strip_prefix("data:")).map(str::trim).map(str::to_owned);
                self.buffer = rest.to_owned();
                if let Some(data) = data.filter(|data| !data.is_empty()) {
                    return serde_json::from_str(&data).unwrap();
                }
                continue;
            }
            let chunk = tokio::time::timeout(std::time::Duration::from_secs(20), self.answer.chunk()).await;
            let chunk = chunk.expect("nothing came").unwrap().expect("the stream ended");
            self.buffer.push_str(&String::from_utf8_lossy(&chunk));
        }
    }
}
