//! Requests that are never finished: all but the end of a body is sent, and the connection is held.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::http::{Request, connect};
use super::scene::Shared;
use crate::real_time::pause;

/// After a refusal the attacker tries again, but does not flood the hub with connections.
const RETRY_AFTER: Duration = Duration::from_secs(1);
const PIECE_BYTES: usize = 64 * 1024;

/// How a body is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// All but the last byte at once.
    AllButOne,
    /// Half at once, then a byte every second.
    Drip,
    /// All but the end, in chunks, without announcing the length.
    Chunked,
}

/// A body that is too long to be kept for each connection: how it begins, and what it is filled up with.
#[derive(Clone)]
pub(super) struct LongBody {
    beginning: Arc<[u8]>,
    filler: Arc<[u8]>,
    bytes: usize,
}

impl LongBody {
    pub(super) fn new(beginning: &str, filler: u8, bytes: usize) -> Self {
        Self { beginning: beginning.as_bytes().into(), filler: vec![filler; PIECE_BYTES].into(), bytes }
    }

    /// The next piece to send after `sent` bytes.
    fn piece(&self, sent: usize, until: usize) -> &[u8] {
        let piece = self.beginning.get(sent..).filter(|piece| !piece.is_empty()).unwrap_or(&self.filler);
        &piece[..piece.len().min(until.saturating_sub(sent))]
    }
}

/// Holds a request back, again and again, for as long as the task lives.
pub(super) async fn hold_back(scene: Shared, from: Ipv4Addr, request: Request, body: LongBody, pace: Pace) {
    loop {
        let outcome = match connect(from, scene.hub, true).await {
            Ok(stream) => hold_once(&scene, stream, &request, &body, pace).await,
            Err(error) => error,
        };
        scene.hear(&outcome);
        if !scene.is_hub_alive() {
            return;
        }
        pause(RETRY_AFTER).await;
    }
}

/// Returns only when the hub answers or hangs up, with its answer.
async fn hold_once(scene: &Shared, stream: TcpStream, request: &Request, body: &LongBody, pace: Pace) -> String {
    let (mut reader, mut writer) = stream.into_split();
    let sending = async {
        let length = (pace != Pace::Chunked).then_some(body.bytes as u64);
        let head = request.head(scene.hub, length);
        writer.write_all(&head).await?;
        scene.add_sent(head.len());
        let until = if pace == Pace::Drip { body.bytes / 2 } else { body.bytes - 1 };
        let mut sent = 0;
        while sent < until {
            let piece = body.piece(sent, until);
            if pace == Pace::Chunked {
                writer.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
            }
            writer.write_all(piece).await?;
            if pace == Pace::Chunked {
                writer.write_all(b"\r\n").await?;
            }
            scene.add_sent(piece.len());
            sent += piece.len();
        }
        if pace == Pace::Drip {
            loop {
                pause(Duration::from_secs(1)).await;
                writer.write_all(b"a").await?;
                scene.add_sent(1);
            }
        }
        std::future::pending::<Result<(), std::io::Error>>().await
    };
    let mut answer = vec![0; 1024];
    tokio::select! {
        // What the hub says counts more than the connection's end.
        biased;
        read = reader.read(&mut answer) => match read {
            Ok(0) => "closed".to_owned(),
            Ok(read) => status_of(&answer[..read]),
            Err(error) => error.kind().to_string(),
        },
        sent = sending => sent.err().map_or_else(String::new, |error| error.kind().to_string()),
    }
}

fn status_of(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    let status = text.split(' ').nth(1).unwrap_or("unreadable").to_owned();
    let code = text.split_once("\"code\":\"").and_then(|(_, rest)| rest.split('"').next());
    code.map_or(status.clone(), |code| format!("{status} {code}"))
}

/// Asks for something long and reads nothing of it.
pub(super) async fn never_read(scene: Shared, from: Ipv4Addr, request: Request) {
    loop {
        let asked = async {
            let mut stream = connect(from, scene.hub, false).await?;
            let head = request.head(scene.hub, Some(0));
            stream.write_all(&head).await.map_err(|error| error.kind().to_string())?;
            scene.add_sent(head.len());
            Ok::<_, String>(stream)
        };
        match asked.await {
            // Until the task is dropped: an attacker does not look whether the hub has hung up.
            Ok(_stream) => std::future::pending().await,
            Err(error) => scene.hear(&error),
        }
        if !scene.is_hub_alive() {
            return;
        }
        pause(RETRY_AFTER).await;
    }
}
