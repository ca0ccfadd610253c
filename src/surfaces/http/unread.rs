//! Answers that clients have not read yet: how much of them one caller may leave in memory.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::access::budget::{Holding, Payer};
use crate::hub::Hub;

/// Shorter answers are not counted: a connection takes more for itself.
const NOT_COUNTED: u64 = 16 * 1024;

/// Says of an answer that its bytes are there once for all who ask for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared;

/// How long the answer is, as far as its length is known before it is sent. A file, which is read piece by piece, announces it.
pub(super) fn length(response: &Response) -> u64 {
    let announced = || response.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    in_memory(response).or_else(announced).unwrap_or(0)
}

/// How much of the answer is in memory. What is made piece by piece takes no memory that counts.
fn in_memory(response: &Response) -> Option<u64> {
    response.body().size_hint().exact()
}

/// Counts an answer until the client has taken it. None if that is more than the caller may have.
pub(super) fn count(hub: &Hub, payer: Payer, response: Response) -> Option<Response> {
    let length = in_memory(&response).unwrap_or(0);
    if length <= NOT_COUNTED || response.extensions().get::<Shared>().is_some() {
        return Some(response);
    }
    let mut holding = hub.answers().open(payer);
    if !holding.grow_at_once(length) {
        return None;
    }
    let holding = Arc::new(holding);
    Some(response.map(|body| Body::new(Counted { body, holding })))
}

struct Counted {
    body: Body,
    holding: Arc<Holding>,
}

/// Bytes that count as long as something of them is still to be sent.
struct CountedBytes {
    bytes: Box<[u8]>,
    _holding: Arc<Holding>,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        polled.map_ok(|frame| {
            frame.map_data(|bytes| {
                // A copy, because what it was written into may have room for twice as much.
                Bytes::from_owner(CountedBytes { bytes: bytes.as_ref().into(), _holding: self.holding.clone() })
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
