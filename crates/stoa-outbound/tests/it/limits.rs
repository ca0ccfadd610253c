//! Servers that are silent, slow, endless or too talkative. Time is paused: it passes when nobody has anything to do.

use std::time::Duration;

use stoa_outbound::{Client, Limits, OutboundError, Request, Stage};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::support::{World, http_policy, read_request};

const URL: &str = "http://hooks.example/";
const LIMITS: Limits =
    Limits { connect_timeout: Duration::from_secs(5), total_timeout: Duration::from_secs(15), max_answer_bytes: 1000 };

fn client(world: &World) -> Client {
    world.client(http_policy(), LIMITS)
}

/// Gives up after exactly so many seconds.
async fn give_up(world: &World, stage: Stage, seconds: u64) {
    let before = Instant::now();
    let error = client(world).send(Request::get(URL)).await.unwrap_err();
    let after = Duration::from_secs(seconds);
    assert_eq!(error, OutboundError::TimedOut { stage, after });
    assert!(error.to_string().ends_with(&format!(" within {seconds} seconds.")), "{error}");
    let waited = before.elapsed();
    assert!(waited >= after && waited < after + Duration::from_millis(100), "{waited:?}");
}

#[expect(clippy::disallowed_methods, reason = "time is paused here")]
async fn pause() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_be_connected_to() {
    give_up(&World::new().dead(crate::support::PUBLIC, None), Stage::Connecting, 5).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_the_request_and_says_nothing() {
    let world = World::new().served_by(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    });
    give_up(&world, Stage::Answering, 15).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_a_letter_a_second() {
    for begin in ["HTTP/1.1 200 OK\r\nx: ", "HTTP/1.1 200 OK\r\n\r\n"] {
        let world = World::new().served_by(move |mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(begin.as_bytes()).await.unwrap();
            while stream.write_all(b"x").await.is_ok() {
                pause().await;
            }
        });
        give_up(&world, Stage::Answering, 15).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_saying_wait() {
    let world = World::new().served_by(|mut stream| async move {
        read_request(&mut stream).await;
        while stream.write_all(b"HTTP/1.1 102 Processing\r\n\r\n").await.is_ok() {
            pause().await;
        }
    });
    give_up(&world, Stage::Answering, 15).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_the_request() {
    let world = World::new().served_by(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    });
    let before = Instant::now();
    let error = client(&world).send(Request::post(URL, vec![0; 1_000_000])).await.unwrap_err();
    assert_eq!(error.code(), "timed_out");
    assert_eq!(before.elapsed().as_secs(), 15);
}

/// Answers stop at the limit, and the server notices that nobody listens any more.
#[tokio::test(start_paused = true)]
async fn an_endless_answer_is_cut() {
    let (stopped, mut has_stopped) = mpsc::unbounded_channel();
    let world = World::new().served_by(move |mut stream| {
        let stopped = stopped.clone();
        async move {
            read_request(&mut stream).await;
            let mut written = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            let mut bytes = 0;
            while written.is_ok() {
                written = stream.write_all(&[b'x'; 300]).await;
                bytes += 300;
            }
            stopped.send(bytes).unwrap();
        }
    });
    let answer = client(&world).send(Request::get(URL)).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body, vec![b'x'; 1000]);
    assert!(answer.is_cut);
    let bytes = has_stopped.recv().await.unwrap();
    assert!(bytes < 200_000, "{bytes} bytes were taken");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_cut_only_beyond_the_limit() {
    for (length, is_cut) in [(0, false), (999, false), (1000, false), (1001, true), (100_000, true)] {
        let body = "x".repeat(length);
        let by_length = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
        let by_chunk = match length {
            0 => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(),
            _ => format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"),
        };
        for answer in [by_length, by_chunk] {
            let world = World::new().answering(answer);
            let answer = client(&world).send(Request::get(URL)).await.unwrap();
            assert_eq!(answer.is_cut, is_cut, "{length}");
            assert_eq!(answer.body.len(), length.min(1000));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_claimed_terabytes_costs_nothing() {
    let world = World::new().answering(format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{}",
        1_u64 << 50,
        "x".repeat(2000)
    ));
    let answer = client(&world).send(Request::get(URL)).await.unwrap();
    assert!(answer.is_cut);
    assert_eq!(answer.body.len(), 1000);
}

#[tokio::test(start_paused = true)]
async fn a_head_without_end_is_broken() {
    for line in ["x: y\r\n".to_owned(), "x".repeat(300)] {
        let world = World::new().served_by(move |mut stream| {
            let line = line.clone();
            async move {
                read_request(&mut stream).await;
                let mut written = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
                while written.is_ok() {
                    written = stream.write_all(line.as_bytes()).await;
                }
            }
        });
        assert_eq!(client(&world).send(Request::get(URL)).await.unwrap_err(), OutboundError::Broken);
    }
}

#[tokio::test(start_paused = true)]
async fn clones_may_have_other_limits() {
    let world = World::new().answering("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
    let short = client(&world).with_limits(Limits { max_answer_bytes: 2, ..LIMITS });
    let answer = short.send(Request::get(URL)).await.unwrap();
    assert_eq!(answer.body, "he");
    assert!(answer.is_cut);
    assert_eq!(client(&world).send(Request::get(URL)).await.unwrap().body, "hello");
}
