use stoa_db::{DbError, Row, Tx, params};
use stoa_model::permissions::PermissionSet;
use stoa_model::{ApiKeyId, PrincipalId, Timestamp};

pub(super) struct NewKey<'a> {
    pub(super) owner: PrincipalId,
    pub(super) agent: PrincipalId,
    pub(super) name: &'a str,
    pub(super) token_hash: &'a [u8; 32],
    pub(super) permissions: PermissionSet,
    pub(super) channels: &'a [String],
    pub(super) expires_at: Option<Timestamp>,
}

pub(super) struct ApiKeyRow {
    pub(super) id: ApiKeyId,
    pub(super) name: String,
    /// The name of the agent that the key acts as.
    pub(super) agent: String,
    pub(super) permissions: PermissionSet,
    pub(super) channels: Vec<String>,
    pub(super) revoked_at: Option<Timestamp>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) last_used_at: Option<Timestamp>,
    pub(super) created_at: Timestamp,
}

const SELECT_KEY: &str =
    "select k.id, k.name, p.handle as agent, k.permissions, k.channels, k.created_at, k.expires_at,
        k.last_used_at, k.revoked_at
     from api_keys k join principals p on p.id = k.agent_id";

pub(super) fn insert_key(tx: &mut Tx<'_>, key: &NewKey<'_>) -> Result<ApiKeyId, DbError> {
    tx.query_one(
        "insert into api_keys (owner_id, agent_id, name, token_hash, permissions, channels, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8) returning id",
        params![
            key.owner.0,
            key.agent.0,
            key.name,
            key.token_hash,
            key.permissions.to_string(),
            // Channel names have no commas.
            key.channels.join(","),
            tx.now_ms(),
            key.expires_at.map(Timestamp::as_ms)
        ],
        |row| row.get("id").map(ApiKeyId),
    )
}

pub(super) fn find_key(tx: &mut Tx<'_>, owner: PrincipalId, id: ApiKeyId) -> Result<Option<ApiKeyRow>, DbError> {
    tx.query_optional(&format!("{SELECT_KEY} where k.id = $1 and k.owner_id = $2"), params![id.0, owner.0], key)
}

/// Anybody's key, for the operator.
pub(super) fn find_any_key(tx: &mut Tx<'_>, id: ApiKeyId) -> Result<Option<ApiKeyRow>, DbError> {
    tx.query_optional(&format!("{SELECT_KEY} where k.id = $1"), params![id.0], key)
}

/// Newest first, below `before`. Without an owner, everybody's.
pub(super) fn list_keys(
    tx: &mut Tx<'_>,
    owner: Option<PrincipalId>,
    before: i64,
    limit: i64,
) -> Result<Vec<ApiKeyRow>, DbError> {
    match owner {
        Some(owner) => tx.query(
            &format!("{SELECT_KEY} where k.owner_id = $1 and k.id < $2 order by k.id desc limit $3"),
            params![owner.0, before, limit],
            key,
        ),
        None => {
            tx.query(&format!("{SELECT_KEY} where k.id < $1 order by k.id desc limit $2"), params![before, limit], key)
        }
    }
}

pub(super) fn update_revoked(tx: &mut Tx<'_>, id: ApiKeyId) -> Result<(), DbError> {
    tx.execute("update api_keys set revoked_at = $2 where id = $1 and revoked_at is null", params![id.0, tx.now_ms()])?;
    Ok(())
}

pub(super) fn update_all_revoked(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<(), DbError> {
    tx.execute(
        "update api_keys set revoked_at = $2 where agent_id = $1 and revoked_at is null",
        params![agent.0, tx.now_ms()],
    )?;
    Ok(())
}

pub(super) fn update_used(tx: &mut Tx<'_>, id: ApiKeyId) -> Result<(), DbError> {
    tx.execute("update api_keys set last_used_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    Ok(())
}

pub(super) struct KeyIdentity {
    pub(super) id: ApiKeyId,
    pub(super) agent: PrincipalId,
    pub(super) agent_name: String,
    pub(super) owner: PrincipalId,
    pub(super) permissions: PermissionSet,
    pub(super) channels: Vec<String>,
    pub(super) expires_at: Option<i64>,
    pub(super) last_used_at: Option<i64>,
}

/// What a key may do, if it is in force, its agent is there and its owner may log in.
pub(super) fn find_identity(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<Option<KeyIdentity>, DbError> {
    tx.query_optional(
        "select k.id, k.agent_id, k.permissions, k.channels, k.expires_at, k.last_used_at, p.handle, p.owner_id
         from api_keys k join principals p on p.id = k.agent_id join users u on u.id = p.owner_id
         where k.token_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2)
           and p.deleted_at is null and u.disabled_at is null and k.owner_id = p.owner_id",
        params![token_hash, tx.now_ms()],
        |row| {
            Ok(KeyIdentity {
                id: ApiKeyId(row.get("id")?),
                agent: PrincipalId(row.get("agent_id")?),
                agent_name: row.get("handle")?,
                owner: PrincipalId(row.get("owner_id")?),
                permissions: permissions(row)?,
                channels: channels(row)?,
                expires_at: row.get("expires_at")?,
                last_used_at: row.get("last_used_at")?,
            })
        },
    )
}

fn key(row: &Row<'_>) -> Result<ApiKeyRow, DbError> {
    let optional_time = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms));
    Ok(ApiKeyRow {
        id: ApiKeyId(row.get("id")?),
        name: row.get("name")?,
        agent: row.get("agent")?,
        permissions: permissions(row)?,
        channels: channels(row)?,
        revoked_at: optional_time("revoked_at")?,
        expires_at: optional_time("expires_at")?,
        last_used_at: optional_time("last_used_at")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
    })
}

fn permissions(row: &Row<'_>) -> Result<PermissionSet, DbError> {
    row.get::<String>("permissions")?
        .parse()
        .map_err(|reason| DbError::Decode { column: "permissions".to_owned(), reason })
}

fn channels(row: &Row<'_>) -> Result<Vec<String>, DbError> {
    let names: String = row.get("channels")?;
    Ok(names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}
