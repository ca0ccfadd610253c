//! Backups: the rows of one moment, in a form that either engine can load.
//!
//! Each table is JSON lines, one array for each row, in the order of the primary key:
//!
//! ```text
//! [7,"text",null,{"b":"AAEC"},{"r":0.1}]
//! ```
//!
//! Integers, text and nulls are JSON's own; a blob is base64 under `b`, a real is a number under
//! `r`, or one of the strings `NaN`, `inf` and `-inf`. The same rows give the same bytes on both
//! engines. The [`Snapshot`] says what there must be, so that a backup can be verified before
//! anything is written.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead, Write as _};
use std::path::{Path, PathBuf};

use ::postgres::types::Type;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::config::DbConfig;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::cache::PASSING_KIB;
use crate::database::{Aside, DatabaseLocation};
use crate::tx::{Connection as TxConnection, Moment};
use crate::{
    ConstraintKind, Database, DbError, Engine, Migration, OpenError, OwnedValue, Table, ToValue, Tx, Value, migrate,
    params, postgres, sqlite, table_order,
};

/// The format that this version writes, and the only one it reads.
pub const SNAPSHOT_FORMAT: u32 = 1;

/// A sink gets pieces of about this size; one row can make a piece longer.
const PIECE: usize = 64 * 1024;

/// Nothing here asks for the time or for randomness.
const NO_MOMENT: Moment = Moment { now_ms: 0, seed: [0; 32] };

/// What a backup of the database contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub format: u32,
    /// Where the rows came from; they can go to either.
    pub engine: Engine,
    /// The last migration of the database; it is loaded into one that stands at the same.
    pub schema_version: i64,
    pub tables: Vec<SnapshotTable>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotTable {
    pub name: String,
    pub columns: Vec<String>,
    pub rows: u64,
    /// Of all the table's lines, in hexadecimal.
    pub sha256: String,
    /// The number that the next row gets, if the engine numbers them. It can be higher than the
    /// rows tell: the number of a deleted row is not given out again.
    pub next_id: Option<i64>,
}

/// Where a dump goes. The calls come from a thread of its own and may block.
pub trait SnapshotSink: Send + 'static {
    fn begin_table(&mut self, name: &str) -> io::Result<()>;
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn end_table(&mut self) -> io::Result<()>;
}

/// Where a load comes from. The calls come from a thread of its own and may block.
pub trait SnapshotSource: Send + 'static {
    /// Called once for each table, in the order of the manifest.
    fn open_table(&mut self, name: &str) -> io::Result<Box<dyn BufRead + '_>>;
}

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error(transparent)]
    Database(#[from] DbError),
    #[error("table {table}: {source}")]
    Table { table: String, source: DbError },
    #[error("the data of table {table} could not be read or written: {source}")]
    Io { table: String, source: io::Error },
    #[error("the backup has format {0}, this program reads format {SNAPSHOT_FORMAT}")]
    Format(u32),
    #[error("the backup is of schema version {snapshot}, the database is at {database}")]
    SchemaVersion { snapshot: i64, database: i64 },
    #[error("the backup does not fit the database: {0}")]
    Schema(String),
    #[error("the data of table {table} is damaged: {reason}")]
    Damaged { table: String, reason: String },
    #[error("the database is in use: table {0} has rows that no migration made; restore into a new one")]
    NotEmpty(String),
}

impl From<rusqlite::Error> for SnapshotError {
    fn from(error: rusqlite::Error) -> Self {
        DbError::from(error).into()
    }
}

impl From<::postgres::Error> for SnapshotError {
    fn from(error: ::postgres::Error) -> Self {
        DbError::from(error).into()
    }
}

impl SnapshotError {
    /// Says which table it was about, where only the database knows what went wrong.
    fn in_table(self, table: &str) -> Self {
        match self {
            SnapshotError::Database(source) if !matches!(source, DbError::Closed) => {
                SnapshotError::Table { table: table.to_owned(), source }
            }
            other => other,
        }
    }
}

