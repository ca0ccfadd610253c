//! Accepting connections, and letting go of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::envelope::Peer;
use super::impatient::{Impatient, Stall};
use super::peers::Peers;
use crate::hub::{Hub, pause};

/// How long a client may take to send its headers, also between two requests.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long requests may take to finish once the hub is stopping. After that their connections are closed.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(4);
/// How long it may take to close them.
const CUT_OFF_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a client may take none of what is sent to it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The same once the hub is stopping: who reads nothing shall not hold it up.
const WRITE_TIMEOUT_AT_STOP: Duration = Duration::from_secs(2);
/// How often it is said that connections cannot be accepted.
const FAULTS_SAID_EVERY: Duration = Duration::from_secs(1);
const MAX_CONNECTIONS: usize = 20_000;
/// Bytes of an answer that the system takes before it can send them.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MAX_UNSENT_BYTES: u32 = 128 * 1024;
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Serves until the hub stops, then finishes what is under way.
pub(crate) async fn serve(hub: &Hub, listener: TcpListener, router: Router) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let (graceful, cut_off) = (GracefulShutdown::new(), CancellationToken::new());
    let peers = Peers::new(hub.config());
    let mut faults = Faults::default();
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
                #[expect(clippy::disallowed_methods, reason = "the log knows no manual clock")]
                let now = Instant::now();
                if let Some(count) = faults.note(now) {
                    tracing::warn!(%error, count, "connections could not be accepted");
                }
                pause(Duration::from_millis(20)).await;
                continue;
            }
        };
        let Some(counted) = peers.enter(peer.ip()) else {
            tracing::debug!(address = %peer.ip(), "a connection was closed: its address has too many");
            continue;
        };
        if let Err(error) = tune(&stream) {
            tracing::debug!(%error, "a connection could not be tuned");
        }
        let (has_asked, stall) = (Arc::new(AtomicBool::new(false)), Arc::new(Stall::default()));
        let stream = Impatient::new(stream, WRITE_TIMEOUT, stall.clone());
        let connection = graceful.watch(connection(stream, Peer(peer), router.clone(), has_asked.clone()));
        let (stopping, cut_off) = (hub.clone(), cut_off.clone());
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
                () = cut_off.cancelled() => {}
            }
            drop((slot, counted));
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_TIMEOUT, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time and were cut off");
        // Nobody waits for their reads any longer, so the database need not finish them.
        cut_off.cancel();
        let all = slots.acquire_many(u32::try_from(MAX_CONNECTIONS).unwrap_or(u32::MAX));
        let _ = tokio::time::timeout(CUT_OFF_TIMEOUT, all).await;
    }
}

fn tune(stream: &TcpStream) -> std::io::Result<()> {
    // Without it, small answers wait for the client's delayed acknowledgement.
    stream.set_nodelay(true)?;
    // What the client does not take stays with the hub, which counts it, and not in the system's memory, where it is several MiB for each
    // connection. It does not slow down those who read.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket2::SockRef::from(stream).set_tcp_notsent_lowat(MAX_UNSENT_BYTES)?;
    Ok(())
}

/// Connections that could not be accepted. Without file descriptors there are fifty a second, of which the log
/// needs to know only how many.
#[derive(Default)]
struct Faults {
    said_at: Option<Instant>,
    unsaid: u64,
}

impl Faults {
    /// How many there were since it was last said, if it is time to say it again.
    fn note(&mut self, now: Instant) -> Option<u64> {
        self.unsaid += 1;
        if self.said_at.is_some_and(|said_at| now.duration_since(said_at) < FAULTS_SAID_EVERY) {
            return None;
        }
        self.said_at = Some(now);
        Some(std::mem::take(&mut self.unsaid))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_said_once_a_second_and_counted() {
        #[expect(clippy::disallowed_methods, reason = "a moment to begin with")]
        let start = Instant::now();
        let mut faults = Faults::default();
        let said = (0..=100).filter_map(|tick| faults.note(start + tick * Duration::from_millis(20)));
        assert_eq!(said.collect::<Vec<_>>(), [1, 50, 50]);
    }
}
