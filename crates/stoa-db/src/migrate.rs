//! Numbered migrations: applied in order, once, and never changed afterwards.

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::{DbError, OpenError, Tx};

/// One step of the schema, in both dialects.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    pub number: i64,
    pub name: &'static str,
    pub sqlite: &'static str,
    pub postgres: &'static str,
}

const CREATE_TABLE: &str = "create table if not exists schema_migrations (
    number bigint primary key, name text not null, checksum text not null, applied_at bigint not null)";
const SELECT_APPLIED: &str = "select number, checksum from schema_migrations order by number";
const INSERT_APPLIED: &str =
    "insert into schema_migrations (number, name, checksum, applied_at) values ($1, $2, $3, $4)";

/// Taken while migrating, so that two hubs that start together do not both do it.
const POSTGRES_LOCK: i64 = 0x0053_544f_415f_4442;

pub(crate) fn schema_version(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    tx.query_one("select coalesce(max(number), 0) as number from schema_migrations", &[], |row| row.get("number"))
}

pub(crate) fn migrate_sqlite(
    connection: &mut Connection,
    migrations: &'static [Migration],
    up_to: Option<i64>,
    now_ms: i64,
    describe: impl Fn(&rusqlite::Error) -> OpenError,
) -> Result<(), OpenError> {
    let applied = (|| {
        connection.execute_batch(CREATE_TABLE)?;
        let mut statement = connection.prepare(SELECT_APPLIED)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<Vec<(i64, String)>>>()
    })()
    .map_err(|error| describe(&error))?;
    for migration in pending(migrations, &applied, up_to, |migration| migration.sqlite)? {
        let fault = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => describe(&error),
            _ => OpenError::Migration { number: migration.number, name: migration.name, reason: error.to_string() },
        };
        let transaction = connection.transaction().map_err(fault)?;
        transaction.execute_batch(migration.sqlite).map_err(fault)?;
        let row = rusqlite::params![migration.number, migration.name, checksum(migration.sqlite), now_ms];
        transaction.execute(&INSERT_APPLIED.replace('$', "?"), row).map_err(fault)?;
        transaction.commit().map_err(fault)?;
    }
    Ok(())
}

pub(crate) fn migrate_postgres(
    client: &mut postgres::Client,
    migrations: &'static [Migration],
    up_to: Option<i64>,
    now_ms: i64,
) -> Result<(), OpenError> {
    let fault = |error: postgres::Error| OpenError::of_server(error.into());
    client.execute("select pg_advisory_lock($1)", &[&POSTGRES_LOCK]).map_err(fault)?;
    // The lock belongs to the connection; when an error ends it early, closing it lets go.
    client.batch_execute(CREATE_TABLE).map_err(fault)?;
    let applied: Vec<(i64, String)> =
        client.query(SELECT_APPLIED, &[]).map_err(fault)?.iter().map(|row| (row.get(0), row.get(1))).collect();
    for migration in pending(migrations, &applied, up_to, |migration| migration.postgres)? {
        let fault = |error: postgres::Error| OpenError::Migration {
            number: migration.number,
            name: migration.name,
            reason: DbError::from(error).to_string(),
        };
        let mut transaction = client.transaction().map_err(fault)?;
        transaction.batch_execute(migration.postgres).map_err(fault)?;
        let row: [&(dyn postgres::types::ToSql + Sync); 4] =
            [&migration.number, &migration.name, &checksum(migration.postgres), &now_ms];
        transaction.execute(INSERT_APPLIED, &row).map_err(fault)?;
        transaction.commit().map_err(fault)?;
    }
    client.execute("select pg_advisory_unlock($1)", &[&POSTGRES_LOCK]).map_err(fault)?;
    Ok(())
}

/// What is still to be done, after making sure that what was done is what this program would do.
fn pending(
    migrations: &'static [Migration],
    applied: &[(i64, String)],
    up_to: Option<i64>,
    text: impl Fn(&Migration) -> &'static str,
) -> Result<impl Iterator<Item = &'static Migration>, OpenError> {
    let known = migrations.last().map_or(0, |migration| migration.number);
    if let Some((found, _)) = applied.last()
        && *found > known
    {
        return Err(OpenError::Newer { found: *found, known });
    }
    for (number, stored) in applied {
        let reason = match migrations.iter().find(|migration| migration.number == *number) {
            None => "this program does not have it",
            Some(migration) if checksum(text(migration)) != *stored => "its checksum is another",
            Some(_) => continue,
        };
        return Err(OpenError::Edited { number: *number, reason: reason.to_owned() });
    }
    let done = applied.last().map_or(0, |(number, _)| *number);
    // One that was slipped in below would be passed over in silence, now and for ever.
    let has = |number| applied.iter().any(|(applied, _)| *applied == number);
    if let Some(missed) = migrations.iter().find(|migration| migration.number < done && !has(migration.number)) {
        let reason = format!("the database went on to {done:04} without it");
        return Err(OpenError::Edited { number: missed.number, reason });
    }
    let limit = up_to.unwrap_or(i64::MAX);
    Ok(migrations.iter().filter(move |migration| migration.number > done && migration.number <= limit))
}

fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