impl Snapshot {
    /// Reads the lines of one table to their end and makes sure that they are what was dumped.
    /// Holds one row in memory at a time.
    pub fn verify(&self, table: &str, data: impl BufRead) -> Result<(), SnapshotError> {
        self.require_format()?;
        let found = self.tables.iter().find(|candidate| candidate.name == table);
        let table = found.ok_or_else(|| SnapshotError::Schema(format!("it has no table {table}")))?;
        let mut rows = Rows::new(table, data);
        while rows.next()?.is_some() {}
        Ok(())
    }

    fn require_format(&self) -> Result<(), SnapshotError> {
        if self.format == SNAPSHOT_FORMAT { Ok(()) } else { Err(SnapshotError::Format(self.format)) }
    }
}

impl Database {
    /// Writes all rows of one moment to `sink`, while commands and reads go on. Ends early when the
    /// database is closed or the caller goes away.
    ///
    /// SQLite cannot shorten its write-ahead log meanwhile: that grows by what is written.
    pub async fn dump<S: SnapshotSink>(&self, mut sink: S) -> Result<(Snapshot, S), SnapshotError> {
        self.run_aside("stoa-db-dump", move |aside| {
            let snapshot = match aside.location() {
                DatabaseLocation::Sqlite(file) => {
                    let connection = sqlite::open_reader(file, PASSING_KIB)?;
                    // Should a table have to be sorted, it need not fit into memory.
                    connection.execute_batch("pragma temp_store = file; begin deferred")?;
                    dump_tables(Tx::new(TxConnection::Sqlite(&connection), NO_MOMENT), aside, &mut sink)?
                }
                DatabaseLocation::Postgres(url) => {
                    let mut session = postgres::connect_aside(url)?;
                    session.batch_execute("begin isolation level repeatable read read only")?;
                    dump_tables(Tx::new(TxConnection::Postgres(&mut session), NO_MOMENT), aside, &mut sink)?
                }
            };
            Ok((snapshot, sink))
        })
        .await
    }

    /// Replaces the rows of a freshly migrated database by those of a backup, all or none. The data
    /// is verified on the way, and so are the references between rows.
    ///
    /// Rows that migrations made go away; other rows are a reason to refuse. Commands have to wait
    /// until it is over, so nobody should use the database yet.
    pub async fn load<S: SnapshotSource>(&self, snapshot: Snapshot, mut source: S) -> Result<(), SnapshotError> {
        snapshot.require_format()?;
        self.run_aside("stoa-db-load", move |aside| match aside.location() {
            DatabaseLocation::Sqlite(file) => load_sqlite(file, aside, &snapshot, &mut source),
            DatabaseLocation::Postgres(url) => load_postgres(url, aside, &snapshot, &mut source),
        })
        .await
    }
}

fn dump_tables(mut tx: Tx<'_>, aside: &Aside, sink: &mut dyn SnapshotSink) -> Result<Snapshot, SnapshotError> {
    // The first query is the moment that all others see.
    let schema_version = migrate::schema_version(&mut tx)?;
    let mut tables = Vec::new();
    for table in table_order(&mut tx)? {
        let dumped = dump_table(&mut tx, &table, aside, sink).map_err(|error| error.in_table(&table.name))?;
        tables.push(dumped);
    }
    Ok(Snapshot { format: SNAPSHOT_FORMAT, engine: tx.engine(), schema_version, tables })
}

