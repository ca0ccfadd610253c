use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use stoa_model::page::CountedPage;
use stoa_model::traces::{ExportFormat, ExportWriter, TraceStats, TraceView};
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::service::{self, Export, TraceQuery};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::OffsetQuery;
use crate::surfaces::http::{ApiRouter, Query, piecewise_body};

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(list_traces)).routes(routes!(export_traces)).routes(routes!(trace_stats))
}

/// Lists calls by the caller and their agents, newest first. Agents see only their own calls.
#[utoipa::path(get, path = "/api/traces", tag = "traces", params(TraceQuery, OffsetQuery),
    responses((status = 200, body = CountedPage<TraceView>)), security(("session" = []), ("bearer" = [])))]
async fn list_traces(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<TraceQuery>,
    Query(list): Query<OffsetQuery>,
) -> Result<Json<CountedPage<TraceView>>, HubError> {
    let CountedPage { items, total, offset } = service::list_traces(&hub, &actor, query, None, list).await?;
    let items = items.into_iter().map(|owned| owned.trace).collect();
    Ok(Json(CountedPage { items, total, offset }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct FormatQuery {
    /// A JSON array (default) or CSV.
    #[serde(default)]
    #[param(inline)]
    format: ExportFormat,
}

/// Exports traces as a file, newest first. If the export fails, the response is cut off.
#[utoipa::path(get, path = "/api/traces/export", tag = "traces", params(FormatQuery, TraceQuery),
    responses((status = 200, content((Vec<TraceView> = "application/json"), (String = "text/csv")))),
    security(("session" = []), ("bearer" = [])))]
async fn export_traces(
    State(hub): State<Hub>,
    actor: Actor,
    Query(FormatQuery { format }): Query<FormatQuery>,
    Query(query): Query<TraceQuery>,
) -> Result<Response, HubError> {
    let export = service::export_traces(&hub, &actor, query).await?;
    let (content_type, disposition) = match format {
        ExportFormat::Json => ("application/json", r#"attachment; filename="traces.json""#),
        ExportFormat::Csv => ("text/csv; charset=utf-8; header=present", r#"attachment; filename="traces.csv""#),
    };
    let file = File { export, writer: ExportWriter::new(format, false), progress: Progress::Nothing };
    let body = piecewise_body(hub, actor.call.request_id.clone(), file, File::next_piece);
    Ok(([(header::CONTENT_TYPE, content_type), (header::CONTENT_DISPOSITION, disposition)], body).into_response())
}

/// An export that is being written.
struct File {
    export: Export,
    writer: ExportWriter,
    progress: Progress,
}

#[derive(PartialEq)]
enum Progress {
    Nothing,
    Begun,
    Done,
}

impl File {
    /// A page of it, and itself for the next; none when it is complete.
    async fn next_piece(mut self) -> Result<Option<(Bytes, Self)>, HubError> {
        if self.progress == Progress::Done {
            return Ok(None);
        }
        let mut text = String::new();
        if self.progress == Progress::Nothing {
            self.writer.begin(&mut text);
            self.progress = Progress::Begun;
        }
        let page = self.export.next_page().await?;
        for trace in &page {
            self.writer.push(&mut text, trace).map_err(HubError::internal)?;
        }
        if page.is_empty() {
            self.writer.end(&mut text);
            self.progress = Progress::Done;
        }
        Ok(Some((text.into(), self)))
    }
}

/// Returns call counts and failures per action.
#[utoipa::path(get, path = "/api/traces/stats", tag = "traces", params(TraceQuery),
    responses((status = 200, body = TraceStats)), security(("session" = []), ("bearer" = [])))]
async fn trace_stats(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<TraceQuery>,
) -> Result<Json<TraceStats>, HubError> {
    Ok(Json(service::trace_stats(&hub, &actor, query, None).await?))
}
