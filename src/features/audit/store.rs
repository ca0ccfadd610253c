use stoa_db::{DbError, Row, Tx, params};
use stoa_model::audit::AuditEntry;
use stoa_model::{AuditId, Timestamp};

pub(super) struct NewEntry<'a> {
    pub(super) actor: Option<&'a str>,
    pub(super) action: &'a str,
    pub(super) target: Option<&'a str>,
    pub(super) details: &'a str,
    pub(super) remote_ip: Option<&'a str>,
    pub(super) request_id: Option<&'a str>,
}

pub(super) fn insert_entry(tx: &mut Tx<'_>, entry: &NewEntry<'_>) -> Result<(), DbError> {
    tx.execute(
        "insert into audit (at, actor, action, target, details, remote_ip, request_id) values ($1, $2, $3, $4, $5, $6, $7)",
        params![
            tx.now_ms(),
            entry.actor,
            entry.action,
            entry.target,
            entry.details,
            entry.remote_ip,
            entry.request_id
        ],
    )?;
    Ok(())
}

/// Newest first, below `before`.
pub(super) fn list_entries(
    tx: &mut Tx<'_>,
    actor: Option<&str>,
    action: Option<&str>,
    before: i64,
    limit: i64,
) -> Result<Vec<(i64, AuditEntry)>, DbError> {
    tx.query(
        "select id, at, actor, action, target, details, remote_ip, request_id from audit
         where id < $1 and (cast($2 as text) is null or actor = $2) and (cast($3 as text) is null or action = $3)
         order by id desc limit $4",
        params![before, actor, action, limit],
        |row| Ok((row.get("id")?, entry(row)?)),
    )
}

fn entry(row: &Row<'_>) -> Result<AuditEntry, DbError> {
    let details: String = row.get("details")?;
    Ok(AuditEntry {
        id: AuditId(row.get("id")?),
        at: Timestamp::from_ms(row.get("at")?),
        actor: row.get("actor")?,
        action: row.get("action")?,
        target: row.get("target")?,
        details: serde_json::from_str(&details).unwrap_or_default(),
        remote_ip: row.get("remote_ip")?,
        request_id: row.get("request_id")?,
    })
}
