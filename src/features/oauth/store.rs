use stoa_db::{DbError, Row, Tx, params};
use stoa_model::oauth::{ClientKind, OauthScopes};
use stoa_model::{GrantId, PrincipalId, SessionId, Timestamp};

use crate::storage::columns::named;

/// A question to a person that is not answered yet.
pub(super) struct PendingRequest {
    pub(super) client: i64,
    pub(super) session: Option<SessionId>,
    pub(super) redirect_uri: String,
    pub(super) state: Option<String>,
    pub(super) scope: OauthScopes,
    pub(super) code_challenge: String,
    pub(super) expires_at: i64,
}

pub(super) fn insert_request(tx: &mut Tx<'_>, id_hash: &[u8; 32], request: &PendingRequest) -> Result<(), DbError> {
    tx.execute(
        "insert into oauth_requests (id_hash, client_id, session_id, redirect_uri, state, scope, code_challenge, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        params![
            id_hash,
            request.client,
            request.session.map(|session| session.0),
            request.redirect_uri,
            request.state,
            request.scope.to_string(),
            request.code_challenge,
            request.expires_at
        ],
    )?;
    Ok(())
}

/// Keeps a request that nobody has looked at yet.
pub(super) fn insert_unread_request(
    tx: &mut Tx<'_>,
    id_hash: &[u8; 32],
    query: &str,
    expires_at: i64,
) -> Result<(), DbError> {
    let sql = "insert into oauth_requests (id_hash, query, expires_at) values ($1, $2, $3)";
    tx.execute(sql, params![id_hash, query, expires_at])?;
    Ok(())
}

pub(super) fn find_unread_request(tx: &mut Tx<'_>, id_hash: &[u8; 32]) -> Result<Option<String>, DbError> {
    tx.query_optional(
        "select query from oauth_requests where id_hash = $1 and expires_at > $2 and query is not null",
        params![id_hash, tx.now_ms()],
        |row| row.get("query"),
    )
}

/// The request, unless its time is over.
pub(super) fn find_request(tx: &mut Tx<'_>, id_hash: &[u8; 32]) -> Result<Option<PendingRequest>, DbError> {
    tx.query_optional(
        "select client_id, session_id, redirect_uri, state, scope, code_challenge, expires_at
         from oauth_requests where id_hash = $1 and expires_at > $2 and query is null",
        params![id_hash, tx.now_ms()],
        |row| {
            Ok(PendingRequest {
                client: row.get("client_id")?,
                session: row.get::<Option<i64>>("session_id")?.map(SessionId),
                redirect_uri: row.get("redirect_uri")?,
                state: row.get("state")?,
                scope: scope(row)?,
                code_challenge: row.get("code_challenge")?,
                expires_at: row.get("expires_at")?,
            })
        },
    )
}

pub(super) fn update_request_session(
    tx: &mut Tx<'_>,
    id_hash: &[u8; 32],
    session: Option<SessionId>,
) -> Result<(), DbError> {
    let session = session.map(|session| session.0);
    tx.execute("update oauth_requests set session_id = $2 where id_hash = $1", params![id_hash, session])?;
    Ok(())
}

pub(super) fn delete_request(tx: &mut Tx<'_>, id_hash: &[u8; 32]) -> Result<(), DbError> {
    tx.execute("delete from oauth_requests where id_hash = $1", params![id_hash])?;
    Ok(())
}

/// How a grant came to be.
pub(super) enum NewGrant<'a> {
    /// A person was asked.
    Consent { redirect_uri: &'a str, code_hash: &'a [u8; 32], code_challenge: &'a str, code_expires_at: i64 },
    /// An owner made the client for this.
    Client,
}

pub(super) fn insert_grant(
    tx: &mut Tx<'_>,
    client: i64,
    user: PrincipalId,
    agent: Option<PrincipalId>,
    scope: OauthScopes,
    expires_at: i64,
    grant: &NewGrant<'_>,
) -> Result<GrantId, DbError> {
    let (kind, redirect_uri, code_hash, code_challenge, code_expires_at) = match grant {
        NewGrant::Consent { redirect_uri, code_hash, code_challenge, code_expires_at } => {
            ("consent", Some(*redirect_uri), Some(*code_hash), Some(*code_challenge), Some(*code_expires_at))
        }
        NewGrant::Client => ("client", None, None, None, None),
    };
    tx.query_one(
        "insert into oauth_grants (kind, client_id, user_id, agent_id, scope, redirect_uri, code_hash, code_challenge,
             code_expires_at, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id",
        params![
            kind,
            client,
            user.0,
            agent.map(|agent| agent.0),
            scope.to_string(),
            redirect_uri,
            code_hash,
            code_challenge,
            code_expires_at,
            tx.now_ms(),
            expires_at
        ],
        |row| row.get("id").map(GrantId),
    )
}

