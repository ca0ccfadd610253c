//! What pages of other sites may call: the OAuth endpoints that programs in a browser need. Never with cookies.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

const OPEN: [&str; 5] = ["/oauth/token", "/oauth/register", "/oauth/revoke", "/token", "/register"];
const OPEN_FOLDERS: [&str; 2] = ["/.well-known/", "/oauth/register/"];

const HEADERS: [(HeaderName, &str); 2] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, "WWW-Authenticate, Retry-After, Mcp-Session-Id, MCP-Protocol-Version"),
];
const PREFLIGHT_HEADERS: [(HeaderName, &str); 3] = [
    (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE, OPTIONS"),
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID",
    ),
    (header::ACCESS_CONTROL_MAX_AGE, "7200"),
];

fn is_open(path: &str) -> bool {
    OPEN.contains(&path) || OPEN_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// The answer to a browser that asks whether a page may call.
pub(super) fn preflight(method: &Method, path: &str) -> Option<Response> {
    if method != Method::OPTIONS || !is_open(path) {
        return None;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    insert(response.headers_mut(), &PREFLIGHT_HEADERS);
    Some(response)
}

/// Lets the page that called read the answer.
pub(super) fn add_headers(path: &str, headers: &mut HeaderMap) {
    if is_open(path) {
        insert(headers, &HEADERS);
    }
}

fn insert(headers: &mut HeaderMap, values: &[(HeaderName, &'static str)]) {
    for (name, value) in values {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
