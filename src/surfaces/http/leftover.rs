//! Reading what a refused request is still sending.
//!
//! A client that is cut off in the middle of its body may never learn why: the connection is reset,
//! and its own system throws away the answer that it has not read yet. So the answer is sent at once, and the rest is read beside it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::deadline::Progress;
use crate::hub::{Hub, pause};

/// Who sends more than this after a refusal is cut off after all.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);
/// The same for files: one that is a little too long shall be told so, to clients that do not listen while they send.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
const PATIENCE_WITH_FILES: Duration = Duration::from_secs(60);
/// Who announces a file and sends nothing of it is not waited for.
const PATIENCE_WITH_SILENCE: Duration = Duration::from_secs(2);
/// The same once the hub is stopping: the time that a body has then is over already.
const PATIENCE_AT_STOP: Duration = Duration::from_millis(500);

/// Where the rest of a body is put when nobody wants to read it.
#[derive(Clone)]
pub(super) struct Leftover {
    body: Arc<Mutex<Option<Body>>>,
    is_file: bool,
    progress: Arc<Progress>,
}

impl Leftover {
    pub(super) fn new(is_file: bool) -> Self {
        Self { body: Arc::default(), is_file, progress: Arc::default() }
    }

    /// The body, watched for whether it is read to its end.
    pub(super) fn watch(&self, body: Body) -> Body {
        if body.is_end_stream() { body } else { Body::new(Watched { body: Some(body), leftover: self.clone() }) }
    }

    /// How far the body has come.
    pub(super) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Reads what is left, if it is little enough, and forgets it. The connection stays open until then.
    pub(super) fn discard(&self, hub: &Hub) {
        let max_bytes = if self.is_file { MAX_FILE_BYTES } else { MAX_BYTES };
        let body = self.body.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(body) = body.filter(|body| HttpBody::size_hint(body).lower() <= max_bytes) {
            tokio::spawn(read_to_end(hub.clone(), body, max_bytes, self.is_file));
        }
    }
}

async fn read_to_end(hub: Hub, mut body: Body, max_bytes: u64, is_file: bool) {
    let (patience, silence) = if is_file { (PATIENCE_WITH_FILES, PATIENCE_WITH_SILENCE) } else { (PATIENCE, PATIENCE) };
    let discard = async {
        let mut seen = 0;
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(silence, body.frame()).await
            && seen <= max_bytes
        {
            seen += frame.data_ref().map_or(0, Bytes::len) as u64;
        }
    };
    let overdue_at_stop = async {
        hub.stopping().await;
        pause(PATIENCE_AT_STOP).await;
    };
    tokio::select! {
        biased;
        () = discard => {}
        () = overdue_at_stop => {}
        () = pause(patience) => {}
    }
}

struct Watched {
    /// None once it has ended.
    body: Option<Body>,
    leftover: Leftover,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        self.leftover.progress.note(polled.is_pending());
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let body = self.body.take().filter(|body| !body.is_end_stream());
        *self.leftover.body.lock().unwrap_or_else(PoisonError::into_inner) = body;
    }
}
