//! Whose certificates are believed.

use std::io;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use crate::{ClientError, TlsFault};

/// The certificate authorities that are trusted.
#[derive(Debug, Clone, Default)]
pub enum Roots {
    /// Those of the operating system, or of the file that `SSL_CERT_FILE` names: what the operator trusts already.
    #[default]
    System,
    /// These and no others.
    Only(Vec<CertificateDer<'static>>),
}

impl Roots {
    fn store(self) -> Result<RootCertStore, ClientError> {
        let mut store = RootCertStore::empty();
        match self {
            Self::System => {
                let found = rustls_native_certs::load_native_certs();
                for error in found.errors {
                    tracing::warn!(%error, "certificates of the system cannot be read");
                }
                // A system's collection may have some that are too old to be understood; they are not needed.
                store.add_parsable_certificates(found.certs);
            }
            Self::Only(certificates) => {
                for certificate in certificates {
                    store.add(certificate)?;
                }
            }
        }
        Ok(store)
    }
}

/// Makes TLS out of streams. `None` when nobody is trusted: no certificate could be valid then.
pub(crate) fn tls_connector(roots: Roots) -> Result<Option<TlsConnector>, ClientError> {
    let roots = roots.store()?;
    if roots.is_empty() {
        return Ok(None);
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // A ticket is bytes of a server's choice that would be sent to whatever its name resolves to the next time.
    config.resumption = Resumption::disabled();
    Ok(Some(TlsConnector::from(Arc::new(config))))
}

pub(crate) fn fault_of(error: &io::Error) -> TlsFault {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(Error::InvalidCertificate(error)) => match error {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => TlsFault::WrongName,
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => TlsFault::NotValidNow,
            CertificateError::UnknownIssuer => TlsFault::UnknownIssuer,
            _ => TlsFault::BadCertificate,
        },
        _ => TlsFault::Handshake,
    }
}
