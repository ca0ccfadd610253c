//! Pages of lists: limits, offsets, and signed cursors.

pub mod cursor;
mod page;

pub use page::{ListQuery, OffsetQuery, page_of, page_with};
