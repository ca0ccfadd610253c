//! The transaction that commands and reads work in.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::insert::{Insert, Numbered};
use crate::postgres::course::{Course, NewRow, Table, key_of, owned};
use crate::row::RowSource;
use crate::signals::Signals;
use crate::{DbError, Engine, OwnedValue, Row, Value};

/// An open transaction: a command's, or a read's snapshot.
pub struct Tx<'c> {
    connection: Connection<'c>,
    moment: Moment,
    /// When it has to be over; none for what may take its time.
    end_by: Option<Instant>,
    random: ChaCha20Rng,
    failure: Option<DbError>,
    locals: HashMap<TypeId, Box<dyn Any>>,
    pub(crate) effects: Effects,
    /// Rows that are written with the commit.
    pub(crate) appended: Vec<NewRow>,
    /// Whether the order of commits is held already.
    pub(crate) has_order: bool,
    /// The queries that are looked for now, to be asked at once.
    sought: Option<Vec<Sought>>,
    /// What was asked ahead, by question.
    known: HashMap<Vec<u8>, Vec<tokio_postgres::Row>>,
}

/// A query and its values.
type Sought = (String, Vec<OwnedValue>);

/// Queries that are asked ahead at once, at most.
const MOST_AHEAD: usize = 1024;

pub(crate) enum Connection<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c mut crate::postgres::Session),
    /// A transaction of PostgreSQL with other commands in it.
    Shared(&'c mut Course),
}

/// What stays the same when a command is repeated.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now_ms: i64,
    pub(crate) seed: [u8; 32],
}

/// What shall happen once the command is on disk, before its caller hears of it.
#[derive(Default)]
pub(crate) struct Effects {
    pub(crate) signals: Signals,
    pub(crate) after_commit: Vec<Box<dyn FnOnce() + Send>>,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(connection: Connection<'c>, moment: Moment) -> Self {
        Self {
            connection,
            moment,
            end_by: None,
            random: ChaCha20Rng::from_seed(moment.seed),
            failure: None,
            locals: HashMap::new(),
            effects: Effects::default(),
            appended: Vec::new(),
            has_order: false,
            sought: None,
            known: HashMap::new(),
        }
    }

    /// From now on it has this long. Returns when that is over.
    pub(crate) fn limit(&mut self, limit: Option<Duration>) -> Option<Instant> {
        #[expect(clippy::disallowed_methods, reason = "a deadline is in real time")]
        let end_by = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.end_by = end_by;
        end_by
    }

    /// How much time a [long read](crate::Database::read_long) has left; none if there is no limit.
    pub fn time_left(&self) -> Option<Duration> {
        #[expect(clippy::disallowed_methods, reason = "a deadline is in real time")]
        self.end_by.map(|end_by| end_by.saturating_duration_since(Instant::now()))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.time_left().is_some_and(|left| left.is_zero())
    }

    pub fn engine(&self) -> Engine {
        match self.connection {
            Connection::Sqlite(_) => Engine::Sqlite,
            Connection::Postgres(_) | Connection::Shared(_) => Engine::Postgres,
        }
    }

    /// The time of this command in UTC milliseconds; it does not move while the command runs.
    pub fn now_ms(&self) -> i64 {
        self.moment.now_ms
    }

