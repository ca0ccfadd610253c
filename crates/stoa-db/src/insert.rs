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

/// The number of a row, which is its place in the order of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    pub number: i64,
    /// The time of the row, if its table [has one](Insert::timed); otherwise that of its command.
    pub at_ms: i64,
}

impl Insert {
    pub const fn new(table: &'static str, key: &'static str, columns: &'static [&'static str]) -> Self {
        Self { table, key, columns, time: None, sqlite: OnceLock::new(), postgres: OnceLock::new() }
    }

    /// Has times in this column go the same way as the numbers: a row gets the time that it is given, but none before that of
    /// the row before it. A command may have waited or been tried again, and clocks may be set back.
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
            let value = |index: usize| match self.time.filter(|time| *time == self.columns[index]) {
                None => format!("${}", index + 1),
                Some(time) => match engine {
                    Engine::Sqlite => format!(
                        "max(${}, coalesce((select {time} from {table} order by {key} desc limit 1), 0))",
                        index + 1
                    ),
                    Engine::Postgres => next_time(&format!("${}", index + 1)),
                },
            };
            let values: Vec<String> = (0..self.columns.len()).map(value).collect();
            let time = self.time.map(|time| format!(", {time} as at")).unwrap_or_default();
            format!("insert into {table} ({columns}) values ({}) returning {key} as number{time}", values.join(", "))
        })
    }
}

/// Makes the sequence that remembers the latest time on PostgreSQL. A transaction does not see what others have committed since it
/// began, but it sees a sequence as it is.
pub(crate) const CREATE_TIMES: &str = "create sequence if not exists commit_times minvalue 0 start 0";

/// The time `now`, but none before the latest. Those who ask hold the order of commits.
pub(crate) fn next_time(now: &str) -> String {
    format!("setval('commit_times', greatest({now}::bigint, (select last_value from commit_times)))")
}
