//! REST: what features offer, behind one envelope.
//!
//! The `envelope` gives every request its id, its headers, its log line and its problem
//! answer. Extractors refuse what is malformed before a feature sees it.

mod address;
mod arriving;
mod cors;
mod csrf;
mod deadline;
mod envelope;
mod etag;
mod extract;
mod impatient;
mod leftover;
mod multipart;
mod openapi;
mod page;
mod peers;
mod piecewise;
mod server;
mod unread;
mod web;

use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use bytes::Bytes;
use utoipa_axum::router::OpenApiRouter;

use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::surfaces::mcp::Offer;

pub(crate) use arriving::Reading;
pub use etag::{WithEtag, expected_revision, with_etag};
pub use extract::{Anonymous, Body, Commander, Device, Form, NoBody, OptionalBody, Path, Query, RawBody, Visitor};
pub(crate) use extract::{
    MAX_BODY_BYTES, admit_write, announced_length, begin_body, call as call_of, keep_counted, note_owner,
    read_body as read_whole_body, require_json,
};
pub use multipart::FileForm;
pub(crate) use page::{FormTarget, STYLE_SHEET, html_page};
pub use piecewise::piecewise_body;
pub(crate) use server::serve;

/// A feature's routes, with their descriptions.
pub type ApiRouter = OpenApiRouter<Hub>;

/// Everything that answers HTTP.
pub(crate) fn router(hub: &Hub, routes: ApiRouter, offer: Offer) -> Result<Router, HubError> {
    let (routes, description) = routes.split_for_parts();
    let operations = openapi::operations(&description);
    let description = Bytes::from(openapi::complete(description).map_err(HubError::internal)?);
    let state = envelope::EnvelopeState::new(hub.clone(), operations);
    Ok(routes
        .merge(super::mcp::router(hub, offer))
        .route(
            "/api/openapi.json",
            get(move || {
                let description = description.clone();
                let is_shared = Extension(unread::Shared);
                async move { ([(header::CONTENT_TYPE, "application/json")], is_shared, description).into_response() }
            }),
        )
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(state, envelope::envelope))
        .with_state(hub.clone()))
}

async fn no_such_route(
    State(hub): State<Hub>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HubError> {
    web::serve(&method, &uri, &headers, extract::has_session(&hub, &headers))
}

async fn no_such_method(method: Method) -> HubError {
    let detail = format!("{method} not allowed; see the Allow header.");
    HubError::new(ErrorKind::MethodNotAllowed, "method_not_allowed", detail)
}
