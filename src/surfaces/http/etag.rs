//! Revisions as ETags: a change can ask that nobody changed the thing since it was read.

use axum::Json;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::AppendHeaders;

use crate::error::{ErrorKind, HubError};

pub type WithEtag<T> = (AppendHeaders<[(HeaderName, HeaderValue); 1]>, Json<T>);

pub fn with_etag<T>(revision: i64, view: T) -> Result<WithEtag<T>, HubError> {
    let etag = HeaderValue::try_from(format!("\"{revision}\"")).map_err(HubError::internal)?;
    Ok((AppendHeaders([(header::ETAG, etag)]), Json(view)))
}

/// The revision that the caller read, if they said which. One that we never gave out matches nothing.
pub fn expected_revision(headers: &HeaderMap) -> Result<Option<i64>, HubError> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    if value == "*" {
        return Ok(None);
    }
    let revision = value.to_str().ok().and_then(|text| text.strip_prefix('"')?.strip_suffix('"')?.parse().ok());
    revision.map(Some).ok_or_else(|| {
        HubError::new(ErrorKind::PreconditionFailed, "precondition_failed", "Invalid ETag.")
            .hint("Send the ETag from when you read the resource.")
    })
}