/// A grant, and the people and things that it hangs on.
pub(super) struct Grant {
    pub(super) id: GrantId,
    pub(super) client: i64,
    pub(super) client_id: String,
    pub(super) user: PrincipalId,
    pub(super) username: String,
    pub(super) agent: Option<PrincipalId>,
    pub(super) agent_name: Option<String>,
    pub(super) scope: OauthScopes,
    pub(super) redirect_uri: Option<String>,
    pub(super) code_challenge: Option<String>,
    pub(super) code_expires_at: Option<i64>,
    pub(super) code_used_at: Option<i64>,
    pub(super) generation: i64,
    pub(super) expires_at: i64,
    pub(super) last_used_at: Option<i64>,
    /// Not revoked, not over, the person may log in, and the agent is there and theirs.
    pub(super) is_standing: bool,
}

impl Grant {
    /// Whom the client acts as.
    pub(super) fn acting(&self) -> PrincipalId {
        self.agent.unwrap_or(self.user)
    }

    pub(super) fn acting_name(&self) -> &str {
        self.agent_name.as_deref().unwrap_or(&self.username)
    }
}

const GRANT_COLUMNS: &str =
    "g.id, g.client_id, c.client_id as client_name, g.user_id, p.handle as username, g.agent_id,
    a.handle as agent_name, g.scope, g.redirect_uri, g.code_challenge, g.code_expires_at, g.code_used_at,
    g.generation, g.expires_at, g.last_used_at, g.revoked_at, u.disabled_at, p.deleted_at as user_deleted_at,
    a.deleted_at as agent_deleted_at, a.owner_id as agent_owner";
const GRANT_TABLES: &str = "oauth_grants g join oauth_clients c on c.id = g.client_id join users u on u.id = g.user_id
    join principals p on p.id = g.user_id left join principals a on a.id = g.agent_id";

fn grant(row: &Row<'_>, now: i64) -> Result<Grant, DbError> {
    let is_absent = |column: &str| row.get::<Option<i64>>(column).map(|value| value.is_none());
    let user: i64 = row.get("user_id")?;
    let agent: Option<i64> = row.get("agent_id")?;
    let has_agent =
        agent.is_none() || (is_absent("agent_deleted_at")? && row.get::<Option<i64>>("agent_owner")? == Some(user));
    let expires_at: i64 = row.get("expires_at")?;
    let is_allowed = is_absent("revoked_at")? && is_absent("disabled_at")? && is_absent("user_deleted_at")?;
    Ok(Grant {
        id: GrantId(row.get("id")?),
        client: row.get("client_id")?,
        client_id: row.get("client_name")?,
        user: PrincipalId(user),
        username: row.get("username")?,
        agent: agent.map(PrincipalId),
        agent_name: row.get("agent_name")?,
        scope: scope(row)?,
        redirect_uri: row.get("redirect_uri")?,
        code_challenge: row.get("code_challenge")?,
        code_expires_at: row.get("code_expires_at")?,
        code_used_at: row.get("code_used_at")?,
        generation: row.get("generation")?,
        expires_at,
        last_used_at: row.get("last_used_at")?,
        is_standing: is_allowed && has_agent && expires_at > now,
    })
}

pub(super) fn find_grant_by_code(tx: &mut Tx<'_>, code_hash: &[u8; 32]) -> Result<Option<Grant>, DbError> {
    let now = tx.now_ms();
    let sql = format!("select {GRANT_COLUMNS} from {GRANT_TABLES} where g.code_hash = $1");
    tx.query_optional(&sql, params![code_hash], |row| grant(row, now))
}

/// The one grant of a client that an owner made.
pub(super) fn find_grant_of_client(tx: &mut Tx<'_>, client: i64) -> Result<Option<Grant>, DbError> {
    let now = tx.now_ms();
    let sql = format!("select {GRANT_COLUMNS} from {GRANT_TABLES} where g.client_id = $1 and g.kind = 'client'");
    tx.query_optional(&sql, params![client], |row| grant(row, now))
}

