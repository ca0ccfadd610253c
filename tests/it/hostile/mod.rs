//! One client who asks for too much: others do not notice.

mod answers;
mod bodies;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{Client, Proof, TestHub};

/// A connection on which these bytes were sent, and nothing else is.
async fn sent(hub: &TestHub, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(hub.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// The header with which a client proves who it is.
fn proof(client: &Client) -> String {
    match &client.proof {
        Proof::Cookie(cookie) => format!("cookie: {cookie}\r\n"),
        Proof::Bearer(key) => format!("authorization: Bearer {key}\r\n"),
        _ => String::new(),
    }
}

/// A figure of the hub, as it is now.
async fn figure(hub: &TestHub, name: &str) -> f64 {
    let figures = hub.nobody().get("/metrics").await.ok().text();
    let line = figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap().parse().unwrap()
}

/// Waits until a figure of the hub is so high.
async fn figure_reaches(hub: &TestHub, name: &str, least: f64) {
    while figure(hub, name).await < least {}
}

/// Waits until a figure of the hub is 0.
async fn figure_falls(hub: &TestHub, name: &str) {
    while figure(hub, name).await > 0.0 {}
}
