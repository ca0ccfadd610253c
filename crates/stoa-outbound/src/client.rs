//! Sending a request: resolve, judge, connect, compare, ask, read.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::streamed::{Streamed, Watched};
use crate::target::{Target, TargetHost};
use crate::trust::{fault_of, tls_connector};
use crate::{
    Answer, ClientError, ConnectFault, Connector, Limits, OutboundError, Policy, Request, Resolver, Roots, Stage,
    Stream, SystemResolver, TcpConnector, is_public,
};

/// Of the addresses of a host, so many are tried. All are judged.
const MAX_TRIED_ADDRESSES: usize = 3;
/// The head of an answer must fit, and no more than this is read ahead.
const BUFFER_BYTES: usize = 64 * 1024;

/// Calls what its policy permits. Clones share everything but their limits.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    limits: Limits,
}

struct Shared {
    policy: Policy,
    resolver: Arc<dyn Resolver>,
    connector: Arc<dyn Connector>,
    tls: Option<TlsConnector>,
}

/// What a client works with. The default is the real thing; tests put in what lies.
pub struct Parts {
    pub roots: Roots,
    pub resolver: Arc<dyn Resolver>,
    pub connector: Arc<dyn Connector>,
}

impl Default for Parts {
    fn default() -> Self {
        Self { roots: Roots::System, resolver: Arc::new(SystemResolver::default()), connector: Arc::new(TcpConnector) }
    }
}

impl Client {
    /// A client that trusts whom the system trusts. Reads the certificates from disk: make one and clone it.
    pub fn new(policy: Policy, limits: Limits) -> Result<Self, ClientError> {
        Self::with_parts(policy, limits, Parts::default())
    }

    pub fn with_parts(policy: Policy, limits: Limits, parts: Parts) -> Result<Self, ClientError> {
        let tls = tls_connector(parts.roots)?;
        let shared = Shared { policy, resolver: parts.resolver, connector: parts.connector, tls };
        Ok(Self { shared: Arc::new(shared), limits })
    }

    /// The same client with other limits, for another kind of receiver.
    pub fn with_limits(&self, limits: Limits) -> Self {
        Self { shared: Arc::clone(&self.shared), limits }
    }

    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// Sends a request once: never again on failure, and nowhere else on a redirect.
    pub async fn send(&self, request: Request) -> Result<Answer, OutboundError> {
        let target = Target::parse(&self.shared.policy, &request.url)?;
        request.check_headers()?;
        let after = self.limits.total_timeout;
        timeout(after, Box::pin(self.exchange(&target, request)))
            .await
            .unwrap_or(Err(OutboundError::TimedOut { stage: Stage::Answering, after }))
    }

    /// Sends a request once, and returns as soon as the head of the answer is there. The body is read piece by piece and may
    /// be as long and take as long as the server likes, but when no byte has moved for the time of `silence`, that is the
    /// end. Of the limits only the one for connecting counts here.
    pub async fn open(&self, request: Request, silence: Duration) -> Result<Streamed, OutboundError> {
        let target = Target::parse(&self.shared.policy, &request.url)?;
        request.check_headers()?;
        let Reached { stream, .. } = Box::pin(self.reach(&target)).await?;
        #[expect(clippy::disallowed_methods, reason = "this is the place where others are called")]
        let handshake =
            http1::Builder::new().max_buf_size(BUFFER_BYTES).handshake(TokioIo::new(Watched::new(stream, silence)));
        let (sender, connection) = handshake.await.map_err(|_| OutboundError::Broken)?;
        Streamed::ask(sender, connection, request.into_message(&target), silence).await
    }

    async fn exchange(&self, target: &Target, request: Request) -> Result<Answer, OutboundError> {
        let Reached { stream, is_public } = self.reach(target).await?;
        let answer = ask(stream, request.into_message(target), self.limits.max_answer_bytes).await;
        answer.map(|answer| Answer { is_from_public_address: is_public, ..answer }).map_err(|error| {
            tracing::debug!(%error, "an outbound request broke off");
            OutboundError::Broken
        })
    }

    /// A stream to the target that can be used, within the time for that.
    async fn reach(&self, target: &Target) -> Result<Reached, OutboundError> {
        let after = self.limits.connect_timeout;
        timeout(after, self.secure_stream(target))
            .await
            .unwrap_or(Err(OutboundError::TimedOut { stage: Stage::Connecting, after }))
    }

