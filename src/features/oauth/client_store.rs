use stoa_db::{DbError, Row, Tx, params};
use stoa_model::oauth::{AuthMethod, ClientKind, GrantType, OauthScopes};
use stoa_model::{PrincipalId, Timestamp};

use super::store::IN_FORCE;
use crate::access::identity::SEEN_EVERY_MS;
use crate::storage::columns::{from_json, named, to_json};

/// A client, as the protocol needs to know it.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) id: i64,
    pub(super) client_id: String,
    pub(super) kind: ClientKind,
    pub(super) name: String,
    pub(super) auth_method: AuthMethod,
    pub(super) secret_hash: Option<String>,
    pub(super) redirect_uris: Vec<String>,
    pub(super) grant_types: Vec<GrantType>,
    pub(super) scope: Option<OauthScopes>,
    pub(super) application_type: Option<String>,
    pub(super) owner: Option<PrincipalId>,
    pub(super) agent: Option<PrincipalId>,
    pub(super) introspects_all: bool,
    pub(super) created_at: i64,
    pub(super) fresh_until: Option<i64>,
}

impl Client {
    pub(super) fn may_use(&self, grant_type: GrantType) -> bool {
        self.grant_types.contains(&grant_type)
    }

    pub(super) fn is_public(&self) -> bool {
        self.secret_hash.is_none()
    }
}

/// What a new client is made of.
#[derive(Debug, Clone)]
pub(super) struct NewClient {
    pub(super) client_id: String,
    pub(super) kind: ClientKind,
    pub(super) name: String,
    pub(super) auth_method: AuthMethod,
    pub(super) secret_hash: Option<String>,
    pub(super) registration_hash: Option<[u8; 32]>,
    pub(super) redirect_uris: Vec<String>,
    pub(super) grant_types: Vec<GrantType>,
    pub(super) scope: Option<OauthScopes>,
    pub(super) application_type: Option<String>,
    pub(super) owner: Option<PrincipalId>,
    pub(super) agent: Option<PrincipalId>,
    pub(super) introspects_all: bool,
    pub(super) fresh_until: Option<i64>,
}

/// Adds a client, or replaces what is known of it: documents change.
pub(super) fn put_client(tx: &mut Tx<'_>, client: &NewClient) -> Result<Client, DbError> {
    tx.execute(
        "insert into oauth_clients (client_id, kind, name, auth_method, secret_hash, registration_hash, redirect_uris,
             grant_types, scope, application_type, owner_id, agent_id, introspects_all, created_at, fresh_until)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         on conflict (client_id) do update set name = excluded.name, redirect_uris = excluded.redirect_uris,
             grant_types = excluded.grant_types, scope = excluded.scope, application_type = excluded.application_type,
             fresh_until = excluded.fresh_until",
        params![
            client.client_id,
            client.kind.name(),
            client.name,
            client.auth_method.name(),
            client.secret_hash,
            client.registration_hash.as_ref(),
            to_json(&client.redirect_uris)?,
            to_json(&client.grant_types)?,
            client.scope.map(|scope| scope.to_string()),
            client.application_type,
            client.owner.map(|owner| owner.0),
            client.agent.map(|agent| agent.0),
            i64::from(client.introspects_all),
            tx.now_ms(),
            client.fresh_until
        ],
    )?;
    find_client(tx, &client.client_id)?.ok_or(DbError::NoRow)
}

const SELECT_CLIENT: &str = "select c.id, c.client_id, c.kind, c.name, c.auth_method, c.secret_hash, c.redirect_uris,
        c.grant_types, c.scope, c.application_type, c.owner_id, c.agent_id, c.introspects_all, c.created_at, c.fresh_until
     from oauth_clients c";

pub(super) fn find_client(tx: &mut Tx<'_>, client_id: &str) -> Result<Option<Client>, DbError> {
    tx.query_optional(&format!("{SELECT_CLIENT} where c.client_id = $1"), params![client_id], client)
}

