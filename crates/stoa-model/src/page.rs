//! Lists that come in pages.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const DEFAULT_LIMIT: u32 = 50;
pub const MAX_LIMIT: u32 = 200;

/// One page of a list, and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Give this back as `cursor` to get the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// How far into a list one can jump. Whoever wants more reads it to its end: exports do.
pub const MAX_OFFSET: i64 = 1_000_000;

/// One page of a list that is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CountedPage<T> {
    pub items: Vec<T>,
    /// How many there are in all.
    pub total: i64,
    /// How many of them come before this page.
    pub offset: i64,
}
