use stoa_db::{DbError, Row, Tx, params};
use stoa_model::users::Role;
use stoa_model::{PrincipalId, SessionId, Timestamp, handles};

use crate::storage::columns;

pub(super) struct UserRow {
    pub(super) id: PrincipalId,
    pub(super) username: String,
    pub(super) display_name: String,
    pub(super) role: Role,
    pub(super) created_at: Timestamp,
    pub(super) disabled_at: Option<Timestamp>,
    pub(super) password_hash: String,
    /// Another number means another password.
    pub(super) password_revision: i64,
}

pub(super) struct NewSession<'a> {
    pub(super) user: PrincipalId,
    pub(super) token_hash: &'a [u8; 32],
    pub(super) expires_at: i64,
    pub(super) remote_ip: Option<&'a str>,
    pub(super) user_agent: Option<&'a str>,
}

const SELECT_USER: &str = "select p.id, p.handle, p.display_name, p.created_at, u.role, u.disabled_at, u.password_hash,
         u.password_revision
     from users u join principals p on p.id = u.id";

pub(super) fn insert_user(tx: &mut Tx<'_>, id: PrincipalId, password_hash: &str, role: Role) -> Result<(), DbError> {
    tx.execute(
        "insert into users (id, password_hash, role) values ($1, $2, $3)",
        params![id.0, password_hash, role.name()],
    )?;
    Ok(())
}

pub(super) fn find_user(tx: &mut Tx<'_>, id: PrincipalId) -> Result<Option<UserRow>, DbError> {
    tx.query_optional(&format!("{SELECT_USER} where p.id = $1"), params![id.0], user)
}

pub(super) fn find_user_by_name(tx: &mut Tx<'_>, username: &str) -> Result<Option<UserRow>, DbError> {
    tx.query_optional(&format!("{SELECT_USER} where p.folded_handle = $1"), params![handles::fold(username)], user)
}

/// The number of the password that a user has now.
pub(super) fn find_password_revision(tx: &mut Tx<'_>, id: PrincipalId) -> Result<i64, DbError> {
    tx.query_one("select password_revision from users where id = $1", params![id.0], |row| row.get("password_revision"))
}

