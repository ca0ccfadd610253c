//! A URL, taken apart once. Whatever is asked of it later comes from this reading, so that nothing is checked in one
//! reading and called in another.

use std::net::IpAddr;

use http::HeaderValue;
use http::uri::PathAndQuery;
use tokio_rustls::rustls::pki_types::ServerName;
use url::{Host, Url};

use crate::{MAX_URL_BYTES, OutboundError, Policy};

pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) host: TargetHost,
    pub(crate) port: u16,
    pub(crate) is_https: bool,
    /// What the `Host` header says.
    pub(crate) authority: HeaderValue,
    /// What the request line says: path and query.
    pub(crate) path_and_query: PathAndQuery,
    /// Whom the certificate must be for. A name is also sent in the handshake, an address is not.
    pub(crate) server_name: ServerName<'static>,
}

pub(crate) enum TargetHost {
    Name(String),
    Address(IpAddr),
}

impl Target {
    pub(crate) fn parse(policy: &Policy, text: &str) -> Result<Self, OutboundError> {
        if text.len() > MAX_URL_BYTES {
            return Err(OutboundError::BadUrl("The URL must be at most 4096 bytes long."));
        }
        let malformed = OutboundError::BadUrl("The URL must be an absolute one such as https://hooks.example/path.");
        let url = Url::parse(text).map_err(|_| malformed.clone())?;
        let is_https = match url.scheme() {
            "https" => true,
            "http" if policy.allow_http => false,
            _ => {
                let allowed = if policy.allow_http { "https:// or http://" } else { "https://" };
                return Err(OutboundError::ForbiddenScheme { allowed });
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OutboundError::BadUrl("The URL must not contain a user name or a password."));
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => TargetHost::Name(name.to_owned()),
            Some(Host::Ipv4(address)) => TargetHost::Address(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => TargetHost::Address(IpAddr::V6(address)),
            None => return Err(malformed),
        };
        let server_name = match &host {
            TargetHost::Name(name) => ServerName::try_from(name.clone())
                .map_err(|_| OutboundError::BadUrl("The URL has an invalid host name."))?,
            TargetHost::Address(address) if policy.permits(*address) => ServerName::from(*address),
            TargetHost::Address(_) => return Err(OutboundError::ForbiddenAddress),
        };
        let port = match url.port_or_known_default() {
            Some(port) if port != 0 => port,
            _ => return Err(OutboundError::BadUrl("The port of the URL must be from 1 to 65535.")),
        };

        let unsendable = OutboundError::BadUrl("The URL contains characters that cannot be sent.");
        let host_text = url.host_str().unwrap_or_default();
        let authority = match url.port() {
            Some(port) => format!("{host_text}:{port}"),
            None => host_text.to_owned(),
        };
        let authority = HeaderValue::try_from(authority).map_err(|_| unsendable.clone())?;
        let path_and_query = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let path_and_query = PathAndQuery::try_from(path_and_query).map_err(|_| unsendable)?;
        Ok(Self { host, port, is_https, authority, path_and_query, server_name, url })
    }
}
