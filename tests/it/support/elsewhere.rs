//! The servers of others, which the hub calls: the test says what their names resolve to and what they answer.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::Value;
use stoa_outbound::{CertificateDer, Connection, Connector, Limits, Parts, Pending, Policy, Resolver, Roots};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// An address that no test reaches, but that the hub may call.
const PUBLIC: &str = "93.184.216.34";

/// All servers but the hub, with one certificate for all of them.
#[derive(Clone)]
pub(crate) struct Elsewhere {
    inner: Arc<Mutex<Inner>>,
    acceptor: TlsAcceptor,
    authority: CertificateDer<'static>,
}

#[derive(Default)]
struct Inner {
    /// What is answered, by `https://host/path`.
    answers: BTreeMap<String, Vec<u8>>,
    addresses: BTreeMap<String, Vec<IpAddr>>,
    connected: Vec<SocketAddr>,
    asked: Vec<String>,
}

impl Elsewhere {
    /// A world in which these names lead to a server; it finds nothing that was not put there.
    pub(crate) fn new(names: &[&str]) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).unwrap().der().clone();
        let issuer = Issuer::new(params, key);

        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let certificate = CertificateParams::new(names.clone()).unwrap().signed_by(&key, &issuer).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        let elsewhere = Self { inner: Arc::default(), acceptor: TlsAcceptor::from(Arc::new(config)), authority };
        for name in names {
            elsewhere.resolve(&name, &[PUBLIC]);
        }
        elsewhere
    }

    pub(crate) fn resolve(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.inner.lock().unwrap().addresses.insert(name.to_owned(), addresses);
    }

    /// Answers like this at that address from now on.
    pub(crate) fn answer(&self, url: &str, head: &str, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let mut answer = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes();
        answer.extend(body);
        self.inner.lock().unwrap().answers.insert(url.to_owned(), answer);
    }

    /// A good answer in JSON, with these headers besides.
    pub(crate) fn put(&self, url: &str, more: &str, document: &Value) {
        self.answer(url, &format!("200 OK\r\ncontent-type: application/json{more}"), document.to_string());
    }

    /// What was asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.inner.lock().unwrap().asked.clone()
    }

    /// How often anybody was connected to.
    pub(crate) fn connections(&self) -> usize {
        self.inner.lock().unwrap().connected.len()
    }

    /// What the hub calls others with.
    pub(crate) fn client(&self) -> stoa_outbound::Client {
        let (resolver, connector) = (Arc::new(self.clone()), Arc::new(self.clone()));
        let parts = Parts { roots: Roots::Only(vec![self.authority.clone()]), resolver, connector };
        stoa_outbound::Client::with_parts(Policy::default(), Limits::default(), parts).unwrap()
    }

    async fn serve(self, stream: DuplexStream) {
        let Ok(mut stream) = self.acceptor.accept(stream).await else { return };
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            match stream.read_buf(&mut request).await {
                Ok(count) if count > 0 => {}
                _ => return,
            }
        }
        let request = String::from_utf8(request).unwrap();
        let path = request.split(' ').nth(1).unwrap();
        let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        let url = format!("https://{host}{path}");
        let answer = {
            let mut inner = self.inner.lock().unwrap();
            inner.asked.push(url.clone());
            inner.answers.get(&url).cloned()
        };
        let missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec();
        let _ = stream.write_all(&answer.unwrap_or(missing)).await;
        let _ = stream.shutdown().await;
    }
}

impl Resolver for Elsewhere {
    fn resolve<'a>(&'a self, host: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        let addresses = self.inner.lock().unwrap().addresses.get(host).cloned();
        Box::pin(async { addresses.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

impl Connector for Elsewhere {
    fn connect(&self, address: SocketAddr) -> Pending<'_, io::Result<Connection>> {
        self.inner.lock().unwrap().connected.push(address);
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(self.clone().serve(theirs));
        Box::pin(async move { Ok(Connection { stream: Box::new(ours), peer: address }) })
    }
}
