//! Tables whose rows are numbered in the order of their commits.

use std::sync::OnceLock;

use crate::Engine;

/// A table to which rows are added in the order of their commits: who has read up to a number has missed nothing below it.
///
/// Its column `key` is an identity. Every writer of the table goes through [`Tx::append`](crate::Tx::append) or
/// [`Tx::append_numbered`](crate::Tx::append_numbered), which see to the order.
pub struct Insert {
    pub(crate) table: &'static str,
    pub(crate) key: &'static str,
    pub(crate) columns: &'static [&'static str],
    time: Option<&'static str>,
    sqlite: OnceLock<String>,
    postgres: OnceLock<String>,
}

/// How far the time of a row may be ahead of the clock of the next one.
pub const MOST_AHEAD_MS: i64 = 60_000;

/// The number of a row, which is its place in the order of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    pub number: i64,
    /// The time of the row, if its table [has one](Insert::timed); otherwise the time of its batch.
    pub at_ms: i64,
}

impl Insert {
    pub const fn new(table: &'static str, key: &'static str, columns: &'static [&'static str]) -> Self {
        Self { table, key, columns, time: None, sqlite: OnceLock::new(), postgres: OnceLock::new() }
    }

    /// Keeps the times in this column in the order of the numbers. A row gets the time that it is given, or the time of the previous
    /// row if that is later: a command may have waited or been retried, and a clock may have been set back. If the previous
    /// row is more than a minute ahead, its clock was wrong, and the row gets the time that it is given.
    ///
    /// On PostgreSQL the migrations have to make a sequence `commit_times`, which remembers the latest time.
    pub const fn timed(mut self, column: &'static str) -> Self {
        self.time = Some(column);
        self
    }

    /// The place of the time among the columns.
    pub(crate) fn time_index(&self) -> Option<usize> {
        self.time.and_then(|time| self.columns.iter().position(|column| *column == time))
    }

    /// Inserts one row and returns its number, and its time if it has one.
    pub(crate) fn one(&self, engine: Engine) -> &str {
        let text = match engine {
            Engine::Sqlite => &self.sqlite,
            Engine::Postgres => &self.postgres,
        };
        text.get_or_init(|| {
            let (table, columns, key) = (self.table, self.columns.join(", "), self.key);
            let value = |index: usize| {
                let given = format!("${}", index + 1);
                match (self.time.filter(|time| *time == self.columns[index]), engine) {
                    (None, _) => given,
                    (Some(time), Engine::Sqlite) => {
                        let latest = format!("coalesce((select {time} from {table} order by {key} desc limit 1), 0)");
                        later(&latest, &given)
                    }
                    (Some(_), Engine::Postgres) => next_time(&given),
                }
            };
            let values: Vec<String> = (0..self.columns.len()).map(value).collect();
            let time = self.time.map(|time| format!(", {time} as at")).unwrap_or_default();
            format!("insert into {table} ({columns}) values ({}) returning {key} as number{time}", values.join(", "))
        })
    }
}

/// The time of the next row on PostgreSQL. The caller holds the order of commits.
pub(crate) fn next_time(given: &str) -> String {
    let next = later("last_value", &format!("{given}::bigint"));
    format!("setval('commit_times', (select {next} from commit_times))")
}

/// The later of two times, unless the latest is so far ahead that it must be wrong.
fn later(latest: &str, given: &str) -> String {
    format!("case when {latest} between {given} and {given} + {MOST_AHEAD_MS} then {latest} else {given} end")
}