fn dump_table(
    tx: &mut Tx<'_>,
    table: &Table,
    aside: &Aside,
    sink: &mut dyn SnapshotSink,
) -> Result<SnapshotTable, SnapshotError> {
    let fault = |source| SnapshotError::Io { table: table.name.clone(), source };
    let order = row_order(tx, table)?;
    let sql = format!("select {} from {} order by {order}", quoted_list(&table.columns), quoted(&table.name));
    sink.begin_table(&table.name).map_err(fault)?;
    let mut hash = Sha256::new();
    let mut piece = Vec::with_capacity(2 * PIECE);
    let mut rows = 0;
    let mut write_error = None;
    let outcome = tx.query_each(&sql, &[], |row| {
        aside.check()?;
        for index in 0..table.columns.len() {
            piece.push(if index == 0 { b'[' } else { b',' });
            encode(&mut piece, &row.get_at(index)?).map_err(|error| DbError::Statement(error.to_string()))?;
        }
        piece.extend_from_slice(b"]\n");
        rows += 1;
        if piece.len() >= PIECE {
            hash.update(&piece);
            if let Err(error) = sink.write(&piece) {
                write_error = Some(error);
                return Err(DbError::Closed);
            }
            piece.clear();
        }
        Ok(())
    });
    if let Some(error) = write_error {
        return Err(fault(error));
    }
    outcome?;
    if !piece.is_empty() {
        hash.update(&piece);
        sink.write(&piece).map_err(fault)?;
    }
    sink.end_table().map_err(fault)?;
    Ok(SnapshotTable {
        name: table.name.clone(),
        columns: table.columns.clone(),
        rows,
        sha256: hexadecimal(hash),
        // After the rows: PostgreSQL's counter is not part of any snapshot, it must not be older.
        next_id: next_id(tx, table)?,
    })
}

/// By primary key, compared byte by byte, so that both engines agree; by all columns without one.
fn row_order(tx: &mut Tx<'_>, table: &Table) -> Result<String, DbError> {
    let (sql, collation) = match tx.engine() {
        Engine::Sqlite => {
            ("select name, pk as position, 1 as is_text from pragma_table_info($1) order by pk, cid", "collate binary")
        }
        Engine::Postgres => (
            "select a.attname::text as name, a.attcollation <> 0 as is_text,
                coalesce(array_position(string_to_array(i.indkey::text, ' '), a.attnum::text), 0) as position
             from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
             left join pg_index i on i.indrelid = c.oid and i.indisprimary
             where n.nspname = current_schema() and c.relname = $1::text
                and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
             order by position, a.attnum",
            "collate \"C\"",
        ),
    };
    let columns = tx.query(sql, params![table.name], |row| {
        Ok((row.get::<String>("name")?, row.get::<i64>("position")?, row.get::<bool>("is_text")?))
    })?;
    let has_key = columns.iter().any(|(_, position, _)| *position > 0);
    let terms: Vec<String> = columns
        .iter()
        .filter(|(_, position, _)| !has_key || *position > 0)
        .map(|(name, _, is_text)| {
            let collation = if *is_text { collation } else { "" };
            // Where the engines differ, and an index of the key would not help anyway.
            let nulls = if has_key { "" } else { "nulls first" };
            format!("{} {collation} {nulls}", quoted(name))
        })
        .collect();
    Ok(terms.join(", "))
}

fn next_id(tx: &mut Tx<'_>, table: &Table) -> Result<Option<i64>, DbError> {
    let Some(identity) = &table.identity else { return Ok(None) };
    let next = match tx.engine() {
        Engine::Sqlite => {
            let last: Option<i64> =
                tx.query_optional("select seq from sqlite_sequence where name = $1", params![table.name], |row| {
                    row.get("seq")
                })?;
            last.unwrap_or(0).saturating_add(1)
        }
        Engine::Postgres => {
            let sql = format!("select last_value, is_called from {}", postgres_sequence(tx, table, identity)?);
            tx.query_one(&sql, &[], |row| {
                let last: i64 = row.get("last_value")?;
                Ok(if row.get("is_called")? { last.saturating_add(1) } else { last })
            })?
        }
    };
    // Rows that brought their own id do not move PostgreSQL's counter.
    Ok(Some(next.max(after_highest_id(tx, table, identity)?)))
}

fn after_highest_id(tx: &mut Tx<'_>, table: &Table, identity: &str) -> Result<i64, DbError> {
    let sql = format!("select max({}) as id from {}", quoted(identity), quoted(&table.name));
    let highest: Option<i64> = tx.query_one(&sql, &[], |row| row.get("id"))?;
    Ok(highest.unwrap_or(0).saturating_add(1).max(1))
}

fn postgres_sequence(tx: &mut Tx<'_>, table: &Table, identity: &str) -> Result<String, DbError> {
    let sql = "select pg_get_serial_sequence(quote_ident(current_schema()) || '.' || quote_ident($1::text), $2::text)
        as name";
    tx.query_one(sql, params![table.name, identity], |row| row.get("name"))
}

