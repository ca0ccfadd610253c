//! The real resolver and real sockets, on loopback.

use std::net::SocketAddr;
use std::process::Command;

use stoa_outbound::{Client, ConnectFault, Limits, OutboundError, Policy, Request, SystemResolver};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::support::{header, read_request};

fn loopback_policy() -> Policy {
    Policy {
        allow_http: true,
        allow: vec!["127.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()],
        ..Policy::default()
    }
}

/// Answers one request, and says what it was.
async fn serve_once(listener: TcpListener) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let request = read_request(&mut stream).await;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
    request
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Also run by `proxies_of_the_environment_are_not_asked`, in a process that has some.
#[tokio::test]
async fn a_request_arrives_where_the_url_says() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(serve_once(listener));
    let client = Client::new(loopback_policy(), Limits::default()).unwrap();
    let answer = client.send(Request::post(format!("http://{address}/path"), "body")).await.unwrap();
    assert_eq!(answer.body, "ok");
    let heard = server.await.unwrap();
    assert!(heard.starts_with("POST /path HTTP/1.1\r\n"), "a proxy would be told the whole URL: {heard}");
    assert_eq!(header(&heard, "host"), Some(address.to_string().as_str()));
}

#[test]
fn proxies_of_the_environment_are_not_asked() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "sockets::a_request_arrives_where_the_url_says"]);
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
        // Nobody listens there.
        child.env(name, "http://127.0.0.1:1").env(name.to_uppercase(), "http://127.0.0.1:1");
    }
    let output = child.env("no_proxy", "").env("NO_PROXY", "").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn localhost_is_resolved_and_refused() {
    let (listener, address) = listen().await;
    let client = Client::new(Policy { allow_http: true, ..Policy::default() }, Limits::default()).unwrap();
    for host in ["localhost", "LOCALHOST"] {
        let request = Request::get(format!("http://{host}:{}/", address.port()));
        assert_eq!(client.send(request).await.unwrap_err(), OutboundError::ForbiddenAddress, "{host}");
    }
    // What is waiting to be accepted would be there at once.
    listener.into_std().unwrap().accept().unwrap_err();
}

#[tokio::test]
async fn a_closed_port_refuses() {
    let (listener, address) = listen().await;
    drop(listener);
    let client = Client::new(loopback_policy(), Limits::default()).unwrap();
    let refused = client.send(Request::get(format!("http://{address}/"))).await.unwrap_err();
    assert_eq!(refused, OutboundError::ConnectFailed(ConnectFault::Refused));
}

#[tokio::test]
async fn the_system_knows_localhost() {
    use stoa_outbound::Resolver;
    let found = SystemResolver::default().resolve("localhost").await.unwrap();
    assert!(!found.is_empty() && found.iter().all(|address| address.is_loopback()), "{found:?}");
}
