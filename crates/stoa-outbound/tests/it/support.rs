//! A world in which the tests decide what names resolve to and who is at the other end.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use stoa_outbound::{Client, Connection, Connector, Limits, Parts, Pending, Policy, Resolver, Roots};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream};

/// An address that nobody's test may reach, but that the default policy permits.
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// Who is at the other end of a connection.
type Peer = Arc<dyn Fn(DuplexStream) -> Pending<'static, ()> + Send + Sync>;

#[derive(Clone, Default)]
pub(crate) struct World {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    answers: VecDeque<Vec<IpAddr>>,
    asked: Vec<String>,
    connected: Vec<SocketAddr>,
    heard: Vec<String>,
    peer: Option<Peer>,
    fake_peer_address: Option<SocketAddr>,
    dead: Vec<(IpAddr, Option<io::ErrorKind>)>,
    roots: Option<Roots>,
}

impl World {
    /// Every name resolves to a public address, and who is there answers `200` and nothing else.
    pub(crate) fn new() -> Self {
        Self::default().resolving(&[PUBLIC]).answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    }

    /// The next question gets these addresses, the one after it what is said next; the last also answers all later ones.
    pub(crate) fn resolving(self, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.inner.lock().unwrap().answers.push_back(addresses);
        self
    }

    pub(crate) fn forget_answers(self) -> Self {
        self.inner.lock().unwrap().answers.clear();
        self
    }

    /// The peer hears a request to its end, then says this and closes.
    pub(crate) fn answering(self, answer: impl Into<Vec<u8>>) -> Self {
        let answer = Arc::new(answer.into());
        let world = self.clone();
        self.served_by(move |mut stream| {
            let (answer, world) = (Arc::clone(&answer), world.clone());
            async move {
                world.hear(&mut stream).await;
                let _ = stream.write_all(&answer).await;
            }
        })
    }

    pub(crate) fn served_by<F>(self, serve: impl Fn(DuplexStream) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.inner.lock().unwrap().peer = Some(Arc::new(move |stream| Box::pin(serve(stream))));
        self
    }

    /// Whoever is connected to claims to be this one.
    pub(crate) fn with_peer_address(self, address: &str) -> Self {
        self.inner.lock().unwrap().fake_peer_address = Some(address.parse().unwrap());
        self
    }

    /// Connecting to this address fails like this, or never ends.
    pub(crate) fn dead(self, address: &str, fault: Option<io::ErrorKind>) -> Self {
        self.inner.lock().unwrap().dead.push((address.parse().unwrap(), fault));
        self
    }

    pub(crate) fn trusting(self, roots: Roots) -> Self {
        self.inner.lock().unwrap().roots = Some(roots);
        self
    }

    pub(crate) fn client(&self, policy: Policy, limits: Limits) -> Client {
        let roots = self.inner.lock().unwrap().roots.clone().unwrap_or(Roots::Only(Vec::new()));
        let parts = Parts { roots, resolver: Arc::new(self.clone()), connector: Arc::new(self.clone()) };
        Client::with_parts(policy, limits, parts).unwrap()
    }

    /// A client that may also use `http`, so that a test about something else needs no certificates.
    pub(crate) fn http_client(&self) -> Client {
        self.client(http_policy(), Limits::default())
    }

    /// The names that were asked for.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.inner.lock().unwrap().asked.clone()
    }

    pub(crate) fn connected(&self) -> Vec<String> {
        self.inner.lock().unwrap().connected.iter().map(SocketAddr::to_string).collect()
    }

    /// The requests, as they were sent.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.inner.lock().unwrap().heard.clone()
    }

    pub(crate) async fn hear(&self, stream: &mut (impl AsyncRead + Unpin)) {
        let request = read_request(stream).await;
        self.inner.lock().unwrap().heard.push(request);
    }
}

impl Resolver for World {
    fn resolve<'a>(&'a self, host: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        let mut inner = self.inner.lock().unwrap();
        inner.asked.push(host.to_owned());
        let answer = match inner.answers.len() {
            0 => Err(io::ErrorKind::NotFound.into()),
            1 => Ok(inner.answers.front().unwrap().clone()),
            _ => Ok(inner.answers.pop_front().unwrap()),
        };
        Box::pin(async { answer })
    }
}

impl Connector for World {
    fn connect(&self, address: SocketAddr) -> Pending<'_, io::Result<Connection>> {
        let mut inner = self.inner.lock().unwrap();
        inner.connected.push(address);
        match inner.dead.iter().find(|(dead, _)| *dead == address.ip()) {
            Some((_, Some(kind))) => {
                let kind = *kind;
                return Box::pin(async move { Err(kind.into()) });
            }
            Some((_, None)) => return Box::pin(std::future::pending()),
            None => {}
        }
        let peer = inner.fake_peer_address.unwrap_or(address);
        let serve = inner.peer.clone().unwrap();
        Box::pin(async move {
            let (ours, theirs) = tokio::io::duplex(4096);
            tokio::spawn(serve(theirs));
            Ok(Connection { stream: Box::new(ours), peer })
        })
    }
}

pub(crate) fn http_policy() -> Policy {
    Policy { allow_http: true, ..Policy::default() }
}

/// Reads a request whose body, if any, has a length.
pub(crate) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8(read.clone()).unwrap();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        let before = read.len();
        stream.read_buf(&mut read).await.unwrap();
        if read.len() == before {
            return text;
        }
    }
}

/// The value of a header in a request as it was sent.
pub(crate) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let head = request.split("\r\n\r\n").next()?;
    let lines: Vec<_> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .filter(|(found, _)| found.eq_ignore_ascii_case(name))
        .collect();
    assert!(lines.len() < 2, "{name} comes twice");
    lines.first().map(|(_, value)| *value)
}
