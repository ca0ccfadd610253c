use stoa_db::{DbError, Row, Tx, params};
use stoa_model::principals::PrincipalKind;
use stoa_model::{PrincipalId, Timestamp};

use crate::storage::columns;

/// A secret without its value.
pub(super) struct SecretRow {
    pub(super) name: String,
    pub(super) holder: String,
    pub(super) holder_kind: PrincipalKind,
    pub(super) folded_holder: String,
    pub(super) all_runs: bool,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// A secret with its value, which is sealed.
pub(super) struct SealedRow {
    pub(super) principal: PrincipalId,
    pub(super) name: String,
    pub(super) value: Vec<u8>,
    pub(super) all_runs: bool,
}

const SELECT_SECRET: &str = "select s.name, s.all_runs, s.created_at, s.updated_at, p.handle, p.folded_handle, p.kind
     from secrets s join principals p on p.id = s.principal_id";

pub(super) fn find_secret(tx: &mut Tx<'_>, holder: PrincipalId, name: &str) -> Result<Option<SecretRow>, DbError> {
    let sql = format!("{SELECT_SECRET} where s.principal_id = $1 and s.name = $2");
    tx.query_optional(&sql, params![holder.0, name], secret)
}

pub(super) fn list_names(tx: &mut Tx<'_>, holder: PrincipalId) -> Result<Vec<String>, DbError> {
    let sql = "select name from secrets where principal_id = $1";
    tx.query(sql, params![holder.0], |row| row.get("name"))
}

pub(super) fn count_secrets(tx: &mut Tx<'_>, holder: PrincipalId) -> Result<i64, DbError> {
    let sql = "select count(*) as n from secrets where principal_id = $1";
    tx.query_one(sql, params![holder.0], |row| row.get("n"))
}

/// By holder and name, after this position. Without a holder, everybody's.
pub(super) fn list_secrets(
    tx: &mut Tx<'_>,
    holder: Option<PrincipalId>,
    after: &(String, String),
    limit: i64,
) -> Result<Vec<SecretRow>, DbError> {
    let sql = |condition: &str| {
        let position = "(p.folded_handle, s.name) > ($1, $2)";
        format!("{SELECT_SECRET} where {position} {condition} order by p.folded_handle, s.name limit $3")
    };
    match holder {
        Some(holder) => tx.query(&sql("and s.principal_id = $4"), params![after.0, after.1, limit, holder.0], secret),
        None => tx.query(&sql(""), params![after.0, after.1, limit], secret),
    }
}

pub(super) fn insert_secret(
    tx: &mut Tx<'_>,
    holder: PrincipalId,
    name: &str,
    value: &[u8],
    all_runs: bool,
    created_by: Option<PrincipalId>,
) -> Result<(), DbError> {
    tx.execute(
        "insert into secrets (principal_id, name, value, all_runs, created_by, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $6)",
        params![holder.0, name, value, all_runs, created_by.map(|id| id.0), tx.now_ms()],
    )?;
    Ok(())
}

pub(super) fn update_secret(
    tx: &mut Tx<'_>,
    holder: PrincipalId,
    name: &str,
    value: &[u8],
    all_runs: bool,
) -> Result<(), DbError> {
    tx.execute(
        "update secrets set value = $3, all_runs = $4, updated_at = $5 where principal_id = $1 and name = $2",
        params![holder.0, name, value, all_runs, tx.now_ms()],
    )?;
    Ok(())
}

/// The same value under another key, which is no change of the secret.
pub(super) fn update_sealed(tx: &mut Tx<'_>, holder: PrincipalId, name: &str, value: &[u8]) -> Result<(), DbError> {
    tx.execute("update secrets set value = $3 where principal_id = $1 and name = $2", params![holder.0, name, value])?;
    Ok(())
}

pub(super) fn delete_secret(tx: &mut Tx<'_>, holder: PrincipalId, name: &str) -> Result<bool, DbError> {
    let deleted = tx.execute("delete from secrets where principal_id = $1 and name = $2", params![holder.0, name])?;
    Ok(deleted > 0)
}

pub(super) fn delete_all_of(tx: &mut Tx<'_>, holder: PrincipalId) -> Result<(), DbError> {
    tx.execute("delete from secrets where principal_id = $1", params![holder.0])?;
    Ok(())
}

pub(super) fn list_sealed(tx: &mut Tx<'_>, holder: PrincipalId) -> Result<Vec<SealedRow>, DbError> {
    let sql = "select principal_id, name, value, all_runs from secrets where principal_id = $1 order by name";
    tx.query(sql, params![holder.0], sealed)
}

/// A page of everybody's, after this one.
pub(super) fn list_all_sealed(
    tx: &mut Tx<'_>,
    after: (PrincipalId, &str),
    limit: i64,
) -> Result<Vec<SealedRow>, DbError> {
    let sql = "select principal_id, name, value, all_runs from secrets where (principal_id, name) > ($1, $2)
         order by principal_id, name limit $3";
    tx.query(sql, params![after.0.0, after.1, limit], sealed)
}

fn secret(row: &Row<'_>) -> Result<SecretRow, DbError> {
    Ok(SecretRow {
        name: row.get("name")?,
        holder: row.get("handle")?,
        holder_kind: columns::named(row, "kind")?,
        folded_holder: row.get("folded_handle")?,
        all_runs: row.get("all_runs")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        updated_at: Timestamp::from_ms(row.get("updated_at")?),
    })
}

fn sealed(row: &Row<'_>) -> Result<SealedRow, DbError> {
    Ok(SealedRow {
        principal: PrincipalId(row.get("principal_id")?),
        name: row.get("name")?,
        value: row.get("value")?,
        all_runs: row.get("all_runs")?,
    })
}
