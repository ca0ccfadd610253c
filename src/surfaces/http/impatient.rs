//! A connection that does not wait for ever for its other end to read.
//!
//! Whoever asks for much, or for a stream, and then reads nothing would hold a connection and its
//! buffers for as long as they like.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Bytes that are read at once. The HTTP library doubles a connection's buffer whenever a read fills it, up to the length that headers may
/// have; one byte less than the buffer it begins with leaves it as small as that.
const MAX_READ: usize = 8 * 1024 - 1;

/// Fails a write that makes no progress for too long, in real time.
pub(super) struct Impatient<S> {
    stream: S,
    patience: Duration,
    /// Runs while a write waits. Most connections never need one.
    running_out: Option<Pin<Box<Sleep>>>,
    is_stalled: Arc<Stall>,
}

/// Whether a connection's writes are waiting for its other end.
#[derive(Default)]
pub(super) struct Stall(AtomicBool);

impl Stall {
    pub(super) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<S> Impatient<S> {
    pub(super) fn new(stream: S, patience: Duration, is_stalled: Arc<Stall>) -> Self {
        Self { stream, patience, running_out: None, is_stalled }
    }

    /// Passes on what a write came to, or an error if it has waited for too long.
    fn watch<T>(&mut self, context: &mut Context<'_>, polled: Poll<Result<T>>) -> Poll<Result<T>> {
        if polled.is_ready() {
            if self.running_out.take().is_some() {
                self.is_stalled.0.store(false, Ordering::Relaxed);
            }
            return polled;
        }
        self.is_stalled.0.store(true, Ordering::Relaxed);
        let patience = self.patience;
        #[expect(clippy::disallowed_methods, reason = "waits for the world outside, which knows no manual clock")]
        let running_out = self.running_out.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(running_out.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let most = into.remaining().min(MAX_READ);
        let mut piece = ReadBuf::new(into.initialize_unfilled_to(most));
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut piece))?;
        let read = piece.filled().len();
        into.advance(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn a_reader_who_never_reads_ends_the_write() {
        runtime().block_on(async {
            let (near, _far) = duplex(16);
            let stall = Arc::new(Stall::default());
            let mut near = Impatient::new(near, Duration::from_millis(20), stall.clone());
            near.write_all(&[0; 16]).await.unwrap();
            assert!(!stall.is_on());
            let error = near.write_all(&[0; 16]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            assert!(stall.is_on());
        });
    }

    #[test]
    fn a_reader_who_takes_a_little_now_and_then_is_waited_for() {
        runtime().block_on(async {
            let (near, mut far) = duplex(16);
            let stall = Arc::new(Stall::default());
            // Each wait is short, all of them together are not.
            let mut near = Impatient::new(near, Duration::from_millis(400), stall.clone());
            let writing = tokio::spawn(async move { near.write_all(&[7; 16 * 12]).await });
            let mut read = Vec::new();
            for _ in 0..12 {
                #[expect(clippy::disallowed_methods, reason = "a reader who is slow in real time")]
                tokio::time::sleep(Duration::from_millis(50)).await;
                let mut some = [0; 16];
                far.read_exact(&mut some).await.unwrap();
                read.extend(some);
            }
            writing.await.unwrap().unwrap();
            assert_eq!(read, [7; 16 * 12]);
            assert!(!stall.is_on());
        });
    }

    #[test]
    fn what_is_read_passes_through() {
        runtime().block_on(async {
            let (near, mut far) = duplex(16);
            let mut near = Impatient::new(near, Duration::from_millis(20), Arc::default());
            far.write_all(b"hello").await.unwrap();
            let mut read = [0; 5];
            near.read_exact(&mut read).await.unwrap();
            assert_eq!(&read, b"hello");
        });
    }
}
