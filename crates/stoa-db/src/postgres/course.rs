//! How far a command has come that runs beside others in one transaction.

use std::sync::Arc;

use tokio_postgres::Row;

use crate::insert::Insert;
use crate::{DbError, OwnedValue, ToValue, Value};

/// What a command has asked so far and what it was answered. It is run from its beginning each time, and finds the
/// answers of the earlier runs here.
#[derive(Default)]
pub(crate) struct Course {
    answered: Vec<(Question, Answer)>,
    /// How many of the answers the present run has used.
    used: usize,
    pub(crate) state: State,
}

/// How a run ended.
#[derive(Default)]
pub(crate) enum State {
    /// It needs no more than it has, and adds these rows.
    Done(Vec<NewRow>),
    Asks(Question),
    /// It does what cannot be done beside others.
    Alone,
    #[default]
    Ready,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Question {
    Query { sql: String, values: Vec<OwnedValue> },
    Number(Table),
}

#[derive(Clone)]
pub(crate) enum Answer {
    Rows(Arc<Vec<Row>>),
    Number(i64),
}

/// A row to be added with the commit.
pub(crate) struct NewRow {
    pub(crate) table: Table,
    pub(crate) number: Option<i64>,
    pub(crate) values: Vec<OwnedValue>,
}

/// One of the tables that rows are appended to, compared by its name.
#[derive(Clone, Copy)]
pub(crate) struct Table(pub(crate) &'static Insert);

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.0.table == other.0.table
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0.table)
    }
}

pub(crate) fn owned(values: &[Value<'_>]) -> Vec<OwnedValue> {
    values.iter().map(|value| OwnedValue::from(*value)).collect()
}

impl Course {
    /// Begins another run.
    pub(crate) fn restart(&mut self) {
        self.used = 0;
        self.state = State::Done(Vec::new());
    }

    /// The answer to a question, or an error that ends this run.
    fn ask(&mut self, question: Question) -> Result<Answer, DbError> {
        match self.answered.get(self.used) {
            Some((asked, answer)) if *asked == question => {
                self.used += 1;
                return Ok(answer.clone());
            }
            // It does not do the same twice, so its answers may be wrong.
            Some(_) => self.state = State::Alone,
            None => self.state = State::Asks(question),
        }
        Err(DbError::Postponed)
    }

    pub(crate) fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Arc<Vec<Row>>, DbError> {
        // Anything else could change what others have read.
        if !sql.starts_with("select") || self.reads_own_rows(sql) {
            return Err(self.refuse());
        }
        match self.ask(Question::Query { sql: sql.to_owned(), values: owned(values) })? {
            Answer::Rows(rows) => Ok(rows),
            Answer::Number(_) => Err(self.refuse()),
        }
    }

    /// Whether a query may be about rows that this command adds. They are not there yet.
    fn reads_own_rows(&self, sql: &str) -> bool {
        matches!(&self.state, State::Done(rows) if rows.iter().any(|row| sql.contains(row.table.0.table)))
    }

    /// Ends the run of a command that has to be run alone.
    pub(crate) fn refuse(&mut self) -> DbError {
        self.state = State::Alone;
        DbError::Postponed
    }

    pub(crate) fn append(&mut self, table: Table, number: Option<i64>, values: &[Value<'_>]) {
        if let State::Done(rows) = &mut self.state {
            rows.push(NewRow { table, number, values: owned(values) });
        }
    }

    pub(crate) fn append_numbered(&mut self, table: Table, values: &[Value<'_>]) -> Result<i64, DbError> {
        match self.ask(Question::Number(table))? {
            Answer::Number(number) => {
                self.append(table, Some(number), values);
                Ok(number)
            }
            Answer::Rows(_) => Err(self.refuse()),
        }
    }

    pub(crate) fn answer(&mut self, answer: Answer) {
        if let State::Asks(question) = std::mem::take(&mut self.state) {
            self.answered.push((question, answer));
        }
    }
}

impl NewRow {
    /// Whether one statement can add both.
    pub(crate) fn belongs_with(&self, other: &Self) -> bool {
        self.table == other.table && self.number.is_some() == other.number.is_some()
    }

    /// Its values, the number first if it has one.
    pub(crate) fn value(&self, index: usize) -> Value<'_> {
        match (self.number, index) {
            (Some(number), 0) => Value::Integer(number),
            (Some(_), index) => self.values.get(index - 1).map_or(Value::Null, ToValue::to_value),
            (None, index) => self.values.get(index).map_or(Value::Null, ToValue::to_value),
        }
    }
}
