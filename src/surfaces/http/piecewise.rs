//! Answers that are too long to be held in memory.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame};

use crate::error::{ErrorKind, HubError};
use crate::hub::{BoxFuture, Hub};

/// A piece and what the next one is made from, or none after the last.
type Piece<S> = Result<Option<(Bytes, S)>, HubError>;

/// A body that is made piece by piece, no faster than the client takes it. If a piece cannot be made, the
/// connection is cut off: the client must not take what it has for everything.
pub fn piecewise_body<S, F>(
    hub: Hub,
    request_id: String,
    state: S,
    next: impl Fn(S) -> F + Send + Unpin + 'static,
) -> Body
where
    S: Send + 'static,
    F: Future<Output = Piece<S>> + Send + 'static,
{
    let making: BoxFuture<'static, Piece<S>> = Box::pin(next(state));
    let next = move |state| -> BoxFuture<'static, Piece<S>> { Box::pin(next(state)) };
    Body::new(Piecewise { hub, request_id, making: Some(making), next })
}

struct Piecewise<S, N> {
    hub: Hub,
    request_id: String,
    /// None once it has ended.
    making: Option<BoxFuture<'static, Piece<S>>>,
    next: N,
}

impl<S: 'static, N> HttpBody for Piecewise<S, N>
where
    N: Fn(S) -> BoxFuture<'static, Piece<S>> + Unpin,
{
    type Data = Bytes;
    type Error = HubError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HubError>>> {
        let Some(making) = &mut self.making else { return Poll::Ready(None) };
        let Poll::Ready(made) = making.as_mut().poll(context) else { return Poll::Pending };
        self.making = None;
        Poll::Ready(match made {
            Ok(Some((piece, state))) => {
                self.making = Some((self.next)(state));
                Some(Ok(Frame::data(piece)))
            }
            Ok(None) => None,
            Err(error) => {
                if error.kind == ErrorKind::Internal {
                    self.hub.metrics().errors_total.inc();
                    self.hub.metrics().internal_errors.inc();
                }
                tracing::error!(request_id = self.request_id, %error, "an answer was cut off");
                Some(Err(error))
            }
        })
    }
}
