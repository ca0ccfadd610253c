use axum::Json;
use axum::extract::State;
use stoa_model::audit::AuditEntry;
use stoa_model::page::Page;
use utoipa_axum::routes;

use super::service::{self, AuditQuery};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(list_entries))
}

/// Lists the audit log, newest first.
#[utoipa::path(get, path = "/api/admin/audit", tag = "admin", params(AuditQuery, ListQuery),
    responses((status = 200, body = Page<AuditEntry>)), security(("session" = [])))]
async fn list_entries(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<AuditQuery>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<AuditEntry>>, HubError> {
    Ok(Json(service::list_entries(&hub, &actor, query, list).await?))
}
