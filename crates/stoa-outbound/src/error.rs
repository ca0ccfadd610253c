//! Why there is no answer. The sentences are for whoever chose the URL: they say what to change, and neither which
//! addresses a name has nor what was found there, since that may be an inside that they are not to see.

use std::time::Duration;

use http::HeaderName;

/// Why a URL is not called, or a call came to nothing. Nothing was connected to, unless it is `ConnectFailed`, `Tls`,
/// `TimedOut` or `Broken`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    #[error("{0}")]
    BadUrl(&'static str),
    #[error("The URL must start with {allowed}.")]
    ForbiddenScheme { allowed: &'static str },
    /// The host is or resolves to an address that may not be called; with several addresses, one of them.
    #[error("The URL points to a private address, and the operator has not allowed its network.")]
    ForbiddenAddress,
    #[error("The hub sets the header {0} itself. Leave it out.")]
    ReservedHeader(HeaderName),
    #[error("The host of the URL was not found. Check its spelling, or retry later.")]
    Unresolvable,
    #[error("{0}")]
    ConnectFailed(ConnectFault),
    /// The machine of the hub has no certificates of authorities at all.
    #[error(
        "This hub has no root certificates and cannot call https. The operator must install the package ca-certificates, \
         or set SSL_CERT_FILE."
    )]
    NoRoots,
    #[error("{0}")]
    Tls(TlsFault),
    #[error("{stage} within {} seconds.", .after.as_secs_f32())]
    TimedOut { stage: Stage, after: Duration },
    #[error("The server did not return a complete HTTP/1.1 response. Check that the URL belongs to a web server.")]
    Broken,
}

/// Why there is no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConnectFault {
    #[error("The server refused the connection. Check the port of the URL, and that the server is running.")]
    Refused,
    #[error("The server could not be reached. Check the URL, and that the server is on the internet.")]
    Unreachable,
}

/// Why the connection is not secure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    #[error("The server's certificate does not match the host of the URL.")]
    WrongName,
    #[error("The server's certificate has expired or is not valid yet. Renew it.")]
    NotValidNow,
    #[error(
        "The server's certificate comes from an untrusted authority. Check that the server sends its intermediate \
         certificates."
    )]
    UnknownIssuer,
    #[error("The server's certificate is invalid.")]
    BadCertificate,
    #[error("The TLS handshake failed. Check that the server supports TLS 1.2 or 1.3 on this port.")]
    Handshake,
}

/// How far a request came in its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stage {
    #[error("The server could not be reached")]
    Connecting,
    #[error("The server did not send a complete response")]
    Answering,
    /// An answer that is read as it comes fell silent.
    #[error("The server sent nothing")]
    Listening,
}

impl OutboundError {
    /// Whether nothing of the request can have reached the server, so that it can be sent again without being done twice.
    pub fn is_before_sending(&self) -> bool {
        !matches!(self, Self::TimedOut { stage: Stage::Answering | Stage::Listening, .. } | Self::Broken)
    }

    /// A stable word, for records and figures.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadUrl(_) => "bad_url",
            Self::ForbiddenScheme { .. } => "forbidden_scheme",
            Self::ForbiddenAddress => "forbidden_address",
            Self::ReservedHeader(_) => "reserved_header",
            Self::Unresolvable => "unresolvable",
            Self::ConnectFailed(_) => "connect_failed",
            Self::NoRoots => "no_roots",
            Self::Tls(_) => "tls",
            Self::TimedOut { .. } => "timed_out",
            Self::Broken => "broken",
        }
    }
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up: {0}")]
pub struct ClientError(#[from] tokio_rustls::rustls::Error);
