//! Certificates and names, against a server with an authority of its own.

use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use stoa_outbound::{CertificateDer, Client, Limits, OutboundError, Policy, Request, Roots, TlsFault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::support::{World, header};

struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    fn acceptor(&self, params: &CertificateParams) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

/// What a server saw of a handshake.
#[derive(Debug, PartialEq)]
struct Seen {
    server_name: Option<String>,
    protocol: Option<Vec<u8>>,
    was_resumed: bool,
}

struct Secure {
    world: World,
    client: Client,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Secure {
    /// A server with a certificate like this, and a client that trusts its authority.
    fn new(params: &CertificateParams) -> Self {
        let authority = Authority::new();
        let roots = Roots::Only(vec![authority.certificate.clone()]);
        Self::trusting(roots, &authority, params)
    }

    fn trusting(roots: Roots, authority: &Authority, params: &CertificateParams) -> Self {
        let acceptor = authority.acceptor(params);
        let world = World::new().trusting(roots);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (hearing, seeing) = (world.clone(), Arc::clone(&seen));
        let world = world.served_by(move |stream| {
            let (acceptor, world, seen) = (acceptor.clone(), hearing.clone(), Arc::clone(&seeing));
            async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let session = stream.get_ref().1;
                seen.lock().unwrap().push(Seen {
                    server_name: session.server_name().map(str::to_owned),
                    protocol: session.alpn_protocol().map(<[u8]>::to_vec),
                    was_resumed: session.handshake_kind() == Some(tokio_rustls::rustls::HandshakeKind::Resumed),
                });
                world.hear(&mut stream).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                let _ = stream.shutdown().await;
            }
        });
        let client = world.client(Policy::default(), Limits::default());
        Self { world, client, seen }
    }

    async fn refusal(&self, url: &str) -> OutboundError {
        let refused = self.client.send(Request::post(url, "secret")).await.unwrap_err();
        assert!(self.world.heard().is_empty(), "nothing may be told to whom the certificate does not name");
        refused
    }
}

fn certificate_for(name: &str) -> CertificateParams {
    CertificateParams::new(vec![name.to_owned()]).unwrap()
}

#[tokio::test]
async fn name_and_host_are_those_of_the_url() {
    let secure = Secure::new(&certificate_for("hooks.example"));
    let answer = secure.client.send(Request::get("https://Hooks.Example:8443/path")).await.unwrap();
    assert_eq!(answer.body, "ok");
    assert_eq!(secure.world.connected(), ["93.184.216.34:8443"]);
    assert_eq!(header(&secure.world.heard().join(""), "host"), Some("hooks.example:8443"));
    let expected = Seen {
        server_name: Some("hooks.example".to_owned()),
        protocol: Some(b"http/1.1".to_vec()),
        was_resumed: false,
    };
    assert_eq!(*secure.seen.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn a_dot_at_the_end_names_the_same_server() {
    let secure = Secure::new(&certificate_for("hooks.example"));
    secure.client.send(Request::get("https://hooks.example./")).await.unwrap();
    assert_eq!(secure.seen.lock().unwrap()[0].server_name.as_deref(), Some("hooks.example"));
}

#[tokio::test]
async fn an_address_needs_a_certificate_for_itself() {
    let secure = Secure::new(&certificate_for("9.9.9.9"));
    secure.client.send(Request::get("https://9.9.9.9/")).await.unwrap();
    assert_eq!(secure.seen.lock().unwrap()[0].server_name, None, "an address is not a name");
    assert!(secure.world.asked().is_empty());

    let secure = Secure::new(&certificate_for("hooks.example"));
    assert_eq!(secure.refusal("https://9.9.9.9/").await, OutboundError::Tls(TlsFault::WrongName));
}

/// A ticket of the first handshake would be sent to whatever the name resolves to at the second.
#[tokio::test]
async fn no_session_is_resumed() {
    let secure = Secure::new(&certificate_for("hooks.example"));
    for _ in 0..3 {
        secure.client.send(Request::get("https://hooks.example/")).await.unwrap();
    }
    assert!(secure.seen.lock().unwrap().iter().all(|seen| !seen.was_resumed));
    assert_eq!(secure.world.connected().len(), 3);
    assert_eq!(secure.world.asked().len(), 3);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let secure = Secure::new(&certificate_for("other.example"));
    assert_eq!(secure.refusal("https://hooks.example/").await, OutboundError::Tls(TlsFault::WrongName));
}

/// Reading an answer as it comes is no less secure.
#[tokio::test]
async fn answers_that_are_read_as_they_come_are_those_of_the_right_server() {
    let silence = std::time::Duration::from_secs(60);
    let secure = Secure::new(&certificate_for("hooks.example"));
    let mut answer = secure.client.open(Request::get("https://hooks.example/"), silence).await.unwrap();
    assert_eq!(answer.body.next().await.unwrap().unwrap(), "ok");

    let secure = Secure::new(&certificate_for("other.example"));
    let refused = secure.client.open(Request::post("https://hooks.example/", "secret"), silence).await.err();
    assert_eq!(refused, Some(OutboundError::Tls(TlsFault::WrongName)));
    assert!(secure.world.heard().is_empty());
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let mut expired = certificate_for("hooks.example");
    expired.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let secure = Secure::new(&expired);
    assert_eq!(secure.refusal("https://hooks.example/").await, OutboundError::Tls(TlsFault::NotValidNow));
}

#[tokio::test]
async fn a_certificate_of_tomorrow_is_refused() {
    let mut early = certificate_for("hooks.example");
    early.not_before = rcgen::date_time_ymd(3000, 1, 1);
    let secure = Secure::new(&early);
    assert_eq!(secure.refusal("https://hooks.example/").await, OutboundError::Tls(TlsFault::NotValidNow));
}

#[tokio::test]
async fn a_certificate_of_a_stranger_is_refused() {
    let roots = Roots::Only(vec![Authority::new().certificate]);
    let secure = Secure::trusting(roots, &Authority::new(), &certificate_for("hooks.example"));
    let refused = secure.refusal("https://hooks.example/").await;
    // Both authorities of this test have the same name, so only the signature tells them apart.
    assert!(matches!(refused, OutboundError::Tls(TlsFault::UnknownIssuer | TlsFault::BadCertificate)), "{refused:?}");
}

#[tokio::test]
async fn a_server_without_tls_is_refused() {
    for answer in ["HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.example ESMTP\r\n", ""] {
        let roots = Roots::Only(vec![Authority::new().certificate]);
        let world = World::new().trusting(roots).served_by(move |mut stream| async move {
            let mut hello = [0; 1024];
            let _ = stream.read(&mut hello).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        });
        let client = world.client(Policy::default(), Limits::default());
        let refused = client.send(Request::get("https://hooks.example/")).await.unwrap_err();
        assert_eq!(refused, OutboundError::Tls(TlsFault::Handshake), "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_never_ends_counts_as_connecting() {
    let roots = Roots::Only(vec![Authority::new().certificate]);
    let world = World::new().trusting(roots).served_by(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    });
    let client = world.client(Policy::default(), Limits::default());
    let error = client.send(Request::get("https://hooks.example/")).await.unwrap_err();
    assert_eq!(error.to_string(), "The server could not be reached within 5 seconds.");
}