/// A client that may act: one that an owner made goes with its owner and its agent.
pub(super) fn find_standing_client(tx: &mut Tx<'_>, client_id: &str) -> Result<Option<Client>, DbError> {
    let sql = format!(
        "{SELECT_CLIENT} left join users u on u.id = c.owner_id left join principals a on a.id = c.agent_id
         where c.client_id = $1
           and (c.kind <> 'owned' or (u.disabled_at is null and a.deleted_at is null and a.owner_id = c.owner_id))"
    );
    tx.query_optional(&sql, params![client_id], client)
}

/// Ids of the clients that were made for an agent.
pub(super) fn list_clients_of_agent(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Vec<(i64, String)>, DbError> {
    tx.query("select id, client_id from oauth_clients where agent_id = $1", params![agent.0], |row| {
        Ok((row.get("id")?, row.get("client_id")?))
    })
}

pub(super) fn find_client_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Client>, DbError> {
    tx.query_optional(&format!("{SELECT_CLIENT} where c.id = $1"), params![id], client)
}

/// A registered client, for whoever holds its registration token.
pub(super) fn find_registration(
    tx: &mut Tx<'_>,
    client_id: &str,
    token_hash: &[u8; 32],
) -> Result<Option<Client>, DbError> {
    tx.query_optional(
        &format!("{SELECT_CLIENT} where c.client_id = $1 and c.registration_hash = $2"),
        params![client_id, token_hash],
        client,
    )
}

/// Notes a use, unless one was noted just now: many people may use one client at the same time, and would stand in line.
pub(super) fn update_used(tx: &mut Tx<'_>, id: i64) -> Result<(), DbError> {
    let now = tx.now_ms();
    tx.execute(
        "update oauth_clients set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $3)",
        params![id, now, now - SEEN_EVERY_MS],
    )?;
    Ok(())
}

/// Takes a client away, with all that it was allowed.
pub(super) fn delete_client(tx: &mut Tx<'_>, id: i64) -> Result<(), DbError> {
    tx.execute("delete from oauth_clients where id = $1", params![id])?;
    Ok(())
}

/// Forgets registrations that came to nothing within a day, and clients that nobody allows anything any more.
pub(super) fn delete_unused(
    tx: &mut Tx<'_>,
    registered_before: i64,
    used_before: i64,
    limit: i64,
) -> Result<u64, DbError> {
    tx.execute(
        "delete from oauth_clients where id in (
             select c.id from oauth_clients c
             where c.kind in ('registered', 'document') and c.created_at < $1
               and (c.last_used_at is null or c.last_used_at < $2)
               and not exists (select 1 from oauth_grants g where g.client_id = c.id)
               and not exists (select 1 from oauth_requests r where r.client_id = c.id and r.expires_at > $3)
             limit $4)",
        params![registered_before, used_before, tx.now_ms(), limit],
    )
}

/// Forgets the oldest registrations that came to nothing, if there are more than `most`, before their day is over.
pub(super) fn delete_surplus(tx: &mut Tx<'_>, registered_before: i64, most: i64, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        "delete from oauth_clients where id in (
             select c.id from oauth_clients c
             where c.kind = 'registered' and c.created_at < $1 and c.last_used_at is null
               and not exists (select 1 from oauth_grants g where g.client_id = c.id)
               and not exists (select 1 from oauth_requests r where r.client_id = c.id)
             order by c.created_at desc limit $3 offset $2)",
        params![registered_before, most, limit],
    )
}

/// Holds for registrations that came to nothing so far.
const UNUSED: &str = "c.kind = 'registered' and c.last_used_at is null
    and not exists (select 1 from oauth_grants g where g.client_id = c.id)";

/// How many registrations came to nothing so far, counted up to `most`.
pub(super) fn count_unused(tx: &mut Tx<'_>, most: i64) -> Result<i64, DbError> {
    let sql =
        format!("select count(*) as found from (select 1 from oauth_clients c where {UNUSED} limit $1) as unused");
    tx.query_one(&sql, params![most], |row| row.get("found"))
}

/// Forgets the oldest registrations that came to nothing, and about which nobody is being asked.
pub(super) fn delete_oldest_unused(tx: &mut Tx<'_>, registered_before: i64, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        &format!(
            "delete from oauth_clients where id in (
                 select c.id from oauth_clients c where {UNUSED} and c.created_at < $1
                   and not exists (select 1 from oauth_requests r where r.client_id = c.id)
                 order by c.created_at limit $2)"
        ),
        params![registered_before, limit],
    )
}

