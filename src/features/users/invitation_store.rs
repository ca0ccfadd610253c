use stoa_db::{DbError, Row, Tx, params};
use stoa_model::users::Role;
use stoa_model::{PrincipalId, Timestamp};

use crate::storage::columns;

pub(super) struct NewInvitation<'a> {
    pub(super) token_hash: &'a [u8; 32],
    pub(super) role: Role,
    pub(super) note: Option<&'a str>,
    pub(super) invited_by: Option<PrincipalId>,
    pub(super) expires_at: i64,
}

pub(super) struct InvitationRow {
    pub(super) id: i64,
    pub(super) role: Role,
    pub(super) note: Option<String>,
    pub(super) invited_by: Option<String>,
    /// How the inviter is shown.
    pub(super) inviter_name: Option<String>,
    pub(super) created_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) used_at: Option<Timestamp>,
    pub(super) used_by: Option<String>,
    pub(super) is_revoked: bool,
}

const SELECT: &str = "select i.id, i.role, i.note, i.created_at, i.expires_at, i.used_at, i.revoked_at,
        inviter.handle as invited_by, inviter.display_name as inviter_name, invited.handle as used_by
     from invitations i left join principals inviter on inviter.id = i.invited_by
     left join principals invited on invited.id = i.used_by";

pub(super) fn insert_invitation(tx: &mut Tx<'_>, new: &NewInvitation<'_>) -> Result<i64, DbError> {
    tx.query_one(
        "insert into invitations (token_hash, role, note, invited_by, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6) returning id",
        params![new.token_hash, new.role.name(), new.note, new.invited_by.map(|id| id.0), tx.now_ms(), new.expires_at],
        |row| row.get("id"),
    )
}

/// Newest first, before an id.
pub(super) fn list_invitations(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<Vec<InvitationRow>, DbError> {
    tx.query(&format!("{SELECT} where i.id < $1 order by i.id desc limit $2"), params![before, limit], invitation)
}

pub(super) fn find_invitation(tx: &mut Tx<'_>, id: i64) -> Result<Option<InvitationRow>, DbError> {
    tx.query_optional(&format!("{SELECT} where i.id = $1"), params![id], invitation)
}

/// One that an account can be created with.
pub(super) fn find_open(tx: &mut Tx<'_>, token_hash: &[u8; 32]) -> Result<Option<InvitationRow>, DbError> {
    tx.query_optional(
        &format!(
            "{SELECT} where i.token_hash = $1 and i.used_at is null and i.revoked_at is null and i.expires_at > $2"
        ),
        params![token_hash, tx.now_ms()],
        invitation,
    )
}

/// Uses an invitation up; false when somebody was faster.
pub(super) fn update_used(tx: &mut Tx<'_>, id: i64, user: PrincipalId) -> Result<bool, DbError> {
    let changed = tx.execute(
        "update invitations set used_at = $2, used_by = $3 where id = $1 and used_at is null and revoked_at is null",
        params![id, tx.now_ms(), user.0],
    )?;
    Ok(changed == 1)
}

pub(super) fn update_revoked(tx: &mut Tx<'_>, id: i64) -> Result<(), DbError> {
    tx.execute("update invitations set revoked_at = $2 where id = $1", params![id, tx.now_ms()])?;
    Ok(())
}

pub(super) fn delete_old(tx: &mut Tx<'_>, expired_before: i64) -> Result<u64, DbError> {
    tx.execute("delete from invitations where expires_at < $1", params![expired_before])
}

fn invitation(row: &Row<'_>) -> Result<InvitationRow, DbError> {
    let time = |name: &str| Ok::<_, DbError>(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms));
    Ok(InvitationRow {
        id: row.get("id")?,
        role: columns::named(row, "role")?,
        note: row.get("note")?,
        invited_by: row.get("invited_by")?,
        inviter_name: row.get("inviter_name")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        expires_at: Timestamp::from_ms(row.get("expires_at")?),
        used_at: time("used_at")?,
        used_by: row.get("used_by")?,
        is_revoked: time("revoked_at")?.is_some(),
    })
}
