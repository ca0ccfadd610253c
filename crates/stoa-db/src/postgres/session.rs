//! A connection of one thread, and the statements prepared on it.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, join, join_all, select, try_join_all};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

use super::course::{NewRow, Table};
use super::{order, tls};
use crate::insert::{Insert, Numbered};
use crate::server::ServerState;
use crate::{DbError, Engine, OwnedValue, ToValue, Value};

const STATEMENT_CACHE: usize = 512;
/// How long a connection may take to say goodbye.
const FAREWELL: Duration = Duration::from_secs(1);

/// A piece of a wait. Time passes for a wait only piece by piece: a process that was frozen itself, or a machine that slept, must
/// not take that for a silence of the server.
const PIECE: Duration = Duration::from_millis(250);
/// How long it may take to become a client of the server.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// When a connection gives up the wait for an answer.
#[derive(Clone)]
pub(super) struct Patience {
    limit: Option<Duration>,
    /// Tells of a server that answers nobody.
    server: Option<watch::Receiver<ServerState>>,
}

impl Patience {
    pub(super) const fn endless() -> Self {
        Self { limit: None, server: None }
    }

    pub(super) const fn of(limit: Duration) -> Self {
        Self { limit: Some(limit), server: None }
    }

    /// As long as the server answers others.
    pub(super) fn with(self, server: watch::Receiver<ServerState>) -> Self {
        Self { server: Some(server), ..self }
    }

    pub(super) fn fault(&self) -> Option<DbError> {
        self.server.as_ref().and_then(|server| server.borrow().fault())
    }

    /// Ends when there is no sense in waiting any longer.
    #[expect(clippy::disallowed_methods, reason = "a server is waited for in real time")]
    async fn ends(&self, limit: Option<Duration>) {
        let is_over = async {
            let Some(limit) = limit else { return std::future::pending().await };
            let mut waited = Duration::ZERO;
            while waited < limit {
                tokio::time::sleep(PIECE.min(limit)).await;
                waited += PIECE;
            }
        };
        let is_silent = async {
            if let Some(server) = &self.server {
                let mut server = server.clone();
                if server.wait_for(|state| *state != ServerState::Answers).await.is_ok() {
                    return;
                }
            }
            std::future::pending().await
        };
        select(pin!(is_over), pin!(is_silent)).await;
    }
}

/// What a connection's thread waits with.
struct Waiter {
    runtime: Runtime,
    patience: Patience,
    /// Whether an answer did not come. Nothing more is expected then.
    is_lost: Cell<bool>,
}

impl Waiter {
    fn wait<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, DbError>
    where
        DbError: From<E>,
    {
        self.wait_at_most(self.patience.limit, work)
    }

    fn wait_at_most<T, E>(
        &self,
        limit: Option<Duration>,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, DbError>
    where
        DbError: From<E>,
    {
        let outcome = self.runtime.block_on(async {
            // What has come counts first.
            match select(pin!(work), pin!(self.patience.ends(limit))).await {
                Either::Left((outcome, _)) => Some(outcome),
                Either::Right(_) => None,
            }
        });
        self.is_lost.set(self.is_lost.get() || outcome.is_none());
        Ok(outcome.ok_or_else(|| DbError::Unavailable("the server does not answer".to_owned()))??)
    }
}

/// A connection and the statements prepared on it. It works only while its thread waits in one of its functions.
pub(crate) struct Session {
    client: Option<Client>,
    statements: HashMap<Box<str>, Statement>,
    /// Those that ask the same query many times at once.
    sets: HashMap<Box<str>, Statement>,
    /// Those that add many rows at once, by their table and whether the rows are numbered already.
    appends: HashMap<(&'static str, bool), Statement>,
    /// How the next transaction begins, until its first statement is sent.
    beginning: Option<Cow<'static, str>>,
    /// Whether anything was answered since the last beginning.
    was_answered: bool,
    connection: Option<JoinHandle<()>>,
    waiter: Waiter,
}

/// A statement with its parameters, sent together with others.
pub(crate) struct Request<'a> {
    pub(crate) statement: Statement,
    pub(crate) values: Values<'a>,
}

pub(crate) enum Values<'a> {
    /// One for each parameter.
    Each(Vec<Value<'a>>),
    /// A list for each parameter, of a statement that [asks several questions](Session::set_statement).
    Lists(Vec<Vec<Value<'a>>>),
}

/// What a statement was answered with.
#[derive(Default)]
pub(crate) struct Answered {
    pub(crate) rows: Vec<Row>,
    /// How many rows it changed; of a query, how many it found.
    pub(crate) changed: u64,
}

/// A statement that adds rows, and the rows.
type Addition<'r> = (Statement, Vec<&'r NewRow>);

/// Why a transaction is not known to be stored.
pub(crate) enum CommitError {
    /// The server undid it.
    Undone(DbError),
    /// No answer came: it may be stored or not.
    Unknown(DbError),
}

impl Session {
    /// Connects as the address's `sslmode` says. `require` means TLS with a certificate that the system
    /// (or the file in `SSL_CERT_FILE`) vouches for; anything less would not keep a listener out.
    pub(super) fn connect(config: &Config, settings: &[&str], patience: Patience) -> Result<Self, DbError> {
        let fault = |error: std::io::Error| DbError::Unavailable(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fault)?;
        let limit = Some(patience.limit.map_or(CONNECT_LIMIT, |limit| limit.min(CONNECT_LIMIT)));
        let waiter = Waiter { runtime, patience, is_lost: Cell::new(false) };
        let (client, connection) = match config.get_ssl_mode() {
            SslMode::Require => {
                let tls = tls()?;
                let (client, connection) = waiter.wait_at_most(limit, config.connect(tls))?;
                // The next request reports that the connection has ended.
                (client, waiter.runtime.spawn(async move { drop(connection.await) }))
            }
            _ => {
                let (client, connection) = waiter.wait_at_most(limit, config.connect(NoTls))?;
                (client, waiter.runtime.spawn(async move { drop(connection.await) }))
            }
        };
        let mut session = Self {
            client: Some(client),
            statements: HashMap::new(),
            sets: HashMap::new(),
            appends: HashMap::new(),
            beginning: None,
            was_answered: false,
            connection: Some(connection),
            waiter,
        };
        for setting in settings {
            session.batch_execute(setting)?;
        }
        Ok(session)
    }