fn client(row: &Row<'_>) -> Result<Client, DbError> {
    Ok(Client {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        kind: named(row, "kind")?,
        name: row.get("name")?,
        auth_method: named(row, "auth_method")?,
        secret_hash: row.get("secret_hash")?,
        redirect_uris: from_json("redirect_uris", &row.get::<String>("redirect_uris")?)?,
        grant_types: from_json("grant_types", &row.get::<String>("grant_types")?)?,
        scope: scope(row)?,
        application_type: row.get("application_type")?,
        owner: row.get::<Option<i64>>("owner_id")?.map(PrincipalId),
        agent: row.get::<Option<i64>>("agent_id")?.map(PrincipalId),
        introspects_all: row.get("introspects_all")?,
        created_at: row.get("created_at")?,
        fresh_until: row.get("fresh_until")?,
    })
}

fn scope(row: &Row<'_>) -> Result<Option<OauthScopes>, DbError> {
    let text: Option<String> = row.get("scope")?;
    let parsed = text.map(|text| text.parse()).transpose();
    parsed.map_err(|reason| DbError::Decode { column: "scope".to_owned(), reason })
}

/// Whose clients a list is of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whose {
    Everybodys,
    Owned(PrincipalId),
}

/// A client with the names of its owner and agent, and its use.
pub(super) struct ListedClient {
    pub(super) id: i64,
    pub(super) client_id: String,
    pub(super) kind: ClientKind,
    pub(super) name: String,
    pub(super) owner: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) auth_method: AuthMethod,
    pub(super) redirect_uris: Vec<String>,
    pub(super) grant_types: Vec<GrantType>,
    pub(super) scope: Option<OauthScopes>,
    pub(super) introspects_all: bool,
    /// How many grants it has now.
    pub(super) grants: i64,
    pub(super) created_at: Timestamp,
    pub(super) last_used_at: Option<Timestamp>,
}

/// Newest first, below `before`.
pub(super) fn list_clients(
    tx: &mut Tx<'_>,
    whose: Whose,
    before: i64,
    limit: i64,
) -> Result<Vec<ListedClient>, DbError> {
    let (sql, owner) = match whose {
        Whose::Everybodys => ("$4 = 0 and", 0),
        Whose::Owned(owner) => ("c.owner_id = $4 and", owner.0),
    };
    let sql = format!("{} where {sql} c.id < $2 order by c.id desc limit $3", select_listed());
    tx.query(&sql, params![tx.now_ms(), before, limit, owner], listed)
}

pub(super) fn find_listed(tx: &mut Tx<'_>, client_id: &str) -> Result<Option<ListedClient>, DbError> {
    tx.query_optional(&format!("{} where c.client_id = $2", select_listed()), params![tx.now_ms(), client_id], listed)
}

fn select_listed() -> String {
    format!(
        "select c.id, c.client_id, c.kind, c.name, c.auth_method, c.redirect_uris, c.grant_types, c.scope,
             c.introspects_all, c.created_at, c.last_used_at, owner.handle as owner, agent.handle as agent,
             (select count(*) from oauth_grants g where g.client_id = c.id and g.kind = 'consent' and {IN_FORCE}) as grants
         from oauth_clients c left join principals owner on owner.id = c.owner_id
             left join principals agent on agent.id = c.agent_id"
    )
}

fn listed(row: &Row<'_>) -> Result<ListedClient, DbError> {
    Ok(ListedClient {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        kind: named(row, "kind")?,
        name: row.get("name")?,
        owner: row.get("owner")?,
        agent: row.get("agent")?,
        auth_method: named(row, "auth_method")?,
        redirect_uris: from_json("redirect_uris", &row.get::<String>("redirect_uris")?)?,
        grant_types: from_json("grant_types", &row.get::<String>("grant_types")?)?,
        scope: scope(row)?,
        introspects_all: row.get("introspects_all")?,
        grants: row.get("grants")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        last_used_at: row.get::<Option<i64>>("last_used_at")?.map(Timestamp::from_ms),
    })
}
