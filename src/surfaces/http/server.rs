//! Accepting connections, and letting go of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use super::envelope::Peer;
use super::impatient::{Impatient, Stall};
use crate::hub::{Hub, pause};

/// How long a client may take to send its headers, also between two requests.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long requests may take to finish once the hub is stopping.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a client may take none of what is sent to it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The same once the hub is stopping: who reads nothing shall not hold it up.
const WRITE_TIMEOUT_AT_STOP: Duration = Duration::from_secs(2);
const MAX_CONNECTIONS: usize = 20_000;
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Serves until the hub stops, then finishes what is under way.
pub(crate) async fn serve(hub: &Hub, listener: TcpListener, router: Router) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let graceful = GracefulShutdown::new();
    loop {
        // Beyond the limit connections wait in the listener's own queue.
        let slot = tokio::select! {
            slot = slots.clone().acquire_owned() => slot,
            () = hub.stopping() => break,
        };
        let Ok(slot) = slot else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = hub.stopping() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, or the client is gone already.
                tracing::warn!(%error, "a connection could not be accepted");
                pause(Duration::from_millis(20)).await;
                continue;
            }
        };
        // Without it, small answers wait for the client's delayed acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let (has_asked, stall) = (Arc::new(AtomicBool::new(false)), Arc::new(Stall::default()));
        let stream = Impatient::new(stream, WRITE_TIMEOUT, stall.clone());
        let connection = graceful.watch(connection(stream, Peer(peer), router.clone(), has_asked.clone()));
        let stopping = hub.clone();
        tokio::spawn(async move {
            // Nothing is lost with a connection that has not asked for anything, and browsers open
            // some in advance. Waiting for their headers would hold up the stop.
            let unused = async {
                stopping.stopping().await;
                while has_asked.load(Ordering::Relaxed) {
                    pause(WRITE_TIMEOUT_AT_STOP).await;
                    if stall.is_on() {
                        return;
                    }
                }
            };
            tokio::select! {
                biased;
                outcome = connection => if let Err(error) = outcome {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = unused => {}
            }
            drop(slot);
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_TIMEOUT, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time and were cut off");
    }
}

fn connection(
    stream: Impatient<TcpStream>,
    peer: Peer,
    router: Router,
    has_asked: Arc<AtomicBool>,
) -> http1::Connection<
    TokioIo<Impatient<TcpStream>>,
    impl hyper::service::HttpService<
        Incoming,
        ResBody = Body,
        Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        Future: Send,
    >,
> {
    let service = router.map_request(move |mut request: Request<Incoming>| {
        has_asked.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(peer);
        request.map(Body::new)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
}
