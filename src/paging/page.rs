//! Pages: how a caller asks for one, and how it is cut.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stoa_model::page::{DEFAULT_LIMIT, MAX_LIMIT, MAX_OFFSET, Page};
use utoipa::IntoParams;

use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::cursor;

#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Maximum number of items. Default 50, at most 200.
    #[serde(default)]
    #[param(minimum = 1, default = 50)]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page.
    #[serde(default)]
    pub cursor: Option<String>,
}

impl ListQuery {
    pub fn limit(&self) -> Result<i64, HubError> {
        effective_limit(self.limit)
    }

    /// Where the page begins, if it is not the first. `list` names the list and its filters.
    pub fn position<P: DeserializeOwned>(&self, hub: &Hub, actor: &Actor, list: &str) -> Result<Option<P>, HubError> {
        self.cursor.as_ref().map(|cursor| cursor::read(&hub.keys(), actor, list, cursor)).transpose()
    }
}

/// For lists that are counted, and can be entered anywhere.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OffsetQuery {
    /// Number of items to skip.
    #[serde(default)]
    #[param(minimum = 0, maximum = 1_000_000, default = 0)]
    pub offset: Option<i64>,
    /// Maximum number of items. Default 50, at most 200.
    #[serde(default)]
    #[param(minimum = 1, default = 50)]
    pub limit: Option<i64>,
}

impl OffsetQuery {
    pub fn limit(&self) -> Result<i64, HubError> {
        effective_limit(self.limit)
    }

    pub fn offset(&self) -> Result<i64, HubError> {
        match self.offset.unwrap_or(0) {
            offset if (0..=MAX_OFFSET).contains(&offset) => Ok(offset),
            _ => Err(HubError::invalid_field("offset", format!("must be from 0 to {MAX_OFFSET}"))),
        }
    }
}

fn effective_limit(limit: Option<i64>) -> Result<i64, HubError> {
    match limit {
        None => Ok(i64::from(DEFAULT_LIMIT)),
        Some(limit) if limit >= 1 => Ok(limit.min(i64::from(MAX_LIMIT))),
        Some(_) => Err(HubError::invalid_field("limit", "must be at least 1")),
    }
}

/// A page that is complete, or is known to have more behind it.
pub fn page_with<P: Serialize, T>(
    hub: &Hub,
    actor: &Actor,
    list: &str,
    rows: Vec<(P, T)>,
    has_more: bool,
) -> Result<Page<T>, HubError> {
    let next_cursor = match rows.last() {
        Some((position, _)) if has_more => Some(cursor::issue(&hub.keys(), actor, list, position)?),
        _ => None,
    };
    Ok(Page { items: rows.into_iter().map(|(_, item)| item).collect(), next_cursor })
}

/// Cuts a page from rows of which one more than `limit` was asked for, each with its position.
pub fn page_of<P: Serialize, T>(
    hub: &Hub,
    actor: &Actor,
    list: &str,
    mut rows: Vec<(P, T)>,
    limit: i64,
) -> Result<Page<T>, HubError> {
    let limit = usize::try_from(limit).unwrap_or(0);
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    page_with(hub, actor, list, rows, has_more)
}