pub(super) fn list_users(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<UserRow>, DbError> {
    tx.query(&format!("{SELECT_USER} where p.id > $1 order by p.id limit $2"), params![after, limit], user)
}

pub(super) fn has_users(tx: &mut Tx<'_>) -> Result<bool, DbError> {
    tx.query_one("select exists (select 1 from users) as found", &[], |row| row.get("found"))
}

/// Stores the hash of a new password.
pub(super) fn update_password(tx: &mut Tx<'_>, id: PrincipalId, password_hash: &str) -> Result<(), DbError> {
    let sql = "update users set password_hash = $2, password_revision = password_revision + 1 where id = $1";
    tx.execute(sql, params![id.0, password_hash])?;
    Ok(())
}

/// Stores another hash of the same password.
pub(super) fn update_password_hash(tx: &mut Tx<'_>, id: PrincipalId, password_hash: &str) -> Result<(), DbError> {
    tx.execute("update users set password_hash = $2 where id = $1", params![id.0, password_hash])?;
    Ok(())
}

/// The beginning that most hashes have, which says their cost.
pub(super) fn find_usual_hash_prefix(tx: &mut Tx<'_>) -> Result<Option<String>, DbError> {
    tx.query_optional(
        "select substr(password_hash, 1, 7) as prefix from users group by 1 order by count(*) desc, 1 desc limit 1",
        &[],
        |row| row.get("prefix"),
    )
}

pub(super) fn update_disabled(tx: &mut Tx<'_>, id: PrincipalId, disabled_at: Option<i64>) -> Result<(), DbError> {
    tx.execute("update users set disabled_at = $2 where id = $1", params![id.0, disabled_at])?;
    Ok(())
}

pub(super) fn update_role(tx: &mut Tx<'_>, id: PrincipalId, role: Role) -> Result<(), DbError> {
    tx.execute("update users set role = $2 where id = $1", params![id.0, role.name()])?;
    Ok(())
}

pub(super) fn count_active_admins(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    tx.query_one("select count(*) as admins from users where role = 'admin' and disabled_at is null", &[], |row| {
        row.get("admins")
    })
}

pub(super) fn insert_session(tx: &mut Tx<'_>, session: &NewSession<'_>) -> Result<SessionId, DbError> {
    let now = tx.now_ms();
    tx.query_one(
        "insert into sessions (user_id, token_hash, created_at, last_seen_at, expires_at, remote_ip, user_agent)
         values ($1, $2, $3, $3, $4, $5, $6) returning id",
        params![session.user.0, session.token_hash, now, session.expires_at, session.remote_ip, session.user_agent],
        |row| row.get("id").map(SessionId),
    )
}

/// What authentication needs to know about a session, if its user may log in.
pub(super) struct SessionIdentity {
    pub(super) session: SessionId,
    pub(super) user: PrincipalId,
    pub(super) username: String,
    pub(super) role: Role,
    pub(super) expires_at: i64,
    pub(super) last_seen_at: i64,
}

pub(super) fn find_session(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<Option<SessionIdentity>, DbError> {
    tx.query_optional(
        "select s.id, s.user_id, s.expires_at, s.last_seen_at, p.handle, u.role
         from sessions s join users u on u.id = s.user_id join principals p on p.id = u.id
         where s.token_hash = $1 and s.expires_at > $2 and u.disabled_at is null and p.deleted_at is null",
        params![token_hash, tx.now_ms()],
        |row| {
            Ok(SessionIdentity {
                session: SessionId(row.get("id")?),
                user: PrincipalId(row.get("user_id")?),
                username: row.get("handle")?,
                role: columns::named(row, "role")?,
                expires_at: row.get("expires_at")?,
                last_seen_at: row.get("last_seen_at")?,
            })
        },
    )
}

pub(super) struct SessionRow {
    pub(super) id: SessionId,
    pub(super) created_at: Timestamp,
    pub(super) last_seen_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) remote_ip: Option<String>,
    pub(super) user_agent: Option<String>,
}

/// Newest first, below `before`.
pub(super) fn list_sessions(
    tx: &mut Tx<'_>,
    user: PrincipalId,
    before: i64,
    limit: i64,
) -> Result<Vec<SessionRow>, DbError> {
    tx.query(
        "select id, created_at, last_seen_at, expires_at, remote_ip, user_agent from sessions
         where user_id = $1 and expires_at > $2 and id < $3 order by id desc limit $4",
        params![user.0, tx.now_ms(), before, limit],
        |row| {
            Ok(SessionRow {
                id: SessionId(row.get("id")?),
                created_at: Timestamp::from_ms(row.get("created_at")?),
                last_seen_at: Timestamp::from_ms(row.get("last_seen_at")?),
                expires_at: Timestamp::from_ms(row.get("expires_at")?),
                remote_ip: row.get("remote_ip")?,
                user_agent: row.get("user_agent")?,
            })
        },
    )
}

pub(super) fn update_session_seen(tx: &mut Tx<'_>, id: SessionId) -> Result<(), DbError> {
    tx.execute("update sessions set last_seen_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    Ok(())
}

pub(super) fn delete_session(tx: &mut Tx<'_>, user: PrincipalId, id: SessionId) -> Result<u64, DbError> {
    tx.execute("delete from sessions where id = $1 and user_id = $2", params![id.0, user.0])
}

pub(super) fn delete_sessions(tx: &mut Tx<'_>, user: PrincipalId) -> Result<u64, DbError> {
    tx.execute("delete from sessions where user_id = $1", params![user.0])
}

pub(super) fn delete_expired_sessions(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    tx.execute(
        "delete from sessions where id in (select id from sessions where expires_at <= $1 limit 1000)",
        params![tx.now_ms()],
    )
}

fn user(row: &Row<'_>) -> Result<UserRow, DbError> {
    Ok(UserRow {
        id: PrincipalId(row.get("id")?),
        username: row.get("handle")?,
        display_name: row.get("display_name")?,
        role: columns::named(row, "role")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        disabled_at: row.get::<Option<i64>>("disabled_at")?.map(Timestamp::from_ms),
        password_hash: row.get("password_hash")?,
        password_revision: row.get("password_revision")?,
    })
}

pub(super) fn list_admins(tx: &mut Tx<'_>) -> Result<Vec<PrincipalId>, DbError> {
    tx.query("select id from users where role = 'admin' and disabled_at is null order by id limit 100", &[], |row| {
        row.get("id").map(PrincipalId)
    })
}
