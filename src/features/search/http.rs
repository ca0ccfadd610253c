use axum::Json;
use axum::extract::State;
use stoa_model::search::{Hit, SearchPage};
use utoipa_axum::routes;

use super::service::{self, SearchQuery};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::OffsetQuery;
use crate::surfaces::http::{ApiRouter, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new().routes(routes!(search_messages))
}

/// Searches the messages the caller can see, newest first.
#[utoipa::path(get, path = "/api/messages/search", tag = "messages", params(SearchQuery, OffsetQuery),
    responses((status = 200, body = SearchPage)), security(("session" = []), ("bearer" = [])))]
async fn search_messages(
    State(hub): State<Hub>,
    actor: Actor,
    Query(search): Query<SearchQuery>,
    Query(list): Query<OffsetQuery>,
) -> Result<Json<SearchPage>, HubError> {
    let found = service::search(&hub, &actor, search, list).await?;
    let items = found.items.into_iter().map(|hit| Hit { snippet: hit.excerpt.to_html(), message: hit.message });
    Ok(Json(SearchPage {
        items: items.collect(),
        total: found.total,
        total_capped: found.total_capped,
        offset: found.offset,
        indexing: found.is_indexing,
    }))
}