    async fn secure_stream(&self, target: &Target) -> Result<Reached, OutboundError> {
        let tls = match (target.is_https, &self.shared.tls) {
            (false, _) => None,
            (true, Some(tls)) => Some(tls),
            (true, None) => return Err(OutboundError::NoRoots),
        };
        let addresses = self.resolve(&target.host).await?;
        let is_public = addresses.iter().all(|address| is_public(*address));
        let stream = self.connect(&addresses, target.port).await?;
        let Some(tls) = tls else { return Ok(Reached { stream, is_public }) };
        let secured = tls.connect(target.server_name.clone(), stream).await.map_err(|error| {
            tracing::debug!(%error, "an outbound handshake failed");
            OutboundError::Tls(fault_of(&error))
        })?;
        Ok(Reached { stream: Box::new(secured), is_public })
    }

    /// The addresses of the host, all of them permitted. One bad address spoils the rest: whoever mixes them hopes that
    /// the bad one is used.
    async fn resolve(&self, host: &TargetHost) -> Result<Vec<IpAddr>, OutboundError> {
        let addresses = match host {
            TargetHost::Address(address) => vec![*address],
            TargetHost::Name(name) => self.shared.resolver.resolve(name).await.map_err(|error| {
                tracing::debug!(%error, "an outbound host was not resolved");
                OutboundError::Unresolvable
            })?,
        };
        if addresses.is_empty() {
            return Err(OutboundError::Unresolvable);
        }
        if !addresses.iter().all(|address| self.shared.policy.permits(*address)) {
            return Err(OutboundError::ForbiddenAddress);
        }
        Ok(addresses)
    }

    async fn connect(&self, addresses: &[IpAddr], port: u16) -> Result<Box<dyn Stream>, OutboundError> {
        let tried = worth_trying(addresses);
        // An address that swallows packets leaves the others their share of the time.
        let after = self.limits.connect_timeout;
        let share = after / u32::try_from(tried.len().max(1)).unwrap_or(u32::MAX);
        let mut fault = OutboundError::ConnectFailed(ConnectFault::Unreachable);
        for address in tried {
            let address = SocketAddr::new(address, port);
            let connection = match timeout(share, self.shared.connector.connect(address)).await {
                Ok(Ok(connection)) => connection,
                Ok(Err(error)) => {
                    tracing::debug!(%error, "an outbound connection failed");
                    if error.kind() == io::ErrorKind::ConnectionRefused {
                        fault = OutboundError::ConnectFailed(ConnectFault::Refused);
                    }
                    continue;
                }
                Err(_) => {
                    fault = OutboundError::TimedOut { stage: Stage::Connecting, after };
                    continue;
                }
            };
            // The judged address itself, so that what was found about it holds for whoever is at the other end.
            if SocketAddr::new(connection.peer.ip().to_canonical(), connection.peer.port()) != address {
                return Err(OutboundError::ForbiddenAddress);
            }
            return Ok(connection.stream);
        }
        Err(fault)
    }
}

/// A connection, and whether all addresses of the host are public.
struct Reached {
    stream: Box<dyn Stream>,
    is_public: bool,
}

/// The first addresses, with both families among them if there are both: often one of the two does not work at all.
/// IPv4 addresses in IPv6 clothes are undressed, so that they are connected to as what they were judged as.
fn worth_trying(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let mut rest: Vec<IpAddr> = addresses.iter().map(IpAddr::to_canonical).collect();
    if let Some(first) = rest.first().copied()
        && let Some(other) = rest.iter().position(|address| address.is_ipv4() != first.is_ipv4())
    {
        let other = rest.remove(other);
        rest.insert(1, other);
    }
    rest.truncate(MAX_TRIED_ADDRESSES);
    rest
}

/// One request and its answer. The connection ends with it, also when the caller stops waiting.
async fn ask(
    stream: Box<dyn Stream>,
    message: http::Request<Full<Bytes>>,
    max_answer_bytes: usize,
) -> Result<Answer, hyper::Error> {
    #[expect(clippy::disallowed_methods, reason = "this is the place where others are called")]
    let (mut sender, connection) =
        http1::Builder::new().max_buf_size(BUFFER_BYTES).handshake(TokioIo::new(stream)).await?;
    let answering = async {
        let (head, mut body) = sender.send_request(message).await?.into_parts();
        let mut read = BytesMut::new();
        let mut is_cut = false;
        while let Some(frame) = body.frame().await {
            // Trailers are not data and nobody asks for them.
            let Ok(mut data) = frame?.into_data() else { continue };
            let room = max_answer_bytes.saturating_sub(read.len());
            is_cut = data.len() > room;
            data.truncate(room);
            read.extend_from_slice(&data);
            if is_cut {
                break;
            }
        }
        let body = read.freeze();
        Ok(Answer { status: head.status, headers: head.headers, body, is_cut, is_from_public_address: false })
    };
    // How the connection ends is told to whoever reads the answer.
    let driving = async {
        let _ = connection.await;
        std::future::pending().await
    };
    tokio::select! {
        biased;
        answer = answering => answer,
        never = driving => never,
    }
}