    fn client(&self) -> Result<&Client, DbError> {
        self.client.as_ref().filter(|_| !self.waiter.is_lost.get()).ok_or_else(lost)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client().is_ok_and(Client::is_closed) || self.client().is_err()
    }

    /// Begins a transaction with its first statement.
    pub(crate) fn begin(&mut self, beginning: Cow<'static, str>) {
        self.beginning = Some(beginning);
        self.was_answered = false;
    }

    /// Whether the server has answered anything since the transaction began.
    pub(crate) fn was_answered(&self) -> bool {
        self.was_answered
    }

    /// Sends the beginning of the transaction, if that has not happened yet.
    pub(crate) fn send_beginning(&mut self) -> Result<(), DbError> {
        match self.beginning.take() {
            Some(beginning) => {
                self.waiter.wait(self.client()?.batch_execute(&beginning))?;
                self.was_answered = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Runs statements without parameters.
    pub(crate) fn batch_execute(&mut self, sql: &str) -> Result<(), DbError> {
        self.send_beginning()?;
        self.waiter.wait(self.client()?.batch_execute(sql))
    }

    pub(crate) fn statement(&mut self, sql: &str) -> Result<Statement, DbError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.waiter.wait(self.client()?.prepare(sql))?;
        if self.statements.len() >= STATEMENT_CACHE {
            self.statements.clear();
        }
        self.statements.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    pub(crate) fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, DbError> {
        // Not sent along with it: a statement that follows a failed beginning would be a transaction of its own.
        self.send_beginning()?;
        let statement = self.statement(sql)?;
        self.waiter.wait(self.client()?.execute_raw(&statement, values.iter().copied()))
    }

    /// Visits each row as it arrives.
    pub(crate) fn query_each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        visit: &mut dyn FnMut(&Row) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        if !sql.starts_with("select") {
            self.send_beginning()?;
        }
        let statement = self.statement(sql)?;
        let beginning = self.beginning.take();
        let client = self.client.as_ref().filter(|_| !self.waiter.is_lost.get()).ok_or_else(lost)?;
        let was_answered = &mut self.was_answered;
        self.waiter.wait(async {
            let query = client.query_raw(&statement, values.iter().copied());
            let rows = match beginning {
                Some(beginning) => {
                    let (begun, rows) = join(client.batch_execute(&beginning), query).await;
                    begun?;
                    rows?
                }
                None => query.await?,
            };
            *was_answered = true;
            let mut rows = pin!(rows);
            while let Some(row) = rows.next().await {
                visit(&row?)?;
            }
            Ok::<_, DbError>(())
        })
    }

    /// Sends several statements at once and returns the answer to each.
    pub(crate) fn query_all(&mut self, requests: &[Request<'_>]) -> Result<Vec<Answered>, DbError> {
        let beginning = self.beginning.take();
        let client = self.client.as_ref().filter(|_| !self.waiter.is_lost.get()).ok_or_else(lost)?;
        let was_answered = &mut self.was_answered;
        self.waiter.wait(async {
            let queries = requests.iter().map(|request| async move {
                let answer = match &request.values {
                    Values::Each(values) => client.query_raw(&request.statement, values.iter().copied()).await?,
                    Values::Lists(lists) => client.query_raw(&request.statement, lists).await?,
                };
                let mut answer = pin!(answer);
                let mut rows = Vec::new();
                while let Some(row) = answer.next().await {
                    rows.push(row?);
                }
                Ok(Answered { rows, changed: answer.rows_affected().unwrap_or(0) })
            });
            let queries = try_join_all(queries);
            let answers: Result<Vec<Answered>, tokio_postgres::Error> = match beginning {
                Some(beginning) => {
                    let (begun, answers) = join(client.batch_execute(&beginning), queries).await;
                    begun?;
                    answers
                }
                None => queries.await,
            };
            let answers = answers?;
            *was_answered = true;
            Ok::<_, DbError>(answers)
        })
    }

    /// Sends several queries at once.
    pub(crate) fn query_ahead(&mut self, queries: &[(String, Vec<OwnedValue>)]) -> Result<Vec<Answered>, DbError> {
        let mut requests = Vec::with_capacity(queries.len());
        for (sql, values) in queries {
            let values = values.iter().map(ToValue::to_value).collect();
            requests.push(Request { statement: self.statement(sql)?, values: Values::Each(values) });
        }
        self.query_all(&requests)
    }

    /// Adds a row, as the last of all so far unless somebody holds the order of commits already.
    pub(crate) fn append_numbered(
        &mut self,
        insert: &'static Insert,
        values: &[Value<'_>],
        has_order: bool,
        now_ms: i64,
    ) -> Result<Numbered, DbError> {
        self.send_beginning()?;
        let order = Request { statement: self.statement(order::TAKE)?, values: Values::Each(Vec::new()) };
        let row =
            Request { statement: self.statement(insert.one(Engine::Postgres))?, values: Values::Each(values.to_vec()) };
        let requests = if has_order { vec![row] } else { vec![order, row] };
        let answers = self.query_all(&requests)?;
        let row = answers.last().and_then(|answered| answered.rows.first()).ok_or(DbError::NoRow)?;
        let at_ms = if insert.time_index().is_some() { row.try_get("at")? } else { now_ms };
        Ok(Numbered { number: row.try_get("number")?, at_ms })
    }

    /// The statement that asks the same query with many values at once, each parameter being a list of them. Its rows say in the
    /// column `question` which of them they answer, counted from 1.
    pub(crate) fn set_statement(&mut self, sql: &str) -> Result<Statement, DbError> {
        if let Some(statement) = self.sets.get(sql) {
            return Ok(statement.clone());
        }
        // The server knows best which types the parameters have.
        let one = self.statement(sql)?;
        let lists: Vec<String> = one
            .params()
            .iter()
            .enumerate()
            .map(|(index, of_type)| format!("${}::{}[]", index + 1, of_type.name()))
            .collect();
        let names: Vec<String> = (1..=lists.len()).map(|number| format!("p{number}")).collect();
        // The offset keeps the planner from looking at all questions as one, for which it would read whole tables.
        let set = format!(
            "select q.question, answer.* from unnest({}) with ordinality as q ({}, question) cross join lateral ({} offset 0) as answer",
            lists.join(", "),
            names.join(", "),
            with_names(sql),
        );
        let statement = self.waiter.wait(self.client()?.prepare(&set))?;
        if self.sets.len() >= STATEMENT_CACHE {
            self.sets.clear();
        }
        self.sets.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// The statement that adds many rows at once, each parameter being a column of them.
    fn append_statement(&mut self, Table(insert): Table, is_numbered: bool) -> Result<Statement, DbError> {
        if let Some(statement) = self.appends.get(&(insert.table, is_numbered)) {
            return Ok(statement.clone());
        }
        // The server knows best which types the columns have.
        let one = self.statement(insert.one(Engine::Postgres))?;
        let number = is_numbered.then_some((insert.key, "int8"));
        let columns = insert.columns.iter().zip(one.params()).map(|(column, of_type)| (*column, of_type.name()));
        let (columns, types): (Vec<&str>, Vec<&str>) = number.into_iter().chain(columns).unzip();
        let arrays: Vec<String> =
            types.iter().enumerate().map(|(index, of_type)| format!("${}::{of_type}[]", index + 1)).collect();
        let sql = format!(
            "insert into {} ({}) select * from unnest({})",
            insert.table,
            columns.join(", "),
            arrays.join(", ")
        );
        let statement = self.waiter.wait(self.client()?.prepare(&sql))?;
        self.appends.insert((insert.table, is_numbered), statement.clone());
        Ok(statement)
    }

    /// The statements of a commit: the one that takes the order, and those that add rows, each with its rows.
    fn prepare_commit<'r>(
        &mut self,
        rows: &'r [NewRow],
        has_order: bool,
    ) -> Result<(Option<Statement>, Vec<Addition<'r>>), DbError> {
        self.send_beginning()?;
        let order = if has_order || rows.is_empty() { None } else { Some(self.statement(order::TAKE)?) };
        let mut groups: Vec<Addition<'_>> = Vec::new();
        for row in rows {
            let statement = self.append_statement(row.table, row.number.is_some())?;
            match groups.iter_mut().find(|(_, group)| group[0].belongs_with(row)) {
                Some((_, group)) => group.push(row),
                None => groups.push((statement, vec![row])),
            }
        }
        Ok((order, groups))
    }

    /// Adds rows and commits, in one message to the server. So the order of commits is held only as long as the server needs to
    /// write: a hub that stops here holds up nobody.
    pub(crate) fn commit(&mut self, rows: &[NewRow], has_order: bool) -> Result<(), CommitError> {
        if self.beginning.is_some() && rows.is_empty() {
            self.beginning = None;
            return Ok(());
        }
        let (order, groups) = match self.prepare_commit(rows, has_order) {
            Ok(prepared) => prepared,
            Err(error) => {
                // The transaction is still open, and the next command would be part of it.
                if self.rollback().is_err() {
                    self.waiter.is_lost.set(true);
                }
                return Err(CommitError::Undone(error));
            }
        };
        let client = self.client().map_err(CommitError::Undone)?;
        let columns: Vec<Vec<Vec<Value<'_>>>> = groups
            .iter()
            .map(|(statement, rows)| {
                let column = |index| rows.iter().map(|row| row.value(index)).collect();
                (0..statement.params().len()).map(column).collect()
            })
            .collect();
        let stored = self.waiter.wait(async {
            let order = async {
                match &order {
                    Some(order) => client.execute_raw(order, [] as [Value<'_>; 0]).await,
                    None => Ok(0),
                }
            };
            let appends =
                groups.iter().zip(&columns).map(|((statement, _), columns)| client.execute_raw(statement, columns));
            let appends = async { join_all(appends).await.into_iter().collect::<Result<Vec<u64>, _>>() };
            // Polled in this order, so sent in this order.
            let ((order, appends), committed) = join(join(order, appends), client.batch_execute("commit")).await;
            // The commit of a transaction that has failed undoes it, and is no error by itself.
            let stored = order.and(appends).map(drop).and(committed);
            // Only the server can say that nothing is stored.
            stored.map_err(|error| match error.as_db_error() {
                Some(_) => DbError::from(error),
                None => DbError::Unavailable(error.to_string()),
            })
        });
        stored.map_err(|error| match error {
            error @ DbError::Unavailable(_) => CommitError::Unknown(error),
            error => CommitError::Undone(error),
        })
    }

    /// Begins to copy rows of these types into a table.
    pub(crate) fn copy_in(&mut self, sql: &str, types: &[Type]) -> Result<CopyIn<'_>, DbError> {
        self.send_beginning()?;
        let sink = self.waiter.wait(self.client()?.copy_in(sql))?;
        Ok(CopyIn { writer: Box::pin(BinaryCopyInWriter::new(sink, types)), waiter: &self.waiter })
    }

    /// Undoes what the transaction has done.
    pub(crate) fn rollback(&mut self) -> Result<(), DbError> {
        if self.beginning.take().is_some() {
            return Ok(());
        }
        self.batch_execute("rollback")
    }
}

/// A query whose parameters are columns of `q`.
fn with_names(sql: &str) -> String {
    let mut parts = sql.split('$');
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_parameter = part.starts_with(|first: char| first.is_ascii_digit());
        named.push_str(if is_parameter { "q.p" } else { "$" });
        named.push_str(part);
    }
    named
}

/// The answer to what is asked of a connection whose server fell silent.
fn lost() -> DbError {
    DbError::Unavailable("the connection was given up".to_owned())
}

/// Rows on their way into a table.
pub(crate) struct CopyIn<'s> {
    writer: Pin<Box<BinaryCopyInWriter>>,
    waiter: &'s Waiter,
}

impl<'a> CopyIn<'_> {
    pub(crate) fn write(&mut self, values: impl ExactSizeIterator<Item = Value<'a>>) -> Result<(), DbError> {
        self.waiter.wait(self.writer.as_mut().write_raw(values))
    }

    pub(crate) fn finish(mut self) -> Result<u64, DbError> {
        self.waiter.wait(self.writer.as_mut().finish())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without its client the connection says goodbye and ends.
        drop(self.client.take());
        if let Some(connection) = self.connection.take()
            && !self.waiter.is_lost.get()
        {
            let _ = self.waiter.runtime.block_on(async { tokio::time::timeout(FAREWELL, connection).await });
        }
    }
}