fn load_sqlite(
    file: &Path,
    aside: &Aside,
    snapshot: &Snapshot,
    source: &mut dyn SnapshotSource,
) -> Result<(), SnapshotError> {
    let connection = sqlite::open_writer(file, PASSING_KIB)?;
    // References are checked once everything is there: a row may refer to a later one. Triggers
    // would do again what the rows already show. Dropping the connection undoes all.
    connection.execute_batch("pragma foreign_keys = off")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.execute_batch("begin immediate")?;
    let mut tx = Tx::new(TxConnection::Sqlite(&connection), NO_MOMENT);
    let tables = require_fit(&mut tx, aside, snapshot)?;
    delete_rows(&mut tx, &tables)?;
    for table in &snapshot.tables {
        insert_rows(&connection, aside, table, source).map_err(|error| error.in_table(&table.name))?;
    }
    set_next_ids(&mut tx, snapshot, &tables)?;
    let broken = tx.query_optional("select \"table\" as child, parent from pragma_foreign_key_check", &[], |row| {
        Ok((row.get::<String>("child")?, row.get::<String>("parent")?))
    })?;
    if let Some((table, parent)) = broken {
        let message = format!("a row refers to a missing row of {parent}");
        let source = DbError::Constraint { kind: ConstraintKind::ForeignKey, message };
        return Err(SnapshotError::Table { table, source });
    }
    aside.check()?;
    connection.execute_batch("commit")?;
    if let Err(error) = connection.execute_batch("pragma wal_checkpoint(truncate)") {
        tracing::debug!(%error, "the write-ahead log is shortened later");
    }
    Ok(())
}

fn insert_rows(
    connection: &rusqlite::Connection,
    aside: &Aside,
    table: &SnapshotTable,
    source: &mut dyn SnapshotSource,
) -> Result<(), SnapshotError> {
    let mut rows = Rows::open(table, source)?;
    let places: Vec<String> = (1..=table.columns.len()).map(|number| format!("?{number}")).collect();
    let mut statement = connection.prepare(&format!(
        "insert into {} ({}) values ({})",
        quoted(&table.name),
        quoted_list(&table.columns),
        places.join(", ")
    ))?;
    while let Some(row) = rows.next()? {
        aside.check()?;
        for (index, value) in row.iter().enumerate() {
            if matches!(value, OwnedValue::Real(number) if number.is_nan()) {
                // SQLite would store a null.
                return Err(misfit(&table.columns[index], "SQLite has no NaN"));
            }
            statement.raw_bind_parameter(index + 1, value.to_value())?;
        }
        statement.raw_execute()?;
    }
    Ok(())
}

fn load_postgres(
    url: &str,
    aside: &Aside,
    snapshot: &Snapshot,
    source: &mut dyn SnapshotSource,
) -> Result<(), SnapshotError> {
    let mut session = postgres::connect_aside(url)?;
    // A hub at work on this database makes the load fail soon. No constraint is deferred: its
    // pending checks would be in the way of ALTER TABLE. Dropping the connection undoes all.
    session.batch_execute(
        "set lock_timeout = '10s'; begin isolation level read committed; set constraints all immediate;
         lock table schema_migrations in access exclusive mode",
    )?;
    let mut tx = Tx::new(TxConnection::Postgres(&mut session), NO_MOMENT);
    for table in table_order(&mut tx)? {
        tx.execute_batch(&format!("lock table {} in access exclusive mode", quoted(&table.name)))?;
    }
    let tables = require_fit(&mut tx, aside, snapshot)?;
    // A row may refer to a later one, and one check of a whole table beats one for each row, so
    // references are taken away and put back. Triggers would do again what the rows already show.
    let references = tx.query(
        "select source.relname::text as child, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
         from pg_constraint c join pg_class source on source.oid = c.conrelid
         join pg_namespace space on space.oid = source.relnamespace
         where c.contype = 'f' and c.conparentid = 0 and space.nspname = current_schema() order by 1, 2",
        &[],
        |row| Ok((row.get::<String>("child")?, row.get::<String>("name")?, row.get::<String>("definition")?)),
    )?;
    for (table, name, _) in &references {
        tx.execute_batch(&format!("alter table {} drop constraint {}", quoted(table), quoted(name)))?;
    }
    for table in &tables {
        tx.execute_batch(&format!("alter table {} disable trigger user", quoted(&table.name)))?;
    }
    delete_rows(&mut tx, &tables)?;
    drop(tx);
    for table in &snapshot.tables {
        copy_rows(&mut session, aside, table, source).map_err(|error| error.in_table(&table.name))?;
    }
    let mut tx = Tx::new(TxConnection::Postgres(&mut session), NO_MOMENT);
    for table in &tables {
        tx.execute_batch(&format!("alter table {} enable trigger user", quoted(&table.name)))?;
    }
    for (table, name, definition) in &references {
        let sql = format!("alter table {} add constraint {} {definition}", quoted(table), quoted(name));
        tx.execute_batch(&sql).map_err(|error| SnapshotError::from(error).in_table(table))?;
    }
    set_next_ids(&mut tx, snapshot, &tables)?;
    aside.check()?;
    tx.execute_batch("commit")?;
    if let Err(error) = tx.execute_batch("analyze") {
        tracing::debug!(%error, "PostgreSQL gathers its statistics later");
    }
    Ok(())
}