    /// Fresh random bytes, fit for keys. A repeated command gets the same ones again.
    pub fn random_bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.random.fill_bytes(&mut bytes);
        bytes
    }

    /// A value that lives as long as this run of the command, one for each type. A repetition
    /// begins with a fresh one.
    pub fn local<T: Default + 'static>(&mut self) -> &mut T {
        let slot = self.locals.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
        slot.downcast_mut().unwrap_or_else(|| unreachable!("the slot is filled by its own type"))
    }

    /// Wakes everybody who follows [`Database::changes`](crate::Database::changes), in every
    /// process on this database, once this command is committed.
    pub fn signal_change(&mut self) {
        self.effects.signals.change = true;
    }

    /// The same for those who follow [`Database::work`](crate::Database::work).
    pub fn signal_work(&mut self) {
        self.effects.signals.work = true;
    }

    /// Runs `effect` after the commit and before the caller is answered. It holds up everybody
    /// else's commit, so it must be quick and must not wait for anything.
    pub fn after_commit(&mut self, effect: impl FnOnce() + Send + 'static) {
        self.effects.after_commit.push(Box::new(effect));
    }

    /// Runs a statement and returns how many rows it changed.
    pub fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        self.require_usable()?;
        self.begin_change()?;
        let changed = match &mut self.connection {
            Connection::Sqlite(connection) => crate::sqlite::execute(connection, sql, params),
            Connection::Postgres(session) => session.execute(sql, params),
            Connection::Shared(course) => course.change(sql, params),
        };
        self.noted(changed)
    }

    /// Keeps others of its kind from running beside this command if they hold the same: a command
    /// [says so](crate::Database::write_holding) of all that it changes, before it changes anything. Elsewhere this does nothing,
    /// because the engine sees to it by itself.
    pub fn hold(&mut self, what: &'static str, which: &[Value<'_>]) -> Result<(), DbError> {
        self.require_usable()?;
        let held = match &mut self.connection {
            Connection::Sqlite(_) | Connection::Postgres(_) => Ok(()),
            Connection::Shared(course) => course.hold(what, which),
        };
        self.noted(held)
    }

    /// Adds a row that this command does not look at again. Rows of the table are numbered in the order of their commits.
    pub fn append(&mut self, insert: &'static Insert, params: &[Value<'_>]) -> Result<(), DbError> {
        self.require_usable()?;
        let outcome = match &mut self.connection {
            Connection::Sqlite(connection) => {
                crate::sqlite::execute(connection, insert.one(Engine::Sqlite), params).map(drop)
            }
            Connection::Postgres(_) => {
                self.begin_change()?;
                self.appended.push(NewRow { table: Table(insert), number: None, values: owned(params) });
                Ok(())
            }
            Connection::Shared(course) => {
                course.append(Table(insert), None, params);
                Ok(())
            }
        };
        self.noted(outcome)
    }

    /// Adds a row and returns its number. Rows of the table are numbered in the order of their commits, so on PostgreSQL
    /// everybody else who wants a number waits until this command is committed: it should be among the last things to do.
    pub fn append_numbered(&mut self, insert: &'static Insert, params: &[Value<'_>]) -> Result<Numbered, DbError> {
        self.require_usable()?;
        self.begin_change()?;
        let now_ms = self.moment.now_ms;
        let numbered = match &mut self.connection {
            Connection::Sqlite(connection) => {
                let mut numbered = Err(DbError::NoRow);
                let mut keep = |row: &Row<'_>| {
                    let at_ms = if insert.time_index().is_some() { row.get("at")? } else { now_ms };
                    numbered = Ok(Numbered { number: row.get("number")?, at_ms });
                    Ok(())
                };
                crate::sqlite::query_each(connection, insert.one(Engine::Sqlite), params, &mut keep).and(numbered)
            }
            Connection::Postgres(session) => {
                let numbered = session.append_numbered(insert, params, self.has_order, now_ms);
                self.has_order = true;
                numbered
            }
            Connection::Shared(course) => course.append_numbered(Table(insert), params),
        };
        self.noted(numbered)
    }

    /// All rows, each mapped by `map`.
    pub fn query<T>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        let mut rows = Vec::new();
        self.query_each(sql, params, |row| {
            rows.push(map(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The first row, if there is one.
    pub fn query_optional<T>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        let mut found = None;
        self.query_each(sql, params, |row| {
            if found.is_none() {
                found = Some(map(row)?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The first row of a query that always has one.
    pub fn query_one<T>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        self.query_optional(sql, params, map)?.ok_or(DbError::NoRow)
    }

    /// Asks at once what `parts` would ask one after the other, so that a server is not waited for each time. Run them again
    /// afterwards: they find the answers. Of each part only the first query is asked, and nothing may be changed.
    ///
    /// An engine without a server has nothing to gain from that, so it does nothing.
    pub fn ahead(&mut self, parts: impl FnOnce(&mut Self)) -> Result<(), DbError> {
        self.require_usable()?;
        if !matches!(self.connection, Connection::Postgres(_)) || self.sought.is_some() {
            return Ok(());
        }
        self.sought = Some(Vec::new());
        parts(self);
        let sought = self.sought.take().unwrap_or_default();
        let Connection::Postgres(session) = &mut self.connection else { return Ok(()) };
        // One by itself is asked when it is needed.
        if sought.len() < 2 {
            return Ok(());
        }
        let answered = session.query_ahead(&sought);
        let answered = self.noted(answered)?;
        let keys = sought.iter().map(|(sql, values)| key_of(sql, values));
        self.known.extend(keys.zip(answered.into_iter().map(|answered| answered.rows)));
        Ok(())
    }

    /// A change may change what was asked ahead.
    fn begin_change(&mut self) -> Result<(), DbError> {
        self.known.clear();
        if self.sought.is_some() { Err(DbError::Postponed) } else { Ok(()) }
    }

    /// Visits each row as it arrives, without keeping them all in memory.
    pub fn query_each(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        self.require_usable()?;
        if !sql.starts_with("select") {
            self.begin_change()?;
        }
        if let Some(sought) = &mut self.sought {
            if sought.len() < MOST_AHEAD {
                sought.push((sql.to_owned(), owned(params)));
            }
            return Err(DbError::Postponed);
        }
        if !self.known.is_empty()
            && let Some(rows) = self.known.remove(&key_of(sql, &owned(params)))
        {
            let visited = rows.iter().try_for_each(|row| visit(&Row(RowSource::Postgres(row))));
            return self.noted(visited);
        }
        let outcome = match &mut self.connection {
            Connection::Sqlite(connection) => crate::sqlite::query_each(connection, sql, params, &mut visit),
            Connection::Postgres(session) => {
                session.query_each(sql, params, &mut |row| visit(&Row(RowSource::Postgres(row))))
            }
            Connection::Shared(course) => course
                .query(sql, params)
                .and_then(|rows| rows.iter().try_for_each(|row| visit(&Row(RowSource::Postgres(row))))),
        };
        self.noted(outcome)
    }

    /// Runs several statements without parameters, as migrations have them.
    pub fn execute_batch(&mut self, sql: &str) -> Result<(), DbError> {
        self.require_usable()?;
        self.begin_change()?;
        let outcome = match &mut self.connection {
            Connection::Sqlite(connection) => connection.execute_batch(sql).map_err(DbError::from),
            Connection::Postgres(session) => session.batch_execute(sql),
            Connection::Shared(course) => Err(course.refuse()),
        };
        self.noted(outcome)
    }

    /// The first statement that failed in this transaction.
    pub(crate) fn failure(&self) -> Option<&DbError> {
        self.failure.as_ref()
    }

    /// After a failed statement PostgreSQL refuses all others. SQLite may have rolled back and left
    /// the transaction, and would commit the next one by itself, so it refuses them too.
    fn require_usable(&mut self) -> Result<(), DbError> {
        if self.failure.is_none() && self.is_over() {
            self.failure = Some(DbError::Late);
        }
        self.failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    fn noted<T>(&mut self, outcome: Result<T, DbError>) -> Result<T, DbError> {
        if let Err(error) = &outcome
            && self.failure.is_none()
        {
            self.failure = Some(error.clone());
        }
        outcome
    }
}
