//! Tables whose rows are numbered in the order of their commits.

use std::sync::OnceLock;

/// A table to which rows are added in the order of their commits: who has read up to a number has missed nothing below it.
///
/// Its column `key` is an identity. Every writer of the table goes through [`Tx::append`](crate::Tx::append) or
/// [`Tx::append_numbered`](crate::Tx::append_numbered), which see to the order.
pub struct Insert {
    pub(crate) table: &'static str,
    pub(crate) key: &'static str,
    pub(crate) columns: &'static [&'static str],
    one: OnceLock<String>,
}

impl Insert {
    pub const fn new(table: &'static str, key: &'static str, columns: &'static [&'static str]) -> Self {
        Self { table, key, columns, one: OnceLock::new() }
    }

    /// Inserts one row and returns its number.
    pub(crate) fn one(&self) -> &str {
        self.one.get_or_init(|| {
            let places: Vec<String> = (1..=self.columns.len()).map(|number| format!("${number}")).collect();
            let (table, columns, key) = (self.table, self.columns.join(", "), self.key);
            format!("insert into {table} ({columns}) values ({}) returning {key} as number", places.join(", "))
        })
    }
}
