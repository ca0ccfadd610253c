//! Bodies that are read to their end even when nobody wants them.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};

/// What is read in vain at most.
const MAX_DRAINED_BYTES: usize = 16 * 1024 * 1024;
const MAX_DRAINED_TIME: Duration = Duration::from_secs(10);

/// A request's body. A refusal may be given before it is read, and closing the connection while the
/// caller still sends would make them see a broken connection instead of the reason.
pub(super) struct Drained(Option<Incoming>);

impl Drained {
    pub(super) fn new(body: Incoming) -> Self {
        Self(Some(body))
    }
}

impl Body for Drained {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.0 {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        let unread = self.0.take().filter(|body| !body.is_end_stream());
        if let (Some(body), Ok(runtime)) = (unread, tokio::runtime::Handle::try_current()) {
            runtime.spawn(tokio::time::timeout(MAX_DRAINED_TIME, drain(body)));
        }
    }
}

async fn drain(mut body: Incoming) {
    let mut drained = 0;
    while let Some(Ok(frame)) = body.frame().await {
        drained += frame.data_ref().map_or(0, Bytes::len);
        if drained > MAX_DRAINED_BYTES {
            return;
        }
    }
}
