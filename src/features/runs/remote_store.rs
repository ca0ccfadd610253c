use stoa_db::{DbError, Tx, params};
use stoa_model::PrincipalId;

pub(super) fn find_secret(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Option<Vec<u8>>, DbError> {
    tx.query_optional("select secret from run_secrets where agent_id = $1", params![agent.0], |row| row.get("secret"))
}

pub(super) fn update_secret(tx: &mut Tx<'_>, agent: PrincipalId, sealed: &[u8]) -> Result<(), DbError> {
    tx.execute(
        "insert into run_secrets (agent_id, secret, created_at) values ($1, $2, $3)
         on conflict (agent_id) do update set secret = excluded.secret, created_at = excluded.created_at",
        params![agent.0, sealed, tx.now_ms()],
    )?;
    Ok(())
}

pub(super) fn list_secrets(tx: &mut Tx<'_>) -> Result<Vec<(PrincipalId, Vec<u8>)>, DbError> {
    tx.query("select agent_id, secret from run_secrets order by agent_id", &[], |row| {
        Ok((PrincipalId(row.get("agent_id")?), row.get("secret")?))
    })
}
