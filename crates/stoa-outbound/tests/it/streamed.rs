//! Answers that are read as they come. Time is paused: it passes when nobody has anything to do.

use std::time::Duration;

use stoa_outbound::{ConnectFault, Limits, OutboundError, Policy, Request, Stage, Streamed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::support::{PUBLIC, World, header, read_request};

const URL: &str = "http://hooks.example/";
const SILENCE: Duration = Duration::from_secs(60);
const SILENT: OutboundError = OutboundError::TimedOut { stage: Stage::Listening, after: SILENCE };

async fn open(world: &World) -> Result<Streamed, OutboundError> {
    world.http_client().open(Request::post(URL, "body"), SILENCE).await
}

#[expect(clippy::disallowed_methods, reason = "time is paused here")]
async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}

#[tokio::test(start_paused = true)]
async fn pieces_arrive_when_they_are_sent() {
    let (say, said) = mpsc::unbounded_channel::<&str>();
    let said = std::sync::Arc::new(tokio::sync::Mutex::new(said));
    let world = World::new();
    let hearing = world.clone();
    let world = world.served_by(move |mut stream| {
        let (said, hearing) = (said.clone(), hearing.clone());
        async move {
            hearing.hear(&mut stream).await;
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            stream.write_all(head).await.unwrap();
            while let Some(piece) = said.lock().await.recv().await {
                stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes()).await.unwrap();
            }
            stream.write_all(b"0\r\nx: y\r\n\r\n").await.unwrap();
        }
    });
    let mut answer = open(&world).await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.headers["content-type"]), (200, &"text/event-stream".parse().unwrap()));
    assert!(world.heard().join("").ends_with("\r\n\r\nbody"));
    for piece in ["one", "two", "three"] {
        // Somebody who looked too early has lost nothing.
        tokio::time::timeout(Duration::from_secs(1), answer.body.next()).await.unwrap_err();
        say.send(piece).unwrap();
        assert_eq!(answer.body.next().await.unwrap().unwrap(), piece);
    }
    drop(say);
    assert_eq!(answer.body.next().await.unwrap(), None);
    assert_eq!(answer.body.next().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_take_longer_than_any_limit() {
    let world = World::new().served_by(|mut stream| async move {
        read_request(&mut stream).await;
        pause(Duration::from_secs(50)).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n").await.unwrap();
        for _ in 0..100 {
            pause(Duration::from_secs(50)).await;
            stream.write_all(b"x").await.unwrap();
        }
    });
    let limits = Limits { max_answer_bytes: 10, ..Limits::default() };
    let client = world.client(crate::support::http_policy(), limits);
    let mut answer = client.open(Request::get(URL), SILENCE).await.unwrap();
    let mut bytes = 0;
    while let Some(piece) = answer.body.next().await.unwrap() {
        bytes += piece.len();
    }
    assert_eq!(bytes, 100);
}

#[tokio::test(start_paused = true)]
async fn silence_ends_it() {
    for said in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n"] {
        let world = World::new().served_by(move |mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(said.as_bytes()).await.unwrap();
            std::future::pending::<()>().await;
        });
        let before = Instant::now();
        let error = match open(&world).await {
            Ok(mut answer) => {
                assert_eq!(answer.body.next().await.unwrap().unwrap(), "x");
                answer.body.next().await.unwrap_err()
            }
            Err(error) => error,
        };
        assert_eq!(error, SILENT, "{said:?}");
        assert_eq!(error.to_string(), "The server sent nothing within 60 seconds.");
        assert!(!error.is_before_sending());
        assert_eq!(before.elapsed().as_secs(), 60);
    }
}