pub(super) fn find_grant(tx: &mut Tx<'_>, id: GrantId) -> Result<Option<Grant>, DbError> {
    let now = tx.now_ms();
    let sql = format!("select {GRANT_COLUMNS} from {GRANT_TABLES} where g.id = $1");
    tx.query_optional(&sql, params![id.0], |row| grant(row, now))
}

/// What is in force as an agent, and what clients that were made for it have.
pub(super) fn list_grants_of_agent(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Vec<Grant>, DbError> {
    let now = tx.now_ms();
    let sql = format!("select {GRANT_COLUMNS} from {GRANT_TABLES} where g.agent_id = $1 and g.revoked_at is null");
    tx.query(&sql, params![agent.0], |row| grant(row, now))
}

pub(super) fn update_code_used(tx: &mut Tx<'_>, id: GrantId) -> Result<(), DbError> {
    tx.execute("update oauth_grants set code_used_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    Ok(())
}

pub(super) fn update_generation(tx: &mut Tx<'_>, id: GrantId, generation: i64) -> Result<(), DbError> {
    tx.execute("update oauth_grants set generation = $2 where id = $1", params![id.0, generation])?;
    Ok(())
}

/// Notes that a client made use of what it was allowed.
pub(super) fn update_grant_used(tx: &mut Tx<'_>, id: GrantId) -> Result<(), DbError> {
    tx.execute("update oauth_grants set last_used_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    Ok(())
}

/// Forgets refresh tokens that were used that many generations ago.
pub(super) fn delete_old_refresh_tokens(tx: &mut Tx<'_>, id: GrantId, before: i64) -> Result<(), DbError> {
    let sql = "delete from oauth_refresh_tokens where grant_id = $1 and generation < $2";
    tx.execute(sql, params![id.0, before])?;
    Ok(())
}

/// Puts a grant and all its tokens out of force; false when it was already.
pub(super) fn update_revoked(tx: &mut Tx<'_>, id: GrantId) -> Result<bool, DbError> {
    let sql = "update oauth_grants set revoked_at = $2 where id = $1 and revoked_at is null";
    let changed = tx.execute(sql, params![id.0, tx.now_ms()])?;
    tx.execute("delete from oauth_access_tokens where grant_id = $1", params![id.0])?;
    delete_successors(tx, id)?;
    Ok(changed == 1)
}

pub(super) struct RefreshToken {
    pub(super) generation: i64,
    pub(super) created_at: i64,
    pub(super) expires_at: i64,
    pub(super) used_at: Option<i64>,
}

pub(super) fn insert_refresh_token(
    tx: &mut Tx<'_>,
    token_hash: &[u8; 32],
    grant: GrantId,
    generation: i64,
    expires_at: i64,
) -> Result<(), DbError> {
    tx.execute(
        "insert into oauth_refresh_tokens (token_hash, grant_id, generation, created_at, expires_at)
         values ($1, $2, $3, $4, $5)",
        params![token_hash, grant.0, generation, tx.now_ms(), expires_at],
    )?;
    Ok(())
}

pub(super) fn update_refresh_used(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<(), DbError> {
    let sql = "update oauth_refresh_tokens set used_at = $2 where token_hash = $1";
    tx.execute(sql, params![token_hash, tx.now_ms()])?;
    Ok(())
}

pub(super) fn find_refresh_token(
    tx: &mut Tx<'_>,
    token_hash: &[u8; 32],
) -> Result<Option<(RefreshToken, Grant)>, DbError> {
    let now = tx.now_ms();
    let sql = format!(
        "select {GRANT_COLUMNS}, t.generation as token_generation, t.created_at as token_created_at,
             t.expires_at as token_expires_at, t.used_at
         from {GRANT_TABLES} join oauth_refresh_tokens t on t.grant_id = g.id where t.token_hash = $1"
    );
    tx.query_optional(&sql, params![token_hash], |row| {
        let token = RefreshToken {
            generation: row.get("token_generation")?,
            created_at: row.get("token_created_at")?,
            expires_at: row.get("token_expires_at")?,
            used_at: row.get("used_at")?,
        };
        Ok((token, grant(row, now)?))
    })
}

/// Keeps the sealed successor of a token, in case the client asks again.
pub(super) fn insert_successor(
    tx: &mut Tx<'_>,
    token_hash: &[u8; 32],
    grant: GrantId,
    sealed: &[u8],
    expires_at: i64,
) -> Result<(), DbError> {
    tx.execute(
        "insert into oauth_successors (token_hash, grant_id, successor, expires_at) values ($1, $2, $3, $4)",
        params![token_hash, grant.0, sealed, expires_at],
    )?;
    Ok(())
}

/// The sealed successor of a token, unless its time is over.
pub(super) fn find_successor(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<Option<Vec<u8>>, DbError> {
    tx.query_optional(
        "select successor from oauth_successors where token_hash = $1 and expires_at >= $2",
        params![token_hash, tx.now_ms()],
        |row| row.get("successor"),
    )
}

pub(super) fn delete_successor(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<(), DbError> {
    tx.execute("delete from oauth_successors where token_hash = $1", params![token_hash])?;
    Ok(())
}

/// Deletes the copies of a grant's successors.
pub(super) fn delete_successors(tx: &mut Tx<'_>, grant: GrantId) -> Result<(), DbError> {
    tx.execute("delete from oauth_successors where grant_id = $1", params![grant.0])?;
    Ok(())
}

pub(super) fn delete_expired_successors(tx: &mut Tx<'_>, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        "delete from oauth_successors where token_hash in (
             select token_hash from oauth_successors where expires_at < $1 limit $2)",
        params![tx.now_ms(), limit],
    )
}

/// A sealed successor, and the hash of the token before it.
pub(super) struct Successor {
    pub(super) token_hash: Vec<u8>,
    pub(super) sealed: Vec<u8>,
}

pub(super) fn list_successors(tx: &mut Tx<'_>) -> Result<Vec<Successor>, DbError> {
    tx.query("select token_hash, successor from oauth_successors", &[], |row| {
        Ok(Successor { token_hash: row.get("token_hash")?, sealed: row.get("successor")? })
    })
}

pub(super) fn update_successor(tx: &mut Tx<'_>, token_hash: &[u8], sealed: &[u8]) -> Result<(), DbError> {
    tx.execute("update oauth_successors set successor = $2 where token_hash = $1", params![token_hash, sealed])?;
    Ok(())
}

pub(super) struct AccessToken {
    pub(super) scope: OauthScopes,
    pub(super) created_at: i64,
    pub(super) expires_at: i64,
}

pub(super) fn insert_access_token(
    tx: &mut Tx<'_>,
    token_hash: &[u8; 32],
    grant: GrantId,
    scope: OauthScopes,
    expires_at: i64,
) -> Result<(), DbError> {
    tx.execute(
        "insert into oauth_access_tokens (token_hash, grant_id, scope, created_at, expires_at) values ($1, $2, $3, $4, $5)",
        params![token_hash, grant.0, scope.to_string(), tx.now_ms(), expires_at],
    )?;
    Ok(())
}

pub(super) fn find_access_token(
    tx: &mut Tx<'_>,
    token_hash: &[u8; 32],
) -> Result<Option<(AccessToken, Grant)>, DbError> {
    let now = tx.now_ms();
    let sql = format!(
        "select {GRANT_COLUMNS}, t.scope as token_scope, t.created_at as token_created_at, t.expires_at as token_expires_at
         from {GRANT_TABLES} join oauth_access_tokens t on t.grant_id = g.id where t.token_hash = $1"
    );
    tx.query_optional(&sql, params![token_hash], |row| {
        let token = AccessToken {
            scope: scope_of(row, "token_scope")?,
            created_at: row.get("token_created_at")?,
            expires_at: row.get("token_expires_at")?,
        };
        Ok((token, grant(row, now)?))
    })
}

pub(super) fn delete_access_token(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<(), DbError> {
    tx.execute("delete from oauth_access_tokens where token_hash = $1", params![token_hash])?;
    Ok(())
}

/// Grants `g` that can still be used, at the time `$1`: also those whose code is on its way.
pub(super) const IN_FORCE: &str = "g.revoked_at is null and g.expires_at > $1
    and ((g.code_used_at is null and g.code_expires_at > $1)
        or exists (select 1 from oauth_refresh_tokens r where r.grant_id = g.id and r.used_at is null and r.expires_at > $1)
        or exists (select 1 from oauth_access_tokens t where t.grant_id = g.id and t.expires_at > $1))";

/// A grant with the names of its user, client and agent.
pub(super) struct ListedGrant {
    pub(super) id: GrantId,
    pub(super) user: PrincipalId,
    pub(super) username: String,
    pub(super) client_id: String,
    pub(super) client_name: String,
    pub(super) client_kind: ClientKind,
    pub(super) redirect_uri: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) scope: OauthScopes,
    pub(super) created_at: Timestamp,
    pub(super) last_used_at: Option<Timestamp>,
    pub(super) expires_at: Timestamp,
}

/// What people allowed, newest first, below `before`; of one person, or of all.
pub(super) fn list_grants(
    tx: &mut Tx<'_>,
    user: Option<PrincipalId>,
    before: i64,
    limit: i64,
) -> Result<Vec<ListedGrant>, DbError> {
    let whose = if user.is_some() { "g.user_id = $4" } else { "$4 = 0" };
    let sql = format!("{} and {whose} and g.id < $2 order by g.id desc limit $3", select_listed());
    let user = user.map_or(0, |user| user.0);
    tx.query(&sql, params![tx.now_ms(), before, limit, user], listed)
}

pub(super) fn find_listed_grant(tx: &mut Tx<'_>, id: GrantId) -> Result<Option<ListedGrant>, DbError> {
    let sql = format!("{} and g.id = $2", select_listed());
    tx.query_optional(&sql, params![tx.now_ms(), id.0], listed)
}

fn select_listed() -> String {
    format!(
        "select g.id, g.user_id, p.handle as username, c.client_id, c.name, c.kind, g.redirect_uri, a.handle as agent,
             g.scope, g.created_at, g.last_used_at, g.expires_at
         from {GRANT_TABLES} where g.kind = 'consent' and {IN_FORCE}"
    )
}

fn listed(row: &Row<'_>) -> Result<ListedGrant, DbError> {
    Ok(ListedGrant {
        id: GrantId(row.get("id")?),
        user: PrincipalId(row.get("user_id")?),
        username: row.get("username")?,
        client_id: row.get("client_id")?,
        client_name: row.get("name")?,
        client_kind: named(row, "kind")?,
        redirect_uri: row.get("redirect_uri")?,
        agent: row.get("agent")?,
        scope: scope(row)?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        last_used_at: row.get::<Option<i64>>("last_used_at")?.map(Timestamp::from_ms),
        expires_at: Timestamp::from_ms(row.get("expires_at")?),
    })
}

/// What a client is allowed.
pub(super) fn list_grants_of_client(tx: &mut Tx<'_>, client: i64) -> Result<Vec<Grant>, DbError> {
    let now = tx.now_ms();
    let sql = format!("select {GRANT_COLUMNS} from {GRANT_TABLES} where g.client_id = $1 and g.revoked_at is null");
    tx.query(&sql, params![client], |row| grant(row, now))
}

pub(super) fn delete_expired_requests(tx: &mut Tx<'_>, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        "delete from oauth_requests where id_hash in (select id_hash from oauth_requests where expires_at <= $1 limit $2)",
        params![tx.now_ms(), limit],
    )
}

pub(super) fn delete_expired_tokens(tx: &mut Tx<'_>, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        "delete from oauth_access_tokens where token_hash in (
             select token_hash from oauth_access_tokens where expires_at <= $1 limit $2)",
        params![tx.now_ms(), limit],
    )
}

/// Forgets grants that have not been in force for some time, and codes that nobody came for.
pub(super) fn delete_ended_grants(tx: &mut Tx<'_>, ended_before: i64, limit: i64) -> Result<u64, DbError> {
    tx.execute(
        "delete from oauth_grants where id in (
             select g.id from oauth_grants g
             where g.kind = 'consent' and (g.expires_at < $1 or g.revoked_at < $1
                 or (g.code_used_at is null and g.code_expires_at < $1)
                 or (g.created_at < $1
                     and not exists (select 1 from oauth_refresh_tokens r where r.grant_id = g.id and r.expires_at > $1)
                     and not exists (select 1 from oauth_access_tokens t where t.grant_id = g.id)))
             limit $2)",
        params![ended_before, limit],
    )
}

fn scope(row: &Row<'_>) -> Result<OauthScopes, DbError> {
    scope_of(row, "scope")
}

fn scope_of(row: &Row<'_>, column: &str) -> Result<OauthScopes, DbError> {
    let text: String = row.get(column)?;
    text.parse().map_err(|reason| DbError::Decode { column: column.to_owned(), reason })
}
