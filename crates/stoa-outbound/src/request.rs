//! What is sent, and what comes back.

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, PROXY_AUTHORIZATION, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::Full;

use crate::OutboundError;
use crate::target::Target;

/// Headers that say how a message travels. Two opinions about that are a way to smuggle a second request.
const RESERVED: [HeaderName; 11] = [
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// A request to a URL that somebody else has chosen.
#[derive(Clone)]
pub struct Request {
    method: Method,
    pub(crate) url: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Request {
    pub fn get(url: impl Into<String>) -> Self {
        Self { method: Method::GET, url: url.into(), headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { method: Method::POST, url: url.into(), headers: HeaderMap::new(), body: body.into() }
    }

    /// Adds a header; a name may come more than once. Those that say how the message travels (`Host`,
    /// `Content-Length`, `Connection` and the like) are refused when the request is sent.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    pub(crate) fn check_headers(&self) -> Result<(), OutboundError> {
        match RESERVED.iter().find(|name| self.headers.contains_key(*name)) {
            Some(name) => Err(OutboundError::ReservedHeader(name.clone())),
            None => Ok(()),
        }
    }

    pub(crate) fn into_message(self, target: &Target) -> http::Request<Full<Bytes>> {
        let mut headers = self.headers;
        headers.insert(HOST, target.authority.clone());
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        // Nothing is decompressed here, so better that nothing comes compressed.
        headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("identity"));
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static("Stoa"));
        if self.method == Method::POST {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(self.body.len()));
        }
        let mut message = http::Request::new(Full::new(self.body));
        *message.method_mut() = self.method;
        *message.uri_mut() = target.path_and_query.clone().into();
        *message.headers_mut() = headers;
        message
    }
}

/// What the server answered, whatever its status: also a redirect is an answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// As it was sent: compressed, if the server insisted.
    pub body: Bytes,
    /// Whether there was more than the limit, which was not read.
    pub is_cut: bool,
    /// False if the operator had to allow the network of the server. Who chose the URL may not be allowed to read what is in there.
    pub is_from_public_address: bool,
}