/// A long message on a slow line.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_still_being_read_is_not_silence() {
    let world = World::new().served_by(|mut stream| async move {
        // The last of it is on its way already.
        for _ in 0..36 {
            pause(Duration::from_secs(50)).await;
            stream.read_exact(&mut [0; 1000]).await.unwrap();
        }
        stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    });
    let before = Instant::now();
    let answer = world.http_client().open(Request::post(URL, vec![b'x'; 40_000]), SILENCE).await.unwrap();
    assert_eq!(answer.status, 202);
    assert!(before.elapsed() > 10 * SILENCE);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_off_is_broken() {
    for answer in [
        "",
        "220 mail.example ESMTP\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ] {
        let world = World::new().answering(answer);
        let error = match open(&world).await {
            Ok(mut answer) => {
                assert_eq!(answer.body.next().await.unwrap().unwrap(), "half");
                answer.body.next().await.unwrap_err()
            }
            Err(error) => error,
        };
        assert_eq!(error, OutboundError::Broken, "{answer:?}");
        assert!(!error.is_before_sending());
        assert_eq!(world.connected().len(), 1, "nothing is sent twice");
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_notices_when_nobody_listens_any_more() {
    let (stopped, mut has_stopped) = mpsc::unbounded_channel();
    let world = World::new().served_by(move |mut stream| {
        let stopped = stopped.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            assert_eq!(stream.read(&mut [0; 10]).await.unwrap(), 0);
            stopped.send(()).unwrap();
        }
    });
    drop(open(&world).await.unwrap());
    has_stopped.recv().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_read_slowly_is_not_taken_in() {
    let (written, mut was_written) = mpsc::unbounded_channel();
    let world = World::new().served_by(move |mut stream| {
        let written = written.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            while stream.write_all(&[b'x'; 1000]).await.is_ok() {
                let _ = written.send(1000);
            }
        }
    });
    let mut answer = open(&world).await.unwrap();
    answer.body.next().await.unwrap();
    pause(Duration::from_secs(10)).await;
    let mut bytes = 0;
    while let Ok(more) = was_written.try_recv() {
        bytes += more;
    }
    assert!(bytes < 200_000, "{bytes} bytes were taken");
}

#[tokio::test(start_paused = true)]
async fn the_same_is_checked_as_for_whole_answers() {
    let opened = async |world: &World, policy: Policy, request: Request| {
        world.client(policy, Limits::default()).open(request, SILENCE).await.err().unwrap()
    };
    let http = crate::support::http_policy;

    let world = World::new().forget_answers().resolving(&["10.0.0.1"]);
    assert_eq!(opened(&world, http(), Request::get(URL)).await, OutboundError::ForbiddenAddress);
    let refused = opened(&world, Policy::default(), Request::get(URL)).await;
    assert_eq!(refused, OutboundError::ForbiddenScheme { allowed: "https://" });
    let refused = opened(&world, Policy::default(), Request::get("https://127.0.0.1/")).await;
    assert_eq!(refused, OutboundError::ForbiddenAddress);
    let request = Request::get(URL).header("host".parse().unwrap(), "elsewhere".parse().unwrap());
    assert_eq!(opened(&world, http(), request).await.code(), "reserved_header");
    assert!(world.connected().is_empty());

    let world = World::new().with_peer_address("10.0.0.1:80");
    assert_eq!(opened(&world, http(), Request::get(URL)).await, OutboundError::ForbiddenAddress);
    assert!(world.heard().is_empty());

    let world = World::new().dead(PUBLIC, None);
    let refused = opened(&world, http(), Request::get(URL)).await;
    assert_eq!(refused, OutboundError::TimedOut { stage: Stage::Connecting, after: Duration::from_secs(5) });
    assert!(refused.is_before_sending());

    let world = World::new().dead(PUBLIC, Some(std::io::ErrorKind::ConnectionRefused));
    let refused = opened(&world, http(), Request::get(URL)).await;
    assert_eq!(refused, OutboundError::ConnectFailed(ConnectFault::Refused));
    assert!(refused.is_before_sending());

    let world = World::new();
    let redirect = "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n";
    let world = world.answering(redirect);
    let answer = open(&world).await.unwrap();
    assert_eq!(answer.status, 302);
    assert_eq!(world.connected().len(), 1);
    assert_eq!(header(&world.heard().join(""), "connection"), Some("close"));
}
