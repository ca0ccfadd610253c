//! The operator's side: JSON-RPC over the admin socket.

use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

#[derive(Clone)]
pub(crate) struct Operator {
    pub(crate) socket: PathBuf,
}

impl Operator {
    /// Calls a method: its result, or `error.data.code`.
    pub(crate) async fn try_call(&self, method: &str, params: &Value) -> Result<Value, String> {
        let mut stream = UnixStream::connect(&self.socket).await.unwrap();
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        stream.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).await.unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        match answer.get("error") {
            Some(error) => Err(error["data"]["code"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()),
            None => Ok(answer["result"].clone()),
        }
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        self.try_call(method, &params).await.unwrap_or_else(|code| panic!("{method}: {code}"))
    }
}