fn copy_rows(
    session: &mut postgres::Session,
    aside: &Aside,
    table: &SnapshotTable,
    source: &mut dyn SnapshotSource,
) -> Result<(), SnapshotError> {
    let mut rows = Rows::open(table, source)?;
    let (name, columns) = (quoted(&table.name), quoted_list(&table.columns));
    let described = session.statement(&format!("select {columns} from {name}"))?;
    let types: Vec<Type> = described.columns().iter().map(|column| column.type_().clone()).collect();
    let mut copy = session.copy_in(&format!("copy {name} ({columns}) from stdin (format binary)"), &types)?;
    while let Some(row) = rows.next()? {
        aside.check()?;
        for ((value, ty), column) in row.iter().zip(&types).zip(&table.columns) {
            // The driver sends the bytes of whatever it gets; the server would take eight of them
            // for an integer, be they text.
            if !fits(&value.to_value(), ty) {
                return Err(misfit(column, &format!("the value is not of type {ty}")));
            }
        }
        copy.write(row.iter().map(ToValue::to_value))?;
    }
    copy.finish()?;
    Ok(())
}

fn fits(value: &Value<'_>, ty: &Type) -> bool {
    match *value {
        Value::Null => true,
        Value::Integer(number) => match *ty {
            Type::INT8 => true,
            Type::INT4 => i32::try_from(number).is_ok(),
            Type::INT2 => i16::try_from(number).is_ok(),
            Type::BOOL => (0..=1).contains(&number),
            // The whole numbers that a real holds exactly.
            Type::FLOAT8 => number.unsigned_abs() <= 1 << 53,
            _ => false,
        },
        Value::Real(_) => *ty == Type::FLOAT8,
        Value::Text(_) => matches!(*ty, Type::TEXT | Type::VARCHAR | Type::BPCHAR),
        Value::Blob(_) => *ty == Type::BYTEA,
    }
}

/// The tables of the database, after making sure that it is one this backup can be loaded into.
fn require_fit(tx: &mut Tx<'_>, aside: &Aside, snapshot: &Snapshot) -> Result<Vec<Table>, SnapshotError> {
    let database = migrate::schema_version(tx)?;
    if database != snapshot.schema_version {
        return Err(SnapshotError::SchemaVersion { snapshot: snapshot.schema_version, database });
    }
    let tables = table_order(tx)?;
    require_same_names(&snapshot.tables, &tables)?;
    let seeds = rows_of_migrations(aside.migrations(), database)?;
    for table in &tables {
        let allowed = seeds.get(&table.name).copied().unwrap_or(0);
        let sql = format!("select count(*) as number from (select 1 from {} limit $1) some_rows", quoted(&table.name));
        let found: i64 = tx.query_one(&sql, params![allowed + 1], |row| row.get("number"))?;
        if found > allowed {
            return Err(SnapshotError::NotEmpty(table.name.clone()));
        }
    }
    Ok(tables)
}

