//! Answers that nobody reads, and reading without end.

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use super::{figure, figure_falls, proof, sent};
use crate::support::{Client, TestHub, each};

const UNREAD: &str = "stoa_answer_memory_bytes";

/// Asks for something on a connection that takes next to nothing of the answer.
async fn ask_and_ignore(hub: &TestHub, client: &Client, path: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(hub.address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{}\r\n", proof(client));
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn answers_that_nobody_reads_are_not_made_without_end() {
    let hub = TestHub::setup().configure(|config| config.answer_memory_mib = 8).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "long"})).await;
    for _ in 0..5 {
        ada.say("long", &"x".repeat(200_000)).await;
    }
    bob.make_channel(json!({"name": "other"})).await;
    bob.say("other", &"y".repeat(200_000)).await;
    let page = "/api/channels/long/messages";
    let mut ignored = Vec::new();
    while figure(&hub, UNREAD).await < 1024.0 * 1024.0 {
        ignored.push(ask_and_ignore(&hub, &ada, page).await);
        assert!(ignored.len() < 50, "nothing counts what is not read");
    }
    // The share is full for ada and all of hers, before it is twice as much as it may be.
    while ada.get(page).may_fail().await.code() == 200 {
        ignored.push(ask_and_ignore(&hub, &scout, page).await);
    }
    assert!(figure(&hub, UNREAD).await <= 2.0 * 1024.0 * 1024.0);
    let refused = ada.get(page).may_fail().await.problem(503, "busy");
    assert!(refused.header("retry-after").is_some());
    scout.get(page).may_fail().await.problem(503, "busy");
    ada.post("/api/messages", &json!({"to": "bob", "body": "hello"})).await.ok();
    assert_eq!(bob.list("/api/channels/other/messages").await.len(), 1);
    // Who reads on is answered again.
    drop(ignored);
    figure_falls(&hub, UNREAD).await;
    ada.get(page).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn a_page_is_as_long_as_its_json_may_be() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "long"})).await;
    // In JSON each of these characters is six.
    let text = "\u{1}".repeat(100_000);
    for _ in 0..4 {
        ada.say("long", &text).await;
        ada.dm("scout", &text).await;
        ada.say("long", "short").await;
    }
    let mut seen = Vec::new();
    let mut before = i64::MAX;
    loop {
        let reply = ada.get(&format!("/api/channels/long/messages?before={before}")).await.ok();
        assert!(reply.text().len() < 1_300_000, "{}", reply.text().len());
        let mut page = crate::support::items(reply);
        let Some(first) = page.first() else { break };
        before = first["id"].as_i64().unwrap();
        page.append(&mut seen);
        seen = page;
    }
    let lengths: Vec<_> = seen.iter().map(|message| message["body"].as_str().unwrap().len()).collect();
    assert_eq!(lengths, [100_000, 5].repeat(4), "{:?}", each(&seen, "id"));
    // A claim takes as many as it can show, and the others stay free.
    let mut claimed = 0;
    for _ in 0..4 {
        let reply = scout.post("/api/inbox/claim", &json!({"limit": 100})).await.ok();
        assert!(reply.text().len() < 1_300_000, "{}", reply.text().len());
        claimed += crate::support::items(reply).len();
    }
    assert_eq!(claimed, 4);
    hub.finish().await;
}

#[tokio::test]
async fn who_reads_without_end_is_slowed_down() {
    let hub = TestHub::setup().configure(|config| config.read_limit_mib = 1).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    ada.dm("scout", &"x".repeat(200_000)).await;
    let read = async |client: &Client| client.get("/api/inbox?full=true").await;
    let mut answered = 0;
    let refused = loop {
        let reply = read(&scout).await;
        if reply.code() != 200 {
            break reply;
        }
        answered += 1;
        assert!(answered < 10, "six of these are a mebibyte");
    };
    assert!(answered >= 5, "{answered}");
    let refused = refused.problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    // It counts for the owner, however they ask, but nobody is kept from writing, or others from reading.
    ada.get("/api/channels").await.problem(429, "rate_limited");
    let (code, _) = scout.tool_refused("read_inbox", json!({})).await;
    assert_eq!(code, "rate_limited");
    scout.dm("ada", "done").await;
    bob.get("/api/channels").await.ok();
    hub.advance(std::time::Duration::from_secs(60));
    read(&scout).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn files_count_as_reads() {
    let hub = TestHub::setup().configure(|config| config.read_limit_mib = 1).start().await;
    let ada = hub.human("ada").await;
    let sha256 = ada.uploaded("a.txt", &[b'a'; 1_100_000]).await;
    let path = format!("/api/attachments/{sha256}");
    ada.call("HEAD", &path).await.ok();
    ada.get(&path).await.ok();
    ada.get(&path).await.problem(429, "rate_limited");
    hub.finish().await;
}

#[tokio::test]
async fn no_limit_is_no_limit() {
    let hub = TestHub::setup().configure(|config| config.read_limit_mib = 0).start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    ada.dm("scout", &"x".repeat(200_000)).await;
    for _ in 0..20 {
        ada.get("/api/dm/scout/messages").await.ok();
    }
    hub.finish().await;
}

/// Reads that are answered, and whose senders owe a body, keep no turn.
#[tokio::test]
async fn a_body_that_never_comes_holds_up_no_read() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let request =
        format!("GET /api/channels HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n{}\r\n", proof(&ada.client));
    let mut held = Vec::new();
    for _ in 0..40 {
        held.push(sent(&hub, request.as_bytes()).await);
    }
    // They would be cut off one after another if these waited for them.
    for _ in 0..40 {
        ada.get("/api/channels").await.ok();
    }
    hub.finish().await;
}
