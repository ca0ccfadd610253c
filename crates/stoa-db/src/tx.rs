//! The transaction that commands and reads work in.

use std::any::{Any, TypeId};
use std::collections::HashMap;

use postgres::fallible_iterator::FallibleIterator;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::row::RowSource;
use crate::{DbError, Engine, Row, Value};

/// An open transaction: a command's, or a read's snapshot.
pub struct Tx<'c> {
    connection: Connection<'c>,
    moment: Moment,
    random: ChaCha20Rng,
    failure: Option<DbError>,
    locals: HashMap<TypeId, Box<dyn Any>>,
    pub(crate) effects: Effects,
}

pub(crate) enum Connection<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c mut crate::postgres::Session),
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
    pub(crate) signals_change: bool,
    pub(crate) after_commit: Vec<Box<dyn FnOnce() + Send>>,
}

fn as_postgres<'p>(params: &'p [Value<'_>]) -> Vec<&'p (dyn postgres::types::ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn postgres::types::ToSql + Sync)).collect()
}

impl<'c> Tx<'c> {
    pub(crate) fn new(connection: Connection<'c>, moment: Moment) -> Self {
        Self {
            connection,
            moment,
            random: ChaCha20Rng::from_seed(moment.seed),
            failure: None,
            locals: HashMap::new(),
            effects: Effects::default(),
        }
    }

    pub fn engine(&self) -> Engine {
        match self.connection {
            Connection::Sqlite(_) => Engine::Sqlite,
            Connection::Postgres(_) => Engine::Postgres,
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
        self.effects.signals_change = true;
    }

    /// Runs `effect` after the commit and before the caller is answered. It holds up everybody
    /// else's commit, so it must be quick and must not wait for anything.
    pub fn after_commit(&mut self, effect: impl FnOnce() + Send + 'static) {
        self.effects.after_commit.push(Box::new(effect));
    }

    /// Runs a statement and returns how many rows it changed.
    pub fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        self.require_usable()?;
        let changed = match &mut self.connection {
            Connection::Sqlite(connection) => crate::sqlite::execute(connection, sql, params),
            Connection::Postgres(session) => session
                .statement(sql)
                .and_then(|statement| session.client.execute(&statement, &as_postgres(params)))
                .map_err(DbError::from),
        };
        self.noted(changed)
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

    /// Visits each row as it arrives, without keeping them all in memory.
    pub fn query_each(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        self.require_usable()?;
        let outcome = match &mut self.connection {
            Connection::Sqlite(connection) => crate::sqlite::query_each(connection, sql, params, &mut visit),
            Connection::Postgres(session) => session.statement(sql).map_err(DbError::from).and_then(|statement| {
                let mut rows = session.client.query_raw(&statement, params.iter().copied())?;
                while let Some(row) = rows.next()? {
                    visit(&Row(RowSource::Postgres(&row)))?;
                }
                Ok(())
            }),
        };
        self.noted(outcome)
    }

    /// Runs several statements without parameters, as migrations have them.
    pub fn execute_batch(&mut self, sql: &str) -> Result<(), DbError> {
        self.require_usable()?;
        let outcome = match &mut self.connection {
            Connection::Sqlite(connection) => connection.execute_batch(sql).map_err(DbError::from),
            Connection::Postgres(session) => session.client.batch_execute(sql).map_err(DbError::from),
        };
        self.noted(outcome)
    }

    /// The first statement that failed in this transaction.
    pub(crate) fn failure(&self) -> Option<&DbError> {
        self.failure.as_ref()
    }

    /// After a failed statement PostgreSQL refuses all others. SQLite may have rolled back and left
    /// the transaction, and would commit the next one by itself, so it refuses them too.
    fn require_usable(&self) -> Result<(), DbError> {
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
