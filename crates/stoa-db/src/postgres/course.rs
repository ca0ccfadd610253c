//! How far a command has come that runs beside others in one transaction.

use std::sync::Arc;

use tokio_postgres::Row;

use crate::insert::{Insert, Numbered};
use crate::{DbError, OwnedValue, ToValue, Value};

/// Questions of one command. It is run again for each, so one that asks more is faster alone.
const MOST_QUESTIONS: usize = 64;

/// What a command has asked so far and what it was answered. It is run from its beginning each time, and finds the
/// answers of the earlier runs here.
#[derive(Default)]
pub(crate) struct Course {
    answered: Vec<(Question, Answer)>,
    /// How many of the answers the present run has used.
    used: usize,
    /// Whether it may change rows, once it [holds](crate::Tx::hold) them.
    may_change: bool,
    holds: bool,
    /// Whether it has changed any.
    pub(crate) has_changed: bool,
    pub(crate) state: State,
}

/// How a run ended.
#[derive(Default)]
pub(crate) enum State {
    /// It needs no more than it has, and adds these rows.
    Done(Vec<NewRow>),
    Asks(Question),
    /// It does what cannot be done beside others, or needs what another one holds.
    Alone,
    #[default]
    Ready,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Question {
    Query {
        sql: String,
        values: Vec<OwnedValue>,
    },
    /// A statement that changes or locks rows.
    Change {
        sql: String,
        values: Vec<OwnedValue>,
    },
    Number(Table),
    /// Whether it may have this to itself.
    Hold(Vec<u8>),
}

#[derive(Clone)]
pub(crate) enum Answer {
    Rows(Arc<Vec<Row>>),
    /// The rows of a change, and how many it changed.
    Changed(Arc<Vec<Row>>, u64),
    Number(Numbered),
    Held,
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
    pub(crate) fn new(may_change: bool) -> Self {
        Self { may_change, ..Self::default() }
    }

    /// Begins another run.
    pub(crate) fn restart(&mut self) {
        self.used = 0;
        self.holds = false;
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
            None if self.used >= MOST_QUESTIONS => self.state = State::Alone,
            None => self.state = State::Asks(question),
        }
        Err(DbError::Postponed)
    }

    pub(crate) fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Arc<Vec<Row>>, DbError> {
        if self.reads_own_rows(sql) {
            return Err(self.refuse());
        }
        if !sql.starts_with("select") || sql.contains("for update") {
            return self.change_with_rows(sql, values).map(|(rows, _)| rows);
        }
        match self.ask(Question::Query { sql: sql.to_owned(), values: owned(values) })? {
            Answer::Rows(rows) => Ok(rows),
            Answer::Changed(..) | Answer::Number(_) | Answer::Held => Err(self.refuse()),
        }
    }

    /// Runs a statement that changes rows, and returns how many.
    pub(crate) fn change(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, DbError> {
        self.change_with_rows(sql, values).map(|(_, changed)| changed)
    }

    fn change_with_rows(&mut self, sql: &str, values: &[Value<'_>]) -> Result<(Arc<Vec<Row>>, u64), DbError> {
        // What it does not hold others may have read, and what it has appended is not there yet.
        if !self.holds || !self.may_change || self.reads_own_rows(sql) {
            return Err(self.refuse());
        }
        match self.ask(Question::Change { sql: sql.to_owned(), values: owned(values) })? {
            Answer::Changed(rows, changed) => Ok((rows, changed)),
            Answer::Rows(_) | Answer::Number(_) | Answer::Held => Err(self.refuse()),
        }
    }

    /// Asks to have something to itself.
    pub(crate) fn hold(&mut self, what: &str, which: &[Value<'_>]) -> Result<(), DbError> {
        match self.ask(Question::Hold(key_of(what, &owned(which))))? {
            Answer::Held => {
                self.holds = true;
                Ok(())
            }
            Answer::Rows(_) | Answer::Changed(..) | Answer::Number(_) => Err(self.refuse()),
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

    pub(crate) fn append_numbered(&mut self, table: Table, values: &[Value<'_>]) -> Result<Numbered, DbError> {
        match self.ask(Question::Number(table))? {
            Answer::Number(numbered) => {
                let mut values = values.to_vec();
                if let Some(time) = table.0.time_index().and_then(|index| values.get_mut(index)) {
                    *time = Value::Integer(numbered.at_ms);
                }
                self.append(table, Some(numbered.number), &values);
                Ok(numbered)
            }
            Answer::Rows(_) | Answer::Changed(..) | Answer::Held => Err(self.refuse()),
        }
    }

    pub(crate) fn answer(&mut self, answer: Answer) {
        if let State::Asks(question) = std::mem::take(&mut self.state) {
            self.has_changed |= matches!(answer, Answer::Changed(_, 1..));
            self.answered.push((question, answer));
        }
    }
}

/// Bytes that are the same for the same statement and the same values.
pub(crate) fn key_of(sql: &str, values: &[OwnedValue]) -> Vec<u8> {
    let mut key = sql.as_bytes().to_vec();
    for value in values {
        let (kind, bytes): (u8, &[u8]) = match value {
            OwnedValue::Null => (0, &[]),
            OwnedValue::Integer(number) => (1, &number.to_be_bytes()),
            OwnedValue::Real(number) => (2, &number.to_be_bytes()),
            OwnedValue::Text(text) => (3, text.as_bytes()),
            OwnedValue::Blob(bytes) => (4, bytes),
        };
        key.push(kind);
        key.extend_from_slice(&bytes.len().to_be_bytes());
        key.extend_from_slice(bytes);
    }
    key
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
