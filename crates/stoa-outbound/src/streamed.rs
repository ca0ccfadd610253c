//! An answer that is read while it comes, for as long as it comes.

use std::error::Error as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::{OutboundError, Pending, Stage, Stream};

/// What the server began to answer, whatever its status. The connection ends when this is dropped.
pub struct Streamed {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: StreamedBody,
}

/// The body of an answer, piece by piece.
pub struct StreamedBody {
    incoming: Incoming,
    driving: Driving,
    silence: Duration,
    // The connection would take its end for the wish to close.
    _sender: SendRequest<Full<Bytes>>,
}

/// Moves bytes for as long as it is polled. It never ends, as how the connection ended is told to whoever reads.
type Driving = Pending<'static, std::convert::Infallible>;

impl Streamed {
    /// Asks on a connection that was just made.
    pub(crate) async fn ask(
        mut sender: SendRequest<Full<Bytes>>,
        connection: Connection<TokioIo<Watched>, Full<Bytes>>,
        message: http::Request<Full<Bytes>>,
        silence: Duration,
    ) -> Result<Self, OutboundError> {
        let mut driving: Driving = Box::pin(async {
            let _ = connection.await;
            std::future::pending().await
        });
        let answer = tokio::select! {
            biased;
            answer = sender.send_request(message) => answer,
            never = &mut driving => match never {},
        };
        let (head, incoming) = answer.map_err(|error| fault_of(&error, silence))?.into_parts();
        let body = StreamedBody { incoming, driving, silence, _sender: sender };
        Ok(Self { status: head.status, headers: head.headers, body })
    }
}

impl StreamedBody {
    /// The next bytes, as soon as there are some; none once the body is whole. What did not come before the caller stopped
    /// waiting is not lost.
    pub async fn next(&mut self) -> Result<Option<Bytes>, OutboundError> {
        loop {
            let frame = tokio::select! {
                biased;
                frame = self.incoming.frame() => frame,
                never = &mut self.driving => match never {},
            };
            let Some(frame) = frame else { return Ok(None) };
            // Trailers are not data and nobody asks for them.
            let data = frame.map_err(|error| fault_of(&error, self.silence))?.into_data();
            if let Some(data) = data.ok().filter(|data| !data.is_empty()) {
                return Ok(Some(data));
            }
        }
    }
}

fn fault_of(error: &hyper::Error, after: Duration) -> OutboundError {
    tracing::debug!(%error, "an outbound request broke off");
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    match cause.map(io::Error::kind) {
        Some(io::ErrorKind::TimedOut) => OutboundError::TimedOut { stage: Stage::Listening, after },
        _ => OutboundError::Broken,
    }
}

/// A stream that fails when no byte moves in either direction for too long. Sending counts too: a long message on a slow
/// line is not silence.
pub(crate) struct Watched {
    stream: Box<dyn Stream>,
    silence: Duration,
    end: Pin<Box<Sleep>>,
}

impl Watched {
    pub(crate) fn new(stream: Box<dyn Stream>, silence: Duration) -> Self {
        let end = Box::pin(tokio::time::sleep_until(Instant::now() + silence));
        Self { stream, silence, end }
    }

    /// Starts the silence anew, as something has moved.
    fn moved<T>(&mut self, outcome: io::Result<T>) -> Poll<io::Result<T>> {
        self.end.as_mut().reset(Instant::now() + self.silence);
        Poll::Ready(outcome)
    }

    fn still<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        ready!(self.end.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(outcome) => self.moved(outcome),
            Poll::Pending => self.still(context),
        }
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(outcome) => self.moved(outcome),
            Poll::Pending => self.still(context),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
