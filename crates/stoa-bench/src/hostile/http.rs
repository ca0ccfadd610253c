//! HTTP over bare connections, from addresses of choice. Every request opens its own connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A request that is sent whole.
#[derive(Clone)]
pub(super) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub(super) fn post(path: impl Into<String>, body: &Value) -> Self {
        Self::post_bytes(path, body.to_string().into_bytes())
    }

    pub(super) fn post_bytes(path: impl Into<String>, body: Vec<u8>) -> Self {
        let request = Self { method: "POST", path: path.into(), headers: Vec::new(), body };
        request.header("content-type", "application/json")
    }

    pub(super) fn patch(path: impl Into<String>, body: &Value) -> Self {
        Self { method: "PATCH", ..Self::post(path, body) }
    }

    /// A form whose fields are sent later.
    pub(super) fn form(path: impl Into<String>, content_type: &str) -> Self {
        let request = Self { method: "POST", path: path.into(), headers: Vec::new(), body: Vec::new() };
        request.header("content-type", content_type)
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub(super) fn cookies(self, cookies: &[String]) -> Self {
        if cookies.is_empty() { self } else { self.header("cookie", &cookies.join("; ")) }
    }

    /// What MCP wants to see in each request.
    pub(super) fn mcp(self) -> Self {
        self.header("accept", "application/json, text/event-stream").header("mcp-protocol-version", "2025-11-25")
    }

    /// The lines before the body, for a body of `length` bytes, or of a length that is not announced.
    pub(super) fn head(&self, host: SocketAddr, length: Option<u64>) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &match length {
            Some(length) => format!("content-length: {length}\r\n\r\n"),
            None => "transfer-encoding: chunked\r\n\r\n".to_owned(),
        };
        head.into_bytes()
    }
}

pub(super) struct Answer {
    pub(super) status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").ok_or("the answer is cut off")?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("the answer is not HTTP")?;
        let rest = &bytes[end + 4..];
        let is_chunked = head.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked");
        let body = if is_chunked { join_chunks(rest) } else { rest.to_vec() };
        Ok(Self { status, head, body })
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The status, and the code of a problem.
    pub(super) fn verdict(&self) -> String {
        match self.json()["code"].as_str() {
            Some(code) => format!("{} {code}", self.status),
            None => self.status.to_string(),
        }
    }

    /// The cookies that it sets, as `name=value`.
    pub(super) fn cookies(&self) -> Vec<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let set = lines.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        set.filter_map(|(_, cookie)| cookie.split(';').next()).map(str::to_owned).collect()
    }
}

fn join_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&rest[..end]), 16).unwrap_or(0);
        let Some(chunk) = rest.get(end + 2..end + 2 + size).filter(|chunk| !chunk.is_empty()) else { break };
        body.extend_from_slice(chunk);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    body
}

/// Connects from an address of this machine. A client that does not want to read has a small buffer.
pub(super) async fn connect(from: Ipv4Addr, to: SocketAddr, reads: bool) -> Result<TcpStream, String> {
    let connect = async {
        let socket = TcpSocket::new_v4()?;
        if !reads {
            socket.set_recv_buffer_size(2048)?;
        }
        socket.bind(SocketAddr::from((from, 0)))?;
        let stream = socket.connect(to).await?;
        stream.set_nodelay(true)?;
        Ok::<_, std::io::Error>(stream)
    };
    connect.await.map_err(|error| format!("no connection: {}", error.kind()))
}

/// Sends a request on a connection of its own and reads the whole answer. What was sent is added to `sent`.
pub(super) async fn ask(from: Ipv4Addr, to: SocketAddr, request: &Request, sent: &AtomicU64) -> Result<Answer, String> {
    let mut stream = connect(from, to, true).await?;
    let mut bytes = request.head(to, Some(request.body.len() as u64));
    bytes.extend_from_slice(&request.body);
    let written = stream.write_all(&bytes).await;
    sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    drop(bytes);
    // A hub that refuses a long body may answer before it has read all of it, so the answer counts more than the error.
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer).await;
    match Answer::parse(&answer) {
        Ok(answer) => Ok(answer),
        Err(reason) => {
            let error = written.err().or(read.err()).map(|error| error.kind().to_string());
            Err(error.unwrap_or(reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole_and_in_chunks() {
        let plain = b"HTTP/1.1 503 Busy\r\nset-cookie: a=b; Path=/\r\nSet-Cookie: c=d\r\n\r\n{\"code\":\"busy\"}";
        let answer = Answer::parse(plain).unwrap();
        assert_eq!(answer.verdict(), "503 busy");
        assert_eq!(answer.cookies(), ["a=b", "c=d"]);
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n";
        assert_eq!(Answer::parse(chunked).unwrap().json()["a"], 1);
        assert!(Answer::parse(b"HTTP/1.1 200").is_err());
    }
}
