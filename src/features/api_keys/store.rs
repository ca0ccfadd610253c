use std::collections::HashMap;

use stoa_db::{DbError, Row, Tx, Value, in_list, params};
use stoa_model::permissions::PermissionSet;
use stoa_model::{ApiKeyId, ChannelId, ConversationId, PrincipalId, Timestamp};

use crate::access::Reach;

pub(super) struct NewKey<'a> {
    pub(super) owner: PrincipalId,
    pub(super) agent: PrincipalId,
    pub(super) name: &'a str,
    pub(super) token_hash: &'a [u8; 32],
    pub(super) permissions: PermissionSet,
    /// The only channels it reaches; none means no limit.
    pub(super) channels: &'a [ChannelId],
    pub(super) expires_at: Option<Timestamp>,
}

pub(super) struct ApiKeyRow {
    pub(super) id: ApiKeyId,
    pub(super) name: String,
    /// The name of the agent that the key acts as.
    pub(super) agent: String,
    pub(super) permissions: PermissionSet,
    pub(super) channels: Vec<KeyChannel>,
    pub(super) is_limited: bool,
    pub(super) revoked_at: Option<Timestamp>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) last_used_at: Option<Timestamp>,
    pub(super) created_at: Timestamp,
}

/// A channel that a key is limited to.
#[derive(Debug, Clone)]
pub(super) struct KeyChannel {
    pub(super) name: String,
    pub(super) is_deleted: bool,
}

const SELECT_KEY: &str =
    "select k.id, k.name, p.handle as agent, k.permissions, k.is_limited, k.created_at, k.expires_at, k.last_used_at, k.revoked_at
     from api_keys k join principals p on p.id = k.agent_id";

pub(super) fn insert_key(tx: &mut Tx<'_>, key: &NewKey<'_>) -> Result<ApiKeyId, DbError> {
    let id = tx.query_one(
        "insert into api_keys (owner_id, agent_id, name, token_hash, permissions, is_limited, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8) returning id",
        params![
            key.owner.0,
            key.agent.0,
            key.name,
            key.token_hash,
            key.permissions.to_string(),
            !key.channels.is_empty(),
            tx.now_ms(),
            key.expires_at.map(Timestamp::as_ms)
        ],
        |row| row.get("id").map(ApiKeyId),
    )?;
    for channel in key.channels {
        tx.execute(
            "insert into api_key_channels (key_id, channel_id) values ($1, $2) on conflict do nothing",
            params![id.0, channel.0],
        )?;
    }
    Ok(id)
}

pub(super) fn find_key(tx: &mut Tx<'_>, owner: PrincipalId, id: ApiKeyId) -> Result<Option<ApiKeyRow>, DbError> {
    let condition = "where k.id = $1 and k.owner_id = $2";
    Ok(keys(tx, condition, params![id.0, owner.0])?.pop())
}

/// Anybody's key, for the operator.
pub(super) fn find_any_key(tx: &mut Tx<'_>, id: ApiKeyId) -> Result<Option<ApiKeyRow>, DbError> {
    Ok(keys(tx, "where k.id = $1", params![id.0])?.pop())
}

/// Newest first, below `before`. Without an owner, everybody's.
pub(super) fn list_keys(
    tx: &mut Tx<'_>,
    owner: Option<PrincipalId>,
    before: i64,
    limit: i64,
) -> Result<Vec<ApiKeyRow>, DbError> {
    match owner {
        Some(owner) => {
            keys(tx, "where k.owner_id = $1 and k.id < $2 order by k.id desc limit $3", params![owner.0, before, limit])
        }
        None => keys(tx, "where k.id < $1 order by k.id desc limit $2", params![before, limit]),
    }
}

fn keys(tx: &mut Tx<'_>, condition: &str, values: &[Value<'_>]) -> Result<Vec<ApiKeyRow>, DbError> {
    let mut keys = tx.query(&format!("{SELECT_KEY} {condition}"), values, key)?;
    if keys.is_empty() {
        return Ok(keys);
    }
    let (list, ids) = in_list(1, keys.iter().map(|key| Value::Integer(key.id.0)));
    let mut channels: HashMap<ApiKeyId, Vec<KeyChannel>> = HashMap::new();
    tx.query_each(
        &format!(
            "select l.key_id, c.name, c.deleted_at from api_key_channels l join channels c on c.id = l.channel_id
             where l.key_id in {list} order by c.name, c.id"
        ),
        &ids,
        |row| {
            let is_deleted = row.get::<Option<i64>>("deleted_at")?.is_some();
            let channel = KeyChannel { name: row.get("name")?, is_deleted };
            channels.entry(ApiKeyId(row.get("key_id")?)).or_default().push(channel);
            Ok(())
        },
    )?;
    for key in &mut keys {
        key.channels = channels.remove(&key.id).unwrap_or_default();
    }
    Ok(keys)
}

/// The owners of keys in force that are limited to a channel, and how many they have, at most `limit` owners.
pub(super) fn list_owners_limited_to(
    tx: &mut Tx<'_>,
    channel: ChannelId,
    limit: i64,
) -> Result<Vec<(PrincipalId, i64)>, DbError> {
    tx.query(
        "select k.owner_id, count(*) as keys from api_key_channels l join api_keys k on k.id = l.key_id
         where l.channel_id = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2)
         group by k.owner_id order by k.owner_id limit $3",
        params![channel.0, tx.now_ms(), limit],
        |row| Ok((PrincipalId(row.get("owner_id")?), row.get("keys")?)),
    )
}

/// The names of an owner's keys in force that are limited to a channel, at most `limit`.
pub(super) fn list_limited_to(
    tx: &mut Tx<'_>,
    channel: ChannelId,
    owner: PrincipalId,
    limit: i64,
) -> Result<Vec<String>, DbError> {
    tx.query(
        "select k.name from api_key_channels l join api_keys k on k.id = l.key_id
         where l.channel_id = $1 and k.owner_id = $2 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $3)
         order by k.id limit $4",
        params![channel.0, owner.0, tx.now_ms(), limit],
        |row| row.get("name"),
    )
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
    pub(super) reach: Reach,
    pub(super) expires_at: Option<i64>,
    pub(super) last_used_at: Option<i64>,
}

/// What a key may do, if it is in force, its agent is there and its owner may log in.
pub(super) fn find_identity(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<Option<KeyIdentity>, DbError> {
    let found = tx.query_optional(
        "select k.id, k.agent_id, k.permissions, k.is_limited, k.expires_at, k.last_used_at, p.handle, p.owner_id
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
                reach: if row.get("is_limited")? { Reach::Channels(Vec::new()) } else { Reach::Everything },
                expires_at: row.get("expires_at")?,
                last_used_at: row.get("last_used_at")?,
            })
        },
    )?;
    let Some(mut identity) = found else { return Ok(None) };
    if let Reach::Channels(conversations) = &mut identity.reach {
        *conversations = tx.query(
            "select c.conversation_id from api_key_channels l join channels c on c.id = l.channel_id
             where l.key_id = $1 order by c.conversation_id",
            params![identity.id.0],
            |row| row.get("conversation_id").map(ConversationId),
        )?;
    }
    Ok(Some(identity))
}

fn key(row: &Row<'_>) -> Result<ApiKeyRow, DbError> {
    let optional_time = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms));
    Ok(ApiKeyRow {
        id: ApiKeyId(row.get("id")?),
        name: row.get("name")?,
        agent: row.get("agent")?,
        permissions: permissions(row)?,
        channels: Vec::new(),
        is_limited: row.get("is_limited")?,
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
