//! The web page: files that `build.rs` put into the binary, each in the forms that browsers take.

use std::collections::HashMap;
#[cfg(debug_assertions)]
use std::ffi::OsStr;
#[cfg(debug_assertions)]
use std::fs;
#[cfg(debug_assertions)]
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use axum::body::Body;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::unread::Shared;
use crate::error::{ErrorKind, HubError};

struct File {
    path: &'static str,
    plain: &'static [u8],
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
}

static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/web.rs"));

const INDEX: &str = "/index.html";
/// Files below this have their content in their name, so they never change.
const HASHED: &str = "/assets/";
/// Below these are no pages.
const APART: [&str; 10] =
    ["/api", "/auth", "/oauth", "/mcp", "/machine", "/hooks", "/metrics", "/healthz", "/readyz", "/.well-known"];

/// How much of an address is said back to who asked for it.
const LONGEST_SHOWN: usize = 200;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
     font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types dompurify";

const MISSING: &str = "<!doctype html><html lang=\"en\"><title>Stoa</title><h1>This hub was built without its web page</h1>\
     <p>Everything else works: REST, MCP, the command line, <a href=\"/login\">logging in</a>.</p>\
     <p>To have the page, install Node 20.19 or newer and run <code>make run</code>.</p></html>";

/// A form of a file.
struct Variant {
    bytes: &'static [u8],
    /// What `Content-Encoding` says.
    encoding: Option<&'static str>,
    etag: String,
}

struct Asset {
    mime_type: &'static str,
    is_hashed: bool,
    /// The best one first.
    variants: Vec<Variant>,
}

static ASSETS: LazyLock<HashMap<&'static str, Asset>> = LazyLock::new(|| {
    let files = from_disk().unwrap_or(FILES);
    files.iter().map(|file| (file.path, Asset::of(file))).collect()
});

/// The page of the folder that `STOA_DEV_WEB` names, so that a developer's change of the page needs no new binary. Releases only
/// have the page that they were built with.
#[cfg(debug_assertions)]
fn from_disk() -> Option<&'static [File]> {
    fn add(root: &Path, folder: &Path, files: &mut Vec<File>) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let variant = |extension: &str| -> Option<&'static [u8]> {
                Some(fs::read(format!("{}.{extension}", path.display())).ok()?.leak())
            };
            if path.is_dir() {
                add(root, &path, files)?;
            } else if let Ok(name) = path.strip_prefix(root)
                && !matches!(path.extension().and_then(OsStr::to_str), Some("br" | "gz"))
            {
                let (brotli, gzip) = (variant("br"), variant("gz"));
                let name = format!("/{}", name.display()).leak();
                files.push(File { path: name, plain: fs::read(&path)?.leak(), brotli, gzip });
            }
        }
        Ok(())
    }
    let root = PathBuf::from(std::env::var_os("STOA_DEV_WEB")?);
    let mut files = Vec::new();
    add(&root, &root, &mut files).ok()?;
    Some(files.leak())
}

#[cfg(not(debug_assertions))]
fn from_disk() -> Option<&'static [File]> {
    None
}

impl Asset {
    fn of(file: &File) -> Self {
        let digest: String = Sha256::digest(file.plain).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let forms = [(file.brotli, Some("br")), (file.gzip, Some("gzip")), (Some(file.plain), None)];
        let variants = forms.into_iter().filter_map(|(bytes, encoding)| {
            let etag = format!("\"{digest}{}\"", encoding.map(|name| format!("-{name}")).unwrap_or_default());
            bytes.map(|bytes| Variant { bytes, encoding, etag })
        });
        let extension = file.path.rsplit_once('.').map_or("", |(_, extension)| extension);
        Self { mime_type: mime_type(extension), is_hashed: file.path.starts_with(HASHED), variants: variants.collect() }
    }
}

fn mime_type(extension: &str) -> &'static str {
    match extension {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// What is at an address that nothing else answers: a file, a page, or nothing.
///
/// `has_session` says whether the browser sent a session, good or not.
pub(super) fn serve(method: &Method, uri: &Uri, headers: &HeaderMap, has_session: bool) -> Result<Response, HubError> {
    let path = uri.path();
    let nothing = || {
        let shown: String = path.chars().take(LONGEST_SHOWN).collect();
        let dots = if shown.len() < path.len() { "…" } else { "" };
        HubError::new(ErrorKind::NotFound, "not_found", format!("Unknown endpoint {shown}{dots}."))
            .hint("See /api/openapi.json.")
    };
    let is_apart =
        APART.iter().any(|apart| path.strip_prefix(apart).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    if is_apart || !matches!(*method, Method::GET | Method::HEAD) {
        return Err(nothing());
    }
    if let Some(asset) = ASSETS.get(path) {
        return Ok(answer(asset, headers));
    }
    // A file that is gone must not be answered with a page: the browser would take it for a script.
    let wants_page =
        headers.get(header::ACCEPT).is_some_and(|kinds| kinds.to_str().is_ok_and(|kinds| kinds.contains("text/html")));
    if path.starts_with(HASHED) || !wants_page {
        return Err(nothing());
    }
    if !has_session {
        // Nobody is logged in, which the page would find out a moment later.
        let next: String =
            form_urlencoded::byte_serialize(uri.path_and_query().map_or("/", PathAndQuery::as_str).as_bytes())
                .collect();
        return Ok(Redirect::to(&format!("/login?next={next}")).into_response());
    }
    match ASSETS.get(INDEX) {
        Some(index) => Ok(answer(index, headers)),
        None => Ok((StatusCode::OK, Html(MISSING)).into_response()),
    }
}

fn answer(asset: &Asset, headers: &HeaderMap) -> Response {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let takes = |encoding: &str| {
        accepted.split(',').any(|offer| {
            let (name, quality) = offer.split_once(';').unwrap_or((offer, ""));
            name.trim().eq_ignore_ascii_case(encoding)
                && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
        })
    };
    let variant = asset.variants.iter().find(|variant| variant.encoding.is_none_or(takes));
    let Some(variant) = variant else { return StatusCode::NOT_ACCEPTABLE.into_response() };
    let is_known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).is_some_and(|known| {
        known.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == variant.etag)
    });
    let mut response = Response::new(Body::empty());
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        *response.body_mut() = Body::from(Bytes::from_static(variant.bytes));
        response.extensions_mut().insert(Shared);
    }
    let caching = if asset.is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.mime_type));
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    fields.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    fields.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    if let Ok(etag) = HeaderValue::try_from(&variant.etag) {
        fields.insert(header::ETAG, etag);
    }
    if let Some(encoding) = variant.encoding {
        fields.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}