fn require_same_names(dumped: &[SnapshotTable], tables: &[Table]) -> Result<(), SnapshotError> {
    let refuse = |reason: String| Err(SnapshotError::Schema(reason));
    let mut missing: HashMap<&str, &Table> = tables.iter().map(|table| (table.name.as_str(), table)).collect();
    for table in dumped {
        let name = &table.name;
        let Some(target) = missing.remove(name.as_str()) else {
            return refuse(format!("it has a table {name} that the database lacks, or has it twice"));
        };
        let (theirs, ours): (BTreeSet<_>, BTreeSet<_>) =
            (table.columns.iter().collect(), target.columns.iter().collect());
        if theirs != ours || table.columns.len() != ours.len() {
            return refuse(format!("the columns of table {name} are others"));
        }
        if table.next_id.is_some() != target.identity.is_some() {
            return refuse(format!("only one of them numbers the rows of table {name}"));
        }
    }
    match missing.keys().min() {
        Some(name) => refuse(format!("it lacks table {name}")),
        None => Ok(()),
    }
}

/// How many rows a database has that only the migrations have written to.
fn rows_of_migrations(migrations: &'static [Migration], up_to: i64) -> Result<HashMap<String, i64>, SnapshotError> {
    let mut connection = rusqlite::Connection::open_in_memory()?;
    migrate::migrate_sqlite(&mut connection, migrations, Some(up_to), NO_MOMENT.now_ms, |error| OpenError::Damaged {
        path: PathBuf::from(":memory:"),
        reason: error.to_string(),
    })
    .map_err(|error| DbError::Statement(error.to_string()))?;
    let mut tx = Tx::new(TxConnection::Sqlite(&connection), NO_MOMENT);
    let mut counts = HashMap::new();
    for table in table_order(&mut tx)? {
        let sql = format!("select count(*) as number from {}", quoted(&table.name));
        let count = tx.query_one(&sql, &[], |row| row.get("number"))?;
        counts.insert(table.name, count);
    }
    Ok(counts)
}

fn delete_rows(tx: &mut Tx<'_>, tables: &[Table]) -> Result<(), DbError> {
    for table in tables.iter().rev() {
        tx.execute(&format!("delete from {}", quoted(&table.name)), &[])?;
    }
    Ok(())
}

fn set_next_ids(tx: &mut Tx<'_>, snapshot: &Snapshot, tables: &[Table]) -> Result<(), DbError> {
    for table in tables {
        let dumped = snapshot.tables.iter().find(|dumped| dumped.name == table.name);
        let (Some(identity), Some(next)) = (&table.identity, dumped.and_then(|dumped| dumped.next_id)) else {
            continue;
        };
        let next = next.max(after_highest_id(tx, table, identity)?);
        match tx.engine() {
            Engine::Sqlite => {
                tx.execute("delete from sqlite_sequence where name = $1", params![table.name])?;
                tx.execute("insert into sqlite_sequence (name, seq) values ($1, $2)", params![table.name, next - 1])?;
            }
            Engine::Postgres => {
                // Unlike `setval`, this is undone with the transaction.
                let (name, identity) = (quoted(&table.name), quoted(identity));
                tx.execute_batch(&format!("alter table {name} alter column {identity} restart with {next}"))?;
            }
        }
    }
    Ok(())
}

/// The lines of one table. Reading them to the end is what verifies them.
struct Rows<'t, R> {
    table: &'t SnapshotTable,
    data: R,
    hash: Sha256,
    line: Vec<u8>,
    read: u64,
}

impl<'t, 's> Rows<'t, Box<dyn BufRead + 's>> {
    fn open(table: &'t SnapshotTable, source: &'s mut dyn SnapshotSource) -> Result<Self, SnapshotError> {
        let data = source.open_table(&table.name);
        Ok(Rows::new(table, data.map_err(|source| SnapshotError::Io { table: table.name.clone(), source })?))
    }
}

impl<'t, R: BufRead> Rows<'t, R> {
    fn new(table: &'t SnapshotTable, data: R) -> Self {
        Self { table, data, hash: Sha256::new(), line: Vec::new(), read: 0 }
    }

