use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use stoa_model::attachments::{AttachmentDetails, AttachmentView};
use stoa_model::page::Page;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::serving::{self, Wanted};
use super::{reading, upload};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, FileForm, Path, Query, piecewise_body};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(list_attachments, upload_attachment))
        .routes(routes!(download_attachment))
        .routes(routes!(get_attachment_meta))
}

/// The form that an upload is. It is read as it comes, so this only describes it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
struct UploadForm {
    /// One file: an image, a PDF, or text in UTF-8; at most 50 MiB.
    #[schema(value_type = String, format = Binary, content_media_type = "application/octet-stream")]
    file: Vec<u8>,
}

/// Uploads a file. Its type is detected from the content. The same content is stored once.
#[utoipa::path(post, path = "/api/attachments", tag = "attachments",
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 201, body = AttachmentView)), security(("session" = []), ("bearer" = [])))]
async fn upload_attachment(
    State(hub): State<Hub>,
    actor: Actor,
    mut form: FileForm,
) -> Result<(StatusCode, Json<AttachmentView>), HubError> {
    let mut upload = upload::begin(&hub, &actor).await?;
    let filename = form.open().await?;
    let mut is_empty = true;
    while let Some(bytes) = form.next().await? {
        is_empty = false;
        upload = upload.write(bytes).await?;
    }
    form.finish().await?;
    // So a page says that its user has chosen no file.
    if is_empty && filename.as_deref().is_none_or(str::is_empty) {
        return Err(HubError::invalid_field("file", "is empty: choose a file"));
    }
    let kept = upload.finish(&filename.unwrap_or_default()).await?;
    Ok((StatusCode::CREATED, Json(kept)))
}

/// Lists the caller's uploads, newest first.
#[utoipa::path(get, path = "/api/attachments", tag = "attachments", params(ListQuery),
    responses((status = 200, body = Page<AttachmentDetails>)), security(("session" = []), ("bearer" = [])))]
async fn list_attachments(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<AttachmentDetails>>, HubError> {
    Ok(Json(reading::list_own(&hub, &actor, list).await?))
}

/// Returns a file to its uploader and to everyone who can see a message with it. Supports a single `Range`.
#[utoipa::path(get, path = "/api/attachments/{sha256}", tag = "attachments",
    params(("sha256" = String, Path),
        ("Range" = Option<String>, Header, description = "A part of the file, for example `bytes=0-1023`"),
        ("If-Range" = Option<String>, Header, description = "The ETag of the file that the part is of"),
        ("If-None-Match" = Option<String>, Header, description = "ETags that the client has cached")),
    responses((status = 200, description = "The file with its own content type", content_type = "*/*"),
        (status = 206, description = "The part", content_type = "*/*"),
        (status = 304, description = "The client already has it"),
        (status = 416, description = "The range is outside the file", content_type = "application/problem+json")),
    security(("session" = []), ("bearer" = [])))]
async fn download_attachment(
    State(hub): State<Hub>,
    actor: Actor,
    method: Method,
    Path(sha256): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HubError> {
    let file = reading::get(&hub, &actor, sha256).await?;
    let attachment = &file.details.attachment;
    let etag = serving::etag(&attachment.sha256);
    let size = attachment.size.unsigned_abs();
    let mut answered = serving::common_headers(attachment)?;
    if serving::is_known(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, answered).into_response());
    }
    let (status, first, length) = match serving::wanted(&headers, &etag, size) {
        Wanted::Whole => (StatusCode::OK, 0, size),
        Wanted::Part { first, last } => {
            let range = format!("bytes {first}-{last}/{size}");
            answered.insert(header::CONTENT_RANGE, HeaderValue::try_from(range).map_err(HubError::internal)?);
            (StatusCode::PARTIAL_CONTENT, first, last - first + 1)
        }
        Wanted::Nothing => return Ok(not_satisfiable(size)),
    };
    answered.insert(header::CONTENT_TYPE, serving::content_type(&attachment.mime_type)?);
    answered.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    let reader = reading::open(&hub, &file, first, length).await?;
    if method == Method::HEAD {
        return Ok((status, answered).into_response());
    }
    let body: Body =
        piecewise_body(hub, actor.call.request_id.clone(), reader, |reader| async move { Ok(reader.next().await?) });
    Ok((status, answered, body).into_response())
}

fn not_satisfiable(size: u64) -> Response {
    let detail = format!("The range is outside the file, which has {size} bytes.");
    let mut response = HubError::new(ErrorKind::RangeNotSatisfiable, "range_not_satisfiable", detail).into_response();
    if let Ok(range) = HeaderValue::try_from(format!("bytes */{size}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    response
}

/// Returns a file's metadata.
#[utoipa::path(get, path = "/api/attachments/{sha256}/meta", tag = "attachments", params(("sha256" = String, Path)),
    responses((status = 200, body = AttachmentDetails)), security(("session" = []), ("bearer" = [])))]
async fn get_attachment_meta(
    State(hub): State<Hub>,
    actor: Actor,
    Path(sha256): Path<String>,
) -> Result<Json<AttachmentDetails>, HubError> {
    Ok(Json(reading::get(&hub, &actor, sha256).await?.details))
}
