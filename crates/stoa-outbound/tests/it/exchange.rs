//! One request and its answer.

use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use stoa_outbound::{OutboundError, Request};

use crate::support::{World, header};

const URL: &str = "http://hooks.example/path?query";

#[tokio::test]
async fn a_post_is_sent_as_given() {
    let world = World::new();
    let request = Request::post(URL, r#"{"a":1}"#)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .header(HeaderName::from_static("webhook-id"), HeaderValue::from_static("msg_1"));
    world.http_client().send(request).await.unwrap();
    let heard = world.heard().join("");
    assert!(heard.starts_with("POST /path?query HTTP/1.1\r\n"), "{heard}");
    assert!(heard.ends_with("\r\n\r\n{\"a\":1}"), "{heard}");
    for (name, value) in [
        ("host", "hooks.example"),
        ("content-length", "7"),
        ("content-type", "application/json"),
        ("webhook-id", "msg_1"),
        ("accept-encoding", "identity"),
        ("connection", "close"),
        ("user-agent", "Stoa"),
    ] {
        assert_eq!(header(&heard, name), Some(value), "{name}");
    }
    assert_eq!(header(&heard, "transfer-encoding"), None);
}

#[tokio::test]
async fn an_empty_post_says_that_it_is_empty() {
    let world = World::new();
    world.http_client().send(Request::post(URL, "")).await.unwrap();
    assert_eq!(header(&world.heard().join(""), "content-length"), Some("0"));
}

#[tokio::test]
async fn a_get_has_no_body() {
    let world = World::new();
    world.http_client().send(Request::get(URL)).await.unwrap();
    let heard = world.heard().join("");
    assert!(heard.starts_with("GET /path?query HTTP/1.1\r\n"), "{heard}");
    assert_eq!(header(&heard, "content-length"), None);
}

#[tokio::test]
async fn callers_may_choose_how_they_are_called() {
    let world = World::new();
    let request = Request::get(URL)
        .header(USER_AGENT, HeaderValue::from_static("Hub/2"))
        .header(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))
        .header(AUTHORIZATION, HeaderValue::from_static("vapid t=a, k=b"));
    world.http_client().send(request).await.unwrap();
    let heard = world.heard().join("");
    assert_eq!(header(&heard, "user-agent"), Some("Hub/2"));
    assert_eq!(header(&heard, "accept-encoding"), Some("gzip"));
    assert_eq!(header(&heard, "authorization"), Some("vapid t=a, k=b"));
}

#[tokio::test]
async fn headers_about_the_connection_are_refused() {
    for name in
        ["host", "content-length", "transfer-encoding", "connection", "upgrade", "expect", "proxy-authorization"]
    {
        let world = World::new();
        let name: HeaderName = name.parse().unwrap();
        let request = Request::post(URL, "body").header(name.clone(), HeaderValue::from_static("1"));
        let refused = world.http_client().send(request).await.unwrap_err();
        assert_eq!(refused, OutboundError::ReservedHeader(name));
        assert!(world.asked().is_empty());
        assert!(world.connected().is_empty());
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer() {
    for status in [301, 302, 303, 307, 308] {
        let world = World::new().answering(format!(
            "HTTP/1.1 {status} Elsewhere\r\nlocation: http://169.254.169.254/\r\ncontent-length: 2\r\n\r\nno"
        ));
        let answer = world.http_client().send(Request::get(URL)).await.unwrap();
        assert_eq!(answer.status, status);
        assert_eq!(answer.headers["location"], "http://169.254.169.254/");
        assert_eq!(answer.body, "no");
        assert_eq!(world.asked().len(), 1);
        assert_eq!(world.connected().len(), 1);
    }
}

#[tokio::test]
async fn every_status_is_an_answer() {
    for status in [200, 204, 404, 410, 429, 500, 599] {
        let world =
            World::new().answering(format!("HTTP/1.1 {status} X\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n"));
        let answer = world.http_client().send(Request::post(URL, "x")).await.unwrap();
        assert_eq!(answer.status, status);
        assert_eq!(answer.headers["retry-after"], "7");
        assert!(!answer.is_cut);
    }
}

#[tokio::test]
async fn interim_answers_are_passed_over() {
    let world =
        World::new().answering("HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    let answer = world.http_client().send(Request::get(URL)).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body, "ok");
}

#[tokio::test]
async fn bodies_end_by_length_by_chunks_or_by_closing() {
    for rest in [
        "content-length: 5\r\n\r\nhello",
        "transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nx: y\r\n\r\n",
        "\r\nhello",
    ] {
        let world = World::new().answering(format!("HTTP/1.1 200 OK\r\n{rest}"));
        let answer = world.http_client().send(Request::get(URL)).await.unwrap();
        assert_eq!(answer.body, "hello", "{rest:?}");
        assert!(!answer.is_cut);
    }
}

#[tokio::test]
async fn a_compressed_answer_stays_compressed() {
    // `gzip -n` of nothing.
    let compressed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut answer = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 20\r\n\r\n".to_vec();
    answer.extend(compressed);
    let answer = World::new().answering(answer).http_client().send(Request::get(URL)).await.unwrap();
    assert_eq!(answer.body, &compressed[..]);
    assert_eq!(answer.headers["content-encoding"], "gzip");
}

#[tokio::test]
async fn what_is_not_http_is_broken() {
    for answer in [
        "",
        "220 mail.example ESMTP\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnonsense",
        "-ERR unknown command\r\n",
    ] {
        let world = World::new().answering(answer);
        let broken = world.http_client().send(Request::get(URL)).await.unwrap_err();
        assert_eq!(broken, OutboundError::Broken, "{answer:?}");
        assert_eq!(world.connected().len(), 1, "nothing is sent twice");
    }
}