    /// The next row, or none when the end is reached and everything was as it should be.
    fn next(&mut self) -> Result<Option<Vec<OwnedValue>>, SnapshotError> {
        self.line.clear();
        if let Err(source) = self.data.read_until(b'\n', &mut self.line) {
            return Err(SnapshotError::Io { table: self.table.name.clone(), source });
        }
        if self.line.is_empty() {
            let hash = std::mem::take(&mut self.hash);
            return match (self.read == self.table.rows, hexadecimal(hash) == self.table.sha256) {
                (true, true) => Ok(None),
                (true, false) => Err(self.damaged("its checksum is another")),
                (false, _) => Err(self.damaged(format!("it has {} rows, not {}", self.read, self.table.rows))),
            };
        }
        if self.read == self.table.rows {
            return Err(self.damaged(format!("it has more than {} rows", self.table.rows)));
        }
        self.read += 1;
        self.hash.update(&self.line);
        let row: Vec<Cell> = serde_json::from_slice(&self.line)
            .map_err(|error| self.damaged(format!("row {} cannot be read: {error}", self.read)))?;
        if row.len() != self.table.columns.len() {
            let (found, wanted) = (row.len(), self.table.columns.len());
            return Err(self.damaged(format!("row {} has {found} columns, not {wanted}", self.read)));
        }
        Ok(Some(row.into_iter().map(|cell| cell.0).collect()))
    }

    fn damaged(&self, reason: impl Into<String>) -> SnapshotError {
        SnapshotError::Damaged { table: self.table.name.clone(), reason: reason.into() }
    }
}

fn encode(out: &mut Vec<u8>, value: &OwnedValue) -> io::Result<()> {
    match value {
        OwnedValue::Null => out.write_all(b"null"),
        OwnedValue::Integer(number) => write!(out, "{number}"),
        // The shortest digits that are this number and no other.
        OwnedValue::Real(number) if number.is_finite() => write!(out, "{{\"r\":{number:?}}}"),
        OwnedValue::Real(number) => write!(out, "{{\"r\":\"{number}\"}}"),
        OwnedValue::Text(text) => Ok(serde_json::to_writer(out, text)?),
        OwnedValue::Blob(bytes) => write!(out, "{{\"b\":\"{}\"}}", BASE64.encode(bytes)),
    }
}

/// A value as [`encode`] writes it.
struct Cell(OwnedValue);

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor).map(Cell)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = OwnedValue;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("null, an integer, text, a blob or a real")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<OwnedValue, E> {
        Ok(OwnedValue::Null)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<OwnedValue, E> {
        Ok(OwnedValue::Integer(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<OwnedValue, E> {
        let fitting = i64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))?;
        Ok(OwnedValue::Integer(fitting))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<OwnedValue, E> {
        Ok(OwnedValue::Text(text.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<OwnedValue, E> {
        Ok(OwnedValue::Text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OwnedValue, A::Error> {
        let value = match map.next_key::<String>()?.as_deref() {
            Some("b") => {
                let bytes = BASE64.decode(map.next_value::<String>()?).map_err(A::Error::custom)?;
                OwnedValue::Blob(bytes)
            }
            // Its digits as they stand: serde_json's own reading can be off by the last bit.
            Some("r") => OwnedValue::Real(parse_real(map.next_value::<&RawValue>()?.get()).map_err(A::Error::custom)?),
            _ => return Err(A::Error::custom("neither a blob nor a real")),
        };
        match map.next_key::<IgnoredAny>()? {
            Some(_) => Err(A::Error::custom("more than a blob or a real")),
            None => Ok(value),
        }
    }
}

fn parse_real(json: &str) -> Result<f64, String> {
    match json {
        "\"NaN\"" => Ok(f64::NAN),
        "\"inf\"" => Ok(f64::INFINITY),
        "\"-inf\"" => Ok(f64::NEG_INFINITY),
        digits => match digits.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("{digits} is not a real")),
        },
    }
}

fn misfit(column: &str, reason: &str) -> SnapshotError {
    DbError::decode(column, reason).into()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
