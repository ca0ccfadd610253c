//! A network in which every address leads to the test: it chooses the addresses of names, counts connections, and answers as badly as
//! it likes. A connection to a forbidden address would be counted, too.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use stoa_outbound::{Connection, Connector, Limits, Parts, Pending, Policy, Resolver, Roots};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::support::{Door, Setup, TestHub};

pub(crate) const PUBLIC: &str = "93.184.216.34";
/// Bytes that are on their way between the hub and a server.
pub(crate) const PIPE_BYTES: usize = 16 * 1024;

/// How a server answers.
#[derive(Clone)]
pub(crate) enum Manner {
    /// With these bytes, then it hangs up.
    Bytes(Vec<u8>),
    /// With the first bytes, then with the second ones again and again.
    Endless(&'static str, &'static str),
    /// It reads the request, and is silent until the hub hangs up.
    Silent,
    /// It is silent until the door is open, and then answers 200.
    Behind(Arc<Door>),
}

impl Manner {
    pub(crate) fn status(line: &str) -> Self {
        Self::Bytes(format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\n\r\n").into_bytes())
    }
}

#[derive(Default)]
struct Inner {
    /// What a name resolves to, one answer after another; the last one stays.
    addresses: BTreeMap<String, Vec<Vec<IpAddr>>>,
    manners: BTreeMap<IpAddr, Manner>,
    asked: Vec<String>,
    connected: Vec<IpAddr>,
    /// Bytes that the hub has taken from each server.
    taken: BTreeMap<IpAddr, usize>,
}

#[derive(Clone, Default)]
pub(crate) struct Trap {
    inner: Arc<Mutex<Inner>>,
}

impl Trap {
    /// Lets a name resolve to these addresses, separated by blanks, at one request after another.
    pub(crate) fn resolve(&self, name: &str, answers: &[&str]) {
        let parse = |answer: &&str| answer.split(' ').map(|address| address.parse().unwrap()).collect();
        self.inner.lock().unwrap().addresses.insert(name.to_owned(), answers.iter().map(parse).collect());
    }

    /// Chooses the answers of an address. Others answer with 200.
    pub(crate) fn answer(&self, address: &str, manner: Manner) {
        self.inner.lock().unwrap().manners.insert(address.parse().unwrap(), manner);
    }

    /// The addresses that were connected to.
    pub(crate) fn connected(&self) -> Vec<String> {
        self.inner.lock().unwrap().connected.iter().map(IpAddr::to_string).collect()
    }

    pub(crate) fn asked(&self) -> usize {
        self.inner.lock().unwrap().asked.len()
    }

    pub(crate) fn taken(&self, address: &str) -> usize {
        self.inner.lock().unwrap().taken.get(&address.parse().unwrap()).copied().unwrap_or(0)
    }

    /// A hub in this network.
    pub(crate) fn setup(&self, policy: Policy, limits: Limits) -> Setup {
        let (resolver, connector) = (Arc::new(self.clone()), Arc::new(self.clone()));
        let parts = Parts { roots: Roots::Only(Vec::new()), resolver, connector };
        let client = stoa_outbound::Client::with_parts(policy, limits, parts).unwrap();
        TestHub::setup().configure(|config| config.outbound = Some(client))
    }

    async fn serve(self, address: IpAddr, mut stream: DuplexStream) {
        let manner = self.inner.lock().unwrap().manners.get(&address).cloned();
        let mut request = vec![0; 64 * 1024];
        if stream.read(&mut request).await.is_err() {
            return;
        }
        match manner.unwrap_or_else(|| Manner::status("200 OK")) {
            Manner::Bytes(bytes) => self.write(address, &mut stream, &bytes).await,
            Manner::Endless(first, then) => {
                self.write(address, &mut stream, first.as_bytes()).await;
                while self.try_write(address, &mut stream, then.as_bytes()).await {}
            }
            Manner::Silent => while stream.read(&mut request).await.is_ok_and(|count| count > 0) {},
            Manner::Behind(door) => {
                door.pass().await;
                self.write(address, &mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
            }
        }
    }

    async fn write(&self, address: IpAddr, stream: &mut DuplexStream, bytes: &[u8]) {
        self.try_write(address, stream, bytes).await;
    }

    async fn try_write(&self, address: IpAddr, stream: &mut DuplexStream, bytes: &[u8]) -> bool {
        if stream.write_all(bytes).await.is_err() {
            return false;
        }
        *self.inner.lock().unwrap().taken.entry(address).or_default() += bytes.len();
        true
    }
}

impl Resolver for Trap {
    fn resolve<'a>(&'a self, host: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        let mut inner = self.inner.lock().unwrap();
        inner.asked.push(host.to_owned());
        let answer = inner.addresses.get_mut(host).map(|answers| {
            let next = if answers.len() > 1 { Some(answers.remove(0)) } else { answers.first().cloned() };
            next.unwrap_or_default()
        });
        Box::pin(async { answer.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

impl Connector for Trap {
    fn connect(&self, address: SocketAddr) -> Pending<'_, io::Result<Connection>> {
        self.inner.lock().unwrap().connected.push(address.ip());
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(self.clone().serve(address.ip(), theirs));
        Box::pin(async move { Ok(Connection { stream: Box::new(ours), peer: address }) })
    }
}
