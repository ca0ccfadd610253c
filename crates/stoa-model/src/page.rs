//! Lists that come in pages.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const DEFAULT_LIMIT: u32 = 50;
pub const MAX_LIMIT: u32 = 200;

/// One page of a list, and where the next one starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Send this as `cursor` to get the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// How far into a list one can jump. Whoever wants more reads it to its end: exports do.
pub const MAX_OFFSET: i64 = 1_000_000;

/// One page of a list that is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CountedPage<T> {
    pub items: Vec<T>,
    /// Total number of items.
    pub total: i64,
    /// Number of items before this page.
    pub offset: i64,
}
