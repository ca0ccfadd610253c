//! Calling the hub over HTTP, as anybody would.

use std::future::IntoFuture;
use std::pin::Pin;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// How a caller proves who they are.
#[derive(Clone, Debug)]
pub(crate) enum Proof {
    Nothing,
    /// The whole value of the Cookie header.
    Cookie(String),
    Bearer(String),
}

/// Keeps no cookies, as the one that there is is handled by hand, and follows no redirect, which is an answer to look at.
#[expect(clippy::disallowed_methods, reason = "calls only the hub that is tested")]
pub(crate) fn http_client() -> reqwest::Client {
    // The hub closes connections that are idle for ten seconds. A large body that is sent in that moment is lost.
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .pool_idle_timeout(std::time::Duration::from_secs(5));
    // This feature brings TLS along, which has to be set up though no test speaks it here.
    #[cfg(feature = "s3")]
    let client = {
        let _ = rustls::crypto::ring::default_provider().install_default();
        client.tls_certs_only([])
    };
    client.build().unwrap()
}

/// Somebody who calls the hub.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    pub(crate) proof: Proof,
}

impl Client {
    pub(crate) fn new(base: String) -> Self {
        Self { http: http_client(), base, proof: Proof::Nothing }
    }

    /// The same caller with another credential.
    pub(crate) fn with(&self, proof: Proof) -> Self {
        Self { proof, ..self.clone() }
    }

    pub(crate) fn bearer(&self, key: &str) -> Self {
        self.with(Proof::Bearer(key.to_owned()))
    }

    pub(crate) fn cookie(&self, cookie: &str) -> Self {
        self.with(Proof::Cookie(cookie.to_owned()))
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.http.request(method.clone(), format!("{}{path}", self.base));
        let request = match &self.proof {
            Proof::Nothing => request,
            Proof::Cookie(cookie) => request.header("cookie", cookie),
            Proof::Bearer(key) => request.header("authorization", format!("Bearer {key}")),
        };
        Call { request, what: format!("{method} {path}"), may_fail: false }
    }

    pub(crate) fn get(&self, path: &str) -> Call {
        self.call("GET", path)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Call {
        self.call("POST", path).json(body)
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Call {
        self.call("PUT", path).json(body)
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Call {
        self.call("PATCH", path).json(body)
    }

    pub(crate) fn delete(&self, path: &str) -> Call {
        self.call("DELETE", path)
    }

    /// All items of a list, page by page.
    pub(crate) async fn list(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = self.get(&format!("{path}?limit=200{cursor}")).await.ok().json();
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    }
}

/// A request that is sent by awaiting it.
pub(crate) struct Call {
    request: reqwest::RequestBuilder,
    what: String,
    may_fail: bool,
}

impl Call {
    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.request = self.request.header(name, value.as_ref());
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub(crate) fn body(mut self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.header("content-type", content_type).body(body);
        self
    }

    /// Without a content type.
    pub(crate) fn bare_body(mut self, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.body(body);
        self
    }

    /// Sends the request and leaves the body of the answer to the caller.
    pub(crate) async fn open(self) -> reqwest::Response {
        self.request.send().await.unwrap_or_else(|error| panic!("{}: {error:?}", self.what))
    }

    /// The same; none if the connection breaks.
    pub(crate) async fn try_open(self) -> Option<reqwest::Response> {
        self.request.send().await.ok()
    }

    /// Sends the request; none if the connection breaks.
    pub(crate) async fn attempt(self) -> Option<Reply> {
        self.exchange().await.ok()
    }

    async fn exchange(self) -> Result<Reply, reqwest::Error> {
        let answer = self.request.send().await?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = answer.bytes().await?.to_vec();
        let reply = Reply { what: self.what, status, headers, body };
        assert!(self.may_fail || status < 500, "the hub failed: {reply:?}");
        assert!(reply.header("x-request-id").is_some(), "no request id: {reply:?}");
        Ok(reply)
    }

    /// For the few tests in which the hub is made to fail.
    pub(crate) fn may_fail(mut self) -> Self {
        self.may_fail = true;
        self
    }
}

impl IntoFuture for Call {
    type Output = Reply;
    type IntoFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let what = self.what.clone();
            self.exchange().await.unwrap_or_else(|error| panic!("{what}: {error:?}"))
        })
    }
}

/// An answer. Its checks panic with all of it.
#[derive(Clone)]
pub(crate) struct Reply {
    what: String,
    status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Of a page, what it says matters, not how it looks.
        let text = self.text();
        let (before, after) = text.split_once("<style>").unwrap_or((&text, ""));
        let after = after.split_once("</style>").map_or("", |(_, after)| after);
        write!(formatter, "{} -> {} {before}{after}", self.what, self.status)
    }
}

impl Reply {
    pub(crate) fn code(&self) -> u16 {
        self.status
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!((200..300).contains(&self.status), "expected success: {self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn status(self, expected: u16) -> Self {
        assert_eq!(self.status, expected, "{self:?}");
        self
    }

    /// A refusal in the one shape that refusals have.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["code"], code, "{self:?}");
        assert_eq!(problem["status"], status, "{self:?}");
        assert!(problem["type"].as_str().is_some_and(|kind| kind.ends_with(&format!("/problems/{code}"))), "{self:?}");
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{self:?}");
        assert_eq!(problem["request_id"].as_str(), self.header("x-request-id"), "{self:?}");
        self
    }

    /// A 422 that names exactly these fields.
    #[track_caller]
    pub(crate) fn invalid(self, fields: &[&str]) -> Self {
        let reply = self.problem(422, "validation_failed");
        let errors = reply.json()["errors"].as_array().cloned().unwrap_or_default();
        let named: Vec<_> = errors.iter().map(|error| error["field"].as_str().unwrap_or("?")).collect();
        assert_eq!(named, fields, "{reply:?}");
        reply
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// `name=value` of the cookie by which the browser is known at its next login.
    #[track_caller]
    pub(crate) fn device(&self) -> String {
        let cookies = self.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
        let device = cookies.into_iter().find(|cookie| cookie.contains("stoa_device="));
        device.unwrap_or_else(|| panic!("no device cookie: {self:?}")).split(';').next().unwrap().to_owned()
    }

    /// `name=value` of the cookie that the answer sets.
    #[track_caller]
    pub(crate) fn cookie(&self) -> String {
        let cookie = self.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {self:?}"));
        cookie.split(';').next().unwrap().to_owned()
    }

    pub(crate) fn is_replay(&self) -> bool {
        self.header("idempotency-replayed") == Some("true")
    }
}
